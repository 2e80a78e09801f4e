"""Laws and tasks of a user's own: what they give, and what is refused."""

from __future__ import annotations

import math
import os
import pickle
import random
from typing import Any

import numpy as np
import own_swarm
import pytest

import qed
from qed.errors import InputError
from qed.swarm.laws.scoring import FLOCK_RANGE
from qed.swarm.user_defined import PAIR, ROBOT, checked

SWARMS = [qed.Controller.random(k) for k in range(3)]
MIXED = [
    qed.Environment(),
    qed.Environment(robots=7, obstacles=2, arena=3.0),
    qed.Environment(robots=1, max_speed=0.2),
]
SHORT: dict[str, Any] = {"trials": 2, "seconds": 20.0, "seed": 3, "threads": 1, "backend": "cpu"}


@qed.law
def flock_again(distance, turn, speed_i, speed_k):
    apart = min(abs(turn) * 2.0 / math.pi, 1.0)
    return (1.0 - apart) * max(speed_i * speed_k, 0.0) if distance < FLOCK_RANGE else 0.0


@qed.law
def nearest_again(nearest):
    return nearest


def simulated(*tasks: str) -> dict[str, np.ndarray]:
    return qed.simulate(SWARMS, MIXED, tasks=tasks, **SHORT).fitness


def test_a_law_of_pairs_can_be_what_flocking_is() -> None:
    found = simulated(qed.Task("again", pair=flock_again), "flocking")
    np.testing.assert_allclose(found["again"], found["flocking"], atol=1e-7)
    assert found["flocking"].max() > 0.0


def test_a_law_of_robots_can_be_what_dispersion_is() -> None:
    def part(mean: float, env: qed.Environment) -> float:
        return mean / (env.arena * math.sqrt(2.0) / 2.0)

    found = simulated(qed.Task("again", robot=nearest_again, score=part), "dispersion")
    np.testing.assert_allclose(found["again"], found["dispersion"], atol=1e-7)


def test_all_that_a_law_may_read_is_what_a_trace_shows() -> None:
    seen = qed.trace(SWARMS[1], MIXED[1], seconds=20.0, seed=3, trial=1)
    env, cycles = seen.environment, len(seen.x)
    before = np.concatenate([seen.start[None], np.stack([seen.x, seen.y, seen.heading], -1)])
    ahead = np.stack([np.cos(before[:-1, :, 2]), np.sin(before[:-1, :, 2])], -1)
    turned = (np.diff(before[..., 2], axis=0) + np.pi) % (2 * np.pi) - np.pi
    apart = np.hypot(
        seen.x[:, :, None] - seen.x[:, None], seen.y[:, :, None] - seen.y[:, None]
    ) + np.diag([np.inf] * env.robots)
    same = np.ones_like(seen.x)
    expected = {
        "x": seen.x,
        "y": seen.y,
        "heading": seen.heading,
        "speed": (np.diff(before[..., :2], axis=0) * ahead).sum(-1) / (0.2 * env.max_speed),
        "turn": turned / 0.2,
        "arena": env.arena * same,
        "robots": env.robots * same,
        "max_speed": env.max_speed * same,
        "nearest": apart.min(-1),
        "proximity": 0.5 * (1.0 - seen.proximity.min(-1)),
        "heard": (seen.rab < 1.0).sum(-1),
        "time": 0.2 * np.arange(1, cycles + 1)[:, None] * same,
    }
    assert set(expected) == set(ROBOT)
    for name, values in expected.items():
        # A law with this one argument.
        law = qed.law(eval(f"lambda {name}: {name}"))
        task = qed.Task("read", robot=law)
        watched = qed.trace(SWARMS[1], MIXED[1], task=task, seconds=20.0, seed=3, trial=1)
        np.testing.assert_array_equal(watched.x, seen.x)
        mean = np.cumsum(values.mean(1)) / np.arange(1, cycles + 1)
        np.testing.assert_allclose(watched.score, mean, atol=2e-4, err_msg=name)


def test_a_law_means_the_same_in_python() -> None:
    seen = qed.trace(SWARMS[0], task=own_swarm.gather, seconds=10.0, seed=2)
    worth = [
        [own_swarm.near_centre(x, y, 0.0, 0.0, 4.0) for x, y in zip(xs, ys, strict=True)]
        for xs, ys in zip(seen.x.tolist(), seen.y.tolist(), strict=True)
    ]
    assert seen.score[-1] == pytest.approx(np.mean(worth), abs=1e-7)
    assert seen.task == "gather"


def test_the_running_score_ends_with_the_fitness_whatever_else_is_added_up() -> None:
    tasks = [own_swarm.gather, own_swarm.keep_close]
    together = qed.simulate(SWARMS, MIXED, tasks=[*tasks, "flocking"], descriptors=["hbd"], **SHORT)
    for task in tasks:
        alone = qed.simulate(SWARMS, MIXED, tasks=task, **SHORT)
        np.testing.assert_array_equal(alone.fitness[task], together.fitness[task])
        seen = qed.trace(SWARMS[1], MIXED[1], task=task, seconds=20.0, seed=3, trial=1)
        assert seen.score[-1] == alone.fitness[task][1, 1]


def test_score_turns_the_mean_into_fitness() -> None:
    plain = qed.Task("plain", pair=own_swarm.closeness)
    found = simulated(plain, own_swarm.keep_close)
    np.testing.assert_array_equal(found["keep-close"], 2.0 * found["plain"])
    assert (found["plain"][2] == 0.0).all()  # a robot alone has no pair


