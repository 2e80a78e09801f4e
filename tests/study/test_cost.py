import pytest

from qed.study import cost
from qed.study import forecast as forecast_module
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


def test_forecast_is_the_cost_at_the_measured_speeds(monkeypatch):
    monkeypatch.setattr(
        forecast_module, "speeds", lambda case, threads: dict.fromkeys(threads, 1e6)
    )
    plan = PRESETS["quick"].changed(algorithms="qed,hbd")
    times = forecast_module.forecast(plan, wall=0.01)
    assert list(times) == ["qed", "hbd"]
    runs = len(plan.tasks) * plan.replicates
    for algorithm, (evolving, recovering) in times.items():
        tried = cost.normal(plan, algorithm) + cost.recovery(plan, algorithm)
        assert evolving == pytest.approx(runs * cost.evolution(plan, algorithm) / 1e6)
        assert recovering == pytest.approx(runs * tried / 1e6)
