"""`qed info` and `qed map` on runs of domains that the command knows nothing of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import commands
import matplotlib.pyplot as plt
import numpy as np
import pytest

from qed.archive import Archive, Categories, Centroids, Environments, Grid
from qed.evolution import Run, run_side_by_side
from qed.evolution.folder import CHECKPOINT
from qed.view import maps

PNG = b"\x89PNG\r\n\x1a\n"
FEATURES = ("how far it goes", "how high it jumps")


class Hopper:
    """A domain that no other process can import: it is defined in a test."""

    features: tuple[str, ...] = FEATURES

    def random(self, keys: np.ndarray) -> np.ndarray:
        return np.stack([keys % 97 / 97.0, keys % 89 / 89.0], 1)

    def vary(self, parents: np.ndarray, keys: np.ndarray) -> np.ndarray:
        return (parents + 0.1 * self.random(keys)) % 1.0

    def evaluate(self, solutions: np.ndarray, environments: np.ndarray | None) -> tuple[Any, Any]:
        bonus = 0.0 if environments is None else environments.sum(1)
        return 1.0 - solutions[:, 0] + bonus, solutions

    def describe(self) -> dict[str, Any]:
        return {"spring": 12.5, "note": "[red]bold\x1b[2J $x$"}


class Damaged(Hopper):
    """The same with environments as cells."""

    features = ()


DAMAGE = Environments({"leg": ("whole", "cracked"), "ground": ("rock", "sand", "ice")})


def command(*arguments: str) -> commands.Done:
    return commands.run(*arguments, NO_COLOR="1")


@pytest.mark.parametrize("finished", [True, False])
def test_info_and_map_of_a_run_with_measures(tmp_path: Path, finished: bool) -> None:
    folder = tmp_path / "hop"
    steps = run_side_by_side(
        [Run(folder, Hopper(), Grid((6, 7)), evaluations=400, initial=80)], every=0.0
    )
    next(steps)
    if finished:
        for _ in steps:
            pass
    steps.close()
    assert (folder / CHECKPOINT).exists() is not finished
    done = command("info", str(folder))
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    told = " ".join(done.stdout.split())
    for words in (
        "domain Hopper", f"evaluations done {400 if finished else 80}", "spring 12.5",
        "note [red]bold?[2J $x$", f"grid of 6 x 7 over {', '.join(FEATURES)}", "best fitness",
    ):  # fmt: skip
        assert words in told
    assert max(len(line) for line in done.stdout.splitlines() if str(tmp_path) not in line) <= 80
    done = command("map", str(folder))
    assert done.returncode == 0, done.stderr
    assert (folder / "map.png").read_bytes().startswith(PNG)


def test_info_and_map_of_a_run_with_environments(tmp_path: Path) -> None:
    folder = tmp_path / "hop"
    for _ in run_side_by_side([Run(folder, Damaged(), DAMAGE, evaluations=400, initial=80)]):
        pass
    told = " ".join(command("info", str(folder)).stdout.split())
    assert "cells an environment each: leg, ground" in told
    assert "coverage 6 of 6 cells" in told
    assert "leg cracked ground ice" in told  # where the bonus is largest
    assert command("map", str(folder)).returncode == 0
    done = command("recover", str(folder), "--task", "patrolling")
    assert done.returncode == 2
    assert "holds no controllers" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("settings", [3, ["task"], "patrolling"])
def test_a_file_with_hostile_settings_is_refused(tmp_path: Path, settings: Any) -> None:
    archive = filled(Grid((4, 4)), 5)
    archive.header["settings"] = settings
    archive.save(tmp_path / "archive.npz")
    for verb in ("info", "map"):
        done = command(verb, str(tmp_path / "archive.npz"))
        assert done.returncode == 2
        assert "its settings are not a table" in done.stderr


def filled(space: Any, count: int, **header: Any) -> Archive:
    """Return an archive of a domain with solutions in random cells."""
    chance = np.random.default_rng(1)
    archive = Archive(space, header={"settings": {"domain": "Hopper"}, "domain": {}, **header})
    if isinstance(space, Categories):
        measures = np.stack([chance.integers(0, size, count) for size in space.shape], 1)
    else:
        measures = chance.random((count, space.dimensions))
    archive.add(chance.random((count, 2)), chance.random(count), measures)
    return archive


WORDS = ("no", "a little", "some", "a very long name of an option indeed")
SPACES = {
    "line": Grid((30,)),
    "plane": Grid((9, 4)),
    "panels": Grid((5, 4, 3)),
    "blocks": Grid((3, 3, 3, 3, 2)),
    "categories": Categories((3, 5)),
    "as-many-as-swarms": Categories((4,) * 6),
    "one-attribute": Environments({"wind": WORDS}),
    "six-attributes": Environments({f"attribute {k}": WORDS for k in range(6)}),
    "many-options": Environments({"a": range(60), "b": range(50)}),
    "points": Centroids(np.random.default_rng(2).random((20, 2))),
}


@pytest.mark.parametrize("count", [1, 200])
@pytest.mark.parametrize("kind", SPACES)
def test_every_archive_has_a_picture(tmp_path: Path, kind: str, count: int) -> None:
    archive = filled(SPACES[kind], count)
    check_picture(archive)
    path = maps.draw_map(archive, tmp_path / "map.png", dpi=50)
    assert path.read_bytes().startswith(PNG)


def check_picture(archive: Archive) -> None:
    """Check that a picture shows the fitness of every elite once, and nothing else."""
    figure = maps.draw_figure(archive)
    width, height = 50 * figure.get_size_inches()
    assert 200 < width < 700
    assert 100 < height < 700
    shown: list[float] = []
    for axes in figure.axes:
        if hasattr(axes, "_colorbar"):
            continue
        for image in axes.images:
            values = np.ma.filled(image.get_array(), np.nan)
            shown += values[np.isfinite(values)].tolist()
        for points in axes.collections[:1]:
            shown += np.ma.filled(points.get_array(), np.nan).tolist()
    assert sorted(shown) == sorted(archive.objective[archive.occupied].tolist())
    plt.close(figure)


def test_blocks_of_blocks_show_each_environment_in_its_place() -> None:
    space = Environments({"a": range(2), "b": range(3), "c": range(4), "d": range(5)})
    archive = Archive(space)
    archive.add(np.zeros((1, 1)), [0.5], [[1, 2, 3, 4]])
    archive.add(np.zeros((1, 1)), [0.1], [[0, 1, 2, 0]])
    figure = maps.draw_figure(archive)
    shown = np.asarray(figure.axes[0].images[0].get_array().filled(np.nan))  # type: ignore[union-attr]
    # Across: a, c; upwards: b, d.
    assert shown.shape == (15, 8)
    assert {tuple(place) for place in np.argwhere(np.isfinite(shown)).tolist()} == {
        (2 * 5 + 4, 1 * 4 + 3),
        (1 * 5 + 0, 0 * 4 + 2),
    }


def test_a_plane_shows_measures_with_their_names(tmp_path: Path) -> None:
    archive = Archive(Grid((4, 2)), header={"features": ["far", "price in $x$ or $"]})
    archive.add(np.zeros((1, 1)), [0.5], [[0.75, 0.0]])
    figure = maps.draw_figure(archive)
    shown = np.asarray(figure.axes[0].images[0].get_array().filled(np.nan))  # type: ignore[union-attr]
    assert np.argwhere(np.isfinite(shown)).tolist() == [[0, 3]]
    assert figure.get_supxlabel() == "far"
    assert figure.get_supylabel() == "price in $x$ or $"
    maps.draw_map(archive, tmp_path / "map.png")  # what looks like a formula is none
