"""A course of random play through everything compiled, as one digest: the same in every process and mode."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

import numpy as np
from strategies import POLICIES, chooser, dealt, fields_of, play, seats_of, some_settings

from auction_env import get_game, make_record
from auction_env.engine.kernels import Kernels, kernels
from auction_env.rendering.text import text


def course(name: str, matches: int) -> str:
    """Play some matches of a game and return a digest of all that was seen, a line for each match."""
    game, lines = get_game(name), []
    for seed in range(matches):
        rng, seen = np.random.default_rng(seed), hashlib.sha256()
        table = dealt(game, some_settings(game, chooser(rng)) if seed else {}, seed)
        for moment, at in enumerate(play(table, POLICIES[seed % len(POLICIES)](rng), whole_match=True)):
            for seat in seats_of(at):
                seen.update(at.observe(seat).tobytes() + at.observe(seat, np.int8).tobytes() + at.mask(seat).tobytes())
            if moment % 7 == 0 or at.to_act is None:
                twin = at.resample_from_infostate(moment % at.settings.num_players, moment)
                seen.update(repr(fields_of(twin.states)).encode())
                seen.update(text(at.view(moment % at.settings.num_players), None).encode())
            seen.update(repr(sorted(at.legal())).encode())
        seen.update(repr(make_record(table)).encode() + repr(make_record(table, 0)).encode())
        lines.append(seen.hexdigest())
    return "\n".join(lines)


def all_kernels(game: Any) -> dict[str, Any]:
    """The loops of a game and the functions of its module that Python calls."""
    loops = {field.name: getattr(kernels(game), field.name) for field in dataclasses.fields(Kernels)}
    own = {name: thing for name, thing in vars(game).items() if hasattr(thing, "signatures") and thing.signatures}
    return {**loops, **{f"{game.NAME}.{name}": thing for name, thing in own.items()}}
