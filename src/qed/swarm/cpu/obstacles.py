"""Robots at obstacles: a list of contacts, few and one after the other."""

from __future__ import annotations

from typing import Any

from numpy import float32 as f32

from qed.compile import loop
from qed.swarm.cpu.layout import (
    O_ARM,
    O_LEVER,
    O_NORMAL_SHARE,
    O_NX,
    O_NY,
    O_PRESS,
    O_RUB,
    O_TANGENT_SHARE,
    O_X,
    O_Y,
    P_COS,
    P_SIN,
    P_SPIN,
    P_VX,
    P_VY,
    P_X,
    P_Y,
)
from qed.swarm.laws.bodies import body_point
from qed.swarm.laws.contact import hold, share, torque
from qed.swarm.robot import BODY_OUTER_RADIUS, OBSTACLE_RADIUS

ZERO = f32(0.0)
OBSTACLE = f32(OBSTACLE_RADIUS)
REACH = f32(OBSTACLE_RADIUS + BODY_OUTER_RADIUS)


@loop
def touch_obstacles(b: Any, contacts: int) -> None:
    """Find the contacts that touch, and begin with the impulses of the last sub-step."""
    touching_obstacles(b, contacts)
    warm_obstacles(b, contacts)


@loop
def touching_obstacles(b: Any, contacts: int) -> None:
    """Find the contacts that touch, and forget the impulses of the others."""
    f = b.f
    for e in range(contacts):
        i = b.touched[e, 0]
        contact = b.touching[e]
        dx = contact[O_X] - f[P_X + i]
        dy = contact[O_Y] - f[P_Y + i]
        touches = False
        if dx * dx + dy * dy < REACH * REACH:
            c = f[P_COS + i]
            s = f[P_SIN + i]
            nx, ny, gap, arm, lever = body_point(c * dx + s * dy, c * dy - s * dx)
            touches = gap < OBSTACLE
            if touches:
                contact[O_NX] = c * nx - s * ny
                contact[O_NY] = s * nx + c * ny
                contact[O_ARM] = arm
                contact[O_LEVER] = lever
                contact[O_NORMAL_SHARE] = share(lever)
                contact[O_TANGENT_SHARE] = share(arm)
        if not touches:
            contact[O_NORMAL_SHARE] = ZERO
            contact[O_PRESS] = ZERO
            contact[O_RUB] = ZERO


@loop
def warm_obstacles(b: Any, contacts: int) -> None:
    """Begin with the impulses of the last sub-step."""
    f = b.f
    for e in range(contacts):
        contact = b.touching[e]
        if contact[O_NORMAL_SHARE] > ZERO:
            i = b.touched[e, 0]
            nx, ny = contact[O_NX], contact[O_NY]
            pressed, rubbed = contact[O_PRESS], contact[O_RUB]
            f[P_VX + i] -= pressed * nx - rubbed * ny
            f[P_VY + i] -= pressed * ny + rubbed * nx
            f[P_SPIN + i] -= torque(contact[O_ARM], contact[O_LEVER], pressed, rubbed)


@loop
def hold_at_obstacles(b: Any, contacts: int) -> None:
    """Let obstacles hold the robots that touch them."""
    f = b.f
    for e in range(contacts):
        contact = b.touching[e]
        if contact[O_NORMAL_SHARE] > ZERO:
            i = b.touched[e, 0]
            nx, ny = contact[O_NX], contact[O_NY]
            vx, vy = f[P_VX + i], f[P_VY + i]
            vn, vt, spin, pressed, rubbed = hold(
                vx * nx + vy * ny,
                vy * nx - vx * ny,
                f[P_SPIN + i],
                contact[O_ARM],
                contact[O_LEVER],
                contact[O_PRESS],
                contact[O_RUB],
                contact[O_NORMAL_SHARE],
                contact[O_TANGENT_SHARE],
            )
            f[P_VX + i] = vn * nx - vt * ny
            f[P_VY + i] = vn * ny + vt * nx
            f[P_SPIN + i] = spin
            contact[O_PRESS] = pressed
            contact[O_RUB] = rubbed
