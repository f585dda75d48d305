"""``MaskablePPO`` over any network, with what steadies self-play: the policy class and the update.

The trainer is sb3-contrib's ``MaskablePPO``: its rollouts, buffers, schedules and logs. ``NetworkPolicy`` plugs an
actor and a critic of ``networks`` into it, which is all that ``MaskablePPO`` itself needs. ``SelfPlayPPO`` adds to
its loss what the config asks for: a pull towards a slowly moving copy of the policy (a *magnet*: Sokota et al. 2023,
arXiv 2206.05825), and the gain on decisions labelled by playouts.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any, TypeVar

import numpy as np
import torch
from auction_env.agents.learning.labels import Labels, label_gain
from auction_env.agents.learning.network_agent import draw
from auction_env.agents.learning.networks import SharedCritic
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

from auction_env.core.threads import run_parts

ILLEGAL = -1e8  # added to the logit of an illegal action: a sum is quicker than a choice
LEAST_LOG = -80.0  # of a probability: 2e-35 is nothing beside the others, and exponentials of less are slow
CRITIC_GRAD_NORM = 1.0
MOST_SHARDS, LEAST_SHARD = 8, 128  # parts of a minibatch, for as many threads; decisions of a part
Part = TypeVar("Part")


class DivergedError(ValueError):
    """Learning came to numbers that are not finite.

    Args:
        what: is not finite.
        kept: where and when, and which weights are kept, for people.
    """

    def __init__(self, what: str, kept: str = "") -> None:
        self.what, self.kept = what, kept
        super().__init__(
            f"learning has diverged: {what} is not finite{kept}. Lower learning_rate, max_grad_norm or reward_scale"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.kept)


class Towers(nn.Module):
    """Actor and critic side by side, as stable-baselines3 calls them."""

    def __init__(self, actor: nn.Module, critic: nn.Module, num_actions: int) -> None:
        super().__init__()
        self.actor, self.critic = actor, critic
        self.latent_dim_pi, self.latent_dim_vf = num_actions, 1

    def forward(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits and values."""
        if isinstance(self.critic, SharedCritic):
            return self.critic.both(rows)
        return self.actor(rows), self.critic(rows)

    def forward_actor(self, rows: torch.Tensor) -> torch.Tensor:
        """Logits."""
        return self.actor(rows)

    def forward_critic(self, rows: torch.Tensor) -> torch.Tensor:
        """Values."""
        return self.critic(rows)


