"""Mini-batch k-means beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest

from qed.archive.k_means import MiniBatchMeans


def batches(count: int, size: int, seed: int = 1) -> list[np.ndarray]:
    """Return points of which most lie close together, so that clusters differ in size."""
    rng = np.random.default_rng(seed)
    spread = np.where(rng.random((count, size, 1)) < 0.7, 0.05, 1.0)
    points = spread * rng.normal(size=(count, size, 6))
    points[count // 2 :] += 4.0  # away from all centres so far but the nearest of them
    return list(points.astype(np.float32))


@pytest.mark.parametrize(("clusters", "size"), [(150, 400), (40, 1500)])
def test_it_does_what_scikit_learn_does(clusters: int, size: int) -> None:
    cluster = pytest.importorskip("sklearn.cluster")
    points = batches(14, size)
    first = np.random.default_rng(2).normal(size=(clusters, 6)).astype(np.float32)
    theirs = cluster.MiniBatchKMeans(
        clusters, init=first.astype(float), n_init=1, batch_size=size,
        random_state=np.random.RandomState(7),
    )  # fmt: skip
    ours, chance = MiniBatchMeans(first), np.random.RandomState(7)
    renewed = 0
    for batch in points:
        theirs.partial_fit(batch.astype(float))
        ours.step(batch, chance)
        renewed += (ours.centres[:, None] == batch).all(2).any()  # a centre on a point
        assert ours.members.tolist() == theirs._counts.astype(int).tolist()
        assert ours.centres == pytest.approx(theirs.cluster_centers_, abs=2e-5)
    assert renewed >= 2


def test_at_most_half_the_points_become_centres() -> None:
    [points] = batches(1, 60)
    means = MiniBatchMeans(100.0 + np.arange(300.0).reshape(50, 6))
    means.step(points, np.random.RandomState(1))
    near = (means.centres < 50.0).all(1)
    assert np.count_nonzero(near) == 31  # one that was nearest to all points, and 30 anew


def test_small_clusters_begin_anew_on_points_of_the_batch() -> None:
    points = np.concatenate([np.zeros((990, 2)), [[9.0, 9.0]] * 10]).astype(np.float32)
    points += np.random.default_rng(1).normal(0, 1e-3, points.shape).astype(np.float32)
    means = MiniBatchMeans(np.array([[0, 0], [9, 9], [50, 50], [60, 60]]))
    means.step(points, np.random.RandomState(1))
    assert means.members.tolist() == [990, 10, 10, 10]  # 10 is not below a hundredth of 990
    on_points = (means.centres[2:, None] == points).all(2).any(1)
    assert on_points.all()
    # Nothing is renewed until ten points a cluster were counted.
    means.centres[3] = (50, 50)
    means.members[0] = 5000
    means.step(points[:39], np.random.RandomState(1))
    assert means.centres[3].tolist() == [50, 50]
    means.step(points[:1], np.random.RandomState(1))
    assert means.centres[3].tolist() == [50, 50]  # half a point cannot be a centre
    means.centres[3] = (50, 50)
    for _ in range(4):
        means.step(points[:10], np.random.RandomState(1))
    assert means.centres[3].max() < 1.0


def test_the_same_points_give_the_same_bits() -> None:
    first, *_ = points = batches(3, 300)
    found = []
    for _ in range(2):
        means = MiniBatchMeans(first[:50])
        for k, batch in enumerate(points):
            means.step(batch, np.random.RandomState(k))
        found.append(means.centres.tobytes())
    assert found[0] == found[1]
