"""A made-up study, with numbers of the paper's size, to test tables, figures and pages."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd

from qed.study.plan import PRESETS, Plan
from qed.study.results import PROGRESS, RECOVERIES, RUNS, Results
from qed.swarm.faults import FAULTS

# Held fast here, so that tests can count on its numbers.
SMALL = PRESETS["quick"].changed(evaluations=5_000, faults=8)
IMPACT = {"qed": -0.23, "hbd": -0.25, "sdbc": -0.24, "spirit": -0.25}
SLOPE = {"qed": 0.17, "hbd": 0.19, "sdbc": 0.19, "spirit": 0.30}
LUCK = 0.02  # of those who are chosen, on the trials that choose them
COVERAGE = {"qed": 4094, "hbd": 1091, "sdbc": 130, "spirit": 127}


def results(plan: Plan | None = None, seed: int = 1) -> Results:
    """Return results as a study of that plan might have them."""
    plan = plan or SMALL
    rng = np.random.default_rng(seed)
    runs, recoveries, progress = [], [], []
    for name in plan.runs():
        key = tuple(name)
        best = 0.8 + 0.02 * rng.standard_normal()
        part = best / 0.85
        filled = int(COVERAGE[name.algorithm] * rng.uniform(0.97, 1.0))
        runs.append(
            {
                **name._asdict(), "cells": 4096, "coverage": filled,
                "best": best, "claimed_best": best + LUCK, "mean": 0.7 * best,
                "best_performance": part, "claimed_best_performance": (best + LUCK) / 0.87,
                "average_performance": 0.7 * part,
                "projected_coverage": int(rng.integers(20, 60)),
                "diversity": rng.uniform(0.14, 0.17),
                "solution_diversity": rng.uniform(0.58, 0.63),
            }
        )  # fmt: skip
        for k, faults in enumerate(plan.faults_of(name.replicate)):
            kinds = [f[0] for f in faults]
            impact = min(IMPACT[name.algorithm] + 0.15 * rng.standard_normal(), 0.05)
            resilience = max(
                SLOPE[name.algorithm] * impact - 0.05 + 0.04 * rng.standard_normal(), impact
            )
            recovered = best * (1 + resilience)
            wheels = sum(FAULTS[f].left < 1 or FAULTS[f].right < 1 for f in faults)
            broken, claimed_best = best * (1 + impact), best + LUCK
            claimed = max(recovered + LUCK, broken)
            recoveries.append(
                {
                    **name._asdict(), "fault": k, "faults": ",".join(faults),
                    "proximity_faults": kinds.count("P"), "rab_faults": list(faults).count("ROFS"),
                    "wheel_faults": wheels, "any_faults": sum(f != "NONE" for f in faults),
                    "normal": best, "broken": broken, "recovered": recovered,
                    "impact": impact, "resilience": resilience, "performance": recovered / 0.85,
                    "claimed_normal": claimed_best, "claimed_broken": broken,
                    "claimed_recovered": claimed, "claimed_impact": broken / claimed_best - 1,
                    "claimed_resilience": claimed / claimed_best - 1,
                    "claimed_performance": claimed / 0.87,
                    "distance": float(
                        np.clip(0.3 - 0.8 * impact + 0.1 * rng.standard_normal(), 0, 1)
                    ),
                    "normal_cell": int(rng.integers(4096)),
                    "recovery_cell": int(rng.integers(4096)),
                }
            )  # fmt: skip
        for done in np.linspace(plan.initial, plan.evaluations, 25).astype(int).tolist():
            x = done / plan.evaluations
            cells = int(filled * (1 - np.exp(-4 * x)) / (1 - np.exp(-4)))
            progress.append((*key, done, cells, best * x**0.1, 0.7 * best * x**0.1, 0.5 * cells))
    settings = {"preset": "quick", **asdict(plan)}
    settings["tasks"], settings["algorithms"] = list(plan.tasks), list(plan.algorithms)
    return Results(
        settings,
        pd.DataFrame(runs, columns=RUNS),
        pd.DataFrame(recoveries, columns=RECOVERIES),
        pd.DataFrame(progress, columns=PROGRESS),
    )
