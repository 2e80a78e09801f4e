from dataclasses import replace
from functools import partial

import kits
import numpy as np
import pytest

import qed
from qed.errors import InputError
from qed.recovery import trials as trials_module
from qed.recovery.kit import library
from qed.recovery.kit import prepare as module
from qed.recovery.kit.cached_trials import CachedTrials, TrialCache
from qed.recovery.kit.fitting import (
    FACTORS,
    LEAST_NOISY,
    cover,
    directions_of,
    fitted,
    noise_of,
    noisier_of,
    shortlist,
    smoothed,
)
from qed.recovery.kit.prepare import Effort
from qed.recovery.recover import trials_of
from qed.recovery.trials import Trials
from qed.streams import stream
from qed.swarm.backend import MOST_OBSTACLES
from qed.swarm.faults import DRAWN, kinds
from qed.swarm.placing import place

SMALL = Effort(
    surveyed=3, candidates=30, screened=4, controllers=20, faults=6, elsewhere=4, trials=2,
    validation=4, portfolio=5,
)  # fmt: skip
HOW = {"effort": SMALL, "seconds": 10.0, "seed": 4}


@pytest.fixture(scope="module")
def archive():
    return qed.evolve(
        "patrolling", "qed", evaluations=150, initial=100, batch=50, trials=1, seconds=10.0
    )


@pytest.fixture(scope="module")
def kit(archive):
    return qed.prepare(archive, "patrolling", **HOW)


def test_a_kit_holds_what_a_search_needs(archive, kit, tmp_path):
    assert len(kit.controllers) == 20
    assert kit.task == "patrolling"
    everyone = archive.genomes().controllers()
    place = {cell: k for k, cell in enumerate(archive.occupied.tolist())}
    for cell, controller in zip(kit.cells.tolist(), kit.controllers, strict=True):
        assert controller == everyone[place[cell]].pruned()
    assert set(kit.playbook.plays) == set(DRAWN)
    for play in kit.playbook.plays.values():
        assert play.row == kit.present or play.gain > 2.0 * play.error
    assert set(kit.findings["found"]) == {"1", "3", "5", "10"}
    assert len(kit.library["faults"]) == 6 + 7 + 1
    assert len(kit.library["elsewhere"]) == 4
    assert len(kit.known.prior.centres) == 6 + 7 + 1 + 4
    kit.save(tmp_path / "kit.npz")
    again = qed.Kit.load(tmp_path / "kit.npz")
    assert again.digest == kit.digest
    assert again.words == kit.words
    assert "20 controllers" in kit.words[0]
    assert any("worthwhile" in line for line in kit.words)


def test_the_playbook_is_validated_in_mixed_swarms(archive, kit):
    gain, error = kit.playbook.mixed
    found = kit.findings["mixed"]
    assert 2 <= found["faults"] <= 4
    assert gain == pytest.approx(found["playbook"] - found["best"])
    assert error > 0.0
    # These faults took no part in making the kit, and half of them are uniform.
    faults = library.drawn("validation", 4, 4, 10, every=2)
    assert not {",".join(one) for one in faults} & set(kit.library["faults"])
    different = [one for one in faults if len(set(one)) > 1]
    assert found["faults"] == len(different)
    # What is said of the playbook is what a simulation of its teams gives on the same trials.
    outcomes = [
        qed.simulate(
            kit.playbook.team(one, anyway=True), tasks="patrolling", faults=one, trials=30,
            seconds=10.0, seed=stream("kit", f"fresh-{k}-0", 4),
        ).fitness["patrolling"].mean()
        for k, one in enumerate(faults) if len(set(one)) > 1
    ]  # fmt: skip
    assert found["playbook"] == pytest.approx(np.mean(outcomes))
    teams = kit.findings["teams"]
    assert teams["faults"] == 2
    assert teams["gain"] == pytest.approx(teams["team"] - teams["best"])
    words = " ".join(kit.words)
    assert "a team was searched for" in words
    assert ("can be trusted" in words) == kit.playbook.trusted
    assert max(map(len, kit.words)) <= 80


