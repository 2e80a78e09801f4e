"""What is told of the study's maxima follows the file of numbers, whatever is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import archive_pages
import comparison
import maxima
import maxima_page
import pytest

FOUND = json.loads(maxima.COMPARISON.numbers.read_text("utf-8"))


def with_runs(best: float, evaluations: int) -> dict[str, Any]:
    """Return numbers with a run in each task that reached so much."""
    runs = [
        {
            "task": task, "map": holder, "seed": 1, "best": best, "claimed_best": best,
            "evolved": {"evaluations": evaluations, "best": best,
                        "curve": [[2000, best / 2], [evaluations, best]]},
            "made": {"on": "a GPU", "qed": "1"},
        }
        for task, holder in FOUND["holders"].items()
    ]  # fmt: skip
    return {**FOUND, "archives": runs}


def test_the_plan_is_what_the_script_does() -> None:
    planned = json.loads(maxima.COMPARISON.planned.read_text("utf-8"))
    assert planned == json.loads(json.dumps(maxima.plan()))
    assert {key: FOUND[key] for key in planned} == planned


def test_the_page_is_that_of_the_numbers() -> None:
    page = archive_pages.PAGES / "maxima.md"
    assert page.read_text("utf-8") == maxima_page.page(FOUND), "run benchmarks/maxima_page.py"


def test_the_holders_have_the_best_archives() -> None:
    for task, holder in FOUND["holders"].items():
        own = [row for row in FOUND["study"] if row["task"] == task]
        assert max(own, key=lambda row: row["best"])["algorithm"] == holder


@pytest.mark.parametrize(
    ("best", "evaluations", "told"),
    [
        (0.1, 2_402_000, "With the paper's budget, 2,402,000 evaluations, the best of {} is not "
         "higher: 0.100."),
        (0.99, 1_000, "After 1,000 of 2,402,000 evaluations the best of {} is higher: 0.990."),
    ],
)  # fmt: skip
def test_sentences_follow_the_runs(best: float, evaluations: int, told: str) -> None:
    found = with_runs(best, evaluations)
    words = maxima_page.page(found)
    maxima_page.figure(found)
    for holder in FOUND["holders"].values():
        assert told.format(holder.upper()) in words
    assert "nan" not in words


def test_a_maximum_as_needed_explains_all_of_the_difference() -> None:
    found = with_runs(0.1, 2_402_000)
    for row, run in zip(maxima_page.numbers(found), found["archives"], strict=True):
        assert row["share"] == 0.0
        run["best"] = row["needed"]
    for row in maxima_page.numbers(found):
        assert row["now"] == pytest.approx(row["told"])
        assert row["share"] == pytest.approx(1.0)


def test_a_history_keeps_both_ends(tmp_path: Path) -> None:
    lines = [f"{80 * k},{k},{k / 1000},{k / 2000},1.0" for k in range(1, 901)]
    text = "\n".join(["evaluations,filled,best,mean,qd_score", *lines]) + "\n"
    (tmp_path / "progress.csv").write_text(text, "utf-8")
    found = comparison.history(tmp_path)
    assert (found["evaluations"], found["best"], found["mean"]) == (72_000, 0.9, 0.45)
    assert found["curve"][0] == [80, 0.001]
    assert found["curve"][-1] == [72_000, 0.9]
    assert len(found["curve"]) <= 31
    assert found["curve"] == sorted(found["curve"])
