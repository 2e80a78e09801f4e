"""Nearest centroids against brute force, and the recipes for centroids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qed.archive import cvt
from qed.archive.cvt import Centroids, SpiritRecipe, broken_sticks, sdbc_centroids


def spirit_centroids(
    seed_points: int = 1_000_000, clusters: int = 4096, seed: int = 1, progress: Any = None
) -> np.ndarray:
    return SpiritRecipe(seed_points, clusters, seed).points(progress)


def brute_force(points: np.ndarray, measures: np.ndarray) -> list[int]:
    """Return the nearest point of each row, one at a time, in float64."""
    exact = points.astype(np.float32).astype(float)
    rows = measures.astype(np.float32).astype(float)
    return [int(((row - exact) ** 2).sum(1).argmin()) for row in rows]


@given(
    st.integers(0, 10**6),
    st.integers(1, 60),
    st.integers(1, 40),
    st.sampled_from([1e-25, 1e-21, 1e-3, 1.0, 1e3, 1e12, 1e19, 1e37]),
    st.sampled_from([0.0, 1.0, 1e5, 1e10]),
)
@settings(max_examples=400, deadline=None)
def test_the_nearest(seed: int, cells: int, dimensions: int, size: float, far: float) -> None:
    rng = np.random.default_rng(seed)
    points = size * rng.random((cells, dimensions))
    measures = size * rng.random((30, dimensions))
    measures[:10] += min(size * far, 1e38)
    measures[10:20] = points[rng.integers(0, cells, 10)]  # on a point
    assert Centroids(points).find(measures).tolist() == brute_force(points, measures)


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(2, 5))
@settings(max_examples=300, deadline=None)
def test_the_lowest_of_equals(seed: int, dimensions: int, levels: int) -> None:
    """On a coarse lattice many points are equally near, and some are the same."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, levels, (200, dimensions)) / 4
    measures = rng.integers(0, 2 * levels, (50, dimensions)) / 8
    found = Centroids(points).find(measures)
    distance = ((measures[:, None] - points) ** 2).sum(2)  # exact: multiples of 1/64
    assert found.tolist() == distance.argmin(1).tolist()


def test_points_that_float32_products_cannot_tell_apart() -> None:
    rng = np.random.default_rng(3)
    points = np.full((4096, 64), 0.5, np.float32)
    points += rng.integers(-2, 3, points.shape) * np.float32(2**-24)
    measures = 0.5 + rng.normal(0, 0.3, (40, 64))
    assert Centroids(points).find(measures).tolist() == brute_force(points, measures)


def test_the_batch_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    points = rng.dirichlet(np.ones(16), (300, 8)).reshape(300, 128)
    space = Centroids(points.round(2))
    measures = rng.dirichlet(np.ones(16), (700, 8)).reshape(700, 128).round(2)
    measures[::3] = (space.points[:234] + space.points[66:300]) / 2  # half way: ties by design
    whole = space.find(measures)
    assert whole.tolist() == brute_force(space.points, measures)
    for size in (1, 7, 80, 256, 300):
        parts = [space.find(measures[k : k + size]) for k in range(0, 700, size)]
        assert np.concatenate(parts).tolist() == whole.tolist()
    assert space.find(measures[::-1]).tolist() == whole[::-1].tolist()
    assert space.find(np.empty((0, 128))).shape == (0,)


def test_points_that_are_not() -> None:
    for wrong in (np.zeros(3), np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((2, 2, 2))):
        with pytest.raises(ValueError, match="shape"):
            Centroids(wrong)
    with pytest.raises(ValueError, match="finite"):
        Centroids([[0.0, np.nan]])
    space = Centroids([[0.0, 1.0]])
    with pytest.raises(ValueError, match="read-only"):
        space.points[0] = 1.0
    with pytest.raises(ValueError, match=r"measures\[0, 1\] must be finite"):
        space.find([[0.0, np.inf]])


