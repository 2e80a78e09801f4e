"""Archives that come with the package."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import qed
from qed.archive import examples
from qed.errors import InputError


def test_the_patrolling_archive_is_a_full_qed_map() -> None:
    archive = qed.load_example("patrolling")
    assert len(archive) == archive.cells == 4096
    made = archive.header["settings"]
    assert (made["task"], made["algorithm"]) == ("patrolling", "qed")
    assert (made["trials"], made["seconds"]) == (50, 400.0)
    assert (examples.FOLDER / f"patrolling{examples.ENDING}").stat().st_size < 2_000_000


def test_its_fitness_is_what_the_simulator_gives() -> None:
    archive = qed.load_example()
    cells = archive.occupied[::512]  # from all corners of the map
    environments = [qed.Environment.from_options(archive.measures[cell]) for cell in cells]
    controllers = archive.take(cells).controllers()
    outcome = qed.simulate(
        controllers, environments, tasks="patrolling", trials=20, seed=1, backend="cpu"
    )
    apart = outcome.fitness["patrolling"].mean(1) - archive.objective[cells]
    assert np.abs(apart).max() < 0.03
    assert abs(apart.mean()) < 0.01


def test_an_unknown_example_names_those_there_are() -> None:
    assert examples.examples() == ["patrolling"]
    with pytest.raises(InputError, match="name must be one of patrolling; got 'flying'"):
        qed.load_example("flying")


def test_the_command_line_knows_examples() -> None:
    def info(path: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "qed", "info", path]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    known, unknown = info("example:patrolling"), info("example:flying")
    assert known.returncode == 0, known.stderr
    assert "4,096 of 4,096 cells" in known.stdout
    assert unknown.returncode == 2
    assert "one of patrolling" in unknown.stderr
