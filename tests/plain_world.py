"""The simulated world a second time: slow and plain, one robot, pair and sensor at a time.

The engine is tested against it.  It shares with the engine the scalar laws, the draw of start
poses and the noise keys, but no loop: no near lists, no packing, no pruning of networks, no
shortcuts in occlusion.  Numbers are in single precision, as the laws are.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
from numpy import float32 as f32
from plain_contact import move
from plain_scores import TASKS, Tally

from qed.chance import draw, high_noise, low_noise
from qed.controller.network import Team
from qed.swarm import robot
from qed.swarm.faults import Faults
from qed.swarm.laws import bodies, geometry, sensing
from qed.swarm.laws.geometry import cos_sin
from qed.swarm.laws.neuron import GAIN, tanh
from qed.swarm.laws.rays import ray_body, ray_disc, ray_wall
from qed.swarm.placing import noise_keys, place

ZERO, HALF, ONE, TWO = f32(0), f32(0.5), f32(1), f32(2)
OBSTACLE = f32(robot.OBSTACLE_RADIUS)
INNER = f32(robot.THYMIO.inner_radius)
EAR = 8  # random bits for misheard neighbours come after those of the sensors
ROWS = ("x", "y", "heading", "proximity", "rab", "ground", "wheels")


class Robot:
    """One robot: where it is, how it moves, and what it thinks."""

    def __init__(self, number, pose, key, fault):
        self.number, self.key, self.fault = number, key, fault.name
        self.wear = f32(fault.wear * robot.CYCLE)
        self.x, self.y = f32(pose[0]), f32(pose[1])
        self.heading = f32((float(pose[2]) + math.pi) % (2 * math.pi) - math.pi)
        self.c, self.s = cos_sin(self.heading)
        self.vx = self.vy = self.turn = ZERO  # velocity and turn rate
        self.jx = self.jy = self.angular_drive = ZERO  # impulses of drive and angular drive
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
        self.kept = {}  # impulses of the last sub-step's contacts, by what touches
        self.cycle = 0

    def step(self):
        """Let one control cycle pass: move, then sense, then decide."""
        self.cycle += 1
        move(self)
        for me in self.robots:
            me.proximity = [feel(self, me, sensor) for sensor in range(7)]
            me.rab = hear(self, me)
            me.ground = [below(self, me, place) for place in self.env.robot.ground]
        for me in self.robots:
            think(self, me)


# --- sensors and network


def feel(world, me, sensor):
    """Return what a proximity sensor tells the network: 1 nothing, -1 touching."""
    value = sensing.reading(look(world, me, sensor), ONE / f32(world.env.proximity_range))
    bits = draw(me.key, world.cycle, sensor - sensor % 2)  # two sensors share 32 bits
    random = high_noise(bits) if sensor % 2 else low_noise(bits)
    value = min(max(value + world.noise * random, ZERO), ONE)
    if sensor < len(robot.THYMIO.front):
        broken = {"PMIN": ZERO, "PMAX": ONE, "PRAND": HALF + HALF * random}
        value = broken.get(me.fault, value)
    return ONE - TWO * value


def look(world, me, sensor):
    """Return how far a sensor's ray gets (m)."""
    at_x, at_y, angle = robot.THYMIO.proximity[sensor]
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
    cones = [limit] * robot.THYMIO.rab
    for you in world.robots:
        if you is me or not in_sight(world, *looking(me, you)):
            continue
        forward, left = me.to_body(you.x - me.x, you.y - me.y)
        if me.fault == "ROFS":
            bits = draw(me.key, world.cycle, EAR + you.number)
            offset = cos_sin(geometry.PI * high_noise(bits))
            forward, left = sensing.misheard(forward, left, low_noise(bits), *offset)
        cone = sensing.cone(forward, left)
        cones[cone] = min(cones[cone], f32(math.hypot(forward, left)))
    return [sensing.heard(distance, ONE / limit) for distance in cones]


def looking(me, you):
    """Return a pair of robots, the one that looks first: who that is does not hang on numbers."""
    away = you.x - me.x, you.y - me.y
    return (me, you) if bodies.ahead(*away) else (you, me)


def in_sight(world, me, you):
    """Tell whether two robots are in range with no other body on their line of centres.

    What the line enters only within the other's inscribed disc does not count: bodies can
    overlap a little, and then which one is met first depends on where one looks from.
    """
    dx, dy = you.x - me.x, you.y - me.y
    distance = f32(math.hypot(dx, dy))
    met = hits(world, me.x, me.y, dx / distance, dy / distance, [me, you])
    return distance < f32(world.env.rab_range) and all(at >= distance - INNER for at in met)


def below(world, me, place):
    """Return how bright the floor is below a place of the body: 0 black, 1 white."""
    if world.env.floor is None:
        return ONE
    x, y = me.to_world(f32(place[0]), f32(place[1]))
    rows, columns = len(world.env.floor), len(world.env.floor[0])
    row = math.floor((me.y + y) * (f32(rows) / world.side))
    column = math.floor((me.x + x) * (f32(columns) / world.side))
    row, column = min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)
    return f32(world.env.floor[row][column])


def think(world, me):
    """Update all neurons at once, and command the wheels."""
    inputs = [*me.proximity, *me.rab, *me.ground, ONE]
    left_wheel, right_wheel = len(inputs), len(inputs) + 1
    values = dict(enumerate(inputs)) | me.neurons
    controller = world.controller
    if isinstance(controller, Team):
        controller = controller[me.number]
    links = controller.connections
    me.neurons = {}
    for node, bias in enumerate(controller.bias, start=left_wheel):
        parts = [f32(w) * values.get(source, ZERO) for source, to, w in links if to == node]
        me.neurons[node] = tanh(GAIN * sum(parts, ZERO) + f32(bias))
    top = f32(world.env.max_speed)
    left, right = top * me.neurons[left_wheel], top * me.neurons[right_wheel]
    left *= HALF if me.fault in ("LW-H", "BW-H") else ONE
    right *= HALF if me.fault in ("RW-H", "BW-H") else ONE
    whole = max(ONE - me.wear * f32(world.cycle), ZERO)
    left, right = left * whole, right * whole
    me.wheels = (left, right)


# --- whole trials


def watch(
    controller, env, *, seconds, seed=0, trial=0, faults=None, start=None, noise=0.05, lead=None
):
    """Simulate one trial, as ``qed.trace`` and ``qed.simulate`` with the same arguments do.

    With a trace as ``lead`` every cycle begins where the trace is, with its wheel commands, so
    that rounding errors cannot grow: a comparison cycle by cycle.
    """
    one = np.array([trial])
    room = (env.robots, env.arena, env.obstacles, one[0] + 1, seed)
    poses, obstacles = (start.poses, start.obstacles) if start else place(*room)[:2]
    poses, obstacles = poses[one], obstacles[one]
    keys = noise_keys(*room)[one[0]]
    each = (faults or Faults.none(env.robots)).each
    robots = [Robot(n, poses[0, n], keys[n], each[n]) for n in range(env.robots)]
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
