"""Environments as cells: options with names, which files keep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qed.archive import Archive, Categories, Environments, stored

OPTIONS = {"slope": ["flat", "steep"], "load (kg)": [0, 1.5, 3]}


def test_cells_are_choices_of_options() -> None:
    space = Environments(OPTIONS)
    assert space.shape == (2, 3)
    assert space.find([[1, 2], [0, 1]]).tolist() == [5, 1]
    assert space.named((1, 2)) == {"slope": "steep", "load (kg)": 3}
    assert space == Environments(OPTIONS)
    assert hash(space) == hash(Environments(OPTIONS))
    assert space != Environments({**OPTIONS, "slope": ["flat", "up"]})
    assert space != Environments(dict(reversed(OPTIONS.items())))
    assert space != Categories((2, 3))
    assert "slope" in repr(space)


def test_files_keep_names_and_options(tmp_path: Path) -> None:
    archive = Archive(Environments(OPTIONS))
    archive.add(np.ones((2, 3)), [1.0, 2.0], [[0, 0], [1, 2]])
    archive.save(tmp_path / "archive.npz")
    loaded = Archive.load(tmp_path / "archive.npz")
    assert loaded.equal(archive)
    assert isinstance(loaded.space, Environments)
    assert list(loaded.space.options) == list(OPTIONS)
    header, _ = stored.files.read_arrays(tmp_path / "archive.npz", stored.FORMAT, stored.VERSION)
    assert header["version"] == stored.WITHOUT_RECIPE  # a reader without names takes categories


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"slope": []},
        {"slope": "flat"},
        {"slope": ["flat", "flat"]},
        {"slope": [1, 1.0]},
        {"slope": [float("nan")]},
        {"slope": [float("inf")]},
        {"slope": [["flat"]]},
        {"": ["flat"]},
        ["slope"],
        7,
    ],
)
def test_what_are_no_options_is_refused(options: Any) -> None:
    with pytest.raises(ValueError, match=r"options|attribute"):
        Environments(options)
    with pytest.raises(ValueError, match=r"options|attribute"):
        stored.space_from({"kind": "categories", "shape": [1], "options": options}, {}, np.empty(0))


def test_options_that_are_not_the_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="do not make the shape"):
        stored.space_from(
            {"kind": "categories", "shape": [2, 4], "options": OPTIONS}, {}, np.empty(0)
        )


def test_an_array_alone_is_a_solution_too(tmp_path: Path) -> None:
    archive = Archive(Categories((3,)))
    rows = np.arange(6.0).reshape(3, 2)
    archive.add(rows, [1.0, 2.0, 3.0], [[0], [1], [2]])
    assert np.array_equal(archive.take([2, 0]), rows[[2, 0]])
    archive.save(tmp_path / "archive.npz")
    loaded = Archive.load(tmp_path / "archive.npz")
    assert isinstance(loaded.take([1]), dict)
    loaded.set_container(rows[:1])
    assert np.array_equal(loaded.take([1]), rows[[1]])
    with pytest.raises(ValueError, match="must have the columns solution; got angles"):
        loaded.set_container({"angles": rows})
    with pytest.raises(ValueError, match="solution has 2 axes"):
        loaded.set_container(np.zeros((1, 2, 2)))
