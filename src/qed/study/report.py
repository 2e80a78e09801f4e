"""The report of a study: one page that needs nothing else, or Markdown beside its files."""

import platform
import shutil
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import pandas as pd

import qed
from qed.files import write_text
from qed.paper import tables as paper_tables
from qed.paper import verdicts
from qed.paper.statements import Judged, judged
from qed.study import beyond_report, blocks, by_map, paths, selection_bias, statistics, summary
from qed.study.blocks import Block, Key, Link, Picture, Row, Table, Text, many, plain
from qed.study.figures import DPI, draw
from qed.study.plan import Name
from qed.study.results import TABLES, Results
from qed.study.work import KINDS_AND_ANY
from qed.text import toml

STUDY = "study"  # name of a published page, and of the folder beside it
DEFINITIONS = tomllib.loads(files("qed.study").joinpath("definitions.toml").read_text("utf-8"))


class Section(NamedTuple):
    """A section of a report; without blocks it is left out."""

    name: str
    title: str
    blocks: Sequence[Block]


def tables(results: Results) -> list[Table]:
    """Return the tables that the results suffice for, in the order of the report."""
    made = [
        *by_map.tables(results),
        paper_tables.maps_table(results),
        *paper_tables.recovery_tables(results, paper_tables.FRESH),
        selection_bias.bias_table(results),
        *paper_tables.recovery_tables(results, paper_tables.CLAIMED),
        paper_tables.coverage_table(results),
        paper_tables.slopes_table(results),
        _fault_kinds(results),
        _fault_correlations(results),
        beyond_report.table(results),
    ]
    return [table for table in made if table is not None and len(table.frame)]


def _fault_kinds(results: Results) -> Table:
    """Impact against the number of robots with each kind of fault."""
    recoveries, impact = results.recoveries, by_map.medians("impact")
    rows = [
        {"kind": kind, "robots": robots, "n": n, "impact": median, "impact_iqr": iqr}
        | by_map.limits(
            "impact", by_map.over_replicates(recoveries[recoveries[column] == robots], impact)
        )
        for kind, column in KINDS_AND_ANY.items()
        for robots, n, median, iqr in statistics.by_count(recoveries[column], recoveries["impact"])
    ]
    return blocks.described(
        "fault-kinds",
        pd.DataFrame(rows),
        (Key("Fault", "kind", str.capitalize), Key("Robots", "robots")),
        (blocks.spread("Impact", "impact", "iqr")._replace(paper=None), plain("n", "n", 0)),
    )


def _fault_correlations(results: Results) -> Table:
    """Correlation of impact with the number of robots with each kind of fault."""
    groups = [*results.by_algorithm(results.recoveries), (blocks.ALL, results.recoveries)]
    rows: list[Row] = []
    for algorithm, recoveries in groups:
        if recoveries.empty:
            continue
        row: Row = {"algorithm": algorithm, "n": len(recoveries)}
        for kind, column in KINDS_AND_ANY.items():
            number = by_map.correlations(column, "impact")
            row |= {kind: number(recoveries)}
            row |= by_map.limits(kind, by_map.over_replicates(recoveries, number))
        rows.append(row)
    return blocks.described(
        "fault-correlations",
        pd.DataFrame(rows),
        (blocks.ALGORITHM,),
        (*(plain(kind.capitalize(), kind) for kind in KINDS_AND_ANY), plain("n", "n", 0)),
    )


def write(folder: Path, results: Results | None = None) -> Path:
    """Write tables, figures and the page of a study into its folder; return the page."""
    results = results or Results.load(folder)
    finished = not results.runs.empty
    made = tables(results) if finished else []
    found = judged(results) if finished else []
    paths.tables(folder).mkdir(parents=True, exist_ok=True)
    shown = _written(made, found, paths.tables(folder), "tables")
    figures = draw(results, folder) if finished else []
    maps = _maps(results, folder) if finished else []
    sections = [
        *_sections(results, shown, found, figures, "tables"),
        Section("maps", "Maps", maps),
        Section("methods", "Definitions and files", _methods(results)),
    ]
    sentences = summary.sentences(results, {table.name: table.frame for table in made})
    write_text(folder / paths.REPORT, _page(results, sections, sentences, found))
    return folder / paths.REPORT


