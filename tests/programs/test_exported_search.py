"""A kit on board: its search in plain Python decides and believes as the kit's own."""

from __future__ import annotations

import json
from typing import Any

import commands
import numpy as np
import pytest
from kits import made

import qed
from qed.programs import python


def loaded(kit: qed.Kit) -> dict[str, Any]:
    """Return the names of a kit's exported search."""
    names: dict[str, Any] = {}
    exec(python.search_of(kit), names)
    return names


@pytest.fixture(scope="module")
def kit():
    return qed.Kit.load("example:aggregation-kit")


def test_it_asks_for_the_same_and_believes_the_same(kit):
    told = python.compare_search(kit, python.search_of(kit), faults=2, seed=7)
    assert told["same"] == told["searches"] == 2
    assert told["beliefs apart"] <= 1e-6


def test_another_search_is_found_out(kit):
    text = python.search_of(kit)
    other = text.replace("CAREFUL, VERIFY = (5, 2)", "CAREFUL, VERIFY = (0, 2)")
    assert other != text
    assert python.compare_search(kit, other, 1, 1)["same"] == 0
    doubtful = text.replace("PECULIAR = 0.4", "PECULIAR = 0.5")
    assert python.compare_search(kit, doubtful, 1, 1)["beliefs apart"] > 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_it_goes_on_with_the_same(seed):
    kit = made(30, seed)
    own, theirs = kit.search(), loaded(kit)["Search"]()
    rng = np.random.default_rng(seed)
    for row in [kit.present, *rng.integers(0, 30, 12).tolist()]:
        fitness = float(rng.uniform(0.2, 0.9))
        own.tell(fitness, kit.controllers[row])
        theirs.tell(fitness, row)
        assert theirs.best == own.best_row
        assert theirs.worthwhile == own.worthwhile
        assert theirs.gain == pytest.approx(own.gain, abs=1e-7)
        belief = own.belief(kit.controllers[row])
        assert theirs.belief(row) == pytest.approx((belief.mean, belief.low, belief.high), abs=1e-7)
    again = loaded(kit)["Search"](told=theirs.told)
    assert again.ask() == theirs.ask() == again.ask()


def test_a_kit_is_exported_whole(tmp_path):
    kit = made(5)
    result = qed.export(kit, "python", tmp_path, trials=1, seconds=4.0)
    assert result.parity["search"]["searches"] == 3
    assert result.parity["search"]["beliefs apart"] <= 1e-6
    assert result.parity["python"]["random, free-running"]["cycles"] == 100 * 20
    contract = json.loads((tmp_path / "contract.json").read_text("utf-8"))
    assert contract["search"] == {"present": 0, "seconds": 400.0, "task": "patrolling"}
    assert contract["controllers"]["names"] == [f"controller, cell {3 * k}" for k in range(5)]
    assert "search.ask()" in (tmp_path / "README.md").read_text("utf-8")
    c = qed.export(kit, "c", tmp_path / "c", trials=1, seconds=4.0)
    assert (c.folder / "search.py").read_bytes() == (tmp_path / "search.py").read_bytes()


def test_the_command_exports_a_kit(tmp_path):
    made(4).save(tmp_path / "kit.npz")
    words = ("export", "kit.npz", "--to", "python", "--out", "robot", "--trials", "1")
    done = commands.run(*words, "--seconds", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "of 3 searches" in done.stdout.replace("\n", " ")
    assert max(map(len, done.stdout.splitlines())) <= 80
    done = commands.run(*words, "--best", cwd=tmp_path)
    assert done.returncode == 2
    assert "exported whole" in done.stderr
