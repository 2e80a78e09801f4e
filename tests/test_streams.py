"""Random streams: names to seeds, and runs that share no number."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from swarm_runs import swarm_run

from qed.evolution import Run
from qed.streams import evolution_trials, search_stream, stream, trials_stream
from qed.study.plan import PRESETS
from qed.swarm.placing import place

WORDS = st.lists(st.one_of(st.integers(), st.text(max_size=6)), max_size=5)


@given(WORDS, WORDS)
def test_every_name_has_a_seed_of_its_own(one, other):
    assert 0 <= stream(*one) < 2**63
    same = [(type(word), word) for word in one] == [(type(word), word) for word in other]
    assert (stream(*one) == stream(*other)) == same


def test_no_name_is_taken_for_another():
    alike = [
        ("ab", "c"), ("a", "bc"), ("abc",), ("a", "b", "c"), (), ("",), ("", ""), (1, 23), (12, 3),
        (123,), ("123",), ("1", 23), (-1,), ("-1",), ("text 1:a",), ("a", "text 1:a"),
    ]  # fmt: skip
    assert len({stream(*words) for words in alike}) == len(alike)


def test_seeds_never_change():
    # Runs of one version must be the runs of the next: a change needs another STREAMS.
    assert stream("trials", "patrolling", "qed", 1) == 7242395681639549848
    assert stream() == 6648058453328558020


def test_seeds_look_random():
    bits = np.array([stream("x", k) for k in range(4000)], np.uint64)
    for bit in range(63):
        ones = int(((bits >> np.uint64(bit)) & np.uint64(1)).sum())
        assert abs(ones - 2000) < 5 * 31.6


@pytest.mark.parametrize("word", [1.5, None, b"a"])
def test_words_are_text_or_whole_numbers(word):
    with pytest.raises(TypeError):
        stream("a", word)


def test_numpy_numbers_are_numbers():
    assert stream("a", np.int64(7)) == stream("a", 7)


def test_the_trials_of_an_archive_are_told_by_its_header():
    made = {"task": "flocking", "algorithm": "hbd", "seed": 3}
    assert evolution_trials({"settings": made, "streams": 1}) == trials_stream("flocking", "hbd", 3)
    assert evolution_trials({"settings": made}) == 3  # of a version without streams
    for unknown in ({}, {"settings": {}}, {"settings": {**made, "seed": "three"}}):
        assert evolution_trials(unknown) is None


class Drawn:
    """All that is random at the beginning of a run, as it is drawn."""

    def __init__(self, run: Run) -> None:
        search, swarms = run.search, run.domain
        batch = search.ask()
        bias = batch.solutions.bias  # the two of the wheels are drawn for every genome
        self.genomes = {row.tobytes() for row in bias}
        self.environments = batch.environments
        assert len(self.genomes) == len(bias)
        poses, _, noise = place(10, 4.0, 0, swarms.trials, swarms.trials_seed)
        self.poses = {pose.tobytes() for pose in poses.reshape(-1, 3)}
        self.noise = set(noise.ravel().tolist())
        self.seeds = {search.seed, swarms.trials_seed}

    def shares(self, other: Drawn) -> set[str]:
        """Return what two runs have in common."""
        kinds = ("genomes", "poses", "noise", "seeds")
        found = {kind for kind in kinds if getattr(self, kind) & getattr(other, kind)}
        if self.environments is not None and other.environments is not None:
            # Of the options of four, a quarter are alike by chance.
            alike = (self.environments == other.environments).mean()
            if abs(alike - 0.25) > 0.06:
                found.add("environments")
        return found


BASE = {"evaluations": 400, "initial": 400, "batch": 200, "trials": 50, "seconds": 1.0}


def drawn(task: str, algorithm: str, seed: int) -> Drawn:
    return Drawn(swarm_run(task, algorithm, seed=seed, **BASE))


def test_two_runs_share_no_random_number():
    same, again = drawn("flocking", "qed", 1), drawn("flocking", "qed", 1)
    everything = {"genomes", "poses", "noise", "seeds", "environments"}
    assert same.shares(again) == everything
    runs = [
        same,
        drawn("patrolling", "qed", 1),  # another task
        drawn("flocking", "hbd", 1),  # another algorithm
        drawn("flocking", "qed", 2),  # another seed
        drawn("patrolling", "hbd", 2),
    ]
    for one, other in combinations(runs, 2):
        assert one.shares(other) == set()


def test_two_study_seeds_share_no_random_number():
    plan = PRESETS["quick"].changed(tasks="patrolling,flocking", replicates=3, **BASE)
    other = plan.changed(seed=2)
    runs = [
        Drawn(Run(None, which.swarms(name), evaluations=400, initial=400, batch=200))
        for which in (plan, other)
        for name in plan.runs()
    ]
    for one, another in combinations(runs, 2):
        assert one.shares(another) == set()
    # What a study breaks and tries again with is its own too.
    everything = [
        seed
        for which in (plan, other)
        for name in which.runs()
        for seed in (
            which.recovery_seed(name),
            search_stream(name.task, name.algorithm, which.seed_of(name.replicate)),
            trials_stream(name.task, name.algorithm, which.seed_of(name.replicate)),
        )
    ]
    assert len(set(everything)) == len(everything) == 2 * 3 * 2 * 4 * 3
