"""How far bodies and points are apart, against brute force in double precision."""

import math

import numpy as np
import pytest
from swarm.laws.plain import plain
from swarm.laws.polygon import (
    BODY,
    cross,
    distance,
    face_gaps,
    heading,
    holds,
    nearest_on,
    overlap,
    placed,
    samples,
    to_border,
)

from qed.swarm.laws import bodies

farther = plain(bodies.farther)
faces = plain(bodies.faces)
separation = plain(bodies.separation)
on_edge = plain(bodies.on_edge)
nearer = plain(bodies.nearer)
body_point = plain(bodies.body_point)


def test_farther_takes_the_larger_gap_with_its_normal():
    assert farther(1, 0, 1, 2, 1, 0) == (2, 1, 0)
    assert farther(2, 0, 1, 1, 1, 0) == (2, 0, 1)
    assert farther(1, 0, 1, 1, 1, 0) == (1, 0, 1)


def test_faces_finds_the_widest_gap():
    for x, y, angle in samples(1500, (-0.2, 0.2), (-0.2, 0.2), (-math.pi, math.pi)):
        c, s = heading(angle)
        other = placed((x, y), c, s)
        gaps, normals = face_gaps(1.0, 0.0, np.zeros(2), other)
        gap, nx, ny = faces(x, y, c, s)
        assert gap == pytest.approx(gaps.max(), abs=5e-8)
        chosen = np.argmax(normals @ (float(nx), float(ny)))
        assert normals[chosen] == pytest.approx((nx, ny), abs=1e-6)
        assert gaps[chosen] == pytest.approx(gap, abs=5e-8)


def poses(count, seed):
    for x, y, one, two in samples(
        count, (-0.15, 0.15), (-0.15, 0.15), *[(-math.pi, math.pi)] * 2, seed=seed
    ):
        me, other = heading(one), heading(two)
        yield (x, y), me, other, placed((0, 0), *me), placed((x, y), *other)


def test_separation_tells_overlap():
    together = apart = 0
    for place, me, other, mine, its in poses(600, seed=2):
        gap, _, _ = separation(*place, *me, *other)
        if abs(gap) < 1e-6:
            continue
        assert (gap < 0) == overlap(mine, its)
        together += gap < 0
        apart += gap > 0
    assert min(together, apart) > 100


def test_separation_is_the_widest_gap_of_either_body():
    for place, me, other, mine, its in poses(600, seed=3):
        gap, nx, ny = separation(*place, *me, *other)
        ahead, _ = face_gaps(*me, np.zeros(2), its)
        back, _ = face_gaps(*other, np.array(place), mine)
        assert gap == pytest.approx(max(ahead.max(), back.max()), abs=5e-8)
        n = np.array([nx, ny], float)
        assert math.hypot(*n) == pytest.approx(1.0, abs=1e-6)
        assert (its @ n).min() - (mine @ n).max() == pytest.approx(gap, abs=1e-7)


def test_separation_is_at_most_the_distance():
    reached = 0
    for place, me, other, mine, its in poses(150, seed=4):
        gap, _, _ = separation(*place, *me, *other)
        if gap > 1e-6:
            far = distance(mine, its)
            assert gap <= far + 1e-7
            reached += abs(gap - far) < 1e-7
    assert reached > 20


def test_separation_from_either_side():
    for place, me, other, _, _ in poses(300, seed=5):
        gap, nx, ny = separation(*place, *me, *other)
        back, mx, my = separation(-place[0], -place[1], *other, *me)
        assert back == pytest.approx(gap, abs=3e-8)
        if abs(nx + mx) + abs(ny + my) > 1e-6:
            mine, its = placed((0, 0), *me), placed(place, *other)
            along = -np.array([mx, my], float)
            assert (its @ along).min() - (mine @ along).max() == pytest.approx(gap, abs=1e-7)


@pytest.mark.parametrize(
    ("place", "other", "gap", "normal"),
    [
        ((0.12, 0.0), (-1, 0), 0.010, (1, 0)),
        ((-0.12, 0.0), (-1, 0), 0.010, (-1, 0)),
        ((0.0, -0.11), (-1, 0), 0.004, (0, -1)),
        ((0.1, 0.0), (1, 0), -0.010, (1, 0)),
    ],
)
def test_separation_of_parallel_faces(place, other, gap, normal):
    got, nx, ny = separation(*place, 1, 0, *other)
    assert got == pytest.approx(gap, abs=2e-8)
    assert (nx, ny) == normal


def test_on_edge_is_the_nearest_point():
    for x, y, ax, ay, bx, by in samples(1000, *[(-0.2, 0.2)] * 6):
        a, b = np.array([ax, ay]), np.array([bx, by])
        if math.dist(a, b) > 0.01:
            expected = nearest_on(a, b, np.array([x, y]))
            assert on_edge(x, y, *a, *b) == pytest.approx(expected, abs=1e-6)


def test_on_edge_stays_between_the_ends():
    assert on_edge(-1, 5, 0, 0, 1, 0) == (0, 0)
    assert on_edge(2, -5, 0, 0, 1, 0) == (1, 0)
    assert on_edge(0.25, 5, 0, 0, 1, 0) == (0.25, 0)


def test_nearer_takes_the_first_of_equals():
    assert nearer(0, 0, 1, 0, 0, 2) == (1, 0)
    assert nearer(0, 0, 0, 2, 1, 0) == (1, 0)
    assert nearer(0, 0, 1, 0, 0, 1) == (1, 0)


def test_body_point_leads_to_the_border():
    inside = outside = 0
    for x, y in samples(3000, (-0.15, 0.15), (-0.15, 0.15)):
        point = np.array([x, y])
        far = to_border(BODY, point)
        if far < 1e-4:
            continue
        nx, ny, gap, arm, lever = map(float, body_point(x, y))
        sign = -1 if holds(BODY, point) else 1
        inside += sign < 0
        outside += sign > 0
        assert gap == pytest.approx(sign * far, abs=5e-8)
        assert math.hypot(nx, ny) == pytest.approx(1.0, abs=1e-6)
        touched = point - gap * np.array([nx, ny])
        assert to_border(BODY, touched) < 2e-7
        assert arm == pytest.approx(touched @ (nx, ny), abs=2e-7)
        assert lever == pytest.approx(cross((nx, ny), touched), abs=2e-7)
    assert min(inside, outside) > 300


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ((0.2, 0.01), (1, 0, 0.145, 0.055, 0.01)),
        ((-0.2, 0.01), (-1, 0, 0.145, 0.055, -0.01)),
        ((0.01, -0.2), (0, -1, 0.147, 0.053, 0.01)),
        ((0.0, 0.2), (0, 1, 0.144, 0.056, 0)),
        ((0.054, 0.0), (1, 0, -0.001, 0.055, 0)),
        ((-0.054, 0.0), (-1, 0, -0.001, 0.055, 0)),
        ((0.0, -0.05), (0, -1, -0.003, 0.053, 0)),
        ((0.058, -0.057), (0.6, -0.8, 0.005, 0.0754, -0.6 * 0.053 + 0.8 * 0.055)),
    ],
)
def test_body_point_at_faces_and_corners(point, expected):
    nx, ny, gap, arm, lever = body_point(*point)
    assert (gap, arm) == pytest.approx(expected[2:4], abs=2e-8)
    assert lever == pytest.approx(expected[4], abs=1e-6)
    assert (nx, ny) == pytest.approx(expected[:2], abs=1e-5)
