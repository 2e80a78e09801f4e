"""Gathers: what lists of robots look up, a vector of entries at a time.

Numbers that are looked up together lie side by side in a *table*, two or four for each entry.  So
one load fetches them all and shuffles sort them into rows, where a plain loop needs a load and a
store for each number, which took longer than the arithmetic between.  Lists are whole vectors:
``pad`` fills them up with a place that may be looked up.

Each function has a plain body that says what it means; compiled code takes a few machine
instructions instead, the same on every CPU.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from qed.compile import loop
from qed.swarm.cpu import layout as L

_WORD, _LONG, _FLOAT = ir.IntType(32), ir.IntType(64), ir.FloatType()
_FLOATS = ir.VectorType(_FLOAT, L.VECTOR)
_FOUR = ir.VectorType(_FLOAT, 4)
_TWO = ir.DoubleType()  # two floats that move together
_GROUPS = L.VECTOR // 4


@loop
def pad(m: Any, row: int, length: int, place: int) -> None:
    """Go on with a list of places for a whole vector."""
    for b in range(L.VECTOR):
        m[row + length + b] = place


def interleave(table: Any, first: int, rows: Any, x: int, y: int) -> None:
    """Write vectors of two rows, from x and from y on, as a table's entries of two numbers."""
    for b in range(L.VECTOR):
        table[first + 2 * b], table[first + 2 * b + 1] = rows[x + b], rows[y + b]


def interleave_four(table: Any, first: int, rows: Any, of: int, apart: int) -> None:
    """Write a vector of four rows that lie ``apart`` as entries of four numbers."""
    for b in range(L.VECTOR):
        for j in range(4):
            table[first + 4 * b + j] = rows[of + j * apart + b]


def gather_two(
    table: Any, first: int, width: int, m: Any, at: int, out: Any, x: int, y: int
) -> None:
    """Write the first two numbers of a vector of entries from out[x] and from out[y] on.

    Entry e of a table begins at ``first + width * e``; the entries are listed from m[at] on.
    """
    for b in range(L.VECTOR):
        entry = first + width * m[at + b]
        out[x + b], out[y + b] = table[entry], table[entry + 1]


def gather_way(
    table: Any, first: int, width: int, m: Any, at: int, to: int, out: Any, x: int, y: int
) -> None:
    """Write how the first two numbers of the entries from m[to] on exceed those from m[at] on."""
    for b in range(L.VECTOR):
        here, there = first + width * m[at + b], first + width * m[to + b]
        out[x + b] = table[there] - table[here]
        out[y + b] = table[there + 1] - table[here + 1]


def gather_four(table: Any, first: int, m: Any, at: int, out: Any, to: int, apart: int) -> None:
    """Write the four numbers of each of a vector of entries to rows that lie ``apart``."""
    for b in range(L.VECTOR):
        for j in range(4):
            out[to + j * apart + b] = table[first + 4 * m[at + b] + j]


def scatter_four(table: Any, first: int, m: Any, at: int, rows: Any, of: int, apart: int) -> None:
    """Write rows that lie ``apart`` to the four numbers of each of a vector of entries."""
    for b in range(L.VECTOR):
        for j in range(4):
            table[first + 4 * m[at + b] + j] = rows[of + j * apart + b]


