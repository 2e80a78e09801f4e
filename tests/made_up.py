"""A made-up study, with numbers of the paper's size, to test tables, figures and pages."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from qed import paper
from qed.recovery.search.strategies import STRATEGIES
from qed.study.beyond import BUDGETS
from qed.study.plan import PRESETS, Plan
from qed.study.results import BEYOND, PROGRESS, Results
from qed.swarm.faults import FAULTS

# Held fast here, so that tests can count on its numbers.
SMALL = PRESETS["quick"].changed(evaluations=5_000, faults=8)
IMPACT = {"qed": -0.23, "hbd": -0.25, "sdbc": -0.24, "spirit": -0.25}
SLOPE = {"qed": 0.17, "hbd": 0.19, "sdbc": 0.19, "spirit": 0.30}
COVERAGE = {"qed": 4094, "hbd": 1091, "sdbc": 130, "spirit": 127}
HIGHEST = 0.85  # empirical maximum of every task
BIAS = 0.02  # by which the trials that chose a winner flatter it, as a part of its fitness


def results(plan: Plan | None = None, seed: int = 1) -> Results:
    """Return results as a study of that plan might have them."""
    plan = plan or SMALL
    rng = np.random.default_rng(seed)
    runs, recoveries, progress = [], [], []
    for name in plan.runs():
        best = 0.8 + 0.02 * rng.standard_normal()
        filled = int(COVERAGE[name.algorithm] * rng.uniform(0.97, 1.0))
        runs.append(
            run(
                name, best, 0.7 * best, filled=filled,
                projected_filled=int(rng.integers(20, 60)),
                diversity=rng.uniform(0.14, 0.17), solution_diversity=rng.uniform(0.58, 0.63),
            )
        )  # fmt: skip
        for k, faults in enumerate(plan.faults_of(name.replicate)):
            impact = min(IMPACT[name.algorithm] + 0.15 * rng.standard_normal(), 0.05)
            resilience = max(
                SLOPE[name.algorithm] * impact - 0.05 + 0.04 * rng.standard_normal(), impact
            )
            recoveries.append(
                recovery(
                    name, k, faults, best, impact, resilience,
                    distance=float(np.clip(0.3 - 0.8 * impact + 0.1 * rng.standard_normal(), 0, 1)),
                    normal_cell=int(rng.integers(4096)), recovery_cell=int(rng.integers(4096)),
                )
            )  # fmt: skip
        progress += going(plan, name, filled, best)
    return Results(
        settings(plan),
        pd.DataFrame(runs),
        pd.DataFrame(recoveries),
        pd.DataFrame(progress, columns=PROGRESS),
        beyond=beyond(plan),
    )


def run(name: Any, best: float, mean: float, highest: float = HIGHEST, **more: Any) -> dict:
    """Return a row of runs.csv."""
    claimed = (1 + BIAS) * best
    return {
        **name._asdict(), "cells": 4096, "best": best, "mean": mean,
        "best_relative_performance": best / highest,
        "average_relative_performance": mean / highest,
        "claimed_best": claimed, "claimed_best_relative_performance": best / highest,
        **more,
    }  # fmt: skip


def recovery(
    name: Any, fault: int, faults: Any, normal: float, impact: float, resilience: float,
    highest: float = HIGHEST, **more: Any,
) -> dict:  # fmt: skip
    """Return a row of recoveries.csv, the paper's way a little luckier than fresh trials."""
    kinds = [f[0] for f in faults]
    broken, recovered = normal * (1 + impact), normal * (1 + resilience)
    claimed_normal, claimed_recovered = (1 + BIAS) * normal, (1 + BIAS) * recovered
    return {
        **name._asdict(), "fault": fault, "faults": ",".join(faults),
        "proximity_faults": kinds.count("P"), "rab_faults": list(faults).count("ROFS"),
        "wheel_faults": sum(FAULTS[f].left < 1 or FAULTS[f].right < 1 for f in faults),
        "any_faults": sum(f != "NONE" for f in faults),
        "normal": normal, "broken": broken, "recovered": recovered, "impact": impact,
        "resilience": resilience, "relative_performance": recovered / highest,
        "claimed_normal": claimed_normal, "claimed_broken": broken,
        "claimed_recovered": claimed_recovered, "claimed_impact": broken / claimed_normal - 1,
        "claimed_resilience": claimed_recovered / claimed_normal - 1,
        "claimed_relative_performance": recovered / highest, **more,
    }  # fmt: skip


