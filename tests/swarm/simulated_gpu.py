"""Run tiny worlds on the CPU engine and on the GPU engine in Numba's CUDA simulator.

Started by ``test_cuda.py`` with NUMBA_ENABLE_CUDASIM=1, in a process of its own; prints one line
a case: its name, and the largest difference of any sum relative to its size.
"""

import math
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))

import behaviours
import patience
from more_robots import FLOORED, TRIANGLE

import qed
from qed.swarm import backend
from qed.swarm.faults import FAULTS
from qed.swarm.job import checked
from qed.swarm.made_for import made_for
from qed.swarm.measures import MEASURES, wanted
from qed.swarm.user_defined import checked as checked_law

ALL = tuple(MEASURES)
CENTRE = 0.5  # of the arena's side


def way(dx: float, dy: float) -> float:
    """Return a distance: a function that a law calls."""
    return math.sqrt(dx * dx + dy * dy)


@qed.law
def near_centre(x, y, heading, speed, arena):
    return max(0.0, 1.0 - way(x - CENTRE * arena, y - CENTRE * arena) / arena)


@qed.law
def all_told(time, heard, proximity, nearest, max_speed, robots, turn, speed, heading, y, x):
    far = x * y + heading * speed + turn / robots
    return far + nearest / max_speed + proximity - heard * time


@qed.law
def together_now(speed_k, distance, turn, speed_i):
    return (speed_i + 0.5 * speed_k) * (1.0 - abs(turn) / math.pi) / (1.0 + distance)


OWN = (
    checked_law(near_centre, "test"),
    checked_law(all_told, "test"),
    checked_law(together_now, "test"),
)
OWN_FAULTS = (
    qed.Fault("LIMP", "left wheel at a tenth", left=0.1),
    qed.Fault("DEAD", "dead", dead=True),
    qed.Fault("BLIND", "one sensor is blind", gain=0.0, noise=0.0, sensors=(2,)),
    qed.Fault(
        "REAR", "rear sensors read at random", gain=0.0, noise=0.5, offset=0.5, sensors=(5, 6)
    ),
    qed.Fault("WEAK", "hears half as far", rab_range=0.5),
    qed.Fault("WEAR", "wheels wear", left=0.9, wear=0.05),
)
NETWORKS = [behaviours.STRAIGHT, qed.Controller.random(5), behaviours.AGGREGATOR]


def straight(robot: qed.Robot) -> qed.Controller:
    """Return a controller that drives ahead, as fast as it can."""
    return qed.Controller([], [9.0, 9.0], robot=robot)


