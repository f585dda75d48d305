"""Layouts of observations as plain data, for files that others read: where each field lies, and what it says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from auction_env.engine.features import FeatureRows
from auction_env.engine.kernels import decision_size, observation_size
from auction_env.games.game import Game, ObservationField


def describe_fields(fields: Iterable[ObservationField], start: int = 0) -> list[dict[str, Any]]:
    """Name, slice (``start`` to ``stop``), shape, dtype and meaning of fields that follow each other from ``start``."""
    found = []
    for field in fields:
        stop = start + field.size
        about = {"start": start, "stop": stop, "shape": list(field.shape), "dtype": "float32"}
        found.append({"name": field.name, **about, "meaning": field.meaning})
        start = stop
    return found


def describe_observation(game: Game, settings: Any) -> dict[str, Any]:
    """The flat observation: its ``size``, the ``decision_size`` entries that a choice can depend on, its ``fields``."""
    return {
        "kind": "flat",
        "size": observation_size(game, settings),
        "decision_size": decision_size(game, settings),
        "fields": describe_fields(game.observation_fields(settings)),
    }


def describe_features(rows: FeatureRows) -> dict[str, Any]:
    """A row of features: its ``size`` and ``fields``. The fields ``others`` and ``options`` are tables of fields again.

    Their ``fields`` have slices of one line each.
    """
    own, other, option = rows.layout.own, rows.layout.other, rows.layout.option
    _, other_size, option_size = rows.layout.sizes
    groups = (
        ObservationField(
            "others", (rows.num_others, other_size), "a line for each other seat, the next clockwise first"
        ),
        ObservationField(
            "options", (rows.max_options, option_size), "a line for each option; zeros where there is none"
        ),
        ObservationField("option_actions", (rows.max_options,), "the action of each option, -1 where it is none now"),
    )
    fields = describe_fields((*own, *groups))
    inside = {"others": describe_fields(other), "options": describe_fields(option)}
    fields = [{**field, "fields": inside[field["name"]]} if field["name"] in inside else field for field in fields]
    return {"kind": "features", "size": rows.size, "fields": fields}
