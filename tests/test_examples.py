"""The examples run, and do what they say."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from qed.evolution.folder import ARCHIVE, CHECKPOINT, CONFIG, PROGRESS

EXAMPLES = Path(__file__).parents[1] / "examples"
ARM = [sys.executable, str(EXAMPLES / "robot_arm.py")]


def test_the_robot_arm_recovers() -> None:
    done = subprocess.run(ARM, capture_output=True, text=True, check=True)
    summary, *damages = done.stdout.splitlines()
    assert summary.startswith("256 damages known")
    assert len(damages) == 4
    for line in damages:
        numbers = line.split(": ")[1].split(", ")
        broken, recovered = (float(words.split()[0]) for words in numbers)
        assert recovered > broken + 0.02
        assert recovered > 0.7


def test_a_killed_robot_arm_ends_with_the_same_archive(tmp_path: Path) -> None:
    """Each time it has made a checkpoint it is killed, until little is left to do."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    less = [*ARM, "--evaluations", "5000"]
    subprocess.run([*less, "--out", str(whole)], capture_output=True, check=True)
    often = [*less, "--checkpoint", "0", "--out", str(killed)]
    kills = 0
    for resume in ([], ["--resume"], ["--resume"]):
        process = subprocess.Popen([*often, *resume], stderr=subprocess.DEVNULL)
        before = changed(killed)
        while changed(killed) == before and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += not (killed / ARCHIVE).exists()
    assert kills >= 1
    subprocess.run([*often, "--resume"], capture_output=True, check=True)
    assert {file.name for file in killed.iterdir() if not file.name.startswith(".")} == {
        CONFIG, PROGRESS, ARCHIVE,
    }  # fmt: skip
    for name in (CONFIG, PROGRESS, ARCHIVE):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()


def changed(folder: Path) -> int:
    """Return when the last checkpoint was made."""
    try:
        return (folder / CHECKPOINT).stat().st_mtime_ns
    except OSError:
        return 0


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
