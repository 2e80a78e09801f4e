"""Parts of trials that take turns on a GPU, so that all trials end at about the same time.

Trials of a launch take different times, and a GPU has room for some thousand warps at once: where
whole trials follow each other, most of the GPU waits for the last ones at the end.  So a block does
not stand for its warps: blocks that stay take one piece of work after the other, a part of the
cycles of some warps.  Pieces are taken in order, the first parts of all before any second one, so
that whoever waits for an earlier part of the same warps waits for a block that is at work.
Between its parts a warp is kept in the GPU's memory: its shared memory, and what lanes hold.
"""

from types import FunctionType
from typing import Any

from numpy import float32 as f32
from numpy import int32 as i32
from numpy import int64 as i64

from qed.swarm.cuda import layout as L
from qed.swarm.cuda.contact import Body
from qed.swarm.cuda.device import cuda, stage
from qed.swarm.cuda.sensing import Seen
from qed.swarm.cuda.tallying import Tally
from qed.swarm.cuda.warp import at

PARTS = 8  # of a trial
HELD = 24  # numbers that a lane holds between parts, besides the sums of users' laws


def parts_of(blocks: int, places: int) -> int:
    """Return in how many parts blocks take turns on a GPU that has places for so many.

    With many more blocks than places those that end late are few.
    """
    return PARTS if places < blocks <= 16 * places else 1


@stage
def take_piece(si, stride, turns):
    """Take the block's next piece of work, and note it behind the shared memory of its warps."""
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        si[at(i32(cuda.blockDim.x >> 5) * stride)] = cuda.atomic.add(turns, 0, 1)
    cuda.syncthreads()


@stage
def piece_taken(si, count, stride):
    """Return the part that a block has taken, and of which block's warps of so many in all."""
    warps = i32(cuda.blockDim.x >> 5)
    piece = i32(si[at(warps * stride)])
    blocks = i32(i32(count + warps - i32(1)) // warps)
    part = i32(piece // blocks)
    return part, i32(piece - part * blocks)


@stage
def wait_for(turns, block, part):
    """Wait until a block's earlier parts are done."""
    if cuda.threadIdx.x == 0:
        while cuda.atomic.add(turns, at(block + i32(1)), 0) < part:
            pass
    cuda.syncthreads()
    cuda.threadfence()


@stage
def part_done(turns, block):
    """Say that a part is done, and what it wrote is there to be read."""
    cuda.threadfence()
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(turns, at(block + i32(1)), 1)


@stage
def save(state, memory, place, si, base, wheels, body, seen, tally):
    """Keep a warp until its next part.

    ``place`` is the warp's number, the lane, and how much shared memory a warp has.
    """
    there, lane, stride = place
    e = i32(lane)
    while e < stride:
        memory[at(there * stride + e)] = si[at(base + e)]
        e = i32(e + i32(L.LANES))
    fields = len(tally.user_defined) + HELD
    b = at(there * i32(fields * L.LANES) + lane)
    for n in range(2):
        state[b + n * L.LANES] = wheels[n]
    for n in range(11):
        state[b + (2 + n) * L.LANES] = body[n]
    for n in range(3):
        state[b + (13 + n) * L.LANES] = seen[n]
    state[b + 16 * L.LANES] = tally.centre
    state[b + 17 * L.LANES] = tally.nearest
    state[b + 18 * L.LANES] = tally.flock
    state[b + 19 * L.LANES] = tally.radius
    state[b + 20 * L.LANES] = tally.inner
    state[b + 21 * L.LANES] = tally.border
    state[b + 22 * L.LANES] = tally.fine
    state[b + 23 * L.LANES] = tally.since
    for n in range(len(tally.user_defined)):
        state[b + (HELD + n) * L.LANES] = tally.user_defined[n]


def restoring(laws: int) -> Any:
    """Return the stage that goes on with a warp whose users' laws have so many sums."""
    terms = "".join(f"held(state, b, {HELD + n})," for n in range(laws))
    text = eval(f"lambda state, b: ({terms})")
    user_sums = stage(FunctionType(text.__code__, {"held": held}, "user_sums"))

    def restored(state, memory, place, si, base, tally):
        """Return what lanes of a warp held: wheels, body, what was seen, and tally."""
        there, lane, stride = place
        e = i32(lane)
        while e < stride:
            si[at(base + e)] = memory[at(there * stride + e)]
            e = i32(e + i32(L.LANES))
        b = at(there * i32((HELD + laws) * L.LANES) + lane)
        body = Body(
            held(state, b, 2), held(state, b, 3), held(state, b, 4), held(state, b, 5),
            held(state, b, 6), held(state, b, 7), held(state, b, 8), held(state, b, 9),
            held(state, b, 10), held(state, b, 11), held(state, b, 12),
        )  # fmt: skip
        seen = Seen(i32(held(state, b, 13)), i32(held(state, b, 14)), i32(state[b + 15 * L.LANES]))
        tally = Tally(
            held(state, b, 16), held(state, b, 17), held(state, b, 18), held(state, b, 19),
            i64(state[b + 20 * L.LANES]), i64(state[b + 21 * L.LANES]),
            i32(state[b + 22 * L.LANES]), i32(state[b + 23 * L.LANES]), user_sums(state, b),
        )  # fmt: skip
        return held(state, b, 0), held(state, b, 1), body, seen, tally

    return stage(restored)


@stage
def held(state, b, n):
    """Return a number that a lane held."""
    return f32(state[b + n * L.LANES])
