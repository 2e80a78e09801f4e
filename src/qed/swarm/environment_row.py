"""An environment as the row of numbers that both engines read."""

from __future__ import annotations

from functools import lru_cache

from qed.swarm.environment import Environment
from qed.swarm.laws.contact import margin, near_radius
from qed.swarm.laws.describing import fine_side

# Columns: side (m), top speed (m/s), squared radii (m2), ranges (m), how near is near (m), half
# width of the proximity noise, obstacles, fine cells along a side.
(L_SIDE, L_SPEED, L_NEAR2, L_RAB2, L_RAB, L_RANGE, L_MARGIN, L_NOISE, L_OBSTACLES, L_FINE) = range(
    10
)
LIMITS = 10


@lru_cache(maxsize=10_000)
def limits(env: Environment, noise: float) -> tuple[float, ...]:
    """Return the row of an environment."""
    row = (
        env.arena,
        env.max_speed,
        near_radius(env.proximity_range, env.max_speed) ** 2,
        env.rab_range**2,
        env.rab_range,
        env.proximity_range,
        margin(env.max_speed),
        noise,
        env.obstacles,
        fine_side(env.arena),
    )
    assert len(row) == LIMITS
    return row