def publish(study: Path, target: Path, results: Results | None = None, name: str = STUDY) -> Path:
    """Write a finished study as Markdown into a folder, its CSV files and figures beside it.

    ``study`` is the study's folder, or one that this wrote; ``target`` gets NAME.md and a folder
    NAME/; returns the page.
    """
    results = results or Results.load(study)
    beside = target / name
    beside.mkdir(parents=True, exist_ok=True)
    made, found = tables(results), judged(results)
    shown = _written(made, found, beside, name)
    for raw in _raw(results):
        text = getattr(results, raw).to_csv(index=False, lineterminator="\n", float_format="%.7g")
        write_text(beside / f"{raw}.csv", text)
    write_text(beside / paths.SETTINGS, toml({"study": results.settings}))
    figures = []
    for each in draw(results, beside, dpi=DPI // 2, pdf=False):
        png = Path(shutil.move(each.path, beside / each.path.name))
        figures.append(each._replace(path=png, files=(Link("PNG", f"{name}/{png.name}"),)))
    (beside / paths.FIGURES).rmdir()
    sentences = summary.sentences(results, {table.name: table.frame for table in made})
    title = f"# A study: {len(results.runs)} maps, {len(results.recoveries):,} recoveries"
    parts = [title, *map(blocks.minus, sentences)]
    files_used = Section("files", "Files", _files(results, name))
    for section in [*_sections(results, shown, found, figures, name), files_used]:
        if section.blocks:
            parts += [f"## {section.title}", *(block.markdown() for block in section.blocks)]
    page = target / f"{name}.md"
    write_text(page, blocks.paragraphs(*parts) + "\n")
    return page


def _written(made: list[Table], found: list[Judged], folder: Path, link: str) -> list[Table]:
    """Write the CSV files of tables and verdicts; return the tables with links to theirs."""
    if found:
        text = verdicts.frame(found).to_csv(index=False, lineterminator="\n")
        write_text(folder / "statements.csv", text)
    for table in made:
        write_text(folder / f"{table.name}.csv", table.csv())
    return [replace(t, files=(Link("CSV", f"{link}/{t.name}.csv"),)) for t in made]


def _sections(
    results: Results, made: list[Table], found: list[Judged], figures: list[Picture], link: str
) -> list[Section]:
    """Return the sections that a page and Markdown share."""
    all_: tuple[Link, ...] = (Link("CSV", f"{link}/statements.csv"),)
    checked = [*verdicts.blocks(found, results), Text("All statements:", all_)] if found else []
    beyond: list[Block] = [Text(words) for words in beyond_report.sentences(results)]
    theirs = (beyond_report.TABLE, beyond_report.FIGURE)
    elsewhere = (*theirs, *by_map.TABLES)
    beyond += [table for table in made if table.name in theirs]
    beyond += [figure for figure in figures if figure.name in theirs]
    return [
        Section("scale", "Scale and protocol", summary.scale(results)),
        Section(
            "by-map",
            "The map as the unit",
            [
                *(figure for figure in figures if figure.name in by_map.TABLES),
                *(table for table in made if table.name in by_map.TABLES),
            ],
        ),
        Section("verdicts", "The paper's statements, checked", checked),
        Section(
            "selection-bias",
            "Selection bias in recovery",
            [Text(words) for words in selection_bias.sentences(results)],
        ),
        Section("beyond", "Beyond the paper: few trials, playbooks, teams", beyond),
        Section("tables", "Tables", [t for t in made if t.name not in elsewhere]),
        Section("figures", "Figures", [f for f in figures if f.name not in elsewhere]),
    ]


def _maps(results: Results, folder: Path) -> list[Block]:
    """Draw each algorithm's map of the first task, or say why it could not be drawn."""
    from qed.archive.archive import Archive
    from qed.evolution.folder import ARCHIVE
    from qed.view.maps import draw_map

    drawn: list[Block] = []
    for algorithm in results.algorithms:
        name = Name(results.tasks[0], algorithm, 1)
        source = paths.run(folder, name) / ARCHIVE
        if not source.exists():
            continue
        try:
            archive = Archive.load(source)
        except (ValueError, OSError) as error:
            drawn.append(Text(f"The map of {name} is not shown: {error}"))
            continue
        if len(archive) > 0:
            file = f"{paths.FIGURES}/map-{algorithm}.png"
            png = draw_map(archive, folder / file, dpi=110)
            title = f"{algorithm.upper()}, {name.task}, replicate 1"
            caption = "The fitness of each filled cell."
            drawn.append(Picture(f"map-{algorithm}", title, caption, png, (Link("PNG", file),)))
    intro = Text(
        "One map per algorithm, at the end of evolution. Colour: fitness during evolution, for QED "
        "in each cell's own environment. Grey: empty cells."
    )
    return [intro, *drawn] if drawn else []


def _methods(results: Results) -> list[Block]:
    """Return what words mean, and where all numbers come from."""
    made_with = [f"qed {qed.__version__}", f"Python {platform.python_version()}"]
    made_with += [f"{name} {version(name)}" for name in ("numpy", "scipy", "pandas", "matplotlib")]
    names = [*TABLES, *(["beyond"] if beyond_report.measured(results) else [])]
    links = [Link(f"{name}.csv", f"tables/{name}.csv") for name in names]
    return [
        blocks.Terms(DEFINITIONS),
        Text(
            f"The study's seed is {results.settings.get('seed', 'unknown')}. Written with "
            f"{', '.join(made_with)}. All tables and figures are made from these files:",
            (Link("study.toml", paths.SETTINGS), *links),
        ),
    ]


def _raw(results: Results) -> list[str]:
    """Return the tables of measurements that a study has."""
    return [name for name in (*TABLES, "beyond") if len(getattr(results, name))]


def _files(results: Results, beside: str) -> list[Block]:
    there = _raw(results)
    links = tuple(Link(f"{name}.csv", f"{beside}/{name}.csv") for name in (*there, "statements"))
    lost = [f"{name}.csv" for name in TABLES if name not in there]
    words = (
        f"All numbers are computed from {', '.join(f'{name}.csv' for name in there)} and "
        "study.toml, the settings, by `benchmarks/publish_study.py`, which reads what it wrote as "
        "well as a study's folder. statements.csv has, for each statement, how it was measured, "
        "both numbers, the tolerance and the verdict."
    )
    if lost:
        words += f" Of this study {', '.join(lost)} was not kept; what needs it is left out."
    return [Text(f"{words} Files:", (Link("study.toml", f"{beside}/study.toml"), *links))]


def _page(
    results: Results, sections: list[Section], sentences: list[str], found: list[Judged]
) -> str:
    """Return the page."""
    style = files("qed.study").joinpath("report.css").read_text(encoding="utf-8")
    preset = escape(str(results.settings.get("preset", "custom")))
    links, body = "", ""
    for section in sections:
        if section.blocks:
            inside = "".join(block.html() for block in section.blocks)
            links += f'<li><a href="#section-{section.name}">{section.title}</a></li>'
            body += f'<section id="section-{section.name}">\n<h2>{section.title}</h2>\n'
            body += f"{inside}</section>\n"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>QED study, preset {preset}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<main>
<header>
<h1>Resilient robot swarms: a QED study</h1>
<p class="lead">Preset {preset}. Evolve maps of controllers, break robots, find the controller that
recovers the swarm.</p>
<nav aria-label="Contents"><ul>{links}</ul></nav>
</header>
<div class="summary">
{"".join(Text(words).html() for words in sentences)}{verdicts.strip(found) if found else ""}</div>
{_failures(results.failures)}{body}<footer>Made by qed {escape(qed.__version__)}.</footer>
</main>
</body>
</html>
"""


def _failures(failures: list[str]) -> str:
    """Show which runs failed, and why, where nobody can miss it."""
    if not failures:
        return ""
    lines = "".join(f"<li>{escape(line)}</li>" for line in failures)
    return (
        f'<aside class="failed"><h2>{many(len(failures), "part")} of this study failed</h2>'
        f"<p>The numbers below exclude the failed parts.</p><ul>{lines}</ul></aside>\n"
    )
