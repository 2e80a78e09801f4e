"""Algorithms of a user's own: behaviours of laws, environments of attributes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import own_swarm
import pytest

import qed
from qed.errors import InputError

SMALL: dict[str, Any] = {
    "evaluations": 60, "initial": 40, "batch": 20, "trials": 2, "seconds": 6.0, "threads": 1,
    "backend": "cpu",
}  # fmt: skip


def test_a_cell_is_what_the_laws_say() -> None:
    wide = qed.Algorithm(
        "wide", features=[own_swarm.briskness, own_swarm.closeness], ranges=[(-1, 3), (0, 2)],
        cells=qed.Grid((10, 10)),
    )  # fmt: skip
    archive = qed.evolve(own_swarm.gather, wide, **SMALL)
    assert archive.cells == 100
    assert len(archive) > 2
    settings = archive.header["settings"]
    from qed.streams import trials_stream

    again = qed.simulate(
        archive.controllers,
        tasks=[
            own_swarm.gather,
            qed.Task("brisk", robot=own_swarm.briskness),
            qed.Task("close", pair=own_swarm.closeness),
        ],
        trials=2,
        seconds=6.0,
        seed=trials_stream(settings["task"], settings["algorithm"], settings["seed"]),
        threads=1,
    ).fitness
    expected = np.stack([(again["brisk"].mean(1) + 1.0) / 4.0, again["close"].mean(1) / 2.0], 1)
    np.testing.assert_allclose(archive.measures[archive.occupied], expected, atol=1e-6)
    np.testing.assert_array_equal(archive.objective[archive.occupied], again["gather"].mean(1))


def test_a_cell_is_an_environment_of_the_attributes() -> None:
    archive = qed.evolve("flocking", own_swarm.few, **SMALL)
    assert len(archive) == archive.cells == 6
    [cell] = [c for c in archive.occupied if archive.space.named(archive.measures[c]) == {
        "robots": 8, "obstacles": 1}]  # fmt: skip
    assert cell == 5
    same = qed.evolve("flocking", attributes={"obstacles": (0, 1), "robots": (3, 5, 8)}, **SMALL)
    assert same.cells == 6
    assert same.header["definitions"]["algorithm"]["attributes"]["robots"] == [3, 5, 8]
    with pytest.raises(InputError, match="hbd has behaviours"):
        qed.evolve("flocking", "hbd", attributes="scripts", **SMALL)


def test_what_the_paper_has_is_not_told_as_a_users_own() -> None:
    archive = qed.evolve("flocking", attributes="paper", **SMALL)
    assert "definitions" not in archive.header
    assert archive.equal(qed.evolve("flocking", **SMALL))


def test_a_run_goes_on_with_the_same_definitions_only(tmp_path: Path) -> None:
    def stop(run: Any) -> None:
        raise KeyboardInterrupt

    whole = qed.evolve(own_swarm.gather, own_swarm.tidy, **SMALL)
    with pytest.raises(KeyboardInterrupt):
        qed.evolve(own_swarm.gather, own_swarm.tidy, out=tmp_path, progress=stop, **SMALL)
    other = qed.Task("gather", robot=own_swarm.briskness)
    with pytest.raises(InputError, match=r"another run: task is 'gather, defined as \w+' there"):
        qed.evolve(other, own_swarm.tidy, out=tmp_path, resume=True, **SMALL)
    with pytest.raises(InputError, match=r"'gather'.*--with FILE\.py"):
        qed.evolve("gather", own_swarm.tidy, out=tmp_path, resume=True, **SMALL)
    done = qed.evolve(own_swarm.gather, own_swarm.tidy, out=tmp_path, resume=True, **SMALL)
    assert done.equal(whole)


def test_an_archive_tells_how_it_was_defined_and_executes_nothing(tmp_path: Path) -> None:
    archive = qed.evolve(own_swarm.gather, own_swarm.tidy, **SMALL)
    archive.save(tmp_path / "a.npz")
    loaded = qed.Archive.load(tmp_path / "a.npz")
    told = loaded.header["definitions"]
    assert told["task"]["digest"] == own_swarm.gather.digest
    assert "def near_centre" in told["task"]["source"]
    assert [law["law"] for law in told["algorithm"]["features"]] == ["briskness", "closeness"]
    assert loaded.header["settings"]["task"] == "gather"
    faults = qed.Faults.none()
    few: dict[str, Any] = {"trials": 1, "fresh": 1, "seconds": 1.0, "threads": 1, "backend": "cpu"}
    with pytest.raises(InputError, match=r"'gather'.*qed\.Task object, or by name with --with"):
        qed.recover(loaded, "gather", faults, **few)
    with pytest.raises(InputError, match="another definition of the task 'gather'"):
        qed.recover(loaded, qed.Task("gather", robot=own_swarm.briskness), faults, **few)
    assert qed.recover(loaded, own_swarm.gather, faults, **few).task == "gather"


def test_features_outside_their_range_stop_the_run(tmp_path: Path) -> None:
    narrow = qed.Algorithm("narrow", features=[own_swarm.briskness], ranges=[(0, 0.001)])
    with pytest.raises(InputError, match=r"narrow.*briskness.*outside its range \(0, 0.001\)"):
        qed.evolve(own_swarm.gather, narrow, out=tmp_path, **SMALL)
    assert not list(tmp_path.glob("*.npz"))


def test_algorithms_go_to_other_processes() -> None:
    for one in (own_swarm.tidy, own_swarm.few):
        again = pickle.loads(pickle.dumps(one))
        assert again == one
        assert again.space(1, None) == one.space(1, None)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ranges": [(1, 0)]}, r"briskness must have low below high, got \(1, 0\)"),
        ({"ranges": [(0, 0)]}, "low below high"),
        ({"ranges": [3]}, r"must be \(low, high\), got 3"),
        ({"ranges": []}, "one .* for each of the 1 features, got 0"),
        ({"ranges": [(0, float("nan"))]}, "range of briskness"),
        ({"ranges": [(0, 1)], "cells": qed.Grid((4, 4))}, "2 dimensions, but there are 1"),
        ({"ranges": [(0, 1)], "cells": (4,)}, "cells must be a qed.Grid"),
        ({"ranges": [(0, 1)], "cells": own_swarm.few.attributes}, "environment or a behaviour"),
        ({"features": []}, "give features"),
        ({"name": "qed"}, "comes with QED"),
    ],
)
def test_algorithms_that_cannot_be_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        qed.Algorithm(**{"name": "bad", "features": [own_swarm.briskness], **given})
