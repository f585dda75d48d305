"""``auction-env solve``: the ladder, the run's files, going on, bad input; and the agent that plays what it wrote."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from test_values import SMALL

from auction_env import agents, cli
from auction_env.core.config import ConfigError, load, make
from auction_env.core.extras import MissingExtraError
from auction_env.evaluation.match import play_match
from auction_env.games import get_game
from auction_env.games.game import make_settings
from auction_env.solve import Layout, Positions, enumerate_tree, solve_program
from auction_env.solve.action_values import reach_of
from auction_env.solve.expansion import Reader
from auction_env.solve.files import FileError, save_arrays
from auction_env.solve.policy_file import FORMAT, load_policy
from auction_env.solve.run import SolveConfig, SolveRun

LADDER = Path(__file__).parents[2] / "configs" / "solve"
# Of each setting: histories, information states of each seat, outcomes of chance, of these ways to deal.
COUNTS = {
    "flop_52_cards": ((1490242, 30771, 30784), (692224, 169)),
    "flop_5_ranks": ((10060, 615, 690), (4165, 25)),
    "flop_by_hand": ((96, 27, 30), (36, 6)),
    "flop_large": ((36894060, 988311, 1056603), (15580995, 375)),
    "flop_three_seats": ((372600, 9572, 9400, 10096), (132168, 60)),
    "flop_reshuffle": ((550377, 60063, 61410), (132063, 21)),
    "flop_two_cards": ((1172868, 46450, 50006), (492792, 96)),
    "poker_12_cards": ((798330, 15960, 15600), (660, 660)),
    "poker_4_cards": ((4404, 528, 504), (12, 12)),
    "poker_52_cards": ((34901542, 285103, 281554), (15379, 15379)),
    "poker_by_hand": ((93, 12, 11), (1, 1)),
    "poker_flush": ((3847920, 408030, 403260), (1590, 1590)),
    "poker_three_seats": ((517752, 15276, 15297, 15216), (24, 24)),
    "poker_two_auctions": ((529740, 62160, 62040), (1620, 180)),
}
QUICK = {"flop_by_hand", "poker_4_cards", "poker_by_hand", "poker_three_seats", "poker_two_auctions"}


def config_of(name: str, **changes) -> SolveConfig:
    return load(SolveConfig, LADDER / f"{name}.toml", [f"{key}={value}" for key, value in changes.items()])


def test_every_setting_of_the_ladder_has_its_counts_here():
    assert {path.stem for path in LADDER.glob("*.toml")} == COUNTS.keys()
    for path in LADDER.glob("*.toml"):
        assert load(SolveConfig, path).run == f"runs/solve/{path.stem}"


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in QUICK else [pytest.mark.slow]) for n in COUNTS])
def test_the_ladder_has_the_counts_that_it_is_said_to_have(name):
    game, settings = config_of(name).resolve()
    counts = enumerate_tree(game, settings).counts
    found = (counts.histories, *counts.information_states), (counts.chance_outcomes, counts.first_outcomes)
    assert found == COUNTS[name]


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A folder with a solved small setting."""
    folder = tmp_path_factory.mktemp("solved")
    status = cli.main(["solve", str(LADDER / "poker_4_cards.toml"), f"run={folder}", "iterations=300"])
    assert status == 0
    return folder


def test_the_command_writes_policy_curve_and_page(solved, capsys):
    assert sorted(path.name for path in solved.iterdir()) == ["curve.json", "page.md", "policy.npz", "state.npz"]
    points = json.loads((solved / "curve.json").read_text())
    assert points[0]["iteration"] == 0 and points[-1]["iteration"] == 300
    assert points[-1]["exploitability"] < 0.01 < points[0]["exploitability"]
    page = (solved / "page.md").read_text()
    assert "## player_0, auction 1 of 1: bidding" in page and "| Jc | Qc Ac |  | 83.333 | bid 2 100.0% |" in page


