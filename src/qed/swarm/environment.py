"""The environment of a swarm, its attributes, and the options that evolution draws from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from qed.definitions import digest_of
from qed.errors import InputError, choice, integer, number

MAX_ROBOTS = 64
MAX_OBSTACLES = 64


@dataclass(frozen=True)
class Environment:
    """An environment; without arguments the paper's normal one.  SI units.

    Parameters
    ----------
    max_speed : float, default 0.10
        Top speed of a wheel (m/s), at most 0.4.
    robots : int, default 10
        Number of robots, at most 64.
    arena : float, default 4.0
        Side of the square arena (m).
    obstacles : int, default 0
        Number of cylinders of radius 0.15 m, at most 64.
    rab_range : float, default 1.0
        Range of the range-and-bearing sensor (m).
    proximity_range : float, default 0.11
        Range of the proximity sensors (m).

    Examples
    --------
    >>> import qed
    >>> qed.Environment(robots=20, obstacles=4).arena
    4.0
    """

    max_speed: float = 0.10
    robots: int = 10
    arena: float = 4.0
    obstacles: int = 0
    rab_range: float = 1.0
    proximity_range: float = 0.11

    def __post_init__(self) -> None:
        checked = {
            "max_speed": number("max_speed", self.max_speed, 0.0, 0.4, above=True),
            "robots": integer("robots", self.robots, 1, MAX_ROBOTS),
            "arena": number("arena", self.arena, 0.5, 100.0),
            "obstacles": integer("obstacles", self.obstacles, 0, MAX_OBSTACLES),
            "rab_range": number("rab_range", self.rab_range, 0.0, 200.0, above=True),
            "proximity_range": number(
                "proximity_range", self.proximity_range, 0.0, 1.0, above=True
            ),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

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


ATTRIBUTES = tuple(field.name for field in fields(Environment))
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

    Examples
    --------
    >>> import qed
    >>> few = qed.Attributes({"robots": (5, 10, 20), "obstacles": (0, 4)})
    >>> few.shape, few.count, few.environment((2, 1)).robots
    ((3, 2), 6, 20)
    >>> few.options_of(qed.Environment(robots=5, obstacles=4))
    (0, 1)
    """

    def __init__(self, options: Mapping[str, Sequence[float]]) -> None:
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
            same = tuple(getattr(_normal_but(name, value), name) for value in values)
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
            **{  # type: ignore[arg-type]
                name: values[integer(f"option of {name}", option, 0, len(values) - 1)]
                for (name, values), option in zip(self.items(), picked, strict=True)
            }
        )

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

    def described(self) -> dict[str, list[float]]:
        """Return the options as JSON can hold them."""
        return {name: list(values) for name, values in self.items()}

    @property
    def digest(self) -> str:
        """A digest of all options."""
        return digest_of(self._options)

    def __getitem__(self, name: str) -> tuple[float, ...]:
        return self._options[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attributes) and self._options == other._options

    def __hash__(self) -> int:
        return hash(tuple(self._options.items()))

    def __repr__(self) -> str:
        return f"Attributes({self._options!r})"


def _normal_but(name: str, value: Any) -> Environment:
    """Return the normal environment with another value of an attribute."""
    return Environment(**{name: value})


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


def attributes_of(given: Any) -> Attributes:
    """Return attributes, given as an object, a table, or the name of a variant."""
    if isinstance(given, Attributes):
        return given
    if isinstance(given, Mapping):
        return Attributes(given)
    return VARIANTS[choice("attributes", given, VARIANTS)]
