"""Evolve runs to their end, and show their progress."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence

from qed.evolution.run import Run, run_side_by_side
from qed.text import console, duration

SECONDS_BETWEEN_LINES = 10.0  # when not on a terminal


def watch(runs: Sequence[Run], every: float = 30.0) -> None:
    """Evolve runs side by side to their end, and show their progress on stderr.

    Ctrl-C saves all runs first.

    Parameters
    ----------
    runs : sequence of Run
        Runs that are finished already do nothing.
    every : float, default 30.0
        Time between checkpoints (s).

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> from qed.evolution import Run, watch
    >>> class Line:
    ...     def random(self, keys):
    ...         return np.array([[np.random.default_rng(key).random()] for key in keys])
    ...     def vary(self, parents, keys):
    ...         return (parents + self.random(keys)) / 2
    ...     def evaluate(self, solutions, environments):
    ...         return solutions[:, 0], solutions
    ...     def describe(self):
    ...         return {"what": "a line"}
    >>> sizes = {"evaluations": 100, "initial": 20, "batch": 20}
    >>> run = Run(None, Line(), qed.Grid((8,)), **sizes)
    >>> watch([run])
    >>> run.search.done
    100
    """
    for run in runs:
        for note in run.notes:
            print(f"qed: {note}", file=sys.stderr, flush=True)
    with Display(runs) as show:
        for _ in run_side_by_side(runs, every):
            show()


class Display:
    """The progress of runs: a live line on a terminal, else a line now and then."""

    def __init__(self, runs: Sequence[Run]) -> None:
        from rich.progress import Progress, TextColumn

        self.runs = runs
        self.begin = self.last = time.monotonic()
        self.at_begin = self._done()
        screen = console(stderr=True)
        self.live = screen.is_terminal
        self.total = sum(run.search.evaluations for run in runs)
        self.bar = Progress(
            TextColumn("{task.percentage:3.0f}%"),
            TextColumn("{task.description}"),
            console=screen,
            disable=not self.live,
        )
        self.task = self.bar.add_task("", total=self.total, completed=self.at_begin)

    def __enter__(self) -> Display:
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Show the last state and stop."""
        if not self.live and self._done() > self.at_begin:
            print(self.describe(self._done(), time.monotonic()), file=sys.stderr, flush=True)
        self.bar.stop()

    def _done(self) -> int:
        return sum(run.search.done for run in self.runs)

    def __call__(self) -> None:
        """Show the present state."""
        now = time.monotonic()
        done = self._done()
        if self.live:
            self.bar.update(self.task, completed=done, description=self.describe(done, now))
        elif now - self.last >= SECONDS_BETWEEN_LINES:
            self.last = now
            print(self.describe(done, now), file=sys.stderr, flush=True)

    def describe(self, done: int, now: float) -> str:
        """Return the state in about 75 columns."""
        archives = [run.archive for run in self.runs if len(run.archive)]  # others will begin
        rate = (done - self.at_begin) / max(now - self.begin, 1e-9)
        left = duration((self.total - done) / rate) if rate > 0 else "?"
        so_far = f"{done / 1e6:.2f}M" if done >= 1e6 else f"{done:,}"
        speed = getattr(self.runs[0].domain, "describe_speed", None)
        return ", ".join(
            [
                f"{so_far}: {sum(map(len, archives)) / len(self.runs):,.0f} cells",
                f"best {max((a.best.fitness for a in archives), default=math.nan):.3f}",
                f"mean {sum(a.mean for a in archives) / max(len(archives), 1):.3f}",
                f"{rate:,.0f}/s",
                *([] if speed is None else [speed(rate)]),
                f"{left} left",
            ]
        )
