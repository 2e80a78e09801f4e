"""The paper's statements with their verdicts, as a table and in a report."""

import re
from html import escape
from typing import NamedTuple

import pandas as pd

from qed.paper import statements
from qed.paper.statements import DIFFERS, HOLDS, UNCHECKED, Judged
from qed.study.blocks import Block, Folded, Heading, Text, many, markdown_row, minus
from qed.study.plan import PRESETS
from qed.study.results import Results

NO_BREAK = "\N{NO-BREAK SPACE}"
SHUFFLES = 5  # of the names of algorithms, to tell what chance scores
SAID = ("id", "group", "where", "statement", "how", "tolerance", "why_tolerance", "paper")
COLUMNS = ("Statement", "This study", "Paper", "Verdict")
KINDS = {"in words": statements.IN_WORDS, "numbers and tests of its tables": statements.IN_TABLES}
CLASSES = {HOLDS: "same", DIFFERS: "differs", UNCHECKED: "unchecked"}


def frame(judged: list[Judged]) -> pd.DataFrame:
    """Return all that is known of the statements, one row each."""
    return pd.DataFrame(
        {
            **{name: getattr(each.statement, name) for name in SAID},
            "ours": each.ours,
            "verdict": each.verdict,
            "the_papers_way": each.claimed,
            "verdict_the_papers_way": _verdict_of(each.claimed_holds),
            "replicates_agreeing": f"{each.agreeing[0]} of {each.agreeing[1]}" if each.agreeing
            else "",
            "reasons": " ".join(each.reasons),
        }
        for each in judged
    )  # fmt: skip


def counts(judged: list[Judged]) -> dict[str, dict[str, int]]:
    """Return how many statements hold, differ and are not checkable: in words, and in tables."""
    return {
        kind: statements.count([each for each in judged if each.statement.group in groups])
        for kind, groups in KINDS.items()
    }


def sentence(judged: list[Judged]) -> str:
    """Return the counts in words."""
    words, numbers = counts(judged).values()
    return (
        f"Of the paper's {many(sum(words.values()), 'statement')} in words, {_counted(words)}. "
        f"Of the {many(sum(numbers.values()), 'number')} and tests of its tables S1 to S3, "
        f"{_counted(numbers)}."
    )


def _counted(found: dict[str, int]) -> str:
    hold, differ = (f"{found[word]} {_several(word, found[word])}" for word in (HOLDS, DIFFERS))
    return f"{hold} here, {differ} and {found[UNCHECKED]} cannot be checked"


def notes(results: Results, chance: dict[str, float]) -> list[str]:
    """Return how to read the verdicts; ``chance`` is what `statements.by_chance` found."""
    paragraphs = [
        "Verdicts are based on fresh trials. Where the selection trials, which the paper uses, "
        "give other numbers, these are shown as well. A reason for a difference is given only if a "
        "measurement of this study supports it: the statement holds on the selection trials; the "
        "number is below the paper's and still grew at the end of evolution, which tells the "
        "direction, not that more evaluations would suffice; maps do not show that two algorithms "
        "differ; or most of the replicates agree with the paper."
    ]
    if chance:
        paragraphs.append(
            "Many statements say only who is ahead, or allow a wide range. Where the maps of a "
            "task and replicate exchange the names of their algorithms at random, "
            f"{chance['words']:.0f} of those in words and {chance['tables']:.0f} of the numbers "
            f"and tests still hold (mean of {SHUFFLES} shuffles)."
        )
    tasks = PRESETS["paper"].tasks
    if len(results.tasks) < len(tasks):
        paragraphs.append(
            f"This study has {len(results.tasks)} of the paper's {len(tasks)} tasks. Statements "
            "about all tasks are checked on these. Numbers that the paper gives over all five "
            "tasks cannot be checked."
        )
    return paragraphs


def blocks(judged: list[Judged], results: Results) -> list[Block]:
    """Return the verdicts, group by group, for a report."""
    chance = statements.by_chance(results, SHUFFLES) if len(results.algorithms) > 1 else {}
    found: list[Block] = [Text(sentence(judged)), *map(Text, notes(results, chance)), _Filter()]
    for groups in KINDS.values():
        for name, title in groups.items():
            own = [each for each in judged if each.statement.group == name]
            found.append(Heading(f"verdicts-{name}", title, _summed(own)))
            checked = [each for each in own if each.verdict != UNCHECKED]
            if checked:
                rows = _Rows(title, checked)
                found.append(Folded("Show them", rows) if groups is statements.IN_TABLES else rows)
            left = [each for each in own if each.verdict == UNCHECKED]
            if left:
                words = f"{many(len(left), 'statement')} not checkable here"
                found.append(Folded(words, _Unchecked(left)))
    return found


