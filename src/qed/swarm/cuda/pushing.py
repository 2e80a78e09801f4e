"""Robots that push each other, on the GPU: pairs that touch, in a list of the warp.

``memory`` is the GPU's: an array, where contacts lie in it that are too many for the lanes, and
where the impulses of pairs are kept from sub-step to sub-step.
"""

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import cuda, device, stage
from qed.swarm.cuda.outline import touching_points
from qed.swarm.cuda.pairs import contact_place
from qed.swarm.cuda.warp import at
from qed.swarm.laws import contact as laws
from qed.swarm.laws.contact import FROM_FIXED

coupling = device(laws.coupling)
fixed = device(laws.fixed)
pair_effective_mass = device(laws.pair_effective_mass)
relaxation = device(laws.relaxation)
solve_point = device(laws.solve_point)
point_velocity = device(laws.point_velocity)

ZERO = f32(0.0)
NO_POINT = (ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)
NO_CONTACT = (i32(0), (ZERO, ZERO), (ZERO, ZERO, ZERO, ZERO), NO_POINT, NO_POINT)


@stage
def prepare_contact(warp, found, table, mine, step):
    """Return a contact: its robots, its normal, and all that solving its two points needs.

    Found are the pair's code and the normal.  The impulses that it kept from the last sub-step
    begin to act.
    """
    sf, si, base, _, _, _ = warp
    signed, nx, ny = found
    first = signed > ZERO
    code = i32(abs(signed)) - i32(1)
    i = at(base + (code & i32(31)))
    k = at(base + ((code >> i32(5)) & i32(31)))
    dx = sf[L.X + k] - sf[L.X + i]
    dy = sf[L.Y + k] - sf[L.Y + i]
    points = touching_points(
        dx, dy, sf[L.COS + i], sf[L.SIN + i], sf[L.COS + k], sf[L.SIN + k], nx, ny, first
    )
    relaxed = relaxation(si[L.PARTNERS + i], si[L.PARTNERS + k])
    pair = at(mine + i32(L.KEPT) * (code >> i32(10)))
    old = table[pair + 4] == step - f32(1.0)
    spins = (sf[L.TURN + i], sf[L.TURN + k])
    here = (points[0], points[1], points[2], points[3])
    there = (points[5], points[6], points[7], points[8])
    one = prepare_point(spins, here, points[4] < ZERO, relaxed, old, table[pair], table[pair + 1])
    two = prepare_point(
        spins, there, points[9] < ZERO, relaxed, old, table[pair + 2], table[pair + 3]
    )
    pn = one[4] + two[4]
    pt = one[5] + two[5]
    add_impulses(si, i, k, pn * nx - pt * ny, pn * ny + pt * nx)
    return code, (nx, ny), coupling(*here, *there), one, two


@stage
def prepare_point(spins, levers, touches, relaxed, old, pn, pt):
    """Return how a point moves as robots spin, its effective masses, and its impulses."""
    arm_i, lever_i, arm_k, lever_k = levers
    closing, sliding = point_velocity(*spins, arm_i, lever_i, arm_k, lever_k)
    relaxed = relaxed if touches else ZERO
    kept = touches and old
    return (
        closing,
        sliding,
        pair_effective_mass(lever_i, lever_k) * relaxed,
        pair_effective_mass(arm_i, arm_k) * relaxed,
        pn if kept else ZERO,
        pt if kept else ZERO,
    )


@stage
def write(table, place, contact):
    """Write a contact to its place."""
    code, normal, coupled, one, two = contact
    table[place + L.C_CODE] = f32(code)
    table[place + L.C_NX] = normal[0]
    table[place + L.C_NY] = normal[1]
    for n in range(4):
        table[place + L.C_COUPLING + n * L.LANES] = coupled[n]
    for n in range(6):
        table[place + L.C_ONE + n * L.LANES] = one[n]
        table[place + L.C_TWO + n * L.LANES] = two[n]


@stage
def read(table, place):
    """Return a contact from its place."""
    joint = at(place + L.C_COUPLING)
    return (
        i32(table[place + L.C_CODE]),
        (table[place + L.C_NX], table[place + L.C_NY]),
        (
            table[joint],
            table[joint + L.LANES],
            table[joint + 2 * L.LANES],
            table[joint + 3 * L.LANES],
        ),
        read_point(table, at(place + L.C_ONE)),
        read_point(table, at(place + L.C_TWO)),
    )


@stage
def read_point(table, place):
    """Return a point of a contact from its place."""
    return (
        table[place],
        table[place + L.LANES],
        table[place + 2 * L.LANES],
        table[place + 3 * L.LANES],
        table[place + 4 * L.LANES],
        table[place + 5 * L.LANES],
    )


