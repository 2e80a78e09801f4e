"""The report of a study: one page that needs nothing else, beside its tables and figures."""

from __future__ import annotations

import base64
import platform
from collections.abc import Iterable
from html import escape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import qed
from qed.files import write as write_whole
from qed.paper import verdicts
from qed.paper.statements import Judged, judged
from qed.study import beyond_report, paths, selection_bias
from qed.study.figures import Drawn, draw
from qed.study.layout import Table
from qed.study.plan import Name
from qed.study.results import TABLES, Results
from qed.study.summary import (
    cells_sentence,
    protocol_sentence,
    race_sentences,
    scale,
    scale_sentence,
    sentences,
)
from qed.study.tables import tables
from qed.study.words import many

WIDE = 9.0  # a figure this wide (inch) is scrolled on a phone, where its text would be too small
PIXELS = 96  # CSS pixels to an inch
TITLES = {
    "scale": "Scale and protocol",
    "verdicts": "The paper's statements, checked",
    "selection-bias": "Selection bias in recovery",
    "beyond": "Beyond the paper: few trials, playbooks, teams",
    "tables": "Tables",
    "figures": "Figures",
    "maps": "Maps",
    "methods": "Definitions and files",
}
DEFINITIONS = {
    "Normal best": "The solution of a map with the highest fitness when all solutions are "
    "re-evaluated in the normal environment: ten healthy robots.",
    "Empirical maximum": "The highest fitness of a normal best in the normal environment, over all "
    "maps of a task. Performance is fitness as a fraction of it.",
    "Combined fault": "Each of the ten robots draws one of eight faults; one of the eight is no "
    "fault. All tasks and algorithms of a replicate have the same combined faults.",
    "Selection trials": "Trials by which a solution is selected: the normal best without a fault, "
    "the recovery solution with it. The paper reports fitness on these trials.",
    "Fresh trials": "Trials that were not used for selection. N, F and R below, and the empirical "
    "maximum, are means over fresh trials.",
    "Impact": "(F - N) / N, where N is the normal best's fitness without the fault and F its "
    "fitness with it. -0.25 means that a quarter is lost.",
    "Recovered performance": "R as a fraction of the empirical maximum. R is the fitness, with the "
    "fault, of the solution selected for that fault.",
    "Resilience": "(R - N) / N: the relative loss that remains after recovery.",
    "Selection bias": "The fraction of the gain on selection trials that "
    "fresh trials do not confirm.",
    "Distance": "How much the recovery solution's behaviour differs from the normal best's, both "
    "in the normal environment: total variation distance between their action distributions, "
    "averaged over 64 sensory states. 0 is identical, 1 as different as possible.",
    "Projected coverage": "The number of SPIRIT's 4,096 cells that the solutions of a map fill, "
    "when SPIRIT describes them in the normal environment.",
    "Diversity of a map": "The mean distance over all pairs of those cells, between the best "
    "solutions in them. It is compared with the paper's number. The paper's text uses the "
    "distance between the cells' centroids, which is given as well.",
}


def write(folder: Path, results: Results | None = None) -> Path:
    """Write tables, figures and the page of a study into its folder; return the page."""
    results = results or Results.load(folder)
    finished = not results.runs.empty
    made = tables(results) if finished else []
    found = judged(results) if finished else []
    paths.tables(folder).mkdir(parents=True, exist_ok=True)
    for table in made:
        write_whole(paths.table(folder, table.name), table.csv())
        write_whole(paths.table(folder, table.name, "tex"), table.latex())
    if found:
        text = verdicts.frame(found).to_csv(index=False, lineterminator="\n")
        write_whole(paths.table(folder, "statements"), text)
    drawn = draw(results, folder) if finished else []
    figures = [(each.name, _figure(k, each)) for k, each in enumerate(drawn, 1)]
    pictures, not_drawn = maps(results, folder) if finished else ([], [])
    shown = {
        "scale": _scale(results),
        "verdicts": verdicts.html(found, results) + _more("statements") if found else "",
        "selection-bias": _paragraphs(selection_bias.sentences(results)),
        "beyond": _paragraphs(beyond_report.sentences(results))
        + "".join(map(_table, (table for table in made if table.name == beyond_report.TABLE)))
        + "".join(shown_figure for name, shown_figure in figures if name == beyond_report.FIGURE),
        "tables": "".join(map(_table, (t for t in made if t.name != beyond_report.TABLE))),
        "figures": "".join(text for name, text in figures if name != beyond_report.FIGURE),
        "maps": _maps(pictures, not_drawn),
        "methods": _methods(results),
    }
    told = sentences(results, {table.name: table.frame for table in made})
    write_whole(folder / paths.REPORT, _page(results, shown, told, found))
    return folder / paths.REPORT


def maps(results: Results, folder: Path) -> tuple[list[tuple[str, Path]], list[str]]:
    """Draw each algorithm's map of the first task; also return why a map could not be drawn."""
    from qed.archive.archive import Archive
    from qed.evolution.folder import ARCHIVE
    from qed.view.maps import draw_map

    drawn, why_not = [], []
    for algorithm in results.algorithms:
        name = Name(results.tasks[0], algorithm, 1)
        source = paths.run(folder, name) / ARCHIVE
        if not source.exists():
            continue
        try:
            archive = Archive.load(source)
        except (ValueError, OSError) as error:
            why_not.append(f"The map of {name} is not shown: {error}")
            continue
        if len(archive) > 0:
            target = folder / paths.FIGURES / f"map-{algorithm}.png"
            title = f"{algorithm.upper()}, {name.task}, replicate 1"
            drawn.append((title, draw_map(archive, target, dpi=110)))
    return drawn, why_not


