"""How the command line shows kits, and what their searches found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from qed.cli import show
from qed.cli.teams import cell_words, found_words, print_diagnoses

if TYPE_CHECKING:
    from qed.recovery.kit.kit import Kit
    from qed.recovery.recovery import Recovery


def loaded(path: Path) -> Kit:
    """Return the kit of a file, or say what is wrong with the file."""
    from qed.errors import InputError
    from qed.recovery.kit.kit import Kit

    try:
        return Kit.load(path)
    except ValueError as error:
        raise InputError(str(error)) from error


def print_kit(kit: Kit, path: Path) -> None:
    """Say what a kit is and what was found when it was prepared."""
    screen = show.console()
    screen.print(str(path), style="bold", markup=False)
    for line in kit.words:
        screen.print(show.printable(line), markup=False)
    table = show.table()
    table.add_column("fault")
    for heading in ("controller", "fitness", "kept", "gain"):
        table.add_column(heading, justify="right")
    for play in kit.playbook.plays.values():
        table.add_row(
            show.words(play.fault),
            f"cell {int(kit.cells[play.row])}",
            f"{play.fitness:.3f}",
            f"{play.kept:.3f}",
            f"{play.gain:+z.3f} ± {play.error:.3f}",
        )
    screen.print(table)


def print_searched(found: Sequence[Recovery]) -> None:
    """Print what searches found; of a single one also trial by trial."""
    from statistics import mean

    from qed.swarm.faults import kinds

    first, screen = found[0], show.console()
    screen.print(
        f"{first.task}: fitness {first.normal:.3f} with healthy robots (cell {first.normal_cell})",
        style="bold",
    )
    if len(found) == 1:
        print_diagnoses(first)
        _print_trace(first)
    screen.print("Robots with a fault of proximity, range and bearing, or wheels:")
    table = show.table()
    for heading in ("proximity", "r+b", "wheels", "trials", "kept", "found", "believed", "cell"):
        table.add_column(heading, justify="right")
    for one in found:
        table.add_row(
            *(str(robots) for robots in kinds(one.faults)),
            str(one.trials),
            f"{one.broken:.3f}",
            f"{one.performance:.3f}",
            f"{one.claimed:.3f}",
            found_words(one) if one.worthwhile else "kept",
        )
    screen.print(table)
    kept, after = mean(one.broken for one in found), mean(one.performance for one in found)
    trials = mean(one.trials for one in found)
    if first.session:
        _print_sessions(found)
    mean_of = f"Mean of {len(found)} on fresh trials" if len(found) > 1 else "On fresh trials"
    screen.print(
        f"{mean_of}: {kept:.3f} if the controller is kept, {after:.3f} after "
        f"{trials:.3g} trial{'s' * (trials != 1)}."
    )


def _print_sessions(found: Sequence[Recovery]) -> None:
    """Tell how the swarms did while they went on without reset."""
    from statistics import mean

    from qed.recovery.kit.play import AFTER, NORMAL, STRUCK

    means = [
        mean(part.fitness for one in found for part in one.session if part.moment == moment)
        for moment in (NORMAL, STRUCK, AFTER)
    ]
    many = f"{len(found)} swarms" if len(found) > 1 else "The swarm"
    show.console().print(
        f"{many} went on without reset: {means[0]:.3f} before the fault, {means[1]:.3f} after "
        f"it, {means[2]:.3f} after the search."
    )


def _print_trace(one: Recovery) -> None:
    """Print what was tried and what it gave, trial by trial."""
    table = show.table()
    for heading in ("trial", "cell", "gave", "best now", "believed", "90 %"):
        table.add_column(heading, justify="right")
    number = 0
    for step in one.trace:
        number += not step.free
        table.add_row(
            "before" if step.free else str(number),
            cell_words(step.cell),
            f"{step.fitness:.3f}",
            cell_words(step.best_cell) if step.worthwhile else "kept",
            f"{step.believed.mean:.3f}",
            f"{step.believed.low:.3f} to {step.believed.high:.3f}",
        )
    show.console().print(table)
