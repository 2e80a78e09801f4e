"""Evolve runs side by side, and show their progress.

Runs that suit each other are evaluated in one go.  To a CPU they go together, where they fill
lanes; to a GPU each group goes by itself, so that it has work while the host looks after the
generation that has just ended.  None of this changes a result.
"""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from qed.errors import InputError, StoppedError
from qed.evolution.domain import Batch, Domain, Evaluated, PendingEvaluation
from qed.evolution.run import Run
from qed.text import console, duration

SECONDS_BETWEEN_LINES = 10.0  # when not on a terminal
SECONDS_BETWEEN_POLLS = 0.0002


def run_side_by_side(runs: Sequence[Run], every: float = 30.0) -> Iterator[list[Run]]:
    """Evolve runs side by side, yielding those that moved after each generation.

    Domains may differ from run to run; those that suit each other are evaluated in one go, if
    their domain can, with the same result as one after the other.  Where evaluation goes on by
    itself, as on a GPU, the next generations are evaluated while the host looks after this one.
    A checkpoint is made every so many seconds, at the end, and when interrupted.

    Parameters
    ----------
    runs : sequence of Run
        Runs that are finished already do nothing.
    every : float, default 30.0
        Time between checkpoints (s).

    Yields
    ------
    list of Run
        Those whose generation has ended.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> from qed.evolution import Run, run_side_by_side
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
    >>> cells = qed.Grid((8,))
    >>> runs = [Run(None, Line(), cells, **sizes, seed=seed) for seed in (1, 2)]
    >>> for moved in run_side_by_side(runs):
    ...     pass
    >>> [run.search.done for run in runs]
    [100, 100]
    """
    going = [run for run in runs if not run.search.finished]
    try:
        under_way = [_Generation(group) for group in _groups(going)]
        while under_way:
            group = under_way.pop(_first_ready(under_way)).finish()
            for run in group:
                if run.search.finished:
                    run.finish()
            if rest := [run for run in group if not run.search.finished]:
                under_way.append(_Generation(rest))
            for run in rest:
                if time.monotonic() - run.saved_at >= every:
                    run.checkpoint()
            yield group
        for run in runs:
            run.finish()
    except (KeyboardInterrupt, GeneratorExit):
        for run in runs:
            run.checkpoint()
        raise
    except Exception:
        for run in runs:  # the first error is reported, not that a checkpoint failed too
            with contextlib.suppress(StoppedError):
                run.checkpoint()
        raise


def _groups(runs: Sequence[Run]) -> list[list[Run]]:
    """Return the runs that are best evaluated together."""
    kinds: dict[type, list[Run]] = {}
    for run in runs:
        kinds.setdefault(type(run.domain), []).append(run)
    found = []
    for kind, some in kinds.items():
        if hasattr(kind, "together"):
            batch = min(run.search.batch for run in some)
            groups = kind.together([run.domain for run in some], batch)
            found += [[some[k] for k in group] for group in groups]
        else:
            found += [[run] for run in some]
    return found


def _first_ready(generations: Sequence[_Generation]) -> int:
    """Wait until a generation is evaluated; return the place of the first that is."""
    while True:
        for k, generation in enumerate(generations):
            if generation.evaluation.ready():
                return k
        time.sleep(SECONDS_BETWEEN_POLLS)


class _Generation:
    """A generation of a group of runs, under way."""

    def __init__(self, group: list[Run]) -> None:
        self.group = group
        self.batches = [run.search.ask() for run in group]
        domains: list[Any] = [run.domain for run in group]
        begin = getattr(domains[0], "begin", _Sequential)
        self.evaluation: PendingEvaluation = begin(domains, self.batches)

    def finish(self) -> list[Run]:
        """Wait until it is evaluated, tell the searches, and return the runs."""
        results = self.evaluation.results()
        for run, batch, result in zip(self.group, self.batches, results, strict=True):
            run.tell(batch, result)
        return self.group


class _Sequential:
    """Batches that are evaluated, one domain after the other, when their results are asked for.

    Each in a call of its own, as it would be alone: joined batches could change the last bits of a
    matrix product.
    """

    def __init__(self, domains: Sequence[Domain], batches: Sequence[Batch]) -> None:
        self.pairs = list(zip(domains, batches, strict=True))

    def ready(self) -> bool:
        """Return True: nothing happens until `results()` is called."""
        return True

    def results(self) -> list[Evaluated]:
        """Evaluate all batches."""
        return [_evaluate(domain, batch) for domain, batch in self.pairs]


def _evaluate(domain: Domain, batch: Batch) -> Evaluated:
    """Evaluate a batch of a user's domain, and check what it returns."""
    what = f"{type(domain).__name__}.evaluate"
    result = domain.evaluate(batch.solutions, batch.environments)
    if not isinstance(result, tuple) or len(result) != 2:
        raise InputError(f"{what} must return (objective, measures), got {type(result).__name__}")
    objective, measures = np.asarray(result[0], float), result[1]
    wrong = np.flatnonzero(~np.isfinite(objective))
    if len(wrong):
        raise InputError(
            f"{what}: objective[{wrong[0]}] must be finite, got {objective.flat[wrong[0]]}"
        )
    if measures is None and batch.environments is None:
        raise InputError(f"{what} must return measures, by which the cells are found; got None")
    return Evaluated(objective, measures)


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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