def plain_stick(rng: np.random.Generator) -> list[float]:
    """Break one stick in 16 parts, by the words of the recipe."""
    parts, used = [0.0] * 16, 0.0
    order = rng.permutation(16).tolist()
    for k in order[:-1]:
        parts[k] = round(int(rng.integers(0, 1001)) * (1 - used)) / 1000
        used += parts[k]
        if used >= 0.999 - 1e-9:
            break
    parts[order[-1]] += 1.0 - used
    return parts


def test_sticks_are_broken_as_the_recipe_says() -> None:
    sticks = broken_sticks(40_000, 16, np.random.RandomState(1))
    assert sticks.dtype == np.float32
    thousandths = np.rint(sticks.astype(float) * 1000)
    assert np.abs(sticks - thousandths / 1000).max() < 1e-7
    assert (thousandths.sum(1) == 1000).all()
    assert (thousandths >= 0).all()
    # Any action is as likely as any other, and the parts in order of size are as they should be.
    assert np.abs(sticks.mean(0) - 1 / 16).max() < 6 * sticks.std() / 200
    rng = np.random.default_rng(2)
    plain = np.sort([plain_stick(rng) for _ in range(10_000)], axis=1)
    ours = np.sort(sticks, axis=1)
    error = np.hypot(plain.std(0) / 100, ours.std(0) / 200)
    assert (np.abs(plain.mean(0) - ours.mean(0)) <= 4.5 * error + 1e-12).all()


RECIPES = {"sdbc": (sdbc_centroids, 10), "spirit": (spirit_centroids, 1024)}
VERSIONS = {"sdbc": 1, "spirit": 2}


@pytest.mark.parametrize("name", list(RECIPES))
def test_a_recipe_is_made_once_and_kept(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    monkeypatch.setenv("QED_CACHE", str(tmp_path))
    monkeypatch.setattr(cvt, "SPIRIT_BATCH", 200)
    recipe, dimensions = RECIPES[name]
    steps: list[tuple[int, int]] = []

    def count(done: int, total: int) -> None:
        steps.append((done, total))

    points = recipe(seed_points=500, clusters=16, seed=3, progress=count)
    assert points.shape == (16, dimensions)
    assert points.dtype == np.float32
    total = 1 if name == "sdbc" else 3
    assert steps == [(k, total) for k in range(total + 1)]
    if name == "spirit":
        assert points.reshape(16, 64, 16).sum(2) == pytest.approx(np.ones((16, 64)), abs=1e-5)
    [kept] = (tmp_path / "centroids").iterdir()
    assert kept.name == f"{name}-v{VERSIONS[name]}-points500-clusters16-seed3.npz"
    steps.clear()
    again = recipe(seed_points=500, clusters=16, seed=3, progress=count)
    assert again.tobytes() == points.tobytes()
    assert steps == []
    # A damaged file is made again, to the bit; another seed gives other points.
    kept.write_bytes(kept.read_bytes()[:-50])
    again = recipe(seed_points=500, clusters=16, seed=3)
    assert again.tobytes() == points.tobytes()
    other = recipe(seed_points=500, clusters=16, seed=4)
    assert other.tobytes() != points.tobytes()
    assert len(list((tmp_path / "centroids").iterdir())) == 2


def test_a_cache_that_cannot_be_written_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("QED_CACHE", str(tmp_path / "file"))
    assert sdbc_centroids(seed_points=100, clusters=4).shape == (4, 10)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"seed_points": 10, "clusters": 11}, "clusters"),
        ({"seed_points": 0}, "seed_points"),
        ({"seed": -1}, "seed"),
        ({"clusters": 0}, "clusters"),
    ],
)
def test_recipes_that_cannot_be(arguments: dict[str, Any], word: str) -> None:
    for recipe in (sdbc_centroids, spirit_centroids):
        with pytest.raises(ValueError, match=word):
            recipe(**arguments)
    with pytest.raises(ValueError, match="clusters"):
        spirit_centroids(clusters=20_001)
