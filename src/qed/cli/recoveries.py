"""How the command line shows recoveries: from archives, by teams, and by the searches of kits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Any

import typer

from qed import text

if TYPE_CHECKING:
    from qed.recovery.kit.kit import Kit
    from qed.recovery.recovery import Recovery

NUMBERS = (
    "normal", "broken", "performance", "error", "impact", "resilience", "claimed_normal",
    "claimed_broken", "claimed", "claimed_impact", "claimed_resilience", "selection_bias",
    "distance",
)  # fmt: skip


def print_kit(kit: Kit, path: Path) -> None:
    """Say what a kit is and what was found when it was prepared."""
    screen = text.console()
    screen.print(str(path), style="bold", markup=False)
    for line in kit.words:
        screen.print(text.printable(line), markup=False)
    screen.print(f"Without range and bearing: {_without(kit)}.")
    table = text.table("fault", right=("controller", "fitness", "kept", "gain"))
    for play in kit.playbook.plays.values():
        table.add_row(
            text.words(play.fault),
            f"cell {int(kit.cells[play.row])}",
            f"{play.fitness:.3f}",
            f"{play.kept:.3f}",
            f"{play.gain:+z.3f} ± {play.error:.3f}",
        )
    screen.print(table)


def share_of(count: int, of: int, fitness: float, cell: int) -> str:
    """Return how many controllers do without something, and what their best one has, as words."""
    return f"{count:,} ({100 * count / of:.1f} %), the best has {fitness:.4f} (cell {cell})"


def _without(kit: Kit) -> str:
    """Return what a kit's controllers can do without range and bearing, as words."""
    from qed.swarm.job import networks_of

    reads = networks_of(kit.controllers)[0].reads
    rows = [k for k, bits in enumerate(reads & kit.controllers[0].nodes.RAB_BITS) if not bits]
    if not rows:
        return "no controller"
    best = max(rows, key=lambda k: float(kit.known.normal[k]))
    fitness = float(kit.known.normal[best])
    return share_of(len(rows), len(reads), fitness, int(kit.cells[best]))


def print_recoveries(found: Sequence[Recovery]) -> None:
    """Print what was found, fault by fault, and what that is worth."""
    first = found[0]
    text.console().print(
        f"{first.task}: fitness {first.normal:.3f} with healthy robots (cell {first.normal_cell})",
        style="bold",
    )
    if first.strategy is not None:
        _print_searched(found)
    elif first.team is not None:
        _print_teams(found)
    else:
        _print_chosen(found)


def _print_table(
    found: Sequence[Recovery], columns: Mapping[str, Callable[[Any], str]], words: str = ""
) -> None:
    """Print a row for each fault: what is broken, and some columns."""
    from qed.swarm.faults import kinds

    screen = text.console()
    screen.print(f"Robots with a fault of proximity, range and bearing, or wheels{words}:")
    table = text.table(right=("proximity", "r+b", "wheels", *columns))
    for one in found:
        table.add_row(*map(str, kinds(one.faults)), *(show(one) for show in columns.values()))
    screen.print(table)


def _print_chosen(found: Sequence[Recovery]) -> None:
    """Print what controllers of an archive recover."""
    columns = {
        "impact": "{0.impact:+z.2f}", "resilience": "{0.resilience:+z.2f}",
        "fitness": "{0.performance:.3f}", "distance": "{0.distance:.2f}", "cell": "{0.cell}",
    }  # fmt: skip
    _print_table(found, {name: form.format for name, form in columns.items()})
    screen = text.console()
    lost, kept = (median(getattr(one, name) for one in found) for name in ("impact", "resilience"))
    screen.print(
        f"Median of {len(found)}: {lost:+z.1%} when robots break, {kept:+z.1%} after recovery."
    )
    claimed = mean(one.claimed - one.claimed_broken for one in found)
    gained = mean(one.performance - one.broken for one in found)
    screen.print(
        f"Recovery gains {gained:+z.3f} on fresh trials and claimed {claimed:+z.3f} "
        f"({bias_words(claimed, gained)})."
    )
    if len(found) == 1:
        screen.print(f"Faults: {','.join(found[0].faults)}", soft_wrap=True)


def bias_words(claimed: float, gained: float) -> str:
    """Return in words how much of a claimed gain is selection bias."""
    bias = 1.0 - gained / claimed if claimed > 0.0 else 0.0
    return f"{min(max(bias, 0.0), 1.0):.0%} selection bias"


