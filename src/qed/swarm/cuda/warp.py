"""What the lanes of a warp do together.

Numba's CUDA simulator knows no warps: there 32 threads wait for each other, and a vote goes through
shared memory; all lanes must come to every vote.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import float32 as f32
from numpy import int32 as i32
from numpy import uint32 as u32

from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import SIMULATED, cuda, stage

ALL = 0xFFFFFFFF


class Warp(NamedTuple):
    """What a lane knows of its warp."""

    sf: Any  # shared memory as floats
    si: Any  # the same as whole numbers
    base: Any  # where the warp's part of it begins
    lane: Any
    me: Any  # the lane's place in a row
    before: Any  # a bit for each lane before this one


if SIMULATED:
    import threading

    PATIENCE = 60.0  # s; a lane that never comes has failed
    _barriers: dict[int, threading.Barrier] = {}

    @stage
    def together() -> None:
        """Wait until all lanes have written what they write."""
        number = int(cuda.threadIdx.x) >> 5
        _barriers.setdefault(number, threading.Barrier(32)).wait(PATIENCE)

    @stage
    def in_phase() -> None:
        """Wait for the other warps of the block."""
        cuda.syncthreads()

    @stage
    def ballot(warp: Warp, yes: Any) -> Any:
        """Return a bit for each lane that says yes."""
        si, base = warp.si, warp.base
        si[L.VOTE + warp.me] = 1 if yes else 0
        together()
        word = 0
        for other in range(32):
            word |= int(si[base + L.VOTE + other]) << other
        together()
        return u32(word)

    def count(word: Any) -> Any:
        """Return the number of bits set."""
        return i32(int(word).bit_count())

    def lowest(word: Any) -> Any:
        """Return the place of the lowest bit set."""
        return i32((int(word) & -int(word)).bit_length() - 1)

    def at(value: Any) -> Any:
        """Return an index that is known not to be negative."""
        return int(value)

    def bits_of(value: Any) -> Any:
        """Return the bits of a float as a whole number."""
        return f32(value).view(i32)

    def two_of(word: Any) -> Any:
        """Return the upper half of 64 bits as an index, and the lower half as a float."""
        low, high = np.array([word], np.int64).view(np.int32)
        return int(high), low.view(f32)

    def rolled(value: Any) -> Any:
        """Return a loop's counter."""
        return value

    def push_sign(word: Any, value: Any) -> Any:
        """Return a word one place up, with the sign of a float as its lowest bit."""
        return u32((int(word) << 1 | int(value < 0)) & ALL)

else:
    from llvmlite import ir
    from numba import types
    from numba.cuda.extending import intrinsic

    @stage
    def ballot(warp, yes):
        """Return a bit for each lane that says yes."""
        return u32(cuda.ballot_sync(ALL, yes))

    @stage
    def together():
        """Wait until all lanes have written what they write."""
        cuda.syncwarp(ALL)

    @stage
    def in_phase():
        """Wait for the other warps of the block.

        The kernel has twice the code that the nearest cache holds; warps in the same phase run
        the same half of it.
        """
        cuda.syncthreads()

    @stage
    def count(word):
        """Return the number of bits set."""
        return i32(cuda.popc(u32(word)))

    @stage
    def lowest(word):
        """Return the place of the lowest bit set."""
        return i32(cuda.ffs(u32(word))) - i32(1)

    @intrinsic
    def at(context, value):
        """Return an index that the compiler knows is not negative."""

        def code(context, builder, signature, arguments):
            [number] = arguments
            if number.type.width > 32:
                number = builder.trunc(number, ir.IntType(32))
            wide = builder.sext(number, ir.IntType(64))
            assume = builder.module.declare_intrinsic(
                "llvm.assume", (), ir.FunctionType(ir.VoidType(), [ir.IntType(1)])
            )
            builder.call(assume, [builder.icmp_signed(">=", wide, ir.Constant(wide.type, 0))])
            return wide

        return types.int64(value), code

    @intrinsic
    def bits_of(context, value):
        """Return the bits of a float as a whole number."""

        def code(context, builder, signature, arguments):
            return builder.bitcast(arguments[0], ir.IntType(32))

        return types.int32(types.float32), code

    @intrinsic
    def two_of(context, word):
        """Return the upper half of 64 bits as an index, and the lower half as a float."""

        def code(context, builder, signature, arguments):
            whole, real = ir.IntType(32), ir.FloatType()
            halves = ir.FunctionType(ir.LiteralStructType([real, whole]), [ir.IntType(64)])
            two = builder.asm(halves, "mov.b64 {$0, $1}, $2;", "=f,=r,l", arguments, False)
            high = builder.zext(builder.extract_value(two, 1), ir.IntType(64))
            low = builder.extract_value(two, 0)
            return context.make_tuple(builder, signature.return_type, (high, low))

        return types.Tuple((types.int64, types.float32))(types.int64), code

    @intrinsic
    def rolled(context, value):
        """Return a loop's counter, hidden from the compiler: it shall not unroll the loop.

        To be called first in the loop.  An H200 runs loops of up to 32 KB of code, 2048
        instructions, from its nearest cache; beyond that warps wait for their instructions.
        """

        def code(context, builder, signature, arguments):
            whole = ir.IntType(32)
            hide = ir.FunctionType(whole, [whole])
            return builder.asm(hide, r".pragma \22nounroll\22;", "=r,0", arguments, False)

        return types.int32(types.int32), code

    @intrinsic
    def push_sign(context, word, value):
        """Return a word one place up, with the sign of a float as its lowest bit."""

        def code(context, builder, signature, arguments):
            whole = ir.IntType(32)
            low = builder.bitcast(arguments[1], whole)
            shift = builder.module.declare_intrinsic(
                "llvm.fshl", [whole], ir.FunctionType(whole, [whole] * 3)
            )
            return builder.call(shift, [arguments[0], low, ir.Constant(whole, 1)])

        return types.uint32(types.uint32, types.float32), code
