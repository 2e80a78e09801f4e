"""``qed bench``: how fast this machine simulates, and how long a study would take on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qed import text
from qed.cli import options

if TYPE_CHECKING:
    from rich.table import Table

    from qed.speed import Case

# The measured cases: swarm, robots, trials.
NORMAL_MANY = ("normal", "10", 50)
NORMAL_FEW = ("normal", "10", 5)
ANY_MANY = ("any environment", "5-20", 50)
ANY_FEW = ("any environment", "5-20", 5)
BROKEN = ("broken", "10", 10)
CLUSTER = ("tight cluster", "10", 50)
Name = tuple[str, str, int]
Speeds = dict[Name, dict[int, float]]  # robot-steps/s, by case and number of threads


def bench(
    threads: options.Threads = None,
    seconds: Annotated[
        float, typer.Option(min=0.01, max=600.0, help="How long to measure each case, in seconds.")
    ] = 1.5,
    output: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Save all numbers as JSON.")
    ] = None,
) -> None:
    """Measure the simulator's speed here, and estimate how long a study would take."""
    from qed import files, limits, speed

    limits.threads(threads)
    if output is not None:
        files.can_write(output, "json")
    counts = sorted({1, threads}) if threads else speed.thread_counts()
    found = measure(counts, seconds)
    machine = speed.machine()
    console = text.console()
    console.print(f"{machine['cpu']}, {machine['cores']} cores; qed {machine['qed']}", style="bold")
    console.print("\nMillion robot-steps a second, 80 controllers, scored at patrolling:")
    console.print(speed_table(found, counts))
    console.print(f"A study here, with {_threads(counts[-1])}, would take about:")
    console.print(study_table(found, counts[-1]))
    console.print(
        "These are estimates of simulation time only, at the speed of random networks. "
        "Swarms that evolved to cluster are slower: see tight cluster. Start one with qed study."
    )
    if output is not None:
        saved = json.dumps(record(machine, found, counts[-1]), indent=1) + "\n"
        with files.user_file(output, "json") as fresh:
            fresh.write_text(saved, encoding="utf-8", newline="\n")


def cases() -> dict[Name, Case]:
    """Return what is measured, by name."""
    from qed.speed import BATCH, Case, gathering, huddle, random_networks
    from qed.swarm.environment import Environment
    from qed.swarm.faults import Faults

    networks = random_networks()
    normal, various = Environment(), Environment.sample(BATCH, seed=0)
    return {
        NORMAL_MANY: Case(networks, trials=50),
        NORMAL_FEW: Case(networks, trials=5),
        ANY_MANY: Case(networks, various, trials=50),
        ANY_FEW: Case(networks, various, trials=5),
        BROKEN: Case(networks, trials=10, faults=Faults.sample(normal.robots, seed=0)),
        CLUSTER: Case([gathering()] * BATCH, trials=50, start=huddle(normal, 50)),
    }


def measure(counts: list[int], seconds: float) -> Speeds:
    """Return the speeds of all cases, measuring each for so many seconds with each count."""
    from qed import speed

    found = {}
    chosen = cases()
    with _progress(len(chosen)) as advance:
        speed.warm_up()
        for name, case in chosen.items():
            advance(name)
            found[name] = speed.speeds(case.lasting(seconds, counts[0]), counts)
    return found


def estimates(found: Speeds, threads: int) -> dict[str, dict[str, float]]:
    """Return, for each preset, how long its evolution and its fault study take (s)."""
    from qed.study.plan import PRESETS, Plan
    from qed.study.workload import Workload

    def wait(plan: Plan) -> dict[str, float]:
        names = (NORMAL_MANY, ANY_MANY) if plan.trials >= 20 else (NORMAL_FEW, ANY_FEW)
        speeds = [found[name][threads] for name in (*names, BROKEN)]
        evolving, breaking = zip(*Workload(plan).forecast(*speeds).values(), strict=True)
        return {"evolution": sum(evolving), "faults": sum(breaking)}

    return {preset: wait(plan) for preset, plan in PRESETS.items()}


def speed_table(found: Speeds, counts: list[int]) -> Table:
    """Return the measured speeds as a table."""
    table = text.table("swarm", right=("robots", "trials", *map(_threads, counts)))
    for (swarm, robots, trials), by_count in found.items():
        shown = [f"{by_count[count] / 1e6:.1f}" for count in counts]
        table.add_row(swarm, robots, str(trials), *shown)
    return table


def study_table(found: Speeds, threads: int) -> Table:
    """Return the estimates as a table."""
    from qed.study.plan import PRESETS

    headings = ("runs", "evaluations each", "evolution", "faults", "together")
    table = text.table("preset", right=headings)
    for preset, wait in estimates(found, threads).items():
        plan = PRESETS[preset]
        table.add_row(
            preset,
            str(len(list(plan.runs()))),
            f"{plan.evaluations:,}",
            *(text.duration(part) for part in (*wait.values(), sum(wait.values()))),
        )
    return table


def record(machine: dict[str, Any], found: Speeds, threads: int) -> dict[str, Any]:
    """Return everything as JSON can hold it."""
    return {
        "machine": machine,
        "robot_steps_per_second": [
            {"swarm": swarm, "robots": robots, "trials": trials, "threads": count, "speed": value}
            for (swarm, robots, trials), by_count in found.items()
            for count, value in by_count.items()
        ],
        "study_threads": threads,
        "study_seconds": estimates(found, threads),
    }


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


@contextmanager
def _progress(total: int) -> Iterator[Callable[[Name], None]]:
    """Show on stderr what is measured: a bar on a terminal, else a line for each case."""
    from rich.progress import Progress

    console = text.console(stderr=True)
    with Progress(console=console, transient=True, disable=console.color_system is None) as bar:
        task = bar.add_task("loading", total=total + 1)

        def advance(name: Name) -> None:
            swarm, robots, trials = name
            doing = f"{swarm}, {robots} robots x {trials} trials"
            bar.update(task, advance=1, description=doing)
            if bar.disable:
                typer.echo(f"measuring {doing}", err=True)

        yield advance
