"""Faults, one for each robot of a broken swarm: the paper's eight, and a user's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from qed.definitions import Definition, defined, digest_of
from qed.errors import InputError, integer, number
from qed.swarm.robot import CYCLE, MOST_SENSORS, THYMIO

FRONT = THYMIO.front  # the others are at the rear


class Fault(Definition):
    """What a fault does to a robot: its proximity sensors, its wheels, range and bearing.

    Parameters
    ----------
    name : str
        A short name, as in ``Faults("PMIN,LW-H,...")``.
    words : str
        What it is, in a few words.
    gain, offset : float, default 1.0 and 0.0
        A proximity sensor that is hit reads ``gain * truth + offset`` (0: nothing, 1: touching).
    noise : float, optional
        Half width of the random part of that reading (default: the sensor's own).
    sensors : iterable of int, optional
        The proximity sensors that are hit (default: those that look ahead, of a Thymio 0 to 4).
    left, right : float, default 1.0
        The wheels turn at this part of what is asked, -1 to 1.
    rab_offset : bool, default False
        Whether other robots are heard 0.75 to 1 m off their place, in random directions.
    rab_range : float, default 1.0
        Robots are heard within this part of the range only, 0 (deaf) to 1.
    dead : bool, default False
        Whether the robot stands still and sends nothing, so that nobody hears it.
    wear : float, default 0.0
        What both wheels lose of their speed in each second, 0 to 1 (1/s): after t seconds of a
        trial they turn at ``1 - wear * t`` of what they would, and never backwards for it. In a
        ``World`` t counts from where a stretch begins.

    Examples
    --------
    >>> import qed
    >>> limping = qed.Fault("LIMP", "left wheel at a tenth", left=0.1)
    >>> limping
    <Fault LIMP: left wheel at a tenth>
    >>> limping.hits_wheels, limping.hits_sensors
    (True, False)
    >>> qed.Faults([limping, "NONE", "PMIN"])
    Faults('LIMP,NONE,PMIN')
    """

    kind = "fault"
    built_in = MappingProxyType({})
    gain: float
    noise: float | None
    offset: float
    sensors: tuple[int, ...]  # of a Thymio, if they are those that look ahead
    ahead: bool  # whether they are
    left: float
    right: float
    rab_offset: bool
    rab_range: float
    dead: bool
    wear: float

    def __new__(
        cls,
        name: str,
        words: str = "",
        *,
        gain: float = 1.0,
        noise: float | None = None,
        offset: float = 0.0,
        sensors: Iterable[int] | None = None,
        left: float = 1.0,
        right: float = 1.0,
        rab_offset: bool = False,
        rab_range: float = 1.0,
        dead: bool = False,
        wear: float = 0.0,
    ) -> Fault:
        """Check all fields."""
        name = cls._checked(name)
        about = f"fault {name}: "
        given = FRONT if sensors is None else sensors
        hit = [integer(f"{about}sensors", sensor, 0, MOST_SENSORS - 1) for sensor in given]
        fields = {
            "gain": number(f"{about}gain", gain, -10.0, 10.0),
            "noise": None if noise is None else number(f"{about}noise", noise, 0.0, 1.0),
            "offset": number(f"{about}offset", offset, -10.0, 10.0),
            "sensors": tuple(sorted(set(hit))),
            "left": number(f"{about}left", left, -1.0, 1.0),
            "right": number(f"{about}right", right, -1.0, 1.0),
            "rab_offset": _truth(f"{about}rab_offset", rab_offset),
            "rab_range": number(f"{about}rab_range", rab_range, 0.0, 1.0),
            "dead": _truth(f"{about}dead", dead),
        }
        worn = number(f"{about}wear", wear, 0.0, 1.0)
        if worn:  # faults without it keep the digest that files know
            fields["wear"] = worn
        same = (fields,) if sensors is None or fields["sensors"] != FRONT else (fields, "not ahead")
        key = digest_of(*same)
        fields |= {"wear": worn, "ahead": sensors is None}
        return cls._new(name, str(words), key, **fields)

    @property
    def wheels(self) -> tuple[float, float]:
        """What the wheels do of what is asked."""
        return (0.0, 0.0) if self.dead else (self.left, self.right)

    @property
    def hits_sensors(self) -> bool:
        """Whether proximity sensors read otherwise than healthy ones."""
        changed = self.gain != 1.0 or self.noise is not None or self.offset != 0.0
        return changed and bool(self.sensors)

    @property
    def hits_rab(self) -> bool:
        """Whether range and bearing is hit."""
        return self.rab_offset or self.rab_range < 1.0 or self.dead

    @property
    def hits_wheels(self) -> bool:
        """Whether a wheel is hit."""
        return self.wheels != (1.0, 1.0) or self.wear > 0.0

    def hit(self, ahead: tuple[int, ...]) -> tuple[int, ...]:
        """Return the sensors that it hits, of a robot of which these look ahead."""
        return ahead if self.ahead else self.sensors

    def needs_general_path(self, ahead: tuple[int, ...]) -> bool:
        """Return whether it needs more than the paper's faults: kernels have a path for it apart.

        Those hit the proximity sensors that look ahead.
        """
        beyond = self.dead or self.wear > 0.0 or self.rab_range < 1.0
        return beyond or (self.hits_sensors and self.hit(ahead) != ahead)

    def described(self) -> dict[str, Any]:
        """Return how it is defined, as JSON can hold it."""
        fields = ("gain", "noise", "offset", "sensors", "left", "right")
        more = ("rab_offset", "rab_range", "dead", "wear")
        return super().described() | {name: getattr(self, name) for name in (*fields, *more)}

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {k: v for k, v in self.__dict__.items() if k not in ("meaning", "digest", "ahead")}
        fields |= {"sensors": None} if self.ahead else {}
        return _again, (self.name, self.meaning, fields)


def _again(name: str, meaning: str, fields: dict[str, Any]) -> Fault:
    """Return a fault that was sent to another process."""
    return FAULTS.get(name) or Fault(name, meaning, **fields)


def _truth(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, got {value!r}")
    return bool(value)


FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        Fault("NONE", "no fault"),
        Fault("PMIN", "front proximity sensors read 0", gain=0.0, noise=0.0),
        Fault("PMAX", "front proximity sensors read 1", gain=0.0, noise=0.0, offset=1.0),
        Fault("PRAND", "front proximity sensors read at random", gain=0.0, noise=0.5, offset=0.5),
        Fault("LW-H", "left wheel at half speed", left=0.5),
        Fault("RW-H", "right wheel at half speed", right=0.5),
        Fault("BW-H", "both wheels at half speed", left=0.5, right=0.5),
        Fault("ROFS", "range and bearing off by a random 0.75 to 1 m", rab_offset=True),
    )
}
Fault.built_in = MappingProxyType(FAULTS)
HEALTHY = FAULTS["NONE"]
# The paper's eight, drawn where no kinds are named, so that a new fault changes no old draw.
DRAWN = ("NONE", "PMIN", "PMAX", "PRAND", "LW-H", "RW-H", "BW-H", "ROFS")


class Faults:
    """A combined fault: a fault per robot, by name or as an object.

    The faults of the paper are NONE (healthy), PMIN, PMAX, PRAND (the front proximity sensors read
    0, 1 or at random), LW-H, RW-H, BW-H (left, right or both wheels at half speed) and ROFS (range
    and bearing is off).

    Parameters
    ----------
    names : iterable of str and Fault, or str
        A fault per robot; as a single string with commas between the names.

    Attributes
    ----------
    each : tuple of Fault
        The faults, robot by robot; ``names`` has their plain names.

    Examples
    --------
    >>> import qed
    >>> broken = qed.Faults(["PMIN", "LW-H", "NONE"])
    >>> broken, len(broken), broken[1]
    (Faults('PMIN,LW-H,NONE'), 3, 'LW-H')
    """

    def __init__(self, names: Iterable[str | Fault]) -> None:
        if isinstance(names, Fault):
            names = [names]
        elif isinstance(names, str):
            names = [part.strip() for part in names.split(",")]
        # As plain strings they go to tables and files; ``each`` has what they stand for.
        self.each = tuple(defined("fault", name, Fault) for name in names)
        self.names = tuple(fault.name for fault in self.each)
        if not self.names:
            raise InputError("faults must name one fault for each robot, got none")

    @classmethod
    def none(cls, robots: int = 10) -> Faults:
        """Return the combined fault of a healthy swarm.

        Parameters
        ----------
        robots : int, default 10
            Number of robots.

        Returns
        -------
        Faults
            "NONE" for each of them.

        Examples
        --------
        >>> import qed
        >>> qed.Faults.none(robots=3)
        Faults('NONE,NONE,NONE')
        """
        return cls([HEALTHY] * integer("robots", robots, 1, 10**6))

    @classmethod
    def sample(
        cls,
        robots: int = 10,
        seed: int = 1,
        among: str | Fault | Iterable[str | Fault] | None = None,
        broken: int | None = None,
    ) -> Faults:
        """Draw a fault for each robot, all kinds equally likely.

        Parameters
        ----------
        robots : int, default 10
            Number of robots.
        seed : int, default 1
            Decides the draws; a larger swarm begins with the faults of a smaller one, except where
            ``broken`` is given.
        among : iterable of str and Fault, or one of them, optional
            The kinds to draw from (default: the paper's eight, "NONE" included).
        broken : int, optional
            Exactly so many robots get a fault (other than "NONE"), any of them equally likely; the
            others are healthy (default: each robot draws for itself).

        Returns
        -------
        Faults
            A fault per robot.

        Examples
        --------
        >>> import qed
        >>> qed.Faults.sample(robots=4, seed=7)
        Faults('PMIN,NONE,RW-H,PRAND')
        >>> qed.Faults.sample(robots=4, seed=7, among=["LW-H", "RW-H"], broken=2)
        Faults('NONE,NONE,RW-H,LW-H')
        """
        from qed.chance import fold

        kinds, hits = 0xFA, 0xFB  # purposes of the draws
        robots = integer("robots", robots, 1, 10**6)
        seed = integer("seed", seed, 0, 2**63 - 1)
        table = list(cls(DRAWN if among is None else among).each)
        if len(set(table)) < len(table):
            raise InputError("among names a fault twice: each kind is as likely as the others")
        if broken is not None:
            broken = integer("broken", broken, 0, robots)
            table = [fault for fault in table if fault != HEALTHY]
            if broken and not table:
                raise InputError("among must name a fault other than NONE for broken robots")
        numbers = np.arange(robots)
        drawn = fold(seed, kinds, numbers).astype(np.uint64)
        picked = ((drawn * np.uint64(len(table))) >> np.uint64(32)).tolist()
        if broken is None:
            return cls(table[k] for k in picked)
        # Those with the smallest of as many random numbers, as a shuffled deck would give them.
        hit = set(np.lexsort((numbers, fold(seed, hits, numbers)))[:broken].tolist())
        return cls(table[k] if r in hit else HEALTHY for r, k in enumerate(picked))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, robot: int) -> str:
        return self.names[robot]

    def __eq__(self, other: object) -> bool:
        own = [fault.key for fault in self.each]
        return isinstance(other, Faults) and own == [fault.key for fault in other.each]

    def __hash__(self) -> int:
        return hash(self.names)

    def __repr__(self) -> str:
        return f"Faults({','.join(self.names)!r})"


class Effects(NamedTuple):
    """What the faults of a swarm do, robot by robot, as both engines read it."""

    wheels: np.ndarray  # (robots, 2) part of what is asked of the left and the right wheel
    wear: np.ndarray  # part of their speed that wheels lose in a control cycle
    gain: np.ndarray  # of the sensors that are hit
    noise: np.ndarray  # half width; NaN: the sensor's own
    offset: np.ndarray
    hit: np.ndarray  # a bit for each sensor that is hit
    rab_offset: np.ndarray  # whether others are heard off their place
    dead: np.ndarray  # whether a robot is not heard
    hears_within: np.ndarray  # input (1: nobody, -1: here) from which on a robot hears nobody
    some_misheard: bool  # whether hearing needs a look at each robot
    need_general_path: bool  # whether there are faults beyond the paper's


@lru_cache(maxsize=4096)
def effects(faults: Faults | None, robots: int, ahead: tuple[int, ...] = THYMIO.front) -> Effects:
    """Return what faults do; None stands for a healthy swarm.

    ``ahead`` are the robot's proximity sensors that look ahead.
    """
    each = (HEALTHY,) * robots if faults is None else faults.each
    return Effects(
        wheels=np.array([fault.wheels for fault in each]),
        wear=np.array([fault.wear * CYCLE for fault in each]),
        gain=np.array([fault.gain for fault in each]),
        noise=np.array([np.nan if fault.noise is None else fault.noise for fault in each]),
        offset=np.array([fault.offset for fault in each]),
        hit=np.array([sum(1 << k for k in fault.hit(ahead)) for fault in each]),
        rab_offset=np.array([fault.rab_offset for fault in each]),
        dead=np.array([fault.dead for fault in each]),
        hears_within=np.array([2.0 * fault.rab_range - 1.0 for fault in each]),
        some_misheard=any(fault.rab_offset or fault.dead for fault in each),
        need_general_path=any(fault.needs_general_path(ahead) for fault in each),
    )


def kinds(faults: Faults) -> tuple[int, int, int]:
    """Return the number of robots with a proximity, a range-and-bearing and a wheel fault."""
    return (
        sum(fault.hits_sensors for fault in faults.each),
        sum(fault.hits_rab for fault in faults.each),
        sum(fault.hits_wheels for fault in faults.each),
    )
