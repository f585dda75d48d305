"""How fast small games are solved, beside OpenSpiel's solvers on the same games: ``python -m benchmarks.solving``.

Counterfactual regret minimisation (CFR+) on Kuhn and Leduc poker, which are test games here, and on small settings of
our own. Contenders take turns in one process on one thread; figures are iterations a second, medians over rounds, and
ratios within rounds. OpenSpiel's Leduc poker is loaded with ``suit_isomorphism``: the same 288 information states as
here. Some settings of our own are solved by OpenSpiel too, on the bridge (``interfaces.openspiel``), which is Python.
After some iterations its exploitability and ours must agree to 1e-9, or there is an error.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from auction_env.core.config import load
from auction_env.core.files import write_json
from auction_env.solve import Layout, Solver, enumerate_tree
from auction_env.solve.run import SolveConfig
from benchmarks.measure import ROOT, Contender, Effort, OthersLoad, machine, repeat, row_of, take_turns

RESULTS = ROOT / "benchmarks" / "results" / "solving.json"
OPENSPIEL = {"kuhn": "kuhn_poker", "leduc": "leduc_poker(suit_isomorphism=true)"}
BRIDGED = ("flop_by_hand", "poker_4_cards")  # of the ladder: decks of one suit, so that both count the same states
OURS, CPP, PYTHON = "auction_env", "OpenSpiel, C++ CFRPlusSolver", "OpenSpiel, Python CFRPlusSolver"
CHECKED, BRIDGED_CHECKED = 100, 5  # iterations after which exploitabilities are compared


def test_game(name: str) -> ModuleType:
    """A game of the tests, which are not installed: they lie beside this folder."""
    path = ROOT / "tests" / "support" / f"{name}.py"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def ours(layout: Layout) -> Contender:
    """Our CFR+, a hundred iterations a call."""
    solver = Solver(layout, "cfr+")

    def work() -> int:
        solver.iterate(100)
        return 100

    return Contender(OURS, repeat(work))


def spiel_game(name: str) -> Any:
    """The same game in OpenSpiel; None if that is not installed."""
    try:
        import pyspiel
    except ImportError:
        return None
    if name in OPENSPIEL:
        return pyspiel.load_game(OPENSPIEL[name])
    from auction_env.interfaces.openspiel import parameters

    game, settings = setting(name).resolve()
    return pyspiel.load_game(game.NAME, parameters(game, settings, dealer=settings.num_players - 1))


def theirs(game: Any) -> list[Contender]:
    """OpenSpiel's CFR+ in C++ and in Python; nothing without a game."""
    if game is None:
        return []
    import pyspiel
    from open_spiel.python.algorithms import cfr

    fast, slow = pyspiel.CFRPlusSolver(game), cfr.CFRPlusSolver(game)

    def cpp() -> int:
        fast.evaluate_and_update_policy()
        return 1

    def python() -> int:
        slow.evaluate_and_update_policy()
        return 1

    return [Contender(CPP, repeat(cpp)), Contender(PYTHON, repeat(python))]


def difference(name: str, layout: Layout, game: Any) -> float | None:
    """By how much exploitabilities after some iterations of ours and of OpenSpiel's differ; None without a game."""
    if game is None:
        return None
    import pyspiel

    solver, other = Solver(layout, "cfr+"), pyspiel.CFRPlusSolver(game)
    iterations = CHECKED if name in OPENSPIEL else BRIDGED_CHECKED
    for _ in range(iterations):
        other.evaluate_and_update_policy()
    solver.iterate(iterations)
    found = abs(solver.evaluate().nash_conv - pyspiel.nash_conv(game, other.average_policy()))
    if found > 1e-9:
        raise ArithmeticError(f"{name}: NashConv differs by {found} from OpenSpiel's: not the same game or method")
    return float(found)


