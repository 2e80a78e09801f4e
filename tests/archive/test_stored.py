"""Archives as files: round trips, equal bytes, and files that are refused."""

from __future__ import annotations

import io
import json
import os
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain_archive import INSIDE, SPACES, filled

import qed
from qed.archive.archive import Archive
from qed.archive.grid import Grid
from qed.controller.genome import Genomes, from_controllers
from qed.controller.inputs import INPUTS

kinds = pytest.mark.parametrize("kind", list(SPACES))
Change = Callable[[dict[str, Any], dict[str, np.ndarray]], Any]


def genome_archive() -> Archive:
    archive = Archive(Grid((4, 4)), header={"settings": {"task": "patrolling", "seed": 1}})
    batch = from_controllers([qed.Controller.random(seed) for seed in range(30)])
    rng = np.random.default_rng(1)
    archive.add(batch, rng.random(30), rng.random((30, 2)))
    return archive


@kinds
def test_round_trip(kind: str, tmp_path: Path) -> None:
    header = {"task": "patrolling", "who": "Zoë", "list": (1, 2.5, None, True)}
    archive = filled(kind, header=header)
    archive.save(tmp_path / "a.npz")
    again = Archive.load(tmp_path / "a.npz")
    assert again.equal(archive)
    assert again.header == archive.header == {**header, "list": [1, 2.5, None, True]}
    assert again.offset == 0.0
    again.save(str(tmp_path / "b.npz"))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    # A loaded archive goes on as the saved one would.
    more = filled(kind, seed=2).solutions()
    cells = np.arange(len(more["number"]))
    for one in (archive, again):
        one.add(more, np.linspace(0, 1, len(cells)), INSIDE[kind][cells])
    assert again.equal(archive)


@kinds
def test_empty_archives_can_be_kept(kind: str, tmp_path: Path) -> None:
    archive = Archive(SPACES[kind], offset=2.5)
    archive.save(tmp_path / "a.npz")
    again = Archive.load(tmp_path / "a.npz")
    assert again.equal(archive)
    assert again.offset == 2.5
    again.add({"x": [1]}, [1.0], INSIDE[kind][:1])
    assert len(again) == 1


def test_networks_of_files_without_names_are_the_thymios(tmp_path: Path) -> None:
    path = tmp_path / "old.npz"
    rewritten(path, lambda header, arrays: header.pop("inputs"))
    assert Archive.load(path).equal(genome_archive())


def test_genomes_come_back_as_genomes(tmp_path: Path) -> None:
    archive = genome_archive()
    archive.save(tmp_path / "a.npz")
    again = Archive.load(tmp_path / "a.npz")
    assert again.equal(archive)
    assert isinstance(again.take(again.occupied), Genomes)
    assert again.controllers == archive.controllers
    assert again.best.controller == archive.best.controller


