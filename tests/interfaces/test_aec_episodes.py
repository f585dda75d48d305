"""The PettingZoo AEC environment: reset, hidden choices, copies, illegal moves, pictures."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from aec_play import check_dicts, check_moment, env_module, move, randomly, run
from strategies import chooser, dealt, match_settings, snapshot, some_settings

import auction_env
from auction_env import IllegalActionError, SetupError, Table
from auction_env.interfaces.pettingzoo_aec import make_env
from auction_env.rendering.text import text

# --- reset -----------------------------------------------------------------------------------------------------------


def test_reset_takes_seed_and_options_as_the_table_does(game):
    env = env_module(game).env()
    env.reset(seed=3, options={"dealer": 1, "deck": "As Kd", "unlike": 1})
    assert snapshot(env.unwrapped.table) == snapshot(dealt(game, {}, 3, dealer=1, deck="As Kd"))
    env.reset()
    table = dealt(game, {}, 3, dealer=1, deck="As Kd")
    table.reset()
    assert snapshot(env.unwrapped.table) == snapshot(table)


def test_a_refused_reset_leaves_the_environment_as_it_was(game):
    env = env_module(game).env()
    env.reset(seed=3)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    before, agent = snapshot(env.unwrapped.table), env.agent_selection
    with pytest.raises(SetupError, match="dealer is 99"):
        env.reset(seed=4, options={"dealer": 99})
    with pytest.raises(ValueError, match="seed is -4"):
        env.reset(seed=-4)
    assert snapshot(env.unwrapped.table) == before and env.agent_selection == agent
    check_moment(env)


def test_the_environment_plays_as_the_table_does(game):
    """Same seed, settings and actions: the same deals through both (RULES, "Both")."""
    for seed in range(6):
        values = some_settings(game, chooser(np.random.default_rng(seed)), {"num_deals": 2})
        env, table, rng = env_module(game).env(**values), Table(game, values), np.random.default_rng(seed)
        env.reset(seed=seed)
        table.reset(seed)
        for agent in env.agent_iter():
            if env.terminations[agent]:
                env.step(None)
                continue
            assert agent == f"player_{table.to_act}"
            action = int(rng.choice(np.flatnonzero(env.observe(agent)["action_mask"])))
            env.step(action)
            if table.act(action) is not None and not table.match_over:
                table.next_deal()
        assert snapshot(table) == snapshot(env.unwrapped.table)


def test_no_step_copies_the_game_as_a_whole(game, monkeypatch):
    """Deepcopy in a step is what makes card environments slow."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("deepcopy in a step")

    env = env_module(game).env(**match_settings(game, 2))
    monkeypatch.setattr(copy, "deepcopy", refuse)
    env.reset(seed=1)
    for _ in run(env, randomly(np.random.default_rng(1))):
        pass
    env.reset()


def test_interleaved_environments_do_not_disturb_each_other(game):
    def results(env: Any, seed: int) -> Iterator[Any]:
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        for agent in run(env, randomly(rng)):
            yield agent, env.observe(agent)["observation"].tolist(), dict(env.rewards)

    make = env_module(game).env
    alone = [list(results(make(), seed)) for seed in (1, 2)]
    together: list[list[Any]] = [[], []]
    for pair in itertools.zip_longest(results(make(), 1), results(make(), 2)):
        for found, moment in zip(together, pair, strict=True):
            if moment is not None:
                found.append(moment)
    assert together == alone


# --- hidden choices --------------------------------------------------------------------------------------------------


def _seen_of(env: Any, agent: str) -> dict[str, Any]:
    raw = env.unwrapped
    seat = int(agent.split("_")[1])
    view = raw.table.view(seat)
    return {
        "observation": env.observe(agent)["observation"].tolist(),
        "mask": env.observe(agent)["action_mask"].tolist(),
        "info": {name: repr(value) for name, value in env.infos[agent].items()},
        "text": text(view, seat),
        "pot": view.pot,
        "stacks": [other.stack for other in view.seats],
        "record": [entry for entry in raw.record(agent)["deals"][-1]["actions"] if entry[2] != "hidden"],
    }


