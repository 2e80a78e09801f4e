"""Many segments over many threads."""

import math
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from qed.compile import code_cache, robot_folder
from qed.controller.inputs import FIRST_GROUND, GROUND, PROXIMITY, RAB
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.layout import Block
from qed.swarm.cpu.packing import (
    Segment,
    build,
    packed,
    release,
    results,
    run,
    trials_at_once,
)
from qed.swarm.environment import Environment
from qed.swarm.job import Job
from qed.swarm.measures import MEASURES, wanted
from qed.swarm.placing import noise_keys, place
from qed.swarm.robot import ROBOT
from qed.swarm.tasks import Task
from qed.swarm.trace import Trace, empty
from qed.swarm.user_defined import Law

Places = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
_FOLDER = robot_folder()  # of the robot that this module is made for


def segments_of(job: Job, most: int = L.LANES) -> list[Segment]:
    """Return the segments: each controller with as many trials as fit a block, ``most`` at most."""
    table, members = job.controllers, job.members
    ends = np.cumsum(members)
    segments = []
    known: dict[tuple[Any, ...], Places] = {}  # by what decides them: controllers share them
    for c, (env, faults, seed) in enumerate(
        zip(job.environments, job.faults, job.seeds, strict=True)
    ):
        rows = np.arange(ends[c] - members[c], ends[c])
        room = env.robots, env.arena, env.obstacles, seed
        if room not in known:
            known[room] = places_of(job, env, seed)
        poses, start, obstacles, keys = known[room]
        step = min(trials_at_once(env.robots), most)
        for begin in range(0, job.trials, step):
            some = slice(begin, min(begin + step, job.trials))
            here = poses[some], start[some], obstacles[some], keys[some]
            segments.append(Segment(c, some, table, rows, env, faults, *here, job.noise))
    return segments


def places_of(job: Job, env: Environment, seed: int) -> Places:
    """Return start poses, as rows too, obstacles and noise keys of all trials in an environment."""
    if job.start is None:
        whole = place(env.robots, env.arena, env.obstacles, job.skipped + job.trials, seed)
        poses, obstacles, keys = (array[job.skipped :] for array in whole)
    else:
        poses, obstacles = job.start.poses, job.start.obstacles
        keys = noise_keys(env.robots, env.arena, env.obstacles, job.trials, seed)
    return poses, rows_of(poses), obstacles, keys


def rows_of(poses: np.ndarray) -> np.ndarray:
    """Return poses (trials, robots, 3) as the rows of a block begin with them."""
    heading = (poses[..., 2].astype(np.float64) + math.pi) % (2 * math.pi) - math.pi
    found = np.empty((*poses.shape[:2], 5), np.float32)
    found[..., :2] = poses[..., :2]
    found[..., 2] = np.cos(heading)
    found[..., 3] = np.sin(heading)
    found[..., 4] = heading
    return found


def simulate(
    job: Job, sums: Sequence[str | Law], threads: int, progress: Callable[[int], Any] | None
) -> list[dict[str, np.ndarray]]:
    """Return, for each controller, the wanted sums of all its trials."""
    wants = wanted(sums)
    segments = segments_of(job)
    announce_compilation()
    blocks = list(packed(segments, threads))
    if not run.signatures:
        ready(build(blocks[0], wants))

    def work(some: list[Segment]) -> list[dict[str, np.ndarray]]:
        block = build(some, wants)
        run(block, 1, job.cycles + 1, 0)
        found = results(block, some, job.cycles, wants.laws)
        release(block)
        return found

    found: list[list[dict[str, np.ndarray]]] = [[] for _ in range(job.swarms)]
    with ThreadPoolExecutor(threads) as pool:
        pending = [pool.submit(work, some) for some in blocks]
        try:
            for some, future in zip(blocks, pending, strict=True):
                for segment, part in zip(some, future.result(), strict=True):
                    found[segment.controller].append(part)
                if progress is not None:
                    progress(sum(w.size * w.environment.robots for w in some) * job.cycles)
        finally:  # when interrupted, only what runs already is waited for
            for future in pending:
                future.cancel()
    return [_joined(parts) for parts in found]


def watch(job: Job, trial: int, scored: Task) -> Trace:
    """Return what happens in one trial of a job of one controller, cycle by cycle."""
    [whole] = [w for w in segments_of(job) if w.trials.start <= trial < w.trials.stop]
    here = slice(trial - whole.trials.start, trial - whole.trials.start + 1)
    arrays = ("poses", "start", "obstacles", "keys")
    segment = replace(whole, **{name: getattr(whole, name)[here] for name in arrays})
    wants = wanted([scored.sums])
    block = build([segment], wants, all_inputs=True)
    announce_compilation()
    seen = empty(job.cycles, scored.name, segment)
    record(seen, block, segment, scored)
    return seen


def record(
    seen: Trace,
    block: Block,
    segment: Segment,
    scored: Task,
    first: int = 0,
    near: int = 0,
    summed: int = 0,
) -> int:
    """Simulate the cycles that a trace has room for, and fill it.

    ``first`` cycles went before, whose last one listed ``near`` near pairs, and ``summed`` of
    which the score counts too; returns how many near pairs the last one lists.
    """
    wants = wanted([scored.sums])
    robots = segment.environment.robots

    def row(values: np.ndarray, at: int) -> np.ndarray:
        return values[at : at + robots]

    for t in range(len(seen.x)):
        near = run(block, first + t + 1, first + t + 2, near)
        seen.x[t] = row(block.f, L.X)
        seen.y[t] = row(block.f, L.Y)
        seen.heading[t] = row(block.f, L.HEADING)
        seen.wheels[t, :, 0] = row(block.f, L.LEFT)
        seen.wheels[t, :, 1] = row(block.f, L.RIGHT)
        for s in range(len(PROXIMITY)):
            seen.proximity[t, :, s] = row(block.a, L.PROXIMITY + s * L.STRIDE)
        for c in range(len(RAB)):
            seen.rab[t, :, c] = row(block.a, L.RAB + c * L.STRIDE)
        for k in range(len(GROUND)):
            seen.ground[t, :, k] = row(block.a, (FIRST_GROUND + k) * L.STRIDE)
        [sums] = results(block, [segment], first + t + 1, wants.laws)
        seen.score[t] = scored.fitness(sums, summed + t + 1, segment.environment)[0]
    return near


def _joined(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Join the trials of a controller, or add them up where a measure is pooled over them."""
    pooled = {name for name in parts[0] if name in MEASURES and MEASURES[name].pooled}
    return {
        name: np.stack([part[name] for part in parts]).sum(0)
        if name in pooled
        else np.concatenate([part[name] for part in parts])
        if len(parts) > 1
        else one
        for name, one in parts[0].items()
    }


def ready(block: Block) -> None:
    """Compile or load the machine code, before threads ask for it all at once."""
    run(block, 1, 1, 0)
    results(block, [], 0)
    release(block)


def compiled() -> bool:
    """Return whether the user's cache has the machine code."""
    return any((code_cache() / _FOLDER).glob("*/cycle.run*.nbc"))


def announce_compilation() -> None:
    """Tell the user once if the machine code has to be made first."""
    if not getattr(announce_compilation, "done", False):
        if not compiled():
            print(
                f"qed: compiling the simulator of {ROBOT} robots (once, about half a minute) ...",
                file=sys.stderr,
                flush=True,
            )
        announce_compilation.done = True  # type: ignore[attr-defined]
