"""Robots as plain data in SI units: body, drive and sensors; and the times of a simulation.

Nothing else knows a robot's numbers: code is made for a robot (``made_for``), its laws and loops
with them as constants.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from qed.definitions import Definition, digest_of, reduce_definition
from qed.errors import InputError, number

# Time, s.
CYCLE = 0.2  # one control cycle
SUBSTEPS = 5  # of physics in a cycle
LAG = CYCLE / SUBSTEPS  # a new command takes effect one sub-step late
DRIVE = CYCLE - LAG  # the part of a cycle that is driven by the new command

OBSTACLE_RADIUS = 0.15  # m, of a cylinder
START_MARGIN = 0.5  # m, between a start position and the walls
PROXIMITY_NOISE = 0.05  # half width of the uniform noise on a reading in [0, 1]

MOST_CORNERS = 12
MOST_SENSORS = 16
MOST_GROUND = 8
MOST_INPUTS = 32  # that robots sense: a bit each
CONES = 8  # of range and bearing, centred on the multiples of 45 degrees
WIDEST = 0.5  # m from the middle between the wheels to a corner
OUTSIDE = 0.01  # m that a sensor may stand out of the body
FLAT = 1e-6  # m2; corners that turn by less lie on a line
Point = tuple[float, float]


class Robot(Definition):
    """A robot with two wheels: its body, drive and sensors, in its own frame.

    The origin is the middle between the wheels; x points ahead, y to the left.

    Parameters
    ----------
    name : str
        A name of its own.
    words : str
        What it is, in a few words.
    body : sequence of (x, y), optional
        The corners of a convex outline, 3 to 12, in order (m).
    radius : float, optional
        Or the radius of a round one (m).
    mass : float
        In kg.
    moment : float, optional
        Moment of inertia about the origin (kg m2; default: the mass is spread evenly).
    wheel_base : float
        Distance of the wheels (m).
    max_speed : float, default 0.1
        Top speed of a wheel where an environment names none (m/s).
    max_force : float, default 1.5
        Largest force of the drive (N).
    proximity : sequence of (x, y, angle)
        Where proximity sensors sit (m) and where they look (rad); at most 16.
    proximity_range : float, default 0.1
        Their range where an environment names none (m).
    response : three floats, default (1, 0, -1)
        What they read (1: touching) at u, the distance as a part of the range:
        ``a + b * u + c * u**2`` for u up to 1, nothing beyond.
    rab : int, default 8
        Cones of range and bearing, 8 or 0.
    rab_range : float, default 1.0
        Their range where an environment names none (m).
    messages : float, default 0
        Range of infra-red messages (m) of a robot without range and bearing, or 0 for none.  Each
        proximity sensor is an emitter, too, that all robots send with all the time; it reads how
        strong the strongest of other robots' emitters is, from 1 next to it to 0 at the range,
        if that lies within 36 degrees of where the sensor looks, and the sensor within 15 degrees
        of where the emitter looks.  Nothing comes between.
    ground : sequence of (x, y)
        Where ground sensors sit (m), at most 8.  They read how bright the floor below them is, from
        0 (black) to 1 (white), without noise.

    Examples
    --------
    >>> import qed
    >>> tortoise = qed.Robot(
    ...     "tortoise", radius=0.1, mass=1.0, wheel_base=0.15, proximity=[(0.1, 0.0, 0.0)]
    ... )
    >>> tortoise.outer_radius, qed.Environment(robot=tortoise).proximity_range
    (0.1, 0.1)
    """

    kind = "robot"
    built_in = MappingProxyType({})
    body: tuple[Point, ...]  # counter-clockwise; nothing if it is round
    radius: float | None
    mass: float
    moment: float
    wheel_base: float
    max_speed: float
    max_force: float
    proximity: tuple[tuple[float, float, float], ...]
    proximity_range: float
    response: tuple[float, float, float]
    rab: int
    rab_range: float
    messages: float
    ground: tuple[Point, ...]
    outer_radius: float  # m, of the circle about the origin that the body fits in
    inner_radius: float  # m, of the largest one that fits in the body

    def __new__(
        cls,
        name: str,
        words: str = "",
        *,
        body: Sequence[Sequence[float]] | None = None,
        radius: float | None = None,
        mass: float,
        moment: float | None = None,
        wheel_base: float,
        max_speed: float = 0.1,
        max_force: float = 1.5,
        proximity: Iterable[Sequence[float]] = (),
        proximity_range: float = 0.1,
        response: Sequence[float] = (1.0, 0.0, -1.0),
        rab: int = CONES,
        rab_range: float = 1.0,
        messages: float = 0.0,
        ground: Iterable[Sequence[float]] = (),
    ) -> Robot:
        """Check all fields."""
        name = cls._checked(name)
        about = f"robot {name}: "
        if (body is None) == (radius is None):
            raise InputError(f"{about}give its outline, body=[(x, y), ...] or radius=...")
        corners: tuple[Point, ...] = ()
        if body is not None:
            corners = _outline(f"{about}body", body)
            nearest = min(offset for *_, offset in faces(corners))
            reaches = max(math.hypot(x, y) for x, y in corners), nearest
        else:
            radius = number(f"{about}radius", radius, 0.005, WIDEST)
            reaches = radius, radius
        mass = number(f"{about}mass", mass, 0.001, 100.0)
        if moment is None:
            moment = mass * (_gyration(corners) if corners else 0.5 * reaches[0] ** 2)
        fields: dict[str, Any] = {
            "body": corners,
            "radius": radius,
            "mass": mass,
            "moment": number(f"{about}moment", moment, 1e-9, 100.0),
            "wheel_base": number(f"{about}wheel_base", wheel_base, 0.005, 2.0 * WIDEST),
            "max_speed": number(f"{about}max_speed", max_speed, 0.0, 0.4, above=True),
            "max_force": number(f"{about}max_force", max_force, 0.0, 1000.0, above=True),
            "proximity": _sensors(f"{about}proximity", proximity, corners, reaches[0]),
            "proximity_range": number(
                f"{about}proximity_range", proximity_range, 0.0, 1.0, above=True
            ),
            "response": _numbers(f"{about}response", response, 3, 100.0),
            "rab": _cones(f"{about}rab", rab),
            "rab_range": number(f"{about}rab_range", rab_range, 0.0, 200.0, above=True),
            "messages": number(f"{about}messages", messages, 0.0, 1.0),
        }
        if fields["messages"] and fields["rab"]:
            raise InputError(f"{about}messages: give rab=0; robots hear each other in one way")
        below = _below(f"{about}ground", ground, corners, reaches[0])
        if below:  # robots without ground sensors keep their digests
            fields["ground"] = below
        heard = fields["rab"] or (len(fields["proximity"]) if fields["messages"] else 0)
        inputs = len(fields["proximity"]) + heard + len(below)
        if inputs > MOST_INPUTS:
            raise InputError(
                f"{about}its sensors are {inputs} inputs of a network, which has at most "
                f"{MOST_INPUTS}; give fewer of proximity (a sensor with messages is two) or ground"
            )
        found = dict(zip(("outer_radius", "inner_radius"), reaches, strict=True))
        every = {"ground": below, **fields, **found}
        return cls._new(name, str(words), digest_of(fields), made=fields, **every)

    def but(self, name: str, words: str = "", **changes: Any) -> Robot:
        """Return a robot that is like this one, but for some arguments.

        Parameters
        ----------
        name : str
            A name of its own.
        words : str, optional
            What it is, in a few words (default: what this one is).
        **changes : object
            Arguments of ``Robot``.  With another body or mass the moment of inertia is that of a
            mass spread evenly, unless it is given, too.

        Returns
        -------
        Robot
            Another robot.

        Examples
        --------
        >>> import qed
        >>> floored = qed.EPUCK.but("epuck-ground", ground=[(0.03, 0.01), (0.03, -0.01)])
        >>> len(floored.ground), floored.proximity == qed.EPUCK.proximity
        (2, True)
        """
        fields = {**self.made, "body": self.body or None}
        if changes.keys() & {"body", "radius"}:
            fields |= {"body": None, "radius": None, "moment": None}
        if "mass" in changes:
            fields["moment"] = None
        return Robot(name, words or self.meaning, **{**fields, **changes})

    @property
    def reach(self) -> float:
        """How far its farthest proximity sensor sits from the origin (m)."""
        return max((math.hypot(x, y) for x, y, _ in self.proximity), default=0.0)

    @property
    def heard(self) -> int:
        """How many inputs are of other robots: cones, or sensors that receive messages."""
        return self.rab or (len(self.proximity) if self.messages else 0)

    @property
    def front(self) -> tuple[int, ...]:
        """Its proximity sensors that look ahead, by less than a right angle to either side."""
        return tuple(k for k, (_, _, a) in enumerate(self.proximity) if math.cos(a) > 1e-3)

    def described(self) -> dict[str, Any]:
        """Return all its numbers, as JSON can hold them."""
        return super().described() | {
            name: [list(row) if isinstance(row, tuple) else row for row in value]
            if isinstance(value, tuple)
            else value
            for name, value in self.made.items()
        }

    @classmethod
    def from_described(cls, described: Any) -> Robot:
        """Return the robot of a file, or raise InputError that says what is wrong with it."""
        if not isinstance(described, Mapping):
            raise InputError(f"robot must be a table, got {described!r}")
        fields = {k: v for k, v in described.items() if k not in ("digest", "meaning")}
        name = fields.pop("name", None)
        there = cls.built_in.get(name)
        if there is None:
            try:
                there = _again(name, str(described.get("meaning", "")), fields)
            except TypeError as error:  # a field is missing, or there is one too many
                raise InputError(f"robot {name}: {error}") from None
        if there.digest != described.get("digest"):
            raise InputError(
                f"robot {name}: its numbers are not those it was made with "
                f"({described.get('digest')}; these are {there.digest})"
            )
        return there

    def __reduce__(self) -> tuple[Any, ...]:
        if self.user_defined:
            return _again, (self.name, self.meaning, self.made)
        return reduce_definition(self)

    made: dict[str, Any]  # all fields


def _again(name: str, meaning: str, fields: Mapping[str, Any]) -> Robot:
    """Return a robot that was sent to another process."""
    return Robot(name, meaning, **{**fields, "body": fields.get("body") or None})


def faces(corners: Sequence[Point]) -> list[tuple[float, float, float]]:
    """Return outward normal and offset (m) of each edge, from corner k to k + 1."""
    found = []
    for (ax, ay), (bx, by) in zip(corners, [*corners[1:], corners[0]], strict=True):
        length = math.hypot(bx - ax, by - ay)
        nx, ny = (by - ay) / length, (ax - bx) / length
        found.append((nx, ny, nx * ax + ny * ay))
    return found


def _gyration(corners: Sequence[Point]) -> float:
    """Return the squared radius of gyration about the origin (m2), mass spread evenly."""
    doubled = moment = 0.0
    for (ax, ay), (bx, by) in zip(corners, [*corners[1:], corners[0]], strict=True):
        cross = ax * by - bx * ay
        doubled += cross
        moment += cross * (ax * ax + ay * ay + ax * bx + ay * by + bx * bx + by * by)
    return moment / (6.0 * doubled)


def _numbers(about: str, given: Any, count: int, most: float) -> tuple[float, ...]:
    """Return so many numbers of at most ``most`` either way."""
    values = list(given) if isinstance(given, Sequence | np.ndarray) else []
    if isinstance(given, str) or len(values) != count:
        raise InputError(f"{about} must be {count} numbers, got {given!r}")
    return tuple(number(about, value, -most, most) for value in values)


def _rows(about: str, given: Any, width: int, most: int) -> list[tuple[float, ...]]:
    """Return rows of numbers: places (m), then an angle (rad) if they are three."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{about} must be a list of rows of {width} numbers, got {given!r}")
    rows = list(given)
    if len(rows) > most:
        raise InputError(f"{about} must be at most {most} rows, got {len(rows)}")
    return [_numbers(f"{about}[{k}]", row, width, 10.0) for k, row in enumerate(rows)]


