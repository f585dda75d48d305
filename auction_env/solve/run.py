"""Solving a setting as a run in a folder: a curve, a checkpoint to go on from, the policy, and a page about it."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from auction_env.core import config
from auction_env.core.config import ConfigError, key
from auction_env.core.files import FolderLock, write_file, write_json
from auction_env.core.threads import most_threads
from auction_env.core.version import __version__
from auction_env.games.game import Game
from auction_env.solve.enumeration import enumerate_tree, resolve
from auction_env.solve.files import load_arrays, save_arrays
from auction_env.solve.methods import METHODS, Parameters, Solver
from auction_env.solve.page import page
from auction_env.solve.policy_file import plain_settings, save_policy
from auction_env.solve.symmetry import NOTHING, RANKS, SUITS
from auction_env.solve.tree import Tree
from auction_env.solve.values import Evaluation, Layout

STATE_FORMAT = "auction_env.solve.state/2"
STATE_FILE, POLICY_FILE, CURVE_FILE, PAGE_FILE = "state.npz", "policy.npz", "curve.json", "page.md"
_ARRAYS = {"regrets": "f8:2", "sums": "f8:2", "reaches": "f8:2"}
_LEFT_OUT = {
    NOTHING: "",
    SUITS: "; deals that differ in the names of suits are one",
    RANKS: "; suits are left out, they decide nothing",
}
_GROWTH = 1.25  # of the iterations between two points of the curve
_SAVE_EVERY = 60.0  # seconds


@dataclasses.dataclass
class SolveConfig:
    """All keys of a config for solving. Every key has a default; unknown keys are errors."""

    game: str = key("auction_poker", "name of the game")
    settings: dict[str, Any] = key({}, "the game's settings that differ from their defaults; num_deals is 1")
    run: str = key("runs/solve", "folder of the run: a checkpoint in it is gone on from")
    method: str = key("cfr+", f"one of {', '.join(METHODS)}")
    iterations: int = key(1000, "how many in all", 1, 10**9)
    exploitability: float = key(0.0, "chips a deal at which to stop before; 0: never", 0, 1e9)
    fold: bool = key(True, "leave out the names of suits, and suits where they decide nothing")
    threads: int = key(0, "threads of an iteration; 0: all cores", 0, 1024)
    most_gib: float = key(8.0, "GiB of memory: a setting whose tree is larger is refused", 1e-6, 1e4)
    rows: int = key(40, "rows of a table of the page: the likeliest information states of a seat and phase", 1, 10**6)
    alpha: float = key(1.5, "of dcfr, positive regrets: see solve.methods", -100, 100)
    beta: float = key(0.0, "of dcfr, negative regrets", -100, 100)
    gamma: float = key(2.0, "of dcfr, the average", 0, 100)
    step: float = key(2.0, "of mmd: its step in iteration t is this over sqrt(t)", 1e-9, 1e9)
    magnet: float = key(1.0, "of mmd: the weight of the magnet in iteration t is this over sqrt(t)", 0, 1e9)

    def __post_init__(self) -> None:
        config.check_keys(self)
        if self.method not in METHODS:
            raise ConfigError(f"method is {self.method!r}: it must be one of {', '.join(METHODS)}")
        if not self.run.strip():
            raise ConfigError(f"run is {self.run!r}: name the folder of the run")

    def resolve(self, game: Game | ModuleType | None = None) -> tuple[Game, Any]:
        """The game (or ``game``, a module of your own) and its Settings. Raises ValueError."""
        return resolve(game or self.game, config.settings_of(self))


@dataclasses.dataclass(frozen=True)
class Point:
    """A point of the curve: iterations, seconds of iterating, exploitability in chips, and the first seat's value."""

    iteration: int
    seconds: float
    exploitability: float
    value: float


