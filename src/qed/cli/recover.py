"""``qed recover``: break robots, and find the controllers of an archive that work then."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from qed import text
from qed.cli import options, recoveries
from qed.errors import InputError, integer

if TYPE_CHECKING:
    from qed.recovery.recovery import Recovery
    from qed.swarm.faults import Faults


def recover(
    path: options.ArchiveOrKit,
    faults: Annotated[
        list[str] | None,
        typer.Option(
            help="Number of combined faults to draw (default: 10), or one fault per robot: "
            "PMIN,LW-H,NONE,...; may be given several times."
        ),
    ] = None,
    task: options.Task = None,
    trials: Annotated[
        int | None,
        typer.Option(help="Selection trials per controller and fault (default: the run's)."),
    ] = None,
    fresh: Annotated[int, options.FRESH] = 50,
    protocol: Annotated[str, options.PROTOCOL] = "independent",
    seconds: options.Seconds = None,
    seed: Annotated[int, options.SEED] = 1,
    threads: options.Threads = None,
    backend: options.Backend = "auto",
    out: Annotated[
        Path | None, typer.Option(help="CSV file for all numbers (default: none).")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Try every controller on all trials, without a race.")
    ] = False,
    budget: options.Budget = None,
    strategy: Annotated[
        str | None,
        typer.Option(help="With a kit: learned (default), map, portfolio, random or exhaustive."),
    ] = None,
    no_reset: Annotated[
        bool,
        typer.Option(
            "--no-reset", help="With a kit: search without resetting the world between trials."
        ),
    ] = False,
    by: options.By = None,
    misdiagnosis_rate: options.MisdiagnosisRate = None,
    among: options.Among = None,
    broken: options.Broken = None,
    without: options.Without = None,
    files: options.With = None,
) -> None:
    """Break robots, and find the controllers of an archive that recover the swarm."""
    from qed.files import can_write
    from qed.recovery.kit.kit import Kit
    from qed.recovery.kit.stored import is_kit
    from qed.recovery.recover import recover as search
    from qed.recovery.search.strategies import LEARNED
    from qed.recovery.trials import INDEPENDENT

    if out is not None and out.suffix.lower() != ".csv":
        raise InputError(f"out: the file must end in .csv, got {out.name!r}")
    if out is not None:
        can_write(out)
    if is_kit(path):
        options.refuse(
            "{} is for an archive; a kit's search has a budget", trials=trials,
            protocol=protocol != INDEPENDENT, full=full, without=without,
        )  # fmt: skip
        kit = Kit.load(path)
        combined = chosen(faults or ["10"], seed, among, broken, kit.environment.robots)
        with text.waiting("searching, trial by trial") as progress:
            found = kit.recover(
                combined, task, budget=10 if budget is None else budget,
                strategy=strategy or LEARNED, by=cast(Any, by), misdiagnosis_rate=misdiagnosis_rate,
                reset=not no_reset, fresh=fresh, seconds=seconds, seed=seed, threads=threads,
                progress=progress, backend=backend,
            )  # fmt: skip
        _print(found, out)
        return
    options.refuse(
        options.NEEDS_KIT, no_reset=no_reset, misdiagnosis_rate=misdiagnosis_rate, budget=budget,
        strategy=strategy,
    )  # fmt: skip
    archive, _ = options.opened(path, without)
    combined = chosen(faults or ["10"], seed, among, broken)
    with text.waiting(f"trying {len(archive):,} controllers in each fault") as progress:
        found = search(
            archive, task, combined, by=cast(Any, by), trials=trials, fresh=fresh,
            seconds=seconds, seed=seed, protocol=protocol, full=full, threads=threads,
            progress=progress, backend=backend,
        )  # fmt: skip
    _print(found, out)


def _print(found: Sequence[Recovery], out: Path | None) -> None:
    recoveries.print_recoveries(found)
    if out is not None:
        recoveries.save(found, out)


def chosen(
    given: list[str],
    seed: int,
    among: str | None = None,
    broken: int | None = None,
    robots: int = 10,
) -> list[Faults]:
    """Return the combined faults that a user names, or so many drawn ones."""
    from qed.streams import stream
    from qed.swarm.faults import Faults

    found: list[Faults] = []
    for words in given:
        if words.strip().lstrip("-").isdecimal():
            count = integer("faults", int(words), 1, 100_000)
            found += [
                Faults.sample(robots, stream("fault", seed, k), among=among, broken=broken)
                for k in range(count)
            ]
        else:
            found.append(Faults(words))
    return found
