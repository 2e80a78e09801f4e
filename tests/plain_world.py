"""The simulated world a second time: slow and plain, one robot, pair and sensor at a time.

The engine is tested against it.  It shares with the engine the scalar laws, the draw of start
poses and the noise keys, but no loop: no near lists, no packing, no pruning of networks, no
shortcuts in occlusion.  Motion and sensors are in single precision, as the laws are; sums are
in double.
"""

from __future__ import annotations

import math
from itertools import combinations
from types import SimpleNamespace

import numpy as np
from numpy import float32 as f32

from qed.swarm import robot
from qed.swarm.laws import contact as law
from qed.swarm.laws import describing, geometry, motion, scoring, sensing
from qed.swarm.laws.chance import draw, high_noise, low_noise
from qed.swarm.laws.geometry import cos_sin, ray_body, ray_disc, ray_wall
from qed.swarm.laws.neuron import GAIN, tanh
from qed.swarm.placing import noise_keys, place

ZERO, HALF, ONE, TWO = f32(0), f32(0.5), f32(1), f32(2)
OBSTACLE = f32(robot.OBSTACLE_RADIUS)
INNER = f32(robot.BODY_INNER_RADIUS)
EAR = 8  # random bits for misheard neighbours come after those of the sensors
LEFT, RIGHT = 16, 17  # nodes of the network
SPIRIT_GROUPS = {32: [0, 1], 16: [2], 8: [3, 4], 4: [5, 6], 2: [7, 8, 13, 14], 1: [9, 10, 11, 12]}
TASKS = ("aggregation", "dispersion", "flocking", "patrolling", "border-patrolling")
ROWS = ("x", "y", "heading", "proximity", "rab", "wheels")


class Robot:
    """One robot: where it is, how it moves, and what it thinks."""

    def __init__(self, number, pose, key, fault):
        self.number, self.key, self.fault = number, key, fault
        self.x, self.y = f32(pose[0]), f32(pose[1])
        self.heading = f32((float(pose[2]) + math.pi) % (2 * math.pi) - math.pi)
        self.c, self.s = cos_sin(self.heading)
        self.vx = self.vy = self.turn = ZERO  # velocity and turn rate
        self.jx = self.jy = ZERO  # impulse of the drive
        self.wheels = (ZERO, ZERO)  # left and right command (m/s)
        self.neurons = {}  # values by node; missing ones are 0

    def to_body(self, x, y):
        return self.c * x + self.s * y, self.c * y - self.s * x

    def to_world(self, x, y):
        return self.c * x - self.s * y, self.s * x + self.c * y


class World:
    """One trial: the robots, the obstacles, and what contacts keep from cycle to cycle."""

    def __init__(self, controller, env, robots, obstacles, noise):
        self.controller, self.env, self.robots, self.noise = controller, env, robots, f32(noise)
        self.obstacles = [(f32(x), f32(y)) for x, y in obstacles]
        self.side = f32(env.arena)
        self.kept = {}  # impulses of the last cycle's contacts
        self.cycle = 0

    def step(self):
        """Let one control cycle pass: move, then sense, then decide."""
        self.cycle += 1
        for me in self.robots:
            lag(me)
        contacts = touching(self)
        solve(self.robots, contacts)
        self.kept = {found.key: (found.press, found.rub) for found in contacts}
        for me in self.robots:
            me.x = motion.within(me.x + motion.DRIVE * me.vx, self.side)
            me.y = motion.within(me.y + motion.DRIVE * me.vy, self.side)
        for me in self.robots:
            me.proximity = [feel(self, me, sensor) for sensor in range(7)]
            me.rab = hear(self, me)
        for me in self.robots:
            think(self, me)


# --- motion and contacts


def lag(me):
    """Move on with the old velocity, and turn; what one impulse cannot change changes now."""
    me.old_x, me.old_y, me.old_heading, me.old_c, me.old_s = me.x, me.y, me.heading, me.c, me.s
    me.tx, me.ty = motion.target(*me.wheels, me.c, me.s)
    part = motion.excess(me.tx - me.vx, me.ty - me.vy)
    ex, ey = part * (me.tx - me.vx), part * (me.ty - me.vy)
    me.x += motion.LAG * (me.vx - ex)
    me.y += motion.LAG * (me.vy - ey)
    me.vx += ex
    me.vy += ey
    before, me.turn = me.turn, motion.turn_rate(*me.wheels)
    me.heading = geometry.wrap(me.heading + motion.turned(before, me.turn))
    me.c, me.s = cos_sin(me.heading)


