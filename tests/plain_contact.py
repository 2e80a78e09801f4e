"""How robots of the plain world move: five sub-steps a cycle, one contact at a time.

Every robot goes through the sub-steps, and every robot may touch every other; only those that
touched nothing and had nothing near are then put where free motion, all at once, brings them.
"""

from __future__ import annotations

from itertools import combinations

from numpy import float32 as f32

from qed.swarm import robot
from qed.swarm.laws import bodies, geometry, motion
from qed.swarm.laws import contact as law

ZERO, ONE = f32(0), f32(1)
OBSTACLE = f32(robot.OBSTACLE_RADIUS)
OUTER = robot.THYMIO.outer_radius
REACH = f32(2 * OUTER) ** 2  # squared, between robots whose circumscribed discs touch


class Point:
    """Where a robot touches something: how far from its centre, and the impulses there."""

    def __init__(self, arm, lever, inside, kept):
        self.arm, self.lever, self.inside = arm, lever, inside
        self.pn, self.pt = kept if inside else (ZERO, ZERO)


class Fixed:
    """A robot and something that does not move, which holds it at one or two points."""

    def __init__(self, me, normal, points):
        self.me, self.normal, self.points = me, normal, points

    def force(self):
        return force(self.normal, self.points)

    def warm(self):
        """Begin with the impulses of the last sub-step."""
        me, (fx, fy) = self.me, self.force()
        me.vx, me.vy = me.vx - fx, me.vy - fy
        me.spin -= sum((law.angular_impulse(p.arm, p.lever, p.pn, p.pt) for p in self.points), ZERO)

    def hold(self):
        """Stop what closes in, point by point."""
        me, (nx, ny) = self.me, self.normal
        vn, vt = along(me.vx, me.vy, nx, ny)
        for point in self.points:
            if point.inside:
                masses = law.effective_mass(point.lever), law.effective_mass(point.arm)
                vn, vt, me.spin, point.pn, point.pt = law.solve_contact(
                    vn, vt, me.spin, point.arm, point.lever, point.pn, point.pt, *masses
                )
        me.vx, me.vy = vn * nx - vt * ny, vn * ny + vt * nx


class Pair:
    """Two robots that push each other at one or two points."""

    def __init__(self, me, you, normal, points):
        self.me, self.you, self.normal, self.points = me, you, normal, points
        self.part = ONE

    def force(self):
        return force(self.normal, self.points)

    def push(self):
        """Renew the impulses from the present velocities; return their change, as a force."""
        me, you = self.me, self.you
        before = [(point.pn, point.pt) for point in self.points]
        speeds = along(me.vx - you.vx, me.vy - you.vy, *self.normal)
        one, two = self.points
        self.push_at(one, *speeds)
        dp, dr = one.pn - before[0][0], one.pt - before[0][1]
        press_stops, rub_stops, press_slows, rub_slows = law.coupling(*one.levers, *two.levers)
        closing = speeds[0] - (press_stops * dp + rub_stops * dr)
        sliding = speeds[1] - (press_slows * dp + rub_slows * dr)
        self.push_at(two, closing, sliding)
        dp = sum((p.pn - pn for p, (pn, _) in zip(self.points, before, strict=True)), ZERO)
        dr = sum((p.pt - pt for p, (_, pt) in zip(self.points, before, strict=True)), ZERO)
        nx, ny = self.normal
        return dp * nx - dr * ny, dp * ny + dr * nx

    def push_at(self, point, closing, sliding):
        """Renew the impulses at a point whose robots close in and slide like this."""
        if point.inside:
            masses = (
                law.pair_effective_mass(point.lever, point.other_lever) * self.part,
                law.pair_effective_mass(point.arm, point.other_arm) * self.part,
            )
            more, farther = law.point_velocity(self.me.turn, self.you.turn, *point.levers)
            point.pn, point.pt = law.solve_point(
                closing + more, sliding + farther, point.pn, point.pt, *masses
            )


