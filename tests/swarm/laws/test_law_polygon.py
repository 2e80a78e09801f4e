"""The laws of any convex outline, against those of the Thymio's, which are tested by themselves."""

import numpy as np
import pytest
from numpy import float32 as f32
from swarm.laws.plain import plain
from swarm.laws.polygon import heading, samples

from qed.swarm.laws import bodies, geometry, polygon, rays
from qed.swarm.laws.geometry import FAR

PLACES = ((-0.2, 0.2), (-0.2, 0.2), (-3.1, 3.1), (-3.1, 3.1))


def turned(sample):
    """Return a place and two headings as laws take them."""
    x, y, one, other = sample
    return (f32(x), f32(y), *map(f32, heading(one)), *map(f32, heading(other)))


def test_gaps_and_normals_are_the_same():
    for sample in samples(2000, *PLACES):
        gap, nx, ny = plain(polygon.separation)(*turned(sample))
        wanted, mx, my = plain(bodies.separation)(*turned(sample))
        assert gap == pytest.approx(wanted, abs=2e-7)
        if abs(plain(bodies.beyond)(*turned(sample))[0] - wanted) < 1e-6:
            assert (nx, ny) == pytest.approx((mx, my), abs=1e-5)


def test_corners_are_the_same():
    for _, _, angle, _ in samples(2000, *PLACES):
        u = tuple(map(f32, heading(angle)))
        reach = plain(geometry.support)(*u, f32(1.0), f32(0.0))
        assert plain(polygon.support)(*u, f32(1.0), f32(0.0)) == pytest.approx(reach, abs=1e-8)
        along1, across1, n1, along2, across2, n2 = plain(polygon.two_farthest_corners)(*u)
        wanted = plain(geometry.two_farthest_corners)(*u)
        assert along1 == pytest.approx(reach, abs=1e-7)
        assert sorted([along1, along2]) == pytest.approx(sorted(wanted[::3]), abs=1e-7)
        assert sorted([across1, across2]) == pytest.approx(sorted(wanted[1::3]), abs=1e-7)
        assert abs(n1 - n2) in (1, len(polygon.CORNERS) - 1)


def test_touching_points_are_the_same():
    for sample in samples(2000, *PLACES):
        given = turned(sample)
        gap, nx, ny = plain(bodies.beyond)(*given)
        points = plain(polygon.touching_points)(*given, nx, ny, True)
        wanted = plain(bodies.touching_points)(*given, nx, ny, True)
        if abs(gap) < 0.02:  # where bodies touch
            assert points == pytest.approx(wanted, abs=2e-5)


def test_nearest_points_and_rays_are_the_same():
    for x, y, angle, _ in samples(3000, *PLACES):
        x, y = f32(x), f32(y)
        found = plain(polygon.body_point)(x, y)
        wanted = plain(bodies.body_point)(x, y)
        # On the axis of symmetry, and where two edges are as near, either will do.
        if np.abs(np.array(found) - wanted).max() > 1e-5:
            assert found[2] == pytest.approx(wanted[2], abs=1e-6)
            assert abs(x) < 0.06
        aim = tuple(map(f32, heading(angle)))
        way, other = plain(polygon.ray_body)(x, y, *aim), plain(rays.ray_body)(x, y, *aim)
        assert (way == FAR) == (other == FAR) or min(way, other) < 0.4
        if max(way, other) < FAR:
            assert way == pytest.approx(other, abs=1e-6)
