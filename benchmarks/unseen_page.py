"""Tell what benchmarks/unseen.py found: a page, and its figure.

    python benchmarks/unseen_page.py

Reads benchmarks/results/unseen.json and writes docs/results/unseen.md and unseen.png there.
"""

from __future__ import annotations

from typing import Any

import archive_pages
import numpy as np
import pandas as pd
from archive_pages import (
    COLOURS,
    HOW_SURE,
    MARKS,
    NOT_ADJUSTED,
    TOO_FEW,
    judged,
    made_by,
    markdown,
    over_archives,
    over_faults,
    plain,
    short,
    spoken,
)
from baselines_page import ARCHIVE, AT, by_archive, harmed, rows, told_again
from matplotlib.figure import Figure

from qed.study.blocks import listed, many, minus

EARLY = 3  # trials
LOOKS = (EARLY, AT, 30)  # trials after which sizes are looked at
WAYS = {
    "keep": "keep", "prior": "prior", "portfolio": "portfolio", "bo": "BO", "kit": "kit",
    "informed": "informed kit",
}  # fmt: skip
GROUPS = {
    "left out": "where it is one of the paper's kinds, or all of the sensors or wheels",
    "new": "where it is in no library",
}


def cost(late: pd.DataFrame) -> pd.DataFrame:
    """Return the regret of the kit that has not seen a kind less that of the informed one."""
    keys = [*ARCHIVE, "group", "what", "fault"]
    kit, informed = (
        late[late["strategy"] == one].set_index(keys)["regret"] for one in ("kit", "informed")
    )
    return (kit - informed).rename("cost").reset_index()


def told(late: pd.DataFrame, group: str, where: str) -> str:
    """Tell in a clause what it costs not to have seen the kinds of a group."""
    table = cost(late[late["group"] == group])
    found = over_archives(by_archive(table, "cost"))
    if not found.known:
        return f"{spoken(found)} of fitness after {AT} trials {where}"
    shown = judged(found, "it costs", "it helps", "it is shown neither to cost nor to help")
    units = spoken(over_faults(table, "cost"))
    return (
        f"{spoken(found)} of fitness after {AT} trials {where} ({shown}; of these archives over "
        f"faults: {units})"
    )


def compared(table: pd.DataFrame, group: str, harm: float) -> list[list[str]]:
    """Return lines about what kits have not seen."""
    lines = []
    own = table[table["group"] == group]
    for what in dict.fromkeys(own["what"]):
        mine = own[own["what"] == what]
        late, early = (mine[mine["trials"] == n] for n in (AT, EARLY))
        regret = {name: by_archive(late[late["strategy"] == name], "regret") for name in WAYS}
        soon = by_archive(early[early["strategy"] == "kit"], "regret")
        harms = [harmed(late[late["strategy"] == name], harm) for name in ("kit", "bo")]
        lines.append(
            [what, short(regret["keep"]), short(soon), spoken(regret["kit"]),
             short(regret["informed"]), spoken(regret["kit"] - regret["informed"]),
             *(short(regret[name]) for name in ("prior", "portfolio", "bo")), *harms]
        )  # fmt: skip
    return lines


def sized(table: pd.DataFrame, name: str, trials: int) -> pd.Series:
    """Return the regret of a strategy by archive, after some trials."""
    return by_archive(table[(table["strategy"] == name) & (table["trials"] == trials)], "regret")


