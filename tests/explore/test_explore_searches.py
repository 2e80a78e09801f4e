"""Searches that are watched find what qed.recover finds; they stop, take turns, leave nothing."""

from __future__ import annotations

import json
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from kits import made
from made_shown import SECONDS, archive, broken, state

import qed
from qed.explore.queues import Busy, PageQueue, PageQueues, Stopped, Stream
from qed.explore.searches import Searcher
from qed.explore.sources import ArchiveView
from qed.explore.state import Scene, checked
from qed.recovery.recover import ArchiveSearch
from qed.recovery.recovery import Event


@pytest.fixture(scope="module")
def shown() -> list[ArchiveView]:
    return [ArchiveView("small", "small.npz", archive(120), made(), "kit.npz")]


@pytest.fixture(scope="module")
def scene(shown: list[ArchiveView]) -> Scene:
    return checked(state(events=[broken()]), shown)


def told(scene: Scene, way: str, searcher: Searcher | None = None) -> list[dict[str, Any]]:
    """Return all that a search tells."""
    searcher = searcher or Searcher()
    stream = Stream(PageQueue(), lambda one: searcher.search(scene, way, one))
    events = []
    while (line := stream.next()) is not None:
        events += [json.loads(line)] if line.strip() else []
    assert not stream.page.streams
    return events


def test_every_controller_races_as_in_recover(scene: Scene) -> None:
    searcher = Searcher()
    events = told(scene, "exhaustive", searcher)
    found = events[-1]
    one = qed.recover(scene.view.archive, "patrolling", scene.faults, seconds=SECONDS)
    for name in ("normal", "broken", "performance", "impact", "resilience", "distance"):
        assert found[name] == round(getattr(one, name), 4), name
    assert (found["cells"], found["normal_cell"]) == ([one.cell], one.normal_cell)
    tried = [event for event in events if event["kind"] == "tried"]
    assert {cell for event in tried for cell in event["cells"]} == set(scene.view.occupied.tolist())
    assert tried[-1]["done"] == tried[-1]["total"]
    # What healthy swarms did is known the next time.
    again = told(scene, "exhaustive", searcher)
    assert again[-1] == found
    assert len(again) < len(events)


def test_ten_trials_are_those_of_recover_with_a_kit(scene: Scene) -> None:
    events = told(scene, "kit")
    trials = [event for event in events if event["kind"] == "trial"]
    one = scene.view.kit.recover(faults=scene.faults, seconds=SECONDS)
    assert [event["cell"] for event in trials] == [step.cell for step in one.trace]
    assert [event["best"] for event in trials] == [step.best_cell for step in one.trace]
    for event, step in zip(trials, one.trace, strict=True):
        assert event["fitness"] == round(step.fitness, 4)
        assert event["believed"][0] == round(step.believed.mean, 4)
        assert len(event["means"]) == len(event["cells"]) == 40
    assert trials[0]["free"]
    assert len(trials) <= 11
    assert events[-1]["cells"] == [one.cell]
    assert events[-1]["performance"] == round(one.performance, 4)


def test_a_race_without_range_and_bearing(scene: Scene) -> None:
    hearing = replace(scene, cells=(12,), without="rab")
    events = told(hearing, "exhaustive")
    archive = scene.view.archive.without("rab")
    one = qed.recover(archive, "patrolling", scene.faults, seconds=SECONDS)
    assert (events[-1]["cells"], events[-1]["normal_cell"]) == ([one.cell], one.normal_cell)
    assert events[-1]["performance"] == round(one.performance, 4)
    tried = {cell for event in events if event["kind"] == "tried" for cell in event["cells"]}
    assert tried == set(archive.occupied.tolist())
    # What ran hears, and is measured on the same trials.
    assert 12 not in tried
    rows = {role: row for row in events[-1]["rows"] for role in row["roles"]}
    ran = qed.simulate(
        scene.view.controller(12), task="patrolling", trials=50, seconds=SECONDS,
        seed=one.fresh_seed, faults=scene.faults,
    ).fitness["patrolling"]  # fmt: skip
    assert rows["running"]["broken"] == round(float(ran.mean()), 4)
    hears = int(scene.view.hears[:40].sum())
    for way in ("kit", "playbook"):
        [refused] = told(hearing, way)
        assert f"{hears} of the kit's 40 controllers read range" in refused["words"]
    kit = scene.view.kit
    silent = replace(scene.view, kit=replace(kit, cells=np.full(40, one.cell)))
    same = replace(hearing, view=silent, events=((0, qed.Faults(["PMIN"] * 10)),))
    assert told(same, "playbook")[-1]["kind"] == "found"