def _seen_by_all(env: Any) -> dict[str, Any]:
    return {
        "rewards": dict(env.rewards),
        "cumulative": dict(env._cumulative_rewards),
        "terminations": dict(env.terminations),
        "truncations": dict(env.truncations),
        "agents": list(env.agents),
        "repr": repr(env.unwrapped),
        "str": str(env),
        "table": repr(env.unwrapped.table),
    }


def test_nothing_anyone_sees_changes_until_the_last_hidden_choice_is_in(game):
    """A3, A8: the seat that chose sees its own choice, the next one that it is asked; nobody sees anything else."""
    checked = set()
    for seed in range(12 if game.HIDDEN_PHASES else 0):
        values = some_settings(game, chooser(np.random.default_rng(seed)), {"num_players": 2 + seed % 4})
        env, rng = env_module(game).env(**values), np.random.default_rng(seed)
        env.reset(seed=seed)
        table = env.unwrapped.table
        while not any(env.terminations.values()):
            mover, phase = env.agent_selection, table.phase
            hidden = table.state.phase in game.HIDDEN_PHASES
            before = {agent: _seen_of(env, agent) for agent in env.agents if hidden}
            public, row = _seen_by_all(env), table.states.copy()
            public["rewards"] = dict.fromkeys(env.agents, 0.0)  # those of an ended deal are gone after any step,
            public["cumulative"][mover] = 0.0  # and the mover has had its own
            action = int(rng.choice(table.legal()))
            env.step(action)
            if not hidden or game.pending(table.states[0]) == 0:
                continue
            checked.add(phase)
            assert _seen_by_all(env) == public
            assert table.phase == phase
            assert game.narrate(row[0], action, table.states[0]) == []
            for agent in env.agents:
                now = _seen_of(env, agent)
                if agent == mover:
                    del now["observation"], now["text"], now["record"]
                if agent in (mover, env.agent_selection):
                    del now["mask"], now["info"]
                assert now == {name: before[agent][name] for name in now}
    assert checked == {game.PHASES[phase] for phase in game.HIDDEN_PHASES}


def test_a3_the_pot_grows_only_when_the_last_bid_is_in():
    """Three antes, then bids 3, 3, 1: the pot reads 3, 3, 3, then 10, for every seat and in the text."""
    env = auction_env.auction_poker_v0.env(render_mode="ansi")
    env.reset(seed=1, options={"dealer": 0})
    table, pots = env.unwrapped.table, []
    for bid in ("bid 3", "bid 3", "bid 1", None):
        pots.append(table.view(0).pot)
        assert len({table.view(seat).pot for seat in (0, 1, 2, None)}) == 1
        assert f"pot {pots[-1]}" in env.render()
        if bid:
            env.step(env.unwrapped.action_table().index(bid))
    assert pots == [3, 3, 3, 10]


def test_a_hidden_choice_looks_the_same_whether_asked_first_or_last():
    """Which bids are in does not show in a seat's observation."""
    for seed in range(5):
        env = auction_env.auction_poker_v0.env(num_players=4)
        env.reset(seed=seed)
        first = {agent: env.observe(agent)["observation"].tolist() for agent in env.agents}
        for _ in range(3):
            agent = env.agent_selection
            assert env.observe(agent)["observation"].tolist() == first[agent]
            env.step(60)
        assert env.observe(env.agent_selection)["observation"].tolist() == first[env.agent_selection]


# --- copies ----------------------------------------------------------------------------------------------------------

COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}


def _course(env: Any, seed: int) -> list[Any]:
    rng, seen = np.random.default_rng(seed), []
    for agent in run(env, randomly(rng)):
        observation, *rest = env.last()
        seen.append((agent, observation["observation"].tolist(), rest[:3], dict(env.rewards)))
    return seen