class SolveRun:
    """One solving, from enumeration to its files.

    Args:
        settings_of_run: the config.
        game: a module of your own, for its name in the config.
        progress: called with a word on what is done, and how much of it, from 0 to 1.

    Raises:
        ConfigError: the folder holds the state of another solving.
        TooLargeError, ValueError: as ``enumerate_tree``.
    """

    def __init__(
        self,
        settings_of_run: SolveConfig,
        game: Game | ModuleType | None = None,
        progress: Callable[[str, float], None] = lambda word, part: None,
    ) -> None:
        self.config, self.progress = settings_of_run, progress
        self.folder = Path(settings_of_run.run)
        self.game, self.settings = settings_of_run.resolve(game)
        self.curve: list[Point] = []
        self.seconds = 0.0
        self.stored = self._stored()

    def start(self) -> None:
        """Enumerate, and take up the state that the folder holds, if it does."""
        c = self.config
        self.tree: Tree = enumerate_tree(
            *(self.game, self.settings),
            fold=c.fold,
            most_bytes=int(c.most_gib * 2**30),
            progress=lambda histories, part: self.progress(f"{histories:,} histories", part),
        )
        self.layout = Layout(self.tree, c.threads or most_threads())
        parameters = Parameters(c.alpha, c.beta, c.gamma, c.step, c.magnet)
        self.solver = Solver(self.layout, c.method, parameters)
        if self.stored is not None:
            arrays, header = self.stored
            for name, array in arrays.items():
                if array.shape != self.solver.regrets.shape:
                    raise ConfigError(f"{self.folder / STATE_FILE} is of another tree: name another run")
                setattr(self.solver, name, array)
            self.solver.iteration = int(header["iteration"])
            self.seconds = float(header["seconds"])
            self.curve = [Point(**point) for point in header["curve"]]
            self.stored = None

    def run(self) -> Evaluation:
        """Iterate to the end, and write everything. What was done is saved whatever ends it, Ctrl-C too."""
        with FolderLock(self.folder):
            found, saved = self._evaluate(), time.monotonic()
            try:
                while self.solver.iteration < self.config.iterations and not self._is_good(found):
                    begun = time.monotonic()
                    self.solver.iterate(self._next() - self.solver.iteration)
                    self.seconds += time.monotonic() - begun
                    found = self._evaluate()
                    self.progress(
                        f"exploitability {found.exploitability:.3g}", self.solver.iteration / self.config.iterations
                    )
                    if time.monotonic() - saved > _SAVE_EVERY:
                        self.save()
                        saved = time.monotonic()
            finally:
                self.save()
            self.write(found)
        return found

    def _is_good(self, found: Evaluation) -> bool:
        return found.exploitability <= self.config.exploitability

    def _next(self) -> int:
        """The iteration of the next point; no more between than take some ten seconds."""
        done, end = self.solver.iteration, self.config.iterations
        wanted = max(done + 1, math.ceil(done * _GROWTH))
        if done and self.seconds:
            wanted = min(wanted, done + max(1, int(10.0 * done / self.seconds)))
        return min(wanted, end)

    def _evaluate(self) -> Evaluation:
        found = self.solver.evaluate()
        if not self.curve or self.curve[-1].iteration < self.solver.iteration:
            self.curve.append(Point(self.solver.iteration, self.seconds, found.exploitability, float(found.values[0])))
        return found

    # --- files --------------------------------------------------------------------------------------------------------

    def _identity(self) -> dict[str, Any]:
        """What a state must agree in to be gone on from."""
        c = self.config
        numbers = {"dcfr": (c.alpha, c.beta, c.gamma), "mmd": (c.step, c.magnet)}.get(c.method, ())
        return {
            "game": self.game.NAME,
            "version": self.game.VERSION,
            "settings": plain_settings(self.settings),
            "method": c.method,
            "parameters": list(numbers),
            "fold": c.fold,
        }

    def _stored(self) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        path = self.folder / STATE_FILE
        if not path.exists():
            return None
        arrays, header = load_arrays(path, STATE_FORMAT, _ARRAYS)
        found = header.get("identity")
        if found != self._identity():
            now = self._identity()
            differ = [name for name in now if not isinstance(found, dict) or found.get(name) != now[name]]
            raise ConfigError(f"{self.folder} holds a solving with other {', '.join(differ)}: name another run=FOLDER")
        return arrays, header

    def save(self) -> None:
        """Write the state and the curve. Raises OSError."""
        points = [dataclasses.asdict(point) for point in self.curve]
        header = {
            "format": STATE_FORMAT,
            "identity": self._identity(),
            "iteration": self.solver.iteration,
            "seconds": self.seconds,
            "curve": points,
        }
        arrays = {name: getattr(self.solver, name) for name in _ARRAYS}
        save_arrays(self.folder / STATE_FILE, arrays, header)
        write_json(self.folder / CURVE_FILE, points)

    def facts(self, found: Evaluation) -> dict[str, Any]:
        """What is known of the policy, as plain data."""
        return {
            "method": self.config.method,
            "iteration": self.solver.iteration,
            "exploitability": found.exploitability,
            "values": found.values.tolist(),
            "best_responses": found.best_responses.tolist(),
            "counts": dataclasses.asdict(self.tree.counts),
            "auction_env": __version__,
        }

    def write(self, found: Evaluation) -> None:
        """Write the policy and the page. Raises OSError."""
        policy = self.solver.policy()
        save_policy(self.folder / POLICY_FILE, self.layout, policy, self.facts(found))
        write_file(self.folder / PAGE_FILE, page(self.layout, policy, found, self.summary(found), self.config.rows))

    def summary(self, found: Evaluation) -> str:
        """What was found, in some lines."""
        counts, tree = self.tree.counts, self.tree
        states = " + ".join(f"{number:,}" for number in counts.information_states)
        values = ", ".join(f"{value:+.6f}" for value in found.values)
        lines = [
            f"{tree.game.TITLE}: {counts.histories:,} histories, {states} information states, "
            f"{counts.chance_outcomes:,} outcomes of chance" + _LEFT_OUT[tree.symmetry],
            f"value of the policy, by seat from the dealer's left: {values} chips a deal",
            f"exploitability {found.exploitability:.3g} chips a deal (NashConv {found.nash_conv:.3g}) "
            f"after {self.solver.iteration:,} iterations of {self.config.method}",
        ]
        if tree.zero_sum:
            low, high = -found.best_responses[1], found.best_responses[0]
            lines.append(f"the game's value for the first seat lies from {low:+.6f} to {high:+.6f}")
        else:
            lines.append("no method here promises an equilibrium of this game: the exploitability says how near it is")
        return "\n".join(lines)
