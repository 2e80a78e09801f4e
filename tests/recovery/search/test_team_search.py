import json
from dataclasses import replace

import kits
import numpy as np
import pytest

import qed
from qed.errors import InputError
from qed.recovery.kit.playbook import Play
from qed.recovery.search.teams import expected

HALF = ["PMIN"] * 5 + ["NONE"] * 5


def trusting(**given):
    """Return a kit whose playbook is trusted."""
    kit = kits.made()
    return replace(kit, playbook=replace(kit.playbook, mixed=(0.02, 0.01)), **given)


@pytest.fixture(scope="module")
def kit():
    return trusting()


def test_it_asks_for_teams_and_the_first_is_the_playbooks(kit):
    search = kit.search(diagnoses=HALF)
    team = search.ask()
    assert isinstance(team, qed.Team)
    assert len(team) == 10
    assert search.present == qed.Team([kit.normal_best] * 10)
    assert search.belief(kit.playbook.team(qed.Faults(HALF))).mean == pytest.approx(
        np.mean([kit.playbook.plays[name].fitness for name in HALF])
    )
    # Robots with the same diagnosis share a controller.
    for arm in search.controllers:
        assert len({*arm.controllers[:5]}) == len({*arm.controllers[5:]}) == 1
    assert len(set(search.controllers)) == len(search.controllers)


def test_wrong_diagnoses_count_for_less():
    rng = np.random.default_rng(1)
    alike = {name: rng.normal(size=7) for name in ("NONE", "PMIN", "LW-H")}
    sure = expected(alike, ["PMIN", "NONE"], 0.0)
    np.testing.assert_allclose(sure, [alike["PMIN"], alike["NONE"]])
    unsure = expected(alike, ["PMIN", "NONE"], 0.3)
    others = (alike["NONE"] + alike["LW-H"]) / 2.0
    np.testing.assert_allclose(unsure[0], 0.7 * alike["PMIN"] + 0.3 * others)
    # If nothing is right, a diagnosis says what a robot has not.
    np.testing.assert_allclose(expected(alike, ["PMIN"], 1.0)[0], others)
    # Where only one fault is known, there is no other to be taken for it.
    alone = {"PMIN": alike["PMIN"]}
    np.testing.assert_allclose(expected(alone, ["PMIN"], 0.4)[0], alike["PMIN"])


def test_it_finds_the_team_that_two_faults_need(kit):
    # Controllers 11 and 12 are far better, one for each fault; the playbook knows neither.
    def truth(team):
        rows = [kit.controllers.index(one) for one in team]
        parts = [0.5 + 0.3 * (row == 11) for row in rows[:5]]
        parts += [0.5 + 0.3 * (row == 12) for row in rows[5:]]
        return float(np.mean(parts))

    plays = {
        "NONE": Play("NONE", 12, 0.8, 0.5, 0.01),
        "PMIN": Play("PMIN", 11, 0.8, 0.5, 0.01),
    }
    known = replace(kit, playbook=replace(kit.playbook, plays=plays))
    noise = np.random.default_rng(3)
    search = known.search(diagnoses=HALF)
    for _ in range(5):
        search.tell(truth(search.ask()) + 0.02 * float(noise.normal()))
    assert search.worthwhile
    assert truth(search.best) == 0.8
    # Wrong all along: what is found is no worse than what the swarm runs.
    search = known.search(diagnoses=HALF[::-1], misdiagnosis_rate=0.9)
    search.tell(truth(search.present), search.present)
    for _ in range(10):
        search.tell(truth(search.ask()) + 0.02 * float(noise.normal()))
    assert truth(search.best) >= truth(search.present)


def test_an_untrusted_playbook_leaves_one_for_all():
    kit = kits.made()
    search = kit.search(diagnoses=HALF)
    assert all(len(set(team)) == 1 for team in search.controllers)
    assert len(search.controllers) == len(kit.controllers)
    # It is the search for one controller.
    plain = kit.search()
    for value in (0.41, 0.52, 0.47):
        assert search.ask() == qed.Team([plain.ask()] * 10)
        plain.tell(value)
        search.tell(value)
    assert search.belief() == plain.belief()
    # Where all have the same fault its play is one for all anyway.
    same = kit.search(diagnoses=["PMIN"] * 10)
    assert same.leader == qed.Team([kit.controllers[1]] * 10)


