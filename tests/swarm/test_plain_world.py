"""The engine against the plain world: the same poses, readings, commands, scores and counts.

A swarm that senses itself can be chaotic: rounding errors grow tenfold within a second.  So
random crowds are compared cycle by cycle (each cycle of the plain world begins where the
engine is), which allows tight limits, and calmer worlds run freely.
"""

from __future__ import annotations

import numpy as np
import pytest
from more_robots import FLOORED
from plain_world import TASKS, watch

import qed
from qed.swarm.faults import FAULTS

SPEEDS = (0.05, 0.10, 0.15, 0.20)
RAB_RANGES = (0.25, 0.5, 1.0, 2.0)
PROXIMITY_RANGES = (0.055, 0.11, 0.22, 0.44)
DESCRIPTORS = ("hbd", "sdbc", "spirit")

# Largest difference that rounding explains: in one cycle, and over a free run.  Motion differs by
# no bit so far; two single-precision steps are left for another order of the same sums.
ONE_CYCLE = {"x": 2e-7, "y": 2e-7, "heading": 5e-7, "proximity": 1e-4, "rab": 1e-6, "wheels": 3e-6}
FREE_RUN = {"x": 1e-4, "y": 1e-4, "heading": 2e-3, "proximity": 1e-2, "rab": 1e-3, "wheels": 1e-3}


def agree(controller, env, *, free, seconds=10.0, seed=0, **kw):
    """Check a trial against the plain world: trace(), then simulate()."""
    trace = qed.trace(controller, env, seconds=seconds, seed=seed, **kw)
    lead = None if free else trace
    plain = watch(controller, env, seconds=seconds, seed=seed, lead=lead, **kw)
    for name, limit in (FREE_RUN if free else ONE_CYCLE).items():
        off = np.abs(getattr(trace, name).astype(float) - getattr(plain, name))
        if name == "heading":
            off = np.minimum(off, 2 * np.pi - off)
        assert off.max() < limit, f"{name}: {off.max():g} at {np.argwhere(off >= limit)[0]}"
    np.testing.assert_array_equal(trace.ground, plain.ground)
    kw |= {"tasks": TASKS, "seconds": seconds, "seed": seed, "trials": 1}
    outcome = qed.simulate(controller, env, descriptors=DESCRIPTORS, **kw)
    same_sums(outcome, 0, 0, plain)
    np.testing.assert_array_equal(outcome.situations[0], plain.situations)
    # Without SPIRIT the engine leaves out the sensors that the network does not read.
    lean = qed.simulate(controller, env, **kw)
    assert lean.fitness == outcome.fitness


def same_sums(outcome, swarm, trial, plain):
    """Check fitness and descriptor sums of one trial."""
    for task in TASKS:
        assert outcome.fitness[task][swarm, trial] == pytest.approx(plain.score[task][-1], abs=1e-5)
    assert outcome.radius[swarm, trial] == pytest.approx(plain.radius, abs=1e-5)
    np.testing.assert_array_equal(outcome.visits[swarm][trial], plain.visits)
    np.testing.assert_allclose(outcome.features[swarm, trial], plain.features, rtol=0, atol=1e-5)


def scattered(rng, robots, arena, obstacles=0):
    """Return a start with bodies at random places that do not overlap."""
    centres, places = [], []
    while len(centres) < obstacles:
        place = rng.uniform(0.16, arena - 0.16, 2)
        if all(np.hypot(*(place - other)) > 0.31 for other in centres):
            centres.append(place)
    while len(places) < robots:
        place = rng.uniform(0.08, arena - 0.08, 2)
        apart = all(np.hypot(*(place - other)) > 0.155 for other in places)
        if apart and all(np.hypot(*(place - other)) > 0.23 for other in centres):
            places.append(place)
    headings = rng.uniform(-7.0, 7.0, (robots, 1))
    return qed.Start(np.hstack([places, headings]), np.reshape(centres, (obstacles, 2)))