def along(vx, vy, nx, ny):
    """Return a velocity along a normal and along its tangent."""
    return vx * nx + vy * ny, vy * nx - vx * ny


def force(normal, points):
    """Return the sum of the impulses at some points."""
    nx, ny = normal
    pn = sum((point.pn for point in points), ZERO)
    pt = sum((point.pt for point in points), ZERO)
    return pn * nx - pt * ny, pn * ny + pt * nx


def move(world):
    """Let a cycle of motion pass."""
    free = [me for me in world.robots if not anything_near(world, me)]
    for me in world.robots:
        aim(me)
    for _ in range(robot.SUBSTEPS):
        for me in world.robots:
            advance(me, world.side)
        pairs = touching_pairs(world)
        fixed = {me: touching_fixed(world, me) for me in world.robots}
        solve(world.robots, pairs, fixed)
        world.kept = {key: (point.pn, point.pt) for key, point in world.points.items()}
        free = [me for me in free if not fixed[me]]
        free = [me for me in free if not any(me in (pair.me, pair.you) for pair in pairs)]
    for me in world.robots:
        me.heading = geometry.wrap(me.old_heading + motion.turned(me.old_turn, me.turn))
        me.c, me.s = geometry.cos_sin(me.heading)
    for me in free:
        glide(me, world.side)


def anything_near(world, me):
    """Tell whether a wall, an obstacle or a robot is as near as one cycle may need."""
    margin = law.margin(world.env.max_speed)
    walls = min(me.x, me.y, world.side - me.x, world.side - me.y) < OUTER + margin
    others = [(you.x, you.y, 2 * OUTER + 2 * margin) for you in world.robots if you is not me]
    discs = others + [(x, y, OUTER + robot.OBSTACLE_RADIUS + margin) for x, y in world.obstacles]
    return walls or any((x - me.x) ** 2 + (y - me.y) ** 2 < reach**2 for x, y, reach in discs)


def aim(me):
    """Remember the pose, and take the new command."""
    me.old_x, me.old_y, me.old_heading, me.old_c, me.old_s = me.x, me.y, me.heading, me.c, me.s
    me.old_vx, me.old_vy, me.old_turn = me.vx, me.vy, me.turn
    me.tx, me.ty = motion.target(*me.wheels, me.c, me.s)
    me.rate, me.turn = me.turn, motion.turn_rate(*me.wheels)


def advance(me, side):
    """Move with the velocity and the turn rate of before; begin with last impulses."""
    me.x = motion.within(me.x + motion.LAG * me.vx, side)
    me.y = motion.within(me.y + motion.LAG * me.vy, side)
    me.heading = geometry.wrap(me.heading + motion.LAG * me.rate)
    me.c, me.s = geometry.cos_sin(me.heading)
    me.vx, me.vy, me.spin = me.vx + me.jx, me.vy + me.jy, me.rate + me.angular_drive
    me.rate = me.turn


def glide(me, side):
    """Move as if nothing could touch, all at once; one impulse may not change a velocity enough."""
    part = motion.excess(me.tx - me.old_vx, me.ty - me.old_vy)
    x = me.old_x + motion.LAG * (me.old_vx - part * (me.tx - me.old_vx))
    y = me.old_y + motion.LAG * (me.old_vy - part * (me.ty - me.old_vy))
    me.x = motion.within(x + motion.DRIVE * me.tx, side)
    me.y = motion.within(y + motion.DRIVE * me.ty, side)
    me.vx, me.vy, me.jx, me.jy, me.angular_drive = me.tx, me.ty, ZERO, ZERO, ZERO


