"""How a table is shown, ours beside the paper's, as CSV, LaTeX, HTML and Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any, NamedTuple

import pandas as pd

from qed.study.statistics import LARGE

Row = dict[str, Any]  # of a frame, by column

DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
_MATHS = str.maketrans({"±": r"\pm", DASH: r"\mbox{--}"})
_TEXT = str.maketrans(
    {letter: rf"\{letter}" for letter in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": "$<$", ">": "$>$", "±": r"$\pm$", "δ": r"$\delta$", DASH: "--", MINUS: "$-$"}
)


def latex_text(text: str) -> str:
    """Return text that LaTeX prints as it stands."""
    return text.translate(_TEXT)


class Part(NamedTuple):
    """What is in a cell, from us or from the paper."""

    number: str  # "-0.08 ± 0.07", "p<0.001"
    stars: str = ""
    word: str = ""
    large: bool = False  # as an effect: shown in bold

    def latex(self) -> str:
        """Return this for a cell of a tabular."""
        number = self.number.translate(_MATHS)
        if self.large:
            number = rf"\mathbf{{{number}}}"
        raised = f"^{{{self.stars}}}" if self.stars else ""
        return f"${number}{raised}$ {latex_text(self.word)}".rstrip()

    def html(self) -> str:
        """Return this for a cell of a table, or a span in it."""
        number = escape(self.number).replace("-", MINUS)
        if self.large:
            number = f'<strong class="large">{number}</strong>'
        raised = f"<sup>{escape(self.stars)}</sup>" if self.stars else ""
        return f"{number}{raised} {escape(self.word)}".rstrip()

    def markdown(self) -> str:
        """Return this for a cell of a Markdown table."""
        number = self.number.replace("-", MINUS)
        if self.large:
            number = f"**{number}**"
        return f"{number}{self.stars.replace('*', '&ast;')} {self.word}".rstrip()


def known(value: Any) -> bool:
    """Return whether a frame has a number here."""
    return value is not None and math.isfinite(value)


def rounded(value: float, digits: int) -> str:
    """Return a number with so many decimals, a dash if it is not known."""
    return f"{value:z.{digits}f}" if known(value) else DASH


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
            value if value == DASH else f"{value} ± {rounded(row[f'{stem}_{suffix}'], digits)}"
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
        return Part(rounded(row[stem], digits))

    def theirs(row: Row) -> Part | None:
        value = row[f"paper_{stem}"]
        return Part(rounded(value, digits)) if known(value) else None

    return Column(heading, ours, theirs if paper else None)


def span(stem: str) -> Callable[[Row], Part | None]:
    """Return how a range of the paper is shown."""

    def paper(row: Row) -> Part | None:
        low, high = row[f"paper_{stem}_low"], row[f"paper_{stem}_high"]
        return Part(f"{rounded(low, 2)}{DASH}{rounded(high, 2)}") if known(low) else None

    return paper


def significance(heading: str) -> Column:
    """Return a column of p with its stars."""

    def ours(row: Row) -> Part:
        p = row["p"]
        if not known(p):
            return Part(DASH)
        return Part("p<0.001" if p < 0.001 else f"p={rounded(p, 3)}", row["stars"])

    def paper(row: Row) -> Part | None:
        p = row["paper_p_at_most"]
        # All that is printed of a smaller one is that it is below 0.001.
        number = "p<0.001" if p <= 0.001 else f"p={rounded(p, 3)}"
        return Part(number, row["paper_stars"]) if known(p) else None

    return Column(heading, ours, paper)


def effects(heading: str) -> Column:
    """Return a column of Cliff's delta and its word, bold if it is large."""

    def ours(row: Row) -> Part:
        return Part(rounded(row["delta"], 2), word=row["effect"], large=row["effect"] == LARGE)

    def paper(row: Row) -> Part | None:
        delta = row["paper_delta"]
        large = row["paper_effect"] == LARGE
        return Part(rounded(delta, 2), large=large) if known(delta) else None

    return Column(heading, ours, paper)


class Key(NamedTuple):
    """A column that says which row it is."""

    heading: str
    column: str
    show: Callable[[Any], str] = str


