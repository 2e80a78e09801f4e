"""Networks: one synchronous step of every neuron, for all robots of a controller at once."""

from __future__ import annotations

from typing import Any

from numpy import float32 as f32

from qed.compile import loop
from qed.swarm.cpu.bits import index, span
from qed.swarm.cpu.layout import (
    HIDDEN,
    LEFT,
    NEURON_COUNT,
    NEURONS,
    RIGHT,
    SCRATCH,
    STRIDE,
    WHEEL_LEFT,
    WHEEL_RIGHT,
)
from qed.swarm.laws.neuron import GAIN, tanh

TARGET, FIRST_LINK, LINKS = range(3)
LEFT_WHEEL, RIGHT_WHEEL = 16, 17
FIRST_HIDDEN = 18


@loop
def think(b: Any, s: int, cycle: int) -> None:
    """Compute hidden neurons and wheel commands of a segment from its inputs.

    Hidden values lie in two sets of rows: read from one, written to the other, by turns.
    """
    f, a = b.f, b.a
    segment = b.segments[s]
    first, _, _, _, lanes = span(b.segments, s)
    old = HIDDEN + (cycle & 1) * b.hidden
    new = HIDDEN + (1 - (cycle & 1)) * b.hidden
    begin = index(segment[NEURONS])
    for u in range(begin, begin + index(segment[NEURON_COUNT])):
        target, link, links = b.neurons[u, TARGET], b.neurons[u, FIRST_LINK], b.neurons[u, LINKS]
        if links == 0 and target >= FIRST_HIDDEN and cycle > 2:
            continue  # a constant: both sets of rows hold it by now
        for i in range(lanes):
            f[SCRATCH + i] = f32(0.0)
        for e in range(link, link + links):
            source = b.sources[e]
            row = source if source < HIDDEN else old + (source - FIRST_HIDDEN)
            weight = b.weights[e]
            at = index(row * STRIDE + first)
            for i in range(lanes):
                f[SCRATCH + i] += weight * a[at + i]
        bias = b.biases[u]
        if target == LEFT_WHEEL:
            for i in range(lanes):
                out = tanh(GAIN * f[SCRATCH + i] + bias)
                f[LEFT + first + i] = f[WHEEL_LEFT + first + i] * out
        elif target == RIGHT_WHEEL:
            for i in range(lanes):
                out = tanh(GAIN * f[SCRATCH + i] + bias)
                f[RIGHT + first + i] = f[WHEEL_RIGHT + first + i] * out
        else:
            at = index((new + target - FIRST_HIDDEN) * STRIDE + first)
            for i in range(lanes):
                a[at + i] = tanh(GAIN * f[SCRATCH + i] + bias)
