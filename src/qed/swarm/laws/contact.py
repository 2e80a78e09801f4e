"""Contacts between force-limited drives and bodies: velocities solved by sequential impulses.

Words are those of Box2D.  Impulses are divided by the robots' mass, so they are velocities (m/s),
and a mass is a part of the robots' mass.  Motion is along a contact's normal n, which points to the
other body, and its tangent t = (-ny, nx); the point that is touched lies ``arm`` along the normal
and ``lever`` along the tangent from the robot's centre (m).  Spins are in rad/s.
"""

from typing import Any

from numpy import float32 as f32
from numpy import int32 as i32

from qed.compile import inlined
from qed.swarm.laws.geometry import at_most
from qed.swarm.laws.motion import MAX_IMPULSE
from qed.swarm.robot import CYCLE, ROBOT

ITERATIONS = 5  # of a sub-step
FRICTION = f32(0.49)  # between robots
WALL_FRICTION = f32(0.07)  # with walls and obstacles
INVERSE_INERTIA = f32(ROBOT.mass / ROBOT.moment)  # I above (1/m2)
MARGIN_TIME = 1.5 * CYCLE  # s of full speed; what is farther off is not met in a cycle

TO_FIXED = f32(2.0**24)
FROM_FIXED = f32(2.0**-24)


def margin(max_speed: float) -> float:
    """Return how far (m) from a body's circumscribed disc a cycle may bring it into touch.

    Robots that others push may be faster than their wheels, but hardly by more than half.
    """
    return MARGIN_TIME * max_speed


def near_radius(proximity_range: float, max_speed: float) -> float:
    """Return how near (m) robots must be to see each other, or to touch in the next cycle."""
    seen = proximity_range + ROBOT.reach + ROBOT.outer_radius
    if ROBOT.messages:
        seen = max(seen, ROBOT.messages + 2.0 * ROBOT.reach)
    return max(seen, 2.0 * ROBOT.outer_radius + 2.0 * margin(max_speed))


# What is solved.  A cycle has five sub-steps of 0.04 s.  In each, bodies move with the velocities
# of before, then it is found what they touch, then velocities are solved.  With r = arm n + lever
# t, a point of a robot moves at v + w x r, so it closes in and slides at
#
#     cn = vn - w lever          ct = vt + w arm
#
# A normal impulse pn and a tangent impulse pt, on the robot along -n and -t, change its motion by
#
#     vn -= pn     vt -= pt     w -= I (arm pt - lever pn)        I = mass / moment of inertia
#
# so that pn changes cn by -(1 + I lever^2) pn, and pt changes ct by -(1 + I arm^2) pt.  Their
# inverses are the effective masses: the impulse mn cn would stop the point.  An iteration adds that
# to the impulse that acts already, and clamps the sum, not the step: bodies do not pull, and
# friction obeys Coulomb,
#
#     pn' = max(0, pn + mn cn)     |pt'| <= friction pn'
#
# Between two robots the inverse masses of both add up: 2 + I (lever_i^2 + lever_k^2).  There are
# two points (corners), whose impulses change each other's speeds by the matrix K of ``coupling``;
# the second is solved with what the first one's change has left.
#
# A drive is a motor with a limited force: it adds the velocity error to its impulse, whose length
# is at most what the force gives in a sub-step.  So it yields late: its impulse has to grow to that
# limit before a contact wins, until then a robot keeps its speed.  The angular drive has no limit:
# at the end of an iteration a robot spins as its wheels ask.  So headings follow the wheels alone,
# but a contact off the centre takes more iterations to stop a robot.  Walls and obstacles see the
# spin that is left from the sub-step before; pairs do not.
#
# Why so.  The original simulator solves five iterations in five sub-steps and does not pull
# overlaps apart, and since drives yield late the number of iterations is seen: with more or fewer
# than five, robots alone at walls end millimetres away from the recorded ones, with five most are
# closer than a hundredth of that (`driven` in benchmarks/results/fidelity.json).  With one corner
# at a wall instead of two they end millimetres away, too; with one point, flush robots sink into
# each other, and flocks score less than in the original.
#
# Pairs are solved all at once from the velocities before the iteration (Jacobi), and their impulses
# are added up as whole numbers of 2^-24 m/s: such sums do not depend on their order, so renumbering
# robots renumbers the result, to the bit, and a GPU may add in any order.  (The original solves
# pairs one after the other, by their numbers.)  Corrections of several partners add up, so robots
# with more than two take a part of each (``relaxation``); otherwise a crushed crowd gains energy.


@inlined
def limit_drive(jx: Any, jy: Any, wx: Any, wy: Any) -> Any:
    """Return the drive's impulse j after it tried to correct the velocity error w (m/s)."""
    ax = jx + wx
    ay = jy + wy
    kept = at_most(MAX_IMPULSE, ax * ax + ay * ay)
    return ax * kept, ay * kept


