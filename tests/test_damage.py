"""Damaged files, whatever is wrong with them, are refused in a few words, or make sense."""

from __future__ import annotations

import random
from pathlib import Path

import damage
import numpy as np
import pytest
from kits import made

from qed.archive.archive import Archive
from qed.archive.grid import Categories
from qed.controller.variation import random_genomes
from qed.errors import InputError, StoppedError
from qed.evolution import folder as runs
from qed.study import paths
from qed.study.plan import PRESETS
from qed.study.study import Study, plan_of
from qed.text import made_by, toml

DRAWS = 120


def archive() -> Archive:
    settings = {"task": "patrolling", "algorithm": "qed", "seconds": 8.0, "seed": 1}
    found = Archive(Categories((4,) * 6), {"settings": settings})
    options = np.stack(np.unravel_index(3 * np.arange(20), (4,) * 6), 1)
    found.add(random_genomes(np.arange(20)), np.linspace(0.2, 0.9, 20), options)
    return found


@pytest.mark.parametrize("kind", ["archive", "kit"])
def test_damaged_archives_and_kits(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "file.npz"
    (archive() if kind == "archive" else made()).save(path)
    good = path.read_bytes()
    assert damage.told("info", path)[0]
    taken = []
    for seed in range(DRAWS):
        path.write_bytes(damage.damaged(good, seed))
        taken.append(damage.told("info", path)[0])
    assert 0 < sum(taken) < DRAWS / 2


def test_an_algorithm_that_is_no_name(tmp_path: Path) -> None:
    odd = archive()
    odd.header["settings"]["algorithm"] = [1]
    odd.save(tmp_path / "odd.npz")
    assert damage.told("info", tmp_path / "odd.npz")[0]


def test_damaged_settings_of_runs_and_studies(tmp_path: Path) -> None:
    Study(tmp_path, PRESETS["quick"]).claim()
    (tmp_path / runs.CONFIG).write_text(
        toml({"run": {"task": "flocking", "seed": 1}, "made_by": {**made_by(), "streams": 1}})
    )
    readers = {
        paths.SETTINGS: plan_of,
        runs.CONFIG: lambda folder: runs._read(folder / runs.CONFIG),
    }
    for name, read in readers.items():
        path = tmp_path / name
        good = path.read_bytes()
        refused = []
        for seed in range(DRAWS):
            path.write_bytes(damage.text_of(good, random.Random(seed)))
            try:
                read(tmp_path)
            except (InputError, StoppedError) as error:
                refused.append(str(error))
        assert len(refused) > DRAWS / 4, name
        assert all(words.isprintable() and len(words) < 600 for words in refused)
