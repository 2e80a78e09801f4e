"""A run: a folder with its settings, its progress, and a checkpoint or, in the end, its archive.

    config.toml      everything that made it
    progress.csv     coverage, best, mean and QD score over evaluations
    archive.npz      the archive, when the run is finished
    checkpoint.npz   the archive so far; the one before it is kept too, until the run is finished

Files are written to a temporary name, flushed and renamed, so that a kill or a full disk
leaves the last good ones.  Since everything random is a hash of task, algorithm, seed and a
number, the archive and the number of evaluations are the whole state: a resumed run ends with the
same archive, bit for bit.  Which engine simulates is no part of a run: one that began on a CPU may
go on with a GPU.
"""

from __future__ import annotations

import contextlib
import os
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from qed import limits
from qed.archive.archive import Archive
from qed.errors import InputError, StoppedError, choice
from qed.evolution.algorithms import ALGORITHMS
from qed.evolution.map_elites import Batch, MapElites
from qed.evolution.swarms import Evaluated, Evaluation, Swarms, parties
from qed.streams import STREAMS, search_stream, trials_stream
from qed.swarm.tasks import TASKS
from qed.textfile import disk, made_by, toml, unfinished, write

CONFIG, PROGRESS, ARCHIVE = "config.toml", "progress.csv", "archive.npz"
CHECKPOINT, PREVIOUS = "checkpoint.npz", "checkpoint.previous.npz"
COLUMNS = ("evaluations", "coverage", "best", "mean", "qd_score")


