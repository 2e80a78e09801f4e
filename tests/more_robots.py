"""Robots that tests share, beside those of QED: code is compiled for each, so they are few."""

import math

import numpy as np

import qed

# A Thymio that looks down: ahead to its left and right, and behind.
FLOORED = qed.THYMIO.but("thymio-ground", ground=[(0.05, 0.02), (0.05, -0.02), (-0.05, 0.0)])

# Three corners, as many sensors as there may be, each an emitter of messages: 32 inputs.
SIDES = [
    (0.06 - 0.1 * part, sign * 0.06 * part) for part in np.linspace(0, 1, 8) for sign in (1, -1)
]
TRIANGLE = qed.Robot(
    "triangle", body=[(0.06, 0.0), (-0.04, 0.06), (-0.04, -0.06)], mass=0.5, wheel_base=0.07,
    proximity=[(x, y, math.atan2(y, x)) for x, y in SIDES], rab=0, messages=0.2,
)  # fmt: skip
