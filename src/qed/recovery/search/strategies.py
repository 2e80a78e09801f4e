"""Which controller to try next, and what is believed of all of them: five strategies.

A strategy is a function of what was seen alone, so that the same trials lead to the same
decision, whatever their order, and a search can be resumed from its trials.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from qed.recovery.search.gaussian import Observations, Posterior, Prior, best_posterior
from qed.streams import stream

LEARNED, MAP, PORTFOLIO, RANDOM, EXHAUSTIVE = "learned", "map", "portfolio", "random", "exhaustive"
STRATEGIES = {
    LEARNED: "a Gaussian prior learned from simulated faults",
    MAP: "map-based Bayesian optimisation: normal fitness, and a kernel fitted to the library",
    PORTFOLIO: "the controllers that together cover the simulated faults, one after the other",
    RANDOM: "controllers at random",
    EXHAUSTIVE: "every controller, the best in the normal environment first",
}
CAREFUL = 5  # trials chosen by the knowledge gradient, the free one of the present included
DOUBT = 2.0  # standard deviations of a lead up to which it is put to the test after these
VERIFY = 2  # every second of these tests a lead in doubt, the others look for a better one
WORTH_DIGITS = 12  # after the decimal point, of what a trial is worth in fitness
BOUND = 2.0  # standard deviations above the mean
NEAR_BOUND = 0.7  # the same once a few trials have shown where to look
MAP_BOUND = 0.93  # the same of map-based optimisation, as Bossens and Tarapore tuned it
LENGTHS = (0.06, 0.12, 0.25, 0.5, 1.0, 2.0)  # of its kernel, on a map of side 1
SHIFTS = (0.0, 0.3, 0.6, 0.9)  # parts of its variance that all controllers share
NUGGET = 0.05  # of its variance: what is a controller's own
MOST_FITTED = 256  # controllers whose library decides among these
CANDIDATES = 96  # controllers whose trial is weighed
RIVALS = 256  # controllers that may be the best after it
POINTS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True, eq=False)
class Known:
    """What a kit knows of its controllers before a search."""

    prior: Prior
    normal: np.ndarray  # (n,): fitness in the normal environment
    places: np.ndarray  # (n, d): where they lie in the map, each axis 0 to 1
    portfolio: np.ndarray  # controllers in the order in which they cover the library


class Strategy(Protocol):
    """What a search needs."""

    def belief(self, seen: Observations) -> Posterior:
        """Return what is believed of each controller."""

    def choose(self, seen: Observations, belief: Posterior, present: int) -> int:
        """Return the controller to try next; ``present`` is what the swarm runs."""

    def answers(self, seen: Observations) -> np.ndarray | None:
        """Return the controllers that may be the answer; None: all."""


@dataclass(frozen=True, eq=False)
class Learned:
    """The prior of the kit and the knowledge gradient; then the lead is verified.

    To change the controller needs a clear gain.  So when some trials have found a leader, every
    second one goes to it or to the present controller until their difference is beyond doubt; the
    others go by an upper bound.
    """

    known: Known

    def belief(self, seen: Observations) -> Posterior:
        """Return the posterior of the kit's prior."""
        return best_posterior(self.known.prior, seen)

    def choose(self, seen: Observations, belief: Posterior, present: int) -> int:
        """Return the controller whose trial is worth most."""
        if seen.trials < CAREFUL:
            candidates = promising(belief, CANDIDATES, BOUND)
            rivals = promising(belief, RIVALS, BOUND)
            worth = knowledge_gradient(belief, candidates, rivals)
            return int(candidates[np.argmax(worth)])
        leader = int(np.argmax(belief.mean))
        gain, deviation = belief.ahead(leader, present)
        testing = (seen.trials - CAREFUL) % VERIFY == 0
        if testing and leader != present and gain < DOUBT * deviation:
            return telling(belief, leader, present)
        return int(np.argmax(belief.mean + NEAR_BOUND * np.sqrt(belief.variance)))

    def answers(self, seen: Observations) -> np.ndarray | None:
        """All controllers: the posterior tells of those never tried, too."""
        return None


