"""Pictures of archives: written, of the right size, and showing what is there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pytest
from test_cells import check_picture

import qed
from qed.archive.archive import Archive
from qed.archive.cvt import Centroids
from qed.archive.grid import Categories, Grid
from qed.controller.variation import random_genomes
from qed.errors import InputError, StoppedError
from qed.view import maps

PNG = b"\x89PNG\r\n\x1a\n"


def filled(space: object, count: int = 300) -> Archive:
    """Return an archive of random genomes in random cells."""
    rng = np.random.default_rng(1)
    archive = Archive(space, header={"settings": {"task": "flocking", "algorithm": "hbd"}})  # type: ignore[arg-type]
    if isinstance(space, Categories):
        measures = rng.integers(0, 4, (count, 6))
    else:
        measures = rng.random((count, space.dimensions))  # type: ignore[attr-defined]
    archive.add(random_genomes(np.arange(count)), rng.random(count), measures)
    return archive


SPACES = {
    "categories": Categories((4,) * 6),
    "grid": Grid((16, 16, 16)),
    "centroids": Centroids(np.random.default_rng(2).random((64, 10))),
}


@pytest.mark.parametrize("kind", SPACES)
@pytest.mark.parametrize("count", [1, 300])
def test_every_kind_of_archive_has_a_picture(tmp_path: Path, kind: str, count: int) -> None:
    archive = filled(SPACES[kind], count)
    check_picture(archive)
    path = maps.draw_map(archive, tmp_path / "map.png", dpi=50)
    assert path.read_bytes().startswith(PNG)


def test_the_nested_map_puts_each_environment_in_its_place() -> None:
    archive = Archive(Categories((4,) * 6))
    options = (1, 2, 3, 0, 2, 1)  # max speed, robots, arena, obstacles, RAB, proximity
    archive.add(random_genomes(np.arange(1)), [0.7], [options])
    figure = maps.draw_figure(archive)
    shown = np.asarray(figure.axes[0].images[0].get_array().filled(np.nan))  # type: ignore[union-attr]
    [(row, column)] = np.argwhere(np.isfinite(shown)).tolist()
    # Upwards: robots, obstacles, proximity; across: speed, arena, RAB.
    assert row == 16 * 2 + 4 * 0 + 1
    assert column == 16 * 1 + 4 * 3 + 2


def qed_command(*arguments: str) -> commands.Done:
    return commands.run(*arguments, NO_COLOR="1")


def test_the_commands_map_and_info(tmp_path: Path) -> None:
    path = tmp_path / "archive.npz"
    filled(SPACES["grid"]).save(path)
    done = qed_command("info", str(path))
    assert done.returncode == 0, done.stderr
    for word in ("flocking", "hbd", "coverage", "best fitness", "QD score", "hidden neurons"):
        assert word in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80 or str(path) in done.stdout
    done = commands.new("map", path, NO_COLOR="1", PATH="")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "map.png").read_bytes().startswith(PNG)
    assert str(tmp_path / "map.png") in done.stdout


@pytest.mark.parametrize(
    ("content", "words"), [(None, "does not exist"), (b"no archive", "archive.npz")]
)
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "archive.npz"
    if content is not None:
        path.write_bytes(content)
    for verb in ("info", "map"):
        done = qed_command(verb, str(path))
        assert done.returncode == 2
        assert words in done.stderr
        assert "Traceback" not in done.stderr
    empty = tmp_path / "empty"
    empty.mkdir()
    assert qed_command("info", str(empty)).returncode == 2


def test_a_picture_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "archive.npz"
    filled(SPACES["grid"]).save(path)
    for out, code, words in (
        (tmp_path / "none" / "map.png", 2, "there is no folder"),
        (tmp_path / f"{'long' * 100}.png", 1, "cannot write"),
    ):
        done = qed_command("map", str(path), "--out", str(out))
        assert done.returncode == code
        assert words in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
@pytest.mark.parametrize("largest", [0, 2000])
def test_a_full_disk_leaves_the_picture_that_is_there(
    tmp_path: Path, small_disk: Callable[[int], Any], ending: str, largest: int
) -> None:
    path = tmp_path / f"map.{ending}"
    path.write_text("old")
    with small_disk(largest), pytest.raises(StoppedError, match=r"cannot write .*File too large"):
        qed.draw_map(filled(SPACES["grid"]), path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("dpi", [0, -3, 10**6, True])
def test_a_picture_of_no_size_or_of_all_memory_is_refused(tmp_path: Path, dpi: int) -> None:
    with pytest.raises(InputError, match="dpi must be a whole number from 10 to 1200"):
        qed.draw_map(filled(SPACES["grid"]), tmp_path / "map.png", dpi=dpi)
    assert not list(tmp_path.iterdir())


def test_a_saved_archive_gives_back_its_controllers(tmp_path: Path) -> None:
    archive = filled(SPACES["categories"])
    archive.save(tmp_path / "archive.npz")
    loaded = qed.Archive.load(tmp_path / "archive.npz")
    assert loaded.controllers == archive.controllers
    assert loaded.best.controller == archive.best.controller
