"""The games in OpenSpiel (Lanctot et al. 2019): importing this module registers them with ``pyspiel``.

::

    import pyspiel
    import auction_env.interfaces.openspiel

    game = pyspiel.load_game("auction_poker(players=2,num_ranks=3,num_suits=2)")

Names and meanings of the parameters are those of the settings, but ``num_players`` is OpenSpiel's ``players``; a
sequence is text, ``[3 2 1]``; -1 leaves a number to the game. ``dealer`` is the seat that deals first, -1: by chance. A
game of OpenSpiel is a whole match, so returns are chips won in it. Moves of chance are the first dealer and then each
card as it is dealt or turned up, by its number of 52 whatever the deck. Choices that are secret by the rules are made
one after the other, unseen.

An observation is the flat array of the other interfaces, ``observation_fields`` its layout. In a match of one deal it
tells all that a seat has seen and done, so it is the information state too; in longer ones the strings hold what was
seen at the end of the deals before, and there is no tensor of that.

OpenSpiel keeps the Python part of a serialised state as a pickle: read none that you would not run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from auction_env.core.extras import require
from auction_env.engine.chance import CHANCE, TABLE_NAMES, ChanceTable, has_chance, require_chance
from auction_env.engine.kernels import observation_size
from auction_env.games import available, get_game
from auction_env.games.cards import NUM_CARDS, card_name, names_of
from auction_env.games.game import Game, SettingsError, make_settings
from auction_env.interfaces.opponents import illegal_penalty
from auction_env.rendering.text import text

require("openspiel")

import pyspiel  # noqa: E402

LEFT_TO_GAME = -1  # of a number whose default the other settings decide
_PLAYERS = "players"  # OpenSpiel's name for ``num_players``


# --- parameters ------------------------------------------------------------------------------------------------------


def parameters(game: Game, settings: Any = None, dealer: int = LEFT_TO_GAME) -> dict[str, int | str]:
    """A game's parameters as ``pyspiel.load_game(game.NAME, ...)`` takes them: those of Settings, or the defaults."""
    found = {
        _parameter(field.name): _plain(field.default if settings is None else getattr(settings, field.name))
        for field in dataclasses.fields(game.Settings)
    }
    return {**found, "dealer": dealer}


def _parameter(setting: str) -> str:
    return _PLAYERS if setting == "num_players" else setting


def _plain(value: Any) -> int | str:
    if value is None:
        return LEFT_TO_GAME
    return f"[{' '.join(map(str, value))}]" if isinstance(value, tuple) else value


def settings_of(game: Game, values: Mapping[str, Any]) -> Any:
    """The Settings that parameters say.

    Raises:
        SettingsError: a value makes no sense; the message names the setting.
    """
    known = {_parameter(field.name): field for field in dataclasses.fields(game.Settings)}
    found = {}
    for name, value in values.items():
        if name in known and not (known[name].default is None and value == LEFT_TO_GAME):
            found[known[name].name] = _numbers(name, value) if isinstance(known[name].default, tuple) else value
    return make_settings(game, found)


def _numbers(name: str, value: Any) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in str(value).strip("[] ").split())
    except ValueError:
        raise SettingsError(f"{name} is {value!r}: give numbers with spaces between, such as [3 2 1]") from None


# --- the game --------------------------------------------------------------------------------------------------------


def _game_type(game: Game, settings: Any) -> pyspiel.GameType:
    tells_all = settings.recalls_all
    return pyspiel.GameType(
        short_name=game.NAME,
        long_name=game.TITLE,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM if settings.zero_sum else pyspiel.GameType.Utility.GENERAL_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=game.MAX_PLAYERS,
        min_num_players=2,
        provides_information_state_string=tells_all,
        provides_information_state_tensor=tells_all and settings.num_deals == 1,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=parameters(game),
    )


