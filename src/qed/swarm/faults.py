"""The eight faults, one for each robot of a broken swarm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from qed.errors import InputError, choice, whole


@dataclass(frozen=True)
class Fault:
    """What a fault does: to the front proximity sensors, the wheels, and the hearing.

    A front sensor reads ``gain * truth + offset`` with random parts of half width ``noise``
    (None: the sensor's own); the wheels turn at ``left`` and ``right`` of what is asked.
    """

    meaning: str
    gain: float = 1.0
    noise: float | None = None
    offset: float = 0.0
    left: float = 1.0
    right: float = 1.0
    deaf: bool = False


FAULTS: dict[str, Fault] = {
    "NONE": Fault("no fault"),
    "PMIN": Fault("front proximity sensors read 0", gain=0.0, noise=0.0),
    "PMAX": Fault("front proximity sensors read 1", gain=0.0, noise=0.0, offset=1.0),
    "PRAND": Fault("front proximity sensors read at random", gain=0.0, noise=0.5, offset=0.5),
    "LW-H": Fault("left wheel at half speed", left=0.5),
    "RW-H": Fault("right wheel at half speed", right=0.5),
    "BW-H": Fault("both wheels at half speed", left=0.5, right=0.5),
    "ROFS": Fault("range and bearing off by a random 0.75 to 1 m", deaf=True),
}


class Faults:
    """A combined fault: one of the eight faults for each robot.

    >>> Faults(["PMIN", "LW-H", "NONE"])
    Faults('PMIN,LW-H,NONE')
    """

    def __init__(self, names: Iterable[str]) -> None:
        if isinstance(names, str):
            names = [part.strip() for part in names.split(",")]
        self.names = tuple(choice("fault", name, FAULTS) for name in names)
        if not self.names:
            raise InputError("faults must name one fault for each robot, got none")

    @classmethod
    def none(cls, robots: int = 10) -> Faults:
        """Return the combined fault of a sound swarm."""
        return cls(["NONE"] * whole("robots", robots, 1, 10**6))

    @classmethod
    def sample(cls, robots: int = 10, seed: int = 0) -> Faults:
        """Draw each robot's fault independently and uniformly from the eight."""
        from qed.swarm.laws.chance import fold

        robots = whole("robots", robots, 1, 10**6)
        purpose = 0xFA
        names = list(FAULTS)
        # Eight faults: the three highest bits are a uniform draw.
        drawn = fold(whole("seed", seed, 0, 2**63 - 1), purpose, np.arange(robots))
        return cls(names[k] for k in (drawn >> np.uint32(29)).tolist())

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, robot: int) -> str:
        return self.names[robot]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Faults) and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)

    def __repr__(self) -> str:
        return f"Faults({','.join(self.names)!r})"


def kinds(faults: Faults) -> tuple[int, int, int]:
    """Return the number of robots with a proximity, a range-and-bearing and a wheel fault."""
    broken = [FAULTS[name] for name in faults]
    return (
        sum(fault.gain != 1.0 for fault in broken),
        sum(fault.deaf for fault in broken),
        sum(fault.left != 1.0 or fault.right != 1.0 for fault in broken),
    )
