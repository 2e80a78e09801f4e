"""Every task, fault and algorithm, those of users too, goes through the whole package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import own_swarm
import pytest
from PIL import Image

import qed
from qed.definitions import known
from qed.evolution.algorithms import Algorithm
from qed.study.plan import PRESETS, Name
from qed.study.workload import Workload, solutions
from qed.swarm.faults import Fault
from qed.swarm.measures import MEASURES, wanted
from qed.swarm.tasks import Task
from qed.swarm.user_defined import of_package
from qed.view.look import sign_of
from qed.view.player import page
from qed.view.replay import watch

TASKS = [*known(Task).values(), own_swarm.gather, own_swarm.keep_close]
FAULTS = [
    *known(Fault).values(), own_swarm.limping, own_swarm.dead, own_swarm.blind, own_swarm.weak
]  # fmt: skip
ALGORITHMS = [*known(Algorithm).values(), own_swarm.tidy, own_swarm.few]
HOW: dict[str, Any] = {"threads": 1, "backend": "cpu"}
SMALL: dict[str, Any] = {
    **HOW, "evaluations": 40, "initial": 30, "batch": 10, "trials": 1, "seconds": 2.0
}  # fmt: skip


def shown(archive: qed.Archive, task: str, faults: qed.Faults) -> None:
    """Recover, and make the page that plays it."""
    found = qed.recover(archive, task, faults, trials=1, fresh=2, seconds=2.0, **HOW)
    assert found.task == task
    assert np.isfinite([found.normal, found.broken, found.performance]).all()
    replay = watch(found, seconds=2.0)
    assert replay.task == task
    assert task.capitalize() in page(replay)


def colours(path: Path) -> int:
    """Return the number of colours of a picture."""
    with Image.open(path) as picture:
        return len(np.unique(np.asarray(picture.convert("RGB")).reshape(-1, 3), axis=0))


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_a_task_goes_everywhere(task: Task, tmp_path: Path) -> None:
    swarm = qed.Controller.random(1)
    outcome = qed.simulate(swarm, tasks=task, trials=2, seconds=4.0, seed=5, **HOW)
    seen = qed.trace(swarm, task=task, seconds=4.0, seed=5, trial=1)
    assert seen.score[-1] == outcome.fitness[task.name][0, 1]
    archive = qed.evolve(task, "hbd", **SMALL)
    archive.save(tmp_path / "a.npz")
    again = qed.Archive.load(tmp_path / "a.npz")
    shown(again, task, qed.Faults.sample(10, 1))
    qed.draw_map(again, tmp_path / "map.png")
    plan = PRESETS["quick"].changed(tasks=[task], algorithms="qed,hbd")
    assert plan.swarms(Name(task, "hbd", 1)).task == task
    assert all(steps > 0.0 for steps in Workload(plan).steps.values())


@pytest.fixture(scope="module")
def flocking() -> qed.Archive:
    return qed.evolve("flocking", "hbd", **SMALL)


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_goes_everywhere(fault: Fault, flocking: qed.Archive) -> None:
    faults = qed.Faults([fault, *["NONE"] * 9])
    shown(flocking, "flocking", faults)
    assert sign_of(fault).words.startswith("no fault" if fault == "NONE" else fault.name)
    plan = PRESETS["quick"].changed(among=[fault, "PMIN"] if fault != "PMIN" else ["PMIN"])
    drawn = {name for faults in plan.faults_of(1) for name in faults}
    assert fault in drawn


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_an_algorithm_goes_everywhere(algorithm: Algorithm, tmp_path: Path) -> None:
    archive = qed.evolve("dispersion", algorithm, **SMALL)
    archive.save(tmp_path / "a.npz")
    again = qed.Archive.load(tmp_path / "a.npz")
    assert again.equal(archive)
    assert ("definitions" in again.header) == algorithm.user_defined
    qed.draw_map(again, tmp_path / "map.png")
    assert colours(tmp_path / "map.png") > 20  # as many as a scale of fitness shows, at least
    shown(again, "dispersion", qed.Faults.sample(10, 1))
    plan = PRESETS["quick"].changed(tasks="dispersion", algorithms=[algorithm])
    assert 0.0 < solutions(algorithm, plan.evaluations) <= archive.cells
    assert all(steps > 0.0 for steps in Workload(plan).steps.values())


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_a_measure_has_the_shape_that_its_table_says(measure: Any) -> None:
    from qed.swarm.cpu import engine
    from qed.swarm.job import checked

    env = qed.Environment(robots=4, arena=2.0)
    job = checked(
        qed.Controller.random(1), env, trials=3, seconds=1.0, seed=1, faults=None, start=None,
        noise=0.05,
    )  # fmt: skip
    assert wanted([measure.name]).stages == measure.stage
    [sums] = engine.simulate(job, [measure.name], 1, None)
    values = sums[measure.name]
    shape = (19 * 19,) if measure.shape is None else measure.shape  # cells of 0.11 m in 2 m
    assert values.size == np.prod(shape, dtype=int) * (1 if measure.pooled else 3)
    assert np.isfinite(values).all()


def test_a_task_of_the_package_may_be_a_law() -> None:
    """One entry of a table is enough, without a loop in either engine."""
    law = of_package(own_swarm.near_centre, "robots")
    task = Task.of_measure("near", "in one line", law, lambda sums, count, env: sums / count)
    both = [task, own_swarm.gather]
    fitness = qed.simulate(qed.Controller.random(2), tasks=both, trials=1, seconds=2.0).fitness
    assert fitness["near"] == fitness["gather"]


def test_a_users_law_is_a_measure_like_the_others() -> None:
    law = own_swarm.gather.measure.law
    assert law is not None
    assert law.measure.over == "robots"
    assert law.measure.count(10, qed.Environment(robots=4)) == 40
    assert own_swarm.keep_close.measure.count(10, qed.Environment(robots=4)) == 60
    assert not set(MEASURES) & {law.key}
