"""Controllers, recurrent networks from what a robot senses to its two wheels; teams of them.

Nodes are numbered in ``inputs``.  A neuron's value is tanh(5 * weighted sum + bias); all
neurons are updated at once, from the inputs of this cycle and the neurons' values of the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from qed.controller.inputs import WHEELS
from qed.definitions import defined
from qed.errors import InputError, instance
from qed.swarm.made_for import made_for
from qed.swarm.robot import THYMIO, Robot

if TYPE_CHECKING:
    from qed.controller.dense import Dense

GAIN = 5.0
LARGEST = 1e6  # weight or bias, either way: their sums stay finite in single precision


class Controller:
    """A recurrent network that drives every robot of a swarm, from what it senses to its wheels.

    Nodes of a Thymio are 0 to 6 proximity, 7 to 14 range and bearing (inputs are 1 where there is
    nothing and -1 where something touches), 15 a constant 1, 16 the left and 17 the right wheel
    (1: full speed ahead), 18 and up hidden neurons.  Other robots' nodes follow in the same order:
    an e-puck has eight proximity sensors, so that its wheels are 17 and 18.

    Parameters
    ----------
    connections : iterable of (source, target, weight)
        From an input or a hidden neuron to a wheel or a hidden neuron.
    bias : iterable of float
        The bias of the left wheel, the right wheel, and each hidden neuron.
    robot : Robot or str, default qed.THYMIO
        What it drives.

    Examples
    --------
    >>> import qed
    >>> ahead = qed.Controller([], bias=[1.0, 1.0])
    >>> avoid = qed.Controller([(0, 17, 1.0), (4, 16, 1.0)], bias=[1.0, 1.0])
    >>> avoid
    <Controller: 0 hidden, 2 connections>
    """

    def __init__(
        self,
        connections: Iterable[Sequence[Any]],
        bias: Iterable[float],
        robot: str | Robot = THYMIO,
    ) -> None:
        self.robot = defined("robot", robot, Robot)
        self.bias = tuple(float(value) for value in bias)
        if len(self.bias) < len(WHEELS):
            raise InputError(
                "bias must hold at least two values (left wheel, right wheel, then hidden "
                f"neurons), got {len(self.bias)}"
            )
        for k, value in enumerate(self.bias):
            if not abs(value) <= LARGEST:
                raise InputError(f"bias[{k}] must be within +-{LARGEST:g}, got {value!r}")
        nodes = self.nodes
        self.connections = tuple(
            self._checked(k, connection, nodes) for k, connection in enumerate(connections)
        )

    @property
    def nodes(self) -> Any:
        """The module that numbers its nodes (``qed.controller.inputs``, made for its robot)."""
        return made_for(self.robot, "qed.controller.inputs")

    def _checked(self, k: int, connection: Sequence[Any], inputs: Any) -> tuple[int, int, float]:
        """Return a legal connection as (source, target, weight)."""
        try:
            source, target, weight = connection
            legal = int(source) == source and int(target) == target
            source, target, weight = int(source), int(target), float(weight)
        except (TypeError, ValueError):
            legal = False
        if not legal:
            raise InputError(
                f"connections[{k}] must be (source, target, weight), got {connection!r}"
            )
        nodes = inputs.FIRST_HIDDEN + self.hidden
        left, right = inputs.LEFT, inputs.RIGHT
        others = (
            f"or a hidden neuron ({inputs.FIRST_HIDDEN} to {nodes - 1})"
            if self.hidden
            else "(none is hidden here)"
        )
        if not 0 <= source < nodes or source in (left, right):
            sensed = f"an input (0 to {inputs.CONSTANT})"
            raise InputError(f"connections[{k}]: source must be {sensed} {others}, got {source}")
        if not left <= target < nodes:
            wheels = f"a wheel ({left}, {right})"
            raise InputError(f"connections[{k}]: target must be {wheels} {others}, got {target}")
        if not abs(weight) <= LARGEST:
            raise InputError(
                f"connections[{k}]: weight must be within +-{LARGEST:g}, got {weight!r}"
            )
        return source, target, weight

    @property
    def hidden(self) -> int:
        """Number of hidden neurons."""
        return len(self.bias) - len(WHEELS)

    @classmethod
    def random(cls, seed: int, robot: str | Robot = THYMIO) -> Controller:
        """Return a random network of the paper's initial sizes.

        It has 0 to 20 hidden neurons and 0 to 40 connections.

        Parameters
        ----------
        seed : int
            Decides everything random.
        robot : Robot or str, default qed.THYMIO
            What it drives.

        Returns
        -------
        Controller
            The same for the same seed.

        Examples
        --------
        >>> import qed
        >>> qed.Controller.random(seed=1)
        <Controller: 18 hidden, 5 connections>
        """
        rng = np.random.default_rng([0x9ED, seed])
        hidden = int(rng.integers(0, 21))
        wanted = int(rng.integers(0, 41))
        inputs = made_for(defined("robot", robot, Robot), "qed.controller.inputs")
        left, first = inputs.LEFT, inputs.FIRST_HIDDEN
        sources = [*range(left), *range(first, first + hidden)]
        targets = [*range(left, first + hidden)]
        links = rng.permutation(len(sources) * len(targets))[:wanted]
        weights = rng.uniform(-2.0, 2.0, wanted)
        connections = [
            (sources[link // len(targets)], targets[link % len(targets)], weight)
            for link, weight in zip(links.tolist(), weights.tolist(), strict=False)
        ]
        return cls(connections, rng.uniform(-2.0, 2.0, 2 + hidden).tolist(), robot)

    @staticmethod
    def dense(hidden: int, robot: str | Robot = THYMIO) -> Dense:
        """Return networks of one topology, of which a vector of weights makes one.

        Each neuron reads all that is sensed and all hidden neurons.  Emitters that search among
        vectors, such as CMA-ME, need them: ``qed.evolve(task, controller=...)``.

        Parameters
        ----------
        hidden : int
            Hidden neurons, 0 to 32.
        robot : Robot or str, default qed.THYMIO
            What they drive.

        Returns
        -------
        Dense
            With ``size``, the length of a vector, and ``controller(vector)``.

        Examples
        --------
        >>> import qed
        >>> qed.Controller.dense(hidden=8).size
        240
        """
        found: Dense = made_for(defined("robot", robot, Robot), "qed.controller.dense").Dense(
            hidden
        )
        return found

    def pruned(self) -> Controller:
        """Return the same behaviour without the hidden neurons that reach no wheel.

        Returns
        -------
        Controller
            With the same or fewer neurons and connections.

        Examples
        --------
        >>> import qed
        >>> qed.Controller([(0, 18, 1.0)], bias=[1.0, 1.0, 0.0]).pruned()
        <Controller: 0 hidden, 0 connections>
        """
        genome = made_for(self.robot, "qed.controller.genome")
        neurons, links = genome.from_controllers([self]).useful()
        left = self.nodes.LEFT
        number = (left + np.cumsum(neurons[0]) - 1).tolist()  # of each neuron that stays
        connections = [
            (source if source < left else number[source - left], number[target - left], weight)
            for (source, target, weight), stays in zip(self.connections, links, strict=True)
            if stays
        ]
        return Controller(connections, np.array(self.bias)[neurons[0]], self.robot)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Controller)
            and self.bias == other.bias
            and self.connections == other.connections
            and self.robot.key == other.robot.key
        )

    def __hash__(self) -> int:
        return hash((self.connections, self.bias))

    def __repr__(self) -> str:
        return f"<Controller: {self.hidden} hidden, {len(self.connections)} connections>"


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
            instance(f"controllers[{k}] of a team", controller, Controller)
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