def touching_pairs(world):
    """Return the pairs of robots that overlap, each told how many partners its robots have."""
    world.points = {}
    pairs = []
    for me, you in combinations(world.robots, 2):
        dx, dy = you.x - me.x, you.y - me.y
        if not dx * dx + dy * dy < REACH:
            continue
        gap, nx, ny = bodies.beyond(dx, dy, me.c, me.s, you.c, you.s)
        back, mx, my = bodies.beyond(-dx, -dy, you.c, you.s, me.c, me.s)
        face = bodies.first_face(gap, back, dx, dy)
        normal = (nx, ny) if face else (-mx, -my)
        if max(gap, back) < ZERO:
            found = bodies.touching_points(dx, dy, me.c, me.s, you.c, you.s, *normal, face)
            pairs.append(
                Pair(me, you, normal, [pair_point(world, me, you, found, n) for n in (0, 1)])
            )
    members = [me for pair in pairs for me in (pair.me, pair.you)]
    for pair in pairs:
        pair.part = law.relaxation(members.count(pair.me), members.count(pair.you))
    return pairs


def pair_point(world, me, you, found, number):
    """Return one of the two points that a law found, with the impulses that it keeps."""
    arm, lever, other_arm, other_lever, gap = found[5 * number : 5 * number + 5]
    key = (me.number, you.number, number)
    point = Point(arm, lever, gap < ZERO, world.kept.get(key, (ZERO, ZERO)))
    point.other_arm, point.other_lever = other_arm, other_lever
    point.levers = (arm, lever, other_arm, other_lever)
    world.points[key] = point
    return point


def touching_fixed(world, me):
    """Return the obstacles in order, then the nearer x wall and the nearer y wall, if touched."""
    fixed = []
    for number, (x, y) in enumerate(world.obstacles):
        nx, ny, gap, arm, lever = bodies.body_point(*me.to_body(x - me.x, y - me.y))
        if gap < OBSTACLE:
            points = kept_points(world, [(me.number, "obstacle", number)], [(arm, lever)])
            fixed.append(Fixed(me, me.to_world(nx, ny), points))
    for axis, at in (("x", me.x), ("y", me.y)):
        sign, room = law.nearer_wall(at, world.side)
        normal = (sign, ZERO) if axis == "x" else (ZERO, sign)
        found = geometry.two_farthest_corners(*me.to_body(*normal))
        corners = [corner for corner in (found[:3], found[3:]) if room < corner[0]]
        keys = [(me.number, axis, int(number)) for _, _, number in corners]
        if corners:
            points = kept_points(world, keys, [corner[:2] for corner in corners])
            fixed.append(Fixed(me, normal, points))
    return fixed


def kept_points(world, keys, places):
    """Return points where something fixed touches, with the impulses that they keep."""
    points = [
        Point(*place, True, world.kept.get(key, (ZERO, ZERO)))
        for key, place in zip(keys, places, strict=True)
    ]
    world.points |= dict(zip(keys, points, strict=True))
    return points


def solve(robots, pairs, fixed):
    """Give every robot its velocity for the next sub-step."""
    add(robots, pairs, [pair.force() for pair in pairs])
    for me in robots:
        for body in fixed[me]:
            body.warm()
    for _ in range(law.ITERATIONS):
        add(robots, pairs, [pair.push() for pair in pairs])
        for me in robots:
            for body in fixed[me]:
                body.hold()
            pull(me)


def add(robots, pairs, forces):
    """Change velocities by the forces of all pairs; whole numbers, whose order does not matter."""
    for me in robots:
        total = [0, 0]
        for pair, one in zip(pairs, forces, strict=True):
            sign = (me is pair.you) - (me is pair.me)
            total = [total[n] + sign * int(law.fixed(one[n])) for n in range(2)]
        me.vx += f32(total[0]) * law.FROM_FIXED
        me.vy += f32(total[1]) * law.FROM_FIXED


def pull(me):
    """Let the drive move it to its target with the force it has, and turn it back."""
    jx, jy = law.limit_drive(me.jx, me.jy, me.tx - me.vx, me.ty - me.vy)
    me.vx, me.vy = me.vx + (jx - me.jx), me.vy + (jy - me.jy)
    me.jx, me.jy = jx, jy
    me.angular_drive += me.turn - me.spin
    me.spin = me.turn
