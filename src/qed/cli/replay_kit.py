"""``qed replay KIT``: one film of a swarm that goes on while a search recovers it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from qed.cli.kit import loaded
from qed.cli.show import waiting
from qed.cli.teams import print_diagnoses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qed.recovery.recovery import Recovery


def refuse(paths: Sequence[Path], **given: Any) -> None:
    """Raise InputError if more than one file, or what only archives take, goes with a kit."""
    from qed.errors import InputError

    if len(paths) > 1:
        raise InputError("a kit is shown alone; give no other file")
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} is for archives; for a kit use --budget")


def replay_kit(
    path: Path,
    out: Path,
    faults: str,
    task: str | None,
    *,
    budget: int | None,
    by: str | None,
    misdiagnosis_rate: float | None,
    seconds: float | None,
    seed: int,
    threads: int | None,
    backend: str,
    **how: Any,
) -> None:
    """Search in a world that goes on, and write the film of it; ``how`` is for the film."""
    from qed import limits
    from qed.errors import whole
    from qed.files import can_write
    from qed.view import film
    from qed.view.replay import faults_from
    from qed.view.story import story

    # All that can be wrong is found before the search, which takes time.
    ending = film.ending_of(out)
    kit = loaded(path)
    kit.check(task, kit.environment.robots)
    chosen = faults_from(faults, kit.environment.robots)
    most = whole("budget", 10 if budget is None else budget, 1, 1000)
    length = limits.seconds(kit.seconds if seconds is None else seconds)
    form = film.film_of(ending, [length] * (most + 3), **how)
    can_write(out)

    with waiting("searching, trial by trial") as progress:
        found = kit.recover(
            chosen, budget=most, reset=False, by=cast(Any, by), misdiagnosis_rate=misdiagnosis_rate,
            seconds=length, seed=seed, threads=threads, progress=progress, backend=backend,
        )  # fmt: skip
    with waiting("simulating what is shown") as progress:
        shown = story(kit, found, seconds=length, seed=seed, speed=how["speed"], progress=progress)
    with waiting("drawing") as progress:
        film.write(shown, out, form, progress)
    print_diagnoses(found)
    many = f"{found.trials} trial{'s' * (found.trials != 1)}"
    typer.echo(f"{out}: fitness {found.normal:.3f}, with the fault {found.broken:.3f};")
    typer.echo(f"after {many} the swarm {_went_on(found)}, {found.performance:.3f}")


def _went_on(found: Recovery) -> str:
    """Return what the swarm did after the search."""
    if not found.worthwhile:
        return "kept its controller"
    cells = len(set(found.cells))
    named = f"cell {found.cell}" if cells == 1 else f"a team of {cells} controllers"
    return f"went on with {named}"
