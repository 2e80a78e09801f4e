"""Tell what benchmarks/baselines.py found: a page, and its figure.

    python benchmarks/baselines_page.py

Reads benchmarks/results/baselines.json and writes docs/results/baselines.md and baselines.png
there.
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
    bar,
    judged,
    made_by,
    markdown,
    over_archives,
    over_faults,
    plain,
    short,
    spoken,
)
from matplotlib.figure import Figure

from qed.study.blocks import listed, many, minus

MAPS = {"qed": "QED", "hbd": "HBD", "spirit": "SPIRIT"}
RIVAL = "bo, spirit"  # the primary comparison
AT = 10  # trials, of the primary endpoints
ARCHIVE = ["task", "map", "seed"]


def rows(found: dict[str, Any]) -> pd.DataFrame:
    """Return a row for each archive, fault, strategy and number of trials."""
    kept = []
    cases = found.get("cases") or [{"group": "all", "what": ""}] * len(found["faults"])
    for one in found["archives"]:
        which = {"task": one["task"], "map": one["map"], "seed": one["seed"]}
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


def told_again(found: dict[str, Any]) -> str:
    """Tell how often searches were told a trial again, and which one most often."""
    again: dict[str, int] = {}
    for one in found["archives"]:
        for name, times in one["again"].items():
            again[name] = again.get(name, 0) + times
    total, most = sum(again.values()), max(again, key=lambda name: again[name])
    played = sum(bool(each) for one in found["archives"] for each in one["found"][most])
    share = again[most] / (played * found["budgets"][-1])
    return (
        f"Searches are played against tables of trials. {many(total, 'time')} a search wanted more "
        "trials of a controller than there were, and was told the first ones again"
        + (f"; most often `{most}`, in {100 * share:.1f} % of its trials." if total else ".")
    )


def baselines_page(found: dict[str, Any]) -> str:
    """Return the page about searches of archives."""
    table = rows(found)
    maps = [name for name in MAPS if name in set(table["map"])]
    names = [name for name in found["strategies"] if name in set(table["strategy"])]
    own = table[table["map"] == "qed"]
    late = own[own["trials"] == AT]
    prepared = {
        name: np.mean([a["prepared"][name] for a in found["archives"] if a["map"] == "qed"])
        for name in names
    }
    lines = []
    for name in names:
        mine = own[own["strategy"] == name]
        last = mine[mine["trials"] == AT]
        regrets = [short(by_archive(mine[mine["trials"] == n], "regret")) for n in found["budgets"]]
        less = lead(late, name)
        ahead = f"{spoken(less)} (ahead in {int((less > 0).sum())} of {len(less)})"
        lines.append(
            [f"`{name}`", *regrets, spoken(by_archive(last, "regret")),
             "" if name == "kit" else ahead, harmed(last, found["harm"]), f"{prepared[name]:,.0f}"]
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
    tasks, seeds = list(dict.fromkeys(late["task"])), set(table["seed"])
    lost = late.groupby(["strategy", "task"])["regret"].mean()
    by_task = [[f"`{name}`", *(f"{lost[name, task]:z.3f}" for task in tasks)] for name in names]
    words = "\n".join(f"- `{name}`: {text}" for name, text in found["strategies"].items())
    regret = {n: over_archives(by_archive(late[late["strategy"] == n], "regret")) for n in names}
    known = over_archives(lead(late, RIVAL)).known
    strongest = min((n for n in names if n not in ("kit", RIVAL)), key=lambda n: regret[n].mean)
    return minus(
        "\n\n".join(
            [
                "# Searches that could win",
                "How well does a swarm recover within a few trials, if it may try any controller "
                "of a large archive? Map-based Bayesian optimisation (BO) as in the literature, "
                "tuned on simulated faults, beside kits.",
                f"**So far**: on QED's archives the kit's fitness after {AT} trials less that of "
                f"`{RIVAL}`, which was to be judged, is {ahead_of(late, RIVAL)} Less that of the "
                f"strongest of the others, `{strongest}`, it is {ahead_of(late, strongest)} Less "
                f"that of `prior`, which does not search, it is {ahead_of(late, 'prior')} "
                + (NOT_ADJUSTED if known else TOO_FEW),
                words,
                f"{many(len(found['archives']), 'archive')} of "
                f"{found['evaluations']:,} evaluations of {found['trials']} trials of "
                f"{found['seconds']:g} s, {many(len(seeds), 'replicate')} in "
                f"{many(len(tasks), 'task')}; {len(found['faults'])} combined faults, half of them "
                "uniform, half one-sided, which took no part in tuning or learning. All searches "
                "are told the same trials, first that of the present controller in which the fault "
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
                f"worse off after {AT} trials by more than {found['harm']:g} than if it had kept "
                "its controller; *clearly*, by two standard errors more (of all cases, without "
                "intervals). *Trials beforehand* are those simulated to prepare the search of an "
                "archive: prior means, survey, tuning, kit; evolution comes before.",
                "![Regret over trials, and the kit's lead](baselines.png)",
                "**Left: mean regret on QED's archives. Right: the kit's fitness after "
                f"{AT} trials less that of each strategy; a dot is an archive, a tick their mean "
                "with its interval.**",
                f"## Fitness after {AT} trials, on each map",
                "Maps differ, so here is fitness itself on fresh trials.",
                markdown(["strategy", *(MAPS[one] for one in maps)], reached),
                markdown(["map", "controllers", "kept", "exhaustive winner"], best),
                f"## Regret after {AT} trials, by task, on QED's archives",
                f"Means of {many(len(seeds), 'archive')} each, without intervals.",
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
                f"{settings(found)}\n"
                "- The kit has the defaults of `qed.prepare`, which were not tuned for this page. "
                "They were chosen while QED was written, on other archives and on other faults "
                "that are drawn in the same way. Its answer may be a controller that it has not "
                "tried, and it keeps the present one unless a gain is clear; the others answer "
                "with the best that they have tried.\n"
                f"- {told_again(found)}",
                "## Made by",
                made_by(found, "baselines"),
            ]
        )
        + "\n"
    )  # fmt: skip


def lead(late: pd.DataFrame, name: str) -> pd.Series:
    """Return the kit's fitness less that of a strategy, archive by archive."""
    kit, other = (by_archive(late[late["strategy"] == one], "value") for one in ("kit", name))
    return kit - other


