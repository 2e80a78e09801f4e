"""The paper's numbers, as the package carries them."""

from __future__ import annotations

import csv
import math
from importlib.resources import files

import pytest

from qed.paper import entries, value
from qed.study.plan import PRESETS

TASKS, ALGORITHMS = PRESETS["paper"].tasks, PRESETS["paper"].algorithms
BASELINES = [name for name in ALGORITHMS if name != "qed"]


@pytest.mark.parametrize(
    ("metric", "task", "algorithm", "expected"),
    [
        ("best performance", "dispersion", "qed", (0.84, 0.02)),
        ("coverage", "flocking", "hbd", (0.27, 0.01)),
        ("impact", "all", "spirit", (-0.25, 0.29)),
        ("resilience", "all", "qed", (-0.08, 0.07)),
        ("resilience", "flocking", "qed", (-0.64, 0.3)),
        ("coverage, cells", "all", "qed", (4094, 2)),
        ("projected coverage, cells", "all", "sdbc", (26, 2)),
    ],
)
def test_value_and_spread(metric, task, algorithm, expected):
    assert value(metric, task, algorithm) == expected
    assert value(metric, task, algorithm.upper()) == expected


def test_value_without_spread():
    slope, spread = value("slope of diversity on impact", algorithm="sdbc")
    assert slope == -1.01
    assert math.isnan(spread)


@pytest.mark.parametrize(
    ("task", "algorithm", "p", "ending"),
    [("aggregation", "hbd", 0.396, ": no"), ("patrolling", "sdbc", 0.001, ": *")],
)
def test_p_is_a_number_also_where_only_a_bound_is_printed(task, algorithm, p, ending):
    (found,) = entries("resilience: p against QED", task, algorithm)
    assert found.value == p
    assert found.note.endswith(ending)


def test_large_effects_are_noted_and_the_one_that_rounds_to_the_bound_is_not():
    metric = "resilience: Cliff's delta of QED over it"
    assert entries(metric, "flocking", "hbd")[0][::2] == (0.44, "large")
    assert entries(metric, "aggregation", "sdbc")[0][::2] == (0.43, "")


def test_range():
    assert [entry.value for entry in entries("behavioural diversity of a map")] == [0.60, 0.62]


def test_what_the_paper_lacks():
    assert value("resilience", "foraging", "qed") is None
    assert value("resilience", "all", "random") is None
    assert value("beauty", "all", "qed") is None
    assert entries("beauty") == ()


def test_tables_are_whole():
    for task in TASKS:
        for name in ALGORITHMS:
            for metric in ("best performance", "average performance", "coverage"):
                assert value(metric, task, name) is not None
        for metric in ("resilience", "recovered performance"):
            assert all(value(metric, task, name) for name in ALGORITHMS)
            for name in BASELINES:
                assert value(f"{metric}: p against QED", task, name) is not None
                assert value(f"{metric}: Cliff's delta of QED over it", task, name) is not None
    for name in ALGORITHMS:
        for metric in ("impact", "recovered performance", "resilience", "coverage, cells"):
            assert value(metric, "all", name) is not None


def test_no_number_hides_another():
    text = files("qed.paper").joinpath("numbers.csv").read_text(encoding="utf-8")
    keys = [(r["metric"], r["task"], r["algorithm"]) for r in csv.DictReader(text.splitlines())]
    twice = {key for key in keys if keys.count(key) > 1}
    assert twice == {("behavioural diversity of a map", "all", "all")}
    assert all(len(entries(*key)) == keys.count(key) for key in keys)
