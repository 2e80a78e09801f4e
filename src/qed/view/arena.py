"""Draws one pane of a film: a swarm in its arena at a moment."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from qed.swarm.laws.scoring import FLOCK_RANGE
from qed.swarm.robot import CYCLE, OBSTACLE_RADIUS
from qed.view import look
from qed.view.pane import PATROLS, Pane, Poses, Signs

WALL = 2  # pixels
Points = Sequence[Sequence[float]] | np.ndarray
Pen = ImageDraw.ImageDraw


class Arena:
    """Draws a pane's swarm as a square picture.

    Parameters
    ----------
    pane : what to draw
    size : side of the picture (pixels)
    trails, sensors : draw where robots came from, and what they sense
    """

    def __init__(
        self, pane: Pane, size: int, *, trails: bool = False, sensors: bool = False
    ) -> None:
        self.pane, self.size = pane, size
        self.trails, self.sensors = trails, sensors
        self.environment = pane.trace.environment
        self.task = pane.trace.task
        robot = self.environment.robot
        self.body, self.pointer = np.array(look.outline(robot)), np.array(look.pointer(robot))
        self.scale = (size - 2 * WALL) / self.environment.arena  # pixels per metre
        self.radius = self.scale * robot.outer_radius  # pixels
        self.badge_height = max(13, round(0.038 * size))
        self.rays = np.array(
            [ends(sensor, self.environment.proximity_range) for sensor in robot.proximity]
        ).reshape(-1, 2, 2)

    def place(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Return where points of the arena (m) are in the picture (pixels from the top left)."""
        return WALL + self.scale * x, self.size - WALL - self.scale * y

    def draw(self, cycle: float) -> Image.Image:
        """Return the picture after so many cycles, in between too."""
        poses, signs = self.pane.poses(cycle), self.pane.signs_at(cycle)
        colours = [look.sign_of(fault).colour for fault in signs.faults.each]
        image = self._floor(cycle)
        pen = ImageDraw.Draw(image, "RGBA")
        if self.trails:
            self._trails(pen, cycle, poses, colours)
        self._task_marks(pen, poses)
        if self.sensors:
            self._sensors(pen, cycle, poses)
        for x, y, *radius in self.pane.trace.obstacles:
            box = self._box(x, y, *(radius or [OBSTACLE_RADIUS]))
            pen.ellipse(box, fill=look.OBSTACLE, outline="#7d8890", width=2)
        for x, y, heading, name in zip(*poses, colours, strict=True):
            self._robot(pen, x, y, heading, name)
        full = look.FINE * self.size - 1
        pen.rectangle((0, 0, full, full), outline=look.INK, width=look.FINE * WALL)
        small = image.reduce(look.FINE)
        self._letters(small, poses, signs.letters, colours)
        self._badges(small, poses, signs)
        return small

    def _fine(self, points: Points) -> list[tuple[float, float]]:
        """Return points of the arena (m) in the enlarged picture."""
        scale, size = look.FINE * self.scale, look.FINE * self.size
        edge = look.FINE * WALL
        return [(edge + scale * x, size - edge - scale * y) for x, y in points]

    def _floor(self, cycle: float) -> Image.Image:
        full = (look.FINE * self.size,) * 2
        floor = self._painted(full)
        if self.task not in PATROLS:
            return floor or Image.new("RGB", full, look.FLOOR)
        value = self.pane.freshness[min(int(cycle), self.pane.cycles)].T[::-1]
        shades = np.array(
            [look.mixed(look.FLOOR, look.FRESH, k / look.STEPS) for k in range(look.STEPS + 1)],
            np.uint8,
        )
        steps = np.ceil(value * look.STEPS).astype(int)
        if self.task == "border-patrolling":
            steps[1:-1, 1:-1] = 0
        visits = Image.fromarray(shades[steps]).resize(full, Image.Resampling.NEAREST)
        if floor is None:
            return visits
        fresh = Image.fromarray((look.VEIL * 255 * steps / look.STEPS).astype(np.uint8))
        return Image.composite(
            Image.new("RGB", full, look.FRESH), floor, fresh.resize(full, Image.Resampling.NEAREST)
        )

    def _painted(self, full: tuple[int, int]) -> Image.Image | None:
        """Return the greys of the floor, if it is not all white."""
        if self.environment.floor is None:
            return None
        black, white = (np.array(look.colour(name)) for name in (look.BLACK, look.FLOOR))
        greys = np.array(self.environment.floor)[::-1, :, None]
        cells = np.rint(black + greys * (white - black)).astype(np.uint8)
        return Image.fromarray(cells).resize(full, Image.Resampling.NEAREST)

    def _box(self, x: float, y: float, radius: float) -> tuple[float, ...]:
        """Return the box around a circle (m) in the enlarged picture."""
        left_top, right_bottom = self._fine([(x - radius, y + radius), (x + radius, y - radius)])
        return *left_top, *right_bottom

    def _line(self, pen: Pen, points: Points, fill: look.Colour | str, pixels: float) -> None:
        pen.line(self._fine(points), fill, round(look.FINE * pixels), joint="curve")

    def _robot(self, pen: Pen, x: float, y: float, heading: float, name: str) -> None:
        at, turn = np.array((x, y)), rotation(heading)
        pen.polygon(self._fine(self.pointer @ turn + at), look.INK)
        pen.polygon(self._fine(self.body @ turn + at), name, look.INK, look.FINE)

    def _letters(
        self, image: Image.Image, poses: Poses, letters: Sequence[str], colours: Sequence[str]
    ) -> None:
        """Write on each robot of a team which controller it runs."""
        pen = ImageDraw.Draw(image)
        face = look.font(max(12, round(1.4 * self.radius)), bold=True)
        for x, y, letter, name in zip(poses.x, poses.y, letters, colours, strict=False):
            shade = look.FLOOR if name == look.HEALTHY_COLOUR else look.INK
            # A letter may be larger than a small body, so it brings the body's colour along.
            pen.text(
                self.place(x, y), letter, shade, face, anchor="mm", stroke_width=2, stroke_fill=name
            )

    def _badges(self, image: Image.Image, poses: Poses, signs: Signs) -> None:
        """Put a badge at each broken robot, with a line to it where it had to give way."""
        broken = np.array([k for k, name in enumerate(signs.faults) if name != "NONE"], int)
        sprites = [look.badge(signs.faults.each[k], self.badge_height) for k in broken]
        sizes = np.array([sprite.size for sprite in sprites], float).reshape(-1, 2)
        robots = np.stack(self.place(poses.x, poses.y), 1).astype(float)
        reach = self.radius
        centres = look.badge_places(robots, broken, sizes, reach, float(self.size))
        pen = ImageDraw.Draw(image)
        for centre, owner in zip(centres, broken, strict=True):
            if math.dist(centre, robots[owner]) > 1.6 * reach + self.badge_height / 2:
                pen.line((*centre, *robots[owner]), look.INK, 1)
        for (across, down), sprite in zip(centres, sprites, strict=True):
            corner = round(across - sprite.width / 2), round(down - sprite.height / 2)
            image.paste(sprite, corner, sprite)

    def _trails(self, pen: Pen, cycle: float, poses: Poses, colours: Sequence[str]) -> None:
        """Draw the last half minute of each robot's way, fainter the older it is."""
        pane, now = self.pane, int(cycle)
        first = max(0, now - round(look.TRAIL / CYCLE))
        cuts = np.linspace(first, now, 4).astype(int)
        for part, (begin, end) in enumerate(pairwise(cuts)):
            step = max(1, (end - begin) // 20)
            rows = [*range(begin, end, step), end]
            for k, name in enumerate(colours):
                way = list(zip(pane.x[rows, k], pane.y[rows, k], strict=True))
                if end == now:
                    way.append((poses.x[k], poses.y[k]))
                if len(way) > 1:
                    self._line(pen, way, look.mixed(look.FLOOR, name, 0.25 + 0.2 * part), 1.5)

    def _task_marks(self, pen: Pen, poses: Poses) -> None:
        """Draw what the task looks at, besides cells."""
        x, y = poses.x, poses.y
        if self.task == "aggregation":
            self._centre(pen, float(x.mean()), float(y.mean()))
        if self.task == "dispersion":
            for i, k in sorted({(min(p), max(p)) for p in enumerate(nearest(poses))}):
                self._line(pen, [(x[i], y[i]), (x[k], y[k])], look.MARK + "82", 1)
        if self.task == "flocking":
            for i, k in links(poses):
                self._line(pen, [(x[i], y[i]), (x[k], y[k])], look.MARK + "96", 1.5)

    def _centre(self, pen: Pen, x: float, y: float) -> None:
        arm = 1.6 * look.CENTRE_SIZE
        pen.ellipse(self._box(x, y, look.CENTRE_SIZE), outline=look.MARK, width=3)
        self._line(pen, [(x - arm, y), (x + arm, y)], look.MARK, 1.5)
        self._line(pen, [(x, y - arm), (x, y + arm)], look.MARK, 1.5)

    def _sensors(self, pen: Pen, cycle: float, poses: Poses) -> None:
        """Draw what each robot's sensors read, faults included."""
        if int(cycle) == 0:
            return
        row = min(int(cycle), self.pane.cycles) - 1
        trace, environment = self.pane.trace, self.environment
        for k, (x, y, heading) in enumerate(zip(*poses, strict=True)):
            at, turn = np.array((x, y)), rotation(heading)
            for cone in np.flatnonzero(trace.rab[row, k, : environment.robot.rab] < 1.0):
                far = 0.5 * (float(trace.rab[row, k, cone]) + 1.0) * environment.rab_range
                corners = far * CONE @ rotation(heading + cone * math.pi / 4.0) + at
                pen.polygon(self._fine(corners), look.MARK + "16", look.MARK + "32")
            near = 0.5 * (1.0 - trace.proximity[row, k]) > look.NOTHING
            for ray, felt in zip(self.rays @ turn + at, near, strict=True):
                self._line(pen, ray, look.NEAR + "e6" if felt else look.INK + "2d", 1.5)


# Around a cone that looks ahead and hears 1 m far.
CONE = np.array(
    [(0.0, 0.0)] + [(math.cos(a), math.sin(a)) for a in np.linspace(-math.pi / 8, math.pi / 8, 6)]
)


def rotation(heading: float) -> np.ndarray:
    """Return what turns rows (x, y) of a robot's frame (m) to the arena's."""
    cos, sin = math.cos(heading), math.sin(heading)
    return np.array([(cos, sin), (-sin, cos)])


def ends(sensor: tuple[float, float, float], reach: float) -> np.ndarray:
    """Return both ends of a proximity sensor's ray in the robot's frame (m)."""
    x, y, angle = sensor
    return np.array([(x, y), (x + reach * math.cos(angle), y + reach * math.sin(angle))])


def _squares(poses: Poses) -> np.ndarray:
    """Return the squared distances of all pairs (m2), infinite from a robot to itself."""
    dx = poses.x[:, None] - poses.x
    dy = poses.y[:, None] - poses.y
    squares: np.ndarray = dx * dx + dy * dy
    np.fill_diagonal(squares, np.inf)
    return squares


def nearest(poses: Poses) -> list[int]:
    """Return the nearest other robot of each; nothing if a robot is alone."""
    return _squares(poses).argmin(1).tolist() if len(poses.x) > 1 else []


def links(poses: Poses) -> list[tuple[int, int]]:
    """Return the pairs that are near enough to flock."""
    close = np.triu(_squares(poses) < float(FLOCK_RANGE) ** 2)
    return [(int(i), int(k)) for i, k in np.argwhere(close)]
