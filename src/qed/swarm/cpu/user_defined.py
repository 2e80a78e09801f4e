"""Laws of users in the loop: each is compiled by itself, and called by its address.

So the simulator is not compiled anew for a new law: that would take half a minute, the law alone
takes a moment.  Its machine code is kept in the user's cache, in a folder named by what makes it.
"""

import math
from functools import cache
from types import CellType, FunctionType, ModuleType
from typing import Any

from llvmlite import ir
from numba import carray, cfunc, config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy import float32 as f32
from numpy import float64 as f64

from qed.compile import INNER, LAWS, OPTIONS, code_cache, kept_in, loop, robot_folder
from qed.controller.inputs import CONSTANT, FIRST_RAB
from qed.swarm import environment_row as E
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import index, span
from qed.swarm.laws.geometry import wrap
from qed.swarm.laws.sensing import CONES
from qed.swarm.robot import CYCLE
from qed.swarm.user_defined import Law

_ROWS = types.CPointer(types.float32)
_WHOLE, _REAL = types.int64, types.float64
# The rows of a block (floats, wide rows, activations, a law's sums); then first lane, robots,
# trials, lanes; then side (m), top speed (m/s), time (s).
SIGNATURE = types.void(*[_ROWS] * 4, types.CPointer(_WHOLE), types.CPointer(_REAL))
WHOLES, REALS = 4, 3
# An array made of a pointer is counted, though nobody else holds it.
_OPTIONS = {**OPTIONS, "_nrt": True}
PER_CYCLE = 1.0 / CYCLE
_FOLDER = robot_folder()  # of the robot that this module is made for


def law(*_: Any) -> Any:
    """Stand for a user's law; ``address`` puts the law in its place."""
    raise NotImplementedError


def robots_stage(floats, _wide, inputs, sums, wholes, reals):  # type: ignore[no-untyped-def]
    """Add, for each robot, what a law gives."""
    f = carray(floats, (L.FLOAT_ROWS * L.STRIDE,))
    a = carray(inputs, (CONSTANT * L.STRIDE,))
    added = carray(sums, (L.STRIDE,))
    numbers, limits = carray(wholes, (WHOLES,)), carray(reals, (REALS,))
    first, robots, size = numbers[0], numbers[1], numbers[3]
    side, top, time = limits[0], limits[1], limits[2]
    at = index(first)
    for i in range(index(size)):
        nearest_input = f32(1.0)
        for s in range(FIRST_RAB):
            nearest_input = min(nearest_input, a[L.PROXIMITY + s * L.STRIDE + at + i])
        heard = 0
        for c in range(CONES):
            heard += 1 if a[L.RAB + c * L.STRIDE + at + i] < f32(1.0) else 0
        added[at + i] += f32(
            law(
                f64(f[L.X + at + i]),
                f64(f[L.Y + at + i]),
                f64(f[L.HEADING + at + i]),
                f64(f[L.SPEED + at + i]),
                f64(wrap(f[L.HEADING + at + i] - f[L.OLD_HEADING + at + i])) * PER_CYCLE,
                side,
                f64(robots),
                top,
                f64(f[L.NEAREST + at + i]),
                0.5 * (1.0 - f64(nearest_input)),
                f64(heard),
                time,
            )
        )


