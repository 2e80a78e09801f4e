"""Laws of users in the kernel, which is compiled for them: a sum for each in a lane's registers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from numpy import float32 as f32
from numpy import float64 as f64
from numpy import int32 as i32

from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import device, stage
from qed.swarm.cuda.warp import at
from qed.swarm.laws import geometry
from qed.swarm.laws.sensing import SENSORS
from qed.swarm.own import Law
from qed.swarm.robot import CONES, CYCLE

wrap = device(geometry.wrap)
PER_CYCLE = 1.0 / CYCLE
ONE = f32(1.0)


def law(*_: Any) -> Any:
    """Stand for a user's law; ``adding`` puts the law in its place."""
    raise NotImplementedError


def robot_worth(sf, me, robots, pose, motion, limits, cycle):
    """Return what a law of a robot gives.

    ``pose`` is x, y, heading; ``motion`` the old heading and the speed; ``limits`` the side, the
    top speed, and the distance to the nearest other robot.
    """
    nearest_input = ONE
    for s in range(SENSORS):
        nearest_input = min(nearest_input, sf[L.INPUTS + s * L.LANES + me])
    heard = i32(0)
    for c in range(CONES):
        heard = i32(heard + (i32(1) if sf[L.RAB + c * L.LANES + me] < ONE else i32(0)))
    return f32(
        law(
            f64(pose[0]),
            f64(pose[1]),
            f64(pose[2]),
            f64(motion[1]),
            f64(wrap(pose[2] - motion[0])) * PER_CYCLE,
            f64(limits[0]),
            f64(robots),
            f64(limits[1]),
            f64(limits[2]),
            f64(0.5) * (f64(1.0) - f64(nearest_input)),
            f64(heard),
            f64(cycle) * CYCLE,
        )
    )


def pairs_worth(sf, first, robot, robots, pose, motion):
    """Return what a law gives for the pairs of which a robot is the first.

    Headings and speeds of the others lie in their rows of velocities.
    """
    worth = f32(0.0)
    k = i32(1)
    half = i32(robots >> i32(1))
    while k <= half:
        ahead = i32(robot + k)
        other = at(first + (ahead if ahead < robots else ahead - robots))
        if not (i32(k + k) == robots and robot >= k):
            dx = sf[L.X + other] - pose[0]
            dy = sf[L.Y + other] - pose[1]
            worth += f32(
                law(
                    f64(f32(math.sqrt(dx * dx + dy * dy))),
                    f64(wrap(sf[L.VX + other] - motion[0])),
                    f64(motion[1]),
                    f64(sf[L.VY + other]),
                )
            )
        k = i32(k + i32(1))
    return worth


def adding(laws: Sequence[Law]) -> Any:
    """Return the part of a kernel that adds what laws give to a tuple of sums, one for each.

    ``who`` is the place of the trial's first robot, the robot's number, and their number.
    """
    worths, terms = {}, []
    for k, one in enumerate(laws):
        loop = robot_worth if one.over == "robots" else pairs_worth
        scope = {**globals(), "law": stage(one.adapted(device(one.function)))}
        worths[f"worth_{k}"] = stage(FunctionType(loop.__code__, scope, loop.__name__))
        given = "sf, me, who[2], pose, motion, limits, cycle"
        if one.over == "pairs":
            given = "sf, who[0], who[1], who[2], pose, motion"
        terms.append(f"sums[{k}] + worth_{k}({given})")
    text = f"lambda sf, me, who, pose, motion, limits, cycle, sums: ({', '.join(terms)},)"
    return stage(eval(text, worths))  # the text is made of the words above
