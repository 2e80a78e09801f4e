"""The smallest loss after recovery: medians and tests by other means, and what is said of them."""

from __future__ import annotations

from dataclasses import replace

import made_up
import numpy as np
import pytest
from scipy import stats

from qed.paper.least import least, sentences, table
from qed.study.plan import PRESETS
from qed.study.results import Results

PLAN = PRESETS["paper"].changed(replicates=2, faults=15)


def with_qed(results: Results, task: str, by: float) -> Results:
    """Return results in which QED's resilience in a task is another."""
    rows = (results.recoveries["task"] == task) & (results.recoveries["algorithm"] == "qed")
    values = results.recoveries["resilience"].to_numpy(copy=True)
    values[rows.to_numpy()] += by
    return replace(results, recoveries=results.recoveries.assign(resilience=values))


PAPER_LIKE = with_qed(made_up.like_paper(PLAN), "patrolling", by=0.03)


def test_medians_and_tests() -> None:
    frame = least(PAPER_LIKE).set_index("task")
    assert frame.index.tolist() == ["all", *PLAN.tasks]
    data = PAPER_LIKE.recoveries[PAPER_LIKE.recoveries["task"] == "dispersion"]
    middle = data.groupby("algorithm")["resilience"].median()
    row = frame.loc["dispersion"]
    assert row["qed"] == pytest.approx(middle["qed"])
    assert row["other"] == pytest.approx(middle.drop("qed").max())
    assert row["best_other"] == middle.drop("qed").idxmax()
    better = [
        name
        for name in ("hbd", "sdbc", "spirit")
        if stats.ranksums(
            data.loc[data["algorithm"] == "qed", "resilience"],
            data.loc[data["algorithm"] == name, "resilience"],
        ).pvalue
        < 0.05 / 15
    ]
    assert row["better_than"] == ",".join(better) != ""
    assert frame["paper_qed_least"].all()


def test_what_is_said_where_qed_loses_least() -> None:
    together, apart = sentences(PAPER_LIKE)
    assert together.startswith(
        "Over all tasks QED loses least after recovery, as in the paper: median resilience -0."
    )
    assert "; significantly less than HBD, SDBC and SPIRIT." in together
    assert apart.startswith("By task, QED loses least in 5 of 5 (")


def test_what_is_said_where_it_does_not() -> None:
    worse = with_qed(PAPER_LIKE, "patrolling", by=-0.3)
    _, apart = sentences(worse)
    assert "in 4 of 5" in apart
    assert ". SDBC in patrolling (significantly) loses less than QED." in apart
    assert "In the paper QED loses least in all five tasks." in apart
    row = least(worse).set_index("task").loc["patrolling"]
    assert not row["qed_least"]
    assert row["worse_than"] == "hbd,sdbc,spirit"
    assert row["better_than"] == ""
    all_worse = replace(
        PAPER_LIKE,
        recoveries=PAPER_LIKE.recoveries.assign(
            resilience=np.where(
                PAPER_LIKE.recoveries["algorithm"] == "qed", -0.9,
                PAPER_LIKE.recoveries["resilience"],
            )
        ),
    )  # fmt: skip
    together, apart = sentences(all_worse)
    assert "loses least after recovery" in together
    assert together.endswith("In the paper QED loses least.")
    assert "QED loses least in 0 of 5. " in apart


def test_a_small_lead_is_not_called_significant() -> None:
    few = PAPER_LIKE.recoveries.groupby(["task", "algorithm"]).head(2)
    found = table(replace(PAPER_LIKE, recoveries=few))
    assert found is not None
    assert (found.frame.loc[1:, "better_than"] == "").all()
    _, apart = sentences(replace(PAPER_LIKE, recoveries=few))
    assert "in none significantly less than all others" in apart
    assert found.html().count("none") >= 10


def test_without_others_there_is_nothing_to_say() -> None:
    lone = made_up.like_paper(PLAN.changed(algorithms=("qed",)))
    assert table(lone) is None
    assert sentences(lone) == []