def _outline(about: str, given: Any) -> tuple[Point, ...]:
    """Return the corners of a convex outline around the origin, counter-clockwise."""
    corners = [(x, y) for x, y in _rows(about, given, 2, MOST_CORNERS)]
    if len(corners) < 3:
        raise InputError(f"{about} must have 3 to {MOST_CORNERS} corners, got {len(corners)}")
    if max(math.hypot(x, y) for x, y in corners) > WIDEST:
        raise InputError(f"{about} must lie within {WIDEST:g} m of the middle between the wheels")
    ends = zip(corners, [*corners[1:], corners[0]], strict=True)
    if sum(ax * by - bx * ay for (ax, ay), (bx, by) in ends) < 0.0:
        corners.reverse()
    turned = 0.0
    for k, (x, y) in enumerate(corners):
        (px, py), (qx, qy) = corners[k - 1], corners[(k + 1) % len(corners)]
        cross = (x - px) * (qy - y) - (y - py) * (qx - x)
        if cross < FLAT:
            raise InputError(
                f"{about} must be convex, without corners that lie on a line; at ({x:g}, {y:g}) "
                "it is not"
            )
        turned += math.atan2(cross, (x - px) * (qx - x) + (y - py) * (qy - y))
    if turned > 3.0 * math.pi:  # a star turns to the left at each corner, twice round
        raise InputError(f"{about} must be convex: its edges cross")
    if min(offset for *_, offset in faces(corners)) <= 0.0:
        raise InputError(f"{about} must have the origin, the middle between the wheels, inside")
    return tuple(corners)


