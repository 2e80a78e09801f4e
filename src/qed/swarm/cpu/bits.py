"""Lists from dense rows: sixteen comparisons at once become the bits of a word.

Each function has a plain body that says what it means; compiled code takes a few machine
instructions instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from qed.compile import law
from qed.swarm.cpu import layout as L

_WORD = ir.IntType(32)
_FLOATS = ir.VectorType(ir.FloatType(), L.VECTOR)


@law
def index(value: Any) -> Any:
    """Return a whole number as an index that the compiler knows is not negative.

    Otherwise it provides for indices that count from the end, and vector code is lost.
    """
    return np.int64(np.uint32(value))


@law
def whole(length: Any) -> Any:
    """Return the length of a list, or of a stretch of lanes, rounded up to whole vectors.

    Rows are long enough for it.  What arithmetic makes of the entries that are too many is never
    read, but without them the last few of a list would cost as much as all others.
    """
    return index((length + (L.VECTOR - 1)) & -L.VECTOR)


@law
def span(segments: Any, s: int) -> Any:
    """Return first lane, robots, trials, lanes, and lanes with padding of a segment."""
    segment = segments[s]
    return (
        index(segment[L.FIRST]),
        index(segment[L.ROBOTS]),
        index(segment[L.TRIALS]),
        index(segment[L.SIZE]),
        index(segment[L.PADDED]),
    )


def below(row: Any, at: int, limit: Any) -> int:
    """Return a word whose bit b tells whether row[at + b] < limit."""
    return sum(1 << b for b in range(L.VECTOR) if row[at + b] < limit)


def lowest(word: int) -> int:
    """Return the place of the lowest set bit of a word that is not zero."""
    return (word & -word).bit_length() - 1


def ones(word: int) -> int:
    """Return the number of set bits of a word."""
    return word.bit_count()


@intrinsic
def _ones(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), generate


@intrinsic
def _below(typing: Any, row: Any, at: Any, limit: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, value=args[0])
        first = cgutils.gep_inbounds(builder, array.data, args[1])
        values = builder.load(builder.bitcast(first, _FLOATS.as_pointer()))
        values.align = 4
        nothing = ir.Constant(_FLOATS, ir.Undefined)
        limits = builder.insert_element(nothing, args[2], _WORD(0))
        same = ir.Constant(ir.VectorType(_WORD, L.VECTOR), None)
        limits = builder.shuffle_vector(limits, nothing, same)
        bits = builder.bitcast(builder.fcmp_ordered("<", values, limits), ir.IntType(L.VECTOR))
        return builder.zext(bits, ir.IntType(64))

    return types.int64(row, types.intp, types.float32), generate


@intrinsic
def _lowest(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), generate


@overload(below, jit_options={"forceinline": True}, strict=False)
def _compiled_below(row, at, limit):  # type: ignore[no-untyped-def]
    return lambda row, at, limit: _below(row, at, limit)


@overload(ones, jit_options={"forceinline": True}, strict=False)
def _compiled_ones(word):  # type: ignore[no-untyped-def]
    return lambda word: _ones(word)


@overload(lowest, jit_options={"forceinline": True}, strict=False)
def _compiled_lowest(word):  # type: ignore[no-untyped-def]
    return lambda word: _lowest(word)
