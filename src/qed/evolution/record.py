"""What makes a run of any domain: checked, told in its folder, and turned into a search."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from qed import limits
from qed.archive.archive import Archive
from qed.archive.grid import Environments
from qed.archive.recipes import digest
from qed.archive.space import Space
from qed.errors import InputError
from qed.evolution.domain import Domain
from qed.evolution.map_elites import MapElites
from qed.streams import STREAMS, stream


def sizes(evaluations: Any, initial: Any, batch: Any, seed: Any) -> dict[str, int]:
    """Return how much and how a run searches, checked."""
    return {
        "evaluations": limits.evaluations(evaluations),
        "initial": limits.evaluations(initial, "initial"),
        "batch": limits.batch(batch),
        "seed": limits.seed(seed),
    }


@dataclass(frozen=True)
class Record:
    """A domain, the cells of its archive, and the sizes of the search; all checked."""

    domain: Domain
    cells: Space
    sizes: Mapping[str, int]

    def __post_init__(self) -> None:
        missing = [
            verb for verb in ("random", "vary", "evaluate") if not hasattr(self.domain, verb)
        ]
        if missing:
            raise InputError(
                "domain must have the methods random, vary and evaluate (qed.evolution.Domain); "
                f"{self.name} has no {' and no '.join(missing)}"
            )
        if not all(hasattr(self.cells, verb) for verb in ("find", "describe", "dimensions")):
            raise InputError(
                "cells must be a Grid, Categories, Centroids or Environments (qed.archive), "
                f"got {self.cells!r}"
            )
        if self.features and len(self.features) != self.cells.dimensions:
            raise InputError(
                f"features of {self.name} must name the {self.cells.dimensions} measures of the "
                f"cells, got {len(self.features)} names"
            )
        self.tables()

    @property
    def name(self) -> str:
        """Name of the domain: that of its class."""
        return type(self.domain).__name__

    @property
    def features(self) -> list[str]:
        """Names of the measures, if the domain tells them."""
        return [str(name) for name in getattr(self.domain, "features", ())]

    @property
    def kind(self) -> str:
        """What a cell is: environments, grid, categories or centroids."""
        if isinstance(self.cells, Environments):
            return "environments"
        return str(self.cells.describe()["kind"])

    def tables(self) -> dict[str, dict[str, Any]]:
        """Return everything that makes the run, as its config.toml tells it."""
        found: dict[str, dict[str, Any]] = {
            "run": {"domain": self.name, **self.sizes},
            "domain": described(self.domain),
            "cells": {"kind": self.kind},
        }
        if isinstance(self.cells, Environments):
            found["environments"] = dict(self.cells.options)
        else:
            words = {k: v for k, v in self.cells.describe().items() if k != "recipe"}
            found["cells"] |= words
            points = self.cells.arrays(np.empty(0, np.int64)).get("points")
            if points is not None and len(points):
                found["cells"]["digest"] = digest(points)
        return found

    def code(self) -> dict[str, str]:
        """Return a digest of the text of the domain's class, where it can be read."""
        try:
            text = inspect.getsource(type(self.domain))
        except (OSError, TypeError):  # an interactive session
            return {}
        return {"code": hashlib.sha256(text.encode()).hexdigest()[:16]}

    def search(self) -> MapElites:
        """Return a new search."""
        header = {
            "settings": {"domain": self.name, **self.sizes},
            "domain": described(self.domain),
            "features": self.features,
            "streams": STREAMS,
        }
        return MapElites(
            domain=self.domain,
            archive=Archive(self.cells, header=header),
            seed=stream("search", self.name, self.kind, self.sizes["seed"]),
            evaluations=self.sizes["evaluations"],
            initial=self.sizes["initial"],
            batch=self.sizes["batch"],
            environments=self.cells.shape if isinstance(self.cells, Environments) else None,
        )


def described(domain: Domain) -> dict[str, Any]:
    """Return what a domain says about itself, as files can hold it.

    That is its ``describe()``, or the fields of a dataclass, or nothing.
    """
    name = type(domain).__name__
    words: Any = {}
    if hasattr(domain, "describe"):
        words = domain.describe()
    elif is_dataclass(domain):
        words = {field.name: getattr(domain, field.name) for field in fields(domain)}
    if not isinstance(words, Mapping):
        raise InputError(f"{name}.describe() must return a table, got {type(words).__name__}")
    return {str(key): _plain(f"{name}: {key}", value) for key, value in words.items()}


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
        f"got {value!r}; give the domain a describe() that returns such values"
    )
