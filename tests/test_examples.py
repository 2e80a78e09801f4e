"""The examples run, and do what they say."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_the_robot_arm_recovers() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "robot_arm.py")], capture_output=True, text=True, check=True
    )
    summary, *damages = done.stdout.splitlines()
    assert summary.startswith("256 damages known")
    assert len(damages) == 4
    for line in damages:
        broken, recovered = (float(words.split()[0]) for words in line.split(": ")[1].split(", "))
        assert recovered > broken + 0.02
        assert recovered > 0.7


def test_a_task_of_ones_own_from_anywhere(tmp_path: Path) -> None:
    mine = tmp_path / "my_swarm.py"
    shutil.copy(EXAMPLES / "own_task.py", mine)
    small = ["--evaluations", "80", "--trials", "1", "--seconds", "4", "--threads", "1"]
    done = subprocess.run(
        [sys.executable, mine.name, *small, "--backend", "cpu"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    archive, faults, fitness, lost = done.stdout.splitlines()
    assert "of 256 cells filled" in archive
    assert faults.count("NONE") == 6
    assert "recovered" in fitness
    assert "impact" in lost