def environment(rng, robots, arena, obstacles=0, **more):
    """Return an environment with random speed and ranges."""
    return qed.Environment(
        **more,
        robots=robots,
        arena=arena,
        obstacles=obstacles,
        max_speed=rng.choice(SPEEDS),
        rab_range=rng.choice(RAB_RANGES),
        proximity_range=rng.choice(PROXIMITY_RANGES),
    )


def calm(rng, robot=qed.THYMIO):
    """Return a controller that reads every input, but weakly, and drives forward."""
    inputs = 15 + len(robot.ground)
    links = [
        (source, inputs + 1 + wheel, rng.uniform(-0.1, 0.1))
        for source in range(inputs)
        for wheel in (0, 1)
    ]
    return qed.Controller(links, rng.uniform(0.3, 0.8, 2), robot)


def straight(left=1.0, right=1.0):
    """Return a controller that drives on, whatever it senses."""
    return qed.Controller([], [left, right])


@pytest.mark.parametrize("seed", range(48))
def test_a_crowd_cycle_by_cycle(seed):
    rng = np.random.default_rng(seed)
    robots = 1 + seed % 8
    arena, obstacles = [(0.65, 0), (0.9, 0), (1.0, 1), (1.3, 2)][seed // 8 % 4]
    env = environment(rng, robots, arena, obstacles)
    start = scattered(rng, robots, arena, obstacles)
    controller = [straight(*rng.uniform(0.3, 2.0, 2)), calm(rng), qed.Controller.random(seed)][
        seed % 3
    ]
    faults = qed.Faults.sample(robots, seed) if seed % 2 else None
    noise = 0.05 if seed % 4 < 2 else 0.0
    agree(controller, env, free=False, seed=seed, start=start, faults=faults, noise=noise)


@pytest.mark.parametrize("seed", range(12))
def test_a_random_controller_runs_freely(seed):
    rng = np.random.default_rng(100 + seed)
    env = environment(rng, robots=1 + seed % 8, arena=2.0, obstacles=seed % 3)
    # Short: rounding errors grow a thousandfold in a few seconds once robots react to robots.
    agree(qed.Controller.random(seed), env, free=True, seconds=5.0, seed=seed)


def test_a_full_arena():
    env = qed.Environment(robots=20, arena=2.0, obstacles=6, rab_range=2.0, proximity_range=0.44)
    agree(calm(np.random.default_rng(1)), env, free=True, seconds=2.0, seed=4)


@pytest.mark.parametrize("fault", [*FAULTS, qed.Fault("WEAR", wear=0.1)], ids=str)
def test_a_fault(fault):
    rng = np.random.default_rng(7)
    env = qed.Environment(robots=4, arena=0.8, max_speed=0.1, proximity_range=0.22)
    start = scattered(rng, 4, 0.8)
    faults = qed.Faults([fault] * 3 + ["NONE"])
    agree(calm(rng), env, free=True, seconds=6.0, start=start, faults=faults)


PRESSED = {
    "head-on": [(0.4, 0.5, 0.02), (0.6, 0.503, 3.1)],
    "a side": [(0.4, 0.5, 0.3), (0.56, 0.56, -1.2)],
    "a queue at a wall": [(0.1, 0.5, 3.1), (0.25, 0.51, 3.2), (0.4, 0.5, 3.0), (0.55, 0.5, 3.1)],
    "a corner": [(0.12, 0.12, -2.3), (0.27, 0.15, -2.6), (0.15, 0.27, -2.0), (0.3, 0.3, -2.4)],
    "a ring": [
        (0.5 + 0.24 * np.cos(a), 0.5 + 0.24 * np.sin(a), a + np.pi + 0.1)
        for a in np.linspace(0.2, 0.2 + 2 * np.pi, 7)[:-1]
    ],
    "an obstacle": [(0.25, 0.5, 0.1), (0.75, 0.55, 2.9), (0.5, 0.25, 1.4)],
    "obstacle and wall": [(0.12, 0.3, 1.7), (0.1, 0.15, 1.4), (0.3, 0.2, 1.2)],
}
OBSTACLES = {"an obstacle": [(0.5, 0.5)], "obstacle and wall": [(0.25, 0.5)]}


@pytest.mark.parametrize("speed", [0.05, 0.2])
@pytest.mark.parametrize("name", PRESSED)
def test_bodies_press(name, speed):
    poses, centres = PRESSED[name], OBSTACLES.get(name, [])
    env = qed.Environment(
        robots=len(poses), arena=1.0, obstacles=len(centres), max_speed=speed, rab_range=0.5
    )
    start = qed.Start(poses, np.reshape(centres, (-1, 2)))
    agree(straight(1.0, 1.02), env, free=True, seconds=8.0, start=start)


@pytest.mark.parametrize("speed", [0.1, 0.2, 0.4])
def test_reversing_drives_need_their_time(speed):
    links = [(18, 18, -2.0), (18, 16, 2.0), (18, 17, 1.9)]  # full ahead and full astern, by turns
    start = qed.Start([(0.3, 0.3, 0.5), (0.47, 0.38, 0.7), (0.75, 0.9, 1.5)])
    env = qed.Environment(robots=3, arena=1.0, max_speed=speed)
    agree(qed.Controller(links, [0.0, 0.0, 0.5]), env, free=True, seconds=6.0, start=start)


@pytest.mark.parametrize("seed", range(8))
def test_a_floor_of_greys(seed):
    rng = np.random.default_rng(seed)
    robots, arena = 1 + seed % 5, (0.65, 0.9, 1.3)[seed % 3]
    floor = rng.uniform(size=rng.integers(1, 65, 2)) if seed else None
    env = environment(rng, robots, arena, robot=FLOORED, floor=floor)
    controller = [calm(rng, FLOORED), qed.Controller.random(seed, robot=FLOORED)][seed % 2]
    faults = qed.Faults.sample(robots, seed) if seed % 3 else None
    start = scattered(rng, robots, arena)
    agree(controller, env, free=False, seed=seed, start=start, faults=faults)


@pytest.mark.parametrize("task", TASKS)
def test_score_as_time_passes(task):
    env = qed.Environment(robots=5, arena=2.0)
    controller = calm(np.random.default_rng(3))
    trace = qed.trace(controller, env, task=task, seconds=10.0, seed=2)
    plain = watch(controller, env, seconds=10.0, seed=2)
    np.testing.assert_allclose(trace.score, plain.score[task], rtol=0, atol=1e-5)


def test_swarms_and_trials_side_by_side():
    rng = np.random.default_rng(5)
    controllers = [calm(rng), straight(0.6, 0.8), calm(rng)]
    environments = [
        qed.Environment(robots=3, arena=2.0),
        qed.Environment(robots=4, arena=1.5, obstacles=1, rab_range=0.5),
        qed.Environment(robots=2, arena=2.0, max_speed=0.2, proximity_range=0.44),
    ]
    faults = [None, qed.Faults(["ROFS", "PRAND", "LW-H", "NONE"]), qed.Faults(["NONE", "PMAX"])]
    outcome = qed.simulate(
        controllers, environments, tasks=TASKS, descriptors=DESCRIPTORS, trials=3, seconds=5.0,
        seed=9, faults=faults,
    )  # fmt: skip
    for swarm, (controller, env, broken) in enumerate(
        zip(controllers, environments, faults, strict=True)
    ):
        trials = [
            watch(controller, env, seconds=5.0, seed=9, trial=trial, faults=broken)
            for trial in range(3)
        ]
        for trial, plain in enumerate(trials):
            same_sums(outcome, swarm, trial, plain)
        pooled = sum(plain.situations for plain in trials)
        np.testing.assert_array_equal(outcome.situations[swarm], pooled)
