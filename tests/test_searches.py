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
import why

import qed
from qed.recovery.kit import fitting
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
    found = searches.tables(how, FAULTS, heats, known=[np.array([9])] * 2, likely=np.array([12]))
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


def test_principal_axes_keep_the_distances_of_places_in_a_map():
    behaviours = np.random.default_rng(2).normal(size=(60, 40)) * np.linspace(3.0, 0.1, 40)
    ours, theirs = replayed.principal(behaviours), fitting.places_in(behaviours)

    def apart(places: np.ndarray) -> np.ndarray:
        return np.linalg.norm(places[:, None] - places[None], axis=2)

    assert ours.shape == (60, 16)
    np.testing.assert_allclose(apart(ours), apart(theirs), atol=1e-9)


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


@pytest.mark.parametrize("script", [baselines, unseen, why])
def test_the_plan_is_what_the_script_does(script):
    planned = script.COMPARISON.planned
    assert json.loads(planned.read_text()) == json.loads(json.dumps(script.plan()))


def test_kits_have_not_seen_what_they_have_not_seen():
    plan = unseen.plan()
    arms = unseen.arms(plan)
    for name, out in unseen.LEFT_OUT.items():
        survey, faults = arms[f"without {name}"]
        mixed = [[f for f in some if f in plan["library"][::3] + plan["others"]]
                 for some in (survey, faults)]  # fmt: skip
        assert (len(survey), len(faults)) == (20, 120)
        assert (len(mixed[0]), len(mixed[1])) == (7, 40)
        assert not {one for fault in [*survey, *faults] for one in fault.split(",")} & set(out)
    assert [len(some) for some in arms["all"]] == [len(some) for some in arms["with new kinds"]]
    known = {one for fault in [*arms["all"][1], *arms["640 faults"][1]] for one in fault.split(",")}
    assert not known & set(searches.NEW)
    assert set(searches.NEW) < {one for f in arms["with new kinds"][1] for one in f.split(",")}
    for case in plan["cases"]:
        kinds = unseen.LEFT_OUT.get(case["what"], [case["what"]])
        hit = sum(name in kinds for name in case["faults"].split(","))
        assert hit >= 2 or case["group"] == "size"
        assert case["faults"] not in plan["library"] + plan["new"] + plan["others"]
    assert not baselines.simulated() & set(baselines.plan()["faults"])


def made_up(script: Any, spread: float = 0.001, **better: float) -> dict[str, Any]:
    """Return numbers in which each way is as much worse as its name is long, archive by archive.

    Ways that are named are so much better than that.
    """
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
                value = {
                    name: round(0.6 - 0.01 * len(name) + better.get(name, 0.0) + luck, 5)
                    for name, luck in zip(names, spread * rng.normal(size=len(names)), strict=True)
                }
                archives.append(
                    {
                        "task": task, "map": algorithm, "seed": seed, "cells": 10, "bo": "bo, own",
                        "again": dict.fromkeys(names, 3) | {names[1]: 2 * len(faults)},
                        "kept": [0.5] * len(faults), "winner": [0.7] * len(faults),
                        "found": {n: [[v] * 5 for _ in faults] for n, v in value.items()},
                        "error": {n: [[0.001] * 5 for _ in faults] for n in names},
                        "prepared": dict.fromkeys(names, 7),
                        "tuned": {"bo, own": {"length": 1.0, "bound": 3.0, "shift": 0.0}},
                        "made": {"on": "a GPU", "qed": "1"},
                    }
                )  # fmt: skip
    return {**plan, "archives": archives}


def test_the_page_of_baselines_tells_the_numbers():
    found = made_up(baselines)
    words = baselines_page.baselines_page(found)
    own = [one["found"] for one in found["archives"] if one["map"] == "qed"]
    lead = np.mean([one["kit"][0][0] - one["bo, spirit"][0][0] for one in own])
    assert f"less that of `bo, spirit`, which was to be judged, is {lead:.3f} [" in words
    row = next(line for line in words.splitlines() if line.startswith("| `smbo`"))
    regret = f"{0.7 - np.mean([one['smbo'][0][0] for one in own]):.3f}"
    assert f"| {regret} | {regret} | {regret} | {regret} | {regret} | {regret} [" in row
    assert "(ahead in 10 of 10) |" in row
    assert "At an end of the grid, so that further out might be better: bound of `bo, own`" in words
    times = len(found["archives"]) * (9 * 3 + 2 * 16) + len(found["archives"]) * 3
    assert f"{times:,} times a search wanted" in words
    assert "most often `random`, in 6.7 % of its trials" in words
    assert "nan" not in words


@pytest.mark.parametrize(
    ("better", "spread", "told"),
    [
        ({"kit": 0.01}, 0.001, "the kit is ahead"),
        ({"kit": -0.09}, 0.001, "the kit is behind"),
        ({"kit": -0.07}, 0.01, "neither is shown to be ahead"),
    ],
)
def test_sentences_about_the_primary_comparison_follow_the_numbers(better, spread, told):
    words = baselines_page.baselines_page(made_up(baselines, spread, **better))
    [first] = [line for line in words.splitlines() if line.startswith("**So far**")]
    assert f"): {told}. Less that of the strongest of the others" in first
    others = {"keep", "prior", "random", "smbo", "it&e"} - set(better)
    named = first.partition("the strongest of the others, `")[2].partition("`")[0]
    assert named in others


def test_one_archive_a_task_has_no_intervals():
    found = made_up(baselines)
    found["archives"] = [one for one in found["archives"] if one["seed"] == 1]
    words = baselines_page.baselines_page(found)
    assert "There are too few archives for intervals." in words
    assert not any("[" in line for line in words.splitlines() if line.startswith("| `"))
    baselines_page.baselines_figure(found)


def test_the_page_of_unseen_kinds_tells_the_numbers():
    words = unseen_page.unseen_page(made_up(unseen))
    assert "not to have seen the kind costs a kit \N{MINUS SIGN}0.050 [" in words
    assert "(it helps; of these archives over faults: " in words
    rows = [line for line in words.splitlines() if line.startswith(("| wheels", "| WEAR"))]
    assert len(rows) == 2
    assert all("0 %, 0 % |" in row for row in rows)
    assert "nan" not in words
    words = unseen_page.unseen_page(made_up(unseen, informed=0.06))
    assert "(it costs; of these archives over faults: " in words
    words = unseen_page.unseen_page(made_up(unseen, spread=0.02, informed=0.05))
    assert "(it is shown neither to cost nor to help; " in words
