"""The environment of a swarm, its attributes, and the options that evolution draws from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from qed.definitions import defined, digest_of
from qed.errors import InputError, choice, integer, number
from qed.swarm.floor import checked_floor, floor_in_words, rows_of
from qed.swarm.robot import THYMIO, Robot, robot_of

MAX_ROBOTS = 64
MAX_OBSTACLES = 64
SCALED = ("max_speed", "rab_range", "proximity_range")  # with the robot


@dataclass(frozen=True)
class Environment:
    """An environment; without arguments the paper's normal one.  SI units.

    Parameters
    ----------
    max_speed : float, optional
        Top speed of a wheel (m/s), at most 0.4 (default: the robot's, 0.10 of the Thymio).
    robots : int, default 10
        Number of robots, at most 64.
    arena : float, default 4.0
        Side of the square arena (m).
    obstacles : int, default 0
        Number of cylinders, at most 64, of radius 0.15 m unless a ``Start`` gives another one.
    rab_range : float, optional
        Range of the range-and-bearing sensor (m; default: the robot's, 1.0 of the Thymio).
    proximity_range : float, optional
        Range of the proximity sensors (m; default: the robot's, 0.11 of the Thymio).
    robot : Robot or str, default qed.THYMIO
        What the swarm is made of.
    floor : array of shape ``(rows, columns)``, optional
        The floor's brightness, from 0 (black) to 1 (white), stretched over the arena; at most 64
        each way.  The first row lies at y = 0, the first column at x = 0, so a picture of a file,
        whose first row is its upper edge, is ``picture[::-1]``.  Ground sensors read the cell they
        are above (default: all is white).

    Examples
    --------
    >>> import qed
    >>> qed.Environment(robots=20, obstacles=4).arena
    4.0
    >>> qed.Environment(robot=qed.EPUCK).rab_range
    0.8
    >>> qed.Environment(floor=[[0, 1], [1, 1]]).floor  # black where x and y are below 2 m
    ((0.0, 1.0), (1.0, 1.0))
    """

    max_speed: float = None  # type: ignore[assignment]
    robots: int = 10
    arena: float = 4.0
    obstacles: int = 0
    rab_range: float = None  # type: ignore[assignment]
    proximity_range: float = None  # type: ignore[assignment]
    robot: Robot = field(default=THYMIO, kw_only=True)
    floor: Any = field(default=None, kw_only=True)  # a Picture, once it is checked

    def __post_init__(self) -> None:
        robot = defined("robot", self.robot, Robot)
        for name in SCALED:
            if getattr(self, name) is None:
                object.__setattr__(self, name, getattr(robot, name))
        checked = {
            "robot": robot,
            "max_speed": number("max_speed", self.max_speed, 0.0, 0.4, above=True),
            "robots": integer("robots", self.robots, 1, MAX_ROBOTS),
            "arena": number("arena", self.arena, 0.5, 100.0),
            "obstacles": integer("obstacles", self.obstacles, 0, MAX_OBSTACLES),
            "rab_range": number("rab_range", self.rab_range, 0.0, 200.0, above=True),
            "proximity_range": number(
                "proximity_range", self.proximity_range, 0.0, 1.0, above=True
            ),
            "floor": checked_floor(self.floor),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        each = [f"{name}={getattr(self, name)!r}" for name in ATTRIBUTES]
        each += [f"robot={self.robot.name!r}"] if other_robot(self.robot) else []
        each += [f"floor=({floor_in_words(self.floor)})"] if self.floor else []
        return f"Environment({', '.join(each)})"

    def described(self) -> dict[str, Any]:
        """Return it as JSON can hold it: with its robot, unless that is the Thymio, and a floor."""
        found = {name: getattr(self, name) for name in ATTRIBUTES}
        found |= {"robot": self.robot.described()} if other_robot(self.robot) else {}
        return found | ({"floor": rows_of(self.floor)} if self.floor else {})

    @classmethod
    def from_described(cls, described: Mapping[str, Any]) -> Environment:
        """Return the environment of a file."""
        given = dict(described)
        if isinstance(given.get("robot"), Mapping):
            given["robot"] = robot_of(given)
        return cls(**given)

    @classmethod
    def from_options(cls, options: Any, attributes: str | Attributes = "paper") -> Environment:
        """Return the environment with the given option of each attribute.

        Parameters
        ----------
        options : sequence of int
            The number of an option (0, 1, ...) for each attribute, as in ``Elite.measures`` of a
            QED archive.
        attributes : str or Attributes, default "paper"
            The options that they count.

        Returns
        -------
        Environment
            The environment that these options make.

        Examples
        --------
        >>> import qed
        >>> qed.Environment.from_options((1, 1, 2, 0, 2, 1)) == qed.Environment()
        True
        """
        return attributes_of(attributes).environment(options)

    @classmethod
    def sample(
        cls, count: int, seed: int = 1, attributes: str | Attributes = "paper"
    ) -> list[Environment]:
        """Return environments with every option drawn independently and uniformly.

        Parameters
        ----------
        count : int
            How many.
        seed : int, default 1
            Decides the draws.
        attributes : str or Attributes, default "paper"
            The options to draw from.

        Returns
        -------
        list of Environment
            As many as asked for; a longer list begins with a shorter one.

        Examples
        --------
        >>> import qed
        >>> [where.robots for where in qed.Environment.sample(3, seed=1)]
        [5, 10, 15]
        """
        from qed.chance import fold

        table = attributes_of(attributes)
        count = integer("count", count, 0, 2**31)
        purpose = 0xE27
        draws = fold(seed, purpose, np.arange(count)[:, None], np.arange(len(table)))
        sizes = np.array(table.shape, np.uint64)
        drawn = (draws.astype(np.uint64) * sizes) >> np.uint64(32)
        return [table.environment(row) for row in drawn.tolist()]

    def options(self, attributes: str | Attributes = "paper") -> tuple[int, ...] | None:
        """Return the option of each attribute that makes this environment.

        Parameters
        ----------
        attributes : str or Attributes, default "paper"
            The options to look among.

        Returns
        -------
        tuple of int or None
            The number of an option (0, 1, ...) for each attribute; None if one is not an option.

        Examples
        --------
        >>> import qed
        >>> qed.Environment().options()
        (1, 1, 2, 0, 2, 1)
        """
        return attributes_of(attributes).options_of(self)


ATTRIBUTES = tuple(one.name for one in fields(Environment) if one.name not in ("robot", "floor"))
MOST_ENVIRONMENTS = 2**24


class Attributes(Mapping[str, tuple[float, ...]]):
    """The options of each attribute that evolution over environments draws from.

    An attribute that is not named keeps the value it has in the normal environment.  Any number
    of options will do; each environment they make is a cell of the archive.

    Parameters
    ----------
    options : mapping of str to sequence of float
        The options of some of max_speed (m/s), robots, arena (m), obstacles, rab_range (m) and
        proximity_range (m), as ``Environment`` has them.
    robot : Robot or str, default qed.THYMIO
        What the swarms are made of.

    Examples
    --------
    >>> import qed
    >>> few = qed.Attributes({"robots": (5, 10, 20), "obstacles": (0, 4)})
    >>> few.shape, few.count, few.environment((2, 1)).robots
    ((3, 2), 6, 20)
    >>> few.options_of(qed.Environment(robots=5, obstacles=4))
    (0, 1)
    """

    def __init__(self, options: Mapping[str, Sequence[float]], robot: str | Robot = THYMIO) -> None:
        self.robot = defined("robot", robot, Robot)
        if not isinstance(options, Mapping) or not options:
            raise InputError(
                f"attributes must be a table with the options of {', '.join(ATTRIBUTES)}, or of "
                f"some of them; got {options!r}"
            )
        table = {}
        for name, values in options.items():
            choice("attributes", name, ATTRIBUTES)
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
                raise InputError(f"attributes: {name} must be a list of options, got {values!r}")
            # As an environment has them, which also refuses what cannot be.
            same = tuple(getattr(self._normal_but(name, value), name) for value in values)
            if not same or len(set(same)) < len(same):
                raise InputError(
                    f"attributes: {name} must have at least one option, and none twice; got "
                    f"{list(values)!r}"
                )
            table[name] = same
        # In the order of an environment's fields, whatever order they are given in.
        self._options = {name: table[name] for name in ATTRIBUTES if name in table}
        if self.count > MOST_ENVIRONMENTS:
            raise InputError(
                f"attributes: {self.count:,} environments are more than {MOST_ENVIRONMENTS:,}"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of options of each attribute."""
        return tuple(len(options) for options in self._options.values())

    @property
    def count(self) -> int:
        """Number of environments."""
        return math.prod(self.shape)

    def environment(self, options: Any) -> Environment:
        """Return the environment with the given option of each attribute.

        Parameters
        ----------
        options : sequence of int
            The number of an option (0, 1, ...) for each attribute.

        Returns
        -------
        Environment
            The environment that these options make.
        """
        picked = list(options)
        if len(picked) != len(self):
            raise InputError(f"options must be {len(self)} numbers, got {len(picked)}")
        return Environment(
            robot=self.robot,
            **{  # type: ignore[arg-type]
                name: values[integer(f"option of {name}", option, 0, len(values) - 1)]
                for (name, values), option in zip(self.items(), picked, strict=True)
            },
        )

    def condition(self, options: Any) -> tuple[Environment, None]:
        """Return the environment of some options, in which nothing is broken."""
        return self.environment(options), None

    def options_of(self, environment: Environment) -> tuple[int, ...] | None:
        """Return the option of each attribute that makes an environment.

        Parameters
        ----------
        environment : Environment
            One of those that the options make, or any other.

        Returns
        -------
        tuple of int or None
            The number of an option (0, 1, ...) for each attribute; None if it is not one of them.
        """
        try:
            found = tuple(v.index(getattr(environment, name)) for name, v in self.items())
        except ValueError:
            return None
        return found if self.environment(found) == environment else None

    def of(self, robot: Robot) -> Attributes:
        """Return the options of another robot: its speeds and ranges are larger or smaller.

        Without range and bearing its range is no option.
        """
        if robot.key == self.robot.key:
            return self
        parts = {name: getattr(robot, name) / getattr(self.robot, name) for name in SCALED}
        return Attributes(
            {
                name: [round(value * parts[name], 6) for value in values]
                if name in SCALED
                else values
                for name, values in self.items()
                if name != "rab_range" or robot.rab
            },
            robot,
        )

    def described(self) -> dict[str, list[float]]:
        """Return the options as JSON can hold them."""
        return {name: list(values) for name, values in self.items()}

    @property
    def digest(self) -> str:
        """A digest of all options."""
        return digest_of(self._options, *other_robot(self.robot))

    def _normal_but(self, name: str, value: Any) -> Environment:
        """Return the normal environment with another value of an attribute."""
        return Environment(robot=self.robot, **{name: value})

    def __getitem__(self, name: str) -> tuple[float, ...]:
        return self._options[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Attributes):
            return False
        return self._options == other._options and self.robot.key == other.robot.key

    def __hash__(self) -> int:
        return hash(tuple(self._options.items()))

    def __repr__(self) -> str:
        return f"Attributes({self._options!r})"


def other_robot(robot: Robot) -> tuple[str, ...]:
    """Return what tells a robot from the Thymio, if it is another one."""
    return () if robot.key == THYMIO.key else (robot.digest,)


# In the paper's order A1 to A6 (m/s, robots, m, obstacles, m, m); its arenas have 4, 9, 16 and 25
# square metres.
PAPER = Attributes(
    {
        "max_speed": (0.05, 0.10, 0.15, 0.20),
        "robots": (5, 10, 15, 20),
        "arena": (2.0, 3.0, 4.0, 5.0),
        "obstacles": (0, 2, 4, 6),
        "rab_range": (0.25, 0.5, 1.0, 2.0),
        "proximity_range": (0.055, 0.11, 0.22, 0.44),
    }
)
# "scripts": the arenas that the authors' launch scripts name (9, 16, 25, 36 square metres).
VARIANTS: dict[str, Attributes] = {
    "paper": PAPER,
    "scripts": Attributes({**PAPER, "arena": (3.0, 4.0, 5.0, 6.0)}),
}


def attributes_of(given: Any, robot: Robot | None = None) -> Attributes:
    """Return a robot's attributes, given as an object, a table, or the name of a variant.

    Those of a variant are the Thymio's, and scale with the robot.
    """
    if isinstance(given, Attributes) and robot in (None, given.robot):
        return given
    if isinstance(given, Mapping):
        return Attributes(given, robot or THYMIO)
    return VARIANTS[choice("attributes", given, VARIANTS)].of(robot or THYMIO)
