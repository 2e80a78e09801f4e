"""Tell what benchmarks/fidelity.py found: a page on transfer, its figures, and README's table.

    python benchmarks/transfer.py

Reads benchmarks/results/fidelity.json and writes docs/results/transfer.md, transfer-fitness.png
and transfer-resilience.png there, and the parts of README.md between marks (<!-- fidelity -->).
Takes some seconds.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import fidelity
import transfer_figures
from fidelity_table import fidelity_table, grid, joined, mm, small, turning_row
from recordings import TASKS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
TEMPLATE = Path(__file__).with_name("transfer_page.md")
PAGE = ROOT / "docs" / "results" / "transfer.md"
CASES = {
    "random": "random networks, 10 robots",
    "patrolling": "patrolling bests, 10 robots",
    "aggregation": "aggregation bests, 10 robots",
    "crowd20": "20 robots, 6 obstacles",
}


def transfer_line(found: dict[str, Any]) -> list[str]:
    """Return README's line on transfer."""
    part = found["recoveries"]
    every, whole = part["all"], part["whole_recording"]
    return wrapped(
        "**Recoveries found here hold in ARGoS itself**: "
        f"{every['better_in_argos']} of {every['another_controller']} recovery controllers beat "
        f"the broken swarm's normal best there too ({whole['better_in_argos']} of "
        f"{whole['another_controller']} of all that were recorded), with a mean resilience of "
        f"{small(every['resilience']['argos'], 2)} (ours {small(every['resilience']['ours'], 2)}): "
        "`docs/results/transfer.md`."
    )


def speed_line(found: dict[str, Any]) -> list[str]:
    """Return README's line on the original's speed."""
    cases = found["speed"]["default"].values()
    argos = sorted(case["argos"] / 1e6 for case in cases)
    ours = sorted(case["ours"] / 1e6 for case in cases)
    times = sorted(case["times_as_fast"] for case in cases)
    return wrapped(
        f"ARGoS did {argos[0]:.2f} to {argos[-1]:.2f} on one core of another machine, where ours, "
        f"as it was then and in turns with it, did {ours[0]:.1f} to {ours[-1]:.0f}: "
        f"{times[0]:.0f} to {times[-1]:.0f} times as many (`speed` in "
        "`benchmarks/results/fidelity.json`; the cases are in `docs/results/transfer.md`)."
    )


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
        exploit=": evolution found no exploit of ours" if unbiased else "",
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
        minutes=f"{spent / 60:.0f}",
    )
    return tidy(filled)


def fitness_table(evolved: dict[str, Any]) -> list[str]:
    """Return the table of fitness by task."""
    header = ["", "controllers", "ARGoS", "ours", "bias", "error, 20 trials", "ARGoS itself"]
    rows = [
        [
            task,
            part["controllers"],
            small(part["argos"], 3),
            small(part["ours"], 3),
            f"{small(part['bias'], 4, True)} ± {small(part['bias_error'])}",
            small(part["one_seed"]["mean_absolute_error"]),
            small(part["one_seed"]["argos_against_itself"]),
            f"{part['rms_z']:.2f}",
            f"{part['one_seed']['argos_rms_z']:.2f}",
            small(part["correlation"]),
        ]
        for task, part in {**evolved["tasks"], "**all**": evolved["all"]}.items()
    ]
    return grid([*header, "RMS z", "ARGoS itself", "correlation"], rows)


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
                f"{small(part[key]['argos'], 3)} / {small(part[key]['ours'], 3)}"
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
    return grid(["", "build of ARGoS", "repeats", "ARGoS", "ours", "times as fast"], rows)


def texts(known: dict[str, Any]) -> dict[Path, str]:
    """Return README and the page as they are to be."""
    found = {part: entry["found"] for part, entry in known.items()}
    marked = {
        "fidelity": ["", *fidelity_table(found), ""],
        "transfer": transfer_line(found),
        "argos-speed": speed_line(found),
    }
    readme = README.read_text()
    for mark, lines in marked.items():
        readme = replaced(readme, mark, lines)
    return {
        README: readme,
        PAGE: page(found, {part: entry["seconds"] for part, entry in known.items()}),
    }


def replaced(text: str, mark: str, lines: list[str]) -> str:
    """Return a text with other lines between two marks."""
    before, opening, rest = text.partition(f"<!-- {mark} -->\n")
    _, closing, after = rest.partition(f"<!-- /{mark} -->\n")
    if not closing:
        raise SystemExit(f"lines <!-- {mark} --> and <!-- /{mark} --> are missing in the text")
    return before + opening + "".join(f"{line}\n" for line in lines) + closing + after


def main() -> None:
    """Write the page, its figures and README's parts."""
    known = json.loads((fidelity.RESULTS / "fidelity.json").read_text())
    if missing := sorted(set(fidelity.PARTS) - set(known)):
        raise SystemExit(
            f"fidelity.json lacks {joined(missing)}: run benchmarks/fidelity.py FOLDER"
        )
    for path, text in texts(known).items():
        path.write_text(text)
        print(f"wrote {path.name}")
    transfer_figures.fitness(known["evolved"]["found"], PAGE.with_name("transfer-fitness.png"))
    transfer_figures.resilience(
        known["recoveries"]["found"], PAGE.with_name("transfer-resilience.png")
    )


if __name__ == "__main__":
    main()
