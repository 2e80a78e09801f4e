"""Verdicts as a reader sees them: counts, both ways of measuring, reasons, escaped."""

from __future__ import annotations

from dataclasses import replace

import made_up
import pytest

from qed.paper import verdicts
from qed.paper.statements import DIFFERS, HOLDS, STATEMENTS, UNCHECKED, Judged
from qed.study.results import Results

RESULTS = made_up.results()
COVERAGE = next(s for s in STATEMENTS if s.id == "coverage-qed")
NUMBER = next(s for s in STATEMENTS if s.group == "table-s1")


def html(judged: list[Judged], results: Results) -> str:
    return "".join(block.html() for block in verdicts.blocks(judged, results))


def markdown(judged: list[Judged], results: Results) -> str:
    return "\n".join(block.markdown() for block in verdicts.blocks(judged, results))


def told(**given: object) -> Judged:
    return Judged(**{"statement": COVERAGE, "verdict": HOLDS, "ours": "4,000", **given})  # type: ignore[arg-type]


def test_counts_are_apart_for_words_and_tables() -> None:
    judged = [told(), told(verdict=DIFFERS), told(statement=NUMBER, verdict=UNCHECKED)]
    words, numbers = verdicts.counts(judged).values()
    assert words == {HOLDS: 1, DIFFERS: 1, UNCHECKED: 0}
    assert numbers == {HOLDS: 0, DIFFERS: 0, UNCHECKED: 1}
    assert verdicts.sentence(judged) == (
        "Of the paper's 2 statements in words, 1 holds here, 1 differs and 0 cannot be checked. "
        "Of the 1 number and tests of its tables S1 to S3, 0 hold here, 0 differ and 1 cannot be "
        "checked."
    )
    assert "<b>1</b> holds" in verdicts.strip(judged)


@pytest.mark.parametrize(
    ("claimed", "holds", "shown"),
    [
        ("4,000", None, ""),
        ("3,900", True, "on selection trials: 3,900<"),
        ("3,000", False, "on selection trials: 3,000 (differs)<"),
    ],
)
def test_the_papers_way_stands_beside_where_it_reads_differently(
    claimed: str, holds: bool | None, shown: str
) -> None:
    page = html([told(claimed=claimed, claimed_holds=holds)], RESULTS)
    page = page.replace("\N{NO-BREAK SPACE}", " ")
    assert ("<small>on selection trials" in page) == bool(shown)
    assert shown in page


def test_reasons_and_words_are_escaped_and_minus_signs_true() -> None:
    odd = replace(COVERAGE, statement="<b>odd</b> & more.", paper="-0.12 to x-2")
    judged = [told(statement=odd, verdict=DIFFERS, reasons=("p<0.05 | *",))]
    page = html(judged, RESULTS)
    assert "&lt;b&gt;odd&lt;/b&gt; &amp; more." in page
    assert "p&lt;0.05" in page
    assert "\N{MINUS SIGN}0.12" in page
    assert "x-2" in page
    text = markdown(judged, RESULTS)
    assert r"p<0.05 \| \*" in text
    assert "**differs**" in text


def test_the_table_has_all_that_is_known() -> None:
    judged = [told(verdict=DIFFERS, agreeing=(1, 3), reasons=("One.", "Two."), claimed="3",
                   claimed_holds=True)]  # fmt: skip
    [row] = verdicts.frame(judged).to_dict("records")
    assert row["id"] == "coverage-qed"
    assert (row["paper"], row["ours"], row["verdict"]) == ("4,094", "4,000", DIFFERS)
    assert (row["the_papers_way"], row["verdict_the_papers_way"]) == ("3", HOLDS)
    assert (row["replicates_agreeing"], row["reasons"]) == ("1 of 3", "One. Two.")
    assert row["tolerance"] == "within a tenth"
    assert row["why_tolerance"]
