"""A study as a Markdown page for a repository: tables, figures and verdicts, with their files."""

from __future__ import annotations

import shutil
from pathlib import Path

from qed.files import write as write_whole
from qed.paper import verdicts
from qed.paper.statements import judged
from qed.study import beyond_report, selection_bias
from qed.study.figures import DPI, draw
from qed.study.paths import FIGURES
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

STUDY = "study"  # name of the page, and of the folder beside it
RAW = ("runs", "recoveries")  # progress.csv is long, and only figures need it


def write(study: Path, target: Path, results: Results | None = None, name: str = STUDY) -> Path:
    """Write a finished study's page into a folder, its CSV files and figures beside it.

    ``study`` is the study's folder, ``target`` gets NAME.md and a folder NAME/; returns the page.
    """
    results = results or Results.load(study)
    beside = target / name
    beside.mkdir(parents=True, exist_ok=True)
    made, found = tables(results), judged(results)
    for table in made:
        write_whole(beside / f"{table.name}.csv", table.csv())
    write_whole(
        beside / "statements.csv", verdicts.frame(found).to_csv(index=False, lineterminator="\n")
    )
    for raw in RAW:
        frame = getattr(results, raw)
        write_whole(
            beside / f"{raw}.csv",
            frame.to_csv(index=False, lineterminator="\n", float_format="%.7g"),
        )
    drawn = draw(results, beside, dpi=DPI // 2, pdf=False)
    for each in drawn:
        shutil.move(each.png, beside / each.png.name)
    (beside / FIGURES).rmdir()
    told = sentences(results, {table.name: table.frame for table in made})
    parts = [
        f"# A study: {len(results.runs)} maps, {len(results.recoveries):,} recoveries",
        "\n\n".join(told),
        "## Scale",
        _scale(results),
        "## The paper's statements, checked",
        verdicts.markdown(found, results),
        "## Selection bias in recovery",
        "\n".join(f"- {text}" for text in selection_bias.sentences(results)) or "Not measured.",
        *_beyond(results),
        "## Tables",
        *(f"{table.markdown()}\n[CSV]({name}/{table.name}.csv)" for table in made),
        "## Figures",
        *(
            f"![{each.title}]({name}/{each.png.name})\n\n"
            f"**Figure {number}. {each.title}.** {each.caption}"
            for number, each in enumerate(drawn, 1)
        ),
        "## Files",
        _files(name),
    ]
    page = target / f"{name}.md"
    write_whole(page, "\n\n".join(part.strip("\n") for part in parts) + "\n")
    return page


def _beyond(results: Results) -> list[str]:
    told = beyond_report.sentences(results)
    title = "## Beyond the paper: few trials, playbooks, teams"
    return [title, "\n\n".join(told)] if told else []


def _scale(results: Results) -> str:
    settings = results.settings
    told = (
        scale_sentence(settings),
        protocol_sentence(settings),
        *race_sentences(settings),
        cells_sentence(results),
    )
    rows = [f"| {size.what} | {size.ours} | {size.theirs} |" for size in scale(settings)]
    table = "\n".join(["| | this study | paper |", "| --- | --- | --- |", *rows])
    return "\n\n".join([*(text for text in told if text), table])


def _files(beside: str) -> str:
    raw = ", ".join(f"[{name}.csv]({beside}/{name}.csv)" for name in RAW)
    left = ", ".join(f"{name}.csv" for name in TABLES if name not in RAW)
    return (
        f"All numbers are computed from {raw} and the study's {left}. "
        f"[statements.csv]({beside}/statements.csv) has, for each statement, how it was measured, "
        "both numbers, the tolerance and the verdict. `benchmarks/publish_study.py` wrote this "
        "page."
    )
