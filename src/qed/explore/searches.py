"""Recoveries for a page, reported step by step while they go on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qed.errors import InputError, choice
from qed.explore.jobs import Stream
from qed.explore.state import Scene
from qed.recovery.kit.play import NOTICED, Step
from qed.recovery.recover import ArchiveSearch, trials_of
from qed.recovery.recovery import Event, Recovery
from qed.recovery.search.search import Belief
from qed.recovery.trials import Normal
from qed.view.words import origin

WAYS = ("exhaustive", "kit", "team")
TRIALS, BUDGET, SEED = 10, 10, 1  # as in qed.recover
KEPT = 16  # races of healthy swarms that are remembered
PHASES = {
    "healthy": "Trying all controllers with healthy robots.",
    "broken": "Trying all controllers with these faults.",
    "team": "Then one controller for each fault.",
}


@dataclass
class Searcher:
    """Searches of pages; what healthy swarms did is remembered between them."""

    healthy: dict[Any, Normal] = field(default_factory=dict)

    def search(self, scene: Scene, way: str, stream: Stream) -> None:
        """Search for what works in a broken swarm, and report it."""
        if scene.faults is None:
            raise InputError("no robot has a fault; break one, then recover")
        if choice("way", way, WAYS) == "kit":
            by_kit(scene, stream)
        else:
            self.exhaustive(scene, "fault" if way == "team" else None, stream)

    def exhaustive(self, scene: Scene, by: str | None, stream: Stream) -> None:
        """Race all controllers, healthy and broken: ``qed.recover(archive, task, faults)``."""
        assert scene.faults is not None  # for the type checker
        one, stage = scene.shown, ""
        how = trials_of(
            one.archive, scene.task, trials=TRIALS, seconds=scene.seconds, seed=SEED,
            environment=scene.environment, watched=True,
        )  # fmt: skip
        key = (one.source, str(how.task), how.environment, how.seconds)
        search = ArchiveSearch(one.archive, how, normal=self.healthy.get(key))

        def watch(event: Event) -> None:
            nonlocal stage
            if event.stage != stage:
                stage = event.stage
                stream.tell({"kind": "phase", "words": PHASES[stage]})
            single = event.cells >= 0 if stage != "team" else np.zeros(len(event.cells), bool)
            stream.tell(
                {
                    "kind": "tried",
                    "cells": event.cells[single].tolist(),
                    "fitness": np.round(event.fitness[single], 4).tolist(),
                    "done": event.done,
                    "total": event.total,
                }
            )
            stream.give_way()

        try:
            with stream.turn():
                [found] = search.recover([scene.faults], by, watch)
        finally:
            if search.normal is not None:
                while len(self.healthy) >= KEPT:
                    self.healthy.pop(next(iter(self.healthy)))
                self.healthy[key] = search.normal
        report(scene, found, stream)


def by_kit(scene: Scene, stream: Stream) -> None:
    """Let a kit search within ten trials, the fault unknown: ``kit.recover(faults=...)``."""
    kit, faults = scene.shown.kit, scene.faults
    if kit is None or faults is None:
        raise InputError("there is no kit for this archive; prepare one")
    kit.check(scene.task, len(faults))
    cells = kit.cells.tolist()
    stream.tell({"kind": "phase", "words": "Ten trials; the search does not know the fault."})
    search = kit.search(seed=SEED)
    begin = (search.belief(), search.gain_belief, False)
    best = int(kit.cells[search.best_row])
    stream.tell({"kind": "belief", **belief(cells, search.expected, best, *begin)})

    def watch(event: Event) -> None:
        step = event.step
        assert isinstance(step, Step)  # for the type checker
        now = (step.best_cell, step.believed, step.gain, step.worthwhile)
        stream.tell(
            {
                "kind": "trial",
                "number": event.done - NOTICED,
                "of": BUDGET,
                "free": step.free,
                "cell": step.cell,
                "fitness": round(step.fitness, 4),
                **belief(cells, step.expected, *now),
            }
        )
        stream.give_way()

    with stream.turn():
        found = kit.recover(
            faults, scene.task, budget=BUDGET, seconds=scene.seconds, seed=SEED,
            environment=scene.environment, on_event=watch, backend="cpu",
        )  # fmt: skip
    report(scene, found, stream)


def belief(
    cells: list[int],
    expected: Iterable[float],
    best: int,
    believed: Belief,
    gain: Belief,
    worthwhile: bool,
) -> dict[str, Any]:
    """Return what a search believes now: of all controllers, of the best one, and of its gain."""
    return {
        "cells": cells,
        "means": [round(float(value), 4) for value in expected],
        "best": best,
        "believed": [round(value, 4) for value in (believed.mean, believed.low, believed.high)],
        "gain": [round(value, 4) for value in (gain.mean, gain.low, gain.high)],
        "worthwhile": bool(worthwhile),
    }


def report(scene: Scene, found: Recovery, stream: Stream) -> None:
    """Report the end of a search."""
    cells = list(found.cells)
    names = ("normal", "broken", "performance", "error", "distance", "impact", "resilience")
    stream.tell(
        {
            "kind": "found",
            "cells": cells,
            "normal_cell": found.normal_cell,
            "kept": cells == [found.normal_cell],
            "origin": origin(scene.shown.archive, cells[0]) if len(cells) == 1 else "",
            **{name: finite(getattr(found, name)) for name in names},
        }
    )


def finite(value: float) -> float | None:
    """Return a number as JSON can hold it."""
    return round(value, 4) if np.isfinite(value) else None
