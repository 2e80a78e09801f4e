"""Tell what benchmarks/unseen.py found: a page, and its figure.

    python benchmarks/unseen_page.py

Reads benchmarks/results/unseen.json and writes docs/results/unseen.md and unseen.png there.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from baselines_page import (
    AT,
    COLOURS,
    HOW_SURE,
    PAGES,
    RESULTS,
    by_archive,
    harmed,
    made_by,
    markdown,
    mean,
    rows,
    spoken,
)
from matplotlib.figure import Figure

from qed.study.blocks import listed, many, minus
from qed.study.statistics import interval


def compared(table: pd.DataFrame, group: str, harm: float) -> list[list[str]]:
    """Return lines about what kits have not seen."""
    lines = []
    own = table[table["group"] == group]
    for what in dict.fromkeys(own["what"]):
        mine = own[own["what"] == what]
        late = mine[mine["trials"] == AT]

        def of(name: str, some: pd.DataFrame = late) -> pd.Series:
            return by_archive(some[some["strategy"] == name], "regret")

        early = mine[mine["trials"] == 3]
        lines.append(
            [what, mean(of("keep")), mean(of("kit", early)), spoken(of("kit")),
             mean(of("informed")), spoken(of("kit") - of("informed")), mean(of("prior")),
             mean(of("portfolio")), mean(of("bo")),
             harmed(late[late["strategy"] == "kit"], harm),
             harmed(late[late["strategy"] == "bo"], harm)]
        )  # fmt: skip
    return lines


def unseen_page(found: dict[str, Any]) -> str:
    """Return the page about what priors have seen."""
    table = rows(found)
    headings = ["kind", "keep", "kit, 3 trials", f"kit, {AT} trials", "informed kit",
                "kit less informed", "prior", "portfolio", "BO", "harm of kit, clearly",
                "harm of BO, clearly"]  # fmt: skip
    late = table[table["trials"] == AT]
    sizes = []
    for size in found["sizes"]:
        own = table[table["strategy"] == f"kit {size}"]
        prior = late[late["strategy"] == f"prior {size}"]
        last = own[own["trials"] == AT]
        sizes.append(
            [f"{size}",
             *(spoken(by_archive(own[own["trials"] == n], "regret")) for n in (3, AT, 30)),
             mean(by_archive(prior, "regret")), harmed(last, found["harm"])]
        )  # fmt: skip
    keep = late[(late["group"] == "size") & (late["strategy"] == "keep")]
    used = sorted({one["bo"] for one in found["archives"]})
    several = {
        group: by_archive(late[(late["group"] == group) & (late["strategy"] == "kit")], "regret")
        - by_archive(late[(late["group"] == group) & (late["strategy"] == "informed")], "regret")
        for group in ("left out", "new")
    }
    kinds = "\n".join(f"- {name}: {one['meaning']}" for name, one in found["kinds"].items())
    return minus(
        "\n\n".join(
            [
                "# What must a prior have seen?",
                "A kit knows simulated faults. What if the swarm has another one?",
                f"**So far**: not to have seen the kind costs a kit {spoken(several['left out'])} "
                f"of fitness after {AT} trials where it is one of the paper's seven, or all of the "
                f"sensors or wheels, and {spoken(several['new'])} where it is in no library.",
                f"{many(len(found['archives']), 'archive')} of QED, those of "
                "[the comparison of searches](baselines.md). Kits of "
                f"{found['controllers']} controllers and {found['mixed'] + found['one_sided']} "
                f"library faults in {found['each']} trials each, unless sizes are compared. Regret "
                "is in fitness, on fresh trials. The *kit* and all beside it have not seen the "
                "kind; the *informed* kit has: it is of the same size where a kind is left out, "
                f"and has {len(found['new'])} faults more of the new kinds. *BO* is "
                f"`{listed(used)}`, the map-based optimisation that did best in library faults, "
                f"over the whole archive. {HOW_SURE} *Harm* is the share of faults in which the "
                f"swarm is worse off after {AT} trials by more than {found['harm']:g} than if it "
                "had kept its controller; *clearly*, by two standard errors more.",
                "## One kind left out",
                markdown(headings, compared(table, "left out", found["harm"])),
                "Kits made without a kind, met with it: few robots, most of them, and mixed with "
                "the others.",
                "## Kinds in no library",
                kinds,
                markdown(headings, compared(table, "new", found["harm"])),
                "![Regret by kind and by size of the library](unseen.png)",
                f"**Left: regret after {AT} trials. Right: regret after 3 to 30 trials over the "
                "size of the library, with 95 % intervals.**",
                "## How many faults?",
                markdown(["faults", "3 trials", f"{AT} trials", "30 trials", "prior alone",
                          "harm, clearly"], sizes),
                f"Kits of so many library faults, in {many(keep['fault'].nunique(), 'fault')} of "
                "the same kinds. To keep the controller costs "
                f"{spoken(by_archive(keep, 'regret'))}.",
                "## Made by",
                made_by(found, "unseen"),
            ]
        )
        + "\n"
    )  # fmt: skip


def unseen_figure(found: dict[str, Any]) -> Figure:
    """Draw regret by kind, and over the size of libraries."""
    table = rows(found)
    late = table[(table["trials"] == AT) & (table["group"] != "size")]
    whats = list(dict.fromkeys(late["what"]))
    made = Figure(figsize=(11.0, 6.5), layout="constrained")
    left, right = made.subplots(1, 2, width_ratios=(3, 2))
    ways = ("keep", "prior", "portfolio", "bo", "kit", "informed")
    for k, name in enumerate(ways):
        for place, what in enumerate(whats):
            own = late[(late["strategy"] == name) & (late["what"] == what)]
            values = by_archive(own, "regret")
            tasks = values.index.get_level_values("task").to_numpy()
            bounds = interval((values.to_numpy(), tasks))
            at = place + 0.13 * (k - (len(ways) - 1) / 2)
            left.plot([bounds.low, bounds.high], [at, at], color=COLOURS[k], lw=1.5, alpha=0.6)
            middle = values.groupby("task").mean().mean()
            label = name if place == 0 else None
            left.plot(middle, at, "o", color=COLOURS[k], ms=5, label=label)
    left.set_yticks(range(len(whats)), whats)
    left.invert_yaxis()
    left.axvline(0.0, color="0.7", lw=0.8, zorder=0)
    left.set(xlabel=f"regret after {AT} trials (fitness)")
    left.legend(frameon=False)
    for k, budget in enumerate((3, AT, 30)):
        limits = []
        for size in found["sizes"]:
            own = table[(table["strategy"] == f"kit {size}") & (table["trials"] == budget)]
            values = by_archive(own, "regret")
            tasks = values.index.get_level_values("task").to_numpy()
            bounds = interval((values.to_numpy(), tasks))
            limits.append((values.groupby("task").mean().mean(), bounds.low, bounds.high))
        middle, low, high = np.array(limits).T
        right.plot(found["sizes"], middle, "o-", color=COLOURS[k], label=f"{budget} trials")
        right.fill_between(found["sizes"], low, high, color=COLOURS[k], alpha=0.15, lw=0)
    right.set(xscale="log", xlabel="faults of the library", ylabel="regret (fitness)")
    right.set_xticks(found["sizes"], found["sizes"])
    right.minorticks_off()
    right.axhline(0.0, color="0.7", lw=0.8, zorder=0)
    right.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    return made


def main() -> None:
    """Write the page and its figure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--numbers", type=Path, default=RESULTS / "unseen.json")
    parser.add_argument("--page", type=Path, default=PAGES / "unseen.md")
    options = parser.parse_args()
    found = json.loads(options.numbers.read_text("utf-8"))
    options.page.write_text(unseen_page(found), "utf-8")
    unseen_figure(found).savefig(options.page.with_suffix(".png"), dpi=80)
    print(f"wrote {options.page.name} and its figure")


if __name__ == "__main__":
    main()
