"""Write what README tells of measurements: fidelity, speed, recovery, environments or size.

    python benchmarks/readme.py

Reads fidelity.json, throughput.json, recovery.json and why.json in benchmarks/results, and writes
the part of README.md between the lines <!-- numbers --> and <!-- /numbers -->.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from statistics import mean
from typing import Any

import why_page
from fidelity_table import small
from recordings import TASKS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
RESULTS = Path(__file__).with_name("results")
MARK = "numbers"
SEARCH = "learned"  # the default strategy of a kit's search


def fidelity(found: dict[str, Any]) -> str:
    """Tell how near fitness is to the original simulator's, and whether recoveries hold there."""
    evolved, recoveries = (found[part]["found"] for part in ("evolved", "recoveries"))
    every, one = evolved["all"], evolved["all"]["one_seed"]
    here, whole = recoveries["all"], recoveries["whole_recording"]
    failed = whole["another_controller"] - whole["better_in_argos"]
    return (
        f"**Fidelity**: {every['controllers']} evolved controllers were run in ARGoS, the paper's "
        "simulator, from the same start poses. Their fitness (0 to 1), a mean of 20 trials, "
        f"differs by {small(one['mean_absolute_error'])} on average; with other noise ARGoS "
        f"differs from itself by {small(one['argos_against_itself'])}. "
        f"{here['better_in_argos']} of {here['another_controller']} recoveries whose "
        "recordings are at hand also help the broken swarm in ARGoS; "
        f"{failed} that did not, of {whole['another_controller']} recorded with an earlier "
        "version, are not among them ([fidelity](docs/results/fidelity.md), "
        "[transfer](docs/results/transfer.md))."
    )


def speed(throughput: dict[str, Any], found: dict[str, Any]) -> str:
    """Tell how fast one core is, and how much faster than the original."""
    most = max(throughput["bar"], key=lambda case: case["trials"])
    times = sorted(case["times_as_fast"] for case in found["speed"]["found"]["default"].values())
    return (
        f"**Speed**: {most['speed']['1'] / 1e6:.0f} million robot-steps (one robot, one control "
        f"cycle) a second on one core of an {throughput['machine']['cpu']}, with random networks, "
        "10 robots and full physics ([performance](docs/performance.md)). On one machine an "
        f"earlier version was {times[0]:.0f} to {times[-1]:.0f} times as fast as ARGoS; contacts "
        "have become more exact since, and slower ([transfer](docs/results/transfer.md#speed))."
    )


def recovery(tables: dict[str, Any]) -> str:
    """Tell what a search of few trials loses against a race of all controllers, task by task."""
    found = {**tables["tasks"], **tables["search"]}
    tasks = {task: table["cases"] for task, table in found.items() if task in TASKS}
    rows = []
    for task, cases in tasks.items():
        kept = small(mean(case["winner"] - case["kept"] for case in cases), 3)
        after = small(mean(case["winner"] - case["found"][SEARCH]["10"] for case in cases), 3)
        rows.append(f"{after} in {task} ({kept})")
    fewest = min(len(cases) for cases in tasks.values())
    return (
        "**Recovery**: after ten trials a kit's search, which does not know the fault, ends this "
        "much fitness below the winner of a race of all 4,096 controllers in ten trials (in "
        f"brackets: what keeping the controller loses): {', '.join(rows)}. One archive per task, "
        f"at least {fewest} combinations of the eight known kinds of faults, none used "
        "for learning ([recovery](docs/how/recovery.md))."
    )


def numbers() -> list[str]:
    """Return the lines between the marks."""
    found, throughput, searches = (
        json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
        for name in ("fidelity", "throughput", "recovery")
    )
    why = json.loads((RESULTS / "why.json").read_text("utf-8"))
    items = (
        fidelity(found),
        speed(throughput, found),
        recovery(searches),
        f"**Environments or size?** {why_page.verdict(why, why_page.rows(why))} "
        "([why](docs/results/why.md))",
    )
    return [
        line
        for item in items
        for line in textwrap.wrap(
            f"- {item}", 104, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
        )
    ]


def replaced(text: str, lines: list[str]) -> str:
    """Return a text with other lines between the marks."""
    before, opening, rest = text.partition(f"<!-- {MARK} -->\n")
    _, closing, after = rest.partition(f"<!-- /{MARK} -->\n")
    if not closing:
        raise SystemExit(f"lines <!-- {MARK} --> and <!-- /{MARK} --> are missing in the text")
    return before + opening + "".join(f"{line}\n" for line in lines) + closing + after


def main() -> None:
    """Write the numbers into README.md."""
    README.write_text(replaced(README.read_text("utf-8"), numbers()), "utf-8")
    print(f"wrote {README.name}")


if __name__ == "__main__":
    main()
