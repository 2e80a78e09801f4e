"""How far a study is: its parts, what they weigh, and how long the rest takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from qed.evolution.folder import ARCHIVE, evaluations_done
from qed.study import cost, paths, work
from qed.study.cost import KNOWN, KNOWN_CPU, Engine
from qed.study.pace import Pace
from qed.study.plan import Name, Plan

Watch = Callable[[float, str], Any]  # told the part of the work done, and what goes on
# The stages of a run.
EVOLVE, TRY, BREAK, BEYOND = "evolve", "reevaluate", "recover", "beyond"


class Part(NamedTuple):
    """A piece of work that one process does."""

    stage: str
    names: tuple[Name, ...]  # several only to evolve side by side
    batch: int = 0  # of faults

    def __str__(self) -> str:
        kinds = {f"{name.task} {name.algorithm}" for name in self.names}
        who = kinds.pop() if len(kinds) == 1 else f"{len(self.names)} runs"
        doing = {EVOLVE: "evolving", TRY: "trying", BREAK: "breaking", BEYOND: "searching"}
        return f"{doing[self.stage]} {who}"


class Done(NamedTuple):
    """What a study's folder has already."""

    runs: int  # that have ended
    evaluations: float  # fraction of those of all runs
    recoveries: int  # one for each combined fault of a map
    searches: int  # maps on which what goes beyond the paper was tried
    whole: bool  # nothing is left to simulate


