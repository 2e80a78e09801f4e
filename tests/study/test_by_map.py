"""The map as the unit: numbers by other means, and what is said of them."""

from __future__ import annotations

from dataclasses import replace

import made_up
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from qed.study import by_map
from qed.study.blocks import ALL
from qed.study.plan import PRESETS
from qed.study.results import Results
from qed.swarm.environment import PAPER, Environment

PLAN = PRESETS["paper"].changed(tasks=("dispersion", "patrolling"), replicates=3, faults=15)
RESULTS = made_up.results(PLAN)


def with_resilience(results: Results, of: dict[tuple[str, int], float]) -> Results:
    """Return results in which all recoveries of an algorithm's maps have this resilience."""
    data = results.recoveries
    keys = list(zip(data["algorithm"], data["replicate"], strict=True))
    return replace(results, recoveries=data.assign(resilience=[of[key] for key in keys]))


def test_means_and_limits_are_over_maps() -> None:
    data = RESULTS.recoveries
    own = data[(data["task"] == "dispersion") & (data["algorithm"] == "hbd")]
    means = own.groupby("replicate")["recovered"].mean()
    limits = stats.t(2, means.mean(), means.sem()).interval(0.95)
    row = by_map.outcomes(RESULTS).set_index(["task", "algorithm"]).loc["dispersion", "hbd"]
    assert row["recovered"] == pytest.approx(means.mean())
    assert (row["recovered_low"], row["recovered_high"]) == pytest.approx(limits)
    every = by_map.outcomes(RESULTS).set_index(["task", "algorithm"]).loc[ALL, "hbd"]
    by_task = data[data["algorithm"] == "hbd"].groupby("task")["recovered"].mean()
    assert every["recovered"] == pytest.approx(by_task.mean())


def test_differences_are_in_the_same_fault() -> None:
    """An algorithm that does the same but for a constant differs by it, whatever the faults."""
    data = RESULTS.recoveries
    keys = ["task", "replicate", "fault"]
    qed = data[data["algorithm"] == "qed"].set_index(keys)["relative_performance"]
    there = data["algorithm"] == "hbd"
    alike = qed.reindex(pd.MultiIndex.from_frame(data.loc[there, keys])).to_numpy()
    noisy = alike - 0.1 + 0.01 * data.loc[there, "replicate"].to_numpy()
    shifted = data["relative_performance"].to_numpy(copy=True)
    shifted[there.to_numpy()] = noisy
    results = replace(RESULTS, recoveries=data.assign(relative_performance=shifted))
    frame = by_map.differences(results).set_index(["task", "against"])
    row = frame.loc["dispersion", "hbd"]
    assert row["relative_performance"] == pytest.approx(0.08)
    low, high = stats.t(2, 0.08, 0.01 / 3**0.5).interval(0.95)
    assert row[["relative_performance_low", "relative_performance_high"]].tolist() == (
        pytest.approx([low, high])
    )
    assert row["relative_performance_p"] == pytest.approx(2 / 20)
    assert frame.loc[(ALL, "hbd"), "relative_performance_p"] <= 2 / 20
    assert row["close_p"] > 0.9


def test_a_permutation_without_one_task_is_the_largest() -> None:
    frame = by_map.differences(RESULTS).set_index(["task", "against"])
    for other in ("hbd", "sdbc", "spirit"):
        alone = [frame.loc[(task, other), "resilience_p"] for task in RESULTS.tasks]
        # Two tasks: without the one, the other is left.
        assert frame.loc[(ALL, other), "resilience_p_without"] == pytest.approx(max(alone))


@pytest.mark.parametrize(
    ("qed", "other", "words"),
    [
        ((-0.10, -0.11, -0.12), (-0.30, -0.31, -0.33), "its resilience is above that of HBD"),
        ((-0.30, -0.31, -0.33), (-0.10, -0.11, -0.12), "its resilience is below that of HBD"),
        ((-0.10, -0.30, -0.20), (-0.11, -0.28, -0.22), "is neither above nor below that of any"),
    ],
)
def test_words_follow_intervals(
    qed: tuple[float, ...], other: tuple[float, ...], words: str
) -> None:
    made = made_up.results(PLAN.changed(tasks=("dispersion",), algorithms=("qed", "hbd")))
    of = {("qed", k + 1): value for k, value in enumerate(qed)}
    of |= {("hbd", k + 1): value for k, value in enumerate(other)}
    told = by_map.sentences(with_resilience(made, of))
    assert words in told[0]
    ahead = np.mean(qed) > np.mean(other)
    assert f"highest mean resilience in {int(ahead)} of 1" in told[1]
    assert f"higher in {int(ahead)} of 1 comparison" in told[1]


def test_one_replicate_says_nothing_of_sureness() -> None:
    alone = made_up.results(PLAN.changed(replicates=1))
    told = by_map.sentences(alone)
    assert "nothing can be said of how sure" in told[0]
    assert "[" not in " ".join(told)
    assert "p=" not in " ".join(told)
    assert not any("nan" in line for line in told)
    assert not any("nan" in table.markdown() for table in by_map.tables(alone))


def test_the_mechanism_is_measured_within_maps() -> None:
    """Lines of equal slope, shifted between tasks, have that slope; pooled they would not."""
    data = RESULTS.recoveries
    shift = data["task"].map({"dispersion": 0.0, "patrolling": 0.5})
    impact = np.tile(np.linspace(-0.45, -0.01, 15), len(data) // 15) * (1 - shift)
    results = replace(
        RESULTS, recoveries=data.assign(impact=impact, distance=0.2 - 0.6 * impact - 0.3 * shift)
    )
    frame = by_map.mechanism(results)
    slopes = frame[frame["measure"] == by_map.MECHANISM["distance_slope"]]
    assert slopes["mean"].to_numpy() == pytest.approx(-0.6)
    assert slopes["n"].tolist() == [6] * 4
    [words] = [line for line in by_map.sentences(results) if "paper explains" in line]
    assert "-0.60 (QED)" in words
    assert words.count("shown against none") == 1  # of slopes that are equal


def test_environments_of_recovery_solutions() -> None:
    normal = PAPER.options_of(Environment())
    data = RESULTS.recoveries
    faster = np.ravel_multi_index((3, *normal[1:]), PAPER.shape)
    same = np.ravel_multi_index(normal, PAPER.shape)
    cells = np.where(data["fault"] < 5, faster, same)  # 5 of 15
    frame = by_map.recovery_cells(replace(RESULTS, recoveries=data.assign(recovery_cell=cells)))
    rows = frame.set_index("task")
    assert rows.loc["dispersion", "max_speed"] == pytest.approx(1 / 3)
    assert rows.loc["dispersion", "robots"] == 0
    options = np.array(np.unravel_index(np.arange(PAPER.count), PAPER.shape)).T
    above = (options > np.array(normal)).mean(0)
    assert rows.loc["chance", list(PAPER)].to_numpy(float) == pytest.approx(above)
    limits = rows.loc["dispersion", ["max_speed_low", "max_speed_high"]].to_numpy(float)
    assert (limits >= 0).all()
    assert (limits <= 1).all()


def test_what_is_confounded_is_told() -> None:
    plan = PLAN.changed(replicates=4)
    made = made_up.results(plan)
    data = made.recoveries
    of = data.groupby(["task", "algorithm", "replicate"])["normal"].transform("first")
    told = by_map.sentences(replace(made, recoveries=data.assign(resilience=-of)))
    assert "correlated by -1.00" in told[-1]
