"""Runs: folders, checkpoints, kills, resuming, and what is refused."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pretend_gpu
import pytest
from swarm_runs import swarm_run

import qed
from qed.archive.archive import Archive
from qed.errors import InputError, StoppedError
from qed.evolution import Run, run_side_by_side
from qed.evolution import swarms as swarms_module
from qed.evolution.folder import ARCHIVE, CHECKPOINT, CONFIG, PREVIOUS, PROGRESS
from qed.evolution.map_elites import MapElites
from qed.streams import STREAMS, evolution_trials

SMALL: dict[str, Any] = {
    "evaluations": 480,
    "initial": 120,
    "batch": 40,
    "trials": 2,
    "seconds": 6.0,
}
LONG = {**SMALL, "evaluations": 1200}  # for several kills


def command(size: dict[str, Any], *more: str | Path) -> list[str | Path]:
    """Return the words of a command that evolves, with a checkpoint after every generation."""
    words = (f"--{name}={value}" for name, value in size.items())
    return ["evolve", "patrolling", "--checkpoint", "0", *words, *more]


def finish(folder: Path, size: dict[str, Any] = SMALL, **more: Any) -> bytes:
    """Run to the end and return the bytes of the archive."""
    run = swarm_run("patrolling", folder=folder, **size, **more)
    for _ in run_side_by_side([run], every=0.0):
        pass
    return (folder / ARCHIVE).read_bytes()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return finish(tmp_path_factory.mktemp("runs") / "undisturbed")


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return finish(tmp_path_factory.mktemp("runs") / "long", LONG)


def test_a_run_leaves_its_files(tmp_path: Path, undisturbed: bytes) -> None:
    folder = tmp_path / "run"
    assert finish(folder) == undisturbed
    assert {file.name for file in folder.iterdir()} == {CONFIG, PROGRESS, ARCHIVE}
    config = tomllib.loads((folder / CONFIG).read_text())
    assert config["run"] == {"task": "patrolling", "algorithm": "qed", "seed": 1, **SMALL}
    assert config["made_by"]["qed"] == qed.__version__
    assert config["made_by"]["engine"] == "cpu"
    assert config["made_by"]["streams"] == STREAMS
    header, *lines = (folder / PROGRESS).read_text().splitlines()
    assert header == "evaluations,filled,best,mean,qd_score"
    table = np.array([line.split(",") for line in lines], float)
    assert table[-1, 0] == SMALL["evaluations"]
    assert (np.diff(table[:, 0]) > 0).all()
    assert (np.diff(table[:, 1]) >= 0).all()
    assert (np.diff(table[:, 2]) >= 0).all()
    assert (np.diff(table[:, 4]) >= 0).all()
    archive = qed.Archive.load(folder / ARCHIVE)
    assert len(archive) == table[-1, 1]
    assert archive.best.fitness == pytest.approx(table[-1, 2], rel=1e-8)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_killed_at_random_moments_it_ends_with_the_same_archive(
    tmp_path: Path, long: bytes, threads: str
) -> None:
    folder = tmp_path / "run"
    words = command(LONG, "--threads", threads, "--out", folder)
    rng = random.Random(int(threads))
    kills = 0
    resume: list[str] = []
    while not (folder / ARCHIVE).exists():
        if kills >= 7:
            assert commands.run(*words, *resume).returncode == 0
            break
        process = commands.Running(*words, *resume)
        before = done_files(folder)
        deadline = time.monotonic() + 60.0
        while done_files(folder) == before and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        time.sleep(rng.uniform(0.0, 0.03))
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
        resume = ["--resume"] if (folder / CONFIG).exists() else []
    assert kills >= 6
    assert (folder / ARCHIVE).read_bytes() == long


def done_files(folder: Path) -> tuple[int, ...]:
    """Return when the run's files last changed."""
    if not folder.exists():
        return ()
    found = []
    for name in (CONFIG, CHECKPOINT):
        try:
            found.append((folder / name).stat().st_mtime_ns)
        except OSError:
            found.append(0)
    return tuple(found)


class Crash(BaseException):
    """The machine stops here."""


