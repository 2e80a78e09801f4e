import pytest

from qed.study import cost
from qed.study.forecast import forecast
from qed.study.plan import PRESETS

PAPER = PRESETS["paper"]


def test_cost_of_the_papers_runs():
    one_run = (2_000 + 30_000 * 80) * 50 * 2_000 * 10
    assert cost.evolution(PAPER, "hbd") == one_run
    assert cost.evolution(PAPER, "qed") == 1.25 * one_run  # 5, 10, 15 or 20 robots
    assert cost.normal(PAPER, "hbd") == pytest.approx(1_091 * 10 * 2_000 * 10)
    assert cost.recovery(PAPER, "hbd") == pytest.approx(50 * cost.normal(PAPER, "hbd"))
    batches = sum(cost.recovery(PAPER, "hbd", k) for k in range(5))
    assert batches == pytest.approx(cost.recovery(PAPER, "hbd"))


@pytest.mark.parametrize(
    ("algorithm", "papers"), [("qed", 4094), ("hbd", 1091), ("sdbc", 130), ("spirit", 127)]
)
def test_maps_of_the_papers_size_are_as_full_as_the_papers(algorithm, papers):
    assert cost.solutions(algorithm, PAPER.evaluations) == pytest.approx(papers, abs=2)


def test_forecast_grows_with_the_plan():
    small = PRESETS["quick"].changed(algorithms="qed,hbd")
    large = small.changed(evaluations=50_000, faults=80)
    times = forecast(small, wall=0.02), forecast(large, wall=0.02)
    assert list(times[0]) == ["qed", "hbd"]
    for algorithm in times[0]:
        # Ten times the work; speeds are noisy when they are measured so shortly.
        for before, after in zip(times[0][algorithm], times[1][algorithm], strict=True):
            assert 0 < before < after
