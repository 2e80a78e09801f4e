"""Options that several verbs take, in the same words."""

from pathlib import Path
from typing import Annotated, Any

import typer

from qed.errors import InputError

SOURCE = "Folder of a run, an archive file, or example:TASK, which comes with QED."
KIT = "Or a kit; example:TASK-kit also comes with QED."

Archive = Annotated[Path, typer.Argument(metavar="ARCHIVE", help=SOURCE)]
ArchiveOrKit = Annotated[Path, typer.Argument(metavar="ARCHIVE", help=f"{SOURCE} {KIT}")]
Threads = Annotated[int | None, typer.Option(help="CPU threads (default: all cores).")]
Backend = Annotated[
    str, typer.Option(help="cpu, cuda (an NVIDIA GPU), or auto: the GPU if one can be used.")
]
Task = Annotated[str | None, typer.Option(help="Task (default: the archive's).")]
Seconds = Annotated[
    float | None, typer.Option(help="Simulated time per trial, in s (default: the run's).")
]
Attributes = Annotated[
    str | None,
    typer.Option(
        help="Options of the environment attributes (qed only): paper (default) or scripts."
    ),
]
Robot = Annotated[
    str,
    typer.Option(
        help="What swarms are made of: thymio, epuck, thymio-stock, or your own. The paper's "
        "speeds and ranges scale with it."
    ),
]
Among = Annotated[
    str | None,
    typer.Option(help="Kinds of faults to draw, separated by commas (default: all eight)."),
]
Broken = Annotated[
    int | None,
    typer.Option(help="Broken robots per drawn fault (default: each robot draws a fault or none)."),
]
Budget = Annotated[int | None, typer.Option(help="With a kit: search trials (default: 10).")]
By = Annotated[
    str | None,
    typer.Option(
        help="fault: robots with the same fault share a controller (default: one controller for "
        "all robots)."
    ),
]
MisdiagnosisRate = Annotated[
    float | None,
    typer.Option(
        "--misdiagnosis-rate",
        "--wrong",
        help="With a kit and --by fault: probability that a robot misdiagnoses its own fault "
        "(default: 0).",
    ),
]

Without = Annotated[
    str | None,
    typer.Option(
        help="Leave out controllers that read rab (range and bearing, which a Thymio as sold does "
        "not have) or proximity."
    ),
]

# Those whose type depends on the verb: where a study has them, None stands for the preset's.
SEED = typer.Option(help="Seed of all random numbers.")
EVALUATIONS = typer.Option(help="Controllers to evaluate in a run, the random ones included.")
INITIAL = typer.Option(help="Random controllers at the start of a run.")
TRIALS = typer.Option(help="Trials per evaluation.")
SECONDS = typer.Option(help="Simulated time per trial, in s.")
RACE = typer.Option(
    "--race",
    help="Drop children early that fall behind the incumbent of their cell: faster, but another "
    "archive (qed only).",
)
RETRIALS = typer.Option(help="Selection trials per controller, healthy and with each fault.")
FRESH = typer.Option(help="Fresh trials per selected controller, not used for selection.")
PROTOCOL = typer.Option(
    help="Selection trials: independent (default), or authors (the trials of evolution)."
)


NEEDS_KIT = "--{} needs a kit; qed prepare makes one from an archive"


def opened(path: Path, without: str | None = None) -> tuple[Any, Path]:
    """Return an archive, less controllers that read some inputs, and the file it is in."""
    from qed.archive.stored import open_archive

    archive, _, source = open_archive(path)
    return (archive if without is None else archive.without(without)), source


def refuse(words: str, **given: Any) -> None:
    """Raise InputError with these words about the first option that is given."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise InputError(words.format(name.replace("_", "-")))


def _load(files: list[Path] | None) -> list[Path] | None:
    from qed.definitions import load_definitions

    for file in files or ():
        load_definitions(file)
    return files


With = Annotated[
    list[Path] | None,
    typer.Option(
        "--with",
        metavar="FILE.py",
        callback=_load,  # what the files define can be named when the verb begins
        help="Python file that defines tasks, faults or algorithms of your own. The file is "
        "executed. May be given several times.",
    ),
]