def ahead_of(late: pd.DataFrame, name: str) -> str:
    """Tell how far the kit is ahead of a strategy, and what that shows."""
    found = over_archives(lead(late, name))
    if not found.known:
        return f"{spoken(found)}."
    keys = [*ARCHIVE, "what", "fault"]
    kit, other = (late[late["strategy"] == one].set_index(keys)["value"] for one in ("kit", name))
    faults = over_faults((kit - other).reset_index(), "value")
    shown = judged(found, "the kit is ahead", "the kit is behind", "neither is shown to be ahead")
    return f"{spoken(found)} (of these archives over faults: {spoken(faults)}): {shown}."


def settings(found: dict[str, Any]) -> str:
    """Tell which settings tuning chose on QED's archives, and which are ends of the grid."""
    tuned = next(one["tuned"] for one in found["archives"] if one["map"] == "qed")
    said, ends = [], []
    for name, given in tuned.items():
        grid = found["grid"]["library" if "library" in name else "matern"]
        said.append(f"`{name}` " + ", ".join(f"{key} {value:g}" for key, value in given.items()))
        ends += [
            f"{key} of `{name}`"
            for key, value in given.items()
            if key != "shift" and value in (min(grid[key]), max(grid[key]))
        ]
    return (
        f"On QED's archives: {'; '.join(said)} (length and scale relative to the root mean square "
        "of distances and of deviations). "
        + (
            f"At an end of the grid, so that further out might be better: {listed(ends)}."
            if ends
            else "None of them is at an end of the grid."
        )
    )


def baselines_figure(found: dict[str, Any]) -> Figure:
    """Draw regret over trials, and the kit's lead, archive by archive."""
    table = rows(found)
    own = table[table["map"] == "qed"]
    names = [name for name in found["strategies"] if name in set(own["strategy"])]
    look = {name: (COLOURS[k], MARKS[k]) for k, name in enumerate(names)}
    look["kit"] = ("#000000", "o")
    made = Figure(figsize=(11.5, 5.4), layout="constrained")
    left, right = made.subplots(1, 2)
    for name, (colour, mark) in look.items():
        mine = own[own["strategy"] == name]
        values = mine.groupby(["trials", "task"])["regret"].mean().groupby("trials").mean()
        dashed = name in ("keep", "prior")  # no search
        left.plot(
            values.index, values, "--" if dashed else "-", marker=mark, color=colour, ms=6,
            lw=3 if name == "kit" else 1.6, label=name, zorder=5 if name == "kit" else 2,
        )  # fmt: skip
    left.set(xscale="log", xlabel="trials of the search", ylabel="regret (fitness)")
    left.set_yscale("symlog", linthresh=0.01)  # regret may be below 0, by chance
    left.set_yticks([0, 0.005, 0.01, 0.03, 0.1, 0.3], ["0", "0.005", "0.01", "0.03", "0.1", "0.3"])
    left.set_xticks(found["budgets"], found["budgets"])
    left.minorticks_off()
    left.axhline(0.0, color="0.7", lw=0.8, zorder=0)
    late = own[own["trials"] == AT]
    others = [name for name in names if name != "kit"]
    for k, name in enumerate(others):
        less, (colour, mark) = lead(late, name), look[name]
        right.plot(less, np.full(len(less), k), mark, color=colour, alpha=0.7, ms=6)
        bar(right, over_archives(less), k + 0.28, colour)
    right.axvline(0.0, color="0.7", lw=0.8, zorder=0)
    right.set_yticks(range(len(others)), others)
    right.invert_yaxis()
    right.set_xlabel(f"kit's fitness after {AT} trials, less that of the strategy")
    plain(left, right)
    handles, labels = left.get_legend_handles_labels()
    made.legend(handles, labels, loc="outside upper center", ncols=6, frameon=False)
    return made


if __name__ == "__main__":
    archive_pages.main("baselines", baselines_page, baselines_figure)
