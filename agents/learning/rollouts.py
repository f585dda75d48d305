"""Experience of all seats: tables at which every decision of the present policy is learned from.

``AllSeatsVecEnv`` is a stable-baselines3 ``VecEnv`` in which a step is the decision of whoever is to act; seats that
were given to other agents are played on the way, and not learned from. Rewards come by seat, when a deal ends, so they
cannot be added up along a table's steps: ``SeatRolloutBuffer`` credits each decision along its own seat.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from auction_env.agents.base import Agent
from gymnasium import spaces
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from stable_baselines3.common.vec_env import VecEnv

from auction_env.core.jit import kernel
from auction_env.core.threads import most_threads
from auction_env.engine.batch import Batch
from auction_env.engine.features import FeatureRows
from auction_env.engine.kernels import decision_size
from auction_env.engine.opponents import LEARNER, step_opponents
from auction_env.games.game import Game

SEATING = 0x5EA7  # stream of the seed


class Tables:
    """Tables of one number of seats: the part of the environment that one ``Batch`` plays."""

    def __init__(
        self,
        game: Game,
        settings: Any,
        num_tables: int,
        first: int,
        rows: FeatureRows | None,
        oracle: bool,
        threads: int,
    ) -> None:
        self.settings, self.num_seats = settings, settings.num_players
        self.batch = Batch(game, settings, num_tables, size=decision_size(game, settings), threads=threads)
        self.control = np.full((num_tables, self.num_seats), LEARNER, np.int32)
        self.slice = slice(first, first + num_tables)  # of the environment's rows
        self.actions = np.zeros(num_tables, np.int64)
        self._rows, self._oracle = rows, oracle

    def write(self, out: np.ndarray) -> None:
        """What the seats to act see, as the network reads it: float32[num_tables, inputs]."""
        if self._rows is None:
            out[:] = self.batch.out.observations
            return
        self._rows.write(self.batch.states, self.batch.all_rows, out[:, : self._rows.size])
        if self._oracle:
            own = self._rows.layout.sizes[0]
            hidden = np.empty((len(out), self._rows.num_others, own), np.float32)
            self._rows.write_oracle(self.batch.states, self.batch.all_rows, hidden)
            out[:, self._rows.size :] = hidden.reshape(len(out), -1)


class AllSeatsVecEnv(VecEnv):
    """``num_tables`` tables as one vectorised environment; a step is the decision of whoever is to act at each.

    Rewards are zeros: results come by seat. After a step, ``acted`` int8[N] says which seat acted, ``ended`` bool[N]
    whether its deal has ended since, and ``payoffs`` float32[N, seats] what that gave each seat, in chips times
    ``reward_scale``.

    Who sits where is drawn when a deal starts and stays so until it ends: with probability ``opponent_pool_prob`` one
    to n - 1 seats (uniformly; or all but one, if ``lone_learner``) go to agents of the pool, each drawn by its weight;
    the others are the learner's.

    Args:
        game: a game.
        settings: Settings of its tables; several, which differ in seats alone, share the tables equally.
        num_tables: number of tables, N.
        network: what observations hold: "cards", features; "mlp", the flat observation, for one number of seats.
        seed: of the tables (table i: seed + i) and of the seating.
        reward_scale: results are chips times this.
        oracle: with "cards": observations go on with what each other seat sees of itself, for a critic.
        threads: of the engine, at most as many as compiled code may use; results do not depend on it.

    Raises:
        ValueError: ``network`` does not fit the game or the settings.
    """

    def __init__(
        self,
        game: Game,
        settings: Sequence[Any],
        num_tables: int = 1024,
        *,
        network: str = "cards",
        seed: int = 0,
        reward_scale: float = 1.0,
        oracle: bool = False,
        threads: int = 1,
    ) -> None:
        threads = min(threads, most_threads())
        if network == "mlp" and len(settings) > 1:
            raise ValueError('network "mlp" plays one number of seats: use network "cards" for several')
        self.game, self.reward_scale, self.seed_value = game, reward_scale, seed
        self.max_seats = max(one.num_players for one in settings)
        makers = [self._rows_of(one, settings, threads) if network == "cards" else None for one in settings]
        bounds = [num_tables * place // len(settings) for place in range(len(settings) + 1)]
        self.tables = [
            Tables(game, one, end - start, start, rows, oracle, threads)
            for one, rows, start, end in zip(settings, makers, bounds, bounds[1:], strict=False)
        ]
        size = makers[0].size if makers[0] else self.tables[0].batch.observation_size
        if makers[0] and oracle:
            size += makers[0].num_others * makers[0].layout.sizes[0]
        self.acted = np.zeros(num_tables, np.int8)
        self.ended = np.zeros(num_tables, np.bool_)
        self.payoffs = np.zeros((num_tables, self.max_seats), np.float32)
        self.agents: dict[int, Agent] = {}
        self.pool_numbers, self.pool_weights = np.zeros(0, np.int64), np.zeros(0)
        self.opponent_pool_prob, self.lone_learner = 0.0, False
        self.rng = np.random.default_rng([seed, SEATING])
        self.render_mode = None
        high = 1.0 if network == "mlp" else np.inf
        super().__init__(
            num_tables,
            spaces.Box(-high, high, (size,), np.float32),
            spaces.Discrete(len(game.action_names(settings[0]))),
        )
        self._infos: list[dict[str, Any]] = [{} for _ in range(num_tables)]
        self._zeros = np.zeros(num_tables, np.float32)
        self.write_to: np.ndarray | None = None  # where the observations of the next step go, if not to a fresh array

    def _rows_of(self, one: Any, settings: Sequence[Any], threads: int) -> FeatureRows:
        options = max(self.game.feature_layout(other).max_options for other in settings)
        return FeatureRows(self.game, one, self.max_seats - 1, options, threads)

    # --- who sits where ---

    def set_pool(
        self, agents: Sequence[Agent], weights: Sequence[float], prob: float, lone_learner: bool = False
    ) -> None:
        """Who may have seats in deals that start from now on; deals being played keep their agents.

        Raises:
            ValueError: ``prob`` is not from 0 to 1.
        """
        if not 0 <= prob <= 1:
            raise ValueError(f"opponent_pool_prob is {prob!r}: it must be a fraction from 0 to 1")
        seated = {number for tables in self.tables for number in np.unique(tables.control).tolist()}
        kept = {number: agent for number, agent in self.agents.items() if number in seated}
        numbers = {id(agent): number for number, agent in kept.items()}
        fresh = max(self.agents, default=-1) + 1
        for agent in agents:
            if id(agent) not in numbers:
                numbers[id(agent)] = fresh
                fresh += 1
            kept[numbers[id(agent)]] = agent
        self.agents = kept
        self.pool_numbers = np.array([numbers[id(agent)] for agent in agents], np.int64)
        total = float(sum(weights))
        self.pool_weights = np.array(weights, float) / total if total > 0 else np.zeros(0)
        self.opponent_pool_prob, self.lone_learner = prob if len(agents) else 0.0, lone_learner

    def _seat(self, tables: Tables, rows: np.ndarray) -> None:
        """Give the seats of freshly dealt tables to the learner or to agents of the pool."""
        n = tables.num_seats
        tables.control[rows] = LEARNER
        mixed = rows[self.rng.random(len(rows)) < self.opponent_pool_prob]
        if not len(mixed):
            return
        count = np.full(len(mixed), n - 1) if self.lone_learner else self.rng.integers(1, n, len(mixed))
        order = self.rng.permuted(np.broadcast_to(np.arange(n), (len(mixed), n)), axis=1)
        drawn = self.rng.choice(self.pool_numbers, (len(mixed), n - 1), p=self.pool_weights)
        for place in range(n - 1):
            chosen = np.flatnonzero(count > place)
            tables.control[mixed[chosen], order[chosen, place]] = drawn[chosen, place]

    # --- the VecEnv interface ---

    def reset(self) -> np.ndarray:
        """Start a match at every table; observations float32[N, inputs] of whoever is to act."""
        for tables in self.tables:
            tables.batch.reset(self.seed_value + tables.slice.start)
            self._seat(tables, tables.batch.all_rows)
            self._play_opponents(tables, tables.batch.all_rows[:0])
        self.ended[:] = False
        return self._observations()

    def _observations(self, out: np.ndarray | None = None) -> np.ndarray:
        if out is None:
            out = np.empty((self.num_envs, self.observation_space.shape[0]), np.float32)  # type: ignore[index]
        for tables in self.tables:
            tables.write(out[tables.slice])
        return out

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions, integer[N], for ``step_wait``."""
        self._pending = np.asarray(actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Observations, rewards (zeros), dones bool[N] and infos.

        Raises:
            IllegalActionError: naming the table; no table of its number of seats has changed.
            AgentError: an agent of the pool failed; it is named.
        """
        self.ended[:] = False
        for tables in self.tables:
            self.acted[tables.slice] = tables.batch.out.seats
            tables.batch.step(self._pending[tables.slice])
            self._play_opponents(tables, tables.batch.all_rows)
        out, self.write_to = self.write_to, None
        return self._observations(out), self._zeros, self.ended.copy(), self._infos

    def _play_opponents(self, tables: Tables, rows: np.ndarray) -> None:
        """Act for the pool until the learner is to act at all tables. ``rows`` are those just stepped."""
        ended, payoffs = self.ended[tables.slice], self.payoffs[tables.slice]
        out = tables.batch.out

        def finish(over: np.ndarray) -> None:
            fresh = over[~ended[over]]  # a deal without a decision of the learner is nobody's to learn from
            payoffs[fresh, : tables.num_seats] = out.payoffs[fresh] * np.float32(self.reward_scale)
            ended[fresh] = True
            self._seat(tables, over)

        step_opponents(
            tables.batch, tables.control, self.agents.__getitem__, lambda rows: self.rng, rows, finish, tables.actions
        )

    def action_masks(self) -> np.ndarray:
        """Masks of whoever is to act, bool[N, actions]; a fresh array."""
        return np.concatenate([tables.batch.out.masks for tables in self.tables]).astype(np.bool_)

    def close(self) -> None:
        """Nothing to release."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of this object, once for each table asked for."""
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute; there is one for all tables."""
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """Only ``action_masks``: a line for each table asked for; of all tables, all lines as the one item of a list.

        sb3-contrib stacks what it gets and reshapes it: thousands of lines one by one would cost time.
        """
        if method_name != "action_masks":
            raise AttributeError(f"tables have no method {method_name!r} here: only action_masks")
        masks = self.action_masks()
        return [masks] if indices is None else masks[list(self._get_indices(indices))]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No table is wrapped."""
        return [False] * len(list(self._get_indices(indices)))

    # --- for resuming ---

    def get_state(self) -> dict[str, np.ndarray]:
        """Everything that changes, as arrays, except the agents."""
        state: dict[str, np.ndarray] = {}
        for place, tables in enumerate(self.tables):
            state[f"{place}.states"] = tables.batch.states.view(np.uint8).copy()
            state[f"{place}.control"] = tables.control.copy()
        return state

    def set_state(self, state: Mapping[str, np.ndarray], agents: Mapping[int, Agent]) -> None:
        """Go on from ``get_state``; ``agents`` are those with the numbers in ``control``.

        Raises:
            ValueError: the state is of another number of tables, of other rules, or not one that play can reach;
                nothing has changed.
        """
        for place, tables in enumerate(self.tables):
            for name, target in (("states", tables.batch.states.view(np.uint8)), ("control", tables.control)):
                found = state.get(f"{place}.{name}")
                if found is None or found.shape != target.shape or found.dtype != target.dtype:
                    raise ValueError(f"{place}.{name} does not fit these tables: it was saved with other settings")
            control = state[f"{place}.control"]
            if not all(number == LEARNER or number in agents for number in np.unique(control).tolist()):
                raise ValueError(f"{place}.control names agents that are not there: the file is damaged")
        before = [tables.batch.states.copy() for tables in self.tables]
        for place, tables in enumerate(self.tables):
            try:
                tables.batch.set_states(state[f"{place}.states"].view(self.game.STATE))
            except ValueError:
                for other, states in zip(self.tables[:place], before[:place], strict=True):
                    other.batch.states[:] = states
                raise
        for place, tables in enumerate(self.tables):
            tables.control[:] = state[f"{place}.control"]
        self.agents = dict(agents)

    def observe(self) -> np.ndarray:
        """Observations of whoever is to act, float32[N, inputs], anew."""
        return self._observations()


class SeatRolloutBuffer(MaskableRolloutBuffer):
    """Credits every decision along its own seat, to the end of its deal.

    Advantages are generalised advantage estimates (Schulman et al. 2016, arXiv 1506.02438) over a seat's own decisions,
    the discount being 1; what the deal gave the seat comes after its last one. The last decision of a seat whose deal
    is not over lends the one before its value, and is not learned from: nothing says yet what it led to. ``vec_env`` is
    the AllSeatsVecEnv that is being stepped; it writes what it observes straight to its place here.
    """

    def __init__(self, *args: Any, vec_env: AllSeatsVecEnv, **kwargs: Any) -> None:
        self.vec_env = vec_env
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        """See the parent; memory is kept, and written over."""
        if hasattr(self, "known"):
            self.pos, self.full = 0, False
            return
        super().reset()
        self._observed = np.zeros((self.buffer_size + 1, *self.observations.shape[1:]), np.float32)
        self.observations = self._observed[:-1]
        shape = (self.buffer_size, self.n_envs)
        self.seats, self.ended = np.zeros(shape, np.int8), np.zeros(shape, np.bool_)
        self.payoffs = np.zeros((*shape, self.vec_env.max_seats), np.float32)
        self.known = np.zeros(shape, np.bool_)

    def add(  # type: ignore[override]
        self,
        obs: np.ndarray,
        action: np.ndarray,
        reward: np.ndarray,
        episode_start: np.ndarray,
        value: torch.Tensor,
        log_prob: torch.Tensor,
        action_masks: np.ndarray,
    ) -> None:
        """As the parent, but observations are mostly in their place by now.

        It is called after a step, so the environment says who acted and what ended.
        """
        here, env = self.pos, self.vec_env
        if not np.may_share_memory(obs, self.observations[here]):
            self.observations[here] = obs
        self.actions[here] = action
        self.action_masks[here] = action_masks.reshape(self.n_envs, -1)
        self.values[here], self.log_probs[here] = value.flatten().numpy(), log_prob.numpy()
        self.seats[here], self.ended[here], self.payoffs[here] = env.acted, env.ended, env.payoffs
        self.pos += 1
        self.full = self.pos == self.buffer_size
        self.vec_env.write_to = None if self.full else self._observed[self.pos + 1]

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: np.ndarray) -> None:
        """Advantages and returns by seat; ``last_values`` and ``dones`` are not used."""
        credit_seats(
            self.seats,
            self.ended,
            self.payoffs,
            self.values,
            self.gae_lambda,
            self.advantages,
            self.returns,
            self.known,
        )

    def batches(self, batch_size: int | None = None) -> Iterator[torch.Tensor]:
        """Minibatches of the decisions whose outcome is known, in random order: places for ``samples``.

        What is left over of the last minibatch is dropped: a small one would weigh too much. ``batch_size`` None gives
        all at once.
        """
        assert self.full, "the buffer is filled before it is read"
        rows = torch.from_numpy(np.random.permutation(np.flatnonzero(self.known)))
        size = batch_size or len(rows)
        return (chosen for chosen in rows.split(size) if len(chosen) == size or len(rows) < size)

    def samples(self, places: torch.Tensor) -> MaskableRolloutBufferSamples:
        """What happened at some places, int64[B]."""
        names = ("observations", "actions", "values", "log_probs", "advantages", "returns", "action_masks")
        fields = (torch.from_numpy(getattr(self, name)).flatten(0, 1) for name in names)
        return MaskableRolloutBufferSamples(*(field.index_select(0, places) for field in fields))

    def get(self, batch_size: int | None = None) -> Generator[MaskableRolloutBufferSamples, None, None]:  # type: ignore[override]
        """Minibatches as ``batches`` draws them."""
        for places in self.batches(batch_size):
            yield self.samples(places)


@kernel
def credit_seats(
    seats: np.ndarray,
    ended: np.ndarray,
    payoffs: np.ndarray,
    values: np.ndarray,
    gae_lambda: float,
    advantages: np.ndarray,
    returns: np.ndarray,
    known: np.ndarray,
) -> None:
    """Advantage estimates along each seat's decisions; all arrays [steps, tables] or [steps, tables, seats].

    Writes ``advantages``, ``returns`` and ``known``: whether anything is known of what a decision led to.
    """
    steps, tables = seats.shape
    num_seats = payoffs.shape[2]
    for table in range(tables):
        value, advantage = np.zeros(num_seats), np.zeros(num_seats)  # of each seat's next decision
        seen = np.zeros(num_seats, np.bool_)
        for step in range(steps - 1, -1, -1):
            if ended[step, table]:
                value[:], advantage[:], seen[:] = payoffs[step, table], 0.0, True
            seat, own = seats[step, table], values[step, table]
            now = value[seat] - own + gae_lambda * advantage[seat] if seen[seat] else 0.0
            advantages[step, table], returns[step, table], known[step, table] = now, now + own, seen[seat]
            value[seat], advantage[seat], seen[seat] = own, now, True
