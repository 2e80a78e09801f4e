"""A release says one version everywhere, is cited rightly, and holds all that its tests need."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

import qed

HERE = Path(__file__).parents[1]
SECTION = re.compile(r"^## (.*)$", re.MULTILINE)
# What hatchling packs in any case.
ALWAYS = {".gitignore", "LICENSE", "README.md", "pyproject.toml"}


def project() -> dict[str, Any]:
    return tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))


def citation() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((HERE / "CITATION.cff").read_text("utf-8"))
    return found


def tracked() -> list[str]:
    """Return the files that git has of this folder; none where it is not a clone."""
    if not (HERE / ".git").exists() or shutil.which("git") is None:
        return []
    command = ["git", "ls-files"]
    return subprocess.run(command, cwd=HERE, capture_output=True, text=True).stdout.splitlines()


def test_changelog_and_citation_have_the_version_and_its_date() -> None:
    unreleased, latest, *_ = SECTION.findall((HERE / "CHANGELOG.md").read_text("utf-8"))
    assert unreleased == "Unreleased"
    cited = citation()
    assert latest == f"{qed.__version__} ({cited['date-released']})"
    assert cited["version"] == qed.__version__
    assert date.fromisoformat(cited["date-released"]).year >= 2026
    assert project()["tool"]["hatch"]["version"]["path"] == "src/qed/__init__.py"


def test_the_citation_names_software_and_paper() -> None:
    cited = citation()
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] == "software"
    assert cited["message"]
    assert [one["name"] for one in cited["authors"]] == [
        one["name"] for one in project()["project"]["authors"]
    ]
    assert cited["license"] == project()["project"]["license"]
    [paper] = cited["references"]
    assert paper["type"] == "article"
    assert [one["family-names"] for one in paper["authors"]] == ["Bossens", "Tarapore"]
    assert re.fullmatch(r"10\.\d{4,9}/\S+", paper["doi"])


def test_no_address_of_the_project_is_invented() -> None:
    assert "urls" not in project()["project"]
    assert not {"url", "repository", "repository-code"} & set(citation())


def test_the_source_distribution_holds_all_that_git_has() -> None:
    listed = tracked()
    if not listed:
        pytest.skip("this is not a clone, or git does not answer")
    packed = {
        name.strip("/")
        for name in project()["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    }
    assert {name.split("/")[0] for name in listed} - ALWAYS == packed


def test_pre_commit_runs_what_make_runs() -> None:
    recipes = re.findall(
        r"^(?:lint|types):.*\n((?:\t.*\n)+)", (HERE / "Makefile").read_text(), re.MULTILINE
    )
    commands = [
        line.strip().replace("$(BIN)", ".venv/bin") for one in recipes for line in one.splitlines()
    ]
    [repository] = yaml.safe_load((HERE / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert repository["repo"] == "local"  # nothing is fetched: the environment has what is needed
    assert [hook["entry"] for hook in repository["hooks"]] == commands
    assert len(commands) == 3
    assert not any(hook["pass_filenames"] for hook in repository["hooks"])
    assert all(hook["language"] == "system" for hook in repository["hooks"])


def test_ci_tests_and_then_releases() -> None:
    lines = (HERE / ".ci" / "run").read_text("utf-8").splitlines()
    made = [line for line in lines if line.startswith("make ")]
    assert made[0] == "make test"
    assert "make release" in made
