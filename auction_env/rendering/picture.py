"""The picture of a table: where things lie. One layout is drawn in pixels (``paint``) and in shapes (``svg``)."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from auction_env.games.game import SeatView, TableView
from auction_env.rendering import artwork as art
from auction_env.rendering.raster import Raster
from auction_env.rendering.shapes import Shapes

WIDTH, HEIGHT = 1040, 680
HEAD, FOOT = 46, 34  # heights of the bands above and below the table
TABLE, ROUNDING = (26, 56, WIDTH - 26, HEIGHT - 44), 236  # the rail's outer edges, and the radius of its corners
MARGIN = 14
SIDE = 48  # between the picture's edge and the seats at the sides
CENTRE_Y, EMBLEM_Y = 310, 428  # what lies in the middle of the table; the name on its felt
FAN = 0.5  # how much of a covered card is in view, at most; at least FAN_TIGHT
FAN_TIGHT = 0.36
GROUP_GAP = 14  # between concealed and bought cards

# Where seats lie in the space they have, 0 to 1 from left to right and from top to bottom, clockwise from the first.
PLACES: dict[int, tuple[tuple[float, float], ...]] = {
    1: ((0.5, 1.0),),
    2: ((0.5, 1.0), (0.5, 0.0)),
    3: ((0.5, 1.0), (0.04, 0.1), (0.96, 0.1)),
    4: ((0.5, 1.0), (0.0, 0.5), (0.5, 0.0), (1.0, 0.5)),
    5: ((0.5, 1.0), (0.0, 0.72), (0.14, 0.0), (0.86, 0.0), (1.0, 0.72)),
    6: ((0.5, 1.0), (0.0, 0.86), (0.0, 0.14), (0.5, 0.0), (1.0, 0.14), (1.0, 0.86)),
    7: ((0.5, 1.0), (0.0, 0.90), (0.0, 0.43), (0.2, 0.0), (0.8, 0.0), (1.0, 0.43), (1.0, 0.90)),
    8: ((0.5, 1.0), (0.0, 1.0), (0.0, 0.5), (0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (1.0, 0.5), (1.0, 1.0)),
}


@dataclasses.dataclass(frozen=True)
class Box:
    """A rectangle: left, top, width, height."""

    x: int
    y: int
    w: int
    h: int

    @property
    def middle(self) -> tuple[float, float]:
        """Its centre."""
        return self.x + self.w / 2, self.y + self.h / 2


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Sizes that depend on how many seats there are."""

    card: int  # width of a seat's card
    centre: int  # width of a card in the middle
    block: int  # width of all that belongs to a seat
    plate: int = 46  # height
    pill: int = 22
    gap: int = 7

    @property
    def block_height(self) -> int:
        """Height of all that belongs to a seat: notes, cards, plate."""
        return self.pill + self.gap + art.card_height(self.card) + self.gap + self.plate


def sizes(num_seats: int) -> Sizes:
    """Larger cards when there are few seats."""
    if num_seats <= 4:
        return Sizes(card=64, centre=74, block=306)
    if num_seats <= 6:
        return Sizes(card=58, centre=68, block=280)
    return Sizes(card=54, centre=60, block=262)


def seat_boxes(num_seats: int) -> list[Box]:
    """Where each seat's notes, cards and plate lie, seat 0 at the bottom, the others clockwise.

    Raises:
        ValueError: there is no room for so many seats.
    """
    if num_seats not in PLACES:
        raise ValueError(f"the view has {num_seats} seats: a picture has room for 1 to {max(PLACES)}")
    size = sizes(num_seats)
    wide, high = WIDTH - 2 * SIDE - size.block, HEIGHT - HEAD - FOOT - size.block_height
    return [
        Box(round(SIDE + x * wide), round(HEAD + y * high), size.block, size.block_height) for x, y in PLACES[num_seats]
    ]


