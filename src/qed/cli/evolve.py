"""``qed evolve``: an archive of controllers for a task, in a folder that can be resumed."""

from pathlib import Path
from typing import Annotated

import typer

from qed import text
from qed.cli import options


def evolve(
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            help="aggregation, dispersion, flocking, patrolling, border-patrolling, or your own.",
        ),
    ],
    algorithm: Annotated[
        str,
        typer.Option(
            help="qed (a cell is an environment), hbd, sdbc, spirit (a cell is a behaviour), or "
            "your own."
        ),
    ] = "qed",
    evaluations: Annotated[int, options.EVALUATIONS] = 20_000,
    trials: Annotated[int, options.TRIALS] = 50,
    seconds: Annotated[float, options.SECONDS] = 400.0,
    seed: Annotated[int, options.SEED] = 1,
    replicates: Annotated[
        int, typer.Option(help="Runs side by side, with seeds SEED, SEED + 1, ...")
    ] = 1,
    batch: Annotated[int, typer.Option(help="Children per generation.")] = 80,
    initial: Annotated[int, options.INITIAL] = 2_000,
    race: Annotated[bool, options.RACE] = False,
    emitter: Annotated[
        str,
        typer.Option(
            help="What proposes children: uniform (parents drawn uniformly), bandit (parents whose "
            "children won cells get more), or cma-me (pyribs; needs --hidden)."
        ),
    ] = "uniform",
    hidden: Annotated[
        int | None,
        typer.Option(
            help="Dense networks of so many hidden neurons (default: the topology evolves)."
        ),
    ] = None,
    threads: options.Threads = None,
    backend: options.Backend = "auto",
    out: Annotated[
        Path | None,
        typer.Option(help="New folder for the run (default: runs/TASK-ALGORITHM-SEED)."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the run in OUT.")] = False,
    checkpoint: Annotated[float, typer.Option(help="Seconds between checkpoints.")] = 30.0,
    attributes: options.Attributes = None,
    robot: options.Robot = "thymio",
    files: options.With = None,
) -> None:
    """Evolve an archive of controllers for a task."""
    from qed import limits
    from qed.controller.network import Controller
    from qed.definitions import defined
    from qed.evolution.algorithms import Algorithm
    from qed.evolution.progress import watch
    from qed.evolution.run import Run
    from qed.evolution.swarms import Swarms
    from qed.swarm.backend import chosen, described
    from qed.swarm.environment import Environment
    from qed.swarm.robot import Robot
    from qed.swarm.simulate import cores

    chosen_algorithm = defined("algorithm", algorithm, Algorithm)
    chosen_robot = defined("robot", robot, Robot)
    if attributes is not None:
        chosen_algorithm = chosen_algorithm.with_attributes(attributes, chosen_robot)
    limits.replicates(replicates)
    every = limits.checkpoint(checkpoint)
    limits.threads(threads)
    engine = chosen(backend, [Environment(robot=chosen_robot)])
    controller = None if hidden is None else Controller.dense(hidden, chosen_robot)
    runs: list[Run] = []
    for each in range(seed, seed + replicates):
        swarms = Swarms(
            task, chosen_algorithm, trials, seconds, each, race, controller, threads, engine,
            chosen_robot,
        )  # fmt: skip
        folder = out or Path("runs") / f"{swarms.task}-{swarms.algorithm}-{seed}"
        if replicates > 1:
            folder = folder / f"seed-{each}"
        with text.waiting("making the archive's cells, once") as progress:
            run = Run(
                folder, swarms, evaluations=evaluations, initial=initial, batch=batch,
                emitter=emitter, resume=resume, progress=progress,
            )  # fmt: skip
            runs.append(run)
    typer.echo(f"qed: simulating on {described(engine, threads or cores())}", err=True)
    saved = f", saved in {runs[0].folder}. Resume with the same command and --resume."
    with text.stopping(saved):
        watch(runs, every)
    for run in runs:
        archive = run.archive
        typer.echo(
            f"{run.folder}: {len(archive):,} of {archive.cells:,} cells, best "
            f"{archive.best.fitness:.4f}, mean {archive.mean:.4f}"
        )
    typer.echo(f"Look at it with: qed info {runs[0].folder}")
