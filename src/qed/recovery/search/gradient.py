"""What a further trial is worth: by how much it is expected to raise the best expectation."""

from __future__ import annotations

import math

import numpy as np

from qed.recovery.search.gaussian import Posterior

CANDIDATES = 96  # controllers whose trial is weighed
RIVALS = 256  # controllers that may be the best after it
POINTS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def knowledge_gradient(belief: Posterior, candidates: np.ndarray, rivals: np.ndarray) -> np.ndarray:
    """Return E max over rivals of the mean after one trial of each candidate, less that before.

    After a trial of c the means are m + change_c Z with Z ~ N(0, 1), where change_c holds
    covariances with m_c over the standard deviation of the trial; Z is integrated by quadrature.
    """
    shared = belief.covariance(candidates, rivals)
    trial = np.sqrt(belief.variance[candidates] + belief.noise[candidates] ** 2)
    change = shared / trial[:, None]
    means = belief.mean[rivals]
    worth = np.zeros(len(candidates))
    for point, weight in zip(POINTS, WEIGHTS, strict=True):
        worth += weight * (means + point * change).max(axis=1)
    return worth - float(means.max())


def telling(belief: Posterior, one: int, other: int) -> int:
    """Return that of two controllers whose trial tells more about which of them is better.

    A trial of c takes cov(m_one - m_other, m_c)^2 / (var m_c + s_c^2) off the variance of their
    difference.
    """
    both = np.array([one, other])
    shared = belief.covariance(both, both)
    variance = np.diag(shared)
    taken = (variance - shared[0, 1]) ** 2 / (variance + belief.noise[both] ** 2)
    return int(both[np.argmax(taken)])


def promising(belief: Posterior, count: int, spread: float) -> np.ndarray:
    """Return the controllers with the highest mean + spread * standard deviation, ascending."""
    bound = belief.mean + spread * np.sqrt(belief.variance)
    if count >= len(bound):
        return np.arange(len(bound))
    # Sorted stably, so that equals are taken in the order of their numbers.
    return np.sort(np.argsort(-bound, kind="stable")[:count])


def expected_rise(mean: float, deviation: float) -> float:
    """Return E max(X, 0) of X ~ N(mean, deviation^2).

    >>> expected_rise(-1.0, 0.0), round(expected_rise(0.0, 1.0), 4)
    (0.0, 0.3989)
    """
    if deviation <= 0.0:
        return max(mean, 0.0)
    z = mean / deviation
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return mean * 0.5 * math.erfc(-z / math.sqrt(2.0)) + deviation * density
