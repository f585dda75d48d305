"""Tensors with a plain JSON header in one safetensors file: written beside and renamed, read without running code."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from auction_env.agents.base import AgentError
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

MAX_FILE_BYTES = 256 * 1024 * 1024
MAX_HEADER_BYTES = 16 * 1024 * 1024


def save_tensors(path: Path, tensors: Mapping[str, torch.Tensor], header: Mapping[str, Any]) -> None:
    """Write tensors and a JSON header to one file: beside it first, then renamed into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        save_file(
            {k: v.detach().contiguous().clone() for k, v in tensors.items()}, beside, {"json": json.dumps(header)}
        )
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def load_tensors(
    path: Path, file_format: str, max_bytes: int = MAX_FILE_BYTES
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Tensors and header of a file that ``save_tensors`` wrote. Nothing in it can run code.

    Raises:
        AgentError: the file is missing, too large, truncated, of another format, or holds numbers that are not finite.
    """
    try:
        if path.stat().st_size > max_bytes:
            raise AgentError(f"{path} is larger than {max_bytes // 2**20} MiB: none of ours is")
        with open(path, "rb") as file:
            if int.from_bytes(file.read(8), "little") > MAX_HEADER_BYTES:
                raise AgentError(f"{path} is not a safetensors file of ours: its header is too large")
        with safe_open(path, "pt") as stored:
            header = json.loads((stored.metadata() or {}).get("json", "{}"))
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118 - not a dict
    except OSError as error:
        raise AgentError(f"{path} cannot be read: {error.strerror or error}") from error
    except (SafetensorError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise AgentError(f"{path} is damaged or not a safetensors file: {error}") from error
    if not isinstance(header, dict) or header.get("format") != file_format:
        found = header.get("format") if isinstance(header, dict) else header
        raise AgentError(f"{path} has format {found!r}: this version reads {file_format!r}")
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise AgentError(f"{path}: tensor {name!r} holds numbers that are not finite")
    return tensors, header
