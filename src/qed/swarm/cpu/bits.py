"""Lists from dense rows: sixteen comparisons become the bits of a word, which compresses a row.

A stage of a cycle is a dense pass that marks what matters (``below``), a compressed list of that
(``squeeze``), a vectorised pass over the list, and a scalar scatter of its results.  Lists and
stretches are whole vectors: entries that are too many are computed and never read.

Each function has a plain body that says what it means; compiled code takes a few machine
instructions instead.  CPUs differ in how they compress a vector: with an instruction (AVX-512),
with a table of permutations of half a vector (AVX2), or else one by one.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from qed.compile import has, has_fast_wide_vectors, inlined
from qed.swarm.cpu import layout as L

_WORD = ir.IntType(32)
_FLOATS = ir.VectorType(ir.FloatType(), L.VECTOR)
HALF = L.VECTOR // 2
_BITS = ir.VectorType(ir.IntType(1), L.VECTOR)
_HALF = ir.VectorType(_WORD, HALF)
_PERMUTATIONS = [[b for b in range(HALF) if word >> b & 1] for word in range(1 << HALF)]


@inlined
def index(value: Any) -> Any:
    """Return a whole number as an index that the compiler knows is not negative.

    Otherwise it provides for indices that count from the end, and vector code is lost.
    """
    return np.int64(np.uint32(value))


@inlined
def round_up(length: Any) -> Any:
    """Return the length of a list, or of a stretch of lanes, rounded up to whole vectors.

    Rows are long enough for it.  What arithmetic makes of the entries that are too many is never
    read, but without them the last few of a list would cost as much as all others.
    """
    return index((length + (L.VECTOR - 1)) & -L.VECTOR)


@inlined
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


def squeeze(row: Any, at: int, to: int, word: int) -> None:
    """Copy those of row[at], row[at + 1], ... whose bits are set to ``to``, side by side.

    What lies behind them, up to a whole vector, is spoiled.  ``to`` may be in front of ``at``.
    """
    for b in range(L.VECTOR):
        if (word >> b) & 1:
            row[to] = row[at + b]
            to += 1


def _pointer(builder: Any, data: Any, place: Any, kind: Any) -> Any:
    """Return a pointer to a vector at a place of an array."""
    first = cgutils.gep_inbounds(builder, data, place)
    return builder.bitcast(first, kind.as_pointer())


@intrinsic
def _by_instruction(typing: Any, row: Any, at: Any, to: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, value=args[0]).data
        vector = ir.VectorType(_WORD, L.VECTOR)
        values = builder.load(_pointer(builder, data, args[1], vector))
        values.align = 4
        chosen = builder.bitcast(builder.trunc(args[3], ir.IntType(L.VECTOR)), _BITS)
        compress = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(vector, [vector, vector, _BITS]),
            f"llvm.x86.avx512.mask.compress.v{L.VECTOR}i32",
        )
        squeezed = builder.call(compress, [values, values, chosen])
        builder.store(squeezed, _pointer(builder, data, args[2], vector)).align = 4
        return context.get_dummy_value()

    return types.none(row, types.intp, types.intp, types.int64), generate


@intrinsic
def _by_table(typing: Any, row: Any, at: Any, to: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, value=args[0]).data
        permutations = [
            ir.Constant(_HALF, [_WORD(b) for b in (some + HALF * [0])[:HALF]])
            for some in _PERMUTATIONS
        ]
        content = ir.Constant(ir.ArrayType(_HALF, len(permutations)), permutations)
        table = cgutils.global_constant(builder, "permutations", content)
        permute = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_HALF, [_HALF, _HALF]), "llvm.x86.avx2.permd"
        )
        at, to, word = args[1:]
        low = builder.and_(word, word.type((1 << HALF) - 1))
        high = builder.and_(builder.lshr(word, word.type(HALF)), word.type((1 << HALF) - 1))
        places = (at, builder.add(at, at.type(HALF)))
        halves = [builder.load(_pointer(builder, data, place, _HALF)) for place in places]
        targets = (to, builder.add(to, builder.ctpop(low)))
        for half, bits, target in zip(halves, (low, high), targets, strict=True):
            half.align = 4
            order = builder.load(builder.gep(table, [_WORD(0), bits], inbounds=True))
            squeezed = builder.call(permute, [half, order])
            builder.store(squeezed, _pointer(builder, data, target, _HALF)).align = 4
        return context.get_dummy_value()

    return types.none(row, types.intp, types.intp, types.int64), generate


def _one_by_one(row, at, to, word):  # type: ignore[no-untyped-def]
    while word != 0:
        row[to] = row[at + lowest(word)]
        to += 1
        word &= word - 1


@overload(squeeze, jit_options={"forceinline": True}, strict=False)
def _compiled_squeeze(row, at, to, word):  # type: ignore[no-untyped-def]
    if has_fast_wide_vectors():
        return lambda row, at, to, word: _by_instruction(row, at, to, word)
    if has("avx2"):
        return lambda row, at, to, word: _by_table(row, at, to, word)
    return _one_by_one
