import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import kits
import numpy as np
import pytest

from qed.errors import InputError
from qed.recovery.search.strategies import STRATEGIES, matern


@pytest.fixture(scope="module")
def kit():
    return kits.made()


def world(kit, seed):
    """Return the true fitness of all controllers in a fault that the prior allows."""
    rng = np.random.default_rng(seed)
    prior = kit.known.prior
    shared = prior.loadings @ rng.normal(size=prior.loadings.shape[1])
    return prior.mean + shared + rng.normal(0, 0.01, len(prior.mean))


def played(search, truth, trials, seed=0):
    """Let a search try; return what it asked for."""
    noise, asked = np.random.default_rng(seed), []
    for _ in range(trials):
        row = search.row(search.ask())
        asked.append(row)
        search.tell(truth[row] + 0.02 * float(noise.normal()))
    return asked


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_searches_are_reproducible_and_can_be_resumed(kit, strategy):
    truth = world(kit, 1)
    once, twice = (kit.search(strategy, seed=3) for _ in range(2))
    assert played(once, truth, 8) == played(twice, truth, 8)
    assert once.state == twice.state
    first = kit.search(strategy, seed=3)
    played(first, truth, 4)
    pending = first.ask()
    kept = json.loads(json.dumps(first.state))
    second = kit.search(state=kept)
    assert second.strategy == strategy
    assert second.ask() == pending
    noise = np.random.default_rng(9)
    for search in (first, second):
        noise = np.random.default_rng(9)
        for _ in range(4):
            search.tell(float(noise.uniform()))
            search.ask()
    assert first.state == second.state
    assert first.belief() == second.belief()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_order_of_trials_does_not_matter_to_the_bit(kit, strategy):
    rng = np.random.default_rng(2)
    told = [(int(rng.integers(6)), float(rng.uniform())) for _ in range(12)]
    searches = []
    for order in (range(12), range(11, -1, -1), rng.permutation(12).tolist()):
        search = kit.search(strategy)
        for k in order:
            row, fitness = told[k]
            search.tell(fitness, kit.controllers[row])
        searches.append(search)
    one = searches[0]
    for other in searches[1:]:
        assert other.ask() == one.ask()
        assert other.best == one.best
        assert other.gain_belief == one.gain_belief
        assert other.promise == one.promise


def test_the_learned_prior_finds_the_best_of_its_own_world_soon(kit):
    regrets = {}
    for strategy in ("learned", "random"):
        regrets[strategy] = []
        for seed in range(20):
            truth, search = world(kit, seed), kit.search(strategy, seed=seed)
            played(search, truth, 6, seed)
            regrets[strategy].append(truth.max() - truth[search.best_row])
    assert np.mean(regrets["learned"]) < 0.012
    assert np.mean(regrets["random"]) > 3 * np.mean(regrets["learned"])


def test_beliefs_hold_the_truth(kit):
    held = 0
    for seed in range(40):
        truth, search = world(kit, seed), kit.search()
        played(search, truth, 3, seed)
        belief = search.belief(kit.controllers[7])
        held += belief.low <= truth[7] <= belief.high
        assert belief.low < belief.mean < belief.high
    assert 30 <= held <= 40


def test_it_keeps_the_present_controller_unless_the_gain_is_clear(kit):
    for seed in range(5):
        truth = world(kit, seed)
        best = int(truth.argmax())
        search = kit.search(present=kit.controllers[best])
        for row in (*range(40), best, best):
            search.tell(truth[row], kit.controllers[row])
        assert not search.worthwhile
        assert search.best == search.present == kit.controllers[best]
    # A leader that is hardly ahead is not taken.
    truth[best] = truth[np.argsort(truth)[-2]] - 1e-4
    search = kit.search(present=kit.controllers[best])
    for row in (*range(40), best, best, best):
        search.tell(truth[row], kit.controllers[row])
    assert search.best == search.present
    # It gives far less than expected: any other is better.
    search = kit.search()
    for _ in range(4):
        search.tell(-1.0, search.present)
    assert search.worthwhile
    assert search.best == search.leader != search.present
    assert search.gain > 0.0
    assert search.gain_belief.low > 0.0


def test_it_ends_when_nothing_better_is_to_be_expected(kit):
    truth, search = world(kit, 5), kit.search()
    assert not search.done
    played(search, truth, 60)
    assert search.done
    assert search.promise < 0.02
    assert truth.max() - truth[search.best_row] < 0.02