def _game_info(game: Game, settings: Any) -> pyspiel.GameInfo:
    deals = settings.num_deals
    most = min(settings.starting_chips, deals * illegal_penalty(settings))  # that a seat can lose
    return pyspiel.GameInfo(
        num_distinct_actions=len(game.action_names(settings)),
        max_chance_outcomes=NUM_CARDS,
        num_players=settings.num_players,
        min_utility=-float(most),
        max_utility=float((settings.num_players - 1) * most),
        utility_sum=0.0 if settings.zero_sum else None,
        max_game_length=deals * game.max_game_length(settings),
    )


class SpielGame(pyspiel.Game):
    """A game of this package as OpenSpiel's; ``make_game_class`` gives the class of each.

    Raises:
        SettingsError: a parameter makes no sense.
    """

    rules: Game

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        values = {**parameters(self.rules), **(params or {})}
        self.settings = settings_of(self.rules, values)
        dealer = values["dealer"]
        if not LEFT_TO_GAME <= dealer < self.settings.num_players:
            raise SettingsError(
                f"dealer is {dealer}: it must be a seat, 0 to {self.settings.num_players - 1}, or -1 for chance"
            )
        self.dealer = None if dealer == LEFT_TO_GAME else dealer
        self._start = ChanceTable(self.rules, self.settings, self.dealer)
        super().__init__(
            _game_type(self.rules, self.settings), _game_info(self.rules, self.settings), dict(params or {})
        )

    def __reduce__(self) -> tuple[Callable[[str], pyspiel.Game], tuple[str]]:
        return load, (str(self),)

    def new_initial_state(self) -> SpielState:
        """A match of which nothing is dealt."""
        return SpielState(self, self._start)

    def max_chance_nodes_in_history(self) -> int:
        """The most moves of chance in a match."""
        draws = self.rules.max_draws(self.settings)  # type: ignore[attr-defined]
        return (self.dealer is None) + self.settings.num_deals * draws

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> SpielObserver | None:
        """What reads observations off states; None for a form that there is not, such as public information alone.

        Raises:
            ValueError: there are no parameters of observations.
        """
        if params:
            raise ValueError(f"observation parameters are {params}: there are none")
        form = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if not form.public_info or form.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            return None
        if form.perfect_recall and not self.settings.recalls_all:
            return None
        return SpielObserver(self.rules, self.settings, form.perfect_recall)