class Contact:
    """A robot and what it may meet: another robot, or something fixed (other is None)."""

    def __init__(self, key, me, other, normal, gap, arm):
        self.key, self.me, self.other, self.normal = key, me, other, normal
        self.gap, self.arm = gap, arm
        self.friction = law.FRICTION if other else law.WALL_FRICTION
        self.share = ONE

    def force(self, press, rub):
        nx, ny = self.normal
        return press * nx - rub * ny, press * ny + rub * nx

    def correct(self):
        """Renew the impulses from the present velocities; return their change."""
        me, (nx, ny) = self.me, self.normal
        other = self.other or SimpleNamespace(vx=ZERO, vy=ZERO, turn=ZERO)
        ux, uy = me.vx - other.vx, me.vy - other.vy
        closing = (ux * nx + uy * ny) - law.approach(self.gap)
        sliding = (uy * nx - ux * ny) + self.arm * (me.turn + other.turn)
        press = law.press(self.press, self.share, closing)
        rub = law.rub(self.rub, self.share, sliding, self.friction * press)
        change = self.force(press - self.press, rub - self.rub)
        self.press, self.rub = press, rub
        return change


def touching(world):
    """Return all contacts within the margin, with the impulses they had in the last cycle."""
    margin = f32(law.MARGIN_TIME * world.env.max_speed)
    near = pairs_of(world.robots) + [found for me in world.robots for found in fixed(world, me)]
    contacts = [found for found in near if found.gap < margin]
    members = [me for found in contacts if found.other for me in (found.me, found.other)]
    for found in contacts:
        found.press, found.rub = world.kept.get(found.key, (ZERO, ZERO))
        if found.other:
            found.share = law.pair_share(members.count(found.me), members.count(found.other))
    return contacts


def pairs_of(robots):
    pairs = []
    for me, you in combinations(robots, 2):
        dx, dy = you.x - me.x, you.y - me.y
        gap, nx, ny = geometry.separation(dx, dy, me.c, me.s, you.c, you.s)
        arm = HALF * (nx * dx + ny * dy)
        pairs.append(Contact((me.number, you.number), me, you, (nx, ny), gap, arm))
    return pairs


def fixed(world, me):
    """Return the obstacles in order, then the nearer of the x walls and of the y walls."""
    bodies = []
    for number, (x, y) in enumerate(world.obstacles):
        nx, ny, gap, arm = geometry.body_point(*me.to_body(x - me.x, y - me.y))
        key = (me.number, "obstacle", number)
        bodies.append(Contact(key, me, None, me.to_world(nx, ny), gap - OBSTACLE, arm))
    for axis, at in (("x", me.x), ("y", me.y)):
        sign, room = law.nearer_wall(at, world.side)
        normal = (sign, ZERO) if axis == "x" else (ZERO, sign)
        reach = geometry.support(*normal, me.c, me.s)
        bodies.append(Contact((me.number, axis), me, None, normal, room - reach, reach))
    return bodies


def solve(robots, contacts):
    """Give every robot its velocity for the rest of the cycle."""
    pairs = [found for found in contacts if found.other]
    walls = [found for found in contacts if not found.other]
    busy = {me for found in contacts for me in (found.me, found.other)}
    for me in robots:
        if me not in busy:
            me.jx, me.jy = me.tx - me.vx, me.ty - me.vy
            me.vx, me.vy = me.tx, me.ty
    busy = [me for me in robots if me in busy]
    push(busy, pairs, [pair.force(pair.press, pair.rub) for pair in pairs])
    for me in busy:
        me.vx, me.vy = me.vx + me.jx, me.vy + me.jy
    for found in walls:
        stop(found, found.force(found.press, found.rub))
    for _ in range(law.SWEEPS):
        for me in busy:
            pull(me)
        push(busy, pairs, [pair.correct() for pair in pairs])
        for found in walls:
            stop(found, found.correct())


def pull(me):
    """Let a drive pull towards its target with the force it has."""
    jx, jy = law.drive(me.jx, me.jy, me.tx - me.vx, me.ty - me.vy)
    me.vx, me.vy = me.vx + (jx - me.jx), me.vy + (jy - me.jy)
    me.jx, me.jy = jx, jy


def push(robots, pairs, forces):
    """Push all pairs apart at once; whole numbers, so that their order does not matter."""
    for me in robots:
        total = [0, 0]
        for pair, force in zip(pairs, forces, strict=True):
            sign = (me is pair.other) - (me is pair.me)
            total = [total[n] + sign * int(law.fixed(force[n])) for n in range(2)]
        me.vx += f32(total[0]) * law.FROM_FIXED
        me.vy += f32(total[1]) * law.FROM_FIXED


def stop(contact, force):
    """Push a robot away from something fixed."""
    contact.me.vx -= force[0]
    contact.me.vy -= force[1]


# --- sensors and network


