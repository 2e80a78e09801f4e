"""Tell what benchmarks/fidelity.py found: a page on transfer, and its figures.

    python benchmarks/transfer.py

Reads benchmarks/results/fidelity.json and writes docs/results/transfer.md, transfer-fitness.png
and transfer-resilience.png there.  Takes some seconds.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import fidelity
import transfer_figures
from fidelity_table import grid, joined, mm, small, turning_row
from recordings import TASKS

ROOT = Path(__file__).parent.parent
TEMPLATE = Path(__file__).with_name("transfer_page.md")
PAGE = ROOT / "docs" / "results" / "transfer.md"
CASES = {
    "random": "random networks, 10 robots",
    "patrolling": "patrolling bests, 10 robots",
    "aggregation": "aggregation bests, 10 robots",
    "crowd20": "20 robots, 6 obstacles",
}


def wrapped(text: str) -> list[str]:
    """Return a paragraph, or an item of a list, in lines of a page's width."""
    later = "  " if text.startswith("- ") else ""
    words = " ".join(text.split())
    return textwrap.wrap(words, 100, subsequent_indent=later, break_on_hyphens=False)


def tidy(page: str) -> str:
    """Return a page with its paragraphs and items wrapped, all else as it is."""
    blocks = []
    for block in page.strip().split("\n\n"):
        if not block.startswith(("#", "|", "!")):
            items = block.replace("\n- ", "\0- ").split("\0")
            block = "\n".join(line for item in items for line in wrapped(item))
        blocks.append(block)
    return "\n\n".join(blocks) + "\n"


def page(found: dict[str, Any], seconds: dict[str, float]) -> str:
    """Return the page on transfer: the template with what was found."""
    tasks = found["evolved"]["tasks"]
    beyond = [
        f"{task} ({tasks[task]['rms_z']:.2f}, ARGoS {tasks[task]['one_seed']['argos_rms_z']:.2f})"
        for task in TASKS
        if tasks[task]["rms_z"] > tasks[task]["one_seed"]["argos_rms_z"] + 0.2
    ]
    every = found["evolved"]["all"]
    unbiased = abs(every["bias"]) <= 2 * every["bias_error"]
    recoveries = found["recoveries"]["all"]
    whole = found["evolved"]["whole_recording"]["rms_z"]
    alone, pairs = found["driven"]["alone"], found["driven"]["pairs"]
    cylinders = found["contacts"]["b_cylinder"]
    cylinder = max(cylinders, key=lambda name: cylinders[name]["place"])
    spent = sum(seconds[part] for part in ("evolved", "recoveries", "speed"))
    filled = TEMPLATE.read_text().format(
        **found,
        fitness_table="\n".join(fitness_table(found["evolved"])),
        recovery_table="\n".join(recovery_table(found["recoveries"])),
        speed_table="\n".join(speed_table(found["speed"])),
        exploit=": we find no sign that evolution exploits errors of ours" if unbiased else "",
        same=recoveries["pairs"] - recoveries["another_controller"],
        whole_z=joined([f"{z:.2f} in {task}" for task, z in whole.items()]),
        beyond=joined(beyond) if beyond else "none",
        worst=max(found["evolved"]["controllers"], key=lambda c: c["z"]),
        pairs_off=f"{100 * pairs['off_by_1_cm'][-1]:.1f} %",
        alone_off=f"{100 * alone['off_by_1_cm'][-1]:.1f} %",
        alone_90=mm(alone["within_90"][-1]),
        turns=turning_row(found["turning"])[1],
        cylinders=len(cylinders),
        cylinder=cylinder,
        cylinder_off=mm(cylinders[cylinder]["place"]),
        single=every["controllers"] - every["one_seed"]["controllers"],
        seconds=f"{spent:.0f}",
    )
    return tidy(filled)


def fitness_table(evolved: dict[str, Any]) -> list[str]:
    """Return the table of fitness by task."""
    header = ["", "controllers", "ARGoS", "ours", "bias", "error", "self-error"]
    rows = [
        [
            task,
            part["controllers"],
            small(part["argos"], 3),
            small(part["ours"], 3),
            f"{small(part['bias'], 4, True)}\u00a0±\u00a0{small(part['bias_error'])}",
            small(part["one_seed"]["mean_absolute_error"]),
            small(part["one_seed"]["argos_against_itself"]),
            f"{part['rms_z']:.2f}",
            f"{part['one_seed']['argos_rms_z']:.2f}",
            small(part["correlation"]),
        ]
        for task, part in {**evolved["tasks"], "**all**": evolved["all"]}.items()
    ]
    return grid([*header, "RMS z", "RMS self-z", "correlation"], rows)


def recovery_table(recoveries: dict[str, Any]) -> list[str]:
    """Return the table of recoveries by task."""
    header = ["", "recoveries", "better in ARGoS", "clear here", "of these clear in ARGoS"]
    rows = [
        [
            task,
            part["another_controller"],
            part["better_in_argos"],
            part["significant_in_ours"],
            part["significant_in_both"],
            *(
                f"{small(part[key]['argos'], 3)}\u00a0/ {small(part[key]['ours'], 3)}"
                for key in ("impact", "resilience")
            ),
            small(part["resilience"]["mean_absolute_error"], 3),
        ]
        for task, part in {**recoveries["tasks"], "**all**": recoveries["all"]}.items()
    ]
    more = ["impact: ARGoS / ours", "resilience: ARGoS / ours", "error of resilience"]
    return grid([*header, *more], rows)


def speed_table(speed: dict[str, Any]) -> list[str]:
    """Return the table of speed."""
    rows = [
        [
            CASES[name],
            build,
            case["repeats"],
            f"{case['argos'] / 1e6:.3f}",
            f"{case['ours'] / 1e6:.1f}",
            f"{case['times_as_fast']:.0f}",
        ]
        for build, cases in speed.items()
        for name, case in cases.items()
    ]
    return grid(["", "build of ARGoS", "repeats", "ARGoS, M/s", "ours, M/s", "times as fast"], rows)


def text(known: dict[str, Any]) -> str:
    """Return the page as it is to be."""
    found = {part: entry["found"] for part, entry in known.items()}
    return page(found, {part: entry["seconds"] for part, entry in known.items()})


def main() -> None:
    """Write the page and its figures."""
    known = json.loads((fidelity.RESULTS / "fidelity.json").read_text())
    if missing := sorted(set(fidelity.PARTS) - set(known)):
        raise SystemExit(
            f"fidelity.json lacks {joined(missing)}: run benchmarks/fidelity.py FOLDER"
        )
    PAGE.write_text(text(known))
    print(f"wrote {PAGE.name}")
    transfer_figures.fitness(known["evolved"]["found"], PAGE.with_name("transfer-fitness.png"))
    transfer_figures.resilience(
        known["recoveries"]["found"], PAGE.with_name("transfer-resilience.png")
    )


if __name__ == "__main__":
    main()
