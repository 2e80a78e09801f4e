"""The figures: they show the right numbers, cope with little data, and nothing is cut off."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import made_up
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy.stats import gaussian_kde, sem, t

from qed.paper import signatures
from qed.study import charts, figures
from qed.study.figures import FIGURES, draw
from qed.study.plan import PRESETS
from qed.study.results import Results

QUICK = PRESETS["quick"]
STUDIES = {
    "quick": made_up.results(),
    "paper": made_up.results(PRESETS["paper"].changed(faults=14)),  # 350 points an algorithm
    "one of each": made_up.results(
        QUICK.changed(tasks=("flocking",), algorithms=("sdbc",), replicates=1)
    ),
    "one fault": made_up.results(QUICK.changed(faults=1, replicates=1)),
}
PART = "(fraction of normal performance)"
LABELS = {
    "coverage": ("evaluations", "filled cells"),
    "best-performance": ("best performance\n(fraction of the empirical maximum)", "SDBC\nn = "),
    "evolution": ("evaluations", "best fitness", "mean fitness", "filled cells"),
    "by-map": ("recovered performance,\nQED less the other", "resilience,\n", "all tasks"),
    "impact-resilience": (f"impact {PART}", f"resilience\n{PART}"),
    "diversity-resilience": (f"resilience {PART}", "distance from the\nnormal behaviour (0 to 1)"),
    "diversity-impact": (f"impact {PART}", "distance from the\nnormal behaviour (0 to 1)"),
    "fault-kinds": ("robots with a fault of this kind (of ten)", f"impact\n{PART}", "wheel faults"),
    "tasks": (f"impact\n{PART}", f"resilience\n{PART}"),
    "selection-bias": ("gain of recovery\n(fraction of the empirical maximum)",),
    "beyond": ("search trials", f"mean regret\n{PART}", "controller kept"),
}


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]  # type: ignore[attr-defined]


def without(results: Results, **tables: pd.DataFrame) -> Results:
    return replace(results, **tables)  # type: ignore[arg-type]


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("chart", FIGURES, ids=lambda chart: chart.name)
def test_a_figure_is_labelled_and_nothing_is_cut_off(chart: Any, study: str) -> None:
    if not chart.there(STUDIES[study]):
        pytest.skip("the study has nothing of it")
    figure = chart.make(STUDIES[study])
    there = texts(figure)
    for label in LABELS[chart.name]:
        assert any(text.startswith(label) for text in there), label
    FigureCanvasAgg(figure).draw()
    width, height = figure.get_size_inches()
    inside = figure.get_tightbbox()
    assert inside.x0 > -0.02, "cut off at the left"
    assert inside.y0 > -0.02, "cut off below"
    assert inside.x1 < width + 0.02, "cut off at the right"
    assert inside.y1 < height + 0.02, "cut off above"
    titles = [axes.title.get_window_extent() for axes in figure.axes if axes.get_title()]
    for one, next_one in pairwise(titles):
        assert not one.overlaps(next_one), "titles run into each other"


def test_every_figure_has_labels_to_look_for() -> None:
    assert [chart.name for chart in FIGURES] == list(LABELS)


def test_equal_results_make_equal_files(tmp_path: Path) -> None:
    pairs = (draw(STUDIES["one of each"], tmp_path / name) for name in "ab")
    for one, other in zip(*pairs, strict=True):
        assert one.path.read_bytes() == other.path.read_bytes()
        assert (
            one.path.with_suffix(".pdf").read_bytes() == other.path.with_suffix(".pdf").read_bytes()
        )


def test_what_is_arranged_once_is_where_matplotlib_puts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "FIGURES", FIGURES[1:2])
    [drawn] = draw(STUDIES["quick"], tmp_path)
    FIGURES[1].make(STUDIES["quick"]).savefig(tmp_path / "plain.png", dpi=figures.DPI)
    assert drawn.path.read_bytes() == (tmp_path / "plain.png").read_bytes()


def test_without_any_recovery_all_figures_are_still_drawn(tmp_path: Path) -> None:
    results = STUDIES["quick"]
    bare = without(results, recoveries=results.recoveries.iloc[:0])
    assert len(draw(bare, tmp_path, dpi=50, pdf=False)) == len(FIGURES) - 1  # nothing to compare
    assert texts(signatures.impact_resilience(bare)).count("no data") == 4


def progress(rows: list[tuple[str, int, int, int]]) -> pd.DataFrame:
    """Return the progress of QED: task, replicate, evaluations, filled cells."""
    table = pd.DataFrame(rows, columns=["task", "replicate", "evaluations", "filled"])
    return table.assign(algorithm="qed", best=0.5, mean=0.4, qd_score=1.0)


def test_the_band_of_coverage_is_the_interval_of_replicates_averaged_over_tasks() -> None:
    table = progress(
        [("a", 1, 10, 100), ("a", 2, 10, 104), ("b", 1, 10, 200), ("b", 2, 10, 210),
         ("a", 1, 20, 300), ("a", 2, 20, 300), ("b", 1, 20, 300), ("b", 2, 20, 300)]
    )  # fmt: skip
    results = without(STUDIES["quick"], progress=table)
    results = replace(results, runs=results.runs[results.runs["algorithm"] == "qed"])
    axes = charts.coverage(results).axes[0]
    assert axes.lines[0].get_ydata().tolist() == [153.5, 300.0]  # type: ignore[union-attr]
    corners = axes.collections[0].get_paths()[0].vertices
    at_ten = sorted({round(float(y), 6) for x, y in corners if x == 10})  # type: ignore[union-attr]
    limits = t(1, 153.5, sem([150, 157])).interval(0.95)  # the means of the replicates
    assert [at_ten[0], at_ten[-1]] == pytest.approx(limits)
    assert axes.get_yscale() == "log"


def test_the_papers_coverage_is_marked_at_the_right_edge() -> None:
    axes = charts.coverage(STUDIES["quick"]).axes[0]
    marks = {
        to_hex(line.get_color()).upper(): line.get_ydata()[0]  # type: ignore[index]
        for line in axes.lines
        if min(line.get_xdata()) == 1.005  # type: ignore[type-var]
    }
    papers = {"qed": 4094, "hbd": 1091, "sdbc": 130, "spirit": 127}
    assert marks == {charts.COLOURS[name]: cells for name, cells in papers.items()}
    low, high = axes.get_ylim()
    assert low <= 127
    assert high > 4094


def test_a_run_that_wrote_less_often_keeps_its_last_value() -> None:
    table = progress([("a", 1, 10, 5), ("a", 1, 30, 9), ("a", 2, 10, 7), ("a", 2, 20, 8)])
    curves = charts.curves(table, "qed", "filled")
    assert curves[("a", 1)].tolist() == [5, 5, 9]
    assert curves[("a", 2)].tolist() == [7, 8, 8]
    assert charts.curves(table, "qed", "filled", "b").empty


def test_boxes_stand_at_the_medians_and_every_map_is_a_point() -> None:
    results = STUDIES["quick"]
    axes = charts.best_performance(results).axes[0]
    medians = [
        line.get_ydata()[0]  # type: ignore[index]
        for line in axes.lines
        if line.get_color() == "black" and line.get_linewidth() == 1.6
    ]
    by_algorithm = results.runs.groupby("algorithm")["best_relative_performance"]
    assert medians == pytest.approx([by_algorithm.median()[name] for name in results.algorithms])
    points = np.concatenate([dots.get_offsets()[:, 1] for dots in axes.collections])  # type: ignore[index]
    assert sorted(points) == pytest.approx(sorted(results.runs["best_relative_performance"]))


def test_impact_stands_at_the_number_of_broken_robots() -> None:
    results = STUDIES["quick"]
    table = results.recoveries.iloc[:5].assign(
        algorithm="qed", wheel_faults=[2, 2, 2, 2, 5], impact=[-0.1, -0.2, -0.3, -0.4, -0.9],
        replicate=[1, 1, 2, 2, 1],
    )  # fmt: skip
    results = replace(
        results, recoveries=table, runs=results.runs[results.runs["algorithm"] == "qed"]
    )
    lines = [line.get_xydata() for line in charts.faults(results).axes[2].lines]
    points = [line[0].tolist() for line in lines if len(line) == 1]
    assert points == [pytest.approx([2, -0.25]), pytest.approx([5, -0.9])]
    [bar] = [line[:, 1] for line in lines if len(line) == 2 and line[0, 0] == 2]
    assert bar.tolist() == pytest.approx(t(1, -0.25, sem([-0.15, -0.35])).interval(0.95))


def test_the_papers_impacts_and_resiliences_stand_behind_each_task() -> None:
    results = made_up.results(QUICK.changed(tasks=("flocking",), algorithms=("qed", "hbd")))
    impact, resilience = charts.tasks(results).axes[:2]
    corners = impact.collections[0].get_paths()[0].vertices
    assert (corners[:, 1].min(), corners[:, 1].max()) == (-1.0, -0.6)  # type: ignore[index]
    marks = [line.get_ydata() for line in resilience.lines if line.get_marker() == "D"]
    assert np.concatenate(marks).tolist() == [-0.64, -0.76]


WINDOW = signatures.Window((-0.5, 0.1), (0.0, 1.0))


def test_the_density_is_scipys_and_holds_the_right_mass() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(-0.2, 0.2, 400), rng.normal(0.5, 0.2, 400)
    mass = signatures.density(x, y, WINDOW)
    assert mass is not None
    kernel = gaussian_kde(np.vstack([x, y]))
    assert mass.sum() == pytest.approx(kernel.integrate_box([-0.5, 0.0], [0.1, 1.0]), rel=0.01)
    assert 0.5 < mass.sum() < 0.95  # much lies outside, so the whole would be wrong
    # Row 70, column 20: y = 0.705, x = -0.5 + 20.5 * 0.006.
    expected = kernel([[-0.5 + 20.5 * 0.006], [0.705]])[0] * 0.006 * 0.01
    assert mass[70, 20] == pytest.approx(expected)
    assert mass.shape == (100, 100)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([], []),
        ([-0.1] * 4, [0.1, 0.5, 0.3, 0.9]),
        ([-0.1, -0.2, -0.3, 0.0], [0.1, 0.5, 0.3, 0.9]),  # too few
        ([-0.1] * 50, [0.3] * 50),
        (np.linspace(-0.4, 0, 50), [0.3] * 50),
        (np.linspace(-0.4, 0, 50), np.linspace(0, 1, 50)),
    ],
)
def test_points_without_a_spread_have_no_density(x: Any, y: Any) -> None:
    assert signatures.density(x, y, WINDOW) is None


def test_counts_left_out_slope_and_density_of_each_panel() -> None:
    """HBD has points on a line, SDBC one, SPIRIT none that is left."""
    rng = np.random.default_rng(4)
    impact = np.concatenate([rng.uniform(-0.5, 0.1, 40), [-0.51, -0.9, np.nan], [-0.5]])
    distance = np.clip(0.2 - 0.7 * impact + 0.05 * rng.standard_normal(len(impact)), 0, 1)
    parts = {
        "qed": (impact, distance),
        "hbd": (np.linspace(-0.4, 0.0, 9), np.linspace(0.8, 0.4, 9)),
        "sdbc": (np.array([-0.2, -0.7]), np.array([0.3, 0.4])),
        "spirit": (np.array([-0.8, -0.7]), np.array([0.3, 0.4])),
    }
    rows = [
        {
            "algorithm": name,
            "impact": a,
            "resilience": a / 2,
            "distance": d,
            "task": "flocking",
            "replicate": 1,
        }
        for name, (impacts, distances) in parts.items()
        for a, d in zip(impacts, distances, strict=True)
    ]
    results = without(STUDIES["quick"], recoveries=pd.DataFrame(rows))
    figure = signatures.diversity_impact(results)
    panels = {axes.get_title().partition("\n")[0]: axes for axes in figure.axes[:4]}
    kept = impact >= -0.5
    slope = np.polyfit(impact[kept], distance[kept], 1)[0]
    minus = "\N{MINUS SIGN}"
    assert panels["QED"].get_title().splitlines() == [
        "QED", "n = 41, 3 left out", f"slope {minus}{-slope:.2f}", f"(paper {minus}0.98)",
    ]  # fmt: skip
    assert len(panels["QED"].images) == 1
    assert panels["HBD"].get_title().splitlines()[1:] == [
        "n = 9, 0 left out", f"slope {minus}1.00", f"(paper {minus}0.66)",
    ]  # fmt: skip
    assert "n = 1, 1 left out\nslope unknown" in panels["SDBC"].get_title()
    assert "n = 0, 2 left out" in panels["SPIRIT"].get_title()
    for name, said in {"HBD": "no density", "SDBC": "no density", "SPIRIT": "no data"}.items():
        assert panels[name].texts[0].get_text().startswith(said)
        assert not panels[name].images
    assert len(panels["HBD"].collections[0].get_offsets()) == 9  # type: ignore[arg-type]


def test_many_points_are_shown_as_density_alone() -> None:
    figure = signatures.diversity_resilience(STUDIES["paper"])
    assert all(len(axes.images) == 1 and not axes.collections for axes in figure.axes[:4])
    few = signatures.diversity_resilience(STUDIES["quick"])
    shown = [len(axes.collections[0].get_offsets()) for axes in few.axes[:4]]  # type: ignore[arg-type]
    assert shown == [
        len(signatures.kept(STUDIES["quick"].recoveries, name)[0])
        for name in STUDIES["quick"].algorithms
    ]
    assert {tuple(axes.images[0].get_clim()) for axes in few.axes[:4]} == {
        few.axes[0].images[0].get_clim()
    }


def test_points_out_of_view_are_counted_and_high_ones_widen_the_view() -> None:
    results = STUDIES["quick"]
    own = results.recoveries.assign(resilience=results.recoveries["impact"].clip(lower=-0.5) + 0.05)
    figure = signatures.diversity_resilience(without(results, recoveries=own))
    for axes, name in zip(figure.axes, results.algorithms, strict=False):
        hidden = int((signatures.kept(own, name)[0]["resilience"] < -0.4).sum())
        assert (f"{hidden} outside the axes" in axes.get_title()) == (hidden > 0)
    high = results.recoveries.copy()
    high.loc[0, "impact"] = 0.23
    assert signatures.impact_resilience(without(results, recoveries=high)).axes[0].get_xlim() == (
        -0.5, 0.3,
    )  # fmt: skip


def test_the_identity_line_is_drawn() -> None:
    for axes in signatures.impact_resilience(STUDIES["quick"]).axes[:4]:
        [line] = axes.lines
        assert line.get_linestyle() == "--"
        assert np.array_equal(line.get_xdata(), line.get_ydata())
