"""Pictures one after the other in a file: GIF, which Pillow writes, or MP4, by the extra ``video``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from auction_env.core.files import writing

LAST = 4  # times as long as the others the last picture is shown
MP4_RATE = 10  # pictures a second: each is shown again and again


def write_gif(path: Path, pictures: Iterable[np.ndarray], seconds: float, width: int) -> None:
    """Write pictures as a GIF that begins anew after the last.

    Args:
        path: of the file.
        pictures: uint8[H, W, 3], RGB, all of one size, at least one.
        seconds: that each is shown; the last ``LAST`` times as long.
        width: of the film, in pixels.

    Raises:
        OSError: it cannot be written.
    """
    images = [_resized(picture, width) for picture in pictures]
    # One palette for all, so that what does not change is stored once: of some of the pictures, side by side.
    some = images[:: max(1, len(images) // 3)]
    palette = Image.fromarray(np.concatenate([np.asarray(image) for image in some])).quantize(256)
    frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    lengths = [round(1000 * seconds)] * (len(frames) - 1) + [round(1000 * LAST * seconds)]
    with writing(path) as beside:
        frames[0].save(beside, "GIF", save_all=True, append_images=frames[1:], duration=lengths, loop=0, disposal=1)


def write_mp4(path: Path, pictures: Iterable[np.ndarray], seconds: float, width: int) -> None:
    """Write pictures as an MP4 (H.264); see ``write_gif``. Needs the extra ``video``.

    Raises:
        OSError: it cannot be written.
    """
    import imageio_ffmpeg

    images = (np.asarray(_resized(picture, width)) for picture in pictures)
    with writing(path) as beside:
        writer = None
        for image, number in _with_lengths(images, max(1, round(MP4_RATE * seconds))):
            high, wide = (size - size % 2 for size in image.shape[:2])  # the format wants even numbers
            if writer is None:
                writer = imageio_ffmpeg.write_frames(
                    str(beside), (wide, high), fps=MP4_RATE, macro_block_size=2, output_params=["-f", "mp4"]
                )
                writer.send(None)
            for _ in range(number):
                writer.send(np.ascontiguousarray(image[:high, :wide]))
        assert writer is not None, "there is at least one picture"
        writer.close()


def _with_lengths(images: Iterable[np.ndarray], number: int) -> Iterator[tuple[np.ndarray, int]]:
    """Each picture and how often it is shown: the last longer."""
    before = None
    for image in images:
        if before is not None:
            yield before, number
        before = image
    if before is not None:
        yield before, number * LAST


def _resized(picture: np.ndarray, width: int) -> Image.Image:
    image = Image.fromarray(picture)
    if width == image.width:
        return image
    return image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