@pytest.mark.parametrize("make_copy", COPIES.values(), ids=COPIES.keys())
@pytest.mark.parametrize("form", ["env", "raw_env"])
def test_a_copy_in_mid_match_plays_on_alike_and_apart(game, form, make_copy):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        env = getattr(env_module(game), form)(render_mode="ansi", **match_settings(game, 2))
        env.reset(seed=seed)
        moves = int(rng.integers(0, 30))
        for _ in range(moves):
            if env.agents:
                move(env, randomly(rng))
        before = snapshot(env.unwrapped.table), env.render(), env.agent_selection
        twin = make_copy(env)
        assert type(twin) is type(env) and twin.unwrapped is not env.unwrapped
        assert (snapshot(twin.unwrapped.table), twin.render(), twin.agent_selection) == before
        theirs = _course(twin, seed)
        assert (snapshot(env.unwrapped.table), env.render(), env.agent_selection) == before
        assert _course(env, seed) == theirs
        twin.reset(seed=seed)
        assert env.agents == [] and twin.agents == twin.possible_agents


@pytest.mark.parametrize("make_copy", COPIES.values(), ids=COPIES.keys())
def test_a_copy_before_reset_or_among_dead_agents_works(game, make_copy):
    env = make_copy(env_module(game).env())
    env.reset(seed=1)
    while not any(env.terminations.values()):
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    env.step(None)
    twin = make_copy(env)
    assert _course(twin, 0) == _course(env, 0)
    assert twin.agents == env.agents == []


def test_deepcopy_keeps_shared_parts_shared(game):
    env = env_module(game).raw_env()
    env.reset(seed=1)
    pair = copy.deepcopy([env, env])
    assert pair[0] is pair[1] and pair[0] is not env


def test_spaces_of_a_copy_draw_on_their_own(game):
    env = env_module(game).env()
    env.reset(seed=1)
    env.action_space("player_0").seed(5)
    twin = copy.deepcopy(env)
    drawn = [env.action_space("player_0").sample() for _ in range(20)]
    assert [twin.action_space("player_0").sample() for _ in range(20)] == drawn


# --- illegal moves ---------------------------------------------------------------------------------------------------

NO_ACTIONS = [None, -1, 10**6, 1.5, True, "nothing", np.array([0]), np.float32(0), object()]


@pytest.mark.parametrize("action", NO_ACTIONS, ids=[repr(a)[:20] for a in NO_ACTIONS])
def test_the_raw_environment_raises_and_changes_nothing(game, action):
    env = env_module(game).raw_env()
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(10):
        move(env, randomly(rng))
        before, public = snapshot(env.table), _seen_by_all(env)
        selected, infos = env.agent_selection, repr(env.infos)
        if not env.terminations[selected]:
            with pytest.raises(IllegalActionError):
                env.step(action)
        assert (snapshot(env.table), _seen_by_all(env)) == (before, public)
        assert (env.agent_selection, repr(env.infos)) == (selected, infos)


@pytest.mark.parametrize("action", NO_ACTIONS, ids=[repr(a)[:20] for a in NO_ACTIONS])
def test_what_is_no_action_is_an_illegal_one_in_the_wrapped_environment(game, action):
    env = env_module(game).env()
    env.reset(seed=1)
    before, agent = snapshot(env.unwrapped.table), env.agent_selection
    env.step(action)
    assert snapshot(env.unwrapped.table) == before and all(env.terminations.values())
    assert [name for name in env.agents if env.rewards[name] < 0] == [agent]
    assert env.infos[agent]["illegal_action"] == 1 and "legal now" in env.unwrapped.why_illegal
    env.reset(seed=1)
    assert not env.unwrapped.why_illegal and not env.infos[agent]["illegal_action"]


def test_an_action_may_be_given_by_its_name(game):
    env = env_module(game).env()
    env.reset(seed=1)
    env.step(env.unwrapped.action_name(env.unwrapped.table.legal()[0]))
    assert len(env.unwrapped.table.deals[0].actions) == 1