def centre_space(num_seats: int) -> tuple[int, int]:
    """Left and right ends of the space for the cards in the middle, which no seat reaches into."""
    left, right = TABLE[0] + 40, TABLE[2] - 40
    top, bottom = CENTRE_Y - 46, CENTRE_Y - 40 + art.card_height(sizes(num_seats).centre)
    for seat in seat_boxes(num_seats):
        if seat.y < bottom and seat.y + seat.h > top:
            if seat.middle[0] < WIDTH / 2:
                left = max(left, seat.x + seat.w + 12)
            else:
                right = min(right, seat.x - 12)
    return left, right


class Surface(Protocol):
    """What a table is drawn on: pixels or shapes. ``x, y`` is a top left corner; sizes are in pixels."""

    def write(
        self, text: str, x: float, y: float, size: int, colour: art.Colour, *, bold: bool = False, anchor: float = 0.0
    ) -> int:
        """Write a line of text whose capitals are centred on ``y``; ``anchor`` 0, 0.5 or 1 says what ``x`` is.

        Returns:
            its width.
        """
        ...

    def card(self, name: str, width: int, x: float, y: float, *, dim: bool = False, covered: bool = False) -> None:
        """Lay a card, ``"??"`` face down; of one that is covered, the left edge alone stays in view."""
        ...

    def suit(self, letter: str, size: int, x: float, y: float, colour: art.Colour) -> None:
        """Draw a suit sign."""
        ...

    def chip(self, value: int, width: int, x: float, y: float) -> None:
        """Lay a chip."""
        ...

    def plate(self, width: int, height: int, acting: bool, x: float, y: float) -> None:
        """Draw what a seat's name stands on."""
        ...

    def pill(self, text: str, size: int, ink: art.Colour, fill: art.Colour, x: float, y: float) -> None:
        """Write a short text on a rounded ground of the size that ``artwork.pill_size`` says."""
        ...

    def disc(self, text: str, width: int, x: float, y: float) -> None:
        """Draw a round button with a letter."""
        ...


def paint(view: TableView) -> np.ndarray:
    """The picture of a view in pixels: uint8[HEIGHT, WIDTH, 3], RGB."""
    surface = Raster(WIDTH, HEIGHT, TABLE, ROUNDING)
    _lay_out(view, surface)
    return np.array(surface.image)


def svg(view: TableView) -> str:
    """The same picture in shapes, an SVG document: it stays sharp at any size. What it says is its description too."""
    surface = Shapes(WIDTH, HEIGHT, TABLE, ROUNDING)
    _lay_out(view, surface)
    return surface.document(f"{view.title}: {view.phase}, pot {view.pot}")


def _lay_out(view: TableView, surface: Surface) -> None:
    _caption(surface, view)
    _centre(surface, view)
    for box, seat in zip(seat_boxes(len(view.seats)), view.seats, strict=True):
        _seat(surface, seat, box, sizes(len(view.seats)))


def _caption(surface: Surface, view: TableView) -> None:
    """Title, phase and whose turn above; public lines below."""
    x = MARGIN + 6 + surface.write(view.title, MARGIN + 6, 24, 22, art.WHITE, bold=True)
    phase, size = art.fitted(view.phase, 16, WIDTH - 220 - x)
    surface.write(phase, x + 16, 25, size, art.GOLD)
    acting = [f"player_{seat.seat}" for seat in view.seats if seat.to_act]
    if acting:
        who = acting[0] if len(acting) == 1 else f"{len(acting)} seats"
        surface.write(f"{who} to act", WIDTH - MARGIN - 6, 25, 16, art.WHITE, anchor=1)
    text, size = art.fitted("   ".join(view.lines), 14, WIDTH - 2 * MARGIN - 12)
    surface.write(text, MARGIN + 6, HEIGHT - 18, size, art.MUTED)


# --- the middle -----------------------------------------------------------------------------------------------------


