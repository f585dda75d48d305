"""Cards, chips, plates, letters and the table itself as small images: drawn large, scaled down, cached.

Everything is made of shapes and of the font that comes with Pillow, so pictures need no display and no system fonts,
and are the same wherever the same Pillow runs. Sizes are in pixels of the final picture.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FINE = 4  # shapes are drawn this many times larger than they are shown
SHADOW = 6  # margin of cards and plates that holds their shadow or glow

Colour = tuple[int, int, int]
WHITE: Colour = (246, 243, 234)
MUTED: Colour = (176, 190, 190)
GOLD: Colour = (236, 190, 92)
INK: Colour = (26, 30, 38)
RED: Colour = (196, 34, 48)
PAPER: Colour = (252, 251, 246)
NIGHT: Colour = (19, 23, 31)
GREEN: Colour = (38, 142, 88)
BRICK: Colour = (164, 62, 58)
SLATE: Colour = (74, 84, 94)

SUIT_COLOURS: dict[str, Colour] = {"c": INK, "d": RED, "h": RED, "s": INK}
CHIP_COLOURS: dict[int, Colour] = {
    1: (222, 222, 214),
    5: (184, 46, 52),
    25: (40, 128, 76),
    100: (42, 46, 58),
    500: (112, 62, 150),
    1000: (206, 150, 46),
}


def shape(width: int, height: int, paint: Callable[[ImageDraw.ImageDraw], None]) -> Image.Image:
    """An antialiased mask, mode L, of what ``paint`` fills with 255 on a canvas ``FINE`` times as large."""
    image = Image.new("L", (width * FINE, height * FINE), 0)
    paint(ImageDraw.Draw(image))
    return image.reduce(FINE)


def box(width: int, height: int, radius: float, inset: float = 0.0) -> Image.Image:
    """Mask of a rectangle with rounded corners."""
    edge = inset * FINE
    corners = (edge, edge, width * FINE - 1 - edge, height * FINE - 1 - edge)
    return shape(width, height, lambda pen: pen.rounded_rectangle(corners, max(radius - inset, 0) * FINE, 255))


def tinted(mask: Image.Image, colour: Colour, opacity: float = 1.0) -> Image.Image:
    """A mask filled with a colour: mode RGBA."""
    image = Image.new("RGBA", mask.size, (*colour, 0))
    image.putalpha(mask.point(lambda value: round(value * opacity)))
    return image


# --- letters --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont), "Pillow was built without FreeType"
    return font


def _pen_places(text: str, size: int, bold: bool) -> tuple[list[float], int]:
    """Where each letter starts, in fine pixels, and the width of all, in pixels."""
    font, stroke = _font(size * FINE), _stroke(size, bold)
    apart = size * FINE * (0.035 if bold else 0.015)  # the font is set tight, and strokes make it tighter
    places, at = [], float(stroke)
    for letter, following in zip(text, text[1:] + " ", strict=True):
        places.append(at)
        at += font.getlength(letter + following) - font.getlength(following) + apart  # pairs are kerned
    return places, int((at + stroke) / FINE) + 2


def _stroke(size: int, bold: bool) -> int:
    """The font has one weight: bold letters are outlined by so many fine pixels."""
    return max(1, round(size * FINE / 36)) if bold else 0


@lru_cache(maxsize=2048)
def letters(text: str, size: int, bold: bool = False) -> Image.Image:
    """Mask of a line of text. Its baseline is ``size`` pixels down; its height 1.3 times ``size``."""
    places, width = _pen_places(text, size, bold)
    image = Image.new("L", (width * FINE, round(size * 1.3) * FINE), 0)
    pen = ImageDraw.Draw(image)
    for place, letter in zip(places, text, strict=True):
        pen.text((place, size * FINE), letter, 255, _font(size * FINE), "ls", stroke_width=_stroke(size, bold))
    return image.reduce(FINE)


def text_width(text: str, size: int, bold: bool = False) -> int:
    """Width of a line of text."""
    return _pen_places(text, size, bold)[1]


@lru_cache(maxsize=2048)
def fitted(text: str, size: int, width: int, bold: bool = False) -> tuple[str, int]:
    """The text and the size at which it fits a width: smaller by up to a fifth, then shortened."""
    for smaller in range(size, round(size * 0.8) - 1, -1):
        if text_width(text, smaller, bold) <= width:
            return text, smaller
    places, _ = _pen_places(text + "…", smaller, bold)
    room = (width - text_width("…", smaller, bold)) * FINE
    return text[: max(bisect_right(places, room) - 1, 0)].rstrip() + "…", smaller


# --- suits ----------------------------------------------------------------------------------------------------------

Point = tuple[float, float]


def _curve(start: Point, first: Point, second: Point, end: Point) -> list[Point]:
    """Points along a cubic curve."""
    t = np.linspace(0.0, 1.0, 16)[:, None]
    points = [np.array(point) for point in (start, first, second, end)]
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
    curve = sum(weight * point for weight, point in zip(weights, points, strict=True))
    return [(float(x), float(y)) for x, y in np.asarray(curve)]


def _mirrored(half: list[Point]) -> list[Point]:
    """A left half and its mirror image."""
    return half + [(1 - x, y) for x, y in reversed(half)]


_HEART = _mirrored(
    _curve((0.5, 0.98), (0.34, 0.72), (0.03, 0.56), (0.03, 0.30))
    + _curve((0.03, 0.30), (0.03, 0.12), (0.15, 0.03), (0.27, 0.03))
    + _curve((0.27, 0.03), (0.38, 0.03), (0.47, 0.10), (0.5, 0.23))
)
_DIAMOND = _mirrored(
    _curve((0.5, 0.0), (0.40, 0.18), (0.26, 0.36), (0.11, 0.5))
    + _curve((0.11, 0.5), (0.26, 0.64), (0.40, 0.82), (0.5, 1.0))
)
_STEM = _mirrored(
    _curve((0.48, 0.5), (0.48, 0.8), (0.44, 0.9), (0.29, 0.98))
    + _curve((0.29, 0.98), (0.4, 0.98), (0.5, 0.98), (0.5, 0.98))
)
_SPADE = [(x, 0.82 - 0.82 * y) for x, y in _HEART]


def suit_parts(letter: str) -> tuple[list[list[Point]], list[tuple[Point, float]]]:
    """A suit sign in a square of side 1: polygons, and circles by their middles and radii."""
    if letter == "c":
        circles = [(middle, 0.235) for middle in ((0.5, 0.26), (0.25, 0.58), (0.75, 0.58))]
        return [_STEM, [(0.5, 0.3), (0.3, 0.62), (0.7, 0.62)]], circles
    return {"d": [_DIAMOND], "h": [_HEART], "s": [_STEM, _SPADE]}[letter], []


@lru_cache(maxsize=64)
def suit(letter: str, size: int) -> Image.Image:
    """Mask of a suit sign in a square."""
    polygons, circles = suit_parts(letter)

    def paint(pen: ImageDraw.ImageDraw) -> None:
        for points in polygons:
            pen.polygon([(x * size * FINE, y * size * FINE) for x, y in points], 255)
        for (x, y), radius in circles:
            pen.circle((x * size * FINE, y * size * FINE), radius * size * FINE, 255)

    return shape(size, size, paint)


# --- cards ----------------------------------------------------------------------------------------------------------


def card_height(width: int) -> int:
    """Height of a card of some width."""
    return round(width * 1.4)


@lru_cache(maxsize=1024)
def card(name: str, width: int, dim: bool = False, covered: bool = False) -> Image.Image:
    """A card by name, ``"??"`` face down, with its shadow: RGBA, ``SHADOW`` pixels of margin on every side.

    A covered card, of which the next leaves the left edge in view, bears its corner only.
    """
    height = card_height(width)
    outline = box(width, height, width * 0.11)
    face = _card_back(width, height) if name == "??" else _card_face(name, width, height, covered)
    if dim:
        face = Image.blend(face, Image.new("RGB", face.size, (22, 46, 42)), 0.55)
    image = Image.new("RGBA", (width + 2 * SHADOW, height + 2 * SHADOW), (0, 0, 0, 0))
    shade = Image.new("L", image.size, 0)
    shade.paste(outline.point(lambda value: value * 0.5), (SHADOW, SHADOW + 1))
    image.putalpha(shade.filter(ImageFilter.GaussianBlur(2.2)))
    image.alpha_composite(tinted(outline, (96, 100, 100)), (SHADOW, SHADOW))
    inner = box(width, height, width * 0.11, 0.7)
    face.putalpha(inner)
    image.alpha_composite(face, (SHADOW, SHADOW))
    return image


def _card_face(name: str, width: int, height: int, covered: bool) -> Image.Image:
    face = Image.new("RGB", (width, height), PAPER)
    colour, corner = SUIT_COLOURS[name[1]], _corner(name, width)
    face.paste(colour, (0, 0), corner)
    size = round(width * 0.56)
    if covered:
        return face
    face.paste(colour, (width - size - round(width * 0.09), height - size - round(width * 0.11)), suit(name[1], size))
    return face


def _corner(name: str, width: int) -> Image.Image:
    """Mask of a card's corner: the rank, and the suit below it."""
    column, rank = round(width * 0.36), "10" if name[0] == "T" else name[0]
    sign = letters(rank, round(width * 0.40), bold=True)
    sign = sign.crop(sign.getbbox())
    if sign.width > width * 0.31:
        sign = sign.resize((round(width * 0.31), sign.height), Image.Resampling.LANCZOS)
    mask = Image.new("L", (width, card_height(width)), 0)
    left, top = round(width * 0.035), round(width * 0.10)
    mask.paste(sign, (left + (column - sign.width) // 2, top))
    size = round(width * 0.27)
    mask.paste(suit(name[1], size), (left + (column - size) // 2, top + round(width * 0.37)))
    return mask


def _card_back(width: int, height: int) -> Image.Image:
    """A frame and a lattice, the same for every card."""
    back = Image.new("RGB", (width, height), PAPER)
    margin, fine = round(width * 0.08), FINE
    inner = (width - 2 * margin, height - 2 * margin)

    def lattice(pen: ImageDraw.ImageDraw) -> None:
        step, wide, high = inner[0] * fine / 5, inner[0] * fine, inner[1] * fine
        for place in np.arange(-high, wide + high, step):
            for way in (1, -1):
                pen.line((place, 0 if way > 0 else high, place + high, high if way > 0 else 0), 255, fine)

    panel = Image.new("RGB", inner, (32, 58, 116))
    panel.paste((94, 126, 190), (0, 0), shape(*inner, lattice))
    back.paste(panel, (margin, margin), box(*inner, width * 0.05))
    return back


# --- chips, plates, pills -------------------------------------------------------------------------------------------


def chip_stripe(value: int) -> Colour:
    """The colour of a chip's stripes."""
    return (250, 248, 240) if value > 1 else (60, 92, 150)


@lru_cache(maxsize=64)
def chip(value: int, width: int) -> Image.Image:
    """A chip lying on the table, seen at a slant: RGBA, as high as it is wide, the disc in the upper part."""
    colour = CHIP_COLOURS[value]
    big, flat, thick = width * FINE, 0.72, round(width * FINE * 0.14)
    image = Image.new("RGBA", (big, big), (0, 0, 0, 0))
    pen = ImageDraw.Draw(image)
    stripe = chip_stripe(value)
    edge = tuple(round(part * 0.62) for part in colour)
    for lift in range(thick, -1, -1):
        pen.ellipse((0, lift, big - 1, lift + big * flat), (*edge, 255) if lift else (*colour, 255))
    bounds = (0, 0, big - 1, big * flat)
    for angle in range(0, 360, 60):
        pen.pieslice(bounds, angle + 16, angle + 44, (*stripe, 255))
    for part, fill in ((0.70, colour), (0.56, stripe), (0.50, colour)):
        dx, dy = big * (1 - part) / 2, big * flat * (1 - part) / 2
        pen.ellipse((dx, dy, big - 1 - dx, big * flat - dy), (*fill, 255))
    return image.reduce(FINE)


@lru_cache(maxsize=64)
def plate(width: int, height: int, acting: bool) -> Image.Image:
    """What a seat's name stands on: RGBA with ``SHADOW`` pixels of margin, a golden rim and glow when acting."""
    image = Image.new("RGBA", (width + 2 * SHADOW, height + 2 * SHADOW), (0, 0, 0, 0))
    outline = box(width, height, 10)
    glow = Image.new("L", image.size, 0)
    glow.paste(outline, (SHADOW, SHADOW if acting else SHADOW + 1))
    glow = glow.filter(ImageFilter.GaussianBlur(3))
    image = tinted(glow, GOLD if acting else (0, 0, 0), 0.75 if acting else 0.5)
    image.alpha_composite(tinted(outline, GOLD if acting else (92, 104, 108)), (SHADOW, SHADOW))
    rim = 2.0 if acting else 1.0
    image.alpha_composite(
        tinted(box(width, height, 10, rim), (34, 36, 34) if acting else (24, 30, 36)), (SHADOW, SHADOW)
    )
    return image


def pill_size(text: str, size: int) -> tuple[int, int]:
    """Width and height of a pill with a text."""
    return text_width(text, size, bold=True) + round(size * 1.2), round(size * 1.6)


@lru_cache(maxsize=256)
def pill(text: str, size: int, ink: Colour, fill: Colour) -> Image.Image:
    """A short text on a rounded ground: RGBA."""
    words, (width, height) = letters(text, size, bold=True), pill_size(text, size)
    image = tinted(box(width, height, height / 2), fill)
    image.paste((*ink, 255), ((width - words.width) // 2 + 1, round(height / 2 - size * 0.645)), words)
    return image


@lru_cache(maxsize=16)
def disc(text: str, width: int) -> Image.Image:
    """A round button with a letter: RGBA."""
    image = tinted(box(width, width, width / 2), (60, 64, 66))
    image.alpha_composite(tinted(box(width, width, width / 2, 1.0), PAPER))
    words = letters(text, round(width * 0.62), bold=True)
    left, top, right, bottom = words.getbbox() or (0, 0, 0, 0)
    words = words.crop((left, top, right, bottom))
    image.paste((*INK, 255), (round((width - words.width) / 2), round((width - words.height) / 2)), words)
    return image


# --- the table ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def table(width: int, height: int, bounds: tuple[int, int, int, int], radius: int) -> Image.Image:
    """A felt table with a wooden rail, seen from above: RGB; ``bounds`` are the rail's outer edges.

    Left and right are mirror images: ``bounds`` lies in the middle of an even ``width``.
    """
    y, x = np.mgrid[0:height, 0 : width // 2].astype(np.float32) + np.float32(0.5)
    left, top, right, bottom = bounds
    out = _outside(x, y, bounds, radius)
    away = np.hypot((x - (left + right) / 2) / (right - left), (y - (top + bottom) / 2) / (bottom - top))
    shadow = 1 - 0.55 * np.exp(-np.clip(out - 4, 0, None) / 12)
    picture = _tone(NIGHT, (1.25 - 0.45 * np.clip(away, 0, 1)) * shadow)

    rail = 20
    beam = np.clip(1 - (out / (rail / 2) + 1) ** 2, 0, 1) ** 1.5  # the rail is rounded
    felt = (1.12 - 0.95 * np.clip(away, 0, 0.62)) * (1 - 0.35 * np.exp(np.clip(out + rail, None, 0) / 7))
    _lay(picture, _tone((40, 26, 20), 1 + 1.65 * beam), 0.5 - out)
    _lay(picture, _tone((30, 112, 84), felt), 0.5 - (out + rail))
    _lay(picture, _tone(GOLD), 0.55 * (1.2 - np.abs(out + rail)))
    _lay(picture, _tone((190, 220, 190)), 0.22 * (1.3 - np.abs(out + rail + 16)))
    half = (picture + 0.5).astype(np.uint8)
    return Image.fromarray(np.concatenate([half, half[:, ::-1]], axis=1))


def _outside(x: np.ndarray, y: np.ndarray, bounds: tuple[int, int, int, int], radius: int) -> np.ndarray:
    """Distance of each pixel from a rectangle with rounded corners; negative within."""
    left, top, right, bottom = bounds
    dx = np.abs(x - (left + right) / 2) - (right - left) / 2 + radius
    dy = np.abs(y - (top + bottom) / 2) - (bottom - top) / 2 + radius
    return np.hypot(np.maximum(dx, 0), np.maximum(dy, 0)) + np.minimum(np.maximum(dx, dy), 0) - radius


def _tone(colour: Colour, light: np.ndarray | None = None) -> np.ndarray:
    """A colour, float32[3], or under varying light, float32[height, width, 3]."""
    tone = np.array(colour, np.float32)
    return tone if light is None else light[..., None].astype(np.float32) * tone


def _lay(picture: np.ndarray, colour: np.ndarray, cover: np.ndarray) -> None:
    """Blend a colour over a picture, in place; ``cover`` is clipped to 0..1."""
    picture += np.clip(cover, 0, 1)[..., None].astype(np.float32) * (colour - picture)
