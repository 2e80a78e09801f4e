"""Networks: one synchronous step of every neuron, for all robots that it drives at once.

A weighted sum stays in registers over all links of a neuron: a robot of a team has few lanes, so
that a loop over lanes for each link would cost most at its ends.  The order of the sum is that of
the links, lane by lane, so a team's robot gets the bits that its network gives alone.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from qed.compile import loop
from qed.controller.inputs import FIRST_HIDDEN, LEFT, RIGHT
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import index
from qed.swarm.laws.neuron import GAIN, tanh

TARGET, FIRST_LINK, LINKS = range(3)
AT_ONCE = 4  # vectors
_FLOATS = ir.VectorType(ir.FloatType(), L.VECTOR)


@loop
def step_networks(b: Any, s: int, cycle: int) -> None:
    """Compute hidden neurons and wheel commands of a segment from its inputs.

    Hidden values lie in two sets of rows: read from one, written to the other, by turns.
    """
    begin = index(b.segments[s, L.NETWORK])
    count = index(b.segments[s, L.NETWORK_COUNT])
    # The last robot of a team writes some lanes of the segment after it.
    apart = count == 1 and (s == 0 or b.segments[s - 1, L.NETWORK_COUNT] == 1)
    for k in range(begin, begin + count):
        step_network(b, b.networks[k], apart, cycle)


@loop
def step_network(b: Any, network: Any, apart: bool, cycle: int) -> None:
    """Step a network for the lanes it drives, to which no other writes if it is apart."""
    f, a = b.f, b.a
    first = index(network[L.N_LANE])
    lanes = index(network[L.N_LANES])
    vectors = lanes // L.VECTOR
    places = b.sources[cycle & 1]
    new = L.HIDDEN + (1 - (cycle & 1)) * b.hidden
    begin = index(network[L.N_NEURON])
    for u in range(begin, begin + index(network[L.N_NEURONS])):
        target, link, links = b.neurons[u, TARGET], b.neurons[u, FIRST_LINK], b.neurons[u, LINKS]
        if apart and links == 0 and target >= FIRST_HIDDEN and cycle > 2:
            continue  # a constant: both sets of rows hold it by now
        weigh(
            f, L.SCRATCH, a, first, (places, b.weights, index(link), index(link + links)), vectors
        )
        bias = b.biases[u]
        if target == LEFT:
            for i in range(lanes):
                out = tanh(GAIN * f[L.SCRATCH + i] + bias)
                f[L.LEFT + first + i] = f[L.WHEEL_LEFT + first + i] * out
        elif target == RIGHT:
            for i in range(lanes):
                out = tanh(GAIN * f[L.SCRATCH + i] + bias)
                f[L.RIGHT + first + i] = f[L.WHEEL_RIGHT + first + i] * out
        else:
            at = index((new + target - FIRST_HIDDEN) * L.STRIDE + first)
            for i in range(lanes):
                a[at + i] = tanh(GAIN * f[L.SCRATCH + i] + bias)


def weigh(out: Any, to: int, values: Any, lane: int, links: Any, vectors: int) -> None:
    """Write the sums of so many vectors of lanes, the first one ``lane``, from out[to] on.

    ``links`` are the places of the rows that links read, their weights, and the first link and
    the one after the last.
    """
    places, weights, first, last = links
    for i in range(vectors * L.VECTOR):
        total = out.dtype.type(0.0)
        for e in range(first, last):
            total += weights[e] * values[places[e] + lane + i]
        out[to + i] = total


@intrinsic(prefer_literal=True)
def _weigh(
    typing: Any, out: Any, to: Any, values: Any, lane: Any, places: Any, weights: Any, first: Any,
    last: Any, vectors: Any,
) -> Any:  # fmt: skip
    """Write the sums of one vector of lanes, or of four."""
    count = vectors.literal_value

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def data(k: int) -> Any:
            return context.make_array(signature.args[k])(context, builder, value=args[k]).data

        def vector_at(array: Any, place: Any) -> Any:
            first = cgutils.gep_inbounds(builder, array, place)
            return builder.bitcast(first, _FLOATS.as_pointer())

        source, target, rows, factors = data(2), data(0), data(4), data(5)
        sums = [cgutils.alloca_once(builder, _FLOATS) for _ in range(count)]
        for one in sums:
            builder.store(ir.Constant(_FLOATS, None), one)
        nothing = ir.Constant(_FLOATS, ir.Undefined)
        same = ir.Constant(ir.VectorType(ir.IntType(32), L.VECTOR), None)
        with cgutils.for_range_slice(
            builder, args[6], args[7], args[6].type(1), intp=args[6].type
        ) as (e, _):
            factor = builder.load(cgutils.gep_inbounds(builder, factors, e))
            weight = builder.insert_element(nothing, factor, ir.IntType(32)(0))
            weight = builder.shuffle_vector(weight, nothing, same)
            row = builder.load(cgutils.gep_inbounds(builder, rows, e))
            at = builder.add(builder.zext(row, args[3].type), args[3])
            for k, one in enumerate(sums):
                value = builder.load(vector_at(source, builder.add(at, at.type(k * L.VECTOR))))
                value.align = 4
                builder.store(builder.fadd(builder.load(one), builder.fmul(weight, value)), one)
        for k, one in enumerate(sums):
            place = vector_at(target, builder.add(args[1], args[1].type(k * L.VECTOR)))
            builder.store(builder.load(one), place).align = 4
        return context.get_dummy_value()

    whole = types.intp
    return types.none(out, whole, values, whole, places, weights, whole, whole, vectors), generate


@overload(weigh, jit_options={"forceinline": True}, strict=False)
def _compiled_weigh(out, to, values, lane, links, vectors):  # type: ignore[no-untyped-def]
    def compiled(out, to, values, lane, links, vectors):  # type: ignore[no-untyped-def]
        places, weights, first, last = links
        done = 0
        while done + AT_ONCE <= vectors:
            at = done * L.VECTOR
            _weigh(out, to + at, values, lane + at, places, weights, first, last, 4)
            done += AT_ONCE
        while done < vectors:
            at = done * L.VECTOR
            _weigh(out, to + at, values, lane + at, places, weights, first, last, 1)
            done += 1

    return compiled
