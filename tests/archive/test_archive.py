"""What every archive does, whatever its cells: one contract over the three kinds of space."""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_archive import INSIDE, SPACES, PlainArchive, filled

import qed
from qed.archive import stored
from qed.archive.archive import Archive
from qed.archive.cvt import Centroids
from qed.archive.grid import Grid
from qed.controller.genome import Genomes, from_controllers
from qed.errors import InputError

kinds = pytest.mark.parametrize("kind", list(SPACES))
objectives = st.sampled_from([-math.inf, -1.0, -0.0, 0.0, 0.5, 1.0, math.inf])
batches = st.lists(st.lists(st.tuples(st.integers(0, 11), objectives), max_size=14), max_size=4)


class Pair(NamedTuple):
    number: np.ndarray
    vector: np.ndarray


def pairs(first: int, count: int) -> Pair:
    """Return solutions that say when they came."""
    number = np.arange(first, first + count)
    return Pair(number, np.stack([number, -number], 1).astype(np.float32).reshape(count, 2))


@kinds
@given(given_batches=batches)
@settings(max_examples=300, deadline=None)
def test_a_batch_is_as_good_as_one_by_one(kind: str, given_batches: Any) -> None:
    whole, single, plain = Archive(SPACES[kind]), Archive(SPACES[kind]), PlainArchive()
    came = 0
    for batch in given_batches:
        cells = np.array([cell for cell, _ in batch], np.int64)
        objective = np.array([value for _, value in batch])
        measures = INSIDE[kind][cells]
        solutions = pairs(came, len(batch))
        status = whole.add(solutions, objective, measures)
        for k, (cell, value) in enumerate(batch):
            row = slice(k, k + 1)
            expected = plain.add(cell, value, measures[k], came + k)
            assert status[k] == expected
            alone = single.add(Pair(*(c[row] for c in solutions)), objective[row], measures[row])
            assert alone.tolist() == [expected]
        came += len(batch)
    if came:
        assert whole.equal(single)
    cells = sorted(plain.kept)
    assert whole.occupied.tolist() == cells
    assert len(whole) == len(cells)
    assert whole.coverage == len(cells) / whole.cells
    for elite in whole.elites():
        value, measures, number = plain.kept[elite.cell]
        assert elite.fitness == value
        assert whole.objective[elite.cell] == value
        assert elite.measures == pytest.approx(measures, abs=1e-7)
        assert elite.solution["number"] == number
        assert elite.solution["vector"].tolist() == [number, -number]
        assert elite.controller is None
    assert np.isnan(whole.objective).sum() == 12 - len(cells)


@kinds
def test_large_random_batches_with_ties(kind: str) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        whole, plain = Archive(SPACES[kind]), PlainArchive()
        for came in range(0, 900, 300):
            cells = rng.integers(0, 12, 300)
            objective = rng.integers(0, 20, 300) / 8
            status = whole.add(pairs(came, 300), objective, INSIDE[kind][cells])
            expected = [
                plain.add(cell, value, None, came + k)
                for k, (cell, value) in enumerate(zip(cells, objective, strict=True))
            ]
            assert status.tolist() == expected
        numbers = [plain.kept[cell][2] for cell in sorted(plain.kept)]
        assert whole.solutions()["number"].tolist() == numbers


@kinds
def test_numbers_by_hand(kind: str) -> None:
    archive = Archive(SPACES[kind], offset=-1.0)
    assert (len(archive), archive.qd_score, archive.cells) == (0, 0.0, 12)
    assert math.isnan(archive.mean)
    with pytest.raises(ValueError, match="empty"):
        _ = archive.best
    status = archive.add(pairs(0, 5), [0.5, 0.25, 0.75, 0.5, 0.75], INSIDE[kind][[7, 2, 7, 2, 4]])
    assert status.tolist() == [2, 2, 1, 1, 2]
    assert archive.occupied.tolist() == [2, 4, 7]
    assert archive.occupied.dtype == np.int64
    assert archive.mean == pytest.approx(2.0 / 3)
    assert archive.qd_score == pytest.approx(2.0 + 3.0)
    assert (archive.best.cell, archive.best.fitness) == (4, 0.75)  # the lowest cell of equals
    assert archive.solutions()["number"].tolist() == [3, 4, 2]
    assert "3 of 12" in repr(archive)