class Board:
    """How far the work is.

    Work is weighed by the seconds it would take at known speeds, or at those of an engine that was
    measured; how long it takes here is told by what was done in this session, see ``Pace``.
    """

    def __init__(
        self,
        folder: Path,
        plan: Plan,
        backend: str | Engine = "cpu",
        watch: Watch | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.folder, self.plan, self.watch = folder, plan, watch
        if isinstance(backend, str):  # only how the speeds compare matters
            backend = Engine("", backend, KNOWN if backend == "cuda" else KNOWN_CPU)
        self._engine = backend
        self.total = 0.0
        left = dict.fromkeys((EVOLVE, TRY, BREAK, BEYOND), 0.0)
        for part in self._parts():
            self.total += self.weight(part)
            left[part.stage] += self.weight(part) - self.there(part)
        self.pace = Pace(left, clock)
        self.now: Part | None = None  # the part that is done in this process
        self._begun: dict[Part, _Begun] = {}

    def _parts(self) -> Iterator[Part]:
        for name in self.plan.runs():
            yield Part(EVOLVE, (name,))
            yield from self._after(name)

    def _after(self, name: Name) -> Iterator[Part]:
        """Yield the parts of a run that follow its evolution."""
        yield Part(TRY, (name,))
        for batch in range(len(work.batches(self.plan))):
            yield Part(BREAK, (name,), batch)
        if self.plan.searched:
            yield Part(BEYOND, (name,))

    def weight(self, part: Part) -> float:
        """Return what a part weighs, done or not."""
        if part.stage == EVOLVE:
            return sum(
                cost.evolving(self.plan, name.task, name.algorithm, self._engine)
                for name in part.names
            )
        if part.stage == BEYOND:
            return cost.searching(self.plan, part.names[0].algorithm, self._engine)
        batch = part.batch if part.stage == BREAK else None
        return cost.trying(self.plan, part.names[0].algorithm, self._engine, batch)

    def there(self, part: Part) -> float:
        """Return what is there of a part on the disk."""
        if part.stage != EVOLVE:
            file = {
                TRY: paths.NORMAL,
                BREAK: paths.recovery(part.batch),
                BEYOND: paths.beyond(self.plan.searched),
            }[part.stage]
            there = (paths.run(self.folder, part.names[0]) / file).exists()
            return self.weight(part) if there else 0.0
        return sum(self._evolved(name) * self.weight(Part(EVOLVE, (name,))) for name in part.names)

    def _evolved(self, name: Name) -> float:
        """Return the fraction of a run's evaluations that are done."""
        if self._finished(name):
            return 1.0
        done = evaluations_done(paths.run(self.folder, name))
        return min(done / self.plan.evaluations, 1.0)

    def _finished(self, name: Name) -> bool:
        return (paths.run(self.folder, name) / ARCHIVE).exists()

    def done(self) -> Done:
        """Return what the folder has already."""
        names, faults = list(self.plan.runs()), work.batches(self.plan)
        after = [part for name in names for part in self._after(name) if self.there(part)]
        return Done(
            runs=sum(map(self._finished, names)),
            evaluations=sum(map(self._evolved, names)) / len(names),
            recoveries=sum(len(faults[part.batch]) for part in after if part.stage == BREAK),
            searches=sum(part.stage == BEYOND for part in after),
            whole=all(self.there(part) == self.weight(part) for part in self._parts()),
        )

    def forecast(self) -> dict[str, tuple[float, float]]:
        """Return, for each algorithm, how long what is left of evolution and recovery takes (s)."""
        found = dict.fromkeys(self.plan.algorithms, (0.0, 0.0))
        for part in self._parts():
            algorithm = part.names[0].algorithm
            evolving, recovering = found[algorithm]
            left = self.weight(part) - self.there(part)
            if part.stage == EVOLVE:
                evolving += left
            else:
                recovering += left
            found[algorithm] = evolving, recovering
        return found

    @property
    def fraction(self) -> float:
        """The part of the whole work that is done, 0 to 1."""
        return min(max(1.0 - sum(self.pace.left.values()) / self.total, 0.0), 1.0)

    def begin(self, part: Part) -> None:
        """Note that a part is handed out."""
        there, whole = self.there(part), self.weight(part)
        still = whole if there < whole else 0.0
        if part.stage == EVOLVE:  # of runs side by side, only those that are not finished evolve
            still = sum(
                self.weight(Part(EVOLVE, (name,)))
                for name in part.names
                if not self._finished(name)
            )
        self._begun[part] = _Begun(still, there, there - (whole - still))
        self.now = part

    def tell(self, fraction: float) -> None:
        """Show how far the part in this process is, of what was not finished when it began."""
        if self.now is not None and self.now in self._begun:
            begun = self._begun[self.now]
            self._did(self.now, fraction * begun.still - begun.base)
            self._show(str(self.now))

    def end(self, part: Part, good: bool = True) -> None:
        """Note that a part has ended; if it failed, neither it nor what follows will be done."""
        begun = self._begun[part]
        if good:
            self._did(part, begun.still - begun.base)
        elif len(part.names) == 1:  # others are tried again one by one
            self.pace.drop(part.stage, begun.still - begun.base - begun.told)
            follow = list(self._after(part.names[0])) if part.stage != BEYOND else []
            if part.stage == BREAK:
                follow = [other for other in follow if other.stage == BEYOND]
            for other in follow:
                if other != part:
                    self.pace.drop(other.stage, self.weight(other) - self.there(other))
        del self._begun[part]
        self._show(str(part))

    def look(self, parts: Collection[Part], running: Collection[Part]) -> None:
        """Show how far parts in other processes are, by the files they leave."""
        self.pace.going(part.stage for part in running or parts)
        for part in parts:
            if part.stage == EVOLVE:
                self._did(part, self.there(part) - self._begun[part].there)
        if parts:
            self._show(f"{len(parts)} parts wait or run")

    def _did(self, part: Part, work_done: float) -> None:
        """Note what was done of a part in this session."""
        begun = self._begun[part]
        if work_done > begun.told:
            self.pace.did(part.stage, work_done - begun.told)
            begun.told = work_done

    def _show(self, words: str) -> None:
        if self.watch is not None:
            self.watch(self.fraction, words)


@dataclass
class _Begun:
    """A part that was handed out."""

    still: float  # weight of what was not finished then: all of each such run
    there: float  # weight of what was there then
    base: float  # weight of what was there of what was not finished
    told: float = 0.0  # weight of what was done since
