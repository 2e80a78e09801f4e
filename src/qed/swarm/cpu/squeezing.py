"""Compressing a row: the entries whose bits are set come to lie side by side, in order.

CPUs differ in how they do that to a whole vector: with an instruction (AVX-512), with a table of
permutations of half a vector (AVX2), or else one by one.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import lowest
from qed.vectors import has, has_fast_wide_vectors

HALF = L.VECTOR // 2
_INT = ir.IntType(32)
_BITS = ir.VectorType(ir.IntType(1), L.VECTOR)
_HALF = ir.VectorType(_INT, HALF)
_PERMUTATIONS = [[b for b in range(HALF) if word >> b & 1] for word in range(1 << HALF)]


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
        vector = ir.VectorType(_INT, L.VECTOR)
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
            ir.Constant(_HALF, [_INT(b) for b in (some + HALF * [0])[:HALF]])
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
            order = builder.load(builder.gep(table, [_INT(0), bits], inbounds=True))
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
