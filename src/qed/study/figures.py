"""The figures of a study: which there are, what they show, and their files."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
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
    caption: str  # with places that figures.toml names
    there: Callable[[Results], bool]  # whether a study has what it shows


def draw(results: Results, folder: Path, dpi: int = DPI, pdf: bool = True) -> list[Picture]:
    """Write all figures of a study into its folder, as PNG and, if asked, as PDF."""
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    counts = {
        "maps": f"{len(results.runs):,}",
        "replicates": f"{results.runs['replicate'].nunique():,}",
        "faults": f"{results.recoveries.groupby(['task', 'replicate'])['fault'].nunique().sum():,}",
        "points": f"{len(results.recoveries):,}",
    }
    words = counts | {name: said.format(**counts) for name, said in _SHOWN["shared"].items()}
    drawn: list[Picture] = []
    for chart in FIGURES:
        if not chart.there(results):
            continue
        figure = chart.make(results)
        links = [Link("PNG", f"{FOLDER}/{chart.name}.png")]
        _arrange(figure, dpi)
        figure.savefig(folder / links[0].file, dpi=dpi)
        if pdf:
            links.append(Link("PDF", f"{FOLDER}/{chart.name}.pdf"))
            # Equal results, equal files.
            figure.savefig(folder / links[1].file, metadata={"CreationDate": None})
        caption, width = chart.caption.format(**words), float(figure.get_size_inches()[0])
        png, number = folder / links[0].file, len(drawn) + 1
        drawn.append(Picture(chart.name, chart.title, caption, png, tuple(links), number, width))
    return drawn


def _arrange(figure: Figure, dpi: int) -> None:
    """Give all parts of a figure their places, which each of its files would do again."""
    engine = figure.get_layout_engine()
    if engine is not None:
        figure.set_dpi(dpi)
        engine.execute(figure)
        figure.set_layout_engine(None)


# How figures are made, by their names in figures.toml.
MAKERS: dict[str, Callable[[Results], Figure]] = {
    "coverage": charts.coverage,
    "best-performance": charts.best_performance,
    "evolution": charts.evolution,
    "by-map": charts.by_map,
    "impact-resilience": signatures.impact_resilience,
    "diversity-resilience": signatures.diversity_resilience,
    "diversity-impact": signatures.diversity_impact,
    "fault-kinds": charts.faults,
    "tasks": charts.tasks,
    "selection-bias": charts.selection_bias,
    beyond_report.FIGURE: beyond_report.figure,
}
# Whether a study has what is shown, where that is not always so.
THERE: dict[str, Callable[[Results], bool]] = {
    "coverage": lambda results: len(results.progress) > 0,
    "evolution": lambda results: len(results.progress) > 0,
    "by-map": lambda results: len(differences(results)) > 0,
    beyond_report.FIGURE: beyond_report.measured,
}
_SHOWN = tomllib.loads(files("qed.study").joinpath("figures.toml").read_text("utf-8"))
FIGURES = [
    Chart(make=MAKERS[row["name"]], there=THERE.get(row["name"], lambda _: True), **row)
    for row in _SHOWN["figures"]
]
