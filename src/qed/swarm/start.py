"""Start poses that a user gives instead of drawing them."""

from typing import Any

import numpy as np

from qed.errors import InputError
from qed.swarm.environment import Environment


class Start:
    """Where robots, and obstacles if there are any, begin.

    Parameters
    ----------
    poses : array of shape ``(trials, robots, 3)``, or ``(robots, 3)`` for one trial
        x (m), y (m) and heading (rad) of each robot; the arena begins at 0.
    obstacles : array of shape ``(trials, n, 2 or 3)`` or ``(n, 2 or 3)``, optional
        Centres (m) of the obstacles, or of those of every trial (default: there are none); a
        third column is their radii (m; default: 0.15).

    Examples
    --------
    >>> import qed
    >>> start = qed.Start([[1.0, 2.0, 0.0], [3.0, 2.0, 3.14]])
    >>> pair = qed.Environment(robots=2)
    >>> still = qed.Controller([], bias=[0.0, 0.0])
    >>> film = qed.trace(still, pair, seconds=1.0, start=start)
    >>> start.trials, film.x[-1].tolist()
    (1, [1.0, 3.0])
    """

    def __init__(self, poses: Any, obstacles: Any = None) -> None:
        self.poses = _finite("poses", poses, 3)
        trials = len(self.poses)
        if obstacles is None:
            obstacles = np.zeros((trials, 0, 2))
        given = np.asarray(obstacles, float)
        if given.ndim == 2:
            given = np.broadcast_to(given, (trials, *given.shape))
        self.obstacles = _finite("obstacles", given, 2, 3)
        sizes = self.obstacles[..., 2:]
        if sizes.size and not (sizes.min() >= 0.01 and sizes.max() <= 5.0):
            raise InputError("start: radii of obstacles must be from 0.01 to 5 m")
        if len(self.obstacles) != trials:
            raise InputError(
                f"start: obstacles are given for {len(self.obstacles)} trials, poses for {trials}"
            )

    @property
    def trials(self) -> int:
        """Number of trials."""
        return len(self.poses)

    def check(self, environment: Environment, trials: int) -> None:
        """Raise ValueError unless this fits an environment and a number of trials."""
        side = environment.arena
        for name, wanted, got in (
            ("trials", trials, self.trials),
            ("robots", environment.robots, self.poses.shape[1]),
            ("obstacles", environment.obstacles, self.obstacles.shape[1]),
        ):
            if wanted != got:
                raise InputError(f"start: has {got} {name}, but {name}={wanted} were asked for")
        for name, places in (
            ("poses", self.poses[..., :2]),
            ("obstacles", self.obstacles[..., :2]),
        ):
            if places.size and (places.min() < 0.0 or places.max() > side):
                raise InputError(f"start: {name} must lie within the arena, 0 to {side:g} m")


def _finite(name: str, values: Any, *widths: int) -> np.ndarray:
    """Return an array (trials, n, width) of finite numbers."""
    try:
        array = np.array(values, float)
    except (TypeError, ValueError):
        raise InputError(f"start: {name} must be an array of numbers") from None
    if array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or array.shape[2] not in widths:
        columns = " or ".join(map(str, widths))
        raise InputError(
            f"start: {name} must have shape (trials, n, {columns}), got {np.shape(values)}"
        )
    if not np.isfinite(array).all():
        raise InputError(f"start: {name} must be finite")
    return array
