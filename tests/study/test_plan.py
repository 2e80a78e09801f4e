import pytest

from qed.errors import InputError
from qed.study.plan import PRESETS, Name
from qed.swarm.tasks import TASKS


def test_the_papers_protocol():
    paper = PRESETS["paper"]
    assert len(list(paper.runs())) == 5 * 4 * 5
    assert paper.tasks == tuple(TASKS)
    assert paper.evaluations == 2000 + 30_000 * 80
    assert (paper.trials, paper.seconds, paper.retrials) == (50, 400.0, 10)
    assert paper.faults * paper.replicates == 250


def test_quick_covers_what_it_must():
    quick = PRESETS["quick"]
    assert len(quick.algorithms) == 4
    assert len(quick.tasks) >= 3
    assert quick.faults * quick.replicates >= 12


def test_faults_differ_between_replicates_and_are_drawn_uniformly():
    paper = PRESETS["paper"]
    all_faults = [f for r in range(1, 6) for f in paper.faults_of(r)]
    assert len(set(all_faults)) == 250
    names = [name for faults in all_faults for name in faults]
    # 2500 draws of 8: 312 each, with a standard deviation of 16.5.
    for name in set(names):
        assert abs(names.count(name) - 312.5) < 4 * 16.5
    assert paper.faults_of(3) == paper.changed(tasks="patrolling", replicates=3).faults_of(3)


def test_replicates_have_their_own_seeds():
    plan = PRESETS["quick"].changed(seed=11)
    assert plan.settings(Name("patrolling", "hbd", 2)).seed == 12
    assert plan.settings(Name("patrolling", "hbd", 2)).algorithm == "hbd"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tasks": "patroling"}, "did you mean 'patrolling'"),
        ({"algorithms": "qed,sbdc"}, "did you mean 'sdbc'"),
        ({"tasks": ()}, "tasks must name at least one"),
        ({"replicates": 0}, "replicates"),
        ({"faults": 0}, "faults"),
        ({"seconds": 0.0}, "seconds"),
    ],
)
def test_bad_input_names_the_field(given, words):
    with pytest.raises(InputError, match=words):
        PRESETS["quick"].changed(**given)
