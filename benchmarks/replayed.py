"""Searches that are played against tables of trials, on a CPU, without a simulator.

The first time that a search tries a controller it is told the first of its trials, then the
second, and so on.  Searches of whole archives, as baselines.py compares them, beside kits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from qed.recovery.search.gaussian import Observations, Prior
from qed.recovery.search.search import Search
from qed.recovery.search.strategies import Known, MapBased, matern

BUDGETS = (1, 3, 5, 10, 30)  # trials after which a search's answer is looked at
NUGGET = 0.05  # of a process's variance: what is a controller's own


class Asked(Protocol):
    """A search as it is played: ask, tell, and what it would use."""

    @property
    def best_row(self) -> int:
        """The controller to go on with."""

    def ask(self) -> int:
        """Return the controller to try next."""

    def tell(self, fitness: float, controller: int | None = None) -> None:
        """Tell what it gave, or what another one did."""


class InOrder:
    """Controllers in an order, each once, then the best of them again and again."""

    def __init__(self, order: Sequence[int]) -> None:
        self.order, self.told = list(order), dict[int, list[float]]()

    @property
    def best_row(self) -> int:
        """The best of those that were tried."""
        return max(self.told, key=lambda row: float(np.mean(self.told[row])))

    def ask(self) -> int:
        """Return the first that was not tried."""
        self.asked = next((row for row in self.order if row not in self.told), -1)
        self.asked = self.best_row if self.asked < 0 else self.asked
        return self.asked

    def tell(self, fitness: float, controller: int | None = None) -> None:
        """Tell what was asked, or another one, gave."""
        row = self.asked if controller is None else controller
        self.told.setdefault(row, []).append(fitness)


class Mapped:
    """Map-based Bayesian optimisation; its answer is the best posterior mean of those tried."""

    def __init__(self, process: MapBased) -> None:
        self.process, self.told = process, list[tuple[int, float]]()

    @property
    def best_row(self) -> int:
        """The best of those that were tried."""
        rows = self.seen.rows
        return int(rows[np.argmax(self.belief.mean[rows])])

    def ask(self) -> int:
        """Return the controller with the highest bound."""
        self.asked = self.process.choose(self.seen, self.belief, 0)
        return self.asked

    def tell(self, fitness: float, controller: int | None = None) -> None:
        """Tell what was asked, or another one, gave."""
        self.told.append((self.asked if controller is None else controller, fitness))
        self.seen = Observations.of(self.told)
        self.belief = self.process.belief(self.seen)


class KitSearch:
    """The search of a kit, whose controllers are rows of the archive."""

    def __init__(self, rows: np.ndarray, known: Known, present: int) -> None:
        self.rows = rows.tolist()
        self.search: Any = Search(range(len(rows)), known, present, "")  # type: ignore[type-var]

    @property
    def best_row(self) -> int:
        """The leader if its gain is clear, else the present one."""
        return int(self.rows[self.search.best_row])

    def ask(self) -> int:
        """Return the controller that the kit asks for."""
        return int(self.rows[self.search.ask()])

    def tell(self, fitness: float, controller: int | None = None) -> None:
        """Tell what was asked, or another one, gave."""
        self.search.tell(fitness, None if controller is None else self.rows.index(controller))


def play(
    search: Asked, trials: np.ndarray, present: int, budgets: Sequence[int] = BUDGETS
) -> tuple[list[int], int]:
    """Play a search against a table; return its answers, and how many trials it was told again.

    The present controller's trial in which the fault was noticed comes first, and is free.
    """
    depth = np.count_nonzero(np.isfinite(trials), axis=1)
    met: dict[int, int] = {present: 1}
    search.tell(float(trials[present, 0]), present)
    answers, again = [], 0
    for number in range(1, budgets[-1] + 1):
        row = search.ask()
        before = met.get(row, 0)
        again += int(before >= depth[row])
        search.tell(float(trials[row, before % depth[row]]))
        met[row] = before + 1
        if number in budgets:
            answers.append(search.best_row)
    return answers, again


@dataclass(frozen=True)
class Columns:
    """A kernel by its columns, which are kept: (n,) covariances of all controllers with one."""

    column: Callable[[int], np.ndarray]
    kept: dict[int, np.ndarray]

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return the columns of some rows, (n, rows)."""
        for row in rows.tolist():
            if row not in self.kept:
                self.kept[row] = self.column(row)
        return np.stack([self.kept[row] for row in rows.tolist()], axis=1)


def principal(behaviours: np.ndarray, most: int = 16) -> np.ndarray:
    """Return behaviours (n, d) on their principal axes, all on the scale of the first, 0 to 1.

    As ``fitting.places_in``, but by way of the covariance, since n is large here.
    """
    centred = behaviours - behaviours.mean(0, dtype=np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    spread = centred @ axes[:, ::-1][:, :most]
    found: np.ndarray = (spread - spread.min(0)) / max(float(np.ptp(spread[:, 0])), 1e-12)
    return found


def on_places(
    places: np.ndarray, length: float, variance: float, shift: float = 0.0, nugget: float = NUGGET
) -> tuple[Columns, np.ndarray]:
    """Return a Matern 5/2 kernel on places, of which all controllers share a part; and variances.

    The nugget is the part of the variance that is a controller's own.
    """

    def column(row: int) -> np.ndarray:
        near = matern(places, places[[row]], length)[:, 0]
        found = variance * ((1.0 - shift) * near + shift)
        found[row] += nugget * variance
        return found

    return Columns(column, {}), np.full(len(places), variance * (1.0 + nugget))


def on_library(apart: np.ndarray, rank: int, scale: float) -> tuple[Columns, np.ndarray]:
    """Return the kernel of fitness over faults (faults, n), from its mean; and variances.

    It is scale times the second moment in the first directions, without the noise in them, and the
    nugget, a part of its mean, which is each controller's own.
    """
    _, sizes, right = np.linalg.svd(apart, full_matrices=False)
    kept = min(rank, len(sizes) - 1)
    noise = float(np.mean(sizes[kept:] ** 2))
    loadings = right[:kept].T * np.sqrt(np.maximum(sizes[:kept] ** 2 - noise, 0.0) / len(apart))
    shared = np.einsum("ij,ij->i", loadings, loadings)
    own = NUGGET * float(shared.mean()) + 1e-9

    def column(row: int) -> np.ndarray:
        found = loadings @ loadings[row]
        found[row] += own
        return scale * found

    return Columns(column, {}), scale * (shared + own)


def as_arrays(known: Known, name: str) -> dict[str, np.ndarray]:
    """Return what a kit knows as arrays of a file."""
    prior = {f"{name} {key}": getattr(known.prior, key) for key in Prior.__dataclass_fields__}
    others = {f"{name} {key}": getattr(known, key) for key in ("normal", "places", "portfolio")}
    return prior | others


def from_arrays(found: Mapping[str, np.ndarray], name: str) -> Known:
    """Return what a kit knows from arrays of a file."""
    prior = Prior(**{key: found[f"{name} {key}"] for key in Prior.__dataclass_fields__})
    return Known(prior, *(found[f"{name} {key}"] for key in ("normal", "places", "portfolio")))
