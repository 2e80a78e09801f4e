"""The figures of a study: which there are, what they show, and their files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from qed.paper import signatures
from qed.study import beyond_report, charts
from qed.study.blocks import Link, Picture
from qed.study.by_map import differences
from qed.study.paths import FIGURES as FOLDER
from qed.study.results import Results

DPI = 160


@dataclass(frozen=True)
class Chart:
    """A figure of the report: how to make it, and what it shows."""

    name: str  # of its files
    title: str
    make: Callable[[Results], Figure]
    caption: str  # {maps}, {replicates}, {faults} and {points} are filled in
    there: Callable[[Results], bool] = lambda _: True  # whether a study has what it shows


def draw(results: Results, folder: Path, dpi: int = DPI, pdf: bool = True) -> list[Picture]:
    """Write all figures of a study into its folder, as PNG and, if asked, as PDF."""
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    counts = {
        "maps": f"{len(results.runs):,}",
        "replicates": f"{results.runs['replicate'].nunique():,}",
        "faults": f"{results.recoveries.groupby(['task', 'replicate'])['fault'].nunique().sum():,}",
        "points": f"{len(results.recoveries):,}",
    }
    drawn: list[Picture] = []
    for chart in FIGURES:
        if not chart.there(results):
            continue
        figure = chart.make(results)
        files = [Link("PNG", f"{FOLDER}/{chart.name}.png")]
        _arrange(figure, dpi)
        figure.savefig(folder / files[0].file, dpi=dpi)
        if pdf:
            files.append(Link("PDF", f"{FOLDER}/{chart.name}.pdf"))
            # Equal results, equal files.
            figure.savefig(folder / files[1].file, metadata={"CreationDate": None})
        caption, width = chart.caption.format(**counts), float(figure.get_size_inches()[0])
        png, number = folder / files[0].file, len(drawn) + 1
        drawn.append(Picture(chart.name, chart.title, caption, png, tuple(files), number, width))
    return drawn


def _arrange(figure: Figure, dpi: int) -> None:
    """Give all parts of a figure their places, which each of its files would do again."""
    engine = figure.get_layout_engine()
    if engine is not None:
        figure.set_dpi(dpi)
        engine.execute(figure)
        figure.set_layout_engine(None)


_SIGNATURE = (
    "One panel per algorithm. Colour: probability in each cell of a 100 x 100 grid, from a "
    "Gaussian kernel density estimate with Scott's bandwidth; one scale for all panels. Dots: "
    "single recoveries, if there are fewer than 300. n is the number shown; recoveries with an "
    "impact below -0.5, as in the paper, or without a measurement are left out. {points} "
    "recoveries in all. "
)


def _limits(number: str) -> str:
    return (
        f"black bar beside it: mean over replicates of each one's {number}, with the 95% interval "
        "of Student's t. "
    )


_AS_BEFORE = "Panels, colours, dots and n as in the figure of impact and resilience. "


def _with_progress(results: Results) -> bool:
    return len(results.progress) > 0


FIGURES: list[Chart] = [
    Chart(
        "coverage",
        "Cells filled during evolution",
        charts.coverage,
        "Number of filled cells in each algorithm's own map, on a logarithmic axis, against "
        "evaluations. Line: mean over all maps of the algorithm ({maps} maps in all). Band: "
        "95% interval of Student's t over the {replicates} replicates, of their means over tasks; "
        "none for a single replicate. Marks at the right edge: the paper's final numbers. A curve "
        "that still "
        "rises at the end would go higher with more evaluations.",
        _with_progress,
    ),
    Chart(
        "best-performance",
        "Best performance in the normal environment",
        charts.best_performance,
        "Performance of each map's normal best on fresh trials, as a fraction of the task's "
        "empirical maximum. Each point is a map ({maps} in all); its shape is the task. Box: "
        "quartiles and median; whiskers: last data within 1.5 interquartile ranges of the box; "
        + _limits("mean")
        + "Higher is better.",
    ),
    Chart(
        "evolution",
        "Evolution by task",
        charts.evolution,
        "Best fitness, mean fitness and filled cells during evolution, one column per task. Line "
        "and band: mean and 95% interval over {replicates} replicates. QED's fitness is over "
        "many environments, some of them easier than the normal one, so it is not comparable with "
        "the others'.",
        _with_progress,
    ),
    Chart(
        "by-map",
        "QED less the other algorithms, map by map",
        charts.by_map,
        "Difference in the same combined fault, mean over faults. Dots: pairs of maps of one "
        "replicate; tick and bar: their mean with the 95% interval of Student's t; over all tasks, "
        "tasks count alike. Left: recovered performance, a fraction of the empirical maximum; "
        "right: resilience. Above 0 QED is better.",
        lambda results: len(differences(results)) > 0,
    ),
    Chart(
        "impact-resilience",
        "Impact and resilience",
        signatures.impact_resilience,
        _SIGNATURE + "Above the dashed line the swarm performs better after recovery than before "
        "it. Best is the top right corner; next best is a horizontal band (slope near 0), where "
        "recovery from severe faults is as good as from mild ones.",
    ),
    Chart(
        "diversity-resilience",
        "Diversity and resilience",
        signatures.diversity_resilience,
        _AS_BEFORE + "Vertical axis: behavioural distance between the recovery solution and the "
        "normal best. The best signature lies far to the right and covers all distances.",
    ),
    Chart(
        "diversity-impact",
        "Diversity and impact",
        signatures.diversity_impact,
        _AS_BEFORE + "Vertical axis as in the figure of diversity and resilience. A negative "
        "slope means that severe faults need behaviours far from the normal one.",
    ),
    Chart(
        "fault-kinds",
        "Impact and kind of fault",
        charts.faults,
        "Impact against the number of robots, of ten, with a fault of one kind. Point: median; "
        "bar: 95% interval over replicates, where there are several, cut off at the axes; "
        "algorithms are shifted "
        "sideways for legibility. {points} "
        "recoveries from {faults} pairs of a task and a combined fault. Above each panel: Pearson "
        "correlation over all of them. The paper finds no direct relation.",
    ),
    Chart(
        "tasks",
        "Impact and resilience by task",
        charts.tasks,
        "Impact of faults, and resilience after recovery, by task and algorithm, on fresh trials; "
        "{points} recoveries in all. Boxes as in the figure of best performance; points if there "
        "are at most 60; "
        + _limits("median")
        + "Grey: the paper's range of impact for the task; diamonds: the paper's "
        "median resilience. Nearer to 0 is better.",
    ),
    Chart(
        "selection-bias",
        "Selection bias in the gain of recovery",
        charts.selection_bias,
        "Gain of the recovery solution over the normal best, both with the fault. Boxes: fresh "
        "trials, drawn as in the figure of best performance; "
        + _limits("median")
        + "Diamonds: median on the selection "
        "trials, as in the paper. The height of a diamond above its box's median line is selection "
        "bias. {points} recoveries in all.",
    ),
    Chart(
        beyond_report.FIGURE,
        "Regret of a search by number of trials",
        beyond_report.figure,
        "Loss of a search that does not know the fault against an exhaustive search of the same "
        "map, as a fraction of the normal performance, both on fresh trials; one row per "
        "algorithm, one column per task, mean over maps and faults. BO: Bayesian optimisation over "
        "the map. Horizontal lines need no search trials. Lower is better; below 0 the result is "
        "better than that of the exhaustive search.",
        beyond_report.measured,
    ),
]
