"""What is evolved: a domain, the batches of it to evaluate, and what it says about itself."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from qed.archive.archive import Archive
from qed.archive.cvt import digest
from qed.archive.grid import Environments, Space
from qed.errors import InputError


class Evaluated(NamedTuple):
    """What became of a batch."""

    objective: np.ndarray
    measures: np.ndarray | None  # if cells need them
    stopped: np.ndarray | None = None  # which were stopped early, if any could be


class Domain(Protocol):
    """What a search needs to know about a domain.

    Solutions are an array with one row a solution, or a NamedTuple or a mapping of such arrays;
    they go into files as they are.  Keys are 32-bit seeds, one per solution: what is random must
    follow from them alone, so that a search can be stopped and resumed.

    A domain may have more, which a run uses if it is there:

    - ``describe()`` returns its parameters, as a table of words, numbers and lists of them.  They
      go into the run's ``config.toml``, and a run is resumed only with a domain that has the same.
      For a dataclass the default is its fields.
    - ``features``, the names of the measures, for pictures.
    - ``together`` and ``begin`` (``SideBySide``) evaluate batches of several searches in one go.

    Examples
    --------
    A number that should be near a target, which depends on the environment:

    >>> import numpy as np
    >>> from qed.archive import Environments
    >>> from qed.evolution import Run, run_side_by_side
    >>> class Aim:
    ...     def random(self, keys):
    ...         return np.array([[np.random.default_rng(key).random()] for key in keys])
    ...     def vary(self, parents, keys):
    ...         steps = [[np.random.default_rng(key).normal(0.0, 0.1)] for key in keys]
    ...         return parents + np.array(steps)
    ...     def evaluate(self, solutions, environments):
    ...         target = environments[:, 0] / 4
    ...         return -np.abs(solutions[:, 0] - target), None
    ...     def describe(self):
    ...         return {"targets": 4}
    >>> cells = Environments({"target": (0.0, 0.25, 0.5, 0.75)})
    >>> run = Run(None, Aim(), cells, evaluations=400, initial=40, batch=20, seed=1)
    >>> generations = list(run_side_by_side([run]))
    >>> run.archive, bool(run.archive.mean > -0.02)
    (<Archive: 4 of 4 cells filled>, True)
    """

    def random(self, keys: np.ndarray) -> Any:
        """Return random solutions.

        Parameters
        ----------
        keys : array of shape ``(n,)``, uint32
            A seed per solution.

        Returns
        -------
        array, NamedTuple or mapping of arrays
            One row per solution.
        """

    def vary(self, parents: Any, keys: np.ndarray) -> Any:
        """Return a changed copy of each parent.

        Parameters
        ----------
        parents : array, NamedTuple or mapping of arrays
            One row per parent, as ``random`` returned them.
        keys : array of shape ``(n,)``, uint32
            A seed per child.

        Returns
        -------
        array, NamedTuple or mapping of arrays
            One row per child.
        """

    def evaluate(
        self, solutions: Any, environments: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return how good solutions are, and what their cells are found by.

        Parameters
        ----------
        solutions : array, NamedTuple or mapping of arrays
            One row per solution.
        environments : array of shape ``(n, attributes)``, or None
            With environment diversity the index of an option of each attribute for each solution.

        Returns
        -------
        objective : array of shape ``(n,)``
            Larger is better.
        measures : array of shape ``(n, dimensions)``, or None
            What cells are found by; with environment diversity not looked at.
        """


class PendingEvaluation(Protocol):
    """An evaluation under way."""

    def ready(self) -> bool:
        """Return True if `results()` will not block, or if nothing happens until it is called."""

    def results(self) -> Sequence[Evaluated]:
        """Wait for its end; return the objective and the measures of each batch."""


class SideBySide(Domain, Protocol):
    """A domain that gains from evaluating batches of several searches in one go.

    ``run_side_by_side`` looks for these two methods; robot swarms have them, so that a GPU is
    filled by several runs.

    Examples
    --------
    Two swarms in one go get what each gets alone:

    >>> import numpy as np
    >>> from qed.evolution import Batch
    >>> from qed.evolution.swarms import Swarms
    >>> swarms = [Swarms("patrolling", trials=1, seconds=2.0, seed=seed) for seed in (1, 2)]
    >>> Swarms.together(swarms, batch=3)
    [[0, 1]]
    >>> batches = [Batch(one.random(np.arange(3, dtype=np.uint32)), None) for one in swarms]
    >>> both = Swarms.begin(swarms, batches).results()
    >>> alone = swarms[1].evaluate(batches[1].solutions, None)
    >>> bool((both[1][0] == alone[0]).all()), bool((both[0][0] == alone[0]).all())
    (True, False)
    """

    @staticmethod
    def together(domains: Sequence[Any], batch: int) -> list[list[int]]:
        """Return which of several domains are best evaluated in one go.

        Parameters
        ----------
        domains : sequence of Domain
            All of this kind.
        batch : int
            Solutions of a generation of each.

        Returns
        -------
        list of list of int
            Groups of domains, by their numbers.
        """

    @staticmethod
    def begin(domains: Sequence[Any], batches: Sequence[Batch]) -> PendingEvaluation:
        """Begin to evaluate a batch of each domain; each gets what it would get alone.

        Parameters
        ----------
        domains : sequence of Domain
            A group.
        batches : sequence of Batch
            One of each domain.

        Returns
        -------
        PendingEvaluation
            With ``ready()``, True if results are there, and ``results()``, which waits for them
            and returns objective and measures of each batch.
        """


