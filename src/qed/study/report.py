"""The report of a study: one page that needs nothing else, beside its tables and figures."""

from __future__ import annotations

import base64
import platform
import re
from collections.abc import Iterable
from html import escape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import qed
from qed.study.differences import differences, reasons
from qed.study.figures import Drawn, draw
from qed.study.plan import Name
from qed.study.results import TABLES, Results
from qed.study.summary import many, scale, scale_sentence, sentences
from qed.study.tables import Table, tables
from qed.textfile import write as write_whole

REPORT = "report.html"
WIDE = 9.0  # a figure this wide (inch) is scrolled on a phone, where its text would be too small
PIXELS = 96  # CSS pixels to an inch
DEFINITIONS = {
    "Empirical maximum": "The highest fitness in the normal environment of any solution of any "
    "map of a task. Performance is fitness as a part of it.",
    "Normal best": "The solution of a map that does best when all are tried again in the normal "
    "environment: ten robots, none of them broken.",
    "Combined fault": "Each of the ten robots draws one of eight faults, no fault being one of "
    "them. All tasks and algorithms of a replicate meet the same combined faults.",
    "Impact": "(F - N) / N, where N is the normal best's fitness without the fault and F its "
    "fitness with it. -0.25 says that a quarter is lost.",
    "Recovered performance": "The highest fitness of any solution of the map with the fault, as a "
    "part of the empirical maximum.",
    "Resilience": "(R - N) / N, where R is that highest fitness: what recovery leaves lost.",
    "Distance": "How differently the recovery solution and the normal best behave, both watched "
    "in the normal environment: total variation between the actions they take, averaged over 64 "
    "states of what a robot senses. 0 is alike, 1 as different as can be.",
    "Projected coverage": "All solutions of a map, described by SPIRIT in the normal environment, "
    "are sorted into its 4,096 cells; this counts the cells that get any.",
    "Diversity of a map": "The mean distance over all pairs of those cells: of their centroids, "
    "or of the best solution in each.",
}


def write(folder: Path, results: Results | None = None) -> Path:
    """Write tables, figures and the page of a study into its folder; return the page."""
    results = results or Results.load(folder)
    finished = not results.runs.empty
    made = tables(results) if finished else []
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    for table in made:
        write_whole(folder / "tables" / f"{table.name}.csv", table.csv())
        write_whole(folder / "tables" / f"{table.name}.tex", table.latex())
    drawn = draw(results, folder) if finished else []
    pictures, not_drawn = maps(results, folder) if finished else ([], [])
    page = _page(results, made, drawn, pictures, not_drawn)
    write_whole(folder / REPORT, page)
    return folder / REPORT


def maps(results: Results, folder: Path) -> tuple[list[tuple[str, Path]], list[str]]:
    """Draw each algorithm's map of the first task; also return why a map could not be drawn."""
    from qed.archive.archive import Archive
    from qed.view.maps import draw as draw_map

    drawn, why_not = [], []
    for algorithm in results.algorithms:
        name = Name(results.tasks[0], algorithm, 1)
        source = folder / "runs" / str(name) / "archive.npz"
        if not source.exists():
            continue
        try:
            archive = Archive.load(source)
        except (ValueError, OSError) as error:
            why_not.append(f"The map of {name} is not shown: {error}")
            continue
        if archive.coverage:
            target = folder / "figures" / f"map-{algorithm}.png"
            title = f"{algorithm.upper()}, {name.task}, replicate 1"
            drawn.append((title, draw_map(archive, target, dpi=110)))
    return drawn, why_not


