"""The paper's statistics, on arrays of numbers.

Numbers that are not finite are dropped, of pairs the whole pair.  What cannot be told from the
numbers that are left, a standard deviation of one number for example, is NaN.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

EFFECTS = {0.11: "negligible", 0.28: "small", 0.43: "medium"}  # |delta| below each
LARGE = "large"  # |delta| from the last of them
STARS = {0.001: "**", 0.05: "*"}  # of one comparison; for m, divide by m


class Fit(NamedTuple):
    """A straight line through points (x, y)."""

    slope: float  # units of y for one of x
    intercept: float  # units of y
    r: float  # Pearson correlation, -1 to 1
    n: int  # points


class Step(NamedTuple):
    """The values that go with one count."""

    at: int  # the count
    n: int  # values
    median: float
    iqr: float


def mean_sd(values: Any) -> tuple[float, float]:
    """Return the mean and the sample standard deviation (over n - 1), in units of the values."""
    kept = _finite(values)
    mean = float(kept.mean()) if len(kept) else math.nan
    return mean, float(kept.std(ddof=1)) if len(kept) > 1 else math.nan


def median_iqr(values: Any) -> tuple[float, float]:
    """Return the median and the 75% less the 25% quantile, in units of the values."""
    kept = _finite(values)
    if not len(kept):
        return math.nan, math.nan
    low, middle, high = np.quantile(kept, (0.25, 0.5, 0.75)).tolist()
    return middle, high - low


def rank_sum_p(x: Any, y: Any) -> float:
    """Return the two-sided p of the Wilcoxon rank-sum test that x and y are distributed alike."""
    ours, theirs = _finite(x), _finite(y)
    if not len(ours) or not len(theirs):
        return math.nan
    return float(stats.ranksums(ours, theirs).pvalue)


def cliffs_delta(x: Any, y: Any) -> float:
    """Return how often an x is above a y less how often below, as a part of all pairs: -1 to 1."""
    ours, theirs = _finite(x), np.sort(_finite(y))
    pairs = len(ours) * len(theirs)
    if not pairs:
        return math.nan
    above = int(np.searchsorted(theirs, ours, side="left").sum())
    below = pairs - int(np.searchsorted(theirs, ours, side="right").sum())
    return (above - below) / pairs


def effect(delta: float) -> str:
    """Return Vargha and Delaney's word for the size of a Cliff's delta; "" for NaN."""
    if math.isnan(delta):
        return ""
    return next((word for bound, word in EFFECTS.items() if abs(delta) < bound), LARGE)


def stars(p: float, comparisons: int) -> str:
    """Return "**" or "*" if p is below .001 or .05 over the number of comparisons, else ""."""
    return next((mark for alpha, mark in STARS.items() if p < alpha / comparisons), "")


def pearson(x: Any, y: Any) -> float:
    """Return the Pearson correlation of pairs, -1 to 1; NaN if x or y does not vary."""
    return fit(x, y).r


def fit(x: Any, y: Any) -> Fit:
    """Return the least-squares line of y on x, with slope r * sd(y) / sd(x).

    All but n is NaN if x does not vary; if only y does not, the line is level and r is NaN.
    """
    xs, ys = np.asarray(x, float), np.asarray(y, float)
    both = np.isfinite(xs) & np.isfinite(ys)
    xs, ys = xs[both], ys[both]
    n = len(xs)
    # Of equal numbers the mean can be off by a bit, so sums of squares would not be 0.
    if n == 0 or np.ptp(xs) == 0:
        return Fit(math.nan, math.nan, math.nan, n)
    if np.ptp(ys) == 0:
        return Fit(0.0, float(ys[0]), math.nan, n)
    x_mean, y_mean = float(xs.mean()), float(ys.mean())
    x_unit, x_length = _direction(xs - x_mean)
    y_unit, y_length = _direction(ys - y_mean)
    r = max(-1.0, min(1.0, float(x_unit @ y_unit)))
    slope = r * y_length / x_length
    return Fit(slope, y_mean - slope * x_mean, r, n)


def by_count(counts: Any, values: Any) -> list[Step]:
    """Return median and IQR of the values that go with each count, by rising count."""
    several, numbers = np.asarray(counts, float), np.asarray(values, float)
    both = np.isfinite(several) & np.isfinite(numbers)
    several, numbers = several[both], numbers[both]
    steps = []
    for count in np.unique(several):
        there = numbers[several == count]
        steps.append(Step(int(count), len(there), *median_iqr(there)))
    return steps


def _finite(values: Any) -> np.ndarray:
    """Return those of the values that are finite, as float64."""
    array: np.ndarray = np.asarray(values, float).ravel()
    kept: np.ndarray = array[np.isfinite(array)]
    return kept


def _direction(vector: np.ndarray) -> tuple[np.ndarray, float]:
    """Return a vector at length 1, and its length; numbers too small to square are no matter."""
    largest = float(np.abs(vector).max())
    scaled = vector / largest
    length = float(np.linalg.norm(scaled))
    return scaled / length, largest * length
