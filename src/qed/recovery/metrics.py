"""What a fault costs, and what is left of the cost after recovery."""

from __future__ import annotations

import math

import numpy as np

from qed.descriptors.spirit import distance


def impact(normal: float, broken: float) -> float:
    """Return the relative change of the normal best's fitness when the fault strikes.

    -0.25 means that a quarter is lost; NaN if there was nothing to lose.
    """
    return change(normal, broken)


def resilience(normal: float, recovered: float) -> float:
    """Return the relative change from the normal best to the recovery's fitness in the fault.

    On the trials that choose the recovery it is never below the impact, since the normal best is
    one of the controllers to recover with.  On fresh trials it can be.
    """
    return change(normal, recovered)


def change(before: float, after: float) -> float:
    """Return (after - before) / before, NaN if before is 0."""
    return (after - before) / before if before else float("nan")


def standard_error(values: np.ndarray) -> float:
    """Return the standard error of the mean of trials (n,), NaN below two."""
    if len(values) < 2:
        return float("nan")
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def diversity(behaviours: np.ndarray) -> float:
    """Return the mean distance over all pairs of SPIRIT behaviours (n, 1024), NaN below two."""
    count = len(behaviours)
    if count < 2:
        return float("nan")
    total = sum(float(distance(behaviours[k], behaviours[k + 1 :]).sum()) for k in range(count - 1))
    return total / (count * (count - 1) / 2)
