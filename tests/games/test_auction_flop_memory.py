"""Auction Flop Poker: what a seat remembers and what it may not know; the environment."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from flop_play import after_discards, begin, dealt, flop, hand, held, play, random_deal, stacks, stock
from reference import best_high
from reference_flop import play_deal, tidy

from auction_env import Table, auction_flop_v0
from auction_env.engine.kernels import kernels
from auction_env.games import auction_flop
from auction_env.games.cards import CARD_NAMES, deck_cards

# --- what a seat remembers ------------------------------------------------------------------------------------------


def history(table: Table, seat: int, start: list[str], events: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """All that a seat has seen and done in a deal, in order: cards, actions as it knows them, flops, hands shown."""
    known = []
    for actor, action, cards in events:
        name = table.action_names[action] if actor == seat else auction_flop.public_name(table.settings, action)
        known.append((actor, name, cards))
    return tuple(start), tuple(known)


def walk(table: Table, events: list[tuple[Any, ...]]) -> Iterator[tuple[Table, list[tuple[Any, ...]]]]:
    """Every node of the tree below a table, with what happened on the way."""
    yield table, events
    for action in table.legal():
        child = table.clone()
        actor = child.to_act
        child.act(action)
        over = child.to_act is None
        shown = tuple(tuple(hand(child, seat)) for seat in range(table.settings.num_players)) if over else ()
        up = tuple(flop(child)) if child.state.num_flops > table.state.num_flops else ()
        yield from walk(child, [*events, (actor, action, up + shown)])


TREES: list[tuple[dict[str, Any], int]] = [
    ({"num_players": 2, "hand_size": 1, "flop_size": 1, "num_ranks": 3, "num_suits": 1, "starting_chips": 5}, 40),
    ({"num_players": 3, "hand_size": 1, "flop_size": 1, "num_ranks": 4, "num_suits": 1, "starting_chips": 4}, 8),
    ({"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 3, "num_suits": 2, "starting_chips": 2}, 6),
]


@pytest.mark.parametrize("settings, seeds", TREES, ids=["2 seats", "3 seats", "2 cards"])
@pytest.mark.parametrize("observation", ["full", "compact"])
def test_perfect_recall(settings: dict[str, Any], seeds: int, observation: str) -> None:
    """Over whole trees, reshuffles too: equal observations if and only if the seat has seen and done the same."""
    settings = {**settings, "ante": 1, "discard_fees": (0, 0, 1), "observation": observation}
    seen: dict[Any, bytes] = {}
    meant: dict[bytes, set[Any]] = defaultdict(set)
    for seed in range(seeds):
        root = begin(seed, settings)
        starts = [hand(root, seat) for seat in range(settings["num_players"])]
        for table, events in walk(root, []):
            for seat in range(settings["num_players"]):
                key = seat, history(table, seat, starts[seat], events)
                view = bytes([seat]) + table.observe(seat).tobytes()
                assert seen.setdefault(key, view) == view
                meant[view].add(key)
    confused = sum(len(keys) > 1 for keys in meant.values())
    assert len(seen) > 900
    assert confused == 0 if observation == "full" else confused > 0


def test_the_full_observation_tells_apart_what_the_compact_one_does_not() -> None:
    """Seat 2 or seat 3 passed and bid in another order, the price and the buyer being the same."""
    lines = (["bid", "bid", "pass", "pass", "bid"], ["bid", "pass", "bid", "pass", "bid"])
    views: dict[str, list[bytes]] = {}
    for observation in ("full", "compact"):
        for line in lines:
            table = after_discards(2, 1, 1, 1, settings={"observation": observation})
            play(table, *line, "pass", "pass", "pass", "keep 0")
            views.setdefault(observation, []).append(table.observe(0).tobytes())
    assert views["full"][0] != views["full"][1] and views["compact"][0] == views["compact"][1]


def test_bids_beyond_the_memory_of_a_table_are_left_out_and_nothing_else() -> None:
    """With more chips than MAX_BIDS a deal could have more bids than a table recalls: they are played all the same."""
    table = after_discards(1, 1, settings={"starting_chips": 1000})
    for _ in range(900):
        play(table, "bid")
    assert table.state.price == 900 and table.state.num_bids == auction_flop.MAX_BIDS == 777
    named = table.observe_named(1)
    assert named["bids"].shape == (777, 3) and named["bids"].sum() == 777 + 1 and named["price"] == np.float32(0.45)
    play(table, "pass", "keep 0", "keep 0")
    assert table.deals[-1].payoffs is not None and table.observe_named(1)["bids"].sum() == 777 + 1


def test_observation_sizes_and_pieces() -> None:
    for n in range(2, 9):
        for observation in ("full", "compact"):
            table = begin(settings={"num_players": n, "observation": observation})
            assert table.observe(0).shape == (table.observation_size,)
    assert begin().observation_size == 3709 and begin(settings={"observation": "compact"}).observation_size == 717


def test_observed_hand_and_flop_are_in_the_order_of_the_actions() -> None:
    table = after_discards(3, 1)
    named = table.observe_named(1)
    for name, cards in (("hand", hand(table, 1)), ("flop", flop(table))):
        for place, card in enumerate(cards):
            rank, suit = "23456789TJQKA".index(card[0]), "cdhs".index(card[1])
            assert np.flatnonzero(named[name][place]).tolist() == [rank, 13 + suit]
    assert not named["hand"][2:].any()


def test_observed_prospects_are_what_keeping_would_make() -> None:
    rng = np.random.default_rng(5)
    for seed in range(60):
        table = begin(seed)
        while table.phase == "discard":
            table.act(int(rng.choice(table.legal())))
        for seat in range(4):
            if table.to_act is None:
                break
            named, own, cards = table.observe_named(seat), hand(table, seat), flop(table)
            if own:
                assert named["hand_made"].argmax() == best_high(own)[0]
            for subset in range(1, 8):
                kept = [card for place, card in enumerate(cards) if subset >> place & 1]
                row = named["keep_made"][subset - 1]
                if len(own) + len(kept) > 5:
                    assert not row.any()
                else:
                    assert row.argmax() == best_high(own + kept)[0] and row.sum() == 1


# --- what a seat may not know ---------------------------------------------------------------------------------------


class _Impossible(Exception):
    """A world does not agree with what the seat has seen."""


def describable(table: Table, me: int) -> list[bool]:
    """Places of the deck to leave out when worlds are compared: those seen.

    At the end also the places of all dealt cards: a hand that is shown does not say in which order it was dealt.
    """
    visible = table.game.visible_deck(table.state, me)
    dealt = table.settings.num_players * table.settings.hand_size if table.to_act is None else 0
    return [seen or place < dealt for place, seen in enumerate(visible)]


def worlds(table: Table, me: int) -> Counter[Any]:
    """Every way the hidden things may be, for all that seat ``me`` has seen, each with its number of histories.

    By brute force over the reference rules: all deals, all hidden choices of the others that look alike, all orders of
    each reshuffle.
    """
    log, rules = table.deals[-1], table.settings
    n, size = rules.num_players, rules.num_ranks * rules.num_suits
    truth = [CARD_NAMES[card] for card in log.deck]
    mine = [turn * n + (me - log.dealer - 1) % n for turn in range(rules.hand_size)]
    others = [place for place in range(size) if place not in mine]
    names, public = table.action_names, [auction_flop.public_name(rules, a) for a in range(len(table.action_names))]
    flops = [tidy(CARD_NAMES[card] for card in cards[: rules.flop_size]) for cards in table.state.flops]
    flops = flops[: table.state.num_flops]
    shown = [hand(table, seat) for seat in range(n)] if table.to_act is None else None
    visible = describable(table, me)
    found: Counter[Any] = Counter()

    def run(deck: list[str], choices: tuple[int, ...]) -> None:
        """One history: ``choices`` say which option to take at each branching; further ones are tried in turn."""
        taken = 0

        def choose(options: list[Any]) -> Any:
            nonlocal taken
            taken += 1
            if taken > len(choices):
                for option in range(1, len(options)):
                    waiting.append((*choices, *(0,) * (taken - 1 - len(choices)), option))
                return options[0]
            return options[choices[taken - 1]]

        def shuffle(pile: list[str]) -> list[str]:
            return list(choose(list(itertools.permutations(pile))))

        deal = play_deal(rules, deck, log.dealer, log.stacks, shuffle)
        ask, turned, kept, gone = next(deal), [], [], {seat: [] for seat in range(n)}
        end = None
        for actor, action in log.actions:
            alike = [action]
            if actor != me:
                alike = [a for a, name in enumerate(public) if name == public[action] and names[a] in ask.legal]
            chosen = names[choose(alike)]
            if chosen.startswith("keep"):
                kept.append((actor, chosen))
            if chosen.startswith("discard"):
                gone[actor] = [ask.hands[actor][int(place)] for place in chosen.split()[1:] if place != "none"]
            try:
                ask = deal.send(chosen)
            except StopIteration as stop:
                end = stop.value
                break
            if ask.flop and (not turned or chosen.startswith(("keep", "discard"))):
                turned.append(ask.flop)
                if turned != flops[: len(turned)]:
                    raise _Impossible
        hands = end.hands if end else ask.hands
        if hands[me] != hand(table, me) or (shown and any(hands[seat] != shown[seat] for seat in range(n))):
            raise _Impossible
        unseen = tuple(card for card, seen in zip(deck, visible, strict=True) if not seen)
        rest = () if end else tuple(ask.stock)
        found[unseen, tuple(map(tuple, gone.values())), tuple(kept), rest] += 1

    for cards in itertools.permutations([truth[place] for place in others]):
        deck = list(truth)
        for place, card in zip(others, cards, strict=True):
            deck[place] = card
        waiting: list[tuple[int, ...]] = [()]
        while waiting:
            try:
                run(deck, waiting.pop())
            except _Impossible:
                continue
    return found


def world_of(table: Table, states: np.ndarray, me: int) -> Any:
    """The same description of what is hidden, read from a row."""
    row, n, rules = states[0], table.settings.num_players, table.settings
    size = rules.num_ranks * rules.num_suits
    visible = describable(table, me)
    unseen = tuple(CARD_NAMES[card] for card, seen in zip(row.deck[:size], visible, strict=True) if not seen)
    gone = tuple(tuple(dealt(row, seat, True)) for seat in range(n))
    kept = tuple(
        (int(row.buyer[f]), table.action_names[auction_flop.KEEP_0 + row.kept[f]])
        for f in range(row.num_flops)
        if row.kept[f]
    )
    over = row.to_act < 0
    rest = () if over else tuple(CARD_NAMES[card] for card in row.stock[row.stock_at : row.stock_size])
    return unseen, gone, kept, rest


RESAMPLED: list[tuple[str, dict[str, Any], list[str], int]] = [
    (
        "before any flop",
        {"num_players": 2, "hand_size": 2, "flop_size": 1, "num_ranks": 6},
        ["discard 0"],
        1,
    ),
    (
        "a flop sold to the other, no reshuffle",
        {"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 7},
        ["discard 0 1", "discard 0", "bid", "pass", "keep 1"],
        0,
    ),
    (
        "one card left over the pile: was it in the stock or in a hand?",
        {"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 5},
        ["discard 0 1", "discard 1"],
        0,
    ),
    (
        "the same seen by the one who discarded two",
        {"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 5},
        ["discard 0 1", "discard 1"],
        1,
    ),
    (
        "a second flop after the reshuffle",
        {"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 5},
        ["discard 0 1", "discard 0 1", "pass", "bid", "pass", "keep 0"],
        1,
    ),
    (
        "a second reshuffle",
        {"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 5},
        ["discard 0 1", "discard 0 1", "bid", "pass", "keep 0", "bid", "pass", "keep 1"],
        0,
    ),
    (
        "two cards left over the pile",
        {"num_players": 2, "hand_size": 2, "flop_size": 3, "num_ranks": 6},
        ["discard 0 1", "discard 0 1", "bid", "pass", "keep 2"],
        0,
    ),
    (
        "three seats, flops of one card",
        {"num_players": 3, "hand_size": 2, "flop_size": 1, "num_ranks": 7},
        ["discard 0", "discard 0 1", "discard none", "bid", "pass", "keep 0"],
        0,
    ),
    (
        "three seats, reshuffled",
        {"num_players": 3, "hand_size": 2, "flop_size": 2, "num_ranks": 7},
        ["discard 1", "discard 0 1", "discard none", "pass", "bid", "pass", "keep 1"],
        0,
    ),
    (
        "the end of a deal, hands shown",
        {"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 5},
        ["discard 0", "discard 0", "bid", "pass", "keep 1", "keep 0"],
        0,
    ),
    (
        "the end of a deal without a reshuffle",
        {"num_players": 3, "hand_size": 2, "flop_size": 1, "num_ranks": 7},
        ["discard 0", "discard none", "discard none", "keep 0"],
        0,
    ),
]


@pytest.mark.parametrize("settings, actions, me", [case[1:] for case in RESAMPLED], ids=[c[0] for c in RESAMPLED])
def test_resampling_is_uniform_over_all_that_the_seat_cannot_tell_apart(
    settings: dict[str, Any], actions: list[str], me: int
) -> None:
    """Against brute force: every possible world comes up, no other, all equally often (chi-square)."""
    for seed in range(3):
        table = begin(seed, {**settings, "num_suits": 1, "starting_chips": 50})
        play(table, *actions)
        possible = worlds(table, me)
        assert len(set(possible.values())) == 1, "all worlds are alike in their number of histories"
        assert world_of(table, table.states, me) in possible
        calls, draws = kernels(auction_flop), 60 * len(possible)
        drawn: Counter[Any] = Counter()
        seen = table.observe(me)
        for word in range(draws):
            states = table.states.copy()
            calls.resample_from_infostate(states, np.array([me]), np.array([word], np.uint64))
            drawn[world_of(table, states, me)] += 1
        assert set(drawn) == set(possible)
        spread = sum((drawn[world] - 60) ** 2 / 60 for world in possible)
        assert table.game.visible_deck(states[0], me) == table.game.visible_deck(table.state, me)
        free = len(possible) - 1
        assert abs(spread - free) < 5 * math.sqrt(2 * free + 1)
        out = np.zeros_like(seen)
        calls.observe(states, 0, me, out, 1.0)
        assert np.array_equal(out, seen)


def test_resampled_tables_look_the_same_and_play_on() -> None:
    """In every phase, with reshuffles: the same to the seat, all cards once, public facts kept, fit to play on."""
    rng, phases = np.random.default_rng(8), Counter[Any]()
    for seed in range(14):
        n = 2 + seed % 7
        table = begin(seed, {"num_players": n, "discard_fees": (0,) * 6, "num_ranks": 13 if n > 6 else 7 + n % 4})
        while True:
            me = int(rng.integers(n))
            twin = table.resample_from_infostate(me, rng)
            phases[table.phase, int(table.state.first_shuffle) < 127] += 1
            assert np.array_equal(table.observe(me), twin.observe(me))
            assert table.view(me) == twin.view(me) and np.array_equal(table.mask(me), twin.mask(me))
            assert held(table) == held(twin) and stacks(table) == stacks(twin)
            hands = [card for seat in range(n) for card in hand(twin, seat)]
            cards = {*hands, *stock(twin), *flop(twin)}
            assert len(cards) == len(hands) + len(stock(twin)) + len(flop(twin))
            assert cards <= {CARD_NAMES[card] for card in deck_cards(table.settings.num_ranks, 4)}
            assert sorted(twin.state.deck[: len(table.deals[-1].deck)].tolist()) == sorted(table.deals[-1].deck)
            kept = {seat: set(hand(twin, seat)) for seat in range(n)}
            for seat in range(n):
                gone = set(dealt(twin.state, seat, True))
                bought = [f for f in range(twin.state.num_flops) if twin.state.buyer[f] == seat]
                assert len(gone) == max(int(twin.state.discarded[seat]), 0)
                assert len(kept[seat]) == held(twin)[seat] and len(bought) >= bool(gone) * (twin.to_act is None)
            if table.to_act is None:
                break
            if rng.random() < 0.03:
                random_deal(twin, rng)
            table.act(int(rng.choice(table.legal())))
    assert all(phases[phase, shuffled] for phase in ("bid", "keep", "over") for shuffled in (False, True))


def test_visible_deck_is_what_a_seat_has_seen() -> None:
    table = begin(deck=list(CARD_NAMES), settings={"num_players": 2})
    seen = table.game.visible_deck(table.state, 1)
    assert [place for place in range(52) if seen[place]] == [0, 2, 4, 6, 8]  # the first seat clockwise from dealer 0
    play(table, "discard 0", "discard 0 1")
    seen = table.game.visible_deck(table.state, 0)
    assert [place for place in range(52) if seen[place]] == [1, 3, 5, 7, 9, 10, 11, 12]
    play(table, "bid", "pass", "keep 0", "keep 0 1")
    seen = table.game.visible_deck(table.state, 0)
    shown = [place for place in range(10) if CARD_NAMES[place] in {*hand(table, 0), *hand(table, 1)}]
    assert [place for place in range(52) if seen[place]] == sorted({1, 3, 5, 7, 9, *shown, *range(10, 16)})


# --- the environment ------------------------------------------------------------------------------------------------


def test_the_environment_is_there_by_its_name() -> None:
    env = auction_flop_v0.env(num_players=3)
    env.reset(seed=3)
    assert env.unwrapped.table.game is auction_flop and env.action_space("player_0").n == 43
    assert env.unwrapped.action_name(0) == "pass" and env.unwrapped.max_num_agents == 3
