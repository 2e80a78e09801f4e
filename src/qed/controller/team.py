"""A team: a swarm whose robots run controllers of their own."""

from collections.abc import Iterable, Iterator
from typing import Any

from qed.controller.network import Controller
from qed.errors import InputError
from qed.swarm.robot import Robot


class Team:
    """A controller per robot; it goes wherever a controller goes in simulate, trace and World.

    Parameters
    ----------
    controllers : iterable of Controller
        One per robot, in the order of the robots.

    Examples
    --------
    >>> import qed
    >>> ahead = qed.Controller([], bias=[1.0, 1.0])
    >>> turning = qed.Controller([], bias=[1.0, -1.0])
    >>> team = qed.Team([ahead, turning, ahead])
    >>> team, team.parts
    (<Team of 3 robots, 2 different controllers>, (0, 1, 0))
    >>> trio = qed.Environment(robots=3)
    >>> outcome = qed.simulate(team, trio, tasks="flocking", trials=2, seconds=2.0)
    >>> outcome.fitness["flocking"].shape
    (1, 2)
    """

    def __init__(self, controllers: Iterable[Controller]) -> None:
        try:
            self.controllers = tuple(controllers)
        except TypeError:
            raise InputError(
                "controllers of a team must be a list with a qed.Controller per robot, got "
                f"{type(controllers).__name__}"
            ) from None
        if not self.controllers:
            raise InputError("a team must have a controller for each robot, got none")
        for k, controller in enumerate(self.controllers):
            if not isinstance(controller, Controller):
                raise InputError(
                    f"controllers[{k}] of a team must be a qed.Controller, got "
                    f"{type(controller).__name__}"
                )

            if controller.robot.key != self.controllers[0].robot.key:
                raise InputError(
                    f"controllers[{k}] of a team drives another robot than the first one: "
                    f"{controller.robot} instead of {self.controllers[0].robot}"
                )

    @property
    def robot(self) -> Robot:
        """What its controllers drive."""
        return self.controllers[0].robot

    @property
    def nodes(self) -> Any:
        """The module that numbers their nodes."""
        return self.controllers[0].nodes

    @property
    def parts(self) -> tuple[int, ...]:
        """Which controller each robot runs: equal ones have one number, the first one 0."""
        kinds = {controller: k for k, controller in enumerate(dict.fromkeys(self.controllers))}
        return tuple(kinds[controller] for controller in self.controllers)

    def __len__(self) -> int:
        return len(self.controllers)

    def __iter__(self) -> Iterator[Controller]:
        return iter(self.controllers)

    def __getitem__(self, robot: int) -> Controller:
        return self.controllers[robot]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Team) and self.controllers == other.controllers

    def __hash__(self) -> int:
        return hash(self.controllers)

    def __repr__(self) -> str:
        kinds = len(set(self.controllers))
        return f"<Team of {len(self)} robots, {kinds} different controllers>"
