"""Perfect recall: two histories give a seat equal observations if and only if it has seen and done the same, in the
same order. And an observation computed once more, piece by piece, from the deck and the actions alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from reference import best_high, best_low
from strategies import POLICIES, chooser, dealt, play, public_names, seats_of, small_settings, some_settings

from auction_env import Table, get_game
from auction_env.games.cards import CARD_NAMES, deck_cards
from auction_env.games.hands import HIGH_CATEGORIES, LOW_CATEGORIES

TINY = {
    **{"num_players": 2, "num_suits": 2, "num_ranks": 3, "hole_cards": 1},
    **{"num_auctions": 1, "max_bid": 2, "max_raises": 1},
}


class Histories:
    """Numbers for histories, one for each, and the observation that goes with each of them, seat by seat."""

    def __init__(self, seats: int) -> None:
        self._numbers: dict[Any, int] = {}
        self._observation_of: list[dict[int, bytes]] = [{} for _ in range(seats)]
        self._history_of: list[dict[bytes, int]] = [{} for _ in range(seats)]
        self.compared = 0

    def after(self, history: int, *events: Any) -> int:
        """The history that goes on from another with these events."""
        for event in events:
            history = self._numbers.setdefault((history, event), len(self._numbers) + 1)
        return history

    def meet(self, seat: int, history: int, observation: bytes) -> None:
        """Note that a seat with this history sees this, and compare with all met before."""
        known = self._observation_of[seat].setdefault(history, observation)
        assert known == observation, "the same history, two observations: something leaks"
        met = self._history_of[seat].setdefault(observation, history)
        assert met == history, "two histories, the same observation: something is forgotten"
        self.compared += 1

    @property
    def information_states(self) -> int:
        return sum(map(len, self._observation_of))


# --- the whole tree of a tiny setting of Auction Poker ---------------------------------------------------------------


def tiny_deals(table: Table) -> Iterator[tuple[int, list[int]]]:
    """Every dealer, hole cards and first row; the order within the row and the cards never turned up do not matter."""
    cards = deck_cards(TINY["num_ranks"], TINY["num_suits"])
    for dealer, holes in itertools.product((0, 1), itertools.permutations(cards, 2)):
        rest = [card for card in cards if card not in holes]
        for row in itertools.combinations(rest, 2):
            yield dealer, [*holes, *row]


def tiny_events(row: Any, action: str, done: list[tuple[int, str]], after: Any) -> list[list[Any]]:
    """What each of two seats sees of a move, worked out from the rules: ``done`` are the moves before it."""
    seat, other = int(row.to_act), 1 - int(row.to_act)
    word = action.partition(" ")[0]
    seen: list[list[Any]] = [[], []]
    if word in ("bid", "declare"):  # hidden until the other's is in
        seen[seat].append(("mine", action))
        before = [name for actor, name in done if actor == other and name.startswith(word)]
        still_in = not any(name == "fold" for _, name in done)
        if before or not still_in:
            for events in seen:
                events.append(("both", tuple(sorted({seat: action, other: before[0]}.items()))))
    else:
        for events in seen:
            events.append((seat, action))
    if after.to_act < 0:
        declared = word == "declare"
        for viewer, events in enumerate(seen):
            events.append(("over", int(after.deck[_hole_place(after, 1 - viewer)]) if declared else None))
    return seen


def _hole_place(row: Any, seat: int) -> int:
    """With one hole card each, dealt clockwise from the dealer: the seat after the dealer has the first card."""
    return 0 if seat == (int(row.dealer) + 1) % 2 else 1


def walk(table: Table, states: np.ndarray, held: tuple[int, int], done: list[Any], histories: Histories) -> int:
    """Walk all play from a row on, comparing at every state, decision and final; return the number of states."""
    calls = table._kernels
    for seat in (0, 1):
        out = np.zeros(table.observation_size, np.float32)
        calls.observe(states, 0, seat, out, 1.0)
        histories.meet(seat, held[seat], out.tobytes())
    count = 1
    scratch, mask = np.zeros(table.game.MAX_LEGAL, np.int16), np.zeros(len(table.action_names), np.int8)
    for action in scratch[: calls.legal(states, 0, scratch)].tolist():
        following, name = states.copy(), table.action_names[action]
        calls.act(following, 0, action, np.zeros_like(scratch), mask)
        seen = tiny_events(states[0], name, done, following[0])
        after = tuple(histories.after(held[seat], *seen[seat]) for seat in (0, 1))
        count += walk(table, following, after, [*done, (int(states["to_act"][0]), name)], histories)
    return count


def walk_tiny(stop: int | None = None) -> tuple[Histories, int]:
    """Walk the tree under every deal, or under the first so many."""
    table, histories, states = Table("auction_poker", TINY), Histories(2), 0
    for dealer, deck in itertools.islice(tiny_deals(table), stop):
        table.reset(0, {"dealer": dealer, "deck": deck})
        held = []
        for seat in (0, 1):
            own = deck[_hole_place(table.state, seat)]
            held.append(histories.after(0, ("deal", dealer, own, frozenset(deck[2:]))))
        states += walk(table, table.states, (held[0], held[1]), [], histories)
    return histories, states


def test_observations_are_information_states_over_a_part_of_the_tiny_tree():
    histories, states = walk_tiny(20)
    assert histories.compared == 2 * states > 20_000


@pytest.mark.slow
def test_observations_are_information_states_over_the_whole_tiny_tree():
    """2 dealers x 30 pairs of hole cards x 6 rows, and the same number of states under each of these deals."""
    histories, states = walk_tiny()
    lines = 1 + 2 + 4  # nothing, a bid, both bids
    betting = (
        14  # states after the pick and while betting (A6): x xx xb xbc xbf xbr xbrc xbrf b bc bf br brc brf, and none
    )
    declaring = 5 * (3 + 9)  # both still in after xx, xbc, xbrc, bc, brc
    assert states == 360 * (lines + 8 * (1 + betting + declaring))
    assert histories.compared == 2 * states
    # A seat's own card and the row: 6 x 10 deals for each dealer and seat, each with the same tree of what it can see.
    assert histories.information_states % (2 * 2 * 60) == 0


# --- any game, sampled -----------------------------------------------------------------------------------------------


def start_of(table: Table, seat: int) -> Any:
    """What a seat knows as the deal begins: chips, dealer, its own cards and those face up, each as a set."""
    log, view = table.deals[-1], table.view(seat)
    return (
        *(log.dealer, tuple(log.dealt_in), tuple(log.stacks), log.carried_pot),
        *(frozenset(view.seats[seat].cards), frozenset(view.centre)),
    )


def events_of(before: Table, action: int, after: Table, seat: int) -> list[Any]:
    """What a seat sees of a move: its own action, public ones, hidden ones once all are in, cards turned up."""
    names = public_names(before.game, before.settings)
    actor, log = before.to_act, after.deals[-1].actions
    waiting = before.game.pending(before.state)
    events: list[Any] = [("mine", action)] if actor == seat else []
    if before.state.phase not in before.game.HIDDEN_PHASES:
        events += [(actor, names[action])] if actor != seat else []
    elif before.game.pending(after.state) == 0:
        events.append(("revealed", tuple((who, names[what]) for who, what in log[len(log) - waiting - 1 :])))
    views = before.view(seat), after.view(seat)
    for what in ("centre", "cards"):
        old, new = ((v.centre if what == "centre" else v.seats[seat].cards) for v in views)
        if not set(new) <= set(old):
            events.append((what, frozenset(new)))
    for other in views[1].seats:
        if other.seat != seat and set(other.cards) - {"??"} - set(views[0].seats[other.seat].cards):
            events.append((other.seat, frozenset(other.cards)))
    return events


@pytest.mark.parametrize("deals", [120, pytest.param(2500, marks=pytest.mark.slow)])
def test_observations_are_information_states_in_sampled_play_of_small_settings(game, deals):
    """Two histories meet often when decks are tiny: each pair that does is compared, both ways."""
    values = small_settings(game, 1)
    rng = np.random.default_rng(0)
    table, histories, states = Table(game, values), Histories(2), 0
    for seed in range(deals):
        table.reset(seed)
        policy = POLICIES[seed % len(POLICIES)](rng)
        held = [histories.after(0, start_of(table, seat)) for seat in (0, 1)]
        while True:
            for seat in (0, 1):
                histories.meet(seat, held[seat], table.observe(seat).tobytes())
            states += 1
            if table.to_act is None:
                break
            before, action = table.clone(), policy(table)
            table.act(action)
            held = [histories.after(held[seat], *events_of(before, action, table, seat)) for seat in (0, 1)]
    assert histories.information_states < 2 * states * 0.9, "some histories were met more than once"


# --- Auction Poker's observation once more, from the deck and the actions ---------------------------------------------


class Retelling:
    """A deal of Auction Poker told again from its log: deck, dealer, stacks and actions, by the rules."""

    def __init__(self, table: Table) -> None:
        self.log, self.settings = table.deals[-1], table.settings
        self.n = self.settings.num_players
        clockwise = [(self.log.dealer + 1 + step) % self.n for step in range(self.n)]
        self.order = [seat for seat in clockwise if self.log.stacks[seat] >= self.settings.reserve]
        places = {seat: place for place, seat in enumerate(self.order)}
        deck, dealt_in = [CARD_NAMES[card] for card in self.log.deck], len(self.order)
        self.holes = {
            seat: [deck[turn * dealt_in + place] for turn in range(self.settings.hole_cards)]
            for seat, place in places.items()
        }
        first = dealt_in * self.settings.hole_cards
        self.rows = [
            deck[first + dealt_in * auction : first + dealt_in * (auction + 1)]
            for auction in range(self.settings.num_auctions)
        ]
        self.bids: list[dict[int, int]] = [{}]
        self.picks: list[dict[int, str]] = [{}]
        self.bets: dict[int, list[str]] = {seat: [] for seat in range(self.n)}
        self.declared: dict[int, str] = {}
        self.paid = {seat: self.settings.ante * (seat in self.order) for seat in range(self.n)}
        self.level, self.opener, self.phase = 0, None, "bid"
        self.seat_level = dict.fromkeys(range(self.n), 0)
        for seat, action in self.log.actions:
            self._tell(seat, table.action_names[action])
        if self.log.payoffs is not None:
            self.phase = "over"

    def exposed(self, seat: int, auctions: int) -> list[str]:
        return [picks[seat] for picks in self.picks[:auctions] if seat in picks]

    @property
    def finished(self) -> int:
        """Auctions finished."""
        return sum(len(picks) == len(self.order) for picks in self.picks)

    def _tell(self, seat: int, name: str) -> None:
        word, _, what = name.partition(" ")
        if word == "bid":
            self.bids[-1][seat] = int(what)
            if len(self.bids[-1]) == len(self.order):
                self.phase = "pick"
                for bidder, bid in self.bids[-1].items():
                    self.paid[bidder] += bid
        elif word == "pick":
            self._pick(seat, what)
        elif word == "declare":
            self.declared[seat] = what
        else:
            self._bet(seat, word)

    def _pick(self, seat: int, card: str) -> None:
        picks, row = self.picks[-1], self.rows[len(self.picks) - 1]
        picks[seat] = card
        left = [other for other in self.order if other not in picks]
        if len(left) == 1:
            picks[left[0]] = next(card for card in row if card not in picks.values())
            if len(self.picks) < self.settings.num_auctions:
                self.bids.append({})
                self.picks.append({})
                self.phase = "bid"
            else:
                self.phase = "bet"

    def _bet(self, seat: int, word: str) -> None:
        self.opener = seat if self.opener is None else self.opener
        self.bets[seat].append(word)
        if word in ("bet", "raise"):
            self.level += 1
        if word in ("bet", "raise", "call"):
            self.paid[seat] += (self.level - self.seat_level[seat]) * self.settings.bet_size
            self.seat_level[seat] = self.level
        folded = [other for other in self.order if "fold" in self.bets[other]]
        in_play = [other for other in self.order if other not in folded]
        acted = all(self.bets[other] for other in in_play)
        if acted and all(self.seat_level[other] == self.level for other in in_play):
            self.phase = "declare"


def expected_pieces(table: Table, me: int) -> dict[str, np.ndarray]:
    """Every piece of a seat's observation by its documented meaning."""
    told, settings, n = Retelling(table), table.settings, table.settings.num_players
    pieces = {piece.name: np.zeros(piece.shape, np.float32) for piece in table.game.observation_fields(settings)}
    from_me = {seat: (seat - me) % n for seat in range(n)}
    over, done = told.phase == "over", told.finished
    total = sum(told.log.stacks) + told.log.carried_pot
    pieces["phase"][("bid", "pick", "bet", "declare", "over").index(told.phase)] = 1
    if told.phase in ("pick", "bet"):
        pieces["turn"][from_me[table.to_act]] = 1
    pieces["dealer"][from_me[told.log.dealer]] = 1
    for seat in told.order:
        pieces["dealt_in"][from_me[seat]] = 1
    for card in told.holes.get(me, []):
        pieces["hole"][CARD_NAMES.index(card)] = 1
    if told.phase in ("bid", "pick"):
        taken = told.picks[-1].values()
        for card in told.rows[len(told.picks) - 1]:
            pieces["row"][CARD_NAMES.index(card)] = card not in taken
    for auction, (bids, picks) in enumerate(zip(told.bids, told.picks, strict=True)):
        for seat, card in picks.items():
            pieces["picks"][auction, from_me[seat], "23456789TJQKA".index(card[0])] = 1
            pieces["picks"][auction, from_me[seat], 13 + "cdhs".index(card[1])] = 1
        for seat, bid in bids.items():
            if seat == me or len(bids) == len(told.order):
                pieces["bids"][auction, from_me[seat], bid - 1] = 1
    for seat, words in told.bets.items():
        for place, word in enumerate(words):
            pieces["bets"][from_me[seat], place, ("check", "bet", "call", "raise", "fold").index(word)] = 1
        pieces["folded"][from_me[seat]] = "fold" in words
    pieces["bet_level"][told.level] = 1
    if done == settings.num_auctions:
        strength = {seat: best_high(told.exposed(seat, done)) for seat in told.order}
        pieces["opener"][from_me[max(told.order, key=lambda seat: strength[seat])]] = 1
    for seat, what in told.declared.items():
        if seat == me or over:
            pieces["declared"][from_me[seat], ("low", "high", "both").index(what)] = 1
    _expect_hands(pieces, told, me, from_me, done)
    ranked = sorted(told.order, key=lambda s: best_high(told.exposed(s, done)) if done else 0, reverse=True)
    for place, seat in enumerate(ranked):
        pieces["tie_place"][from_me[seat]] = np.float32(place / (n - 1))
    award = told.log.award or [0] * n
    for seat in range(n):
        chips = told.log.stacks[seat] - told.paid[seat] + award[seat]
        pieces["stacks"][from_me[seat]] = np.float32(chips / total)
    pot = told.log.carried_pot + sum(told.paid.values()) - sum(award)
    pieces["pot"][0] = np.float32(pot / total)
    pieces["chip_scale"][0] = np.float32(min(settings.reserve, total) / total)
    pieces["deals_left"][0] = np.float32((settings.num_deals - len(table.deals)) / settings.num_deals)
    if over:
        for seat in told.declared:
            if seat != me:
                for card in told.holes[seat]:
                    pieces["shown"][from_me[seat] - 1, CARD_NAMES.index(card)] = 1
    return pieces