def test_a_stopped_run_goes_on_to_the_same_end(tmp_path, solved, monkeypatch):
    config = config_of("poker_4_cards", run=tmp_path, iterations=300)
    run = SolveRun(config)
    run.start()
    original = run.solver.iterate

    def iterate(number):
        if run.solver.iteration > 100:
            raise KeyboardInterrupt
        original(number)

    monkeypatch.setattr(run.solver, "iterate", iterate)
    with pytest.raises(KeyboardInterrupt):
        run.run()
    assert not (tmp_path / "policy.npz").exists()
    again = SolveRun(config)
    again.start()
    assert 100 < again.solver.iteration < 300
    again.run()
    one, two = (load_policy(folder / "policy.npz") for folder in (solved, tmp_path))
    assert np.array_equal(one.chances, two.chances) and np.array_equal(one.keys, two.keys)
    with pytest.raises(ConfigError, match="a solving with other settings, method"):
        SolveRun(config_of("poker_12_cards", run=tmp_path, method="mmd"))


def test_the_agent_plays_what_was_solved(solved):
    """Asked for its probabilities at every information state, the agent gives the policy back: so exact as it was."""
    policy = load_policy(solved / "policy.npz")
    layout = Layout(enumerate_tree(policy.game, policy.settings))
    agent = agents.make(f"solved:{solved}", policy.game, policy.settings)
    assert agents.files(f"solved:{solved}") == [solved / "policy.npz"]
    found = layout.evaluate(Positions(layout.tree).policy(agent, layout))
    assert found.exploitability == pytest.approx(policy.header["exploitability"], abs=1e-6)
    assert found.values == pytest.approx(policy.header["values"], abs=1e-6)


def test_the_agent_says_what_each_action_is_worth(solved):
    """At the deal's first decisions: what play there is worth, over all deals, is the game's value."""
    policy = load_policy(solved / "policy.npz")
    tree = enumerate_tree(policy.game, policy.settings)
    layout, positions = Layout(tree), Positions(tree)
    agent = agents.make(f"solved:{solved}", policy.game, policy.settings)
    reaches = reach_of(layout, positions.policy(agent, layout), own=False)
    for seat, states in enumerate(positions.states):
        first = tree.forests[seat].parents == 0
        _, masks, _ = Reader(tree.game, tree.settings, tree.symmetry).choices(states[first])
        values, chances = agent.action_values(states[first], masks), agent.probabilities(states[first], masks)
        assert (np.isnan(values) == (masks == 0)).all()
        assert (values[chances > 0.1] >= np.repeat(np.nanmax(values, axis=1), (chances > 0.1).sum(axis=1)) - 0.05).all()
        worth = reaches[seat][first] @ np.nansum(values * chances, axis=1)
        assert worth == pytest.approx(policy.header["values"][seat], abs=1e-5)


def test_matches_of_the_agent_win_what_its_value_says(solved):
    """Against random play, in both seats by turns: the mean of its exact values there."""
    policy = load_policy(solved / "policy.npz")
    line = [agents.make(spec, policy.game, policy.settings) for spec in (f"solved:{solved}", "random")]
    result = play_match(policy.game, policy.settings, line, 4000, 1)
    layout = Layout(enumerate_tree(policy.game, policy.settings))
    ours, random = Positions(layout.tree).policy(line[0], layout), layout.uniform()
    first = layout.evaluate(np.stack([ours[0], random[1]])).values[0]
    second = layout.evaluate(np.stack([random[0], ours[1]])).values[1]
    assert abs(result.agent(0).mean - (first + second) / 2) < 1.5 * result.agent(0).half_width


