"""What is seen, simulated, and as bytes for the page.

A message is the length of a header (4 bytes), the header (JSON, filled up to a multiple of 8), and
the arrays that it lists, one after the other.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from qed.controller.network import Controller
from qed.controller.team import Team
from qed.explore.recording import Stretch, Watched
from qed.explore.state import Scene
from qed.swarm.robot import CYCLE

SMALL = 127.0  # of an 8-bit number that stands for 1


@dataclass(frozen=True, eq=False)
class Lived:
    """What a swarm did, from its start to its end."""

    scene: Scene
    start: np.ndarray  # float32 (robots, 3)
    obstacles: np.ndarray  # (n, 2)
    stretch: Stretch

    @property
    def poses(self) -> np.ndarray:
        """Poses, float32 (3, cycles + 1, robots); the start is the first row."""
        return np.concatenate([self.start.T[:, None, :], self.stretch.poses], 1)


def lived(scene: Scene) -> Lived:
    """Let a swarm live: robots break when the scene says so."""
    controller = scene.controller
    world = Watched(scene.environment, scene.task, scene.seed, start=scene.poses)
    start, obstacles = world.poses, world.obstacles
    moments = [0, *(cycle for cycle, _ in scene.events if cycle), scene.cycles]
    broken = dict(scene.events)
    stretches = []
    for begin, end in pairwise(moments):
        world.faults = broken.get(begin, world.faults)
        stretches.append(world.watch(controller, (end - begin) * CYCLE))
    return Lived(scene, start, obstacles, _joined(stretches))


def _joined(stretches: list[Stretch]) -> Stretch:
    if len(stretches) == 1:
        return stretches[0]
    return Stretch(
        poses=np.concatenate([one.poses for one in stretches], 1),
        inputs=np.concatenate([one.inputs for one in stretches], 1),
        wheels=np.concatenate([one.wheels for one in stretches], 1),
        hidden=np.concatenate([one.hidden for one in stretches], 1),
        score=np.concatenate([one.score for one in stretches]),
    )


def message(one: Lived) -> bytes:
    """Return what a swarm did as the page reads it: series of each robot, one after the other."""
    scene, seen = one.scene, one.stretch
    top = scene.environment.max_speed
    arrays = {
        "poses": np.moveaxis(one.poses, 2, 1).astype("<f4"),
        "score": seen.score.astype("<f4"),
        "inputs": _small(seen.inputs.transpose(2, 0, 1)),
        "wheels": _small(seen.wheels.transpose(2, 0, 1) / top),
        "hidden": _small(seen.hidden.transpose(2, 0, 1)),
    }
    header = {
        "environment": asdict(scene.environment),
        "own": scene.own,
        "task": str(scene.task),
        "cells": list(scene.cells),
        "seconds": scene.seconds,
        "cycles": scene.cycles,
        "cycle": CYCLE,
        "robots": scene.environment.robots,
        "obstacles": np.round(one.obstacles.astype(float), 5).tolist(),
        "events": [[cycle, list(faults)] for cycle, faults in scene.events],
        "networks": _networks(scene.controller, scene.environment.robots),
        "means": scene.task.score is None,
        "arrays": [[name, list(array.shape), array.itemsize] for name, array in arrays.items()],
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 4) % 8)
    return b"".join(
        [len(text).to_bytes(4, "little"), text, *(array.tobytes() for array in arrays.values())]
    )


def _small(values: np.ndarray) -> np.ndarray:
    """Return numbers from -1 to 1 in steps of 1/127."""
    small: np.ndarray = np.rint(SMALL * np.clip(values, -1.0, 1.0)).astype(np.int8)
    return small


def _networks(controller: Controller | Team, robots: int) -> dict[str, Any]:
    """Return the networks as they are simulated, and which of them each robot has."""
    each = list(controller) if isinstance(controller, Team) else [controller]
    different = list(dict.fromkeys(one.pruned() for one in each))
    place = {one: k for k, one in enumerate(different)}
    of = [place[one.pruned()] for one in each]
    return {
        "of": of if len(of) == robots else of * robots,
        "links": [
            [[source, target, round(weight, 3)] for source, target, weight in one.connections]
            for one in different
        ],
        "hidden": [one.hidden for one in different],
    }