def pairs_stage(_floats, wide, _inputs, sums, wholes, _reals):  # type: ignore[no-untyped-def]
    """Add, to the first robot of each pair, what a law gives."""
    w = carray(wide, (L.WIDE_ROWS * L.WIDE,))
    added = carray(sums, (L.STRIDE,))
    numbers = carray(wholes, (WHOLES,))
    first, robots, trials, size = numbers[0], numbers[1], numbers[2], numbers[3]
    at = index(first)
    here = index(2 * first)
    for k in range(1, index(robots) // 2 + 1):
        shift = index(k * trials)
        lanes = index(size) // 2 if 2 * k == robots else index(size)
        for i in range(lanes):
            dx = w[L.WIDE_X + here + shift + i] - w[L.WIDE_X + here + i]
            dy = w[L.WIDE_Y + here + shift + i] - w[L.WIDE_Y + here + i]
            added[at + i] += f32(
                law(
                    f64(math.sqrt(dx * dx + dy * dy)),
                    f64(wrap(w[L.WIDE_HEADING + here + shift + i] - w[L.WIDE_HEADING + here + i])),
                    f64(w[L.WIDE_SPEED + here + i]),
                    f64(w[L.WIDE_SPEED + here + shift + i]),
                )
            )


def _hypot(x: Any, y: Any) -> Any:
    """Return a distance; Numba's own ``hypot`` has branches, which cost a law its vectors."""
    return math.sqrt(x * x + y * y)


hypot = njit(**INNER)(_hypot)
_MATH = ModuleType("math")
_MATH.__dict__.update(vars(math), hypot=hypot)


@cache
def _inlined(function: FunctionType) -> Any:
    """Compile a user's function, and those it calls, to be inlined."""

    def ours(value: Any) -> Any:
        if value is math or value is math.hypot:
            return _MATH if value is math else hypot
        return _inlined(value) if isinstance(value, FunctionType) and value in LAWS else value

    # What the cache keeps names the module, which need not be there where it is used again.
    scope = {**function.__globals__, "__name__": __name__}
    for name in function.__code__.co_names:
        if name in scope:
            scope[name] = ours(scope[name])
    cells = tuple(CellType(ours(cell.cell_contents)) for cell in function.__closure__ or ())
    copy = FunctionType(function.__code__, scope, function.__name__, None, cells)
    return njit(**INNER)(copy)


@cache
def _compiled(found: Law) -> Any:
    """Return the loop over a law, compiled or taken from the cache."""
    whole = found.adapted(_inlined(found.function))
    stage = robots_stage if found.over == "robots" else pairs_stage
    scope = {**stage.__globals__, "law": njit(**INNER)(whole)}
    copy = FunctionType(stage.__code__, scope, stage.__name__)
    with kept_in(code_cache() / _FOLDER / f"own-{found.digest}", config) as can:
        return cfunc(SIGNATURE, cache=can, **_OPTIONS)(copy)


def address(found: Law) -> int:
    """Return the address of the machine code that adds up a law in a segment."""
    return int(_compiled(found).address)


@intrinsic
def _call(typing: Any, place: Any, rows: Any, row: Any, whole: Any, real: Any) -> Any:
    """Call the machine code at an address: with rows of a block, whole and real numbers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = cgutils.unpack_tuple(builder, args[1], len(rows))
        given = [
            context.make_array(kind)(context, builder, value=value).data
            for kind, value in zip(rows, arrays, strict=True)
        ]
        given[-1] = cgutils.gep_inbounds(builder, given[-1], args[2])
        for numbers in args[3:]:
            kept = cgutils.alloca_once_value(builder, numbers)
            given.append(builder.bitcast(kept, numbers.type.element.as_pointer()))
        kind = ir.FunctionType(ir.VoidType(), [value.type for value in given])
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), given)
        return context.get_dummy_value()

    wholes, reals = types.UniTuple(_WHOLE, WHOLES), types.UniTuple(_REAL, REALS)
    return types.void(types.int64, rows, types.intp, wholes, reals), generate


@loop
def user_defined_laws(b: Any, s: int, cycle: int) -> None:
    """Add up all laws of users in a segment."""
    first, robots, trials, size, _ = span(b.segments, s)
    side, top = f64(b.limits[s, E.SIDE]), f64(b.limits[s, E.SPEED])
    for k in range(b.laws.shape[0]):
        _call(
            b.laws[k],
            (b.f, b.w, b.a, b.user_sums),
            k * L.USER_ROWS,
            (first, robots, trials, size),
            (side, top, cycle * CYCLE),
        )
