"""``qed study``: evolve, break, recover and report, in a folder that can be resumed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qed import text
from qed.cli import options
from qed.errors import InputError, choice

if TYPE_CHECKING:
    from qed.study.plan import Plan
    from qed.study.study import Study
    from qed.study.workload import Workload

EVERY = 10.0  # s between lines when not on a terminal


def study(
    preset: Annotated[
        str,
        typer.Option(
            help="quick (minutes on two cores), laptop (some hours) or paper (the paper's "
            "protocol; for a GPU or a cluster)."
        ),
    ] = "quick",
    tasks: Annotated[
        str | None, typer.Option(help="Tasks, separated by commas (default: the preset's).")
    ] = None,
    algorithms: Annotated[
        str | None, typer.Option(help="qed, hbd, sdbc, spirit or your own, separated by commas.")
    ] = None,
    replicates: Annotated[int | None, typer.Option(help="Runs per task and algorithm.")] = None,
    faults: Annotated[
        int | None,
        typer.Option(help="Combined faults per replicate, the same for all its archives."),
    ] = None,
    evaluations: Annotated[int | None, options.EVALUATIONS] = None,
    initial: Annotated[int | None, options.INITIAL] = None,
    trials: Annotated[int | None, options.TRIALS] = None,
    retrials: Annotated[int | None, options.RETRIALS] = None,
    fresh: Annotated[int | None, options.FRESH] = None,
    protocol: Annotated[str | None, options.PROTOCOL] = None,
    seconds: Annotated[float | None, options.SECONDS] = None,
    seed: Annotated[int | None, options.SEED] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the study (default: studies/PRESET). The same command resumes it."
        ),
    ] = None,
    executor: Annotated[
        str | None,
        typer.Option(
            help="Where parts run (default: this process): processes, processes:NUMBER or "
            "dask:ADDRESS (docs/tutorials/cluster_and_gpu.md)."
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(help="CPU threads per process (default: all cores, or 1 with an executor)."),
    ] = None,
    backend: options.Backend = "auto",
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print the plan, what the folder has of it, and the estimated time, then stop.",
        ),
    ] = False,
    among: options.Among = None,
    broken: options.Broken = None,
    beyond: Annotated[
        int | None,
        typer.Option(
            help="Faults per archive for searches with few trials, playbooks and teams (default: "
            "0 in quick, 4 in laptop, 20 in paper)."
        ),
    ] = None,
    race: Annotated[bool | None, options.RACE] = None,
    attributes: options.Attributes = None,
    robot: options.Robot = "thymio",
    files: options.With = None,
) -> None:
    """Evolve archives, break robots, recover, and report how well that works."""
    from qed import limits
    from qed.definitions import defined
    from qed.study.plan import PRESETS
    from qed.study.study import Study, opener, prepare
    from qed.swarm.backend import BACKENDS, chosen
    from qed.swarm.environment import Environment
    from qed.swarm.robot import Robot

    plan = PRESETS[choice("preset", preset, PRESETS)].changed(
        tasks=tasks, algorithms=algorithms, replicates=replicates, faults=faults,
        evaluations=evaluations, initial=initial, trials=trials, retrials=retrials,
        fresh=fresh, protocol=protocol, seconds=seconds, seed=seed, among=among, broken=broken,
        beyond=beyond, race=race, robot=robot,
    )  # fmt: skip
    if attributes is not None:
        plan = plan.over(attributes)
    where = [Environment(robot=defined("robot", robot, Robot))]
    limits.threads(threads)
    choice("backend", backend, BACKENDS)
    open_executor = opener(executor)
    folder = out or Path("studies") / preset
    same = plan == PRESETS[preset] and not plan.user_defined
    name = preset if same else f"{preset}, changed"
    whole_study = Study(folder, plan, name)
    if dry_run:
        # Where a GPU is asked for and there is none, the plan says so.
        _print_plan(whole_study, backend if backend == "cuda" else chosen(backend, where))
        return
    # The workers of a cluster may have the GPUs that this machine has not: they look themselves.
    remote = executor is not None and executor.startswith("dask:")
    engine = backend if remote and backend == "cuda" else chosen(backend, where)
    whole_study.claim()
    begin = time.monotonic()
    with text.stopping(f", saved in {folder}. Resume with the same command."):
        with text.waiting("making the archives' cells, once") as progress:
            prepare(plan, progress, engine)
        with _display(whole_study.left) as watch:
            count = threads if threads or executor is None else 1
            whole_study.work(open_executor, count, watch, engine)
            watch(1.0, "writing the report")
        report = whole_study.report()
    for failure in whole_study.failures:
        typer.echo(f"qed: failed: {failure}", err=True)
    typer.echo(f"Done in {text.duration(time.monotonic() - begin)}. The report is here:")
    typer.echo(str(report.resolve()))
    if whole_study.failures:
        raise typer.Exit(1)


def _print_plan(study: Study, backend: str) -> None:
    """Print what a study would do, and about how long the rest would take with an engine."""
    from qed.study import workload
    from qed.swarm.backend import problem

    plan, screen = study.plan, text.console()
    runs = len(list(plan.runs()))
    try:
        begun, refused = study.begun(), None
    except InputError as error:  # the plan is another one's there, and may still be looked at
        begun, refused = False, str(error)
    load = workload.Workload(plan, study.folder if begun else None)
    screen.print(f"A study in {study.folder}:", style="bold", soft_wrap=True)
    for line in (
        f"tasks       {', '.join(plan.tasks)}",
        f"algorithms  {', '.join(plan.algorithms)}",
        f"runs        {runs}: {plan.replicates} of each task and algorithm, "
        f"{plan.evaluations:,} evaluations each",
        f"trials      {plan.trials} of {plan.seconds:g} s for an evaluation",
        f"faults      {plan.faults * plan.replicates} combined, {plan.faults} for the maps of a "
        f"replicate, {plan.retrials} trials each",
        f"fresh       {plan.fresh} trials of the solutions that are chosen",
        f"beyond      {_beyond(plan)}",
        *(["race        qed's children; the times below are without it"] if plan.race else []),
        *(_done(plan, load) if begun else []),
    ):
        screen.print(line, soft_wrap=True)
    if load.fraction == 1.0:
        screen.print("Nothing is left to simulate; the same command writes the report.")
        return
    headings = ("runs", "solutions", "evolution", "recovery", "together")
    table = text.table("algorithm", right=headings)
    total = 0.0
    speeds = workload.H200 if backend == "cuda" else workload.speeds_here(plan)
    for algorithm, (evolving, recovering) in load.forecast(*speeds).items():
        total += evolving + recovering
        table.add_row(
            algorithm,
            f"{runs // len(plan.algorithms)}",
            f"about {workload.solutions(algorithm, plan.evaluations):,.0f}",
            text.duration(evolving),
            text.duration(recovering),
            text.duration(evolving + recovering),
        )
    if begun:
        screen.print("What is left takes:")
    screen.print(table)
    words = f"About {text.duration(total)}{' left' if begun else ''}"
    if backend == "cuda":
        why = problem()
        words += " on an NVIDIA H200, at the speed of the runs of docs/results/study.md."
        words = f"No NVIDIA GPU can be used here: {why.rstrip('.')}. {words}" if why else words
    else:
        words += " with all cores of this machine, after the first compile."
    screen.print(words, soft_wrap=True, markup=False)
    if refused:
        screen.print(f"This folder cannot be used: {refused}", soft_wrap=True, markup=False)


def _done(plan: Plan, load: Workload) -> list[str]:
    """Return what the folder of a study has already, in lines."""
    from qed.study import work
    from qed.study.workload import BEYOND, BREAK, EVOLVE

    runs, batches = len(list(plan.runs())), work.batches(plan)
    ended = [part for part, left in load.left.items() if left == 0.0]
    evolved = [
        1.0 - left / load.steps[part] for part, left in load.left.items() if part.stage == EVOLVE
    ]
    recoveries = sum(len(batches[part.batch]) for part in ended if part.stage == BREAK)
    stages = [part.stage for part in ended]
    lines = [
        f"done        {stages.count(EVOLVE)} of {runs} runs, {100 * sum(evolved) / runs:.0f} % of "
        "all evaluations",
        f"            {recoveries:,} of {plan.faults * runs:,} recoveries",
    ]
    if plan.searched:
        lines.append(
            f"            searches, playbooks and teams on {stages.count(BEYOND)} of {runs} maps"
        )
    return lines


def _beyond(plan: Plan) -> str:
    """Return what goes beyond the paper, in words."""
    if not plan.searched:
        return "nothing: searches, playbooks and teams are for --beyond FAULTS"
    return f"searches of few trials, playbooks and teams in {plan.searched} faults of each map"


@contextmanager
def _display(left: Callable[[], float | None]) -> Iterator[Callable[[float, str], Any]]:
    """Show how far the study is: a bar on a terminal, else a line now and then."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    screen = text.console(stderr=True)
    last = 0.0
    with Progress(
        TaskProgressColumn(),
        BarColumn(20),
        TextColumn("{task.description}"),
        console=screen,
        disable=not screen.is_terminal,
    ) as bar:
        task = bar.add_task("", total=1.0)

        def watch(done: float, doing: str) -> None:
            nonlocal last
            rest = left()
            words = f"{doing}, {text.duration(rest)} left" if rest else doing
            bar.update(task, completed=done, description=words)
            now = time.monotonic()
            if not screen.is_terminal and now - last >= EVERY:
                last = now
                typer.echo(f"{100 * done:3.0f}% {words}", err=True)

        yield watch
