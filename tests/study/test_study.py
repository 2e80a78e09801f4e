import os
import random
import shutil
import signal
import subprocess
import sys
import time

import commands
import numpy as np
import pandas as pd
import pretend_gpu
import pytest

import qed
from qed import speed
from qed.descriptors import spirit
from qed.errors import InputError, StoppedError
from qed.evolution.algorithms import ALGORITHMS
from qed.recovery.trials import streams
from qed.speed import Kernel
from qed.streams import evolution_trials
from qed.study import paths
from qed.study import study as study_module
from qed.study.plan import PRESETS, Name
from qed.study.results import TABLES, Results, collect
from qed.study.study import Study, opener, plan_of

TINY = PRESETS["quick"].changed(
    tasks="patrolling,dispersion", algorithms="qed,hbd", replicates=2, evaluations=60, initial=30,
    trials=1, seconds=10.0, faults=12, retrials=2, fresh=3,
)  # fmt: skip
OPTIONS = [
    "--tasks=patrolling,dispersion", "--algorithms=qed,hbd", "--replicates=2", "--evaluations=60",
    "--initial=30", "--trials=1", "--seconds=10", "--faults=12", "--retrials=2",
    "--fresh=3",
]  # fmt: skip


def tables(folder):
    return {name: (folder / "tables" / f"{name}.csv").read_bytes() for name in TABLES}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A study that went through, without its report."""
    study = Study(tmp_path_factory.mktemp("study") / "here", TINY)
    study.claim()
    told = []
    study.work(watch=lambda done, doing: told.append((done, doing)))
    assert study.failures == []
    assert len(collect(study.folder, TINY)) == 8
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] == pytest.approx(1.0)
    return study.folder


def test_every_number_follows_from_the_public_functions(undisturbed):
    results = Results.load(undisturbed)
    assert len(results.runs) == 8
    assert len(results.recoveries) == 8 * 12
    name = Name("dispersion", "hbd", 2)
    archive = qed.evolve(
        "dispersion", "hbd", evaluations=60, initial=30, trials=1, seconds=10.0,
        seed=TINY.seed_of(2),
    )  # fmt: skip
    seed = TINY.recovery_seed(name)
    outcome = qed.simulate(
        archive.controllers, tasks="dispersion", descriptors=["spirit"], trials=2, seconds=10.0,
        seed=streams(seed).normal,
    )  # fmt: skip
    fitness = outcome.fitness["dispersion"].mean(1)
    best = qed.simulate(
        archive.controllers[int(fitness.argmax())], tasks="dispersion", trials=3, seconds=10.0,
        seed=streams(seed).fresh,
    ).fitness["dispersion"].mean()  # fmt: skip
    run = results.runs.set_index(["task", "algorithm", "replicate"]).loc[tuple(name)]
    assert run["filled"] == len(archive)
    assert run["best"] == best
    assert run["claimed_best"] == fitness.max()
    assert run["mean"] == pytest.approx(fitness.mean(), rel=1e-12)
    there = results.runs.query("task == 'dispersion'")
    highest, claimed_highest = there["best"].max(), there["claimed_best"].max()
    assert run["best_relative_performance"] == best / highest
    assert run["claimed_best_relative_performance"] == fitness.max() / claimed_highest
    assert run["average_relative_performance"] == pytest.approx(fitness.mean() / highest, rel=1e-12)
    space = ALGORITHMS["spirit"].space(60, None)
    nearest = np.unique(space.find(spirit(outcome)))
    assert run["projected_filled"] == len(nearest)
    faults = TINY.faults_of(2)[11]
    found = qed.recover(archive, "dispersion", faults, trials=2, fresh=3, seconds=10.0, seed=seed)
    key = ["task", "algorithm", "replicate", "fault"]
    row = results.recoveries.set_index(key).loc[(*name, 11)]
    assert row["faults"] == ",".join(faults)
    for column, value in {
        "normal": found.normal, "broken": found.broken, "recovered": found.performance,
        "impact": found.impact, "resilience": found.resilience, "distance": found.distance,
        "normal_cell": found.normal_cell, "recovery_cell": found.cell,
        "relative_performance": found.performance / highest,
        "claimed_normal": found.claimed_normal, "claimed_broken": found.claimed_broken,
        "claimed_recovered": found.claimed, "claimed_impact": found.claimed_impact,
        "claimed_resilience": found.claimed_resilience,
        "claimed_relative_performance": found.claimed / claimed_highest,
    }.items():  # fmt: skip
        assert row[column] == value, column


def test_impact_and_resilience_hold_in_every_row(undisturbed):
    found = Results.load(undisturbed).recoveries
    assert (found["claimed_resilience"] >= found["claimed_impact"]).all()
    # Fresh trials need not agree with those that chose.
    assert (found["resilience"] < found["impact"]).any()
    same = found["normal_cell"] == found["recovery_cell"]
    assert (found.loc[same, "resilience"] == found.loc[same, "impact"]).all()
    # All faults of a map are held against the same number.
    assert (found.groupby(["task", "algorithm", "replicate"])["normal"].nunique() == 1).all()
    assert ((found["distance"] >= 0) & (found["distance"] <= 1)).all()
    same = found["normal_cell"] == found["recovery_cell"]
    assert (found.loc[same, "distance"] == 0).all()
    for column, names in {
        "proximity_faults": {"PMIN", "PMAX", "PRAND"},
        "rab_faults": {"ROFS"},
        "wheel_faults": {"LW-H", "RW-H", "BW-H"},
        "any_faults": set(qed.swarm.faults.FAULTS) - {"NONE"},
    }.items():
        counted = found["faults"].map(lambda words, n=names: sum(w in n for w in words.split(",")))
        assert (found[column] == counted).all()


def test_the_maps_of_a_replicate_meet_the_same_faults(undisturbed):
    found = Results.load(undisturbed).recoveries
    met = found.groupby(["task", "algorithm", "replicate"])["faults"].apply(tuple)
    for replicate in (1, 2):
        [faults] = set(met[:, :, replicate])
        assert list(faults) == [",".join(fault) for fault in TINY.faults_of(replicate)]
    assert not set(met[:, :, 1].iloc[0]) & set(met[:, :, 2].iloc[0])


def test_the_authors_way_is_an_option(undisturbed, tmp_path):
    folder = tmp_path / "authors"
    shutil.copytree(undisturbed, folder)
    for old in [*folder.rglob("normal.npz"), *folder.rglob("recovery-*.csv")]:
        old.unlink()
    plan = TINY.changed(protocol="authors")
    study = Study(folder, plan)
    with pytest.raises(InputError, match="protocol is 'independent' there, 'authors' here"):
        study.claim()
    study.work()
    assert study.failures == []
    collect(folder, plan)
    ours, theirs = Results.load(undisturbed), Results.load(folder)
    key = ["task", "algorithm", "replicate"]
    for _, run in theirs.runs.iterrows():
        archive = qed.Archive.load(paths.run(folder, Name(*run[key])) / "archive.npz")
        outcome = qed.simulate(
            archive.controllers, tasks=run["task"], trials=2, seconds=10.0,
            seed=evolution_trials(archive.header),
        )  # fmt: skip
        assert run["claimed_best"] == outcome.fitness[run["task"]].mean(1).max()
    assert (theirs.runs["claimed_best"] != ours.runs["claimed_best"]).all()
    # Who was chosen alike is told of alike.
    both = theirs.recoveries.merge(
        ours.recoveries, on=[*key, "fault", "normal_cell"], suffixes=("", "_ours")
    )
    assert len(both) > 0
    assert (both["broken"] == both["broken_ours"]).all()
    assert (both["normal"] == both["normal_ours"]).all()


HOLDER = (
    "import fcntl; f = open({!r}, 'r+'); fcntl.flock(f, fcntl.LOCK_EX); "
    "print(1, flush=True); input()"
)


def test_two_processes_do_not_work_on_one_study(tmp_path):
    Study(tmp_path, TINY).claim()
    settings = str(tmp_path / paths.SETTINGS)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER.format(settings)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:  # fmt: skip
        assert holder.stdout.read(1) == b"1"
        for plan in (TINY, TINY.changed(beyond=2)):
            with pytest.raises(StoppedError, match="another process is at work on the study"):
                Study(tmp_path, plan).claim()
        holder.kill()
    more = Study(tmp_path, TINY.changed(beyond=2))
    more.claim()
    Study(tmp_path, more.plan).claim()  # one process may have it twice


def test_a_finished_study_is_done_again_at_once(undisturbed):
    before = {path: path.stat().st_mtime_ns for path in undisturbed.rglob("*.npz")}
    study = Study(undisturbed, TINY)
    study.claim()
    study.work()
    assert {path: path.stat().st_mtime_ns for path in undisturbed.rglob("*.npz")} == before


def test_killed_at_random_moments_it_ends_with_the_same_tables(undisturbed, tmp_path):
    chance = random.Random(4)
    folder = tmp_path / "killed"
    command = ["study", *OPTIONS, "--out", folder, "--threads", "1"]
    for kills in range(5):
        process = commands.Running(*command)
        # By what it has done, not by the clock: all five leave less than the study's 49 files.
        enough = count(folder) + (chance.randint(1, 9) if kills else 1)
        deadline = time.monotonic() + 120
        while count(folder) < enough:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.002)
        time.sleep(chance.uniform(0.0, 0.03))
        process.send_signal(signal.SIGKILL if kills % 3 else signal.SIGTERM)
        assert process.wait(60) != 0
    done = commands.run(*command)
    assert done.returncode == 0, done.stderr
    assert tables(folder) == tables(undisturbed)
    assert (folder / "report.html").exists()


def count(folder):
    """Return how many files a study has left so far."""
    return sum(1 for path in folder.rglob("*.*") if path.suffix in (".toml", ".npz", ".csv"))


def test_a_run_that_fails_is_reported_and_the_others_go_on(undisturbed, tmp_path):
    folder = tmp_path / "one-fails"
    study = Study(folder, TINY)
    study.claim()
    blocked = paths.run(folder, Name("patrolling", "hbd", 2))
    blocked.parent.mkdir()
    blocked.write_text("in the way")
    study.work()
    [failure] = study.failures
    assert failure.startswith("patrolling-hbd-2: evolve: cannot use the folder")
    assert len(collect(folder, TINY)) == 7
    left = pd.read_csv(folder / "tables" / "recoveries.csv")
    assert len(left) == 7 * 12
    # Out of the way, it is done like the others.
    blocked.unlink()
    again = Study(folder, TINY)
    again.claim()
    again.work()
    assert again.failures == []
    collect(folder, TINY)
    assert tables(folder) == tables(undisturbed)


def test_a_damaged_map_is_reported(undisturbed, tmp_path):
    folder = tmp_path / "damaged"
    shutil.copytree(undisturbed, folder)
    here = paths.run(folder, Name("patrolling", "qed", 1))
    (here / "normal.npz").unlink()
    content = (here / "archive.npz").read_bytes()
    (here / "archive.npz").write_bytes(content[: len(content) // 2])
    study = Study(folder, TINY)
    study.work()
    [failure] = study.failures
    assert "patrolling-qed-1: reevaluate" in failure
    assert "archive.npz is not usable" in failure


def test_processes_give_the_same_tables_also_when_one_is_killed(undisturbed, tmp_path):
    import multiprocessing

    study = Study(tmp_path / "processes", TINY)
    study.claim()
    killed, told = [], []

    def kill_one(done, doing):
        told.append(done)
        if not killed and done > 0.05:
            victim = multiprocessing.active_children()[0]
            os.kill(victim.pid, signal.SIGKILL)
            killed.append(victim.pid)

    study.work(opener("processes:2"), threads=1, watch=kill_one)
    assert killed
    assert told[-1] == pytest.approx(1.0)
    assert study.failures == []
    collect(study.folder, TINY)
    assert tables(study.folder) == tables(undisturbed)


def test_dask_gives_the_same_tables_also_when_a_worker_is_killed(undisturbed, tmp_path):
    distributed = pytest.importorskip("distributed")
    study = Study(tmp_path / "dask", TINY)
    study.claim()
    killed = []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:

        def kill_one(done, doing):
            if not killed and done > 0.1:
                victim = next(iter(cluster.workers.values()))
                os.kill(victim.process.pid, signal.SIGKILL)
                killed.append(victim.process.pid)

        study.work(opener(f"dask:{cluster.scheduler_address}"), threads=1, watch=kill_one)
    assert killed
    assert study.failures == []
    collect(study.folder, TINY)
    assert tables(study.folder) == tables(undisturbed)


def test_all_runs_evolve_side_by_side_on_a_gpu(undisturbed, tmp_path, monkeypatch):
    calls = pretend_gpu.install(monkeypatch)
    monkeypatch.setattr(study_module, "SIDE_BY_SIDE", 6)
    study = Study(tmp_path / "gpu", TINY)
    study.claim()
    told = []
    study.work(watch=lambda *at: told.append(at), backend="cuda")
    assert study.failures == []
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] == pytest.approx(1.0)
    assert "evolving 6 runs" in {doing for _, doing in told}
    # Those of a kind together, in one generation of the six.
    assert calls[0].swarms + calls[1].swarms == 6 * 30
    collect(study.folder, TINY)
    assert tables(study.folder) == tables(undisturbed)


def test_kernels_are_compiled_before_a_study_begins(monkeypatch):
    pretend_gpu.install(monkeypatch)
    asked = []
    monkeypatch.setattr(speed, "compile_kernels", asked.extend)
    study_module.prepare(TINY, backend="cuda")
    assert len(set(asked)) == len(asked) == 2 * 4
    assert Kernel("dispersion", ("spread",)) in asked
    assert {one.fault for one in asked if one.task == "patrolling"} == {"", "ROFS"}
    assert sum(one.obstacles > 0 for one in asked) == 2  # of QED
    study_module.prepare(TINY, backend="cpu")
    assert len(asked) == 8
    assert {one.robot.key for one in asked} == {qed.THYMIO.key}
    study_module.prepare(TINY.changed(robot="epuck"), backend="cuda")
    assert {one.robot.key for one in asked[8:]} == {qed.EPUCK.key}


def test_a_study_of_other_robots_runs_on_a_gpu(tmp_path, monkeypatch):
    calls = pretend_gpu.install(monkeypatch)
    plan = TINY.changed(robot="epuck", tasks="patrolling", algorithms="qed", replicates=1)
    study = Study(tmp_path / "gpu", plan)
    study.claim()
    study.work(backend="cuda")
    assert study.failures == []
    assert {call.robot.key for call in calls} == {qed.EPUCK.key}
    assert len(collect(study.folder, plan)) == 1


def test_a_part_whose_machine_has_no_gpu_fails_clearly(tmp_path, monkeypatch):
    pretend_gpu.install(monkeypatch, "the driver is on holiday")
    study = Study(tmp_path / "gpu", TINY)
    study.claim()
    study.work(backend="cuda")
    assert len(study.failures) == 8
    assert all("no NVIDIA GPU can be used here: the driver" in words for words in study.failures)


def test_unknown_executors_are_refused(monkeypatch):
    monkeypatch.setattr(study_module, "CONNECT", 0.5)
    for spec in ("threads", "dask", "dask:", "process"):
        with pytest.raises(InputError, match="executor must be processes"):
            opener(spec)
    with pytest.raises(InputError, match="number of processes"):
        opener("processes:none")()
    with pytest.raises(StoppedError, match="cannot reach a Dask scheduler"):
        opener("dask:tcp://127.0.0.1:1")()


def test_a_folder_with_another_study_is_left_alone(undisturbed):
    with pytest.raises(InputError, match="faults is 12 there, 13 here"):
        Study(undisturbed, TINY.changed(faults=13)).claim()
    with pytest.raises(InputError, match="race is False there, True here"):
        Study(undisturbed, TINY.changed(race=True)).claim()


def test_a_folder_of_another_version_is_left_alone(undisturbed, tmp_path):
    text = (undisturbed / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(text.replace(qed.__version__, "0.0.7"))
    with pytest.raises(InputError, match=r"started by qed 0\.0\.7"):
        Study(tmp_path, TINY).claim()
    (tmp_path / "study.toml").write_text(text.replace("format = 1", "format = 99"))
    with pytest.raises(InputError, match="must not be mixed"):
        plan_of(tmp_path)
    older = "\n".join(line for line in text.splitlines() if not line.startswith("fresh"))
    (tmp_path / "study.toml").write_text(older)
    with pytest.raises(InputError, match=r"started by an older qed \(it lacks fresh\)"):
        Study(tmp_path, TINY).claim()
    (tmp_path / "study.toml").write_text(text[:50])
    with pytest.raises(StoppedError, match="damaged"):
        plan_of(tmp_path)


def test_a_folder_in_use_or_out_of_reach_is_refused(tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty and holds no study"):
        Study(tmp_path, TINY).claim()
    with pytest.raises(StoppedError, match="cannot use the folder"):
        Study(tmp_path / "letter.txt" / "study", TINY).claim()


def test_no_report_of_nothing(tmp_path):
    study = Study(tmp_path / "empty", TINY)
    study.claim()
    with pytest.raises(StoppedError, match=r"no run .* is finished"):
        study.report()
    with pytest.raises(InputError, match="holds no finished study"):
        Results.load(tmp_path)
