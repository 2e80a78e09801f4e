"""One baseline: after a recovery words, table and pictures are of the same controllers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from browser import Browser
from paging import cell_at, click, opened, value
from serving import Served

import qed

FLOCKING = "ROFS,PMAX,RW-H,NONE,PMIN,RW-H,PMIN,NONE,PRAND,PMIN"


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    found = Served("example:patrolling", "example:flocking")
    yield found
    found.close()


def table(browser: Browser) -> list[dict[str, Any]]:
    """Return the rows of the table of a recovery."""
    rows: list[dict[str, Any]] = json.loads(
        browser.evaluate(
            "JSON.stringify([...document.querySelectorAll('#numbers tr')].map((row) => ({"
            "name: row.querySelector('button').textContent, "
            "roles: row.querySelector('small').textContent, "
            "numbers: [...row.querySelectorAll('td')].map((cell) => cell.textContent)})))"
        )
    )
    return rows


def by_role(rows: list[dict[str, Any]], role: str) -> dict[str, Any]:
    [row] = [row for row in rows if role in row["roles"]]
    return row


@pytest.mark.parametrize(
    ("archive", "faults"), [(0, ",".join(qed.Faults.sample(10, seed=7))), (1, FLOCKING)]
)
def test_panes_words_and_table_agree(
    browser: Browser, served: Served, archive: int, faults: str
) -> None:
    link = f"archive={archive}&environment=robots:10&cells=1417&seconds=40&events=0:{faults}"
    opened(browser, f"{served.address}#{link}")
    click(browser, "[value=kit]")
    click(browser, "#recover")
    browser.until("!document.getElementById('found').hidden && !explorer.recovering.running")
    browser.until("!explorer.loading")
    rows, words = table(browser), value(browser, "message")
    running, found = by_role(rows, "ran when it broke"), by_role(rows, "found")
    assert running["name"] == "cell 1417"
    assert value(browser, "main-title") == "Broken: cell 1417"
    assert value(browser, "beside-title") == f"Recovered: {found['name']}"
    assert found["name"] in words
    for row in (running, found):
        assert row["numbers"][1] in words
    # The same swarms, measured in Python.
    view = qed.load_example(("patrolling", "flocking")[archive])
    kit = qed.Kit.load(f"example:{('patrolling', 'flocking')[archive]}-kit")
    broken = qed.Faults(faults)
    python = kit.recover(faults=broken, seconds=40.0)
    assert found["name"] == f"cell {python.cell}"
    assert found["numbers"][1] == f"{python.performance:.3f}"
    normal = by_role(rows, "normal best")
    assert normal["name"] == f"cell {python.normal_cell}"
    each = [
        qed.simulate(
            view.controller(1417), task=kit.task, trials=50, seconds=40.0, faults=given,
            seed=python.fresh_seed,
        ).fitness[kit.task].mean()
        for given in (None, broken)
    ]  # fmt: skip
    assert running["numbers"][:2] == [f"{one:.3f}" for one in each]
    # A name in the table puts that controller on the left, with the same faults.
    browser.evaluate(
        "[...document.querySelectorAll('#numbers tr')].find((row) => "
        "row.textContent.includes('normal best')).querySelector('button').click()"
    )
    browser.until(f"!explorer.loading && explorer.state.cells[0] === {python.normal_cell}")
    assert value(browser, "main-title") == f"Broken: {normal['name']}"
    assert browser.complaints() == []


def test_what_stays_is_not_shown_twice(browser: Browser, served: Served) -> None:
    kit = qed.Kit.load("example:patrolling-kit")
    normal = int(kit.cells[kit.present])
    link = f"cells={normal}&environment=robots:10&seconds=100&events=4:NONE*9,PMIN"
    opened(browser, f"{served.address}#{link}")
    click(browser, "[value=kit]")
    click(browser, "#recover")
    browser.until("!document.getElementById('found').hidden && !explorer.recovering.running")
    rows, words = table(browser), value(browser, "message")
    both = by_role(rows, "ran when it broke")
    assert "found" in both["roles"]
    assert re.match(rf"cell {normal} stays after \d+ trials", words)
    assert browser.evaluate("explorer.stage.panes.length") == 1
    assert browser.evaluate("explorer.state.events[0][0]") == 4  # nothing else has changed
    assert browser.complaints() == []


def test_three_clicks_to_a_first_recovery(browser: Browser, served: Served) -> None:
    opened(browser, served.address)
    browser.click(*cell_at(browser, browser.evaluate("explorer.map.data.cells[4000]")))
    browser.until("!explorer.loading && explorer.stage.swarm.cells[0] === explorer.state.cells[0]")
    click(browser, "#random")
    browser.until("!explorer.loading && explorer.stage.swarm.events.length === 1")
    click(browser, "#recover")
    browser.until("!document.getElementById('found').hidden && !explorer.recovering.running", 120.0)
    assert table(browser)[0]["name"] == f"cell {browser.evaluate('explorer.state.cells[0]')}"
    assert browser.complaints() == []
