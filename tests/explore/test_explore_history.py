"""Nothing is lost: what is done can be undone, and a search outlives what is clicked meanwhile."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from browser import Browser
from made_shown import saved
from paging import cell_at, click, opened, value
from serving import Served

CELL = "explorer.state.cells[0]"
IDLE = "!explorer.loading && !explorer.recovering.running"
FOUND = f"{IDLE} && !document.getElementById('found').hidden"
BROKEN = "environment=robots:10&events=2:PMIN,NONE*9;4:PMIN*10"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    found = Served(*saved(tmp_path_factory.mktemp("explored")))
    yield found
    found.close()


def undoable(browser: Browser, depth: int) -> None:
    """Wait until so many changes can be undone."""
    browser.until(f"!explorer.loading && explorer.depth === {depth}")


def shows(browser: Browser, cell: int, events: int) -> None:
    """Wait until a cell is shown, with so many changes of its faults."""
    browser.until(
        f"!explorer.loading && explorer.stage.swarm.cells[0] === {cell} && "
        f"explorer.stage.swarm.events.length === {events}"
    )


def test_back_and_forward_and_undo(browser: Browser, served: Served) -> None:
    opened(browser, served.address, still=True)
    undoable(browser, 0)
    assert browser.evaluate("document.getElementById('undo').disabled")
    first = browser.evaluate(CELL)
    browser.click(*cell_at(browser, 9))
    undoable(browser, 1)
    browser.click(*cell_at(browser, 6))
    undoable(browser, 2)
    click(browser, "#random")
    undoable(browser, 3)
    # How it is looked at is not undone.
    click(browser, "#trails")
    browser.evaluate("history.back()")
    shows(browser, 6, 0)
    click(browser, "#undo")
    shows(browser, 9, 0)
    assert value(browser, "cell").startswith("Cell 9:")
    click(browser, "#undo")
    shows(browser, first, 0)
    browser.until("document.getElementById('undo').disabled")
    for cell, events in ((9, 0), (6, 0), (6, 1)):
        click(browser, "#redo")
        shows(browser, cell, events)
    browser.until("document.getElementById('redo').disabled")
    # A slider that is dragged is one change.
    for speed in (5, 12, 17, 20):
        browser.evaluate(
            f"(() => {{ const s = document.getElementById('slider-max_speed'); s.value = {speed}; "
            "s.dispatchEvent(new Event('input')); })()"
        )
        browser.until(
            f"!explorer.loading && explorer.stage.swarm.environment.max_speed * 100 > {speed - 1}"
        )
    undoable(browser, 4)
    click(browser, "#undo")
    browser.until("Math.abs(explorer.stage.swarm.environment.max_speed - 0.1) < 1e-6")
    assert browser.complaints() == []


def test_a_recovery_and_the_way_back(browser: Browser, served: Served) -> None:
    opened(browser, f"{served.address}#cells=6&{BROKEN}", still=True)
    undoable(browser, 0)
    click(browser, "#recover")
    browser.until(FOUND)
    undoable(browser, 1)
    words = value(browser, "message"), value(browser, "numbers")
    assert browser.evaluate("explorer.stage.panes.length") == 2
    assert browser.evaluate("explorer.state.events.length") == 1
    click(browser, "#dismiss")  # back to the swarm as it broke, one robot first
    browser.until("!explorer.loading && explorer.stage.panes.length === 1")
    assert browser.evaluate("explorer.stage.swarm.events.map(([cycle]) => cycle).join()") == "10,20"
    undoable(browser, 2)
    browser.evaluate("history.back()")
    browser.until("!explorer.loading && explorer.stage.panes.length === 2")
    assert (value(browser, "message"), value(browser, "numbers")) == words
    browser.evaluate("history.back()")
    browser.until("!explorer.loading && explorer.stage.panes.length === 1")
    assert browser.evaluate("explorer.stage.swarm.events.length") == 2
    assert browser.complaints() == []


def test_a_search_goes_on_while_something_else_is_shown(browser: Browser, served: Served) -> None:
    opened(browser, f"{served.address}#cells=6&{BROKEN}&seconds=400", still=True)
    click(browser, "[value=exhaustive]")
    click(browser, "#recover")
    browser.until("Boolean(explorer.recovering.running)")
    browser.click(*cell_at(browser, 9))
    browser.until("explorer.stage.swarm.cells[0] === 9")
    assert browser.evaluate("Boolean(explorer.recovering.running)")
    browser.until("!document.getElementById('show-found').hidden")
    assert value(browser, "message").startswith("The search has ended")
    assert browser.evaluate(CELL) == 9
    click(browser, "#show-found")
    browser.until(f"{FOUND} && explorer.stage.swarm.cells[0] === 6")
    assert "cell 6" in value(browser, "numbers")
    assert browser.complaints() == []


def test_with_a_kit_cells_begin_with_its_number_of_robots(browser: Browser, served: Served) -> None:
    opened(browser, served.address, still=True)
    assert browser.evaluate("explorer.stage.swarm.robots") == 10
    assert value(browser, "where").startswith("In the normal environment")
    other = browser.evaluate(
        "explorer.map.data.cells.find((cell) => "
        "explorer.map.data.attributes.find((one) => one.name === 'robots')"
        ".values[explorer.map.rows.get(cell)] !== 1)"
    )
    browser.click(*cell_at(browser, other))
    shows(browser, other, 0)
    click(browser, "#random")
    shows(browser, other, 1)
    assert not browser.evaluate("document.getElementById('recover').disabled")
    # In its own environment it has as many as there; faults stay, and there is a way on.
    click(browser, "#hold")
    browser.until("!explorer.loading && explorer.stage.swarm.robots !== 10")
    assert browser.evaluate("explorer.stage.swarm.events.length") == 1
    assert browser.evaluate("document.getElementById('recover').disabled")
    assert "kit is for 10 robots" in value(browser, "message")
    click(browser, "#fit")
    browser.until("!explorer.loading && explorer.stage.swarm.robots === 10")
    assert not browser.evaluate("document.getElementById('recover').disabled")
    assert browser.evaluate("document.getElementById('fit').hidden")
    assert browser.complaints() == []


@pytest.mark.parametrize("sharpness", [1, 2])
def test_a_click_runs_the_cell_that_is_framed(
    browser: Browser, served: Served, sharpness: int
) -> None:
    opened(browser, served.address, 1440, sharpness=sharpness, still=True)
    places = random.Random(1)
    browser.evaluate("explorer.ran = []; explorer.map.chosen = (cell) => explorer.ran.push(cell)")
    framed = []
    x, y = cell_at(browser, 60)
    for _ in range(120):
        at = x + places.uniform(-12, 12), y + places.uniform(-6, 6)
        browser.point(*at)
        framed.append(browser.evaluate("explorer.map.data.cells[explorer.map.cursor] ?? null"))
        browser.click(*at)
    ran = browser.evaluate("explorer.ran.join()")
    assert ran == ",".join(str(cell) for cell in framed if cell is not None)
    assert sum(cell is not None for cell in framed) > 20


def test_escape_lets_go_of_a_robot_after_a_fault(browser: Browser, served: Served) -> None:
    opened(browser, f"{served.address}#robot=2", still=True)
    click(browser, "[data-fault=PMIN]")
    browser.until("!explorer.loading && explorer.stage.swarm.events.length === 1")
    browser.evaluate("document.querySelector('[data-fault=PMIN]').focus()")
    browser.ask("Input.dispatchKeyEvent", type="keyDown", key="Escape", code="Escape")
    browser.until("explorer.state.robot === -1")


@pytest.mark.parametrize(("width", "sharpness"), [(360, 2), (1440, 1)])
def test_a_recovery_is_in_sight(
    browser: Browser, served: Served, width: int, sharpness: int
) -> None:
    opened(browser, f"{served.address}#cells=6&{BROKEN}", width, sharpness=sharpness, still=True)
    click(browser, "#recover")
    browser.until(FOUND)
    browser.until("explorer.stage.panes.length === 2")
    browser.until(
        "(() => { const b = document.getElementById('main-pane').getBoundingClientRect(); "
        "return b.top >= 0 && b.top < innerHeight / 2; })()"
    )
    assert browser.evaluate("explorer.map.unit") >= (3.4 if width == 360 else 4.5)
    assert "bottom to top: sees within (cm) 5.5, 11" in value(browser, "finest")
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert browser.complaints() == []
