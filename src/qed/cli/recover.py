"""``qed recover``: break robots, and find the controllers of an archive that work then."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qed.cli import show
from qed.cli.info import SOURCE, opened

if TYPE_CHECKING:
    from qed.recovery.recover import Recovery
    from qed.swarm.faults import Faults


def recover(
    path: Annotated[Path, typer.Argument(help=SOURCE)],
    faults: Annotated[
        list[str] | None,
        typer.Option(
            help="A number of combined faults to draw (10 unless told), or one fault for each "
            "robot: PMIN,LW-H,NONE,...; may be given several times."
        ),
    ] = None,
    task: Annotated[str | None, typer.Option(help="The archive's own unless told.")] = None,
    trials: Annotated[int, typer.Option(help="Trials of a controller in each fault.")] = 10,
    seconds: Annotated[
        float | None, typer.Option(help="Simulated time of a trial, in s; the run's unless told.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides faults drawn, start poses and noise.")] = 1,
    threads: Annotated[int | None, typer.Option(help="CPU threads; all cores unless told.")] = None,
    backend: Annotated[
        str, typer.Option(help="cpu, cuda (an NVIDIA GPU), or auto: the GPU if one can be used.")
    ] = "auto",
    out: Annotated[
        Path | None, typer.Option(help="File (csv) for all numbers; none unless told.")
    ] = None,
) -> None:
    """Break robots, and find the controllers of an archive that work then."""
    from qed.errors import InputError, StoppedError
    from qed.recovery.recover import recover as search

    archive, _, source = opened(path)
    made = archive.header.get("settings", {})
    wanted = task or made.get("task")
    if wanted is None:
        raise InputError(f"task: {source} does not say which; name one with --task")
    combined = chosen(faults or ["10"], seed)
    if out is not None and out.suffix.lower() != ".csv":
        raise InputError(f"out: the file must end in .csv, got {out.name!r}")
    with show.waiting(f"trying {archive.coverage:,} controllers in each fault") as progress:
        found = search(
            archive,
            wanted,
            combined,
            trials=trials,
            seconds=seconds or made.get("seconds", 400.0),
            seed=seed,
            threads=threads,
            progress=progress,
            backend=backend,
        )
    _print(found, wanted)
    if out is not None:
        try:
            _save(found, out)
        except OSError as error:
            raise StoppedError(f"cannot write {out}: {error.strerror}") from error
        typer.echo(f"All numbers: {out}")


def chosen(given: list[str], seed: int) -> list[Faults]:
    """Return the combined faults that a user names, or so many drawn ones."""
    from qed.errors import whole
    from qed.swarm.faults import Faults

    found: list[Faults] = []
    for words in given:
        if words.strip().lstrip("-").isdecimal():
            count = whole("faults", int(words), 1, 100_000)
            found += [Faults.sample(10, seed=seed * 100_000 + k) for k in range(count)]
        else:
            found.append(Faults(words))
    return found


def _print(found: list[Recovery], task: str) -> None:
    from statistics import median

    from qed.swarm.faults import kinds

    table = show.table()
    for heading in (
        "proximity", "r+b", "wheels", "impact", "resilience", "fitness", "distance", "cell",
    ):  # fmt: skip
        table.add_column(heading, justify="right")
    for one in found:
        table.add_row(
            *(str(robots) for robots in kinds(one.faults)),
            f"{one.impact:+.2f}",
            f"{one.resilience:+.2f}",
            f"{one.performance:.3f}",
            f"{one.distance:.2f}",
            str(one.cell),
        )
    screen = show.console()
    first = found[0]
    screen.print(
        f"{task}: fitness {first.normal:.3f} with sound robots (cell {first.normal_cell})",
        style="bold",
    )
    screen.print("Robots with a fault of proximity, range and bearing, or wheels:")
    screen.print(table)
    lost, kept = (median(getattr(one, name) for one in found) for name in ("impact", "resilience"))
    screen.print(
        f"Median of {len(found)}: {lost:+.1%} when robots break, {kept:+.1%} after recovery."
    )
    if len(found) == 1:
        screen.print(f"Faults: {','.join(first.faults)}", soft_wrap=True)


def _save(found: list[Recovery], out: Path) -> None:
    import pandas as pd

    from qed.textfile import write

    columns = ("normal", "broken", "performance", "impact", "resilience", "distance")
    rows = [
        {
            "faults": ",".join(one.faults),
            **{name: getattr(one, name) for name in columns},
            "normal_cell": one.normal_cell,
            "cell": one.cell,
        }
        for one in found
    ]
    write(out, pd.DataFrame(rows).to_csv(index=False))
