"""Tell what benchmarks/baselines.py found: a page, and its figure.

    python benchmarks/baselines_page.py

Reads benchmarks/results/baselines.json and writes docs/results/baselines.md and baselines.png
there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from qed.study.blocks import listed, many, markdown_row, minus
from qed.study.by_map import with_limits
from qed.study.statistics import interval

ROOT = Path(__file__).parent.parent
RESULTS, PAGES = Path(__file__).with_name("results"), ROOT / "docs" / "results"
MAPS = {"qed": "QED", "hbd": "HBD", "spirit": "SPIRIT"}
AT = 10  # trials, of the primary endpoints
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c", "#000000",
           "#8c6d31", "#b2abd2", "#7f3b08")  # fmt: skip
ARCHIVE = ["task", "map", "seed"]
HOW_SURE = (
    "Brackets are 95 % intervals of Student's t over archives, tasks as strata: the archive is the "
    "unit, and each of its numbers a mean over faults."
)


def rows(found: dict[str, Any]) -> pd.DataFrame:
    """Return a row for each archive, fault, strategy and number of trials."""
    kept = []
    cases = found.get("cases") or [{"group": "all", "what": ""}] * len(found["faults"])
    for one in found["archives"]:
        which = {"task": one["task"], "map": one.get("map", "qed"), "seed": one["seed"]}
        for name, each in one["found"].items():
            for k, (case, values) in enumerate(zip(cases, each, strict=True)):
                for budget, value, error in zip(
                    found["budgets"], values, one["error"][name][k], strict=False
                ):
                    row = {**which, "strategy": name, "trials": budget, "fault": k, "value": value}
                    row |= {"group": case["group"], "what": case["what"], "error": error}
                    row |= {"regret": one["winner"][k] - value, "gain": value - one["kept"][k]}
                    kept.append(row)
    return pd.DataFrame(kept)


def harmed(table: pd.DataFrame, harm: float) -> str:
    """Return how often a swarm is worse off than if it had kept its controller, and clearly so."""
    worse = table["gain"] < -harm
    clearly = table["gain"] < -harm - 2.0 * table["error"]
    return f"{100 * worse.mean():.0f} %, {100 * clearly.mean():.0f} %"


def by_archive(table: pd.DataFrame, column: str) -> pd.Series:
    """Return the mean over faults of each archive."""
    return table.groupby(ARCHIVE)[column].mean()


def spoken(values: pd.Series) -> str:
    """Return a mean over archives with its interval."""
    tasks = values.index.get_level_values("task")
    found = interval((values.to_numpy(), tasks.to_numpy()))
    mean = values.groupby("task").mean().mean()
    return with_limits(float(mean), found.low, found.high)


def mean(values: pd.Series) -> str:
    """Return a mean over archives, tasks alike."""
    return f"{values.groupby('task').mean().mean():z.3f}"


def markdown(headings: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    rule = ["---"] * len(headings)
    return "\n".join(markdown_row(line) for line in (headings, rule, *lines))


def made_by(found: dict[str, Any], script: str) -> str:
    """Tell where the numbers come from."""
    on = sorted({one["made"]["on"] for one in found["archives"]})
    versions = sorted({one["made"]["qed"] for one in found["archives"]})
    again = sum(
        sum(one["again"].values()) if isinstance(one["again"], dict) else one["again"]
        for one in found["archives"]
    )
    return (
        f"`benchmarks/{script}.py` on {listed(on)} (qed {listed(versions)}), row by row in "
        f"`benchmarks/results/{script}.json`; what is compared was written down before the runs "
        f"(`{script}-plan.json`). `benchmarks/{script}_page.py` wrote this page. Searches are "
        f"played against tables of trials; {again:,} times a search wanted more trials of a "
        "controller than there were, and was told the first ones again."
    )


def baselines_page(found: dict[str, Any]) -> str:
    """Return the page about searches of archives."""
    table = rows(found)
    maps = [name for name in MAPS if name in set(table["map"])]
    names = [name for name in found["strategies"] if name in set(table["strategy"])]
    prepared = {
        name: np.mean([a["prepared"][name] for a in found["archives"] if a["map"] == "qed"])
        for name in names
    }
    own = table[table["map"] == "qed"]
    late = own[own["trials"] == AT]
    kit = by_archive(late[late["strategy"] == "kit"], "value")
    lines, ahead = [], {}
    for name in names:
        mine = own[own["strategy"] == name]
        regrets = [mean(by_archive(mine[mine["trials"] == n], "regret")) for n in found["budgets"]]
        less = kit - by_archive(late[late["strategy"] == name], "value")
        ahead[name] = f"{spoken(less)} (ahead in {int((less > 0).sum())} of {len(less)})"
        last = late[late["strategy"] == name]
        lines.append(
            [f"`{name}`", *regrets, spoken(by_archive(last, "regret")),
             "" if name == "kit" else ahead[name], harmed(last, 0.005), f"{prepared[name]:,.0f}"]
        )  # fmt: skip
    after = [str(n) for n in found["budgets"]]
    reached = [
        [f"`{name}`",
         *(spoken(by_archive(table[(table["map"] == one) & (table["strategy"] == name)
                                   & (table["trials"] == AT)], "value")) for one in maps)]
        for name in names
    ]  # fmt: skip
    best = [
        [MAPS[one], f"{np.mean([a['cells'] for a in found['archives'] if a['map'] == one]):,.0f}",
         *(spoken(pd.concat({(a["task"], a["map"], a["seed"]): pd.Series([np.mean(a[key])])
                             for a in found["archives"] if a["map"] == one}, names=ARCHIVE))
           for key in ("kept", "winner"))]
        for one in maps
    ]  # fmt: skip
    tasks = list(dict.fromkeys(late["task"]))
    lost = late.groupby(["strategy", "task"])["regret"].mean()
    by_task = [[f"`{name}`", *(f"{lost[name, task]:z.3f}" for task in tasks)] for name in names]
    words = "\n".join(f"- `{name}`: {text}" for name, text in found["strategies"].items())
    tuned = next(one["tuned"] for one in found["archives"] if one["map"] == "qed")
    settings = "; ".join(
        f"`{name}` " + ", ".join(f"{key} {value:g}" for key, value in given.items())
        for name, given in tuned.items()
    )
    return minus(
        "\n\n".join(
            [
                "# Searches that could win",
                "How well does a swarm recover within a few trials, if it may try any controller "
                "of a large archive? Map-based Bayesian optimisation (BO) as in the literature, "
                "tuned on simulated faults as well as it could be, beside kits.",
                f"**So far**: on QED's archives the kit's fitness after {AT} trials less that of "
                f"map-based BO with a kernel on SPIRIT's descriptor is {ahead['bo, spirit']}; that "
                f"was to be judged. It is {ahead['bo, library']} against the kernel learned from "
                f"library faults, and {ahead['prior']} against the kit's best prior mean without "
                "any search.",
                words,
                f"{many(len(found['archives']), 'archive')} of "
                f"{found['evaluations']:,} evaluations of {found['trials']} trials of "
                f"{found['seconds']:g} s, {many(len(found['seeds']), 'replicate')} in "
                f"{many(len(tasks), 'task')}; {len(found['faults'])} combined faults, half of them "
                "uniform, half one-sided, which took no part in anything else. All searches are "
                "told the same trials, first that of the present controller in which the fault "
                f"was noticed, which is free. Answers meet {found['fresh']} fresh trials. Regret "
                "is the fitness of the exhaustive winner, the best of a race in the same archive, "
                f"less that of the answer. {HOW_SURE}",
                "## On QED's archives",
                markdown(
                    ["strategy", *(f"after {n}" for n in after), f"after {AT}, with interval",
                     f"kit's fitness after {AT} less its", "harm, clearly",
                     "trials beforehand"], lines,
                ),
                "Regret after so many trials. *Harm* is the share of faults in which the swarm is "
                f"worse off after {AT} trials by more than .005 than if it had kept its "
                "controller; *clearly*, by two standard errors more. *Trials beforehand* are those "
                "simulated to prepare the search of an archive: prior means, survey, tuning, kit; "
                "evolution comes before.",
                "![Regret over trials, and the kit's lead](baselines.png)",
                "**Left: mean regret on QED's archives. Right: the kit's fitness after "
                f"{AT} trials less that of each strategy; a dot is an archive.**",
                f"## Fitness after {AT} trials, on each map",
                "Maps differ, so here is fitness itself on fresh trials.",
                markdown(["strategy", *(MAPS[one] for one in maps)], reached),
                markdown(["map", "controllers", "kept", "exhaustive winner"], best),
                f"## Regret after {AT} trials, by task, on QED's archives",
                markdown(["strategy", *tasks], by_task),
                "## How",
                "- The mean of every map-based process is fitness in the normal environment "
                f"(mean of {found['healthy']} trials), on QED's map too, whose own numbers are of "
                "each cell's environment; `bo, library mean` alone has another one. Stopping is "
                "not used.\n"
                "- `it&e` has the settings of Cully et al. (2015): length .4, variance 1, noise "
                ".001, and .05 standard deviations.\n"
                "- `smbo` is the centralised method of Bossens and Tarapore (2021), from its "
                "abstract and the authors' public code; its full text was not read. Known from "
                "there: Matern 5/2, variance 1, no noise, mean from the map, every cell tried "
                "once at most, the best observation is the answer; length .12 and .93 standard "
                "deviations, which the code calls tuned (one of its versions has .40). Not "
                "known: how the paper scales axes. The decentralised SMBO-Dec, whose robots try "
                "different controllers at the same time, is not here.\n"
                "- Tuning: length, variance, a part that all controllers share, and the bound; "
                "for the library kernel its rank, variance and bound. " + found["tuning"] + ". "
                f"On QED's archives: {settings} (length and scale relative to the root mean square "
                "of distances and of deviations).",
                "## Made by",
                made_by(found, "baselines"),
            ]
        )
        + "\n"
    )  # fmt: skip


def baselines_figure(found: dict[str, Any]) -> Figure:
    """Draw regret over trials, and the kit's lead, archive by archive."""
    table = rows(found)
    own = table[table["map"] == "qed"]
    names = [name for name in found["strategies"] if name in set(own["strategy"])]
    made = Figure(figsize=(11.0, 5.0), layout="constrained")
    left, right = made.subplots(1, 2)
    for k, name in enumerate(names):
        mine = own[own["strategy"] == name]
        values = mine.groupby(["trials", "task"])["regret"].mean().groupby("trials").mean()
        left.plot(values.index, values, "o-", color=COLOURS[k], ms=5, lw=1.8, label=name)
    left.set(xscale="log", xlabel="trials of the search", ylabel="regret (fitness)")
    left.set_yscale("symlog", linthresh=0.01)  # regret may be below 0, by chance
    left.set_yticks([0, 0.005, 0.01, 0.03, 0.1, 0.3], ["0", "0.005", "0.01", "0.03", "0.1", "0.3"])
    left.set_xticks(found["budgets"], found["budgets"])
    left.minorticks_off()
    left.axhline(0.0, color="0.7", lw=0.8, zorder=0)
    late = own[own["trials"] == AT]
    kit = by_archive(late[late["strategy"] == "kit"], "value")
    others = [name for name in names if name != "kit"]
    for k, name in enumerate(others):
        less = kit - by_archive(late[late["strategy"] == name], "value")
        tasks = less.index.get_level_values("task")
        colour = COLOURS[names.index(name)]
        right.plot(less, np.full(len(less), k), "o", color=colour, alpha=0.6, ms=6)
        bounds = interval((less.to_numpy(), tasks.to_numpy()))
        if bounds.known:
            right.plot([bounds.low, bounds.high], [k + 0.25] * 2, color=colour, lw=3)
    right.axvline(0.0, color="0.7", lw=0.8, zorder=0)
    right.set_yticks(range(len(others)), others)
    right.invert_yaxis()
    right.set_xlabel(f"kit's fitness after {AT} trials, less")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    handles, labels = left.get_legend_handles_labels()
    made.legend(handles, labels, loc="outside upper center", ncols=6, frameon=False)
    return made


def main() -> None:
    """Write the page and its figure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--numbers", type=Path, default=RESULTS / "baselines.json")
    parser.add_argument("--page", type=Path, default=PAGES / "baselines.md")
    options = parser.parse_args()
    found = json.loads(options.numbers.read_text("utf-8"))
    options.page.write_text(baselines_page(found), "utf-8")
    baselines_figure(found).savefig(options.page.with_suffix(".png"), dpi=80)
    print(f"wrote {options.page.name} and its figure")


if __name__ == "__main__":
    main()