class SpielState(pyspiel.State):
    """A state of a match. All that it holds is a ``ChanceTable``, which never changes: clones share it.

    It must not hold the game: cloning goes over the attributes, and would take it away.
    """

    def __init__(self, game: SpielGame, table: ChanceTable) -> None:
        super().__init__(game)
        self.table = table

    def current_player(self) -> int:
        """The seat to act, or OpenSpiel's number for chance, or for the end."""
        player = self.table.player
        return pyspiel.PlayerId.TERMINAL if player is None else pyspiel.PlayerId.CHANCE if player == CHANCE else player

    def _legal_actions(self, player: int) -> list[int]:
        return self.table.choices()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Cards, or seats that may deal first, each with its probability."""
        choices = self.table.choices()
        return [(choice, 1.0 / len(choices)) for choice in choices]

    def _apply_action(self, action: int) -> None:
        self.table = self.table.after(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"dealer {action}" if self.table.dealer_due else f"card {card_name(action)}"
        return _action_names(self.table.game, self.table.settings)[action]

    def is_terminal(self) -> bool:
        """Whether the match is over."""
        return self.table.player is None

    def returns(self) -> list[float]:
        """Chips that each seat has won in the match (A14); zeros before its end."""
        over = self.is_terminal()
        return [float(chips) if over else 0.0 for chips in self.table.returns]

    def __str__(self) -> str:
        table, seen = self.table, self.table.seen
        lines = ["nothing is dealt yet\n" if seen is None else text(table.game.view(seen[0], None), None)]
        if table.dealer_due:
            lines.append("chance decides who deals first")
        elif table.draw < table.draws:
            drawn = names_of(card for _, card in table.history[-table.draw :]) if table.draw else ""
            lines.append(f"chance: card {table.draw + 1} of {table.draws} {drawn}".rstrip())
        return "\n".join(lines)

    def resample_from_infostate(self, player_id: int, probability_sampler: Callable[[], float]) -> SpielState:
        """A state that the player cannot tell from this one, drawn uniformly; see ``ChanceTable``.

        Args:
            player_id: a seat.
            probability_sampler: gives numbers from 0 to less than 1.

        Raises:
            ValueError: it is chance's move.
        """
        word = int(probability_sampler() * 2**32) << 32 | int(probability_sampler() * 2**32)
        state = self.get_game().new_initial_state()
        for _, choice in self.table.resample_from_infostate(player_id, word).history:
            state.apply_action(choice)
        return state


class SpielObserver:
    """Reads what a seat has seen off a state; see ``open_spiel.python.observation``.

    Attributes:
        tensor: float32[observation_size], None for information states of matches of several deals.
        dict: the same by field, views of it.
    """

    def __init__(self, game: Game, settings: Any, perfect_recall: bool) -> None:
        self._whole_match = perfect_recall and settings.num_deals > 1
        self._labels = _labels(game, settings)
        self.dict: dict[str, np.ndarray] = {}
        self.tensor: np.ndarray | None = None
        if not self._whole_match:
            self.tensor, start = np.zeros(observation_size(game, settings), np.float32), 0
            for field in game.observation_fields(settings):
                self.dict[field.name] = self.tensor[start : start + field.size].reshape(field.shape)
                start += field.size

    def set_from(self, state: SpielState, player: int) -> None:
        """Fill ``tensor`` with what a seat sees."""
        if self.tensor is not None:
            self.tensor[:] = state.table.observe(player)

    def string_from(self, state: SpielState, player: int) -> str:
        """The entries that are not zero, by name; deals that are over come first if the whole match is to be told."""
        table = state.table
        flats = table.final_observations(player) if self._whole_match else []
        deals = [self._entries(flat) for flat in [*flats, table.observe(player)]]
        return f"player {player}: " + " | ".join(deals)

    def _entries(self, flat: np.ndarray) -> str:
        found = flat.nonzero()[0].tolist()
        values = flat[found].tolist()
        return " ".join(
            self._labels[index] if value == 1 else f"{self._labels[index]}={value:.9g}"
            for index, value in zip(found, values, strict=True)
        )


@cache
def _labels(game: Any, settings: Any) -> tuple[str, ...]:
    """A name for each entry of an observation, such as ``hole.51``."""
    return tuple(
        ".".join([field.name, *map(str, place)])
        for field in game.observation_fields(settings)
        for place in np.ndindex(*field.shape)
    )


@cache
def _action_names(game: Any, settings: Any) -> tuple[str, ...]:
    return game.action_names(settings)


# --- registration ----------------------------------------------------------------------------------------------------


def make_game_class(game: Game) -> type[SpielGame]:
    """The class of OpenSpiel games that play by a game of this package, or one of your own that can take chance."""
    return type(f"{game.NAME.title().replace('_', '')}SpielGame", (SpielGame,), {"rules": game})


def load(text: str) -> pyspiel.Game:
    """``pyspiel.load_game``; unpickling calls it here, so that the games are registered in a fresh process too."""
    return pyspiel.load_game(text)


def register(game: Game) -> None:
    """Make a game known to ``pyspiel.load_game`` by its name, once in a process.

    Raises:
        ValueError: it cannot take its chance from outside.
    """
    require_chance(game, TABLE_NAMES)
    if game.NAME not in pyspiel.registered_names():
        pyspiel.register_game(_game_type(game, game.Settings()), make_game_class(game))


for _name in available():
    if has_chance(get_game(_name), TABLE_NAMES):
        register(get_game(_name))
