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

from qed.swarm.compile import law
from qed.swarm.cpu.rows import FIRST, PADDED, ROBOTS, SIZE, TRIALS, VECTOR
from qed.swarm.vectors import has_fast_wide_vectors

_WORD = ir.IntType(32)
_FLOATS = ir.VectorType(ir.FloatType(), VECTOR)


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
    return index((length + (VECTOR - 1)) & -VECTOR)


@law
def span(segments: Any, s: int) -> Any:
    """Return first lane, robots, trials, lanes, and lanes with padding of a segment."""
    segment = segments[s]
    return (
        index(segment[FIRST]),
        index(segment[ROBOTS]),
        index(segment[TRIALS]),
        index(segment[SIZE]),
        index(segment[PADDED]),
    )


def below(row: Any, at: int, limit: Any) -> int:
    """Return a word whose bit b tells whether row[at + b] < limit."""
    return sum(1 << b for b in range(VECTOR) if row[at + b] < limit)


def lowest(word: int) -> int:
    """Return the place of the lowest set bit of a word that is not zero."""
    return (word & -word).bit_length() - 1


def ones(word: int) -> int:
    """Return the number of set bits of a word."""
    return word.bit_count()


def squeeze(row: Any, at: int, to: int, word: int) -> None:
    """Copy those of row[at], row[at + 1], ... whose bits are set to ``to``, side by side.

    What lies behind them, up to a whole vector, is spoiled.  ``to`` may be in front of ``at``.
    """
    for b in range(VECTOR):
        if (word >> b) & 1:
            row[to] = row[at + b]
            to += 1


@intrinsic
def _ones(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), generate


@intrinsic
def _squeeze(typing: Any, row: Any, at: Any, to: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, value=args[0])
        vector = ir.VectorType(array.data.type.pointee, VECTOR)

        def there(place: Any) -> Any:
            first = cgutils.gep_inbounds(builder, array.data, place)
            return builder.bitcast(first, vector.as_pointer())

        values = builder.load(there(args[1]))
        values.align = 4
        bits = ir.VectorType(ir.IntType(1), VECTOR)
        chosen = builder.bitcast(builder.trunc(args[3], ir.IntType(VECTOR)), bits)
        kind = "f32" if signature.args[0].dtype == types.float32 else "i32"
        compress = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(vector, [vector, vector, bits]),
            f"llvm.x86.avx512.mask.compress.v{VECTOR}{kind}",
        )
        squeezed = builder.call(compress, [values, values, chosen])
        builder.store(squeezed, there(args[2])).align = 4
        return context.get_dummy_value()

    return types.none(row, types.intp, types.intp, types.int64), generate


@intrinsic
def _below(typing: Any, row: Any, at: Any, limit: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, value=args[0])
        first = cgutils.gep_inbounds(builder, array.data, args[1])
        values = builder.load(builder.bitcast(first, _FLOATS.as_pointer()))
        values.align = 4
        nothing = ir.Constant(_FLOATS, ir.Undefined)
        limits = builder.insert_element(nothing, args[2], _WORD(0))
        same = ir.Constant(ir.VectorType(_WORD, VECTOR), None)
        limits = builder.shuffle_vector(limits, nothing, same)
        bits = builder.bitcast(builder.fcmp_ordered("<", values, limits), ir.IntType(VECTOR))
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


@overload(squeeze, jit_options={"forceinline": True}, strict=False)
def _compiled_squeeze(row, at, to, word):  # type: ignore[no-untyped-def]
    if has_fast_wide_vectors():
        return lambda row, at, to, word: _squeeze(row, at, to, word)

    def one_by_one(row, at, to, word):  # type: ignore[no-untyped-def]
        while word != 0:
            row[to] = row[at + _lowest(word)]
            to += 1
            word &= word - 1

    return one_by_one


@overload(lowest, jit_options={"forceinline": True}, strict=False)
def _compiled_lowest(word):  # type: ignore[no-untyped-def]
    return lambda word: _lowest(word)
