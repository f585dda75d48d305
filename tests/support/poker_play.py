"""Auction Poker played by name: what several test files share."""

from __future__ import annotations

from typing import Any

from auction_env import Table
from auction_env.games.auction_poker import exposed_set, hole_set
from auction_env.games.cards import CARD_NAMES, cards_of, names_of

# --- playing by name ------------------------------------------------------------------------------------------------


def begin(seed: int = 1, settings: dict[str, Any] | None = None, **options: Any) -> Table:
    """A table with a deal on; ``options`` as in ``Table.reset``."""
    table = Table("auction_poker", settings)
    table.reset(seed, options)
    return table


def legal(table: Table) -> set[str]:
    return {table.action_names[action] for action in table.legal()}


def play(table: Table, *actions: str) -> list[int] | None:
    """Act by name, one seat after the other; the result if a deal ended."""
    result = None
    for action in actions:
        result = table.act(action)  # type: ignore[arg-type]
    return result


def bid(table: Table, bids: dict[int, int]) -> list[int]:
    """One auction's bids by seat; the picking order."""
    for _ in range(table.state.num_in):
        assert table.to_act is not None
        play(table, f"bid {bids[table.to_act]}")
    return [int(seat) for seat in table.state.pick_order[: table.state.num_in]]


def play_auctions(table: Table, price: int = 1) -> None:
    """All auctions: everybody bids ``price`` and picks whatever comes first."""
    while table.phase in ("bid", "pick"):
        play(table, f"bid {price}") if table.phase == "bid" else table.act(table.legal()[0])


def declare(table: Table, *declarations: str) -> list[int]:
    """Skip the betting, then declare, clockwise from the dealer; each seat's result."""
    play_auctions(table)
    while table.phase == "bet":
        play(table, "check")
    result = play(table, *(f"declare {way}" for way in declarations))
    assert result is not None
    return result


def hole(table: Table, seat: int) -> set[str]:
    return set(names_of(cards_of(hole_set(table.state, seat))).split())


def exposed(table: Table, seat: int) -> set[str]:
    return set(names_of(cards_of(exposed_set(table.state, seat))).split())


def stacks(table: Table) -> list[int]:
    return table.state.stacks[: table.settings.num_players].tolist()


def row(table: Table) -> str:
    return names_of(table.state.row[: table.state.row_count])


def with_exposed(dealer: int, hands: list[str], then: str = "") -> Table:
    """A deal in which seat k has picked the cards ``hands[k]``, one an auction, all bids 1; ``then`` comes next."""
    rows = list(zip(*(hand.split() for hand in hands), strict=True))
    used = [card for cards in rows for card in cards] + then.split()
    spare = [card for card in CARD_NAMES if card not in used]
    deck = spare[: 2 * len(hands)] + used
    table = begin(1, {"num_players": len(hands)}, dealer=dealer, deck=deck)
    for cards in rows:
        bid(table, dict.fromkeys(range(len(hands)), 1))
        while table.phase == "pick":
            assert table.to_act is not None
            play(table, f"pick {cards[table.to_act]}")
    return table


def play_out(table: Table) -> bool:
    """Play the deal with moderate bids and the declaration "high"; whether the match is over."""
    declare(table, *["high"] * int(table.state.num_in))
    return table.match_over


def to_betting(n: int, seed: int = 3, **settings: Any) -> Table:
    table = begin(seed, {"num_players": n, **settings})
    play_auctions(table)
    assert table.phase == "bet" and table.to_act == table.state.opener
    return table


def bets_paid(table: Table) -> list[int]:
    """Chips each seat has put in while betting, in turn from the opener."""
    n = table.settings.num_players
    return [int(table.state.paid[(table.state.opener + k) % n]) - 1 - 5 for k in range(n)]
