import numpy as np
import pytest
from beliefs import plain, posterior
from scipy.stats import norm

from qed.recovery.search.gaussian import Observations, Prior
from qed.recovery.search.strategies import (
    NUGGET,
    Known,
    MapBased,
    expected_rise,
    knowledge_gradient,
    matern,
    promising,
    telling,
)


@pytest.mark.parametrize("seed", range(4))
def test_knowledge_gradient_is_what_a_monte_carlo_of_trials_gives(seed):
    rng = np.random.default_rng(seed)
    prior = plain(rng.normal(0, 0.3, 6), rng.normal(size=(6, 2)), rng.uniform(0.5, 1.0, 6))
    told = [(0, 0.4), (3, -0.2), (3, 0.1)]
    belief = posterior(prior, Observations.of(told), 0.2)
    everyone = np.arange(6)
    found = knowledge_gradient(belief, everyone, everyone)
    draws = 4000
    for candidate in (0, 5):
        # Draw what the trial gives by what is believed, and learn from it again each time.
        deviation = np.sqrt(belief.variance[candidate] + prior.noise[candidate] ** 2)
        given = belief.mean[candidate] + deviation * rng.normal(size=draws)
        best = [
            posterior(prior, Observations.of([*told, (candidate, value)]), 0.2).mean.max()
            for value in given.tolist()
        ]
        rises = np.array(best) - belief.mean.max()
        error = rises.std() / np.sqrt(draws)
        # Nine points of quadrature see a kink with some per cent of error.
        assert found[candidate] == pytest.approx(rises.mean(), abs=3 * error + 0.05 * rises.std())


def test_two_controllers_have_a_closed_form():
    prior = plain(np.array([0.0, 0.1]), np.zeros((2, 1)), np.full(2, 1e-6))
    belief = posterior(prior, Observations.of([]), 0.04)
    worth = knowledge_gradient(belief, np.array([0]), np.array([0, 1]))
    assert worth[0] == pytest.approx(expected_rise(-0.1, 0.2), rel=0.1)


@pytest.mark.parametrize(("mean", "deviation"), [(0.3, 0.5), (-0.3, 0.5), (0.0, 2.0)])
def test_expected_rise(mean, deviation):
    z = mean / deviation
    expected = mean * norm.cdf(z) + deviation * norm.pdf(z)
    assert expected_rise(mean, deviation) == pytest.approx(expected)


def test_promising_takes_the_highest_bounds():
    prior = plain(np.array([0.0, 3.0, 1.0, 2.0]), np.diag([9.0, 0, 0, 0])[:, :1], np.ones(4))
    belief = posterior(prior, Observations.of([]), 0.01)
    assert promising(belief, 2, 0.0).tolist() == [1, 3]
    assert promising(belief, 2, 2.0).tolist() == [0, 1]
    assert promising(belief, 9, 2.0).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("seed", range(8))
def test_the_more_telling_trial_leaves_less_doubt(seed):
    rng = np.random.default_rng(seed)
    prior = plain(rng.normal(size=5), rng.normal(size=(5, 2)), rng.uniform(0.2, 2.0, 5))
    told = [(0, 0.3), (1, 0.1), (1, 0.2), (4, -0.5)]
    belief = posterior(prior, Observations.of(told), 0.3)
    left = {
        row: posterior(prior, Observations.of([*told, (row, 0.0)]), 0.3).ahead(0, 1)[1]
        for row in (0, 1)
    }
    assert telling(belief, 0, 1) == min(left, key=left.get)


def of_library(rng, length, shift, variance=0.04):
    """Return what is known of 60 controllers whose library was drawn from a process on a map."""
    places = rng.uniform(size=(60, 2))
    kernel = (1.0 - shift) * matern(places, places, length) + shift + NUGGET * np.eye(60)
    normal, factor = rng.uniform(0.5, 0.9, 60), np.linalg.cholesky(variance * kernel)
    simulated = normal + (factor @ rng.normal(size=(60, 80))).T
    # Directions of its own for each controller, so that the prior holds the library as it is.
    centres = simulated - normal
    prior = Prior(normal, np.eye(60), np.full(60, 0.03), centres, np.full(60, 1e-9))
    return Known(prior, normal, places, np.arange(10))


@pytest.mark.parametrize(("length", "shift"), [(0.12, 0.0), (0.5, 0.6), (1.0, 0.3)])
def test_map_based_search_finds_the_kernel_of_its_library(length, shift):
    known = of_library(np.random.default_rng(3), length, shift)
    process = MapBased.of_kit(known)
    rows = np.arange(5)
    expected = (1.0 - shift) * matern(known.places, known.places[rows], length) + shift
    expected[rows, rows] += NUGGET
    np.testing.assert_allclose(process.covariance(rows), 0.04 * expected, rtol=0.1)
    np.testing.assert_allclose(process.variance, 0.04 * (1.0 + NUGGET), rtol=0.1)


def test_map_based_belief_is_that_of_a_gaussian_process():
    known = of_library(np.random.default_rng(4), 0.25, 0.3)
    process, everyone = MapBased.of_kit(known), np.arange(60)
    seen = Observations.of([(7, 0.3), (20, 0.5), (20, 0.6), (41, 0.4)])
    belief, full = process.belief(seen), process.covariance(everyone)
    own = full[np.ix_(seen.rows, seen.rows)] + np.diag(0.03**2 / seen.counts)
    gain = full[:, seen.rows] @ np.linalg.inv(own)
    expected = known.normal + gain @ (seen.means - known.normal[seen.rows])
    left = full - gain @ full[seen.rows]
    np.testing.assert_allclose(belief.mean, expected, atol=1e-9)
    np.testing.assert_allclose(belief.variance, np.diag(left), atol=1e-9)
    apart, deviation = belief.ahead(20, 41)
    assert apart == pytest.approx(expected[20] - expected[41])
    assert deviation**2 == pytest.approx(left[20, 20] + left[41, 41] - 2.0 * left[20, 41])