def test_the_environment_judges_by_its_own_copy_of_the_mask(game):
    """Masks that were handed out, in observations and infos, make nothing legal and nothing illegal."""
    for value, legal, flat in itertools.product((0, 1), (True, False), (True, False)):
        env = env_module(game).env(flat=flat)
        env.reset(seed=1)
        observation, *_, info = env.last()
        mask = info["action_mask"] if flat else observation["action_mask"]
        action = int(np.flatnonzero(mask == legal)[0])
        mask[:] = value
        env.step(action)
        assert all(env.terminations.values()) != legal
        assert len(env.unwrapped.table.deals[0].actions) == legal


@pytest.mark.parametrize("ask_last", [True, False])
def test_an_illegal_move_in_the_wrapped_environment_ends_the_match_at_the_movers_cost(game, ask_last, capfd):
    env = env_module(game).env(num_deals=2)
    settings = env.unwrapped.table.settings
    penalty = getattr(settings, "reserve", settings.starting_chips)
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    mover, mask = env.agent_selection, env.last()[0]["action_mask"]
    if ask_last:
        env.last()
    env.step(int(np.flatnonzero(mask == 0)[0]))
    assert all(env.terminations.values()) and env.agents == env.possible_agents
    paid = {}
    for agent in env.agent_iter():
        check_dicts(env)
        check_moment(env)  # no mask offers anything any more
        observation, reward, *_, info = env.last()
        assert info["illegal_action"] == (agent == mover)
        assert not observation["action_mask"].any()
        paid[agent] = reward
        env.step(None)
    assert paid == {agent: -float(penalty) if agent == mover else 0.0 for agent in env.possible_agents}
    env.reset(seed=1)
    assert not any(env.terminations.values())
    check_moment(env)


def test_numpy_integers_are_actions_raw_and_wrapped(game):
    for form in ("env", "raw_env"):
        ends = []
        for kind in (int, np.int32, np.int64, np.array):
            env = getattr(env_module(game), form)()
            env.reset(seed=2)
            rng = np.random.default_rng(2)
            for _ in run(env, lambda env, mask, kind=kind, rng=rng: kind(rng.choice(np.flatnonzero(mask)))):
                pass
            ends.append(snapshot(env.unwrapped.table))
        assert all(end == ends[0] for end in ends)


# --- rendering through the environment -------------------------------------------------------------------------------


def test_render_shows_what_the_acting_seat_may_see_unless_asked_to_reveal(game):
    for reveal in (False, True):
        env = env_module(game).env(render_mode="ansi", reveal=reveal)
        env.reset(seed=1)
        rng = np.random.default_rng(1)
        for _ in run(env, randomly(rng)):
            table = env.unwrapped.table
            seat = None if reveal else table.to_act
            if table.to_act is not None:
                assert env.render() == text(table.view(seat), seat)


def test_human_mode_prints_each_move_and_returns_nothing(game, capsys):
    env = env_module(game).env(render_mode="human")
    env.reset(seed=1)
    assert env.render() is None
    shown = capsys.readouterr().out
    assert "player_0" in shown
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    assert "player_0" in capsys.readouterr().out
    assert env_module(game).raw_env().render() is None


def test_make_env_takes_a_module_too(game):
    env = make_env(game, num_players=2)
    env.reset(seed=1)
    assert env.num_agents == 2


def test_a_seat_that_is_not_dealt_in_at_the_start_is_no_agent():
    """It sits out for good (A2): nothing will ever be asked of it, so there is nobody to wait for."""
    env = auction_env.auction_poker_v0.env(num_deals=3)
    env.reset(seed=1, options={"stacks": [60, 60, 5]})
    assert env.agents == ["player_0", "player_1"] and set(env.infos) == set(env.rewards) == set(env.agents)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"]))
    env.reset(seed=1)
    assert len(env.agents) == 3
