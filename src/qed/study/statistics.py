"""Statistics on arrays of numbers: the paper's, and those in which the map is the unit.

The paper compares recoveries, but those of one map are alike, so hundreds of them tell little more
than the few maps that they come from.  What follows ``Interval`` takes one number a map (a median,
a slope, a difference of two maps in the same faults) and its stratum, the task.  Intervals are of
Student's t; a bootstrap of three maps, hierarchical or not, covers 75 % where it says 95 %.

Numbers that are not finite are dropped, of pairs the whole pair.  What cannot be told from the
numbers that are left, a standard deviation of one number for example, is NaN.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

EFFECTS = {0.11: "negligible", 0.28: "small", 0.43: "medium"}  # |delta| below each
LARGE = "large"  # |delta| from the last of them
STARS = {0.001: "**", 0.05: "*"}  # of one comparison; for m, divide by m
LEVEL = 0.95  # of intervals
SPLITS = 1_000  # ways to split the maps of a stratum in two that are gone through, else drawn
SUMS = 4_000_000  # combinations of these over strata that are gone through, else drawn
DRAWS = 20_000


class Fit(NamedTuple):
    """A straight line through points (x, y)."""

    slope: float  # units of y for one of x
    intercept: float  # units of y
    r: float  # Pearson correlation, -1 to 1
    n: int  # points


class Interval(NamedTuple):
    """A mean over maps, with the limits that enclose the truth with a probability of ``LEVEL``."""

    mean: float
    low: float
    high: float
    n: int  # maps

    @property
    def known(self) -> bool:
        """Whether there were maps enough for limits."""
        return math.isfinite(self.low)


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


def interval(*sides: tuple[Any, Any], level: float = LEVEL) -> Interval:
    """Return the mean of maps with its limits; of two sides, the first less the second.

    A side is values and their strata, one of each for a map.  The mean is over strata, each with
    the mean of its maps; strata with fewer than two maps on a side are left out.
    """
    mean, error, freedom, n = _stratified(sides)
    half = float(stats.t.ppf((1 + level) / 2, freedom)) * error if n else math.nan
    return Interval(mean, mean - half, mean + half, n)


def equivalence_p(margin: float, *sides: tuple[Any, Any]) -> float:
    """Return the p of two one-sided t tests that a mean, or a difference, is within +-margin."""
    mean, error, freedom, n = _stratified(sides)
    if not n or error == 0:
        return math.nan if not n else float(abs(mean) >= margin)
    return float(stats.t.sf((margin - abs(mean)) / error, freedom))


def permutation_p(ours: tuple[Any, Any], theirs: tuple[Any, Any], seed: int = 1) -> float:
    """Return the two-sided p that maps of two sides are alike, by permuting them within strata.

    All permutations are gone through where there are few; else some are drawn.
    """
    pairs = list(zip(*_by_stratum([ours, theirs], fewest=1).values(), strict=True))
    if not pairs:
        return math.nan
    rng = np.random.default_rng(seed)
    each = [_splits(x, y, rng) for x, y in pairs]
    seen = sum(splits[0] for splits in each)
    if math.prod(map(len, each)) <= SUMS:
        sums = each[0]
        for splits in each[1:]:
            sums = np.add.outer(sums, splits).ravel()
        more = 0
    else:
        sums = np.sum([rng.choice(splits, DRAWS) for splits in each], axis=0)
        more = 1
    tiny = 1e-9 * max(abs(seen), 1e-300)
    beyond = np.count_nonzero(np.abs(sums) >= abs(seen) - tiny)
    return float((beyond + more) / (len(sums) + more))


def _splits(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the difference of the means for splits of two samples' values; first as they are."""
    both, n = np.concatenate([x, y]), len(x)
    if math.comb(len(both), n) <= SPLITS:
        rows = np.array(list(combinations(range(len(both)), n)))
    else:
        drawn = [rng.permutation(len(both))[:n] for _ in range(SPLITS)]
        rows = np.array([range(n), *drawn])
    sums = both[rows].sum(1)
    found: np.ndarray = sums / n - (both.sum() - sums) / len(y)
    return found


def _by_stratum(sides: Sequence[tuple[Any, Any]], fewest: int) -> dict[int, list[np.ndarray]]:
    """Return the values of each side, one array a stratum that all sides have enough of."""
    kept = []
    for values, strata in sides:
        array = np.asarray(values, float)
        names = np.broadcast_to(np.asarray(strata), array.shape)
        finite = np.isfinite(array)
        kept.append((array[finite], names[finite]))
    common = set.intersection(
        *({s for s in names.tolist() if (names == s).sum() >= fewest} for _, names in kept)
    )
    return {
        side: [values[names == stratum] for stratum in sorted(common)]
        for side, (values, names) in enumerate(kept)
    }


def _stratified(sides: Sequence[tuple[Any, Any]]) -> tuple[float, float, float, int]:
    """Return a mean over strata, its standard error, degrees of freedom (Satterthwaite), maps."""
    groups = _by_stratum(sides, fewest=2)
    several = len(groups[0])
    if not several:
        return math.nan, math.nan, math.nan, 0
    mean, variance, spread = 0.0, 0.0, 0.0
    for side, samples in groups.items():
        for values in samples:
            part = float(values.var(ddof=1)) / len(values) / several**2
            mean += (-1) ** side * float(values.mean()) / several
            variance += part
            spread += part**2 / (len(values) - 1)
    freedom = variance**2 / spread if spread > 0 else 1.0
    return mean, math.sqrt(variance), freedom, sum(map(len, groups[0]))


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
