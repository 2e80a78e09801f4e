"""``qed prepare``: learn from simulated faults how a swarm recovers within ten trials."""

from pathlib import Path
from typing import Annotated

import typer

from qed import text
from qed.cli import options


def prepare(
    path: options.Archive,
    out: Annotated[Path, typer.Option(help="Kit file (npz).")] = Path("kit.npz"),
    task: options.Task = None,
    faults: Annotated[
        list[str] | None,
        typer.Option(
            help="Another combined fault for the library, one fault per robot: "
            "PMIN,LW-H,NONE,...; may be given several times."
        ),
    ] = None,
    controllers: Annotated[int, typer.Option(help="Controllers of the kit.")] = 96,
    library: Annotated[
        int,
        typer.Option(
            help="Faults simulated with the kit's controllers, and half of them with candidates."
        ),
    ] = 160,
    elsewhere: Annotated[
        int, typer.Option(help="The same in swarms of fewer robots, or with more obstacles.")
    ] = 40,
    survey: Annotated[int, typer.Option(help="Faults simulated with all controllers.")] = 20,
    validation: Annotated[
        int, typer.Option(help="Faults for validation, not used for learning.")
    ] = 16,
    seconds: options.Seconds = None,
    seed: Annotated[int, options.SEED] = 1,
    threads: options.Threads = None,
    backend: options.Backend = "auto",
    without: options.Without = None,
    files: options.With = None,
) -> None:
    """Prepare a kit: learn from simulated faults how to recover within ten trials."""
    from qed.errors import InputError, StoppedError
    from qed.files import can_write
    from qed.recovery.kit.prepare import Effort
    from qed.recovery.kit.prepare import prepare as learn
    from qed.swarm.faults import Faults

    archive, _ = options.opened(path, without)
    if out.suffix.lower() != ".npz":
        raise InputError(f"out: the file must end in .npz, got {out.name!r}")
    can_write(out)
    effort = Effort(
        surveyed=survey, screened=library // 2, controllers=controllers, faults=library,
        elsewhere=elsewhere, validation=validation,
    )  # fmt: skip
    notes = out.with_name(f"{out.stem}.unfinished.npz")
    left = f"; what was simulated is in {notes}. Resume with the same command."
    try:
        with text.stopping(left), text.waiting("simulating faults") as progress:
            kit = learn(
                archive, task, faults=[Faults(words) for words in faults or ()], seed=seed,
                seconds=seconds, effort=effort, notes=notes, threads=threads, progress=progress,
                backend=backend,
            )  # fmt: skip
        kit.save(out)
        notes.unlink(missing_ok=True)
    except OSError as error:
        raise StoppedError(f"cannot write {out}: {error.strerror}") from error
    screen = text.console()
    for line in kit.words:
        screen.print(line, markup=False)
    typer.echo(f"{out}: {out.stat().st_size / 1000:.0f} kB. Try it with: qed recover {out}")
