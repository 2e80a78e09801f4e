"""Which arguments every law is tried with: by tests, and when engines are compared.

Kinds of arguments are plain data.  ``draw`` makes columns of random numbers of them, a row a
sample; tests make Hypothesis strategies of them.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy import float32 as f32

import qed.chance
import qed.swarm.cpu.bits
import qed.swarm.laws
from qed.compile import LAWS
from qed.swarm import robot
from qed.swarm.cpu.layout import SegmentFields
from qed.swarm.laws.bodies import between_ends
from qed.swarm.laws.geometry import EDGES, FAR

Columns = tuple[np.ndarray, ...]


class Kind:
    """One argument, or several that belong together."""

    def __or__(self, other: Kind) -> Either:
        return Either((self, other))


@dataclass(frozen=True)
class Real(Kind):
    """A single-precision number from an interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number from an interval, of some type."""

    low: int
    high: int
    type: Callable[[int], Any] = np.int32


@dataclass(frozen=True)
class Table(Kind):
    """A table of whole numbers that are not negative."""

    rows: int
    columns: int


@dataclass(frozen=True)
class Some(Kind):
    """One of a few rows of arguments."""

    rows: tuple[tuple[f32, ...], ...]


@dataclass(frozen=True)
class Unit(Kind):
    """Cosine and sine of any angle."""


@dataclass(frozen=True)
class Either(Kind):
    """Arguments of one kind or of another."""

    kinds: tuple[Kind, ...]


@dataclass(frozen=True)
class All(Kind):
    """Arguments of several kinds, one after the other."""

    kinds: tuple[Kind, ...]


@dataclass(frozen=True)
class Where(Kind):
    """Arguments for which something holds, followed by what is made of them."""

    kind: Kind
    holds: Callable[..., Any]
    more: Callable[..., tuple[Any, ...]] = lambda *_: ()


def unit(angle: Any) -> tuple[Any, Any]:
    """Return cosine and sine of an angle, or of an array of them, in single precision."""
    return f32(np.cos(angle)), f32(np.sin(angle))


def draw(kind: Kind, chance: np.random.Generator, count: int) -> Columns:
    """Return a column of so many random values for each argument of a kind."""
    match kind:
        case Real(low, high):
            return (chance.uniform(low, high, count).astype(f32),)
        case Whole(low, high, type_):
            return (chance.integers(low, high, count, np.dtype(type_), endpoint=True),)
        case Table(rows, columns):
            return (chance.integers(0, 2**31, (count, rows, columns), np.int32),)
        case Some(rows):
            return tuple(np.array(rows)[chance.integers(len(rows), size=count)].T.copy())
        case Unit():
            return unit(chance.uniform(-math.pi, math.pi, count))
        case Either(kinds):
            choice = chance.integers(len(kinds), size=count)
            drawn = zip(*(draw(each, chance, count) for each in kinds), strict=True)
            return tuple(np.choose(choice, columns) for columns in drawn)
        case All(kinds):
            return tuple(column for each in kinds for column in draw(each, chance, count))
        case Where(inner, holds, more):
            drawn = draw(inner, chance, count)
            rows = np.resize(np.flatnonzero(holds(*drawn)), count)
            kept = tuple(column[rows] for column in drawn)
            return kept + more(*kept)
    raise TypeError(f"no kind of arguments: {kind}")


def some(*values: Any) -> Some:
    """Return the kind of one argument that has one of some values."""
    return Some(tuple((f32(value),) for value in values))


def args(*kinds: Kind) -> All:
    """Return the kind of a law's arguments, one after the other."""
    return All(kinds)


# Axis-parallel directions are where divisions by zero and signed zeros come from.
AXES = Some(
    tuple(
        (f32(x), f32(y))
        for x in (-1.0, -0.0, 0.0, 1.0)
        for y in (-1.0, -0.0, 0.0, 1.0)
        if abs(x) + abs(y) == 1
    )
)
CORNERS = [value for corner in robot.THYMIO.body for value in corner]
ANGLE = Real(-math.pi, math.pi)
TURN = Real(-2 * math.pi, 2 * math.pi)
DIRECTION = Unit() | AXES
NEARBY = Real(-0.3, 0.3) | some(*CORNERS)
PLACE = Real(-0.1, 5.1) | some(0.0, 2.0, 4.0)
AWAY = Real(-2.0, 2.0)
SIDE = some(2.0, 3.0, 4.0, 5.0, 6.0) | Real(0.5, 100.0)
WHEEL = Real(-0.4, 0.4) | some(-0.1, -0.05, -0.0, 0.0, 0.05, 0.1)
VELOCITY = Real(-1.0, 1.0)
SHARE = some(0.1, 0.2, 0.25, 0.5, 1.0)
SPIN = Real(-10.0, 10.0) | some(-0.0, 0.0)
PRESSED = Real(0.0, 1.0) | some(0.0)
LEVER = Real(-0.08, 0.08) | some(*CORNERS)  # m, of a point of the body along its normal or across
CORNER = some(-1, *range(9))  # by number; -1 for none
TWO_CORNERS = args(NEARBY, NEARBY, CORNER, NEARBY, NEARBY, CORNER)
TRUTH = Whole(0, 1, bool)
WORD = Whole(0, 2**32 - 1, np.uint32)
BOUND = VELOCITY | some(-FAR, 0.0, FAR)
SLOPE = VELOCITY | some(-0.0, 0.0)

