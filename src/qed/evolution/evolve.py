"""evolve(): an archive of controllers for a task."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from qed import limits
from qed.archive.archive import Archive
from qed.controller.dense import Dense
from qed.definitions import defined
from qed.emitters import Emitter
from qed.errors import InputError
from qed.evolution.algorithms import Algorithm
from qed.evolution.run import Run, run_side_by_side
from qed.evolution.swarms import Swarms
from qed.swarm.backend import chosen
from qed.swarm.environment import Attributes, Environment
from qed.swarm.robot import THYMIO, Robot
from qed.swarm.tasks import Task


def evolve(
    task: str | Task,
    algorithm: str | Algorithm = "qed",
    *,
    attributes: str | Attributes | None = None,
    evaluations: int = 20_000,
    trials: int = 50,
    seconds: float = 400.0,
    seed: int = 1,
    robot: str | Robot = THYMIO,
    floor: Any = None,
    batch: int = 80,
    initial: int = 2_000,
    race: bool = False,
    emitter: str | Emitter = "uniform",
    controller: Dense | None = None,
    threads: int | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    checkpoint: float = 30.0,
    progress: Callable[[Run], Any] | None = None,
    backend: str = "auto",
) -> Archive:
    """Evolve an archive of controllers for a task, and return it.

    Parameters
    ----------
    task : str or Task
        Aggregation, dispersion, flocking, patrolling or border-patrolling, or a ``qed.Task``.
    algorithm : str or Algorithm, default "qed"
        "qed" (a cell is an environment), "hbd", "sdbc" or "spirit" (a behaviour), or a
        ``qed.Algorithm``.
    attributes : str or Attributes, optional
        What environments are drawn from (default: the paper's), for algorithms whose cells are
        environments.
    evaluations : int, default 20000
        Controllers to evaluate, the random ones at the start included.
    trials : int, default 50
        Trials of an evaluation; its fitness is their mean.
    seconds : float, default 400.0
        Simulated time of a trial (s).
    seed : int, default 1
        Decides everything random.
    robot : str or Robot, default qed.THYMIO
        What the swarms are made of.  The paper's environments scale with it: its speeds and ranges
        are as many times larger or smaller.
    floor : array of shape ``(rows, columns)``, optional
        The floor of all environments, as ``Environment`` has it (default: white).
    batch : int, default 80
        Children of a generation.
    initial : int, default 2000
        Random controllers to begin with.
    race : bool, default False
        Stop children early that are three standard errors behind the incumbent of their cell,
        trial by trial: several times as fast, with another archive that is about as good; for
        algorithms whose cells are environments.  Those that cannot win are stopped in any case.
    emitter : str or Emitter, default "uniform"
        What proposes children: "uniform" (parents are drawn uniformly, as in the paper), "bandit"
        (parents whose children won cells get more), "cma-me" (of pyribs, for a dense
        ``controller``), or an object of ``qed.emitters`` or your own.
    controller : Dense, optional
        ``qed.Controller.dense(hidden=...)``: networks of one topology, as emitters of vectors need
        them (default: the topology evolves, as in the paper).
    threads : int, optional
        CPU threads (default: all cores).
    out : str or Path, optional
        Folder for the run, with checkpoints (default: none).
    resume : bool, default False
        Resume the run in ``out``; it ends with the same archive, bit for bit.
    checkpoint : float, default 30.0
        Time between checkpoints (s).
    progress : callable, optional
        Called with the run after each generation.
    backend : {"auto", "cpu", "cuda"}
        "cuda" is an NVIDIA GPU; "auto" takes it where it can be used, else the CPU.  A run may be
        resumed with another one.

    Returns
    -------
    Archive
        The best controller found for each cell.

    Raises
    ------
    ValueError
        If an argument is wrong, or the folder holds another run; the message says what to do.

    Notes
    -----
    The results of the two engines differ in rounding; each alone is reproducible.

    Examples
    --------
    >>> import qed
    >>> archive = qed.evolve(
    ...     "patrolling", evaluations=60, initial=20, batch=20, trials=2, seconds=5.0
    ... )
    >>> archive
    <Archive: 59 of 4096 cells filled>
    >>> archive.best.fitness > archive.mean, archive.best.controller in archive.controllers
    (True, True)
    """
    algorithm = defined("algorithm", algorithm, Algorithm)
    robot = defined("robot", robot, Robot)
    if attributes is not None:
        algorithm = algorithm.with_attributes(attributes, robot)
    if resume and out is None:
        raise InputError("resume needs out=, the folder of the run to resume")
    every = limits.checkpoint(checkpoint)
    threads = limits.threads(threads)
    engine = chosen(backend, [Environment(robot=robot, floor=floor)])
    swarms = Swarms(
        task, algorithm, trials, seconds, seed, race, controller, threads, engine, robot, floor
    )
    run = Run(
        out, swarms, evaluations=evaluations, initial=initial, batch=batch, emitter=emitter,
        resume=resume,
    )  # fmt: skip
    for _ in run_side_by_side([run], every):
        if progress is not None:
            progress(run)
    return run.archive
