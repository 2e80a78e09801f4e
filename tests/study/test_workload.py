"""How much work a study is, and how long the rest takes, by a clock of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from qed.evolution.folder import ARCHIVE, PROGRESS
from qed.study import paths, workload
from qed.study.plan import PRESETS, Name, Plan
from qed.study.workload import BEYOND, BREAK, EVOLVE, TRY, Part, Workload, parts_of, robot_steps

PAPER = PRESETS["paper"]
PLAN = PAPER.changed(replicates=2, evaluations=80_000, faults=20)
# What a machine takes for a robot-step of each kind of work (s).
TRUE = {EVOLVE: 1.5e-9, TRY: 1.3e-9, BREAK: 0.8e-9, BEYOND: 1.2e-9}
STEPS = 30  # of a part that are told


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_robot_steps_of_the_papers_runs() -> None:
    one_run = (2_000 + 30_000 * 80) * 50 * 2_000 * 10
    of = {stage: Part(stage, (Name("flocking", "hbd", 1),)) for stage in TRUE}
    assert robot_steps(PAPER, of[EVOLVE]) == one_run
    qed = Part(EVOLVE, (Name("flocking", "qed", 1),))
    assert robot_steps(PAPER, qed) == 1.25 * one_run  # 5, 10, 15 or 20 robots
    assert robot_steps(PAPER, of[TRY]) == pytest.approx(1_091 * 10 * 2_000 * 10)
    broken = [part for part in parts_of(PAPER, of[TRY].names[0]) if part.stage == BREAK]
    assert len(broken) == 5
    total = sum(robot_steps(PAPER, part) for part in broken)
    assert total == pytest.approx(50 * robot_steps(PAPER, of[TRY]))
    few = Part(BEYOND, (Name("flocking", "sdbc", 1),))
    assert 0.0 < robot_steps(PAPER, few) < robot_steps(PAPER, of[BEYOND])


@pytest.mark.parametrize(
    ("algorithm", "papers", "quick"),
    [("qed", 4094, 2557), ("hbd", 1091, 244), ("sdbc", 130, 30), ("spirit", 127, 92)],
)
def test_maps_are_about_as_full_as_maps_were(algorithm: str, papers: int, quick: int) -> None:
    assert workload.solutions(algorithm, PAPER.evaluations) == pytest.approx(papers, abs=2)
    assert workload.solutions(algorithm, 4_000) == pytest.approx(quick, rel=0.15)


def leave(folder: Path, name: Name, file: str, text: str = "") -> None:
    here = paths.run(folder, name)
    here.mkdir(parents=True, exist_ok=True)
    (here / file).write_text(text)


def file_of(part: Part, plan: Plan) -> str:
    return {
        EVOLVE: ARCHIVE,
        TRY: paths.NORMAL,
        BREAK: paths.recovery(part.batch),
        BEYOND: paths.beyond(plan.searched),
    }[part.stage]


def work_on(
    folder: Path, plan: Plan, together: int, stop: float = 1e99
) -> tuple[list[tuple[float, float | None]], float]:
    """Do what is left of a study as if, until the clock says stop.

    Returns when it was asked how long the rest takes and what was answered; and when it ended.
    """
    clock = Clock()
    load = Workload(plan, folder, clock=clock)
    told: list[tuple[float, float | None]] = []
    runs = list(plan.runs())
    for first in range(0, len(runs), together):
        names = tuple(runs[first : first + together])
        parts = [Part(EVOLVE, names)]
        for name in names:
            parts += parts_of(plan, name)[1:]
        for part in parts:
            left = {one: load.left[one] for one in part.each if load.left[one] > 0.0}
            begun = {one: 1.0 - steps / load.steps[one] for one, steps in left.items()}
            load.now = part
            for step in range(1, STEPS + 1 if left else 1):
                clock.now += TRUE[part.stage] * sum(left.values()) / STEPS
                share = min(begun.values()) + (1.0 - min(begun.values())) * step / STEPS
                if part.stage == EVOLVE:
                    for one in left:
                        done = max(share, begun[one])
                        text = f"evaluations\n{round(done * plan.evaluations)}\n"
                        leave(folder, one.names[0], PROGRESS, text)
                load.tell(share)
                told.append((clock.now, load.seconds_left()))
                if clock.now - 1000.0 > stop:
                    return told, clock.now
            load.end(part)
            for name in part.names:
                leave(folder, name, file_of(part, plan))
    assert load.fraction == 1.0
    return told, clock.now


@pytest.mark.parametrize("together", [2, 20])
@pytest.mark.parametrize("before", [0.0, 0.1, 0.5, 0.8])
def test_a_resumed_study_forecasts_what_then_happens(
    tmp_path: Path, together: int, before: float
) -> None:
    """Killed after any part of its time, it tells within a factor of two what is left."""
    _, end = work_on(tmp_path / "undisturbed", PLAN, together)
    whole = end - 1000.0
    work_on(tmp_path / "killed", PLAN, together, stop=before * whole)
    told, end = work_on(tmp_path / "killed", PLAN, together)
    assert end - 1000.0 < (1.02 - 0.95 * before) * whole
    answers = [(at, left) for at, left in told if left is not None]
    assert answers[0][0] - 1000.0 < 0.03 * whole
    for at, left in answers:
        if end - at > 0.01 * whole:
            assert 0.5 < left / (end - at) < 2.0, (at, left, end)


def test_what_was_there_before_is_shown_as_done_but_tells_no_speed(tmp_path: Path) -> None:
    names = list(PLAN.runs())
    for name in names[:20]:
        leave(tmp_path, name, ARCHIVE)
    leave(tmp_path, names[20], PROGRESS, "evaluations\n40000\n")
    clock, shown = Clock(), []
    load = Workload(PLAN, tmp_path, lambda done, doing: shown.append(done), clock)
    evolving = [load.steps[Part(EVOLVE, (name,))] for name in names]
    there = (sum(evolving[:20]) + 0.5 * evolving[20]) / sum(load.steps.values())
    begun = load.fraction
    assert begun == pytest.approx(there)
    # Finished runs of a group are not evolved again, so that a fraction is of the others.
    load.now = Part(EVOLVE, tuple(names[10:30]))
    clock.now += 60.0
    load.tell(0.0)
    assert load.fraction == begun
    assert load.seconds_left() is None
    load.tell(0.75)
    did = 0.25 * evolving[20] + 0.75 * sum(evolving[21:30])
    assert load.did == pytest.approx(did)
    assert load.seconds_left() == pytest.approx(60.0 * sum(load.left.values()) / did)
    assert shown == sorted(shown)


def test_what_failed_is_not_waited_for(tmp_path: Path) -> None:
    plan = PLAN.changed(tasks="patrolling", algorithms="qed", replicates=2)
    one, two = plan.runs()
    load = Workload(plan, tmp_path)
    load.fail(Part(EVOLVE, (one,)))
    assert load.fraction == pytest.approx(0.5)
    load.end(Part(EVOLVE, (two,)))
    load.end(Part(TRY, (two,)))
    load.fail(Part(BREAK, (two,), 0))  # the other batch of faults does not wait for it
    assert {part for part, left in load.left.items() if left} == {Part(BREAK, (two,), 1)}
    load.end(Part(BREAK, (two,), 1))
    assert load.fraction == 1.0
    assert load.seconds_left() == 0.0


def test_other_processes_are_seen_by_the_files_they_leave(tmp_path: Path) -> None:
    plan = PLAN.changed(tasks="patrolling", algorithms="qed", replicates=2)
    shown: list[str] = []
    load = Workload(plan, tmp_path, lambda done, doing: shown.append(doing))
    parts = [Part(EVOLVE, (name,)) for name in plan.runs()]
    leave(tmp_path, parts[1].names[0], PROGRESS, f"evaluations\n{plan.evaluations // 2}\n")
    load.look(parts)
    assert shown == ["2 parts wait or run"]
    assert load.left[parts[1]] == 0.5 * load.steps[parts[1]]
    assert load.left[parts[0]] == load.steps[parts[0]]


def test_only_what_is_left_is_forecast(tmp_path: Path) -> None:
    plan = PLAN.changed(tasks="patrolling", algorithms="qed,hbd", faults=15, beyond=4)
    speeds = 4e6, 2e6, 8e6
    begun = Workload(plan).forecast(*speeds)
    steps = Workload(plan).steps
    for algorithm, slow in (("qed", 2e6), ("hbd", 4e6)):
        own = {p: s for p, s in steps.items() if p.names[0].algorithm == algorithm}
        evolving = sum(s for p, s in own.items() if p.stage == EVOLVE)
        assert begun[algorithm][0] == pytest.approx(evolving / slow)
        assert begun[algorithm][1] == pytest.approx((sum(own.values()) - evolving) / 8e6)
    first = Name("patrolling", "qed", 1)
    for file in (ARCHIVE, paths.NORMAL, paths.recovery(1)):
        leave(tmp_path, first, file)
    left = Workload(plan, tmp_path).forecast(*speeds)
    assert left["hbd"] == begun["hbd"]
    assert left["qed"][0] == pytest.approx(begun["qed"][0] / 2)
    saved = sum(steps[part] for part in (Part(TRY, (first,)), Part(BREAK, (first,), 1)))
    assert left["qed"][1] == pytest.approx(begun["qed"][1] - saved / 8e6)
    for name in plan.runs():
        for part in parts_of(plan, name):
            leave(tmp_path, name, file_of(part, plan))
    assert set(Workload(plan, tmp_path).forecast(*speeds).values()) == {(0.0, 0.0)}


def test_a_study_that_an_h200_did_is_forecast() -> None:
    sixty = PAPER.changed(replicates=3, evaluations=80_000, beyond=0)
    for algorithms, rate in (("sdbc,spirit", 1_980), ("qed", 980)):
        plan = sixty.changed(algorithms=algorithms)
        times = Workload(plan).forecast(*workload.H200).values()
        evolving = sum(evolution for evolution, _ in times)
        assert len(list(plan.runs())) * 80_000 / evolving == pytest.approx(rate, rel=0.1)


def test_speeds_are_measured_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload, "MEASURED", 0.01)
    speeds = workload.speeds_here(PLAN.changed(trials=1, retrials=1))
    assert len(speeds) == 3
    assert all(1.0 < speed < 1e12 for speed in speeds)
