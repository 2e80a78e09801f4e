"""Fitness and descriptors of the plain world, added up as naively as they are defined.

Sums are in double precision.
"""

from __future__ import annotations

import math
from itertools import combinations
from types import SimpleNamespace

import numpy as np
from numpy import float32 as f32

from qed.swarm import robot
from qed.swarm.laws import scoring
from qed.swarm.laws.geometry import wrap

TASKS = ("aggregation", "dispersion", "flocking", "patrolling", "border-patrolling")
SPIRIT_GROUPS = {32: [0, 1], 16: [2], 8: [3, 4], 4: [5, 6], 2: [7, 8, 13, 14], 1: [9, 10, 11, 12]}


class Tally:
    """What tasks and descriptors add up over a trial."""

    def __init__(self, world):
        self.world = world
        self.fitness = dict.fromkeys(TASKS, 0.0)
        self.grid = [[0.0] * 10 for _ in range(10)]
        side = math.ceil(world.env.arena / scoring.FINE_CELL - 1e-9)
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
            self.visits[int(me.x / scoring.FINE_CELL), int(me.y / scoring.FINE_CELL)] += 1
            self.situations[state(me), scoring.action(*me.wheels)] += 1

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
    turns = [wrap(me.heading - me.old_heading) for me in robots]
    return (
        mean([0.5 + 0.5 * speed(me, env.max_speed) for me in robots]),
        mean([scoring.turn_feature(turn, per_speed) for turn in turns]),
        mean([scoring.midpoint_distances(me.x, me.y, side) for me in robots]),
        mean([distance(me, you) for me, you in combinations(robots, 2)]),
        mean(nearest(robots)),
    )


def state(me):
    """Return SPIRIT's sensory state: the groups with an active member."""
    inputs = [*me.proximity, *me.rab]
    return sum(bit for bit, group in SPIRIT_GROUPS.items() if any(inputs[n] < 0 for n in group))