EDGE = Some(tuple(tuple(edge) for edge in EDGES))

CASES: dict[str, Kind] = {
    "bits.index": Whole(0, 2**31 - 1) | Whole(0, 2**31 - 1, int),
    "bits.span": args(Table(3, len(SegmentFields._fields)), Whole(0, 2, int)),
    "bits.round_up": Whole(0, 2**20, int),
    "chance.draw": args(WORD, Whole(0, 10**6, int), Whole(0, 127, int)),
    "chance.high_noise": WORD,
    "chance.low_noise": WORD,
    "chance.mix": WORD,
    "contact.limit_drive": args(*[VELOCITY] * 4),
    "contact.fixed": Real(-100.0, 100.0),
    "contact.solve_contact": args(
        VELOCITY, VELOCITY, SPIN, LEVER, LEVER, PRESSED, VELOCITY, SHARE | some(0.0), SHARE
    ),
    "contact.nearer_wall": args(PLACE, SIDE),
    "contact.pair_effective_mass": args(LEVER, LEVER),
    "contact.relaxation": args(Whole(1, 63), Whole(1, 63)),
    "contact.normal_impulse": args(PRESSED, SHARE, VELOCITY),
    "contact.solve_drive": args(
        VELOCITY, VELOCITY, SPIN, VELOCITY, VELOCITY, SPIN, WHEEL, WHEEL, SPIN
    ),
    "contact.coupling": args(*[LEVER] * 8),
    "contact.solve_point": args(VELOCITY, VELOCITY, PRESSED, VELOCITY, SHARE | some(0.0), SHARE),
    "contact.remembered": args(CORNER, CORNER, CORNER, PRESSED, PRESSED),
    "contact.tangent_impulse": args(VELOCITY, SHARE, VELOCITY, Real(0.0, 0.5)),
    "contact.effective_mass": LEVER,
    "contact.point_velocity": args(SPIN, SPIN, *[LEVER] * 4),
    "contact.angular_impulse": args(LEVER, LEVER, PRESSED, VELOCITY),
    "scoring.action": args(WHEEL, WHEEL),
    "scoring.midpoint_distances": args(PLACE, PLACE, SIDE),
    "scoring.turn_feature": args(TURN, Real(2.5, 100.0)),
    "scoring.wheel_bin": WHEEL,
    "bodies.ahead": args(AWAY, AWAY),
    "bodies.first_face": args(Real(-0.01, 0.01), Real(-0.01, 0.01), AWAY, AWAY),
    "bodies.body_point": args(NEARBY, NEARBY),
    "rays.clip": args(BOUND, BOUND, NEARBY, SLOPE),
    "rays.clip_face": args(BOUND, BOUND, DIRECTION, NEARBY, NEARBY, NEARBY, DIRECTION),
    "bodies.between_ends": Where(
        args(NEARBY, NEARBY, TWO_CORNERS, TWO_CORNERS, TRUTH, TRUTH),
        lambda *values: abs(values[9] - values[12]) > 0.02,  # corners apart across the normal
    ),
    "bodies.beyond": args(NEARBY, NEARBY, DIRECTION, DIRECTION),
    "geometry.cos_sin": ANGLE,
    "rays.entry": args(BOUND, BOUND),
    "bodies.face_to_face": args(DIRECTION, DIRECTION, DIRECTION, TRUTH),
    "bodies.faces": args(NEARBY, NEARBY, DIRECTION),
    "bodies.farther": args(*[NEARBY] * 6),
    "bodies.farther_face": args(NEARBY, DIRECTION, DIRECTION, NEARBY, NEARBY, NEARBY, DIRECTION),
    "bodies.two_faces": args(NEARBY, DIRECTION, DIRECTION, NEARBY, NEARBY, NEARBY, DIRECTION),
    "bodies.from_point": args(*[NEARBY] * 5),
    "bodies.nearer": args(*[NEARBY] * 6),
    "bodies.nearer_edge": args(*[NEARBY] * 5, EDGE),
    "geometry.one_over": args(Either((Real(1e-4, 25.0), some(0.0)))),
    "geometry.off_line": Where(
        args(*[AWAY] * 4),
        lambda px, py, dx, dy: dx * dx + dy * dy > 1e-6,
        lambda px, py, dx, dy: (f32(1.0) / (dx * dx + dy * dy),),
    ),
    "bodies.on_edge": Where(
        args(*[NEARBY] * 6), lambda x, y, ax, ay, bx, by: (ax != bx) | (ay != by)
    ),
    "bodies.contact_arm": args(NEARBY, NEARBY),
    "disc.beyond": args(NEARBY, NEARBY, DIRECTION, DIRECTION),
    "disc.body_point": args(NEARBY, NEARBY),
    "disc.contact_arm": args(NEARBY, NEARBY),
    "disc.ray_body": args(NEARBY, NEARBY, DIRECTION),
    "disc.touching_points": args(NEARBY, NEARBY, *[DIRECTION] * 3, TRUTH),
    "disc.two_farthest_corners": DIRECTION,
    "disc.unit_vector": args(NEARBY, NEARBY),
    "polygon.beyond": args(NEARBY, NEARBY, DIRECTION, DIRECTION),
    "polygon.body_point": args(NEARBY, NEARBY),
    "polygon.farther_face": args(NEARBY, DIRECTION, DIRECTION, NEARBY, NEARBY, NEARBY, DIRECTION),
    "polygon.from_point": args(*[NEARBY] * 5),
    "polygon.ray_body": args(NEARBY, NEARBY, DIRECTION),
    "polygon.separation": args(NEARBY, NEARBY, DIRECTION, DIRECTION),
    "polygon.support": args(DIRECTION, DIRECTION),
    "polygon.touching_points": args(NEARBY, NEARBY, *[DIRECTION] * 3, TRUTH),
    "polygon.two_farthest_corners": DIRECTION,
    "rays.ray_body": args(NEARBY, NEARBY, DIRECTION),
    "rays.ray_disc": args(NEARBY, NEARBY, DIRECTION, Real(0.05, 0.2)),
    "rays.ray_wall": args(PLACE, SLOPE, SIDE),
    "bodies.separation": args(NEARBY, NEARBY, DIRECTION, DIRECTION),
    "geometry.support": args(DIRECTION, DIRECTION),
    "geometry.support_beside": DIRECTION,
    "bodies.touching_points": args(NEARBY, NEARBY, DIRECTION, DIRECTION, DIRECTION, TRUTH),
    "geometry.at_most": args(Real(1e-3, 0.1), Real(0.0, 0.1) | some(0.0)),
    "geometry.two_farthest_corners": DIRECTION,
    "geometry.unit": Real(-2.0, 3.0) | some(-0.0, 0.0, 1.0),
    "geometry.wrap": Real(-3 * math.pi, 3 * math.pi) | some(-math.pi, math.pi),
    "motion.excess": args(VELOCITY, VELOCITY),
    "motion.still_missing": args(VELOCITY, VELOCITY),
    "motion.target": args(WHEEL, WHEEL, DIRECTION),
    "motion.turn_rate": args(WHEEL, WHEEL),
    "motion.turned": args(Real(-10.0, 10.0), Real(-10.0, 10.0)),
    "motion.within": args(PLACE, SIDE),
    "motion.worn": args(Real(0.0, 0.2), Real(0.0, 2000.0)),
    "neuron.tanh": Either((Real(-1e3, 1e3), Real(-10.0, 10.0), some(-8.0, 8.0, -0.0))),
    "scoring.faded": Whole(0, 10**6) | Whole(0, 2000, int),
    "scoring.flock": args(Real(0.0, 1.0) | some(0.25), TURN, VELOCITY, VELOCITY),
    "scoring.on_border": Whole(0, 99) | Whole(0, 99, int),
    "sensing.cone": args(AWAY, AWAY) | AXES,
    "sensing.floor_cell": args(PLACE, Real(0.01, 128.0), Whole(1, 64)),
    "sensing.heard": args(Real(0.0, 3.0), some(4.0, 2.0, 1.0, 0.5)),
    "sensing.message": args(NEARBY, NEARBY, DIRECTION, NEARBY, NEARBY, DIRECTION),
    "sensing.misheard": args(AWAY, AWAY, VELOCITY, DIRECTION),
    "sensing.reading": args(
        Real(0.0, 1.0) | some(0.11, 0.22, 1e9), some(1 / 0.055, 1 / 0.11, 1 / 0.22, 1 / 0.44)
    ),
    "sensing.sensed": args(
        Real(0.0, 1.1), VELOCITY, some(0.0, 1.0), some(0.0, 0.05, 0.5), some(0.0, 0.5, 1.0)
    ),
}


# Laws about tuples, as laws about their members: a column for each can be drawn.


@register_jitable
def _between_ends(
    along: Any, across: Any, a: Any, b: Any, k: Any, c: Any, d: Any, m: Any,
    p: Any, q: Any, n: Any, r: Any, s: Any, o: Any, face: Any, rising: Any,
) -> Any:  # fmt: skip
    return between_ends(along, across, (a, b, k, c, d, m), (p, q, n, r, s, o), face, rising)


FLAT = {
    "bodies.between_ends": _between_ends,
}


def _registered() -> dict[str, Callable[..., Any]]:
    """Load all laws and return them by module and name."""
    for module in pkgutil.iter_modules(qed.swarm.laws.__path__):
        importlib.import_module(f"qed.swarm.laws.{module.name}")
    # Those made for another robot are in modules with its digest in their names.
    ours = [law for law in LAWS if re.fullmatch(r"qed\.[\w.]+", law.__module__)]
    return {f"{law.__module__.rpartition('.')[2]}.{law.__name__}": law for law in ours}


BY_NAME = _registered() | FLAT


def parts(result: Any) -> tuple[Any, ...]:
    """Return what a law returns as a tuple, one number or several."""
    return result if isinstance(result, tuple) else (result,)