def test_the_same_is_asked_until_it_is_told(kit):
    search = kit.search()
    assert search.ask() == search.ask()
    assert search.trials == 0
    kits.refuses_wrong_fitness(search)
    assert search.trials == 1


@pytest.mark.parametrize("kind", [int, np.int64, np.float16, np.float32, np.float64, Fraction])
def test_a_fitness_may_be_any_real_number(kit, kind):
    search = kit.search()
    search.tell(kind(1), search.present)
    assert search.state["told"] == [[0, 1.0]]
    assert json.loads(json.dumps(search.state)) == search.state


def test_bad_input_names_the_field(kit):
    search = kit.search()
    with pytest.raises(InputError, match="not one of the kit's"):
        search.tell(0.5, kits.made(seed=2, controllers=60).controllers[55])
    with pytest.raises(InputError, match=r"must be a qed\.Controller"):
        search.tell(0.5, 3)
    with pytest.raises(InputError, match="strategy must be one of"):
        kit.search("lerned")
    with pytest.raises(InputError, match="present must be one of"):
        kit.search(present=kits.made(controllers=60).controllers[59])
    good = search.state
    for wrong, words in (
        ({"kit": "another"}, "another kit"),
        ({"format": "none"}, "state must come from"),
        ({"version": 9}, "version 9"),
        ({"version": 1}, "version 1 is not known here, only 2; begin a new search"),
        ({"told": [[99999, 0.5]]}, "state: told must be a whole number"),
        ({"told": [[1, float("nan")]]}, "state: told must be"),
        ({"told": [[1, "0.5"]]}, "state: told must be a number, got '0.5'"),
        ({"told": [[1, True]]}, "state: told must be a number, got True"),
        ({"told": "all"}, "told must be a list"),
        ({"asked": -1}, "state: asked"),
        ({"present": 1000}, "state: present"),
        ({"strategy": "best"}, "strategy must be one of"),
    ):
        with pytest.raises(InputError, match=words):
            kit.search(state={**good, **wrong})
    with pytest.raises(InputError, match="state must come from"):
        kit.search(state=[1, 2])


def test_what_each_strategy_tries(kit):
    truth = world(kit, 3)
    assert played(kit.search("portfolio"), truth, 10) == kit.known.portfolio.tolist()
    best_first = np.argsort(-kit.known.normal, kind="stable")[:5].tolist()
    assert played(kit.search("exhaustive"), truth, 5) == best_first
    one, other = (played(kit.search("random", seed=k), truth, 40) for k in (1, 2))
    assert sorted(one) == sorted(other) == list(range(40))
    assert one != other
    # Map-based: the best in the normal environment first.
    assert played(kit.search("map"), truth, 1) == best_first[:1]


def test_the_map_is_learned_from_near_controllers():
    places = np.array([[0.0, 0.0], [0.05, 0.0], [1.0, 1.0]])
    kernel = matern(places, places, 0.12)
    np.testing.assert_allclose(np.diag(kernel), 1.0)
    assert kernel[0, 1] > 0.8
    assert kernel[0, 2] < 1e-3


def test_a_search_needs_no_simulator(tmp_path):
    path = tmp_path / "kit.npz"
    kits.made().save(path)
    code = (
        "import sys, qed; search = qed.Kit.load(sys.argv[1]).search(); search.ask(); "
        "search.tell(0.5); search.best; print('numba' in sys.modules, 'scipy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False"]


def test_a_lead_in_doubt_is_put_to_the_test_every_second_time(kit):
    known = kit.known
    noisy = replace(known.prior, noise=np.full(len(known.normal), 0.1))
    doubtful = replace(kit, known=replace(known, prior=noisy))
    tested = others = 0
    for seed in range(10):
        rng, search = np.random.default_rng(seed), doubtful.search()
        for trial in range(20):
            leader, gain = search.leader, search.gain_belief
            deviation = (gain.high - gain.mean) / 1.645
            doubt = leader != search.present and gain.mean < 2.0 * deviation
            asked = search.ask()
            if trial >= 5 and doubt and trial % 2:
                assert asked in (leader, search.present)
                tested += 1
            elif trial >= 5:
                others += asked not in (leader, search.present)
            search.tell(0.55 + 0.1 * float(rng.normal()))
    assert tested > 10
    assert others > 10