def strip(judged: list[Judged]) -> str:
    """Return the counts for the head of a page."""
    lines = ""
    for kind, found in counts(judged).items():
        parts = " ".join(
            f'<span class="{CLASSES[word]}"><b>{number}</b> {_several(word, number)}</span>'
            for word, number in found.items()
        )
        lines += f"<p><span>{escape(kind.capitalize())}:</span> {parts}</p>\n"
    return (
        '<div class="counts" id="counts"><p><strong>The paper\'s statements</strong>, '
        f'<a href="#section-verdicts">checked one by one</a>:</p>\n{lines}</div>\n'
    )


def _several(word: str, number: int) -> str:
    """Return a verdict as so many statements have it: "1 holds", "2 hold"."""
    short = {HOLDS: "hold", DIFFERS: "differ"}.get(word, "not checkable")
    return f"{short}s" if number == 1 and word != UNCHECKED else short


class _Filter(NamedTuple):
    """What hides the statements that hold, on a page."""

    def html(self) -> str:
        return (
            '<p class="filter"><label><input type="checkbox" id="only-differing"> Show only '
            "differences</label></p>\n"
        )

    def markdown(self) -> str:
        return ""


class _Rows(NamedTuple):
    """Statements with their verdicts, a row each."""

    title: str
    judged: list[Judged]

    def html(self) -> str:
        heads = "".join(f'<th scope="col">{head}</th>' for head in COLUMNS)
        rows = "".join(map(_html_row, self.judged))
        return (
            f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(self.title)}">'
            f'<table class="words"><thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table>'
            "</div>\n"
        )

    def markdown(self) -> str:
        lines = [markdown_row(COLUMNS), markdown_row(["---"] * len(COLUMNS))]
        for each in self.judged:
            ours = "<br>on selection trials: ".join([each.ours, *_beside(each)])
            verdict = each.verdict if each.verdict != DIFFERS else f"**{DIFFERS}**"
            cells = map(_plain, (each.statement.statement, ours, each.statement.paper))
            lines.append(markdown_row([*cells, "<br>".join([verdict, *map(_plain, each.reasons)])]))
        return "\n".join(lines)


class _Unchecked(NamedTuple):
    """Statements that this study cannot check, and why not."""

    judged: list[Judged]

    def html(self) -> str:
        items = "".join(
            f"<li>{escape(each.statement.statement)} <small>Paper: "
            f"{_numbers(each.statement.paper)}. Not checkable: {escape(each.ours)}.</small></li>\n"
            for each in self.judged
        )
        return f"<ul>\n{items}</ul>"

    def markdown(self) -> str:
        return "\n".join(
            f"- {_plain(f'{each.statement.statement} Paper: {each.statement.paper}.')} "
            f"Not checkable: {_plain(each.ours)}."
            for each in self.judged
        )


def _html_row(each: Judged) -> str:
    said = each.statement
    fine = (
        f"<small>{escape(f'{said.where}: {said.tolerance}.')}</small>"
        f"<details><summary>How</summary><small>{escape(said.how)} Reason for the tolerance: "
        f"{escape(said.why_tolerance)}.</small></details>"
    )
    ours = _numbers(each.ours) + "".join(
        f"<small>on selection trials: {_numbers(words)}</small>" for words in _beside(each)
    )
    why = "".join(f"<small>{_numbers(reason)}</small>" for reason in each.reasons)
    verdict = f'<span class="{CLASSES[each.verdict]}">{escape(each.verdict)}</span>{why}'
    return (
        f'<tr id="{escape(said.id)}" class="{CLASSES[each.verdict]}-row">'
        f"<td>{escape(said.statement)}{fine}</td>"
        f'<td data-label="This study">{ours}</td>'
        f'<td data-label="Paper">{_numbers(said.paper)}</td>'
        f'<td data-label="Verdict">{verdict}</td></tr>\n'
    )


def _beside(each: Judged) -> list[str]:
    """Return our numbers the paper's way, with their verdict where it is another."""
    if each.claimed_holds is None:
        return []
    another = each.claimed_holds != (each.verdict == HOLDS)
    same_words = each.claimed == each.ours
    if same_words and not another:
        return []
    return [f"{each.claimed} ({_verdict_of(each.claimed_holds)})" if another else each.claimed]


def _verdict_of(holds: bool | None) -> str:
    return "" if holds is None else HOLDS if holds else DIFFERS


def _summed(judged: list[Judged]) -> str:
    found = statements.count(judged)
    return ", ".join(
        f"{number} {_several(word, number)}" for word, number in found.items() if number
    )


def _numbers(text: str) -> str:
    """Return text with true minus signs, and with no line break between a name and its number."""
    return minus(re.sub(r" (?=-?\d)", NO_BREAK, escape(text)))


def _plain(text: str) -> str:
    """Return text that stands as it is in a cell of a Markdown table."""
    return minus(text).replace("|", r"\|").replace("*", r"\*")