def _sensors(
    about: str, given: Any, corners: tuple[Point, ...], radius: float
) -> tuple[tuple[float, float, float], ...]:
    """Return the places and directions of sensors, which sit on the body."""
    found = [(x, y, angle) for x, y, angle in _rows(about, given, 3, MOST_SENSORS)]
    _on_body(about, [(x, y) for x, y, _ in found], corners, radius)
    return tuple(found)


def _below(about: str, given: Any, corners: tuple[Point, ...], radius: float) -> tuple[Point, ...]:
    """Return the places of ground sensors, which sit on the body, too."""
    found = [(x, y) for x, y in _rows(about, given, 2, MOST_GROUND)]
    _on_body(about, found, corners, radius)
    return tuple(found)


def _on_body(
    about: str, places: Sequence[Point], corners: tuple[Point, ...], radius: float
) -> None:
    """Raise InputError that names the first place that is not on the body."""
    for k, (x, y) in enumerate(places):
        beyond = [nx * x + ny * y - offset for nx, ny, offset in faces(corners)] if corners else []
        if max(beyond, default=math.hypot(x, y) - radius) > OUTSIDE:
            raise InputError(
                f"{about}[{k}] must sit on the body, at most {OUTSIDE:g} m outside; "
                f"got ({x:g}, {y:g})"
            )


