"""The paper's statements with their verdicts, as a table, a page and Markdown."""

from __future__ import annotations

import re
from html import escape

import pandas as pd

from qed.paper.statements import DIFFERS, HOLDS, IN_TABLES, IN_WORDS, UNCHECKED, Judged, count
from qed.study.plan import PRESETS
from qed.study.results import Results
from qed.study.words import many

MINUS, NO_BREAK = "\N{MINUS SIGN}", "\N{NO-BREAK SPACE}"
KINDS = {"in words": IN_WORDS, "numbers and tests of its tables": IN_TABLES}
CLASSES = {HOLDS: "same", DIFFERS: "differs", UNCHECKED: "unchecked"}


def frame(judged: list[Judged]) -> pd.DataFrame:
    """Return all that is known of the statements, one row each."""
    return pd.DataFrame(
        {
            "id": each.statement.id,
            "group": each.statement.group,
            "where": each.statement.where,
            "statement": each.statement.statement,
            "how": each.statement.how,
            "tolerance": each.statement.tolerance,
            "why_tolerance": each.statement.why_tolerance,
            "paper": each.statement.paper,
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
        kind: count([each for each in judged if each.statement.group in groups])
        for kind, groups in KINDS.items()
    }


def sentence(judged: list[Judged]) -> str:
    """Return the counts in words."""
    words, numbers = counts(judged).values()
    return (
        f"Of the paper's {many(sum(words.values()), 'statement')} in words, {_told(words)}. "
        f"Of the {many(sum(numbers.values()), 'number')} and tests of its tables S1 to S3, "
        f"{_told(numbers)}."
    )


def _told(found: dict[str, int]) -> str:
    hold, differ = (f"{found[word]} {_several(word, found[word])}" for word in (HOLDS, DIFFERS))
    return f"{hold} here, {differ} and {found[UNCHECKED]} cannot be checked"


def notes(results: Results) -> list[str]:
    """Return how to read the verdicts."""
    told = [
        "Verdicts are based on fresh trials. Where the selection trials, which the paper uses, "
        "give other numbers, these are shown as well. A reason for a difference is given only if a "
        "measurement of this study supports it: the statement holds on the selection trials; the "
        "number is below the paper's and still grew at the end of evolution; a test finds no "
        "significant difference between two algorithms; or single replicates agree with the paper."
    ]
    tasks = PRESETS["paper"].tasks
    if len(results.tasks) < len(tasks):
        told.append(
            f"This study has {len(results.tasks)} of the paper's {len(tasks)} tasks. Statements "
            "about all tasks are checked on these. Numbers that the paper gives over all five "
            "tasks cannot be checked."
        )
    return told


def html(judged: list[Judged], results: Results) -> str:
    """Return the verdicts for a page."""
    parts = [f"<p>{escape(sentence(judged))}</p>\n"]
    parts += [f"<p>{escape(note)}</p>\n" for note in notes(results)]
    parts.append(
        '<p class="filter"><label><input type="checkbox" id="only-differing"> Show only '
        "differences</label></p>\n"
    )
    parts += [_html_group(*each) for each in _groups(judged)]
    return "".join(parts)


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


def _groups(judged: list[Judged]) -> list[tuple[str, str, bool, list[Judged]]]:
    """Return name, title, whether it is folded, and the statements of each group."""
    return [
        (name, title, groups is IN_TABLES, [j for j in judged if j.statement.group == name])
        for groups in KINDS.values()
        for name, title in groups.items()
    ]


def _html_group(name: str, title: str, folded: bool, judged: list[Judged]) -> str:
    checked = [each for each in judged if each.verdict != UNCHECKED]
    heading = f"{escape(title)} <small>{_summed(judged)}</small>"
    table = _html_table(title, checked) if checked else ""
    if folded and checked:
        table = f"<details><summary>Show them</summary>{table}</details>\n"
    left = [each for each in judged if each.verdict == UNCHECKED]
    if left:
        items = "".join(
            f"<li>{escape(each.statement.statement)} <small>Paper: "
            f"{_numbers(each.statement.paper)}. Not checkable: {escape(each.ours)}.</small></li>\n"
            for each in left
        )
        shown = f"{many(len(left), 'statement')} not checkable here"
        table += f"<details><summary>{shown}</summary><ul>\n{items}</ul></details>\n"
    return f'<h3 id="verdicts-{escape(name)}">{heading}</h3>\n{table}'


def _html_table(title: str, judged: list[Judged]) -> str:
    rows = "".join(_html_row(each) for each in judged)
    heads = "".join(
        f'<th scope="col">{head}</th>' for head in ("Statement", "This study", "Paper", "Verdict")
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(title)}">'
        f'<table class="words"><thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table>'
        "</div>\n"
    )


def _html_row(each: Judged) -> str:
    said = each.statement
    fine = f"<small>{escape(_fine(each))}</small>" + (
        f"<details><summary>How</summary><small>{escape(said.how)} Reason for the tolerance: "
        f"{escape(said.why_tolerance)}.</small></details>"
    )
    ours = _numbers(each.ours) + "".join(
        f"<small>on selection trials: {_numbers(told)}</small>" for told in _beside(each)
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


def _fine(each: Judged) -> str:
    """Return where the paper makes a statement, and what counts as holding."""
    return f"{each.statement.where}: {each.statement.tolerance}."


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
    found = count(judged)
    return ", ".join(
        f"{number} {_several(word, number)}" for word, number in found.items() if number
    )


def _numbers(text: str) -> str:
    """Return text with true minus signs, and with no line break between a name and its number."""
    return minus(re.sub(r" (?=-?\d)", NO_BREAK, escape(text)))


def minus(text: str) -> str:
    """Return text with true minus signs before numbers."""
    return re.sub(r"(?<![\w-])-(?=\d)", MINUS, text)


def markdown(judged: list[Judged], results: Results) -> str:
    """Return the verdicts as Markdown."""
    lines = [sentence(judged), ""]
    for note in notes(results):
        lines += [note, ""]
    for _, title, folded, each in _groups(judged):
        lines += [f"### {title}", "", f"{_summed(each)}.", ""]
        table = _markdown_table(each)
        if folded:
            table = ["<details><summary>Show them</summary>", "", *table, "", "</details>"]
        lines += [*table, ""]
    return "\n".join(lines)


def _markdown_table(judged: list[Judged]) -> list[str]:
    lines = ["| Statement | This study | Paper | Verdict |", "| --- | --- | --- | --- |"]
    for each in judged:
        ours = each.ours + "".join(f"<br>on selection trials: {told}" for told in _beside(each))
        verdict = each.verdict if each.verdict != DIFFERS else f"**{DIFFERS}**"
        why = "".join(f"<br>{_plain(reason)}" for reason in each.reasons)
        cells = (each.statement.statement, ours, each.statement.paper)
        if each.verdict == UNCHECKED:
            cells, why = (
                (each.statement.statement, "", each.statement.paper),
                f": {_plain(each.ours)}",
            )
        lines.append(f"| {' | '.join(map(_plain, cells))} | {verdict}{why} |")
    return lines


def _plain(text: str) -> str:
    """Return text that stands as it is in a cell of a Markdown table."""
    return minus(text).replace("|", r"\|").replace("*", r"\*")
