"""E-pucks, driven step by step, against recordings of the original simulator (argos-epuck)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import recordings as rec

import qed

RANGE = 0.8  # m, of range and bearing
LONG = 80  # cycles, 16 s
WIDE = 18.0  # m, an arena whose walls nobody meets
MIDDLE = np.array([WIDE / 2, WIDE / 2, 0.0])
AT_WALLS = ("wall_both", "wall_push", "wall_between", "wall_cross", "wall_changing", "corner")
MOVING = ("avoid", "asymmetric", "follow_right", "circle")  # do not stop at each other
STATISTICS = ("contact", "speed", "spread")
TOUCHING = 0.001  # m of air


def world(start: np.ndarray, arena: float, obstacles: np.ndarray | None = None) -> qed.World:
    """Return a world for each case, without noise: starts (cases, robots, 3)."""
    environment = qed.Environment(
        robot=qed.EPUCK, robots=start.shape[1], arena=arena,
        obstacles=0 if obstacles is None else obstacles.shape[1],
    )  # fmt: skip
    return qed.World(
        environment, start=qed.Start(start, obstacles), noise=0.0, worlds=len(start)
    )  # fmt: skip


def off(
    pose: np.ndarray, wheels: np.ndarray, arena: float, obstacles: np.ndarray | None = None
) -> np.ndarray:
    """Drive robots as recorded, (cases, cycles, robots, ...); return how far off they end (m).

    The larger of a pair's errors after 16 s.  Starts and speeds were given to four digits.
    """
    here = world(np.round(pose[:, 0].astype(float), 4), arena, obstacles)
    commands = np.round(wheels.astype(float), 4) / 100.0 / here.environment.max_speed
    commands[:, 0] = 0.0
    for cycle in range(LONG):
        here.step(commands[:, cycle])
    last = LONG if pose.shape[1] > LONG else -1  # an excerpt has the first and this one
    error: np.ndarray = np.hypot(*(here.poses - pose[:, last])[..., :2].transpose(2, 0, 1))
    return error.max(1)


def judged(error: np.ndarray) -> dict[str, Any]:
    """Return what most and nearly all of some errors (m) stay within, and parts beyond."""
    return {
        "cases": len(error),
        "within_95": np.quantile(error, 0.95),
        "within_99": np.quantile(error, 0.99),
        "off_by_1_mm": (error > 1e-3).mean(),
        "off_by_1_cm": (error > 1e-2).mean(),
    }


def contacts(root: Path) -> dict[str, Any]:
    """Robots alone, at walls, in pairs and at cylinders, with five iterations as ours has."""
    folder = root / "argos-epuck"
    stored = {
        name: np.load(folder / f"{name}_it5.npz")
        for name in ("a_motion", "b_wall", "c_pair", "d_obstacle")
    }
    alone, walls, pairs, things = stored.values()
    near_wall = np.isin(pairs["kind"], AT_WALLS)
    round_ones = things["kind"] == "cylinder"
    cylinders = np.round(things["obstacle"][round_ones][:, None, :3].astype(float), 4)
    return {
        "in the open": judged(
            off(alone["pose"][:, :, None] + MIDDLE, alone["wheels"][:, :, None], WIDE)
        ),
        "at walls": judged(off(walls["pose"][:, :, None], walls["wheels"][:, :, None], 2.0)),
        "pairs in the open": judged(
            off(pairs["pose"][~near_wall] + MIDDLE, pairs["wheels"][~near_wall], WIDE)
        ),
        "pairs at walls": judged(off(pairs["pose"][near_wall], pairs["wheels"][near_wall], 2.0)),
        "at cylinders": judged(
            off(
                things["pose"][round_ones][:, :, None] + MIDDLE,
                things["wheels"][round_ones][:, :, None], WIDE, cylinders + MIDDLE,
            )
        ),
    }  # fmt: skip


def sensed(pose: np.ndarray, arena: float, obstacles: np.ndarray | None = None) -> Any:
    """Return what robots that stand still read: proximity 0 to 1, cones in m."""
    found = world(pose, arena, obstacles).step(np.zeros((*pose.shape[:2], 2)))
    return 0.5 * (1.0 - found.proximity), RANGE * 0.5 * (1.0 + found.rab)


def poses(x: Any, y: Any, heading: Any) -> np.ndarray:
    """Return poses of one robot a case."""
    return np.stack(np.broadcast_arrays(x, y, heading), -1)[:, None].astype(float)


def scans(root: Path) -> dict[str, Any]:
    """Sensors at fixed poses; the largest error of a reading (0 to 1), and cones off by 1 mm."""
    folder = root / "argos-epuck"
    wall, corner, robot, cylinder, rab = (
        np.load(folder / f"e_{name}.npz")
        for name in ("scan_wall", "scan_corner", "scan_robot", "scan_cylinder", "rab")
    )
    two = np.zeros((len(robot["distance"]), 2, 3))
    two[:, :, :2] = 1.0
    two[:, 1, 0] += robot["distance"] * np.cos(robot["bearing"])
    two[:, 1, 1] += robot["distance"] * np.sin(robot["bearing"])
    round_ones = np.stack([2 + 0 * cylinder["radius"]] * 2 + [cylinder["radius"]], -1)[:, None]
    seen = {
        "wall": (wall, sensed(poses(2.0 - wall["distance"], 1.0, wall["yaw"]), 2.0)),
        "corner": (corner, sensed(poses(2 - corner["dx"], 2 - corner["dy"], corner["yaw"]), 2.0)),
        "robot": (robot, sensed(two, 2.0)),
        "cylinder": (
            cylinder,
            sensed(poses(2 - cylinder["distance"], 2.0, cylinder["yaw"]), 4.0, round_ones),
        ),
    }
    found: dict[str, Any] = {
        name: {"poses": len(stored["prox"]), "largest": np.abs(near[:, 0] - stored["prox"]).max()}
        for name, (stored, (near, _)) in seen.items()
    }
    near, cones = sensed(rab["pose"].astype(float), 2.0)
    found["swarms"] = {
        "poses": len(near),
        "largest": np.abs(near - rab["prox"]).max(),
        "cones": cones.size,
        "cones_off": int((np.abs(cones - rab["cone"]) > 1e-3).sum()),
    }
    return found


def driven(law: dict[str, Any], start: np.ndarray, cycles: int) -> np.ndarray:
    """Return the poses (trials, cycles + 1, robots, 3) of swarms that a controller drives."""
    here = world(start, 2.0)
    sides = [law["left"], law["right"]]
    prox, cone, previous = (
        np.array([side[name] for side in sides]) for name in ("prox", "cone", "previous")
    )
    bias = np.array([side["bias"] for side in sides])
    command = np.zeros((*start.shape[:2], 2))  # cm/s
    seen = [here.poses]
    for _ in range(cycles):
        read = here.step(command / 100.0 / here.environment.max_speed)
        seen.append(here.poses)
        wanted = bias + 0.5 * (1.0 - read.proximity) @ prox.T + 0.5 * (1.0 - read.rab) @ cone.T
        command = np.clip(wanted + command @ previous.T, -law["vmax"], law["vmax"])
    return np.stack(seen, 1)


def statistics(pose: np.ndarray) -> np.ndarray:
    """Return time in contact, speed (m/s) and spread (m) of each trial, from a pose each second."""
    place, radius = pose[..., :2].astype(float), qed.EPUCK.outer_radius
    apart = np.hypot(*(place[..., :, None, :] - place[..., None, :, :]).transpose(4, 0, 1, 2, 3))
    apart += 10.0 * np.eye(place.shape[2])
    wall = np.minimum(place, 2.0 - place).min(-1)
    contact = (apart.min(-1) < 2 * radius + TOUCHING) | (wall < radius + TOUCHING)
    speed = np.hypot(*np.diff(place, axis=1).transpose(3, 0, 1, 2))
    spread = np.hypot(*(place - place.mean(2, keepdims=True)).transpose(3, 0, 1, 2))
    return np.stack([one.mean((1, 2)) for one in (contact, speed, spread)], -1)


def swarms(root: Path) -> dict[str, Any]:
    """Return how swarms of moving controllers differ, in standard errors of the means of trials."""
    folder = root / "argos-epuck"
    names = [name for name in MOVING if (folder / f"f_{name}_it5.npz").exists()]
    laws = json.loads((folder / "f_controllers.json").read_text())
    found: dict[str, Any] = {}
    for name in names:
        stored = np.load(folder / f"f_{name}_it5.npz")
        every = int(stored["every"]) if "every" in stored else 1  # cycle that was kept
        theirs = stored["pose"][:, :: 5 // every]
        ours = driven(laws[name], stored["pose"][:, 0].astype(float), 5 * (theirs.shape[1] - 1))
        z = rec.standard_errors(*map(statistics, (ours[:, ::5], theirs)), 0)
        found[name] = dict(zip(STATISTICS, z.tolist(), strict=True))
    each = np.array([list(values.values()) for values in found.values()])
    return found | {"rms_z": rec.root_mean_square(each), "largest_z": np.abs(each).max()}


def compared(root: Path) -> dict[str, Any]:
    """Return all of it."""
    return {"contacts": contacts(root), "scans": scans(root), "swarms": swarms(root)}
