"""The floor of an arena: a picture of greys, which ground sensors read."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from qed.definitions import digest_of
from qed.errors import InputError

MOST = 64  # cells along a side
Picture = tuple[tuple[float, ...], ...]  # row by row from y = 0 on: 0 black, 1 white
WHITE: Picture = ((1.0,),)


def checked_floor(given: Any) -> Picture | None:
    """Return the cells of a floor; None is white."""
    if given is None:
        return None
    try:
        cells = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "floor must be rows of numbers from 0 (black) to 1 (white), each as long as the others"
        ) from None
    if cells.ndim != 2 or not cells.size or max(cells.shape) > MOST:
        raise InputError(
            f"floor must be 1 to {MOST} rows of 1 to {MOST} numbers, got the shape {cells.shape}; "
            "give fewer cells, of one grey each"
        )
    wrong = cells[~((cells >= 0.0) & (cells <= 1.0))]
    if wrong.size:
        hint = "; divide greys of 0 to 255 by 255" if wrong.max() > 1.0 else ""
        raise InputError(
            f"floor must be numbers from 0 (black) to 1 (white), got {wrong[0]:g}{hint}"
        )
    return tuple(map(tuple, cells.tolist()))


def floor_of(header: Mapping[str, Any]) -> Picture | None:
    """Return the floor that the header of an archive names (default: white)."""
    return checked_floor(header.get("floor"))


def rows_of(floor: Picture) -> list[list[float]]:
    """Return a floor as JSON can hold it."""
    return [list(row) for row in floor]


def laid_out(floors: Sequence[Picture | None]) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells of all floors, each once, as engines read them.

    Then, for each floor, (first cell, rows, columns).
    """
    given = [floor or WHITE for floor in floors]
    found: dict[Picture, tuple[int, int, int]] = {}
    size = 0
    for floor in given:
        if floor not in found:
            found[floor] = size, len(floor), len(floor[0])
            size += len(floor) * len(floor[0])
    cells = [np.ravel(np.array(floor, np.float32)) for floor in found]
    return np.concatenate(cells), np.array([found[floor] for floor in given], np.int32)


def floor_in_words(floor: Picture) -> str:
    """Return the size of a floor, and what tells it from others."""
    return f"{len(floor)} x {len(floor[0])} cells, {digest_of(floor)}"