def feel(world, me, sensor):
    """Return what a proximity sensor tells the network: 1 nothing, -1 touching."""
    value = sensing.reading(look(world, me, sensor), ONE / f32(world.env.proximity_range))
    bits = draw(me.key, world.cycle, sensor - sensor % 2)  # two sensors share 32 bits
    random = high_noise(bits) if sensor % 2 else low_noise(bits)
    value = min(max(value + world.noise * random, ZERO), ONE)
    if sensor < robot.FRONT_SENSORS:
        broken = {"PMIN": ZERO, "PMAX": ONE, "PRAND": HALF + HALF * random}
        value = broken.get(me.fault, value)
    return ONE - TWO * value


def look(world, me, sensor):
    """Return how far a sensor's ray gets (m)."""
    at_x, at_y, angle = robot.PROXIMITY_SENSORS[sensor]
    ox, oy = me.to_world(f32(at_x), f32(at_y))
    ox, oy = me.x + ox, me.y + oy
    dx, dy = me.to_world(f32(math.cos(angle)), f32(math.sin(angle)))
    walls = [ray_wall(ox, dx, world.side), ray_wall(oy, dy, world.side)]
    return min(walls + hits(world, ox, oy, dx, dy, [me]))


def hits(world, ox, oy, dx, dy, spared):
    """Return where a ray enters each obstacle and each robot that is not spared (m)."""
    discs = [ray_disc(ox - x, oy - y, dx, dy, OBSTACLE) for x, y in world.obstacles]
    others = [you for you in world.robots if you not in spared]
    return discs + [
        ray_body(*you.to_body(ox - you.x, oy - you.y), *you.to_body(dx, dy)) for you in others
    ]


def hear(world, me):
    """Return what the eight cones tell the network: 1 nobody, -1 here."""
    limit = f32(world.env.rab_range)
    cones = [limit] * robot.CONES
    for you in world.robots:
        if you is me or not in_sight(world, *sorted((me, you), key=lambda one: one.number)):
            continue
        forward, left = me.to_body(you.x - me.x, you.y - me.y)
        if me.fault == "ROFS":
            bits = draw(me.key, world.cycle, EAR + you.number)
            offset = cos_sin(geometry.PI * high_noise(bits))
            forward, left = sensing.misheard(forward, left, low_noise(bits), *offset)
        cone = sensing.cone(forward, left)
        cones[cone] = min(cones[cone], f32(math.hypot(forward, left)))
    return [sensing.heard(distance, ONE / limit) for distance in cones]


def in_sight(world, me, you):
    """Tell whether two robots are in range with no other body on their line of centres.

    What the line enters only within the other's inscribed disc does not count: bodies can
    overlap a little, and then which one is met first depends on where one looks from.
    """
    dx, dy = you.x - me.x, you.y - me.y
    distance = f32(math.hypot(dx, dy))
    met = hits(world, me.x, me.y, dx / distance, dy / distance, [me, you])
    return distance < f32(world.env.rab_range) and all(at >= distance - INNER for at in met)


def think(world, me):
    """Update all neurons at once, and command the wheels."""
    values = dict(enumerate([*me.proximity, *me.rab, ONE])) | me.neurons
    links = world.controller.connections
    me.neurons = {}
    for node, bias in enumerate(world.controller.bias, start=LEFT):
        parts = [f32(w) * values.get(source, ZERO) for source, to, w in links if to == node]
        me.neurons[node] = tanh(GAIN * sum(parts, ZERO) + f32(bias))
    top = f32(world.env.max_speed)
    left, right = top * me.neurons[LEFT], top * me.neurons[RIGHT]
    left *= HALF if me.fault in ("LW-H", "BW-H") else ONE
    right *= HALF if me.fault in ("RW-H", "BW-H") else ONE
    me.wheels = (left, right)


# --- fitness and descriptors


class Tally:
    """What tasks and descriptors add up over a trial."""

    def __init__(self, world):
        self.world = world
        self.fitness = dict.fromkeys(TASKS, 0.0)
        self.grid = [[0.0] * 10 for _ in range(10)]
        side = math.ceil(world.env.arena / describing.FINE_CELL - 1e-9)
        self.visits = np.zeros((side, side), int)
        self.radius = 0.0
        self.features = np.zeros((5, 2))
        self.situations = np.zeros((64, 16), int)

    def add(self):
        """Add the present cycle."""
        env, robots = self.world.env, self.world.robots
        diagonal = math.sqrt(2.0) * env.arena
        centre = SimpleNamespace(x=mean([me.x for me in robots]), y=mean([me.y for me in robots]))
        middle = SimpleNamespace(x=env.arena / 2, y=env.arena / 2)
        way = mean([distance(me, centre) for me in robots])
        self.fitness["aggregation"] += 1.0 - way / diagonal
        self.fitness["dispersion"] += mean(nearest(robots)) / (diagonal / 2.0)
        pairs = combinations(robots, 2)
        self.fitness["flocking"] += mean([together(me, you, env.max_speed) for me, you in pairs])
        self.patrol()
        self.radius += mean([distance(me, middle) for me in robots])
        for number, value in enumerate(five_features(robots, env)):
            self.features[number] += (value, value * value)
        for me in robots:
            self.visits[int(me.x / describing.FINE_CELL), int(me.y / describing.FINE_CELL)] += 1
            self.situations[state(me), describing.action(*me.wheels)] += 1

    def patrol(self):
        """Refresh the cells that robots are in, add up all cells, then let them fade."""
        cell = self.world.env.arena / 10
        for me in self.world.robots:
            self.grid[int(me.x / cell)][int(me.y / cell)] = 1.0
        border = [self.grid[a][b] for a in range(10) for b in range(10) if {a, b} & {0, 9}]
        self.fitness["patrolling"] += sum(map(sum, self.grid)) / 100
        self.fitness["border-patrolling"] += sum(border) / 36
        self.grid = [[max(value - 0.001, 0.0) for value in line] for line in self.grid]


