"""The simulated world a second time: slow and plain, one robot, pair and sensor at a time.

It is what the engine is tested against.  It shares the scalar laws with the engine, and the
draw of start poses and noise keys, but none of its loops: no near lists, no packing, no
pruning of networks, no shortcuts in occlusion.  Numbers are single precision, as the laws'.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy import float32 as f32

from qed.swarm import robot
from qed.swarm.laws import contact as law
from qed.swarm.laws.chance import draw, high_noise, low_noise
from qed.swarm.laws.describing import FINE_CELL, action, midpoint_distances, turn_feature
from qed.swarm.laws.geometry import PI, body_point, cos_sin, ray_body, ray_disc, ray_wall
from qed.swarm.laws.geometry import separation, support, wrap
from qed.swarm.laws.motion import DRIVE, LAG, excess, target, turn_rate, turned
from qed.swarm.laws.neuron import GAIN, tanh
from qed.swarm.laws.scoring import flock
from qed.swarm.laws.sensing import cone, heard, misheard, reading
from qed.swarm.placing import noise_keys, place

ZERO, ONE, TWO = f32(0), f32(1), f32(2)
OBSTACLE = f32(robot.OBSTACLE_RADIUS)
SENSORS = [
    (f32(x), f32(y), f32(math.cos(angle)), f32(math.sin(angle)))
    for x, y, angle in robot.PROXIMITY_SENSORS
]
EAR = 8  # random bits for a misheard neighbour come after those of the sensors
GROUPS = {32: (0, 1), 16: (2,), 8: (3, 4), 4: (5, 6), 2: (7, 8, 13, 14), 1: (9, 10, 11, 12)}


class Robot:
    """One robot: where it is, how it moves, and what it thinks."""

    def __init__(self, number: int, pose: Any, key: Any, fault: str) -> None:
        self.number, self.key, self.fault = number, key, fault
        self.x, self.y = f32(pose[0]), f32(pose[1])
        self.heading = f32((float(pose[2]) + math.pi) % (2 * math.pi) - math.pi)
        self.c, self.s = cos_sin(self.heading)
        self.vx = self.vy = self.turn = ZERO  # velocity and turn rate
        self.tx = self.ty = ZERO  # the velocity that the wheels ask for
        self.jx = self.jy = ZERO  # the drive's impulse
        self.left = self.right = ZERO  # wheel commands (m/s)
        self.neurons: dict[int, Any] = {}  # values by node; none yet: all 0
        self.inputs: list[Any] = []

    def to_body(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Turn a vector of the world into the robot's frame."""
        return self.c * x + self.s * y, self.c * y - self.s * x

    def to_world(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Turn a vector of the robot's frame into the world's."""
        return self.c * x - self.s * y, self.s * x + self.c * y


@dataclass
class World:
    """One trial: everything in the arena."""

    controller: Any
    environment: Any
    noise: Any
    robots: list[Robot]
    obstacles: list[tuple[Any, Any]]
    kept: dict[Any, Any] = field(default_factory=dict)  # impulses of the last cycle's contacts
    cycle: int = 0

    @property
    def side(self) -> Any:
        return f32(self.environment.arena)


def step(world: World) -> None:
    """Let one control cycle pass: move, then sense, then decide."""
    world.cycle += 1
    for me in world.robots:
        lag(me)
    contacts = candidates(world)
    solve(world.robots, contacts)
    world.kept = {found.key: (found.press, found.rub) for found in contacts}
    for me in world.robots:
        me.x += DRIVE * me.vx
        me.y += DRIVE * me.vy
    for me in world.robots:
        proximity = [feel(world, me, sensor) for sensor in range(7)]
        me.inputs = proximity + hear(world, me)
    for me in world.robots:
        think(world, me)


# ------------------------------------------------------------------------- motion and contacts


def lag(me: Robot) -> None:
    """Move on with the old velocity and turn; a change beyond the drive's force comes early."""
    me.old_x, me.old_y, me.old_heading, me.old_c, me.old_s = me.x, me.y, me.heading, me.c, me.s
    me.tx, me.ty = target(me.left, me.right, me.c, me.s)
    part = excess(me.tx - me.vx, me.ty - me.vy)
    ex, ey = part * (me.tx - me.vx), part * (me.ty - me.vy)
    me.x += LAG * (me.vx - ex)
    me.y += LAG * (me.vy - ey)
    me.vx += ex
    me.vy += ey
    turn = turn_rate(me.left, me.right)
    me.heading = wrap(me.heading + turned(me.turn, turn))
    me.c, me.s = cos_sin(me.heading)
    me.turn = turn


@dataclass
class Contact:
    """What a robot may meet in this cycle: another robot, or a wall or obstacle (None)."""

    key: Any
    me: Robot
    other: Robot | None
    normal: tuple[Any, Any]
    gap: Any
    arm: Any
    friction: Any = law.WALL_FRICTION
    share: Any = ONE
    press: Any = ZERO
    rub: Any = ZERO

    def impulse(self, press: Any, rub: Any) -> tuple[Any, Any]:
        nx, ny = self.normal
        return press * nx - rub * ny, press * ny + rub * nx


def candidates(world: World) -> list[Contact]:
    """Return all contacts within the margin, with the impulses they had in the last cycle."""
    margin = f32(law.MARGIN_TIME * world.environment.max_speed)
    found = [contact for contact in possible(world) if contact.gap < margin]
    pairs = [contact for contact in found if contact.other]
    members = [member for pair in pairs for member in (pair.me, pair.other)]
    for pair in pairs:
        alone = members.count(pair.me) == members.count(pair.other) == 1
        pair.share = f32(0.5) if alone else f32(0.25)
    for contact in found:
        contact.press, contact.rub = world.kept.get(contact.key, (ZERO, ZERO))
    return found


def possible(world: World) -> Iterator[Contact]:
    """Yield pairs of robots, then for each robot its nearer x wall, y wall, and obstacles."""
    for me, you in combinations(world.robots, 2):
        dx, dy = you.x - me.x, you.y - me.y
        gap, nx, ny = separation(dx, dy, me.c, me.s, you.c, you.s)
        arm = f32(0.5) * (nx * dx + ny * dy)
        yield Contact((me.number, you.number), me, you, (nx, ny), gap, arm, law.FRICTION)
    for me in world.robots:
        sign, room = law.nearer_wall(me.x, world.side)
        reach = support(sign, ZERO, me.c, me.s)
        yield Contact((me.number, "x"), me, None, (sign, ZERO), room - reach, reach)
        sign, room = law.nearer_wall(me.y, world.side)
        reach = support(ZERO, sign, me.c, me.s)
        yield Contact((me.number, "y"), me, None, (ZERO, sign), room - reach, reach)
        for number, (x, y) in enumerate(world.obstacles):
            nx, ny, gap, arm = body_point(*me.to_body(x - me.x, y - me.y))
            normal = me.to_world(nx, ny)
            yield Contact((me.number, "o", number), me, None, normal, gap - OBSTACLE, arm)


def solve(robots: list[Robot], contacts: list[Contact]) -> None:
    """Give every robot its velocity for the rest of the cycle."""
    pairs = [contact for contact in contacts if contact.other]
    fixed_bodies = [contact for contact in contacts if not contact.other]
    busy = [me for me in robots if any(me in (found.me, found.other) for found in contacts)]
    for me in robots:
        if me not in busy:
            me.jx, me.jy = me.tx - me.vx, me.ty - me.vy
            me.vx, me.vy = me.tx, me.ty
    push(pairs, [pair.impulse(pair.press, pair.rub) for pair in pairs])
    for me in busy:
        me.vx += me.jx
        me.vy += me.jy
    for contact in fixed_bodies:
        stop(contact, *contact.impulse(contact.press, contact.rub))
    for _ in range(law.SWEEPS):
        for me in busy:
            pull(me)
        push(pairs, [correct(pair) for pair in pairs])
        for contact in fixed_bodies:
            stop(contact, *correct(contact))


def pull(me: Robot) -> None:
    """Let a drive pull towards its target with the force it has."""
    jx, jy = law.drive(me.jx, me.jy, me.tx - me.vx, me.ty - me.vy)
    me.vx += jx - me.jx
    me.vy += jy - me.jy
    me.jx, me.jy = jx, jy


def correct(contact: Contact) -> tuple[Any, Any]:
    """Renew a contact's impulses from the present velocities; return their change."""
    me, other, (nx, ny) = contact.me, contact.other, contact.normal
    ux = me.vx - other.vx if other else me.vx
    uy = me.vy - other.vy if other else me.vy
    turn = me.turn + other.turn if other else me.turn
    closing = (ux * nx + uy * ny) - law.approach(contact.gap)
    sliding = (uy * nx - ux * ny) + contact.arm * turn
    old_press, old_rub = contact.press, contact.rub
    contact.press = law.press(old_press, contact.share, closing)
    grip = contact.friction * contact.press
    contact.rub = law.rub(old_rub, contact.share, sliding, grip)
    return contact.impulse(contact.press - old_press, contact.rub - old_rub)


def push(pairs: list[Contact], impulses: list[tuple[Any, Any]]) -> None:
    """Push all pairs apart at once; whole numbers, so that their order does not matter."""
    for me in {member for pair in pairs for member in (pair.me, pair.other)}:
        sum_x = sum_y = 0
        for pair, (fx, fy) in zip(pairs, impulses, strict=True):
            sign = (pair.other is me) - (pair.me is me)
            sum_x += sign * int(law.fixed(fx))
            sum_y += sign * int(law.fixed(fy))
        me.vx += f32(sum_x) * law.FROM_FIXED
        me.vy += f32(sum_y) * law.FROM_FIXED


def stop(contact: Contact, fx: Any, fy: Any) -> None:
    """Push a robot away from a wall or an obstacle."""
    contact.me.vx -= fx
    contact.me.vy -= fy


def length(x: Any, y: Any) -> Any:
    return f32(math.sqrt(x * x + y * y))


# ------------------------------------------------------------------------------------- sensors


def feel(world: World, me: Robot, sensor: int) -> Any:
    """Return what a proximity sensor tells the network: 1 nothing, -1 touching."""
    value = reading(look(world, me, sensor), ONE / f32(world.environment.proximity_range))
    bits = draw(me.key, world.cycle, sensor - sensor % 2)  # two sensors share 32 bits
    random = high_noise(bits) if sensor % 2 else low_noise(bits)
    value = min(max(value + world.noise * random, ZERO), ONE)
    if sensor < robot.FRONT_SENSORS:
        faulty = {"PMIN": ZERO, "PMAX": ONE, "PRAND": f32(0.5) + f32(0.5) * random}
        value = faulty.get(me.fault, value)
    return ONE - TWO * value


def look(world: World, me: Robot, sensor: int) -> Any:
    """Return how far a sensor's ray gets (m)."""
    at_x, at_y, aim_x, aim_y = SENSORS[sensor]
    ox, oy = me.to_world(at_x, at_y)
    ox, oy = me.x + ox, me.y + oy
    dx, dy = me.to_world(aim_x, aim_y)
    walls = [ray_wall(ox, dx, world.side), ray_wall(oy, dy, world.side)]
    return min(walls + bodies_ahead(world, ox, oy, dx, dy, [me]))


def bodies_ahead(world: World, ox: Any, oy: Any, dx: Any, dy: Any, without: list[Robot]) -> Any:
    """Return where a ray enters each robot (but some) and each obstacle (m)."""
    return [
        ray_body(*you.to_body(ox - you.x, oy - you.y), *you.to_body(dx, dy))
        for you in world.robots
        if you not in without
    ] + [ray_disc(ox - x, oy - y, dx, dy, OBSTACLE) for x, y in world.obstacles]


def hear(world: World, me: Robot) -> list[Any]:
    """Return what the eight cones tell the network: 1 nobody, -1 here."""
    limit = f32(world.environment.rab_range)
    nearest = [limit] * robot.CONES
    for you in world.robots:
        if you is me or not in_sight(world, me, you, limit):
            continue
        forward, left = me.to_body(you.x - me.x, you.y - me.y)
        if me.fault == "ROFS":
            bits = draw(me.key, world.cycle, EAR + you.number)
            offset = cos_sin(PI * high_noise(bits))
            forward, left = misheard(forward, left, low_noise(bits), *offset)
        where = cone(forward, left)
        nearest[where] = min(nearest[where], length(forward, left))
    return [heard(distance, ONE / limit) for distance in nearest]


def in_sight(world: World, me: Robot, you: Robot, limit: Any) -> bool:
    """Tell whether a robot is within range and nothing stands on the line of centres."""
    dx, dy = you.x - me.x, you.y - me.y
    distance = length(dx, dy)
    if not distance < limit:
        return False
    aim = (dx / distance, dy / distance)
    way = ray_body(*you.to_body(-dx, -dy), *you.to_body(*aim))
    return all(way < at for at in bodies_ahead(world, me.x, me.y, *aim, [me, you]))


def think(world: World, me: Robot) -> None:
    """Update all neurons at once, and command the wheels."""
    values = dict(enumerate([*me.inputs, ONE])) | me.neurons
    me.neurons = {}
    for node, bias in enumerate(world.controller.bias, start=16):
        total = ZERO
        for source, link_target, weight in world.controller.connections:
            if link_target == node:
                total += f32(weight) * values.get(source, ZERO)
        me.neurons[node] = tanh(GAIN * total + f32(bias))
    top = f32(world.environment.max_speed)
    half = f32(0.5)
    me.left = me.neurons[16] * top * (half if me.fault in ("LW-H", "BW-H") else ONE)
    me.right = me.neurons[17] * top * (half if me.fault in ("RW-H", "BW-H") else ONE)


# ---------------------------------------------------------------------- fitness and descriptors


class Tally:
    """What tasks and descriptors add up over a trial, each value in double precision."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.sums = dict.fromkeys(
            ("aggregation", "dispersion", "flocking", "patrolling", "border-patrolling"), 0.0
        )
        self.grid = [[0.0] * 10 for _ in range(10)]
        self.fine = math.ceil(world.environment.arena / FINE_CELL - 1e-9)
        self.visits = [[0] * self.fine for _ in range(self.fine)]
        self.radius = 0.0
        self.features = [[0.0, 0.0] for _ in range(5)]
        self.situations = [[0] * 16 for _ in range(64)]

    def add(self) -> None:
        """Add the present cycle."""
        env, robots = self.world.environment, self.world.robots
        diagonal = math.sqrt(2.0) * env.arena
        self.sums["aggregation"] += 1.0 - mean(distances_to_centre(robots)) / diagonal
        self.sums["dispersion"] += mean(nearest_distances(robots)) / (diagonal / 2.0)
        self.sums["flocking"] += mean(together(robots, env.max_speed))
        self.patrol()
        middle = env.arena / 2.0
        for me in robots:
            self.visits[int(me.x / FINE_CELL)][int(me.y / FINE_CELL)] += 1
            self.radius += math.hypot(me.x - middle, me.y - middle)
            self.situations[state(me.inputs)][action(me.left, me.right)] += 1
        for sums, value in zip(self.features, five_features(robots, env), strict=True):
            sums[0] += value
            sums[1] += value * value

    def patrol(self) -> None:
        """Refresh the cells that robots are in, add up all cells, and let them fade."""
        for me in self.world.robots:
            column, row = (int(at / (self.world.environment.arena / 10)) for at in (me.x, me.y))
            self.grid[column][row] = 1.0
        border = sum(self.grid[a][b] for a in range(10) for b in range(10) if {a, b} & {0, 9})
        self.sums["patrolling"] += sum(map(sum, self.grid)) / 100.0
        self.sums["border-patrolling"] += border / 36.0
        self.grid = [[max(value - 0.001, 0.0) for value in line] for line in self.grid]


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def distance(a: Robot, b: Robot) -> float:
    return math.hypot(float(a.x) - float(b.x), float(a.y) - float(b.y))


def distances_to_centre(robots: list[Robot]) -> list[float]:
    x, y = mean([float(me.x) for me in robots]), mean([float(me.y) for me in robots])
    return [math.hypot(me.x - x, me.y - y) for me in robots]


def nearest_distances(robots: list[Robot]) -> list[float]:
    others = [[distance(me, you) for you in robots if you is not me] for me in robots]
    return [min(each, default=0.0) for each in others]


def together(robots: list[Robot], top: float) -> list[float]:
    """Return what each pair adds to flocking."""
    return [
        float(
            flock(
                f32(distance(a, b)) ** 2,
                a.old_heading - b.old_heading,
                f32(speed(a, top)),
                f32(speed(b, top)),
            )
        )
        for a, b in combinations(robots, 2)
    ]


def speed(me: Robot, top: float) -> float:
    """Return the motion of the cycle along the heading before it, as a part of the top speed."""
    dx, dy = float(me.x) - float(me.old_x), float(me.y) - float(me.old_y)
    return (dx * float(me.old_c) + dy * float(me.old_s)) / (robot.CYCLE * top)


def five_features(robots: list[Robot], env: Any) -> list[float]:
    """Return SDBC's features of a cycle."""
    top = env.max_speed
    return [
        mean([0.5 + 0.5 * speed(me, top) for me in robots]),
        mean([float(turn_feature(me.heading - me.old_heading, f32(1 / top))) for me in robots]),
        mean([float(midpoint_distances(me.x, me.y, f32(env.arena))) for me in robots]),
        mean([distance(a, b) for a, b in combinations(robots, 2)]),
        mean(nearest_distances(robots)),
    ]


def state(inputs: list[Any]) -> int:
    """Return SPIRIT's sensory state: which groups have an active member."""
    return sum(bit for bit, group in GROUPS.items() if any(inputs[n] < 0 for n in group))


# ---------------------------------------------------------------------------------- whole trials


@dataclass
class Seen:
    """A trial, cycle by cycle as in ``qed.Trace``, and its sums as in ``qed.Outcome``."""

    x: np.ndarray
    y: np.ndarray
    heading: np.ndarray
    proximity: np.ndarray
    rab: np.ndarray
    wheels: np.ndarray
    score: dict[str, np.ndarray]
    visits: np.ndarray
    radius: float
    features: np.ndarray
    situations: np.ndarray


def watch(
    controller: Any,
    environment: Any,
    *,
    seconds: float,
    seed: int = 0,
    trial: int = 0,
    faults: Any = None,
    start: Any = None,
    noise: float = robot.PROXIMITY_NOISE,
) -> Seen:
    """Simulate one trial, as ``qed.trace`` and ``qed.simulate`` with the same arguments."""
    numbers = np.array([trial])
    poses, centres = place(environment, numbers, seed) if start is None else (None, None)
    if start is not None:
        poses, centres = start.poses[numbers], start.obstacles[numbers]
    keys = noise_keys(environment, numbers, seed)[0]
    robots = [
        Robot(k, poses[0][k], keys[k], faults[k] if faults else "NONE")
        for k in range(environment.robots)
    ]
    obstacles = [(f32(x), f32(y)) for x, y in centres[0]]
    world = World(controller, environment, f32(noise), robots, obstacles)
    tally = Tally(world)
    rows: dict[str, list[Any]] = {name: [] for name in ROWS}
    scores: dict[str, list[float]] = {task: [] for task in tally.sums}
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for cycle in range(1, round(seconds / robot.CYCLE) + 1):
            step(world)
            tally.add()
            for name, value in ROWS.items():
                rows[name].append([value(me) for me in robots])
            for task, total in tally.sums.items():
                scores[task].append(total / cycle)
    return Seen(
        **{name: np.array(values) for name, values in rows.items()},
        score={task: np.array(values) for task, values in scores.items()},
        visits=np.array(tally.visits).ravel(),
        radius=tally.radius / (cycle * len(robots)),
        features=np.array(tally.features) / cycle,
        situations=np.array(tally.situations),
    )


ROWS = {
    "x": lambda me: me.x,
    "y": lambda me: me.y,
    "heading": lambda me: me.heading,
    "proximity": lambda me: me.inputs[:7],
    "rab": lambda me: me.inputs[7:],
    "wheels": lambda me: (me.left, me.right),
}