def peer_row(name: str, effort: Effort) -> dict[str, Any]:
    """Iterations a second on one game, ours and OpenSpiel's."""
    test = name in OPENSPIEL
    layout = Layout(enumerate_tree(test_game(name)) if test else enumerate_tree(*setting(name).resolve()))
    game = spiel_game(name)
    contenders = [ours(layout), *theirs(game)]
    rates = take_turns(contenders, effort.rounds, effort.seconds)
    states = sum(layout.tree.counts.information_states)
    return row_of(
        f"CFR+ on {f'{name} poker' if test else name}, {states:,} information states",
        "iterations/s",
        "Both seats, alternating updates, one thread.",
        contenders,
        rates,
        [(name, OURS, [CPP, PYTHON])],
        nash_conv_difference=difference(name, layout, game),
    )


def setting(name: str) -> SolveConfig:
    """The config of a setting of the ladder."""
    return load(SolveConfig, ROOT / "configs" / "solve" / f"{name}.toml")


def own_row(name: str) -> dict[str, Any]:
    """Enumeration and iterations on a setting of the ladder: seconds of the processor, and memory."""
    config = setting(name)
    begun = time.process_time()
    tree = enumerate_tree(*config.resolve())
    enumerated = time.process_time() - begun
    solver = Solver(Layout(tree), config.method)
    solver.iterate(1)
    number, begun = 0, time.process_time()
    while time.process_time() - begun < 2:
        solver.iterate(1)
        number += 1
    seconds = (time.process_time() - begun) / number
    states = sum(tree.counts.information_states)
    arrays = (solver.regrets, solver.sums, solver.reaches)
    return {
        "setting": name,
        "histories": tree.counts.histories,
        "information_states": states,
        "enumeration_seconds": enumerated,
        "histories_per_second_enumerated": tree.counts.histories / enumerated,
        "iteration_seconds": seconds,
        "histories_per_second_iterated": tree.num_seats * tree.counts.histories / seconds,
        "tree_bytes": tree.num_bytes,
        "solver_bytes_per_information_state": sum(array.nbytes for array in arrays) / states,
        "bytes_per_information_state": (tree.num_bytes + sum(array.nbytes for array in arrays)) / states,
    }


def text(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    lines = ["| game | contender | iterations a second | ours is faster by |", "| --- | --- | --- | --- |"]
    for row in report["peers"]:
        factors = {entry["peer"]: f"{entry['median']:,.0f} x" for entry in row["ratios"]}
        for entry in row["figures"]:
            name = entry["name"]
            lines.append(f"| {row['title']} | {name} | {entry['median']:,.0f} | {factors.get(name, '')} |")
    lines += [
        "",
        "| setting | histories | information states | enumerated | an iteration | histories a second | bytes a state |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in report["ladder"]:
        lines.append(
            f"| `{row['setting']}` | {row['histories']:,} | {row['information_states']:,} | "
            f"{row['enumeration_seconds']:.2g} s | {row['iteration_seconds'] * 1000:.3g} ms | "
            f"{row['histories_per_second_iterated'] / 1e6:,.0f} million | {row['bytes_per_information_state']:,.0f} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write the results, print the tables."""
    parser = argparse.ArgumentParser(prog="benchmarks.solving", description=__doc__)
    parser.add_argument("settings", nargs="*", default=[], help="of the ladder (default: all of configs/solve)")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=0.5, help="of a bout (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    effort, load_of_others = Effort(rounds=options.rounds, seconds=options.seconds), OthersLoad().start()
    names = options.settings or sorted(path.stem for path in (ROOT / "configs" / "solve").glob("*.toml"))
    own_row("poker_by_hand"), own_row("flop_by_hand")  # compiles
    report = {
        "machine": machine(),
        "peers": [peer_row(name, effort) for name in (*OPENSPIEL, *BRIDGED)],
        "ladder": [own_row(name) for name in names],
        "other_load": load_of_others.stop(),
    }
    write_json(options.out, report)
    print(text(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
