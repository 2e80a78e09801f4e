"""``qed info``: what a run or an archive is, how it was made, and its numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qed.cli import show

if TYPE_CHECKING:
    from qed.archive.archive import Archive

EXAMPLE = "example:"  # before the name of an archive that comes with QED
SOURCE = "Folder of a run, an archive file, or example:patrolling, which comes with QED."


def info(
    path: Annotated[Path, typer.Argument(help=SOURCE)],
) -> None:
    """Say what a run or an archive is, how it was made, and its numbers."""
    from qed.evolution.algorithms import ALGORITHMS

    archive, state, source = opened(path)
    settings = archive.header.get("settings", {})
    screen = show.console()
    screen.print(f"{source}", style="bold")
    made = show.table()
    made.add_column("made by")
    made.add_column("", justify="right")
    for name, value in settings.items():
        made.add_row(name, f"{value:,}" if isinstance(value, int) else str(value))
    if settings.get("algorithm") in ALGORITHMS:
        made.add_row("cells", ALGORITHMS[settings["algorithm"]].meaning)
    screen.print(made)
    numbers = show.table()
    numbers.add_column("numbers")
    numbers.add_column("", justify="right")
    for name, text in _numbers(archive, state, settings):
        numbers.add_row(name, text)
    screen.print(numbers)


def opened(path: Path) -> tuple[Archive, dict[str, Any], Path]:
    """Return an archive, its run's state if it is unfinished, and the file it came from."""
    from qed.archive.archive import Archive
    from qed.archive.examples import load_example
    from qed.errors import InputError
    from qed.evolution.run import ARCHIVE, CHECKPOINT, CONFIG, PREVIOUS

    if str(path).startswith(EXAMPLE):
        archive = load_example(str(path).removeprefix(EXAMPLE))
        return archive, archive.header.pop("state", {}), path
    if path.is_dir():
        there = [path / name for name in (ARCHIVE, CHECKPOINT, PREVIOUS) if (path / name).exists()]
        inside = [folder.name for folder in sorted(path.iterdir()) if (folder / CONFIG).exists()]
        if not there and inside:
            raise InputError(f"{path} holds several runs; name one of {', '.join(inside)}")
        if not there:
            raise InputError(f"{path} holds no archive and no checkpoint yet")
        path = there[0]
    elif not path.exists():
        raise InputError(f"{path} does not exist")
    try:
        archive = Archive.load(path)
    except ValueError as error:
        raise InputError(str(error)) from error
    return archive, archive.header.pop("state", {}), path


def _numbers(
    archive: Archive, state: dict[str, Any], settings: dict[str, Any]
) -> list[tuple[str, str]]:
    """Return what is worth knowing about an archive, as words."""
    done = state.get("done", settings.get("evaluations"))
    rows = [("coverage", f"{archive.coverage:,} of {archive.cells:,} cells")]
    if done is not None:
        rows.insert(0, ("evaluations done", f"{done:,}"))
    if archive.coverage == 0:
        return rows
    best = archive.best
    rows += [
        ("best fitness", f"{best.fitness:.4f} (cell {best.cell})"),
        *_environment(settings, best.measures),
        ("mean fitness", f"{archive.mean:.4f}"),
        ("QD score", f"{archive.qd_score:.1f}"),
    ]
    if best.controller is not None:
        sizes = [(c.hidden, len(c.connections)) for c in archive.controllers]
        hidden = sum(h for h, _ in sizes) / len(sizes)
        links = sum(n for _, n in sizes) / len(sizes)
        rows.append(("mean size", f"{hidden:.1f} hidden neurons, {links:.1f} connections"))
    return rows


def _environment(settings: dict[str, Any], measures: Any) -> list[tuple[str, str]]:
    """Return the environment of a QED elite, as words."""
    if settings.get("algorithm") != "qed":
        return []
    from qed.swarm.environment import Environment

    env = Environment.from_options(measures.astype(int).tolist())
    return [
        ("  in", f"{env.robots} robots, {env.max_speed:g} m/s, arena {env.arena:g} m"),
        ("", f"{env.obstacles} obstacles, ranges {env.rab_range:g} and {env.proximity_range:g} m"),
    ]