def _cones(about: str, given: Any) -> int:
    if given not in (0, CONES) or isinstance(given, bool):
        raise InputError(f"{about} must be {CONES} cones, or 0 for none; got {given!r}")
    return int(given)


# The Thymio's rounded nose points to its left (+y), not along the driving direction (+x): a quirk
# of the original simulator that shapes what the sensors see, and is kept.  The angles are 40 and 20
# degrees as the original has them, cut after five digits.
_HALF = ((0.055, -0.053), (0.055, 0.033), (0.050, 0.040), (0.0255, 0.050), (0.0, 0.056))
THYMIO = Robot(
    "thymio",
    "a Thymio II with a range-and-bearing board",
    body=[*_HALF, *((-x, y) for x, y in reversed(_HALF[:-1]))],
    mass=0.27,
    wheel_base=0.08,
    max_speed=0.10,
    proximity=[
        (0.040, 0.050, 0.69813),
        (0.050, 0.025, 0.34906),
        (0.056, 0.000, 0.0),
        (0.050, -0.025, -0.34906),
        (0.040, -0.050, -0.69813),
        (-0.052, 0.030, math.pi),
        (-0.052, -0.030, math.pi),
    ],
    proximity_range=0.11,
    response=(1.0, 0.1, -1.1),
)
# As the e-puck plugin of ARGoS has it: the moment is four times a disc's, since twice the radius is
# passed for it, and the right sensors are not quite the mirror image of the left ones.
_RIM = [
    math.pi / part for part in (10.5884, 3.5999, 2.0, 1.2, 0.8571, 0.6667, 0.5806, 0.5247)
]  # rad, counter-clockwise from the front left
EPUCK = Robot(
    "epuck",
    "an e-puck with a range-and-bearing board",
    radius=0.035,
    mass=0.4,
    moment=0.5 * 0.4 * 0.07**2,
    wheel_base=0.053,
    max_speed=0.128,
    proximity=[(0.035 * math.cos(a), 0.035 * math.sin(a), a) for a in _RIM],
    proximity_range=0.05,
    response=(1.08212, -36.8961 * 0.05, 298.701 * 0.05**2),
    rab_range=0.8,
)
# The Thymio II of Enki (robots/thymio2/Thymio2.cpp of the Enki simulator): wheel base, a rounded
# front of radius 8 cm, sensor places as measured, and their range of 14 cm; its response 73 / (73 +
# d^2), d in cm, to 0.08 by a parabola.  Messages reach about 23 cm.  The mass is the paper's.
_FRONT = math.asin(0.055 / 0.08)
THYMIO_STOCK = Robot(
    "thymio-stock",
    "a Thymio II as it is sold, with infra-red messages",
    body=[
        (-0.03, -0.055),
        *((0.08 * math.cos(a * _FRONT / 4), 0.08 * math.sin(a * _FRONT / 4)) for a in range(-4, 5)),
        (-0.03, 0.055),
    ],
    mass=0.27,
    wheel_base=0.094,
    max_speed=0.10,
    proximity=[
        (0.0620, 0.0485, 0.69813),
        (0.0750, 0.0255, 0.34906),
        (0.0795, 0.0000, 0.0),
        (0.0750, -0.0255, -0.34906),
        (0.0620, -0.0485, -0.69813),
        (-0.0295, 0.0295, math.pi),
        (-0.0295, -0.0295, math.pi),
    ],
    proximity_range=0.14,
    response=(1.0, -0.9, 0.16),
    rab=0,
    messages=0.23,
)
ROBOTS = {robot.name: robot for robot in (THYMIO, EPUCK, THYMIO_STOCK)}
Robot.built_in = MappingProxyType(ROBOTS)
# The robot that a module is made for: ``made_for`` puts another one in its place.
ROBOT = THYMIO


def robot_of(header: Mapping[str, Any]) -> Robot:
    """Return the robot that the header of an archive or a kit names (default: the Thymio)."""
    described = header.get("robot")
    return THYMIO if described is None else Robot.from_described(described)
