"""The command line: help, version, errors, bench, study and recover."""

import csv
import json
import os
import re
import signal
import subprocess
import sys

import commands
import pytest
from typer.testing import CliRunner

import qed
import qed.cli
from qed import __version__
from qed.cli.recover import chosen
from qed.cli.recoveries import bias_words
from qed.errors import StoppedError
from qed.study import paths
from qed.study.plan import PRESETS, Name
from qed.study.study import Study
from qed.text import duration

QED = [sys.executable, "-m", "qed"]
SCRIPT = [sys.executable, "-c", "from qed.cli import main; main()"]
HELPS = [
    [*QED, "--help"],
    [*QED, "-h"],
    [*SCRIPT, "--help"],
    *(
        [*QED, verb, "--help"]
        for verb in ("bench", "study", "recover", "evolve", "replay", "prepare", "export")
    ),
]


def run(command, **environment):
    """Run a command in a new interpreter, as in a terminal of 80 columns."""
    return subprocess.run(
        command,
        env=commands.around(environment),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def fits(text):
    return max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("command", HELPS)
def test_help_fits_the_terminal(command):
    done = run(command)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "Usage:" in done.stdout
    assert fits(done.stdout)


@pytest.mark.parametrize("words", [["--version"], ["study", "--preset", "papper"], ["bnech"]])
def test_a_fork_is_what_a_new_interpreter_is(words):
    """Otherwise the tests of commands would not tell of commands."""
    fork, fresh = commands.run(*words, NO_COLOR="1"), commands.new(*words, NO_COLOR="1")
    assert fork.returncode == fresh.returncode
    assert fork.stdout == fresh.stdout
    assert fork.stderr == fresh.stderr.replace("python -m qed", "qed")


def test_help_lists_the_verbs():
    assert "bench" in run([*QED, "--help"]).stdout


def test_version():
    done = run([*QED, "--version"])
    assert (done.returncode, done.stdout) == (0, f"qed {__version__}\n")


def test_unknown_verb_suggests_the_nearest():
    done = run([*QED, "bnech"])
    assert done.returncode == 2
    assert done.stdout == ""
    assert "'bench'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [[*QED, "--help"], [*QED, "bench", "--help"], [*QED, "bnech"]])
def test_no_color_means_no_escape_codes_even_on_a_terminal(command):
    done = run(command, NO_COLOR="1", FORCE_COLOR="1")
    assert "\x1b" not in done.stdout + done.stderr


def test_help_does_not_load_the_simulator():
    program = """
import sys
from typer.testing import CliRunner
from qed.cli import app
assert CliRunner().invoke(app, ["--help"]).exit_code == 0
assert CliRunner().invoke(app, ["bench", "--help"]).exit_code == 0
print(sorted({"numba", "numpy"} & set(sys.modules)))
"""
    assert run([sys.executable, "-c", program]).stdout == "[]\n"


def test_bench_measures_and_saves(tmp_path):
    target = tmp_path / "speed.json"
    command = [*QED, "bench", "--seconds", "0.05", "--threads", "2", "--json", str(target)]
    done = run(command, NO_COLOR="1", FORCE_COLOR="1")
    assert done.returncode == 0, done.stderr
    assert fits(done.stdout)
    assert "\x1b" not in done.stdout + done.stderr
    assert "simulation time only" in done.stdout
    assert "measuring" in done.stderr
    found = json.loads(target.read_text())
    assert all(row["speed"] > 0 for row in found["robot_steps_per_second"])
    assert {row["threads"] for row in found["robot_steps_per_second"]} == {1, 2}
    assert set(found["study_seconds"]) == set(PRESETS)
    assert all(value > 0 for wait in found["study_seconds"].values() for value in wait.values())


@pytest.mark.parametrize(
    "wrong", [["--threads", "0"], ["--seconds", "-1"], ["--json", "no/such/folder/x.json"]]
)
def test_bench_refuses_at_once(wrong):
    done = commands.run("bench", *wrong)
    assert done.returncode == 2
    assert wrong[0].removeprefix("--") in done.stderr
    assert "Traceback" not in done.stderr


def test_bench_on_a_full_disk_says_so_and_leaves_the_file_that_is_there(
    tmp_path, small_disk, monkeypatch
):
    target = tmp_path / "speed.json"
    target.write_text("old")
    module = sys.modules["qed.cli.bench"]
    found = {name: {1: 1e6} for name in module.cases()}
    monkeypatch.setattr(module, "measure", lambda *_: found)
    arguments = ["bench", "--threads", "1", "--json", str(target)]
    with small_disk(100):
        done = CliRunner().invoke(qed.cli.app, arguments)
    assert isinstance(done.exception, StoppedError), done
    assert "cannot write" in str(done.exception)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.fixture
def odd(tmp_path):
    """A pipe, a device, and a file that has 100 GB and takes no room."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 100 << 30)
    return {"pipe": tmp_path / "pipe", "device": "/dev/zero", "huge": tmp_path / "huge"}


@pytest.mark.parametrize("verb", ["info", "map", "recover", "explore"])
@pytest.mark.parametrize("kind", ["pipe", "device", "huge"])
def test_what_is_no_plain_file_is_refused_before_it_is_read(odd, verb, kind):
    running = commands.Running(verb, odd[kind])
    try:
        assert running.wait(20) == 2
    finally:
        running.send_signal(signal.SIGKILL) if running.poll() is None else None
    words = " ".join(running.done().stderr.split())
    assert ("larger than the memory" if kind == "huge" else "is a device or a pipe") in words


@pytest.mark.parametrize(
    ("given", "ending"),
    [
        (["map", "example:flocking", "--out"], "png"),
        (["bench", "--json"], "json"),
        (["recover", "example:flocking", "--faults", "1", "--out"], "csv"),
        (["prepare", "example:flocking", "--out"], "npz"),
    ],
)
def test_a_pipe_is_not_replaced(tmp_path, given, ending):
    pipe = tmp_path / f"pipe.{ending}"
    os.mkfifo(pipe)
    done = commands.run(*given, pipe)
    assert (done.returncode, "is a device or a pipe" in done.stderr) == (2, True), done
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (42.3, "42 s"),
        (200.0, "3.3 min"),
        (5_400.0, "90 min"),
        (7_200.0, "2.0 h"),
        (1e6, "12 days"),
        (1e9, "11,574 days"),
    ],
)
def test_durations_read_humanly(seconds, text):
    assert duration(seconds) == text


def test_study_dry_run_tells_the_plan_and_writes_nothing(tmp_path):
    folder = tmp_path / "study"
    # With fewer trials than the paper's 50 the speed is known sooner.
    given = ("study", "--preset", "paper", "--trials", "5", "--dry-run")
    done = commands.run(*given, "--out", folder)
    assert done.returncode == 0, done.stderr
    assert fits(done.stdout.replace(str(folder), "study"))
    for words in ("100: 5 of each", "2,402,000", "250 combined", "days", "spirit"):
        assert words in done.stdout
    assert not folder.exists()


def test_study_dry_run_tells_what_a_folder_has_and_what_is_left(tmp_path):
    folder = tmp_path / "study"
    plan = PRESETS["quick"].changed(tasks="patrolling", algorithms="qed", faults=3, beyond=2)
    Study(folder, plan).claim()
    size = ["--tasks=patrolling", "--algorithms=qed", "--faults=3", "--beyond=2", "--out", folder]

    def told(*more, of=size):
        done = commands.run("study", *of, *more, "--dry-run", "--backend=cuda")
        assert done.returncode == 0, done.stderr
        return " ".join(done.stdout.split())

    def left(words):
        return re.search(r"About (.+) left on an NVIDIA", words)[1]

    assert "done 0 of 2 runs, 0 % of all evaluations 0 of 6 recoveries" in told()
    begun = left(told())
    for k in (1, 2):
        run = paths.run(folder, Name("patrolling", "qed", k))
        run.mkdir(parents=True)
        (run / "archive.npz").touch()
        for name in ("normal.npz", "recovery-0.csv")[:k]:
            (run / name).touch()
    words = told()
    assert "done 2 of 2 runs, 100 % of all evaluations 3 of 6 recoveries" in words
    assert "searches, playbooks and teams on 0 of 2 maps What is left takes:" in words
    assert left(words) != begun
    (paths.run(folder, Name("patrolling", "qed", 1)) / "recovery-0.csv").touch()
    words = told(of=[*size[:3], "--beyond=0", *size[4:]])
    assert words.endswith("Nothing is left to simulate; the same command writes the report.")
    # Another plan is shown as a whole, and why it needs another folder.
    words = told("--trials=7")
    assert "holds another study: trials is 3 there, 7 here; use another folder" in words
    assert "done 2 of 2" not in words


def test_study_dry_run_for_a_gpu_that_is_not_here(tmp_path):
    size = ["--preset", "paper", "--replicates", "3", "--evaluations", "80000"]
    folder = tmp_path / "study"
    done = commands.run("study", *size, "--dry-run", "--backend", "cuda", "--out", folder)
    assert done.returncode == 0, done.stderr
    assert "No NVIDIA GPU can be used here:" in done.stdout
    told = re.search(r"About (\d+) min on an NVIDIA H200", " ".join(done.stdout.split()))
    assert told is not None
    assert 40 < int(told[1]) < 120


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (["--preset", "papper"], "did you mean 'paper'"),
        (["--tasks", "swimming"], "tasks must be one of"),
        (["--executor", "slurm"], "executor must be processes"),
        (["--faults", "0"], "faults must be"),
        (["--threads", "0"], "threads must be"),
        (["--protocol", "author"], "did you mean 'authors'"),
    ],
)
def test_study_refuses_at_once(wrong, words, tmp_path):
    done = commands.run("study", *wrong, "--out", tmp_path / "study")
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "study").exists()


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "patrol"
    size = ["--evaluations", "60", "--initial", "40", "--trials", "1", "--seconds", "10"]
    done = commands.new("evolve", "patrolling", "--algorithm", "hbd", *size, "--out", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_recover_breaks_and_finds(small_run, tmp_path):
    table = tmp_path / "found.csv"
    given = ["--faults", "3", "--faults", ",".join(["PMAX"] * 10), "--out", str(table)]
    given += ["--trials", "2", "--fresh", "4"]
    done = commands.new("recover", small_run, *given)
    assert done.returncode == 0, done.stderr
    assert fits(done.stdout.rsplit("All numbers", 1)[0])
    assert "after recovery" in done.stdout
    assert "Recovery gains" in done.stdout
    assert "on fresh trials and claimed +0." in done.stdout
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert len(rows) == 4
    archive = qed.Archive.load(small_run / "archive.npz")
    faults = qed.Faults(rows[1]["faults"])
    how = {"trials": 2, "fresh": 4, "seconds": 10.0, "seed": 1}
    found = qed.recover(archive, "patrolling", faults, **how)
    for name in (
        "normal", "broken", "performance", "error", "impact", "resilience", "claimed_normal",
        "claimed_broken", "claimed", "claimed_impact", "claimed_resilience", "selection_bias",
        "distance", "cell",
    ):  # fmt: skip
        assert float(rows[1][name]) == getattr(found, name), name
    # The authors' way chooses on the trials of evolution.
    done = commands.run("recover", small_run, *given, "--protocol", "authors")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(table.read_text().splitlines()))
    theirs = qed.recover(archive, "patrolling", faults, protocol="authors", **how)
    assert float(rows[1]["claimed"]) == theirs.claimed


def test_recover_by_fault_finds_teams(small_run, tmp_path):
    table = tmp_path / "found.csv"
    mixed = ",".join(["PMAX"] * 4 + ["NONE"] * 5 + ["LW-H"])
    given = ["--by", "fault", "--trials", "2", "--fresh", "4"]
    done = commands.run("recover", small_run, *given, "--faults", mixed, "--out", table)
    assert done.returncode == 0, done.stderr
    assert fits(done.stdout.rsplit("All numbers", 1)[0])
    assert "with a team by fault" in " ".join(done.stdout.split())
    for name in ("PMAX", "NONE", "LW-H"):
        assert name in done.stdout
    archive = qed.Archive.load(small_run / "archive.npz")
    found = qed.recover(
        archive, "patrolling", qed.Faults(mixed), by="fault", trials=2, fresh=4, seconds=10.0
    )
    row = next(csv.DictReader(table.read_text().splitlines()))
    for name in ("performance", "one_for_all", "gain", "gain_error"):
        assert float(row[name]) == getattr(found, name), name
    assert row["cells"] == " ".join(map(str, found.cells))
    done = commands.run("recover", small_run, *given, "--faults", "2")
    assert done.returncode == 0, done.stderr
    assert fits(done.stdout)


def test_how_much_of_a_gain_is_selection_bias_reads_humanly():
    assert bias_words(0.04, 0.01) == "75% selection bias"
    assert bias_words(0.04, 0.05) == "0% selection bias"
    assert bias_words(0.04, -0.01) == "100% selection bias"
    assert bias_words(0.0, 0.0) == "0% selection bias"


def test_other_seeds_draw_other_faults():
    drawn = [fault for seed in (1, 2, 3) for fault in chosen(["20"], seed)]
    assert len(set(drawn)) == 60
    assert chosen(["5"], 2) == chosen(["20"], 2)[:5]


@pytest.mark.parametrize(
    ("wrong", "words", "code"),
    [
        (["--faults", "PMIN,LW-H"], "each of the 10 robots, got 2", 2),
        (["--faults", "PMUN"], "did you mean 'PMIN'", 2),
        (["--faults", "-3"], "faults must be", 2),
        (["--out", "found.txt"], "must end in .csv", 2),
        (["--out", "no/such/folder/found.csv", "--faults", "1"], "there is no folder", 2),
        (["--task", "swim"], "task must be one of", 2),
        (["--by", "robot"], "by must be one of fault", 2),
        (["--protocol", "ours"], "protocol must be one of independent, authors", 2),
    ],
)
def test_recover_refuses(small_run, wrong, words, code):
    done = commands.run("recover", small_run, "--trials", "1", *wrong)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_controllers_without_range_and_bearing(tmp_path):
    """Recovery chooses among them, info counts them, and a kit is not filtered afterwards."""
    archive = qed.load_example("flocking")
    few = qed.Archive(archive.space, archive.header, archive.offset)
    cells = archive.occupied[::400]
    few.fill_cells(cells, archive.take(cells), archive.objective[cells], archive.measures[cells])
    few.save(tmp_path / "few.npz")
    left = few.without("rab")
    told = commands.run("info", "few.npz", cwd=tmp_path)
    assert f"{len(left)} ({100 * len(left) / len(few):.1f} %)" in told.stdout
    assert f"(cell {left.best.cell})" in told.stdout
    told = commands.run("info", "example:patrolling-kit")
    assert "Without range and bearing: no controller." in told.stdout
    kit = qed.Kit.load("example:flocking-kit")
    fine = set(archive.without("rab").occupied.tolist())
    rows = [k for k, cell in enumerate(kit.cells.tolist()) if cell in fine]
    best = max(rows, key=lambda k: kit.known.normal[k])
    told = commands.run("info", "example:flocking-kit")
    share = 100 * len(rows) / len(kit.controllers)
    assert f"Without range and bearing: {len(rows)} ({share:.1f} %)" in told.stdout
    assert f"(cell {kit.cells[best]})" in told.stdout
    words = ("recover", "few.npz", "--faults", "1", "--trials", "1", "--fresh", "1", "--seconds")
    done = commands.run(*words, "4", "--without", "rab", "--out", "found.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "found.csv").open() as file:
        assert all(int(row["cell"]) in left.occupied for row in csv.DictReader(file))
    words = ("export", "few.npz", "--to", "python", "--out", "robot", "--trials", "1")
    done = commands.run(*words, "--best", "--without", "rab", "--seconds", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    contract = json.loads((tmp_path / "robot" / "contract.json").read_text("utf-8"))
    assert not contract["needs range and bearing"]
    for verb in ("recover", "export"):
        more = ("--to", "c", "--out", "no") if verb == "export" else ()
        words = (verb, "example:flocking-kit", "--without", "rab", *more)
        done = commands.run(*words, cwd=tmp_path)
        assert done.returncode == 2
        assert "without" in done.stderr
