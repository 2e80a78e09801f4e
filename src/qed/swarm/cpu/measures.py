"""What the tasks add up in each cycle, after motion."""

import math
from typing import Any

from numpy import float32 as f32
from numpy import int32 as i32

from qed.compile import loop
from qed.swarm import environment_row as E
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import below, index, lowest, span
from qed.swarm.laws.scoring import FULL, GRID, faded, flock, on_border
from qed.swarm.robot import CYCLE

PER_CYCLE = f32(1.0 / CYCLE)
ZERO = f32(0.0)


@loop
def aggregation(b: Any, s: int) -> None:
    """Add each robot's distance to the centre of its swarm (m)."""
    f = b.f
    first, robots, trials, _, _ = span(b.segments, s)
    share = f32(1.0) / f32(robots)
    for t in range(trials):
        f[L.MEAN_X + t] = ZERO
        f[L.MEAN_Y + t] = ZERO
    for r in range(robots):
        at = first + r * trials
        for t in range(trials):
            f[L.MEAN_X + t] += f[L.X + at + t] * share
            f[L.MEAN_Y + t] += f[L.Y + at + t] * share
    for r in range(robots):
        at = first + r * trials
        for t in range(trials):
            dx = f[L.X + at + t] - f[L.MEAN_X + t]
            dy = f[L.Y + at + t] - f[L.MEAN_Y + t]
            f[L.AGGREGATION + at + t] += math.sqrt(dx * dx + dy * dy)


@loop
def nearest_others(b: Any, s: int) -> None:
    """Find each robot's distance to its nearest other robot (m), 0 if it is alone."""
    f, w = b.f, b.w
    first, robots, trials, size, _ = span(b.segments, s)
    at_x, at_y = L.WIDE_X + 2 * first, L.WIDE_Y + 2 * first
    farthest = f32(1e9) if robots > 1 else ZERO
    for i in range(size):
        f[L.NEAREST + first + i] = farthest
    for k in range(1, robots):
        shift = index(k * trials)
        for i in range(size):
            dx = w[at_x + shift + i] - w[at_x + i]
            dy = w[at_y + shift + i] - w[at_y + i]
            f[L.NEAREST + first + i] = min(f[L.NEAREST + first + i], dx * dx + dy * dy)
    for i in range(size):
        f[L.NEAREST + first + i] = math.sqrt(f[L.NEAREST + first + i])


@loop
def dispersion(b: Any, s: int) -> None:
    """Add each robot's distance to its nearest other robot (m)."""
    f = b.f
    first, _, _, size, _ = span(b.segments, s)
    for i in range(size):
        f[L.DISPERSION + first + i] += f[L.NEAREST + first + i]


@loop
def speeds(b: Any, s: int) -> None:
    """Find each robot's motion along its old heading, as a fraction of its top speed."""
    f = b.f
    first, _, _, _, lanes = span(b.segments, s)
    scale = PER_CYCLE / b.limits[s, E.SPEED]
    for i in range(lanes):
        dx = f[L.X + first + i] - f[L.OLD_X + first + i]
        dy = f[L.Y + first + i] - f[L.OLD_Y + first + i]
        along = dx * f[L.OLD_COS + first + i] + dy * f[L.OLD_SIN + first + i]
        f[L.SPEED + first + i] = along * scale


@loop
def widen_motion(b: Any, s: int) -> None:
    """Lay headings and speeds of a segment out twice, end to end."""
    f, w = b.f, b.w
    first, _, _, size, _ = span(b.segments, s)
    at = 2 * first
    for i in range(size):
        w[L.WIDE_HEADING + at + i] = f[L.OLD_HEADING + first + i]
        w[L.WIDE_SPEED + at + i] = f[L.SPEED + first + i]
        w[L.WIDE_HEADING + at + size + i] = f[L.OLD_HEADING + first + i]
        w[L.WIDE_SPEED + at + size + i] = f[L.SPEED + first + i]


@loop
def flocking(b: Any, s: int) -> None:
    """Add, to the first robot of each pair, what the pair is worth."""
    f, w = b.f, b.w
    first, robots, trials, size, _ = span(b.segments, s)
    at = 2 * first
    for k in range(1, robots // 2 + 1):
        shift = index(k * trials)
        lanes = size // 2 if 2 * k == robots else size
        for i in range(lanes):
            dx = w[L.WIDE_X + at + shift + i] - w[L.WIDE_X + at + i]
            dy = w[L.WIDE_Y + at + shift + i] - w[L.WIDE_Y + at + i]
            f[L.FLOCKING + first + i] += flock(
                dx * dx + dy * dy,
                w[L.WIDE_HEADING + at + shift + i] - w[L.WIDE_HEADING + at + i],
                w[L.WIDE_SPEED + at + i],
                w[L.WIDE_SPEED + at + shift + i],
            )


@loop
def patrolling(b: Any, s: int, cycle: int) -> None:
    """Note which robots entered another cell; between such events a cell's value is known."""
    f, n = b.f, b.n
    first, _, _, size, _ = span(b.segments, s)
    per_cell = f32(GRID) / b.limits[s, E.SIDE]
    for i in range(size):
        column = min(i32(f[L.X + first + i] * per_cell), i32(GRID - 1))
        row = min(i32(f[L.Y + first + i] * per_cell), i32(GRID - 1))
        cell = column * i32(GRID) + row
        n[L.INDEX + i] = cell
        f[L.SCRATCH + i] = f32(1.0) if cell == n[L.CELL + first + i] else f32(-1.0)
    for start in range(0, size, L.VECTOR):
        word = below(f, L.SCRATCH + start, ZERO) & ((1 << min(size - start, L.VECTOR)) - 1)
        while word != 0:
            i = start + lowest(word)
            word &= word - 1
            trial = index(b.segments[s, L.FIRST_TRIAL]) + n[L.TRIAL + first + i] - first
            if n[L.CELL + first + i] >= 0:
                leave(b, trial, n[L.CELL + first + i], cycle)
            enter(b, trial, n[L.INDEX + i], cycle)
            n[L.CELL + first + i] = n[L.INDEX + i]


@loop
def enter(b: Any, trial: int, cell: int, cycle: int) -> None:
    """Count a robot in; the first one ends the fading of its cell."""
    if b.crowd[trial, cell] == 0:
        if b.since[trial, cell] > 0:
            add(b.patrol, trial, cell, faded(cycle - b.since[trial, cell]))
        b.since[trial, cell] = cycle
    b.crowd[trial, cell] += 1


@loop
def leave(b: Any, trial: int, cell: int, cycle: int) -> None:
    """Count a robot out; the last one starts the fading of its cell, from the cycle before."""
    b.crowd[trial, cell] -= 1
    if b.crowd[trial, cell] == 0:
        add(b.patrol, trial, cell, FULL * (cycle - 1 - b.since[trial, cell]))
        b.since[trial, cell] = cycle - 1


@loop
def add(patrol: Any, trial: int, cell: int, value: int) -> None:
    """Add to patrolling, and to border-patrolling where the cell is on the border."""
    patrol[trial, 0] += value
    if on_border(cell):
        patrol[trial, 1] += value


@loop
def patrolled(b: Any, trial: int, border: int, cycles: int) -> Any:
    """Return a trial's summed cell values after so many cycles, in cells x cycles."""
    total = b.patrol[trial, border]
    for cell in range(GRID * GRID):
        since = b.since[trial, cell]
        if since > 0 and (border == 0 or on_border(cell)):
            stay = cycles + 1 - since
            total += FULL * stay if b.crowd[trial, cell] > 0 else faded(stay)
    return total / FULL
