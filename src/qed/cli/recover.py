"""``qed recover``: break robots, and find the controllers of an archive that work then."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from qed.cli import options, show

if TYPE_CHECKING:
    from qed.recovery.recovery import Recovery
    from qed.swarm.faults import Faults


def recover(
    path: Annotated[Path, typer.Argument(help=f"{options.SOURCE} {options.KIT}")],
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
    files: options.With = None,
) -> None:
    """Break robots, and find the controllers of an archive that recover the swarm."""
    from qed.archive.stored import open_archive
    from qed.cli.kit import loaded, print_searched
    from qed.cli.teams import print_teams
    from qed.errors import InputError
    from qed.recovery.kit.stored import is_kit
    from qed.recovery.recover import recover as search
    from qed.recovery.search.strategies import LEARNED
    from qed.recovery.trials import INDEPENDENT

    option: str
    given: Any
    if out is not None and out.suffix.lower() != ".csv":
        raise InputError(f"out: the file must end in .csv, got {out.name!r}")
    if is_kit(path):
        for option, given in {
            "trials": trials is not None, "protocol": protocol != INDEPENDENT, "full": full,
        }.items():  # fmt: skip
            if given:
                raise InputError(f"{option} is for an archive; a kit's search has a budget")
        kit = loaded(path)
        combined = chosen(faults or ["10"], seed, among, broken, kit.environment.robots)
        with show.waiting("searching, trial by trial") as progress:
            searched = kit.recover(
                combined, task, budget=10 if budget is None else budget,
                strategy=strategy or LEARNED, by=cast(Any, by), misdiagnosis_rate=misdiagnosis_rate,
                reset=not no_reset, fresh=fresh, seconds=seconds, seed=seed, threads=threads,
                progress=progress, backend=backend,
            )  # fmt: skip
        print_searched(searched)
        if out is not None:
            write(searched, out)
        return
    if no_reset:
        raise InputError("--no-reset needs a kit; qed prepare makes one from an archive")
    for option, given in (
        ("misdiagnosis-rate", misdiagnosis_rate),
        ("budget", budget),
        ("strategy", strategy),
    ):
        if given is not None:
            raise InputError(f"--{option} needs a kit; qed prepare makes one from an archive")
    archive, _, source = open_archive(path)
    wanted = task or archive.header.get("settings", {}).get("task")
    if wanted is None:
        raise InputError(f"task: {source} does not name its task; give one with --task")
    combined = chosen(faults or ["10"], seed, among, broken)
    with show.waiting(f"trying {len(archive):,} controllers in each fault") as progress:
        found = search(
            archive, wanted, combined, by=cast(Any, by), trials=trials, fresh=fresh,
            seconds=seconds, seed=seed, protocol=protocol, full=full, threads=threads,
            progress=progress, backend=backend,
        )  # fmt: skip
    if by is None:
        _print(found, wanted)
    else:
        print_teams(found, wanted)
    if out is not None:
        write(found, out)


def write(found: Sequence[Recovery], out: Path) -> None:
    """Write all numbers to a file, and say so."""
    from qed.errors import StoppedError

    try:
        _save(found, out)
    except OSError as error:
        raise StoppedError(f"cannot write {out}: {error.strerror}") from error
    typer.echo(f"All numbers: {out}")


def chosen(
    given: list[str],
    seed: int,
    among: str | None = None,
    broken: int | None = None,
    robots: int = 10,
) -> list[Faults]:
    """Return the combined faults that a user names, or so many drawn ones."""
    from qed.errors import whole
    from qed.streams import stream
    from qed.swarm.faults import Faults

    found: list[Faults] = []
    for words in given:
        if words.strip().lstrip("-").isdecimal():
            count = whole("faults", int(words), 1, 100_000)
            found += [
                Faults.sample(robots, stream("fault", seed, k), among=among, broken=broken)
                for k in range(count)
            ]
        else:
            found.append(Faults(words))
    return found


def _print(found: list[Recovery], task: str) -> None:
    from statistics import mean, median

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
        f"{task}: fitness {first.normal:.3f} with healthy robots (cell {first.normal_cell})",
        style="bold",
    )
    screen.print("Robots with a fault of proximity, range and bearing, or wheels:")
    screen.print(table)
    lost, kept = (median(getattr(one, name) for one in found) for name in ("impact", "resilience"))
    screen.print(
        f"Median of {len(found)}: {lost:+.1%} when robots break, {kept:+.1%} after recovery."
    )
    claimed = mean(one.claimed - one.claimed_broken for one in found)
    gained = mean(one.performance - one.broken for one in found)
    screen.print(
        f"Recovery gains {gained:+z.3f} on fresh trials and claimed {claimed:+z.3f} "
        f"({part(claimed, gained)})."
    )
    if len(found) == 1:
        screen.print(f"Faults: {','.join(first.faults)}", soft_wrap=True)


def part(claimed: float, gained: float) -> str:
    """Return in words how much of a claimed gain is selection bias."""
    bias = 1.0 - gained / claimed if claimed > 0.0 else 0.0
    return f"{min(max(bias, 0.0), 1.0):.0%} selection bias"


def _save(found: Sequence[Recovery], out: Path) -> None:
    import pandas as pd

    from qed.cli.teams import team_columns
    from qed.files import write

    columns = (
        "normal", "broken", "performance", "error", "impact", "resilience", "claimed_normal",
        "claimed_broken", "claimed", "claimed_impact", "claimed_resilience", "selection_bias",
        "distance",
    )  # fmt: skip
    rows = [
        {
            "faults": ",".join(one.faults),
            **{name: getattr(one, name) for name in columns},
            "normal_cell": one.normal_cell,
            "cell": one.cell,
            **team_columns(one),
        }
        for one in found
    ]
    write(out, pd.DataFrame(rows).to_csv(index=False))
