"""``qed export``: a controller, a team or a kit as a program for robots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qed import text
from qed.cli import options
from qed.errors import InputError, integer

if TYPE_CHECKING:
    from qed.archive.archive import Archive
    from qed.controller.network import Controller, Team
    from qed.recovery.kit.kit import Kit


def export(
    path: options.ArchiveOrKit,
    to: Annotated[str, typer.Option(help="Language: python, micropython, aseba or c.")],
    out: Annotated[Path, typer.Option(help="Folder for the program; it is made.")],
    cell: Annotated[
        str | None,
        typer.Option(
            help="Cell of the controller; or a cell for each robot, separated by commas: a team."
        ),
    ] = None,
    best: Annotated[
        bool, typer.Option("--best", help="The controller with the highest fitness.")
    ] = False,
    task: options.Task = None,
    trials: Annotated[int, typer.Option(help="Trials of the comparison.")] = 20,
    seconds: options.Seconds = None,
    seed: Annotated[int, options.SEED] = 1,
    without: options.Without = None,
    files: options.With = None,
) -> None:
    """Write what robots run as a program for them, and compare it with the simulator's."""
    from qed.controller.network import Team
    from qed.programs.export import export as write
    from qed.programs.network import DoesNotFitError
    from qed.recovery.kit.kit import Kit
    from qed.recovery.kit.stored import is_kit
    from qed.swarm.environment import Environment

    how: dict[str, Any] = {"trials": trials, "seconds": seconds, "seed": seed, "task": task}
    what: Controller | Team | Kit
    archive: Archive | None = None
    if is_kit(path):
        if cell is not None or best or without is not None:
            raise InputError("a kit is exported whole; leave out --cell, --best and --without")
        what = Kit.load(path)
        how["name"] = str(what.task)
    else:
        archive, source = options.opened(path, without)
        settings = archive.header["settings"]
        how["task"] = task or settings.get("task")
        if how["task"] is None:
            raise InputError(f"task: {source} does not name its task; give one with --task")
        what, name = _chosen(archive, cell, best)
        how["name"] = f"{how['task']}, {name}"
        how["seconds"] = settings.get("seconds") if seconds is None else seconds
        if isinstance(what, Team):
            how["environment"] = Environment(robots=len(what), robot=what.robot)
    with text.waiting("comparing with the simulator") as progress:
        try:
            made = write(what, to, out, progress=progress, **how)
        except DoesNotFitError as error:
            raise InputError(f"{error}{_fitting(archive, to)}") from error
    print_parity(made.parity)
    if made.contract["needs range and bearing"]:
        typer.echo("It reads range and bearing, which a Thymio as sold does not have.")
    typer.echo(f"{out}: {', '.join(sorted(file.name for file in out.iterdir()))}")


def _chosen(archive: Archive, cell: str | None, best: bool) -> tuple[Controller | Team, str]:
    """Return the controller or the team that a user names, and what to call it."""
    from qed.controller.network import Team

    if (cell is None) == (not best):
        raise InputError("name a cell with --cell, or take the best controller with --best")
    if cell is None:
        number = archive.best.cell
        return archive.controller(number), f"cell {number}"
    words = cell.split(",")
    cells = [
        integer("cell", int(word) if word.strip().isdecimal() else word, 0, archive.cells - 1)
        for word in words
    ]
    try:
        found = [archive.controller(number) for number in cells]
    except ValueError as error:
        raise InputError(str(error)) from error
    if len(cells) == 1:
        return found[0], f"cell {cells[0]}"
    return Team(found), f"a team of {len(cells)}"


def _fitting(archive: Archive | None, to: str) -> str:
    """Return what an archive has instead of a controller that is too large, as words."""
    from qed.programs.export import best_fitting

    if archive is None:
        return ""
    elite = best_fitting(archive, to)
    if elite is None:
        return "; no other controller of the archive fits"
    return f", or --cell {elite.cell}, the best that fits (fitness {elite.fitness:.4f})"


def print_parity(parity: dict[str, Any]) -> None:
    """Print how close programs are to the simulator's controller."""
    screen = text.console()
    search = parity.get("search", {})
    columns = ("within", "same state", "running", "random", "fitness", "original")
    table = text.table("program", right=columns)
    for name, one in parity.items():
        if one is search:
            continue
        if isinstance(one, str):
            screen.print(f"{name}: {one}", markup=False)
            continue
        kinds = (
            "recorded, from the same state", "recorded, free-running", "random, free-running",
        )  # fmt: skip
        shares = [f"{100.0 * one[kind]['within']:.2f} %" for kind in kinds]
        closed = one["closed loop"]
        table.add_row(
            text.words(name), f"{one['tolerance']:g}", *shares, f"{closed['fitness']:.4f}",
            f"{closed['original']:.4f}",
        )  # fmt: skip
    if table.row_count:
        screen.print("Outputs within a part of the top speed, and fitness in the world:")
        screen.print(table)
    if search:
        screen.print(
            f"The search decided as the kit's own in {search['same']} of {search['searches']} "
            f"searches; beliefs differ by {search['beliefs apart']:.0e} at most."
        )