def test_it_is_reproducible_and_goes_on_after_an_interruption(archive, kit, tmp_path, monkeypatch):
    notes = tmp_path / "notes.npz"
    done = []

    def stop(*at):
        done.append(at)
        if at[0] > 0.6 * at[1]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        qed.prepare(archive, "patrolling", notes=notes, progress=stop, **HOW)
    assert notes.exists()
    simulated = []
    true = Trials.fitness

    def watched(self, swarms, trials, *given):
        simulated.append(len(swarms) * trials)
        return true(self, swarms, trials, *given)

    monkeypatch.setattr(Trials, "fitness", watched)
    again = qed.prepare(archive, "patrolling", notes=notes, threads=1, **HOW)
    assert sum(simulated) < 0.6 * done[-1][1]
    assert again.digest == kit.digest
    assert again.findings == kit.findings
    with pytest.raises(InputError, match="other settings"):
        qed.prepare(archive, "patrolling", notes=notes, **{**HOW, "seed": 5})


def test_a_users_own_faults_join_the_library(archive):
    own = [qed.Faults(["PMIN"] * 3 + ["ROFS"] * 7)]
    kit = qed.prepare(archive, faults=own, **HOW)
    assert ",".join(own[0]) in kit.library["faults"]


def test_the_search_is_played_with_the_fault_unknown(kit):
    faults = [qed.Faults.sample(10, seed=k) for k in range(2)]
    found = kit.recover(faults=faults, budget=3, fresh=4, seed=7)
    for one in found:
        assert one.trials <= 3
        assert [step.free for step in one.trace] == [True, *[False] * one.trials]
        assert one.trace[0].row == kit.present
        assert one.trace[-1].best == one.row
        assert one.controller == kit.controllers[one.row]
        assert one.worthwhile or one.controller == kit.normal_best
        outcome = qed.simulate(
            one.controller, tasks="patrolling", faults=one.faults, trials=4, seconds=10.0,
            seed=one.fresh_seed,
        )  # fmt: skip
        assert one.performance == pytest.approx(outcome.fitness["patrolling"].mean())
        assert one.impact == pytest.approx(one.broken / one.normal - 1)
    alone = kit.recover(faults=faults[1], budget=3, fresh=4, seed=7)
    assert alone == found[1]
    longer = kit.recover(faults=faults[1], budget=5, fresh=4, seed=7)
    assert longer.trace[: len(alone.trace)] == alone.trace


