"""What a report is made of: text, tables, pictures; each shows itself as HTML and as Markdown."""

import base64
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pandas as pd

Row = dict[str, Any]  # of a frame, by column

ALL = "all"  # tasks, or algorithms, together
DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
WIDE = 9.0  # a figure this wide (inch) is scrolled on a phone, where its text would be too small
PIXELS = 96  # CSS pixels to an inch


def listed(names: Iterable[str]) -> str:
    """Return words as English lists them: "a", "a and b", "a, b and c"."""
    *most, last = list(names) or ["none"]
    return f"{', '.join(most)} and {last}" if most else last


def many(count: int, what: str) -> str:
    """Return a count with its noun: "1 map", "24 maps"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def counted(what: str, rows: Iterable[Row]) -> str:
    """Return how many of something rows are made from, by their "n": "2 maps", "1 to 2 maps"."""
    counts = sorted({row["n"] for row in rows}) or [0]
    several = "recoveries" if what == "recovery" else f"{what}s"
    if len(counts) > 1:
        return f"{counts[0]} to {counts[-1]} {several}"
    return f"{counts[0]} {what if counts == [1] else several}"


def minus(text: str) -> str:
    """Return text with true minus signs before numbers."""
    return re.sub(r"(?<![\w-])-(?=\d)", MINUS, text)


def paragraphs(*texts: str) -> str:
    """Return Markdown texts with an empty line between them."""
    return "\n\n".join(text.strip("\n") for text in texts if text)


class Block(Protocol):
    """Something in a report."""

    def html(self) -> str:
        """Return it for a page."""

    def markdown(self) -> str:
        """Return it without empty lines around it; nothing if only a page has it."""


class Link(NamedTuple):
    """A file beside a report."""

    words: str
    file: str


def html_links(links: Iterable[Link]) -> str:
    """Return links for a page, side by side."""
    return " · ".join(f'<a href="{escape(to.file)}">{escape(to.words)}</a>' for to in links)


def markdown_links(links: Iterable[Link]) -> str:
    """Return links in Markdown, side by side."""
    return " · ".join(f"[{to.words}]({to.file})" for to in links)


class Text(NamedTuple):
    """A paragraph, with links behind its words."""

    words: str
    links: tuple[Link, ...] = ()

    def html(self) -> str:
        """Return a paragraph."""
        links = f" {html_links(self.links)}" if self.links else ""
        return f"<p>{minus(escape(self.words))}{links}</p>\n"

    def markdown(self) -> str:
        """Return a paragraph."""
        return f"{minus(self.words)} {markdown_links(self.links)}".rstrip()


class Heading(NamedTuple):
    """A heading within a section."""

    name: str  # of its anchor
    words: str
    summary: str  # beside it

    def html(self) -> str:
        """Return a heading."""
        small = f" <small>{escape(self.summary)}</small>"
        return f'<h3 id="{escape(self.name)}">{escape(self.words)}{small}</h3>\n'

    def markdown(self) -> str:
        """Return a heading, the summary below it."""
        return paragraphs(f"### {self.words}", f"{self.summary}.")


class Folded(NamedTuple):
    """What is shown when a reader asks for it."""

    summary: str
    block: Block

    def html(self) -> str:
        """Return it with something to click at."""
        return f"<details><summary>{escape(self.summary)}</summary>{self.block.html()}</details>\n"

    def markdown(self) -> str:
        """Return it with something to click at; GitHub and Sphinx show that too."""
        summary = f"<details><summary>{escape(self.summary)}</summary>"
        return paragraphs(summary, self.block.markdown(), "</details>")


class Terms(NamedTuple):
    """Terms and their meanings."""

    meanings: Mapping[str, str]

    def html(self) -> str:
        """Return a list of definitions."""
        each = (
            f"<dt>{escape(term)}</dt><dd>{escape(meaning)}</dd>\n"
            for term, meaning in self.meanings.items()
        )
        return f"<dl>\n{''.join(each)}</dl>\n"

    def markdown(self) -> str:
        """Return a list."""
        return "\n".join(f"- **{term}**: {meaning}" for term, meaning in self.meanings.items())


class Picture(NamedTuple):
    """A picture with its caption."""

    name: str
    title: str
    caption: str
    path: Path  # a PNG, which a page has in itself
    files: tuple[Link, ...]  # the first is the picture
    number: int = 0  # of a figure; 0: it has none
    width: float = 0.0  # inch; 0: as wide as there is room

    @property
    def heading(self) -> str:
        """The title with the number."""
        return f"Figure {self.number}. {self.title}." if self.number else f"{self.title}."

    def html(self) -> str:
        """Return a figure that can scroll."""
        title, alt = escape(self.title), f"{self.title}. {self.caption.partition('. ')[0]}."
        data = base64.b64encode(self.path.read_bytes()).decode("ascii")
        size = f' width="{round(self.width * PIXELS)}"' if self.width else ""
        wide = "wide " if self.width > WIDE else ""
        return (
            f'<figure id="figure-{escape(self.name)}">\n<div class="{wide}scroll" role="region" '
            f'tabindex="0" aria-label="{title}"><img src="data:image/png;base64,{data}" '
            f'alt="{escape(alt)}"{size}></div>\n'
            f"<figcaption><strong>{escape(self.heading)}</strong> {escape(self.caption)} "
            f'<span class="files">{html_links(self.files)}</span></figcaption>\n</figure>\n'
        )

    def markdown(self) -> str:
        """Return an image, its caption below it."""
        image = f"![{self.title}]({self.files[0].file})"
        return paragraphs(image, f"**{self.heading}** {self.caption}")


class Part(NamedTuple):
    """What is in a cell, from us or from the paper."""

    number: str  # "-0.08 ± 0.07", "p<0.001"
    stars: str = ""
    word: str = ""
    large: bool = False  # as an effect: shown in bold

    def html(self) -> str:
        """Return this for a cell of a table, or a span in it."""
        number = escape(self.number).replace("-", MINUS)
        if self.large:
            number = f'<strong class="large">{number}</strong>'
        raised = f"<sup>{escape(self.stars)}</sup>" if self.stars else ""
        word = escape(self.word).replace("-", MINUS)
        return f"{number}{raised} {word}".rstrip()

    def markdown(self) -> str:
        """Return this for a cell of a Markdown table."""
        number = self.number.replace("-", MINUS)
        if self.large:
            number = f"**{number}**"
        word = self.word.replace("-", MINUS)
        return f"{number}{self.stars.replace('*', '&ast;')} {word}".rstrip()


def known(value: Any) -> bool:
    """Return whether a frame has a number here."""
    return value is not None and math.isfinite(value)


def rounded(value: float, digits: int) -> str:
    """Return a number with so many decimals, a dash if it is not known."""
    return f"{value:z.{digits}f}" if known(value) else DASH


def limits(row: Row, stem: str, digits: int) -> str:
    """Return the interval of a number, "[low, high]", where its row has one."""
    low, high = (row.get(f"{stem}_{end}", math.nan) for end in ("low", "high"))
    return f"[{rounded(low, digits)}, {rounded(high, digits)}]" if known(low) else ""


class Column(NamedTuple):
    """A column of numbers: how ours and, if it has such numbers, the paper's are shown."""

    heading: str
    ours: Callable[[Row], Part]
    paper: Callable[[Row], Part | None] | None = None  # None for a row that the paper lacks


