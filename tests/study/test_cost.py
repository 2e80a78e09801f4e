import pretend_gpu
import pytest

from qed import speed
from qed.study import cost
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


def test_maps_fill_with_evaluations():
    for algorithm in ("qed", "hbd", "sdbc", "spirit"):
        sizes = [cost.solutions(algorithm, n) for n in (100, 4_000, 20_000, 80_000, 10**6, 10**7)]
        assert sizes == sorted(sizes)
        assert sizes[0] > 1
    assert cost.solutions("hbd", 80_000) == pytest.approx(780)


def test_forecast_is_the_cost_at_the_measured_speeds(monkeypatch):
    monkeypatch.setattr(cost, "speeds", lambda case, threads: dict.fromkeys(threads, 1e6))
    plan = PRESETS["quick"].changed(algorithms="qed,hbd")
    engine = cost.engine(plan, "cpu", wall=0.01)
    assert engine.missing is None
    assert engine.name.startswith("the CPU")
    times = cost.forecast(plan, engine)
    assert list(times) == ["qed", "hbd"]
    runs = len(plan.tasks) * plan.replicates
    for algorithm, (evolving, recovering) in times.items():
        tried = cost.normal(plan, algorithm) / 0.7 + cost.recovery(plan, algorithm)
        assert evolving == pytest.approx(runs * cost.evolution(plan, algorithm) / 1e6)
        assert recovering == pytest.approx(runs * tried / 1e6)


# 60 runs, which an H200 did with these speeds.
SIXTY = PAPER.changed(replicates=3, evaluations=80_000, beyond=0)
SEEN = {"healthy": 1.94e9, "mixed": 1.21e9, "broken": 0.97e9}


def test_a_gpu_that_is_asked_for_is_forecast_even_if_it_is_not_here(monkeypatch):
    pretend_gpu.install(monkeypatch, "the driver is on holiday.")
    monkeypatch.setattr(cost, "problem", lambda: "the driver is on holiday.")
    engine = cost.engine(SIXTY, "cuda")
    assert engine.missing == "the driver is on holiday"
    assert engine.speeds == cost.KNOWN


def test_a_study_that_was_seen_is_forecast():
    engine = cost.Engine(cost.KNOWN_GPU, "cuda", SEEN)
    for algorithms, rate in (("sdbc,spirit", 1_980), ("qed", 980)):
        plan = SIXTY.changed(algorithms=algorithms)
        evolving = sum(evolution for evolution, _ in cost.forecast(plan, engine).values())
        assert len(list(plan.runs())) * 80_000 / evolving == pytest.approx(rate, rel=0.1)
    plan = SIXTY.changed(tasks="patrolling,flocking")
    breaking = sum(recovery for _, recovery in cost.forecast(plan, engine).values())
    assert breaking == pytest.approx(227, rel=0.1)


def test_a_gpu_that_is_here_is_measured(monkeypatch):
    calls = pretend_gpu.install(monkeypatch)
    monkeypatch.setattr(cost, "problem", lambda: None)
    monkeypatch.setattr(cost, "ON_GPU", 3)
    plan = SIXTY.changed(trials=2, retrials=1, seconds=2.0)
    engine = cost.engine(plan, "cuda")
    assert (engine.name, engine.missing) == (pretend_gpu.NAME, None)
    assert {call.swarms for call in calls} == {3}
    assert len(calls) >= 3 * 5  # of each kind, to compile and then twice a short and a long one
    assert all(found > 0 for found in engine.speeds.values())
    # The speed is that of the long trial without what a short one takes.
    walls = iter([9.0, 3.0, 1.0, 4.0, 2.0])
    monkeypatch.setattr(speed.Case, "time", lambda case, threads, backend: next(walls))
    case = speed.Case([speed.STILL], trials=10, seconds=100.2)
    assert speed.kernel_speed(case) == pytest.approx(10 * 10 * 500 / 2.0)
