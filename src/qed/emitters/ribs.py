"""The emitters of pyribs, CMA-ME first of all, for solutions that are vectors.

pyribs keeps what an emitter has learnt in the attributes of objects.  They are kept as arrays, so
that a run resumes, and set in emitters that are made anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from qed.archive.array_store import container_of, count, items
from qed.archive.grid import Categories, Space
from qed.emitters.emitter import RANDOM, Stream
from qed.errors import InputError, choice, integer

if TYPE_CHECKING:
    from qed.archive.archive import Archive
    from qed.evolution.domain import Domain

EVOLUTION_STRATEGY = "EvolutionStrategyEmitter"
KINDS = (EVOLUTION_STRATEGY, "IsoLineEmitter", "GaussianEmitter", "GeneticAlgorithmEmitter")
SETTINGS: dict[str, dict[str, Any]] = {
    EVOLUTION_STRATEGY: {"sigma0": 0.2, "ranker": "2imp"},
    "GaussianEmitter": {"sigma": 0.1},
}
PLAIN = np.ndarray | np.generic | np.random.Generator | str | int | float | None
VALUES = "values"  # the array that holds, as JSON, what is no array
CHOICE, SEED = 31, 32  # purposes of random numbers


class Ribs:
    """Emitters of pyribs (extra ``ribs``), by default those of CMA-ME.

    Solutions have to be vectors: an array of real numbers or columns of them, or
    ``controller=qed.Controller.dense(hidden=...)`` for swarms.  A domain with other solutions may
    have ``to_vectors(solutions)`` and ``from_vectors(vectors)``.

    Parameters
    ----------
    kind : str, default "EvolutionStrategyEmitter"
        The class of pyribs; also "IsoLineEmitter", "GaussianEmitter", "GeneticAlgorithmEmitter".
        Evolution strategies rank all children, so they need full evaluations.
    emitters : int, default 4
        How many of them share the children of a generation.
    x0 : sequence of float, optional
        Where they begin (default: each at an elite).
    **settings : any
        What the class takes: for instance ``sigma0`` (default: 0.2), ``ranker`` (default: "2imp",
        by improvement), ``es`` ("cma_es", "sep_cma_es"), ``lower_bounds`` and ``upper_bounds``.

    Examples
    --------
    >>> import qed
    >>> emitter = qed.emitters.Ribs(emitters=2, sigma0=0.5)
    >>> small = {"evaluations": 60, "initial": 20, "batch": 20, "trials": 1, "seconds": 5.0}
    >>> dense = qed.Controller.dense(hidden=2)
    >>> qed.evolve("patrolling", emitter=emitter, controller=dense, **small)
    <Archive: 59 of 4096 cells filled>
    """

    def __init__(
        self, kind: str = EVOLUTION_STRATEGY, *, emitters: int = 4, x0: Any = None, **settings: Any
    ) -> None:
        self.kind = choice("kind", kind, KINDS)
        self.emitters = integer("emitters", emitters, 1, 1000)
        self.x0 = None if x0 is None else np.asarray(x0, float)
        if ours := settings.keys() & {"batch_size", "seed"}:
            raise InputError(f"Ribs: {min(ours)} is not to be given: it follows from the search")
        self.settings = {**SETTINGS.get(self.kind, {}), **settings}
        self._made: list[Any] = []

    @property
    def full(self) -> bool:
        """True for evolution strategies, which rank all children."""
        return self.kind == EVOLUTION_STRATEGY

    def describe(self) -> dict[str, Any]:
        """Return its parameters."""
        parameters = {"kind": self.kind, "emitters": self.emitters, "x0": self.x0, **self.settings}
        return {
            name: json.dumps(value, sort_keys=True) if isinstance(value, dict) else value
            for name, value in parameters.items()
            if value is not None
        }

    def begin(self, domain: Domain) -> None:
        """Take what is evolved, and forget what was learnt; InputError if pyribs refuses it."""
        sample = domain.random(Stream(0, 0).keys(RANDOM, 1))
        self._vectors: Any = domain if hasattr(domain, "to_vectors") else Vectors(domain, sample)
        self._size = self._vectors.to_vectors(sample).shape[1]
        self._archive = View(None, self._vectors, self._size)
        if self.x0 is not None and self.x0.shape != (self._size,):
            raise InputError(f"x0 must hold {self._size} numbers, got shape {self.x0.shape}")
        self._make(2 * self.emitters)  # so that wrong settings are refused before a search begins
        list(_leaves(self._made))
        self._made = []

    def _make(self, n: int, stream: Stream | None = None) -> None:
        """Make the emitters of pyribs, for so many children; without a stream to be restored."""
        try:
            from ribs import emitters
        except ImportError:
            raise InputError("Ribs needs pyribs: pip install 'qed-swarm[ribs]'") from None
        shares = [len(part) for part in np.array_split(np.arange(n), self.emitters)]
        if min(shares) < 2:
            raise InputError(
                f"emitters must be at most half of the batch, which is {n}; got {self.emitters}"
            )
        seeds = np.random.SeedSequence((*(stream or ()), SEED)).generate_state(len(shares))
        self._made = []
        for share, seed in zip(shares, seeds.tolist(), strict=True):
            if self.x0 is not None:
                x0 = self.x0
            elif stream is None:
                x0 = np.zeros(self._size)
            else:
                x0 = self._archive.sample_elites(1)["solution"][0]
            settings = {**self.settings, "x0": x0, "batch_size": share, "seed": seed}
            try:
                self._made.append(getattr(emitters, self.kind)(self._archive, **settings))
            except (TypeError, ValueError) as error:
                raise InputError(f"Ribs: pyribs refuses the settings: {error}") from error

    def ask(self, archive: Archive, n: int, stream: Stream) -> Any:
        """Return what the emitters of pyribs propose."""
        self._archive.show(archive, stream)
        if not self._made:
            self._make(n, stream)
        asked = [np.asarray(each.ask(), float) for each in self._made]
        self._shares = [len(some) for some in asked]
        self._before = archive.objective.copy()
        self._asked = np.concatenate(asked)[:n]  # the last generation may have fewer children
        return self._vectors.from_vectors(self._asked)

    def tell(
        self, solutions: Any, objective: np.ndarray, measures: np.ndarray, status: np.ndarray
    ) -> None:
        """Tell the emitters of pyribs, with the improvement of each child."""
        if not self.full or len(objective) < sum(self._shares):
            return  # others learn nothing, and after the last generation there is nothing to learn
        incumbents = self._before[self._archive.space.find(measures)]
        value = objective - np.where(np.isnan(incumbents), 0.0, incumbents)
        stop = 0
        for each, share in zip(self._made, self._shares, strict=True):
            some = slice(stop, stop := stop + share)
            info = {"status": status[some], "value": value[some]}
            each.tell(self._asked[some], objective[some], measures[some].astype(float), info)

    def state(self) -> dict[str, np.ndarray]:
        """Return what the emitters of pyribs have learnt."""
        if not self._made:
            return {}
        arrays: dict[str, np.ndarray] = {}
        values: dict[str, Any] = {"shares": [each.batch_size for each in self._made]}
        for path, value, _ in _leaves(self._made):
            if isinstance(value, np.random.Generator):
                values[path] = value.bit_generator.state
            elif isinstance(value, np.ndarray | np.generic):
                arrays[path] = np.asarray(value)
            else:
                values[path] = value
        arrays[VALUES] = np.frombuffer(json.dumps(values).encode(), np.uint8)
        return arrays

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Make the emitters of pyribs anew, and set what they had learnt."""
        self._made = []
        if not state:
            return
        values = json.loads(state[VALUES].tobytes())
        self._make(sum(values["shares"]))
        known = values.keys() | state.keys()
        for path, value, owner in list(_leaves(self._made)):
            name = path.rpartition(".")[2]
            if path not in known:
                raise InputError(f"the state of {self.kind} has no {path}")
            if isinstance(value, np.random.Generator):
                value.bit_generator.state = values[path]
            elif path in state:
                array = state[path].copy()
                number = array.ndim == 0 and not isinstance(value, np.ndarray)
                setattr(owner, name, array[()] if number else array)
            else:
                setattr(owner, name, values[path])


