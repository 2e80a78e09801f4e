"""The loop, on a toy domain, and robot swarms as a domain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from swarm_runs import swarm_run

from qed.archive.archive import Archive
from qed.archive.grid import Categories, Grid
from qed.evolution.algorithms import ALGORITHMS
from qed.evolution.map_elites import MapElites, search
from qed.evolution.run import run_side_by_side


class Points(NamedTuple):
    """Places on a line."""

    x: np.ndarray


class Line:
    """Solutions are numbers; the objective is their nearness to the environment's target."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def random(self, keys: np.ndarray) -> Points:
        self.asked.append(len(keys))
        return Points((keys / 2.0**32).astype(np.float32))

    def vary(self, parents: Points, keys: np.ndarray) -> Points:
        self.asked.append(-len(keys))
        return Points(np.clip(parents.x + (keys / 2.0**32 - 0.5) * 0.1, 0, 1).astype(np.float32))

    def evaluate(
        self, solutions: Points, environments: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        target = 0.5 if environments is None else environments[:, 0] / 10.0
        return 1.0 - np.abs(solutions.x - target), solutions.x[:, None]


def make(seed: int = 1, **more: object) -> MapElites:
    settings: dict[str, object] = {"evaluations": 950, "initial": 150, "batch": 40, **more}
    environments = settings.get("environments")
    space = Categories((11,)) if environments else Grid((20,))
    return MapElites(domain=Line(), archive=Archive(space), seed=seed, **settings)  # type: ignore[arg-type]


def test_random_solutions_come_first_then_children_up_to_the_budget() -> None:
    one = make()
    for _ in search(one):
        pass
    assert one.done == 950
    assert one.domain.asked == [40, 40, 40, 30] + [-40] * 20  # type: ignore[attr-defined]


def test_environment_diversity_finds_the_best_for_each_environment() -> None:
    one = make(environments=(11,), evaluations=4000)
    for _ in search(one):
        pass
    assert len(one.archive) == 11
    best = one.archive.solutions()["x"]
    assert best == pytest.approx(np.arange(11) / 10.0, abs=0.02)


def test_environments_are_drawn_uniformly_and_independently() -> None:
    one = make(environments=(4, 4), evaluations=16_000, initial=16_000, batch=16_000)
    one.archive = Archive(Categories((4, 4)))
    drawn = one.ask().environments
    assert drawn is not None
    counts = np.bincount(drawn[:, 0] * 4 + drawn[:, 1], minlength=16)
    assert ((counts - 1000.0) ** 2 / 1000.0).sum() < 37.7  # 15 df, p = 0.001


def test_parents_are_drawn_uniformly_from_the_elites() -> None:
    one = make(initial=1, evaluations=100_001, batch=100_000)
    x = np.array([0.01, 0.5, 0.99], np.float32)
    one.archive.add(Points(x), np.ones(3), x[:, None])
    one.done = 1
    seen: list[np.ndarray] = []
    one.domain.vary = lambda parents, keys: seen.append(parents.x) or parents  # type: ignore
    one.ask()
    counts = [int((seen[0] == value).sum()) for value in x]
    assert sum(counts) == 100_000
    assert sum((n - 33_333.3) ** 2 / 33_333.3 for n in counts) < 13.8  # 2 df, p = 0.001


def test_selection_sees_the_archive_at_the_start_of_a_generation() -> None:
    one = make()
    for _ in search(one):
        pass
    other = make()
    while not other.finished:
        batch = other.ask()
        half = len(batch.solutions.x) // 2
        parts = [
            other.domain.evaluate(Points(batch.solutions.x[rows]), None)
            for rows in (slice(0, half), slice(half, None))
        ]
        objective, behaviour = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        other.tell(batch, objective, behaviour)
    assert other.archive.equal(one.archive)
    assert not make(seed=2).archive.equal(one.archive)


def test_history_is_thinned_to_its_number_of_records() -> None:
    one = make(evaluations=4000, records=10)
    for _ in search(one):
        pass
    assert len(one.history) == 10
    assert one.history[-1] == one.statistics()
    assert one.history[-1][0] == 4000


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_every_algorithm_learns(algorithm: str) -> None:
    small = {"evaluations": 1200, "initial": 200, "trials": 2, "seconds": 40.0}
    run = swarm_run("border-patrolling", algorithm, **small)
    for _ in run_side_by_side([run]):
        pass
    first, last = run.search.history[0], run.search.history[-1]
    assert last[1] > first[1]
    assert last[2] > first[2]
    assert run.search.archive.header["settings"]["algorithm"] == algorithm
    if algorithm == "qed":
        # Each evaluation falls in one of 4096 cells at random.
        expected = 4096 * (1 - (1 - 1 / 4096) ** 1200)
        assert abs(last[1] - expected) < 4 * np.sqrt(expected * (1 - expected / 4096))
