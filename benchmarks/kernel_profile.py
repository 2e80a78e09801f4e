"""Profile the GPU's kernel with Nsight Compute: what limits it, and where its instructions are.

    python benchmarks/kernel_profile.py LABEL [--source FOLDER/src] [--cases random aggregation]

Simulates 400 controllers in 50 trials of 60 s with 10 robots twice, with the code of a folder
(default: this one's), and profiles the second launch; ``ncu`` must be on the path.  Prints a line
a case and adds all to benchmarks/results/kernel-profile.json under the label.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TARGET = HERE / "results" / "kernel-profile.json"
CONTROLLERS, TRIALS, SECONDS, ROBOTS = 400, 50, 60.0, 10
# What Nsight Compute calls them, and the unit it gives.
METRICS = {
    "milliseconds": r"Duration +ms +([\d.,]+)",
    "registers": r"Registers Per Thread +\S+ +([\d.,]+)",
    "issue_slots_busy": r"Issue Slots Busy +% +([\d.,]+)",
    "no_eligible": r"No Eligible +% +([\d.,]+)",
    "active_warps": r"Achieved Active Warps Per SM +warp +([\d.,]+)",
}


def work(case: str) -> None:
    """Simulate a case twice, with a kernel that knows its lines."""
    import numpy as np

    if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it, numpy 2.5 has it no more
        setattr(np, "row_stack", np.vstack)  # noqa: B010
    import numba.cuda

    plain = numba.cuda.jit
    numba.cuda.jit = lambda *given, **options: plain(*given, **options, lineinfo=True)
    import qed

    swarms: Any = [qed.Controller.random(k) for k in range(CONTROLLERS)]
    if case != "random":
        swarms = qed.load_example(case).controllers[:: 4096 // CONTROLLERS][:CONTROLLERS]
    task = "patrolling" if case == "random" else case
    for seconds in (0.2, SECONDS):
        qed.simulate(
            swarms, qed.Environment(robots=ROBOTS), tasks=[task],
            trials=TRIALS, seconds=seconds, seed=1, backend="cuda",
        )  # fmt: skip


def instructions(source: str) -> tuple[float, dict[str, float], dict[str, float]]:
    """Return instructions a warp and cycle, in all and by file, and parts of the stalls."""
    file, columns = "", {}
    seen: set[str] = set()
    files: Counter[str] = Counter()
    stalls: Counter[str] = Counter()
    for row in csv.reader(source.splitlines()):
        if not row:
            continue
        if row[0] == "File Path":
            file = Path(row[1]).name
        elif row[0] == "Line No":
            columns = {name: k for k, name in enumerate(row)}
        elif len(row) > 20 and row[2].startswith("0x") and row[2] not in seen:
            seen.add(row[2])
            files[file] += int(row[columns["Instructions Executed"]])
            for name, k in columns.items():
                if name.startswith("stall_") and "Not" not in name:
                    stalls[name.removeprefix("stall_")] += int(row[k] or 0)
    warps = CONTROLLERS * -(-TRIALS // (32 // ROBOTS))
    cycles = warps * round(SECONDS / 0.2)
    each = {name: runs / cycles for name, runs in files.most_common()}
    parts = {name: count / stalls.total() for name, count in stalls.most_common(8)}
    return sum(each.values()), each, parts


def profiled(case: str, source: Path) -> dict[str, Any]:
    """Return what Nsight Compute says of a case."""
    # A cache of its own: other kernels do not know their lines.
    cache = Path(tempfile.gettempdir(), "qed-kernel-profile")
    environment = os.environ | {"PYTHONPATH": str(source.resolve()), "QED_CACHE": str(cache)}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report")
        profiler = ["ncu", "--set", "full", "--import-source", "yes", "--clock-control", "none"]
        chosen = ["-k", "regex:run", "-s", "1", "-c", "1", "-o", str(report)]
        command = [*profiler, *chosen, sys.executable, __file__, case, "--work"]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)

        def page(*which: str) -> str:
            shown = ["ncu", "-i", f"{report}.ncu-rep", "--page", *which]
            return subprocess.run(shown, check=True, capture_output=True, text=True).stdout

        details = page("details")
        source_page = page("source", "--csv", "--print-source", "cuda,sass")
    found: dict[str, Any] = {}
    for name, pattern in METRICS.items():
        there = re.search(pattern, details)
        found[name] = float(there[1].replace(",", "")) if there else None
    found["instructions"], found["files"], found["stalls"] = instructions(source_page)
    return found


def main() -> None:
    """Profile from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("label")
    parser.add_argument("--source", type=Path, default=HERE.parent / "src")
    parser.add_argument("--cases", nargs="+", default=["random", "aggregation"])
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.label)
        return
    known = json.loads(TARGET.read_text()) if TARGET.exists() else {}
    for case in given.cases:
        found = profiled(case, given.source)
        known.setdefault(given.label, {})[case] = found
        print(
            f"{given.label}, {case}: {found['milliseconds']:.1f} ms, issue slots busy "
            f"{found['issue_slots_busy']:.0f} %, no warp eligible {found['no_eligible']:.0f} %, "
            f"{found['instructions']:.0f} instructions a warp and cycle",
            flush=True,
        )
        TARGET.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
