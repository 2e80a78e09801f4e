"""qed.export: controllers, teams and kits as programs for robots."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from qed import limits
from qed.controller.network import Controller, Team
from qed.definitions import defined
from qed.errors import InputError, choice, instance, integer
from qed.files import disk, write_text
from qed.programs import aseba, c, python
from qed.programs.contract import contract_of, plain, readme, text_of
from qed.programs.network import DoesNotFitError, Network, networks
from qed.programs.parity import Running, compare, record
from qed.recovery.kit.kit import Kit
from qed.swarm import robot
from qed.swarm.environment import Environment
from qed.swarm.tasks import Task

if TYPE_CHECKING:
    from qed.archive.archive import Archive, Elite
    from qed.recovery.trials import Progress


SEARCHES = 3  # of a kit, compared


class Variant(NamedTuple):
    """A program of a folder: how it is run here, and how close it is to the simulator's."""

    start: Callable[[Path, int, Sequence[int]], Running]
    lacks: Callable[[], str | None]  # what is not installed here
    tolerance: float  # of an output, as a part of the wheel's range


class Language(NamedTuple):
    """How programs of a language are written and run."""

    files: Callable[[Sequence[Network], Mapping[str, Any]], dict[str, str]]
    program: str
    how_to: str
    variants: Mapping[str, Variant]