def unseen_page(found: dict[str, Any]) -> str:
    """Return the page about what priors have seen."""
    table = rows(found)
    late = table[table["trials"] == AT]
    headings = ["kind", "keep", f"kit, {EARLY} trials", f"kit, {AT} trials", "informed kit",
                "kit less informed", "prior", "portfolio", "BO", "harm of kit, clearly",
                "harm of BO, clearly"]  # fmt: skip
    sizes = [
        [f"{size}", *(spoken(sized(table, f"kit {size}", n)) for n in LOOKS),
         short(sized(table, f"prior {size}", AT)),
         harmed(late[late["strategy"] == f"kit {size}"], found["harm"])]
        for size in found["sizes"]
    ]  # fmt: skip
    fewest, most = found["sizes"][0], found["sizes"][-1]
    gain = over_archives(sized(table, f"kit {fewest}", AT) - sized(table, f"kit {most}", AT))
    shown = judged(gain, "more faults help", "more faults harm", "neither is shown to be better")
    keep = late[(late["group"] == "size") & (late["strategy"] == "keep")]
    used = sorted({f"`{one['bo']}`" for one in found["archives"]})
    kinds = "\n".join(f"- {name}: {one['meaning']}" for name, one in found["kinds"].items())
    survey, library = (
        found[one]["mixed"] + found[one]["one_sided"] for one in ("survey", "taught")
    )
    return minus(
        "\n\n".join(
            [
                "# What must a prior have seen?",
                "A kit knows simulated faults. What if the swarm has another one?",
                "**So far**: not to have seen the kind costs a kit "
                + ", and ".join(told(late, group, where) for group, where in GROUPS.items())
                + f". These two were to be judged. With {fewest} library faults instead of {most} "
                f"regret is larger by {spoken(gain)}"
                + (f": {shown}. {NOT_ADJUSTED}" if gain.known else ". " + TOO_FEW),
                f"{many(len(found['archives']), 'archive')} of QED, those of "
                "[the comparison of searches](baselines.md). Kits of "
                f"{found['controllers']} controllers, chosen in {survey} faults, and of {library} "
                f"library faults in {found['each']} trials each, unless sizes are compared. Regret "
                "is in fitness, on fresh trials. The *kit* and all beside it have not seen the "
                "kind; the *informed* kit has, in a survey and a library of the same sizes. "
                f"*BO* is {listed(used)}, the map-based optimisation that did best in library "
                "faults (its settings were chosen with all of the paper's kinds, its kernel is "
                f"made of what the kit has seen), over the whole archive. {HOW_SURE} *Harm* is the "
                f"share of faults in which the swarm is worse off after {AT} trials by more than "
                f"{found['harm']:g} than if it had kept its controller; *clearly*, by two "
                "standard errors more (of all cases, without intervals).",
                "## One kind left out",
                markdown(headings, compared(table, "left out", found["harm"])),
                "Kits made without a kind, met with it: in few robots, in most of them, and mixed "
                "with the others.",
                "## Kinds in no library",
                kinds,
                markdown(headings, compared(table, "new", found["harm"])),
                "![Regret by kind and by size of the library](unseen.png)",
                f"**Left: regret after {AT} trials. Right: regret after {EARLY} to {LOOKS[-1]} "
                "trials over the size of the library. Both with 95 % intervals.**",
                "## How many faults?",
                markdown(["faults", *(f"{n} trials" for n in LOOKS), "prior alone",
                          "harm, clearly"], sizes),
                f"Kits of so many library faults, in {many(keep['fault'].nunique(), 'fault')} of "
                "the same kinds. To keep the controller costs "
                f"{spoken(by_archive(keep, 'regret'))}.",
                "## Made by",
                f"{made_by(found, 'unseen')} {told_again(found)}",
            ]
        )
        + "\n"
    )  # fmt: skip


def unseen_figure(found: dict[str, Any]) -> Figure:
    """Draw regret by kind, and over the size of libraries."""
    table = rows(found)
    late = table[(table["trials"] == AT) & (table["group"] != "size")]
    whats = list(dict.fromkeys(late["what"]))
    made = Figure(figsize=(11.5, max(3.5, 0.62 * len(whats))), layout="constrained")
    left, right = made.subplots(1, 2, width_ratios=(3, 2))
    for k, (name, label) in enumerate(WAYS.items()):
        colour = "#000000" if name == "kit" else COLOURS[k]
        for place, what in enumerate(whats):
            own = late[(late["strategy"] == name) & (late["what"] == what)]
            one = over_archives(by_archive(own, "regret"))
            at = place + 0.13 * (k - (len(WAYS) - 1) / 2)
            left.plot([one.low, one.high], [at, at], color=colour, lw=1.5, alpha=0.6)
            given = {"label": label} if place == 0 else {}
            left.plot(one.mean, at, MARKS[k], color=colour, ms=5, **given)
    for place in range(1, len(whats)):
        left.axhline(place - 0.5, color="0.9", lw=0.8, zorder=0)
    left.set_yticks(range(len(whats)), whats)
    left.set_ylim(len(whats) - 0.5, -0.5)
    left.axvline(0.0, color="0.7", lw=0.8, zorder=0)
    left.set_xlabel(f"regret after {AT} trials (fitness)")
    handles, labels = left.get_legend_handles_labels()
    made.legend(handles, labels, loc="outside upper left", ncols=6, frameon=False)
    for k, budget in enumerate(LOOKS):
        each = [over_archives(sized(table, f"kit {size}", budget)) for size in found["sizes"]]
        middle, low, high = np.array([one[:3] for one in each]).T
        look = {"color": COLOURS[k]}
        right.plot(found["sizes"], middle, "-", marker=MARKS[k], label=f"{budget} trials", **look)
        right.fill_between(found["sizes"], low, high, alpha=0.15, lw=0, **look)
    right.set(xscale="log", xlabel="faults of the library", ylabel="regret (fitness)")
    right.set_xticks(found["sizes"], found["sizes"])
    right.minorticks_off()
    right.axhline(0.0, color="0.7", lw=0.8, zorder=0)
    right.legend(frameon=False)
    plain(left, right)
    return made


if __name__ == "__main__":
    archive_pages.main("unseen", unseen_page, unseen_figure)
