"""Angles, the body polygon and rays, against brute force in double precision."""

import math

import numpy as np
import pytest
from numpy import float32 as f32
from swarm.laws.plain import plain
from swarm.laws.polygon import (
    BODY,
    OFFSETS,
    OUTWARD,
    behind_all_faces,
    cross,
    edges,
    heading,
    holds,
    samples,
    turned,
)

from qed.swarm import robot
from qed.swarm.laws import geometry, rays
from qed.swarm.laws.geometry import FAR

wrap = plain(geometry.wrap)
cos_sin = plain(geometry.cos_sin)
support = plain(geometry.support)
clip = plain(rays.clip)
ray_body = plain(rays.ray_body)
ray_disc = plain(rays.ray_disc)
ray_wall = plain(rays.ray_wall)
off_line = plain(geometry.off_line)


def test_half_body_is_half_of_the_body():
    half = np.array(geometry.HALF_BODY)
    whole = {tuple(v) for v in half} | {(-x + 0.0, y) for x, y in half}
    assert whole == {tuple(v) for v in BODY}


def test_body_radii():
    assert max(np.hypot(*BODY.T)) == pytest.approx(robot.THYMIO.outer_radius)
    assert OFFSETS.min() == pytest.approx(robot.THYMIO.inner_radius)


def test_moment_of_inertia():
    side = 0.0002
    ticks = np.arange(-0.06 + side / 2, 0.06, side)
    squares = np.stack(np.meshgrid(ticks, ticks), -1).reshape(-1, 2)
    inside = squares[((squares @ OUTWARD.T - OFFSETS) < 0).all(axis=1)]
    expected = robot.THYMIO.mass * ((inside**2).sum(axis=1).mean() + side**2 / 6)
    assert pytest.approx(expected, rel=1e-3) == robot.THYMIO.moment
    assert pytest.approx(4.94e-4, abs=1e-6) == robot.THYMIO.moment


def test_wrap_finds_the_same_direction():
    for (angle,) in samples(3000, (-3 * math.pi, 3 * math.pi)):
        got = wrap(angle)
        assert abs(got) <= geometry.PI
        assert math.cos(got - angle) == pytest.approx(1.0, abs=1e-12)
        assert math.sin(got - angle) == pytest.approx(0.0, abs=1e-6)


def test_wrap_keeps_what_is_in_range():
    for angle in (-math.pi, -3.0, -0.0, 0.0, 1.5, math.pi):
        assert wrap(angle) == f32(angle)


@pytest.mark.parametrize(("which", "exact"), [(0, np.cos), (1, np.sin)], ids=["cos", "sin"])
def test_cos_sin_is_exact_to_single_precision(which, exact):
    angles = np.linspace(-math.pi, math.pi, 20001).astype(f32).clip(-geometry.PI, geometry.PI)
    got = np.array([cos_sin(angle)[which] for angle in angles], float)
    assert np.abs(got - exact(angles.astype(float))).max() < 3e-7


def test_cos_sin_of_axes():
    for angle, c, s in ((0, 1, 0), (math.pi / 2, 0, 1), (math.pi, -1, 0), (-math.pi / 2, 0, -1)):
        assert cos_sin(angle) == pytest.approx((c, s), abs=3e-7)


def test_support_reaches_the_outermost_vertex():
    for towards, facing in samples(2000, *[(-math.pi, math.pi)] * 2):
        n, (c, s) = heading(towards), heading(facing)
        expected = (turned(BODY, c, s) @ n).max()
        assert support(*n, c, s) == pytest.approx(expected, abs=2e-8)


@pytest.mark.parametrize(
    ("n", "reach"), [((1, 0), 0.055), ((-1, 0), 0.055), ((0, 1), 0.056), ((0, -1), 0.053)]
)
def test_support_along_the_body_axes(n, reach):
    assert support(*n, 1, 0) == f32(reach)


def test_clip_keeps_the_time_in_the_half_plane():
    for enter, leave, room, speed in samples(2000, (-1, 0), (0, 1), (-0.5, 0.5), (-1, 1)):
        later, sooner = clip(enter, leave, room, speed)
        for at in np.linspace(-1.2, 1.2, 25):
            edge = min(abs(at * speed - room), abs(at - enter), abs(at - leave))
            if edge > 1e-5:
                inside = enter < at < leave and at * speed < room
                assert (later < at < sooner) == inside


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_clip_along_the_border(zero):
    assert clip(-1, 2, 0.1, zero) == (-1, 2)
    later, sooner = clip(-1, 2, -0.1, zero)
    assert sooner < later


def brute_ray(origin, aim):
    """Return where a ray first crosses the border, or None where it is too close to call."""
    if abs(behind_all_faces(origin)) < 1e-5:
        return None
    first = math.inf
    for (a, b), normal in zip(edges(BODY), OUTWARD, strict=True):
        if abs(cross(aim, a - origin)) < 1e-4 * math.dist(a, origin) + 1e-6:
            return None
        if cross(aim, a - origin) * cross(aim, b - origin) < 0:
            if abs(normal @ aim) < 0.02:
                return None
            at = cross(a - origin, b - a) / cross(aim, b - a)
            if at >= 0:
                first = min(first, at)
    if holds(BODY, origin):
        return math.inf
    return first


