"""The environment of a swarm: six attributes, four options each, 4096 environments in all."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from qed.errors import InputError, choice, number, whole

# The four options of each attribute, in the paper's order A1 to A6 (m/s, robots, m, obstacles,
# m, m).  The arenas have 4, 9, 16 and 25 square metres.
OPTIONS: dict[str, tuple[float, ...]] = {
    "max_speed": (0.05, 0.10, 0.15, 0.20),
    "robots": (5, 10, 15, 20),
    "arena": (2.0, 3.0, 4.0, 5.0),
    "obstacles": (0, 2, 4, 6),
    "rab_range": (0.25, 0.5, 1.0, 2.0),
    "proximity_range": (0.055, 0.11, 0.22, 0.44),
}
# "scripts": the arenas that the authors' launch scripts name (9, 16, 25, 36 square metres).
VARIANTS: dict[str, dict[str, tuple[float, ...]]] = {
    "paper": OPTIONS,
    "scripts": {**OPTIONS, "arena": (3.0, 4.0, 5.0, 6.0)},
}
MAX_ROBOTS = 64
MAX_OBSTACLES = 64


@dataclass(frozen=True)
class Environment:
    """An environment; without arguments the paper's normal one.  SI units.

    Parameters
    ----------
    max_speed : top speed of a wheel (m/s)
    robots : number of robots
    arena : side of the square arena (m)
    obstacles : number of cylinders of radius 0.15 m
    rab_range : range of the range-and-bearing sensor (m)
    proximity_range : range of the proximity sensors (m)
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
            "robots": whole("robots", self.robots, 1, MAX_ROBOTS),
            "arena": number("arena", self.arena, 0.5, 100.0),
            "obstacles": whole("obstacles", self.obstacles, 0, MAX_OBSTACLES),
            "rab_range": number("rab_range", self.rab_range, 0.0, 200.0, above=True),
            "proximity_range": number(
                "proximity_range", self.proximity_range, 0.0, 1.0, above=True
            ),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_options(cls, options: Any, variant: str = "paper") -> Environment:
        """Return the environment with the given option (0 to 3) of each attribute A1 to A6."""
        table = VARIANTS[choice("variant", variant, VARIANTS)]
        picked = list(options)
        if len(picked) != len(table):
            raise InputError(f"options must be {len(table)} numbers, got {len(picked)}")
        return cls(
            **{  # type: ignore[arg-type]
                name: values[whole(f"option of {name}", option, 0, len(values) - 1)]
                for (name, values), option in zip(table.items(), picked, strict=True)
            }
        )

    @classmethod
    def sample(cls, count: int, seed: int = 0, variant: str = "paper") -> list[Environment]:
        """Return environments with every option drawn independently and uniformly."""
        from qed.swarm.laws.chance import fold

        count = whole("count", count, 0, 2**31)
        table = VARIANTS[choice("variant", variant, VARIANTS)]
        purpose = 0xE27
        bits = fold(seed, purpose, np.arange(count)[:, None], np.arange(len(table)))
        # Four options: the two highest bits are a uniform draw.
        return [cls.from_options(row, variant) for row in (bits >> np.uint32(30)).tolist()]

    def options(self, variant: str = "paper") -> tuple[int, ...] | None:
        """Return the option (0 to 3) of each attribute, or None if one is not an option."""
        table = VARIANTS[choice("variant", variant, VARIANTS)]
        try:
            return tuple(table[f.name].index(getattr(self, f.name)) for f in fields(self))
        except ValueError:
            return None
