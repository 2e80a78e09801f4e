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
            (*key, 4096, filled, best, 0.7 * best, part, 0.7 * part, int(rng.integers(20, 60)),
             rng.uniform(0.14, 0.17), rng.uniform(0.58, 0.63))
        )  # fmt: skip
        for k, faults in enumerate(plan.faults_of(name.replicate)):
            kinds = [f[0] for f in faults]
            impact = min(IMPACT[name.algorithm] + 0.15 * rng.standard_normal(), 0.05)
            resilience = max(
                SLOPE[name.algorithm] * impact - 0.05 + 0.04 * rng.standard_normal(), impact
            )
            recovered = best * (1 + resilience)
            wheels = sum(FAULTS[f].left < 1 or FAULTS[f].right < 1 for f in faults)
            recoveries.append(
                (*key, k, ",".join(faults), kinds.count("P"), list(faults).count("ROFS"), wheels,
                 best, best * (1 + impact), recovered, impact, resilience, recovered / 0.85,
                 float(np.clip(0.3 - 0.8 * impact + 0.1 * rng.standard_normal(), 0, 1)),
                 int(rng.integers(4096)), int(rng.integers(4096)))
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
