"""Which corners of bodies touch what, against brute force over all corners."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy import float32 as f32
from swarm.laws.plain import plain
from swarm.laws.polygon import BODY, cross, heading, placed, samples, turned

from qed.swarm.laws import bodies, geometry

two_farthest_corners = plain(geometry.two_farthest_corners)
face_to_face = plain(bodies.face_to_face)
ahead = plain(bodies.ahead)
beyond = plain(bodies.beyond)
touching_points = plain(bodies.touching_points)

TINY = 1e-6  # m; what is closer than this may be the one or the other
ANGLE = st.floats(-math.pi, math.pi)
PLACE = st.floats(-0.125, 0.125, width=32)
examples = settings(max_examples=150, deadline=None, derandomize=True)


def ranked(u):
    """Return the numbers of all corners, the farthest along u first, and how far they are."""
    reach = BODY @ u
    return np.argsort(-reach), reach


def test_the_two_farthest_corners_of_nine():
    told = set()
    for (angle,) in samples(3000, (-math.pi, math.pi)):
        u = heading(angle)
        order, reach = ranked(u)
        if reach[order[1]] - reach[order[2]] < TINY:
            continue
        pair = sorted(order[:2].tolist())
        found = two_farthest_corners(*u)
        assert [found[2], found[5]] == pair
        for number, along, across in zip(pair, found[::3], found[1::3], strict=True):
            assert along == pytest.approx(reach[number], abs=2e-8)
            assert across == pytest.approx(cross(u, BODY[number]), abs=2e-8)
        told.add(tuple(pair))
    # Neighbours only, and every two neighbours.
    assert told == {tuple(sorted((n, (n + 1) % 9))) for n in range(9)}


@pytest.mark.parametrize(
    ("u", "numbers"), [((1, 0), (7, 8)), ((-1, 0), (0, 1)), ((0, -1), (0, 8)), ((0, 1), (4, 5))]
)
def test_corners_along_the_axes(u, numbers):
    _, _, first, _, _, second = two_farthest_corners(*u)
    assert (first, second) == numbers


@examples
@given(ANGLE)
def test_corners_are_the_same_in_a_mirror(angle):
    ux, uy = heading(angle)
    assume(ux != 0.0)
    along, across, number, more, aside, other = two_farthest_corners(ux, uy)
    mirrored = two_farthest_corners(-ux, uy)
    assert mirrored == (more, -aside, 8 - other, along, -across, 8 - number)


@examples
@given(ANGLE, ANGLE, ANGLE, st.booleans())
def test_a_face_and_its_opposite_in_the_frames_of_their_bodies(one, two, towards, face):
    n = np.array(heading(towards))
    fx, fy, bx, by = face_to_face(*heading(one), *heading(two), *n, face)
    owner, other = (one, two) if face else (two, one)
    outward = n if face else -n
    assert turned([fx, fy], *heading(owner)) == pytest.approx(outward, abs=1e-6)
    assert turned([bx, by], *heading(other)) == pytest.approx(-outward, abs=1e-6)


@examples
@given(st.floats(-1, 1, width=32), st.floats(-1, 1, width=32))
def test_of_opposite_vectors_one_is_ahead(x, y):
    assume(abs(0.618 * x + y) > 1e-6)
    assert ahead(x, y) != ahead(-x, -y)
    assert ahead(x, y) == (0.618 * x + y > 0)


def normal_of(dx, dy, me, other):
    """Return gap and normal of two bodies, and whether it is the first one's face that gives it."""
    gap, nx, ny = beyond(dx, dy, *me, *other)
    back, mx, my = beyond(-dx, -dy, *other, *me)
    face = bool(back <= gap)
    return (gap, nx, ny, True) if face else (back, -mx, -my, False)


def points(dx, dy, me, other, normal, face):
    """Return the two points as the law tells them: five numbers each."""
    found = touching_points(dx, dy, *me, *other, *normal, face)
    return found[:5], found[5:]


def overlapping(count, seed):
    """Yield bodies that overlap: place of the second, headings, gap, normal and its owner."""
    for x, y, one, two in samples(
        count, (-0.13, 0.13), (-0.13, 0.13), *[(-math.pi, math.pi)] * 2, seed=seed
    ):
        me, other = heading(one), heading(two)
        gap, nx, ny, face = normal_of(x, y, me, other)
        if -0.03 < gap < -1e-5:
            yield (x, y), me, other, gap, (nx, ny), face


def brute_clip(owner, corners, face_normal):
    """Return the points of the other body's edge next to a face, between the face's ends.

    ``owner`` and ``corners`` are the two bodies as polygons; None where it is too close to call.
    """
    reach = owner @ face_normal
    depth = corners @ face_normal
    low = np.argsort(depth)
    ends = owner[np.argsort(-reach)[:2]]
    if depth[low[2]] - depth[low[1]] < TINY:
        return None
    a, b = corners[low[:2]]
    along_face = np.array([-face_normal[1], face_normal[0]])
    left, right = sorted(ends @ along_face)
    if abs((b - a) @ along_face) < 1e-4:
        return None
    at = sorted(
        np.clip([(edge - a @ along_face) / ((b - a) @ along_face) for edge in (left, right)], 0, 1)
    )
    kept = [a + part * (b - a) for part in at]
    inside = [left - TINY <= point @ along_face <= right + TINY for point in kept]
    return (np.array(kept), reach.max()) if all(inside) else None


