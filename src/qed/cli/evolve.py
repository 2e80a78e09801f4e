"""``qed evolve``: an archive of controllers for a task, in a folder that can be resumed."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qed.cli.show import console, duration, waiting

if TYPE_CHECKING:
    from qed.evolution.run import Run

EVERY = 10.0  # s between lines when not on a terminal


def evolve(
    task: Annotated[
        str,
        typer.Argument(help="aggregation, dispersion, flocking, patrolling or border-patrolling."),
    ],
    algorithm: Annotated[
        str,
        typer.Option(
            help="qed (a cell is an environment), hbd, sdbc or spirit (a cell is a behaviour)."
        ),
    ] = "qed",
    evaluations: Annotated[
        int, typer.Option(help="Controllers to evaluate, the random ones included.")
    ] = 20_000,
    trials: Annotated[int, typer.Option(help="Trials of an evaluation.")] = 50,
    seconds: Annotated[float, typer.Option(help="Simulated time of a trial, in s.")] = 400.0,
    seed: Annotated[int, typer.Option(help="Decides everything random.")] = 1,
    replicates: Annotated[
        int, typer.Option(help="Runs side by side, with seeds SEED, SEED + 1, ...")
    ] = 1,
    batch: Annotated[int, typer.Option(help="Children of a generation.")] = 80,
    initial: Annotated[int, typer.Option(help="Random controllers to begin with.")] = 2_000,
    threads: Annotated[int | None, typer.Option(help="CPU threads; all cores unless told.")] = None,
    backend: Annotated[
        str, typer.Option(help="cpu, cuda (an NVIDIA GPU), or auto: the GPU if one can be used.")
    ] = "auto",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the run, a new one; runs/TASK-ALGORITHM-SEED unless told."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in OUT.")] = False,
    checkpoint: Annotated[float, typer.Option(help="Seconds between checkpoints.")] = 30.0,
) -> None:
    """Evolve an archive of controllers for a task."""
    from qed import limits
    from qed.errors import number
    from qed.evolution.run import Run, Settings, drive
    from qed.swarm.backend import chosen, described
    from qed.swarm.simulate import cores

    limits.replicates(replicates)
    every = number("checkpoint", checkpoint, 0.0, 1e9)
    limits.threads(threads)
    engine = chosen(backend)
    runs: list[Run] = []
    for number_ in range(seed, seed + replicates):
        settings = Settings(task, algorithm, evaluations, initial, batch, trials, seconds, number_)
        folder = out or Path("runs") / f"{settings.task}-{settings.algorithm}-{seed}"
        if replicates > 1:
            folder = folder / f"seed-{number_}"
        with waiting("making the archive's cells, once") as progress:
            run = Run(
                settings, folder, resume=resume, threads=threads, progress=progress, backend=engine
            )
            runs.append(run)
    for run in runs:
        for note in run.notes:
            typer.echo(f"qed: {note}", err=True)
    typer.echo(f"qed: simulating on {described(engine, threads or cores())}", err=True)
    # A cluster's request to stop is the same as Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with _display(runs) as show:
            for _ in drive(runs, every):
                show()
    except KeyboardInterrupt:
        typer.echo(
            f"qed: stopped, saved in {runs[0].folder}. Go on with the same command and --resume.",
            err=True,
        )
        raise typer.Exit(130) from None
    for run in runs:
        archive = run.search.archive
        typer.echo(
            f"{run.folder}: {archive.coverage:,} of {archive.cells:,} cells, best "
            f"{archive.best.fitness:.4f}, mean {archive.mean:.4f}"
        )
    typer.echo(f"Look at it with: qed info {runs[0].folder}")


@contextmanager
def _display(runs: list[Run]) -> Iterator[_Display]:
    shown = _Display(runs)
    try:
        yield shown
    finally:
        shown.close()


class _Display:
    """How far runs are: a live line on a terminal, else a line now and then."""

    def __init__(self, runs: list[Run]) -> None:
        from rich.progress import Progress, TextColumn

        self.runs = runs
        self.begin = self.last = time.monotonic()
        self.at_begin = self._done()
        screen = console(stderr=True)
        self.live = screen.is_terminal
        total = sum(run.settings.evaluations for run in runs)
        self.bar = Progress(
            TextColumn("{task.percentage:3.0f}%"),
            TextColumn("{task.description}"),
            console=screen,
            disable=not self.live,
        )
        self.task = self.bar.add_task("", total=total, completed=self.at_begin)
        self.bar.start()

    def _done(self) -> int:
        return sum(run.search.done for run in self.runs)

    def __call__(self) -> None:
        """Show the present state."""
        now = time.monotonic()
        done = self._done()
        if self.live:
            self.bar.update(self.task, completed=done, description=self.words(done, now))
        elif now - self.last >= EVERY:
            self.last = now
            typer.echo(self.words(done, now), err=True)

    def words(self, done: int, now: float) -> str:
        """Return the state in about 75 columns."""
        archives = [run.search.archive for run in self.runs]
        count = len(archives)
        total = sum(run.settings.evaluations for run in self.runs)
        rate = (done - self.at_begin) / max(now - self.begin, 1e-9)
        left = duration((total - done) / rate) if rate > 0 else "?"
        settings = self.runs[0].settings
        robots = 12.5 if settings.algorithm == "qed" else 10.0
        steps = rate * settings.trials * settings.seconds * 5.0 * robots / 1e6
        so_far = f"{done / 1e6:.2f}M" if done >= 1e6 else f"{done:,}"
        return (
            f"{so_far}: {sum(a.coverage for a in archives) / count:,.0f} cells, "
            f"best {max(a.best.fitness for a in archives):.3f}, "
            f"mean {sum(a.mean for a in archives) / count:.3f}, "
            f"{rate:,.0f}/s, {steps:.0f}M steps/s, {left} left"
        )

    def close(self) -> None:
        """Show the last state and stop."""
        if not self.live and self._done() > self.at_begin:
            typer.echo(self.words(self._done(), time.monotonic()), err=True)
        self.bar.stop()
