"""The report: one page, whole by itself, that says what the numbers say."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import made_up
import numpy as np
import pandas as pd
import pytest

from qed.archive.archive import Archive
from qed.archive.grid import Grid
from qed.controller.variation import random_genomes
from qed.study import figures, report, summary
from qed.study.blocks import Picture
from qed.study.figures import DPI, FIGURES
from qed.study.plan import PRESETS, Name
from qed.study.report import tables
from qed.study.results import Results
from qed.text import toml

EVIL = 'patrolling-qed-1: evolution: <script>alert("1 & 2")</script>'


class Page(HTMLParser):
    """A page's elements and text; it complains where elements do not close in order."""

    EMPTY = ("meta", "link", "img", "br", "input")

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(path.read_text(encoding="utf-8"))
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def ids(self) -> list[str]:
        return [attributes["id"] for _, attributes in self.tags if "id" in attributes]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Picture]]:
    """A study's folder with a map, a broken map, and a failure; the figures of its report."""
    found = tmp_path_factory.mktemp("study")
    archive = Archive(Grid((16, 16, 16)), header={"settings": {"task": "x", "algorithm": "hbd"}})
    archive.add(
        random_genomes(np.arange(9)), np.arange(9) / 10, np.random.default_rng(1).random((9, 3))
    )
    for algorithm in ("hbd", "sdbc"):
        (found / "runs" / f"dispersion-{algorithm}-1").mkdir(parents=True)
    archive.save(found / "runs/dispersion-hbd-1/archive.npz")
    (found / "runs/dispersion-sdbc-1/archive.npz").write_bytes(b"not an archive")
    drawn: list[Picture] = []

    def draw(*given: Any) -> list[Picture]:
        drawn.extend(figures.draw(*given))
        return drawn

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "draw", draw)
        report.write(found, replace(made_up.results(), failures=[EVIL]))
    return found, drawn


@pytest.fixture(scope="module")
def folder(written: tuple[Path, list[Picture]]) -> Path:
    return written[0]


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return Page(folder / "report.html")


def test_the_page_is_whole_by_itself(folder: Path, page: Page) -> None:
    images = page.all("img")
    assert len(images) == len(FIGURES) + 1  # and one map
    for image in images:
        kind, _, data = image["src"].partition(",")
        assert kind == "data:image/png;base64"
        assert base64.b64decode(data, validate=True).startswith(b"\x89PNG\r\n\x1a\n")
        assert len(image["alt"]) > 20
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "http:" not in text
    assert "https:" not in text
    assert not re.search(r"@import|url\(|<script|<iframe|srcset", text)
    assert len(text) < 6e6
    for link in page.all("a"):  # to its own parts, or to files beside it
        target = link["href"]
        if target.startswith("#"):
            assert target[1:] in page.ids
        elif target not in ("study.toml", *(f"tables/{name}.csv" for name in
                            ("runs", "recoveries", "progress", "beyond"))):  # fmt: skip
            assert (folder / target).is_file()
    assert {link["href"] for link in page.all("link")} == {"data:,"}
    assert len(set(page.ids)) == len(page.ids)


def test_the_page_suits_readers_and_phones(page: Page) -> None:
    assert page.all("html") == [{"lang": "en"}]
    assert page.all("meta")[1]["content"] == "width=device-width, initial-scale=1"
    assert all(tag != "script" for tag, _ in page.tags)
    assert len(page.all("table")) == sum(
        "scroll" in d.get("class", "") for d in page.all("div")
    ) - (len(FIGURES) + 1)


def test_all_tables_and_figures_are_there(folder: Path, page: Page) -> None:
    for table in tables(made_up.results()):
        assert table.name in page.ids
        assert table.title in page.text
        assert (folder / "tables" / f"{table.name}.csv").read_text() == table.csv()
    for number, chart in enumerate(FIGURES, 1):
        assert f"Figure {number}. {chart.title}." in page.text
        assert (folder / "figures" / f"{chart.name}.pdf").exists()
    assert not list(folder.rglob("*.new"))


def test_all_figures_are_written(written: tuple[Path, list[Picture]]) -> None:
    folder, drawn = written
    assert [each.name for each in drawn] == [chart.name for chart in FIGURES]
    for each in drawn:
        assert each.path.parent == folder / "figures"
        assert int.from_bytes(each.path.read_bytes()[16:20]) == pytest.approx(
            each.width * DPI, abs=1
        )
        assert each.path.with_suffix(".pdf").read_bytes().startswith(b"%PDF")
        assert "{" not in each.caption
    assert DPI >= 150
    captions = {each.name: each.caption for each in drawn}
    assert "24 maps in all" in captions["coverage"]
    assert "192 recoveries in all" in captions["impact-resilience"]
    # 3 tasks with 8 faults for each of 2 replicates
    assert "192 recoveries from 48 pairs" in captions["fault-kinds"]