def _centre(surface: Surface, view: TableView) -> None:
    """The pot, below it the open cards with their label, and the game's name on the felt."""
    size, (left, right) = sizes(len(view.seats)), centre_space(len(view.seats))
    x, felt = WIDTH / 2, (62, 142, 112)
    surface.write(view.title.upper(), x, EMBLEM_Y, 15, felt, bold=True, anchor=0.5)
    for place, letter in enumerate("cdhs"):
        surface.suit(letter, 12, x + 22 * (place - 1.5) - 6, EMBLEM_Y + 13, felt)
    if not view.centre:
        if view.pot:
            _pot(surface, view.pot, x, CENTRE_Y + 10)
        else:
            surface.write(view.phase, x, CENTRE_Y + 10, 22, art.WHITE, bold=True, anchor=0.5)
        return
    _pot(surface, view.pot, x, CENTRE_Y - 72)
    high, top = art.card_height(size.centre), CENTRE_Y - 44
    spots = _spread(len(view.centre), size.centre, size.centre + 10, right - left)
    edge = x - (spots[-1] + size.centre) / 2
    close = len(spots) > 1 and spots[1] < 0.85 * size.centre
    for place, (name, spot) in enumerate(zip(view.centre, spots, strict=True)):
        surface.card(name, size.centre, edge + spot, top, covered=close and place < len(spots) - 1)
    surface.write(view.centre_label, x, top + high + 16, 14, (188, 214, 200), anchor=0.5)


def _pot(surface: Surface, pot: int, x: float, y: float) -> None:
    """Stacks of chips and the number, centred."""
    stacks = _chip_stacks(pot)
    chip, label = 26, f"pot {pot}"
    words = art.text_width(label, 22, bold=True)
    wide = len(stacks) * (chip + 3) + (10 if stacks else 0) + words
    left = x - wide / 2
    for value, count in stacks:
        for place in range(count):
            surface.chip(value, chip, left, y - chip * 0.36 + 4 * (count - 1) / 2 - 4 * place)
        left += chip + 3
    surface.write(label, x + wide / 2, y, 22, art.WHITE, bold=True, anchor=1)


def _chip_stacks(chips: int) -> list[tuple[int, int]]:
    """Chips as (value, how many), few of each, largest first; at most 6 of the largest are drawn."""
    stacks = []
    for value in sorted(art.CHIP_COLOURS, reverse=True):
        count, chips = divmod(chips, value)
        if count:
            stacks.append((value, min(count, 6)))
    return stacks


# --- a seat ---------------------------------------------------------------------------------------------------------


def _seat(surface: Surface, seat: SeatView, box: Box, size: Sizes) -> None:
    """Notes, cards and plate, the plate away from the middle."""
    at_top = box.y + box.h / 2 < HEIGHT * 0.36
    high = art.card_height(size.card)
    plate_y = box.y if at_top else box.y + box.h - size.plate
    cards_y = plate_y + size.plate + size.gap if at_top else plate_y - size.gap - high
    if not seat.cards + seat.bought:
        high = 0
        cards_y = plate_y + size.plate + size.gap if at_top else plate_y - size.gap
    notes_y = cards_y + high + size.gap if at_top else cards_y - size.gap - size.pill
    _cards(surface, seat, Box(box.x, cards_y, box.w, high), size)
    _plate(surface, seat, Box(box.x, plate_y, box.w, size.plate))
    _notes(surface, seat, box.middle[0], notes_y + size.pill / 2, box.w)


def _spread(count: int, width: int, step: float, space: float) -> list[float]:
    """Left edges of cards in a row, from 0: ``step`` apart, closer where the space asks for it."""
    if count > 1:
        step = min(step, (space - width) / (count - 1))
    return [place * step for place in range(count)]


