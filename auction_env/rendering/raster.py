"""A picture of pixels, for ``picture`` to draw on: small images of ``artwork`` laid on a table."""

from __future__ import annotations

from PIL import Image

from auction_env.rendering import artwork as art


class Raster:
    """See ``picture.Surface``.

    Attributes:
        image: what has been drawn, RGB.
    """

    def __init__(self, width: int, height: int, bounds: tuple[int, int, int, int], radius: int) -> None:
        self.image = art.table(width, height, bounds, radius).copy()

    def _lay(self, sprite: Image.Image, x: float, y: float) -> None:
        self.image.paste(sprite, (round(x), round(y)), sprite)

    def write(
        self, text: str, x: float, y: float, size: int, colour: art.Colour, *, bold: bool = False, anchor: float = 0.0
    ) -> int:
        """See Surface."""
        mask = art.letters(text, size, bold)
        self.image.paste(colour, (round(x - anchor * mask.width), round(y - 0.645 * size)), mask)
        return mask.width

    def card(self, name: str, width: int, x: float, y: float, *, dim: bool = False, covered: bool = False) -> None:
        """See Surface."""
        self._lay(art.card(name, width, dim, covered), x - art.SHADOW, y - art.SHADOW)

    def suit(self, letter: str, size: int, x: float, y: float, colour: art.Colour) -> None:
        """See Surface."""
        self.image.paste(colour, (round(x), round(y)), art.suit(letter, size))

    def chip(self, value: int, width: int, x: float, y: float) -> None:
        """See Surface."""
        self._lay(art.chip(value, width), x, y)

    def plate(self, width: int, height: int, acting: bool, x: float, y: float) -> None:
        """See Surface."""
        self._lay(art.plate(width, height, acting), x - art.SHADOW, y - art.SHADOW)

    def pill(self, text: str, size: int, ink: art.Colour, fill: art.Colour, x: float, y: float) -> None:
        """See Surface."""
        self._lay(art.pill(text, size, ink, fill), x, y)

    def disc(self, text: str, width: int, x: float, y: float) -> None:
        """See Surface."""
        self._lay(art.disc(text, width), x, y)
