"""Bodies in motion that nothing touches."""

from __future__ import annotations

from typing import Any

from numpy import float32 as f32

from qed.compile import loop
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import span
from qed.swarm.laws.geometry import cos_sin, wrap
from qed.swarm.laws.motion import DRIVE, LAG, excess, target, turn_rate, turned, within

ZERO = f32(0.0)


@loop
def turn(f: Any, lanes: int) -> None:
    """Remember the pose, find the velocity that is asked for, and turn."""
    for i in range(lanes):
        f[L.OLD_X + i] = f[L.X + i]
        f[L.OLD_Y + i] = f[L.Y + i]
        f[L.OLD_HEADING + i] = f[L.HEADING + i]
        f[L.OLD_COS + i] = f[L.COS + i]
        f[L.OLD_SIN + i] = f[L.SIN + i]
    for i in range(lanes):
        tx, ty = target(f[L.LEFT + i], f[L.RIGHT + i], f[L.COS + i], f[L.SIN + i])
        f[L.TX + i] = tx
        f[L.TY + i] = ty
    for i in range(lanes):
        rate = turn_rate(f[L.LEFT + i], f[L.RIGHT + i])
        heading = wrap(f[L.HEADING + i] + turned(f[L.TURN + i], rate))
        c, s = cos_sin(heading)
        f[L.HEADING + i] = heading
        f[L.COS + i] = c
        f[L.SIN + i] = s
        f[L.TURN + i] = rate


@loop
def glide(f: Any, lanes: int) -> None:
    """Move every robot as if nothing touched it: with the old velocity, then with the new one.

    Only what one impulse of the drive cannot change of the velocity takes a sub-step more.
    """
    for i in range(lanes):
        vx = f[L.VX + i]
        vy = f[L.VY + i]
        tx = f[L.TX + i]
        ty = f[L.TY + i]
        side = f[L.SIDE + i]
        part = excess(tx - vx, ty - vy)
        x = f[L.X + i] + LAG * (vx - part * (tx - vx))
        y = f[L.Y + i] + LAG * (vy - part * (ty - vy))
        f[L.X + i] = within(x + DRIVE * tx, side)
        f[L.Y + i] = within(y + DRIVE * ty, side)
        f[L.VX + i] = tx
        f[L.VY + i] = ty
        f[L.JX + i] = ZERO
        f[L.JY + i] = ZERO
        f[L.GEAR + i] = ZERO


@loop
def widen(b: Any, s: int) -> None:
    """Lay the positions of a segment out twice, end to end, for shifts that never wrap."""
    f, w = b.f, b.w
    first, _, _, size, _ = span(b.segments, s)
    for i in range(size):
        x = f[L.X + first + i]
        y = f[L.Y + first + i]
        w[L.WIDE_X + 2 * first + i] = x
        w[L.WIDE_Y + 2 * first + i] = y
        w[L.WIDE_X + 2 * first + size + i] = x
        w[L.WIDE_Y + 2 * first + size + i] = y
