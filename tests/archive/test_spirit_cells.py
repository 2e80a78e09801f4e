"""Cells that archives share: what a file holds of them, and where the rest comes from."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qed.archive import cvt
from qed.archive.archive import Archive
from qed.archive.cvt import Centroids, SpiritCells, SpiritRecipe, spirit_seed_points

RECIPE = SpiritRecipe(seed_points=300, clusters=40, seed=2)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that is empty, on the disk and in memory."""
    monkeypatch.setenv("QED_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cvt, "_made", {})
    monkeypatch.setattr(cvt, "SPIRIT_BATCH", 150)
    return tmp_path / "cache"


def some(count: int = 25, seed: int = 5) -> dict[str, Any]:
    """Return what to add: solutions, objectives, and behaviours near the cells' points."""
    rng = np.random.default_rng(seed)
    measures = spirit_seed_points(count, np.random.RandomState(seed))
    return {
        "solutions": {"number": np.arange(count)},
        "objective": rng.random(count),
        "measures": measures,
    }


def saved(path: Path) -> Archive:
    archive = Archive(SpiritCells.from_recipe(RECIPE))
    archive.add(**some())
    assert 1 < len(archive) < 40
    archive.save(path)
    return archive


def test_cells_are_those_around_the_recipes_points() -> None:
    space = SpiritCells.from_recipe(RECIPE)
    plain = Centroids(RECIPE.points())
    measures = some(100)["measures"]
    assert space.find(measures).tolist() == plain.find(measures).tolist()
    assert (space.cells, space.dimensions) == (40, 1024)
    assert space.points.tobytes() == plain.points.tobytes()


def test_a_file_can_be_read_without_all_points(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = saved(tmp_path / "a.npz")
    before = own_cache.rename(tmp_path / "elsewhere")
    monkeypatch.setattr(cvt, "_made", {})

    def refuse(*given: Any) -> Any:
        raise AssertionError("not all points are needed")

    with monkeypatch.context() as patched:
        patched.setattr(SpiritRecipe, "points", refuse)
        again = Archive.load(tmp_path / "a.npz")
        assert again.equal(archive)
        assert again.best.cell == archive.best.cell
        again.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.npz") as pack:
        held = np.load(io.BytesIO(pack.read("space.points.npy")))
    assert held.tobytes() == archive.space.points[archive.occupied].tobytes()  # type: ignore[attr-defined]
    assert before.exists()
    a_row = 2 * 1024 * 4  # its behaviour and the point of its cell
    assert (tmp_path / "a.npz").stat().st_size < len(archive) * a_row + 6_000


def test_points_are_made_again_where_a_solution_has_to_find_its_cell(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    archive = saved(tmp_path / "a.npz")
    own_cache.rename(tmp_path / "elsewhere")
    monkeypatch.setattr(cvt, "_made", {})
    again = Archive.load(tmp_path / "a.npz")
    assert capsys.readouterr().err == ""
    for one in (archive, again):
        one.add(**some(seed=6))
    assert again.equal(archive)
    assert capsys.readouterr().err.startswith("qed: making SPIRIT's centroids (once, about")
    again.save(tmp_path / "c.npz")
    assert Archive.load(tmp_path / "c.npz").equal(archive)


def changed(path: Path, **space: Any) -> None:
    """Change what a file tells about its space."""
    with zipfile.ZipFile(path) as pack:
        content = {name: pack.read(name) for name in pack.namelist()}
    header = json.loads(content["header.json"])
    header["space"].update(space)
    content["header.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as pack:
        for name, data in content.items():
            pack.writestr(name, data)


def test_other_points_than_those_of_the_digest_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    saved(path)
    changed(path, digest="0" * 64)
    archive = Archive.load(path)
    before = archive.objective.copy()
    with pytest.raises(ValueError, match="digest 000000000000, those made here"):
        archive.add(**some(seed=6))
    assert archive.objective.tobytes() == before.tobytes()


def test_a_recipe_of_another_version_is_read_but_not_added_to(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    archive = saved(path)
    changed(path, recipe={**RECIPE.describe(), "version": 77})
    again = Archive.load(path)
    assert again.objective.tobytes() == archive.objective.tobytes()
    with pytest.raises(ValueError, match="another version of QED"):
        again.add(**some(seed=6))


@pytest.mark.parametrize(
    ("space", "words"),
    [
        ({"recipe": None}, "unknown recipe"),
        ({"recipe": {"name": "spirit"}}, "unknown recipe"),
        ({"recipe": {**RECIPE.describe(), "name": "os.system"}}, "unknown recipe"),
        ({"recipe": {**RECIPE.describe(), "more": 1}}, "unknown recipe"),
        ({"recipe": {**RECIPE.describe(), "seed_points": 10**12}}, "seed_points"),
        ({"recipe": {**RECIPE.describe(), "clusters": 10**6}}, "clusters"),
        ({"recipe": {**RECIPE.describe(), "clusters": 3}}, "ascending cell numbers"),
        ({"recipe": {**RECIPE.describe(), "seed": "1"}}, "seed"),
        ({"digest": 5}, "digest"),
    ],
)
def test_foreign_recipes_are_refused(tmp_path: Path, space: dict[str, Any], words: str) -> None:
    path = tmp_path / "a.npz"
    saved(path)
    changed(path, **space)
    with pytest.raises(ValueError, match=words) as caught:
        Archive.load(path)
    assert str(path) in str(caught.value)


def test_elites_must_lie_in_their_cells_as_far_as_a_file_tells(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    archive = saved(path)
    with zipfile.ZipFile(path) as pack:
        content = {name: pack.read(name) for name in pack.namelist()}
    for name, wrong, words in (
        ("space.points", archive.space.points[archive.occupied][::-1], "does not lie in its"),  # type: ignore[attr-defined]
        ("space.points", archive.space.points, "points must be float32"),  # type: ignore[attr-defined]
        ("space.points", np.full((len(archive), 1024), np.nan, np.float32), "finite"),
    ):
        buffer = io.BytesIO()
        np.save(buffer, np.ascontiguousarray(wrong))
        with zipfile.ZipFile(path, "w") as pack:
            for member, data in {**content, f"{name}.npy": buffer.getvalue()}.items():
                pack.writestr(member, data)
        with pytest.raises(ValueError, match=words):
            Archive.load(path)


def test_an_empty_archive_needs_no_points(tmp_path: Path) -> None:
    archive = Archive(SpiritCells.from_recipe(RECIPE))
    archive.save(tmp_path / "a.npz")
    assert Archive.load(tmp_path / "a.npz").equal(archive)


def test_files_with_all_points_still_load(tmp_path: Path) -> None:
    """Archives of qed before recipes had names hold every point."""
    archive = Archive(Centroids(RECIPE.points()))
    archive.add(**some())
    archive.save(tmp_path / "old.npz")
    with zipfile.ZipFile(tmp_path / "old.npz") as pack:
        header = json.loads(pack.read("header.json"))
    assert header["version"] == 1
    assert header["space"] == {"kind": "centroids", "cells": 40, "dimensions": 1024}
    again = Archive.load(tmp_path / "old.npz")
    assert again.equal(archive)
    again.add(**some(seed=6))
