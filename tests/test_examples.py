"""The examples run, and do what they say."""

from __future__ import annotations

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
