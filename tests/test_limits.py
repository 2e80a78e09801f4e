"""Settings that many functions take: the bounds are allowed, what lies beyond is refused."""

import math

import pytest

from qed import limits
from qed.errors import InputError

BOUNDS = {
    limits.trials: (1, 10**6),
    limits.seconds: (0.2, 1e6),
    limits.seed: (0, 2**63 - 1),
    limits.threads: (1, 1024),
    limits.evaluations: (1, 10**12),
    limits.batch: (1, 10**6),
    limits.replicates: (1, 1000),
}


@pytest.mark.parametrize("check", BOUNDS, ids=lambda check: check.__name__)
def test_bounds(check):
    low, high = BOUNDS[check]
    assert (check(low), check(high)) == (low, high)
    for wrong in (low - 1, high * 2, math.nan, "many"):
        with pytest.raises(InputError, match=f"{check.__name__} must be .*got {wrong!r}"):
            check(wrong)


def test_no_number_of_threads_means_all_cores():
    assert limits.threads(None) is None


def test_other_names():
    with pytest.raises(InputError, match="fresh must be"):
        limits.trials(0, "fresh")
    with pytest.raises(InputError, match="initial must be"):
        limits.evaluations(0, "initial")
