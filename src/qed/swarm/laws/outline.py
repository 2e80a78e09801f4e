"""The laws of a robot's outline: those of its kind of shape, by the same names."""

from typing import Any

from qed.swarm.laws import geometry, rays
from qed.swarm.robot import ROBOT, THYMIO

kind: Any
if ROBOT.radius is not None:
    from qed.swarm.laws import disc as kind
elif ROBOT.body != THYMIO.body:
    from qed.swarm.laws import polygon as kind
else:
    from qed.swarm.laws import bodies as kind

thymio = ROBOT.body == THYMIO.body  # its rays and corners are with its numbers
beyond = kind.beyond
body_point = kind.body_point
contact_arm = kind.contact_arm
ray_body = rays.ray_body if thymio else kind.ray_body
separation = kind.separation
touching_points = kind.touching_points
two_farthest_corners = (geometry if thymio else kind).two_farthest_corners