class Vectors:
    """Solutions of a domain that are columns of real numbers, as vectors."""

    def __init__(self, domain: Domain, sample: Any) -> None:
        self.columns = {name: np.asarray(column) for name, column in items(sample).items()}
        self.container = container_of(sample)
        for name, column in self.columns.items():
            if column.dtype.kind != "f":
                raise InputError(
                    f"Ribs needs solutions of real numbers, but {name} of "
                    f"{type(domain).__name__} holds {column.dtype}; give the domain "
                    "to_vectors(solutions) and from_vectors(vectors)"
                )

    def to_vectors(self, solutions: Any) -> np.ndarray:
        """Return solutions as rows of numbers."""
        n = count(solutions)
        columns = [np.asarray(column, float).reshape(n, -1) for column in items(solutions).values()]
        return np.concatenate(columns, axis=1)

    def from_vectors(self, vectors: np.ndarray) -> Any:
        """Return rows of numbers as solutions."""
        stops = np.cumsum([prod(column.shape[1:]) for column in self.columns.values()])
        parts = np.split(vectors, stops[:-1], axis=1)
        return self.container(
            **{
                name: part.reshape(len(part), *column.shape[1:]).astype(column.dtype)
                for part, (name, column) in zip(parts, self.columns.items(), strict=True)
            }
        )