def test_maps_are_shown_where_there_are_any(folder: Path, page: Page) -> None:
    assert "HBD, dispersion, replicate 1." in page.text
    assert "The map of dispersion-sdbc-1 is not shown: " in page.text
    assert (folder / "figures/map-hbd.png").exists()
    assert "QED, dispersion, replicate 1." not in page.text


def test_failures_are_shown_and_escaped(page: Page) -> None:
    assert "1 part of this study failed" in page.text
    assert EVIL in page.text  # as text, for test_the_page_is_whole finds no script


def test_without_a_finished_run_the_page_says_so(tmp_path: Path) -> None:
    results = made_up.results()
    empty = Results(
        results.settings, results.runs.iloc[:0], results.recoveries.iloc[:0],
        results.progress.iloc[:0], ["all-of-them-1: no space left"],
    )  # fmt: skip
    page = Page(report.write(tmp_path, empty))
    assert "No run of this study has finished" in page.text
    assert "no space left" in page.text
    assert not page.all("img")


def test_the_report_of_a_folder_is_that_of_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "FIGURES", FIGURES[:1])  # all are drawn above
    results = made_up.results(PRESETS["quick"].changed(tasks=("flocking",), replicates=1))
    (tmp_path / "tables").mkdir()
    for name in ("runs", "recoveries", "progress"):
        getattr(results, name).to_csv(tmp_path / "tables" / f"{name}.csv", index=False)
    results.settings["preset"] = "<img src=x>"
    (tmp_path / "study.toml").write_text(toml({"study": results.settings}))
    (tmp_path / "failures.txt").write_text("a run: its reason\n")
    page = Page(report.write(tmp_path))
    assert "4 maps were evolved, on 1 task (flocking)" in page.text
    assert "a run: its reason" in page.text
    assert "Preset <img src=x>." in page.text  # escaped, or it would not be text


def test_tables_of_before_the_new_names_load(tmp_path: Path) -> None:
    results = made_up.results(PRESETS["quick"].changed(tasks=("flocking",), replicates=1))
    former = {"filled": "coverage", "projected_filled": "projected_coverage"}
    (tmp_path / "tables").mkdir()
    for name in ("runs", "recoveries", "progress"):
        table = getattr(results, name).rename(columns=former)
        table = table.rename(columns=lambda column: column.replace("relative_", ""))
        assert list(table) != list(getattr(results, name))
        table.to_csv(tmp_path / "tables" / f"{name}.csv", index=False)
    (tmp_path / "study.toml").write_text(toml({"study": results.settings}))
    loaded = Results.load(tmp_path)
    for name in ("runs", "recoveries", "progress"):
        assert list(getattr(loaded, name)) == list(getattr(results, name))


def study(
    impact: dict[str, float], resilience: dict[str, float], coverage: dict[str, int], **changes: Any
) -> Results:
    """Return results where all faults of an algorithm end alike, up to a hundredth."""
    plan = PRESETS["paper"].changed(tasks=("dispersion",), algorithms=tuple(impact), **changes)
    runs, recoveries = [], []
    for algorithm in impact:
        name = Name("dispersion", algorithm, 1)
        best = 0.5 if algorithm == "qed" else 0.9
        runs.append(
            made_up.run(
                name, best, 0.5, 1.0, filled=coverage[algorithm], projected_filled=40,
                diversity=0.16, solution_diversity=0.61,
            )
        )  # fmt: skip
        for k, off in enumerate((-0.01, 0.0, 0.01)):
            recoveries.append(
                made_up.recovery(
                    name, k, ("PMIN", "LW-H", *("NONE",) * 8), best, impact[algorithm] + off,
                    resilience[algorithm] + off / 2, 1.0, distance=0.5 - off, normal_cell=0,
                    recovery_cell=0,
                )
            )  # fmt: skip
    return replace(
        made_up.results(plan), runs=pd.DataFrame(runs), recoveries=pd.DataFrame(recoveries)
    )


LIKE_PAPER = study(
    {"qed": -0.23, "hbd": -0.25}, {"qed": -0.08, "hbd": -0.12}, {"qed": 4000, "hbd": 1000}
)


def told(results: Results) -> str:
    return " ".join(summary.sentences(results, {t.name: t.frame for t in tables(results)}))


def test_the_summary_says_what_the_numbers_say() -> None:
    text = told(LIKE_PAPER)
    assert "2 maps were evolved, on 1 task (dispersion) with 2 algorithms (QED and HBD)." in text
    assert "6 recoveries were measured" in text
    assert (
        "Faults reduce performance by a median of 24%; after recovery the median loss is 8% (QED) "
        "to 12% (HBD)." in text
    )
    assert "mean resilience, less that of the others: 0.040 (HBD)" in text
    assert "By task, QED has the highest mean resilience in 1 of 1 (dispersion" in text
    assert "By the sign of that delta QED is more resilient in 1 of 1 comparison (" in text
    assert "4,000 with QED (paper: 4,094) and 1,000 with HBD (paper: 1,091)." in text