def mean(values):
    return sum(map(float, values)) / len(values) if values else 0.0


def distance(one, other):
    return math.hypot(float(one.x) - float(other.x), float(one.y) - float(other.y))


def nearest(robots):
    """Return each robot's distance to the nearest other; 0 if there is none."""
    others = [[distance(me, you) for you in robots if you is not me] for me in robots]
    return [min(each, default=0.0) for each in others]


def speed(me, top):
    """Return the motion of the cycle along the heading before it, over the top speed."""
    dx, dy = float(me.x) - float(me.old_x), float(me.y) - float(me.old_y)
    return (dx * float(me.old_c) + dy * float(me.old_s)) / (robot.CYCLE * top)


def together(me, you, top):
    """Return what a pair adds to flocking."""
    square = f32(distance(me, you) ** 2)
    turn = me.old_heading - you.old_heading
    return scoring.flock(square, turn, f32(speed(me, top)), f32(speed(you, top)))


def five_features(robots, env):
    """Return SDBC's features of a cycle."""
    per_speed, side = f32(1 / env.max_speed), f32(env.arena)
    turns = [geometry.wrap(me.heading - me.old_heading) for me in robots]
    return (
        mean([0.5 + 0.5 * speed(me, env.max_speed) for me in robots]),
        mean([describing.turn_feature(turn, per_speed) for turn in turns]),
        mean([describing.midpoint_distances(me.x, me.y, side) for me in robots]),
        mean([distance(me, you) for me, you in combinations(robots, 2)]),
        mean(nearest(robots)),
    )


def state(me):
    """Return SPIRIT's sensory state: the groups with an active member."""
    inputs = [*me.proximity, *me.rab]
    return sum(bit for bit, group in SPIRIT_GROUPS.items() if any(inputs[n] < 0 for n in group))


# --- whole trials


def watch(
    controller, env, *, seconds, seed=0, trial=0, faults=None, start=None, noise=0.05, lead=None
):
    """Simulate one trial, as ``qed.trace`` and ``qed.simulate`` with the same arguments do.

    With a trace as ``lead`` every cycle begins where the trace is, with its wheel commands, so
    that rounding errors cannot grow: a comparison cycle by cycle.
    """
    one = np.array([trial])
    poses, obstacles = (start.poses[one], start.obstacles[one]) if start else place(env, one, seed)
    keys = noise_keys(env, one, seed)[0]
    names = faults or ["NONE"] * env.robots
    robots = [Robot(n, poses[0, n], keys[n], names[n]) for n in range(env.robots)]
    world = World(controller, env, robots, obstacles[0], noise)
    tally = Tally(world)
    seen = {name: [] for name in (*ROWS, *TASKS)}
    with np.errstate(all="ignore"):
        for row in range(round(seconds / robot.CYCLE)):
            world.step()
            tally.add()
            for name in ROWS:
                seen[name].append([getattr(me, name) for me in robots])
            for task in TASKS:
                seen[task].append(tally.fitness[task] / world.cycle)
            if lead:
                follow(world, lead, row)
    arrays = {name: np.array(values) for name, values in seen.items()}
    return SimpleNamespace(
        **{name: arrays[name] for name in ROWS},
        score={task: arrays[task] for task in TASKS},
        visits=tally.visits.ravel(),
        radius=tally.radius / world.cycle,
        features=tally.features / world.cycle,
        situations=tally.situations,
    )


def follow(world, lead, row):
    """Put the robots where a trace has them, with its wheel commands."""
    for me in world.robots:
        me.x, me.y, me.heading = (at[row, me.number] for at in (lead.x, lead.y, lead.heading))
        me.c, me.s = cos_sin(me.heading)
        me.wheels = tuple(lead.wheels[row, me.number])
