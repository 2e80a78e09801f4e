"""Tables of trials, searches that are replayed from them, and what is told of these."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import baselines
import baselines_page
import numpy as np
import pytest
import replayed
import searches
import unseen
import unseen_page

import qed
from qed.recovery.recover import trials_of
from qed.recovery.search.strategies import MapBased


@pytest.fixture(scope="module")
def how():
    archive = qed.load_example("patrolling")
    some = trials_of(archive, trials=2, seconds=2.0, fresh=2, backend="cpu")
    return replace(some, networks=some.networks.take(np.arange(0, 4096, 256)))


FAULTS = [
    "PMIN,NONE,NONE,NONE,NONE,NONE,NONE,NONE,NONE,NONE",
    ",".join(["DEAD"] * 5 + ["WEAR"] * 5),
]


def test_all_meet_few_trials_and_the_better_ones_more(how):
    heats = [(None, 1), (4, 3), (2, 4)]
    found = searches.tables(how, FAULTS, heats, known=np.array([9]), likely=np.array([12]))
    assert found.shape == (2, 16, 4)
    depth = np.isfinite(found).sum(2)
    for table, met in zip(found.astype(float), depth, strict=True):
        best = np.argsort(-table[:, 0], kind="stable")[:4]
        assert set(np.flatnonzero(met >= 3)) == {*best.tolist(), 9, 12}
        last = np.flatnonzero(met == 4)
        assert (12 in last and 9 not in last) or 9 in best
        assert len(last) in (2, 3)
    alone = searches.pairs(how, np.array([5]), FAULTS[1:], 1, "heat", 0, groups=searches.GROUPS)
    assert found[1, 5, 0] == np.float16(alone[0, 0])


def test_a_search_is_told_the_trials_of_the_table_in_their_order():
    table = np.array([[0.1, 0.2, 0.3], [0.5, np.nan, np.nan], [0.4, 0.6, 0.7]])
    search = replayed.InOrder([2, 1, 0])
    answers, again = replayed.play(search, table, 0, (1, 2, 4))
    # First the present one, free; then 2 and 1, and the best of them; of 1 there is no more.
    assert search.told == {0: [0.1], 2: [0.4], 1: [0.5, 0.5, 0.5]}
    assert (answers, again) == ([2, 1, 1], 2)


def test_the_library_kernel_is_the_covariance_over_its_faults():
    rng = np.random.default_rng(5)
    loadings = rng.normal(size=(30, 2))
    apart = rng.normal(size=(400, 2)) @ loadings.T + 0.1 * rng.normal(size=(400, 30))
    columns, variance = replayed.on_library(apart, rank=4, scale=2.0)
    found = columns(np.arange(30))
    shared = 2.0 * apart.T @ apart / 400
    own = replayed.NUGGET * float(np.diag(shared).mean())
    np.testing.assert_allclose(found, shared + own * np.eye(30), atol=0.05)
    np.testing.assert_allclose(np.diag(found), variance)
    assert np.linalg.eigvalsh(found).min() > 0.5 * own


@pytest.mark.parametrize("again", [True, False])
def test_map_based_search_uses_what_near_controllers_gave(again):
    places = np.linspace(0.0, 1.0, 50)[:, None]
    truth = np.exp(-((places[:, 0] - 0.8) ** 2) / 0.02)
    columns, variance = replayed.on_places(places, 0.3, 0.3)
    noise = np.full(50, 0.01)
    process = MapBased(np.full(50, 0.3), columns, variance, noise, bound=1.0, again=again)
    search = replayed.Mapped(process)
    answers, _ = replayed.play(search, np.tile(truth[:, None], 31), 0)
    assert truth[answers[-2]] > 0.95
    tried = [row for row, _ in search.told]
    assert (len(set(tried)) == len(tried)) is not again


def test_answers_are_measured_on_fresh_trials(how):
    answers = {"present": 3, "winner": [4, 5], "found": {"keep": [[3], [3]], "one": [[7, 4], []]}}
    found, spent = searches.judged(how, answers, FAULTS)
    assert spent == 2 * (3 + 2)
    assert found["found"]["keep"] == [[value] for value in found["kept"]]
    assert found["found"]["one"][0][1] == found["winner"][0]
    assert found["error"]["keep"] == [[0.0], [0.0]]
    assert found["found"]["one"][1] == []


@pytest.mark.parametrize("script", [baselines, unseen])
def test_the_plan_is_what_the_script_does(script):
    assert json.loads(script.PLAN.read_text()) == json.loads(json.dumps(script.plan()))


def test_kits_have_not_seen_what_they_have_not_seen():
    plan = unseen.plan()
    arms = unseen.arms(plan)
    for name, out in unseen.LEFT_OUT.items():
        survey, faults = arms[f"without {name}"]
        assert len(faults) == len(arms["all"][1]) == plan["mixed"] + plan["one_sided"]
        assert not {one for fault in [*survey, *faults] for one in fault.split(",")} & set(out)
    known = {one for fault in [*arms["all"][1], *arms["640 faults"][1]] for one in fault.split(",")}
    assert not known & set(searches.NEW)
    assert set(searches.NEW) < {one for f in arms["with new kinds"][1] for one in f.split(",")}
    for case in plan["cases"]:
        kinds = unseen.LEFT_OUT.get(case["what"], [case["what"]])
        hit = sum(name in kinds for name in case["faults"].split(","))
        assert hit >= 2 or case["group"] == "size"
        assert case["faults"] not in plan["library"] + plan["new"] + plan["others"]
    assert not baselines.simulated() & set(baselines.plan()["faults"])


def made_up(script: Any) -> dict[str, Any]:
    """Return numbers in which each way is as much worse as its name is long, archive by archive."""
    plan = script.plan()
    faults = [case["faults"] for case in plan.get("cases", [])] or plan["faults"]
    names = [
        *plan["strategies"],
        *(f"{way} {n}" for n in plan.get("sizes", ()) for way in ("kit", "prior")),
    ]
    rng, archives = np.random.default_rng(1), []
    for task in plan["tasks"]:
        for algorithm in plan["maps"]:
            for seed in plan["seeds"]:
                luck = 0.001 * rng.normal()
                value = {name: round(0.6 - 0.01 * len(name) + luck, 5) for name in names}
                archives.append(
                    {
                        "task": task, "map": algorithm, "seed": seed, "cells": 10, "bo": "bo, own",
                        "again": 0, "kept": [0.5] * len(faults), "winner": [0.7] * len(faults),
                        "found": {n: [[v] * 5 for _ in faults] for n, v in value.items()},
                        "error": {n: [[0.001] * 5 for _ in faults] for n in names},
                        "prepared": dict.fromkeys(names, 7),
                        "tuned": {"bo, own": {"bound": 1.0}},
                        "made": {"on": "a GPU", "qed": "1"},
                    }
                )  # fmt: skip
    return {**plan, "archives": archives}


def test_the_page_of_baselines_tells_the_numbers():
    found = made_up(baselines)
    words = baselines_page.baselines_page(found)
    # "bo, spirit" has seven letters more than "kit", a hundredth of fitness each.
    assert "SPIRIT's descriptor is 0.070 [0.070, 0.070] (ahead in 10 of 10)" in words
    row = next(line for line in words.splitlines() if line.startswith("| `smbo`"))
    numbers = [one["found"]["smbo"][0][0] for one in found["archives"] if one["map"] == "qed"]
    regret = f"{0.7 - np.mean(numbers):.3f}"
    assert f"| {regret} | {regret} | {regret} | {regret} | {regret} | {regret} [" in row
    assert "| 0.010 [0.010, 0.010] (ahead in 10 of 10) |" in row
    assert "nan" not in words


def test_the_page_of_unseen_kinds_tells_the_numbers():
    words = unseen_page.unseen_page(made_up(unseen))
    assert "not to have seen the kind costs a kit \N{MINUS SIGN}0.050 [" in words
    rows = [line for line in words.splitlines() if line.startswith(("| wheels", "| WEAR"))]
    assert len(rows) == 2
    assert all("0 %, 0 % |" in row for row in rows)
    assert "nan" not in words