@kinds
def test_take_returns_what_came_in_and_only_from_filled_cells(kind: str) -> None:
    archive = Archive(SPACES[kind])
    archive.add(pairs(0, 3), np.ones(3), INSIDE[kind][[5, 1, 9]])
    got = archive.take(np.array([9, 5, 9]))
    assert isinstance(got, Pair)
    assert got.number.tolist() == [2, 0, 2]
    got.vector[:] = 7  # a copy
    assert archive.take([9]).vector.tolist() == [[2, -2]]
    assert isinstance(filled(kind).take([]), dict)
    for wrong in ([0], [5, -1], [12], [1.0], [[1]]):
        with pytest.raises(ValueError, match="cell"):
            archive.take(wrong)  # type: ignore[arg-type]


@kinds
def test_what_is_wrong_is_named_and_changes_nothing(kind: str) -> None:
    archive = filled(kind)
    before = filled(kind)
    two = {"number": np.zeros(2, np.int64), "vector": np.ones((2, 9), np.float32)}
    fine = INSIDE[kind][:2]
    for solutions, objective, measures, words in (
        (two, [9.0, math.nan], fine, r"objective\[1\] is NaN"),
        (two, [[9.0, 9.0]], fine, "shape"),
        (two, ["x", "y"], fine, "objective must be an array of numbers"),
        (two, [9.0, 9.0], INSIDE[kind][:3], "3 rows"),
        (two, [9.0, 9.0], fine[:, :1], "shape"),
        (two, [9.0, 9.0], np.where([[False], [True]], math.nan, fine), r"measures\[1, 0\]"),
        (two, [9.0, 9.0], np.where([[False], [True]], 1e300, fine), r"measures\[1, 0\]"),
        ({"number": two["number"]}, [9.0, 9.0], fine, "columns number, vector"),
        ({**two, "number": [0, 1, 2]}, [9.0, 9.0], fine, "2 rows"),
        ({**two, "number": [0.5, 1.0]}, [9.0, 9.0], fine, "int64, got float64"),
        ({**two, "number": ["a", "b"]}, [9.0, 9.0], fine, "numbers"),
        ({**two, "vector": np.ones((2, 2, 2), np.float32)}, [9.0, 9.0], fine, "axes"),
        ([1, 2], [9.0, 9.0], fine, "mapping"),
    ):
        with pytest.raises(ValueError, match=words):
            archive.add(solutions, objective, measures)
        assert archive.equal(before)
    with pytest.raises(ValueError, match="JSON"):
        Archive(SPACES[kind], header={"x": object()})


@kinds
def test_narrow_rows_are_filled_up_and_wide_rows_widen_the_column(kind: str) -> None:
    archive = Archive(SPACES[kind])
    at = INSIDE[kind]
    archive.add({"v": np.full((2, 3), 1, np.int32)}, [1.0, 1.0], at[[0, 1]])
    archive.add({"v": np.full((1, 5), 2, np.int32)}, [1.0], at[[2]])
    archive.add({"v": np.full((1, 1), 3, np.int32)}, [2.0], at[[1]])
    archive.add({"v": np.zeros((0, 6), np.int32)}, [], at[:0])
    expected = [[1, 1, 1, 0, 0, 0], [3, 0, 0, 0, 0, 0], [2, 2, 2, 2, 2, 0]]
    assert archive.solutions()["v"].tolist() == expected
    archive.add({"v": np.zeros((1, 0), np.int16)}, [9.0], at[[2]])
    assert archive.solutions()["v"].tolist() == [*expected[:2], [0] * 6]
    assert archive.solutions()["v"].dtype == np.int32


@kinds
def test_views_of_the_archive_cannot_be_written(kind: str) -> None:
    archive = filled(kind)
    for array in (archive.objective, archive.measures):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


@kinds
def test_a_space_is_rebuilt_from_its_description(kind: str) -> None:
    space = SPACES[kind]
    cells = np.arange(12)
    again = stored.space_from(space.describe(), space.arrays(cells), cells)
    assert (again.cells, again.dimensions) == (space.cells, space.dimensions)
    assert again.find(INSIDE[kind]).tolist() == list(range(12))
    assert again.describe() == space.describe()


