"""The few colours of a gif, the same in all its frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image

AREAS, EDGES = 40, 80  # colours that are kept exactly, and colours between them
UNKNOWN = -1


class Palette:
    """Colours chosen from some frames: areas keep theirs, smooth edges share the rest.

    Pillow's own look-up rounds colours to steps of 4 and mixes up neighbouring ones; this one
    finds the nearest, once for each colour.
    """

    def __init__(self, frames: Sequence[Image.Image]) -> None:
        wide, high = frames[0].size
        sheet = Image.new("RGB", (wide, high * len(frames)))
        for k, frame in enumerate(frames):
            sheet.paste(frame, (0, k * high))
        found, counts = np.unique(_packed(sheet), return_counts=True)
        areas = _unpacked(found[np.argsort(-counts, kind="stable")[:AREAS]])
        shared = sheet.quantize(EDGES, method=Image.Quantize.MEDIANCUT).getpalette() or []
        self.colours = np.concatenate([areas, np.reshape(shared, (-1, 3))]).astype(np.int64)
        self._index = np.full(1 << 24, UNKNOWN, np.int16)

    def apply(self, frame: Image.Image) -> Image.Image:
        """Return a frame in these colours."""
        packed = _packed(frame)
        index = self._index[packed]
        new = np.unique(packed[index == UNKNOWN])
        if len(new):
            apart = _unpacked(new)[:, None] - self.colours
            self._index[new] = (apart * apart).sum(-1).argmin(1)
            index = self._index[packed]
        image = Image.fromarray(index.astype(np.uint8))
        image.putpalette(self.colours.astype(np.uint8).tobytes())
        return image


def _packed(image: Image.Image) -> np.ndarray:
    """Return each pixel as one number."""
    pixels = np.asarray(image).astype(np.int32)
    packed: np.ndarray = pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2]
    return packed


def _unpacked(colours: np.ndarray) -> np.ndarray:
    """Return red, green and blue of such numbers (n, 3)."""
    return np.stack([colours >> 16 & 255, colours >> 8 & 255, colours & 255], -1).astype(np.int64)
