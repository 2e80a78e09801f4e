"""pyribs as an oracle: the same solutions, one by one, end in the same cells."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from plain_archive import INSIDE, SPACES, filled

from qed.archive.archive import Archive
from qed.archive.cvt import Centroids
from qed.archive.grid import Categories, Grid

CUBE = np.random.default_rng(6).random((60, 5))
LARGER = {"grid": Grid((7, 16)), "categories": Categories((4, 3, 4)), "centroids": Centroids(CUBE)}


@pytest.fixture(scope="module", autouse=True)
def ribs() -> None:
    """Import it only where these tests run: that takes seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("ribs")


def random_measures(kind: str, rng: np.random.Generator, count: int) -> np.ndarray:
    if kind == "grid":
        on_border = rng.choice([0.03125, 0.25, 0.5, 1.5 / 7], (count, 2))
        return np.where(rng.random((count, 2)) < 0.3, on_border, rng.uniform(-0.2, 1.3, (count, 2)))
    if kind == "categories":
        return np.stack([rng.integers(0, size, count) for size in (4, 3, 4)], 1)
    return rng.random((count, 5))


@pytest.mark.parametrize("kind", list(LARGER))
def test_the_same_as_pyribs(kind: str) -> None:
    rng = np.random.default_rng(7)
    ours = Archive(LARGER[kind], offset=-1.0)
    ours.add({"x": np.empty((0, 3))}, [], random_measures(kind, rng, 0))
    theirs = ours.to_ribs()
    for _ in range(12):
        solutions = rng.random((80, 3))
        objective = rng.integers(0, 30, 80) / 16
        measures = random_measures(kind, rng, 80).astype(np.float32)
        status = ours.add({"x": solutions}, objective, measures)
        for k in range(80):
            where: Any = measures[k].astype(float)
            where = where.astype(int).astype(object) if kind == "categories" else where
            assert theirs.add_single(solutions[k], objective[k], where)["status"] == status[k]
    compare(ours, theirs)
    assert len(ours) > 15


@pytest.mark.parametrize("kind", list(SPACES))
def test_export(kind: str) -> None:
    ours = filled(kind)
    theirs = ours.to_ribs()
    compare(ours, theirs)
    assert theirs.solution_dim == (5 if isinstance(theirs.solution_dim, int) else (5,))
    empty = Archive(SPACES[kind]).to_ribs()
    assert len(empty) == 0
    assert empty.cells == 12
    full = Archive(SPACES[kind])
    full.add({"x": np.arange(12)}, np.arange(12.0), INSIDE[kind])
    compare(full, full.to_ribs())


def compare(ours: Archive, theirs: Any) -> None:
    data = theirs.data()
    order = np.argsort(data["index"])
    assert data["index"][order].tolist() == ours.occupied.tolist()
    assert data["objective"][order].tolist() == ours.objective[ours.occupied].tolist()
    assert np.array_equal(data["measures"][order].astype(np.float32), ours.measures[ours.occupied])
    flat = [c.reshape(len(ours), -1).astype(float) for c in ours.solutions().values()]
    assert np.array_equal(data["solution"][order], np.concatenate(flat, 1))
    assert theirs.stats.num_elites == len(ours)
    assert theirs.stats.obj_mean == pytest.approx(ours.mean)
    assert theirs.stats.qd_score == pytest.approx(ours.qd_score)
    assert theirs.stats.obj_max == ours.best.fitness


def test_borders_of_a_grid_are_the_same() -> None:
    for size in (1, 3, 7, 10, 16, 100):
        border = ((np.arange(size) + 0.5) / size).astype(np.float32)
        nearby = [np.nextafter(border, np.float32(side)) for side in (-1, 2)]
        measures = np.concatenate([border, *nearby, [np.float32(0), np.float32(1)]])[:, None]
        space = Grid((size,))
        theirs = Archive(space).to_ribs()
        assert theirs.index_of(measures.astype(float)).tolist() == space.find(measures).tolist()


def test_a_space_that_pyribs_does_not_know() -> None:
    class Halves:
        cells, dimensions = 2, 1

        def find(self, measures: Any) -> np.ndarray:
            return (np.asarray(measures)[:, 0] > 0).astype(np.int64)

        def describe(self) -> dict[str, Any]:
            return {"kind": "halves"}

        def arrays(self) -> dict[str, np.ndarray]:
            return {}

    archive = Archive(Halves())
    archive.add({"x": [1, 2]}, [0.0, 0.0], [[-1.0], [1.0]])
    assert archive.occupied.tolist() == [0, 1]
    with pytest.raises(ValueError, match="Halves"):
        archive.to_ribs()
