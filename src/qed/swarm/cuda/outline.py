"""The laws of a robot's outline on the GPU, for its kind of shape (``laws/outline.py``).

A law about a whole polygon is made of one about a face or an edge.  For a CPU it is unrolled; a
GPU, whose nearest cache holds little code, loops over tables of faces and edges.
"""

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.cuda.device import device, stage
from qed.swarm.cuda.warp import at, rolled
from qed.swarm.laws import bodies, outline, rays
from qed.swarm.laws.geometry import FAR
from qed.swarm.robot import ROBOT, THYMIO

contact_arm = device(outline.contact_arm)
touching_points = device(outline.touching_points)
two_farthest_corners = device(outline.two_farthest_corners)

ZERO = f32(0.0)
MIRRORED = ROBOT.body == THYMIO.body  # half of the edges describe it

if ROBOT.radius is not None:
    FACE_COUNT = 1
    round_beyond = device(outline.beyond)
    meets_body = device(outline.ray_body)
    body_point = device(outline.body_point)

    @stage
    def beyond(dx, dy, c, s, other_c, other_s, first, stop):
        """Return gap (m; negative: overlap) and normal to a robot that is (dx, dy) away."""
        return round_beyond(dx, dy, c, s, other_c, other_s)

else:
    if MIRRORED:
        from qed.swarm.laws.bodies import farther_face as law_of_face
        from qed.swarm.laws.bodies import from_point as law_of_point
        from qed.swarm.laws.geometry import EDGES, FACES
    else:
        from qed.swarm.laws.polygon import EDGES, FACES
        from qed.swarm.laws.polygon import farther_face as law_of_face
        from qed.swarm.laws.polygon import from_point as law_of_point

    FACE_COUNT = len(FACES)
    EDGE_COUNT = len(EDGES)
    clip_face = device(rays.clip_face)
    entry = device(rays.entry)
    nearer_edge = device(bodies.nearer_edge)
    farther_face = device(law_of_face)
    from_point = device(law_of_point)

    @stage
    def face(number):
        """Return the outward normal of a face, and its offset (m)."""
        faces = FACES
        k = at(number)
        return faces[k, 0], faces[k, 1], faces[k, 2]

    @stage
    def edge(number):
        """Return an edge: from, to, normal, offset (m)."""
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

    @stage
    def meets_body(ox, oy, dx, dy):
        """Return where a ray enters the body, both in the body's frame (m), or FAR."""
        enter = -FAR
        leave = FAR
        f = i32(0)
        while f < i32(FACE_COUNT):
            f = rolled(f)
            nx, ny, offset = face(f)
            enter, leave = clip_face(enter, leave, nx, ny, offset, ox, oy, dx, dy)
            f = i32(f + i32(1))
        return entry(enter, leave)

    @stage
    def body_point(x, y):
        """Return normal, gap, arm and lever (m) from a body at the origin to the point (x, y)."""
        ax = abs(x) if MIRRORED else x
        qx = qy = FAR
        outside = -FAR
        e = i32(0)
        while e < i32(EDGE_COUNT):
            e = rolled(e)
            qx, qy, outside = nearer_edge(ax, y, qx, qy, outside, *edge(e))
            e = i32(e + i32(1))
        return from_point(x, y, qx, qy, outside)

    @stage
    def beyond(dx, dy, c, s, other_c, other_s, first, stop):
        """Return how far a body that is (dx, dy) away is beyond some faces of this one (m)."""
        turn_c = c * other_c + s * other_s
        turn_s = c * other_s - s * other_c
        x = c * dx + s * dy
        y = c * dy - s * dx
        gap = -FAR
        nx = ZERO
        ny = ZERO
        f = i32(first)
        while f < stop:
            f = rolled(f)
            face_x, face_y, offset = face(f)
            gap, nx, ny = farther_face(gap, nx, ny, face_x, face_y, offset, x, y, turn_c, turn_s)
            f = i32(f + i32(1))
        return gap, c * nx - s * ny, s * nx + c * ny
