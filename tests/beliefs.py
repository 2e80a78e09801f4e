"""Priors of a single Gaussian, and posteriors for a given noise: what tests can work out."""

from __future__ import annotations

import numpy as np

from qed.recovery.search.gaussian import Observations, Posterior, Prior, likeliest


def plain(mean: np.ndarray, loadings: np.ndarray, noise: np.ndarray) -> Prior:
    """Return the prior with z ~ N(0, I)."""
    factors = loadings.shape[1]
    return Prior(mean, loadings, noise, np.zeros((1, factors)), np.ones(factors))


def posterior(prior: Prior, seen: Observations, psi: float, noisier: float = 1.0) -> Posterior:
    """Return what is expected after some trials, for this variance of what is peculiar."""
    return likeliest(prior, seen, np.array([psi]), np.array([noisier]))
