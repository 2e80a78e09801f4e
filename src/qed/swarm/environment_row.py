"""An environment as the row of numbers that both engines read."""

from functools import lru_cache

from qed.swarm.environment import Environment
from qed.swarm.laws.contact import margin, near_radius
from qed.swarm.laws.scoring import fine_side

# Columns: side (m), top speed (m/s), squared radii (m2), ranges (m), how near is near (m), half
# width of the proximity noise, obstacles, fine cells along a side.
SIDE, SPEED, NEAR2, RAB2, RAB, RANGE, MARGIN, NOISE, OBSTACLES, FINE = range(10)
COLUMNS = 10


@lru_cache(maxsize=10_000)
def row(env: Environment, noise: float) -> tuple[float, ...]:
    """Return the row of an environment."""
    found = (
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
    assert len(found) == COLUMNS
    return found
