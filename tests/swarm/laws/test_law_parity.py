"""Every law gives the same bits in Python and in compiled code."""

import functools
import importlib
import math
import pkgutil

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from swarm.laws.plain import QUIET

import qed.swarm.cpu.bits
import qed.swarm.laws
from qed.swarm import robot
from qed.swarm.compile import LAWS
from qed.swarm.cpu.rows import Segment
from qed.swarm.laws.geometry import FAR

for _module in pkgutil.iter_modules(qed.swarm.laws.__path__):
    importlib.import_module(f"qed.swarm.laws.{_module.name}")


def _key(law):
    return f"{law.__module__.rsplit('.', 1)[-1]}.{law.__name__}"


OURS = {_key(law): law for law in LAWS if law.__module__.startswith("qed.")}


def real(low, high):
    low, high = float(np.float32(low)), float(np.float32(high))
    return st.floats(low, high, width=32).map(np.float32)


def whole(low, high, kind=np.int32):
    return st.integers(low, high).map(kind)


def some(*values):
    return st.sampled_from([np.float32(value) for value in values])


def unit(angle):
    return np.float32(math.cos(angle)), np.float32(math.sin(angle))


def flat(*parts):
    """Join strategies of scalars and of tuples to one of all arguments."""
    return st.tuples(*parts).map(
        lambda values: tuple(
            item for value in values for item in (value if isinstance(value, tuple) else (value,))
        )
    )


# Axis-parallel directions are where divisions by zero and signed zeros come from.
AXES = st.sampled_from(
    [(np.float32(x), np.float32(y)) for x in (-1.0, -0.0, 0.0, 1.0) for y in (-1.0, -0.0, 0.0, 1.0)]
).filter(lambda axis: abs(axis[0]) + abs(axis[1]) == 1)
CORNERS = [x * sign for x, _ in robot.HALF_BODY for sign in (1, -1)] + [
    y for _, y in robot.HALF_BODY
]
ANGLE = real(-math.pi, math.pi)
TURN = real(-2 * math.pi, 2 * math.pi)
DIRECTION = st.floats(-math.pi, math.pi).map(unit) | AXES
NEARBY = real(-0.3, 0.3) | some(*CORNERS)
PLACE = real(-0.1, 5.1) | some(0.0, 2.0, 4.0)
AWAY = real(-2.0, 2.0)
SIDE = some(2.0, 3.0, 4.0, 5.0, 6.0) | real(0.5, 100.0)
WHEEL = real(-0.4, 0.4) | some(-0.1, -0.05, -0.0, 0.0, 0.05, 0.1)
VELOCITY = real(-1.0, 1.0)
SHARE = some(0.25, 0.5, 1.0)
GAP = real(-0.2, 0.5)
WORD = whole(0, 2**32 - 1, np.uint32)
SEGMENTS = st.lists(
    st.lists(
        st.integers(0, 2**31 - 1), min_size=len(Segment._fields), max_size=len(Segment._fields)
    ),
    min_size=3,
    max_size=3,
).map(lambda rows: np.array(rows, np.int32))


BOUND = real(-1.0, 1.0) | some(-FAR, 0.0, FAR)


def with_inverse_square(values):
    px, py, dx, dy = values
    return px, py, dx, dy, np.float32(1.0) / (dx * dx + dy * dy)


