"""The figures of a study: which there are, what they show, and their files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from qed.study import beyond_report, charts, signatures
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


@dataclass(frozen=True)
class Drawn:
    """A figure on disk."""

    name: str
    title: str
    caption: str
    png: Path
    pdf: Path
    width: float  # on paper (inch)


def draw(results: Results, folder: Path, dpi: int = DPI, pdf: bool = True) -> list[Drawn]:
    """Write all figures of a study into its folder, as PNG and, if asked, as PDF."""
    target = folder / FOLDER
    target.mkdir(parents=True, exist_ok=True)
    counts = {
        "maps": f"{len(results.runs):,}",
        "replicates": f"{results.runs['replicate'].nunique():,}",
        "faults": f"{results.recoveries.groupby(['task', 'replicate'])['fault'].nunique().sum():,}",
        "points": f"{len(results.recoveries):,}",
    }
    drawn = []
    for chart in FIGURES:
        if not chart.there(results):
            continue
        figure = chart.make(results)
        png, vectors = target / f"{chart.name}.png", target / f"{chart.name}.pdf"
        figure.savefig(png, dpi=dpi)
        if pdf:
            figure.set_layout_engine("none")  # all is in its place now
            figure.savefig(vectors, metadata={"CreationDate": None})  # equal results, equal files
        caption = chart.caption.format(**counts)
        width = float(figure.get_size_inches()[0])
        drawn.append(Drawn(chart.name, chart.title, caption, png, vectors, width))
    return drawn


_SIGNATURE = (
    "One panel an algorithm. The colour is the part of the probability in each cell of a "
    "100 x 100 grid, from a Gaussian kernel density with Scott's bandwidth; one scale for all "
    "panels. Dots are single faults, where there are fewer than 300. n counts the faults shown; "
    "left out are those with an impact beyond -0.5, as in the paper, and those without a "
    "measurement. {points} recoveries in all. "
)
_AS_BEFORE = "Panels, colours, dots and counts as in the figure of impact and resilience. "
FIGURES: list[Chart] = [
    Chart(
        "coverage",
        "Cells filled during evolution",
        charts.coverage,
        "Cells filled in each algorithm's own map, on a logarithmic axis, against evaluations. "
        "Line: mean over all maps of the algorithm ({maps} maps in all). Band: standard deviation "
        "over the {replicates} replicates, averaged over tasks; there is none for a single "
        "replicate. Marks at the right edge: where the paper's maps ended. A map that still rises "
        "at the end would have filled more with a larger budget.",
    ),
    Chart(
        "best-performance",
        "Best performance in the normal environment",
        charts.best_performance,
        "Performance of the best solution of each map, found by trying all of them again in the "
        "normal environment and measured on fresh trials, "
        "as a part of the best of any map of the same task. Each point is a map ({maps} in all), "
        "its shape the task. Box: quartiles and median; whiskers: last data within 1.5 "
        "interquartile ranges of the box. Higher is better.",
    ),
    Chart(
        "evolution",
        "Evolution, task by task",
        charts.evolution,
        "Best fitness, mean fitness and cells filled during evolution, a column a task. Line and "
        "band: mean ± standard deviation over {replicates} replicates. QED's fitness is over "
        "environments, some of them easier than the normal one, so it does not compare with the "
        "others'.",
    ),
    Chart(
        "impact-resilience",
        "Impact and resilience",
        signatures.impact_resilience,
        _SIGNATURE + "Above the dashed line the swarm does better after recovery than before it. "
        "The best place is the top right corner; next best is a level band, where recovery is as "
        "good for grave faults as for slight ones: a slope near 0.",
    ),
    Chart(
        "diversity-resilience",
        "Diversity and resilience",
        signatures.diversity_resilience,
        _AS_BEFORE + "Upwards: how much the recovery behaves differently from the controller that "
        "is best without faults. The best signature lies far to the right and covers all "
        "distances.",
    ),
    Chart(
        "diversity-impact",
        "Diversity and impact",
        signatures.diversity_impact,
        _AS_BEFORE + "Upwards as in the last. A negative slope says that grave faults call for "
        "behaviours far from the normal one.",
    ),
    Chart(
        "fault-kinds",
        "Impact and the kind of fault",
        charts.faults,
        "Impact against the number of robots, of ten, that have a fault of one kind. Point: "
        "median; bar: interquartile range; the algorithms stand a little apart to be told apart. "
        "{points} recoveries from {faults} pairs of a task and a combined fault. Above each panel "
        "stands Pearson's correlation over all of them; the paper sees no direct relation.",
    ),
    Chart(
        "tasks",
        "Impact and resilience, task by task",
        charts.tasks,
        "Impact of faults, and what is still lost after recovery, by task and algorithm, on fresh "
        "trials; {points} recoveries in all. Boxes as above, points where there are at most 60. "
        "Grey: the range of impacts that the paper names for the task; diamonds: the paper's "
        "median resilience. Nearer to 0 is better.",
    ),
    Chart(
        "luck",
        "How much of recovery is luck",
        charts.luck,
        "Gain of the recovery over the normal best, both with the fault. Boxes as above: on fresh "
        "trials. Diamonds: the median by the trials that chose the recovery, as in the paper. What "
        "a diamond lies above the line in its box is luck. {points} recoveries in all.",
    ),
    Chart(
        beyond_report.FIGURE,
        "Regret of a search over its trials",
        beyond_report.figure,
        "What a search that does not know the fault loses against the exhaustive winner of the "
        "same map, as a part of the normal performance, both on fresh trials; a row an algorithm, "
        "a column a task, mean over maps and faults. BO: Bayesian optimisation over the map. "
        "Horizontal lines need no search: the normal best is kept, or the playbook is looked up. "
        "Lower is better; below 0 a way does better than the exhaustive winner.",
        beyond_report.measured,
    ),
]
