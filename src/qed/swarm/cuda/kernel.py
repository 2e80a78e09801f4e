"""The kernel: one cycle after the other, top to bottom, for a block of warps."""

from functools import cache
from types import FunctionType
from typing import Any

from numba import cuda, float32, int32
from numpy import float32 as f32
from numpy import int32 as i32
from numpy import uint32 as u32

from qed.definitions import digest_of
from qed.swarm import environment_row as E
from qed.swarm.cuda import layout as L
from qed.swarm.cuda.contact import Body, move
from qed.swarm.cuda.device import launchable
from qed.swarm.cuda.measures import flush, situation
from qed.swarm.cuda.network import step_network, step_team
from qed.swarm.cuda.optional_sensors import look_down
from qed.swarm.cuda.parts import part_done, piece_taken, restoring, save, take_piece, wait_for
from qed.swarm.cuda.sensing import Kinds, Member, Places, Seen, sense
from qed.swarm.cuda.tallying import NOTHING_YET, Books, Tally, Trial, closing, tallying
from qed.swarm.cuda.warp import Warp, at, in_phase, together
from qed.swarm.laws.motion import worn
from qed.swarm.measures import SITUATIONS, VISITS
from qed.swarm.robot import ROBOT
from qed.swarm.user_defined import Law

GROUND = len(ROBOT.ground) > 0
ZERO = f32(0.0)
NOWHERE = f32(500.0)
FLUSH = 2000  # cycles after which counts go to the GPU's memory
REGISTERS = 128  # of a thread: four warps fit a quarter of an SM, and hardly anything spills


