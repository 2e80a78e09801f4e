"""Laws called from Python, with single-precision arguments."""

import numpy as np
from numpy import float32 as f32

# Rays along an axis divide by zero on purpose.
QUIET = {"divide": "ignore", "over": "ignore", "invalid": "ignore"}


def plain(law):
    """Return the law as a function of any numbers, which are rounded to single precision."""

    def call(*values):
        with np.errstate(**QUIET):
            return law(*map(f32, values))

    return call


def rounded(values):
    """Return numbers as the doubles that are exactly their single-precision roundings."""
    return np.asarray(values, f32).astype(float)
