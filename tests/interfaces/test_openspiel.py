"""The games in OpenSpiel: its own checks pass, its solvers agree with brute force, nothing hidden is told."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_trees
from strategies import chooser, some_settings

pytest.importorskip("pyspiel")

import pyspiel
from absl import flags
from open_spiel.python.algorithms import cfr, expected_game_score, exploitability, generate_playthrough, ismcts, mcts
from open_spiel.python.observation import make_observation
from open_spiel.python.policy import UniformRandomPolicy
from open_spiel.python.tests import games_sim_test

import auction_env.interfaces.openspiel as bridge
from auction_env import available, get_game
from auction_env.games.cards import deck_cards, names_of
from auction_env.games.game import SettingsError, make_settings
from auction_env.solve.enumeration import enumerate_tree
from auction_env.solve.values import Layout

GOLDEN = Path(__file__).parents[1] / "playthroughs"

# Two seats, few cards; in these no deck is ever shuffled again, and seat 0 deals.
TINY = {
    "auction_poker": {
        "num_players": 2,
        "num_ranks": 3,
        "num_suits": 1,
        "hole_cards": 0,
        "num_auctions": 1,
        "max_bid": 1,
    },
    "auction_flop": {
        "num_players": 2,
        "num_ranks": 4,
        "num_suits": 1,
        "hand_size": 1,
        "flop_size": 1,
        "starting_chips": 4,
    },
}
SHUFFLED = (
    "auction_flop(players=3,hand_size=3,flop_size=2,num_ranks=4,num_suits=3,starting_chips=30,discard_fees=[0 0 0 0])"
)
SEVERAL = "auction_poker(players=2,num_deals=3,num_auctions=2,starting_chips=90)"


def text_of(name: str, values: dict[str, Any]) -> str:
    """How OpenSpiel writes a game with these settings."""
    words = {"players" if key == "num_players" else key: value for key, value in values.items()}
    plain = {key: f"[{' '.join(map(str, v))}]" if isinstance(v, tuple) else v for key, v in words.items()}
    return f"{name}({','.join(f'{key}={value}' for key, value in plain.items())})"


def tiny(name: str) -> Any:
    return pyspiel.load_game(text_of(name, {**TINY[name], "dealer": 0}))


def random_states(game: Any, rng: np.random.Generator) -> list[Any]:
    """Every state of one random match, the end too."""
    state, found = game.new_initial_state(), []
    while True:
        found.append(state.clone())
        if state.is_terminal():
            return found
        state.apply_action(int(rng.choice(state.legal_actions())))


# --- OpenSpiel's own checks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [*available(), SHUFFLED, SEVERAL, "auction_flop(num_deals=2,players=2,dealer=1)"])
def test_its_simulation_tests_pass(text, capsys):
    game = pyspiel.load_game(text)
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    games_sim_test.GamesSimTest().sim_game(game)


def test_its_simulation_test_passes_whatever_the_settings(game):
    rng = np.random.default_rng(0)
    for _ in range(4):
        values = some_settings(game, chooser(rng), {"num_deals": 1})
        loaded = pyspiel.load_game(text_of(game.NAME, values))
        assert loaded.settings == make_settings(game, values)
        pyspiel.random_sim_test(loaded, num_sims=1, serialize=False, verbose=False)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.txt")), ids=lambda path: path.stem)
def test_playthroughs_are_as_they_were(path):
    """After a change that is meant: ``generate_playthrough.update_path(folder)``, and look at the difference."""
    flags.FLAGS.mark_as_parsed()
    before, now = generate_playthrough.replay(str(path))
    assert now == before


def test_games_and_states_go_to_other_processes():
    game = pyspiel.load_game(SEVERAL)
    state = random_states(game, np.random.default_rng(1))[25]
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer))"
    pickled = pickle.dumps(state)
    done = subprocess.run([sys.executable, "-c", code], input=pickled, capture_output=True, check=True, timeout=120)
    assert done.stdout.decode().strip() == str(state).strip()
    assert str(pickle.loads(pickle.dumps(game))) == str(game)


# --- exact values -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def roots() -> dict[str, list[small_trees.Node]]:
    return {name: small_trees.trees(get_game(name), values, 0) for name, values in TINY.items()}


@pytest.mark.parametrize("name", TINY)
def test_uniform_play_is_worth_and_exploitable_as_by_brute_force(name, roots):
    game, uniform = tiny(name), small_trees.uniform(roots[name])
    policy = UniformRandomPolicy(game)
    worth = expected_game_score.policy_value(game.new_initial_state(), [policy, policy])
    assert worth == pytest.approx([small_trees.value(roots[name], uniform) * sign for sign in (1, -1)], abs=1e-9)
    exact = small_trees.exploitability(roots[name], uniform)
    assert exact > 0.1
    assert exploitability.exploitability(game, policy) == pytest.approx(exact, abs=1e-9)
    assert pyspiel.exploitability(game, pyspiel.UniformRandomPolicy(game)) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("name", TINY)
def test_its_cfr_takes_the_steps_of_a_brute_one(name, roots):
    """Average policies after three iterations, at every information state, are equal; then it goes on towards zero."""
    game = tiny(name)
    solver = cfr.CFRSolver(game)
    for _ in range(3):
        solver.evaluate_and_update_policy()
    average, found = solver.average_policy(), {}

    def visit(state: Any) -> None:
        if not state.is_terminal() and not state.is_chance_node():
            seen = np.array(state.information_state_tensor(), np.float32).tobytes()
            found[state.current_player(), seen] = average.action_probabilities(state)
        for action in state.legal_actions():
            visit(state.child(action))

    visit(game.new_initial_state())
    brute = small_trees.cfr(roots[name], 3)
    assert found.keys() == brute.keys()
    for key, actions in brute.items():
        assert found[key] == pytest.approx(actions, abs=1e-9)
    exact = small_trees.exploitability(roots[name], brute)
    assert exploitability.exploitability(game, average) == pytest.approx(exact, abs=1e-9)


RESHUFFLED = {"num_players": 2, "num_ranks": 3, "num_suits": 1, "hand_size": 1, "flop_size": 1, "starting_chips": 4}


@pytest.mark.parametrize(("name", "values"), [*TINY.items(), ("auction_flop", {**RESHUFFLED, "discard_fees": (0, 0)})])
def test_the_exact_solver_of_this_package_agrees(name, values):
    """It enumerates through the same engine, but its tree, best responses and arrays are its own; reshuffles too."""
    layout = Layout(enumerate_tree(name, values))
    game = pyspiel.load_game(text_of(name, values))
    found = exploitability.nash_conv(game, UniformRandomPolicy(game))
    assert found == pytest.approx(layout.evaluate(layout.uniform()).nash_conv, abs=1e-9)


# --- what is seen -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TINY)
def test_strings_and_tensors_tell_the_same(name):
    """Over a whole tree: two states have one string exactly if they have one tensor."""
    pairs, stack = set(), [tiny(name).new_initial_state()]
    while stack:
        state = stack.pop()
        for player in (0, 1):
            tensor = np.array(state.information_state_tensor(player), np.float32).tobytes()
            pairs.add((player, state.information_state_string(player), tensor))
        stack += [state.child(action) for action in state.legal_actions()]
    assert len({pair[:2] for pair in pairs}) == len({pair[::2] for pair in pairs}) == len(pairs) > 100


@pytest.mark.parametrize("text", [*available(), SHUFFLED, SEVERAL, "auction_flop(num_deals=2,players=3)"])
def test_a_state_drawn_anew_looks_the_same(text):
    game, rng, others = pyspiel.load_game(text), np.random.default_rng(2), 0
    for state in random_states(game, rng):
        if state.is_chance_node():
            with pytest.raises(ValueError, match="chance is to choose"):
                state.resample_from_infostate(0, rng.random)
            continue
        for player in range(game.num_players()):
            other = state.resample_from_infostate(player, rng.random)
            assert other.information_state_string(player) == state.information_state_string(player)
            assert other.current_player() == state.current_player() and len(other.history()) == len(state.history())
            assert (
                other.is_terminal()
                or other.legal_actions() == state.legal_actions()
                or player != state.current_player()
            )
            others += other.history() != state.history()
    assert others > 3


def test_its_information_set_search_plays():
    """IS-MCTS asks for clones, chance, returns, information states and states drawn anew."""
    game, random = pyspiel.load_game("auction_poker(players=3,num_auctions=1)"), np.random.RandomState(3)
    bot = ismcts.ISMCTSBot(
        game=game,
        evaluator=mcts.RandomRolloutEvaluator(1, random),
        uct_c=5.0,
        max_simulations=10,
        random_state=random,
    )
    state = game.new_initial_state()
    while not state.is_terminal():
        acting = state.current_player() == 0
        state.apply_action(bot.step(state) if acting else int(random.choice(state.legal_actions())))
    assert sum(state.returns()) == 0


def test_observers_have_the_fields_of_the_game(game):
    loaded = pyspiel.load_game(f"{game.NAME}(players=2)")
    state = random_states(loaded, np.random.default_rng(4))[-1]
    observation = make_observation(loaded, pyspiel.IIGObservationType(perfect_recall=True))
    observation.set_from(state, 1)
    fields = game.observation_fields(loaded.settings)
    assert {field.name: field.shape for field in fields} == {k: v.shape for k, v in observation.dict.items()}
    assert np.array_equal(observation.tensor, state.table.observe(1))
    assert observation.tensor.tolist() == state.observation_tensor(1) == state.information_state_tensor(1)
    assert observation.string_from(state, 1) == state.information_state_string(1)
    public = pyspiel.IIGObservationType(perfect_recall=False, private_info=pyspiel.PrivateInfoType.NONE)
    assert make_observation(loaded, public) is None
    with pytest.raises(ValueError, match=r"observation parameters are .*: there are none"):
        loaded.make_py_observer(None, {"wide": True})


def test_matches_of_several_deals_remember_the_deals_before():
    """The information state has what was shown at the end of each; the observation only what is on the table."""
    game = pyspiel.load_game(SEVERAL)
    last = random_states(game, np.random.default_rng(5))[-1]
    assert last.information_state_string(0).count(" | ") == 2 and " | " not in last.observation_string(0)
    assert not game.get_type().provides_information_state_tensor
    recall = make_observation(game, pyspiel.IIGObservationType(perfect_recall=True))
    assert recall.tensor is None and recall.string_from(last, 0) == last.information_state_string(0)


def test_what_does_not_recall_all_is_no_information_state():
    game = pyspiel.load_game("auction_flop(observation=compact)")
    assert not game.get_type().provides_information_state_string
    assert make_observation(game, pyspiel.IIGObservationType(perfect_recall=True)) is None
    assert make_observation(game) is not None


# --- parameters and names -----------------------------------------------------------------------------------------


def test_parameters_are_the_settings(game):
    given = pyspiel.load_game(game.NAME, {"players": 2, "ante": 2, "dealer": 1})
    assert given.settings == make_settings(game, {"num_players": 2, "ante": 2}) and given.dealer == 1
    assert pyspiel.load_game(game.NAME).settings == game.Settings()
    assert str(pyspiel.load_game(str(given))) == str(given)
    assert given.num_distinct_actions() == len(game.action_names(given.settings))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("auction_poker(players=9)", "num_players is 9: it must be an integer from 2 to 7"),
        ("auction_poker(dealer=3)", "dealer is 3: it must be a seat, 0 to 2, or -1 for chance"),
        ("auction_flop(pot_shares=[3 two])", r"pot_shares is '\[3 two\]': give numbers with spaces between"),
    ],
)
def test_parameters_that_make_no_sense_are_named(text, message):
    with pytest.raises(SettingsError, match=message):
        pyspiel.load_game(text)


def test_chance_is_first_dealer_and_cards_and_actions_have_names():
    """Small decks keep their cards' numbers of 52."""
    game = pyspiel.load_game("auction_poker(players=2,num_ranks=3,num_suits=2,num_auctions=1,hole_cards=1)")
    state, deck = game.new_initial_state(), deck_cards(3, 2)
    assert state.chance_outcomes() == [(0, 0.5), (1, 0.5)]
    assert state.action_to_string(1) == "dealer 1" and "chance decides who deals first" in str(state)
    state.apply_action(1)
    assert [card for card, _ in state.chance_outcomes()] == sorted(deck)
    assert [state.action_to_string(card) for card in sorted(deck)] == [
        f"card {name}" for name in names_of(sorted(deck)).split()
    ]
    state.apply_action(deck[0])
    assert "card 2 of 4" in str(state) and state.legal_actions() == sorted(deck)[1:]
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    names = get_game("auction_poker").action_names(game.settings)
    assert state.action_to_string(state.legal_actions()[0]) == names[state.legal_actions()[0]]
    assert state.string_to_action(names[state.legal_actions()[1]]) == state.legal_actions()[1]


def test_what_bounds_a_game_holds(game):
    rng = np.random.default_rng(6)
    for _ in range(8):
        loaded = pyspiel.load_game(text_of(game.NAME, some_settings(game, chooser(rng))))
        states = random_states(loaded, rng)
        chances = sum(state.is_chance_node() for state in states)
        assert chances <= loaded.max_chance_nodes_in_history()
        assert len(states) - 1 - chances <= loaded.max_game_length()
        assert all(loaded.min_utility() <= won <= loaded.max_utility() for won in states[-1].returns())
        if loaded.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM:
            assert sum(states[-1].returns()) == 0


def test_a_game_that_cannot_take_chance_from_outside_is_refused():
    import kuhn

    with pytest.raises(ValueError, match="kuhn cannot take its chance from outside"):
        bridge.register(kuhn)
