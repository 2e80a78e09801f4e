"""What sensors read, healthy or broken, and what the network is told."""

import math

import numpy as np
import pytest
from numpy import float32 as f32
from swarm.laws.plain import plain, rounded

from qed.swarm.faults import FAULTS
from qed.swarm.laws import sensing

reading = plain(sensing.reading)
sensed = plain(sensing.sensed)
cone = plain(sensing.cone)
heard = plain(sensing.heard)
misheard = plain(sensing.misheard)

RANGES = (0.055, 0.11, 0.22, 0.44)
NOISE = 0.05
RANDOM = rounded(np.random.default_rng(5).uniform(-1, 1, 2000))


@pytest.mark.parametrize("reach", RANGES)
@pytest.mark.parametrize(
    ("part", "value"),
    [(0, 1), (0.25, 0.956), (0.5, 0.775), (0.7212, 0.5), (0.75, 0.456)],
)
def test_known_readings(part, value, reach):
    assert reading(part * reach, 1 / reach) == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize("reach", RANGES)
def test_reading_follows_the_curve_within_range(reach):
    for part in np.linspace(0, 0.999999, 500):
        expected = 1 + 0.1 * part - 1.1 * part**2
        assert reading(part * reach, 1 / reach) == pytest.approx(expected, abs=1e-6)


def test_reading_fades_out_at_its_range():
    assert reading(1.0, 1.0) == pytest.approx(0.0, abs=1e-7)
    for distance in (1.0001, 2.0, 1e9, math.inf):
        assert reading(distance, 1.0) == 0.0


def test_sound_sensor_adds_noise_then_clips():
    for truth in (0.0, 0.02, 0.5, 0.97, 1.0, 1.0023):
        for noise in RANDOM[:300]:
            value = min(max(truth + NOISE * noise, 0.0), 1.0)
            assert sensed(truth, noise, 1, NOISE, 0) == pytest.approx(1 - 2 * value, abs=3e-7)


def test_empty_sensor_reads_nothing_half_of_the_time():
    inputs = np.array([sensed(0, noise, 1, NOISE, 0) for noise in RANDOM])
    assert (inputs == 1).mean() == pytest.approx(0.5, abs=0.05)
    assert inputs.min() == pytest.approx(1 - 2 * NOISE, abs=1e-3)
    assert inputs.min() >= 1 - 2 * NOISE - 1e-6


def broken(name, truth, noise):
    fault = FAULTS[name]
    amplitude = NOISE if fault.noise is None else fault.noise
    return sensed(truth, noise, fault.gain, amplitude, fault.offset)


@pytest.mark.parametrize(("name", "told"), [("PMIN", 1), ("PMAX", -1)])
def test_stuck_sensor(name, told):
    assert {float(broken(name, truth, n)) for truth in (0, 0.4, 1) for n in RANDOM[:200]} == {told}


def test_random_sensor_is_uniform_whatever_is_there():
    for noise in RANDOM[:300]:
        told = {float(broken("PRAND", truth, noise)) for truth in (0, 0.4, 1)}
        assert len(told) == 1
        assert told.pop() == pytest.approx(-noise, abs=2e-7)


@pytest.mark.parametrize("name", ["NONE", "LW-H", "RW-H", "BW-H", "ROFS"])
def test_other_faults_leave_the_sensor_sound(name):
    for truth in (0.0, 0.4, 1.0):
        for noise in RANDOM[:50]:
            assert broken(name, truth, noise) == sensed(truth, noise, 1, NOISE, 0)


def test_cone_is_the_nearest_multiple_of_45_degrees():
    counts = np.zeros(8, int)
    for forward, left in rounded(np.random.default_rng(6).uniform(-2, 2, (8000, 2))):
        eighths = math.atan2(left, forward) / (math.pi / 4)
        if abs(eighths - math.floor(eighths) - 0.5) < 1e-5:
            continue
        index = cone(forward, left)
        assert index == round(eighths) % 8
        counts[index] += 1
    assert counts.min() > 500


@pytest.mark.parametrize(
    ("degrees", "index"),
    [(0, 0), (45, 1), (90, 2), (135, 3), (180, 4), (-135, 5), (-90, 6), (-45, 7)],
)
def test_cones_reach_22_degrees_either_way(degrees, index):
    for aside in (-22.49, -10, 0, 10, 22.49):
        angle = math.radians(degrees + aside)
        assert cone(math.cos(angle), math.sin(angle)) == index


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_cone_on_the_axes(zero):
    assert cone(1, zero) == 0
    assert cone(zero, 1) == 2
    assert cone(-1, zero) == 4
    assert cone(zero, -1) == 6


@pytest.mark.parametrize("reach", [0.25, 0.5, 1.0, 2.0])
def test_heard_grows_with_distance(reach):
    assert heard(0, 1 / reach) == -1
    assert heard(reach / 2, 1 / reach) == 0
    assert heard(reach / 4, 1 / reach) == -0.5
    assert heard(reach, 1 / reach) == 1
    assert heard(1.7 * reach, 1 / reach) == 1


def test_misheard_is_off_by_three_quarters_to_one():
    rng = np.random.default_rng(7)
    sizes = []
    for radius, angle, forward, left in rng.uniform(
        (-1, -math.pi, -1, -1), (1, math.pi, 1, 1), (2000, 4)
    ):
        c, s = math.cos(angle), math.sin(angle)
        x, y = misheard(forward, left, radius, c, s)
        dx, dy = x - forward, y - left
        assert c * dx + s * dy == pytest.approx(math.hypot(dx, dy), abs=1e-6)
        sizes.append(math.hypot(dx, dy))
    assert min(sizes) >= 0.75 - 1e-6
    assert max(sizes) <= 1.0 + 1e-6
    assert np.histogram(sizes, 5, (0.75, 1.0))[0].min() > 300


def test_misheard_radius_spans_its_range():
    assert misheard(0, 0, -1, 1, 0) == (0.75, 0)
    assert misheard(0, 0, 0, 0, 1) == (0, 0.875)
    assert misheard(0.5, -0.25, 1, -1, 0) == (-0.5, -0.25)


def test_cone_turn_is_an_eighth_of_pi():
    assert f32(math.cos(math.pi / 8)) == sensing.COS_EIGHTH
    assert f32(math.sin(math.pi / 8)) == sensing.SIN_EIGHTH
