"""What can be had of what is seen: files, the spread of a score, advice for real robots."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from kits import made
from made_shown import HOST, SECONDS, TOKEN, archive, broken, posted, saved, state
from paging import cell_at, click, opened, value
from serving import Served
from starlette.types import ASGIApp

import qed
from qed.errors import InputError
from qed.explore.app import app
from qed.explore.sources import ArchiveView, opened_session, saved_session
from qed.explore.state import checked, written
from qed.recovery.trials import streams


@pytest.fixture(scope="module")
def shown() -> list[ArchiveView]:
    return [ArchiveView("small", "small.npz", archive(), made(), "kit.npz")]


@pytest.fixture(scope="module")
def guarded(shown: list[ArchiveView]) -> ASGIApp:
    return app(shown, TOKEN, [HOST])[0]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    found = Served(*saved(tmp_path_factory.mktemp("wanted")))
    yield found
    found.close()


def answer(guarded: ASGIApp, address: str, table: Any) -> Any:
    status, body = posted(guarded, address, table)
    return status, json.loads(body)


def test_advice_is_that_of_a_search(guarded: ASGIApp) -> None:
    kit = made()
    cells = kit.cells.tolist()
    search = kit.search()
    told: list[Any] = []
    status, said = answer(guarded, "advice", {"told": told})
    assert (status, said["ask"]) == (200, cells[kit.present])
    for fitness in (0.2, 0.5, 0.3):
        told.append([said["ask"], fitness])
        search.tell(fitness, kit.controllers[cells.index(said["ask"])])
        status, said = answer(guarded, "advice", {"told": told})
        assert said["ask"] == cells[search.row(search.ask())]
        assert said["best"] == cells[search.best_row]
        assert said["worthwhile"] == search.worthwhile
        belief = search.belief()
        expected = [round(one, 4) for one in (belief.mean, belief.low, belief.high)]
        assert said["believed"] == expected
    for wrong in (
        "x",
        [[1, 0.5]],
        [[cells[0]]],
        [[cells[0], "1"]],
        [[cells[0], 10**400]],
        [[cells[0], 0.1]] * 201,
    ):
        status, said = answer(guarded, "advice", {"told": wrong})
        assert (status, "words" in said) == (422, True)


def test_a_controller_and_a_kit_are_what_they_were(guarded: ASGIApp, tmp_path: Path) -> None:
    status, said = answer(guarded, "controller", {"state": state(cells=[6])})
    assert status == 200
    one = said["controllers"]["6"]
    again = qed.Controller([tuple(link) for link in one["connections"]], bias=one["bias"])
    assert again == archive().controller(6)
    status, content = posted(guarded, "kit", {"archive": 0})
    (tmp_path / "kit.npz").write_bytes(content)
    assert (status, qed.Kit.load(tmp_path / "kit.npz").digest) == (200, made().digest)


def test_the_spread_is_of_thirty_starts(guarded: ASGIApp) -> None:
    faults = broken()[1]
    status, said = answer(guarded, "spread", {"state": state(events=[[2.0, faults]], seed=5)})
    assert status == 200
    for name, given in (("healthy", None), ("broken", qed.Faults(faults))):
        python = qed.simulate(
            archive().controller(3), task="patrolling", trials=30, seconds=SECONDS, seed=5,
            faults=given,
        ).fitness["patrolling"]  # fmt: skip
        assert said[name] == [round(float(one), 4) for one in python.ravel()]
    assert answer(guarded, "spread", {"state": state()})[1]["broken"] is None


def test_the_playbook_needs_no_trial(guarded: ASGIApp, shown: list[ArchiveView]) -> None:
    kit, faults = made(), qed.Faults(["PMIN"] * 10)
    asked = state(events=[[0.0, list(faults)]])
    status, body = posted(guarded, "search", {"state": asked, "way": "playbook"})
    events = [json.loads(line) for line in body.splitlines() if line.strip()]
    assert (status, [event["kind"] for event in events]) == (200, ["phase", "found"])
    assert events[-1]["cells"] == [int(kit.cells[kit.playbook.rows(faults)[0]])]
    assert "kit.playbook.team(faults)" in written(checked(asked, shown), "playbook")


def test_fitness_in_many_faults_is_that_of_simulations(guarded: ASGIApp) -> None:
    asked = {"state": state(seconds=2.0), "way": "many faults"}
    status, body = posted(guarded, "search", asked)
    events = [json.loads(line) for line in body.splitlines() if line.strip()]
    last = [event for event in events if event.get("cells")][-1]
    assert (status, len(last["cells"]), last["done"]) == (200, 40, last["total"])
    # Resilience is against the normal best, which is that of a recovery.
    [normal] = [event["fitness"] for event in events if event["kind"] == "normal"]
    found = qed.recover(archive(), faults=qed.Faults(["PMIN"] * 10), trials=10, seconds=2.0)
    assert normal == round(found.normal, 4)
    seed = streams(1).broken
    python = [
        qed.simulate(
            archive().controller(last["cells"][5]), task="patrolling", trials=1, seconds=2.0,
            seed=seed, faults=qed.Faults.sample(10, seed=1 + k),
        ).fitness["patrolling"].mean()
        for k in range(8)
    ]  # fmt: skip
    assert last["fitness"][5] == round(float(sum(python) / 8), 4)


def test_a_session_opens_again(browser: Browser, tmp_path: Path) -> None:
    archive_file, kit_file = saved(tmp_path)
    file = tmp_path / "session.json"
    link = "cells=9&environment=robots:10&seconds=2&events=1:PMIN*10&told=0:0.5"
    file.write_text(json.dumps(saved_session([archive_file, kit_file], link)))
    assert opened_session([file]) == ([archive_file, kit_file], link)
    served = Served(file)
    try:
        opened(browser, served.address, still=True)
        assert browser.evaluate("explorer.stage.swarm.cells[0]") == 9
        assert browser.evaluate("explorer.stage.swarm.events.length") == 1
        assert browser.evaluate("explorer.state.told.length") == 1
        browser.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
        click(browser, "#save-session")
        browser.until("document.getElementById('kept').textContent.startsWith('qed-session')")
        deadline = time.monotonic() + 20
        while not (again := tmp_path / "qed-session.json").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert opened_session([again])[0] == [archive_file, kit_file]
        assert fromlink(opened_session([again])[1]) == fromlink(link)
        assert browser.complaints() == []
    finally:
        served.close()


def fromlink(link: str) -> set[str]:
    return set(link.split("&"))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": "qed-explorer", "version": 2}', "[" * 9000,
     '{"format": "qed-explorer", "version": 1, "sources": 3, "link": ""}',
     '{"format": "qed-explorer", "version": 1, "sources": [], "link": 3}', " " * 70000],
)  # fmt: skip
def test_other_files_are_no_sessions(tmp_path: Path, text: str) -> None:
    file = tmp_path / "session.json"
    file.write_text(text)
    with pytest.raises(InputError, match=r"session\.json"):
        opened_session([file])
    with pytest.raises(InputError, match="open it alone"):
        opened_session([file, file])


def test_in_the_page(browser: Browser, served: Served, tmp_path: Path) -> None:
    browser.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    opened(browser, f"{served.address}#cells=6&environment=robots:10&seconds=2", still=True)
    # Fitness of real robots is typed in; it can be undone, and a link has it.
    click(browser, "#real summary")
    browser.until("document.getElementById('advice').textContent.startsWith('Begin with')")
    for fitness in ("0.25", "0.5"):
        browser.evaluate(f"document.getElementById('gave').value = '{fitness}'")
        click(browser, "#told button")
        browser.until(f"explorer.state.told.at(-1)?.[1] === {fitness}")
        browser.until("/^(Stay|Go on)/.test(document.getElementById('advice').textContent)")
    assert "90 %" in value(browser, "advice")
    assert browser.evaluate("location.hash.includes('told=')")
    browser.evaluate("history.back()")
    browser.until("explorer.state.told.length === 1")
    # Two cells side by side are called what they are.
    click(browser, "#compare")
    browser.click(*cell_at(browser, 9))
    browser.until("!explorer.loading && explorer.stage.panes.length === 2")
    assert [value(browser, f"{one}-title") for one in ("main", "beside")] == ["cell 6", "cell 9"]
    assert browser.evaluate("document.getElementById('found').hidden")
    click(browser, "#compare")
    browser.until("!explorer.loading && explorer.stage.panes.length === 1")
    click(browser, "#many")
    browser.until("document.getElementById('message').textContent.startsWith('The map shows')")
    means = browser.evaluate("explorer.map.values")
    assert None not in means
    browser.evaluate(
        "(() => { const c = document.getElementById('colour'); c.value = 'mean resilience'; "
        "c.dispatchEvent(new Event('change')); })()"
    )
    normal = float(re.findall(r"against ([0-9.]+),", value(browser, "message"))[0])
    changes = browser.evaluate("explorer.map.values")
    assert changes == pytest.approx([one / normal - 1 for one in means], abs=0.01)
    assert value(browser, "low") == f"{min(changes):.2f}"
    assert value(browser, "cell").split(" · ")[0].endswith(" mean resilience")
    click(browser, "#spread")
    browser.until("document.getElementById('spread-words').textContent.startsWith('Healthy')")
    for name, file in (("controller", "qed-cell-6.json"), ("kit", "qed-patrolling-kit.npz"),
                       ("map", "qed-map.png")):  # fmt: skip
        click(browser, f"#save-{name}")
        browser.until(f"document.getElementById('kept').textContent.startsWith('{file}')")
    assert browser.complaints() == []


def test_recoveries_among_controllers_without_range_and_bearing(
    browser: Browser, served: Served
) -> None:
    link = "cells=0&environment=robots:10&seconds=2&events=0:PMIN*10&told=0:0.5"
    opened(browser, f"{served.address}#{link}", still=True)
    browser.until("document.getElementById('advice').textContent.includes('90 %')")
    click(browser, ".filter summary")
    browser.evaluate(
        "(() => { const s = document.getElementById('without'); s.value = 'rab'; "
        "s.dispatchEvent(new Event('change')); })()"
    )
    silent = archive().without("rab").occupied.tolist()
    shown = "JSON.stringify(explorer.map.data.cells.filter((_, row) => explorer.map.passes(row)))"
    assert json.loads(browser.evaluate(shown)) == silent
    assert f"{len(silent)} of 40" in browser.evaluate(
        "document.querySelector('.filter summary').textContent"
    )
    # A hidden cell cannot be clicked; the kit, which hears, says why it cannot help.
    browser.click(*cell_at(browser, 12))
    assert browser.evaluate("explorer.state.cells[0]") == 0
    for name in ("message", "advice"):
        assert f"{40 - len(silent)} read range and bearing" in value(browser, name)
    assert browser.evaluate("document.getElementById('recover').disabled")
    click(browser, "[value=exhaustive]")
    click(browser, "#recover")
    browser.until("!document.getElementById('found').hidden && !explorer.recovering.running")
    browser.until("!explorer.loading")
    found = qed.recover(
        archive().without("rab"), faults=qed.Faults(["PMIN"] * 10), trials=10, seconds=2.0
    )
    report = browser.evaluate("explorer.recovering.report.found.cells[0]")
    assert report == found.cell
    browser.until("document.getElementById('lines').textContent.includes('without(\"rab\")')")
    # The link has it; all cells are there again with a click.
    again = browser.evaluate("location.hash")
    assert "without=rab" in again
    opened(browser, f"{served.address}{again}", still=True)
    assert browser.evaluate("explorer.map.passes(0)") is False
    click(browser, ".filter summary")
    click(browser, "#unfilter")
    assert browser.evaluate("explorer.state.without === '' && explorer.map.passes(0)")
    assert browser.complaints() == []