@dataclass(frozen=True)
class Settings:
    """What makes a run; with the same engine, equal settings give equal archives."""

    task: str
    algorithm: str = "qed"
    evaluations: int = 2_402_000  # in all
    initial: int = 2_000  # random solutions to begin with
    batch: int = 80  # children of a generation
    trials: int = 50  # of an evaluation
    seconds: float = 400.0  # simulated time of a trial (s)
    seed: int = 1  # with task and algorithm it decides everything random

    def __post_init__(self) -> None:
        checked = {
            "task": choice("task", self.task, TASKS),
            "algorithm": choice("algorithm", self.algorithm, ALGORITHMS),
            "evaluations": limits.evaluations(self.evaluations),
            "initial": limits.evaluations(self.initial, "initial"),
            "batch": limits.batch(self.batch),
            "trials": limits.trials(self.trials),
            "seconds": limits.seconds(self.seconds),
            "seed": limits.seed(self.seed),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def search(
        self,
        threads: int | None = None,
        progress: Callable[[int, int], Any] | None = None,
        backend: str = "cpu",
    ) -> MapElites:
        """Return a new search with these settings.

        ``progress`` is told how far the centroids are, if they have to be made.
        """
        algorithm = ALGORITHMS[self.algorithm]
        space = algorithm.space(self.evaluations, progress)
        own = self.task, self.algorithm, self.seed
        trials = trials_stream(*own)
        return MapElites(
            domain=Swarms(
                self.task, algorithm, self.trials, self.seconds, trials, threads, backend
            ),
            archive=Archive(space, header={"settings": asdict(self), "streams": STREAMS}),
            seed=search_stream(*own),
            evaluations=self.evaluations,
            initial=self.initial,
            batch=self.batch,
            environments=algorithm.environments,
        )


class Run:
    """A search, and the folder it lives in, if any."""

    def __init__(
        self,
        settings: Settings,
        folder: Path | None = None,
        *,
        resume: bool = False,
        threads: int | None = None,
        progress: Callable[[int, int], Any] | None = None,
        backend: str = "cpu",
    ) -> None:
        self.settings = settings
        self.folder = folder
        self.notes: list[str] = []  # what a user should know about how it began
        self.kept = False  # whether its archive is in the folder
        if folder is not None:
            self._claim(folder, resume, backend)
        if settings.evaluations <= settings.initial:
            self.notes.append(
                f"all {settings.evaluations:,} evaluations are of random controllers, since "
                f"initial is {settings.initial:,}: nothing will evolve"
            )
        self.search = settings.search(threads, progress, backend)
        if folder is not None and resume:
            self._restore(folder)
        self.saved_at = time.monotonic()
        self.saved_done = self.search.done
        self.whole = True  # not so while results are being told

    @property
    def domain(self) -> Swarms:
        """The swarms that learn."""
        return self.search.domain  # type: ignore[return-value]

    def _claim(self, folder: Path, resume: bool, backend: str) -> None:
        """Make the folder this run's, or raise StoppedError if it is not free for it."""
        config = folder / CONFIG
        if resume and not config.exists():
            raise InputError(f"out: {folder} holds no run to resume")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if config.exists():
                _check_streams(config)
                different = _differences(config, self.settings)
                if different:
                    raise InputError(f"out: {folder} holds another run: {'; '.join(different)}")
                if not resume:
                    raise InputError(
                        f"out: {folder} holds this run already; resume it (--resume), or take "
                        "another folder"
                    )
            elif any(file.name != unfinished(config).name for file in folder.iterdir()):
                raise InputError(
                    f"out: {folder} is not empty and holds no run; take another folder"
                )
            else:
                # It may be resumed with another engine, but not with other random numbers.
                begun = {**made_by(), "engine": backend, "streams": STREAMS}
                write(config, toml({"run": asdict(self.settings), "made_by": begun}))
        except OSError as error:
            raise StoppedError(f"cannot use the folder {folder}: {error.strerror}") from error

    def _restore(self, folder: Path) -> None:
        """Take the archive of a finished run, or go on from the newest good checkpoint, if any."""
        finished = folder / ARCHIVE
        if finished.exists():
            try:
                self.search.archive = Archive.load(finished)
                self.search.done = self.settings.evaluations
                self.search.history = _history(folder / PROGRESS)
                self.kept = True
                self.notes.append(f"{folder} is finished: there is nothing left to evolve")
                return
            except ValueError as error:
                if not any((folder / name).exists() for name in (CHECKPOINT, PREVIOUS)):
                    raise StoppedError(f"{error}; remove it to evolve the run again") from error
                self.notes.append(f"{error}; going on from a checkpoint")
        for name in (CHECKPOINT, PREVIOUS):
            path = folder / name
            if path.exists():
                try:
                    archive = Archive.load(path)
                    state = archive.header.pop("state")
                    self.search.done = int(state["done"])
                    self.search.history = [tuple(row) for row in state["history"]]
                    self.search.archive = archive
                    return
                except (ValueError, KeyError, TypeError) as error:
                    self.notes.append(f"{path} is not usable ({error}); trying an older one")
        self.notes.append(f"{folder} has no checkpoint yet; starting from the beginning")

    def tell(self, batch: Batch, result: Evaluated) -> None:
        """Offer an evaluated batch to the archive; an interrupt in between is not saved."""
        self.whole = False
        self.search.tell(batch, *result)
        self.whole = True

    def checkpoint(self) -> None:
        """Save the state, if it is whole and new, keeping the checkpoint before it."""
        if self.folder is None or self.saved_done == self.search.done or not self.whole:
            return
        archive = self.search.archive
        archive.header["state"] = {"done": self.search.done, "history": self.search.history}
        try:
            with _disk(self.folder):
                fresh = self.folder / f"{CHECKPOINT}.new.npz"
                archive.save(fresh)
                current = self.folder / CHECKPOINT
                if current.exists():
                    os.replace(current, self.folder / PREVIOUS)
                os.replace(fresh, current)
                write(self.folder / PROGRESS, self.progress())
        finally:
            del archive.header["state"]
        self.saved_at = time.monotonic()
        self.saved_done = self.search.done

    def finish(self) -> None:
        """Save the final archive; checkpoints go when it is safely there."""
        if self.folder is None:
            return
        if not self.kept:
            with _disk(self.folder):
                write(self.folder / PROGRESS, self.progress())
                self.search.archive.save(self.folder / ARCHIVE)
            self.kept = True
            self.saved_done = self.search.done
        forget_checkpoints(self.folder)

    def progress(self) -> str:
        """Return the history as CSV."""
        lines = [",".join(COLUMNS)]
        for done, coverage, *rest in self.search.history:
            lines.append(f"{done:.0f},{coverage:.0f}," + ",".join(f"{x:.9g}" for x in rest))
        return "\n".join(lines) + "\n"


def drive(runs: Sequence[Run], every: float = 30.0) -> Iterator[list[Run]]:
    """Evolve runs side by side, yielding those that moved after each generation.

    Runs that suit each other go to the simulator as a party, with the same result as one after
    the other; tasks and algorithms may differ from run to run.  A GPU simulates the parties'
    next generations while the host looks after this one.  A checkpoint is made every so many
    seconds, at the end, and when interrupted.
    """
    going = [run for run in runs if not run.search.finished]
    try:
        under_way = [_Generation(party) for party in _parties(going)]
        while under_way:
            party = under_way.pop(_first_ready(under_way)).end()
            for run in party:
                if run.search.finished:
                    run.finish()
            if rest := [run for run in party if not run.search.finished]:
                under_way.append(_Generation(rest))
            for run in rest:
                if time.monotonic() - run.saved_at >= every:
                    run.checkpoint()
            yield party
        for run in runs:
            run.finish()
    except (KeyboardInterrupt, GeneratorExit):
        for run in runs:
            run.checkpoint()
        raise
    except Exception:
        for run in runs:  # what went wrong is told; that it cannot be saved either is not
            with contextlib.suppress(StoppedError):
                run.checkpoint()
        raise


def _parties(runs: Sequence[Run]) -> list[list[Run]]:
    """Return the runs that are best simulated together."""
    domains = [run.domain for run in runs]
    batch = min((run.settings.batch for run in runs), default=1)
    return [[runs[k] for k in party] for party in parties(domains, batch)]


def _first_ready(generations: Sequence[_Generation]) -> int:
    """Wait until a generation is simulated; return the place of the first that is."""
    while True:
        for k, generation in enumerate(generations):
            if generation.evaluation.ready():
                return k
        time.sleep(0.0002)


class _Generation:
    """A generation of a party of runs, under way."""

    def __init__(self, party: list[Run]) -> None:
        self.party = party
        self.batches = [run.search.ask() for run in party]
        self.evaluation = Evaluation(
            [run.domain for run in party],
            [batch.solutions for batch in self.batches],
            [batch.environments for batch in self.batches],
        )

    def end(self) -> list[Run]:
        """Wait until it is simulated, tell the searches, and return the runs."""
        for run, batch, result in zip(
            self.party, self.batches, self.evaluation.results(), strict=True
        ):
            run.tell(batch, result)
        return self.party


@contextlib.contextmanager
def _disk(folder: Path) -> Iterator[None]:
    """Say plainly if a file cannot be written; what was there before is still there."""
    with disk(folder, "the last checkpoint is intact, make room and resume"):
        try:
            yield
        except OSError:
            for rest in folder.glob("*.new*"):
                with contextlib.suppress(OSError):
                    rest.unlink()
            raise


def settings_of(folder: Path) -> Settings:
    """Return the settings of a run's folder."""
    path = folder / CONFIG
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        return Settings(**{f.name: table["run"][f.name] for f in fields(Settings)})
    except OSError as error:
        raise InputError(f"{folder} holds no run: {error.strerror}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise StoppedError(f"{path} is damaged: {error}") from error


def _check_streams(config: Path) -> None:
    """Raise InputError if a run's random numbers followed from its seed in another way."""
    try:
        by = tomllib.loads(config.read_text(encoding="utf-8"))["made_by"]
        same, version = by.get("streams") == STREAMS, by["qed"]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise StoppedError(f"{config} is damaged: {error}") from error
    if not same:
        raise InputError(
            f"out: {config.parent} was begun by an older qed ({version}), whose random numbers "
            "were others: it cannot be resumed; take another folder, or that version"
        )


def evaluations_done(folder: Path) -> int:
    """Return how many evaluations a run had at its last checkpoint, as its folder tells."""
    try:
        last = (folder / PROGRESS).read_text(encoding="utf-8").splitlines()[-1]
        return int(last.split(",")[0])
    except (OSError, IndexError, ValueError):
        return 0


def forget_checkpoints(folder: Path) -> None:
    """Remove the checkpoints of a run whose archive is there: it has all that they have."""
    if (folder / ARCHIVE).exists():
        for name in (CHECKPOINT, PREVIOUS):
            with contextlib.suppress(OSError):
                (folder / name).unlink(missing_ok=True)


def _history(path: Path) -> list[tuple[float, ...]]:
    """Return the rows of a run's progress."""
    with contextlib.suppress(OSError, ValueError):
        _, *lines = path.read_text(encoding="utf-8").splitlines()
        return [tuple(map(float, line.split(","))) for line in lines]
    return []


def _differences(config: Path, wanted: Settings) -> list[str]:
    """Return how a folder's settings differ from the wanted ones."""
    there = asdict(settings_of(config.parent))
    return [
        f"{name} is {there[name]!r} there, {value!r} here"
        for name, value in asdict(wanted).items()
        if there[name] != value
    ]
