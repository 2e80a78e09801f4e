"""``qed replay``: a film of a swarm that breaks and recovers, of one archive or of several."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qed import text
from qed.cli import options, recoveries
from qed.definitions import defined
from qed.errors import InputError, choice, integer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qed.archive.archive import Archive
    from qed.recovery.recovery import Recovery
    from qed.view.replay import Entry


def replay(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="ARCHIVE",
            help=f"{options.SOURCE} Up to 8 of a task, side by side. {options.KIT}",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(help="File of the film (mp4 or gif) or of a page for the browser (html)."),
    ],
    faults: Annotated[
        str,
        typer.Option(
            help="One fault per robot, as in PMIN,LW-H,NONE,...; or a seed to draw them with."
        ),
    ] = "1",
    task: options.Task = None,
    seconds: Annotated[
        float | None, typer.Option(help="Simulated time, in s (default: the longest of the runs').")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(help="Selection trials for the recovery (default: 10).")
    ] = None,
    trial: Annotated[
        int | None, typer.Option(help="Trial to show, counted from 0 (default: 0).")
    ] = None,
    budget: options.Budget = None,
    by: options.By = None,
    misdiagnosis_rate: options.MisdiagnosisRate = None,
    seed: Annotated[int, options.SEED] = 1,
    speed: Annotated[
        float | None,
        typer.Option(
            help="Playback speed in multiples of real time (default: gives about 20 s of "
            "film, 50 s with a kit)."
        ),
    ] = None,
    fps: Annotated[
        int | None, typer.Option(help="Frames per second (default: 25 for mp4, 10 for gif).")
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            help="Side of a pane, in pixels (default: up to 480, less with more archives)."
        ),
    ] = None,
    trails: Annotated[bool, typer.Option("--trails", help="Draw the robots' trails.")] = False,
    sensors: Annotated[
        bool, typer.Option("--sensors", help="Draw the robots' sensor readings.")
    ] = False,
    threads: options.Threads = None,
    backend: options.Backend = "auto",
    files: options.With = None,
) -> None:
    """Film a swarm before a fault, after it, and after recovery, from the same start.

    Several archives: one column each, after the fault and after recovery.

    All start at the same poses with the same combined fault.

    A kit: one world without reset, from the healthy swarm to the fault, the search and recovery.
    """
    from qed.files import can_write
    from qed.recovery.by_fault import BY
    from qed.recovery.kit.stored import is_kit
    from qed.recovery.recover import recover
    from qed.swarm.environment import Environment
    from qed.view import film
    from qed.view.replay import Entry, checked_trial, faults_from, watch
    from qed.view.words import names

    # A request to stop ends like Ctrl-C: with nothing half-written left behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    look: dict[str, Any] = {"speed": speed, "fps": fps, "size": size}
    look |= {"trails": trails, "sensors": sensors}
    how: dict[str, Any] = {"by": by, "seed": seed, "threads": threads, "backend": backend}
    if any(map(is_kit, paths)):
        if len(paths) > 1:
            raise InputError("a kit is shown alone; give no other file")
        words = "{} is for archives; for a kit use --budget"
        options.refuse(words, trials=trials, trial=trial)
        how["misdiagnosis_rate"] = misdiagnosis_rate
        _replay_kit(paths[0], out, faults, task, budget, seconds, how, look)
        return
    options.refuse(options.NEEDS_KIT, budget=budget, misdiagnosis_rate=misdiagnosis_rate)
    if by is not None:
        choice("by", by, BY)
    # All that can be wrong is found before the search, which takes time.
    trials, trial = 10 if trials is None else trials, checked_trial(trial or 0)
    ending = film.ending_of(out)
    archives, sources = _opened(paths)
    wanted = _task(task, archives, sources)
    chosen = faults_from(faults, Environment().robots)
    longest = max(archive.header["settings"].get("seconds", 400.0) for archive in archives)
    length = float(longest) if seconds is None else seconds
    form = film.film_of(ending, [length], archives=len(archives), **look)
    can_write(out)

    entries = []
    for archive, name in zip(archives, names(archives, sources), strict=True):
        with text.waiting(f"{name}: trying {len(archive):,} controllers") as progress:
            found = recover(
                archive, wanted, chosen, trials=trials, seconds=length, progress=progress, **how
            )
        entries.append(Entry(found, name, _origin(archive, found)))
    with text.waiting("simulating what is shown") as progress:
        shown = watch(entries, seconds=length, seed=seed, trial=trial, progress=progress)
    with text.waiting("drawing") as progress:
        film.write(shown, out, form, progress)
    _print(out, entries, shown.judged)


def _opened(paths: Sequence[Path]) -> tuple[list[Archive], list[Path]]:
    """Return the archives, none of them empty, and their files."""
    from qed.archive.stored import open_archive
    from qed.view.replay import MOST

    if not 1 <= len(paths) <= MOST:
        raise InputError(f"name 1 to {MOST} archives, got {len(paths)}")
    archives, sources = [], []
    for path in paths:
        archive, _, source = open_archive(path)
        if len(archive) == 0:
            raise InputError(f"{source} is empty: it has no controller to show")
        archives.append(archive)
        sources.append(source)
    return archives, sources


def _origin(archive: Archive, found: Recovery) -> str:
    """Return where what recovers the swarm comes from; a team comes from several cells."""
    from qed.view.words import origin

    cells = set(found.cells)
    return f"a team of {len(cells)} controllers" if len(cells) > 1 else origin(archive, *cells)


def _task(task: str | None, archives: Sequence[Archive], sources: Sequence[Path]) -> str:
    """Return the task to show: as given, or the one that all archives were evolved for."""
    from qed.swarm.tasks import Task

    if task is not None:
        return defined("task", task, Task)
    tasks = [archive.header["settings"].get("task") for archive in archives]
    for one, source in zip(tasks, sources, strict=True):
        if one is None:
            raise InputError(f"task: {source} does not name its task; give one with --task")
        if one != tasks[0]:
            raise InputError(
                f"task: {source} was evolved for {one}, {sources[0]} for {tasks[0]}; give "
                "archives of one task, or choose one with --task"
            )
    return str(tasks[0])


def _print(out: Path, entries: Sequence[Entry], judged: str) -> None:
    """Print what the film shows, in numbers."""
    from qed.view.look import percent

    if len(entries) == 1:
        found: Recovery = entries[0].found
        typer.echo(
            f"{out}: fitness {found.normal:.3f}, with the fault {found.broken:.3f} "
            f"({percent(found.impact)}), after recovery {found.performance:.3f} "
            f"({percent(found.resilience)})"
        )
        return
    headings = ("healthy", "broken", "impact", "recovered", "resilience", "distance")
    rows = text.table("", right=headings)
    for entry in entries:
        one = entry.found
        rows.add_row(
            entry.name,
            f"{one.normal:.3f}",
            f"{one.broken:.3f}",
            percent(one.impact),
            f"{one.performance:.3f}",
            percent(one.resilience),
            f"{one.distance:.2f}",
        )
    screen = text.console()
    screen.print(f"{entries[0].found.task}: mean fitness over {judged}", style="bold")
    screen.print(rows)
    for entry in entries:
        if entry.origin:
            screen.print(f"{entry.name}: {entry.origin}")
    typer.echo(f"{out}")


def _replay_kit(
    path: Path,
    out: Path,
    faults: str,
    task: str | None,
    budget: int | None,
    seconds: float | None,
    how: dict[str, Any],
    look: dict[str, Any],
) -> None:
    """Search in a world that goes on, and write the film of it; ``look`` is for the film."""
    from qed import limits
    from qed.files import can_write
    from qed.recovery.kit.kit import Kit
    from qed.view import film
    from qed.view.replay import faults_from
    from qed.view.story import story

    # All that can be wrong is found before the search, which takes time.
    ending = film.ending_of(out)
    kit = Kit.load(path)
    kit.check(task, kit.environment.robots)
    chosen = faults_from(faults, kit.environment.robots)
    most = integer("budget", 10 if budget is None else budget, 1, 1000)
    length = limits.seconds(kit.seconds if seconds is None else seconds)
    form = film.film_of(ending, [length] * (most + 3), **look)
    can_write(out)

    with text.waiting("searching, trial by trial") as progress:
        found = kit.recover(
            chosen, budget=most, reset=False, seconds=length, progress=progress, **how
        )
    with text.waiting("simulating what is shown") as progress:
        shown = story(
            kit, found, seconds=length, seed=how["seed"], speed=look["speed"], progress=progress
        )
    with text.waiting("drawing") as progress:
        film.write(shown, out, form, progress)
    recoveries.print_diagnoses(found)
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