@inlined
def solve_drive(
    vx: Any, vy: Any, spin: Any, jx: Any, jy: Any, angular_drive: Any, tx: Any, ty: Any, turn: Any
) -> Any:
    """Drive a robot towards the velocity t (m/s) and the turn rate (rad/s).

    Returns the velocity, and the impulses of drive and angular drive; the spin is the turn rate
    then.
    """
    ax, ay = limit_drive(jx, jy, tx - vx, ty - vy)
    return vx + (ax - jx), vy + (ay - jy), ax, ay, angular_drive + (turn - spin)


@inlined
def effective_mass(lever: Any) -> Any:
    """Return the effective mass at a lever (m) of one robot."""
    return f32(1.0) / (f32(1.0) + INVERSE_INERTIA * (lever * lever))


@inlined
def pair_effective_mass(lever_i: Any, lever_k: Any) -> Any:
    """Return the effective mass at levers (m) of two robots."""
    return f32(1.0) / (f32(2.0) + INVERSE_INERTIA * (lever_i * lever_i + lever_k * lever_k))


@inlined
def relaxation(partners_i: Any, partners_k: Any) -> Any:
    """Return the part of its correction that a pair takes at once, by its robots' partners."""
    most = max(partners_i, partners_k)
    return f32(1.0) if most <= 2 else f32(2.0) / f32(most)


@inlined
def normal_impulse(old: Any, mass: Any, closing: Any) -> Any:
    """Return the normal impulse (m/s) after a correction of the closing speed (m/s)."""
    return max(f32(0.0), old + mass * closing)


@inlined
def tangent_impulse(old: Any, mass: Any, sliding: Any, limit: Any) -> Any:
    """Return the tangent impulse (m/s), at most ``limit`` either way."""
    return min(max(old + mass * sliding, -limit), limit)


@inlined
def solve_contact(
    vn: Any, vt: Any, spin: Any, arm: Any, lever: Any,
    pn: Any, pt: Any, normal_mass: Any, tangent_mass: Any,
) -> Any:  # fmt: skip
    """Solve a contact with something fixed; return the robot's motion, and the impulses."""
    new_pn = normal_impulse(pn, normal_mass, vn - spin * lever)
    new_pt = tangent_impulse(pt, tangent_mass, vt + spin * arm, WALL_FRICTION * new_pn)
    dn = new_pn - pn
    dt = new_pt - pt
    return vn - dn, vt - dt, spin - angular_impulse(arm, lever, dn, dt), new_pn, new_pt


@inlined
def solve_point(
    closing: Any, sliding: Any, pn: Any, pt: Any, normal_mass: Any, tangent_mass: Any
) -> Any:
    """Solve a point at which two robots touch; return its impulses pn and pt."""
    new_pn = normal_impulse(pn, normal_mass, closing)
    return new_pn, tangent_impulse(pt, tangent_mass, sliding, FRICTION * new_pn)


@inlined
def point_velocity(
    spin_i: Any, spin_k: Any, arm_i: Any, lever_i: Any, arm_k: Any, lever_k: Any
) -> Any:
    """Return how fast the spins of two robots let a point close in and slide (m/s)."""
    return spin_k * lever_k - spin_i * lever_i, spin_i * arm_i - spin_k * arm_k


@inlined
def coupling(
    arm_i: Any, lever_i: Any, arm_k: Any, lever_k: Any,
    other_arm_i: Any, other_lever_i: Any, other_arm_k: Any, other_lever_k: Any,
) -> Any:  # fmt: skip
    """Return what impulses at one point of two robots take from the speeds at the other point.

    That is K: of the closing speed for the normal and the tangent impulse, then of the sliding
    speed.
    """
    return (
        f32(2.0) + INVERSE_INERTIA * (lever_i * other_lever_i + lever_k * other_lever_k),
        -INVERSE_INERTIA * (arm_i * other_lever_i + arm_k * other_lever_k),
        -INVERSE_INERTIA * (lever_i * other_arm_i + lever_k * other_arm_k),
        f32(2.0) + INVERSE_INERTIA * (arm_i * other_arm_i + arm_k * other_arm_k),
    )


@inlined
def angular_impulse(arm: Any, lever: Any, pn: Any, pt: Any) -> Any:
    """Return the spin (rad/s) that these impulses take from a robot."""
    return INVERSE_INERTIA * (arm * pt - lever * pn)


@inlined
def fixed(value: Any) -> Any:
    """Return an impulse as a whole number of 2^-24 m/s."""
    return i32(value * TO_FIXED)


@inlined
def nearer_wall(at: Any, side: Any) -> Any:
    """Return the sign of the axis towards the nearer of two walls, and the way to it (m)."""
    beyond = side - at
    return (f32(1.0), beyond) if beyond < at else (f32(-1.0), at)


@inlined
def remembered(corner: Any, first: Any, second: Any, one: Any, two: Any) -> Any:
    """Return the impulse that a corner had: one of two that are kept by their corners, or none.

    A negative number is no corner.
    """
    other = two if corner == second else f32(0.0)
    found = one if corner == first else other
    return found if corner >= f32(0.0) else f32(0.0)
