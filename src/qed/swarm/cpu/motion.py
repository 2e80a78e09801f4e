"""Bodies in motion that nothing touches."""

from __future__ import annotations

from typing import Any

from numpy import float32 as f32

from qed.compile import loop
from qed.swarm.cpu.bits import span
from qed.swarm.cpu.layout import (
    COS,
    GEAR,
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

ZERO = f32(0.0)


@loop
def turn(f: Any, lanes: int) -> None:
    """Remember the pose, find the velocity that is asked for, and turn."""
    for i in range(lanes):
        f[OLD_X + i] = f[X + i]
        f[OLD_Y + i] = f[Y + i]
        f[OLD_HEADING + i] = f[HEADING + i]
        f[OLD_COS + i] = f[COS + i]
        f[OLD_SIN + i] = f[SIN + i]
    for i in range(lanes):
        tx, ty = target(f[LEFT + i], f[RIGHT + i], f[COS + i], f[SIN + i])
        f[TX + i] = tx
        f[TY + i] = ty
    for i in range(lanes):
        rate = turn_rate(f[LEFT + i], f[RIGHT + i])
        heading = wrap(f[HEADING + i] + turned(f[TURN + i], rate))
        c, s = cos_sin(heading)
        f[HEADING + i] = heading
        f[COS + i] = c
        f[SIN + i] = s
        f[TURN + i] = rate


@loop
def glide(f: Any, lanes: int) -> None:
    """Move every robot as if nothing touched it: with the old velocity, then with the new one.

    Only what one impulse of the drive cannot change of the velocity takes a sub-step more.
    """
    for i in range(lanes):
        vx = f[VX + i]
        vy = f[VY + i]
        tx = f[TX + i]
        ty = f[TY + i]
        side = f[SIDE + i]
        part = excess(tx - vx, ty - vy)
        x = f[X + i] + LAG * (vx - part * (tx - vx))
        y = f[Y + i] + LAG * (vy - part * (ty - vy))
        f[X + i] = within(x + DRIVE * tx, side)
        f[Y + i] = within(y + DRIVE * ty, side)
        f[VX + i] = tx
        f[VY + i] = ty
        f[JX + i] = ZERO
        f[JY + i] = ZERO
        f[GEAR + i] = ZERO


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