@pytest.mark.parametrize("values", [{"num_ranks": 3, "num_suits": 2, "max_bid": 1}, {"num_ranks": 5, "num_suits": 1}])
def test_a_scripted_agent_has_an_exact_exploitability(values):
    game = get_game("auction_poker")
    settings = make_settings(game, {**SMALL, "max_raises": 0, **values})
    layout = Layout(enumerate_tree(game, settings, fold=False))
    positions = Positions(layout.tree)
    uniform = layout.evaluate(positions.policy(agents.make("random", game, settings), layout, samples=2000))
    exact = layout.evaluate(layout.uniform())
    assert uniform.exploitability == pytest.approx(exact.exploitability, rel=0.05)
    rules = layout.evaluate(positions.policy(agents.make("rules", game, settings), layout, samples=30))
    assert 0 < rules.exploitability < uniform.exploitability


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["method=cfr3"], "method is 'cfr3': it must be one of cfr, cfr+"),
        (["iteration=3"], "did you mean 'iterations'"),
        (["iterations=0"], "iterations is 0: it must be from 1"),
        (["settings.num_deals=3"], "num_deals is 3: one deal is solved"),
        (
            ["settings.num_ranks=13", "settings.num_auctions=2", "settings.num_suits=4"],
            "is too large to be solved here",
        ),
        (["most_gib=0.0000001"], "most_gib is 1e-07"),
        (["run="], "run is ''"),
    ],
)
def test_bad_input_is_one_line_that_names_it(overrides, message, tmp_path, capsys):
    line = ["solve", str(LADDER / "poker_4_cards.toml"), f"run={tmp_path}", *overrides]
    assert cli.main(line) == 2
    assert message in capsys.readouterr().err
    assert cli.main(["solve"]) == 2


def test_solving_asks_for_no_extra_and_the_linear_programme_names_its_own(tmp_path, monkeypatch, capsys):
    """Without scipy and tqdm: the command goes without a bar, the programme says what to install before any work."""
    for name in ("scipy", "tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, name, None)
    line = ["solve", str(LADDER / "poker_by_hand.toml"), f"run={tmp_path}", "iterations=3"]
    assert cli.main(line) == 0
    assert "after 3 iterations of cfr+" in capsys.readouterr().out
    with pytest.raises(MissingExtraError, match=r"^this needs scipy: pip install 'auction_env\[solve\]'$"):
        solve_program(enumerate_tree(*config_of("poker_by_hand").resolve()))


def test_sizes_and_keys_are_told_without_solving(capsys):
    assert cli.main(["solve", "--size", str(LADDER / "poker_52_cards.toml")]) == 0
    assert "about 3.5e+07 histories" in capsys.readouterr().out
    assert cli.main(["solve", "--keys"]) == 0
    assert "iterations = 1000" in capsys.readouterr().out


def test_files_that_are_no_policy_are_refused(tmp_path, solved):
    game = get_game("auction_poker")
    good = load_policy(solved / "policy.npz")
    arrays = {name: getattr(good, name) for name in ("keys", "starts", "chances", "values", "reaches")}
    path = tmp_path / "policy.npz"

    def refused(message, header=None, **changes):
        save_arrays(path, {**arrays, **changes}, {**good.header, **(header or {})})
        with pytest.raises(FileError, match=message):
            load_policy(path)

    refused("format 'x'", {"format": "x"})
    refused("of auction_poker_v9, this is auction_poker_v0", {"version": 9})
    refused("names no game and settings", {"game": "chess"})
    refused("names no game and settings", {"symmetry": "colours"})
    refused("names no game and settings", {"settings": {"num_players": 99}})
    refused("not finite", chances=np.where(good.chances > 0.5, np.float32(np.nan), good.chances))
    refused("its arrays are no policy", chances=good.chances * 2)
    refused("its arrays are no policy", starts=good.starts[:-1])
    refused("its arrays are no policy", keys=good.keys[::-1].copy())
    refused("its arrays are no policy", values=good.values[1:])
    refused("its arrays are no policy", reaches=good.reaches[1:])
    refused("starts is int64", starts=good.starts.astype(np.int64))
    refused("damaged", keys=np.array([{}], object))
    path.write_bytes((solved / "policy.npz").read_bytes()[:5000])
    for spec, message in ((path, "is damaged"), (tmp_path / "none", "cannot be read"), ("", "needs a policy file")):
        with pytest.raises(agents.AgentError, match=message):
            agents.make(f"solved:{spec}", game, good.settings)
    with pytest.raises(agents.AgentError, match="num_ranks is 5, not 4"):
        agents.make(f"solved:{solved}", game, make_settings(game, {**SMALL, "max_raises": 0, "num_ranks": 5}))
    assert good.header["format"] == FORMAT


def test_a_config_for_solving_is_checked():
    assert make(SolveConfig, {"method": "dcfr"}).alpha == 1.5
    with pytest.raises(ConfigError, match="settings is 5"):
        make(SolveConfig, {"settings": 5})