def test_ray_meets_the_first_edge():
    hits = misses = inside = 0
    for x, y, angle in samples(6000, (-0.2, 0.2), (-0.2, 0.2), (-math.pi, math.pi)):
        origin, aim = np.array([x, y]), np.array(heading(angle))
        expected = brute_ray(origin, aim)
        if expected is None:
            continue
        got = ray_body(*origin, *aim)
        if expected == math.inf:
            assert got == FAR
            inside += holds(BODY, origin)
            misses += not holds(BODY, origin)
        else:
            assert got == pytest.approx(expected, abs=2e-6)
            hits += 1
    assert min(hits, misses, inside) > 200


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_ray_along_an_axis(zero):
    assert ray_body(-0.2, 0.01, 1, zero) == pytest.approx(0.145, abs=1e-7)
    assert ray_body(0.2, 0.01, -1, zero) == pytest.approx(0.145, abs=1e-7)
    assert ray_body(0.01, -0.2, zero, 1) == pytest.approx(0.147, abs=1e-7)
    assert ray_body(zero, 0.2, zero, -1) == pytest.approx(0.144, abs=1e-7)
    for origin, aim in (
        ((-0.2, 0.06), (1, zero)),
        ((-0.2, -0.06), (1, zero)),
        ((0.06, 0.2), (zero, -1)),
        ((-0.06, 0.2), (zero, -1)),
        ((-0.2, 0.0), (-1, zero)),
    ):
        assert ray_body(*origin, *aim) == FAR


def test_ray_from_inside_is_blind():
    for x, y, angle in samples(1000, (-0.054, 0.054), (-0.052, 0.032), (-math.pi, math.pi)):
        assert ray_body(x, y, *heading(angle)) == FAR


def test_front_sensor_is_blind_in_a_flush_contact():
    sensor, _, _ = robot.THYMIO.proximity[2]
    assert ray_body(0.110 - sensor, 0, -1, 0) == FAR
    assert ray_body(0.113 - sensor, 0, -1, 0) == pytest.approx(0.002, abs=1e-7)


def test_ray_meets_the_disc():
    hits = misses = inside = 0
    for x, y, angle, radius in samples(
        6000, (-0.5, 0.5), (-0.5, 0.5), (-math.pi, math.pi), (0.1, 0.3)
    ):
        dx, dy = heading(angle)
        middle = -(x * dx + y * dy)
        aside = math.hypot(x + middle * dx, y + middle * dy)
        if abs(aside - radius) < 1e-3 or abs(math.hypot(x, y) - radius) < 1e-4:
            continue
        got = ray_disc(x, y, dx, dy, radius)
        if math.hypot(x, y) < radius:
            assert got == FAR
            inside += 1
        elif aside > radius or middle < 0:
            assert got == FAR
            misses += 1
        else:
            assert got == pytest.approx(middle - math.sqrt(radius**2 - aside**2), abs=5e-6)
            hits += 1
    assert min(hits, misses, inside) > 200


def test_ray_at_the_middle_of_a_disc():
    assert ray_disc(-0.5, 0, 1, 0, 0.15) == pytest.approx(0.35, abs=1e-7)
    assert ray_disc(0.5, 0, 1, 0, 0.15) == FAR
    assert ray_disc(0, 0, 1, 0, 0.15) == FAR
    assert ray_disc(-0.5, 0.16, 1, 0, 0.15) == FAR


def test_ray_meets_the_wall_ahead():
    for at, direction, side in samples(1000, (0, 2), (0.01, 1), (2, 6)):
        assert ray_wall(at, direction, side) == pytest.approx((side - at) / direction, rel=3e-7)
        assert ray_wall(at, -direction, side) == pytest.approx(at / direction, rel=3e-7)


def test_ray_in_a_wall_sees_only_the_other_wall():
    assert ray_wall(-0.01, -1, 4) == FAR
    assert ray_wall(4.01, 1, 4) == FAR
    assert ray_wall(-0.01, 1, 4) == pytest.approx(4.01)
    assert ray_wall(4.01, -1, 4) == pytest.approx(4.01)


@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize("at", [-0.01, 0.0, 1.0, 4.0, 4.01])
def test_ray_along_a_wall_meets_nothing(at, zero):
    assert ray_wall(at, zero, 4) >= FAR


def test_off_line_is_the_distance_to_the_segment():
    aside = 0
    for px, py, dx, dy in samples(2000, *[(-1.0, 1.0)] * 4):
        length = math.hypot(dx, dy)
        if length < 0.05:
            continue
        p, d = np.array([px, py]), np.array([dx, dy])
        ends = min(px * px + py * py, (px - dx) ** 2 + (py - dy) ** 2)
        between = p @ d > 0 and (p - d) @ d < 0
        expected = (cross(p, d) / length) ** 2 if between else ends
        aside += between
        assert off_line(px, py, dx, dy, 1 / length**2) == pytest.approx(expected, abs=2e-6)
    assert 200 < aside < 1800


def test_off_line_is_no_more_than_to_any_of_its_points():
    for px, py, dx, dy in samples(200, *[(-1.0, 1.0)] * 4):
        along = np.linspace(0, 1, 2001)
        square = ((px - along * dx) ** 2 + (py - along * dy) ** 2).min()
        got = off_line(px, py, dx, dy, 1 / (dx * dx + dy * dy))
        assert got <= square + 2e-6
        assert math.sqrt(square) - math.sqrt(got) <= math.hypot(dx, dy) / 4000 + 2e-3