def _print_teams(found: Sequence[Recovery]) -> None:
    """Print what teams are worth; of a single one also which fault runs what."""
    screen = text.console()
    if len(found) == 1:
        table = text.table("fault", right=("robots", "cell"))
        for fault, cell in found[0].plays.items():
            same = " (as for all)" if cell == found[0].cell else ""
            robots = list(found[0].faults).count(fault)
            table.add_row(text.words(fault), str(robots), f"{cell}{same}")
        screen.print(table)
    columns = {
        "impact": "{0.impact:+z.2f}", "one for all": "{0.one_for_all_resilience:+z.2f}",
        "team": "{0.resilience:+z.2f}", "gain": "{0.gain:+z.3f}",
    }  # fmt: skip
    forms: dict[str, Callable[[Any], str]] = {name: form.format for name, form in columns.items()}
    forms["controllers"] = lambda one: str(len(set(one.cells)))
    _print_table(found, forms, "; resilience")
    lost, alone, together = (
        median(getattr(one, name) for one in found)
        for name in ("impact", "one_for_all_resilience", "resilience")
    )
    screen.print(
        f"Median of {len(found)}: {lost:+z.1%} when robots break, {alone:+z.1%} with one "
        f"controller for all,\n{together:+z.1%} with a team by fault."
    )
    gain = mean(one.gain or 0.0 for one in found)
    screen.print(f"A team gains {gain:+z.3f} over one for all, on fresh trials.")


def _print_searched(found: Sequence[Recovery]) -> None:
    """Print what the searches of a kit found; of a single one also trial by trial."""
    first, screen = found[0], text.console()
    if len(found) == 1:
        print_diagnoses(first)
        _print_trace(first)
    columns = {
        "trials": "{0.trials}", "kept": "{0.broken:.3f}", "found": "{0.performance:.3f}",
        "believed": "{0.claimed:.3f}",
    }  # fmt: skip
    forms: dict[str, Callable[[Any], str]] = {name: form.format for name, form in columns.items()}
    _print_table(found, {**forms, "cell": _found_words})
    kept, after = mean(one.broken for one in found), mean(one.performance for one in found)
    trials = mean(one.trials for one in found)
    if first.session:
        _print_sessions(found)
    mean_of = f"Mean of {len(found)} on fresh trials" if len(found) > 1 else "On fresh trials"
    screen.print(
        f"{mean_of}: {kept:.3f} if the controller is kept, {after:.3f} after "
        f"{trials:.3g} trial{'s' * (trials != 1)}."
    )


def _found_words(one: Recovery) -> str:
    """Return what a search found: a cell, or how many of them a team has."""
    if not one.worthwhile:
        return "kept"
    cells = set(one.cells)
    return str(one.cell) if len(cells) == 1 else f"team of {len(cells)}"


def print_diagnoses(one: Recovery) -> None:
    """Print what robots said is broken in them and what they run now, if a team was sought."""
    if one.diagnoses is None:
        return
    mistaken = sum(said != true for said, true in zip(one.diagnoses, one.faults, strict=True))
    text.console().print(f"Diagnoses of the robots, {mistaken} of them wrong:")
    table = text.table("diagnosis", right=("robots", "cell"))
    for name, cell in one.plays.items():
        table.add_row(text.words(name), str(list(one.diagnoses).count(name)), str(cell))
    text.console().print(table)


def _print_trace(one: Recovery) -> None:
    """Print what was tried and what it gave, trial by trial."""
    table = text.table(right=("trial", "cell", "gave", "best now", "believed", "90 %"))
    number = 0
    for step in one.trace:
        number += not step.free
        # A team's controllers come from several cells.
        cell, best = (str(k) if k >= 0 else "team" for k in (step.cell, step.best_cell))
        table.add_row(
            "before" if step.free else str(number),
            cell,
            f"{step.fitness:.3f}",
            best if step.worthwhile else "kept",
            f"{step.believed.mean:.3f}",
            f"{step.believed.low:.3f} to {step.believed.high:.3f}",
        )
    text.console().print(table)


def _print_sessions(found: Sequence[Recovery]) -> None:
    """Print how the swarms did while they went on without reset."""
    from qed.recovery.kit.play import AFTER, NORMAL, STRUCK

    means = [
        mean(part.fitness for one in found for part in one.session if part.moment == moment)
        for moment in (NORMAL, STRUCK, AFTER)
    ]
    many = f"{len(found)} swarms" if len(found) > 1 else "The swarm"
    text.console().print(
        f"{many} went on without reset: {means[0]:.3f} before the fault, {means[1]:.3f} after "
        f"it, {means[2]:.3f} after the search."
    )


def save(found: Sequence[Recovery], out: Path) -> None:
    """Write all numbers to a CSV file, and say so."""
    import pandas as pd

    from qed.files import user_file

    rows = [
        {
            "faults": ",".join(one.faults),
            **{name: getattr(one, name) for name in NUMBERS},
            "normal_cell": one.normal_cell,
            "cell": one.cell,
            **_team_columns(one),
        }
        for one in found
    ]
    with user_file(out) as fresh:
        pd.DataFrame(rows).to_csv(fresh, index=False)
    typer.echo(f"All numbers: {out}")


def _team_columns(one: Recovery) -> dict[str, Any]:
    """Return what a table says of a team beyond other recoveries; nothing if it is none."""
    if one.team is None:
        return {}
    names = ("one_for_all", "one_for_all_resilience", "gain", "gain_error")
    numbers = {name: getattr(one, name) for name in names}
    if one.diagnoses is not None:
        rate, diagnoses = one.misdiagnosis_rate, ",".join(one.diagnoses)
        numbers = {"misdiagnosis_rate": rate, "diagnoses": diagnoses}
    return {**numbers, "cells": " ".join(map(str, one.cells))}
