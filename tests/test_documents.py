"""The Python in README and docs runs as it is written, with smaller numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import LONG
from kits import made

HERE = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
# What would take minutes: evaluations, trials and simulated time.
SMALLER = (
    (re.compile(r"\bevaluations=[\d_]+"), "evaluations=60, initial=20"),
    (re.compile(r"\btrials=\d+"), "trials=1"),
    (re.compile(r"\bseconds=[\d.]+"), "seconds=2.0"),
    (re.compile(r"\b(recover\(.*)\)$", re.MULTILINE), r"\1, fresh=1)"),
)
# Needs a cluster.
ELSEWHERE = {"docs/tutorials/cluster_and_gpu.md"}


def documents() -> list[str]:
    """Return all documents with Python in them."""
    pages = [HERE / "README.md", *sorted((HERE / "docs").rglob("*.md"))]
    return [str(page.relative_to(HERE)) for page in pages if BLOCK.search(page.read_text("utf-8"))]


def test_the_readme_has_python() -> None:
    assert "README.md" in documents()


@pytest.mark.parametrize("name", [name for name in documents() if name not in ELSEWHERE])
def test_python_of_a_document_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made().save(tmp_path / "patrol-kit.npz")  # to prepare a real one takes minutes
    scope: dict[str, object] = {}
    for block in BLOCK.findall((HERE / name).read_text("utf-8")):
        for long, short in SMALLER:
            block = long.sub(short, block)
        exec(compile(block, name, "exec"), scope)


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_python_for_elsewhere_compiles(name: str) -> None:
    for block in BLOCK.findall((HERE / name).read_text("utf-8")):
        compile(block, name, "exec")


@pytest.mark.parametrize("name", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_files_that_a_document_names_are_there(name: str) -> None:
    roots = [HERE, HERE / "src", HERE / "src/qed", *(HERE / "src/qed").glob("*/")]
    named = set(re.findall(r"[a-z_/]+\.py\b", (HERE / name).read_text("utf-8")))
    assert named
    assert {path for path in named if not any((root / path).exists() for root in roots)} == set()


def test_tests_that_are_named_elsewhere_are_there() -> None:
    """The order of long tests, and those that run early."""
    early = re.search(
        r"^EARLY = .*?tests/%.py,(.*?)\)", (HERE / "Makefile").read_text(), re.DOTALL | re.M
    )
    assert early
    named = [f"{name}.py" for name in early[1].replace("\\", " ").split()]
    assert [name for name in [*named, *LONG] if not (HERE / "tests" / name).exists()] == []