INPUTS = {
    "bits.index": flat(whole(0, 2**31 - 1)) | flat(whole(0, 2**31 - 1, int)),
    "bits.span": flat(SEGMENTS, whole(0, 2, int)),
    "chance.draw": flat(WORD, whole(0, 10**6, int), whole(0, 127, int)),
    "chance.high_noise": flat(WORD),
    "chance.low_noise": flat(WORD),
    "chance.mix": flat(WORD),
    "contact.approach": flat(GAP),
    "contact.drive": flat(VELOCITY, VELOCITY, VELOCITY, VELOCITY),
    "contact.fixed": flat(real(-100.0, 100.0)),
    "contact.nearer_wall": flat(PLACE, SIDE),
    "contact.pair_share": flat(whole(1, 63), whole(1, 63)),
    "contact.press": flat(real(0.0, 1.0), SHARE, VELOCITY),
    "contact.rub": flat(VELOCITY, SHARE, VELOCITY, real(0.0, 0.5)),
    "contact.wall_approach": flat(GAP, real(0.0, 0.14)),
    "describing.action": flat(WHEEL, WHEEL),
    "describing.midpoint_distances": flat(PLACE, PLACE, SIDE),
    "describing.turn_feature": flat(TURN, real(2.5, 100.0)),
    "describing.wheel_bin": flat(WHEEL),
    "geometry.body_point": flat(NEARBY, NEARBY),
    "geometry.clip": flat(BOUND, BOUND, NEARBY, real(-1.0, 1.0) | some(-0.0, 0.0)),
    "geometry.cos_sin": flat(ANGLE),
    "geometry.faces": flat(NEARBY, NEARBY, DIRECTION),
    "geometry.farther": flat(*[NEARBY] * 6),
    "geometry.nearer": flat(*[NEARBY] * 6),
    "geometry.off_line": flat(AWAY, AWAY, AWAY, AWAY)
    .filter(lambda d: d[2] * d[2] + d[3] * d[3] > 1e-6)
    .map(with_inverse_square),
    "geometry.on_edge": flat(*[NEARBY] * 6).filter(lambda e: e[2] != e[4] or e[3] != e[5]),
    "geometry.ray_body": flat(NEARBY, NEARBY, DIRECTION),
    "geometry.ray_disc": flat(NEARBY, NEARBY, DIRECTION, real(0.05, 0.2)),
    "geometry.ray_wall": flat(PLACE, real(-1.0, 1.0) | some(-0.0, 0.0), SIDE),
    "geometry.separation": flat(NEARBY, NEARBY, DIRECTION, DIRECTION),
    "geometry.support": flat(DIRECTION, DIRECTION),
    "geometry.wrap": flat(real(-3 * math.pi, 3 * math.pi) | some(-math.pi, math.pi)),
    "motion.excess": flat(VELOCITY, VELOCITY),
    "motion.target": flat(WHEEL, WHEEL, DIRECTION),
    "motion.turn_rate": flat(WHEEL, WHEEL),
    "motion.turned": flat(real(-10.0, 10.0), real(-10.0, 10.0)),
    "motion.within": flat(PLACE, SIDE),
    "neuron.tanh": flat(real(-1000.0, 1000.0) | real(-10.0, 10.0) | some(-8.0, 8.0, -0.0)),
    "scoring.faded": flat(whole(0, 10**6)) | flat(whole(0, 2000, int)),
    "scoring.flock": flat(real(0.0, 1.0) | some(0.25), TURN, VELOCITY, VELOCITY),
    "scoring.on_border": flat(whole(0, 99)) | flat(whole(0, 99, int)),
    "sensing.cone": flat(AWAY, AWAY) | AXES,
    "sensing.heard": flat(real(0.0, 3.0), some(4.0, 2.0, 1.0, 0.5)),
    "sensing.misheard": flat(AWAY, AWAY, real(-1.0, 1.0), DIRECTION),
    "sensing.reading": flat(
        real(0.0, 1.0) | some(0.11, 0.22, 1e9), some(1 / 0.055, 1 / 0.11, 1 / 0.22, 1 / 0.44)
    ),
    "sensing.sensed": flat(
        real(0.0, 1.1), real(-1.0, 1.0), some(0.0, 1.0), some(0.0, 0.05, 0.5), some(0.0, 0.5, 1.0)
    ),
}


@functools.cache
def compiled(name):
    law = OURS[name]

    @numba.njit(error_model="numpy")
    def run(*args):
        return law(*args)

    return run


def parts(result):
    return result if isinstance(result, tuple) else (result,)


def steps(one, two):
    """Return how many single-precision numbers lie between two, zeros of either sign apart."""
    places = np.array([one, two], np.float32).view(np.int32).astype(np.int64)
    places = np.where(places < 0, -(2**31) - 1 - places, places)
    return abs(int(places[0] - places[1]))


def check_same(name, args):
    with np.errstate(**QUIET):
        expected = parts(OURS[name](*args))
    got = parts(compiled(name)(*args))
    assert len(got) == len(expected)
    for one, two in zip(expected, got, strict=True):
        if isinstance(two, float):
            assert type(one) is np.float32, "Python left single precision"
            both_nan = np.isnan(one) and math.isnan(two)
            assert both_nan or steps(one, two) == 0, (args, one, two)
        else:
            assert one == two, (args, one, two)


def test_steps_count_single_precision_numbers():
    one = np.float32(1.0)
    assert steps(one, one) == 0
    assert steps(one, np.nextafter(one, np.float32(2.0))) == 1
    assert steps(np.float32(-0.0), np.float32(0.0)) == 1
    assert steps(np.float32(-1e-45), np.float32(1e-45)) == 3


def test_every_law_has_inputs():
    assert set(INPUTS) == set(OURS)


@pytest.mark.parametrize("name", sorted(set(INPUTS) & set(OURS)))
def test_compiled_is_plain(name):
    @settings(max_examples=200, deadline=None, derandomize=True)
    @given(INPUTS[name])
    def check(args):
        check_same(name, args)

    check()
    returned = {str(s.return_type) for s in compiled(name).nopython_signatures}
    assert not any("float64" in kind for kind in returned), "compiled code left single precision"