def test_another_environment_must_be_named(kit):
    eight = qed.Faults.sample(8, seed=1)
    with pytest.raises(InputError, match="the kit is for 10 robots, got faults of 8"):
        kit.recover(faults=eight)
    where = qed.Environment(robots=8, obstacles=4)
    found = kit.recover(faults=eight, environment=where, budget=1, fresh=2)
    assert np.isfinite(found.performance)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"budget": 0}, "budget must be"),
        ({"budget": 1.5}, "budget must be"),
        ({"faults": None}, r"faults must be qed\.Faults, or a list of these, got NoneType"),
        ({"task": "flocking"}, "the kit is for patrolling, not for flocking"),
        ({"faults": qed.Faults.none(8)}, "is for 10 robots, got faults of 8; give 10, or prepare"),
        ({"faults": []}, "at least one combined fault"),
        ({"faults": "PMIN"}, r"must be qed\.Faults"),
        ({"strategy": "best"}, "strategy must be one of"),
    ],
)
def test_bad_input_to_recover_names_the_field(given, words):
    call = {"faults": qed.Faults.none(), **given}
    with pytest.raises(InputError, match=words):
        kits.made().recover(**call)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"archive": "file"}, "archive must be"),
        ({"task": "flockin"}, "did you mean 'flocking'"),
        ({"faults": [qed.Faults.none(9)]}, "each of the 10 robots, got 9"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_bad_input_to_prepare_names_the_field(archive, given, words):
    call = {"archive": archive, "task": "patrolling", **given}
    with pytest.raises(InputError, match=words):
        qed.prepare(call.pop("archive"), call.pop("task"), **{**HOW, **call})
    with pytest.raises(InputError, match="controllers must be"):
        Effort(controllers=0)


def test_a_library_is_uniform_and_one_sided():
    drawn = library.drawn("library", 1, 300, 10)
    one_sided = [faults for k, faults in enumerate(drawn) if k % 3]
    broken = [10 - list(faults).count("NONE") for faults in one_sided]
    assert set(broken) == set(range(1, 11))
    for faults in one_sided:
        assert sum(count > 0 for count in kinds(faults)) == 1
    # Every kind breaks few robots, and most of them.
    for name in set(DRAWN) - {"NONE"}:
        counts = [list(faults).count(name) for faults in one_sided if set(faults) <= {name, "NONE"}]
        assert min(counts) <= 3
        assert max(counts) >= 8
    counts = [name for faults in drawn[::3] for name in faults]
    for name in DRAWN:
        assert counts.count(name) == pytest.approx(125, abs=45)
    # Purposes and seeds share no draw.
    for other in (library.drawn("validation", 1, 300, 10), library.drawn("library", 2, 300, 10)):
        assert len(set(drawn[::3]) & set(other[::3])) == 0


def low_rank(faults, controllers, trials, seed=1, noise=0.05):
    """Return fitness (faults, controllers, trials) of two factors, with noise; and its truth."""
    rng = np.random.default_rng(seed)
    truth = 0.5 + rng.normal(size=(faults, 2)) @ rng.normal(0, 0.1, (2, controllers))
    return truth[:, :, None] + noise * rng.normal(size=(faults, controllers, trials)), truth


def test_smoothing_brings_fitness_nearer_to_the_truth():
    fitness, truth = low_rank(20, 500, 1)
    raw, smooth = fitness[:, :, 0], smoothed(fitness[:, :, 0])
    assert np.abs(smooth - truth).mean() < 0.6 * np.abs(raw - truth).mean()


def test_the_prior_has_the_moments_of_the_library():
    fitness, truth = low_rank(400, 60, 3)
    prior = fitted(fitness.mean(2), noise_of(fitness), 3)
    assert prior.loadings.shape == (60, 2 + 1)  # two factors, and the level of all
    np.testing.assert_allclose(prior.mean, truth.mean(0), atol=0.02)
    np.testing.assert_allclose(prior.noise, 0.05, atol=0.006)
    directions = prior.loadings[:, :-1]
    np.testing.assert_allclose(directions @ directions.T, np.cov(truth.T), atol=0.004)
    np.testing.assert_allclose(prior.loadings[:, -1], 0.05, atol=0.005)
    # Centres and width together have the spread of z, and the centres lie where the faults were.
    spread = np.cov(prior.centres[:, :2].T) + np.diag(prior.width[:2])
    np.testing.assert_allclose(spread, np.eye(2), atol=0.1)
    near = prior.mean + prior.centres @ prior.loadings.T / np.sqrt(1.0 - prior.width[0])
    assert np.abs(near - truth).mean() < 0.02


def test_the_prior_knows_of_the_present_controller_what_the_others_do_not_tell():
    fitness, truth = low_rank(400, 60, 3)
    own = 0.03 * np.random.default_rng(2).normal(size=400)
    mean = fitness.mean(2)
    mean[:, 7] = truth[:, 7] + own
    prior = fitted(mean, noise_of(fitness), 3, present=7)
    alone = prior.loadings[:, -2]
    assert alone[7] == pytest.approx(own.std(), rel=0.1)
    assert np.count_nonzero(alone) == 1
    near = prior.mean + prior.centres @ prior.loadings.T / np.sqrt(1.0 - prior.width[0])
    assert np.abs(near[:, 7] - mean[:, 7]).max() < 1e-9
    without = fitted(mean, noise_of(fitness), 3)
    near = without.mean + without.centres @ without.loadings.T / np.sqrt(1.0 - without.width[0])
    assert np.abs(near[:, 7] - mean[:, 7]).mean() > 0.02


@pytest.mark.parametrize("shape", [(150, 90, 4), (60, 200, 2), (400, 60, 3)])
def test_directions_are_kept_that_are_more_than_noise(shape):
    faults, _, trials = shape
    variances, noises = [], []
    for seed in range(10):
        fitness, _ = low_rank(*shape, seed)
        only_noise = np.random.default_rng(seed).normal(size=shape)
        for one in (fitness, only_noise):
            mean = one.mean(2)
            variances.append(np.linalg.svd(mean - mean.mean(0))[1] ** 2 / (faults - 1))
            noises.append(noise_of(one).mean() / trials)
    found = [
        directions_of(variance, noise, shape[:2])
        for variance, noise in zip(variances, noises, strict=True)
    ]
    # The limit holds for large matrices; one direction may be a little beyond it by chance.
    assert set(found[::2]) <= {2, 3}
    assert set(found[1::2]) <= {0, 1}
    assert np.mean(found) < 1.5
    assert directions_of(np.ones(50), 0.0, (50, 50)) == FACTORS
    assert directions_of(np.ones(1), 0.0, (1, 50)) == 0


def test_worlds_elsewhere_have_fewer_robots_or_more_obstacles():
    home = qed.Environment()
    found = library.elsewhere(1, 200, home)
    robots = [world.robots for _, world in found[::2]]
    obstacles = [world.obstacles for _, world in found[1::2]]
    assert set(robots) == {5, 6, 7, 8, 9}
    assert set(obstacles) == {1, 2, 3, 4, 5, 6}
    for k, (faults, world) in enumerate(found):
        assert len(faults) == world.robots
        changed = {"robots": world.robots} if k % 2 == 0 else {"obstacles": world.obstacles}
        assert world == replace(home, **changed)
    assert library.elsewhere(1, 3, home) == found[:3]
    assert library.elsewhere(2, 3, home) != found[:3]


def test_worlds_elsewhere_have_room_for_robots_and_obstacles():
    alone = library.elsewhere(1, 6, qed.Environment(robots=1))
    assert all(world.robots == 1 and world.obstacles > 0 for _, world in alone)
    small = library.elsewhere(1, 6, qed.Environment(arena=1.5))
    assert all(world.robots < 10 and world.obstacles == 0 for _, world in small)
    assert library.elsewhere(1, 6, qed.Environment(robots=1, arena=1.0)) == []
    full = library.elsewhere(1, 40, qed.Environment(robots=20, obstacles=5))
    assert {world.obstacles for _, world in full} == {5}
    large = library.elsewhere(1, 40, qed.Environment(arena=20.0, obstacles=MOST_OBSTACLES - 2))
    assert max(world.obstacles for _, world in large) == MOST_OBSTACLES  # a GPU takes no more
    odd = library.elsewhere(1, 40, qed.Environment(robots=7))
    assert {world.robots for _, world in odd} == {4, 5, 6, 7}  # at least half of them are left
    for _, world in library.elsewhere(1, 40, qed.Environment(robots=64, arena=4.0)):
        place(world.robots, world.arena, world.obstacles, 20, 1)


@pytest.mark.parametrize("links", [5, 40, 200])
@pytest.mark.parametrize(("faults", "robots"), [(160, 10), (320, 10), (500, 5), (200, 40)])
def test_a_kit_is_a_small_file_whatever_its_library_and_networks(tmp_path, links, faults, robots):
    effort = Effort(faults=faults, controllers=1000)
    home = qed.Environment(robots=robots, arena=6.0)
    drawn = library.drawn("library", 1, faults, robots)
    others = library.elsewhere(1, effort.elsewhere, home)
    cases = module._conditions(effort, home, [])
    assert cases == faults + 7 + 1 + len(others)
    net = qed.Controller([(k % 16, 16 + k % 18, 0.1 * k) for k in range(links)], [0.5] * 18)
    sizes = np.full(1, links), np.full(1, 16)
    most = module._most(module._room(cases, robots), effort, *sizes)
    small = kits.made(most)
    prior = replace(
        small.known.prior,
        loadings=np.full((most, FACTORS + 2), 0.1),
        centres=np.full((cases, FACTORS + 2), 0.1),
        width=np.ones(FACTORS + 2),
    )
    kit = replace(
        small,
        controllers=(net,) * most,
        known=replace(small.known, prior=prior),
        playbook=replace(small.playbook, controllers=(net,) * most),
        library={
            "faults": [",".join(one) for one in drawn],
            "elsewhere": [[w.robots, w.obstacles, ",".join(one)] for one, w in others],
            "kept": [0.1234] * cases,
            "best": [0.1234] * cases,
        },
    )
    kit.save(tmp_path / "kit.npz")
    size = (tmp_path / "kit.npz").stat().st_size
    assert size < 200_000
    assert size > 120_000  # the room is used


def test_a_library_without_room_is_refused(archive):
    with pytest.raises(InputError, match="faults: a library of 5040 faults leaves no room"):
        qed.prepare(archive, "patrolling", effort=replace(SMALL, faults=5000, elsewhere=40))


def test_trials_elsewhere_are_those_of_a_simulation_there(archive):
    (fault, world), *_ = library.elsewhere(1, 1, qed.Environment())
    how = trials_of(archive, "patrolling", seconds=5.0, threads=1)
    found = CachedTrials(how, 3, TrialCache(None, {})).fitness(
        "elsewhere", np.array([2]), [None, (fault, world)], 2
    )[1, 0]
    again = qed.simulate(
        archive.genomes().controllers()[2], world, tasks="patrolling", faults=fault, trials=2,
        seconds=5.0, seed=stream("kit", "elsewhere-1", 3),
    )  # fmt: skip
    np.testing.assert_array_equal(found, again.fitness["patrolling"][0])


def test_the_prior_knows_how_noisy_trials_are_in_the_faults():
    rng = np.random.default_rng(4)
    factors = np.repeat([0.5, 1.0, 2.0], 20)
    noise = rng.uniform(0.02, 0.06, 200)
    fitness = rng.normal(size=(60, 200, 4)) * factors[:, None, None] * noise[:, None]
    found = noisier_of(fitness, noise**2)
    np.testing.assert_allclose(found, [0.5, 0.5, 1.0, 2.0, 2.0, 2.0], rtol=0.12)
    assert (noisier_of(np.ones((60, 200, 4)), noise**2) == LEAST_NOISY).all()


def test_last_bits_do_not_change_the_short_list():
    fitness = np.random.default_rng(1).random((6, 200)).round(1)  # of equals the first
    other = fitness + 1e-12 * np.random.default_rng(2).normal(size=fitness.shape)
    none = np.array([], np.int64)
    assert shortlist(fitness, 40, none).tolist() == shortlist(other, 40, none).tolist()


def record(told, *now):
    told.append(now)


def test_faults_simulated_in_one_go_give_what_they_give_one_by_one(archive, monkeypatch):
    rows, faults = np.array([0, 2, 3]), [None, *library.alike(10)[:3]]
    found = []
    for at_once in (1, 7, 512):
        monkeypatch.setattr(trials_module, "AT_ONCE", at_once)
        told = []
        how = trials_of(archive, "patrolling", seconds=5.0, threads=1)
        cached = CachedTrials(how, 1, TrialCache(None, {}), 24, partial(record, told))
        found.append(cached.fitness("tried", rows, faults, 2))
        assert told[-1] == (24, 24)
        assert told == sorted(told)
        assert cached.fitness("tried", rows, faults, 2).tolist() == found[0].tolist()
    assert found[0].shape == (4, 3, 2)
    assert len(np.unique(found[0])) > 12
    assert found[0].tolist() == found[1].tolist() == found[2].tolist()
    alone = cached.fitness_of_one("tried-0", 2, [faults[1], faults[2]], 2)
    assert alone.shape == (2, 2)
    assert len(np.unique(alone)) > 1


def test_the_short_list_holds_the_best_of_each_fault():
    fitness = np.array([[9.0, 1.0, 2.0, 3.0, 0.0], [0.0, 1.0, 9.0, 2.0, 8.0]])
    assert shortlist(fitness, 2, np.array([], np.int64)).tolist() == [0, 2]
    assert shortlist(fitness, 3, np.array([1])).tolist() == [0, 1, 2]
    assert shortlist(fitness, 9, np.array([1])).tolist() == [0, 1, 2, 3, 4]


def test_a_portfolio_covers_the_faults_one_by_one():
    fitness = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.6], [1.0, 0.0, 0.6]])
    assert cover(fitness, 3).tolist() == [0, 1, 2]


