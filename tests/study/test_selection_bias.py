"""Selection bias: gains by other means, and what is said of them."""

from __future__ import annotations

from dataclasses import replace

import made_up
import pytest

from qed.study.plan import PRESETS
from qed.study.selection_bias import gains, measured, part, sentence, sentences

RESULTS = made_up.results(PRESETS["quick"].changed(tasks=("dispersion", "flocking"), faults=6))


def test_gains_are_parts_of_the_tasks_best() -> None:
    found = gains(RESULTS)
    row = RESULTS.recoveries.iloc[7]
    best = RESULTS.runs.loc[RESULTS.runs["task"] == row["task"], "best"].max()
    assert found.iloc[7]["fresh"] == pytest.approx((row["recovered"] - row["broken"]) / best)
    claimed = (row["claimed_recovered"] - row["claimed_broken"]) / best
    assert found.iloc[7]["claimed"] == pytest.approx(claimed)
    assert (found["claimed"] > found["fresh"]).all()


def test_each_algorithm_gets_a_sentence() -> None:
    told = sentences(RESULTS)
    assert [text.partition(":")[0] for text in told] == ["QED", "HBD", "SDBC", "SPIRIT"]
    own = gains(RESULTS)
    own = own[own["algorithm"] == "qed"]
    share = 1 - own["fresh"].sum() / own["claimed"].sum()
    assert f"Of the summed claimed gains, {share:.0%} is selection bias" in told[0]
    assert f"a median of {own['claimed'].median():.1%}" in told[0]
    assert f"and {own['fresh'].median():.1%} on fresh trials" in told[0]
    by_task = own.groupby("task")[["fresh", "claimed"]].sum()
    shares = 1 - by_task["fresh"] / by_task["claimed"]
    assert f"most in {shares.idxmax()} ({shares.max():.0%})" in told[0]
    [short] = sentence(RESULTS)
    assert "of that gain is selection bias" in short


def test_where_recovery_only_claims_to_win_all_of_it_is_bias() -> None:
    broken = RESULTS.recoveries["broken"]
    none = replace(RESULTS, recoveries=RESULTS.recoveries.assign(recovered=broken))
    assert all("all is selection bias" in text for text in sentences(none))
    nothing = RESULTS.recoveries.assign(
        recovered=broken, claimed_recovered=RESULTS.recoveries["claimed_broken"]
    )
    assert all(
        "selection bias" not in text for text in sentences(replace(RESULTS, recoveries=nothing))
    )
    assert sentence(replace(RESULTS, recoveries=nothing)) == []


def test_without_the_papers_way_nothing_is_said() -> None:
    bare = replace(RESULTS, recoveries=RESULTS.recoveries.drop(columns="claimed_broken"))
    assert not measured(bare)
    assert sentences(bare) == sentence(bare) == []


@pytest.mark.parametrize(("bias", "words"), [(-0.1, "none"), (0.25, "25%"), (1.2, "all")])
def test_parts_in_words(bias: float, words: str) -> None:
    assert part(bias) == words
