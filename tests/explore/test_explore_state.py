"""What a page asks for is checked; what is seen can be had again, as bytes and as Python."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from kits import made
from made_shown import SECONDS, archive, broken, state

import qed
from qed.errors import InputError
from qed.explore.sources import ArchiveView
from qed.explore.state import STARTS, checked, written
from qed.explore.swarms import message, recorded


@pytest.fixture(scope="module")
def shown() -> list[ArchiveView]:
    return [ArchiveView("small", "small.npz", archive(), made(), "kit.npz")]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ([], "state must be a table"),
        ({"archive": 1}, "archive must be"),
        ({"archive": True}, "archive must be"),
        ({"cell": [3]}, "state must be one of"),
        ({"cells": []}, "cells must hold"),
        ({"cells": [1]}, "cell 1 of small is empty"),
        ({"cells": [10**30]}, "cells must be"),
        ({"cells": [3] * 9, "environment": {}}, "one for each of the 10 robots"),
        ({"environment": {"robots": 1000}}, "robots must be"),
        ({"environment": {"robots": []}}, "robots must be"),
        ({"environment": {"walls": 3}}, "environment must be one of"),
        ({"seconds": 1e9}, "seconds must be"),
        ({"seconds": 10**400}, "seconds must be"),
        ({"environment": {"arena": 10**400}}, "arena must be"),
        ({"seconds": "nan"}, "seconds must be"),
        ({"seconds": "8"}, "seconds must be a number"),
        ({"seconds": True}, "seconds must be a number"),
        ({"environment": {"arena": True}}, "arena must be a number"),
        ({"environment": {"robots": "10"}}, "robots must be a number"),
        ({"environment": {}, "events": [[True, ["PMIN"] * 10]]}, "time must be a number"),
        ({"seed": -1}, "seed must be"),
        ({"start": "moon"}, "start must be one of"),
        ({"task": "cooking"}, "task must be one of"),
        ({"task": ["patrolling"]}, "task must be a short text"),
        ({"environment": {}, "events": [[1.0, ["PMIN"]]]}, "one fault for each of the 10"),
        ({"environment": {}, "events": [[1.0, ["BANG"] * 10]]}, "fault must be one of"),
        ({"environment": {}, "events": [broken(4.0), broken(1.0)]}, "in the order"),
        ({"events": [[0, []]] * 65}, "at most 64"),
        ({"without": "proximity"}, "without must be one of"),
        ({"home": 1}, "cell 1 of small is empty"),
    ],
)
def test_what_cannot_be_is_refused(shown: list[ArchiveView], wrong: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        checked(wrong, shown)


def test_a_cell_runs_in_its_own_environment_unless_another_is_set(shown: list[ArchiveView]) -> None:
    scene = checked({"cells": [33]}, shown)
    options = np.unravel_index(33, (4,) * 6)
    assert scene.native
    assert scene.environment == qed.Environment.from_options(options)
    other = checked({"cells": [33], "environment": {"robots": 3}}, shown)
    assert (other.native, other.environment) == (False, qed.Environment(robots=3))
    beside = checked({"cells": [33], "home": 3}, shown)
    assert beside.environment == checked({"cells": [3]}, shown).environment


def test_the_message_holds_the_poses_of_the_trace(shown: list[ArchiveView]) -> None:
    scene = checked(state(seed=9, task="flocking", events=[broken(0.0)]), shown)
    content = message(recorded(scene))
    size = int.from_bytes(content[:4], "little")
    header = json.loads(content[4 : 4 + size])
    assert (4 + size) % 8 == 0
    name, shape, width = header["arrays"][0]
    assert (name, shape, width) == ("poses", [3, 10, 41], 4)
    poses = np.frombuffer(content, "<f4", 3 * 10 * 41, 4 + size).reshape(shape)
    film = qed.trace(
        scene.controller, task="flocking", seconds=SECONDS, seed=9, faults=scene.faults
    )  # type: ignore[arg-type]
    np.testing.assert_array_equal(poses[0, :, 1:].T, film.x)
    np.testing.assert_array_equal(poses[1, :, 1:].T, film.y)
    np.testing.assert_array_equal(poses[2, :, 1:].T, film.heading)
    np.testing.assert_array_equal(poses[:, :, 0].T, film.start)


@pytest.mark.parametrize(
    ("what", "way"),
    [
        (state(), ""),
        (state(seed=3, events=[broken(2.0), broken(6.0, 8)], environment={"obstacles": 2}), ""),
        (state(events=[broken(0.0)], task="aggregation"), "exhaustive"),
        (state(start="ring", environment={"robots": 10, "obstacles": 3}, events=[broken()]), ""),
        (state(cells=[3, 6, 9, 12, 15, 18, 21, 24, 27, 30], events=[broken(0.0)]), "kit"),
    ],
)
def test_the_lines_do_what_is_seen(
    shown: list[ArchiveView], what: dict[str, Any], way: str, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    shown[0].archive.save("small.npz")
    made().save("kit.npz")
    scene = checked(what, shown)
    seen = recorded(scene)
    text = written(scene, way)
    names: dict[str, Any] = {}
    exec(text, names)
    if "world" in names:
        np.testing.assert_array_equal(names["world"].poses[:, 0], seen.trace.x[-1])
    else:
        np.testing.assert_array_equal(names["film"].x[-1], seen.trace.x[-1])
    assert ("found" in names) == bool(way)


@pytest.mark.parametrize("start", STARTS)
def test_robots_begin_in_formations_apart_and_inside(shown: list[ArchiveView], start: str) -> None:
    environment = {"robots": 16, "obstacles": 4, "arena": 3.0}
    trace = recorded(checked(state(start=start, environment=environment, seconds=0.2), shown)).trace
    x, y = trace.start[:, 0], trace.start[:, 1]
    apart = np.hypot(x[:, None] - x, y[:, None] - y)[np.triu_indices(16, 1)]
    assert apart.min() > 0.1
    assert min(x.min(), y.min()) > 0.1
    assert max(x.max(), y.max()) < 2.9
    assert len(trace.obstacles) == 4
    away = np.hypot(x[:, None] - trace.obstacles[:, 0], y[:, None] - trace.obstacles[:, 1])
    assert away.min() > 0.2


def test_a_formation_without_room_is_refused(shown: list[ArchiveView]) -> None:
    scene = checked(state(start="ring", environment={"robots": 60, "arena": 1.0}), shown)
    with pytest.raises(InputError, match="no room for 60 robots"):
        recorded(scene)
