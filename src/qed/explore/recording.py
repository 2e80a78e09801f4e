"""A world that is watched while robots break: every cycle, and the score of all of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from qed import limits
from qed.controller.inputs import CONSTANT
from qed.controller.network import Controller
from qed.controller.team import Team
from qed.swarm import robot
from qed.swarm.cpu import layout
from qed.swarm.cpu.engine import announce_compilation
from qed.swarm.cpu.layout import STRIDE, Block
from qed.swarm.cpu.packing import build, results, run
from qed.swarm.measures import wanted
from qed.swarm.world import World, _go_on

# What tasks add up, and where robots were last, goes on when a new block begins.
BOOKS = (layout.AGGREGATION, layout.DISPERSION, layout.FLOCKING)
INPUTS = CONSTANT


@dataclass(frozen=True)
class Stretch:
    """What robots did in every cycle of a stretch; the last axis but one is the cycle.

    poses : float32 (3, cycles, robots): x (m), y (m), heading (rad)
    inputs : float32 (15, cycles, robots): as networks read them, proximity first
    wheels : float32 (2, cycles, robots): as commanded after faults (m/s)
    hidden : float32 (hidden neurons, cycles, robots)
    score : float64 (cycles,): fitness since the world began
    """

    poses: np.ndarray
    inputs: np.ndarray
    wheels: np.ndarray
    hidden: np.ndarray
    score: np.ndarray


class Watched(World):
    """A world that tells what happens in each cycle.

    Its robots do to the bit what those of ``qed.World`` do.  Its score goes on while robots break:
    it is that of the whole time.
    """

    def watch(self, controller: Controller | Team, seconds: float) -> Stretch:
        """Do as ``run`` does, and return what every robot did in every cycle."""
        cycles = round(limits.seconds(seconds) / robot.CYCLE)
        swarm = self._checked(controller, self._faults)
        self._segment = replace(self._segment, networks=swarm.networks, faults=self._faults)
        wants = wanted([self.task.sums])
        announce_compilation()
        block = build([self._segment], wants, all_inputs=True)
        if self._block is not None:
            _go_on(self._block, block)
            _keep_books(self._block, block)
        self._block = block
        body, mind = self._places(block)
        bodies = np.empty((cycles, len(body)), np.float32)
        minds = np.empty((cycles, *mind.shape[1:]), np.float32)
        score = np.empty(cycles)
        for t in range(cycles):
            cycle = self.cycle + 1
            self._near = run(block, cycle, cycle + 1, self._near)
            self.cycle = cycle
            bodies[t] = block.f[body]
            # Hidden neurons are written to one of two sets of rows, by turns.
            minds[t] = block.a[mind[cycle & 1]]
            [sums] = results(block, [self._segment], cycle, wants.laws)
            score[t] = self.task.fitness(sums, cycle, self.environment)[0]
        moved = bodies.reshape(cycles, 5, -1).transpose(1, 0, 2)
        thought = minds.reshape(cycles, INPUTS + block.hidden, -1).transpose(1, 0, 2)
        return Stretch(moved[:3], thought[:INPUTS], moved[3:], thought[INPUTS:], score)

    def _places(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Return where a block holds poses and wheels, and inputs and hidden neurons by turns."""
        robots = np.arange(self.environment.robots)
        rows = (layout.X, layout.Y, layout.HEADING, layout.LEFT, layout.RIGHT)
        body = np.concatenate([row + robots for row in rows])
        inputs = STRIDE * np.arange(INPUTS)
        turns = [
            np.concatenate([inputs, STRIDE * (layout.HIDDEN + first + np.arange(block.hidden))])
            for first in (block.hidden, 0)  # of even and of odd cycles
        ]
        return body, np.array([(some[:, None] + robots).ravel() for some in turns])


def _keep_books(before: Block, after: Block) -> None:
    """Let what tasks have added up go on in a new block."""
    for row in BOOKS:
        after.f[row : row + STRIDE] = before.f[row : row + STRIDE]
    after.n[layout.CELL : layout.CELL + STRIDE] = before.n[layout.CELL : layout.CELL + STRIDE]
    for kept in ("since", "crowd", "patrol", "own"):
        getattr(after, kept)[:] = getattr(before, kept)
