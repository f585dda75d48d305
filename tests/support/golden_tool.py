"""Golden playthroughs: whole matches as text, to be read, and to notice every change of behaviour.

Each file ``tests/golden/<game>/<name>.txt`` begins with what it plays; below stands what happened. After a change of
the rules or the observation that is meant, look at what ``git diff`` says once this has written everything anew::

    python tests/golden_tool.py

A new file is made from the same values that a file's head shows, each as JSON::

    python tests/golden_tool.py auction_poker/five_seats settings='{"num_players": 5}' seed=3 policy='{"seed": 1}'

Random play is drawn by a method that any language can repeat: of k legal actions in ascending order, decision number i
of a match (from 0) takes the one at place ``h mod k``, where h is the first 8 bytes, big-endian, of the SHA-256 of the
text ``"<policy seed>/<i>"``. A policy's "prefer" lists names that are taken whenever legal, the first one that is.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from auction_env import Table, available, make_record
from auction_env.games.cards import names_of

FOLDER = Path(__file__).parents[1] / "golden"
DIGESTS = FOLDER / "digests.json"
HEAD = ("game", "version", "settings", "seed", "options", "policy")

# The matches of the digest file: seats x seeds, each of some deals with chips to spare.
DIGEST_SEATS = (2, 4, 7)
DIGEST_SEEDS = range(20)


def drawn(policy: Mapping[str, Any], number: int, legal: Sequence[int], names: Sequence[str]) -> int:
    """The action that a policy takes at decision ``number`` of a match."""
    for name in policy.get("prefer", ()):
        if names.index(name) in legal:
            return names.index(name)
    word = hashlib.sha256(f"{policy['seed']}/{number}".encode()).digest()[:8]
    return sorted(legal)[int.from_bytes(word, "big") % len(legal)]


class Playthrough:
    """Plays a match from a head and writes it down. ``actions`` are names to play instead of what the policy draws."""

    def __init__(self, head: Mapping[str, Any], actions: Iterable[str] | None = None) -> None:
        self.head = head
        self.table = Table(head["game"], head["settings"])
        self.actions = None if actions is None else iter(actions)
        self.lines = [f"{name}: {json.dumps(head[name])}" for name in HEAD]
        self.number = 0
        self.seen = hashlib.sha256()
        self.phases: set[str] = set()

    def text(self) -> str:
        """The whole playthrough."""
        table = self.table
        table.reset(self.head["seed"], self.head["options"])
        self._deal()
        while not table.match_over:
            table.next_deal()
            self._deal()
        self.lines += ["", f"record: {make_record(table)['digest']}", f"observations: {self.seen.hexdigest()}"]
        return "\n".join(self.lines) + "\n"

    def _deal(self) -> None:
        log = self.table.deals[-1]
        self.phases.clear()
        self.lines += [
            "",
            f"deal {len(self.table.deals)}: dealer {log.dealer}, stacks {_numbers(log.stacks)}, "
            f"carried pot {log.carried_pot}, dealt in {_numbers(log.dealt_in)}",
            f"deck: {names_of(log.deck)}",
        ]
        self._see()
        while self.table.to_act is not None:
            self._decision()
            self._see()
        self.lines.append(
            f"award {_numbers(log.award or [])}, net {_numbers(log.payoffs or [])}, carried out {log.carried_out}"
        )

    def _decision(self) -> None:
        table, names = self.table, self.table.action_names
        legal = sorted(table.legal())
        if self.actions is None:
            action = drawn(self.head["policy"], self.number, legal, names)
        else:
            action = names.index(next(self.actions))
        options = ", ".join(names[index] for index in legal)
        self.lines.append(f"[{self.number}] {table.phase}, player_{table.to_act}: {options} -> {names[action]}")
        before = table.states.copy()[0]
        table.act(action)
        self.lines += [f"    {line}" for line in table.game.narrate(before, action, table.state)]
        self.number += 1

    def _see(self) -> None:
        """Take in every seat's observation; write down one, in words, when a phase comes up first in a deal."""
        table = self.table
        for seat in range(table.settings.num_players):
            self.seen.update(table.observe(seat).tobytes())
        if table.phase not in self.phases:
            self.phases.add(table.phase)
            viewer = table.state.dealer if table.to_act is None else table.to_act
            self.lines.append(f"    player_{viewer} observes {_entries(table, int(viewer))}")


def _entries(table: Table, seat: int) -> str:
    """The pieces of an observation that are not empty: places of the entries that are 1, or else the fractions."""
    found = []
    for piece, values in zip(
        table.game.observation_fields(table.settings), table.observe_named(seat).values(), strict=True
    ):
        if values.any():
            flat = values.ravel().tolist()
            entries = (
                [f"{value:.4g}" for value in flat] if piece.fraction else [str(i) for i, v in enumerate(flat) if v]
            )
            found.append(f"{piece.name} {' '.join(entries)}")
    return "; ".join(found)


def _numbers(values: Sequence[int]) -> str:
    return " ".join(map(str, values))


def read_head(text: str) -> dict[str, Any]:
    """What a playthrough plays, from its first lines."""
    return {
        name: json.loads(line.removeprefix(f"{name}: ")) for name, line in zip(HEAD, text.splitlines(), strict=False)
    }


def read_actions(text: str) -> list[str]:
    """The names of the actions in a playthrough."""
    return [line.rpartition(" -> ")[2] for line in text.splitlines() if line.startswith("[")]


def files(game: str = "*") -> list[Path]:
    """The stored playthroughs, of one game or of all."""
    return sorted(FOLDER.glob(f"{game}/*.txt"))


def digest_match(game: str, seats: int, seed: int) -> Table:
    """A match of the digest file, played by the policy of the same seed."""
    table = Table(game, digest_settings(game, seats))
    table.reset(seed)
    number = 0
    while True:
        while table.to_act is not None:
            table.act(drawn({"seed": seed}, number, table.legal(), table.action_names))
            number += 1
        if table.match_over:
            return table
        table.next_deal()


def digest_settings(game: str, seats: int) -> dict[str, Any]:
    """Three deals, with three times the chips a seat usually starts with."""
    chips = Table(game, {"num_players": seats}).settings.starting_chips
    return {"num_players": seats, "num_deals": 3, "starting_chips": 3 * chips}


def all_digests() -> dict[str, dict[str, list[str]]]:
    """Of each game and number of seats, the digests of the records for each seed."""
    return {
        game: {
            str(seats): [make_record(digest_match(game, seats, seed))["digest"] for seed in DIGEST_SEEDS]
            for seats in DIGEST_SEATS
        }
        for game in available()
    }


def _new_file(name: str, values: Iterable[str]) -> None:
    given = {key: json.loads(value) for key, _, value in (part.partition("=") for part in values)}
    game = name.partition("/")[0]
    head = {"game": game, "version": 0, "settings": {}, "seed": 0, "options": {}, "policy": {"seed": 0}, **given}
    path = FOLDER / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, head)


def _write(path: Path, head: dict[str, Any]) -> None:
    head["version"] = Table(head["game"]).game.VERSION
    path.write_text(Playthrough(head).text(), encoding="utf-8")
    print(f"wrote {path}")


def main(arguments: list[str]) -> None:
    """Write one new playthrough, or all of them and the digest file anew."""
    if arguments:
        _new_file(arguments[0], arguments[1:])
        return
    for path in files():
        _write(path, read_head(path.read_text(encoding="utf-8")))
    DIGESTS.write_text(json.dumps(all_digests(), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {DIGESTS}")


if __name__ == "__main__":
    main(sys.argv[1:])
