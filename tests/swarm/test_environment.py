"""The six attributes, their options, and the generator."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import pytest

import qed
from qed.swarm.environment import PAPER, VARIANTS


def test_the_normal_environment_is_the_papers() -> None:
    env = qed.Environment()
    assert (env.max_speed, env.robots, env.arena) == (0.1, 10, 4.0)
    assert (env.obstacles, env.rab_range, env.proximity_range) == (0, 1.0, 0.11)
    assert env.options() == (1, 1, 2, 0, 2, 1)


def test_options_lead_to_an_environment_and_back() -> None:
    every = list(itertools.product(range(4), repeat=6))
    assert len({qed.Environment.from_options(options) for options in every}) == 4096
    for options in every[::37]:
        assert qed.Environment.from_options(options).options() == options


def test_arenas_have_four_to_twentyfive_square_metres() -> None:
    assert [side**2 for side in PAPER["arena"]] == [4.0, 9.0, 16.0, 25.0]
    assert [side**2 for side in VARIANTS["scripts"]["arena"]] == [9.0, 16.0, 25.0, 36.0]


def test_an_environment_off_the_options_has_none() -> None:
    assert qed.Environment(arena=4.1).options() is None


def test_every_option_is_drawn_equally_often_and_independently() -> None:
    drawn = [env.options() for env in qed.Environment.sample(8000, seed=1)]
    assert drawn[:10] == [env.options() for env in qed.Environment.sample(10, seed=1)]
    for attribute in range(6):
        counts = Counter(options[attribute] for options in drawn if options)
        assert sum((counts[k] - 2000.0) ** 2 / 2000.0 for k in range(4)) < 16.3  # 3 df, p=.001
    for a, b in itertools.combinations(range(6), 2):
        pairs = Counter((options[a], options[b]) for options in drawn if options)
        assert sum((pairs[k] - 500.0) ** 2 / 500.0 for k in pairs) < 44.3  # 15 df, p = 1e-4
        assert len(pairs) == 16


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"max_speed": 0.0}, "max_speed"),
        ({"max_speed": 10.0}, "max_speed"),
        ({"robots": 0}, "robots"),
        ({"robots": 65}, "robots"),
        ({"robots": 2.5}, "robots"),
        ({"arena": 0.1}, "arena"),
        ({"arena": math.inf}, "arena"),
        ({"arena": "large"}, "arena"),
        ({"obstacles": -1}, "obstacles"),
        ({"rab_range": math.nan}, "rab_range"),
        ({"proximity_range": -0.1}, "proximity_range"),
    ],
)
def test_impossible_attributes_are_refused(change: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word) as caught:
        qed.Environment(**change)
    assert str(next(iter(change.values()))) in str(caught.value)


@pytest.mark.parametrize("options", [(0, 0, 0), (0, 0, 0, 0, 0, 4), (0, 0, 0, 0, 0, -1)])
def test_impossible_options_are_refused(options: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="option"):
        qed.Environment.from_options(options)


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(ValueError, match="did you mean 'scripts'"):
        qed.Environment.from_options((0,) * 6, "script")


def test_a_users_options_make_environments() -> None:
    few = qed.Attributes({"obstacles": (0, 4, 5), "robots": [5, 10]})
    assert few.shape == (2, 3)  # in the order of an environment's fields
    assert few.environment((1, 2)) == qed.Environment(robots=10, obstacles=5)
    assert few.options_of(qed.Environment(robots=10, obstacles=5)) == (1, 2)
    assert qed.Environment(robots=10, obstacles=5).options(few) == (1, 2)
    assert qed.Environment(robots=10, obstacles=5, arena=3.0).options(few) is None
    drawn = Counter(env.options(few) for env in qed.Environment.sample(3000, 2, few))
    assert len(drawn) == 6
    assert sum((n - 500.0) ** 2 / 500.0 for n in drawn.values()) < 20.5  # 5 df, p = 0.001


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "max_speed"),
        ({"robot": (5, 10)}, "did you mean 'robots'"),
        ({"robots": ()}, "at least one option"),
        ({"robots": (5, 5)}, "none twice"),
        ({"robots": (5, 99)}, "robots"),
        ({"robots": 5}, "list of options"),
        ("paper", "table"),
    ],
)
def test_options_that_cannot_be_are_refused(options: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        qed.Attributes(options)