def test_a_task_is_its_name_and_more() -> None:
    gather = own_swarm.gather
    assert gather == "gather"
    assert {"gather": 1}[gather] == 1
    assert f"{gather}-1" == "gather-1"
    assert "meet in the middle" in repr(gather)
    assert pickle.loads(pickle.dumps(gather)).key == gather.key
    # Equality is that of names, transitive and one with hashes; who asks for more, asks.
    other = qed.Task("gather", robot=own_swarm.briskness)
    assert gather == "gather" == other == gather
    assert gather.key != other.key
    with pytest.raises(AttributeError, match="define another one"):
        gather.meaning = "something else"


def test_what_makes_a_law_is_its_text_and_the_numbers_it_reads() -> None:
    def made(reach: float) -> Any:
        def law(distance: float) -> float:
            return max(0.0, 1.0 - distance / reach)

        return checked(law, "test")

    assert made(1.0).digest == made(1.0).digest
    assert made(1.0).digest != made(2.0).digest
    near, far = (qed.Task("near", pair=made(r).function) for r in (0.5, 2.0))
    a, b = (qed.simulate(SWARMS[0], tasks=task, **SHORT).fitness["near"] for task in (near, far))
    assert (a < b).all()


def nothing(x):
    return math.nan


def text(x):
    return "a" + x


def listed(x):
    return [x]


def sometimes(x):
    if x > 2.0:
        return 1.0
    return None


def attribute(x):
    return x.speed


def unknown(battery, x):
    return battery * x


def undefined(x):
    return x * nowhere_to_be_found  # noqa: F821


TABLE = {"a": 1.0}


def from_table(x):
    return x * TABLE["a"]


def at_random(x):
    return x * random.random()


def numpys_chance(x):
    return x * np.random.uniform(0.0, 1.0)  # noqa: NPY002


def from_module(x):
    return x * len(os.sep)


def with_default(x, y=1.0):
    return x + y


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (nothing, ["nothing", "nan", "finite"]),
        (text, ["text", "does not compile"]),
        (listed, ["listed", "does not compile", "list"]),
        (sometimes, ["sometimes", "return a number"]),
        (attribute, ["attribute", "does not compile", "speed"]),
        (unknown, ["unknown", "battery", *ROBOT]),
        (undefined, ["undefined", "nowhere_to_be_found"]),
        (from_table, ["from_table", "TABLE", "dict"]),
        (at_random, ["at_random", "random numbers", "seed"]),
        (numpys_chance, ["numpys_chance", "random numbers"]),
        (from_module, ["from_module", "os", "module"]),
        (with_default, ["with_default", "default"]),
        (3.0, ["plain function", "float"]),
    ],
)
def test_laws_that_cannot_be_are_refused(law: Any, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        qed.Task("bad", robot=law)
    for word in words:
        assert word in str(caught.value)


def test_a_law_of_pairs_is_told_what_it_may_read() -> None:
    with pytest.raises(InputError, match="a pair may read " + ", ".join(PAIR)):
        qed.Task("bad", pair=own_swarm.near_centre)


@qed.law
def breaks_at_the_wall(x):
    return 1.0 / max(x - 0.3, 0.0)


def test_what_is_not_a_number_in_a_simulation_is_refused() -> None:
    task = qed.Task("bad", robot=breaks_at_the_wall)
    start = qed.Start([[0.2, 2.0, 0.0]])
    with pytest.raises(InputError, match=r"task bad: the law breaks_at_the_wall returned NaN"):
        qed.simulate(SWARMS[0], MIXED[2], tasks=task, start=start, seconds=1.0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "flocking", "robot": own_swarm.briskness}, "comes with QED"),
        ({"name": "two words", "robot": own_swarm.briskness}, "two words"),
        ({"name": "none"}, "one law"),
        ({"name": "a", "robot": own_swarm.briskness, "pair": own_swarm.closeness}, "one law"),
        ({"name": "a", "robot": own_swarm.briskness, "score": 3}, "score must be a function"),
        ({"name": "a", "robot": own_swarm.briskness, "score": lambda a, b, c: a}, "3 arguments"),
    ],
)
def test_tasks_that_cannot_be_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        qed.Task(**given)


@pytest.mark.parametrize(
    ("score", "words"), [(lambda mean: math.nan, "NaN"), (lambda mean: "good", "a number")]
)
def test_scores_that_cannot_be_are_refused(score: Any, words: str) -> None:
    task = qed.Task("bad", robot=own_swarm.briskness, score=score)
    with pytest.raises(InputError, match=rf"task bad: score .*{words}"):
        qed.simulate(SWARMS[0], tasks=task, **SHORT)


def test_a_name_with_two_definitions_is_refused() -> None:
    other = qed.Task("gather", robot=own_swarm.briskness)
    with pytest.raises(InputError, match="two different definitions of 'gather'"):
        qed.simulate(SWARMS[0], tasks=[own_swarm.gather, other], **SHORT)


def test_a_name_without_a_definition_says_what_to_pass() -> None:
    with pytest.raises(InputError, match=r"'gather'.*qed\.Task object.*--with FILE\.py"):
        qed.simulate(SWARMS[0], tasks="gather", **SHORT)
    with pytest.raises(InputError, match="must be a task, got the fault 'LIMP'"):
        qed.simulate(SWARMS[0], tasks=own_swarm.limping, **SHORT)