LANGUAGES = {
    "python": Language(
        python.files, python.PROGRAM, python.HOW_TO,
        {"python": Variant(python.run, lambda: None, 1e-5)},
    ),
    "micropython": Language(
        python.files, python.PROGRAM, python.HOW_TO,
        {"micropython": Variant(python.run_micropython, python.lacks_micropython, 1e-5)},
    ),
    "aseba": Language(
        aseba.files, aseba.name_of(0, False), aseba.HOW_TO,
        {"aseba": Variant(aseba.run, aseba.lacks, 0.02)},
    ),
    "c": Language(
        c.files, "controller.c", c.HOW_TO,
        {
            "c, single precision": Variant(c.single, c.lacks, 1e-5),
            "c, whole numbers": Variant(c.whole, c.lacks, 0.02),
        },
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Export:
    """What was written for robots, and how close it is to the simulator's controller.

    Attributes
    ----------
    folder : Path
        Where the program lies, with contract.json, README.md and parity.json.
    contract : dict
        What the program expects of a robot.
    parity : dict
        For each variant of the program how far it is from the simulator's controller; a text
        names what it needs to be compared if that is not here.  Of a kit also, under "search", in
        how many searches the exported one decided as the kit's own.

    Examples
    --------
    >>> import qed
    >>> still = qed.Controller([], bias=[0.0, 0.0])
    >>> made = qed.export(still, "python", "robot", trials=1, seconds=2.0)
    >>> made, made.contract["inputs read"]
    (<Export: python in robot>, [])
    """

    folder: Path
    contract: dict[str, Any]
    parity: dict[str, Any]

    def __repr__(self) -> str:
        return f"<Export: {self.contract['language']} in {self.folder}>"


def export(
    what: Controller | Team | Kit,
    to: str,
    out: str | Path,
    *,
    environment: Environment | None = None,
    task: str | Task | None = None,
    trials: int = 20,
    seconds: float | None = None,
    seed: int = 1,
    name: str = "controller",
    progress: Progress | None = None,
) -> Export:
    """Write what robots run as a program for them, and compare it with the simulator's.

    Parameters
    ----------
    what : Controller, Team or Kit
        What robots shall run; of a kit all controllers, and its search in plain Python.
    to : {"python", "micropython", "aseba", "c"}
        The language of the program.
    out : str or Path
        The folder; it is made.
    environment : Environment, optional
        Where the robots work: their top speed, their ranges (default: the kit's own, or the robot's
        normal environment).
    task : str or Task, optional
        What they do in the comparison (default: the kit's own, or patrolling).
    trials : int, default 20
        Trials of the comparison.
    seconds : float, optional
        Simulated time of a trial (s; default: the kit's own, or 400).
    seed : int, default 1
        Decides start poses and noise of the comparison.
    name : str, default "controller"
        What the documents call it.
    progress : callable, optional
        Called with the cycles compared so far, and at most.

    Returns
    -------
    Export
        The folder, the contract, and how close the program is.

    Examples
    --------
    >>> import qed
    >>> made = qed.export(
    ...     qed.Controller.random(seed=1), "python", "robot", trials=2, seconds=20.0
    ... )
    >>> sorted(path.name for path in made.folder.iterdir())
    ['README.md', 'contract.json', 'controller.py', 'parity.json']
    >>> made.parity["python"]["recorded, from the same state"]["within"]
    1.0
    """
    language = LANGUAGES[choice("to", to, LANGUAGES)]
    kit = what if isinstance(what, Kit) else None
    if task is None:
        task = "patrolling" if kit is None else kit.task
    if seconds is None:
        seconds = 400.0 if kit is None else kit.seconds
    scored = defined("task", task, Task)
    count = integer("trials", trials, 1, 1000)
    length = limits.seconds(seconds)
    instance("what", what, Controller, Team, Kit)
    if environment is None:
        environment = what.environment if isinstance(what, Kit) else Environment(robot=what.robot)
    different, parts, labels = _members(what, environment)
    nets = networks(different)
    contract = contract_of(to, nets, parts, environment, [f"{name}{label}" for label in labels])
    if kit is not None:
        contract["search"] = {
            "present": kit.present,
            "seconds": kit.seconds,
            "task": plain(kit.task),
        }
    folder = Path(out)
    files = language.files(nets, contract) | {
        "contract.json": text_of(contract),
        "README.md": readme(contract, language.how_to, language.program),
    }
    if kit is not None:
        files[python.SEARCH] = python.search_of(kit)
    with disk(folder, "make room and export again"):
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            write_text(folder / file, text)
    cycles = round(length / robot.CYCLE)
    here = {key: one.lacks() for key, one in language.variants.items()}
    total = cycles * (1 + 2 * sum(lacks is None for lacks in here.values()))
    tick = _ticker(progress, total)
    recorded = record(
        nets, parts, environment, scored, trials=count, seconds=length,
        seed=limits.seed(seed), tick=tick,
    )  # fmt: skip
    parity: dict[str, Any] = {}
    for key, variant in language.variants.items():
        lacks = here[key]
        start = partial(variant.start, folder)
        parity[key] = (
            compare(start, nets, recorded, variant.tolerance, tick)
            if lacks is None
            else f"not compared here: it needs {lacks}"
        )
    if kit is not None:
        parity["search"] = python.compare_search(kit, files[python.SEARCH], SEARCHES, seed)
    with disk(folder, "make room and export again"):
        write_text(folder / "parity.json", json.dumps(parity, indent=1) + "\n")
    return Export(folder, contract, parity)


def _members(
    what: Any, environment: Environment
) -> tuple[list[Controller], Sequence[int], list[str]]:
    """Return the different controllers, that of each robot by its number, and what to call them."""
    if isinstance(what, Controller):
        found, parts, labels = [what], (0,) * environment.robots, [""]
    elif isinstance(what, Kit):
        labels = [f", cell {cell}" for cell in what.cells.tolist()]
        found, parts = list(what.controllers), (what.present,) * environment.robots
    else:
        if len(what) != environment.robots:
            raise InputError(
                f"what: a team of {len(what)} cannot drive {environment.robots} robots; name an "
                "environment with as many robots"
            )
        found, parts = list(dict.fromkeys(what.controllers)), what.parts
        labels = [f" {k}" for k in range(len(found))]
    drives = found[0].robot
    if drives.key != environment.robot.key:
        raise InputError(
            f"what drives the robot {drives}, but the environment's is {environment.robot}; give "
            "qed.Environment(robot=...) its own"
        )
    if not found[0].nodes.SENSED:
        raise InputError(f"what drives the robot {drives}, which senses nothing: nothing to export")
    return found, parts, labels


def best_fitting(archive: Archive, to: str) -> Elite | None:
    """Return the best elite whose controller a robot of this language has room for, if any."""
    environment = archive.environment
    for elite in sorted(archive.elites(), key=lambda elite: -elite.fitness):
        if elite.controller is None:
            break
        nets = networks([elite.controller])
        try:
            LANGUAGES[to].files(nets, contract_of(to, nets, (0,), environment, [""]))
        except DoesNotFitError:
            continue
        return elite
    return None


def _ticker(progress: Progress | None, total: int) -> Callable[[], None]:
    """Return a function that counts cycles for someone who watches."""
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        if progress is not None and done % 10 == 0:
            progress(done, total)

    return tick