def _expect_hands(pieces: dict[str, np.ndarray], told: Retelling, me: int, from_me: dict[int, int], done: int) -> None:
    names_high = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 8}
    assert len(names_high) == len(HIGH_CATEGORIES) and len(LOW_CATEGORIES) == 6
    for seat in told.order:
        cards = [*told.holes[me], *told.exposed(me, len(told.picks))] if seat == me else told.exposed(seat, done)
        pieces["high_made"][from_me[seat], best_high(cards)[0] if cards else 0] = 1
    if me in told.order:
        cards = [*told.holes[me], *told.exposed(me, len(told.picks))]
        category, ranks = best_low(cards) if cards else (0, ())
        pieces["low_made"][category] = 1
        for rank in ranks:
            pieces["low_ranks"][rank] = 1


def test_every_piece_of_auction_pokers_observation_by_its_meaning():
    game, moments = get_game("auction_poker"), 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        table = dealt(game, some_settings(game, chooser(rng)), seed)
        for at in play(table, POLICIES[seed % len(POLICIES)](rng), whole_match=True):
            if rng.random() < 0.25 or at.to_act is None:
                seat = int(rng.integers(at.settings.num_players))
                expected, found = expected_pieces(at, seat), at.observe_named(seat)
                assert list(found) == list(expected)
                for name, values in expected.items():
                    np.testing.assert_allclose(found[name], values, rtol=1e-6, err_msg=f"{name} {at.phase} {seed}")
                moments += 1
    assert moments > 200