def _cards(surface: Surface, seat: SeatView, box: Box, size: Sizes) -> None:
    """Concealed cards, a gap, and bought cards with their prices; many cards lie closer and get smaller."""
    groups = [group for group in (seat.cards, seat.bought) if group]
    if not groups:
        return
    covered = sum(len(group) - 1 for group in groups)
    free = box.w - GROUP_GAP * (len(groups) - 1)
    width = min(size.card, int(free / (len(groups) + FAN_TIGHT * covered)))
    step = min(width * FAN, (free - len(groups) * width) / max(covered, 1))
    x = box.x + (free - len(groups) * width - step * covered) / 2
    y = box.y + (box.h - art.card_height(width)) / 2
    for group in groups:
        for place, name in enumerate(group):
            last = place == len(group) - 1
            surface.card(name, width, x + place * step, y, dim=seat.folded or seat.out, covered=not last)
        if group is seat.bought:
            _prices(surface, seat.prices, x + width * 0.22, y + art.card_height(width) - 5, step)
        x += step * (len(group) - 1) + width + GROUP_GAP


def _prices(surface: Surface, prices: Sequence[int], x: float, y: float, step: float) -> None:
    """What each bought card cost, at its lower edge, where there is room."""
    tags = [(str(price), art.pill_size(str(price), 11)) for price in prices]
    if max((width for _, (width, _) in tags), default=0) > step:
        return
    for place, (text, (width, height)) in enumerate(tags):
        surface.pill(text, 11, art.INK, art.GOLD, x + place * step - width / 2, y - height / 2)


def _plate(surface: Surface, seat: SeatView, box: Box) -> None:
    """Name, dealer button, chips; below, what the open cards make."""
    faint = seat.folded or seat.out
    surface.plate(box.w, box.h, seat.to_act, box.x, box.y)
    middle = box.y + (15 if seat.hand else box.h / 2)
    colour = art.GOLD if seat.to_act else art.MUTED if faint else art.WHITE
    name = surface.write(f"player_{seat.seat}", box.x + 12, middle, 16, colour, bold=True)
    if seat.dealer:
        surface.disc("D", 19, box.x + 12 + name + 8, middle - 9.5)
    chips = surface.write(
        str(seat.stack), box.x + box.w - 12, middle, 16, art.MUTED if faint else art.WHITE, bold=True, anchor=1
    )
    surface.chip(5, 18, box.x + box.w - 12 - chips - 23, middle - 7.5)
    if seat.hand:
        text, size = art.fitted(seat.hand, 13, box.w - 24)
        surface.write(text, box.x + 12, box.y + 33, size, art.MUTED)


def _notes(surface: Surface, seat: SeatView, x: float, y: float, width: int) -> None:
    """What the seat said or won, as pills side by side."""
    for size in (13, 12, 11, 10):
        pills = [(note, size, art.pill_size(note, size)) for note in seat.notes]
        wide = sum(w for *_, (w, _) in pills) + 6 * (len(pills) - 1)
        if wide <= width:
            break
    else:  # too much even in small letters: each gets its share of the room
        fits = [art.fitted(note, size, width // len(seat.notes) - 20, True) for note in seat.notes]
        pills = [(text, smaller, art.pill_size(text, smaller)) for text, smaller in fits]
        wide = sum(w for *_, (w, _) in pills) + 6 * (len(pills) - 1)
    left = x - wide / 2
    for note, (text, size, (w, h)) in zip(seat.notes, pills, strict=True):
        surface.pill(text, size, *_note_colours(note), left, y - h / 2)
        left += w + 6


def _note_colours(note: str) -> tuple[art.Colour, art.Colour]:
    """Letters and ground of a note: results green or red, winners golden, those out of it grey."""
    if re.fullmatch(r"[+-]\d+", note):
        return art.WHITE, art.BRICK if note[0] == "-" else art.SLATE if note == "+0" else art.GREEN
    if note.startswith("wins"):
        return art.INK, art.GOLD
    if note in ("folded", "sits out"):
        return art.WHITE, art.SLATE
    return art.INK, art.PAPER
