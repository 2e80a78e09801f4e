"""prepare(): learn from simulated faults what a swarm will need when robots break."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from qed.archive.archive import Archive
from qed.errors import InputError, instance, integer
from qed.recovery.kit import fitting, library, validation
from qed.recovery.kit.cached_trials import CachedTrials, Condition, TrialCache
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.playbook import Play, Playbook
from qed.recovery.recover import trials_of
from qed.recovery.search.strategies import Known
from qed.recovery.trials import Progress, race_trials
from qed.swarm.backend import chosen
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.tasks import Task

ROOM = 185_000  # bytes of a kit's controllers and library: its file stays below 200 kB
FOR_CONTROLLERS = 0.25  # of the room, at least
NORMAL_TRIALS = 10  # that choose the normal best
PRESENT_TRIALS = 8  # of the normal best in each fault of the library
PLAYS, PLAY_TRIALS, PLAY_FRESH = 24, 10, 40  # of the playbook


@dataclass(frozen=True)
class Effort:
    """How much is simulated for a kit.

    Parameters
    ----------
    surveyed : int, default 20
        Faults that every controller meets, in one trial each.
    candidates : int, default 320
        Controllers that are best there; at least as many as the kit's.
    screened : int, default 80
        Faults of the library that the candidates meet, in one trial each.
    controllers : int, default 96
        Controllers of the kit: those that together cover these faults.
    faults : int, default 160
        Faults of the library, which the kit's controllers meet.
    elsewhere : int, default 40
        Further ones in worlds with fewer robots, or with more obstacles; the candidates meet half
        of them.
    trials : int, default 4
        Trials of each of them in each of these faults; at least two, to know the noise.
    validation : int, default 16
        Faults for validation, which took no part.
    teams : int, default 3
        Of these, uniform ones, in which teams by fault are found.
    portfolio : int, default 30
        Controllers of the portfolio.

    Examples
    --------
    >>> from qed.recovery.kit.prepare import Effort
    >>> Effort(controllers=64).faults
    160
    """

    surveyed: int = 20
    candidates: int = 320
    screened: int = 80
    controllers: int = 96
    faults: int = 160
    elsewhere: int = 40
    trials: int = 4
    validation: int = 16
    teams: int = 3
    portfolio: int = 30

    def __post_init__(self) -> None:
        for name, low in (
            ("surveyed", 1), ("candidates", 1), ("screened", 0), ("controllers", 1), ("faults", 2),
            ("elsewhere", 0), ("trials", 2), ("validation", 2), ("teams", 0), ("portfolio", 1),
        ):  # fmt: skip
            integer(name, getattr(self, name), low, 65536)


def prepare(
    archive: Archive,
    task: str | Task | None = None,
    *,
    faults: Sequence[Faults] = (),
    seed: int = 1,
    seconds: float | None = None,
    environment: Environment | None = None,
    effort: Effort | None = None,
    notes: str | Path | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    backend: str = "auto",
) -> Kit:
    """Learn a kit from an archive: what a swarm needs to recover by itself within ten trials.

    Parameters
    ----------
    archive : Archive
        From ``qed.evolve`` or a file.
    task : str or Task, optional
        What the swarm does (default: the archive's own).
    faults : sequence of Faults
        Combined faults of your own that join the library; their kinds are drawn too.
    seed : int, default 1
        Decides the library, start poses and noise.
    seconds : float, optional
        Simulated time of a trial (s; default: the archive's own).
    environment : Environment, optional
        Where the swarm works (default: the normal environment).
    effort : qed.recovery.kit.prepare.Effort, optional
        How much is simulated (default: some minutes' worth).
    notes : str or Path, optional
        A file that keeps what was simulated; after Ctrl-C the same call goes on from there.
    threads : int, optional
        CPU threads (default: all cores).
    progress : callable, optional
        Called with the number of trials done, and of all.
    backend : {"auto", "cpu", "cuda"}
        As in ``qed.simulate``.

    Returns
    -------
    Kit
        A short list of controllers, and what simulated faults taught about them.

    Raises
    ------
    ValueError
        If an argument is wrong; the message names it and says what is allowed.

    Examples
    --------
    >>> import qed
    >>> from qed.recovery.kit.prepare import Effort
    >>> archive = qed.evolve(
    ...     "patrolling", evaluations=60, initial=20, trials=1, seconds=5.0
    ... )
    >>> little = Effort(
    ...     surveyed=2, screened=2, controllers=8, faults=4, elsewhere=0, validation=2, teams=0
    ... )
    >>> qed.prepare(archive, effort=little)
    <Kit: patrolling, 8 controllers>
    """
    instance("archive", archive, Archive)
    effort = effort or Effort()
    how = trials_of(
        archive, task, trials=NORMAL_TRIALS, seconds=seconds, seed=seed, environment=environment,
        threads=threads,
    )  # fmt: skip
    extra = how.checked(faults) if len(faults) else []
    how = replace(how, backend=chosen(backend, [how.environment], 100))
    settings = {
        "archive": digest_of(archive),
        "task": str(how.task),
        "seed": seed,
        "seconds": how.seconds,
        "environment": how.environment.described(),
        "effort": asdict(effort),
        "faults": [",".join(one) for one in extra],
        "backend": how.backend,
    }
    room = _room(_conditions(effort, how.environment, extra), how.environment.robots)
    if room < FOR_CONTROLLERS * ROOM:
        raise InputError(
            f"faults: a library of {effort.faults + effort.elsewhere} faults leaves no room for "
            "controllers in a kit of 200 kB; use fewer"
        )
    cache = TrialCache(None if notes is None else Path(notes), settings)
    planned = _planned(effort, len(archive), how.environment, extra)
    try:
        return _prepared(archive, CachedTrials(how, seed, cache, planned, progress), effort, extra)
    finally:
        cache.save()


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a library taught of an archive, before playbook and validation."""

    rows: np.ndarray  # of the kit's controllers in the archive, ascending
    present: int  # the number of the normal best among them
    known: Known
    fitness: np.ndarray  # (faults, rows), smoothed
    faults: list[Faults]  # at home; those of the library first, the healthy swarm last
    others: list[tuple[Faults, Environment]]  # and elsewhere


def learn(
    archive: Archive, cached: CachedTrials, effort: Effort, extra: Sequence[Faults] = ()
) -> Lesson:
    """Simulate a library's faults, and learn from them, step by step."""
    everyone, robots = np.arange(len(archive)), cached.how.environment.robots
    normal = cached.race("normal", everyone, None, NORMAL_TRIALS)
    surveyed = _surveyed(effort, cached.seed, robots, extra)
    survey = cached.fitness("survey", everyone, surveyed, 1)[:, :, 0]
    best = np.array([normal.winner])
    some = fitting.shortlist(fitting.smoothed(survey), _candidates(effort, len(everyone)), best)
    faults = [
        *library.drawn("library", cached.seed, effort.faults, robots, extra),
        *library.alike(robots, extra),
        *extra,
        Faults.none(robots),
    ]
    others = library.elsewhere(cached.seed, effort.elsewhere, cached.how.environment, extra)
    conditions: list[Condition] = [*faults, *others]
    screened: list[Condition] = [
        *faults[effort.faults :],
        *faults[: min(effort.screened, effort.faults)],
        *others[: len(others) // 2],
    ]
    screen = cached.fitness("screen", some, screened, 1)[:, :, 0]
    genomes = archive.genomes()
    most = _most(_room(len(conditions), robots), effort, genomes.links[some], genomes.hidden[some])
    rows = _covering(some, fitting.smoothed(screen, fitting.FINE), most, normal.winner)
    tried = cached.fitness("library", rows, conditions, effort.trials)
    healthy = cached.fitness("healthy", rows, [None], 3)[0]
    present = int(np.searchsorted(rows, normal.winner))
    more = cached.fitness_of_one("present", normal.winner, conditions, PRESENT_TRIALS)
    places = fitting.places_in(archive.measures[archive.occupied[rows]])
    known, smooth = fitting.taught(tried, more, healthy, present, places, effort.portfolio)
    return Lesson(rows, present, known, smooth, faults, others)


def _prepared(archive: Archive, cached: CachedTrials, effort: Effort, extra: list[Faults]) -> Kit:
    """Learn, find the playbook, and validate."""
    robots, lesson = cached.how.environment.robots, learn(archive, cached, effort, extra)
    rows, faults, present, smooth = lesson.rows, lesson.faults, lesson.present, lesson.fitness
    controllers = tuple(one.pruned() for one in archive.genomes().take(rows).controllers())
    alike = range(effort.faults, effort.faults + len(library.alike(robots, extra)))
    plays = {
        faults[k][0]: _play(cached, faults[k], rows, smooth[k], present)
        for k in (*alike, len(faults) - 1)
    }
    kit = Kit(
        task=cached.how.task,
        environment=cached.how.environment,
        seconds=cached.how.seconds,
        controllers=controllers,
        cells=archive.occupied[rows],
        present=present,
        known=lesson.known,
        playbook=Playbook(plays, controllers, present=present),
        library={
            "faults": [",".join(one) for one in faults],
            "elsewhere": [
                [world.robots, world.obstacles, ",".join(fault)] for fault, world in lesson.others
            ],
            "kept": _numbers(smooth[:, present]),
            "best": _numbers(smooth.max(1)),
            "archive": len(archive),
            "seed": cached.seed,
        },
    )
    return validation.validated(kit, cached, rows, effort.validation, extra, effort.teams)


def _surveyed(effort: Effort, seed: int, robots: int, extra: Sequence[Faults]) -> list[Faults]:
    """Return the faults that all controllers meet; swarms that are alike, the extremes, first."""
    extremes = [Faults.none(robots), *extra, *library.alike(robots, extra)]
    drawn = library.drawn("survey", seed, effort.surveyed, robots, extra)
    return [*extremes, *drawn][: max(effort.surveyed, 1)]


def _candidates(effort: Effort, controllers: int) -> int:
    """Return how many of an archive's controllers are candidates."""
    return min(max(effort.candidates, effort.controllers), controllers)


def _conditions(effort: Effort, home: Environment, extra: Sequence[Faults]) -> int:
    """Return how many cases a library holds."""
    others = len(library.elsewhere(0, effort.elsewhere, home))
    return effort.faults + len(library.alike(home.robots, extra)) + len(extra) + 1 + others


def _room(cases: int, robots: int) -> float:
    """Return the room (bytes) that a library of so many cases leaves for controllers."""
    # A case takes 4 bytes in each direction, about 6 in the name of each fault, and 25 more.
    return ROOM - cases * (4.0 * (fitting.FACTORS + 2) + 6.0 * robots + 25.0)


def _most(room: float, effort: Effort, links: np.ndarray, hidden: np.ndarray) -> int:
    """Return how many controllers a kit holds, as many as fit into its room (bytes)."""
    # A connection takes 8 bytes and a hidden neuron 4; the prior and the map about 170.
    size = 170.0 + 8.0 * float(links.mean()) + 4.0 * float(hidden.mean())
    return min(effort.controllers, max(int(room / size), 1))


def _covering(some: np.ndarray, fitness: np.ndarray, most: int, best: int) -> np.ndarray:
    """Return the candidates (ascending) that together cover the faults, the normal best included.

    ``fitness`` is (faults, candidates).
    """
    chosen = some[fitting.cover(fitness, most)]
    if best not in chosen:
        chosen[-1] = best
    return np.sort(chosen)


def _play(
    cached: CachedTrials, faults: Faults, rows: np.ndarray, fitness: np.ndarray, present: int
) -> Play:
    """Choose and try the controller for a fault in a swarm whose robots all have it.

    It is the normal best unless another one is better by two standard errors on fresh trials.
    """
    name = faults[0]
    ahead = np.argsort(-fitness, kind="stable")[:PLAYS]
    tried = cached.fitness(f"play-{name}", rows[ahead], [faults], PLAY_TRIALS)[0].mean(1)
    best = int(ahead[np.argmax(tried)])
    again = cached.fitness(f"play-again-{name}", rows[[best, present]], [faults], PLAY_FRESH)[0]
    apart, (found, kept) = again[0] - again[1], again.mean(1).tolist()
    error = float(apart.std(ddof=1)) / PLAY_FRESH**0.5
    if found - kept <= 2.0 * error:
        best, found = present, kept
    return Play(name, best, found, kept, error)


def _planned(effort: Effort, controllers: int, home: Environment, extra: Sequence[Faults]) -> int:
    """Return about how many trials there will be; a kit with large networks needs fewer."""
    some = _candidates(effort, controllers)
    few = min(effort.controllers, some)
    alike = len(library.alike(home.robots, extra))
    extremes = alike + len(extra) + 1
    cases = _conditions(effort, home, extra)
    others = cases - effort.faults - extremes
    plays = (alike + 1) * (2 * PLAY_FRESH + min(PLAYS, few) * PLAY_TRIALS)
    raced = race_trials(controllers, NORMAL_TRIALS)
    surveyed = controllers * max(effort.surveyed, 1)
    screened = some * (min(effort.screened, effort.faults) + extremes + others // 2)
    learned = (few * effort.trials + PRESENT_TRIALS) * cases + 3 * few
    validated = validation.planned(few, effort.validation, effort.teams, home.robots)
    return raced + surveyed + screened + learned + plays + validated


def _numbers(values: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in values]


def digest_of(archive: Archive) -> str:
    """Return a short name for exactly these controllers."""
    hashed = blake2b(digest_size=8)
    columns: dict[str, Any] = {"cell": archive.occupied, **archive.solutions()}
    for name, column in columns.items():
        hashed.update(f"{name} {column.dtype} {column.shape}".encode() + column.tobytes())
    return hashed.hexdigest()
