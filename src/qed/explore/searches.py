"""Recoveries for a page, reported step by step while they go on; small kits for them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from typing import Any

import numpy as np

from qed.archive.archive import Archive
from qed.compile import user_cache
from qed.errors import InputError, choice
from qed.explore.queues import Stream
from qed.explore.sources import ArchiveView
from qed.explore.state import Scene
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.play import NOTICED, Step
from qed.recovery.kit.prepare import Effort, digest_of, prepare
from qed.recovery.recover import ArchiveSearch, trials_of
from qed.recovery.recovery import Event, Recovery, Report
from qed.recovery.trials import Normal, Swarm, Trials
from qed.swarm.faults import Faults
from qed.view.words import origin

WAYS = ("exhaustive", "kit", "team", "playbook")
STARTS = 30  # of a swarm whose spread is measured
FAULTS = 8  # combined faults that the map's resilience is a mean over
MOST_TOLD = 200  # trials of real robots
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
        if way == "many faults":
            self.many_faults(scene, stream)
            return
        if scene.faults is None:
            raise InputError("no robot has a fault; break one, then recover")
        if choice("way", way, WAYS) == "kit":
            by_kit(scene, stream)
        elif way == "playbook":
            by_playbook(scene, stream)
        else:
            self.exhaustive(scene, "fault" if way == "team" else None, stream)

    def exhaustive(self, scene: Scene, by: str | None, stream: Stream) -> None:
        """Race all controllers, healthy and broken: ``qed.recover(archive, task, faults)``."""
        assert scene.faults is not None  # for the type checker
        stage = ""

        def watch(event: Event) -> None:
            nonlocal stage
            if event.stage != stage:
                stage = event.stage
                stream.send({"kind": "phase", "words": PHASES[stage]})
            single = event.cells >= 0 if stage != "team" else np.zeros(len(event.cells), bool)
            cells, fitness = event.cells[single], np.round(event.fitness[single], 4)
            stream.progress(event.done, event.total, cells.tolist(), fitness.tolist())
            stream.give_way()

        with stream.turn(), self._search(scene) as search:
            [found] = search.recover([scene.faults], by, watch)
            _report(scene, found, stream)

    def many_faults(self, scene: Scene, stream: Stream) -> None:
        """Try all controllers in several combined faults, a trial each; report means so far.

        First comes the fitness of the normal best with healthy robots.
        """
        cells = scene.searched.occupied.tolist()
        total, swarms = np.zeros(len(cells)), len(cells) * FAULTS

        def watch(event: Event) -> None:
            stream.progress(event.done, event.total)
            stream.give_way()

        stream.send({"kind": "phase", "words": PHASES["healthy"]})
        with stream.turn(), self._search(scene) as search:
            healthy = search.healthy(Report(watch, search.cells, search.planned)).fresh
            stream.send({"kind": "normal", "fitness": round(healthy, 4)})
            words = f"Trying all controllers in {FAULTS} combined faults."
            stream.send({"kind": "phase", "words": words})
            for k in range(FAULTS):
                faults = Faults.sample(scene.environment.robots, seed=SEED + k)
                report = Report(watch, search.cells, swarms, done=k * len(cells))
                each: list[Swarm] = [([row], faults) for row in range(len(cells))]
                how = search.how
                total += how.fitness(each, 1, how.streams.broken, report)[:, 0]
                stream.progress(report.done, swarms, cells, _rounded(total / (k + 1)))

    @contextmanager
    def _search(self, scene: Scene) -> Iterator[ArchiveSearch]:
        """Give a search of the controllers; what healthy swarms did then is remembered."""
        how = _tried(scene, scene.searched)
        key = scene.view.source, scene.without, str(how.task), how.environment, how.seconds
        search = ArchiveSearch(scene.searched, how, normal=self.healthy.get(key))
        try:
            yield search
        finally:
            if search.normal is not None:
                while len(self.healthy) >= KEPT:
                    self.healthy.pop(next(iter(self.healthy)))
                self.healthy[key] = search.normal


def by_kit(scene: Scene, stream: Stream) -> None:
    """Let a kit search within ten trials, the fault unknown: ``kit.recover(faults=...)``."""
    kit, faults = _kit(scene)
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
        _report(scene, found, stream)


def _kit(scene: Scene) -> tuple[Kit, Faults]:
    """Return the kit that searches, and the faults; InputError if it cannot search here."""
    kit, faults = scene.view.kit, scene.faults
    if kit is None or faults is None:
        raise InputError("there is no kit for this archive; prepare one")
    kit.check(scene.task, len(faults))
    others = int((~np.isin(kit.cells, scene.searched.occupied)).sum())
    if others:
        raise InputError(
            f"{others} of the kit's {len(kit.cells)} controllers read range and bearing; race "
            "every controller, or make a kit with qed prepare --without rab"
        )
    return kit, faults


def by_playbook(scene: Scene, stream: Stream) -> None:
    """Let each robot run what a kit has for its fault, without a trial: ``kit.playbook.team``."""
    kit, faults = _kit(scene)
    stream.send({"kind": "phase", "words": "Looking it up; then 50 fresh trials measure it."})
    rows, book = kit.playbook.rows(faults), kit.playbook
    if not book.trusted and len(set(faults)) > 1:
        rows = [kit.present] * len(faults)  # what is right alone may do harm beside others
    cells = tuple(kit.cells[rows].tolist())
    cells = cells[:1] if len(set(cells)) == 1 else cells
    normal, how = int(kit.cells[kit.present]), _tried(scene)
    present, team = [scene.view.row(normal)], [scene.view.row(cell) for cell in cells]
    with stream.turn():
        tried = how.evaluate_fresh([(present, None), (present, faults), (team, faults)])
        healthy, broken, performance = tried.mean(1).tolist()
        found = _rows(scene, how, (normal, healthy, broken), None, (cells, performance))
    stream.send({"kind": "found", "cells": list(cells), "rows": found, "origin": ""})


def advice(one: ArchiveView, told: Any) -> dict[str, Any]:
    """Return what to try next with real robots, and what is believed after the trials told."""
    kit = one.kit
    if kit is None:
        raise InputError("there is no kit for this archive; prepare one")
    if not isinstance(told, list) or len(told) > MOST_TOLD:
        raise InputError(f"told must be a list of at most {MOST_TOLD} trials")
    search, cells = kit.search(seed=SEED), kit.cells.tolist()
    for trial in told:
        if not isinstance(trial, list) or len(trial) != 2 or trial[0] not in cells:
            raise InputError("told must be pairs of a cell of the kit and a fitness")
        search.tell(trial[1], kit.controllers[cells.index(trial[0])])
    asked = search.ask() if told else search.present
    belief, kept = search.belief(), search.belief(search.present)
    return {
        "ask": cells[search.row(asked)],
        "seconds": kit.seconds,
        "best": cells[search.best_row],
        "present": cells[search.row(search.present)],
        "believed": _rounded((belief.mean, belief.low, belief.high)),
        "kept": _rounded((kept.mean, kept.low, kept.high)),
        "worthwhile": bool(search.worthwhile),
        "done": bool(told) and bool(search.done),
        "cells": cells,
        "means": _rounded(search.expected),
    }


def spread(scene: Scene) -> dict[str, list[float] | None]:
    """Return the fitness of what is shown from different starts: healthy, and as it is broken."""
    how = _tried(scene)
    rows = [scene.view.row(cell) for cell in scene.cells]
    each = {"healthy": None, "broken": scene.faults}
    return {
        name: _rounded(how.fitness([(rows, faults)], STARTS, scene.seed)[0])
        if name == "healthy" or faults is not None
        else None
        for name, faults in each.items()
    }


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(float(value), 4) for value in values]


def _tried(scene: Scene, archive: Archive | None = None) -> Trials:
    """Return how controllers are tried where a swarm broke; on fresh trials as kits are too."""
    return trials_of(
        archive or scene.view.archive, scene.task, trials=TRIALS, seconds=scene.seconds, seed=SEED,
        environment=scene.environment, watched=True,
    )  # fmt: skip


def _rows(
    scene: Scene,
    how: Trials,
    normal: tuple[int, float, float],
    single: tuple[int, float] | None,
    recovery: tuple[tuple[int, ...], float],
) -> list[dict[str, Any]]:
    """Return what ran when robots broke, and what there is instead, on the same fresh trials.

    ``normal`` is the cell of the normal best and its fitness, healthy and broken; ``single`` the
    best controller for all robots, where a team was found.
    """
    rows: dict[tuple[int, ...], dict[str, Any]] = {}

    def add(role: str, cells: tuple[int, ...], healthy: float | None, broken: float) -> None:
        new = {"cells": list(cells), "roles": [], "healthy": healthy, "broken": broken}
        rows.setdefault(cells, new)["roles"].append(role)

    cell, healthy, broken = normal
    if scene.cells == (cell,):
        add("running", scene.cells, healthy, broken)
    else:
        running = [scene.view.row(cell) for cell in scene.cells]
        tried = how.evaluate_fresh([(running, None), (running, scene.faults)])
        add("running", scene.cells, *tried.mean(1).tolist())
    add("normal", (cell,), healthy, broken)
    if single is not None:
        add("single", (single[0],), None, single[1])
    add("recovery", recovery[0], None, recovery[1])
    for row in rows.values():
        row |= {name: row[name] and round(row[name], 4) for name in ("healthy", "broken")}
    return list(rows.values())


def _report(scene: Scene, found: Recovery, stream: Stream) -> None:
    """Report the end of a search, whose controllers meet those that ran on fresh trials."""
    how = _tried(scene)  # of the whole archive: what ran may read what shall not be read
    cells = list(found.cells)
    normal = found.normal_cell, found.normal, found.broken
    single = None if found.one_for_all is None else (found.cell, found.one_for_all)
    rows = _rows(scene, how, normal, single, (tuple(cells), found.performance))
    names = ("normal", "broken", "performance", "error", "distance", "impact", "resilience")
    numbers = {name: getattr(found, name) for name in names}
    stream.send(
        {
            "kind": "found",
            "cells": cells,
            "normal_cell": found.normal_cell,
            "rows": rows,
            "origin": origin(scene.view.archive, cells[0]) if len(cells) == 1 else "",
            # JSON has no NaN.
            **{n: round(v, 4) if np.isfinite(v) else None for n, v in numbers.items()},
        }
    )


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
