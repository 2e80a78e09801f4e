import pickle

import own_swarm
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
    assert paper.protocol == "independent"
    assert [PRESETS[name].fresh for name in ("quick", "laptop", "paper")] == [30, 50, 50]


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


def test_faults_follow_from_the_study_seed_and_the_replicate_alone():
    plan = PRESETS["quick"].changed(seed=11)
    more = plan.changed(tasks="flocking", algorithms="sdbc", evaluations=9, trials=1, faults=30)
    for replicate in (1, 2, 3):
        assert more.faults_of(replicate)[: plan.faults] == plan.faults_of(replicate)
    drawn = [fault for seed in range(8) for r in (1, 2) for fault in more.changed(
        seed=seed).faults_of(r)]  # fmt: skip
    assert len(set(drawn)) == len(drawn) == 8 * 2 * 30


def test_replicates_have_their_own_seeds():
    plan = PRESETS["quick"].changed(seed=11)
    settings = plan.swarms(Name("patrolling", "hbd", 2))
    assert (settings.algorithm, settings.seed) == ("hbd", plan.seed_of(2))
    # --seed 2 repeats no replicate of --seed 1.
    seeds = [plan.changed(seed=seed).seed_of(r) for seed in range(10) for r in range(1, 11)]
    assert len(set(seeds)) == 100
    other = Name("patrolling", "qed", 2)
    assert plan.swarms(other).seed == settings.seed
    assert plan.recovery_seed(other) != plan.recovery_seed(Name("patrolling", "hbd", 2))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tasks": "patroling"}, "did you mean 'patrolling'"),
        ({"algorithms": "qed,sbdc"}, "did you mean 'sdbc'"),
        ({"tasks": ()}, "tasks must name at least one"),
        ({"replicates": 0}, "replicates"),
        ({"faults": 0}, "faults"),
        ({"seconds": 0.0}, "seconds"),
        ({"fresh": 0}, "fresh must be"),
        ({"protocol": "author"}, "did you mean 'authors'"),
        ({"race": 1}, "race must be True or False"),
        ({"race": True, "algorithms": "hbd,sdbc"}, "race is for .* such as qed; .* hbd, sdbc"),
    ],
)
def test_bad_input_names_the_field(given, words):
    with pytest.raises(InputError, match=words):
        PRESETS["quick"].changed(**given)


def test_only_where_cells_are_environments_do_children_race():
    plan = PRESETS["quick"].changed(race=True)
    races = {name.algorithm: plan.swarms(name).race for name in plan.runs()}
    assert races == {"qed": True, "hbd": False, "sdbc": False, "spirit": False}
    assert not any(PRESETS["quick"].swarms(name).race for name in plan.runs())


def test_a_plan_of_a_users_own():
    plan = PRESETS["quick"].changed(
        tasks=[own_swarm.gather, "flocking"], algorithms=[own_swarm.tidy, "qed"],
        among=[own_swarm.limping, "PMIN"], broken=3,
    )  # fmt: skip
    assert [str(name) for name in plan.runs()][::2] == [
        "gather-tidy-1", "gather-qed-1", "flocking-tidy-1", "flocking-qed-1"
    ]  # fmt: skip
    assert [told.split(",")[0] for told in plan.user_defined] == [
        "task gather", "algorithm tidy", "fault LIMP"
    ]  # fmt: skip
    for faults in plan.faults_of(1):
        assert faults.names.count("NONE") == 7
        assert set(faults) <= {"NONE", "LIMP", "PMIN"}
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert PRESETS["quick"].user_defined == []


def test_a_plan_over_other_environments():
    plan = PRESETS["quick"].over("scripts")
    assert [name.user_defined for name in plan.algorithms] == [True, False, False, False]
    assert plan.algorithms[0].attributes["arena"] == (3.0, 4.0, 5.0, 6.0)
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert plan.user_defined != PRESETS["quick"].user_defined
    assert PRESETS["quick"].over("paper") == PRESETS["quick"]
