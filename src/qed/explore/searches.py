"""Recovery, told step by step while it goes on: the same searches as those of ``qed.recover``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from qed.descriptors import spirit
from qed.errors import InputError, choice
from qed.explore.jobs import Event, Stream
from qed.explore.sources import Shown
from qed.explore.state import Scene
from qed.recovery import metrics, recover
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.recovered import NOTICED, trial_seed
from qed.recovery.protocol import streams
from qed.recovery.race import heats, race
from qed.recovery.search.search import Search
from qed.recovery.trials import Progress, Swarm, Trials
from qed.swarm.cpu.layout import LANES, VECTOR
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.job import Ready
from qed.swarm.simulate import cores
from qed.view.words import origin

WAYS = ("exhaustive", "kit", "team")
TRIALS, BUDGET, SEED = 10, 10, 1  # as in qed.recover
BLOCKS = 2  # of lanes that each core simulates in a portion: a page gets its turn soon
KEPT = 16  # races of healthy swarms that are remembered

Seen = Callable[[Sequence[Swarm], np.ndarray], None]


@dataclass(frozen=True)
class LiveTrials(Trials):
    """Trials in small portions, each in a turn of the page, told as they are done."""

    stream: Stream | None = None
    seen: Seen | None = None

    def fitness(
        self,
        swarms: Sequence[Swarm],
        trials: int,
        seed: int | Sequence[int],
        progress: Progress | None = None,
        worlds: Sequence[Environment] | None = None,
    ) -> np.ndarray:
        """Return the fitness of swarms on each trial of a stream, or of one each."""
        assert self.stream is not None  # for the type checker
        lanes = -(-self.environment.robots * trials // VECTOR) * VECTOR
        step = max(1, BLOCKS * cores() * LANES // lanes)
        parts = []
        for first in range(0, len(swarms), step):
            some = swarms[first : first + step]
            seeds = seed if isinstance(seed, int) else seed[first : first + step]
            where = None if worlds is None else worlds[first : first + step]
            with self.stream.turn():
                parts.append(super().fitness(some, trials, seeds, worlds=where))
            if self.seen is not None:
                self.seen(some, parts[-1].mean(1))
        return np.concatenate(parts)


@dataclass
class Searcher:
    """Searches of pages; what healthy swarms did is remembered between them."""

    healthy: dict[Any, tuple[np.ndarray, float]] = field(default_factory=dict)

    def search(self, scene: Scene, way: str, stream: Stream) -> None:
        """Search for what works in a broken swarm, and tell it."""
        faults = scene.faults
        if faults is None:
            raise InputError("no robot has a fault; break one, then recover")
        how = LiveTrials(
            scene.task, TRIALS, seconds=scene.seconds, streams=streams(SEED),
            environment=scene.environment, stream=stream,
        )  # fmt: skip
        way = choice("way", way, WAYS)
        if way == "kit":
            by_kit(scene, how, faults, stream)
        elif way == "team":
            as_team(scene, faults, stream)
        else:
            self.exhaustive(scene, how, faults, stream)

    def exhaustive(self, scene: Scene, how: LiveTrials, faults: Faults, stream: Stream) -> None:
        """Race all controllers, healthy and broken: ``qed.recover(archive, task, faults)``."""
        one = scene.shown
        solutions, cells = one.solutions, one.occupied
        key = (one.source, str(how.task), how.environment, how.seconds)
        races = 1 if key in self.healthy else 2
        total = races * sum(count for count, _ in heats(len(solutions), how.trials))
        places = {id(solution): cell for solution, cell in zip(solutions, cells, strict=True)}
        done = 0

        def seen(swarms: Sequence[Swarm], fitness: np.ndarray) -> None:
            nonlocal done
            done += len(swarms)
            tried = [int(places[id(solution)]) for solution, _ in swarms]
            told = np.round(fitness, 4).tolist()
            step = {"cells": tried, "fitness": told, "done": min(done, total), "total": total}
            stream.tell({"kind": "tried", **step})

        live = replace(how, seen=seen)

        def tries(fault: Faults | None, seed: int) -> Callable[[np.ndarray, int], np.ndarray]:
            def attempt(rows: np.ndarray, met: int) -> np.ndarray:
                some = [(solutions[row], fault) for row in rows.tolist()]
                found: np.ndarray = live.fitness(some, met, seed).mean(1)
                return found

            return attempt

        if key not in self.healthy:
            stream.tell({"kind": "phase", "words": "Trying all controllers with healthy robots."})
            ended = race(len(solutions), how.trials, tries(None, how.streams.normal))
            fresh = float(how.again([(solutions[ended.winner], None)]).mean())
            while len(self.healthy) >= KEPT:
                self.healthy.pop(next(iter(self.healthy)))
            self.healthy[key] = ended.fitness, fresh
        normal, healthy = self.healthy[key]
        best = int(np.argmax(normal))
        stream.tell({"kind": "phase", "words": "Trying all controllers with these faults."})
        attempt = tries(faults, how.streams.broken)
        winner = race(len(solutions), how.trials, attempt, [best]).winner
        swarms = [(solutions[row], faults) for row in (best, winner)]
        stream.tell(_found(scene, how, swarms, healthy, [int(cells[winner])], int(cells[best])))


def by_kit(scene: Scene, how: LiveTrials, faults: Faults, stream: Stream) -> None:
    """Let a kit search within ten trials, the fault unknown: ``qed.recover(kit, faults=...)``."""
    kit = scene.shown.kit
    if kit is None:
        raise InputError("there is no kit for this archive; prepare one")
    kit.check(scene.task, len(faults))
    search = kit.search(seed=SEED)
    ready: dict[int, Ready] = {}
    stream.tell({"kind": "phase", "words": "Ten trials; the search does not know the fault."})
    stream.tell({"kind": "belief", **_belief(kit, search)})
    for number in range(NOTICED + BUDGET):
        free = number < NOTICED
        if not free and search.done:
            break
        asked = search.present if free else search.ask()
        row = search.row(asked)
        ready.setdefault(row, Ready(kit.controllers[row].network()))
        seed = trial_seed(SEED, number, faults)
        fitness = float(how.fitness([(ready[row], faults)], 1, seed)[0, 0])
        search.tell(fitness, asked if free else None)
        stream.tell(
            {
                "kind": "trial",
                "number": number,
                "of": BUDGET,
                "free": free,
                "cell": int(kit.cells[row]),
                "fitness": round(fitness, 4),
                **_belief(kit, search),
            }
        )
    row, present = search.best_row, kit.present
    for one in (row, present):
        ready.setdefault(one, Ready(kit.controllers[one].network()))
    healthy = float(how.again([(ready[present], None)]).mean())
    swarms = [(ready[present], faults), (ready[row], faults)]
    cells = [int(kit.cells[row])]
    stream.tell(_found(scene, how, swarms, healthy, cells, int(kit.cells[present])))


def _belief(kit: Kit, search: Search[Any]) -> Event:
    """Return what a search believes now: of all controllers, of the best one, and of its gain."""
    now, gain = search.belief(), search.gain_belief
    return {
        "cells": kit.cells.tolist(),
        "means": [round(search.belief(one).mean, 4) for one in kit.controllers],
        "best": int(kit.cells[search.best_row]),
        "believed": [round(value, 4) for value in (now.mean, now.low, now.high)],
        "gain": [round(value, 4) for value in (gain.mean, gain.low, gain.high)],
        "worthwhile": bool(search.worthwhile),
    }


def as_team(scene: Scene, faults: Faults, stream: Stream) -> None:
    """Find a controller for each fault: ``qed.recover(archive, task, faults, by="fault")``."""
    one = scene.shown
    stream.tell({"kind": "phase", "words": "One controller for all, then one for each fault."})

    def progress(done: int, total: int) -> None:
        stream.tell({"kind": "tried", "cells": [], "fitness": [], "done": done, "total": total})
        stream.give_way()

    with stream.turn():
        found = recover.recover(
            one.archive, scene.task, faults, seconds=scene.seconds, seed=SEED,
            environment=scene.environment, progress=progress, by="fault",
        )  # fmt: skip
    numbers = {
        "normal": found.normal,
        "broken": found.broken,
        "performance": found.performance,
        "error": found.error,
        "distance": found.distance,
    }
    stream.tell(_told(scene, list(map(int, found.cells)), found.normal_cell, numbers))


def _found(
    scene: Scene,
    how: LiveTrials,
    swarms: Sequence[tuple[Ready, Faults | None]],
    healthy: float,
    cells: list[int],
    normal_cell: int,
) -> Event:
    """Try the normal best and what was found on fresh trials; return what is told of them."""
    kept, after = how.again(swarms)
    with how.stream.turn():  # type: ignore[union-attr]
        home, there = how.behaviours([solution for solution, _ in swarms])
    numbers = {
        "normal": healthy,
        "broken": float(kept.mean()),
        "performance": float(after.mean()),
        "error": metrics.standard_error(after),
        "distance": float(spirit.distance(home, there)),
    }
    return _told(scene, cells, normal_cell, numbers)


def _told(scene: Scene, cells: list[int], normal_cell: int, numbers: dict[str, float]) -> Event:
    one: Shown = scene.shown
    normal = numbers["normal"]
    return {
        "kind": "found",
        "cells": cells,
        "normal_cell": normal_cell,
        "kept": cells == [normal_cell],
        "impact": _finite(metrics.impact(normal, numbers["broken"])),
        "resilience": _finite(metrics.resilience(normal, numbers["performance"])),
        "origin": origin(one.archive, cells[0]) if len(cells) == 1 else "",
        **{name: _finite(value) for name, value in numbers.items()},
    }


def _finite(value: float) -> float | None:
    """Return a number as JSON can hold it."""
    return round(value, 4) if np.isfinite(value) else None
