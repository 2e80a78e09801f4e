"""Some swarms in some environments, simulated and recorded: what descriptors are tested on."""

from __future__ import annotations

from functools import cache

import behaviours

import qed

TRIALS, SECONDS, SEED = 3, 30.0, 11
SWARMS = [
    (behaviours.PATROLLER, qed.Environment()),
    (behaviours.AGGREGATOR, qed.Environment(robots=20, arena=2.0, obstacles=2)),
    (behaviours.FLOCKER, qed.Environment(robots=5, arena=3.0, max_speed=0.2, rab_range=2.0)),
    (qed.Controller.random(3), qed.Environment(robots=20, arena=5.0, max_speed=0.05)),
    (qed.Controller.random(8), qed.Environment(robots=4, arena=2.0, proximity_range=0.44)),
    (qed.Controller.random(21), qed.Environment(robots=2, arena=3.0, obstacles=6)),
    (behaviours.STILL, qed.Environment(robots=15, arena=3.0)),
    (behaviours.STRAIGHT, qed.Environment(robots=1, arena=4.0, max_speed=0.15)),
]
ENVIRONMENTS = [environment for _, environment in SWARMS]
FAULTS = [qed.Faults.sample(robots=10, seed=7), *[None] * (len(SWARMS) - 1)]


@cache
def outcome(trials=TRIALS, seconds=SECONDS):
    """Return what simulate() adds up."""
    return qed.simulate(
        [controller for controller, _ in SWARMS],
        ENVIRONMENTS,
        trials=trials,
        seconds=seconds,
        seed=SEED,
        faults=FAULTS,
        descriptors=["hbd", "sdbc", "spirit"],
    )


@cache
def traces():
    """Return the same trials cycle by cycle: for each swarm, a trace of each trial."""
    return [
        [
            qed.trace(
                controller, environment, seconds=SECONDS, seed=SEED, trial=trial, faults=faults
            )
            for trial in range(TRIALS)
        ]
        for (controller, environment), faults in zip(SWARMS, FAULTS, strict=True)
    ]