def _page(
    results: Results,
    made: list[Table],
    drawn: list[Drawn],
    pictures: list[tuple[str, Path]],
    not_drawn: list[str],
) -> str:
    """Return the page."""
    style = files("qed.study").joinpath("report.css").read_text(encoding="utf-8")
    preset = escape(str(results.settings.get("preset", "of its own")))
    told = sentences(results, {table.name: table.frame for table in made})
    sections = {
        "scale": ("How large this study is", _scale(results)),
        "tables": ("Tables", "".join(map(_table, made))),
        "figures": (
            "Figures",
            "".join(_figure(k, each) for k, each in enumerate(drawn, 1)),
        ),
        "maps": ("Maps", _maps(pictures, not_drawn)),
        "differences": ("What differs from the paper, and why that may be", _differences(results)),
        "methods": ("How these numbers were made", _methods(results)),
    }
    shown = {name: part for name, part in sections.items() if part[1]}
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
{_paragraphs(told)}</div>
{_failures(results.failures)}{body}<footer>Made by qed {escape(qed.__version__)}.</footer>
</main>
</body>
</html>
"""


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>\n" for text in texts)


def _failures(failures: list[str]) -> str:
    """Show which runs failed, and why, where nobody can miss it."""
    if not failures:
        return ""
    lines = "".join(f"<li>{escape(line)}</li>" for line in failures)
    return (
        f'<aside class="failed"><h2>{many(len(failures), "part")} of this study failed</h2>'
        f"<p>The numbers below are without what failed.</p><ul>{lines}</ul></aside>\n"
    )


def _scale(results: Results) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(size.what.capitalize())}</th>'
        f"<td>{escape(size.ours)}</td><td>{escape(size.theirs)}</td></tr>"
        for size in scale(results.settings)
    )
    return (
        f"<p>{escape(scale_sentence(results.settings))}</p>\n"
        '<div class="scroll" role="region" tabindex="0" aria-label="Scale">'
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
    told = "<p>One map of each algorithm, at the end of evolution. Colour is the fitness that "
    told += "evolution saw, in each cell's own environment for QED; grey cells are empty.</p>\n"
    return f'{told if pictures else ""}{_paragraphs(not_drawn)}<div class="maps">\n{shown}</div>\n'


def _image(path: Path, alt: str, width: int | None = None) -> str:
    """Return an image that is part of the page."""
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    size = f' width="{width}"' if width else ""
    return f'<img src="data:image/png;base64,{data}" alt="{escape(alt)}"{size}>'


def _link(target: str, text: str) -> str:
    return f'<a href="{escape(target)}">{escape(text)}</a>'


def _differences(results: Results) -> str:
    found = sorted(differences(results), key=lambda each: each.same)
    if not found:
        return ""
    why = reasons(results)
    listed = "".join(
        f'<dt id="{_anchor(name)}">{escape(name.capitalize())}</dt><dd>{escape(text)}</dd>\n'
        for name, text in why.items()
    )
    rows = "".join(
        f"<tr><td>{escape(each.statement)}</td><td>{_numbers(each.ours)}</td>"
        f"<td>{_numbers(each.theirs)}</td><td>{_verdict(each.same, each.why)}</td></tr>\n"
        for each in found
    )
    apart = sum(not each.same for each in found)
    told = f"Of {many(len(found), 'statement')} of the paper, {len(found) - apart} hold here as "
    told += f"well and {apart} {'does' if apart == 1 else 'do'} not. "
    told += "That a reason is named says that it may play a part, not that it was shown to."
    reasons_told = f"<p>What is smaller here than in the paper:</p>\n<dl>\n{listed}</dl>\n"
    return (
        f"<p>{escape(told)}</p>\n"
        '<div class="scroll" role="region" tabindex="0" aria-label="Beside the paper">'
        '<table class="words" id="differences-table"><thead><tr><th scope="col">Statement</th>'
        '<th scope="col">This study</th><th scope="col">Paper</th><th scope="col">Verdict</th>'
        f"</tr></thead><tbody>\n{rows}</tbody></table></div>\n{reasons_told if why else ''}"
    )


def _numbers(text: str) -> str:
    """Return text with true minus signs, and with no line break between a name and its number."""
    return re.sub(r" (?=-?\d)", "\N{NO-BREAK SPACE}", escape(text)).replace("-", "\N{MINUS SIGN}")


def _verdict(same: bool, why: tuple[str, ...]) -> str:
    if same:
        return '<span class="same">alike</span>'
    named = ", ".join(_link(f"#{_anchor(name)}", name) for name in why)
    because = f"perhaps {named}" if why else "the scale of this study is no reason"
    return f'<span class="differs">differs</span>: {because}'


def _anchor(reason: str) -> str:
    return "reason-" + reason.replace(" ", "-")


def _methods(results: Results) -> str:
    meanings = "".join(
        f"<dt>{escape(term)}</dt><dd>{escape(meaning)}</dd>\n"
        for term, meaning in DEFINITIONS.items()
    )
    made_with = [f"qed {qed.__version__}", f"Python {platform.python_version()}"]
    made_with += [f"{name} {version(name)}" for name in ("numpy", "scipy", "pandas", "matplotlib")]
    raw = " · ".join(_link(f"tables/{name}.csv", f"{name}.csv") for name in TABLES)
    seed = escape(str(results.settings.get("seed", "unknown")))
    return (
        f"<dl>\n{meanings}</dl>\n<p>All tables and figures are drawn from these: {raw}. The "
        f"study's settings are in {_link('study.toml', 'study.toml')}; its first seed is {seed}. "
        f"Written with {escape(', '.join(made_with))}.</p>\n"
    )
