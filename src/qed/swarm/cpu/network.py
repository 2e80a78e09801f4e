"""Networks: one synchronous step of every neuron, for all robots that it drives at once."""

from __future__ import annotations

from typing import Any

from qed.compile import loop
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import index
from qed.swarm.cpu.weighing import weigh
from qed.swarm.laws.neuron import GAIN, tanh

TARGET, FIRST_LINK, LINKS = range(3)
LEFT_WHEEL, RIGHT_WHEEL = 16, 17
FIRST_HIDDEN = 18


@loop
def think(b: Any, s: int, cycle: int) -> None:
    """Compute hidden neurons and wheel commands of a segment from its inputs.

    Hidden values lie in two sets of rows: read from one, written to the other, by turns.
    """
    begin = index(b.segments[s, L.MINDS])
    count = index(b.segments[s, L.MIND_COUNT])
    # The last robot of a team writes some lanes of the segment after it.
    apart = count == 1 and (s == 0 or b.segments[s - 1, L.MIND_COUNT] == 1)
    for mind in range(begin, begin + count):
        step(b, b.minds[mind], apart, cycle)


@loop
def step(b: Any, mind: Any, apart: bool, cycle: int) -> None:
    """Let a network think for the lanes it drives, to which no other writes if it is apart."""
    f, a = b.f, b.a
    first = index(mind[L.M_LANE])
    lanes = index(mind[L.M_LANES])
    vectors = lanes // L.VECTOR
    places = b.sources[cycle & 1]
    new = L.HIDDEN + (1 - (cycle & 1)) * b.hidden
    begin = index(mind[L.M_NEURON])
    for u in range(begin, begin + index(mind[L.M_NEURONS])):
        target, link, links = b.neurons[u, TARGET], b.neurons[u, FIRST_LINK], b.neurons[u, LINKS]
        if apart and links == 0 and target >= FIRST_HIDDEN and cycle > 2:
            continue  # a constant: both sets of rows hold it by now
        weigh(
            f, L.SCRATCH, a, first, (places, b.weights, index(link), index(link + links)), vectors
        )
        bias = b.biases[u]
        if target == LEFT_WHEEL:
            for i in range(lanes):
                out = tanh(GAIN * f[L.SCRATCH + i] + bias)
                f[L.LEFT + first + i] = f[L.WHEEL_LEFT + first + i] * out
        elif target == RIGHT_WHEEL:
            for i in range(lanes):
                out = tanh(GAIN * f[L.SCRATCH + i] + bias)
                f[L.RIGHT + first + i] = f[L.WHEEL_RIGHT + first + i] * out
        else:
            at = index((new + target - FIRST_HIDDEN) * L.STRIDE + first)
            for i in range(lanes):
                a[at + i] = tanh(GAIN * f[L.SCRATCH + i] + bias)
