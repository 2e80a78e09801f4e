"""Ask and tell: a search in a broken swarm, one trial after the other.

The swarm tries what ``ask`` returns and tells what it gave.  Nothing is simulated.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

import numpy as np

from qed.controller.network import Controller, Team
from qed.errors import InputError, choice, integer, real
from qed.recovery.search.gaussian import Observations, Posterior
from qed.recovery.search.strategies import LEARNED, STRATEGIES, Known, expected_rise, strategy

FORMAT, VERSION = "qed-search", 2
NINETY = 1.645  # standard deviations on each side of an interval that holds 90 %
CLEAR = 0.5  # standard deviations by which a gain must exceed 0 to be clear
ENOUGH = 0.1  # of a trial's noise: a rise that is not worth a further trial
Arm = TypeVar(
    "Arm", bound=Controller | Team
)  # what is tried: a controller in all robots, or a team


@dataclass(frozen=True)
class Belief:
    """What is believed of a number: its mean, and an interval that holds it with 90 %.

    Parameters
    ----------
    mean : float
        What is expected.
    low, high : float
        Ends of the interval.
    trials : int, default 0
        Trials that it rests on directly.

    Examples
    --------
    >>> from qed.recovery.search.search import Belief
    >>> Belief.of(0.5, deviation=0.1)
    Belief(mean=0.5, low=0.3355, high=0.6645, trials=0)
    """

    mean: float
    low: float
    high: float
    trials: int = 0

    @classmethod
    def of(cls, mean: float, deviation: float, trials: int = 0) -> Self:
        """Return the belief of a Gaussian.

        Parameters
        ----------
        mean, deviation : float
            Its mean and its standard deviation.
        trials : int, default 0
            Trials that it rests on directly.

        Returns
        -------
        Belief
            With the interval of 90 %.
        """
        return cls(mean, mean - NINETY * deviation, mean + NINETY * deviation, trials)


class Search(Generic[Arm]):
    """A search for the controller that works best in a fault that nobody knows.

    ``Kit.search`` makes one.  The swarm tries ``ask()`` and tells what it gave with ``tell``,
    until ``done`` or out of trials, and goes on with ``best``: the present controller unless the
    gain of another is clear.

    Examples
    --------
    >>> import qed
    >>> kit = qed.Kit.load("example:patrolling-kit")
    >>> search = kit.search()
    >>> search.tell(0.41, search.present)
    >>> for fitness in (0.55, 0.62):
    ...     controller = search.ask()  # the robots run it for kit.seconds
    ...     search.tell(fitness)
    >>> search.trials, search.worthwhile, round(search.gain, 2)
    (3, True, 0.21)
    >>> belief = search.belief(controller)
    >>> belief.low < belief.mean < belief.high
    True
    >>> kit.search(state=search.state).best == search.best
    True
    """

    def __init__(
        self,
        controllers: Sequence[Arm],
        known: Known,
        present: int,
        digest: str,
        name: str = LEARNED,
        seed: int = 1,
    ) -> None:
        self.controllers: Sequence[Arm] = controllers
        self.strategy = choice("strategy", name, STRATEGIES)
        self.seed = integer("seed", seed, 0, 2**63 - 1)
        self._known, self._present, self._digest = known, present, digest
        self._how = strategy(self.strategy, known, self.seed)
        self._told: list[tuple[int, float]] = []
        self._asked: int | None = None

    # What the swarm does

    def ask(self) -> Arm:
        """Return the controller to try next; the same until its fitness is told.

        Returns
        -------
        Controller or Team
            For all robots, or a controller per robot.
        """
        if self._asked is None:
            self._asked = self._how.choose(self._seen, self._posterior, self._present)
        return self.controllers[self._asked]

    def tell(self, fitness: float, controller: Arm | None = None) -> None:
        """Tell the fitness of one trial: of what was asked, or of a controller that is named.

        What the present controller gave since the fault struck is worth telling before the first
        ``ask``: ``search.tell(0.41, search.present)``.

        Parameters
        ----------
        fitness : float
            What the trial gave, as the kit's task scores it.
        controller : Controller or Team, optional
            What was tried (default: what was asked).
        """
        value = real("fitness", fitness, -1e9, 1e9)
        row = self._asked if controller is None else self.row(controller)
        if row is None:
            raise InputError(
                "no controller is waiting for a fitness: call ask() before each tell(), "
                "or name the controller that was tried"
            )
        self._asked = None if row == self._asked else self._asked
        self._told.append((row, value))
        self._forget()

    # What it believes

    @property
    def present(self) -> Arm:
        """The controller that the swarm runs now."""
        return self.controllers[self._present]

    @property
    def best(self) -> Arm:
        """The controller to go on with: the leader if its gain is clear, else the present one."""
        return self.controllers[self.best_row]

    @property
    def best_row(self) -> int:
        """The number of the best controller in the kit."""
        return self._leader if self.worthwhile else self._present

    @property
    def leader(self) -> Arm:
        """The controller with the highest expected fitness, however uncertain."""
        return self.controllers[self._leader]

    @property
    def gain(self) -> float:
        """Expected fitness of the leader less that of the present controller."""
        return self.gain_belief.mean

    @property
    def gain_belief(self) -> Belief:
        """The gain with an interval."""
        trials = int(self._seen.trials_of(len(self.controllers))[self._leader])
        return Belief.of(*self._posterior.ahead(self._leader, self._present), trials)

    @property
    def worthwhile(self) -> bool:
        """Whether the gain is clear: to change the controller is expected to pay."""
        gain, deviation = self._posterior.ahead(self._leader, self._present)
        return gain > CLEAR * deviation and self._leader != self._present

    @property
    def expected(self) -> np.ndarray:
        """Expected fitness of each controller with the fault, (n,)."""
        return self._posterior.mean

    @property
    def promise(self) -> float:
        """Largest expected rise in fitness if one more controller's were known exactly."""
        belief = self._posterior
        behind = belief.mean - belief.mean[self._leader]
        variance = belief.variance
        likely = np.argsort(-(behind + 2.0 * np.sqrt(variance)), kind="stable")[:32].tolist()
        rises = (
            expected_rise(*belief.ahead(row, self._leader)) for row in likely if row != self._leader
        )
        return max(rises, default=0.0)

    @property
    def done(self) -> bool:
        """Whether further trials are not expected to pay.

        They are not when knowing any other controller exactly is expected to raise the fitness by
        less than a tenth of a trial's noise.
        """
        noise = math.sqrt(float(np.mean(self._posterior.noise**2)))
        return self.promise < ENOUGH * noise

    def belief(self, controller: Arm | None = None) -> Belief:
        """Return what is believed of a controller's fitness with the fault.

        Parameters
        ----------
        controller : Controller or Team, optional
            One of the search's (default: the best).

        Returns
        -------
        Belief
            Mean, interval of 90 %, and the trials of this controller.
        """
        row = self.best_row if controller is None else self.row(controller)
        deviation = math.sqrt(float(self._posterior.variance[row]))
        trials = int(self._seen.trials_of(len(self.controllers))[row])
        return Belief.of(float(self._posterior.mean[row]), deviation, trials)

    @property
    def trials(self) -> int:
        """Number of trials told."""
        return len(self._told)

    def members(self, row: int) -> list[int]:
        """Return the numbers of the controllers that robots run: here one for all of them."""
        return [row]

    def row(self, controller: Arm) -> int:
        """Return the number of a controller in the kit."""
        wanted = type(self.controllers[0])
        if not isinstance(controller, wanted):
            kind = type(controller).__name__
            raise InputError(f"controller must be a qed.{wanted.__name__} of the kit, got {kind}")
        row, first = self._rows.get(controller), self.controllers[0]
        if (
            isinstance(controller, Team)
            and isinstance(first, Team)
            and len(controller) != len(first)
        ):
            raise InputError(
                f"controller: a team of {len(controller)} cannot drive {len(first)} robots; name "
                "what ask() returned"
            )
        if row is None:
            raise InputError(
                "controller is not one of the kit's controllers: name what ask() returned"
            )
        return row

    # What it keeps

    @property
    def state(self) -> dict[str, Any]:
        """All that is needed to go on later, as JSON can hold it; see ``Kit.search``."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "kit": self._digest,
            "strategy": self.strategy,
            "seed": self.seed,
            "present": self._present,
            "told": [[row, fitness] for row, fitness in self._told],
            "asked": self._asked,
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Take over the trials of another search's state; InputError if it does not fit."""
        if not isinstance(state, Mapping) or state.get("format") != FORMAT:
            raise InputError("state must come from the state of a search")
        if state.get("version") != VERSION:
            raise InputError(
                f"state: version {state.get('version')!r} is not known here, only {VERSION}; begin "
                "a new search, and tell it the trials of the old one"
            )
        if state.get("kit") != self._digest:
            raise InputError("state belongs to a search with another kit")
        told, asked = state.get("told"), state.get("asked")
        if not isinstance(told, list) or not all(
            isinstance(one, list | tuple) and len(one) == 2 for one in told
        ):
            raise InputError("state: told must be a list of pairs (controller number, fitness)")
        last = len(self.controllers) - 1
        checked = [
            (integer("state: told", row, 0, last), real("state: told", fitness, -1e9, 1e9))
            for row, fitness in told
        ]
        pending = None if asked is None else integer("state: asked", asked, 0, last)
        self._told, self._asked = checked, pending
        self._forget()

    def _forget(self) -> None:
        """Drop what was concluded from fewer trials."""
        for name in ("_seen", "_posterior", "_leader"):
            self.__dict__.pop(name, None)

    @cached_property
    def _rows(self) -> dict[Arm, int]:
        """Return the first number of each controller."""
        last = len(self.controllers) - 1
        return {self.controllers[row]: row for row in range(last, -1, -1)}

    @cached_property
    def _seen(self) -> Observations:
        return Observations.of(self._told)

    @cached_property
    def _posterior(self) -> Posterior:
        return self._how.belief(self._seen)

    @cached_property
    def _leader(self) -> int:
        """The number of the controller with the highest mean, the first of equals."""
        mean, allowed = self._posterior.mean, self._how.answers(self._seen)
        if allowed is None:
            return int(np.argmax(mean))
        rows = np.union1d(allowed, [self._present]).astype(np.int64)
        return int(rows[np.argmax(mean[rows])])

    def __repr__(self) -> str:
        return f"<Search: {self.strategy}, {self.trials} trials told>"
