"""Maps of all kinds of archives: every filled cell has a place of its own, and words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from made_shown import archive

import qed
from qed.archive.archive import Archive
from qed.archive.cvt import Centroids
from qed.archive.grid import Categories, Environments, Grid
from qed.controller.genome import from_controllers
from qed.explore.maps import as_data
from qed.explore.sources import ArchiveView
from qed.view.words import behaviour_in_words, in_words


def filled(space: Any, cells: int = 20, **header: Any) -> ArchiveView:
    """Return an archive over a space with random elites."""
    rng = np.random.default_rng(2)
    found = Archive(space, header)
    if isinstance(space, Categories):
        numbers = np.sort(rng.permutation(space.cells)[:cells])
        measures = np.stack(np.unravel_index(numbers, space.shape), 1)
    else:
        measures = rng.uniform(size=(cells, space.dimensions)).astype(np.float32)
    controllers = from_controllers([qed.Controller.random(k) for k in range(len(measures))])
    found.add(controllers, rng.uniform(size=len(measures)), measures)
    return ArchiveView("made", "made.npz", found)


SPACES = {
    "environments": (Categories((4,) * 6), {}),
    "few attributes": (Environments({"robots": [5, 10], "obstacles": [0, 4, 6]}), {}),
    "one attribute": (Environments({"robots": [5, 10, 20]}), {}),
    "another domain": (Environments({"leg": ["fine", "lost"], "floor": ["wet", "dry"]}), {}),
    "five dimensions": (Categories((3, 2, 4, 2, 3)), {}),
    "HBD": (Grid((6, 5, 4)), {"settings": {"algorithm": "hbd"}}),
    "own grid": (Grid((8, 8)), {"features": ["speed", "turn"], "ranges": [(-1, 1), (0, 3)]}),
    "line": (Grid((30,)), {}),
    "SDBC": (
        Centroids(np.random.default_rng(1).uniform(size=(40, 10))),
        {"settings": {"algorithm": "sdbc"}},
    ),
    "SPIRIT": (
        Centroids(np.random.default_rng(1).uniform(size=(40, 1024))),
        {"settings": {"algorithm": "spirit"}},
    ),
}


@pytest.mark.parametrize("kind", SPACES)
def test_every_cell_has_a_place_and_words(kind: str) -> None:
    space, header = SPACES[kind]
    one = filled(space, **header)
    told = as_data(one)
    count = len(one.archive)
    assert told["cells"] == one.occupied.tolist()
    for name in ("x", "y", "fitness"):
        assert len(told[name]) == count
    side = 1.0 if told["kind"] == "cells" else 0.0
    assert min(told["x"]) >= 0.0
    assert max(told["x"]) + side <= told["width"] + 1e-9
    assert max(told["y"]) + side <= told["height"] + 1e-9
    places = set(zip(told["x"], told["y"], strict=True))
    assert len(places) == count
    if told["words"] is None:
        assert all(len(attribute["values"]) == count for attribute in told["attributes"])
    else:
        assert len(told["words"]) == count
    if told["kind"] == "cells":  # each within a block that is drawn behind it
        for x, y in places:
            assert any(
                left - 1e-9 <= x and x + 1 <= left + wide + 1e-9
                and low - 1e-9 <= y and y + 1 <= low + high + 1e-9
                for left, low, wide, high in told["blocks"]
            )  # fmt: skip


def test_the_words_of_an_environment_are_those_of_a_replay() -> None:
    one = ArchiveView("small", "small.npz", archive())
    told = as_data(one)
    row = told["cells"].index(33)
    words = {a["name"]: a["words"][a["values"][row]] for a in told["attributes"]}
    parts = in_words(one.environment(33)).split(", ")
    assert sorted(words.values()) == sorted(parts)


def test_what_controllers_hear_is_what_their_links_say() -> None:
    one = ArchiveView("small", "small.npz", archive())
    each = [
        any(7 <= source < 15 for source, _, _ in one.controller(cell).pruned().connections)
        for cell in one.occupied.tolist()
    ]
    assert as_data(one)["hears"] == each
    assert 0 < sum(each) < len(each)
    cells = one.occupied[one.hears]
    hearing = Archive(one.archive.space, one.archive.header)
    hearing.fill_cells(
        cells, one.archive.take(cells), one.archive.objective[cells], one.archive.measures[cells]
    )
    assert ArchiveView("all of them", "", hearing).hears.all()


def test_an_own_grid_tells_values_in_its_ranges() -> None:
    space, header = SPACES["own grid"]
    one = filled(space, **header)
    told = as_data(one)
    speed, turn = one.archive.measures[one.occupied[0]]
    assert told["words"][0] == f"speed {2 * speed - 1:.2f}, turn {3 * turn:.2f}"


def test_spirit_is_told_by_what_robots_do() -> None:
    table = np.full((1, 64, 16), 1 / 16)
    table[0, 0] = np.eye(16)[15]
    table[0, 16] = np.eye(16)[3]
    words = behaviour_in_words(table.reshape(1024))
    assert words == "alone: goes straight; something ahead: turns left"