@cache
def kernel(
    wants: int,
    with_obstacles: bool,
    with_faults: bool,
    with_rab_offset: bool,
    with_general_faults: bool = False,
    with_teams: bool = False,
    laws: tuple[Law, ...] = (),
) -> Any:
    """Return the kernel that adds up what is wanted, and knows what is asked of it.

    What is not wanted is not compiled, and few loops are unrolled: a GPU holds little code.
    """
    neuron_place = L.rows_of(with_faults, with_teams) * L.LANES
    counts = bool(wants & SITUATIONS)
    nothing_yet = (f32(0.0),) * max(len(laws), 1)
    columns = L.SUMS + len(laws)

    def run(warps, limits, poses, keys, faults, centres, networks, tables, kept, statics, sums,
            visits, spirit, turns, state, memory, floors, count, cycles, stride, iterations, links,
            fine_cells, parts):  # fmt: skip
        # Who am I?
        sf = cuda.shared.array(0, float32)
        si = cuda.shared.array(0, int32)
        lane = i32(i32(cuda.threadIdx.x) & i32(31))
        number = i32(i32(cuda.threadIdx.x) >> i32(5))
        base = i32(number * stride)
        me = at(base + lane)
        warp = Warp(sf, si, base, lane, me, u32((u32(1) << u32(lane)) - u32(1)))
        take_piece(si, stride, turns)
        while True:
            part, block = piece_taken(si, count, stride)
            if part >= parts:
                break
            if part > 0:
                wait_for(turns, block, part)
            there = i32(block * i32(cuda.blockDim.x >> 5) + number)
            idle = there >= count  # a warp too many, in the last block
            w = at(min(there, i32(count - i32(1))))
            robots = warps[w, L.W_ROBOTS]
            trials = i32(0) if idle else warps[w, L.W_TRIALS]
            trial = i32(lane // robots)
            robot = i32(lane - trial * robots)
            active = trial < trials
            place = at(warps[w, L.W_PLACE] + (lane if active else i32(0)))
            out = at(warps[w, L.W_OUT] + (trial if active else i32(0)))
            network = at(warps[w, L.W_NETWORK])
            limit = at(warps[w, L.W_LIMITS])
            side = limits[limit, E.SIDE] if active else f32(2.0) * NOWHERE
            obstacles = i32(limits[limit, E.OBSTACLES])
            fault = at(warps[w, L.W_FAULTS] + robot) if active else at(warps[w, L.W_FAULTS])
            static_place = i32(warps[w, L.W_STATICS] + lane)
            # Obstacles of each trial: x and y, one after the other.
            centre_place = i32(base + warps[w, L.W_CENTRES])
            obstacle = i32(centre_place + (trial if active else i32(0)) * (obstacles + obstacles))
            key = keys[place]
            body = Body(
                poses[place, 0] if active else NOWHERE, poses[place, 1] if active else NOWHERE,
                poses[place, 2], poses[place, 3], poses[place, 4],
                ZERO, ZERO, ZERO, ZERO, ZERO, ZERO,
            )  # fmt: skip
            left = right = ZERO
            every_one = i32(i32(i32(1) << obstacles) - i32(1)) if active else i32(0)
            seen = Seen(i32(0), i32(0), every_one)
            tally = Tally(*NOTHING_YET, nothing_yet)
            who = Trial(i32(lane - robot), trial, robot, robots, active, out)
            if part == 0:
                si[L.FIRST + me] = i32(lane - robot)
                si[L.CENTRES + me] = obstacle
                if with_obstacles:
                    e = i32(lane)
                    while e < trials * obstacles:
                        from_ = at(warps[w, L.W_OBSTACLES] + e)
                        sf[at(centre_place + e + e)] = centres[from_, 0]
                        sf[at(centre_place + e + e) + 1] = centres[from_, 1]
                        e = i32(e + i32(L.LANES))
                if with_faults:
                    sf[L.GAIN + me] = faults[fault, L.F_GAIN]
                    sf[L.AMPLITUDE + me] = faults[fault, L.F_AMPLITUDE]
                    sf[L.OFFSET + me] = faults[fault, L.F_OFFSET]
                if with_teams:
                    si[L.READS + me] = networks[at(warps[w, L.W_NETWORK] + robot), L.N_READS]
                # Begin with nothing kept and nothing counted.
                e = i32(lane)
                while not idle and e < i32(L.KEPT * L.LANES) * (robots // i32(2)):
                    kept[at(warps[w, L.W_PAIRS] + e)] = f32(-1.0)
                    e = i32(e + i32(L.LANES))
                e = i32(0)
                while not idle and e < i32(2 * L.WALL_FIELDS) + obstacles * i32(L.OBSTACLE_FIELDS):
                    statics[at(static_place + e * i32(L.LANES))] = f32(-1.0)
                    e = i32(e + i32(1))
                if active and robot == 0:
                    for column in range(columns):
                        sums[out, column] = 0.0
                if wants & VISITS:
                    e = i32(lane)
                    while e < trials * fine_cells:
                        visits[at(warps[w, L.W_OUT] * fine_cells + e)] = 0
                        e = i32(e + i32(L.LANES))
                e = i32(i32(neuron_place) + lane)
                while e < warps[w, L.W_LISTED]:  # neurons
                    si[at(base + e)] = 0
                    e = i32(e + i32(L.LANES))
                e = i32(warps[w, L.W_COUNTS] + lane)
                while e < warps[w, L.W_CENTRES]:  # situations and cells
                    si[at(base + e)] = 0
                    e = i32(e + i32(L.LANES))
            else:
                left, right, body, seen, tally = restored(
                    state, memory, (there, lane, stride), si, base, tally
                )
            kinds = Kinds(
                with_obstacles, with_faults, with_rab_offset, with_general_faults, with_teams
            )
            cycle = i32(i32(part * cycles) // parts + i32(1))
            stop = i32(i32(i32(part + i32(1)) * cycles) // parts)
            while cycle <= stop:
                together()
                # What a warp needs only here or there is read anew: registers are scarce.
                old = body
                places = Places(
                    i32(base + warps[w, L.W_LISTED]), i32(base + warps[w, L.W_NEAR]),
                    i32(base + warps[w, L.W_WORK]),
                )  # fmt: skip
                body = move(
                    warp, body, (left, right),
                    (side, limits[limit, E.MARGIN], obstacle, seen.obstacles),
                    (seen.near, places.near),
                    ((kept, warps[w, L.W_CONTACTS], warps[w, L.W_PAIRS]), (statics, static_place)),
                    (cycle, iterations), with_obstacles,
                )  # fmt: skip
                in_phase()
                member = Member(
                    robot,
                    robots,
                    active,
                    side,
                    obstacle,
                    obstacles,
                    u32(networks[network, L.N_LIVE]),
                    key,
                )
                radios = (
                    warps[w, L.W_PLACE],
                    keys,
                    faults,
                    warps[w, L.W_FAULTS],
                    with_general_faults,
                )
                seen = sense(
                    warp,
                    body,
                    member,
                    (limits, limit, faults, fault, radios),
                    seen,
                    places,
                    cycle,
                    kinds,
                )
                if GROUND:
                    floor = (
                        floors, warps[w, L.W_FLOOR], warps[w, L.W_FLOOR_ROWS],
                        warps[w, L.W_FLOOR_COLUMNS],
                    )  # fmt: skip
                    pose = (body.x, body.y, body.c, body.s)
                    look_down(sf, me, pose, side, member.live, floor)
                if with_teams:
                    last = at(warps[w, L.W_NETWORK] + robots - i32(1))
                    pool = (networks[network, L.N_FIRST], networks[last, L.N_STOP])
                    size = i32((warps[w, L.W_LISTED] - i32(neuron_place)) >> i32(1))
                    left, right = step_team(
                        warp, (robot, robots, active), cycle, pool, (i32(neuron_place), size),
                        links, tables,
                    )  # fmt: skip
                else:
                    neurons = (networks[network, L.N_FIRST], networks[network, L.N_STOP])
                    left, right = step_network(
                        sf, me, cycle, neurons, networks[network, L.N_LINK], i32(neuron_place),
                        links, tables,
                    )  # fmt: skip
                left *= faults[fault, L.F_LEFT] if active else ZERO
                right *= faults[fault, L.F_RIGHT] if active else ZERO
                if with_general_faults:
                    whole = worn(faults[fault, L.F_WEAR], cycle)
                    left *= whole
                    right *= whole
                books = Books(
                    sums, visits, i32(i32(out) * fine_cells), i32(base + warps[w, L.W_PATROL])
                )
                room = (side, limits[limit, E.SPEED], i32(limits[limit, E.FINE]))
                tally = add_up(warp, who, old, body, tally, room, books, cycle)
                if counts:
                    count_place = i32(base + warps[w, L.W_COUNTS])
                    if active:
                        what = situation(sf, me, left, right)
                        # Two counters share a number: 32 robots x 2000 cycles fit 16 bits.
                        half = i32(1) if what & i32(1) == 0 else i32(65536)
                        cuda.atomic.add(si, at(count_place + (what >> i32(1))), half)
                    if cycle % i32(FLUSH) == 0 or cycle == cycles:
                        together()
                        flush(si, count_place, lane, spirit, limit)
                        together()
                cycle = i32(cycle + i32(1))
            together()
            books = Books(
                sums, visits, i32(i32(out) * fine_cells), i32(base + warps[w, L.W_PATROL])
            )
            # What was known before the cycles is found again: registers are scarce.
            part, block = piece_taken(si, count, stride)
            if part + i32(1) == parts:
                close(warp, who, tally, books, cycles)
            else:
                there = i32(block * i32(cuda.blockDim.x >> 5) + number)
                save(
                    state, memory, (there, lane, stride), si, base, (left, right), body, seen, tally
                )
                part_done(turns, block)
            take_piece(si, stride, turns)

    # Numba knows code by its file and its inner values; laws are neither, and name a folder.
    kind = f"{wants}-{with_obstacles:d}{with_faults:d}{with_rab_offset:d}{with_general_faults:d}"
    kind += "-teams" if with_teams else ""
    kind += f"-{digest_of(*(law.key for law in laws))}" if laws else ""
    scope = {**globals(), "add_up": tallying(wants, laws), "close": closing(wants, laws)}
    scope["restored"] = restoring(len(nothing_yet))
    whole = FunctionType(run.__code__, scope, run.__name__, None, run.__closure__)
    return launchable(whole, kind, max_registers=REGISTERS)


def add_up(*_: Any) -> Any:
    """Stand for what a kernel adds up."""
    raise NotImplementedError


def close(*_: Any) -> Any:
    """Stand for what a kernel writes at its end."""
    raise NotImplementedError


def restored(*_: Any) -> Any:
    """Stand for what goes on with a later part."""
    raise NotImplementedError