def crowd(robots: int, trials: int, gap: float, begin: float = 0.09) -> np.ndarray:
    """Return robots on a grid in a corner, headed anywhere."""
    chance = np.random.default_rng(robots)
    columns = math.ceil(math.sqrt(robots))
    number = np.arange(robots)
    poses = np.empty((trials, robots, 3))
    poses[..., 0] = begin + gap * (number % columns)
    poses[..., 1] = begin + gap * (number // columns)
    poses[..., 2] = chance.uniform(-3, 3, (trials, robots))
    return poses


def compare(name, environment, networks, sums=ALL, seconds=0.6, trials=2, faults=None, start=None):
    job = checked(
        networks, environment, trials=trials, seconds=seconds, seed=1, faults=faults, start=start,
        noise=0.05,
    )  # fmt: skip
    worst = 0.0
    wants = wanted(sums)
    gpu, cpu = backend.on_gpu(job.robot), made_for(job.robot, "qed.swarm.cpu.engine")
    gpu.room = lambda: 0  # warps are full, on a real GPU as well
    here = gpu.simulate(job, sums)
    for k, there in enumerate(cpu.simulate(job, sums, 1, None)):
        for key in (*wants.names, *(law.key for law in wants.laws)):
            mine, its = np.asarray(here[key][k], float), np.asarray(there[key], float)
            assert mine.shape == its.shape, (name, key)
            worst = max(worst, float(np.abs(mine - its).max() / max(np.abs(its).max(), 1e-9)))
    print(f"{name}: {worst:.3g}", flush=True)


def alike(name, environment, one, other, seconds=0.4, trials=2, room=0, parts=1):
    """Print how far two swarms are apart that shall be the same, both on the GPU engine.

    For the second one it has room for so many warps, and trials take turns in so many parts.
    """
    both = []
    gpu = backend.on_gpu(
        environment[0].robot if isinstance(environment, list) else environment.robot
    )
    for swarm, warps, turns in ((one, 0, 1), (other, room, parts)):
        gpu.room = lambda warps=warps: warps
        gpu.parts_of = lambda blocks, places, turns=turns: turns
        job = checked(
            swarm, environment, trials=trials, seconds=seconds, seed=1, faults=None, start=None,
            noise=0.05,
        )  # fmt: skip
        both.append(gpu.simulate(job, ALL))
    worst = 0.0
    here, there = both
    for key in wanted(ALL).names:
        for mine, its in zip(here[key], there[key], strict=True):
            mine, its = np.asarray(mine, float), np.asarray(its, float)
            assert mine.shape == its.shape, (name, key)
            worst = max(worst, float(np.abs(mine - its).max()))
    print(f"{name}: {worst:.3g}", flush=True)


def main() -> None:
    patience.install()
    np.seterr(all="ignore")  # laws count on infinities
    small = qed.Environment(robots=3, arena=2.0)
    compare("all sums", small, NETWORKS[1:], seconds=0.6)
    compare(
        "mixed environments",
        [small, qed.Environment(robots=5, arena=2.0, obstacles=2), qed.Environment(robots=1)],
        NETWORKS,
        sums=("centre_distance", "patrol"),
        seconds=0.4,
    )
    compare(
        "more than 32 contacts in a warp",
        qed.Environment(robots=9, arena=2.0),
        NETWORKS[:1],
        sums=("centre_distance",),
        trials=3,
        start=qed.Start(crowd(9, 3, 0.115)),
    )
    compare(
        "more than 32 pairs within hearing",
        qed.Environment(robots=10, arena=2.0, obstacles=1, rab_range=2.0),
        [qed.Controller.random(3)],
        sums=("centre_distance", "spirit"),
        seconds=0.2,
        trials=3,
        start=qed.Start(crowd(10, 3, 0.14), obstacles=np.full((3, 1, 2), 1.0)),
    )
    compare(
        "robots at one place",
        qed.Environment(robots=3, arena=2.0),
        [qed.Controller([(7, 16, 0.3), (15, 17, 1.0)], [0.0, 0.0])],
        sums=("flock", "spirit"),
        trials=1,
        start=qed.Start([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [1.6, 1.6, 0.0]]),
    )
    compare(
        "robots that come near later",
        qed.Environment(robots=2, arena=2.0, rab_range=0.25, max_speed=0.2),
        NETWORKS[:1],
        sums=("centre_distance", "spirit"),
        seconds=1.6,
        trials=1,
        start=qed.Start([[0.6, 1.0, 0.0], [1.28, 1.02, math.pi]]),
    )
    compare(
        "more than 32 rays that may hit, and pairs in doubt",
        qed.Environment(robots=25, arena=2.0, rab_range=2.0, proximity_range=0.44),
        [qed.Controller.random(3)],
        sums=("centre_distance", "spirit"),
        seconds=0.2,
        trials=1,
        start=qed.Start(crowd(25, 1, 0.16)),
    )
    obstacles = np.array([[[0.6, 0.35], [0.35, 0.75]]] * 2)
    compare(
        "faults and obstacles",
        qed.Environment(robots=len(FAULTS), arena=2.0, obstacles=2, max_speed=0.2),
        NETWORKS[1:2],
        sums=("centre_distance", "flock", "spirit"),
        faults=qed.Faults(FAULTS),
        start=qed.Start(crowd(len(FAULTS), 2, 0.125), obstacles=obstacles),
    )
    pillars = np.array([[[0.5, 0.18], [0.5, 0.52], [1.5, 0.18], [1.85, 1.0]]])
    compare(
        "between obstacles, and at obstacles and walls",
        qed.Environment(robots=4, arena=2.0, obstacles=4, max_speed=0.2),
        NETWORKS[:1],
        sums=("centre_distance", "spirit"),
        seconds=1.6,
        trials=1,
        start=qed.Start(
            [[0.25, 0.35, 0.0], [1.25, 0.12, -0.02], [1.62, 0.75, 1.0], [0.8, 0.35, 3.12]], pillars
        ),
    )
    compare("a user's laws", [small, qed.Environment(robots=4, arena=2.0)], NETWORKS[1:], sums=OWN)
    compare(
        "a user's laws beside the paper's",
        qed.Environment(robots=5, arena=2.0, obstacles=1),
        NETWORKS[1:2],
        sums=(*ALL, *OWN),
        seconds=0.4,
    )
    compare(
        "a user's faults",
        qed.Environment(robots=7, arena=2.0, obstacles=2, max_speed=0.2, rab_range=0.5),
        NETWORKS[1:2],
        sums=("centre_distance", "spirit", OWN[1]),
        faults=qed.Faults([*OWN_FAULTS, "ROFS"]),
        start=qed.Start(crowd(7, 2, 0.135), obstacles=obstacles),
    )
    team = qed.Team([*NETWORKS, *(qed.Controller.random(k) for k in range(20, 24))])
    compare(
        "a team",
        qed.Environment(robots=7, arena=2.0),
        [team, NETWORKS[1]],
        start=qed.Start(crowd(7, 2, 0.125)),
    )
    differ = qed.Team(
        [
            qed.Controller([], [9.0, 9.0]),  # reads nothing
            qed.Controller([(0, 16, 1.0), (3, 17, -1.0), (6, 17, 0.5)], [1.0, 1.0]),  # proximity
            qed.Controller([(7, 16, -1.0)], [0.4, 0.6]),  # one cone
            qed.Controller([(11, 17, 1.5)], [0.7, 0.2]),  # another
            qed.Controller([(2, 18, 1.0), (18, 19, 1.0), (19, 16, 1.0)], [0.5, 0.2, -0.4, 0.3]),
            NETWORKS[2],
        ]
    )
    compare(
        "a team that reads different inputs",
        [qed.Environment(robots=6, arena=2.0), qed.Environment(robots=6, arena=2.0, obstacles=2)],
        [differ, differ],
        sums=("centre_distance", "flock"),
        seconds=1.0,
        trials=3,
    )
    compare(
        "a team of broken robots",
        qed.Environment(robots=6, arena=2.0, obstacles=2),
        [differ],
        sums=("centre_distance", "flock"),
        faults=qed.Faults([*OWN_FAULTS[2:], "ROFS", "PRAND"]),
        start=qed.Start(crowd(6, 2, 0.135), obstacles=obstacles),
    )
    for seed in (1, 5):
        lone = qed.Controller.random(seed)
        alike(f"a team of equals {seed}", small, lone, qed.Team([lone] * small.robots))
    pair = [small, qed.Environment(robots=5, arena=2.0, obstacles=2)]
    alike("trials in warps of their own", pair, NETWORKS[1:], NETWORKS[1:], trials=3, room=6)
    alike("trials in parts", pair, NETWORKS[1:], NETWORKS[1:], seconds=0.6, parts=3)
    other_robots()


def other_robots() -> None:
    """Compare the engines with robots of other outlines and sensors."""
    epucks = [qed.Controller.random(seed, robot=qed.EPUCK) for seed in (1, 5)]
    compare("e-pucks", qed.Environment(robot=qed.EPUCK, robots=3, arena=1.5), epucks, seconds=0.4)
    compare(
        "fast e-pucks",
        qed.Environment(robot=qed.EPUCK, robots=2, arena=1.5, max_speed=0.4),
        [straight(qed.EPUCK)],
        sums=("centre_distance",),
        trials=1,
        start=qed.Start([[0.5, 0.5, 1.0], [1.3, 0.7, -0.2]]),
    )
    corner = np.array([[[0.19, 0.1], [0.02, 0.25]]] * 2)
    compare(
        "e-pucks at walls and obstacles",
        qed.Environment(robot=qed.EPUCK, robots=5, arena=1.5, obstacles=2),
        [straight(qed.EPUCK), epucks[0]],
        sums=("centre_distance", "flock", "spirit"),
        seconds=0.4,
        faults=qed.Faults(["ROFS", "PMIN", OWN_FAULTS[2], OWN_FAULTS[1], "RW-H"]),
        start=qed.Start(crowd(5, 2, 0.067, 0.033), obstacles=corner),
    )
    compare(
        "a crowd of e-pucks",
        qed.Environment(robot=qed.EPUCK, robots=5, arena=1.5),
        [qed.Team([*epucks, straight(qed.EPUCK), *epucks])],
        sums=("centre_distance", OWN[1]),
        start=qed.Start(crowd(5, 2, 0.066, 0.3)),
    )
    stock = qed.THYMIO_STOCK
    listeners = [qed.Controller.random(seed, robot=stock) for seed in (1, 5)]
    links = [(7 + k, 15 + k % 2, 0.5 + 0.2 * k) for k in range(7)]  # of all messages
    listeners[0] = qed.Controller(links, [0.3, 0.1], robot=stock)
    compare(
        "Thymios as they are sold",
        qed.Environment(robot=stock, robots=3, arena=1.5),
        listeners,
        seconds=0.4,
        trials=1,
        start=qed.Start([[0.7, 0.7, 0.0], [0.95, 0.7, 3.0], [0.8, 1.0, -1.5]]),
    )
    compare(
        "broken ones in a corner",
        qed.Environment(robot=stock, robots=5, arena=1.5, obstacles=2),
        [straight(stock), listeners[0]],
        sums=("centre_distance", "spirit", OWN[1]),
        seconds=0.4,
        faults=qed.Faults(["PRAND", OWN_FAULTS[1], OWN_FAULTS[4], OWN_FAULTS[5], "BW-H"]),
        start=qed.Start(crowd(5, 2, 0.105, 0.05), obstacles=corner + 0.2),
    )
    compare(
        "a team of them",
        qed.Environment(robot=stock, robots=4, arena=1.5),
        [
            qed.Team(
                [
                    straight(stock),
                    qed.Controller([(9, 15, 1.0), (2, 16, -1.0)], [1.0, 1.0], robot=stock),
                    qed.Controller([(12, 16, 1.5)], [0.7, 0.2], robot=stock),
                    listeners[1],
                ]
            )
        ],
        sums=("centre_distance", "flock"),
        start=qed.Start(crowd(4, 2, 0.115, 0.3)),
    )
    compare(
        "a user's triangles",
        qed.Environment(robot=TRIANGLE, robots=5, arena=1.5, obstacles=2),
        [straight(TRIANGLE), qed.Controller.random(5, robot=TRIANGLE)],
        sums=("centre_distance", "spirit"),
        seconds=0.4,
        trials=1,
        faults=qed.Faults(["PRAND", "NONE", OWN_FAULTS[1], "LW-H", OWN_FAULTS[3]]),
        start=qed.Start(crowd(5, 1, 0.09, 0.045), obstacles=corner[:1] + 0.2),
    )
    greys = np.random.default_rng(1).uniform(size=(16, 9))
    readers = [
        qed.Controller(
            [(15, 19, 0.7), (16, 20, -0.6), (17, 21, 2.0), (21, 20, 1.0)], [0.1] * 3, FLOORED
        ),
        qed.Controller.random(5, robot=FLOORED),
        qed.Controller([(17, 19, 1.0)], [0.0, 0.2], FLOORED),
    ]
    compare(
        "floors",
        [
            qed.Environment(robot=FLOORED, robots=3, arena=1.5, floor=floor)
            for floor in (greys, None, greys[:1])
        ],
        readers,
        sums=("centre_distance", "flock", "spirit"),
        seconds=0.8,
        faults=qed.Faults(["ROFS", "PMIN", "NONE"]),
        start=qed.Start(crowd(3, 2, 0.2, 0.3)),
    )
    compare(
        "a team on a floor",
        qed.Environment(robot=FLOORED, robots=3, arena=1.5, floor=greys),
        [qed.Team(readers)],
        sums=("centre_distance", "flock"),
        start=qed.Start(crowd(3, 2, 0.2, 0.3)),
    )


if __name__ == "__main__":
    main()