def spread(heading: str, stem: str, suffix: str, digits: int = 2, printed: int = -1) -> Column:
    """Return a column of "value ± spread"; the paper prints its spread to ``printed`` digits."""

    def ours(row: Row) -> Part:
        value = rounded(row[stem], digits)
        return Part(
            value if value == DASH else f"{value} ± {rounded(row[f'{stem}_{suffix}'], digits)}",
            word=limits(row, stem, digits),
        )

    def paper(row: Row) -> Part | None:
        value, around = row[f"paper_{stem}"], row[f"paper_{stem}_{suffix}"]
        if not known(value):
            return None
        ending = f" ± {rounded(around, digits if printed < 0 else printed)}"
        return Part(rounded(value, digits) + (ending if known(around) else ""))

    return Column(heading, ours, paper)


def plain(heading: str, stem: str, digits: int = 2, *, paper: bool = False) -> Column:
    """Return a column of a number alone, with the paper's if it has it."""

    def ours(row: Row) -> Part:
        return Part(rounded(row[stem], digits), word=limits(row, stem, digits))

    def theirs(row: Row) -> Part | None:
        value = row[f"paper_{stem}"]
        return Part(rounded(value, digits)) if known(value) else None

    return Column(heading, ours, theirs if paper else None)


def p_value(heading: str, name: str) -> Column:
    """Return a column of p values to three decimals, which are never 0."""

    def ours(row: Row) -> Part:
        return Part("<0.001" if row[name] < 0.001 else rounded(row[name], 3))

    return Column(heading, ours)


class Key(NamedTuple):
    """A column that says which row it is."""

    heading: str
    column: str
    show: Callable[[Any], str] = str


