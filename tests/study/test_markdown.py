"""A study as Markdown: whole tables, files that are there, numbers of the study's tables."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import made_up
import pandas as pd
import publish_study
import pytest

from qed.errors import InputError
from qed.paper import verdicts
from qed.paper.statements import judged
from qed.paper.verdicts import sentence
from qed.study import figures
from qed.study.figures import FIGURES
from qed.study.report import publish, tables
from qed.study.results import Results

RESULTS = made_up.results()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    return publish(folder / "no-such-study", folder, RESULTS)


def test_all_that_is_linked_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > len(FIGURES) + 8
    assert all((page.parent / link).is_file() for link in links)
    assert {path.suffix for path in (page.parent / "study").iterdir()} == {
        ".csv",
        ".png",
        ".toml",
    }
    assert sum(path.stat().st_size for path in (page.parent / "study").iterdir()) < 3e6
    for chart in FIGURES:
        assert f"![{chart.title}](study/{chart.name}.png)" in text


def test_what_was_published_is_published_again(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "FIGURES", FIGURES[:1])  # all are drawn elsewhere
    monkeypatch.setattr(verdicts, "SHUFFLES", 1)
    again = publish(page.parent / "study", tmp_path)  # of numbers with seven digits
    text = again.read_text(encoding="utf-8")
    assert publish(tmp_path / "study", tmp_path).read_text(encoding="utf-8") == text
    (tmp_path / "study" / "progress.csv").unlink()
    without = publish(tmp_path / "study", tmp_path).read_text(encoding="utf-8")
    assert "progress.csv was not kept" in without
    assert "Cells filled during evolution" not in without
    assert "Growth of best" not in without
    (tmp_path / "study" / "runs.csv").unlink()
    with pytest.raises(InputError, match="holds no finished study"):
        publish(tmp_path / "study", tmp_path)


def test_every_row_of_a_table_has_all_its_cells(page: Path) -> None:
    blocks = re.findall(r"(?:^\|.*\|\n)+", page.read_text(encoding="utf-8"), re.M)
    assert len(blocks) > 15
    for block in blocks:
        rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in block.splitlines()]
        assert {len(row) for row in rows} == {len(rows[0])}, block
        assert set(rows[1]) == {" --- "}


def test_tables_and_verdicts_are_those_of_the_study(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for table in tables(RESULTS):
        assert table.markdown().strip() in text
        assert (page.parent / "study" / f"{table.name}.csv").read_text() == table.csv()
    assert sentence(judged(RESULTS)) in text
    found = pd.read_csv(page.parent / "study" / "statements.csv")
    assert len(found) > 300
    raw = pd.read_csv(page.parent / "study" / "recoveries.csv")
    assert raw["impact"].to_numpy() == pytest.approx(RESULTS.recoveries["impact"].to_numpy(), 1e-5)


def test_stars_stay_stars() -> None:
    [row] = [line for line in _stars().splitlines() if "0.77" in line]
    assert "&ast;&ast;" in row
    assert "**0.77** large" in row


def _stars() -> str:
    from qed.paper.tables import effects, significance
    from qed.study.blocks import Key, Table

    frame = pd.DataFrame(
        [{"task": "flocking", "p": 1e-9, "stars": "**", "paper_p_at_most": 0.3, "paper_stars": "",
          "delta": 0.77, "effect": "large", "paper_delta": -0.2, "paper_effect": "not large"}]
    )  # fmt: skip
    made = Table("t", "T", "* marks it.", frame, (Key("Task", "task"),),
                 (significance("p"), effects("Effect")))  # fmt: skip
    assert r"\* marks it." in made.markdown()
    return made.markdown()


def test_the_script_publishes_a_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Results, "load", classmethod(lambda _, folder: RESULTS))
    monkeypatch.setattr(figures, "FIGURES", FIGURES[:1])  # all are drawn above
    monkeypatch.setattr(sys, "argv", ["publish_study.py", str(tmp_path / "a"), str(tmp_path / "b")])
    publish_study.main()
    assert (tmp_path / "b" / "study.md").is_file()
    assert "MB beside it" in capsys.readouterr().out
