"""A playbook: for each fault the controller that a robot with it should run, without a search."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from qed.controller.network import Controller, Team
from qed.errors import InputError, integer, number
from qed.swarm.faults import Faults


@dataclass(frozen=True)
class Play:
    """What the playbook holds for a fault, with what validation said on fresh trials.

    The swarms of the validation are alike: all their robots have the fault.

    Attributes
    ----------
    fault : str
        Its name.
    row : int
        The controller's number in the kit.
    fitness : float
        Of a swarm with the fault that runs it.
    kept : float
        Of that swarm when it keeps the normal best.
    error : float
        Standard error of the difference, trial by trial.

    Examples
    --------
    >>> import qed
    >>> kit = qed.Kit.load("example:patrolling-kit")
    >>> play = kit.playbook.plays["PMIN"]
    >>> play.gain == play.fitness - play.kept
    True
    """

    fault: str
    row: int
    fitness: float
    kept: float
    error: float

    @property
    def gain(self) -> float:
        """What the controller gains over the normal best in a swarm that is alike."""
        return self.fitness - self.kept


@dataclass(frozen=True)
class Playbook:
    """A controller for each fault: what robots that know their faults run, without a search.

    Each was chosen in swarms whose robots all have the fault, and need not be right beside robots
    with other faults, which ``mixed`` tells.

    Attributes
    ----------
    plays : mapping of str to Play
        What it holds for each fault, by name.
    controllers : sequence of Controller
        The kit's.
    mixed : tuple of float or None
        What validation in swarms of different faults said: the mean gain over the best controller
        for all robots, and its standard error; None as long as nobody validated it there.
    present : int
        The controller of a healthy swarm, by its number.

    Examples
    --------
    >>> import qed
    >>> kit = qed.Kit.load("example:patrolling-kit")
    >>> broken = qed.Faults(["PMIN"] * 5 + ["NONE"] * 5)
    >>> kit.playbook.trusted, kit.playbook.team(broken)
    (True, <Team of 10 robots, 2 different controllers>)
    >>> kit.playbook.team(broken)[0] == kit.playbook.look_up(broken)[0]
    True
    >>> kit.playbook.rows(broken)
    [88, 88, 88, 88, 88, 34, 34, 34, 34, 34]
    """

    plays: Mapping[str, Play]
    controllers: Sequence[Controller]
    mixed: tuple[float, float] | None = None
    present: int = 0

    @property
    def trusted(self) -> bool:
        """Whether it is better than one for all in mixed swarms, or equal within the error."""
        return self.mixed is not None and self.mixed[0] >= -self.mixed[1]

    def look_up(self, faults: Faults) -> list[Controller]:
        """Return the controller for each robot.

        Parameters
        ----------
        faults : Faults
            What each robot says is broken in it.

        Returns
        -------
        list of Controller
            In the order of the faults.
        """
        return [self.controllers[row] for row in self.rows(faults)]

    def rows(self, faults: Faults) -> list[int]:
        """Return the number of the controller for each robot.

        Parameters
        ----------
        faults : Faults
            What each robot says is broken in it.

        Returns
        -------
        list of int
            Numbers of the kit's controllers, in the order of the faults.
        """
        if not isinstance(faults, Faults):
            raise InputError(f"faults must be qed.Faults, got {type(faults).__name__}")
        for name in faults:
            if name not in self.plays:
                known = ", ".join(self.plays)
                raise InputError(f"faults: the playbook does not know {name!r}, only {known}")
        return [self.plays[name].row for name in faults]

    def team(self, faults: Faults, *, anyway: bool = False) -> Team:
        """Return the team for these faults, without a search: each robot knows its own.

        Robots with different faults keep the normal best if the playbook is not ``trusted``, since
        it may do harm there.

        Parameters
        ----------
        faults : Faults
            What each robot says is broken in it.
        anyway : bool, default False
            Look the controllers up even if the playbook is not trusted.

        Returns
        -------
        Team
            A controller per robot.
        """
        found = self.look_up(faults)
        if self.trusted or anyway or len(set(faults)) == 1:
            return Team(found)
        return Team([self.controllers[self.present]] * len(found))

    def described(self) -> dict[str, Any]:
        """Return the playbook as JSON can hold it."""
        plays = [asdict(play) for play in self.plays.values()]
        return {"plays": plays, "mixed": None if self.mixed is None else list(self.mixed)}

    @classmethod
    def from_described(cls, stored: Any, controllers: Sequence[Controller], present: int) -> Self:
        """Return the playbook of a file, or raise ValueError that says what is wrong with it."""
        if not isinstance(stored, dict) or not isinstance(stored.get("plays"), list):
            raise ValueError("its playbook is not a list of plays")
        plays: dict[str, Play] = {}
        for play in stored["plays"]:
            if not isinstance(play, dict) or not isinstance(play.get("fault"), str):
                raise ValueError("a play of its playbook names no fault")
            row = integer("a play's row", play.get("row"), 0, len(controllers) - 1)
            numbers = {
                name: number(f"a play's {name}", play.get(name), -1e9, 1e9)
                for name in ("fitness", "kept", "error")
            }
            plays[play["fault"]] = Play(play["fault"], row, **numbers)
        mixed = stored.get("mixed")
        if mixed is not None:
            if not isinstance(mixed, list) or len(mixed) != 2:
                raise ValueError("its playbook's validation is not a gain and an error")
            gain, error = (number("a playbook's validation", one, -1e9, 1e9) for one in mixed)
            mixed = gain, error
        return cls(plays, controllers, mixed, present)