@stage
def add_impulses(si, i, k, fx, fy):
    """Add a pair's impulse to its two robots, in whole numbers, so that no order matters."""
    wx = fixed(fx)
    wy = fixed(fy)
    cuda.atomic.add(si, L.SUM_X + i, -wx)
    cuda.atomic.add(si, L.SUM_Y + i, -wy)
    cuda.atomic.add(si, L.SUM_X + k, wx)
    cuda.atomic.add(si, L.SUM_Y + k, wy)


@stage
def apply_impulses(si, me, vx, vy):
    """Change a robot's velocity by the impulses that were added up."""
    vx += f32(si[L.SUM_X + me]) * FROM_FIXED
    vy += f32(si[L.SUM_Y + me]) * FROM_FIXED
    si[L.SUM_X + me] = 0
    si[L.SUM_Y + me] = 0
    return vx, vy


@stage
def solve_at(point, closing, sliding):
    """Solve one point of a pair; return it, and the change of its impulses."""
    turn_closing, turn_sliding, normal_mass, tangent_mass, old_pn, old_pt = point
    pn, pt = solve_point(
        closing + turn_closing, sliding + turn_sliding, old_pn, old_pt, normal_mass, tangent_mass
    )
    point = (turn_closing, turn_sliding, normal_mass, tangent_mass, pn, pt)
    return point, pn - old_pn, pt - old_pt


@stage
def solve(warp, contact):
    """Correct a pair from the velocities before the iteration; return its contact."""
    sf, si, base, _, _, _ = warp
    code, (nx, ny), coupled, one, two = contact
    k_nn, k_nt, k_tn, k_tt = coupled
    i = at(base + (code & i32(31)))
    k = at(base + ((code >> i32(5)) & i32(31)))
    ux = sf[L.VX + i] - sf[L.VX + k]
    uy = sf[L.VY + i] - sf[L.VY + k]
    un = ux * nx + uy * ny
    ut = uy * nx - ux * ny
    one, dp, dr = solve_at(one, un, ut)
    un -= k_nn * dp + k_nt * dr
    ut -= k_tn * dp + k_tt * dr
    two, more, farther = solve_at(two, un, ut)
    dp += more
    dr += farther
    add_impulses(si, i, k, dp * nx - dr * ny, dp * ny + dr * nx)
    return code, (nx, ny), coupled, one, two


@stage
def store(table, pairs, contact, step):
    """Keep a pair's impulses for the next sub-step."""
    code, _, _, one, two = contact
    pair = at(pairs + i32(L.KEPT) * (code >> i32(10)))
    table[pair] = one[4]
    table[pair + 1] = one[5]
    table[pair + 2] = two[4]
    table[pair + 3] = two[5]
    table[pair + 4] = step


@stage
def prepare_all(warp, contacts, memory, step):
    """Complete all contacts, 32 at a time; return the lane's first, the others are written."""
    kept, table, pairs = memory
    sf, lane, base = warp.sf, warp.lane, warp.base
    mine = NO_CONTACT
    start = i32(lane)
    while start < contacts:
        first = start < i32(L.LANES)
        place = contact_place(table, start)
        if first:
            there = L.CONTACTS + at(base + lane)
            found = (sf[there], sf[there + L.LANES], sf[there + 2 * L.LANES])
        else:
            found = (kept[place + L.C_CODE], kept[place + L.C_NX], kept[place + L.C_NY])
        contact = prepare_contact(warp, found, kept, pairs, step)
        if first:
            mine = contact
        else:
            write(kept, place, contact)
        start = i32(start + i32(L.LANES))
    return mine


@stage
def solve_all(warp, contacts, memory, mine):
    """Correct all pairs, 32 at a time; return the lane's first."""
    kept, table, _ = memory
    if warp.lane < contacts:
        mine = solve(warp, mine)
    start = i32(warp.lane + i32(L.LANES))
    while start < contacts:
        place = contact_place(table, start)
        found = solve(warp, read(kept, place))
        kept[place + L.C_ONE + L.C_NORMAL_IMPULSE] = found[3][4]
        kept[place + L.C_ONE + L.C_TANGENT_IMPULSE] = found[3][5]
        kept[place + L.C_TWO + L.C_NORMAL_IMPULSE] = found[4][4]
        kept[place + L.C_TWO + L.C_TANGENT_IMPULSE] = found[4][5]
        start = i32(start + i32(L.LANES))
    return mine


@stage
def store_all(warp, contacts, memory, step, mine):
    """Keep the impulses of all pairs."""
    kept, table, pairs = memory
    if warp.lane < contacts:
        store(kept, pairs, mine, step)
    start = i32(warp.lane + i32(L.LANES))
    while start < contacts:
        store(kept, pairs, read(kept, contact_place(table, start)), step)
        start = i32(start + i32(L.LANES))
