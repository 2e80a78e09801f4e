"""Numbers of the robot that loops on the GPU run over: its sensors, the faces of its body.

A law about a whole body is made of one about a face or an edge.  For a CPU it is unrolled; a GPU,
whose nearest cache holds little code, loops over these tables.
"""

import numpy as np

from qed.swarm.cuda.device import stage
from qed.swarm.cuda.warp import at
from qed.swarm.laws.geometry import EDGES, FACES
from qed.swarm.laws.sensing import AIM_X, AIM_Y, AT_X, AT_Y, SENSORS

ALL_SENSORS = (1 << SENSORS) - 1
FACE_COUNT = len(FACES)
EDGE_COUNT = len(EDGES)
POSES = np.stack([AT_X, AT_Y, AIM_X, AIM_Y], -1)


@stage
def sensor_pose(number):
    """Return where a sensor sits (m) and where it looks, in the robot's frame."""
    poses = POSES
    k = at(number)
    return poses[k, 0], poses[k, 1], poses[k, 2], poses[k, 3]


@stage
def face(number):
    """Return the outward normal of a face, and its offset (m)."""
    faces = FACES
    k = at(number)
    return faces[k, 0], faces[k, 1], faces[k, 2]


@stage
def edge(number):
    """Return an edge of the half body: from, to, normal, offset (m)."""
    edges = EDGES
    k = at(number)
    return (
        edges[k, 0],
        edges[k, 1],
        edges[k, 2],
        edges[k, 3],
        edges[k, 4],
        edges[k, 5],
        edges[k, 6],
    )
