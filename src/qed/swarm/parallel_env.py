"""A swarm as an environment of PettingZoo, for who learns with many agents: parallel_env()."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from qed import limits
from qed.errors import InputError
from qed.swarm import robot
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.tasks import Task
from qed.swarm.world import World

try:
    from gymnasium.spaces import Box
    from pettingzoo import ParallelEnv
except ImportError:  # ``parallel_env`` says so
    ParallelEnv = None

Each = dict[str, Any]  # something for each robot


def parallel_env(
    environment: Environment | None = None,
    task: str | Task = "patrolling",
    *,
    seconds: float = 400.0,
    seed: int = 1,
    faults: Faults | None = None,
    noise: float = robot.PROXIMITY_NOISE,
) -> Any:
    """Return a swarm as a ``pettingzoo.ParallelEnv``: the robots are agents that share a reward.

    It needs the extra ``rl``: ``pip install 'qed-swarm[rl]'``.

    Parameters
    ----------
    environment : Environment, optional
        Where the swarm is (default: the normal environment).
    task : str or Task, default "patrolling"
        What is rewarded.
    seconds : float, default 400.0
        Simulated time of an episode (s), two cycles of 0.2 s at least.
    seed : int, default 1
        Of the first episode; ``reset(seed=...)`` sets another one.
    faults : Faults, optional
        A fault per robot (default: all robots are healthy); ``reset(options={"faults": ...})``
        sets those of an episode.
    noise : float, default 0.05
        Half width of the proximity sensors' uniform noise (readings are 0 to 1).

    Returns
    -------
    pettingzoo.ParallelEnv
        Its agents are "robot_0" and so on.

    Notes
    -----
    An action is what the wheels turn at, (2,) from -1 to 1: parts of ``max_speed``.  An
    observation is what a network reads, (15,) of Thymios from -1 to 1: proximity, then range and
    bearing, then ground sensors.

    An episode is a trial of ``simulate`` with its seed.  Its first cycle, in which robots stand,
    passes in ``reset``; each step is one cycle, and with the last one all agents are truncated.
    The rewards of an episode add up to the fitness of the trial, the same for all agents.
    Without a seed, ``reset`` draws a new one, which follows from the last that was set.

    ``env.world`` is the ``World`` of the episode, ``env.state()`` all poses.

    Examples
    --------
    >>> import qed
    >>> env = qed.parallel_env(task="aggregation", seconds=2.0)
    >>> observations, infos = env.reset(seed=3)
    >>> gained = 0.0
    >>> while env.agents:
    ...     ahead = {agent: [1.0, 0.8] for agent in env.agents}
    ...     observations, rewards, terminations, truncations, infos = env.step(ahead)
    ...     gained += rewards["robot_0"]
    >>> bool(abs(gained - env.world.score) < 1e-12)
    True
    """
    if ParallelEnv is None:
        raise InputError("parallel_env needs the extra 'rl': pip install 'qed-swarm[rl]'")
    return SwarmEnv(environment, task, seconds=seconds, seed=seed, faults=faults, noise=noise)


class SwarmEnv(ParallelEnv or object):  # type: ignore[misc]
    """The environment that ``parallel_env`` returns."""

    metadata = {"name": "qed_swarm_v0", "render_modes": [], "is_parallelizable": True}  # noqa: RUF012
    render_mode = None

    def __init__(
        self,
        environment: Environment | None,
        task: str | Task,
        *,
        seconds: float,
        seed: int,
        **given: Any,
    ) -> None:
        self._given = {"environment": environment, "task": task, **given}
        self._seed: int | None = limits.seed(seed)
        self.world = World(seed=self._seed, **self._given)  # checks the rest
        self.cycles = round(limits.seconds(seconds) / robot.CYCLE)
        if self.cycles < 2:
            least = 2 * robot.CYCLE
            raise InputError(f"seconds must be at least two cycles, {least:g} s; got {seconds!r}")
        robots, side = self.world.environment.robots, self.world.environment.arena
        self.possible_agents = [f"robot_{k}" for k in range(robots)]
        self.agents: list[str] = []
        self._draws: Any = None  # of seeds
        inputs = sum(part.shape[-1] for part in self.world.step(np.zeros((robots, 2))))
        self.observation_spaces = {
            agent: Box(-1.0, 1.0, (inputs,)) for agent in self.possible_agents
        }
        self.action_spaces = {agent: Box(-1.0, 1.0, (2,)) for agent in self.possible_agents}
        low, high = np.array([(0.0, 0.0, -math.pi), (side, side, math.pi)], np.float32)
        self.state_space = Box(np.tile(low, robots), np.tile(high, robots))

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Each, Each]:
        """Begin an episode; return what the robots read after its first cycle."""
        if seed is not None:
            self._seed = limits.seed(seed)
        if self._seed is not None:
            self._draws, first, self._seed = np.random.default_rng(self._seed), self._seed, None
        else:
            first = int(self._draws.integers(2**63))
        self.world = World(seed=first, **{**self._given, **_of_episode(options)})
        self.agents = self.possible_agents[:]
        self._gained = 0.0
        observations = self._advance(np.zeros((len(self.agents), 2)))
        return observations, {agent: {} for agent in self.agents}

    def step(self, actions: Mapping[str, Any]) -> tuple[Each, Each, Each, Each, Each]:
        """Let a cycle pass; return observations, rewards, terminations, truncations, infos."""
        agents = self.agents
        if self._draws and not agents and not actions:
            return {}, {}, {}, {}, {}
        if not agents:
            raise InputError("the episode has not begun, or is over: call reset() first")
        if set(actions) != set(agents):
            odd = sorted(set(actions) ^ set(agents), key=str)
            raise InputError(f"actions must have one for each of env.agents; see {odd[0]!r}")
        observations = self._advance(self._wheels(actions))
        gained = self.world.cycle * self.world.score / self.cycles
        reward, self._gained = gained - self._gained, gained
        over = self.world.cycle >= self.cycles
        if over:
            self.agents = []
        return (
            observations,
            dict.fromkeys(agents, reward),
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, over),
            {agent: {} for agent in agents},
        )

    def state(self) -> np.ndarray:
        """Return the poses of all robots, one after the other: x (m), y (m), heading (rad)."""
        return self.world.poses.ravel()

    def _advance(self, wheels: np.ndarray) -> Each:
        sensed = np.concatenate(self.world.step(wheels), -1)
        return dict(zip(self.agents, sensed, strict=True))

    def _wheels(self, actions: Mapping[str, Any]) -> np.ndarray:
        """Return actions as wheel commands, or raise an error that names the first that is none."""
        wheels = np.empty((len(self.agents), 2))
        for agent, row in zip(self.agents, wheels, strict=True):
            try:
                row[:] = action = np.asarray(actions[agent], float)
                fits = action.shape == (2,) and bool((np.abs(action) <= 1.0).all())
            except (TypeError, ValueError):
                fits = False
            if not fits:
                raise InputError(
                    f"actions[{agent!r}] must be two numbers from -1 to 1, got {actions[agent]!r}"
                )
        return wheels


def _of_episode(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what the options of ``reset`` change of an episode; others are not ours."""
    return {name: value for name, value in (options or {}).items() if name == "faults"}
