"""Definitions of a user's own, as tests use them: also a file for ``--with``."""

from __future__ import annotations

import math

import qed

REACH = 1.0  # m


@qed.law
def near_centre(x, y, heading, speed, arena):
    return max(0.0, 1.0 - math.hypot(x - arena / 2, y - arena / 2) / arena)


@qed.law
def briskness(speed):
    return min(abs(speed), 1.0)


@qed.law
def closeness(distance):
    return max(0.0, 1.0 - distance / REACH)


gather = qed.Task("gather", "meet in the middle", robot=near_centre)
keep_close = qed.Task("keep-close", pair=closeness, score=lambda mean: 2.0 * mean)
tidy = qed.Algorithm(
    "tidy", features=[briskness, closeness], ranges=[(0, 1), (0, 1)], cells=qed.Grid((8, 8))
)
few = qed.Algorithm("few", cells=qed.Attributes({"robots": (3, 5, 8), "obstacles": (0, 1)}))
limping = qed.Fault("LIMP", "left wheel at a tenth", left=0.1)
dead = qed.Fault("DEAD", "stands still, and is not heard", dead=True)
blind = qed.Fault("BLIND", "sensor 2 sees nothing", gain=0.0, noise=0.0, sensors=[2])
weak = qed.Fault("WEAK", "hears half as far", rab_range=0.5)
