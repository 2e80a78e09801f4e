import numpy as np
import pytest
from beliefs import plain, posterior
from scipy.stats import norm

from qed.recovery.search.gaussian import Observations
from qed.recovery.search.strategies import (
    expected_rise,
    knowledge_gradient,
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
