"""What is told of environments and size follows the file of numbers, whatever is in it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import archive_pages
import numpy as np
import pytest
import searches
import why
import why_page

import qed
from qed.recovery.kit import library
from qed.streams import stream

FOUND = json.loads(why_page.NUMBERS.read_text("utf-8"))


def replicated(shift: dict[tuple[str, int], float]) -> dict[str, Any]:
    """Return numbers with a replicate for each shift, by which an arm's recoveries differ."""
    made = copy.deepcopy(FOUND)
    first = [one for one in made["archives"] if one["replicate"] == 1]
    made["archives"] = []
    for replicate in sorted({number for _, number in shift}):
        for one in copy.deepcopy(first):
            own = next(o for o in first if (o["task"], o["arm"]) == (one["task"], "qed"))
            more = shift.get((one["arm"], replicate), 0.0)
            for name in why_page.JUDGED:
                recovered = own["archive"][name]["recovered"]
                one["archive"][name]["recovered"] = [value + more for value in recovered]
            made["archives"].append({**one, "replicate": replicate})
    return made


def test_the_page_is_that_of_the_numbers() -> None:
    assert why_page.PAGE.read_text("utf-8") == why_page.page(FOUND), "run benchmarks/why_page.py"


def test_differences_are_from_qed_of_the_same_replicate() -> None:
    found = replicated({("niches", 1): 0.01, ("niches", 2): 0.03, ("niches", 3): 0.05})
    less = archive_pages.over_archives(why_page.less_qed(why_page.rows(found), "niches", "faults"))
    assert less.mean == pytest.approx(0.03)
    # Five tasks of three archives each, 0.02 apart: 0.03 +- t(.975, 10) * 0.02 / sqrt(15).
    assert less.high - 0.03 == pytest.approx(2.228 * 0.02 / 15**0.5, rel=1e-3)
    assert "0.030 [" in why_page.verdict(found, why_page.rows(found))
    assert "(above QED's in 5 of 5 tasks)" in why_page.verdict(found, why_page.rows(found))


@pytest.mark.parametrize(
    ("shifts", "told"),
    [
        ((0.019, 0.02, 0.021), "above QED's in combined faults, but not shown to be equivalent"),
        ((-0.02, -0.021, -0.019), "below QED's in combined faults, but not shown to be equivalent"),
        ((0.004, 0.005, 0.006), "above QED's in combined faults, and shown to be equivalent"),
        ((-0.001, 0.0, 0.001), "neither above nor below QED's in combined faults, and shown to"),
        ((-0.1, 0.0, 0.1), "neither above nor below QED's in combined faults, but not shown to"),
    ],
)
def test_sentences_follow_the_intervals(shifts: tuple[float, ...], told: str) -> None:
    found = replicated({("niches", k): shift for k, shift in enumerate(shifts, 1)})
    assert f"By these intervals it is {told}" in why_page.verdict(found, why_page.rows(found))


def test_one_replicate_has_no_intervals() -> None:
    one = replicated({("niches", 1): 0.02})
    words = why_page.page(one)
    assert "so nothing is sure" in words
    assert "there are no intervals" in words
    assert "nan" not in words
    several = why_page.page(replicated({("niches", k): 0.02 + k / 1000 for k in (1, 2)}))
    assert "so nothing is sure" not in several
    assert "95 % intervals" in several


def test_replicates_may_be_partial() -> None:
    """One task only, without QED's archive, without others: what is not there is not compared."""
    found = replicated({("niches", 1): 0.01, ("niches", 2): 0.03})
    second = [one for one in found["archives"] if one["replicate"] == 2]
    some = [
        *(one for one in found["archives"] if one["replicate"] == 1),
        *(one for one in second if one["task"] == "flocking" and one["arm"] != "qed"),
        *(one for one in second if one["task"] == "patrolling" and one["arm"] in ("qed", "niches")),
    ]
    words = why_page.page({**found, "archives": some})
    why_page.figure({**found, "archives": some})
    assert "nan" not in words
    assert "This is 1 to 2 of 5 planned replicates, so nothing is sure." in words
    assert "| patrolling | 2 | 0.020 [" in words
    assert "| flocking | 1 | 0.010 |" in words
    assert "Replicates in which all arms are finished, of 5: 1." in words


