"""What the behavioural descriptors add up in each cycle, after motion and control."""

import math
from typing import Any

import numpy as np
from numpy import float32 as f32
from numpy import int32 as i32

from qed.compile import entry, loop
from qed.controller.inputs import GROUPS
from qed.swarm import environment_row as E
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import below, index, lowest, span
from qed.swarm.laws.scoring import PER_FINE_CELL, action, midpoint_distances, turn_feature
from qed.swarm.measures import ACTIONS

ZERO = f32(0.0)
HALF = f32(0.5)
SCRATCH, DISTANCES = L.SCRATCH, L.DISTANCES  # as numbers: see ``contact.py``


@loop
def visits(b: Any, s: int, cycle: int) -> None:
    """Count the cycles that robots spend in each fine cell, and their way from the centre."""
    f, n = b.f, b.n
    first, _, _, size, _ = span(b.segments, s)
    last = i32(b.segments[s, L.FINE_SIDE] - 1)
    centre = HALF * b.limits[s, E.SIDE]
    for i in range(size):
        x = f[L.X + first + i]
        y = f[L.Y + first + i]
        dx = x - centre
        dy = y - centre
        f[L.CENTRE + first + i] += math.sqrt(dx * dx + dy * dy)
        column = min(i32(x * PER_FINE_CELL), last)
        cell = column * (last + i32(1)) + min(i32(y * PER_FINE_CELL), last)
        n[L.INDEX + i] = cell
        f[L.SCRATCH + i] = f32(1.0) if cell == n[L.FINE + first + i] else f32(-1.0)
    for start in range(0, size, L.VECTOR):
        word = below(f, L.SCRATCH + start, ZERO) & ((1 << min(size - start, L.VECTOR)) - 1)
        while word != 0:
            i = start + lowest(word)
            word &= word - 1
            settle_visit(b, s, i, cycle)
            n[L.FINE + first + i] = n[L.INDEX + i]
            n[L.SINCE + first + i] = cycle


@loop
def settle_visit(b: Any, s: int, i: int, cycle: int) -> None:
    """Book the stay of a robot in its fine cell up to the cycle before this one."""
    n = b.n
    lane = index(b.segments[s, L.FIRST]) + i
    if n[L.FINE + lane] >= 0:
        trial = (
            index(b.segments[s, L.FIRST_TRIAL]) + n[L.TRIAL + lane] - index(b.segments[s, L.FIRST])
        )
        b.fine[trial, n[L.FINE + lane]] += cycle - n[L.SINCE + lane]


@loop
def settle_visits(b: Any, s: int, cycle: int) -> None:
    """Book the stay of every robot at the end of its trial."""
    first, _, _, size, _ = span(b.segments, s)
    for i in range(size):
        settle_visit(b, s, i, cycle)
        b.n[L.SINCE + first + i] = cycle


@loop
def features(b: Any, s: int) -> None:
    """Add the five SDBC features of this cycle, and their squares, to each trial."""
    f, w = b.f, b.w
    first, robots, trials, size, _ = span(b.segments, s)
    side = b.limits[s, E.SIDE]
    per_speed = f32(1.0) / b.limits[s, E.SPEED]
    at_x, at_y = L.WIDE_X + 2 * first, L.WIDE_Y + 2 * first
    for i in range(size):
        f[L.SCRATCH + i] = HALF + HALF * f[L.SPEED + first + i]
    feature(b, s, 0, SCRATCH)
    for i in range(size):
        turn = f[L.HEADING + first + i] - f[L.OLD_HEADING + first + i]
        f[L.SCRATCH + i] = turn_feature(turn, per_speed)
    feature(b, s, 1, SCRATCH)
    for i in range(size):
        f[L.SCRATCH + i] = midpoint_distances(f[L.X + first + i], f[L.Y + first + i], side)
    feature(b, s, 2, SCRATCH)
    for i in range(size):
        f[L.DISTANCES + i] = ZERO
    for k in range(1, robots):
        shift = index(k * trials)
        for i in range(size):
            dx = w[at_x + shift + i] - w[at_x + i]
            dy = w[at_y + shift + i] - w[at_y + i]
            f[L.DISTANCES + i] += math.sqrt(dx * dx + dy * dy)
    others = f32(1.0) / f32(max(robots - 1, 1))
    for i in range(size):
        f[L.DISTANCES + i] *= others
    feature(b, s, 3, DISTANCES)
    feature(b, s, 4, L.NEAREST + first)


@loop
def feature(b: Any, s: int, which: int, row: int) -> None:
    """Add one feature, the mean over robots of a row, and its square."""
    f = b.f
    _, robots, trials, _, _ = span(b.segments, s)
    trial = index(b.segments[s, L.FIRST_TRIAL])
    for t in range(trials):
        total = 0.0
        for r in range(robots):
            total += f[row + r * trials + t]
        mean = total / robots
        b.features[trial + t, which, 0] += mean
        b.features[trial + t, which, 1] += mean * mean


@loop
def situations(b: Any, s: int) -> None:
    """Count, for SPIRIT, in which sensory state each robot took which action."""
    f, a, n = b.f, b.a, b.n
    first, _, _, size, _ = span(b.segments, s)
    counts = b.spirit[s]
    for i in range(size):
        n[L.INDEX + i] = action(f[L.LEFT + first + i], f[L.RIGHT + first + i])
    # One by one, so that the compiler knows where each group's rows are.
    activate(a, n, first, size, 32 * ACTIONS, GROUPS[0])
    activate(a, n, first, size, 16 * ACTIONS, GROUPS[1])
    activate(a, n, first, size, 8 * ACTIONS, GROUPS[2])
    activate(a, n, first, size, 4 * ACTIONS, GROUPS[3])
    activate(a, n, first, size, 2 * ACTIONS, GROUPS[4])
    activate(a, n, first, size, 1 * ACTIONS, GROUPS[5])
    for i in range(size):
        counts[n[L.INDEX + i]] += 1


@loop
def activate(a: Any, n: Any, first: int, size: int, weight: int, group: Any) -> None:
    """Add the weight of a sensor group to the index of every robot in which it is active."""
    p, q, r, t = (
        group[0] * L.STRIDE + first,
        group[1] * L.STRIDE + first,
        group[2] * L.STRIDE + first,
        group[3] * L.STRIDE + first,
    )
    if group[0] < 0:  # it has no such sensors
        return
    add = i32(weight)
    for i in range(size):
        lowest_input = min(min(a[p + i], a[q + i]), min(a[r + i], a[t + i]))
        n[L.INDEX + i] += add if lowest_input < ZERO else i32(0)


def survey(visits: np.ndarray) -> np.ndarray:
    """Return what HBD needs of the visits (trials, cells) of each trial, int64 (trials, 4).

    That is the sum of all visits, the number of visited cells, and sum and number of those
    visited more often than the average of the visited.  What lies above the average and what
    lies below it have the same sum, so the distance to uniform is what the cells above it have
    too much: whole numbers until the last division.
    """
    counts = np.empty((len(visits), 4), np.int64)
    count_all(np.ascontiguousarray(visits), counts)
    return counts


@entry
def count_all(visits: Any, counts: Any) -> None:
    """Fill in the counts of each trial."""
    trials, cells = visits.shape
    for t in range(trials):
        total = 0
        visited = 0
        for c in range(cells):
            total += visits[t, c]
            visited += visits[t, c] > 0
        fair = total // visited
        above = 0
        many = 0
        for c in range(cells):
            if visits[t, c] > fair:
                above += visits[t, c]
                many += 1
        counts[t] = total, visited, above, many
