"""The laws of a robot's outline: those of its kind of shape, by the same names."""

from qed.swarm.robot import ROBOT, THYMIO

if ROBOT.radius is not None:
    from qed.swarm.laws.disc import (
        beyond,
        body_point,
        contact_arm,
        ray_body,
        separation,
        touching_points,
        two_farthest_corners,
    )
elif ROBOT.body != THYMIO.body:
    from qed.swarm.laws.polygon import (
        beyond,
        body_point,
        contact_arm,
        ray_body,
        separation,
        touching_points,
        two_farthest_corners,
    )
else:
    from qed.swarm.laws.bodies import (
        beyond,
        body_point,
        contact_arm,
        separation,
        touching_points,
    )
    from qed.swarm.laws.geometry import two_farthest_corners
    from qed.swarm.laws.rays import ray_body

__all__ = [
    "beyond",
    "body_point",
    "contact_arm",
    "ray_body",
    "separation",
    "touching_points",
    "two_farthest_corners",
]
