"""What the command line may name: archives, runs, studies, kits; and what it says otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kits import made
from made_shown import archive, saved
from typer.testing import CliRunner

from qed.cli import app
from qed.errors import InputError
from qed.explore.sources import views_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("sources")
    saved(home)
    for name in ("one", "two", "unfinished"):
        run = home / "study" / "runs" / name
        run.mkdir(parents=True)
        (run / "config.toml").write_text("")
        if name != "unfinished":
            archive().save(run / "archive.npz")
    return home


def test_an_archive_a_run_and_a_study(folder: Path) -> None:
    [one] = views_of([folder / "small.npz"])
    assert (one.name, str(one.task), one.seconds) == ("patrolling, QED", "patrolling", 8.0)
    [run] = views_of([folder / "study" / "runs" / "one"])
    assert run.archive.equal(one.archive)
    both = views_of([folder / "study"])
    assert [one.name for one in both] == ["patrolling, QED one", "patrolling, QED two"]


def test_a_kit_joins_its_archive(folder: Path) -> None:
    [one] = views_of([folder / "small.npz", folder / "kit.npz"])
    assert one.kit is not None
    assert one.kit.digest == made().digest


def test_a_kit_alone_shows_its_controllers(folder: Path) -> None:
    [one] = views_of([folder / "kit.npz"])
    assert one.source == ""
    assert one.occupied.tolist() == list(range(40))
    assert one.kit is not None
    assert one.controller(7).pruned() == one.kit.controllers[7]
    assert one.kit.cells.tolist() == list(range(40))


def test_without_a_name_what_comes_with_qed(folder: Path) -> None:
    example = views_of([])[0]
    assert example.source == "example:patrolling"
    assert "example:" not in example.name
    assert example.kit is not None  # it comes with the example
    assert example.kit.task == "patrolling"


def test_what_cannot_be_shown_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        views_of([folder / "missing.npz"])
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"bad\.npz"):
        views_of([tmp_path / "bad.npz"])
    empty = tmp_path / "empty.npz"
    archive(0).save(empty)
    with pytest.raises(InputError, match="is empty"):
        views_of([empty])


def test_the_begin_is_the_normal_environment_or_the_best(folder: Path) -> None:
    example = views_of([])[0]
    assert example.environment(example.normal_cell).robots == 10
    [small] = views_of([folder / "small.npz"])
    assert small.normal_cell == small.archive.best.cell


def test_the_command_says_what_is_wrong(folder: Path) -> None:
    runner = CliRunner()
    refused = runner.invoke(app, ["explore", str(folder / "missing.npz"), "--no-browser"])
    assert isinstance(refused.exception, InputError)
    help_text = runner.invoke(app, ["explore", "--help"], env={"COLUMNS": "80"}).output
    assert "--no-browser" in help_text
    assert max(map(len, help_text.splitlines())) <= 80


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "starlette.py").write_text("raise ModuleNotFoundError(name='starlette')")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    said = subprocess.run(
        [sys.executable, "-m", "qed", "explore", "--no-browser"], capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": path}, check=False,
    )  # fmt: skip
    assert said.returncode == 1
    assert "pip install 'qed-swarm[explore]'" in said.stderr


def test_the_map_is_there_before_the_compiler(folder: Path) -> None:
    text = (
        "import sys\nfrom pathlib import Path\nfrom qed.explore import maps, server\n"
        "from qed.explore.sources import views_of\n"
        f"found = views_of([Path({str(folder / 'small.npz')!r})])\n"
        "maps.as_data(found[0]); maps.page_data(found)\nprint('numba' in sys.modules)\n"
    )
    said = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"