def test_a_team_is_wired_to_recover_by_fault(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    plain = qed.recover(scene.view.archive, "patrolling", scene.faults, seconds=SECONDS)
    found = replace(
        plain, team=qed.Team([scene.view.controller(cell) for cell in (3, 6) * 5]),
        cells=(3, 6) * 5, cell=9, one_for_all=0.25,
    )  # fmt: skip

    def by_fault(search: ArchiveSearch, faults: Any, by: str, watch: Any) -> Any:
        asked.extend([search.how.environment, by])
        watch(Event("team", scene.faults, np.array([3]), np.array([0.5]), 40, 1, 2))
        return [found]

    monkeypatch.setattr(ArchiveSearch, "recover", by_fault)
    events = told(scene, "team")
    assert asked == [scene.environment, "fault"]
    assert events[-1]["cells"] == [3, 6] * 5
    rows = {role: row for row in events[-1]["rows"] for role in row["roles"]}
    assert rows["recovery"]["cells"] == [3, 6] * 5
    assert (rows["single"]["cells"], rows["single"]["broken"]) == ([9], 0.25)
    assert rows["normal"]["cells"] == [plain.normal_cell]
    ran = qed.simulate(
        scene.controller, scene.environment, task="patrolling", trials=50, seconds=SECONDS,
        seed=plain.fresh_seed, faults=scene.faults,
    ).fitness["patrolling"]  # fmt: skip
    assert rows["running"]["broken"] == round(float(ran.mean()), 4)
    [tried] = [event for event in events if event["kind"] == "tried"]
    assert (tried["cells"], tried["done"]) == ([], 1)  # of teams the map shows nothing


def test_a_search_says_what_it_needs(shown: list[ArchiveView], scene: Scene) -> None:
    healthy = checked(state(), shown)
    [event] = told(healthy, "exhaustive")
    assert "no robot has a fault" in event["words"]
    bare = replace(scene, view=replace(scene.view, kit=None))
    assert "no kit" in told(bare, "kit")[-1]["words"]
    few = checked(state(environment={"robots": 3}, events=[[0, ["PMIN"] * 3]]), shown)
    assert "10 robots" in told(few, "kit")[-1]["words"]
    assert "way must be one of" in told(scene, "magic")[-1]["words"]


def test_a_search_that_is_stopped_ends_and_leaves_its_queue(shown: list[ArchiveView]) -> None:
    long = checked({**state(events=[broken()]), "seconds": 400.0}, shown)
    queue = PageQueue()
    stream = Stream(queue, lambda one: Searcher().search(long, "exhaustive", one))
    while not (line := stream.next()) or not line.strip():
        pass
    stream.stop()
    stream.thread.join(20)
    assert not stream.thread.is_alive()
    assert queue.idle
    with pytest.raises(Stopped):
        stream.send({})


def test_a_page_has_one_search_and_turns_in_order() -> None:
    queue, order = PageQueue(), []
    gate = threading.Event()

    def waits(stream: Stream) -> None:
        with stream.turn():
            gate.wait(20)
            order.append("search")
            stream.give_way()
            order.append("search again")

    stream = Stream(queue, waits)
    with pytest.raises(Busy):
        Stream(queue, lambda one: None)

    def click() -> None:
        with queue.turn():
            order.append("click")

    clicks = threading.Thread(target=click)
    while not queue._waiting:
        time.sleep(0.001)
    clicks.start()
    while len(queue._waiting) < 2:
        time.sleep(0.001)
    gate.set()
    stream.thread.join(20)
    clicks.join(20)
    assert order == ["search", "click", "search again"]
    assert queue.idle


def test_queues_are_forgotten_when_there_are_many() -> None:
    queues = PageQueues()
    first = queues.of("0")
    for number in range(1, 200):
        queues.of(str(number))
    assert len(queues._queues) <= 64
    assert queues.of("0") is not first
    busy = PageQueues()
    with ExitStack() as turns:
        for number in range(64):
            assert busy.of(str(number)).idle
            turns.enter_context(busy.of(str(number)).turn())
        with pytest.raises(Busy):
            busy.of("one more")