def _page(results: Results, sections: dict[str, str], told: list[str], found: list[Judged]) -> str:
    """Return the page."""
    style = files("qed.study").joinpath("report.css").read_text(encoding="utf-8")
    preset = escape(str(results.settings.get("preset", "custom")))
    shown = {name: (TITLES[name], part) for name, part in sections.items() if part}
    links = "".join(
        f'<li><a href="#section-{name}">{title}</a></li>' for name, (title, _) in shown.items()
    )
    body = "".join(
        f'<section id="section-{name}">\n<h2>{title}</h2>\n{content}</section>\n'
        for name, (title, content) in shown.items()
    )
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
{verdicts.strip(found) if found else ""}{_paragraphs(told)}</div>
{_failures(results.failures)}{body}<footer>Made by qed {escape(qed.__version__)}.</footer>
</main>
</body>
</html>
"""


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{verdicts.minus(escape(text))}</p>\n" for text in texts)


def _failures(failures: list[str]) -> str:
    """Show which runs failed, and why, where nobody can miss it."""
    if not failures:
        return ""
    lines = "".join(f"<li>{escape(line)}</li>" for line in failures)
    return (
        f'<aside class="failed"><h2>{many(len(failures), "part")} of this study failed</h2>'
        f"<p>The numbers below exclude the failed parts.</p><ul>{lines}</ul></aside>\n"
    )


def _scale(results: Results) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(size.what.capitalize())}</th>'
        f"<td>{escape(size.ours)}</td><td>{escape(size.theirs)}</td></tr>"
        for size in scale(results.settings)
    )
    told = (
        scale_sentence(results.settings),
        protocol_sentence(results.settings),
        *race_sentences(results.settings),
        cells_sentence(results),
    )
    return (
        _paragraphs(text for text in told if text)
        + '<div class="scroll" role="region" tabindex="0" aria-label="Scale">'
        '<table id="scale-table"><thead><tr><th scope="col"></th><th scope="col">This study</th>'
        f'<th scope="col">Paper</th></tr></thead><tbody>{rows}</tbody></table></div>\n'
    )


def _table(table: Table) -> str:
    name = escape(table.name)
    return (
        f'<div id="{name}">\n{table.html()}'
        f'<p class="files">{_link(f"tables/{name}.csv", "CSV")} · '
        f"{_link(f'tables/{name}.tex', 'LaTeX')}</p>\n</div>\n"
    )


def _figure(number: int, drawn: Drawn) -> str:
    wide = "wide " if drawn.width > WIDE else ""
    alt = f"{drawn.title}. {drawn.caption.partition('. ')[0]}."
    image = _image(drawn.png, alt, round(drawn.width * PIXELS))
    return (
        f'<figure id="figure-{escape(drawn.name)}">\n<div class="{wide}scroll" role="region" '
        f'tabindex="0" aria-label="{escape(drawn.title)}">{image}</div>\n'
        f"<figcaption><strong>Figure {number}. {escape(drawn.title)}.</strong> "
        f'{escape(drawn.caption)} <span class="files">'
        f"{_link(f'figures/{drawn.png.name}', 'PNG')} · {_link(f'figures/{drawn.pdf.name}', 'PDF')}"
        "</span></figcaption>\n</figure>\n"
    )


def _maps(pictures: list[tuple[str, Path]], not_drawn: list[str]) -> str:
    if not pictures and not not_drawn:
        return ""
    shown = "".join(
        f"<figure>{_image(path, f'Map of {title}: the fitness of each filled cell')}"
        f'<figcaption><strong>{escape(title)}.</strong> <span class="files">'
        f"{_link(f'figures/{path.name}', 'PNG')}</span></figcaption></figure>\n"
        for title, path in pictures
    )
    told = "<p>One map per algorithm, at the end of evolution. Colour: fitness during evolution, "
    told += "for QED in each cell's own environment. Grey: empty cells.</p>\n"
    return f'{told if pictures else ""}{_paragraphs(not_drawn)}<div class="maps">\n{shown}</div>\n'


def _image(path: Path, alt: str, width: int | None = None) -> str:
    """Return an image that is part of the page."""
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    size = f' width="{width}"' if width else ""
    return f'<img src="data:image/png;base64,{data}" alt="{escape(alt)}"{size}>'


def _link(target: str, text: str) -> str:
    return f'<a href="{escape(target)}">{escape(text)}</a>'


def _more(name: str) -> str:
    return f'<p class="files">All statements as {_link(f"tables/{name}.csv", "CSV")}</p>\n'


def _methods(results: Results) -> str:
    meanings = "".join(
        f"<dt>{escape(term)}</dt><dd>{escape(meaning)}</dd>\n"
        for term, meaning in DEFINITIONS.items()
    )
    made_with = [f"qed {qed.__version__}", f"Python {platform.python_version()}"]
    made_with += [f"{name} {version(name)}" for name in ("numpy", "scipy", "pandas", "matplotlib")]
    names = [*TABLES, *(["beyond"] if beyond_report.measured(results) else [])]
    raw = " · ".join(_link(f"tables/{name}.csv", f"{name}.csv") for name in names)
    seed = escape(str(results.settings.get("seed", "unknown")))
    return (
        f"<dl>\n{meanings}</dl>\n<p>All tables and figures are made from these files: {raw}. The "
        f"study's settings are in {_link('study.toml', 'study.toml')}; its seed is {seed}. "
        f"Written with {escape(', '.join(made_with))}.</p>\n"
    )
