"""The body as a plain polygon, and brute force about polygons, in double precision."""

import math

import numpy as np
from numpy import float32 as f32
from swarm.laws.plain import rounded

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