def test_equal_archives_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        filled(header={"x": 1}).save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b.npz"]
    with zipfile.ZipFile(tmp_path / "a.npz") as pack:  # today's date would change them tomorrow
        assert {info.date_time for info in pack.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_numpy_opens_it(tmp_path: Path) -> None:
    archive = filled(header={"x": 1})
    archive.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as content:
        assert content["cell"].tolist() == archive.occupied.tolist()
        header = json.loads(content["header.json"])
    assert header["qed"] == qed.__version__
    assert header["space"] == {"kind": "grid", "shape": [3, 4]}
    assert header["metadata"] == {"x": 1}


def test_equality_sees_every_difference() -> None:
    archive = filled()
    assert archive.equal(filled(header={"another": "header"}))
    assert not archive.equal(filled(seed=2))
    assert not archive.equal(filled("categories"))
    assert not archive.equal(Archive(Grid((3, 4))))
    assert not archive.equal(Archive(Grid((3, 4)), offset=1.0))
    minus = Archive(Grid((2,)))
    minus.add({"x": [-0.0]}, [0.0], [[0.0]])
    plus = Archive(Grid((2,)))
    plus.add({"x": [0.0]}, [0.0], [[0.0]])
    assert not minus.equal(plus)


@kinds
def test_damage_is_noticed(kind: str, tmp_path: Path) -> None:
    """Cut anywhere, or with any byte changed, a file is refused or means the same."""
    archive = filled(kind)
    path = tmp_path / "archive.npz"
    archive.save(path)
    good = path.read_bytes()
    rng = np.random.default_rng(1)
    damaged = [good[:cut] for cut in range(0, len(good), 3)]
    for place in rng.integers(0, len(good), 600).tolist():
        bits = bytes([good[place] ^ int(rng.integers(1, 256))])
        damaged.append(good[:place] + bits + good[place + 1 :])
    damaged.append(good[: len(good) // 2] + bytes(len(good) - len(good) // 2))
    refused = 0
    for content in damaged:
        path.write_bytes(content)
        try:
            same, complaint = Archive.load(path).equal(archive), ""
        except ValueError as error:
            same, complaint = False, str(error)
            refused += 1
        assert same or complaint.startswith(f"{path} is not a usable qed-archive file: ")
    assert refused > 0.8 * len(damaged)


def rewritten(path: Path, change: Change, compression: int = zipfile.ZIP_STORED) -> None:
    """Write a file of genomes whose contents were changed."""
    genome_archive().save(path)
    with zipfile.ZipFile(path) as pack:
        header = json.loads(pack.read("header.json"))
        names = [name for name in pack.namelist() if name.endswith(".npy")]
        arrays = {name[:-4]: np.load(io.BytesIO(pack.read(name))) for name in names}
    change(header, arrays)
    with zipfile.ZipFile(path, "w", compression) as pack:
        pack.writestr("header.json", json.dumps(header))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=True)
            pack.writestr(f"{name}.npy", buffer.getvalue())


def setting(name: str, place: Any, value: Any) -> Change:
    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        arrays[name][place] = value

    return change


def instead(name: str, value: Any) -> Change:
    return lambda header, arrays: arrays.update({name: np.asarray(value)})


def heading(**changes: Any) -> Change:
    return lambda header, arrays: header.update(changes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (heading(format="other"), "does not name the format"),
        (heading(version=3), "newer qed"),
        (heading(version="1"), "version"),
        (heading(space={"kind": "sphere"}), "sphere"),
        (heading(space={"kind": "grid", "shape": [4, 5]}), "does not lie in its cell"),
        (heading(space={"kind": "grid", "shape": [4, 4, 4]}), "measures"),
        (heading(space={"kind": "grid", "shape": [10**6, 10**6]}), "shape"),
        (heading(space={"kind": "grid", "shape": "44"}), "shape"),
        (heading(space={"kind": "centroids"}), "points"),
        (heading(space=7), "space"),
        (heading(columns=["hidden", 3]), "columns"),
        (heading(columns=["nothing"]), "nothing.* is missing"),
        (heading(offset="x"), "offset"),
        (heading(metadata=[]), "metadata"),
        (heading(inputs=["ground 0", *INPUTS[1:]]), "another robot: they read ground 0"),
        (heading(inputs=3), "iterable"),
        (lambda header, arrays: header.pop("metadata"), "metadata.* is missing"),
        (lambda header, arrays: arrays.pop("cell"), "cell.* is missing"),
        (lambda header, arrays: arrays.pop("solution.bias"), "bias.* is missing"),
        (instead("cell", np.zeros(3)), "cell"),
        (instead("cell", 3), "cell|unsized"),
        (setting("cell", 1, 0), "cell"),
        (setting("cell", -1, 99), "ascending"),
        (setting("objective", 0, np.nan), "NaN"),
        (setting("measures", 0, np.inf), "finite"),
        (instead("objective", np.array([{"a": 1}], object)), "type"),
        (instead("objective", np.array(["a"])), "type"),
        (setting("solution.hidden", 0, 99), "larger"),
        (setting("solution.hidden", 0, -1), "larger"),
        (setting("solution.links", 0, 9999), "larger"),
        (setting("solution.source", (slice(None), 0), 10**6), "connection"),
        (setting("solution.source", (slice(None), 0), 16), "connection"),
        (setting("solution.target", (slice(None), 0), -5), "connection"),
        (setting("solution.weight", (0, 0), np.nan), "finite"),
        (instead("solution.weight", np.zeros((16, 2), np.float32)), "width|rows"),
        (instead("solution.source", np.zeros((16, 40))), "type"),
    ],
)
def test_foreign_contents_are_refused(change: Change, words: str, tmp_path: Path) -> None:
    path = tmp_path / "foreign.npz"
    rewritten(path, lambda header, arrays: None)
    assert Archive.load(path).equal(genome_archive())
    rewritten(path, change)
    with pytest.raises(ValueError, match=words) as caught:
        Archive.load(path)
    assert str(path) in str(caught.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    rewritten(path, lambda header, arrays: None, zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="compressed"):
        Archive.load(path)
    np.savez(path, cell=np.arange(3))
    with pytest.raises(ValueError, match=r"a.npz .* no header.json"):
        Archive.load(path)
    for content in (b"", b"PK not an archive at all", b"cell,fitness\n1,2\n", bytes(1000)):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"a.npz .* truncated, damaged"):
            Archive.load(path)
    with zipfile.ZipFile(path, "w") as pack:
        pack.writestr("header.json", "[" * 100_000)
    with pytest.raises(ValueError, match="damaged"):
        Archive.load(path)
    # An array that says it is far larger than the file.
    lie = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        lie, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    )
    rewritten(path, lambda header, arrays: None)
    with zipfile.ZipFile(path, "a") as pack:
        pack.writestr("lie.npy", lie.getvalue() + bytes(80))
    with pytest.raises(ValueError, match=r"a.npz"):
        Archive.load(path)
    with pytest.raises(FileNotFoundError):
        Archive.load(tmp_path / "nowhere.npz")


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.npz"
    filled(seed=1).save(path)
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            filled(seed=2).save(path)
    archive = filled(seed=2)
    archive.header["odd"] = object()
    with pytest.raises(ValueError, match="JSON"):
        archive.save(path)
    archive.header["odd"] = float("nan")
    with pytest.raises(ValueError, match="JSON"):
        archive.save(path)
    with pytest.raises(OSError, match="missing"):
        filled().save(tmp_path / "missing" / "a.npz")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.npz"]


def test_what_a_killed_process_left_is_cleared_away_after_a_while(tmp_path: Path) -> None:
    old, young, other = (tmp_path / f".{name}.new" for name in ("a.npz.1", "a.npz.2", "b.npz.3"))
    for file in (old, young, other):
        file.write_bytes(b"half")
    hours_ago = time.time() - 7200
    os.utime(old, (hours_ago, hours_ago))
    os.utime(other, (hours_ago, hours_ago))
    filled().save(tmp_path / "a.npz")
    assert sorted(p.name for p in tmp_path.iterdir()) == [young.name, other.name, "a.npz"]
