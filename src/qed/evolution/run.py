"""A run: a search over any domain, and the folder it lives in, if any; runs side by side.

Since everything random is a hash of the domain, the cells, the seed and a number, the archive, the
number of evaluations and what the emitter has learnt are the whole state: a resumed run ends with
the same archive, bit for bit, and runs evolve side by side without changing each other.

Runs that suit each other are evaluated in one go.  To a CPU they go together, where they fill
lanes; to a GPU each group goes by itself, so that it has work while the host looks after the
generation that has just ended.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from qed import limits
from qed.archive.archive import Archive
from qed.archive.grid import Space
from qed.emitters import Emitter, Uniform, checked
from qed.errors import InputError, StoppedError
from qed.evolution import domain as domains
from qed.evolution import folder as files
from qed.evolution.domain import Batch, Domain, Evaluated, PendingEvaluation, Record
from qed.evolution.map_elites import MapElites
from qed.files import Lock
from qed.streams import STREAMS, search_stream

SECONDS_BETWEEN_POLLS = 0.0002


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
        solution is evaluated in a random one, which is its cell.  Robot swarms have their own.
    evaluations : int, default 20000
        Solutions to evaluate, the random ones at the start included.
    initial : int, default 2000
        Random solutions to begin with.
    batch : int, default 80
        Children of a generation.
    seed : int, default 1
        With the domain and the kind of cells it decides everything random.  Robot swarms have
        their own.
    emitter : str or Emitter, default "uniform"
        What proposes children: "uniform", "bandit" or "cma-me", or an object of ``qed.emitters`` or
        your own.
    resume : bool, default False
        Resume the run in the folder.
    progress : callable, optional
        Called with steps done and steps in all while the cells of robot swarms are made.

    Attributes
    ----------
    search : MapElites
        The search itself, with ``done`` and ``history``.
    notes : list of str
        What a user should know about how it began.
    saved : bool
        Whether its archive is in the folder.

    See Also
    --------
    qed.evolution.run_side_by_side : Evolves runs.
    qed.evolution.watch : Evolves runs and shows their progress.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> from qed.evolution import Run, run_side_by_side
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
    >>> generations = list(run_side_by_side([run]))
    >>> run.archive
    <Archive: 8 of 8 cells filled>
    >>> resumed = Run("line", Line(), qed.Grid((8,)), **sizes, resume=True)
    >>> resumed.search.finished, resumed.archive.equal(run.archive)
    (True, True)
    """

    def __init__(
        self,
        folder: str | Path | None,
        domain: Domain,
        cells: Space | None = None,
        *,
        evaluations: int = 20_000,
        initial: int = 2_000,
        batch: int = 80,
        seed: int = 1,
        emitter: str | Emitter = "uniform",
        resume: bool = False,
        progress: Callable[[int, int], Any] | None = None,
    ) -> None:
        swarms: Any = domain if cells is None and hasattr(domain, "record") else None
        emitter = checked(emitter)
        sizes: dict[str, Any] = {
            "evaluations": limits.evaluations(evaluations),
            "initial": limits.evaluations(initial, "initial"),
            "batch": limits.batch(batch),
            "seed": limits.seed(swarms.seed if swarms else seed),
        }
        if hasattr(emitter, "begin"):  # refuses what it cannot propose before a folder is claimed
            emitter.begin(domain)
        if type(emitter) is not Uniform:
            sizes["emitter"] = _described(emitter)
        if swarms and swarms.race and emitter.full:
            raise InputError(
                f"race stops children early, but {sizes['emitter']} needs full evaluations; give "
                "another emitter, or no race"
            )
        record: Record = swarms.record(sizes) if swarms else domains.record_of(domain, cells, sizes)
        if resume and folder is None:
            raise InputError("resume needs folder=, the folder of the run to resume")
        self.folder = None if folder is None else Path(folder)
        self.notes: list[str] = []
        self.saved = False
        self._lock: Lock | None = None
        if self.folder is not None:  # before the cells, which may take minutes
            self._lock, notes = files.claim(self.folder, record.tables, resume, record.made_with)
            self.notes += notes
        space: Any = swarms.cells(sizes["evaluations"], progress) if swarms else cells
        self.search = MapElites(
            domain=domain,
            archive=Archive(space, header={**record.header, "streams": STREAMS}),
            seed=search_stream(*record.stream, sizes["seed"]),
            evaluations=sizes["evaluations"],
            initial=sizes["initial"],
            batch=sizes["batch"],
            environments=record.environments,
            emitter=emitter,
        )
        if self.search.evaluations <= self.search.initial:
            self.notes.append(
                f"all {self.search.evaluations:,} evaluations are of random solutions, since "
                f"initial is {self.search.initial:,}: nothing will evolve"
            )
        if self.folder is not None and resume:
            self.saved, notes = files.restore(self.folder, self.search)
            self.notes += notes
        self.saved_at = time.monotonic()
        self._saved_done = self.search.done
        self._consistent = True  # not while the archive takes a batch

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
        self._consistent = False
        self.search.tell(batch, *result)
        self._consistent = True

    def checkpoint(self) -> None:
        """Save the state, if it is consistent and new, keeping the checkpoint before it."""
        if self.folder is None or self._saved_done == self.search.done or not self._consistent:
            return
        files.save_checkpoint(self.folder, self.search)
        self.saved_at = time.monotonic()
        self._saved_done = self.search.done

    def finish(self) -> None:
        """Save the final archive; checkpoints go when it is safely there."""
        if self.folder is None:
            return
        if not self.saved:
            files.save_archive(self.folder, self.search)
            self.saved = True
            self._saved_done = self.search.done
        files.remove_checkpoints(self.folder)
        self._lock = None


