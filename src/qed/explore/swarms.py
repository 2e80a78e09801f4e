"""What is seen, simulated: as bytes for the page, and as a film or a page to keep.

A message is the length of a header (4 bytes), the header (JSON, filled up to a multiple of 8), and
the arrays that it lists, one after the other.
"""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from qed.controller.network import GAIN, Controller, Team
from qed.explore.queues import Stream
from qed.explore.state import Scene
from qed.swarm.environment import ATTRIBUTES
from qed.swarm.faults import Faults
from qed.swarm.robot import CYCLE
from qed.swarm.trace import Trace
from qed.swarm.world import World
from qed.view import film, look
from qed.view.pane import Pane, Signs, joined, letters_of
from qed.view.player import body
from qed.view.replay import Column, Replay, View
from qed.view.words import in_words

SMALL = 127.0  # of an 8-bit number that stands for 1
KINDS = {"mp4": "video/mp4", "gif": "image/gif", "html": "text/html; charset=utf-8"}
SIZE = {"mp4": 560, "gif": 360, "html": 560}  # pixels of an arena
SPAN = 20.0  # s that the score of a film looks back, as in the page


@dataclass(frozen=True, eq=False)
class Recording:
    """What a swarm did, from its start to its end."""

    scene: Scene
    trace: Trace
    hidden: np.ndarray  # (cycles, robots, most hidden neurons)


def recorded(scene: Scene) -> Recording:
    """Simulate a swarm whose robots break when the scene says so."""
    controller = scene.controller
    world = World(scene.environment, scene.task, scene.seed, start=scene.poses)
    traces = []
    for begin, end, broken in scene.periods:
        world.faults = broken or world.faults
        traces.append(world.trace(controller, (end - begin) * CYCLE, since_start=True))
    hidden = [activations(controller, trace) for trace in traces]
    return Recording(scene, joined(traces), np.concatenate(hidden))


def activations(controller: Controller | Team, trace: Trace) -> np.ndarray:
    """Return the outputs of the hidden neurons in every cycle (cycles, robots, most neurons)."""
    cycles, robots = trace.x.shape
    networks = _networks_of(controller, robots)
    inputs = networks[0].nodes
    first = inputs.FIRST_HIDDEN
    bias = np.ones((cycles, robots, 1), np.float32)
    read = np.concatenate([trace.proximity, trace.rab, trace.ground, bias], 2)
    found = np.zeros((cycles, robots, max(one.hidden for one in networks)), np.float32)
    for network in dict.fromkeys(networks):
        mine = [robot for robot, one in enumerate(networks) if one == network]
        weights = np.zeros((inputs.LEFT + network.hidden, network.hidden), np.float32)
        for source, target, weight in network.connections:
            if target >= first:
                row = source if source < inputs.LEFT else source - len(inputs.WHEELS)
                weights[row, target - first] += GAIN * weight
        sums = read[:, mine] @ weights[: inputs.LEFT] + np.array(network.bias[2:], np.float32)
        output = np.zeros((len(mine), network.hidden), np.float32)
        for t in range(cycles):
            output = np.tanh(sums[t] + output @ weights[inputs.LEFT :])
            found[t, mine, : network.hidden] = output
    return found


def _networks_of(controller: Controller | Team, robots: int) -> list[Controller]:
    """Return the network of each robot, as it is simulated."""
    each = list(controller) if isinstance(controller, Team) else [controller] * robots
    pruned = {one: one.pruned() for one in each}
    return [pruned[one] for one in each]


