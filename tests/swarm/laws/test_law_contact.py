"""Force-limited drives, and what contacts do in one correction."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy import float32 as f32
from swarm.laws.plain import plain

from qed.swarm import robot
from qed.swarm.laws import contact
from qed.swarm.laws.motion import MAX_IMPULSE

limit_drive = plain(contact.limit_drive)
solve_drive = plain(contact.solve_drive)
effective_mass = plain(contact.effective_mass)
pair_effective_mass = plain(contact.pair_effective_mass)
normal_impulse = plain(contact.normal_impulse)
tangent_impulse = plain(contact.tangent_impulse)
solve_contact = plain(contact.solve_contact)
solve_point = plain(contact.solve_point)
point_velocity = plain(contact.point_velocity)
coupling = plain(contact.coupling)
angular_impulse = plain(contact.angular_impulse)
fixed = plain(contact.fixed)
nearer_wall = plain(contact.nearer_wall)
remembered = plain(contact.remembered)

INVERSE_INERTIA = float(contact.INVERSE_INERTIA)
SPEED = st.floats(-2.0, 2.0, width=32)
SPIN = st.floats(-10.0, 10.0, width=32)
LEVER = st.floats(-0.078125, 0.078125, width=32)
ARM = st.floats(0.03125, 0.078125, width=32)
PRESSED = st.floats(0.0, 2.0, width=32)
RUBBED = st.floats(-1.0, 1.0, width=32)  # in parts of the limit
GRIP = st.floats(0.0, 1.0, width=32)
SHARE = st.sampled_from([0.25, 0.5, 1.0])
examples = settings(max_examples=150, deadline=None, derandomize=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [("FRICTION", f32(0.49)), ("WALL_FRICTION", f32(0.07)), ("ITERATIONS", 5)],
)
def test_constants(name, value):
    assert getattr(contact, name) == value


def test_ease_is_mass_by_moment():
    assert (
        pytest.approx(robot.THYMIO.mass / robot.THYMIO.moment, rel=1e-6) == contact.INVERSE_INERTIA
    )


def test_margin_is_one_and_a_half_cycles_of_full_speed():
    assert contact.margin(0.1) == pytest.approx(0.03)
    assert contact.margin(0.2) == 2 * contact.margin(0.1)


@pytest.mark.parametrize(("sight", "speed", "radius"), [(0.11, 0.1, None), (0.055, 0.4, 0.3928)])
def test_near_is_what_is_seen_or_met(sight, speed, radius):
    seen = sight + robot.THYMIO.reach + robot.THYMIO.outer_radius
    assert contact.near_radius(sight, speed) == pytest.approx(radius or seen, abs=1e-4)


@examples
@given(SPEED, SPEED, SPEED, SPEED)
def test_drive_is_limited(jx, jy, wx, wy):
    ax, ay = map(float, limit_drive(jx, jy, wx, wy))
    asked = math.hypot(jx + wx, jy + wy)
    assert math.hypot(ax, ay) <= MAX_IMPULSE * (1 + 2e-7)
    assert math.hypot(ax, ay) == pytest.approx(min(asked, float(MAX_IMPULSE)), rel=1e-6, abs=1e-12)
    assert ax * (jx + wx) + ay * (jy + wy) >= 0
    assert abs(ax * (jy + wy) - ay * (jx + wx)) <= 1e-6 * max(asked, 1e-6)


def test_drive_gives_all_that_is_asked_within_its_limit():
    assert limit_drive(0.05, -0.1, 0.1, 0.05) == (f32(0.05) + f32(0.1), f32(-0.1) + f32(0.05))
    assert limit_drive(0.0, 0.0, 0.2, -0.05) == (f32(0.2), f32(-0.05))


@examples
@given(SPEED, SPEED, SPIN, SPEED, SPEED, SPIN, SPEED, SPEED, SPIN)
def test_pulled_changes_the_velocity_by_what_the_drive_gives(
    vx, vy, spin, jx, jy, angular_drive, tx, ty, turn
):
    new_x, new_y, ax, ay, new_angular_drive = solve_drive(
        vx, vy, spin, jx, jy, angular_drive, tx, ty, turn
    )
    assert (ax, ay) == limit_drive(jx, jy, f32(tx) - f32(vx), f32(ty) - f32(vy))
    assert (new_x - vx, new_y - vy) == pytest.approx((ax - jx, ay - jy), abs=1e-6)
    assert new_angular_drive - angular_drive == pytest.approx(turn - spin, abs=4e-6)


def test_pulled_reaches_a_target_that_is_near():
    vx, vy, ax, ay, angular_drive = solve_drive(0.1, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.1, 0.2)
    assert (vx, vy) == pytest.approx((0.0, 0.1), abs=1e-8)
    assert (ax, ay, angular_drive) == pytest.approx((-0.1, 0.1, -0.3), abs=1e-7)


@examples
@given(PRESSED, SHARE, SPEED)
def test_press_only_pushes(old, part, closing):
    got = normal_impulse(old, part, closing)
    assert got >= 0
    assert got == pytest.approx(max(0.0, old + part * closing), rel=1e-6, abs=3e-7)


@examples
@given(SPEED, SHARE, SPEED, GRIP)
def test_rub_is_within_the_grip(old, part, sliding, limit):
    got = tangent_impulse(old, part, sliding, limit)
    assert -limit <= got <= limit
    free = old + part * sliding
    assert got == pytest.approx(max(-limit, min(free, limit)), rel=1e-6, abs=3e-7)


@examples
@given(LEVER, LEVER)
def test_shares(lever, other):
    assert effective_mass(lever) == pytest.approx(1 / (1 + INVERSE_INERTIA * lever**2), rel=1e-6)
    both = 1 / (2 + INVERSE_INERTIA * (lever**2 + other**2))
    assert pair_effective_mass(lever, other) == pytest.approx(both, rel=1e-6)
    assert (
        pair_effective_mass(lever, other)
        == pair_effective_mass(other, lever)
        == pair_effective_mass(-lever, other)
    )


def test_shares_at_the_centre():
    assert effective_mass(0.0) == 1.0
    assert pair_effective_mass(0.0, 0.0) == 0.5


def test_patience_shrinks_with_the_crowd():
    for i in range(1, 20):
        for k in range(1, 20):
            assert contact.relaxation(i, k) == f32(min(2 / max(i, k), 1))


@examples
@given(LEVER, ARM, PRESSED, SPEED)
def test_torque_is_what_forces_at_a_point_do(lever, arm, pn, pt):
    # The cross product of the point (arm, lever) with the force (pressed, rubbed) on the robot.
    expected = INVERSE_INERTIA * np.linalg.det([[arm, lever], [pn, pt]])
    assert angular_impulse(arm, lever, pn, pt) == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_a_force_through_the_centre_does_not_turn():
    assert angular_impulse(0.05, 0.0, 1.0, 0.0) == 0.0
    assert angular_impulse(0.0, 0.05, 0.0, 1.0) == 0.0


def held(vn, vt, spin, arm, lever, pn, part):
    """Return what holding does, and the impulses it began with."""
    pt = f32(part) * (contact.WALL_FRICTION * f32(pn))
    point = (arm, lever, pn, pt, effective_mass(lever), effective_mass(arm))
    return solve_contact(vn, vt, spin, *point), pn, pt


@examples
@given(SPEED, SPEED, SPIN, ARM, LEVER, PRESSED, RUBBED)
def test_holding_balances_momentum_within_the_friction_cone(vn, vt, spin, arm, lever, pn, part):
    (new_n, new_t, new_spin, new_pn, new_pt), press0, rub0 = held(
        vn, vt, spin, arm, lever, pn, part
    )
    assert new_pn >= 0.0
    assert abs(new_pt) <= contact.WALL_FRICTION * new_pn
    dp, dr = float(new_pn) - press0, float(new_pt) - float(rub0)
    assert (new_n, new_t) == pytest.approx((vn - dp, vt - dr), abs=1e-6)
    assert new_spin == pytest.approx(spin - INVERSE_INERTIA * (arm * dr - lever * dp), abs=2e-5)


@examples
@given(SPEED, SPEED, SPIN, ARM, LEVER, PRESSED, RUBBED)
def test_holding_is_the_same_in_a_mirror(vn, vt, spin, arm, lever, pn, part):
    (n, t, w, p, r), _, _ = held(vn, vt, spin, arm, lever, pn, part)
    mirrored, _, _ = held(vn, -vt, -spin, arm, -lever, pn, -part)
    assert mirrored == (n, -t, -w, p, -r)


@examples
@given(SPEED, SPEED, SPIN, ARM, LEVER)
def test_a_fresh_hold_takes_energy(vn, vt, spin, arm, lever):
    (n, t, w, _, _), _, _ = held(vn, vt, spin, arm, lever, 0.0, 0.0)
    before = vn**2 + vt**2 + spin**2 / INVERSE_INERTIA
    after = float(n) ** 2 + float(t) ** 2 + float(w) ** 2 / INVERSE_INERTIA
    assert after <= before * (1 + 1e-5) + 1e-9


@examples
@given(SPEED, SPIN, LEVER)
def test_without_friction_a_hold_stops_the_point(vn, spin, lever):
    # A point beside the centre (arm 0): rubbing has no lever there.
    n, _, w, pn, _ = solve_contact(
        vn, 0.0, spin, 0.0, lever, 0.0, 0.0, effective_mass(lever), effective_mass(0.0)
    )
    closing = vn - spin * lever
    left = float(n) - float(w) * lever
    assert left == pytest.approx(min(closing, 0.0), abs=2e-6)
    assert pn == pytest.approx(max(closing, 0.0) * float(effective_mass(lever)), abs=1e-6)


def test_a_robot_that_leaves_a_wall_is_not_held():
    assert solve_contact(-0.1, 0.05, 0.0, 0.05, 0.02, 0.0, 0.0, 0.5, 0.5) == (
        f32(-0.1), f32(0.05), 0.0, 0.0, 0.0,
    )  # fmt: skip


def pushed(un, ut, spins, levers, pn, part):
    """Return what pushing does to two robots, and the impulses it began with."""
    arm_i, lever_i, arm_k, lever_k = levers
    pt = f32(part) * (contact.FRICTION * f32(pn))
    masses = pair_effective_mass(lever_i, lever_k), pair_effective_mass(arm_i, arm_k)
    closing, sliding = point_velocity(*spins, *levers)
    new_pn, new_pt = solve_point(f32(un) + closing, f32(ut) + sliding, pn, pt, *masses)
    dp, dr = float(new_pn) - pn, float(new_pt) - float(pt)
    # What one loses the other gains, so the speed between them changes twice.
    moved = (
        un - 2 * dp,
        ut - 2 * dr,
        spins[0] - INVERSE_INERTIA * (arm_i * dr - lever_i * dp),
        spins[1] + INVERSE_INERTIA * (arm_k * dr - lever_k * dp),
    )
    return (*moved, new_pn, new_pt), pn, pt


SPINS = st.tuples(SPIN, SPIN)
LEVERS = st.tuples(ARM, LEVER, ARM.map(lambda arm: -arm), LEVER)


@examples
@given(SPEED, SPEED, SPINS, LEVERS, PRESSED, RUBBED)
def test_pushing_stays_within_the_friction_cone(un, ut, spins, levers, pn, part):
    (*_, new_pn, new_pt), _, _ = pushed(un, ut, spins, levers, pn, part)
    assert new_pn >= 0.0
    assert abs(new_pt) <= contact.FRICTION * new_pn


@examples
@given(SPINS, LEVERS)
def test_spins_move_a_point_as_they_turn_it(spins, levers):
    arm_i, lever_i, arm_k, lever_k = levers
    # A point at (arm, lever) of a robot that spins moves with spin x (-lever, arm).
    first = np.array([-lever_i, arm_i]) * spins[0]
    second = np.array([-lever_k, arm_k]) * spins[1]
    assert point_velocity(*spins, *levers) == pytest.approx(tuple(first - second), abs=2e-6)


@examples
@given(SPEED, SPEED, SPINS, LEVERS, LEVERS, PRESSED, RUBBED)
def test_impulses_at_a_point_change_the_speeds_at_another(un, ut, spins, levers, other, pn, part):
    (new_n, new_t, spin_i, spin_k, new_pn, new_pt), press0, rub0 = pushed(
        un, ut, spins, levers, pn, part
    )
    dp, dr = float(new_pn) - press0, float(new_pt) - float(rub0)
    closing, sliding = map(float, point_velocity(*spins, *other))
    press_stops, rub_stops, press_slows, rub_slows = map(float, coupling(*levers, *other))
    later = point_velocity(spin_i, spin_k, *other)
    assert new_n + later[0] == pytest.approx(
        un + closing - (press_stops * dp + rub_stops * dr), abs=3e-5
    )
    assert new_t + later[1] == pytest.approx(
        ut + sliding - (press_slows * dp + rub_slows * dr), abs=3e-5
    )


@examples
@given(SPEED, SPEED, SPINS, LEVERS, PRESSED, RUBBED)
def test_pushing_is_the_same_from_the_other_robot(un, ut, spins, levers, pn, part):
    (n, t, spin_i, spin_k, p, r), _, _ = pushed(un, ut, spins, levers, pn, part)
    arm_i, lever_i, arm_k, lever_k = levers
    # The normal turns round, and with it the tangent; the speed between them looks the same.
    other = (-arm_k, -lever_k, -arm_i, -lever_i)
    back, _, _ = pushed(un, ut, spins[::-1], other, pn, part)
    assert back == (n, t, spin_k, spin_i, p, r)


@examples
@given(SPEED, SPEED, SPINS, LEVERS, PRESSED, RUBBED)
def test_pushing_is_the_same_in_a_mirror(un, ut, spins, levers, pn, part):
    (n, t, spin_i, spin_k, p, r), _, _ = pushed(un, ut, spins, levers, pn, part)
    arm_i, lever_i, arm_k, lever_k = levers
    mirrored, _, _ = pushed(
        un, -ut, (-spins[0], -spins[1]), (arm_i, -lever_i, arm_k, -lever_k), pn, -part
    )
    assert mirrored == (n, -t, -spin_i, -spin_k, p, -r)


@examples
@given(SPEED, SPEED, SPINS, LEVERS)
def test_a_fresh_push_takes_energy(un, ut, spins, levers):
    (n, t, spin_i, spin_k, _, _), _, _ = pushed(un, ut, spins, levers, 0.0, 0.0)
    before = (un**2 + ut**2) / 2 + (spins[0] ** 2 + spins[1] ** 2) / INVERSE_INERTIA
    after = float(n) ** 2 / 2 + float(t) ** 2 / 2
    after += (float(spin_i) ** 2 + float(spin_k) ** 2) / INVERSE_INERTIA
    assert after <= before * (1 + 1e-5) + 1e-9


def test_robots_that_meet_at_their_middles_share_their_speed():
    (n, *rest, pn, pt), _, _ = pushed(0.2, 0.0, (0, 0), (0.055, 0, -0.055, 0), 0.0, 0.0)
    assert n == pytest.approx(0.0, abs=1e-8)
    assert (*rest, pt) == (0.0, 0.0, 0.0, 0.0)
    assert pn == f32(0.1)


@examples
@given(st.floats(-100.0, 100.0, width=32))
def test_fixed_is_odd_and_cuts_towards_zero(value):
    got = int(fixed(value))
    assert int(fixed(-value)) == -got
    assert got == math.trunc(value * 2**24)


def test_fixed_and_back():
    for value in (0.0, 0.25, -0.125, 2.0**-24, -3 * 2.0**-24):
        assert f32(fixed(value)) * contact.FROM_FIXED == value


@pytest.mark.parametrize(
    ("at", "sign", "way"), [(0.5, -1, 0.5), (3.5, 1, 0.5), (-0.01, -1, -0.01), (4.01, 1, -0.01)]
)
def test_nearer_wall(at, sign, way):
    got_sign, got_way = nearer_wall(at, 4.0)
    assert got_sign == sign
    assert got_way == pytest.approx(way, abs=3e-7)


@pytest.mark.parametrize(
    ("corner", "kept"), [(3, 0.25), (4, 0.5), (5, 0.0), (8, 0.0)], ids=["first", "second", "", "no"]
)
def test_impulses_are_remembered_by_corner(corner, kept):
    assert remembered(corner, 3, 4, 0.25, 0.5) == kept


def test_no_impulse_is_remembered_of_no_corner():
    assert remembered(3, -1, -1, 0.25, 0.5) == 0.0
    assert remembered(3, -1, 3, 0.25, 0.5) == 0.5
    assert remembered(-1, -1, 3, 0.25, 0.5) == 0.0
    assert remembered(-1, 3, -1, 0.25, 0.5) == 0.0