def test_it_is_reproducible_and_can_be_resumed(kit):
    def tell(search, seed, count):
        rng = np.random.default_rng(seed)
        for _ in range(count):
            search.ask()
            search.tell(float(rng.uniform(0.3, 0.8)))

    whole, half = (kit.search(diagnoses=HALF, misdiagnosis_rate=0.1) for _ in range(2))
    for search in (whole, half):
        tell(search, 1, 4)
        search.ask()
    again = kit.search(state=json.loads(json.dumps(half.state)))
    assert (again.diagnoses, again.misdiagnosis_rate) == (list(HALF), 0.1)
    for search in (whole, again):
        tell(search, 2, 3)
    assert whole.state == again.state
    assert whole.best == again.best
    assert whole.belief() == again.belief()


def test_the_order_of_trials_does_not_matter_to_the_bit(kit):
    rng = np.random.default_rng(4)
    teams = kit.search(diagnoses=HALF).controllers
    told = [(teams[int(rng.integers(len(teams)))], float(rng.uniform())) for _ in range(10)]
    searches = []
    for order in (range(10), range(9, -1, -1), rng.permutation(10).tolist()):
        search = kit.search(diagnoses=HALF, misdiagnosis_rate=0.1)
        for k in order:
            team, fitness = told[k]
            search.tell(fitness, team)
        searches.append(search)
    one = searches[0]
    for other in searches[1:]:
        assert other.ask() == one.ask()
        assert other.best == one.best
        assert other.gain_belief == one.gain_belief


def test_wrong_fitness_loses_nothing(kit):
    search = kit.search(diagnoses=HALF)
    search.tell(0.4, search.present)
    asked = search.ask()
    kits.refuses_wrong_fitness(search)
    assert (search.trials, search.belief(asked).trials) == (2, 1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"diagnoses": ["PMAX"] * 10}, "does not know 'PMAX'"),
        ({"diagnoses": ["PMUN"] * 10}, "diagnoses must name .* did you mean 'PMIN'"),
        ({"diagnoses": 5}, "diagnoses must name a fault for each robot"),
        ({"diagnoses": []}, "diagnoses must name a fault for each robot"),
        (
            {"diagnoses": ["PMIN"] * 9},
            "for 10 robots, got diagnoses of 9; give 10, or prepare another kit$",
        ),
        ({"wrong": 0.2}, "wrong is now misdiagnosis_rate"),
        ({"misdiagnosis_rate": 0.2}, "needs a search over teams; give diagnoses"),
        ({"diagnoses": HALF, "misdiagnosis_rate": 1.5}, "misdiagnosis_rate must be"),
        ({"diagnoses": HALF, "misdiagnosis_rate": np.nan}, "misdiagnosis_rate must be"),
        ({"diagnoses": HALF, "strategy": "random"}, "strategy must be learned"),
    ],
)
def test_bad_input_names_the_field(kit, given, words):
    with pytest.raises(InputError, match=words):
        kit.search(**given)


def test_what_is_told_of_a_team_must_be_one_of_the_search(kit):
    search = kit.search(diagnoses=HALF)
    with pytest.raises(InputError, match=r"must be a qed\.Team of the kit"):
        search.tell(0.5, kit.normal_best)
    with pytest.raises(InputError, match="a team of 3 cannot drive 10 robots; name what ask"):
        search.tell(0.5, qed.Team([kit.normal_best] * 3))
    with pytest.raises(InputError, match="is not one of the kit's"):
        search.tell(0.5, qed.Team([qed.Controller([], [1.0, 1.0])] * 10))
    assert search.trials == 0
    with pytest.raises(InputError, match="waiting for a fitness"):
        search.tell(0.5)
