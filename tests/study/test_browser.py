"""The report in a real browser: it loads whole, without an error, and fits a phone."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import made_up
import pytest
from browser import Browser

from qed.study import report
from qed.study.figures import FIGURES, draw
from qed.study.plan import PRESETS
from qed.study.report import tables


@pytest.fixture(scope="module")
def results() -> Any:
    plan = PRESETS["laptop"].changed(faults=4)  # all tasks and algorithms
    failed = ["flocking-qed-1: evolution: " + "no-space-to-break-this-line" * 8]
    return replace(made_up.results(plan), failures=failed)


@pytest.fixture(scope="module")
def page(results: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "draw", partial(draw, pdf=False))  # a page shows none
        return report.write(tmp_path_factory.mktemp("study"), results)


def test_the_page_loads_whole_and_without_complaint(
    browser: Browser, page: Path, results: Any
) -> None:
    browser.open(page, 1200)
    assert browser.complaints() == []
    images = browser.evaluate("[...document.images].map(i => [i.complete, i.naturalWidth])")
    assert len(images) == len(FIGURES)
    assert all(complete and width >= 500 for complete, width in images)
    loaded = browser.evaluate("performance.getEntriesByType('resource').map(r => r.name)")
    assert [name for name in loaded if not name.startswith("data:")] == []
    for table in tables(results):
        rows = f"document.querySelectorAll('#{table.name} tbody tr').length"
        assert browser.evaluate(rows) == len(table.frame)
        shown = browser.evaluate(f"document.querySelector('#{table.name} table').innerText")
        assert str(results.algorithms[1].upper()) in shown or (
            table.name in ("fault-kinds", "recovery-cells")
        )


@pytest.mark.parametrize("width", [360, 768, 1200])
def test_the_page_never_scrolls_sideways(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width)
    assert browser.evaluate("window.innerWidth") == width
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    # All links within the page lead somewhere.
    dead = "[...document.querySelectorAll('a[href^=\"#\"]')].filter(" \
           "a => !document.getElementById(a.getAttribute('href').slice(1))).length"  # fmt: skip
    assert browser.evaluate(dead) == 0


@pytest.mark.parametrize("width", [360, 1200])
def test_what_holds_can_be_hidden(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width)
    shown = "[...document.querySelectorAll('.%s-row')].filter(r => r.checkVisibility()).length"
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    before = {kind: browser.evaluate(shown % kind) for kind in ("same", "differs")}
    assert min(before.values()) > 5
    browser.evaluate("document.getElementById('only-differing').click()")
    assert browser.evaluate(shown % "same") == 0
    assert browser.evaluate(shown % "differs") == before["differs"]
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_is_dark_where_that_is_wanted(browser: Browser, page: Path) -> None:
    browser.open(page, 1200)
    colour = "getComputedStyle(document.body).backgroundColor"
    assert browser.evaluate(colour) == "rgb(255, 255, 255)"
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    browser.ask("Emulation.setEmulatedMedia", features=[dark])
    assert browser.evaluate(colour) == "rgb(20, 25, 27)"
    ink = "getComputedStyle(document.querySelector('.differs')).color"
    assert browser.evaluate(ink) == "rgb(255, 157, 82)"


def test_statements_are_cards_on_a_phone(browser: Browser, page: Path) -> None:
    browser.open(page, 360)
    rows = "[...document.querySelectorAll('.words')].map(t => t.scrollWidth)"
    assert max(browser.evaluate(rows)) <= 360
    label = "getComputedStyle(document.querySelector('.words td[data-label]'), '::before').content"
    assert browser.evaluate(label) != "none"
    browser.open(page, 1200)
    assert browser.evaluate(label) == "none"


def test_a_wide_table_scrolls_within_the_page_on_a_phone(browser: Browser, page: Path) -> None:
    browser.open(page, 360)
    sizes = browser.evaluate(
        "[...document.querySelectorAll('.scroll')].map(d => [d.clientWidth, d.scrollWidth])"
    )
    assert any(inside > shown for shown, inside in sizes)
    assert all(shown <= 360 for shown, _ in sizes)


def test_the_browser_tells_of_errors_and_of_pages_too_wide(
    browser: Browser, tmp_path: Path
) -> None:
    """Otherwise the tests above could not fail."""
    bad = tmp_path / "bad.html"
    bad.write_text(
        '<meta name="viewport" content="width=device-width, initial-scale=1, minimum-scale=1">'
        '<img src="gone.png"><div style="width: 900px">x</div><script>nothing.at.all</script>'
    )
    browser.open(bad, 360)
    kinds = {complaint["method"] for complaint in browser.complaints()}
    assert kinds == {"Runtime.exceptionThrown", "Log.entryAdded"}
    assert browser.evaluate("document.images[0].naturalWidth") == 0
    assert browser.evaluate("document.documentElement.scrollWidth") >= 900
