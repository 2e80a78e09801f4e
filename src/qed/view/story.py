"""A swarm that goes on, to look at: normal, the fault, a search trial by trial, recovered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from qed.errors import InputError
from qed.recovery.kit.play import new_world, replay_session
from qed.swarm.faults import Faults
from qed.swarm.robot import CYCLE
from qed.swarm.trace import Trace
from qed.view.chapters import Chapter, chapters
from qed.view.pace import Pace, film_pace
from qed.view.pane import Pane

if TYPE_CHECKING:
    from qed.recovery.kit.kit import Kit
    from qed.recovery.recovery import Recovery
    from qed.swarm.environment import Environment
    from qed.view.replay import Progress


@dataclass(frozen=True)
class Story:
    """One swarm in one arena, all the time."""

    task: str
    faults: Faults
    healthy: Pane  # the whole time, with robots drawn healthy
    broken: Pane  # the same with their faults
    chapters: tuple[Chapter, ...]
    ending: str  # what came out, on fresh trials
    knows: str  # what the search knows of the fault, a sentence
    speed: float | None = None  # times real time all through (default: slow where it matters)

    @property
    def seconds(self) -> float:
        """Simulated time (s)."""
        return self.chapters[-1].end

    @property
    def environment(self) -> Environment:
        """Where the swarm works."""
        return self.healthy.trace.environment

    @property
    def struck(self) -> float:
        """When the fault strikes (s)."""
        return self.chapters[0].end

    @property
    def top_score(self) -> float:
        """The highest score, never 0."""
        return max(float(self.healthy.trace.score.max()), 1e-6)

    @property
    def believed_range(self) -> tuple[float, float]:
        """The lowest and the highest number that is believed, with a little room around."""
        parts = [part.stretch for part in self.chapters[1:]]
        low = min(min(part.kept.low, part.believed.low) for part in parts)
        high = max(max(part.kept.high, part.believed.high) for part in parts)
        room = 0.08 * max(high - low, 0.01)
        return low - room, high + room

    @property
    def some_healthy(self) -> bool:
        """Whether a robot without a fault is in sight."""
        return True

    @property
    def some_team(self) -> bool:
        """Whether robots run different controllers."""
        return any(part.letters for part in self.chapters)

    @cached_property
    def pace(self) -> Pace:
        """How fast the film goes, chapter by chapter."""
        lengths = [part.end - part.begin for part in self.chapters]
        return film_pace(lengths, self.speed)

    def chapter(self, seconds: float) -> Chapter:
        """Return what goes on at a time (s)."""
        later = (part for part in self.chapters if seconds < part.end - 1e-9)
        return next(later, self.chapters[-1])

    def score(self, seconds: float) -> float:
        """Return the score of the present stretch so far."""
        row = round(seconds / CYCLE - 1e-6)
        return float(self.healthy.trace.score[row - 1]) if row else 0.0


def story(
    kit: Kit,
    found: Recovery,
    *,
    seconds: float | None = None,
    seed: int = 1,
    environment: Environment | None = None,
    speed: float | None = None,
    progress: Progress | None = None,
) -> Story:
    """Watch again what ``kit.recover(..., reset=False)`` found, with the same arguments."""
    if not found.session:
        raise InputError("found must be a result of kit.recover(..., reset=False)")
    world = new_world(found.task, environment or kit.environment, seed)
    length = kit.seconds if seconds is None else seconds
    traces = []
    for one in replay_session(world, found.session, found.faults, length):
        traces.append(one)
        if progress is not None:
            progress(len(traces), len(found.session))
    whole = joined(traces)
    lengths = [CYCLE * len(one.x) for one in traces]
    return Story(
        task=found.task,
        faults=found.faults,
        healthy=Pane(replace(whole, faults=None), found.normal),
        broken=Pane(replace(whole, faults=found.faults), found.performance),
        chapters=tuple(chapters(found, lengths, trusted=kit.playbook.trusted)),
        ending=(
            f"Fitness on fresh trials: {found.normal:.3f} healthy, {found.broken:.3f} if the "
            f"controller is kept, {found.performance:.3f} after the search."
        ),
        knows=(
            "it knows what each robot says is broken in it."
            if found.diagnoses is not None
            else "it does not know the fault."
        ),
        speed=speed,
    )


def joined(traces: Sequence[Trace]) -> Trace:
    """Return periods of one world as one trace; the score begins anew with each."""
    first = traces[0]
    rows = ("x", "y", "heading", "proximity", "rab", "wheels", "score")
    whole: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in traces]) for name in rows
    }
    return replace(first, **whole)
