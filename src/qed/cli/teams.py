"""How the command line shows teams: robots with the same fault share a controller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from qed.cli import show

if TYPE_CHECKING:
    from qed.recovery.recovery import Recovery


def team_columns(one: Recovery) -> dict[str, Any]:
    """Return what a table says of a team beyond other recoveries; nothing if it is none."""
    if one.team is None:
        return {}
    if one.diagnoses is None:
        names = ("one_for_all", "one_for_all_resilience", "gain", "gain_error")
        numbers = {name: getattr(one, name) for name in names}
    else:
        numbers = {
            "misdiagnosis_rate": one.misdiagnosis_rate,
            "diagnoses": ",".join(one.diagnoses),
        }
    return {**numbers, "cells": " ".join(map(str, one.cells))}


def cell_words(cell: int) -> str:
    """Return where a controller comes from; a team's come from several cells."""
    return str(cell) if cell >= 0 else "team"


def found_words(one: Recovery) -> str:
    """Return what a search found: a cell, or how many of them a team has."""
    cells = set(one.cells)
    return str(one.cell) if len(cells) == 1 else f"team of {len(cells)}"


def print_diagnoses(one: Recovery) -> None:
    """Print what robots said is broken in them and what they run now, if a team was sought."""
    if one.diagnoses is None:
        return
    mistaken = sum(said != true for said, true in zip(one.diagnoses, one.faults, strict=True))
    show.console().print(f"Diagnoses of the robots, {mistaken} of them wrong:")
    table = show.table()
    table.add_column("diagnosis")
    for heading in ("robots", "cell"):
        table.add_column(heading, justify="right")
    for name, cell in one.plays.items():
        table.add_row(show.words(name), str(list(one.diagnoses).count(name)), str(cell))
    show.console().print(table)


def print_teams(found: Sequence[Recovery], task: str) -> None:
    """Print what teams are worth; of a single one also which fault runs what."""
    from statistics import mean, median

    from qed.swarm.faults import kinds

    first, screen = found[0], show.console()
    screen.print(
        f"{task}: fitness {first.normal:.3f} with healthy robots (cell {first.normal_cell})",
        style="bold",
    )
    if len(found) == 1:
        _print_plays(first)
    screen.print("Robots with a fault of proximity, range and bearing, or wheels; resilience:")
    table = show.table()
    for heading in (
        "proximity", "r+b", "wheels", "impact", "one for all", "team", "gain", "controllers",
    ):  # fmt: skip
        table.add_column(heading, justify="right")
    for one in found:
        table.add_row(
            *(str(robots) for robots in kinds(one.faults)),
            f"{one.impact:+.2f}",
            f"{one.one_for_all_resilience:+.2f}",
            f"{one.resilience:+.2f}",
            f"{one.gain:+z.3f}",
            str(len(set(one.cells))),
        )
    screen.print(table)
    lost, alone, together = (
        median(getattr(one, name) for one in found)
        for name in ("impact", "one_for_all_resilience", "resilience")
    )
    screen.print(
        f"Median of {len(found)}: {lost:+.1%} when robots break, {alone:+.1%} with one controller "
        f"for all,\n{together:+.1%} with a team by fault."
    )
    gain = mean(one.gain or 0.0 for one in found)
    screen.print(f"A team gains {gain:+z.3f} over one for all, on fresh trials.")


def _print_plays(one: Recovery) -> None:
    """Print the controller for each fault."""
    table = show.table()
    table.add_column("fault")
    for heading in ("robots", "cell"):
        table.add_column(heading, justify="right")
    for fault, cell in one.plays.items():
        same = " (as for all)" if cell == one.cell else ""
        table.add_row(show.words(fault), str(list(one.faults).count(fault)), f"{cell}{same}")
    show.console().print(table)