@dataclass(frozen=True, eq=False)
class MapBased:
    """A Gaussian process over a map whose mean is the fitness in the normal environment.

    Map-based Bayesian optimisation: the highest upper bound is tried.
    """

    mean: np.ndarray  # (n,): before any trial
    covariance: Callable[[np.ndarray], np.ndarray]  # of all controllers with some, (n, some)
    variance: np.ndarray  # (n,)
    noise: np.ndarray  # (n,): standard deviation of a trial
    bound: float = MAP_BOUND
    again: bool = True  # whether a controller may be tried more than once

    @classmethod
    def of_kit(cls, known: Known) -> "MapBased":
        """Return the process over a kit's controllers: Matern 5/2 on their places, and a shift.

        Its length, its variance and the part that all controllers share are those under which the
        library's faults are most likely.
        """
        apart = known.prior.simulated - known.normal
        some = np.unique(np.linspace(0, len(known.normal) - 1, MOST_FITTED).astype(np.int64))
        fits = [
            (*evidence(apart[:, some], _on_map(known, length, shift)(some)[some]), length, shift)
            for length in LENGTHS
            for shift in SHIFTS
        ]
        _, variance, length, shift = max(fits)
        unit = _on_map(known, length, shift)
        return cls(
            known.normal,
            lambda rows: variance * unit(rows),
            np.full(len(known.normal), variance * (1.0 + NUGGET)),
            known.prior.noise,
        )

    def belief(self, seen: Observations) -> Posterior:
        """Return the posterior of the process, with covariances of those that were tried."""
        rows = seen.rows
        cross = self.covariance(rows)
        factor = np.linalg.cholesky(cross[rows] + np.diag(self.noise[rows] ** 2 / seen.counts))
        shared = np.linalg.solve(factor, cross.T).T
        mean = self.mean + shared @ np.linalg.solve(factor, seen.means - self.mean[rows])
        own = np.maximum(self.variance - np.einsum("ij,ij->i", shared, shared), 0.0)
        sizes, axes = np.linalg.eigh(cross[rows] - shared[rows] @ shared[rows].T)
        together = np.zeros(shared.shape)
        together[rows] = axes * np.sqrt(np.maximum(sizes, 0.0))
        own[rows] = 0.0
        return Posterior(mean, together, np.eye(len(rows)), own, self.noise)

    def choose(self, seen: Observations, belief: Posterior, present: int) -> int:
        """Return the controller with the highest upper bound."""
        bound = belief.mean + self.bound * np.sqrt(belief.variance)
        if not self.again and len(seen.rows) < len(bound):
            bound[seen.rows] = -np.inf
        return int(np.argmax(bound))

    def answers(self, seen: Observations) -> np.ndarray | None:
        """Those that were tried, as in the literature."""
        return seen.rows


@dataclass(frozen=True, eq=False)
class InOrder:
    """Controllers in an order that is known beforehand, then those that did best again."""

    known: Known
    order: np.ndarray

    def belief(self, seen: Observations) -> Posterior:
        """Return the means of those tried; of the others only what the library says."""
        prior = self.known.prior
        mean = prior.mean.copy()
        own = np.einsum("ik,ik->i", prior.loadings, prior.loadings) + prior.scale**2
        mean[seen.rows] = seen.means
        own[seen.rows] = prior.noise[seen.rows] ** 2 / seen.counts
        none = np.zeros((len(mean), 0))
        return Posterior(mean, none, np.zeros((0, 0)), own, prior.noise)

    def choose(self, seen: Observations, belief: Posterior, present: int) -> int:
        """Return the first that was not tried, or the one with the highest upper bound."""
        untried = self.order[~np.isin(self.order, seen.rows)]
        if len(untried):
            return int(untried[0])
        bound = belief.mean + BOUND * np.sqrt(belief.own)
        return int(seen.rows[np.argmax(bound[seen.rows])])

    def answers(self, seen: Observations) -> np.ndarray | None:
        """Those that were tried."""
        return seen.rows


def strategy(name: str, known: Known, seed: int) -> Strategy:
    """Return a strategy by its name; the seed is for random only."""
    if name == LEARNED:
        return Learned(known)
    if name == MAP:
        return MapBased.of_kit(known)
    if name == PORTFOLIO:
        return InOrder(known, known.portfolio)
    if name == EXHAUSTIVE:
        return InOrder(known, np.argsort(-known.normal, kind="stable"))
    # Hashed without compiled code: a search needs numpy alone.
    drawn = [stream("random search", seed, row) for row in range(len(known.normal))]
    return InOrder(known, np.argsort(drawn, kind="stable"))


def _on_map(known: Known, length: float, shift: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return a kernel of variance 1 + NUGGET on a kit's places, by columns."""

    def columns(rows: np.ndarray) -> np.ndarray:
        found = (1.0 - shift) * matern(known.places, known.places[rows], length) + shift
        found[rows, np.arange(len(rows))] += NUGGET
        return found

    return columns


def evidence(values: np.ndarray, kernel: np.ndarray) -> tuple[float, float]:
    """Return the log evidence of rows of values under a Gaussian process of mean 0, up to a sum.

    And the best variance, which multiplies the kernel.
    """
    factor = np.linalg.cholesky(kernel)
    variance = float(np.mean(np.linalg.solve(factor, values.T) ** 2)) + 1e-12
    spans = 2.0 * float(np.log(np.diag(factor)).sum())
    return -0.5 * len(values) * (len(kernel) * math.log(variance) + spans), variance


def matern(one: np.ndarray, other: np.ndarray, length: float) -> np.ndarray:
    """Return the Matern 5/2 kernel of variance 1 between rows of places."""
    squares = ((one[:, None, :] - other[None, :, :]) ** 2).sum(2)
    near = np.sqrt(5.0 * squares) / length
    found: np.ndarray = (1.0 + near + near**2 / 3.0) * np.exp(-near)
    return found


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
    # Where no trial is worth anything, rounding must not decide: machines round differently.
    gain: np.ndarray = np.round(worth - float(means.max()), WORTH_DIGITS)
    return gain


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
