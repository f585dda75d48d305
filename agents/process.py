"""A program in any language, spoken to in lines of JSON: ``process:python3 bot.py``; the protocol is docs/bots.md.

``process:[timeout=SECONDS] [start=SECONDS] [log=FILE] COMMAND``: what stands before the command are seconds that it may
take for a decision (default 10), seconds from its start until it is ready (default 30), and a file that gets what it
writes to standard error. The command is split as a shell would, but no shell runs it.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from auction_env.agents.base import AgentError, StateAgent

from auction_env.core.limits import parse_json, shorten
from auction_env.core.line_process import MAX_LINE, LineProgram, ProgramError, ProgramTimeoutError
from auction_env.core.version import __version__
from auction_env.engine.agent import TooSlowError
from auction_env.engine.kernels import kernels, observation_size
from auction_env.games.game import Game
from auction_env.rendering.text import text

RUNS_CODE = True  # what is named runs: a file that names it must be trusted, as one that names a plug-in
PROTOCOL = 1
MAX_BATCH = 256  # requests in a message
WANTS = ("observation", "text")  # what a bot may ask for
_FORM = "write process:[timeout=SECONDS] [start=SECONDS] [log=FILE] COMMAND, such as process:python3 bot.py"


class BotError(AgentError):
    """A bot broke the protocol or ended; the message says how, and has the last of its standard error."""


@dataclasses.dataclass(frozen=True)
class Options:
    """How a bot is run.

    Attributes:
        command: the program and its arguments.
        timeout: seconds for a decision; a message with several requests may take as many times that.
        start: seconds from the start until it is ready.
        log: gets all of its standard error.
    """

    command: tuple[str, ...]
    timeout: float = 10.0
    start: float = 30.0
    log: Path | None = None


def parse(argument: str) -> Options:
    """Options from the text after ``process:``. Raises AgentError: it says what is wrong, and the form."""
    try:
        words = shlex.split(argument)
    except ValueError as error:
        raise AgentError(f"agent 'process': {error} in {shorten(argument)!r}: {_FORM}") from None
    values: dict[str, Any] = {}
    while words and words[0].partition("=")[0] in ("timeout", "start", "log") and "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        values[name] = Path(value) if name == "log" else _seconds(name, value)
    if not words:
        raise AgentError(f"agent 'process' needs a command: {_FORM}")
    if shutil.which(words[0]) is None:
        raise AgentError(f"agent 'process': there is no program {shorten(words[0])!r}: {_FORM}")
    return Options(tuple(words), **values)


def _seconds(name: str, value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= 86400:
        raise AgentError(f"agent 'process': {name} is {shorten(value)!r}: it must be seconds, above 0, at most 86400")
    return seconds


class ProcessAgent(StateAgent):
    """A bot in a process of its own, started when it is first asked. It gets what its seat may know, as text and JSON.

    Args:
        options: how to run it.
        game: what it plays.
        settings: its Settings.
        seed: of its chance; a bot may ignore it.
    """

    def __init__(self, options: Options, game: Game, settings: Any, seed: int = 0) -> None:
        self.options, self.game, self.settings = options, game, settings
        self._names = game.action_names(settings)
        self._indices = {name: index for index, name in enumerate(self._names)}
        self._fields = game.observation_fields(settings)
        self._size, self._kernels = observation_size(game, settings), kernels(game)
        self._program: LineProgram | None = None
        self._owner = os.getpid()
        self._messages = 0
        self.wants, self.batch, self.bot_name = frozenset(WANTS), MAX_BATCH, ""
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """See Agent: the bot is told before its next decision."""
        self._seed, self._seed_told = int(seed), False

    def act_states(self, states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See StateAgent.

        Raises:
            BotError: the bot ended, or broke the protocol; a choice that is not legal too.
            TooSlowError: it did not answer in time. It is ended then, and started anew if it is asked again.
        """
        self.start()
        actions = np.empty(len(masks), np.int64)
        for first in range(0, len(masks), self.batch):
            part = slice(first, first + self.batch)
            actions[part] = self._ask(states[part], masks[part])
        return actions

    def ended(self, states: np.ndarray, seats: np.ndarray) -> None:
        """Tell the bot of deals that are over: rows of STATE after the award, as each seat may imagine them."""
        self.start()
        results = []
        for row, seat in enumerate(seats.tolist()):
            s = states[row]
            payoffs = (s.award.astype(np.int64) - s.paid)[: self.settings.num_players].tolist()
            results.append({"seat": seat, "payoffs": payoffs, **self._seen(states, row, seat, final=True)})
        for first in range(0, len(results), self.batch):
            self.tell({"type": "results", "results": results[first : first + self.batch]})

    def start(self) -> None:
        """See that the bot runs and is ready. Errors as ``act_states``."""
        if self._owner != os.getpid():  # a fork: the process belongs to the parent
            self._program, self._owner = None, os.getpid()
        if self._program is None:
            try:
                self._program = LineProgram(self.options.command, self.options.log)
            except ProgramError as error:
                raise BotError(str(error)) from error
            self._read_ready(self._exchange(self._hello(), self.options.start, "ready"))
            self._seed_told = True
        if not self._seed_told:
            self.tell({"type": "seed", "seed": self._seed})
            self._seed_told = True

    def tell(self, message: dict[str, Any]) -> None:
        """Say something that needs no answer. Errors as ``act_states``."""
        self._exchange(message, self.options.timeout, None)

    def close(self, seconds: float = 2.0) -> bool:
        """End the bot; whether it ended by itself in that time. It is started anew if it is asked again."""
        program, self._program = self._program, None
        return program is None or self._owner != os.getpid() or program.close(seconds)

    # --- messages ---

    def _hello(self) -> dict[str, Any]:
        fields = [{"name": field.name, "shape": field.shape, "meaning": field.meaning} for field in self._fields]
        return {
            "type": "hello",
            "protocol": PROTOCOL,
            "engine": f"auction_env {__version__}",
            "game": self.game.NAME,
            "version": self.game.VERSION,
            "settings": dataclasses.asdict(self.settings),
            "actions": self._names,
            "fields": fields,
            "seed": self._seed,
        }

    def _read_ready(self, answer: dict[str, Any]) -> None:
        wants, batch = answer.get("wants", WANTS), answer.get("batch", MAX_BATCH)
        if answer.get("protocol") != PROTOCOL:
            self._fail(f"it speaks protocol {shorten(answer.get('protocol'))}: this is {PROTOCOL}")
        if not isinstance(wants, (list, tuple)) or not all(want in WANTS for want in wants):
            self._fail(f"wants is {shorten(wants)}: it must be a list of some of {', '.join(WANTS)}")
        if type(batch) is not int or batch < 1:
            self._fail(f"batch is {shorten(batch)}: it must be an integer from 1")
        self.wants, self.batch = frozenset(wants), min(batch, MAX_BATCH)
        self.bot_name = shorten(str(answer.get("name", "")))

    def _ask(self, states: np.ndarray, masks: np.ndarray) -> list[int]:
        legal = [[self._names[action] for action in mask.nonzero()[0]] for mask in masks]
        requests = [
            {"seat": seat, "legal": names, **self._seen(states, row, seat)}
            for row, (seat, names) in enumerate(zip(states["to_act"].tolist(), legal, strict=True))
        ]
        self._messages += 1
        message = {"type": "choose", "id": self._messages, "requests": requests}
        answer = self._exchange(message, self.options.timeout * len(requests), "choices")
        choices = answer.get("choices")
        if answer.get("id") != self._messages:
            self._fail(f"it answered message {shorten(answer.get('id'))}, and was asked by message {self._messages}")
        if not isinstance(choices, list) or len(choices) != len(requests):
            self._fail(f"choices is {shorten(choices)}: it must be a list of {len(requests)} names of actions")
        for choice, names in zip(choices, legal, strict=True):
            if choice not in names:
                self._fail(f"it chose {shorten(choice)!r}: legal is {', '.join(names)}")
        return [self._indices[choice] for choice in choices]

    def _seen(self, states: np.ndarray, row: int, seat: int, final: bool = False) -> dict[str, Any]:
        """What a seat sees of a table, in the forms that the bot wants."""
        found: dict[str, Any] = {}
        if "observation" in self.wants:
            flat = np.zeros(self._size, np.float32)
            self._kernels.observe(states, row, seat, flat, 1.0)
            found["observation"] = dict(self._named(flat, final))
        if "text" in self.wants:
            found["text"] = text(self.game.view(states[row], seat), seat)
        return found

    def _named(self, flat: np.ndarray, final: bool) -> Iterator[tuple[str, Any]]:
        start = 0
        for field in self._fields:
            part = flat[start : start + field.size].reshape(field.shape)
            start += field.size
            if final or not field.final_only:
                yield (
                    field.name,
                    part.astype(np.float64).round(9).tolist() if field.fraction else part.astype(int).tolist(),
                )

    def _exchange(self, message: dict[str, Any], seconds: float, answered_by: str | None) -> dict[str, Any]:
        """Say a message; the answer, if it has one. Whatever goes wrong, the bot is ended: it may be out of step."""
        assert self._program is not None
        line = json.dumps(message, separators=(",", ":"), ensure_ascii=False)
        try:
            if answered_by is None:
                self._program.tell(line, seconds)
                return {}
            answer = self._program.ask(line, seconds)
        except ProgramTimeoutError as error:
            self.close(0)
            raise TooSlowError(f"agent {self.name} is too slow: {error}, the limit is {seconds:g} s") from error
        except ProgramError as error:
            self.close(0)
            raise BotError(str(error)) from error
        except BaseException:  # such as an alarm, or Ctrl-C
            self.close(0)
            raise
        try:
            found = parse_json(answer, MAX_LINE)
        except ValueError as error:
            self._fail(f"it answered no JSON, {shorten(answer, 80)!r}: {error}")
        if isinstance(found, dict) and found.get("type") == "error":
            self._fail(f"it says: {shorten(found.get('message'))}")
        if not isinstance(found, dict) or found.get("type") != answered_by:
            self._fail(f"it answered {shorten(answer, 80)!r}: this must be an object with type {answered_by!r}")
        return dict(found)

    def _fail(self, message: str) -> NoReturn:
        words = self._program.last_words if self._program is not None else ""
        self.close(0)
        raise BotError(message + (f"; its last words: {words[-500:]}" if words else ""))


def make_agent(argument: str, game: Game, settings: Any, seed: int) -> ProcessAgent:
    """Called by ``agents.make``."""
    return ProcessAgent(parse(argument), game, settings, seed)


def files(argument: str) -> list[Path]:
    """The files that the command names: what makes the bot what it is, as far as can be told."""
    return [Path(word) for word in parse(argument).command[1:] if Path(word).is_file()]
