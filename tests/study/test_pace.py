"""How long the rest takes, by a clock of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from qed.evolution.folder import ARCHIVE, PROGRESS
from qed.study import cost, paths, work
from qed.study.board import BEYOND, BREAK, EVOLVE, TRY, Board, Done, Part
from qed.study.pace import Pace
from qed.study.plan import PRESETS, Name, Plan


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_each_kind_goes_at_its_own_rate() -> None:
    clock = Clock()
    pace = Pace({"slow": 100.0, "fast": 100.0}, clock)
    assert pace.seconds_left() is None
    pace.going(["slow"])
    clock.now += 300.0
    pace.did("slow", 50.0)
    # Nothing is known of the other kind: it goes as this one does.
    assert pace.seconds_left() == pytest.approx(50.0 * 6 + 100.0 * 6)
    pace.going(["fast"])
    clock.now += 25.0
    pace.did("fast", 50.0)
    assert pace.seconds_left() == pytest.approx(50.0 * 6 + 50.0 / 2, rel=0.06)
    pace.did("slow", 50.0)
    pace.did("fast", 60.0)
    assert pace.seconds_left() == 0.0


def test_time_is_shared_by_parts_that_go_on_at_the_same_time() -> None:
    clock = Clock()
    pace = Pace({"a": 100.0, "b": 100.0}, clock)
    pace.going(["a", "a", "a", "b"])
    clock.now += 40.0
    pace.did("a", 30.0)
    pace.did("b", 1.0)
    assert pace.spent == {"a": 30.0, "b": 10.0}
    pace.going([])
    clock.now += 1e6  # nobody works
    pace.drop("b", 99.0)
    assert pace.seconds_left() == pytest.approx(70.0, rel=0.1)


PLAN = PRESETS["paper"].changed(replicates=2, evaluations=80_000, faults=20)
# What a true machine takes, in the seconds that are expected of each kind of work.
TRUE = {EVOLVE: 1.5, TRY: 1.3, BREAK: 0.8, BEYOND: 1.2}
STEPS = 30  # of a part that are told


def leave(folder: Path, name: Name, file: str, text: str = "") -> None:
    here = paths.run(folder, name)
    here.mkdir(parents=True, exist_ok=True)
    (here / file).write_text(text)


def work_on(
    folder: Path, plan: Plan, backend: str, stop: float = 1e99
) -> tuple[list[tuple[float, float | None]], float]:
    """Do what is left of a study as if, until the clock says stop.

    Returns when it was asked how long the rest takes and what was answered; and when it ended.
    """
    clock = Clock()
    board = Board(folder, plan, backend, clock=clock)
    told: list[tuple[float, float | None]] = []
    runs = list(plan.runs())
    groups = [tuple(runs[k : k + 20]) for k in range(0, len(runs), 20)]
    for names in groups:
        parts = [Part(EVOLVE, names)]
        for name in names:
            parts += [Part(TRY, (name,))]
            parts += [Part(BREAK, (name,), k) for k in range(len(work.batches(plan)))]
            parts += [Part(BEYOND, (name,))]
        for part in parts:
            rest = board.weight(part) - board.there(part)
            board.begin(part)
            board.pace.going([part.stage])
            open_ = [n for n in part.names if not (paths.run(folder, n) / ARCHIVE).exists()]
            whole = sum(board.weight(Part(EVOLVE, (n,))) for n in open_)
            for step in range(1, STEPS + 1 if rest > 0.0 else 1):
                clock.now += TRUE[part.stage] * rest / STEPS
                share = step / STEPS
                if part.stage == EVOLVE:
                    share = 1.0 - (1.0 - step / STEPS) * rest / whole
                    for name in open_:
                        done = round(share * plan.evaluations)
                        leave(folder, name, PROGRESS, f"evaluations\n{done}\n")
                board.tell(share)
                told.append((clock.now, board.pace.seconds_left()))
                if clock.now - 1000.0 > stop:
                    return told, clock.now
            board.end(part)
            for name in part.names:
                file = {
                    EVOLVE: ARCHIVE,
                    TRY: paths.NORMAL,
                    BREAK: paths.recovery(part.batch),
                    BEYOND: paths.beyond(plan.searched),
                }[part.stage]
                leave(folder, name, file)
    assert board.fraction == pytest.approx(1.0)
    return told, clock.now


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
@pytest.mark.parametrize("before", [0.0, 0.1, 0.5, 0.8, 0.97])
def test_a_resumed_study_forecasts_what_then_happens(
    tmp_path: Path, backend: str, before: float
) -> None:
    """Killed after any part of its time, it tells within a factor of two what is left."""
    _, end = work_on(tmp_path / "whole", PLAN, backend)
    whole = end - 1000.0
    work_on(tmp_path / "killed", PLAN, backend, stop=before * whole)
    told, end = work_on(tmp_path / "killed", PLAN, backend)
    assert end - 1000.0 < (1.02 - 0.95 * before) * whole
    answers = [(at, left) for at, left in told if left is not None]
    assert answers[0][0] - 1000.0 < 0.03 * whole
    for at, left in answers:
        if end - at > 0.01 * whole:
            assert 0.5 < left / (end - at) < 2.0, (at, left, end)


def test_what_was_there_before_is_shown_as_done_but_tells_no_rate(tmp_path: Path) -> None:
    names = list(PLAN.runs())
    for name in names[:20]:
        leave(tmp_path, name, ARCHIVE)
    leave(tmp_path, names[20], PROGRESS, "evaluations\n40000\n")
    clock, shown = Clock(), []
    board = Board(tmp_path, PLAN, "cuda", lambda done, doing: shown.append(done), clock)
    begun = board.fraction
    evolving = sum(board.weight(Part(EVOLVE, (name,))) for name in names)
    first = sum(board.weight(Part(EVOLVE, (name,))) for name in names[:20])
    half = 0.5 * board.weight(Part(EVOLVE, (names[20],)))
    assert begun == pytest.approx((first + half) / board.total)
    assert board.pace.left[EVOLVE] == pytest.approx(evolving - first - half)
    # Finished runs of a group are not evolved again, so that a fraction is of the others.
    part = Part(EVOLVE, tuple(names[10:30]))
    board.begin(part)
    board.tell(0.05)  # as much as was there
    assert board.fraction == pytest.approx(begun, rel=0.01)  # runs do not weigh the same
    assert board.pace.seconds_left() is None
    board.tell(0.5)
    assert begun < board.fraction < 1.0
    assert shown == sorted(shown)


def test_what_failed_is_not_waited_for(tmp_path: Path) -> None:
    plan = PLAN.changed(tasks="patrolling", algorithms="qed", replicates=2)
    one, two = plan.runs()
    board = Board(tmp_path, plan, clock=Clock())
    board.begin(Part(EVOLVE, (one, two)))
    board.end(Part(EVOLVE, (one, two)), good=False)  # they are tried again, one by one
    assert board.fraction == 0.0
    board.begin(Part(EVOLVE, (one,)))
    board.end(Part(EVOLVE, (one,)), good=False)
    assert board.fraction == pytest.approx(0.5)
    board.begin(Part(EVOLVE, (two,)))
    board.end(Part(EVOLVE, (two,)))
    board.begin(Part(TRY, (two,)))
    board.end(Part(TRY, (two,)), good=False)
    assert board.fraction == pytest.approx(1.0)
    assert board.pace.seconds_left() == 0.0


def test_what_is_there_is_not_forecast(tmp_path: Path) -> None:
    engine = cost.Engine("", "cpu", cost.KNOWN_CPU)
    plan = PLAN.changed(tasks="patrolling", algorithms="qed,hbd", faults=15, beyond=4)
    whole = Board(tmp_path, plan, engine).forecast()
    assert list(whole) == ["qed", "hbd"]
    for algorithm, seconds in cost.forecast(plan, engine).items():
        assert whole[algorithm] == pytest.approx(seconds)
    assert Board(tmp_path, plan, engine).done() == Done(0, 0.0, 0, 0, False)

    first, second = (Name("patrolling", "qed", replicate) for replicate in (1, 2))
    for file in (ARCHIVE, paths.NORMAL, paths.recovery(1)):
        leave(tmp_path, first, file)
    leave(tmp_path, second, PROGRESS, f"evaluations\n{plan.evaluations // 2}\n")
    board = Board(tmp_path, plan, engine)
    # The second batch has 5 faults; of two runs, one and a half are evolved, and of all four.
    assert board.done() == Done(1, 1.5 / 4, 5, 0, False)
    left = board.forecast()
    assert left["hbd"] == whole["hbd"]
    assert left["qed"][0] == pytest.approx(whole["qed"][0] / 4)
    saved = cost.trying(plan, "qed", engine) + cost.trying(plan, "qed", engine, 1)
    assert left["qed"][1] == pytest.approx(whole["qed"][1] - saved)

    for name in plan.runs():
        for file in (ARCHIVE, paths.NORMAL, paths.recovery(0), paths.recovery(1)):
            leave(tmp_path, name, file)
    assert Board(tmp_path, plan, engine).done() == Done(4, 1.0, 60, 0, False)
    assert Board(tmp_path, plan.changed(beyond=0), engine).done().whole
    for name in plan.runs():
        leave(tmp_path, name, paths.beyond(4))
    board = Board(tmp_path, plan, engine)
    assert board.done() == Done(4, 1.0, 60, 4, True)
    assert set(board.forecast().values()) == {(0.0, 0.0)}
