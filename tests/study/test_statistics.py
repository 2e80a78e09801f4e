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
    fit,
    mean_sd,
    median_iqr,
    pearson,
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