def test_seats_in_the_same_place_see_the_same():
    """Rename the seats (turn the table), and each sees what the seat it came from saw."""
    game = get_game("auction_poker")
    for seed in range(10):
        rng = np.random.default_rng(seed)
        players = 2 + seed % 5
        first = dealt(game, {"num_players": players}, seed, dealer=0)
        turn = int(rng.integers(1, players))
        second = dealt(game, {"num_players": players}, seed + 99, dealer=turn, deck=first.deals[-1].deck)
        while True:
            for seat in seats_of(first):
                other = (seat + turn) % players
                assert np.array_equal(first.observe(seat), second.observe(other))
                assert np.array_equal(first.mask(seat), second.mask(other))
            if first.to_act is None:
                break
            action = int(rng.choice(np.sort(first.legal())))
            first.act(action)
            second.act(action)
        net = first.deals[-1].payoffs
        assert [second.deals[-1].payoffs[(seat + turn) % players] for seat in seats_of(first)] == net


def test_public_history_of_the_same_length_is_told_apart():
    """Past bids, who picked what, the order of the betting, own declaration: each changes an observation."""
    game = get_game("auction_poker")

    def seen(*names: str) -> bytes:
        table = dealt(game, {"num_players": 2, "num_auctions": 1}, 5, dealer=0)
        row = sorted(CARD_NAMES[card] for card in table.state.row[:2])
        for name in names:
            table.act(name.replace("first", row[0]).replace("second", row[1]))
        return table.observe(0).tobytes()

    variants = [
        ("bid 1", "bid 2", "pick first"),
        ("bid 2", "bid 1", "pick first"),
        ("bid 2", "bid 1", "pick second"),
        ("bid 1", "bid 3", "pick first"),
        ("bid 1", "bid 1", "pick first", "check", "check"),
        ("bid 1", "bid 1", "pick first", "check", "bet", "call"),
        ("bid 1", "bid 1", "pick first", "bet", "call"),
        ("bid 1", "bid 1", "pick first", "bet", "raise", "call"),
        ("bid 1", "bid 1", "pick first", "check", "bet", "raise", "call"),
        ("bid 1", "bid 1", "pick first", "check", "check", "declare low", "declare low"),
        ("bid 1", "bid 1", "pick first", "check", "check", "declare low", "declare high"),
        ("bid 1", "bid 1", "pick first", "check", "check", "declare both", "declare high"),
    ]
    assert len({seen(*names) for names in variants}) == len(variants)
