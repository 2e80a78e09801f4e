"""What a release must do where it is installed: load what comes with it, and recover a swarm."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import qed
from qed.archive.examples import examples

HOME = Path(qed.__file__).parent
DATA = ("explore/page/index.html", "study/paper.csv", "study/report.css", "view/player.html")


def main() -> None:
    """Stop with an error if something is missing, or the swarm does not recover."""
    assert Path(sys.prefix) in HOME.parents, f"qed is not the installed one, but {HOME}"
    assert (HOME / "py.typed").exists()
    for name in DATA:
        assert (HOME / name).stat().st_size > 0, name
    command = Path(sys.executable).with_name("qed")
    told = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert qed.__version__ in told.stdout, told.stdout
    assert all(len(qed.load_example(name)) for name in examples())

    kit = qed.Kit.load("example:patrolling-kit")
    faults = qed.Faults(["PMAX"] * 10)
    found = qed.recover(kit, faults=faults, budget=5, fresh=10, seconds=60.0)
    print(
        f"qed {qed.__version__}: fitness {found.normal:.2f} healthy, {found.broken:.2f} with all "
        f"front sensors stuck, {found.performance:.2f} after {found.trials} trials"
    )
    assert found.performance > found.broken, "the swarm did not recover"


if __name__ == "__main__":
    main()
