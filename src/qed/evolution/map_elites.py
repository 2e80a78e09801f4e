"""MAP-Elites, for any domain: ask for a batch, evaluate it anywhere, tell the result.

A cell of the archive is a behaviour that the evaluation measures, or, with environment
diversity (QED), an environment that the search draws for each solution: the elite of a cell
is then the best solution known for that environment.

Everything random is a hash of the seed and the solution's number, so a search depends on
nothing else: it can be stopped after any batch, evaluated in parts, or run beside others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from qed.archive.archive import Archive
from qed.archive.array_store import count
from qed.chance import fold
from qed.emitters.emitter import ENVIRONMENT, RANDOM, STOPPED, Emitter, Stream, Uniform, uniformly
from qed.errors import InputError
from qed.evolution.domain import Batch, Domain
from qed.files import KINDS


@dataclass
class MapElites:
    """The state of a search: an archive, what its emitter has learnt, and how far it is.

    Ask for a batch, evaluate it anywhere, tell the result.  ``Run`` does so, with files.

    Parameters
    ----------
    domain : Domain
        What is evolved.
    archive : Archive
        What is filled.
    seed : int
        Decides everything random.
    evaluations : int
        Solutions to evaluate, the random ones at the start included.
    initial : int, default 2000
        Random solutions to begin with.
    batch : int, default 80
        Children of a generation.
    environments : sequence of int, optional
        Options of each attribute: environment diversity (default: cells are behaviours).
    emitter : Emitter, optional
        What proposes children (default: uniform parents, as in the paper).
    done : int, default 0
        Solutions evaluated so far.
    history : list of tuple
        Evaluations, filled cells, best, mean and QD score, now and then.
    records : int, default 1000
        Rows of the history, at most.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> from qed.evolution import MapElites
    >>> class Sphere:
    ...     def random(self, keys):
    ...         return np.array([np.random.default_rng(key).random(2) for key in keys])
    ...     def vary(self, parents, keys):
    ...         steps = [np.random.default_rng(key).normal(0.0, 0.1, 2) for key in keys]
    ...         return np.clip(parents + np.array(steps), 0.0, 1.0)
    ...     def evaluate(self, solutions, environments):
    ...         return -(solutions**2).sum(1), solutions
    >>> archive = qed.Archive(qed.Grid((4, 4)), offset=-2.0)
    >>> sizes = {"evaluations": 200, "initial": 40, "batch": 20}
    >>> one = MapElites(Sphere(), archive, seed=1, **sizes)
    >>> while not one.finished:
    ...     batch = one.ask()
    ...     one.tell(batch, *one.domain.evaluate(batch.solutions, None))
    >>> one.done, archive
    (200, <Archive: 16 of 16 cells filled>)
    """

    domain: Domain
    archive: Archive
    seed: int
    evaluations: int
    initial: int = 2000
    batch: int = 80
    environments: Sequence[int] | None = None
    emitter: Emitter = field(default_factory=Uniform)
    done: int = 0
    history: list[tuple[float, ...]] = field(default_factory=list)
    records: int = 1000

    def __post_init__(self) -> None:
        if hasattr(self.emitter, "begin"):
            self.emitter.begin(self.domain)
        self.learnt = self._learnt()  # the emitter's state when it was last told, for checkpoints

    def ask(self) -> Batch:
        """Return the next batch: random solutions at first, then those of the emitter.

        Returns
        -------
        Batch
            Solutions to evaluate, with their environments.
        """
        random = self.done < self.initial
        limit = min(self.initial, self.evaluations) if random else self.evaluations
        n = min(self.batch, limit - self.done)
        stream = Stream(self.seed, self.done)
        if random:
            solutions = self.domain.random(stream.keys(RANDOM, n))
        else:
            solutions = self.emitter.ask(self.archive, n, stream)
            if count(solutions) != n:
                raise InputError(
                    f"{type(self.emitter).__name__}.ask must return {n} solutions, got "
                    f"{count(solutions)}"
                )
        environments = self._draw_environments(stream, n)
        if environments is None:
            return Batch(solutions, None)
        cells = self.archive.space.find(environments)
        objective = self.archive.objective[cells]
        incumbents = np.where(np.isnan(objective), -np.inf, objective)
        if self.emitter.full and not random:
            incumbents = np.full(n, -np.inf)  # whoever has nobody to beat is not stopped
        return Batch(solutions, environments, cells, incumbents, self.archive)

    def _draw_environments(self, stream: Stream, n: int) -> np.ndarray | None:
        """Draw an option of each attribute for each solution, all equally likely."""
        if self.environments is None:
            return None
        attributes = np.arange(len(self.environments))
        numbers = stream.first + np.arange(n)
        keys = fold(stream.seed, ENVIRONMENT, numbers[:, None], attributes)
        return uniformly(keys, self.environments)

    def tell(
        self,
        batch: Batch,
        objective: np.ndarray,
        measures: np.ndarray | None,
        stopped: np.ndarray | None = None,
    ) -> None:
        """Offer an evaluated batch to the archive, one solution after the other.

        Parameters
        ----------
        batch : Batch
            As it was asked for.
        objective : array of shape ``(n,)``
            Larger is better.
        measures : array of shape ``(n, dimensions)``, or None
            What cells are found by; None with environment diversity.
        stopped : array of shape ``(n,)``, optional
            Which solutions were stopped early: their objective is at most that of their cell
            (default: none).
        """
        cells = measures if batch.environments is None else batch.environments
        status = self.archive.add(batch.solutions, objective, cells)
        if self.done >= self.initial:
            early = np.zeros(len(status), bool) if stopped is None else stopped
            self.emitter.tell(
                batch.solutions,
                np.where(early, np.nan, objective),
                np.asarray(cells),
                np.where(early, STOPPED, status),
            )
            self.learnt = self._learnt()
        before = self.done * self.records // self.evaluations
        self.done += len(objective)
        if self.done * self.records // self.evaluations > before:
            self.history.append(self.statistics())

    def _learnt(self) -> dict[str, np.ndarray]:
        """Return a copy of the emitter's state, checked."""
        what = f"{type(self.emitter).__name__}.state"
        state = self.emitter.state()
        if not isinstance(state, Mapping):
            raise InputError(f"{what}() must return arrays by name, got {type(state).__name__}")
        arrays = {str(name): np.array(array) for name, array in state.items()}
        for name, array in arrays.items():
            if array.dtype.kind not in KINDS:
                raise InputError(f"{what}(): {name} must hold numbers, got {array.dtype}")
        return arrays

    def resume_with(self, archive: Archive, learnt: Mapping[str, np.ndarray] | None = None) -> None:
        """Take an archive, and what the emitter had learnt, from a file.

        ValueError, and nothing has changed, if they are not of this search.
        """
        try:
            archive.set_container(self.domain.random(Stream(self.seed, 0).keys(RANDOM, 1)))
        except ValueError as error:
            raise ValueError(f"other solutions than this run: {error}") from error
        if learnt is not None:
            try:
                self.emitter.restore(learnt)
            except Exception as error:  # a user's emitter may raise anything
                self.emitter.restore(self.learnt)
                raise ValueError(f"another emitter's state than this run: {error}") from error
            self.learnt = self._learnt()
        self.archive = archive

    def statistics(self) -> tuple[float, ...]:
        """Return evaluations, filled cells, best, mean and QD score."""
        archive = self.archive
        return (
            float(self.done),
            float(len(archive)),
            float(archive.best.fitness),
            float(archive.mean),
            float(archive.qd_score),
        )

    @property
    def finished(self) -> bool:
        """True if all evaluations are done."""
        return self.done >= self.evaluations


def search(one: MapElites) -> Iterator[MapElites]:
    """Run a search to its end, yielding it after each batch.

    Parameters
    ----------
    one : MapElites
        The search, in memory; ``Run`` does the same with files.

    Yields
    ------
    MapElites
        The same search, after each batch.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> from qed.evolution import MapElites, search
    >>> class Line:
    ...     def random(self, keys):
    ...         return np.array([[np.random.default_rng(key).random()] for key in keys])
    ...     def vary(self, parents, keys):
    ...         return (parents + self.random(keys)) / 2
    ...     def evaluate(self, solutions, environments):
    ...         return solutions[:, 0], solutions
    >>> archive = qed.Archive(qed.Grid((8,)))
    >>> one = MapElites(Line(), archive, seed=1, evaluations=60, initial=20, batch=20)
    >>> [state.done for state in search(one)]
    [20, 40, 60]
    """
    while not one.finished:
        batch = one.ask()
        one.tell(batch, *one.domain.evaluate(batch.solutions, batch.environments))
        yield one
