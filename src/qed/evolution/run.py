"""A run: a search over any domain, and the folder it lives in, if any.

Since everything random is a hash of the domain, the cells, the seed and a number, the archive and
the number of evaluations are the whole state: a resumed run ends with the same archive, bit for
bit, and runs evolve side by side without changing each other.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from qed.archive.archive import Archive
from qed.archive.space import Space
from qed.errors import InputError, StoppedError
from qed.evolution import folder as files
from qed.evolution.domain import Batch, Domain, Evaluated, Pending
from qed.evolution.folder import (
    ARCHIVE,
    CHECKPOINT,
    CONFIG,
    PREVIOUS,
    PROGRESS,
    Tables,
    evaluations_done,
    forget_checkpoints,
)
from qed.evolution.map_elites import MapElites
from qed.evolution.record import Record, sizes

__all__ = [
    "ARCHIVE", "CHECKPOINT", "CONFIG", "PREVIOUS", "PROGRESS", "Run", "drive",
    "evaluations_done", "forget_checkpoints",
]  # fmt: skip


class Run:
    """A search over a domain, in a folder that can be resumed.

    Parameters
    ----------
    folder : str, Path or None
        Folder of the run, a new one; None keeps the run in memory.
    domain : Domain
        What is evolved: random solutions, their variation, their evaluation.
    cells : Grid, Categories, Centroids or Environments
        The first three find a solution's cell from its measures.  With ``Environments`` each
        solution is evaluated in a random one, which is its cell.
    evaluations : int, default 20000
        Solutions to evaluate, the random ones at the start included.
    initial : int, default 2000
        Random solutions to begin with.
    batch : int, default 80
        Children of a generation.
    seed : int, default 1
        With the domain and the kind of cells it decides everything random.
    resume : bool, default False
        Go on with the run in the folder.

    Attributes
    ----------
    search : MapElites
        The search itself, with ``done`` and ``history``.
    notes : list of str
        What a user should know about how it began.
    kept : bool
        Whether its archive is in the folder.

    See Also
    --------
    qed.evolution.drive : Evolves runs.
    qed.evolution.watch : Evolves runs and shows how far they are.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> from qed.evolution import Run, drive
    >>> class Line:
    ...     def random(self, keys):
    ...         return np.array([[np.random.default_rng(key).random()] for key in keys])
    ...     def vary(self, parents, keys):
    ...         return (parents + self.random(keys)) / 2
    ...     def evaluate(self, solutions, environments):
    ...         return solutions[:, 0], solutions
    ...     def describe(self):
    ...         return {"what": "a line"}
    >>> sizes = {"evaluations": 100, "initial": 20, "batch": 20}
    >>> run = Run("line", Line(), qed.Grid((8,)), **sizes)
    >>> generations = list(drive([run]))
    >>> run.archive
    <Archive: 8 of 8 cells filled>
    >>> again = Run("line", Line(), qed.Grid((8,)), **sizes, resume=True)
    >>> again.search.finished, again.archive.equal(run.archive)
    (True, True)
    """

    def __init__(
        self,
        folder: str | Path | None,
        domain: Domain,
        cells: Space,
        *,
        evaluations: int = 20_000,
        initial: int = 2_000,
        batch: int = 80,
        seed: int = 1,
        resume: bool = False,
    ) -> None:
        record = Record(domain, cells, sizes(evaluations, initial, batch, seed))
        if resume and folder is None:
            raise InputError("resume needs folder=, the folder of the run to resume")
        self._open(folder, record.tables(), record.search, resume, record.code())

    def _open(
        self,
        folder: str | Path | None,
        tables: Tables,
        search: Callable[[], MapElites],
        resume: bool,
        begun: Mapping[str, str],
    ) -> None:
        """Take the folder, if it is free for the run of these tables, and only then the search."""
        self.folder = None if folder is None else Path(folder)
        self.notes: list[str] = []  # what a user should know about how it began
        self.kept = False  # whether its archive is in the folder
        if self.folder is not None:
            self.notes += files.claim(self.folder, tables, resume, begun)
        self.search = search()
        if self.search.evaluations <= self.search.initial:
            self.notes.append(
                f"all {self.search.evaluations:,} evaluations are of random solutions, since "
                f"initial is {self.search.initial:,}: nothing will evolve"
            )
        if self.folder is not None and resume:
            self.kept, notes = files.restore(self.folder, self.search)
            self.notes += notes
        self.saved_at = time.monotonic()
        self.saved_done = self.search.done
        self.whole = True  # not so while results are being told

    @property
    def domain(self) -> Domain:
        """What is evolved."""
        return self.search.domain

    @property
    def archive(self) -> Archive:
        """The best solution known for each cell."""
        return self.search.archive

    def tell(self, batch: Batch, result: Evaluated) -> None:
        """Offer an evaluated batch to the archive; an interrupt in between is not saved."""
        self.whole = False
        self.search.tell(batch, *result)
        self.whole = True

    def checkpoint(self) -> None:
        """Save the state, if it is whole and new, keeping the checkpoint before it."""
        if self.folder is None or self.saved_done == self.search.done or not self.whole:
            return
        files.save_checkpoint(self.folder, self.search)
        self.saved_at = time.monotonic()
        self.saved_done = self.search.done

    def finish(self) -> None:
        """Save the final archive; checkpoints go when it is safely there."""
        if self.folder is None:
            return
        if not self.kept:
            files.save_archive(self.folder, self.search)
            self.kept = True
            self.saved_done = self.search.done
        forget_checkpoints(self.folder)


def drive(runs: Sequence[Run], every: float = 30.0) -> Iterator[list[Run]]:
    """Evolve runs side by side, yielding those that moved after each generation.

    Domains may differ from run to run; those that suit each other are evaluated in one go, if
    their domain can, with the same result as one after the other.  Where evaluation goes on by
    itself, as on a GPU, the next generations are evaluated while the host looks after this one.
    A checkpoint is made every so many seconds, at the end, and when interrupted.

    Parameters
    ----------
    runs : sequence of Run
        Runs that are finished already do nothing.
    every : float, default 30.0
        Time between checkpoints (s).

    Yields
    ------
    list of Run
        Those whose generation has ended.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> from qed.evolution import Run, drive
    >>> class Line:
    ...     def random(self, keys):
    ...         return np.array([[np.random.default_rng(key).random()] for key in keys])
    ...     def vary(self, parents, keys):
    ...         return (parents + self.random(keys)) / 2
    ...     def evaluate(self, solutions, environments):
    ...         return solutions[:, 0], solutions
    ...     def describe(self):
    ...         return {"what": "a line"}
    >>> sizes = {"evaluations": 100, "initial": 20, "batch": 20}
    >>> cells = qed.Grid((8,))
    >>> runs = [Run(None, Line(), cells, **sizes, seed=seed) for seed in (1, 2)]
    >>> for moved in drive(runs):
    ...     pass
    >>> [run.search.done for run in runs]
    [100, 100]
    """
    going = [run for run in runs if not run.search.finished]
    try:
        under_way = [_Generation(group) for group in _groups(going)]
        while under_way:
            group = under_way.pop(_first_ready(under_way)).end()
            for run in group:
                if run.search.finished:
                    run.finish()
            if rest := [run for run in group if not run.search.finished]:
                under_way.append(_Generation(rest))
            for run in rest:
                if time.monotonic() - run.saved_at >= every:
                    run.checkpoint()
            yield group
        for run in runs:
            run.finish()
    except (KeyboardInterrupt, GeneratorExit):
        for run in runs:
            run.checkpoint()
        raise
    except Exception:
        for run in runs:  # what went wrong is told; that it cannot be saved either is not
            with contextlib.suppress(StoppedError):
                run.checkpoint()
        raise


def _groups(runs: Sequence[Run]) -> list[list[Run]]:
    """Return the runs that are best evaluated together."""
    kinds: dict[type, list[Run]] = {}
    for run in runs:
        kinds.setdefault(type(run.domain), []).append(run)
    found = []
    for kind, some in kinds.items():
        if hasattr(kind, "together"):
            batch = min(run.search.batch for run in some)
            groups = kind.together([run.domain for run in some], batch)
            found += [[some[k] for k in group] for group in groups]
        else:
            found += [[run] for run in some]
    return found


def _first_ready(generations: Sequence[_Generation]) -> int:
    """Wait until a generation is evaluated; return the place of the first that is."""
    while True:
        for k, generation in enumerate(generations):
            if generation.evaluation.ready():
                return k
        time.sleep(0.0002)


class _Generation:
    """A generation of a group of runs, under way."""

    def __init__(self, group: list[Run]) -> None:
        self.group = group
        self.batches = [run.search.ask() for run in group]
        domains: list[Any] = [run.domain for run in group]
        begin = getattr(domains[0], "begin", _Waiting)
        self.evaluation: Pending = begin(domains, self.batches)

    def end(self) -> list[Run]:
        """Wait until it is evaluated, tell the searches, and return the runs."""
        results = self.evaluation.results()
        for run, batch, result in zip(self.group, self.batches, results, strict=True):
            run.tell(batch, result)
        return self.group


class _Waiting:
    """Batches that are evaluated, one domain after the other, when somebody waits for them."""

    def __init__(self, domains: Sequence[Domain], batches: Sequence[Batch]) -> None:
        self.pairs = list(zip(domains, batches, strict=True))

    def ready(self) -> bool:
        """Tell that they will not come without waiting."""
        return True

    def results(self) -> list[Evaluated]:
        """Evaluate."""
        return [_evaluated(domain, batch) for domain, batch in self.pairs]


def _evaluated(domain: Domain, batch: Batch) -> Evaluated:
    """Return what a user's domain says of a batch, or say what is wrong with it."""
    what = f"{type(domain).__name__}.evaluate"
    result = domain.evaluate(batch.solutions, batch.environments)
    if not isinstance(result, tuple) or len(result) != 2:
        raise InputError(f"{what} must return (objective, measures), got {type(result).__name__}")
    objective, measures = np.asarray(result[0], float), result[1]
    wrong = np.flatnonzero(~np.isfinite(objective))
    if len(wrong):
        raise InputError(
            f"{what}: objective[{wrong[0]}] must be finite, got {objective.flat[wrong[0]]}"
        )
    if measures is None and batch.environments is None:
        raise InputError(f"{what} must return measures, by which the cells are found; got None")
    return objective, measures
