"""A world that is stepped from outside does what it does with a controller, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from outside import Outside

import qed

CROWDED = qed.Environment(robots=7, arena=1.5, obstacles=1, max_speed=0.15)
EACH = qed.Faults(["LW-H", "PMAX", "ROFS", "PRAND", qed.Fault("LOST", dead=True),
                   qed.Fault("WEAR", wear=0.03), "BW-H"])  # fmt: skip
# Reads all kinds of inputs, remembers, and drives into others.
BUSY = qed.Controller(
    [(1, 16, 0.7), (3, 17, 0.6), (6, 18, -0.9), (7, 17, -0.3), (11, 18, 0.4), (13, 16, 0.2),
     (18, 18, 0.5), (18, 17, -0.3), (15, 16, 0.1)],
    [0.4, 0.5, 0.2],
)  # fmt: skip


def poses_of(seen, t):
    return np.stack([seen.x[t], seen.y[t], seen.heading[t]], -1)


@pytest.mark.parametrize("faults", [None, EACH])
@pytest.mark.parametrize("task", ["patrolling", "flocking"])
def test_a_network_outside_does_what_it_does_inside(task, faults):
    given = {"task": task, "seed": 4, "faults": faults}
    seen = qed.trace(BUSY, CROWDED, seconds=12.0, **given)
    world, outside = qed.World(CROWDED, **given), Outside(BUSY)
    assert np.isnan(world.score)
    wheels = np.zeros((7, 2))
    for t in range(len(seen.x)):
        readings = world.step(wheels)
        np.testing.assert_array_equal(readings.proximity, seen.proximity[t])
        np.testing.assert_array_equal(readings.rab, seen.rab[t])
        np.testing.assert_array_equal(world.poses, poses_of(seen, t))
        assert world.score == seen.score[t]
        wheels = outside(readings)
    assert (seen.proximity < 0.9).any()
    assert (seen.rab < 0.9).any()
    assert np.ptp(seen.wheels, 0).min(1).max() > 0.05


@pytest.mark.parametrize("threads", [1, 3])
def test_many_worlds_are_the_trials_of_simulate(threads):
    given = {"task": "dispersion", "seed": 9, "faults": EACH}
    many, outside = qed.World(CROWDED, worlds=4, threads=threads, **given), Outside(BUSY)
    wheels = np.zeros((4, 7, 2))
    for _ in range(20):
        wheels = outside(many.step(wheels))
    ran = qed.World(CROWDED, worlds=4, threads=threads, **given)
    fitness = qed.simulate(BUSY, CROWDED, trials=4, seconds=4.0, **given).fitness["dispersion"][0]
    np.testing.assert_array_equal(many.score, fitness)
    np.testing.assert_array_equal(ran.run(BUSY, 4.0), fitness)
    for world in (many, ran):
        assert world.obstacles.shape == (4, 1, 2)
        seen = qed.trace(BUSY, CROWDED, seconds=4.0, trial=3, **given)
        np.testing.assert_array_equal(world.poses[3], poses_of(seen, -1))
    with pytest.raises(ValueError, match="a trace is of one world"):
        many.trace(BUSY, 1.0)


def test_steps_and_controllers_take_turns():
    """Commands that are always the same are one simulation, whoever gives them."""
    always = qed.Controller([], [1.1, 0.6])
    seen = qed.trace(always, CROWDED, task="aggregation", seconds=9.0, seed=2)
    world, outside = qed.World(CROWDED, "aggregation", seed=2), Outside(always)
    scores = [world.run(always, 3.0)]
    for _ in range(15):
        world.step(outside(np.ones((1, 7, 15), np.float32))[0])
    scores += [world.score, world.run(always, 3.0)]
    np.testing.assert_array_equal(world.poses, poses_of(seen, -1))
    assert np.mean(scores) == pytest.approx(seen.score[-1], abs=1e-7)
    assert len(set(scores)) == 3


def test_faults_strike_between_steps_and_end_no_stretch():
    world = qed.World(
        qed.Environment(robots=2),
        "aggregation",
        start=qed.Start([[1.0, 1.0, 0.0], [1.0, 3.0, 0.0]]),
    )
    for t in range(20):
        if t == 10:
            world.faults = qed.Faults("BW-H,PMAX")
        readings = world.step(np.full((2, 2), 0.5))
    # Half of 0.1 m/s; each change of the command comes a sub-step of 0.04 s late.
    assert world.poses[:, 0] == pytest.approx([1.0 + 0.098 + 0.051, 1.0 + 0.198], abs=1e-5)
    assert readings.proximity[1, :5].max() == -1.0
    assert readings.proximity[0].min() > 0.8
    # Two metres apart in y, one from their centre: the part in x is small.
    assert world.score == pytest.approx(1.0 - 1.0 / 32.0**0.5, abs=1e-4)


def test_robots_that_touch_push_from_the_first_step_on():
    """Head on, two equal robots stop each other; each goes on for one sub-step at most."""
    start = qed.Start([[1.0, 1.0, 0.0], [1.1105, 1.0, np.pi]])
    world = qed.World(qed.Environment(robots=2, max_speed=0.2), start=start)
    for _ in range(3):
        world.step(np.ones((2, 2)))
        assert np.diff(world.poses[:, 0]) > 0.1105 - 2.0 * 0.2 * 0.04 - 1e-5


@pytest.mark.parametrize("slow", [0, 4])
def test_wheels_may_be_faster_than_the_top_speed(slow):
    """Three times the wheels of a third of the speed are the same world, in a crowd too."""
    slower, faster = (
        qed.World(qed.Environment(robots=9, arena=1.6, obstacles=1, max_speed=speed), seed=3)
        for speed in (0.125, 0.375)
    )
    rng = np.random.default_rng(5)
    wheels = rng.uniform(0.2, 1.0, (12, 9, 2)).astype(np.float32)
    wheels[:, 0, 0] = 1.0
    wheels[:slow] /= 3.0
    for one in wheels:
        read, other = slower.step(3.0 * one), faster.step(one)
    if slow:  # how far it is looked for contacts differs until then, and so does rounding
        np.testing.assert_allclose(slower.poses, faster.poses, atol=1e-4)
    else:
        np.testing.assert_array_equal(slower.poses, faster.poses)
        np.testing.assert_array_equal(read.proximity, other.proximity)
    gone = np.hypot(*(slower.poses - qed.World(slower.environment, seed=3).poses)[:, :2].T)
    assert (gone > 12 * 0.2 * 0.125).any()


@pytest.mark.parametrize(
    ("wheels", "words"),
    [
        (np.zeros((6, 2)), r"wheels must have shape \(robots, 2\) = \(7, 2\), got \(6, 2\)"),
        (np.zeros((1, 7, 2)), r"wheels must have shape"),
        (np.full((7, 2), np.nan), "wheels must be finite .* got nan"),
        (np.full((7, 2), -np.inf), "wheels must be finite .* got -inf"),
        (np.full((7, 2), 6.7), r"within \+-6.66667 .* got 6.7"),
        ("fast", r"wheels must have shape|wheels must be numbers"),
        ([[1.0, 0.5], [1.0]], "wheels must be numbers, of shape"),
        (None, "wheels must"),
    ],
)
def test_wheels_that_cannot_be_are_refused_and_nothing_happens(wheels, words):
    world = qed.World(CROWDED, seed=1)
    world.step(np.ones((7, 2)))
    before, score = world.poses, world.score
    with pytest.raises(qed.InputError, match=words):
        world.step(wheels)
    np.testing.assert_array_equal(world.poses, before)
    assert (world.cycle, world.score) == (1, score)
    with pytest.raises(qed.InputError, match=r"\(worlds, robots, 2\) = \(3, 7, 2\)"):
        qed.World(CROWDED, worlds=3).step(np.zeros((7, 2)))