@pytest.mark.parametrize("step", range(14))
def test_a_crash_inside_the_writing_of_a_checkpoint_loses_nothing(
    tmp_path: Path, undisturbed: bytes, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Stop at the n-th rename or flush of a run, as a kill there would."""
    folder = tmp_path / "run"
    count = 0

    def crashing(function: Any) -> Any:
        def wrapped(*args: Any) -> Any:
            nonlocal count
            count += 1
            if count == step + 4:
                raise Crash
            return function(*args)

        return wrapped

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", crashing(os.replace))
        patched.setattr(os, "fsync", crashing(os.fsync))
        with pytest.raises(Crash):
            finish(folder)
    assert finish(folder, resume=True) == undisturbed


@pytest.mark.parametrize("removed", [0, 1, 99])
def test_a_kill_while_checkpoints_are_removed_loses_nothing(
    tmp_path: Path, undisturbed: bytes, monkeypatch: pytest.MonkeyPatch, removed: int
) -> None:
    folder = tmp_path / "run"
    true, count = Path.unlink, 0

    def crashing(path: Path, missing_ok: bool = False) -> None:
        nonlocal count
        if path.name in (CHECKPOINT, PREVIOUS):
            count += 1
            if count == removed + 1:
                raise Crash
        true(path, missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", crashing)
        if removed < 99:
            with pytest.raises(Crash):
                finish(folder)
            assert (folder / PREVIOUS).exists()
        else:
            finish(folder)
    before = (folder / ARCHIVE).stat().st_mtime_ns
    progress = (folder / PROGRESS).read_bytes()
    resumed = swarm_run("patrolling", folder=folder, **SMALL, resume=True)
    assert resumed.search.finished
    assert len(resumed.search.history) == len(progress.splitlines()) - 1
    assert "is finished" in resumed.notes[-1]
    assert list(run_side_by_side([resumed])) == []
    assert {file.name for file in folder.iterdir()} == {CONFIG, PROGRESS, ARCHIVE}
    assert (folder / ARCHIVE).stat().st_mtime_ns == before
    assert (folder / ARCHIVE).read_bytes() == undisturbed
    assert (folder / PROGRESS).read_bytes() == progress


def test_a_damaged_archive_is_not_evolved_again_unasked(tmp_path: Path, undisturbed: bytes) -> None:
    folder = tmp_path / "run"
    steps = run_side_by_side([swarm_run("patrolling", folder=folder, **SMALL)], every=0.0)
    next(steps)
    steps.close()
    (folder / ARCHIVE).write_bytes(undisturbed[:-100])
    # With a checkpoint it can go on; without one the user decides.
    resumed = swarm_run("patrolling", folder=folder, **SMALL, resume=True)
    assert resumed.search.done == 40
    assert "resuming from a checkpoint" in resumed.notes[0]
    assert finish(folder, resume=True) == undisturbed
    (folder / ARCHIVE).write_bytes(undisturbed[:-100])
    with pytest.raises(StoppedError, match=r"archive\.npz .* remove it to evolve"):
        swarm_run("patrolling", folder=folder, **SMALL, resume=True)


def interrupt_after(folder: Path, generations: int) -> None:
    """Begin a run and interrupt it, as Ctrl-C does."""
    steps = run_side_by_side([swarm_run("patrolling", folder=folder, **SMALL)], every=1e9)
    for _ in range(generations):
        next(steps)
    with pytest.raises(KeyboardInterrupt):
        steps.throw(KeyboardInterrupt)


def test_an_interrupted_run_is_saved_and_goes_on(tmp_path: Path, undisturbed: bytes) -> None:
    folder = tmp_path / "run"
    interrupt_after(folder, 5)
    assert (folder / CHECKPOINT).exists()
    resumed = swarm_run("patrolling", folder=folder, **SMALL, resume=True)
    assert resumed.search.done == 200
    assert finish(folder, resume=True) == undisturbed


@pytest.mark.parametrize("where", ["add", "statistics"])
def test_an_interrupt_while_results_are_told_is_not_saved(
    tmp_path: Path, undisturbed: bytes, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    folder = tmp_path / "run"
    owner: Any = Archive if where == "add" else MapElites
    true, calls = getattr(owner, where), 0

    def interrupted(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        found = true(*given)
        if calls == 4:
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patched:
        patched.setattr(owner, where, interrupted)
        with pytest.raises(KeyboardInterrupt):
            finish(folder)
    resumed = swarm_run("patrolling", folder=folder, **SMALL, resume=True)
    assert resumed.search.done == 120
    assert finish(folder, resume=True) == undisturbed


def test_a_finished_run_is_saved_when_another_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, long = {**SMALL, "evaluations": 120}, {**SMALL, "evaluations": 200}
    runs = [
        swarm_run("flocking", folder=tmp_path / "short", **short),
        swarm_run("flocking", folder=tmp_path / "long", **long),
    ]
    true = swarms_module.Evaluation

    def failing(domains: Any, *more: Any) -> Any:
        if runs[0].search.finished:
            raise RuntimeError("no more")
        return true(domains, *more)

    monkeypatch.setattr(swarms_module, "Evaluation", failing)
    with pytest.raises(RuntimeError, match="no more"):
        for _ in run_side_by_side(runs, every=1e9):
            pass
    assert (tmp_path / "short" / ARCHIVE).exists()
    assert swarm_run("flocking", folder=tmp_path / "long", **long, resume=True).search.done == 120


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "foreign"])
def test_a_damaged_checkpoint_is_refused_and_the_one_before_is_used(
    tmp_path: Path, undisturbed: bytes, damage: str
) -> None:
    folder = tmp_path / "run"
    steps = run_side_by_side([swarm_run("patrolling", folder=folder, **SMALL)], every=0.0)
    for _ in range(8):
        next(steps)
    steps.close()
    path = folder / CHECKPOINT
    good = path.read_bytes()
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 0xFF
    path.write_bytes(
        {
            "truncated": good[: len(good) // 2],
            "flipped": bytes(flipped),
            "empty": b"",
            "foreign": b"PK not an archive at all",
        }[damage]
    )
    resumed = swarm_run("patrolling", folder=folder, **SMALL, resume=True)
    assert resumed.search.done == 280
    assert str(path) in resumed.notes[0]
    assert "not usable" in resumed.notes[0]
    assert finish(folder, resume=True) == undisturbed


def test_side_by_side_is_the_same_as_one_after_the_other(tmp_path: Path) -> None:
    seeds = (1, 2, 3)
    together = [swarm_run("flocking", "hbd", seed=seed, **SMALL) for seed in seeds]
    for _ in run_side_by_side(together):
        pass
    for seed, run in zip(seeds, together, strict=True):
        alone = swarm_run("flocking", "hbd", seed=seed, **SMALL)
        for _ in run_side_by_side([alone]):
            pass
        alone.search.archive.save(tmp_path / "alone.npz")
        run.search.archive.save(tmp_path / "together.npz")
        assert (tmp_path / "alone.npz").read_bytes() == (tmp_path / "together.npz").read_bytes()


MIXED = [
    ("flocking", "hbd"), ("patrolling", "qed"), ("flocking", "hbd"), ("dispersion", "spirit"),
    ("flocking", "qed"), ("aggregation", "sdbc"), ("border-patrolling", "spirit"),
]  # fmt: skip


def evolved(runs: list[Run], folder: Path) -> list[bytes]:
    """Evolve runs side by side and return the bytes of their archives."""
    for _ in run_side_by_side(runs):
        pass
    found = []
    for run in runs:
        run.search.archive.save(folder / "archive.npz")
        found.append((folder / "archive.npz").read_bytes())
    return found


def test_other_tasks_and_algorithms_side_by_side_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = pretend_gpu.install(monkeypatch)
    few = {**SMALL, "evaluations": 200}

    def runs(**how: str) -> list[Run]:
        return [swarm_run(*kind, seed=seed, **few, **how) for seed, kind in enumerate(MIXED)]

    alone = [evolved([run], tmp_path)[0] for run in runs()]
    assert evolved(runs(), tmp_path) == alone
    assert not calls
    # A GPU gets the batches of all tasks at once, those with the same descriptor together.
    assert evolved(runs(backend="cuda"), tmp_path) == alone
    descriptors = {"spread", "sdbc", "spirit"}
    kinds = {algorithm for _, algorithm in MIXED}
    assert sum(call.swarms for call in calls) == 5 * 7 * 40
    assert len(calls) == 5 * len(kinds)
    assert all(len(descriptors & set(call.sums)) <= 1 for call in calls)
    assert any(len(set(call.sums) - descriptors) > 1 for call in calls)


def test_runs_of_other_lengths_go_side_by_side_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = pretend_gpu.install(monkeypatch)
    lengths = [
        {"evaluations": 80 * trials, "trials": trials, "seconds": seconds}
        for trials, seconds in ((1, 4.0), (2, 4.0), (1, 6.0))
    ]

    def runs(**how: str) -> list[Run]:
        return [
            swarm_run("patrolling", "hbd", initial=40, batch=40, **length, **how)
            for length in lengths
        ]

    alone = [evolved([run], tmp_path)[0] for run in runs()]
    assert evolved(runs(backend="cuda"), tmp_path) == alone
    assert [call.swarms for call in calls] == [40] * (2 + 4 + 2)


@pytest.mark.parametrize(("before", "after"), [("cpu", "cuda"), ("cuda", "cpu")])
def test_a_run_goes_on_with_the_other_engine(
    tmp_path: Path,
    undisturbed: bytes,
    monkeypatch: pytest.MonkeyPatch,
    before: str,
    after: str,
) -> None:
    calls = pretend_gpu.install(monkeypatch)
    folder = tmp_path / "run"
    steps = run_side_by_side(
        [swarm_run("patrolling", folder=folder, **SMALL, backend=before)], every=1e9
    )
    for _ in range(5):
        next(steps)
    steps.close()
    assert len(calls) == (5 if before == "cuda" else 0)
    assert finish(folder, resume=True, backend=after) == undisturbed
    assert len(calls) == (5 if before == "cuda" else 7)


def test_threads_and_parts_do_not_matter() -> None:
    search = swarm_run("patrolling", "hbd", **SMALL, threads=1).search
    batch = search.ask()
    objective, behaviour = search.domain.evaluate(batch.solutions, None)
    other = swarm_run("patrolling", "hbd", **SMALL, threads=2).domain
    halves = [
        other.evaluate(batch.solutions.take(rows), None) for rows in (slice(0, 13), slice(13, None))
    ]
    assert np.array_equal(objective, np.concatenate([part[0] for part in halves]))
    assert behaviour is not None
    assert np.array_equal(behaviour, np.concatenate([part[1] for part in halves]))


def test_a_folder_with_another_run_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    interrupt_after(folder, 1)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(InputError, match="another run: trials is 2 there, 3 here"):
        swarm_run("patrolling", folder=folder, **{**SMALL, "trials": 3}, resume=True)
    with pytest.raises(InputError, match="already holds this run; resume"):
        swarm_run("patrolling", folder=folder, **SMALL)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="not empty"):
        swarm_run("patrolling", folder=other, **SMALL)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert [file.name for file in other.iterdir()] == ["thesis.tex"]


FULL_DISK = """
import resource, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from swarm_runs import swarm_run
from qed.errors import StoppedError
from qed.evolution import run_side_by_side
run = swarm_run("patrolling", folder=Path({folder!r}), **{settings!r}, resume=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
try:
    for _ in run_side_by_side([run], every=0.0):
        pass
except StoppedError as error:
    print(error)
    sys.exit(7)
"""


def test_a_run_of_other_random_numbers_is_not_gone_on_with(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    interrupt_after(folder, 1)
    config = folder / CONFIG
    text = config.read_text()
    config.write_text(text.replace(f"streams = {STREAMS}", ""))
    with pytest.raises(InputError, match=r"started by an older qed .* cannot be resumed"):
        swarm_run("patrolling", folder=folder, **SMALL, resume=True)
    config.write_text(text.partition("[made_by]")[0])
    with pytest.raises(StoppedError, match="damaged"):
        swarm_run("patrolling", folder=folder, **SMALL, resume=True)


def test_an_archive_tells_the_trials_of_its_evolution() -> None:
    archive = qed.evolve("flocking", "hbd", seed=4, **{**SMALL, "evaluations": 40})
    cells = archive.occupied
    outcome = qed.simulate(
        archive.controllers, tasks="flocking", trials=2, seconds=6.0,
        seed=evolution_trials(archive.header),
    )  # fmt: skip
    assert np.array_equal(outcome.fitness["flocking"].mean(1), archive.objective[cells])


def test_a_full_disk_stops_the_run_and_loses_nothing(tmp_path: Path, undisturbed: bytes) -> None:
    folder = tmp_path / "run"
    interrupt_after(folder, 4)
    before = (folder / CHECKPOINT).read_bytes()
    script = FULL_DISK.format(
        settings=SMALL, folder=str(folder), tests=str(Path(__file__).parents[1])
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 7, done.stderr
    assert "cannot write" in done.stdout
    assert "last checkpoint is intact" in done.stdout
    kept = folder / CHECKPOINT
    assert (kept if kept.exists() else folder / PREVIOUS).read_bytes() == before
    assert not list(folder.glob("*.new*"))
    assert finish(folder, resume=True) == undisturbed


def test_a_full_disk_before_the_first_checkpoint(
    tmp_path: Path, small_disk: Callable[[int], Any]
) -> None:
    run = swarm_run("patrolling", folder=tmp_path / "run", **SMALL)
    with (
        small_disk(3000),
        pytest.raises(StoppedError, match="there is no checkpoint yet, make room and resume"),
    ):
        list(run_side_by_side([run], every=0.0))


def test_two_processes_do_not_evolve_one_run(tmp_path: Path, long: bytes) -> None:
    folder = tmp_path / "run"
    words = command(LONG, "--out", folder)
    first = commands.Running(*words)
    try:
        while not (folder / CHECKPOINT).exists():
            assert first.poll() is None
        first.send_signal(signal.SIGSTOP)
        second = commands.run(*words, "--resume")
        assert second.returncode == 1
        assert "another process is evolving the run" in " ".join(second.stderr.split())
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    # The lock went with its process; and one process may take a run up again.
    kept = swarm_run("patrolling", folder=folder, **LONG, resume=True)
    assert finish(folder, LONG, resume=True) == long
    assert not kept.search.finished


def test_a_run_killed_while_it_wrote_its_first_file_can_begin_again(
    tmp_path: Path, undisturbed: bytes
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / f".{CONFIG}.123.new").write_text("[ru")
    assert finish(folder) == undisturbed


def test_an_unwritable_place_is_a_clear_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StoppedError, match="cannot use the folder"):
        swarm_run("patrolling", folder=blocked / "run", **SMALL)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["patroling"], ["task", "did you mean 'patrolling'"]),
        (["patrolling", "--algorithm", "hdb"], ["algorithm", "did you mean 'hbd'"]),
        (["patrolling", "--evaluations", "0"], ["evaluations", "0"]),
        (["patrolling", "--seconds", "-3"], ["seconds", "-3"]),
        (["patrolling", "--trials", "many"], ["trials", "integer"]),
    ],
)
def test_wrong_use_of_the_command_exits_with_2(
    tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    done = commands.run("evolve", *arguments, "--out", tmp_path / "run", NO_COLOR="1")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_request_to_stop_saves_the_run(tmp_path: Path, undisturbed: bytes) -> None:
    folder = tmp_path / "run"
    process = commands.Running(*command(SMALL, "--out", folder))
    deadline = time.monotonic() + 60.0
    while not (folder / CHECKPOINT).exists():
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    done = process.done()
    assert done.returncode == 130
    assert f"saved in {folder}" in done.stderr
    assert finish(folder, resume=True) == undisturbed


def test_nothing_to_resume_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no run to resume"):
        swarm_run("patrolling", folder=tmp_path / "typo", **SMALL, resume=True)
    assert not (tmp_path / "typo").exists()


def test_a_run_without_evolution_says_so() -> None:
    run = swarm_run("patrolling", **{**SMALL, "initial": 5000})
    assert "nothing will evolve" in run.notes[0]
    assert not swarm_run("patrolling", **SMALL).notes


def test_evolve_returns_the_archive_of_the_run(tmp_path: Path, undisturbed: bytes) -> None:
    seen: list[int] = []
    archive = qed.evolve(
        "patrolling", seed=1, progress=lambda run: seen.append(run.search.done), **SMALL
    )
    archive.save(tmp_path / "archive.npz")
    assert (tmp_path / "archive.npz").read_bytes() == undisturbed
    assert seen == list(range(40, SMALL["evaluations"] + 1, 40))
    with pytest.raises(ValueError, match="resume needs out"):
        qed.evolve("patrolling", resume=True, **SMALL)


OLD = Path(__file__).parents[1] / "data" / "runs-0.2.0"
OLD_SMALL: dict[str, Any] = {
    "evaluations": 24, "initial": 12, "batch": 6, "trials": 2, "seconds": 2.0, "seed": 3
}  # fmt: skip


def test_a_run_of_version_0_2_0_that_is_finished_loads(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(OLD / "finished", tmp_path / "run"))
    run = swarm_run("patrolling", folder=folder, **OLD_SMALL, resume=True)
    assert run.search.finished
    assert run.saved
    assert len(run.search.history) == 4
    assert run.search.history[-1][:2] == (24.0, float(len(run.archive)))
    anew = qed.evolve("patrolling", **OLD_SMALL, backend="cpu")
    assert anew.equal(run.archive)
    assert anew.header == run.archive.header
    before = tomllib.loads((folder / CONFIG).read_text())["run"]
    swarm_run("patrolling", folder=tmp_path / "new", **OLD_SMALL)
    assert tomllib.loads((tmp_path / "new" / CONFIG).read_text())["run"] == before


def test_a_run_of_version_0_2_0_that_was_interrupted_is_resumed(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(OLD / "interrupted", tmp_path / "run"))
    run = swarm_run("patrolling", "hbd", folder, **OLD_SMALL, resume=True)
    assert run.search.done == 18
    for _ in run_side_by_side([run]):
        pass
    assert run.archive.equal(qed.Archive.load(OLD / "interrupted-finished.npz"))
    header, *rows = (folder / PROGRESS).read_text().splitlines()
    assert header == "evaluations,filled,best,mean,qd_score"
    assert len(rows) == 4