class NetworkPolicy(MaskableActorCriticPolicy):
    """A policy of sb3-contrib whose actor and critic are given.

    Args:
        build: gives the two networks, of logits and of a value.
    """

    def __init__(self, *args: Any, build: Callable[[], tuple[nn.Module, nn.Module]], **kwargs: Any) -> None:
        self._build_networks = build
        super().__init__(*args, ortho_init=False, **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        self.mlp_extractor = Towers(*self._build_networks(), int(self.action_space.n))  # type: ignore[assignment,attr-defined]
        self.action_net, self.value_net = nn.Identity(), nn.Identity()
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def forward(  # type: ignore[override]
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: np.ndarray | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions int64[B], values float32[B, 1] and log probabilities float32[B]; see the parent.

        Raises:
            DivergedError: a logit or a value is not finite.
        """
        logits, values = self._outputs(obs)
        if not bool(torch.isfinite(logits.sum() + values.sum())):
            raise DivergedError("an output of the networks")
        legal = torch.ones_like(logits)
        if action_masks is not None:
            legal = torch.from_numpy(np.asarray(action_masks)).view(logits.shape).to(logits.dtype)
        logs = masked_log_softmax(logits, legal)
        actions = logs.argmax(1) if deterministic else draw(logs.exp() * legal, torch.rand((len(logits), 1)))
        return actions, values, logs.gather(1, actions[:, None])[:, 0]

    def _outputs(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits and values; of many rows, on all threads, each with rows of its own."""
        shards = shards_of(len(rows))
        if shards == 1:
            return self.mlp_extractor(rows)
        parts, grad = rows.tensor_split(shards), torch.is_grad_enabled()

        def outputs(shard: int) -> tuple[torch.Tensor, torch.Tensor]:
            with torch.set_grad_enabled(grad):  # each thread has its own switch
                return self.mlp_extractor(parts[shard])

        with own_threads():
            found = run_parts(outputs, shards)
        return torch.cat([logits for logits, _ in found]), torch.cat([values for _, values in found])

    @property
    def actor(self) -> nn.Module:
        """Rows to logits."""
        return self.mlp_extractor.actor

    @property
    def critic(self) -> nn.Module:
        """Rows to values."""
        return self.mlp_extractor.critic


class SelfPlayPPO(MaskablePPO):
    """MaskablePPO with an update of its own, on the CPU, for flat observations.

    Args:
        kl_coef: weight of the divergence KL(policy || magnet), 0: none.
        magnet_rate: fraction by which the magnet moves towards the policy in an iteration.
        label_coef: weight of the gain on ``labels``, which somebody sets before an update.
    """

    def __init__(
        self, *args: Any, kl_coef: float = 0.0, magnet_rate: float = 0.05, label_coef: float = 1.0, **kwargs: Any
    ) -> None:
        self.kl_coef, self.magnet_rate, self.label_coef = kl_coef, magnet_rate, label_coef
        self.labels: Labels | None = None
        super().__init__(*args, **kwargs)
        self.magnet: nn.Module | None = None
        self.start_magnet()

    def start_magnet(self) -> None:
        """Set the magnet to where the policy is now."""
        self.magnet = copy.deepcopy(self.policy.actor) if self.kl_coef else None

    def _update_info_buffer(self, infos: list[dict[str, Any]], dones: np.ndarray | None = None) -> None:
        """Nothing: these environments say nothing in their infos, and to look into each would cost time."""

    def train(self) -> None:
        """One update of actor and critic from the rollout buffer.

        Raises:
            DivergedError: a loss or a gradient is not finite; the weights are those of the step before.
        """
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        buffer = self.rollout_buffer
        known = buffer.advantages[buffer.known]
        mean, deviation = float(known.mean()), float(known.std()) + 1e-8
        clip_range = self.clip_range(self._current_progress_remaining)
        losses: list[list[float]] = []
        steps = max(int(buffer.known.sum()) // self.batch_size, 1)
        labels = self.labels.split(steps) if self.labels is not None else []

        def loss(part: tuple[torch.Tensor, Labels | None]) -> tuple[torch.Tensor, list[float]]:
            return self._loss(buffer.samples(part[0]), part[1], mean, deviation, clip_range)

        for _ in range(self.n_epochs):
            for rows, some in zip_longest(buffer.batches(self.batch_size), labels):
                if rows is not None:
                    shards = shards_of(len(rows))
                    parts = rows.tensor_split(shards)
                    few = some.split(shards) if some is not None else [None] * shards
                    shares = [len(part) / len(rows) for part in parts]
                    pairs = list(zip(parts, few, strict=True))
                    losses.append(
                        gradient_step(self.policy, self.policy.optimizer, loss, pairs, shares, self.max_grad_norm)
                    )
        self._n_updates += self.n_epochs
        self._move_magnet()
        self._record(np.mean(losses, 0) if losses else np.full(6, np.nan), clip_range)

    def _loss(
        self, batch: Any, labels: Labels | None, mean: float, deviation: float, clip_range: float
    ) -> tuple[torch.Tensor, list[float]]:
        """The loss of some decisions, and the numbers to log."""
        policy, legal = self.policy, batch.action_masks
        logits, values = policy.mlp_extractor(batch.observations)
        logs = masked_log_softmax(logits, legal)
        chosen = logs.gather(1, batch.actions.long().view(-1, 1))[:, 0]
        advantages = (batch.advantages - mean) / deviation
        ratio = (chosen - batch.old_log_prob).exp()
        clipped = ratio.clamp(1 - clip_range, 1 + clip_range)
        gain = torch.min(ratio * advantages, clipped * advantages).mean()
        probabilities = logs.exp()
        entropy = -(probabilities * logs).sum(1).mean()
        value_loss = nn.functional.mse_loss(values[:, 0], batch.returns)
        loss = -gain - self.ent_coef * entropy + self.vf_coef * value_loss
        divergence = torch.zeros(())
        if self.magnet is not None:
            with torch.no_grad():
                pull = masked_log_softmax(self.magnet(batch.observations), legal)
            divergence = (probabilities * (logs - pull)).sum(1).mean()
            loss = loss + self.kl_coef * divergence
        if labels is not None and len(labels.rows) > 1:
            loss = loss - self.label_coef * label_gain(policy.actor(labels.rows), labels)
        with torch.no_grad():
            kl = ((ratio - 1) - ratio.log()).mean()
            share = ((ratio - 1).abs() > clip_range).float().mean()
        return loss, [float(x.detach()) for x in (gain, value_loss, entropy, divergence, kl, share)]

    def _move_magnet(self) -> None:
        if self.magnet is not None:
            move_towards(self.magnet, self.policy.actor, self.magnet_rate)

    def _record(self, means: np.ndarray, clip_range: float) -> None:
        """Under stable-baselines3's names."""
        buffer = self.rollout_buffer
        returns, values = buffer.returns[buffer.known], buffer.values[buffer.known]
        spread = float(np.var(returns))
        explained = float("nan") if spread == 0 else 1 - float(np.var(returns - values)) / spread
        names = ("policy_gradient_loss", "value_loss", "entropy_loss", "magnet_kl", "approx_kl", "clip_fraction")
        signs = (-1, 1, -1, 1, 1, 1)
        for name, sign, value in zip(names, signs, means, strict=True):
            self.logger.record(f"train/{name}", sign * float(value))
        self.logger.record("train/explained_variance", explained)
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        self.logger.record("train/clip_range", clip_range)


def shards_of(rows: int) -> int:
    """In how many parts some rows go through a network, a thread for each."""
    return max(1, min(torch.get_num_threads(), MOST_SHARDS, rows // LEAST_SHARD))


@contextmanager
def own_threads() -> Generator[None]:
    """While parts run on threads of ours, torch has none of its own beside each."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def gradient_step(
    policy: NetworkPolicy,
    optimizer: torch.optim.Optimizer,
    loss: Callable[[Part], tuple[torch.Tensor, list[float]]],
    parts: Sequence[Part],
    shares: Sequence[float],
    max_grad_norm: float,
) -> list[float]:
    """One step down the mean loss of a minibatch, its parts on a thread each.

    Args:
        policy: whose weights move.
        optimizer: of those weights.
        loss: the mean loss of a part, and numbers to log.
        parts: of the minibatch, whatever ``loss`` takes.
        shares: of the minibatch that each part is.
        max_grad_norm: to which the norm of the actor's gradient is clipped; the critic's to CRITIC_GRAD_NORM.

    Returns:
        the means of the numbers to log.

    Raises:
        DivergedError: a gradient is not finite; the weights have not changed.
    """
    weights = list(policy.parameters())  # the actor's first

    def gradient(place: int) -> tuple[torch.Tensor, list[float]]:
        value, numbers = loss(parts[place])
        found = torch.autograd.grad(value, weights)
        return torch.cat([part.reshape(-1) for part in found]).mul_(shares[place]), numbers

    with own_threads():
        found = run_parts(gradient, len(parts))
        total = found[0][0]
        for other, _ in found[1:]:
            total += other
        for weight, part in zip(weights, clip_gradient(total, policy.actor, weights, max_grad_norm), strict=True):
            weight.grad = part
        optimizer.step()
    return [float(mean) for mean in np.average([numbers for _, numbers in found], 0, shares)]


def clip_gradient(
    gradient: torch.Tensor, actor: nn.Module, weights: Sequence[torch.Tensor], max_grad_norm: float
) -> list[torch.Tensor]:
    """Clip the norm of the actor's gradient, and of the critic's to CRITIC_GRAD_NORM.

    Args:
        gradient: of all weights in a row, the actor's first; changed in place.
        actor: one of the two networks.
        weights: of both.
        max_grad_norm: for the actor.

    Returns:
        the gradient of each weight.

    Raises:
        DivergedError: a gradient is not finite.
    """
    split = sum(weight.numel() for weight in actor.parameters())
    _clip(gradient[:split], max_grad_norm, "the gradient of the actor")
    _clip(gradient[split:], CRITIC_GRAD_NORM, "the gradient of the critic")
    parts = gradient.split([weight.numel() for weight in weights])
    return [part.view_as(weight) for weight, part in zip(weights, parts, strict=True)]


def _clip(gradient: torch.Tensor, most: float, what: str) -> None:
    """Scale to a norm of at most ``most``, in place."""
    norm = float(gradient.norm())
    if not math.isfinite(norm):
        raise DivergedError(what)
    if norm > most:
        gradient.mul_(most / norm)


def masked_log_softmax(logits: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Log probabilities of the ``legal`` actions (1; the others 0), at least LEAST_LOG, which the others have."""
    return (logits + (1 - legal.to(logits.dtype)) * ILLEGAL).log_softmax(1).clamp_min(LEAST_LOG)


@torch.no_grad()
def move_towards(moved: nn.Module, target: nn.Module, rate: float) -> None:
    """Move all weights by a fraction of the way towards another network's."""
    for mean, now in zip(moved.parameters(), target.parameters(), strict=True):
        mean.lerp_(now, rate)