def test_touching_points_are_a_clipped_edge():
    compared = clipped = 0
    for place, me, other, _, normal, face in overlapping(1500, seed=6):
        mine, its = placed((0, 0), *me), placed(place, *other)
        n = np.array(normal, float)
        t = np.array([-n[1], n[0]])
        owner, corners, m = (mine, its, n) if face else (its, mine, -n)
        expected = brute_clip(owner, corners, m)
        if expected is None:
            continue
        kept, height = expected
        found = points(*place, me, other, normal, face)
        got = np.array([arm * n + lever * t for arm, lever, *_ in found], float)
        back = np.array([place + arm * n + lever * t for _, _, arm, lever, _ in found], float)
        assert got == pytest.approx(back, abs=1e-7)
        order = np.argsort(kept @ t), np.argsort(got @ t)
        assert got[order[1]] == pytest.approx(kept[order[0]], abs=2e-6)
        gaps = [gap for *_, gap in found]
        assert gaps == pytest.approx(got @ m - height, abs=2e-6)
        compared += 1
        clipped += max(np.hypot(*(corners - point).T).min() for point in kept) > TINY
    assert compared > 300
    assert clipped > 10


def test_the_deeper_point_tells_the_overlap():
    for place, me, other, gap, normal, face in overlapping(1500, seed=7):
        gaps = [each for *_, each in points(*place, me, other, normal, face)]
        assert min(gaps) == pytest.approx(gap, abs=1e-7)


@examples
@given(PLACE, PLACE, ANGLE, ANGLE)
def test_touching_points_from_the_other_body(x, y, one, two):
    me, other = heading(one), heading(two)
    gap, nx, ny, face = normal_of(x, y, me, other)
    assume(gap < 0.0)
    for here, there in zip(
        points(x, y, me, other, (nx, ny), face),
        points(-x, -y, other, me, (-nx, -ny), not face),
        strict=True,
    ):
        arm, lever, other_arm, other_lever, depth = here
        assert there == (-other_arm, -other_lever, -arm, -lever, depth)


def one_edge_is_next(nx, ny, me, other, face):
    """Tell whether two corners of the body behind a face are clearly the next to it."""
    c, s = other if face else me
    n = np.array([nx, ny], float) * (-1 if face else 1)
    order, reach = ranked((c * n[0] + s * n[1], c * n[1] - s * n[0]))
    first, second, third = order[:3]
    across = abs(cross(n, turned(BODY[second] - BODY[first], c, s)))
    return reach[second] - reach[third] > TINY and across > TINY


@examples
@given(PLACE, PLACE, ANGLE, ANGLE)
def test_touching_points_in_a_mirror(x, y, one, two):
    (c, s), (other_c, other_s) = heading(one), heading(two)
    gap, nx, ny, face = normal_of(x, y, (c, s), (other_c, other_s))
    assume(gap < 0.0)
    assume(one_edge_is_next(nx, ny, (c, s), (other_c, other_s), face))
    here = points(x, y, (c, s), (other_c, other_s), (nx, ny), face)
    mirrored = points(-x, y, (c, -s), (other_c, -other_s), (-nx, ny), face)
    levers = np.array([1, -1, 1, -1, 1])
    same = np.sort(np.array(here, float) * levers, axis=0)
    assert np.sort(np.array(mirrored, float), axis=0) == pytest.approx(same, abs=1e-6)


@pytest.mark.parametrize("face", [True, False])
def test_touching_points_of_two_fronts(face):
    # Nose to the left, they drive at each other: the right one is turned by half a turn.
    found = points(0.108, 0.01, (1, 0), (-1, 0), (1, 0), face)
    arm = 0.055 if not face else 0.053
    # Their sides overlap from -0.023 to 0.033 as the first one sees it.
    assert [point[0] for point in found] == pytest.approx([arm, arm], abs=1e-7)
    assert sorted(point[1] for point in found) == pytest.approx([-0.023, 0.033], abs=1e-7)
    for arm, lever, other_arm, other_lever, gap in found:
        assert other_arm == pytest.approx(arm - 0.108, abs=1e-7)
        assert other_lever == pytest.approx(lever - 0.01, abs=1e-7)
        assert gap == pytest.approx(-0.002, abs=1e-7)


@pytest.mark.parametrize("turn", np.linspace(0.1, 6.2, 13))
def test_points_do_not_depend_on_which_body_is_the_first_in_any_direction(turn):
    c, s = heading(turn)
    dx, dy = (float(f32(0.105 * part)) for part in (c, s))
    here = points(dx, dy, (c, s), (-c, -s), (c, s), True)
    there = points(-dx, -dy, (-c, -s), (c, s), (-c, -s), False)
    for (arm, lever, *_), (_, _, back_arm, back_lever, _) in zip(here, there, strict=True):
        assert (back_arm, back_lever) == (-arm, -lever)