class View:
    """What emitters of pyribs read of an archive."""

    dtypes: Mapping[str, Any] = dict.fromkeys(("solution", "objective", "measures"), np.float64)
    space: Space

    def __init__(self, archive: Archive | None, vectors: Any, size: int) -> None:
        self.solution_dim = size
        self._vectors = vectors
        self.measure_dim = 1
        self.lower_bounds, self.upper_bounds = np.zeros(1), np.ones(1)

    def show(self, archive: Archive, stream: Stream) -> None:
        """Show an archive, and draw from it what follows from a stream."""
        self._archive, self.space = archive, archive.space
        self._rng = np.random.default_rng((*stream, CHOICE))
        self.measure_dim = archive.space.dimensions
        self.lower_bounds, self.upper_bounds = np.zeros(self.measure_dim), np.ones(self.measure_dim)
        if isinstance(archive.space, Categories):
            self.upper_bounds = np.array(archive.space.shape) - 1.0

    @property
    def empty(self) -> bool:
        """True if there is no elite."""
        return len(self._archive) == 0

    def sample_elites(self, n: int) -> dict[str, np.ndarray]:
        """Return the solutions of elites, drawn uniformly."""
        cells = self._rng.choice(self._archive.occupied, n)
        return {"solution": self._vectors.to_vectors(self._archive.take(cells))}


def _leaves(made: list[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield what emitters of pyribs keep: its path, itself, and the object that has it."""
    for k, each in enumerate(made):
        yield from _leaves_of(str(k), each)


def _leaves_of(path: str, owner: Any) -> Iterator[tuple[str, Any, Any]]:
    for name, value in vars(owner).items():
        here = f"{path}.{name}"
        if isinstance(value, PLAIN):
            yield here, value, owner
        elif type(value).__module__.partition(".")[0] == "ribs":
            yield from _leaves_of(here, value)
        elif not isinstance(value, View | type | tuple) and not callable(value):
            raise InputError(
                f"Ribs: what pyribs keeps as {here} ({type(value).__name__}) cannot be kept in a "
                "checkpoint; choose other settings"
            )
