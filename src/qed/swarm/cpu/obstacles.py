"""Robots at obstacles: a list of contacts, few and one after the other."""

from __future__ import annotations

from typing import Any

from numpy import float32 as f32

from qed.compile import loop
from qed.swarm.cpu import layout as L
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
        dx = contact[L.O_X] - f[L.P_X + i]
        dy = contact[L.O_Y] - f[L.P_Y + i]
        touches = False
        if dx * dx + dy * dy < REACH * REACH:
            c = f[L.P_COS + i]
            s = f[L.P_SIN + i]
            nx, ny, gap, arm, lever = body_point(c * dx + s * dy, c * dy - s * dx)
            touches = gap < OBSTACLE
            if touches:
                contact[L.O_NX] = c * nx - s * ny
                contact[L.O_NY] = s * nx + c * ny
                contact[L.O_ARM] = arm
                contact[L.O_LEVER] = lever
                contact[L.O_NORMAL_SHARE] = share(lever)
                contact[L.O_TANGENT_SHARE] = share(arm)
        if not touches:
            contact[L.O_NORMAL_SHARE] = ZERO
            contact[L.O_PRESS] = ZERO
            contact[L.O_RUB] = ZERO


@loop
def warm_obstacles(b: Any, contacts: int) -> None:
    """Begin with the impulses of the last sub-step."""
    f = b.f
    for e in range(contacts):
        contact = b.touching[e]
        if contact[L.O_NORMAL_SHARE] > ZERO:
            i = b.touched[e, 0]
            nx, ny = contact[L.O_NX], contact[L.O_NY]
            pressed, rubbed = contact[L.O_PRESS], contact[L.O_RUB]
            f[L.P_VX + i] -= pressed * nx - rubbed * ny
            f[L.P_VY + i] -= pressed * ny + rubbed * nx
            f[L.P_SPIN + i] -= torque(contact[L.O_ARM], contact[L.O_LEVER], pressed, rubbed)


@loop
def hold_at_obstacles(b: Any, contacts: int) -> None:
    """Let obstacles hold the robots that touch them."""
    f = b.f
    for e in range(contacts):
        contact = b.touching[e]
        if contact[L.O_NORMAL_SHARE] > ZERO:
            i = b.touched[e, 0]
            nx, ny = contact[L.O_NX], contact[L.O_NY]
            vx, vy = f[L.P_VX + i], f[L.P_VY + i]
            vn, vt, spin, pressed, rubbed = hold(
                vx * nx + vy * ny,
                vy * nx - vx * ny,
                f[L.P_SPIN + i],
                contact[L.O_ARM],
                contact[L.O_LEVER],
                contact[L.O_PRESS],
                contact[L.O_RUB],
                contact[L.O_NORMAL_SHARE],
                contact[L.O_TANGENT_SHARE],
            )
            f[L.P_VX + i] = vn * nx - vt * ny
            f[L.P_VY + i] = vn * ny + vt * nx
            f[L.P_SPIN + i] = spin
            contact[L.O_PRESS] = pressed
            contact[L.O_RUB] = rubbed
