"""What must hold in every world: robots stay inside, numbers stay finite, names do not matter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qed
from qed.speed import gathering
from qed.swarm.cpu import layout as L
from qed.swarm.cpu import packing
from qed.swarm.faults import FAULTS
from qed.swarm.robot import THYMIO

SPEEDS = st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.4])
DESCRIPTORS = ["hbd", "sdbc", "spirit"]
TASKS = ["aggregation", "dispersion", "flocking", "patrolling", "border-patrolling"]


@st.composite
def environments(draw: st.DrawFn, smallest: float) -> qed.Environment:
    return qed.Environment(
        max_speed=draw(SPEEDS),
        robots=draw(st.integers(1, 24)),
        arena=draw(st.sampled_from([smallest, 2.0 * smallest, 4.0])),
        obstacles=draw(st.integers(0, 4)),
        rab_range=draw(st.sampled_from([0.25, 1.0, 10.0])),
        proximity_range=draw(st.sampled_from([0.055, 0.11, 0.44, 1.0])),
    )


def controller(draw: st.DrawFn) -> qed.Controller:
    wild = st.floats(-50.0, 50.0) | st.sampled_from([-1e6, 1e6])
    if draw(st.booleans()):
        return qed.Controller.random(draw(st.integers(0, 10_000)))
    links = draw(st.lists(st.tuples(st.integers(0, 15), st.integers(16, 18), wild), max_size=8))
    return qed.Controller(links, [draw(wild), draw(wild), draw(wild)])


@st.composite
def crushed(draw: st.DrawFn) -> tuple[qed.Environment, qed.Controller, qed.Faults, qed.Start]:
    """Draw a world in which robots and obstacles may lie on top of each other."""
    env = draw(environments(0.5))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    poses = rng.uniform(0.0, env.arena, (2, env.robots, 3))
    if draw(st.booleans()):
        poses[1, :, :2] = poses[1, 0, :2]
    start = qed.Start(poses, rng.uniform(0.0, env.arena, (2, env.obstacles, 2)))
    faults = qed.Faults(draw(st.sampled_from(sorted(FAULTS))) for _ in range(env.robots))
    return env, controller(draw), faults, start


@given(crushed())
@settings(max_examples=150, deadline=None)
def test_even_a_crushed_swarm_stays_inside(
    world: tuple[qed.Environment, qed.Controller, qed.Faults, qed.Start],
) -> None:
    env, swarm, faults, start = world
    outcome = qed.simulate(
        swarm, env, tasks=TASKS, seconds=20.0, faults=faults, start=start, descriptors=DESCRIPTORS
    )
    for values in outcome.fitness.values():
        assert np.isfinite(values).all()
        assert (values >= -1e-6).all()
    assert all(visits.sum(1).tolist() == [env.robots * 100] * 2 for visits in outcome.visits)
    for trial in (0, 1):
        seen = qed.trace(swarm, env, seconds=10.0, faults=faults, start=start, trial=trial)
        for places in (seen.x, seen.y):
            assert (places >= 0.0).all()
            assert (places <= env.arena + 1e-6).all()
        assert (np.abs(seen.heading) <= math.pi + 1e-6).all()
        for inputs in (seen.proximity, seen.rab):
            assert (np.abs(inputs) <= 1.0).all()
        assert (np.abs(seen.wheels) <= env.max_speed * (1 + 1e-6)).all()


@st.composite
def placed(draw: st.DrawFn) -> tuple[qed.Environment, qed.Controller, int]:
    env = draw(environments(2.0))
    if env.max_speed > 0.2:
        env = qed.Environment(robots=env.robots, arena=env.arena, obstacles=env.obstacles)
    return env, controller(draw), draw(st.integers(0, 1000))


@given(placed())
@settings(max_examples=60, deadline=None)
def test_a_body_never_sinks_into_a_wall(
    world: tuple[qed.Environment, qed.Controller, int],
) -> None:
    env, swarm, seed = world
    seen = qed.trace(swarm, env, seconds=60.0, seed=seed)
    room = np.minimum(
        np.minimum(seen.x, env.arena - seen.x), np.minimum(seen.y, env.arena - seen.y)
    )
    assert room.min() > THYMIO.inner_radius - 0.012


@given(st.integers(0, 1000), st.integers(2, 12))
@settings(max_examples=25, deadline=None)
def test_renumbering_the_robots_renumbers_the_result(seed: int, robots: int) -> None:
    env = qed.Environment(robots=robots, arena=2.0, obstacles=2)
    swarm = qed.Controller.random(seed)
    before = qed.trace(swarm, env, seconds=20.0, seed=seed, noise=0.0)
    order = np.random.default_rng(seed).permutation(robots)
    start = qed.Start(before.start[order], before.obstacles)
    after = qed.trace(swarm, env, seconds=20.0, start=start, noise=0.0)
    for name in ("x", "y", "heading", "proximity", "rab", "wheels"):
        assert np.array_equal(getattr(after, name), getattr(before, name)[:, order]), name
    assert after.score[-1] == pytest.approx(before.score[-1], abs=1e-6)


def test_drawn_places_do_not_overlap_and_keep_off_the_walls() -> None:
    env = qed.Environment(robots=20, arena=2.0, obstacles=6)
    still = qed.Controller([], [0.0, 0.0])
    for trial in range(20):
        seen = qed.trace(still, env, seconds=0.2, trial=trial)
        places = seen.start[:, :2].astype(float)
        assert places.min() >= 0.5
        assert places.max() <= 1.5
        apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
        assert apart[np.triu_indices(20, 1)].min() > 0.1
        centres = seen.obstacles.astype(float)
        apart = np.hypot(*(centres[:, None] - centres[None]).transpose(2, 0, 1))
        assert apart[np.triu_indices(6, 1)].min() >= 0.3 - 1e-6
        apart = np.hypot(*(places[:, None] - centres[None]).transpose(2, 0, 1))
        assert apart.min() > 0.15 + THYMIO.inner_radius - 1e-6


def test_draws_are_uniform() -> None:
    env = qed.Environment(robots=1)
    still = qed.Controller([], [0.0, 0.0])
    starts = np.array(
        [qed.trace(still, env, seconds=0.2, seed=seed).start[0] for seed in range(400)]
    )
    for column, (low, high) in zip(
        starts.T, ((0.5, 3.5), (0.5, 3.5), (-math.pi, math.pi)), strict=True
    ):
        counts, _ = np.histogram(column, 8, (low, high))
        assert counts.sum() == 400
        assert ((counts - 50.0) ** 2 / 50.0).sum() < 24.3  # chi-square, 7 df, p = 0.001


def test_what_a_block_leaves_in_its_memory_does_not_matter():
    where = qed.Environment(arena=2.0, obstacles=2)
    swarms = [qed.Controller.random(seed) for seed in range(4)] + [gathering()]

    def fitness():
        return qed.simulate(swarms, where, tasks=TASKS, trials=20, seconds=30.0, threads=1).fitness

    before = fitness()
    assert packing.spare
    for rows, floats, wholes in packing.spare:
        rows[:] = floats[:] = np.nan
        wholes[: L.PLACE] = wholes[L.PLACE + L.PAIR_STRIDE :] = np.iinfo(np.int32).max
    after = fitness()
    for task, values in before.items():
        np.testing.assert_array_equal(values, after[task])
