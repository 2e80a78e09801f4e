"""The faults that are simulated for a kit: from few broken robots to all, of one kind and mixed.

A prior that knows only uniform faults gets stuck in one-sided ones, where all broken robots have
the same kind of fault; so two thirds of a library are one-sided, from one broken robot to all.
One that knows only its own world misjudges others, so some swarms have lost robots, or meet
obstacles.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from qed.chance import fold
from qed.streams import stream
from qed.swarm.backend import MOST_OBSTACLES
from qed.swarm.environment import Environment
from qed.swarm.faults import DRAWN, FAULTS, Fault, Faults

HEALTHY = "NONE"
EVERY = 3  # of the faults one is uniform
LEVELS = 4  # of how many robots break
MORE_OBSTACLES = 6  # at most, in a world that is not home
FOR_OBSTACLE, FOR_ROBOT = 2.5, 0.1  # m2 of an arena that each has at least
# What is hit; a one-sided fault hits one of these, or is a single fault.
GROUPS: tuple[tuple[str, ...], ...] = (
    ("PMIN", "PMAX", "PRAND"),
    ("LW-H", "RW-H", "BW-H"),
    ("PMIN",),
    ("LW-H",),
    ("PMAX",),
    ("ROFS",),
    ("PRAND",),
    ("RW-H",),
    ("BW-H",),
)


def kinds_of(extra: Sequence[Faults] = ()) -> list[Fault]:
    """Return the faults that a library draws from: the paper's, and those of a user's."""
    more = [one for faults in extra for one in faults.each]
    return list(dict.fromkeys([*(FAULTS[name] for name in DRAWN), *more]))


def alike(robots: int, extra: Sequence[Faults] = ()) -> list[Faults]:
    """Return the swarms in which all robots have the same fault."""
    return [Faults([name] * robots) for name in kinds_of(extra) if name != HEALTHY]


def drawn(
    purpose: str,
    seed: int,
    count: int,
    robots: int,
    extra: Sequence[Faults] = (),
    every: int = EVERY,
) -> list[Faults]:
    """Draw combined faults: every third uniform, the others one-sided; purposes share no draw.

    ``extra`` are a user's faults: their kinds are drawn too, by themselves and among the others.
    """
    return [_fault(purpose, seed, k, robots, extra, every) for k in range(count)]


def elsewhere(
    seed: int, count: int, home: Environment, extra: Sequence[Faults] = ()
) -> list[tuple[Faults, Environment]]:
    """Draw faults in worlds with fewer robots than at home, and by turns with more obstacles.

    At least half of the robots are left.  There are none if the arena has no room for obstacles
    and the swarm is a single robot.
    """
    room = int((home.arena**2 - FOR_ROBOT * home.robots) / FOR_OBSTACLE)
    # As many as any engine can take, so that a library does not depend on the engine.
    more = min(MORE_OBSTACLES, min(room, MOST_OBSTACLES) - home.obstacles)
    fewer = home.robots // 2
    found = []
    for k in range(count if more > 0 or fewer > 0 else 0):
        bits = int(fold(stream("kit", "world", seed, k), 1))
        if fewer > 0 and (k % 2 == 0 or more <= 0):
            world = replace(home, robots=home.robots - 1 - (bits * fewer >> 32))
        else:
            world = replace(home, obstacles=home.obstacles + 1 + (bits * more >> 32))
        found.append((_fault("elsewhere", seed, k, world.robots, extra), world))
    return found


def _fault(
    purpose: str, seed: int, k: int, robots: int, extra: Sequence[Faults], every: int = EVERY
) -> Faults:
    """Return the fault number k of those drawn for a purpose."""
    number = stream("kit", purpose, seed, k)
    if k % every == 0:
        return mixed(robots, number, extra)
    return one_sided(robots, number, k - k // every - 1, extra)


def mixed(robots: int, seed: int, extra: Sequence[Faults] = ()) -> Faults:
    """Draw each robot's fault independently, all kinds equally likely."""
    names = kinds_of(extra)
    bits = fold(seed, 1, np.arange(robots)).astype(np.uint64)
    return Faults([names[k] for k in ((bits * len(names)) >> 32).tolist()])


def one_sided(robots: int, seed: int, turn: int, extra: Sequence[Faults] = ()) -> Faults:
    """Draw which robots break; by turns with faults of one group, few of them, more, or most."""
    groups: list[tuple[str, ...]] = [
        *GROUPS,
        *((name,) for name in kinds_of(extra) if name not in DRAWN),
    ]
    group, level = groups[turn % len(groups)], turn // len(groups) % LEVELS
    count, *kinds = fold(seed, 2, np.arange(robots + 1)).astype(np.uint64).tolist()
    broken = 1 + int((level + count / 2**32) * robots / LEVELS)
    hit = np.argsort(fold(seed, 3, np.arange(robots)), kind="stable")[:broken]
    names = [HEALTHY] * robots
    for robot, bits in zip(hit.tolist(), kinds, strict=False):
        names[robot] = group[bits * len(group) >> 32]
    return Faults(names)


def diagnosed(faults: Faults, misdiagnosis_rate: float, kinds: Sequence[str], seed: int) -> Faults:
    """Return each robot's diagnosis: with this probability another one of these kinds.

    With the same seed, who is wrong at a low rate is so at a higher one, too.
    """
    robots = np.arange(len(faults))
    chance = fold(seed, 1, robots) / 2.0**32
    drawn = fold(seed, 2, robots).astype(np.uint64).tolist()
    names = []
    for name, number, bits in zip(faults, chance.tolist(), drawn, strict=True):
        others = [kind for kind in kinds if kind != name]
        mistaken = number < misdiagnosis_rate and others
        names.append(others[bits * len(others) >> 32] if mistaken else name)
    return Faults(names)
