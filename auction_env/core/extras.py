"""Optional packages: whether they are here, told before any work begins."""

from __future__ import annotations

import importlib.util

# What each optional part of the installation brings, as far as a command needs it: import names.
EXTRAS = {
    "train": ("torch", "stable_baselines3", "sb3_contrib", "safetensors", "matplotlib", "tensorboard", "tqdm"),
    "evaluate": ("matplotlib", "openskill", "tqdm"),
    "openspiel": ("pyspiel",),
    "solve": ("scipy", "tqdm"),
    "onnx": ("onnx",),
    "data": ("pyarrow",),
    "video": ("imageio_ffmpeg",),
    "ray": ("ray", "torch"),
    "web": ("starlette", "uvicorn", "websockets"),
}


class MissingExtraError(ValueError):
    """A package that a command needs is not installed; the message has the pip command."""


def require(extra: str, *modules: str) -> None:
    """See that packages are installed; they are looked for, not imported.

    Args:
        extra: the optional part of the installation that brings them, one of ``EXTRAS``.
        modules: names as in ``import``; none: all that the part brings.

    Raises:
        MissingExtraError: some are not installed.
    """
    missing = [name for name in modules or EXTRAS[extra] if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtraError(f"this needs {', '.join(missing)}: pip install 'auction_env[{extra}]'")
