"""The command line with kits: prepare, recover and info."""

import csv

import commands
import kits
import pytest
from test_cli import fits, small_run  # noqa: F401 (a fixture)

import qed

SIZE = ["--controllers", "10", "--library", "4", "--survey", "2", "--validation", "2"]


@pytest.fixture(scope="module")
def prepared(small_run, tmp_path_factory):  # noqa: F811
    path = tmp_path_factory.mktemp("kits") / "kit.npz"
    own = ",".join(["PMIN"] * 10)
    done = commands.new("prepare", small_run, "--out", path, *SIZE, "--faults", own)
    assert done.returncode == 0, done.stderr
    return path, done


def test_prepare_says_in_plain_words_what_it_found(prepared):
    path, done = prepared
    assert "10 controllers on the short list" in done.stdout
    assert "worthwhile here" in " ".join(done.stdout.split())
    assert "Playbook" in done.stdout
    assert "kB" in done.stdout
    assert fits(done.stdout.rsplit("\n", 2)[0])
    assert [file.name for file in path.parent.iterdir()] == ["kit.npz"]
    assert len(qed.Kit.load(path).controllers) == 10


def test_recover_with_a_kit_tells_what_was_tried(prepared, tmp_path):
    path, _ = prepared
    table = tmp_path / "found.csv"
    fault = ",".join(["PMAX"] * 10)
    given = ["--faults", fault, "--budget", "2", "--fresh", "3"]
    done = commands.run("recover", path, *given, "--out", table)
    assert done.returncode == 0, done.stderr
    assert fits(done.stdout.rsplit("All numbers", 1)[0])
    assert "before" in done.stdout
    assert "if the controller is kept" in " ".join(done.stdout.split())
    found = qed.Kit.load(path).recover(faults=qed.Faults(fault), budget=2, fresh=3)
    row = next(csv.DictReader(table.read_text().splitlines()))
    assert float(row["performance"]) == found.performance
    assert int(row["cell"]) == found.cell


def test_recover_without_reset(prepared):
    path, _ = prepared
    given = ["--faults", "2", "--budget", "2", "--fresh", "2", "--seconds", "5", "--no-reset"]
    done = commands.run("recover", path, *given)
    assert done.returncode == 0, done.stderr
    assert fits(done.stdout)
    assert "2 swarms went on without reset" in done.stdout


def test_an_archive_has_no_world_that_goes_on(small_run):  # noqa: F811
    done = commands.run("recover", small_run, "--no-reset")
    assert done.returncode == 2
    assert "--no-reset needs a kit" in done.stderr


def test_recover_by_fault_with_a_kit(prepared, tmp_path):
    path, _ = prepared
    table = tmp_path / "found.csv"
    fault = ",".join(["PMAX"] * 5 + ["LW-H"] * 5)
    given = ["--by", "fault", "--wrong", "0.2", "--budget", "2", "--fresh", "3"]
    done = commands.run("recover", path, *given, "--faults", fault, "--out", table)
    assert done.returncode == 0, done.stderr
    assert fits(done.stdout.rsplit("All numbers", 1)[0])
    assert "Diagnoses of the robots" in done.stdout
    found = qed.Kit.load(path).recover(
        faults=qed.Faults(fault), by="fault", misdiagnosis_rate=0.2, budget=2, fresh=3
    )
    row = next(csv.DictReader(table.read_text().splitlines()))
    assert float(row["performance"]) == found.performance
    assert row["diagnoses"] == ",".join(found.diagnoses)
    assert row["cells"] == " ".join(map(str, found.cells))


def test_info_of_a_kit(prepared):
    path, _ = prepared
    done = commands.run("info", path)
    assert done.returncode == 0, done.stderr
    assert "10 controllers on the short list" in done.stdout
    assert "PRAND" in done.stdout


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (["--budget", "0"], "budget must be"),
        (["--task", "flocking"], "the kit is for patrolling, not for flocking"),
        (["--strategy", "best"], "strategy must be one of"),
        (["--faults", "PMIN,LW-H"], "the kit is for 10 robots, got faults of 2"),
        (["--full"], "full is for an archive"),
        (["--trials", "3"], "trials is for an archive; a kit's search has a budget"),
        (["--protocol", "authors"], "protocol is for an archive"),
        (["--wrong", "0.1"], "misdiagnosis_rate needs a search over teams"),
    ],
)
def test_recover_refuses_with_a_kit(tmp_path, wrong, words):
    path = tmp_path / "kit.npz"
    kits.made().save(path)
    done = commands.run("recover", path, *wrong)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--budget", "0"], "--budget needs a kit"),
        (["--strategy", "map"], "--strategy needs a kit"),
        (["--wrong", "0.1"], "--misdiagnosis-rate needs a kit"),
    ],
)
def test_what_is_for_a_kit_is_refused_with_an_archive(small_run, given, words):  # noqa: F811
    done = commands.run("recover", small_run, *given)
    assert done.returncode == 2
    assert words in done.stderr


def test_damaged_kits_and_wrong_names_are_refused(tmp_path, small_run):  # noqa: F811
    path = tmp_path / "kit.npz"
    kits.made().save(path)
    path.write_bytes(path.read_bytes()[:3000])
    for verb in ("recover", "info"):
        done = commands.run(verb, path)
        assert done.returncode == 2
        assert "not a usable qed-kit file" in done.stderr
    for out, words in (("kit.txt", "must end in .npz"), ("no/such/kit.npz", "there is no folder")):
        done = commands.run("prepare", small_run, "--out", str(tmp_path / out))
        assert done.returncode == 2
        assert words in done.stderr
