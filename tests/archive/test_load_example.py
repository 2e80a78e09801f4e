"""Archives that come with the package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import commands
import numpy as np
import pytest

import qed
import qed.swarm.tasks
from qed import files
from qed.archive import stored as archives
from qed.controller.inputs import FORMER_INPUTS
from qed.errors import InputError
from qed.recovery.kit import stored
from qed.recovery.kit.stored import is_kit


@pytest.mark.parametrize("task", qed.swarm.tasks.TASKS)
def test_each_task_has_a_full_qed_map(task: str) -> None:
    archive = qed.load_example(task)
    assert len(archive) == archive.cells == 4096
    made = archive.header["settings"]
    assert (made["task"], made["algorithm"]) == (task, "qed")
    assert (made["trials"], made["seconds"]) == (50, 400.0)
    assert made["evaluations"] >= 80_000


def test_together_they_are_small() -> None:
    files = archives.FOLDER.glob(f"*{archives.ENDING}")
    assert sum(path.stat().st_size for path in files) < 3_000_000


@pytest.mark.parametrize("task", qed.swarm.tasks.TASKS)
def test_its_fitness_is_what_the_simulator_gives(task: str) -> None:
    archive = qed.load_example(task)
    cells = archive.occupied[::512]  # from all corners of the map
    environments = [qed.Environment.from_options(archive.measures[cell]) for cell in cells]
    controllers = archive.take(cells).controllers()
    outcome = qed.simulate(controllers, environments, tasks=task, trials=20, seed=1, backend="cpu")
    trials = outcome.fitness[task]
    apart = trials.mean(1) - archive.objective[cells]
    # Evolution keeps what was lucky on its own 50 trials, so that new ones tend to give less.
    error = trials.std(1, ddof=1) * np.sqrt(1 / 20 + 1 / 50) + 1e-3
    assert (np.abs(apart) < 5 * error).all()
    assert abs(apart.mean()) < 0.02


def test_an_unknown_example_names_those_there_are() -> None:
    assert archives.examples() == sorted(qed.swarm.tasks.TASKS)
    with pytest.raises(InputError, match=r"name must be one of aggregation, .*; got 'flying'"):
        qed.load_example("flying")


@pytest.mark.parametrize("task", qed.swarm.tasks.TASKS)
def test_each_task_has_a_kit_of_its_archive(task: str) -> None:
    kit, archive = qed.Kit.load(f"example:{task}-kit"), qed.load_example(task)
    assert kit.task == task
    assert kit.findings["faults"] == 16
    for row in (0, kit.present, len(kit.controllers) - 1):
        [whole] = archive.take([kit.cells[row]]).controllers()
        assert kit.controllers[row] == whole.pruned()


def test_a_kit_comes_with_qed_and_is_found_by_its_name() -> None:
    kit = qed.Kit.load("example:patrolling-kit")
    assert kit.task == "patrolling"
    assert is_kit("example:patrolling-kit")
    assert not is_kit("example:patrolling")
    assert not is_kit("example:flying-kit")
    with pytest.raises(InputError, match=r"must be one of .*patrolling-kit.*; got 'flying"):
        qed.Kit.load("example:flying-kit")
    assert archives.kit_file("example:../../secret").parent == archives.FOLDER


def test_the_command_line_knows_examples() -> None:
    known = commands.new("info", "example:patrolling")
    unknown = commands.run("info", "example:flying")
    assert known.returncode == 0, known.stderr
    assert "4,096 of 4,096 cells" in known.stdout
    assert unknown.returncode == 2
    assert "patrolling" in unknown.stderr


def test_a_kit_from_another_machine_is_the_same_here(tmp_path: Path) -> None:
    # The kit that comes with QED was prepared elsewhere; to save it again changes nothing in it.
    kit = qed.Kit.load("example:patrolling-kit")
    kit.save(tmp_path / "here.npz")
    (told, held), (again, here) = (
        files.read_arrays(path, stored.FORMAT, stored.VERSION)
        for path in (archives.kit_file("example:patrolling-kit"), tmp_path / "here.npz")
    )
    inputs = {"inputs": list(FORMER_INPUTS)}  # that kit is older than their names
    assert told | inputs | {"qed": ""} == again | {"qed": ""}  # which says who wrote it
    assert held.keys() == here.keys()
    for name, array in held.items():
        assert (array.dtype, array.tobytes()) == (here[name].dtype, here[name].tobytes())
    # Another process, which has a copy of the file alone, decides the same.
    code = (
        "import json, sys, qed; search = qed.Kit.load(sys.argv[1]).search()\n"
        "rows = []\n"
        "for _ in range(5):\n"
        "    search.tell(0.6, search.ask())\n"
        "    rows.append(search.row(search.ask()))\n"
        "print(json.dumps([rows, search.state, search.gain]))"
    )
    command = [sys.executable, "-c", code, "here.npz"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    search, rows = kit.search(), []
    for _ in range(5):
        search.tell(0.6, search.ask())
        rows.append(search.row(search.ask()))
    assert json.loads(done.stdout) == [rows, search.state, search.gain]


def test_a_kit_is_no_archive(tmp_path: Path) -> None:
    done = commands.run("prepare", "example:patrolling-kit", "--out", tmp_path / "kit.npz")
    assert done.returncode == 2
    assert "is a kit, not an archive" in done.stderr
    unknown = commands.run("recover", "example:flying-kit")
    assert unknown.returncode == 2
    assert "did you mean 'flocking-kit'?" in unknown.stderr
