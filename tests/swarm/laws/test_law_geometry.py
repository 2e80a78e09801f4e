"""Angles, the body polygon and rays, against brute force in double precision."""

import math

import numpy as np
import pytest
from numpy import float32 as f32
from swarm.laws.plain import plain, rounded

from qed.swarm import robot
from qed.swarm.laws import geometry
from qed.swarm.laws.geometry import FAR

BODY = np.array(
    [
        (-0.055, -0.053),
        (-0.055, 0.033),
        (-0.050, 0.040),
        (-0.0255, 0.050),
        (0.0, 0.056),
        (0.0255, 0.050),
        (0.050, 0.040),
        (0.055, 0.033),
        (0.055, -0.053),
    ]
)
OUTWARD = np.roll(BODY, -1, axis=0) - BODY
OUTWARD = np.stack([-OUTWARD[:, 1], OUTWARD[:, 0]], axis=1)
OUTWARD /= np.hypot(*OUTWARD.T)[:, None]
OFFSETS = (OUTWARD * BODY).sum(axis=1)

wrap = plain(geometry.wrap)
cos_sin = plain(geometry.cos_sin)
support = plain(geometry.support)
clip = plain(geometry.clip)
ray_body = plain(geometry.ray_body)
ray_disc = plain(geometry.ray_disc)
ray_wall = plain(geometry.ray_wall)
off_line = plain(geometry.off_line)
farther = plain(geometry.farther)
faces = plain(geometry.faces)
separation = plain(geometry.separation)
on_edge = plain(geometry.on_edge)
nearer = plain(geometry.nearer)
body_point = plain(geometry.body_point)


def samples(count, *ranges, seed=1):
    """Return rows of uniform numbers that single precision holds exactly."""
    low, high = np.transpose(ranges)
    return rounded(np.random.default_rng(seed).uniform(low, high, (count, len(ranges))))


def heading(angle):
    return float(f32(math.cos(angle))), float(f32(math.sin(angle)))


def turned(points, c, s):
    x, y = np.transpose(points)
    return np.stack([c * x - s * y, s * x + c * y], axis=-1)


def placed(place, c, s):
    return turned(BODY, c, s) + np.array(place)


def behind_all_faces(point):
    return float((OUTWARD @ point - OFFSETS).max())


def edges(polygon):
    return zip(polygon, np.roll(polygon, -1, axis=0), strict=True)


def nearest_on(a, b, point):
    along = np.clip(np.dot(point - a, b - a) / np.dot(b - a, b - a), 0.0, 1.0)
    return a + along * (b - a)


def to_border(polygon, point):
    return min(math.dist(nearest_on(a, b, point), point) for a, b in edges(polygon))


def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


def holds(polygon, point):
    """Tell whether a point is inside, by the crossings of a ray to the right."""
    crossings = 0
    for a, b in edges(polygon):
        if (a[1] > point[1]) != (b[1] > point[1]):
            at = a[0] + (point[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0])
            crossings += at > point[0]
    return crossings % 2 == 1


def edges_cross(p, q):
    for a, b in edges(p):
        for c, d in edges(q):
            apart = cross(b - a, c - a) * cross(b - a, d - a) > 0
            if not apart and cross(d - c, a - c) * cross(d - c, b - c) <= 0:
                return True
    return False


def overlap(p, q):
    return holds(p, q[0]) or holds(q, p[0]) or edges_cross(p, q)


def distance(p, q):
    return min(min(to_border(p, v) for v in q), min(to_border(q, v) for v in p))


def face_gaps(body_c, body_s, place, other):
    """Return, for each face of a body at a place, how far another lies beyond it."""
    normals = turned(OUTWARD, body_c, body_s)
    return ((other - place) @ normals.T).min(axis=0) - OFFSETS, normals


def test_half_body_is_half_of_the_body():
    half = np.array(robot.HALF_BODY)
    whole = {tuple(v) for v in half} | {(-x + 0.0, y) for x, y in half}
    assert whole == {tuple(v) for v in BODY}


def test_body_radii():
    assert max(np.hypot(*BODY.T)) == pytest.approx(robot.BODY_OUTER_RADIUS)
    assert OFFSETS.min() == pytest.approx(robot.BODY_INNER_RADIUS)


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
    sensor, _, _ = robot.PROXIMITY_SENSORS[2]
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
        nx, ny, gap, arm = map(float, body_point(x, y))
        sign = -1 if holds(BODY, point) else 1
        inside += sign < 0
        outside += sign > 0
        assert gap == pytest.approx(sign * far, abs=5e-8)
        assert math.hypot(nx, ny) == pytest.approx(1.0, abs=1e-6)
        touched = point - gap * np.array([nx, ny])
        assert to_border(BODY, touched) < 2e-7
        assert arm == pytest.approx(touched @ (nx, ny), abs=2e-7)
    assert min(inside, outside) > 300


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ((0.2, 0.0), (1, 0, 0.145, 0.055)),
        ((-0.2, 0.0), (-1, 0, 0.145, 0.055)),
        ((0.01, -0.2), (0, -1, 0.147, 0.053)),
        ((0.0, 0.2), (0, 1, 0.144, 0.056)),
        ((0.054, 0.0), (1, 0, -0.001, 0.055)),
        ((-0.054, 0.0), (-1, 0, -0.001, 0.055)),
        ((0.0, -0.05), (0, -1, -0.003, 0.053)),
        ((0.058, -0.057), (0.6, -0.8, 0.005, 0.6 * 0.055 + 0.8 * 0.053)),
    ],
)
def test_body_point_at_faces_and_corners(point, expected):
    nx, ny, gap, arm = body_point(*point)
    assert (gap, arm) == pytest.approx(expected[2:], abs=2e-8)
    assert (nx, ny) == pytest.approx(expected[:2], abs=1e-5)
