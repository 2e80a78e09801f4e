"""``qed replay``: a film of a swarm before a fault, after it, and after recovery."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from qed.cli.info import SOURCE, opened
from qed.cli.show import waiting


def replay(
    path: Annotated[Path, typer.Argument(help=SOURCE)],
    out: Annotated[
        Path, typer.Option(help="The film (mp4 or gif), or a page for the browser (html).")
    ],
    faults: Annotated[
        str,
        typer.Option(
            help="One fault for each robot, as in PMIN,LW-H,NONE,...; or a seed to draw them with."
        ),
    ] = "1",
    seconds: Annotated[
        float | None, typer.Option(help="Simulated time, in s; the run's own unless told.")
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(help="Trials to choose the recovery by; the run's own unless told."),
    ] = None,
    trial: Annotated[int, typer.Option(help="The trial to show, from 0.")] = 0,
    seed: Annotated[
        int | None, typer.Option(help="Decides starts and noise; the run's own unless told.")
    ] = None,
    speed: Annotated[
        float | None, typer.Option(help="Times real time; for about 20 s of film unless told.")
    ] = None,
    fps: Annotated[
        int | None, typer.Option(help="Frames in a second; 25 for mp4, 10 for gif unless told.")
    ] = None,
    size: Annotated[
        int | None, typer.Option(help="Side of a pane in pixels; 480, for gif 320 unless told.")
    ] = None,
    trails: Annotated[bool, typer.Option("--trails", help="Draw where robots came from.")] = False,
    sensors: Annotated[bool, typer.Option("--sensors", help="Draw what robots sense.")] = False,
    threads: Annotated[int | None, typer.Option(help="CPU threads; all cores unless told.")] = None,
    backend: Annotated[
        str, typer.Option(help="cpu, cuda (an NVIDIA GPU), or auto: the GPU if one can be used.")
    ] = "auto",
) -> None:
    """Show a swarm before a fault, after it, and after recovery: the same start three times."""
    from qed.errors import InputError
    from qed.recovery.recover import recover
    from qed.swarm.environment import Environment
    from qed.view.film import Film, kind
    from qed.view.look import percent
    from qed.view.replay import checked_trial, faults_from, produce, watch
    from qed.view.unfinished import can_write

    # All that can be wrong is found before the search, which takes time.
    ending = kind(out)
    archive, _, source = opened(path)
    settings = archive.header.get("settings", {})
    if "task" not in settings:
        raise InputError(f"{source} does not tell its task; qed evolve writes archives that do")
    if archive.coverage == 0:
        raise InputError(f"{source} is empty: it has no controller to show")
    chosen = faults_from(faults, Environment().robots)
    length = settings["seconds"] if seconds is None else seconds
    film = Film.planned(ending, length, speed, fps, size, trails=trails, sensors=sensors)
    number = settings["seed"] if seed is None else seed
    checked_trial(trial)
    can_write(out)

    # A request to stop ends like Ctrl-C: with nothing half-written left behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with waiting("trying every controller of the archive") as progress:
        found = recover(
            archive, settings["task"], chosen,
            trials=settings["trials"] if trials is None else trials,
            seconds=length, seed=number, threads=threads, progress=progress, backend=backend,
        )  # fmt: skip
    shown = watch(
        found, seconds=length, seed=number, trial=trial, algorithm=settings.get("algorithm", "")
    )
    with waiting("drawing") as progress:
        produce(shown, out, film, progress)
    typer.echo(
        f"{out}: fitness {found.normal:.3f}, with the fault {found.broken:.3f} "
        f"({percent(found.impact)}), after recovery {found.performance:.3f} "
        f"({percent(found.resilience)})"
    )