class _Code:
    """Writes code: what the intrinsics have in common."""

    def __init__(self, context: Any, builder: Any, signature: Any) -> None:
        self.context, self.builder, self.signature = context, builder, signature

    def memory(self, array: int, value: Any) -> Any:
        """Return where an array begins, the argument of this number."""
        kind = self.signature.args[array]
        return self.context.make_array(kind)(self.context, self.builder, value=value).data

    def load(self, memory: Any, place: Any, kind: Any) -> Any:
        """Return what begins at a place."""
        at = cgutils.gep_inbounds(self.builder, memory, place)
        value = self.builder.load(self.builder.bitcast(at, kind.as_pointer()))
        value.align = 4
        return value

    def store(self, value: Any, memory: Any, place: Any) -> None:
        """Write a value from a place on."""
        at = cgutils.gep_inbounds(self.builder, memory, place)
        self.builder.store(value, self.builder.bitcast(at, value.type.as_pointer())).align = 4

    def after(self, place: Any, by: int) -> Any:
        """Return a place some numbers further on."""
        return self.builder.add(place, place.type(by))

    def entries(self, places: Any, at: Any, first: Any, width: Any) -> list[Any]:
        """Return where the listed entries of a table begin."""
        found = []
        for b in range(L.VECTOR):
            entry = self.builder.zext(self.load(places, self.after(at, b), _WORD), _LONG)
            found.append(self.builder.add(first, self.builder.mul(entry, width)))
        return found

    def shuffle(self, one: Any, two: Any, order: list[int]) -> Any:
        """Return a vector of what is at these places of two vectors, end to end."""
        mask = ir.Constant(ir.VectorType(_WORD, len(order)), order)
        return self.builder.shuffle_vector(one, two, mask)

    def joined(self, parts: list[Any]) -> Any:
        """Return vectors end to end."""
        while len(parts) > 1:
            order = list(range(2 * parts[0].type.count))
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [self.shuffle(one, two, order) for one, two in pairs]
        return parts[0]

    def twos(self, table: Any, entries: list[Any]) -> list[Any]:
        """Return two vectors, with both numbers of one half of the entries each."""
        half, found = L.VECTOR // 2, []
        for some in (entries[:half], entries[half:]):
            vector = ir.Constant(ir.VectorType(_TWO, half), ir.Undefined)
            for k, entry in enumerate(some):
                value = self.load(table, entry, _TWO)
                vector = self.builder.insert_element(vector, value, _WORD(k))
            found.append(self.builder.bitcast(vector, _FLOATS))
        return found

    def spaced(self, rows: Any, of: Any, apart: Any) -> list[Any]:
        """Return a vector of each of four rows."""
        found = []
        for _ in range(4):
            found.append(self.load(rows, of, _FLOATS))
            of = self.builder.add(of, apart)
        return found

    def transposed(self, four: list[Any]) -> list[Any]:
        """Return four vectors, in each group of four numbers transposed; twice is nothing."""
        places = range(L.VECTOR)
        low = [k - k % 4 + k % 4 // 2 + k % 2 * L.VECTOR for k in places]
        near = [k - k % 4 + k % 2 + k % 4 // 2 * L.VECTOR for k in places]
        high, far = [place + 2 for place in low], [place + 2 for place in near]
        found = []
        for some in (low, high):
            ab, cd = self.shuffle(four[0], four[1], some), self.shuffle(four[2], four[3], some)
            found += [self.shuffle(ab, cd, near), self.shuffle(ab, cd, far)]
        return found


_INT = types.intp


@intrinsic
def _interleave(typing: Any, table: Any, first: Any, rows: Any, x: Any, y: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = _Code(context, builder, signature)
        memory, place = code.memory(0, args[0]), args[1]
        one, two = (code.load(code.memory(2, args[2]), row, _FLOATS) for row in args[3:])
        for half in (0, L.VECTOR // 2):
            order = [half + k // 2 + k % 2 * L.VECTOR for k in range(L.VECTOR)]
            code.store(code.shuffle(one, two, order), memory, place)
            place = code.after(place, L.VECTOR)
        return context.get_dummy_value()

    return types.none(table, _INT, rows, _INT, _INT), generate


@intrinsic
def _interleave_four(typing: Any, table: Any, first: Any, rows: Any, of: Any, apart: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = _Code(context, builder, signature)
        memory, place = code.memory(0, args[0]), args[1]
        fours = code.transposed(code.spaced(code.memory(2, args[2]), args[3], args[4]))
        for group in range(_GROUPS):
            order = list(range(4 * group, 4 * group + 4))
            parts = [code.shuffle(one, one, order) for one in fours]
            code.store(code.joined(parts), memory, place)
            place = code.after(place, L.VECTOR)
        return context.get_dummy_value()

    return types.none(table, _INT, rows, _INT, _INT), generate


@intrinsic
def _gather_two(
    typing: Any, table: Any, first: Any, width: Any, m: Any, at: Any, out: Any, x: Any, y: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = _Code(context, builder, signature)
        entries = code.entries(code.memory(3, args[3]), args[4], args[1], args[2])
        low, high = code.twos(code.memory(0, args[0]), entries)
        for j, row in enumerate(args[6:]):
            numbers = code.shuffle(low, high, list(range(j, 2 * L.VECTOR, 2)))
            code.store(numbers, code.memory(5, args[5]), row)
        return context.get_dummy_value()

    return types.none(table, _INT, _INT, m, _INT, out, _INT, _INT), generate


@intrinsic
def _gather_way(
    typing: Any, table: Any, first: Any, width: Any, m: Any, at: Any, to: Any, out: Any, x: Any,
    y: Any,
) -> Any:  # fmt: skip
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = _Code(context, builder, signature)
        memory, places = code.memory(0, args[0]), code.memory(3, args[3])
        here, there = (
            code.twos(memory, code.entries(places, at, args[1], args[2])) for at in args[4:6]
        )
        low, high = (builder.fsub(b, a) for a, b in zip(here, there, strict=True))
        for j, row in enumerate(args[7:]):
            numbers = code.shuffle(low, high, list(range(j, 2 * L.VECTOR, 2)))
            code.store(numbers, code.memory(6, args[6]), row)
        return context.get_dummy_value()

    return types.none(table, _INT, _INT, m, _INT, _INT, out, _INT, _INT), generate


@intrinsic
def _gather_four(
    typing: Any, table: Any, first: Any, m: Any, at: Any, out: Any, to: Any, apart: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = _Code(context, builder, signature)
        memory, rows = code.memory(0, args[0]), code.memory(4, args[4])
        entries = code.entries(code.memory(2, args[2]), args[3], args[1], _LONG(4))
        fours = [code.load(memory, entry, _FOUR) for entry in entries]
        row = args[5]
        # Every fourth entry in a vector: then transposing leaves them in their order.
        for numbers in code.transposed([code.joined(fours[q::4]) for q in range(4)]):
            code.store(numbers, rows, row)
            row = builder.add(row, args[6])
        return context.get_dummy_value()

    return types.none(table, _INT, m, _INT, out, _INT, _INT), generate


@intrinsic
def _scatter_four(
    typing: Any, table: Any, first: Any, m: Any, at: Any, rows: Any, of: Any, apart: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = _Code(context, builder, signature)
        memory = code.memory(0, args[0])
        fours = code.transposed(code.spaced(code.memory(4, args[4]), args[5], args[6]))
        for b, entry in enumerate(
            code.entries(code.memory(2, args[2]), args[3], args[1], _LONG(4))
        ):
            group = list(range(b - b % 4, b - b % 4 + 4))
            code.store(code.shuffle(fours[b % 4], fours[b % 4], group), memory, entry)
        return context.get_dummy_value()

    return types.none(table, _INT, m, _INT, rows, _INT, _INT), generate


_OPTIONS = {"jit_options": {"forceinline": True}, "strict": False}


@overload(interleave, **_OPTIONS)
def _compiled_interleave(table, first, rows, x, y):  # type: ignore[no-untyped-def]
    return lambda table, first, rows, x, y: _interleave(table, first, rows, x, y)


@overload(interleave_four, **_OPTIONS)
def _compiled_interleave_four(table, first, rows, of, apart):  # type: ignore[no-untyped-def]
    return lambda table, first, rows, of, apart: _interleave_four(table, first, rows, of, apart)


@overload(gather_two, **_OPTIONS)
def _compiled_gather_two(table, first, width, m, at, out, x, y):  # type: ignore[no-untyped-def]
    return lambda table, first, width, m, at, out, x, y: _gather_two(
        table, first, width, m, at, out, x, y
    )


@overload(gather_way, **_OPTIONS)
def _compiled_gather_way(table, first, width, m, at, to, out, x, y):  # type: ignore[no-untyped-def]
    return lambda table, first, width, m, at, to, out, x, y: _gather_way(
        table, first, width, m, at, to, out, x, y
    )


@overload(gather_four, **_OPTIONS)
def _compiled_gather_four(table, first, m, at, out, to, apart):  # type: ignore[no-untyped-def]
    return lambda table, first, m, at, out, to, apart: _gather_four(
        table, first, m, at, out, to, apart
    )


@overload(scatter_four, **_OPTIONS)
def _compiled_scatter_four(table, first, m, at, rows, of, apart):  # type: ignore[no-untyped-def]
    return lambda table, first, m, at, rows, of, apart: _scatter_four(
        table, first, m, at, rows, of, apart
    )