def test_kits_are_told_where_they_were_played() -> None:
    found = replicated({("niches", 1): 0.0, ("niches", 2): 0.0})
    assert "best kit is not measured" in why_page.page(found)
    for one in found["archives"]:
        one["kit"] = {"recovered": {"10": [0.5 + 0.1 * (one["arm"] == "faults")] * 30}}
    words = why_page.page(found)
    assert "best kit is not measured" not in words
    row = next(line for line in words.splitlines() if line.startswith("| faults"))
    assert row.endswith("| 0.600 [0.600, 0.600] | 0.100 [0.100, 0.100]; 5 of 5 |")


def test_kits_have_not_seen_the_faults_that_judge_them() -> None:
    plan = why.plan()
    judged = {",".join(fault.split()) for fault in plan["faults"]}
    for task in plan["tasks"]:
        seed = stream("why", "kit", task)
        for purpose in ("survey", "library"):
            seen = library.drawn(purpose, seed, 160, 10)
            assert not judged & {",".join(one) for one in seen}


@pytest.fixture(scope="module")
def jury() -> why.Judge:
    plan = why.plan("tiny") | {"seconds": 2.0, "kit trials": (1, 2)}
    return why.Judge(qed.load_example("patrolling").genomes().networks(), "patrolling", plan)


def test_what_is_reported_of_the_chosen_comes_from_fresh_trials(jury: why.Judge) -> None:
    some, cells = np.arange(0, 4096, 64), np.arange(4096)
    found = jury.rows(some, cells, changed=True)
    for name in ("faults", "changed"):
        conditions = (
            [(qed.Environment(), qed.Faults(names.split())) for names in jury.plan["faults"]]
            if name == "faults"
            else [(qed.Environment(**one), None) for one in jury.plan["changed"].values()]
        )
        pairs = list(zip(found[name]["cell"], conditions, strict=True))
        fresh = jury.fitness(pairs, jury.plan["fresh"], jury.fresh)
        assert found[name]["recovered"] == fresh.tolist()
        assert set(found[name]["cell"]) <= set(some.tolist())
        chosen = jury.fitness(pairs, jury.plan["fresh"], stream("why", "choose", "patrolling"))
        assert chosen.tolist() != fresh.tolist()


def test_a_kits_answers_are_measured_like_the_winners_of_races(jury: why.Judge) -> None:
    sizes: dict[str, Any] = {"evaluations": 60, "initial": 20, "batch": 20}
    archive = qed.evolve("patrolling", "niches", **sizes, trials=1, seconds=2.0)
    own = why.Judge(archive.genomes().networks(), jury.task, jury.plan)
    found = why.kit(archive, own)
    assert 1 < found["controllers"] <= searches.LITTLE["controllers"]
    assert list(found["recovered"]) == ["1", "2"]
    for k, names in enumerate(jury.plan["faults"]):
        broken = qed.Environment(), qed.Faults(names.split())
        pairs = [(row, broken) for row in range(len(archive))]
        every = own.fitness(pairs, jury.plan["fresh"], own.fresh).round(5)
        assert all(values[k] in every for values in found["recovered"].values())


def test_archives_of_another_size_are_not_gathered(tmp_path: Path) -> None:
    (tmp_path / "flocking-qed-1").mkdir()
    rows = {"task": "flocking", "arm": "qed", "replicate": 1, "size": "tiny"}
    (tmp_path / "flocking-qed-1" / why.ROWS).write_text(json.dumps(rows))
    with pytest.raises(SystemExit, match="archives of another size than full: tiny"):
        why.COMPARISON.gather([tmp_path], why.plan(), tmp_path / "why.json")
    assert not (tmp_path / "why.json").exists()
    why.COMPARISON.gather([tmp_path], why.plan("tiny"), tmp_path / "why.json")
    assert json.loads((tmp_path / "why.json").read_text())["archives"] == [rows]