def message(one: Recording) -> bytes:
    """Return what a swarm did as the page reads it: series of each robot, one after the other."""
    scene, trace = one.scene, one.trace
    inputs, robot = scene.controller.nodes, scene.environment.robot
    poses = np.stack([trace.x.T, trace.y.T, trace.heading.T])
    sensed = np.concatenate([trace.proximity, trace.rab, trace.ground], 2)
    arrays = {
        "poses": np.concatenate([trace.start.T[:, :, None], poses], 2).astype("<f4"),
        "score": trace.score.astype("<f4"),
        "inputs": _small(sensed.transpose(1, 2, 0)),
        "wheels": _small(trace.wheels.transpose(1, 2, 0) / scene.environment.max_speed),
        "hidden": _small(one.hidden.transpose(1, 2, 0)),
    }
    header = {
        "environment": {name: getattr(scene.environment, name) for name in ATTRIBUTES},
        "floor": look.greys(scene.environment.floor),
        "words": in_words(scene.environment),
        "native": scene.native,
        "task": str(scene.task),
        "cells": list(scene.cells),
        "seconds": scene.seconds,
        "cycles": scene.cycles,
        "cycle": CYCLE,
        "robots": scene.environment.robots,
        "obstacles": np.round(trace.obstacles.astype(float), 5).tolist(),
        "events": [[cycle, list(faults)] for cycle, faults in scene.events],
        "letters": letters_of(trace.parts),
        "sensed": inputs.CONSTANT,
        "firstRab": inputs.FIRST_RAB,
        "left": inputs.LEFT,
        "firstHidden": inputs.FIRST_HIDDEN,
        "body": body(robot),
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
    each = _networks_of(controller, robots)
    different = list(dict.fromkeys(each))
    return {
        "of": [different.index(one) for one in each],
        "links": [
            [[source, target, round(weight, 3)] for source, target, weight in one.connections]
            for one in different
        ],
        "hidden": [one.hidden for one in different],
    }


# Films


def filmed(
    scenes: Sequence[Scene], kind: str, stream: Stream, *, trails: bool, sensors: bool
) -> bytes:
    """Return a film of a swarm, or of two side by side, as the content of a file."""
    seen = []
    for scene in scenes:
        with stream.turn():
            seen.append(recorded(scene))
    how = {"trails": trails, "sensors": sensors}
    form = film.film_of(f".{kind}", [scenes[0].seconds], size=SIZE[kind], **how)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"film.{kind}"
        film.write(replay_of(seen), path, form, stream.progress)
        return path.read_bytes()


def replay_of(seen: Sequence[Recording]) -> Replay:
    """Return what a film shows: a swarm, or a broken and a recovered one."""
    scene = seen[0].scene
    panes = [_pane(one) for one in seen]
    span = f"last {SPAN:g} s" if scene.task.score is None else "so far"
    moments = (1, 2) if len(seen) > 1 else (0,)
    views = tuple(
        View(pane, title, moment, (span,), compared=moment == 2)
        for pane, title, moment in zip(panes, _titles(seen), moments, strict=True)
    )
    column = Column("", views, panes[0], caption=(in_words(scene.environment),))
    return Replay(str(scene.task), (column,))


def _titles(seen: Sequence[Recording]) -> list[str]:
    """Return what swarms are called: one by its cell, two by what they show."""
    cells = [
        f"cell {one.scene.cells[0]}" if len(one.scene.cells) == 1 else "a team" for one in seen
    ]
    if len(seen) == 1:
        return [f"{seen[0].scene.view.name}: {cells[0]}"]
    return [f"broken: {cells[0]}", f"recovered: {cells[1]}"]


def _pane(one: Recording) -> Pane:
    """Return a swarm whose signs change when robots break."""
    letters = letters_of(one.trace.parts)
    healthy = Faults.none(one.scene.environment.robots)
    signs = [Signs(cycle, faults, letters) for cycle, faults in ((0, healthy), *one.scene.events)]
    return Pane(replace(one.trace, score=lately(one)), signs=signs)


def lately(one: Recording) -> np.ndarray:
    """Return the score of the last stretch of time alone, where scores are means over cycles."""
    score = one.trace.score
    if one.scene.task.score is not None:
        return score
    total = np.concatenate([[0.0], score * np.arange(1, len(score) + 1)])
    last = np.arange(1, len(total))
    first = np.maximum(last - round(SPAN / CYCLE), 0)
    found: np.ndarray = (total[last] - total[first]) / (last - first)
    return found