def unnumbered(title: str) -> str:
    """Return a title without "Table S1: ", since LaTeX counts tables itself.

    >>> unnumbered("Table S1: the maps"), unnumbered("The maps: all")
    ('The maps', 'The maps: all')
    """
    number, _, rest = title.partition(": ")
    return rest[:1].upper() + rest[1:] if number.startswith("Table S") else title


@dataclass(frozen=True)
class Table:
    """A table: its numbers, and how they are shown."""

    name: str  # file stem
    title: str
    note: str  # what it is, over what, how many
    frame: pd.DataFrame  # paper_* columns are the paper's
    keys: tuple[Key, ...] = ()
    columns: tuple[Column, ...] = ()

    def csv(self) -> str:
        """Return the numbers, unrounded; empty where there is none."""
        return str(self.frame.to_csv(index=False, lineterminator="\n"))

    def latex(self) -> str:
        """Return a table environment that needs no package."""
        width = [1 if column.paper is None else 2 for column in self.columns]
        headings = [latex_text(key.heading) for key in self.keys] + [
            rf"\multicolumn{{{w}}}{{c}}{{{latex_text(column.heading)}}}"
            for column, w in zip(self.columns, width, strict=True)
        ]
        whose = [""] * len(self.keys)
        for w in width:
            whose += ["ours", "paper"] if w == 2 else [""]
        lines = [
            r"\begin{table}[htbp]",
            r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
            rf"\caption{{{latex_text(unnumbered(self.title))}. {latex_text(self.note)}}}",
            rf"\label{{tab:{self.name}}}",
            rf"\begin{{tabular}}{{{'l' * len(self.keys)}|{'r' * sum(width)}}}",
            r"\hline",
            _latex_row(headings),
            *([_latex_row(whose)] if "paper" in whose else []),
            r"\hline",
        ]
        for rows in self._groups():
            for row in rows:
                cells = [latex_text(key.show(row[key.column])) for key in self.keys]
                if row is not rows[0] and len(self.keys) > 1:
                    cells[0] = ""
                for column in self.columns:
                    cells.append(column.ours(row).latex())
                    if column.paper is not None:
                        theirs = column.paper(row)
                        cells.append("--" if theirs is None else theirs.latex())
                lines.append(_latex_row(cells))
            lines.append(r"\hline")
        return "\n".join([*lines, r"\end{tabular}", r"\end{table}", ""])

    def html(self) -> str:
        """Return a table, the paper's number under ours, in a division that can scroll."""
        title = escape(self.title)
        headings = "".join(
            f'<th scope="col">{escape(column.heading)}</th>' for column in self.keys + self.columns
        )
        lines = [
            f'<div class="scroll" role="region" tabindex="0" aria-label="{title}">',
            "<table>",
            f"<caption><strong>{title}.</strong> {escape(self.note)}</caption>",
            f"<thead><tr>{headings}</tr></thead>",
        ]
        for rows in self._groups():
            lines.append("<tbody>")
            for row in rows:
                cells = self._html_keys(row, len(rows) if row is rows[0] else 0)
                cells += [f"<td>{_html_cell(column, row)}</td>" for column in self.columns]
                lines.append(f"<tr>{''.join(cells)}</tr>")
            lines.append("</tbody>")
        return "\n".join([*lines, "</table>", "</div>", ""])

    def markdown(self) -> str:
        """Return a title, the table with the paper's number behind ours, and the note."""
        headings = [column.heading for column in self.keys + self.columns]
        lines = [f"### {self.title}", "", self.note.replace("*", r"\*"), ""]
        lines += [_markdown_row(headings), _markdown_row(["---"] * len(headings))]
        for rows in self._groups():
            for row in rows:
                names = [key.show(row[key.column]) for key in self.keys]
                if row is not rows[0] and len(names) > 1:
                    names[0] = ""
                cells = [_markdown_cell(column, row) for column in self.columns]
                lines.append(_markdown_row([*names, *cells]))
        return "\n".join([*lines, ""])

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


def _latex_row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _markdown_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(column: Column, row: Row) -> str:
    ours = column.ours(row).markdown()
    theirs = column.paper(row) if column.paper else None
    return ours if theirs is None else f"{ours} (paper {theirs.markdown()})"


def _html_cell(column: Column, row: Row) -> str:
    ours = column.ours(row).html()
    theirs = column.paper(row) if column.paper else None
    return ours if theirs is None else f'{ours}<br><span class="paper">paper {theirs.html()}</span>'
