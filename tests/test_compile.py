"""The cache of machine code: used again, and never after an edit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import qed
from qed import compile as compiling

SOURCES = Path(qed.__file__).parent
DRAW = """
from qed.swarm.placing import draw_places, place
poses, _, _ = place(2, 4.0, 0, 2, 1)
print(poses.tolist())
print(sum(draw_places.stats.cache_hits.values()))
"""


def draw(package: Path, cache: Path) -> tuple[str, int]:
    """Draw places in a new process with a copy of the package; return them and cache hits."""
    env = {**os.environ, "PYTHONPATH": str(package), "QED_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", DRAW], env=env, capture_output=True, text=True, check=True
    )
    places, hits = done.stdout.splitlines()
    return places, int(hits)


def test_machine_code_is_used_again_but_not_after_an_edit_in_a_law(tmp_path: Path) -> None:
    package, cache = tmp_path / "package", tmp_path / "cache"
    shutil.copytree(SOURCES, package / "qed", ignore=shutil.ignore_patterns("__pycache__"))
    first, hits = draw(package, cache)
    assert hits == 0
    again, hits = draw(package, cache)
    assert hits == 1
    assert again == first
    law = package / "qed" / "chance.py"
    law.write_text(law.read_text().replace("0x846CA68B", "0x846CA68D"))
    edited, hits = draw(package, cache)
    assert hits == 0
    assert edited != first


def test_every_source_counts(tmp_path: Path) -> None:
    copy = tmp_path / "swarm"
    shutil.copytree(SOURCES / "swarm", copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = compiling.digest(copy)
    assert before == compiling.digest(SOURCES / "swarm")
    cpu = compiling.digest(copy, without="cuda")
    kernel = copy / "cuda" / "kernel.py"
    kernel.write_text(kernel.read_text() + "\n")
    assert compiling.digest(copy, without="cuda") == cpu != compiling.digest(copy)
    seen = {before}
    for source in copy.rglob("*.py"):
        source.write_text(source.read_text() + "\n")
        seen.add(compiling.digest(copy))
    assert len(seen) == 1 + len(list(copy.rglob("*.py")))


def test_without_a_place_to_write_it_compiles_anew(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    places, hits = draw(SOURCES.parent, blocked)
    assert hits == 0
    assert places.startswith("[[")
    assert blocked.read_text() == "not a folder"


def test_only_the_last_versions_are_kept(tmp_path: Path, monkeypatch: object) -> None:
    monkeypatch.setenv("QED_CACHE", str(tmp_path))  # type: ignore[attr-defined]
    versions = tmp_path / "compiled"
    for age in range(6):
        folder = versions / f"old{age}"
        folder.mkdir(parents=True)
        os.utime(folder, (1000 + age, 1000 + age))
    assert compiling.code_cache().parent == versions
    assert sorted(f.name for f in versions.iterdir()) == ["old3", "old4", "old5"]


def test_kernels_of_gpus_are_kept_apart(tmp_path: Path, monkeypatch: object) -> None:
    monkeypatch.setenv("QED_CACHE", str(tmp_path))  # type: ignore[attr-defined]
    cpu, gpu = compiling.code_cache(), compiling.code_cache(gpu=True)
    assert gpu.parent.name == "compiled-gpu"
    assert cpu.name != gpu.name  # an edit of the GPU's code leaves the CPU's alone
    config = SimpleNamespace(CACHE_DIR="elsewhere")
    with compiling.kept_in(gpu, config) as can:
        assert can
        assert str(gpu) == config.CACHE_DIR
    assert config.CACHE_DIR == "elsewhere"
    gpu.rmdir()
    gpu.write_text("not a folder")
    with compiling.kept_in(gpu / "below", config) as can:
        assert not can
