"""Which cells the algorithms' archives have, and that they are told."""

from __future__ import annotations

import numpy as np
import pytest

from qed.evolution import algorithms
from qed.evolution.algorithms import ALGORITHMS, cells_in_words
from qed.evolution.domain import Batch
from qed.evolution.swarms import Swarms
from qed.study.plan import PRESETS


@pytest.mark.parametrize("algorithm", ["qed", "hbd"])
def test_cells_of_all_sizes_of_runs(algorithm: str) -> None:
    told = cells_in_words(algorithm, 4_000)
    assert told == cells_in_words(algorithm, 10**7)
    assert told.startswith(f"{ALGORITHMS[algorithm].space(4_000, None).cells:,} cells")


def test_the_words_are_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """They tell as many seed points as the recipes are asked for."""
    asked: list[int] = []
    monkeypatch.setattr(
        algorithms, "sdbc_centroids", lambda points, progress: asked.append(points) or [[0.0]]
    )
    monkeypatch.setattr(
        algorithms.SpiritCells, "from_recipe", lambda recipe, _: asked.append(recipe)
    )
    for evaluations in (4_000, 80_000):
        for algorithm in ("sdbc", "spirit"):
            ALGORITHMS[algorithm].space(evaluations, None)
            got = asked.pop()
            points = getattr(got, "seed_points", got)
            assert f"of {points:,} seed points" in cells_in_words(algorithm, evaluations)


def test_small_runs_say_that_they_use_fewer_seed_points() -> None:
    quick = cells_in_words("spirit", PRESETS["quick"].evaluations)
    assert quick == (
        "4,096 cells around centroids of 100,000 seed points (paper: 1,000,000), "
        "small clusters reassigned"
    )
    for plan in (PRESETS["paper"], PRESETS["paper"].changed(evaluations=80_000)):
        for algorithm in ("sdbc", "spirit"):
            assert "(as in the paper)" in cells_in_words(algorithm, plan.evaluations)
    # A report is made of tables alone, without the definitions of users.
    assert cells_in_words("unheard-of", 1) == "user-defined cells"


def test_environments_of_one_cell_differ_with_the_attributes() -> None:
    paper = ALGORITHMS["qed"]
    scripts = paper.with_attributes("scripts")
    batch = Batch([None], np.zeros((1, 6), np.int64))
    found = [Swarms("patrolling", one).conditions(batch) for one in (paper, scripts)]
    assert [environment.arena for [(environment, _)] in found] == [2.0, 3.0]
