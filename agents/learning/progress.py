"""What a person sees of a run, and how they stop it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stable_baselines3.common.callbacks import BaseCallback

from auction_env.core.terminal import one_line, progress_bar

if TYPE_CHECKING:
    from auction_env.agents.learning.trainer import Trainer


class Stopped(KeyboardInterrupt):
    """Ctrl-C (or SIGTERM), obeyed: everything is saved, and ``resume_run`` goes on from there."""


class TrainerCallback(BaseCallback):
    """Calls the trainer between iterations."""

    def __init__(self, trainer: Trainer, progress: Progress) -> None:
        super().__init__()
        self.trainer, self.progress = trainer, progress
        self.begun = self.stopping = False

    def _on_training_start(self) -> None:
        self.trainer.begin(self.progress)

    def _on_rollout_start(self) -> None:
        if self.begun:
            self.trainer.after_iteration(self.progress)
        self.begun = True
        self.stopping = self.trainer.stop.asked
        if self.stopping:
            self.trainer.save(self.progress.seconds)
        else:
            self.trainer.before_iteration()

    def _on_rollout_end(self) -> None:
        self.trainer.before_update()

    def _on_step(self) -> bool:
        return not self.stopping


class Progress:
    """The progress bar: decisions, chips a deal against each opponent, entropy; and the clock of the run."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer

    def __enter__(self) -> Progress:
        trainer = self.trainer
        self.begun = time.perf_counter() - trainer.seconds
        self.bar = progress_bar(
            total=trainer.config.total_timesteps,
            initial=trainer.model.num_timesteps,
            unit=" decisions",
            unit_scale=True,
        )
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.close()

    @property
    def seconds(self) -> float:
        """Seconds this run has taken, interruptions left out."""
        return time.perf_counter() - self.begun

    def imitating(self, done: int) -> None:
        """Say how far the warm start is."""
        config = self.trainer.config
        self.bar.set_postfix_str(
            f"imitating {one_line(config.warm_start, 60)}: {done / config.warm_start_timesteps:.0%}"
        )

    def show(self) -> None:
        """Bring the bar up to date."""
        trainer = self.trainer
        parts = [f"{name} {gain.mean:+.2f}" for name, gain in trainer.curve[-1].chips.items()] if trainer.curve else []
        if trainer.curve and trainer.curve[-1].exploitability:
            parts.append(f"exploitability {trainer.curve[-1].exploitability['averaged']:.3f}")
        parts.append(f"entropy {trainer.entropy():.2f}")
        self.bar.set_postfix_str(one_line(", ".join(parts)), refresh=False)
        self.bar.update(min(trainer.model.num_timesteps, trainer.config.total_timesteps) - self.bar.n)


class StopFlag:
    """The first Ctrl-C or SIGTERM asks the trainer to stop after this iteration; the second stops at once."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self.say, self.asked = say, False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopFlag:
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                self._before[number] = signal.signal(number, self._stop)
            except ValueError:  # not in the main thread
                return self
        return self

    def _stop(self, *_: object) -> None:
        self.asked = True
        self.say("\nstopping after this iteration; Ctrl-C again stops at once and loses it")
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
