"""The cache of machine code: used again, and never after an edit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import qed
from qed import compile as compiling

SOURCES = Path(qed.__file__).parent
# An entry that is compiled at once, unlike those of the simulator, and a law of another file.
ENTRY = """
from qed.chance import mix
from qed.compile import entry


@entry
def mixed(word):
    return mix(word)
"""
DRAW = """
from qed.swarm.short import mixed
print(mixed(7))
print(sum(mixed.stats.cache_hits.values()))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package, and a short entry in it."""
    found = tmp_path_factory.mktemp("package")
    shutil.copytree(SOURCES, found / "qed", ignore=shutil.ignore_patterns("__pycache__"))
    (found / "qed" / "swarm" / "short.py").write_text(ENTRY)
    return found


def draw(package: Path, cache: Path) -> tuple[str, int]:
    """Draw a number in a new process with a copy of the package; return it and cache hits."""
    env = {**os.environ, "PYTHONPATH": str(package), "QED_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", DRAW], env=env, capture_output=True, text=True, check=True
    )
    number, hits = done.stdout.splitlines()
    return number, int(hits)


def test_machine_code_is_used_again_but_not_after_an_edit_in_a_law(
    package: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
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


def test_without_a_place_to_write_it_compiles_anew(package: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    number, hits = draw(package, blocked)
    assert hits == 0
    assert int(number) > 0
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
