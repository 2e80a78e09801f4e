"""A Gaussian prior over the fitness of all controllers in a fault that nobody knows.

The fitness of the controllers in the present fault is m = mu + L z + d with z ~ N(0, I), a few
numbers that describe the fault, and d ~ N(0, psi), what is peculiar to a controller there.  A
trial of controller c gives m_c plus noise of standard deviation s_c.  Given z, what was seen of
one controller says nothing of another, so the posterior needs matrices of the size of z only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.recovery.search.seen import Seen

PECULIAR = (0.4, 0.8, 1.6)  # what sqrt(psi) may be, relative to the noise of a trial


@dataclass(frozen=True, eq=False)
class Prior:
    """What is expected of each controller before anything was tried in the present fault."""

    mean: np.ndarray  # (n,): mu
    loadings: np.ndarray  # (n, k): L
    noise: np.ndarray  # (n,): s, the standard deviation of a trial

    @property
    def scale(self) -> float:
        """Root mean square of the noise of a trial."""
        return float(np.sqrt(np.mean(self.noise**2)))


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is expected after some trials: m_c = mean_c + shared_c (z - its mean) + own part."""

    mean: np.ndarray  # (n,)
    shared: np.ndarray  # (n, k): how m_c follows z, given what was seen of c itself
    spread: np.ndarray  # (k, k): covariance of z
    own: np.ndarray  # (n,): variance of m_c that is its own, given z
    evidence: float  # logarithm of the density of what was seen

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


def posterior(prior: Prior, seen: Seen, psi: float) -> Posterior:
    """Return what is expected after some trials, for this variance of what is peculiar."""
    rows = seen.rows
    loadings, residual = prior.loadings[rows], seen.means - prior.mean[rows]
    variance = psi + prior.noise[rows] ** 2 / seen.counts
    weighed = loadings / variance[:, None]
    precision = np.eye(prior.loadings.shape[1]) + weighed.T @ loadings
    spread = np.linalg.inv(precision)
    sums = weighed.T @ residual
    z = spread @ sums
    mean = prior.mean + prior.loadings @ z
    kept = psi / variance  # of what was seen beyond z, how much is believed
    mean[rows] += kept * (residual - loadings @ z)
    shared = prior.loadings.copy()
    shared[rows] *= (1.0 - kept)[:, None]
    own = np.full(len(mean), psi)
    own[rows] *= 1.0 - kept
    fit = residual @ (residual / variance) - sums @ z
    spans = np.log(variance).sum() + np.linalg.slogdet(precision)[1]
    evidence = -0.5 * float(fit + spans + len(rows) * np.log(2.0 * np.pi))
    return Posterior(mean, shared, spread, own, evidence)


def best_posterior(prior: Prior, seen: Seen, peculiar: tuple[float, ...] = PECULIAR) -> Posterior:
    """Return the posterior with the variance psi under which the trials were most likely."""
    tried = (posterior(prior, seen, (part * prior.scale) ** 2) for part in peculiar)
    return max(tried, key=lambda one: one.evidence)
