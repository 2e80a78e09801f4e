"""Recoveries for a page, reported step by step while they go on; small kits for them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from typing import Any

import numpy as np

from qed.compile import user_cache
from qed.errors import InputError, choice
from qed.explore.queues import Stream
from qed.explore.sources import ArchiveView
from qed.explore.state import Scene
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.play import NOTICED, Step
from qed.recovery.kit.prepare import Effort, digest_of, prepare
from qed.recovery.recover import ArchiveSearch, trials_of
from qed.recovery.recovery import Event, Recovery
from qed.recovery.trials import Normal, Trials
from qed.view.words import origin

WAYS = ("exhaustive", "kit", "team")
TRIALS, BUDGET, SEED = 10, 10, 1  # as in qed.recover
KEPT = 16  # races of healthy swarms that are remembered
# A kit for an archive that has none: a minute instead of several.
SMALL = Effort(
    surveyed=3, candidates=128, screened=16, controllers=32, faults=32, elsewhere=0, trials=3,
    validation=2, portfolio=20,
)  # fmt: skip
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
        one, stage = scene.view, ""
        how = _tried(scene)
        key = (one.source, str(how.task), how.environment, how.seconds)
        search = ArchiveSearch(one.archive, how, normal=self.healthy.get(key))

        def watch(event: Event) -> None:
            nonlocal stage
            if event.stage != stage:
                stage = event.stage
                stream.send({"kind": "phase", "words": PHASES[stage]})
            single = event.cells >= 0 if stage != "team" else np.zeros(len(event.cells), bool)
            cells, fitness = event.cells[single], np.round(event.fitness[single], 4)
            stream.progress(event.done, event.total, cells.tolist(), fitness.tolist())
            stream.give_way()

        try:
            with stream.turn():
                [found] = search.recover([scene.faults], by, watch)
                _report(scene, found, how, stream)
        finally:
            if search.normal is not None:
                while len(self.healthy) >= KEPT:
                    self.healthy.pop(next(iter(self.healthy)))
                self.healthy[key] = search.normal


def by_kit(scene: Scene, stream: Stream) -> None:
    """Let a kit search within ten trials, the fault unknown: ``kit.recover(faults=...)``."""
    kit, faults = scene.view.kit, scene.faults
    if kit is None or faults is None:
        raise InputError("there is no kit for this archive; prepare one")
    kit.check(scene.task, len(faults))
    cells = kit.cells.tolist()
    stream.send({"kind": "phase", "words": "Ten trials; the search does not know the fault."})
    expected = kit.search(seed=SEED).expected
    stream.send({"kind": "belief", "cells": cells, "means": _rounded(expected)})

    def watch(event: Event) -> None:
        step = event.step
        assert isinstance(step, Step)  # for the type checker
        stream.send(
            {
                "kind": "trial",
                "number": event.done - NOTICED,
                "of": BUDGET,
                "free": step.free,
                "cell": step.cell,
                "fitness": round(step.fitness, 4),
                "cells": cells,
                "means": _rounded(step.expected),
                "best": step.best_cell,
                "believed": _rounded((step.believed.mean, step.believed.low, step.believed.high)),
                "gain": _rounded((step.gain.mean, step.gain.low, step.gain.high)),
                "worthwhile": bool(step.worthwhile),
            }
        )
        stream.give_way()

    with stream.turn():
        found = kit.recover(
            faults, scene.task, budget=BUDGET, seconds=scene.seconds, seed=SEED,
            environment=scene.environment, on_event=watch, backend="cpu",
        )  # fmt: skip
        _report(scene, found, _tried(scene), stream)


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(float(value), 4) for value in values]


def _tried(scene: Scene) -> Trials:
    """Return how controllers are tried where a swarm broke; on fresh trials as kits are too."""
    return trials_of(
        scene.view.archive, scene.task, trials=TRIALS, seconds=scene.seconds, seed=SEED,
        environment=scene.environment, watched=True,
    )  # fmt: skip


def _compared(scene: Scene, found: Recovery, how: Trials) -> list[dict[str, Any]]:
    """Return what ran when robots broke, and what there is instead, on the same fresh trials."""
    rows: dict[tuple[int, ...], dict[str, Any]] = {}

    def add(role: str, cells: tuple[int, ...], healthy: float | None, broken: float) -> None:
        new = {"cells": list(cells), "roles": [], "healthy": healthy, "broken": broken}
        rows.setdefault(cells, new)["roles"].append(role)

    normal = (found.normal_cell,)
    if scene.cells == normal:
        add("running", normal, found.normal, found.broken)
    else:
        running = [scene.view.row(cell) for cell in scene.cells]
        tried = how.evaluate_fresh([(running, None), (running, scene.faults)])
        add("running", scene.cells, *tried.mean(1).tolist())
    add("normal", normal, found.normal, found.broken)
    if found.one_for_all is not None:
        add("single", (found.cell,), None, found.one_for_all)
    add("recovery", found.cells, None, found.performance)
    for row in rows.values():
        row |= {name: row[name] and round(row[name], 4) for name in ("healthy", "broken")}
    return list(rows.values())


def _report(scene: Scene, found: Recovery, how: Trials, stream: Stream) -> None:
    """Report the end of a search."""
    cells = list(found.cells)
    names = ("normal", "broken", "performance", "error", "distance", "impact", "resilience")
    stream.send(
        {
            "kind": "found",
            "cells": cells,
            "normal_cell": found.normal_cell,
            "rows": _compared(scene, found, how),
            "origin": origin(scene.view.archive, cells[0]) if len(cells) == 1 else "",
            **{name: _finite(getattr(found, name)) for name in names},
        }
    )


def _finite(value: float) -> float | None:
    """Return a number as JSON can hold it."""
    return round(value, 4) if np.isfinite(value) else None


def prepared(one: ArchiveView, stream: Stream) -> ArchiveView:
    """Return an archive with a kit: from the user's cache, or learned now."""
    if one.kit is not None:
        return one
    settings = digest_of(one.archive), str(one.task), one.seconds, asdict(SMALL)
    name = sha256(repr(settings).encode()).hexdigest()[:16]
    path = user_cache() / "kits" / f"{name}.npz"
    with suppress(ValueError, OSError):
        return replace(one, kit=Kit.load(path), kit_source=str(path))
    stream.send({"kind": "phase", "words": "Learning a small kit from simulated faults."})

    def progress(done: int, total: int) -> None:
        stream.progress(done, total)
        stream.give_way()

    with stream.turn():
        kit = prepare(one.archive, one.task, seconds=one.seconds, effort=SMALL, progress=progress)
    with suppress(OSError):  # without a cache it is learned again next time
        path.parent.mkdir(parents=True, exist_ok=True)
        kit.save(path)
    return replace(one, kit=kit, kit_source=str(path))
