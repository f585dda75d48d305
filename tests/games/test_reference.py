"""The engine beside the plain-Python reference: whole matches, decision by decision (A1 to A15); and many deals."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from reference import Ask, Result, end_match, next_dealer, play_deal, reserve, seats_from

from auction_env import Table
from auction_env.engine.batch import Batch
from auction_env.games.auction_poker import max_game_length
from auction_env.games.cards import CARD_NAMES

SETTINGS: list[dict[str, Any]] = [
    {"num_players": 2, "num_deals": 5, "starting_chips": 60},
    {"num_players": 3, "num_deals": 5, "starting_chips": 60},
    {"num_players": 4, "num_deals": 4, "starting_chips": 40, "final_carry": "keep"},
    {"num_players": 5, "num_deals": 3, "starting_chips": 45},
    {"num_players": 7, "num_deals": 3, "starting_chips": 45},
    {"num_players": 2, "num_ranks": 3, "num_suits": 2, "hole_cards": 1, "num_auctions": 1, "max_bid": 2}
    | {"max_raises": 1, "num_deals": 6, "starting_chips": 20},
    {"num_players": 3, "num_ranks": 4, "num_suits": 4, "hole_cards": 2, "num_auctions": 3, "num_deals": 4},
    {"num_players": 4, "num_ranks": 7, "hole_cards": 0, "num_auctions": 7, "max_bid": 1, "max_raises": 0},
    {"num_players": 3, "hole_cards": 6, "num_auctions": 1, "bet_size": 3, "max_raises": 6, "ante": 4, "num_deals": 3},
    {"num_players": 6, "num_ranks": 8, "hole_cards": 1, "num_auctions": 4, "ante": 0, "max_bid": 9, "num_deals": 2},
]


def _choose(rng: random.Random, legal: list[str], timid: bool) -> str:
    """Random, but folding seldom, or always if ``timid``, and going both ways often: so all kinds of endings occur."""
    if timid and "fold" in legal:
        return "fold"
    if "fold" in legal and rng.random() < 0.6:
        legal = [name for name in legal if name != "fold"]
    if "declare both" in legal and rng.random() < 0.4:
        return "declare both"
    return rng.choice(legal)


def _compare_deal(table: Table, rng: random.Random, seen: Counter[str], timid: bool = False) -> Result:
    """Play the table's deal in both; compare every decision and the result."""
    log = table.deals[-1]
    deck = [CARD_NAMES[card] for card in log.deck]
    reference = play_deal(table.settings, deck, log.dealer, log.stacks, log.carried_pot)
    assert log.dealt_in == sorted(seats_from(log.dealer, log.stacks, table.settings))
    n = table.settings.num_players
    ask: Ask = next(reference)
    while True:
        assert (ask.seat, ask.phase) == (table.to_act, table.phase)
        assert ask.legal == {table.action_names[action] for action in table.legal()}
        assert (ask.pot, ask.stacks) == (table.state.pot, table.state.stacks[:n].tolist())
        assert sum(ask.stacks) + ask.pot == table.state.total_chips and min(ask.stacks) >= 0
        answer = _choose(rng, sorted(ask.legal), timid)
        seen[f"{ask.phase}: {answer.split()[0]}"] += 1
        table.act(answer)  # type: ignore[arg-type]
        try:
            ask = reference.send(answer)
        except StopIteration as stop:
            return stop.value


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: f"{s['num_players']} seats, {len(s)} settings")
def test_whole_matches_agree_with_the_reference(settings: dict[str, Any]) -> None:
    rng, seen = random.Random(17), Counter[str]()
    for seed in range(25):
        table = Table("auction_poker", settings)
        table.reset(seed)
        while True:
            result = _compare_deal(table, rng, seen, timid=seed % 4 == 0)
            log = table.deals[-1]
            rules = table.settings
            last = len(table.deals) == rules.num_deals or len(seats_from(0, result.stacks, rules)) < 2
            if last and rules.final_carry == "split":
                seen["split"] += result.carried > 0
                result = end_match(result)
            assert (log.award, log.payoffs, log.carried_out) == (result.award, result.payoffs, result.carried)
            assert table.state.stacks[: rules.num_players].tolist() == result.stacks
            assert table.match_over == last
            seen["carried"] += result.carried > 0
            seen["folded out"] += not result.declarers
            seen["sat out"] += len(log.dealt_in) < rules.num_players
            if last:
                break
            table.next_deal()
        for before, after in pairwise(table.deals):
            assert after.dealer == next_dealer(before.dealer, after.stacks, rules)
            assert after.carried_pot == before.carried_out
    assert table.settings.reserve == reserve(table.settings)
    assert seen["declare: declare"] and seen["folded out"] and (seen["carried"] or seen["split"])
    if settings.get("max_raises", 3):
        assert seen["bet: raise"]


# --- many deals at once ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(2, 8))
def test_a14_chips_are_conserved_at_every_step_of_many_deals(n: int) -> None:
    """Cases 30 and 65: 100,000 deals in all; nobody is ever negative, and no deal is longer than stated."""
    batch = Batch("auction_poker", {"num_players": n, "num_deals": 20, "starting_chips": 60}, 2048, np.int8)
    out, rng = batch.reset(seed=n), np.random.default_rng(n)
    longest = max_game_length(batch.settings)
    length, deals, most = np.zeros(2048, np.int64), 0, 0
    while deals < 17_000:
        out = batch.step(((1 - rng.random(out.masks.shape, np.float32)) * out.masks).argmax(axis=1))
        states = batch.states
        chips = states["stacks"][:, :n].sum(axis=1) + states["pot"] + states["carried_pot"]
        assert (chips == states["total_chips"]).all()
        assert (states["stacks"][:, :n] >= 0).all()
        length += 1
        over = out.deal_over
        most, deals = max(most, int(length.max(where=over, initial=0))), deals + int(over.sum())
        assert (length[~over] < longest).all()
        length[over] = 0
        carried_on = over & ~out.match_over
        assert (states["carried_pot"] == 0).all() and (states["carried_in"][~carried_on & over] == 0).all()
    assert most <= longest and (n > 2 or most == longest)