def test_faults_that_are_covered_are_covered_again_by_the_others():
    # Controllers 1 and 3 are the best of both faults; then 2 and 4 are, and 0 is good for nothing.
    fitness = np.array([[0.0, 1.0, 0.9, 0.1, 0.1], [0.0, 0.1, 0.1, 1.0, 0.9]])
    assert sorted(cover(fitness, 2).tolist()) == [1, 3]
    assert sorted(cover(fitness, 4).tolist()) == [1, 2, 3, 4]


def test_the_normal_best_is_in_a_kit_even_if_it_covers_nothing():
    some, fitness = np.array([3, 5, 8]), np.array([[0.9, 0.2, 0.5], [0.1, 0.2, 0.9]])
    assert module._covering(some, fitness, 2, best=8).tolist() == [3, 8]
    assert 5 in module._covering(some, fitness, 2, best=5)


def test_a_cache_forgets_batches_of_another_shape(tmp_path):
    path = tmp_path / "notes.npz"
    cache = TrialCache(path, {"seed": 1})
    cache.keep("a", np.ones((2, 3)))
    cache.save()
    again = TrialCache(path, {"seed": 1})
    assert again.find("a", (2, 3)).tolist() == np.ones((2, 3)).tolist()
    assert again.find("a", (3, 3)) is None
    assert again.find("b", (2, 3)) is None