def going(plan: Plan, name: Any, filled: int, best: float) -> list[tuple[Any, ...]]:
    """Return the rows of progress.csv of a run that has settled at its end."""
    rows = []
    for done in np.linspace(plan.initial, plan.evaluations, 25).astype(int).tolist():
        x = done / plan.evaluations
        cells = int(filled * (1 - np.exp(-9 * x)) / (1 - np.exp(-9)))
        rows.append((*name, done, cells, best * x**0.1, 0.7 * best * x**0.1, 0.5 * cells))
    return rows


def beyond(plan: Plan, teams: bool = False) -> pd.DataFrame:
    """Return rows of beyond.csv in which a search loses 0.1 over the root of its trials."""
    ways = [("keep", 0, 0.2), ("best", 0, 0.0), ("playbook", 0, -0.01)]
    ways += [("team", 0, -0.04)] if teams else []
    ways += [(way, budget, 0.1 / budget**0.5) for way in STRATEGIES for budget in BUDGETS]
    rows = [
        (*name, fault, "PMIN", way, trials, 0.5, -0.1 - regret, regret)
        for name in plan.runs()
        for fault in range(2)
        for way, trials, regret in ways
    ]
    return pd.DataFrame(rows, columns=list(BEYOND))


def settings(plan: Plan) -> dict[str, Any]:
    """Return what study.toml says of a plan."""
    found = {"preset": "quick", "fresh": 30, "protocol": "independent", **asdict(plan)}
    told: dict[str, Any] = json.loads(json.dumps(found))
    return told


TYPICAL = {"aggregation": -0.08, "dispersion": -0.22, "patrolling": -0.25,
           "border-patrolling": -0.28, "flocking": -0.83}  # fmt: skip


def like_paper(plan: Plan | None = None, seed: int = 1) -> Results:
    """Return results whose numbers, task by task, are those that the paper prints."""
    plan = plan or PRESETS["paper"]
    rng = np.random.default_rng(seed)

    def printed(metric: str, task: str, algorithm: str) -> tuple[float, float]:
        found = paper.value(metric, task, algorithm)
        assert found
        return found

    runs, recoveries, progress = [], [], []
    for name in plan.runs():
        task, algorithm = name.task, name.algorithm
        off = ((name.replicate - 1) % plan.replicates) - (plan.replicates - 1) / 2
        best, sd = printed("best performance", task, algorithm)
        best = min(best + 0.6 * sd * off, 1.0)
        average = printed("average performance", task, algorithm)[0]
        filled = printed("coverage, cells", "all", algorithm)[0]
        projected = printed("projected coverage, cells", "all", algorithm)[0]
        runs.append(
            run(name, best, average, 1.0, filled=filled, projected_filled=projected,
                diversity=0.15, solution_diversity=0.61)
        )  # fmt: skip
        centre = printed("resilience", task, algorithm)[0]
        left = printed("recovered performance", task, algorithm)[0]
        slope = printed("slope of resilience on impact", "all", algorithm)[0]
        farther = printed("slope of diversity on impact", "all", algorithm)[0]
        for k, faults in enumerate(plan.faults_of(name.replicate)):
            width = 0.04 if task in ("aggregation", "flocking") else 0.08
            impact = TYPICAL[task] + (0.01 if algorithm == "qed" else 0.0)
            away = width * rng.standard_normal()
            resilience = centre + slope * away + 0.02 * rng.standard_normal()
            row = recovery(
                name, k, faults, best, impact + away, resilience, 1.0, normal_cell=0,
                recovery_cell=0,
                distance=float(np.clip(0.3 + farther * (impact + away), 0, 1)),
            )  # fmt: skip
            row["relative_performance"] = left + best * (resilience - centre)
            row["claimed_relative_performance"] = row["relative_performance"]
            recoveries.append(row)
        progress += going(plan, name, int(filled), best + (0.05 if algorithm == "qed" else 0.0))
    return Results(
        settings(plan),
        pd.DataFrame(runs),
        pd.DataFrame(recoveries),
        pd.DataFrame(progress, columns=PROGRESS),
        beyond=beyond(plan),
    )
