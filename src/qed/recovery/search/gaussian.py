"""A prior over the fitness of all controllers in a fault that nobody knows.

The fitness of the controllers in the present fault is m = mu + L z + d: z are a few numbers that
describe the fault, and d ~ N(0, psi) is what is peculiar to a controller there.  A trial of
controller c gives m_c plus noise of standard deviation s_c.  Given z, what was seen of one
controller is independent of the others, so the posterior needs matrices of the size of z only.

Faults come in kinds, so z is not one Gaussian but as many as faults were simulated, each around
what z was there, all with the same covariance.  After some trials each of them has a Gaussian
posterior and a weight, the density of what was seen; mean and covariance are those of all
together, exactly.

In some faults trials are several times as noisy as in others.  A search tries a few factors of s,
which the simulated faults had, and uses the one under which its trials are most likely; psi grows
with it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np

PECULIAR = 0.4  # sqrt(psi), relative to the noise of a trial


@dataclass(frozen=True, eq=False)
class Observations:
    """Trials so far, controller by controller: all that a decision depends on, in any order."""

    rows: np.ndarray  # int64 (t,): controllers tried, ascending
    counts: np.ndarray  # float64 (t,): trials of each
    means: np.ndarray  # float64 (t,): their mean fitness
    squares: np.ndarray  # float64 (t,): sum of squares of what they gave, each less the mean

    @classmethod
    def of(cls, trials: Sequence[tuple[int, float]]) -> Self:
        """Gather trials (row, fitness); sums are exact, so that their order does not matter."""
        given: dict[int, list[float]] = {}
        for row, fitness in trials:
            given.setdefault(row, []).append(fitness)
        rows = sorted(given)
        means = {row: math.fsum(given[row]) / len(given[row]) for row in rows}
        apart = (math.fsum((one - means[row]) ** 2 for one in given[row]) for row in rows)
        return cls(
            np.array(rows, np.int64),
            np.array([len(given[row]) for row in rows], np.float64),
            np.array([means[row] for row in rows], np.float64),
            np.fromiter(apart, np.float64, len(rows)),
        )

    @property
    def trials(self) -> int:
        """Number of trials."""
        return int(self.counts.sum())

    def trials_of(self, controllers: int) -> np.ndarray:
        """Return the number of trials of each controller (int64)."""
        counts = np.zeros(controllers, np.int64)
        counts[self.rows] = self.counts
        return counts


@dataclass(frozen=True, eq=False)
class Prior:
    """What is expected of each controller before anything was tried in the present fault."""

    mean: np.ndarray  # (n,): mu
    loadings: np.ndarray  # (n, k): L
    noise: np.ndarray  # (n,): s, the standard deviation of a trial
    centres: np.ndarray  # (f, k): what z was in each of the faults that were simulated
    width: np.ndarray  # (k,): variance of z around any of them
    noisier: np.ndarray = field(default_factory=lambda: np.ones(1))  # (q,): factors of s

    @property
    def scale(self) -> float:
        """Root mean square of the noise of a trial."""
        return float(np.sqrt(np.mean(self.noise**2)))

    @property
    def points(self) -> np.ndarray:
        """What z was in each of the faults; centres are drawn towards the middle by the width."""
        found: np.ndarray = self.centres / np.sqrt(np.maximum(1.0 - self.width, 0.1))
        return found

    @property
    def simulated(self) -> np.ndarray:
        """Fitness in each of the faults that were simulated (f, n)."""
        found: np.ndarray = self.mean + self.points @ self.loadings.T
        return found


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is expected after some trials: m_c = mean_c + shared_c (z - its mean) + own part."""

    mean: np.ndarray  # (n,)
    shared: np.ndarray  # (n, k): how m_c follows z, given what was seen of c itself
    spread: np.ndarray  # (k, k): covariance of z
    own: np.ndarray  # (n,): variance of m_c that is its own, given z
    noise: np.ndarray  # (n,): standard deviation of a trial
    evidence: float = 0.0  # logarithm of the density of what was seen

    @property
    def variance(self) -> np.ndarray:
        """Variance of each controller's fitness (n,)."""
        found: np.ndarray = np.einsum("ik,ik->i", self.shared @ self.spread, self.shared)
        found += self.own
        return found

    def covariance(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Covariance of the fitness of some controllers with that of others."""
        found: np.ndarray = self.shared[rows] @ self.spread @ self.shared[columns].T
        found += (rows[:, None] == columns) * self.own[rows][:, None]
        return found

    def ahead(self, one: int, other: int) -> tuple[float, float]:
        """Return by how much a controller is ahead of another: mean and standard deviation."""
        if one == other:
            return 0.0, 0.0
        apart = self.shared[one] - self.shared[other]
        variance = apart @ self.spread @ apart + self.own[one] + self.own[other]
        return float(self.mean[one] - self.mean[other]), float(np.sqrt(variance))


def best_posterior(prior: Prior, seen: Observations) -> Posterior:
    """Return the posterior with the noise under which the trials were most likely.

    Of noises that are equally likely, as before any trial, it is the usual one.
    """
    peculiar = PECULIAR * prior.scale
    parts = np.array(sorted(set(prior.noisier.tolist()), key=lambda part: abs(math.log(part))))
    return likeliest(prior, seen, (parts * peculiar) ** 2, parts)


def likeliest(prior: Prior, seen: Observations, psi: np.ndarray, noisier: np.ndarray) -> Posterior:
    """Return the posterior for the pair of noises under which what was seen is most likely.

    ``psi`` is the variance of what is peculiar, ``noisier`` the noise of a trial in the present
    fault relative to that of the prior.
    """
    rows = seen.rows
    loadings, residual = prior.loadings[rows], seen.means - prior.mean[rows]
    noise = noisier[:, None] * prior.noise[rows]
    variance = psi[:, None] + noise**2 / seen.counts
    found = _of_faults(prior, loadings, residual, variance)
    evidence = found.evidence + _of_repeats(seen, noise)
    best = int(np.argmax(evidence))
    z, spread = found.moments(best)
    mean = prior.mean + prior.loadings @ z
    kept = psi[best] / variance[best]  # of what was seen beyond z, how much is believed
    mean[rows] += kept * (residual - loadings @ z)
    shared = prior.loadings.copy()
    shared[rows] *= (1.0 - kept)[:, None]
    own = np.full(len(mean), psi[best])
    own[rows] *= 1.0 - kept
    return Posterior(mean, shared, spread, own, noisier[best] * prior.noise, float(evidence[best]))


class _Faults(NamedTuple):
    """What is believed of z around each simulated fault, for each of some noises (q of them)."""

    means: np.ndarray  # (q, f, k)
    weights: np.ndarray  # (q, f)
    within: np.ndarray  # (q, k, k): covariance around any of the means
    evidence: np.ndarray  # (q,): logarithm of the density of what was seen

    def moments(self, noise: int) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and covariance of z with one of the noises."""
        means, weights = self.means[noise], self.weights[noise]
        z: np.ndarray = weights @ means
        apart = means - z
        return z, self.within[noise] + (apart * weights[:, None]).T @ apart


def _of_faults(
    prior: Prior, loadings: np.ndarray, residual: np.ndarray, variance: np.ndarray
) -> _Faults:
    """Return what is believed of z given what was seen, with each of the variances (q, rows).

    The simulated faults share the covariance, so one inverse serves all of them.
    """
    weighed = loadings.T / variance[:, None, :]
    precision = np.diag(1.0 / prior.width) + weighed @ loadings
    within = np.linalg.inv(precision)
    pulls = prior.centres / prior.width
    sums = pulls + (weighed @ residual)[:, None, :]
    means = sums @ within
    fits = 0.5 * (
        np.einsum("qfk,qfk->qf", means, sums) - np.einsum("fk,fk->f", pulls, prior.centres)
    )
    highest = fits.max(1)
    weights = np.exp(fits - highest[:, None])
    total = weights.sum(1)
    spans = np.log(variance).sum(1) + np.linalg.slogdet(precision)[1] + np.log(prior.width).sum()
    lost = (residual**2 / variance).sum(1) + spans + len(residual) * math.log(2.0 * math.pi)
    evidence = highest + np.log(total / len(prior.centres)) - 0.5 * lost
    return _Faults(means, weights / total[:, None], within, evidence)


def _of_repeats(seen: Observations, noise: np.ndarray) -> np.ndarray:
    """Return the logarithm of the density of all trials, given the mean of each controller's.

    ``noise`` is (q, rows).
    """
    more = seen.counts - 1.0
    spans = more * np.log(2.0 * np.pi * noise**2) + np.log(seen.counts)
    found: np.ndarray = -0.5 * (spans + seen.squares / noise**2).sum(1)
    return found
