"""``--with FILE.py``: a user's definitions on the command line, and in other processes."""

from __future__ import annotations

import sys
from pathlib import Path

import commands
import own_swarm
import pytest

from qed import definitions
from qed.definitions import load_definitions
from qed.errors import InputError
from qed.speed import STILL, warm_up
from qed.swarm.cpu import user_defined as engine
from qed.swarm.simulate import simulate

OWN = Path(__file__).with_name("own_swarm.py")
SMALL = [
    "--evaluations", "40", "--initial", "20", "--trials", "1", "--seconds", "2", "--threads", "1",
    "--backend", "cpu",
]  # fmt: skip


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("loaded", "_sources", "_executed"):
        monkeypatch.setattr(definitions, name, {})


def qed(*words: str | Path, cwd: Path) -> commands.Done:
    return commands.run(*words, cwd=cwd, NO_COLOR="1")


def test_a_file_brings_what_it_defines() -> None:
    names = {(one.kind, one.name) for one in load_definitions(OWN)}
    assert ("task", "gather") in names
    assert ("fault", "LIMP") in names
    assert ("algorithm", "tidy") in names
    assert load_definitions(OWN)  # again: nothing is executed twice
    from qed.swarm.tasks import Task

    assert definitions.defined("task", "gather", Task).meaning == "meet in the middle"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import qed\nx = 1 / 0\n", r"mine\.py, line 2: ZeroDivisionError"),
        ("import qed\nx = (\n", r"mine\.py, line 2: SyntaxError"),
        ("x = 1\n", "defines no qed.Task"),
        (
            "import qed\na = qed.Fault('A', left=0.1)\nb = qed.Fault('A', left=0.2)\n",
            "the fault 'A'.*another name",
        ),
        ("import qed\na = qed.Fault('PMIN', left=0.1)\n", "mine.py: .*'PMIN' comes with QED"),
    ],
)
def test_files_that_cannot_be_say_why(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(InputError, match=words):
        load_definitions(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.py"):
        load_definitions(tmp_path / "nowhere.py")


def test_machine_code_of_a_file_is_used_where_the_file_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget_machine_code() -> None:
        engine._compiled.cache_clear()
        engine._inlined.cache_clear()

    warm_up()  # the simulator's own code comes from the user's cache
    forget_machine_code()
    monkeypatch.setenv("QED_CACHE", str(tmp_path))
    mine = {one.name: one for one in load_definitions(OWN)}
    how = {"trials": 1, "seconds": 1.0, "backend": "cpu"}
    before = simulate(STILL, tasks=mine["gather"], **how).fitness["gather"]
    for name in [name for name in sys.modules if name.startswith("qed_with_")]:
        monkeypatch.delitem(sys.modules, name)
    code = list(tmp_path.rglob("*.nbc"))
    assert code
    forget_machine_code()
    after = simulate(STILL, tasks=own_swarm.gather, **how).fitness["gather"]
    assert after == before
    assert list(tmp_path.rglob("*.nbc")) == code


def test_every_verb_that_takes_names_takes_a_file(tmp_path: Path) -> None:
    run = qed("evolve", "gather", "--algorithm", "tidy", "--with", OWN, *SMALL, "--out", "run",
              cwd=tmp_path)  # fmt: skip
    assert run.returncode == 0, run.stderr
    shown = qed("info", "run", cwd=tmp_path)
    assert shown.returncode == 0
    assert "def near_centre" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert qed("map", "run", cwd=tmp_path).returncode == 0
    missing = qed("recover", "run", "--faults", "1", cwd=tmp_path)
    assert missing.returncode == 2
    assert "--with FILE.py" in missing.stderr
    some = ("--with", OWN, "--trials", "1", "--seconds", "2", "--threads", "1")
    found = qed("recover", "run", "--faults", "2", "--among", "LIMP,DEAD", "--broken", "3",
                "--fresh", "2", *some, cwd=tmp_path)  # fmt: skip
    assert found.returncode == 0, found.stderr
    faults = "LIMP,DEAD,BLIND,WEAK,NONE,NONE,NONE,NONE,LW-H,ROFS"
    film = qed("replay", "run", "--faults", faults, "--out", "f.html", *some, cwd=tmp_path)
    assert film.returncode == 0, film.stderr
    assert "LIMP: left wheel at a tenth" in (tmp_path / "f.html").read_text(encoding="utf-8")
    for verb in ("evolve", "recover", "replay", "study", "info", "map"):
        told = " ".join(qed(verb, "--help", cwd=tmp_path).stdout.split())
        assert "--with" in told
        assert "executed" in told


def test_processes_of_a_study_get_the_file_too(tmp_path: Path) -> None:
    words = [
        "study", "--with", OWN, "--tasks", "gather", "--algorithms", "tidy,few",
        "--replicates", "1", "--faults", "2", "--retrials", "1", "--fresh", "2",
        "--among", "LIMP,DEAD,LW-H",
        "--broken", "3", *SMALL,
    ]  # fmt: skip
    tables = []
    for start, folder, more in (
        (commands.run, "here", []),
        (commands.new, "there", ["--executor", "processes:1"]),
    ):
        done = start(*words, "--out", folder, *more, cwd=tmp_path, NO_COLOR="1")
        assert done.returncode == 0, done.stderr
        tables.append((tmp_path / folder / "tables" / "recoveries.csv").read_bytes())
        assert (tmp_path / folder / "report.html").exists()
    assert tables[0] == tables[1]
    assert b"LIMP" in tables[0]
    plan = qed(*words, "--dry-run", "--backend", "cuda", cwd=tmp_path)  # whose speed is known
    assert plan.returncode == 0
    assert "few" in plan.stdout
    # The folder knows how its names were defined.
    other = tmp_path / "other.py"
    text = OWN.read_text(encoding="utf-8").replace("left=0.1", "left=0.2")
    other.write_text(text, encoding="utf-8")
    words[2] = other
    refused = qed(*words, "--out", "here", cwd=tmp_path)
    assert refused.returncode == 2
    assert "holds another study" in refused.stderr
