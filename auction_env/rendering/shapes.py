"""A picture of shapes, for ``picture`` to draw on: an SVG document that needs no other file.

Letters are the reader's own sans-serif, each line stretched to the width that the layout gave it, so that nothing runs
into anything else whatever the font is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from xml.etree import ElementTree

from auction_env.rendering import artwork as art

Element = ElementTree.Element
RAIL = 20  # width of the table's wooden edge


def _hex(colour: art.Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _add(parent: Element, tag: str, **attributes: object) -> Element:
    """A new element: ``fill_opacity`` is the attribute fill-opacity, numbers are written short, colours in hex."""
    written = {}
    for name, value in attributes.items():
        text = _hex(value) if isinstance(value, tuple) else _number(value) if isinstance(value, float) else str(value)
        written[name.strip("_").replace("_", "-")] = text
    return ElementTree.SubElement(parent, tag, written)


class Shapes:
    """See ``picture.Surface``."""

    def __init__(self, width: int, height: int, bounds: tuple[int, int, int, int], radius: int) -> None:
        self._root = Element(
            "svg", {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {width} {height}", "role": "img"}
        )
        self._title = _add(self._root, "title")
        self._defs = _add(self._root, "defs")
        self._known: set[str] = set()
        for name, spread, drop in (("shadow", 2.2, 1), ("glow", 3.0, 0)):
            blur = _add(self._defs, "filter", id=name, x="-20%", y="-20%", width="140%", height="140%")
            colour = art.GOLD if name == "glow" else (0, 0, 0)
            _add(blur, "feDropShadow", dx=0, dy=drop, stdDeviation=spread, flood_color=colour, flood_opacity=0.6)
        for letter in "cdhs":
            polygons, circles = art.suit_parts(letter)
            sign = _add(self._defs, "g", id=letter)
            for points in polygons:
                _add(sign, "polygon", points=" ".join(f"{x:.3f},{y:.3f}" for x, y in points))
            for (x, y), r in circles:
                _add(sign, "circle", cx=x, cy=y, r=f"{r:.3f}")
        self._body = _add(
            self._root, "g", font_family="Aileron, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"
        )
        self._table(width, height, bounds, radius)

    def document(self, title: str) -> str:
        """What has been drawn, with a title that readers of screens say."""
        self._title.text = title
        return ElementTree.tostring(self._root, encoding="unicode") + "\n"

    def _table(self, width: int, height: int, bounds: tuple[int, int, int, int], radius: int) -> None:
        felt = _add(self._defs, "radialGradient", id="felt", cx="50%", cy="50%", r="62%")
        _add(felt, "stop", offset=0, stop_color=(34, 125, 94))
        _add(felt, "stop", offset=1, stop_color=(16, 59, 45))
        _add(self._body, "rect", width=width, height=height, fill=art.NIGHT)

        def ring(inset: float, stroke: art.Colour, wide: float, opacity: float = 1.0, fill: str = "none") -> None:
            left, top, right, bottom = bounds
            place = {"x": left + inset, "y": top + inset}
            size = {"width": right - left - 2 * inset, "height": bottom - top - 2 * inset, "rx": radius - inset}
            _add(
                self._body, "rect", **place, **size, fill=fill, stroke=stroke, stroke_width=wide, stroke_opacity=opacity
            )

        ring(RAIL / 2, (56, 36, 28), float(RAIL), fill="url(#felt)")
        ring(RAIL / 2, (90, 58, 45), RAIL * 0.6)
        ring(RAIL / 2, (106, 69, 53), RAIL * 0.25)
        ring(RAIL, art.GOLD, 1.6, 0.55)
        ring(RAIL + 16, (190, 220, 190), 1.6, 0.22)

    def _use(self, key: str, x: float, y: float, build: Callable[[Element], None]) -> None:
        """Put something at a place; what it looks like is written once."""
        if key not in self._known:
            self._known.add(key)
            build(_add(self._defs, "g", id=key))
        _add(self._body, "use", href=f"#{key}", x=float(round(x)), y=float(round(y)))

    def _sign(self, parent: Element, letter: str, size: float, x: float, y: float, colour: art.Colour) -> None:
        place = f"translate({_number(x)} {_number(y)}) scale({_number(size)})"
        _add(parent, "use", href=f"#{letter}", transform=place, fill=colour)

    def _text(
        self,
        parent: Element,
        text: str,
        x: float,
        base: float,
        size: float,
        colour: art.Colour,
        bold: bool,
        wide: float,
    ) -> None:
        weight = {"font_weight": 700} if bold else {}
        stretch = {"textLength": float(wide), "lengthAdjust": "spacingAndGlyphs"} if text.strip() else {}
        line = _add(parent, "text", x=float(x), y=float(base), font_size=float(size), fill=colour, **weight, **stretch)
        line.text = text

    def write(
        self, text: str, x: float, y: float, size: int, colour: art.Colour, *, bold: bool = False, anchor: float = 0.0
    ) -> int:
        """See Surface."""
        width = art.text_width(text, size, bold)
        self._text(self._body, text, x - anchor * width, y + 0.355 * size, size, colour, bold, max(width - 2, 1))
        return width

    def card(self, name: str, width: int, x: float, y: float, *, dim: bool = False, covered: bool = False) -> None:
        """See Surface."""
        shown = "back" if name == "??" else name
        key = f"card-{shown}-{width}{'-dim' if dim else ''}{'-covered' if covered else ''}"
        height, round_ = art.card_height(width), width * 0.11

        def build(card: Element) -> None:
            edge = _add(card, "rect", width=width, height=height, rx=round_, fill=art.PAPER, stroke=(96, 100, 100))
            edge.set("stroke-width", "0.7")
            edge.set("filter", "url(#shadow)")
            if name == "??":
                self._back(card, width, height)
            else:
                self._face(card, name, width, height, covered)
            if dim:
                _add(card, "rect", width=width, height=height, rx=round_, fill=(22, 46, 42), fill_opacity=0.55)

        self._use(key, x, y, build)

    def _face(self, card: Element, name: str, width: int, height: int, covered: bool) -> None:
        colour, rank = art.SUIT_COLOURS[name[1]], "10" if name[0] == "T" else name[0]
        size, column = width * 0.4, width * 0.36
        wide = min(art.text_width(rank, round(size), bold=True) * 0.84, width * 0.31)
        left, top = width * 0.035, width * 0.1
        self._text(card, rank, left + (column - wide) / 2, top + 0.71 * size, size, colour, True, wide)
        self._sign(card, name[1], width * 0.27, left + (column - width * 0.27) / 2, top + width * 0.37, colour)
        if not covered:
            pip = width * 0.56
            self._sign(card, name[1], pip, width - pip - width * 0.09, height - pip - width * 0.11, colour)

    def _back(self, card: Element, width: int, height: int) -> None:
        margin = width * 0.08
        if "lattice" not in self._known:
            self._known.add("lattice")
            step = (width - 2 * margin) / 5
            lattice = _add(self._defs, "pattern", id="lattice", width=step, height=step, patternUnits="userSpaceOnUse")
            _add(lattice, "rect", width=step, height=step, fill=(32, 58, 116))
            size = _number(step)
            _add(lattice, "path", d=f"M0 0 {size} {size}M{size} 0 0 {size}", stroke=(94, 126, 190), stroke_width=1)
        inner = {"width": width - 2 * margin, "height": height - 2 * margin}
        _add(card, "rect", x=margin, y=margin, **inner, rx=width * 0.05, fill="url(#lattice)")

    def suit(self, letter: str, size: int, x: float, y: float, colour: art.Colour) -> None:
        """See Surface."""
        self._sign(self._body, letter, size, round(x), round(y), colour)

    def chip(self, value: int, width: int, x: float, y: float) -> None:
        """See Surface."""
        colour, stripe = art.CHIP_COLOURS[value], art.chip_stripe(value)
        rx, ry, thick = width / 2, width * 0.36, width * 0.14

        def build(chip: Element) -> None:
            edge = tuple(round(part * 0.62) for part in colour)
            side = f"M0 {_number(ry)}v{_number(thick)}a{_number(rx)} {_number(ry)} 0 0 0 {width} 0v{_number(-thick)}z"
            _add(chip, "path", d=side, fill=edge)
            _add(chip, "ellipse", cx=rx, cy=ry, rx=rx, ry=ry, fill=colour)
            for angle in range(16, 376, 60):
                (ax, ay), (bx, by) = (
                    (rx + rx * math.cos(math.radians(at)), ry + ry * math.sin(math.radians(at)))
                    for at in (angle, angle + 28)
                )
                slice_ = f"M{rx:.2f} {ry:.2f}L{ax:.2f} {ay:.2f}A{rx:.2f} {ry:.2f} 0 0 1 {bx:.2f} {by:.2f}z"
                _add(chip, "path", d=slice_, fill=stripe)
            for part, fill in ((0.70, colour), (0.56, stripe), (0.50, colour)):
                _add(chip, "ellipse", cx=rx, cy=ry, rx=rx * part, ry=ry * part, fill=fill)

        self._use(f"chip-{value}-{width}", x, y, build)

    def plate(self, width: int, height: int, acting: bool, x: float, y: float) -> None:
        """See Surface."""
        rim, fill = (art.GOLD, (34, 36, 34)) if acting else ((92, 104, 108), (24, 30, 36))
        place = {"x": float(round(x)), "y": float(round(y)), "width": width, "height": height, "rx": 10}
        style = {"fill": fill, "stroke": rim, "stroke_width": 2 if acting else 1}
        _add(self._body, "rect", **place, **style, filter=f"url(#{'glow' if acting else 'shadow'})")

    def pill(self, text: str, size: int, ink: art.Colour, fill: art.Colour, x: float, y: float) -> None:
        """See Surface."""
        width, height = art.pill_size(text, size)
        x, y, words = round(x), round(y), art.text_width(text, size, bold=True)
        _add(self._body, "rect", x=x, y=y, width=width, height=height, rx=height / 2, fill=fill)
        base = y + height / 2 + 0.355 * size
        self._text(self._body, text, x + (width - words) / 2 + 1, base, size, ink, True, max(words - 2, 1))

    def disc(self, text: str, width: int, x: float, y: float) -> None:
        """See Surface."""
        x, y, r, size = round(x), round(y), width / 2, width * 0.62
        _add(self._body, "circle", cx=x + r, cy=y + r, r=r - 0.5, fill=art.PAPER, stroke=(60, 64, 66))
        wide = art.text_width(text, round(size), bold=True) - 2
        self._text(self._body, text, x + r - wide / 2, y + r + 0.355 * size, size, art.INK, True, wide)