def _described(emitter: Emitter) -> str:
    """Return an emitter with its parameters, as the settings of a run keep it."""
    name = type(emitter).__name__
    parameters = domains.description(name, emitter)
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in parameters.items())})"


def run_side_by_side(runs: Sequence[Run], every: float = 30.0) -> Iterator[list[Run]]:
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
    >>> from qed.evolution import Run, run_side_by_side
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
    >>> for moved in run_side_by_side(runs):
    ...     pass
    >>> [run.search.done for run in runs]
    [100, 100]
    """
    going = [run for run in runs if not run.search.finished]
    try:
        under_way = [_Generation(group) for group in _groups(going)]
        while under_way:
            group = under_way.pop(_first_ready(under_way)).finish()
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
        for run in runs:  # the first error is reported, not that a checkpoint failed too
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
        time.sleep(SECONDS_BETWEEN_POLLS)


class _Generation:
    """A generation of a group of runs, under way."""

    def __init__(self, group: list[Run]) -> None:
        self.group = group
        self.batches = [run.search.ask() for run in group]
        domains: list[Any] = [run.domain for run in group]
        begin = getattr(domains[0], "begin", _Sequential)
        self.evaluation: PendingEvaluation = begin(domains, self.batches)

    def finish(self) -> list[Run]:
        """Wait until it is evaluated, tell the searches, and return the runs."""
        results = self.evaluation.results()
        for run, batch, result in zip(self.group, self.batches, results, strict=True):
            run.tell(batch, result)
        return self.group


class _Sequential:
    """Batches that are evaluated, one domain after the other, when their results are asked for.

    Each in a call of its own, as it would be alone: joined batches could change the last bits of a
    matrix product.
    """

    def __init__(self, domains: Sequence[Domain], batches: Sequence[Batch]) -> None:
        self.pairs = list(zip(domains, batches, strict=True))

    def ready(self) -> bool:
        """Return True: nothing happens until `results()` is called."""
        return True

    def results(self) -> list[Evaluated]:
        """Evaluate all batches."""
        return [_evaluate(domain, batch) for domain, batch in self.pairs]


def _evaluate(domain: Domain, batch: Batch) -> Evaluated:
    """Evaluate a batch of a user's domain, and check what it returns."""
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
    return Evaluated(objective, measures)
