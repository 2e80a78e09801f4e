from dataclasses import replace

import numpy as np
import pytest
from beliefs import plain, posterior

from qed.recovery.search.gaussian import PECULIAR, Observations, Prior, best_posterior


def random_case(seed):
    """Return a small prior, trials told, and a psi."""
    rng = np.random.default_rng(seed)
    controllers, factors = int(rng.integers(2, 9)), int(rng.integers(1, 5))
    prior = plain(
        rng.normal(size=controllers),
        rng.normal(size=(controllers, factors)),
        rng.uniform(0.1, 1.0, controllers),
    )
    trials = int(rng.integers(1, 12))
    told = [(int(rng.integers(controllers)), float(rng.normal())) for _ in range(trials)]
    return prior, told, float(rng.uniform(0.01, 0.5))


def dense(prior, told, psi):
    """Condition the joint Gaussian of all fitness and all trials, one row a trial."""
    covariance = prior.loadings @ prior.loadings.T + psi * np.eye(len(prior.mean))
    rows = [row for row, _ in told]
    values = np.array([value for _, value in told])
    gain = covariance[:, rows] @ np.linalg.inv(
        covariance[np.ix_(rows, rows)] + np.diag(prior.noise[rows] ** 2)
    )
    mean = prior.mean + gain @ (values - prior.mean[rows])
    return mean, covariance - gain @ covariance[rows]


@pytest.mark.parametrize("seed", range(20))
def test_posterior_is_that_of_the_dense_gaussian(seed):
    prior, told, psi = random_case(seed)
    found = posterior(prior, Observations.of(told), psi)
    mean, covariance = dense(prior, told, psi)
    everyone = np.arange(len(mean))
    np.testing.assert_allclose(found.mean, mean, atol=1e-10)
    np.testing.assert_allclose(found.covariance(everyone, everyone), covariance, atol=1e-10)
    np.testing.assert_allclose(found.variance, np.diag(covariance), atol=1e-10)
    ahead, deviation = found.ahead(0, 1)
    assert ahead == pytest.approx(mean[0] - mean[1])
    apart = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert deviation == pytest.approx(np.sqrt(apart))
    assert found.ahead(1, 1) == (0.0, 0.0)


@pytest.mark.parametrize("seed", range(10))
def test_evidence_is_the_density_of_all_trials(seed):
    prior, told, psi = random_case(seed)
    rows = [row for row, _ in told]
    covariance = prior.loadings @ prior.loadings.T + psi * np.eye(len(prior.mean))
    trials = covariance[np.ix_(rows, rows)] + np.diag(prior.noise[rows] ** 2)
    apart = np.array([value for _, value in told]) - prior.mean[rows]
    size = np.linalg.slogdet(2 * np.pi * trials)[1]
    expected = -0.5 * (apart @ np.linalg.solve(trials, apart) + size)
    assert posterior(prior, Observations.of(told), psi).evidence == pytest.approx(expected)


def test_without_trials_the_posterior_is_the_prior():
    prior, _, psi = random_case(3)
    found = posterior(prior, Observations.of([]), psi)
    np.testing.assert_allclose(found.mean, prior.mean)
    np.testing.assert_allclose(found.variance, (prior.loadings**2).sum(1) + psi)
    assert found.evidence == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("noisier", [0.5, 2.0])
def test_noisier_trials_are_those_of_a_prior_with_more_noise(noisier):
    prior, told, psi = random_case(5)
    found = posterior(prior, Observations.of(told), psi, noisier)
    same = posterior(replace(prior, noise=noisier * prior.noise), Observations.of(told), psi)
    np.testing.assert_allclose(found.mean, same.mean)
    np.testing.assert_allclose(found.noise, noisier * prior.noise)
    assert found.evidence == same.evidence


@pytest.mark.parametrize("part", [0.5, 1.0, 3.0])
def test_how_noisy_trials_are_follows_from_them(part):
    # Controllers without anything shared: what lies apart is noise, and psi as a part of it.
    rng = np.random.default_rng(1)
    prior = plain(np.zeros(1000), np.zeros((1000, 1)), np.full(1000, 0.1))
    prior = replace(prior, noisier=np.array([0.5, 1.0, 3.0]))
    deviation = 0.1 * part * np.hypot(PECULIAR, 1.0)
    told = [(k, float(rng.normal(0, deviation))) for k in range(1000)]
    found = best_posterior(prior, Observations.of(told))
    np.testing.assert_allclose(found.noise, 0.1 * part)
    shrunk = PECULIAR**2 / (PECULIAR**2 + 1.0)
    np.testing.assert_allclose(found.mean, [shrunk * value for _, value in told])


def test_before_any_trial_the_noise_is_the_usual_one():
    prior = replace(random_case(3)[0], noisier=np.array([0.4, 1.1, 3.0]))
    found = best_posterior(prior, Observations.of([]))
    np.testing.assert_allclose(found.noise, 1.1 * prior.noise)


@pytest.mark.parametrize("part", [0.5, 3.0])
def test_trials_of_one_controller_tell_how_noisy_they_are(part):
    rng = np.random.default_rng(2)
    prior = plain(np.zeros(2), np.ones((2, 1)), np.full(2, 0.1))
    prior = replace(prior, noisier=np.array([0.5, 1.0, 3.0]))
    told = [(0, 0.7 + float(rng.normal(0, 0.1 * part))) for _ in range(40)]
    np.testing.assert_allclose(best_posterior(prior, Observations.of(told)).noise, 0.1 * part)


def mixture(prior, told, psi):
    """Condition the joint Gaussian around each centre; return mean, covariance and density."""
    rows = [row for row, _ in told]
    values = np.array([value for _, value in told])
    covariance = (prior.loadings * prior.width) @ prior.loadings.T + psi * np.eye(len(prior.mean))
    trials = covariance[np.ix_(rows, rows)] + np.diag(prior.noise[rows] ** 2)
    gain = covariance[:, rows] @ np.linalg.inv(trials)
    before = prior.mean + prior.centres @ prior.loadings.T
    means = np.array([one + gain @ (values - one[rows]) for one in before])
    fits = np.array(
        [
            -0.5 * (values - one[rows]) @ np.linalg.solve(trials, values - one[rows])
            for one in before
        ]
    )
    weights = np.exp(fits - fits.max())
    weights /= weights.sum()
    mean = weights @ means
    within = covariance - gain @ covariance[rows]
    density = np.exp(fits).mean() / np.sqrt(np.linalg.det(2 * np.pi * trials))
    return mean, within + ((means - mean) * weights[:, None]).T @ (means - mean), np.log(density)


@pytest.mark.parametrize("seed", range(20))
def test_around_several_faults_it_is_the_mixture_of_dense_gaussians(seed):
    plain, told, psi = random_case(seed)
    rng = np.random.default_rng(seed)
    factors = plain.loadings.shape[1]
    prior = Prior(
        plain.mean, plain.loadings, plain.noise, rng.normal(size=(5, factors)),
        rng.uniform(0.1, 1.0, factors),
    )  # fmt: skip
    told = list({row: (row, value) for row, value in told}.values())  # a trial each
    found = posterior(prior, Observations.of(told), psi)
    mean, covariance, density = mixture(prior, told, psi)
    everyone = np.arange(len(mean))
    np.testing.assert_allclose(found.mean, mean, atol=1e-9)
    np.testing.assert_allclose(found.covariance(everyone, everyone), covariance, atol=1e-9)
    assert found.evidence == pytest.approx(density)
