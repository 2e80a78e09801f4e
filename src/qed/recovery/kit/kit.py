"""Kit: a short list of controllers, and what simulated faults taught about them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from qed.controller.network import Controller
from qed.errors import InputError, former, integer, number
from qed.recovery.kit.playbook import Playbook
from qed.recovery.search.search import Search
from qed.recovery.search.strategies import LEARNED, Known
from qed.recovery.search.teams import TeamSearch
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults

if TYPE_CHECKING:
    from qed.controller.genome import Networks
    from qed.recovery.recovery import KitOptions, OnEvent, Recovery
    from qed.recovery.trials import Progress
    from qed.swarm.tasks import Task

LESS = 0.25  # of a trial's noise: how much better a play is than what it was chosen from


@dataclass(frozen=True, eq=False)
class Kit:
    """All that a swarm needs to search by itself when robots break; no simulator, no archive.

    ``qed.prepare`` makes one; ``save`` and ``load`` keep it in a small file.

    Attributes
    ----------
    task : str
        What the swarm does.
    environment : Environment
        Where it was learned.
    seconds : float
        Length of a trial (s).
    controllers : tuple of Controller
        The short list.
    cells : array of shape ``(n,)``
        Their cells in the archive that they come from.
    present : int
        The number of the controller that a healthy swarm runs, the normal best.
    known : Known
        What is known of the controllers before a search.
    playbook : Playbook
        A controller for each fault, for robots that know theirs.
    library : mapping
        What was simulated.
    findings : mapping
        What validation found; ``words`` says it.

    Examples
    --------
    >>> import qed
    >>> kit = qed.Kit.load("example:patrolling-kit")
    >>> kit
    <Kit: patrolling, 96 controllers>
    >>> search = kit.search()
    >>> search.tell(0.41, search.present)  # what the broken swarm gives now
    >>> controller = search.ask()  # try this one for kit.seconds
    >>> search.tell(0.60)
    >>> search.worthwhile  # to go on with search.best is expected to pay
    True
    >>> kit.save("kit.npz")
    >>> qed.Kit.load("kit.npz").digest == kit.digest
    True
    """

    task: str
    environment: Environment
    seconds: float
    controllers: tuple[Controller, ...]
    cells: np.ndarray
    present: int
    known: Known
    playbook: Playbook
    library: Mapping[str, Any] = field(default_factory=dict)
    findings: Mapping[str, Any] = field(default_factory=dict)

    @overload
    def search(
        self,
        strategy: str = ...,
        *,
        seed: int = ...,
        present: Controller | None = ...,
        state: Mapping[str, Any] | None = ...,
    ) -> Search[Controller]: ...

    @overload
    def search(
        self,
        strategy: str = ...,
        *,
        diagnoses: Faults | Sequence[str],
        misdiagnosis_rate: float = ...,
        present: Controller | None = ...,
        state: Mapping[str, Any] | None = ...,
    ) -> TeamSearch: ...

    @former(wrong="is now misdiagnosis_rate")
    def search(
        self,
        strategy: str = LEARNED,
        *,
        seed: int = 1,
        present: Controller | None = None,
        state: Mapping[str, Any] | None = None,
        diagnoses: Faults | Sequence[str] | None = None,
        misdiagnosis_rate: float = 0.0,
    ) -> Any:
        """Return a search for a swarm whose fault nobody knows, or that diagnosed itself.

        Parameters
        ----------
        strategy : {"learned", "map", "portfolio", "random", "exhaustive"}
            "learned" is from simulated faults, "map" is map-based Bayesian optimisation, whose
            kernel is fitted to these.
        seed : int, default 1
            Decides what "random" tries.
        present : Controller, optional
            The controller that the swarm runs (default: the normal best).
        state : dict, optional
            ``Search.state`` of a search to go on with; strategy, seed and present are then its own.
        diagnoses : Faults or sequence of str, optional
            What each robot says is broken in it; the search is then over teams.
        misdiagnosis_rate : float, default 0.0
            Probability that a robot's diagnosis is wrong.

        Returns
        -------
        Search or TeamSearch
            Ask it for a controller, or a team, and tell it what that gave.

        Examples
        --------
        >>> import qed
        >>> kit = qed.Kit.load("example:patrolling-kit")
        >>> team = kit.search(diagnoses=["PMIN"] * 5 + ["NONE"] * 5).ask()
        >>> len(team)
        10
        """
        row = self.present
        if state is not None:
            strategy, seed, row = _settings(state, len(self.controllers))
        elif present is not None:
            if present not in self.controllers:
                raise InputError("present must be one of the kit's controllers")
            row = self.controllers.index(present)
        if state is not None and "diagnoses" in state:
            diagnoses, misdiagnosis_rate = state["diagnoses"], state.get("wrong", 0.0)
        if diagnoses is None:
            if misdiagnosis_rate != 0.0:
                raise InputError("misdiagnosis_rate needs a search over teams; give diagnoses too")
            search: Any = Search(self.controllers, self.known, row, self.digest, strategy, seed)
        else:
            if strategy != LEARNED:
                raise InputError(f"strategy must be {LEARNED} with diagnoses, got {strategy!r}")
            faults = _diagnosed(diagnoses)
            self.check(None, len(faults), "diagnoses")
            search = self.search_teams(faults, misdiagnosis_rate, row)
        if state is not None:
            search.resume(state)
        return search

    def search_teams(
        self, diagnoses: Faults, misdiagnosis_rate: float = 0.0, present: int | None = None
    ) -> TeamSearch:
        """Return a search over teams of as many robots as there are diagnoses."""
        plays = self.playbook.rows(diagnoses)
        trusted = self.playbook.trusted or len(set(diagnoses)) == 1
        return TeamSearch(
            self.controllers,
            self.known,
            self.present if present is None else present,
            self.digest,
            self.alike,
            diagnoses.names,
            number("misdiagnosis_rate", misdiagnosis_rate, 0.0, 1.0),
            plays if trusted else (),
        )

    @overload
    def recover(
        self, faults: Faults, task: str | Task | None = ..., **how: Unpack[KitOptions]
    ) -> Recovery: ...

    @overload
    def recover(
        self, faults: Sequence[Faults], task: str | Task | None = ..., **how: Unpack[KitOptions]
    ) -> list[Recovery]: ...

    def recover(
        self,
        faults: Faults | Sequence[Faults],
        task: str | Task | None = None,
        *,
        budget: int = 10,
        strategy: str = LEARNED,
        by: str | None = None,
        misdiagnosis_rate: float | None = None,
        reset: bool = True,
        fresh: int = 50,
        seconds: float | None = None,
        seed: int = 1,
        environment: Environment | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        on_event: OnEvent | None = None,
        backend: str = "auto",
    ) -> Recovery | list[Recovery]:
        """Search in a simulated broken swarm: the search does not know the fault.

        Parameters
        ----------
        faults : Faults or sequence of Faults
            A combined fault, or several; several give a list of recoveries.
        task : str or Task, optional
            What the swarm does: the kit's own, as an object if it is one of yours.
        budget : int, default 10
            Trials of the search; the one in which the fault was noticed is free.
        strategy : str, default "learned"
            As in ``search``.
        by : {None, "fault"}
            "fault": over teams, each robot diagnoses its own fault; ``found.team`` (default: one
            controller for all robots).
        misdiagnosis_rate : float, optional
            By fault: probability that a robot's diagnosis is wrong (default: 0).
        reset : bool, default True
            False: in a world that goes on (``qed.World``, on the CPU): robots stay where they are
            between trials, and break while the normal best runs.
        fresh : int, default 50
            Trials of what was found, which took no part in the search.
        seconds : float, optional
            Simulated time of a trial (s; default: the kit's own).
        seed : int, default 1
            Decides start poses and noise.
        environment : Environment, optional
            Where the swarm works (default: the kit's own).
        threads : int, optional
            CPU threads (default: all cores).
        progress : callable, optional
            Called with the rounds of trials made so far, and at most.
        on_event : callable, optional
            Called with an ``Event`` after each trial, whose ``step`` tells what was tried and what
            is believed; what it raises ends the search.
        backend : {"auto", "cpu", "cuda"}
            As in ``qed.recover``.

        Returns
        -------
        Recovery, or a list of these
            One for each combined fault.

        Examples
        --------
        >>> import qed
        >>> kit = qed.Kit.load("example:patrolling-kit")
        >>> broken = qed.Faults(["PMIN"] * 10)
        >>> found = kit.recover(faults=broken, budget=3, fresh=4, seconds=20.0)
        >>> found.trials <= 3, found.trace[0].free
        (True, True)
        """
        from qed.recovery.kit.play import recover
        from qed.recovery.recovery import watcher

        found = recover(
            self, task, faults, budget=budget, strategy=strategy, by=by,
            misdiagnosis_rate=misdiagnosis_rate, reset=reset, fresh=fresh, seconds=seconds,
            seed=seed, environment=environment, threads=threads, backend=backend,
            watch=watcher(progress, on_event),
        )  # fmt: skip
        return found[0] if isinstance(faults, Faults) else found

    @cached_property
    def networks(self) -> Networks:
        """The controllers' networks as the simulator runs them."""
        from qed.swarm.job import networks_of

        return networks_of(self.controllers)[0]

    @cached_property
    def alike(self) -> dict[str, np.ndarray]:
        """What is known of all controllers where all robots have the same fault, by its name.

        The library met these swarms in a few trials of each controller; the playbook's choice
        was the best of many there on more trials, so that the others are taken for less.
        """
        prior, simulated = self.known.prior, self.library.get("faults")
        found = {name: prior.mean.copy() for name in self.playbook.plays}
        simulated = simulated if isinstance(simulated, list) else []
        for faults, place in zip(simulated, prior.points, strict=False):
            names = set(str(faults).split(","))
            if len(names) == 1 and names <= found.keys():
                found[names.pop()] = prior.mean + prior.loadings @ place
        for name, play in self.playbook.plays.items():
            found[name] = np.minimum(found[name], play.fitness - LESS * prior.scale)
            found[name][play.row] = play.fitness
        return found

    @property
    def normal_best(self) -> Controller:
        """The controller that a healthy swarm runs."""
        return self.controllers[self.present]

    @cached_property
    def digest(self) -> str:
        """A short name for all that decides a search: a search's state goes with it."""
        from qed.recovery.kit import stored

        # Teams follow from the playbook, and from the faults of swarms that were alike.
        teams = [self.playbook.described(), self.library.get("faults")]
        hashed = blake2b(json.dumps(teams, sort_keys=True).encode(), digest_size=8)
        for name, array in stored.arrays_of(self).items():
            hashed.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
        return hashed.hexdigest()

    @property
    def words(self) -> list[str]:
        """What was found when it was prepared, in plain words, a line each."""
        from qed.recovery.kit.validation import describe

        return describe(self)

    def check(self, task: str | None, robots: int | None, field: str = "faults") -> None:
        """Raise InputError unless the kit is for this task and so many robots (None: its own)."""
        if task is not None and task != self.task:
            raise InputError(
                f"task: the kit is for {self.task}, not for {task}; prepare another kit"
            )
        if robots is not None and robots != self.environment.robots:
            home = self.environment.robots
            elsewhere = f", or name environment=qed.Environment(robots={robots}) in Python"
            raise InputError(
                f"{field}: the kit is for {home} robots, got {field} of {robots}; give {home}, or "
                f"prepare another kit{elsewhere * (field == 'faults')}"
            )

    def save(self, path: str | Path) -> None:
        """Write the kit to an npz file, or leave what is there; equal kits, equal bytes.

        Parameters
        ----------
        path : str or Path
            The file; it stays below 200 kB.
        """
        from qed.recovery.kit import stored

        stored.save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Kit:
        """Return the kit of a file.

        Parameters
        ----------
        path : str or Path
            The file; "example:TASK-kit" comes with QED.

        Returns
        -------
        Kit
            As it was saved, to the bit.

        Raises
        ------
        ValueError
            If the file is not a kit, or damaged; the message says what is wrong with it.
        """
        from qed.recovery.kit import stored

        return stored.load(path)

    def __repr__(self) -> str:
        return f"<Kit: {self.task}, {len(self.controllers)} controllers>"


def _settings(state: Mapping[str, Any], controllers: int) -> tuple[str, int, int]:
    """Return strategy, seed and present controller of a state; InputError if it has none."""
    if not isinstance(state, Mapping):
        raise InputError("state must come from the state of a search")
    name, seed, present = (state.get(key) for key in ("strategy", "seed", "present"))
    row = integer("state: present", present, 0, controllers - 1)
    return str(name), integer("state: seed", seed, 0, 2**63 - 1), row


def _diagnosed(diagnoses: Any) -> Faults:
    """Return the fault that each robot diagnosed in itself."""
    try:
        return diagnoses if isinstance(diagnoses, Faults) else Faults(diagnoses)
    except (InputError, TypeError) as error:
        raise InputError(f"diagnoses must name a fault for each robot: {error}") from None