@dataclass
class Batch:
    """Solutions to evaluate, and the environments to evaluate them in.

    Attributes
    ----------
    solutions : array, NamedTuple or mapping of arrays
        One row per solution.
    environments : array of shape ``(n, attributes)``, or None
        With environment diversity the index of an option of each attribute; else None, as what
        follows.
    cells : array of shape ``(n,)``, or None
        The cell of each solution.
    incumbents : array of shape ``(n,)``, or None
        The objective to beat there, minus infinity where there is none.
    archive : Archive or None
        Where the incumbents are.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.evolution import Batch
    >>> batch = Batch(np.zeros((3, 2)), None)
    >>> len(batch.solutions)
    3
    """

    solutions: Any
    environments: np.ndarray | None
    cells: np.ndarray | None = None
    incumbents: np.ndarray | None = None
    archive: Archive | None = None


class Record(NamedTuple):
    """What makes a run, as its folder and its archive keep it."""

    tables: Mapping[str, Mapping[str, Any]]  # of config.toml: the same for a run to be resumed
    made_with: Mapping[str, str]  # told there too, but may be another when it is resumed
    header: dict[str, Any]  # of the archive
    stream: tuple[str, str]  # names its random numbers, with the seed
    environments: Sequence[int] | None  # options of each attribute, if the search draws them


def record_of(domain: Domain, cells: Space | None, sizes: Mapping[str, Any]) -> Record:
    """Return what makes a run of a user's domain, checked."""
    name = type(domain).__name__
    cells = _check_domain(name, domain, cells)
    described = description(name, domain)
    run = {"domain": name, **sizes}
    tables: dict[str, dict[str, Any]] = {"run": run, "domain": described, "cells": {}}
    if isinstance(cells, Environments):
        kind = "environments"
        tables[kind] = dict(cells.options)
    else:
        tables["cells"] = {k: v for k, v in cells.describe().items() if k != "recipe"}
        kind = tables["cells"]["kind"]
        points = cells.arrays(np.empty(0, np.int64)).get("points")
        if points is not None and len(points):
            tables["cells"]["digest"] = digest(points)
    tables["cells"]["kind"] = kind
    header = {"settings": run, "domain": described, "features": _features(domain)}
    environments = cells.shape if isinstance(cells, Environments) else None
    return Record(tables, _code_digest(domain), header, (name, kind), environments)


def _check_domain(name: str, domain: Domain, cells: Space | None) -> Space:
    missing = [verb for verb in ("random", "vary", "evaluate") if not hasattr(domain, verb)]
    if missing:
        raise InputError(
            "domain must have the methods random, vary and evaluate (qed.evolution.Domain); "
            f"{name} has no {' and no '.join(missing)}"
        )
    if cells is None or not all(hasattr(cells, v) for v in ("find", "describe", "dimensions")):
        raise InputError(
            "cells must be a Grid, Categories, Centroids or Environments (qed.archive), "
            f"got {cells!r}"
        )
    features = _features(domain)
    if features and len(features) != cells.dimensions:
        raise InputError(
            f"features of {name} must name the {cells.dimensions} measures of the cells, got "
            f"{len(features)} names"
        )
    return cells


def _features(domain: Domain) -> list[str]:
    return [str(name) for name in getattr(domain, "features", ())]


def _code_digest(domain: Domain) -> dict[str, str]:
    """Return a digest of the text of the domain's class, where it can be read."""
    try:
        text = inspect.getsource(type(domain))
    except (OSError, TypeError):  # an interactive session
        return {}
    return {"code": hashlib.sha256(text.encode()).hexdigest()[:16]}


def description(name: str, domain: Any) -> dict[str, Any]:
    """Return the parameters of a domain or an emitter: ``describe()``, or a dataclass's fields."""
    parameters: Any = {}
    if hasattr(domain, "describe"):
        parameters = domain.describe()
    elif is_dataclass(domain):
        parameters = {field.name: getattr(domain, field.name) for field in fields(domain)}
    if not isinstance(parameters, Mapping):
        raise InputError(f"{name}.describe() must return a table, got {type(parameters).__name__}")
    return {str(key): _plain(f"{name}: {key}", value) for key, value in parameters.items()}


def _plain(what: str, value: Any) -> Any:
    """Return a value as it will come back from a file, or say what cannot be written."""
    held = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(held, list | tuple):
        return [_plain(what, one) for one in held]
    try:
        json.dumps(held, allow_nan=False)
        if isinstance(held, str):
            held.encode()
            return held
        if isinstance(held, bool | int | float):
            return held
    except (TypeError, ValueError):
        pass
    raise InputError(
        f"{what} must be text, a finite number or a list of them, to be stored with the run; "
        f"got {value!r}; give it a describe() that returns such values"
    )
