"""What is in a cell of a table, ours and the paper's, as LaTeX and as HTML."""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple

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