def genomes(count: int) -> Genomes:
    return from_controllers([qed.Controller.random(seed) for seed in range(count)])


def test_genomes_come_back_as_controllers() -> None:
    archive = Archive(Grid((8,)))
    wanted = [qed.Controller.random(seed) for seed in range(8)]
    for seed in reversed(range(8)):  # one at a time, so that columns widen
        archive.add(from_controllers([wanted[seed]]), [seed / 8], [[seed / 8]])
    same = from_controllers(wanted).controllers()  # weights in float32
    assert archive.controllers == same
    assert isinstance(archive.take([3]), Genomes)
    assert archive.take([3]).controllers() == [same[3]]
    assert archive.best.controller == same[7]
    assert [elite.controller for elite in archive.elites()] == same
    assert Archive(Grid()).controllers == []
    with pytest.raises(ValueError, match="number, vector"):
        filled().genomes()


def test_a_dataframe_has_one_row_an_elite() -> None:
    pytest.importorskip("pandas")
    archive = Archive(Grid((4, 4)))
    batch = genomes(3)
    archive.add(batch, [0.5, 0.25, 1.0], [[0.5, 0.0], [0.0, 0.25], [0.75, 0.75]])
    table = archive.to_dataframe()
    assert list(table) == ["cell", "fitness", "measure_0", "measure_1", "hidden", "links"]
    assert table["cell"].tolist() == [1, 8, 15]
    assert table["fitness"].tolist() == [0.25, 0.5, 1.0]
    assert table["measure_1"].tolist() == [0.25, 0.0, 0.75]
    assert table["links"].tolist() == batch.links[[1, 0, 2]].tolist()
    assert list(archive.to_dataframe(["deviation", "coverage"]))[2:4] == ["deviation", "coverage"]
    with pytest.raises(ValueError, match="2 different names"):
        archive.to_dataframe(["a"])
    assert len(Archive(Grid()).to_dataframe()) == 0


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ribs.archives", None)
    with pytest.raises(ImportError, match=r"pip install 'qed-swarm\[ribs\]'"):
        filled().to_ribs()


def test_adding_is_fast() -> None:
    """Beside the search for cells, 80 solutions take well under a millisecond."""
    rng = np.random.default_rng(1)

    class Known(Centroids):
        def find(self, measures: Any) -> np.ndarray:
            return cells

    archive = Archive(Known(rng.random((4096, 1024), np.float32)))
    batch = genomes(80)
    measures = rng.random((80, 1024), np.float32)
    times = []
    for _ in range(50):
        cells, objective = rng.integers(0, 4096, 80), rng.random(80)
        begin = time.thread_time()
        archive.add(batch, objective, measures)
        times.append(time.thread_time() - begin)
    assert sorted(times)[10] < 2e-3


def test_without_an_input_are_those_whose_neurons_do_not_read_it():
    near = qed.Controller([(2, 16, 1.0)], [0.0, 0.0])
    far = qed.Controller([(9, 16, 1.0)], [0.0, 0.0])
    loose = qed.Controller([(2, 16, 1.0), (9, 18, 1.0)], [0.0, 0.0, 0.0])  # reaches no wheel
    still = qed.Controller([(15, 16, 1.0)], [0.0, 0.0])
    archive = qed.Archive(qed.Grid((4,)), {"settings": {"task": "flocking"}})
    genomes = from_controllers([near, far, loose, still])
    archive.add(genomes, [0.1, 0.4, 0.2, 0.3], [[0.0], [0.25], [0.5], [0.75]])
    some = archive.without("rab")
    assert some.occupied.tolist() == [0, 2, 3]
    assert some.controllers == [near, loose, still]
    assert some.best.cell == 3
    assert some.header == archive.header
    assert archive.without("proximity").controllers == [far, still]
    assert len(archive) == 4
    only = qed.Archive(qed.Grid((4,)))
    only.add(from_controllers([far]), [0.1], [[0.0]])
    with pytest.raises(InputError, match="no controller of the archive does without range"):
        only.without("rab")
    with pytest.raises(InputError, match="did you mean 'rab'"):
        archive.without("rap")
