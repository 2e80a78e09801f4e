"""What makes algorithms differ: QED, HBD, SDBC, SPIRIT, and a user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from qed.archive.cvt import Centroids, SpiritCells, SpiritRecipe, sdbc_centroids
from qed.archive.grid import Categories, Environments, Grid, Space
from qed.definitions import Definition, digest_of, known, reduce_definition
from qed.descriptors import hbd, sdbc, spirit
from qed.errors import InputError, number
from qed.swarm import user_defined
from qed.swarm.environment import PAPER, Attributes, Environment, attributes_of, other_robot
from qed.swarm.faults import DRAWN, Faults
from qed.swarm.robot import THYMIO, Robot
from qed.swarm.simulate import Outcome
from qed.swarm.user_defined import Law

Progress = Callable[[int, int], Any]
Condition = tuple[Environment, Faults | None]  # under which a controller is evaluated
# Seed points of the centroids: the paper's numbers, but fewer for small runs, which should not
# wait minutes for them.  They matter: small SPIRIT runs fill a fifth more cells of the larger
# number (benchmarks/centroids.py).
LARGE = 50_000  # evaluations
FULL_SDBC, SMALL_SDBC = 100_000, 20_000
FULL_SPIRIT, SMALL_SPIRIT = 1_000_000, 100_000
MOST_FEATURES = 6  # of a grid with 16 cells along each
ROUNDING = 1e-4  # of a range: what single precision may add to a mean


class Niches:
    """Cells that mean nothing: a child's cell is drawn, and its environment is the normal one.

    As many elites as with environments, but no diversity of environments: the control experiment
    that tells the size of an archive from what its cells mean.
    """

    def __init__(self, count: int = 4096) -> None:
        self.shape = (count,)

    def space(self) -> Space:
        """Return the cells."""
        return Categories(self.shape)

    def condition(self, options: Sequence[int]) -> Condition:
        """Return the normal environment."""
        return Environment(), None

    def described(self) -> dict[str, Any]:
        """Return how they are defined, as JSON can hold it."""
        return {"niches": list(self.shape)}


class BrokenRobots:
    """Cells that are faults: two kinds of fault, and how many robots of ten have each.

    Robots that have the first kind do not get the second.  All is in the normal environment.
    """

    kinds = DRAWN
    most = 7  # robots with a kind: 8 x 8 x 8 x 8 cells

    def __init__(self) -> None:
        self.shape = (len(self.kinds), 1 + self.most) * 2

    def space(self) -> Space:
        """Return the cells."""
        kinds, numbers = list(self.kinds), list(range(1 + self.most))
        return Environments(
            {"kind": kinds, "broken": numbers, "other kind": kinds, "broken by it": numbers}
        )

    def condition(self, options: Sequence[int]) -> Condition:
        """Return the normal environment and what is broken in it."""
        normal = Environment()
        first, broken, second, more = options
        healthy = normal.robots - broken
        more = min(more, healthy)
        names = [self.kinds[first]] * broken + [self.kinds[second]] * more
        return normal, Faults(names + ["NONE"] * (healthy - more))

    def described(self) -> dict[str, Any]:
        """Return how they are defined, as JSON can hold it."""
        return {"broken": [*self.kinds, self.most]}


class Algorithm(Definition):
    """An algorithm: what a cell of its archive is, and in which environments it evaluates.

    Parameters
    ----------
    name : str
        A name of its own.
    words : str
        What a cell is, in a few words.
    features : sequence of law
        A cell is a behaviour: laws, as of a ``qed.Task``, of robots or of pairs, each averaged over
        these, cycles and trials.
    ranges : sequence of (low, high)
        The smallest and the largest value that each feature can have.
    cells : Grid, Centroids or Attributes, optional
        How the features, scaled to 0 to 1 by their ranges, are cut into cells: a ``qed.Grid``
        (default: 16 along each feature), or ``Centroids`` of ``qed.archive``.  Without features
        ``qed.Attributes``: a cell is an environment.

    Examples
    --------
    >>> import qed
    >>> options = qed.Attributes({"robots": (5, 10, 20), "obstacles": (0, 4)})
    >>> few = qed.Algorithm("few", cells=options)
    >>> few.environments
    (3, 2)
    >>> few.with_attributes({"arena": (2.0, 4.0)}).environments
    (2,)

    >>> @qed.law
    ... def briskness(speed):
    ...     return min(abs(speed), 1.0)
    >>> mine = qed.Algorithm(
    ...     "mine", features=[briskness], ranges=[(0, 1)], cells=qed.Grid((8,))
    ... )
    >>> mine
    <Algorithm mine: a cell is a behaviour (briskness)>
    """

    kind = "algorithm"
    built_in = MappingProxyType({})
    space: Callable[[int, Progress | None], Any]  # the cells for so many evaluations
    sums: tuple[str | Law, ...] = ()  # what a simulation is asked to add up
    # From an outcome to behaviours; None: the search draws a child's cell.
    describe: Callable[[Outcome, Sequence[Environment]], np.ndarray] | None = None
    attributes: Attributes | None = None  # what environments are drawn from
    environments: tuple[int, ...] | None = None  # options, if the search draws a child's cell
    condition: Callable[[Sequence[int]], Condition]  # of a child whose cell was drawn
    features: tuple[Law, ...] = ()
    ranges: tuple[tuple[float, float], ...] = ()
    made: Mapping[str, Any] = MappingProxyType({})  # what it was made of

    def __new__(
        cls,
        name: str,
        words: str = "",
        *,
        features: Sequence[Callable[..., float]] = (),
        ranges: Sequence[Sequence[float]] = (),
        cells: Any = None,
    ) -> Algorithm:
        """Check the laws, their ranges and the cells."""
        name = cls._checked(name)
        made = {"features": tuple(features), "ranges": tuple(ranges), "cells": cells}
        if isinstance(cells, Attributes):
            if made["features"] or made["ranges"]:
                raise InputError(
                    f"algorithm {name}: a cell is an environment or a behaviour: give attributes "
                    "as cells, or features and ranges"
                )
            return cls.over(name, words or "a cell is an environment", cells, made)
        about = f"algorithm {name}"
        if not made["features"]:
            raise InputError(
                f"{about}: give features=[law, ...] and ranges=[(low, high), ...], or "
                "cells=qed.Attributes({...})"
            )
        laws = tuple(user_defined.checked(one, f"{about}, features") for one in made["features"])
        limits = _ranges(about, ranges, laws)
        space = _space(about, cells, len(laws))
        names = ", ".join(law.name for law in laws)
        return cls._new(
            name,
            str(words) or f"a cell is a behaviour ({names})",
            digest_of([law.key for law in laws], limits, _parts_of(space)),
            space=lambda evaluations, progress: space,
            sums=laws,
            describe=_behaviour(about, laws, limits),
            features=laws,
            ranges=limits,
            made=made,
        )

    @classmethod
    def over(
        cls, name: str, meaning: str, attributes: Attributes, made: dict[str, Any] | None = None
    ) -> Algorithm:
        """Return an algorithm whose cells are environments."""
        # The paper's have four options each and need no names; others are told in the archive.
        paper = attributes == PAPER
        space = Categories(PAPER.shape) if paper else Environments(attributes.described())
        return cls.of_package(
            name,
            meaning,
            lambda evaluations, progress: space,
            digest_of("environments", attributes.described(), *other_robot(attributes.robot)),
            attributes,
            attributes=attributes,
            made=made or {"cells": attributes},
        )

    @classmethod
    def of_package(
        cls,
        name: str,
        meaning: str,
        space: Callable[..., Any],
        digest: str,
        drawn: Attributes | Niches | BrokenRobots | None = None,
        **more: Any,
    ) -> Algorithm:
        """Return an algorithm that comes with QED; ``drawn`` is what cells are drawn from."""
        if drawn is not None:
            more |= {"environments": drawn.shape, "condition": drawn.condition}
        return cls._new(name, meaning, digest, space=space, **more)

    @property
    def robots(self) -> float:
        """Mean number of robots of a swarm in evolution."""
        if self.attributes is None or "robots" not in self.attributes:
            return float(Environment().robots)
        options = self.attributes["robots"]
        return sum(options) / len(options)

    def with_attributes(self, attributes: Any, robot: Robot | None = None) -> Algorithm:
        """Return this algorithm over other environments.

        Parameters
        ----------
        attributes : str, Attributes or mapping
            The options that environments are drawn from.
        robot : Robot, optional
            What the swarms are made of (default: that of the attributes).

        Returns
        -------
        Algorithm
            With the same name, for algorithms whose cells are environments.
        """
        if self.attributes is None:
            raise InputError(
                f"attributes are for algorithms whose cells are environments, such as qed; "
                f"{self.name} has behaviours"
            )
        return Algorithm.over(self.name, self.meaning, attributes_of(attributes, robot))

    def for_robot(self, robot: Robot) -> Algorithm:
        """Return this algorithm for swarms of a robot: other speeds and ranges in environments.

        Those of the paper scale with the robot; a user's own must be given for it.
        """
        if self.attributes is None or self.attributes.robot.key == robot.key:
            return self
        if self.attributes.robot.key != THYMIO.key:
            raise InputError(
                f"algorithm {self.name}: its environments are of the robot "
                f"{self.attributes.robot}, not of {robot}"
            )
        return Algorithm.over(self.name, self.meaning, self.attributes.of(robot))

    def described(self) -> dict[str, Any]:
        """Return how it is defined, as JSON can hold it."""
        if self.attributes is not None:
            return super().described() | {"attributes": self.attributes.described()}
        return super().described() | {
            "features": [
                {"law": law.name, "over": law.over, "range": list(limits), "source": law.source}
                for law, limits in zip(self.features, self.ranges, strict=True)
            ]
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_definition(self)


def _ranges(about: str, given: Any, laws: Sequence[Law]) -> tuple[tuple[float, float], ...]:
    """Return the range of each feature, checked."""
    if len(given) != len(laws):
        raise InputError(
            f"{about}: ranges must be one (low, high) for each of the {len(laws)} features, got "
            f"{len(given)}"
        )
    found = []
    for law, limits in zip(laws, given, strict=True):
        what = f"{about}: the range of {law.name}"
        try:
            low, high = limits
        except (TypeError, ValueError):
            raise InputError(f"{what} must be (low, high), got {limits!r}") from None
        low, high = number(what, low, -1e9, 1e9), number(what, high, -1e9, 1e9)
        if low >= high:
            raise InputError(f"{what} must have low below high, got ({low:g}, {high:g})")
        found.append((low, high))
    return tuple(found)


def _space(about: str, cells: Any, dimensions: int) -> Any:
    """Return the cells of behaviours, checked."""
    if cells is None:
        if dimensions > MOST_FEATURES:
            raise InputError(f"{about}: give cells=..., {dimensions} features make too many cells")
        return Grid((16,) * dimensions)
    if not isinstance(cells, Grid | Centroids):
        raise InputError(
            f"{about}: cells must be a qed.Grid or Centroids of qed.archive, got "
            f"{type(cells).__name__}"
        )
    if cells.dimensions != dimensions:
        raise InputError(
            f"{about}: cells have {cells.dimensions} dimensions, but there are {dimensions} "
            "features; one for each"
        )
    return cells


def _parts_of(space: Any) -> Any:
    """Return what makes cells."""
    arrays = space.arrays(np.empty(0, np.int64))
    return space.describe(), {name: array.tobytes() for name, array in arrays.items()}


def _behaviour(
    about: str, laws: Sequence[Law], ranges: Sequence[tuple[float, float]]
) -> Callable[[Outcome, Sequence[Environment]], np.ndarray]:
    """Return how means become behaviours from 0 to 1; InputError if one is out of its range."""

    def describe(outcome: Outcome, environments: Sequence[Environment]) -> np.ndarray:
        found = np.empty((len(environments), len(laws)))
        for k, (law, (low, high)) in enumerate(zip(laws, ranges, strict=True)):
            means = outcome.means[law.key].mean(1)
            if not np.isfinite(means).all():
                raise InputError(
                    f"{about}: the law {law.name} returned NaN or infinity in a simulation; it "
                    "must return a finite number everywhere"
                )
            slack = ROUNDING * max(abs(low), abs(high), high - low)
            outside = (means < low - slack) | (means > high + slack)
            if outside.any():
                raise InputError(
                    f"{about}: the feature {law.name} has the value {means[outside][0]:.4g}, "
                    f"outside its range ({low:g}, {high:g}); widen the range, or bound what the "
                    "law returns"
                )
            found[:, k] = np.clip((means - low) / (high - low), 0.0, 1.0)
        return found

    return describe


def _grid(evaluations: int, progress: Progress | None) -> Any:
    return Grid((16, 16, 16))


def _sdbc_points(evaluations: int) -> int:
    return FULL_SDBC if evaluations >= LARGE else SMALL_SDBC


def _spirit_points(evaluations: int) -> int:
    return FULL_SPIRIT if evaluations >= LARGE else SMALL_SPIRIT


def _sdbc(evaluations: int, progress: Progress | None) -> Any:
    return Centroids(sdbc_centroids(_sdbc_points(evaluations), progress=progress))


def _spirit(evaluations: int, progress: Progress | None) -> Any:
    return SpiritCells.from_recipe(SpiritRecipe(_spirit_points(evaluations)), progress)


def _described(
    name: str, meaning: str, space: Callable[..., Any], sums: str, describe: Callable[..., Any]
) -> Algorithm:
    """Return an algorithm of the paper whose cells are behaviours."""
    digest = digest_of(name, (sums,))
    return Algorithm.of_package(name, meaning, space, digest, sums=(sums,), describe=describe)


def _drawn(name: str, meaning: str, drawn: Niches | BrokenRobots) -> Algorithm:
    """Return an algorithm whose cells are drawn, but are no environments."""
    digest = digest_of("drawn", drawn.described())
    return Algorithm.of_package(name, meaning, lambda *_: drawn.space(), digest, drawn=drawn)


ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm.over("qed", "a cell is an environment", PAPER),
        _described("hbd", "a cell is where robots go (3 features)", _grid, "spread", hbd),
        _described("sdbc", "a cell is how the swarm moves (10 features)", _sdbc, "sdbc", sdbc),
        _described(
            "spirit",
            "a cell is what a robot does in each situation (1024 features)",
            _spirit,
            "spirit",
            lambda outcome, environments: spirit(outcome),
        ),
        _drawn("niches", "a cell means nothing (control experiment)", Niches()),
        _drawn("faults", "a cell is what is broken in the swarm", BrokenRobots()),
    )
}
Algorithm.built_in = MappingProxyType(ALGORITHMS)


def cells_in_words(algorithm: str, evaluations: int) -> str:
    """Return which cells an algorithm's archive has after so many evaluations, for a report."""
    if algorithm == "sdbc":
        return "4,096 cells around centroids of " + _seeds(_sdbc_points(evaluations), FULL_SDBC)
    if algorithm == "spirit":
        seeds = _seeds(_spirit_points(evaluations), FULL_SPIRIT)
        return f"4,096 cells around centroids of {seeds}, small clusters reassigned"
    if algorithm == "hbd":
        return "4,096 cells, a grid of 16 x 16 x 16 over three features"
    found = known(Algorithm).get(algorithm)
    if found is None:  # tables do not need the definition
        return "user-defined cells"
    count = found.space(evaluations, None).cells
    if found.features:
        return f"{count:,} cells over {', '.join(law.name for law in found.features)}"
    return f"{count:,} cells, each an environment" if found.attributes else found.meaning


def _seeds(points: int, papers: int) -> str:
    words = "as in the paper" if points == papers else f"paper: {papers:,}"
    return f"{points:,} seed points ({words})"
