"""The statistics against numbers worked by hand, counting by brute force, and scipy."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from qed.study.statistics import (
    Fit,
    Step,
    by_count,
    cliffs_delta,
    effect,
    equivalence_p,
    fit,
    interval,
    mean_sd,
    median_iqr,
    pearson,
    permutation_p,
    rank_sum_p,
    stars,
)

nan, inf = math.nan, math.inf
few = st.lists(st.sampled_from([-1.0, -0.25, 0.0, 0.1, 0.5, 2.0]), min_size=1, max_size=12)
points = st.lists(
    st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=3, max_size=30
).filter(lambda pairs: all(len(set(axis)) > 1 for axis in zip(*pairs, strict=True)))


def test_mean_and_sample_deviation():
    # Deviations from 3 are -2, -1, 3: squares add up to 14, over n - 1 = 2.
    assert mean_sd([1, 2, 6]) == (3, pytest.approx(math.sqrt(7)))


def test_median_and_quartiles_between_values():
    # Quantiles at positions 0.75, 1.5 and 2.25 of 0..3.
    assert median_iqr([40, 10, 20, 30]) == (25, pytest.approx(32.5 - 17.5))


def test_what_is_not_finite_is_dropped():
    assert mean_sd([1, nan, 2, inf, 6]) == mean_sd([1, 2, 6])
    assert median_iqr([nan, 40, 10, -inf, 20, 30]) == median_iqr([10, 20, 30, 40])
    assert cliffs_delta([1, nan], [0, inf]) == 1
    assert rank_sum_p([1, nan, 2], [3, inf]) == rank_sum_p([1, 2], [3])
    assert fit([0, 1, nan, 3, 7], [5, 7, 1, nan, 19]) == fit([0, 1, 7], [5, 7, 19])


def test_what_cannot_be_told_is_nan():
    assert mean_sd([4]) == (4, pytest.approx(nan, nan_ok=True))
    assert np.isnan([*mean_sd([]), *median_iqr([nan]), *median_iqr([])]).all()
    assert np.isnan([rank_sum_p([], [1]), rank_sum_p([1], [nan])]).all()
    assert np.isnan([cliffs_delta([], [1]), cliffs_delta([1], [])]).all()
    for x, y in (([], []), ([1], [2]), ([0.1] * 3, [1, 2, 3])):
        assert np.isnan(fit(x, y)[:3]).all()
        assert fit(x, y).n == len(x)
    assert effect(nan) == stars(nan, 3) == ""


def test_rank_sum_by_hand():
    # Ranks 1, 2, 4 of six add up to 7; expected 3 * 7 / 2 = 10.5, variance 3 * 3 * 7 / 12.
    z = (7 - 10.5) / math.sqrt(5.25)
    assert rank_sum_p([1, 2, 4], [3, 5, 6]) == pytest.approx(math.erfc(-z / math.sqrt(2)))


@given(few, few)
def test_rank_sum_is_scipys(x, y):
    assert rank_sum_p(x, y) == stats.ranksums(x, y).pvalue


def test_delta_by_hand():
    # Of six pairs: 2 beats 1, ties 2; 3 beats both; 0 loses to both.
    assert cliffs_delta([2, 3, 0], [1, 2]) == pytest.approx((3 - 2) / 6)


@given(few, few)
def test_delta_counts_pairs(x, y):
    above = sum(a > b for a in x for b in y)
    below = sum(a < b for a in x for b in y)
    assert cliffs_delta(x, y) == (above - below) / (len(x) * len(y))


def test_delta_does_not_make_all_pairs():
    n = 1_000_000  # of which all pairs would not fit any memory
    numbers = np.arange(n)
    start = time.process_time()
    assert cliffs_delta(numbers + n // 2, numbers) == pytest.approx(1 - 0.5**2, abs=1e-5)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("delta", "word"),
    [
        (0, "negligible"),
        (0.1099, "negligible"),
        (0.11, "small"),
        (-0.2799, "small"),
        (-0.28, "medium"),
        (0.4299, "medium"),
        (0.43, "large"),
        (-1, "large"),
    ],
)
def test_effects_begin_at_their_bounds(delta, word):
    assert effect(delta) == word


@pytest.mark.parametrize(
    ("p", "comparisons", "mark"),
    [
        (0.0009, 1, "**"),
        (0.001, 1, "*"),
        (0.049, 1, "*"),
        (0.05, 1, ""),
        (0.00006, 15, "**"),
        (0.00007, 15, "*"),
        (0.0033, 15, "*"),
        (0.0034, 15, ""),
    ],
)
def test_stars_are_for_all_comparisons_together(p, comparisons, mark):
    assert stars(p, comparisons) == mark


def test_line_by_hand():
    # Means 2 and 4; sums of products: xx 8, xy 4, yy 8.  Slope 4/8, r = 4 / sqrt(64).
    assert fit([0, 2, 4, 2], [2, 4, 4, 6]) == pytest.approx(Fit(0.5, 3, 0.5, 4))
    assert pearson([0, 2, 4, 2], [2, 4, 4, 6]) == pytest.approx(0.5)


def test_level_line_has_no_correlation():
    line = fit([1, 2, 3], [0.1, 0.1, 0.1])
    assert line[:2] == (0, 0.1)
    assert math.isnan(line.r)


@given(points)
def test_line_is_scipys(pairs):
    x, y = zip(*pairs, strict=True)
    line, theirs = fit(x, y), stats.linregress(x, y)
    expected = (theirs.slope, theirs.intercept, theirs.rvalue)
    assert line[:3] == pytest.approx(expected, abs=1e-9)
    assert pearson(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)
    assert line.slope == pytest.approx(line.r * np.std(y) / np.std(x), abs=1e-9)
    assert -1 <= line.r <= 1


def test_numbers_too_small_to_square():
    assert fit([0, 1e-200, 2e-200], [0, 3e-200, 6e-200]) == pytest.approx(Fit(3, 0, 1, 3))


def test_by_count():
    # One value at 0; 10, 20, 30, 40 at 2; what has no count or no value is dropped.
    counts = [2, 0, 2, nan, 2, 2, 1]
    values = [40, 5, 10, 99, 20, 30, nan]
    assert by_count(counts, values) == [Step(0, 1, 5, 0), Step(2, 4, 25, 15)]
    assert by_count([], []) == []


# Maps that are told apart more by themselves than by their faults: of 50 recoveries of a map, each
# counts for a twentieth of an independent one.
FAULTS, DESIGN = 50, 20
BETWEEN = (DESIGN - 1) / (FAULTS - 1)  # of the variance, which is 1


def recoveries_of(rng, studies, maps):
    """Return made-up recoveries, (studies, maps, faults), whose mean and median are 0."""
    between = math.sqrt(BETWEEN) * rng.standard_normal((studies, maps, 1))
    within = math.sqrt(1 - BETWEEN) * rng.standard_normal((studies, maps, FAULTS))
    return between + within


def covered(intervals, truth=0.0):
    """Return the part of the intervals that enclose the truth."""
    low, high = np.asarray(intervals)[:, 1:3].T
    return ((low <= truth) & (truth <= high)).mean()


@pytest.mark.parametrize("maps", [3, 5, 10])
def test_intervals_by_map_cover_what_they_say(maps):
    medians = np.median(recoveries_of(np.random.default_rng(maps), 3_000, maps), axis=2)
    assert 0.93 <= covered([interval((row, 0)) for row in medians]) <= 0.97


@pytest.mark.parametrize(("maps", "says"), [(3, 0.75), (5, 0.84), (10, 0.90)])
def test_a_bootstrap_does_not_cover(maps, says):
    """Why there is none: of maps, and of recoveries within them, or of recoveries alone."""
    rng = np.random.default_rng(maps)
    found = recoveries_of(rng, 400, maps)
    drawn = {name: np.empty((400, 200)) for name in ("maps", "hierarchical", "recoveries")}
    for k in range(200):
        few = rng.integers(maps, size=(400, maps))
        chosen = np.take_along_axis(found, few[:, :, None], 1)
        drawn["maps"][:, k] = np.median(chosen, axis=2).mean(1)
        within = rng.integers(FAULTS, size=chosen.shape)
        drawn["hierarchical"][:, k] = np.take_along_axis(chosen, within, 2).mean((1, 2))
        every = found.reshape(400, -1)
        at = rng.integers(every.shape[1], size=every.shape)
        drawn["recoveries"][:, k] = np.take_along_axis(every, at, 1).mean(1)
    cover = {}
    for name, values in drawn.items():
        low, high = np.quantile(values, (0.025, 0.975), axis=1)
        cover[name] = ((low <= 0) & (high >= 0)).mean()
    assert cover["maps"] == pytest.approx(says, abs=0.05)
    assert cover["hierarchical"] == pytest.approx(says, abs=0.07)
    assert cover["recoveries"] < 0.45  # the recoveries are not independent


@pytest.mark.parametrize("maps", [3, 5, 10])
def test_intervals_over_tasks_cover_what_they_say(maps):
    """Also where one task, as flocking does, has most of the variance and another mean."""
    rng = np.random.default_rng(maps)
    scale, shift = np.array([1, 1, 1, 2, 6.0]), np.array([0, 1, 2, 3, -6.0])
    strata = np.repeat(np.arange(5), maps)
    medians = np.median(recoveries_of(rng, 2_000 * 5, maps), axis=2).reshape(2_000, 5, maps)
    medians = (medians * scale[:, None] + shift[:, None]).reshape(2_000, -1)
    assert 0.93 <= covered([interval((row, strata)) for row in medians]) <= 0.97


@pytest.mark.parametrize("maps", [3, 5, 10])
def test_differences_paired_by_fault_cover_what_they_say(maps):
    rng = np.random.default_rng(maps)
    shared = 2 * rng.standard_normal((2_000, maps, FAULTS))  # of the faults that both meet
    ours, theirs = (recoveries_of(rng, 2_000, maps) + shared for _ in "ab")
    paired = np.median(ours + 0.5 - theirs, axis=2)
    assert 0.93 <= covered([interval((row, 0)) for row in paired], 0.5) <= 0.97
    means = ours.mean(2) + 0.5, theirs.mean(2)
    apart = [interval((x, 0), (y, 0)) for x, y in zip(*means, strict=True)]
    assert covered(apart, 0.5) >= 0.93  # valid without the pairs as well
    if maps > 3:
        width = np.diff(np.array(apart)[:, 1:3]).mean()
        assert np.diff([interval((row, 0))[1:3] for row in paired]).mean() < 1.2 * width


@pytest.mark.parametrize("maps", [3, 5, 10])
def test_slopes_within_tasks_cover_what_they_say(maps):
    rng = np.random.default_rng(maps)
    impact = rng.uniform(-0.5, 0.0, (1_000, maps, 1)) - rng.uniform(0, 0.3, (1_000, maps, FAULTS))
    slope = 0.2 + 0.2 * rng.standard_normal((1_000, maps, 1))
    found = slope * impact + recoveries_of(rng, 1_000, maps)
    slopes = [[fit(*pair).slope for pair in zip(*maps, strict=True)]
              for maps in zip(impact, found, strict=True)]  # fmt: skip
    assert 0.93 <= covered([interval((row, 0)) for row in slopes], 0.2) <= 0.97


@pytest.mark.parametrize(("maps", "tasks"), [(3, 5), (5, 1), (5, 3)])
def test_stars_of_equal_maps_are_no_more_often_than_nominal(maps, tasks):
    rng = np.random.default_rng(maps)
    strata = np.repeat(np.arange(tasks), maps)
    studies = 1_000 if tasks == 1 else 150
    ours, theirs = (
        np.median(recoveries_of(rng, studies * tasks, maps), axis=2).reshape(studies, -1)
        for _ in "ab"
    )
    p = np.array(
        [permutation_p((x, strata), (y, strata)) for x, y in zip(ours, theirs, strict=True)]
    )
    marked = np.mean([stars(value, 1) != "" for value in p])
    assert marked <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / studies)
    assert np.mean([stars(value, 15) != "" for value in p]) <= 0.05 / 15 + 0.01
    # The paper's test takes recoveries for independent, and finds most equal maps different.
    x, y = (recoveries_of(rng, 200, maps).reshape(200, -1) for _ in "ab")
    assert np.mean([stars(rank_sum_p(a, b), 1) != "" for a, b in zip(x, y, strict=True)]) > 0.5


def test_permutation_by_hand():
    # 2 of the 20 splits of 6 maps are as far apart as these.
    assert permutation_p(([1, 2, 3], 0), ([4, 5, 6], 0)) == 2 / 20
    # In two tasks 1 of 20 on each side, twice, of 400.
    twice = ["a", "a", "a", "b", "b", "b"]
    ours, theirs = ([1, 2, 3, 1, 2, 3], twice), ([4, 5, 6, 4, 5, 6], twice)
    assert permutation_p(ours, theirs) == 2 / 400
    assert permutation_p(([1, nan], 0), ([2, 3], 0)) == 2 / 3  # 1.5, 0 and 1.5 apart
    assert math.isnan(permutation_p(([], 0), ([2, 3], 0)))


def test_permutation_of_many_is_drawn():
    rng = np.random.default_rng(1)
    strata = np.repeat(np.arange(4), 12)
    ours, theirs = rng.standard_normal((2, 48))
    p = permutation_p((ours, strata), (theirs, strata))
    assert p == permutation_p((ours, strata), (theirs, strata))
    assert p == pytest.approx(stats.ttest_ind(ours, theirs).pvalue, abs=0.03)
    assert 0 < permutation_p((ours + 3, strata), (theirs, strata)) < 0.001


def test_interval_by_hand_and_scipys():
    # Mean 2, variance 1: 2 +- t(.975, 2) / sqrt(3).
    assert interval(([1, 2, 3], 0))[:3] == pytest.approx((2, 2 - 2.4841, 2 + 2.4841), abs=1e-4)
    x, y = [0.1, 0.5, 0.9, 0.4], [0.2, 0.1, 0.3]
    theirs = stats.ttest_ind(x, y, equal_var=False).confidence_interval(0.9)
    assert interval((x, 0), (y, 0), level=0.9)[1:3] == pytest.approx(theirs)
    two = interval(([1, 3, 10, 14], ["a", "a", "b", "b"]))
    assert (two.mean, two.n) == (7, 4)
    assert not interval(([1], 0)).known
    assert interval(([1, 3, 10], ["a", "a", "b"])).mean == 2  # one map of b tells no spread


def test_equivalence_is_two_tests():
    x, y = [0.50, 0.52, 0.51], [0.51, 0.50, 0.53]
    low = stats.ttest_ind(np.array(x) + 0.03, y, equal_var=False, alternative="greater").pvalue
    high = stats.ttest_ind(np.array(x) - 0.03, y, equal_var=False, alternative="less").pvalue
    assert equivalence_p(0.03, (x, 0), (y, 0)) == pytest.approx(max(low, high))
    assert equivalence_p(0.001, (x, 0), (y, 0)) > 0.5
    assert equivalence_p(0.1, ([1, 1], 0), ([1, 1], 0)) == 0
    assert math.isnan(equivalence_p(1, ([1], 0)))


@pytest.mark.parametrize("maps", [3, 5, 10])
def test_maps_just_too_far_apart_are_rarely_called_equal(maps):
    rng = np.random.default_rng(maps)
    medians = np.median(recoveries_of(rng, 2_000, maps), axis=2)
    called = [equivalence_p(1.0, (row + 1.0, 0)) < 0.05 for row in medians]
    assert np.mean(called) <= 0.06
    near = [equivalence_p(3.0, (row, 0)) < 0.05 for row in medians]
    assert np.mean(near) > 0.3