TASK = Key("Task", "task", lambda name: "All tasks" if name == ALL else name.capitalize())
ALGORITHM = Key("Algorithm", "algorithm", lambda name: "All" if name == ALL else name.upper())


@dataclass(frozen=True)
class Table:
    """A table: its numbers, and how they are shown."""

    name: str  # file stem
    title: str
    note: str  # what it is, over what, how many
    frame: pd.DataFrame  # paper_* columns are the paper's
    keys: tuple[Key, ...] = ()
    columns: tuple[Column, ...] = ()
    files: tuple[Link, ...] = ()  # where its numbers are

    def csv(self) -> str:
        """Return the numbers, unrounded; empty where there is none."""
        return str(self.frame.to_csv(index=False, lineterminator="\n"))

    def html(self) -> str:
        """Return a table, the paper's number under ours, in a division that can scroll."""
        name, title = escape(self.name), escape(self.title)
        heads = [f'<th scope="col">{escape(each.heading)}</th>' for each in self._headings]
        caption = f"<strong>{title}.</strong> {escape(self.note)}" if self.note else title
        lines = [
            f'<div id="{name}">',
            f'<div class="scroll" role="region" tabindex="0" aria-label="{title}">',
            "<table>",
            f"<caption>{caption}</caption>",
            f"<thead><tr>{''.join(heads)}</tr></thead>",
        ]
        for rows in self._groups():
            lines.append("<tbody>")
            for row in rows:
                cells = self._html_keys(row, len(rows) if row is rows[0] else 0)
                cells += [f"<td>{_html_cell(column, row)}</td>" for column in self.columns]
                lines.append(f"<tr>{''.join(cells)}</tr>")
            lines.append("</tbody>")
        lines += ["</table>", "</div>"]
        lines += [f'<p class="files">{html_links(self.files)}</p>'] if self.files else []
        return "\n".join([*lines, "</div>", ""])

    def markdown(self) -> str:
        """Return a title, the note, and the table with the paper's number behind ours."""
        lines = [markdown_row([each.heading for each in self._headings])]
        lines.append(markdown_row(["---"] * len(self._headings)))
        for rows in self._groups():
            for row in rows:
                names = [key.show(row[key.column]) for key in self.keys]
                if row is not rows[0] and len(names) > 1:
                    names[0] = ""
                cells = [_markdown_cell(column, row) for column in self.columns]
                lines.append(markdown_row([*names, *cells]))
        heading = [f"### {self.title}", self.note.replace("*", r"\*")] if self.note else []
        return paragraphs(*heading, "\n".join(lines), markdown_links(self.files))

    @property
    def _headings(self) -> tuple[Key | Column, ...]:
        return self.keys + self.columns

    def _groups(self) -> list[list[Row]]:
        """Return the rows: with two keys, those of one first key together."""
        rows = self.frame.to_dict("records")
        if len(self.keys) < 2:
            return [rows]
        return [list(group) for _, group in groupby(rows, lambda row: row[self.keys[0].column])]

    def _html_keys(self, row: Row, span: int) -> list[str]:
        """Return a row's names; the first of two spans its group, and stands in its first row."""
        names = [escape(key.show(row[key.column])) for key in self.keys]
        cells = [f'<th scope="row">{name}</th>' for name in names]
        if len(names) > 1:
            cells[:1] = [f'<th scope="rowgroup" rowspan="{span}">{names[0]}</th>'] if span else []
        return cells


_SAID = tomllib.loads(files("qed.study").joinpath("tables.toml").read_text("utf-8"))
PART = _SAID["shared"]["part"]


def described(
    name: str,
    frame: pd.DataFrame,
    keys: tuple[Key, ...],
    columns: tuple[Column, ...],
    **numbers: Any,
) -> Table:
    """Return a table with the title and the note of tables.toml, in which numbers are filled in."""
    filled = {part: said.format(**_SAID["shared"], **numbers) for part, said in _SAID[name].items()}
    return Table(name, filled["title"], filled["note"], frame, keys, columns)


def markdown_row(cells: Iterable[str]) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def _markdown_cell(column: Column, row: Row) -> str:
    ours = column.ours(row).markdown()
    theirs = column.paper(row) if column.paper else None
    return ours if theirs is None else f"{ours} (paper {theirs.markdown()})"


def _html_cell(column: Column, row: Row) -> str:
    ours = column.ours(row).html()
    theirs = column.paper(row) if column.paper else None
    return ours if theirs is None else f'{ours}<br><span class="paper">paper {theirs.html()}</span>'
