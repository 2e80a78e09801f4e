import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qed.archive.cvt import Centroids
from qed.study.work import diversity, project


def test_diversity_worked_by_hand():
    # Three behaviours that differ in one of 64 states: always action 0, always action 1, and
    # half and half.  Total variation in that state is 1, 1/2 and 1/2; the mean is 2/3 of 1/64.
    behaviours = np.full((3, 64, 16), 1 / 16)
    behaviours[:, 5] = 0
    behaviours[0, 5, 0] = behaviours[1, 5, 1] = 1
    behaviours[2, 5, :2] = 0.5
    assert diversity(behaviours.reshape(3, -1)) == pytest.approx(2 / 3 / 64)


def test_one_behaviour_has_no_diversity():
    assert math.isnan(diversity(np.zeros((1, 1024))))
    assert math.isnan(diversity(np.zeros((0, 1024))))


def brute_force(behaviours, fitness, points):
    """Return {centroid: solution} with one elite a centroid, by the words of the paper."""
    kept = {}
    for k, behaviour in enumerate(behaviours):
        cell = int(np.argmin([((behaviour - point) ** 2).sum() for point in points]))
        if cell not in kept or fitness[k] > fitness[kept[cell]]:
            kept[cell] = k
    return kept


@given(st.integers(0, 10**6), st.integers(1, 40))
def test_projection_keeps_the_best_of_each_centroid(seed, count):
    rng = np.random.default_rng(seed)
    points = rng.dirichlet(np.ones(16), (12, 64)).reshape(12, -1).astype(np.float32)
    behaviours = rng.dirichlet(np.ones(16), (count, 64)).reshape(count, -1).astype(np.float32)
    fitness = rng.integers(0, 4, count) / 4  # many ties
    found = project(behaviours, fitness, Centroids(points))
    wanted = brute_force(behaviours.astype(float), fitness, points.astype(float))
    assert dict(zip(found.cells.tolist(), found.elites.tolist(), strict=True)) == wanted
    assert found.coverage == len(wanted)
    cells = sorted(wanted)
    apart = [
        0.5 * np.abs(points[a].astype(float) - points[b]).reshape(64, 16).sum(1).mean()
        for i, a in enumerate(cells)
        for b in cells[i + 1 :]
    ]
    if apart:
        assert found.diversity == pytest.approx(np.mean(apart))
        elites = behaviours[[wanted[cell] for cell in cells]]
        assert found.solution_diversity == pytest.approx(diversity(elites))
    else:
        assert math.isnan(found.diversity)