def test_the_summary_does_not_flatter_qed() -> None:
    results = study(
        {"qed": -0.3, "hbd": -0.3, "sdbc": -0.2}, {"qed": -0.2, "hbd": -0.1, "sdbc": -0.15},
        {"qed": 10, "hbd": 20, "sdbc": 30},
    )  # fmt: skip
    text = told(results)
    assert "the median loss is 10% (HBD) to 20% (QED)." in text
    assert "less that of the others: -0.100 (HBD) and -0.050 (SDBC)" in text
    assert "QED has the highest mean resilience in 0 of 1. " in text
    assert "in 0 of 2 comparisons (0 significant) and less in 2" in text


def test_the_scale_comes_before_all_verdicts(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert text.index("robot-steps (1/") < text.index('class="counts"')


def test_nothing_is_minus_zero() -> None:
    text = told(study({"qed": -0.001}, {"qed": -0.002}, {"qed": 1}))
    assert "by a median of 0%; after recovery the median loss is 0% (QED)." in text
    text = told(study({"qed": -0.001}, {"qed": 0.001, "hbd": -0.001}, {"qed": 1, "hbd": 1}))
    assert "by a median of +0%; after recovery the median change is +0% (QED)" in text


def test_gains_and_lone_algorithms_are_told_too() -> None:
    gain = study({"qed": -0.1, "hbd": -0.1}, {"qed": 0.02, "hbd": -0.05}, {"qed": 1, "hbd": 1})
    assert (
        "by a median of -10%; after recovery the median change is +2% (QED) to -5% (HBD)."
        in told(gain)
    )
    lone = study({"hbd": -0.1}, {"hbd": -0.05}, {"hbd": 1})
    assert "by a median of 10%; after recovery the median loss is 5% (HBD)." in told(lone)
    bare = replace(lone, recoveries=lone.recoveries.iloc[:0])
    assert "No recovery was measured." in told(bare)


def test_the_scale_is_told_beside_the_papers() -> None:
    settings = made_up.results().settings
    table = summary.scale_table(settings)
    rows = {row["what"]: (row["ours"], row["paper"]) for row in table.frame.to_dict("records")}
    assert rows["evaluations per map"] == ("5,000", "2,402,000")
    assert rows["seconds per trial"] == ("100", "400")
    assert rows["tasks"] == ("3", "5")
    of_a_map, of_all = summary.times_smaller(settings)
    assert of_a_map == pytest.approx(2_402_000 / 5_000 * 50 / 3 * 4)
    assert of_all == pytest.approx(of_a_map * 100 / 24)
    assert (
        "about 1/130,000 of the paper's robot-steps (1/32,000 per map)"
        in summary.scale_sentence(settings)
    )
    whole = made_up.results(PRESETS["paper"].changed(faults=1)).settings
    assert "at least as many robot-steps" in summary.scale_sentence(whole)


def test_the_page_counts_what_holds_and_tells_each_statement(folder: Path, page: Page) -> None:
    table = pd.read_csv(folder / "tables/statements.csv", keep_default_na=False)
    assert set(table["id"]) <= set(page.ids) | set(
        table.loc[table["verdict"] == "not checkable here", "id"]
    )
    words = table[~table["group"].str.startswith("table-")]
    held = (words["verdict"] == "holds").sum()
    assert f"Of the paper's {len(words)} statements in words, {held} hold here" in page.text
    assert f"{held} hold " in page.text
    for _, row in table.iterrows():
        assert row["statement"] in page.text
    assert "This study has 3 of the paper's 5 tasks" in page.text
    assert "Show only differences" in page.text


def test_the_report_tells_of_races() -> None:
    results = made_up.results(PRESETS["quick"].changed(tasks=("flocking",), replicates=1))
    raced = replace(results, settings={**results.settings, "race": True})
    told = summary.race_sentence(raced.settings)
    assert "three standard errors behind the incumbent" in told
    assert told in [getattr(block, "words", "") for block in summary.scale(raced)]
    assert not any("raced" in block.html() for block in summary.scale(results))


def test_the_page_says_how_it_measured(page: Page) -> None:
    assert "on trials independent of those of evolution. The selected solution" in page.text
    results = made_up.results(PRESETS["quick"].changed(tasks=("flocking",), replicates=1))
    authors = {**results.settings, "protocol": "authors", "fresh": 1}
    told = summary.protocol_sentence(authors)
    assert "with the seed of evolution, as in the authors' scripts" in told
    assert "on 1 fresh trial, not used for selection" in told
    told = summary.cells_sentence(results)
    assert told.startswith("Cells of the maps. QED: 4,096 cells, each an environment; HBD: ")
    assert "of 100,000 seed points (paper: 1,000,000)" in told
    assert told in page.text


def test_the_page_says_how_much_of_recovery_is_selection_bias(page: Page) -> None:
    assert "QED: recovery gains a median of" in page.text
    assert "section-selection-bias" in page.ids
    assert "figure-selection-bias" in page.ids
