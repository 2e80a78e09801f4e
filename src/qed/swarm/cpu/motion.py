"""Bodies in motion: the lag before a command acts, and the glide after contacts are solved."""

from __future__ import annotations

from typing import Any

from qed.swarm.compile import loop
from qed.swarm.cpu.bits import span
from qed.swarm.cpu.rows import (
    COS,
    HEADING,
    JX,
    JY,
    LEFT,
    OLD_COS,
    OLD_HEADING,
    OLD_SIN,
    OLD_X,
    OLD_Y,
    RIGHT,
    SIDE,
    SIN,
    TURN,
    TX,
    TY,
    VX,
    VY,
    WIDE_X,
    WIDE_Y,
    X,
    Y,
)
from qed.swarm.laws.geometry import cos_sin, wrap
from qed.swarm.laws.motion import DRIVE, LAG, excess, target, turn_rate, turned, within


@loop
def lag(f: Any, lanes: int) -> None:
    """Move on with the old velocity, turn, and find the velocity that is asked for."""
    for i in range(lanes):
        f[OLD_X + i] = f[X + i]
        f[OLD_Y + i] = f[Y + i]
        f[OLD_HEADING + i] = f[HEADING + i]
        f[OLD_COS + i] = f[COS + i]
        f[OLD_SIN + i] = f[SIN + i]
    for i in range(lanes):
        tx, ty = target(f[LEFT + i], f[RIGHT + i], f[COS + i], f[SIN + i])
        vx = f[VX + i]
        vy = f[VY + i]
        part = excess(tx - vx, ty - vy)
        ex = part * (tx - vx)
        ey = part * (ty - vy)
        f[X + i] += LAG * (vx - ex)
        f[Y + i] += LAG * (vy - ey)
        f[VX + i] = vx + ex
        f[VY + i] = vy + ey
        f[TX + i] = tx
        f[TY + i] = ty
    for i in range(lanes):
        turn = turn_rate(f[LEFT + i], f[RIGHT + i])
        heading = wrap(f[HEADING + i] + turned(f[TURN + i], turn))
        c, s = cos_sin(heading)
        f[HEADING + i] = heading
        f[COS + i] = c
        f[SIN + i] = s
        f[TURN + i] = turn


@loop
def coast(f: Any, lanes: int) -> None:
    """Give every robot the velocity it asks for, as if nothing touched it."""
    for i in range(lanes):
        f[JX + i] = f[TX + i] - f[VX + i]
        f[JY + i] = f[TY + i] - f[VY + i]
        f[VX + i] = f[TX + i]
        f[VY + i] = f[TY + i]


@loop
def glide(f: Any, lanes: int) -> None:
    """Move with the velocities that the contacts left, and never beyond a wall."""
    for i in range(lanes):
        side = f[SIDE + i]
        f[X + i] = within(f[X + i] + DRIVE * f[VX + i], side)
        f[Y + i] = within(f[Y + i] + DRIVE * f[VY + i], side)


@loop
def widen(b: Any, s: int) -> None:
    """Lay the positions of a segment out twice, end to end, for shifts that never wrap."""
    f, w = b.f, b.w
    first, _, _, size, _ = span(b.segments, s)
    for i in range(size):
        x = f[X + first + i]
        y = f[Y + first + i]
        w[WIDE_X + 2 * first + i] = x
        w[WIDE_Y + 2 * first + i] = y
        w[WIDE_X + 2 * first + size + i] = x
        w[WIDE_Y + 2 * first + size + i] = y
