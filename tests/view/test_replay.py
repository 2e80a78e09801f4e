"""What a replay shows, and where a frame shows it."""

from __future__ import annotations

import math
from typing import Any

import behaviours
import numpy as np
import pytest
from made_recovery import FAULTS, posed, recovery
from PIL import Image

import qed
from qed.errors import InputError
from qed.view import look
from qed.view.arena import Arena, links, nearest
from qed.view.film import film_of
from qed.view.look import FRESH, HEALTHY_COLOUR, INK, MARK, NEAR, SIGNS, outline, percent
from qed.view.pane import Poses
from qed.view.replay import faults_from, watch
from qed.view.stage import ReplayStage

SIZE = 400


def pixels(image: Image.Image, name: str) -> np.ndarray:
    """Return the places (x, y) of the pixels of exactly a colour."""
    match = (np.asarray(image) == np.array(look.colour(name))).all(-1)
    return np.argwhere(match)[:, ::-1]


def drawn(pane: Any, cycle: float = 2.0, size: int = SIZE, **how: bool) -> Image.Image:
    return Arena(pane, size, **how).draw(cycle)


def test_three_trials_from_one_start_with_what_the_search_found() -> None:
    found = recovery()
    shown = watch(found, seconds=20.0, seed=5, trial=2, algorithm="qed")
    (column,) = shown.columns
    before, after, recovered = shown.panes
    assert (before.trace.start == after.trace.start).all()
    assert (before.trace.start == recovered.trace.start).all()
    assert [tuple(pane.signs[0].faults) for pane in shown.panes] == [
        ("NONE",) * 10, tuple(found.faults), tuple(found.faults)
    ]  # fmt: skip
    means = [view.notes[0] for view in column.views]
    assert means == [f"fresh trials {mean:.3f}" for mean in (0.8, 0.5, 0.7)]
    own = qed.simulate(
        behaviours.AVOIDER, trials=3, seconds=20.0, seed=5, faults=found.faults,
        tasks=["patrolling"],
    )  # fmt: skip
    assert recovered.score(100) == pytest.approx(float(own.fitness["patrolling"].ravel()[2]))
    assert shown.seconds == pytest.approx(20.0)
    assert [view.notes[1] for view in column.views] == ["", "impact −38 %", "resilience −13 %"]
    assert (column.name, column.caption) == ("QED", ("behavioural distance 0.25",))


@pytest.mark.parametrize("task", ["patrolling", "border-patrolling"])
def test_the_mean_freshness_of_cells_is_the_score(task: str) -> None:
    pane = watch(recovery(task), seconds=300.0).panes[1]
    value = pane.freshness[1:]
    if task == "border-patrolling":
        inner = np.zeros((10, 10), bool)
        inner[1:-1, 1:-1] = True
        value = value[:, ~inner]
    assert value.mean(dtype=float) == pytest.approx(pane.score(1500), abs=1e-5)
    assert pane.freshness[0].max() == 0.0


def test_poses_between_cycles_and_the_short_way_round() -> None:
    pane = posed([(1.0, 1.0, 3.0)])
    pane.x[2], pane.heading[2] = 2.0, -3.0
    halfway = pane.poses(1.5)
    assert halfway.x[0] == pytest.approx(1.5)
    assert abs(halfway.heading[0]) == pytest.approx(math.pi, abs=1e-6)
    assert pane.poses(1.0).x[0] == 1.0
    assert pane.poses(2.0).x[0] == pane.poses(9.0).x[0] == 2.0
    assert [pane.score(cycle) for cycle in (0, 1, 1.9, 2)] == [0.0, 0.25, 0.25, 0.5]


def test_a_robot_is_where_it_is_with_y_upwards() -> None:
    arena = Arena(posed([(1.0, 3.0, 0.0)]), SIZE)
    found = pixels(arena.draw(2), HEALTHY_COLOUR).mean(0)
    assert arena.place(0.0, 4.0) == (2, 2)
    assert arena.place(4.0, 0.0) == (SIZE - 2, SIZE - 2)
    # A quarter from the left and from the top; pixels are named by their upper left corner.
    assert found + 0.5 == pytest.approx((101.0, 101.0), abs=0.8)


def test_the_body_has_its_true_outline() -> None:
    assert len(outline(qed.THYMIO)) == 9
    corners = np.array(outline(qed.THYMIO))
    mirrored = corners * (-1.0, 1.0)
    assert all(np.abs(corners - row).sum(1).min() < 1e-12 for row in mirrored)
    size = 1200
    across = np.ptp(pixels(drawn(posed([(2.0, 2.0, 0.0)]), size=size), HEALTHY_COLOUR), axis=0)
    scale = (size - 4) / 4.0
    assert across == pytest.approx((0.110 * scale, 0.109 * scale), abs=4)


@pytest.mark.parametrize("heading", [0.0, math.pi / 2, math.pi, -math.pi / 2, 0.7])
def test_the_mark_points_where_a_robot_heads(heading: float) -> None:
    image = drawn(posed([(2.0, 2.0, heading)]))
    dark = pixels(image.crop((20, 20, SIZE - 20, SIZE - 20)), INK) + 20 - (SIZE - 1) / 2
    ahead = dark @ np.array((math.cos(heading), -math.sin(heading)))
    aside = dark @ np.array((math.sin(heading), math.cos(heading)))
    assert ahead.max() > 0.09 * SIZE / 4.0  # beyond the body
    assert ahead.min() > -0.08 * SIZE / 4.0
    assert abs(aside[ahead > 0.075 * SIZE / 4.0].mean()) < 1.0


@pytest.mark.parametrize("fault", [name for name in SIGNS if name != "NONE"])
def test_only_broken_robots_have_colours_and_badges(fault: str) -> None:
    poses = [(1.0, 1.0, 0.0), (3.0, 3.0, 0.0)]
    image = drawn(posed(poses, f"NONE,{fault}"))
    coloured = pixels(image, SIGNS[fault].colour)
    body_and_badge = pixels(ink_sheet(fault), SIGNS[fault].colour)
    assert len(coloured) > len(body_and_badge)
    assert (coloured[:, 0] > SIZE / 2).all()
    assert (coloured[:, 1] < SIZE / 2).all()
    assert len(pixels(image, HEALTHY_COLOUR)) > 20
    plain = drawn(posed(poses))
    assert len(pixels(plain, SIGNS[fault].colour)) == 0


def ink_sheet(fault: str) -> Image.Image:
    """Return a badge on paper."""
    badge = look.badge(fault, 15)
    sheet = Image.new("RGB", badge.size, "white")
    sheet.paste(badge, (0, 0), badge)
    return sheet


def test_badges_differ_in_more_than_colour() -> None:
    shapes = {
        np.asarray(ink_sheet(name).convert("L")).tobytes() for name in SIGNS if name != "NONE"
    }
    assert len(shapes) == 7
    assert len({sign.badge for sign in SIGNS.values()}) == 8


def overlap(centres: np.ndarray, sizes: np.ndarray) -> float:
    """Return how far, the short way, two badges overlap at most (pixels)."""
    pairs = [(i, k) for i in range(len(centres)) for k in range(i)]
    missing = [(sizes[i] + sizes[k]) / 2 - np.abs(centres[i] - centres[k]) for i, k in pairs]
    return float(np.min(missing, 1).max())


def test_badges_stay_near_inside_and_off_one_another() -> None:
    grid = 15.2 * np.stack(np.meshgrid(range(3), range(3)), -1).reshape(-1, 2)  # side by side
    # At walls there is less room; a third of a badge may be covered.
    for corner, most in (((180.0, 180.0), 1.0), ((8.0, 8.0), 5.0), ((360.0, 180.0), 5.0)):
        robots = corner + grid
        sizes = np.tile((24.0, 15.0), (9, 1))
        centres = look.badge_places(robots, np.arange(9), sizes, 7.6, 400.0)
        assert overlap(centres, sizes) < most
        assert (centres >= sizes / 2).all()
        assert (centres <= 400 - sizes / 2).all()
        assert np.hypot(*(centres - robots).T).max() < 80


def test_a_badge_alone_is_above_its_robot_or_below_it_at_the_top() -> None:
    sizes = np.array([(24.0, 15.0)])
    centres = look.badge_places(np.array([(200.0, 200.0)]), np.array([0]), sizes, 8.0, 400.0)
    assert centres[0] == pytest.approx((200.0, 200.0 - 15.5))
    centres = look.badge_places(np.array([(200.0, 10.0)]), np.array([0]), sizes, 8.0, 400.0)
    assert centres[0] == pytest.approx((200.0, 10.0 + 15.5))


def test_trails_only_on_demand_and_where_a_robot_was() -> None:
    pane = posed([(1.0, 2.0, 0.0)])
    pane.x[:] = np.array([[1.0], [2.0], [3.0]])
    without, with_trail = np.asarray(drawn(pane)), np.asarray(drawn(pane, trails=True))
    changed = np.argwhere((without != with_trail).any(-1))
    assert changed[:, 0] == pytest.approx(SIZE / 2, abs=2)
    assert (changed[:, 1].min(), changed[:, 1].max()) == (
        pytest.approx(SIZE / 4, abs=4), pytest.approx(3 * SIZE / 4, abs=10)
    )  # fmt: skip


def test_sensors_only_on_demand_and_what_they_feel() -> None:
    pane = posed([(2.0, 2.0, math.pi / 2)])
    pane.trace.proximity[1, 0, 2] = -1.0  # the one that looks ahead
    orange = look.colour(NEAR)

    def felt(image: Image.Image) -> np.ndarray:
        near = np.abs(np.asarray(image).astype(int) - orange).sum(-1) < 120
        return np.argwhere(near)

    assert len(felt(drawn(pane))) == 0
    assert len(felt(drawn(pane, cycle=1, sensors=True))) == 0
    ahead = felt(drawn(pane, sensors=True))
    assert len(ahead) >= 3
    assert (ahead[:, 0] < SIZE / 2).all()
    assert ahead[:, 1] == pytest.approx((SIZE - 1) / 2, abs=2)


def test_heard_neighbours_show_as_cones() -> None:
    pane = posed([(2.0, 2.0, 0.0)])
    pane.trace.rab[1, 0, 2] = 0.0  # half the range, to the left, which is up
    without, with_cone = np.asarray(drawn(pane)), np.asarray(drawn(pane, sensors=True))
    changed = np.argwhere((without != with_cone).any(-1))
    assert changed[:, 0].min() == pytest.approx(SIZE / 2 - 0.5 * SIZE / 4, abs=3)
    assert (changed[:, 0] < SIZE / 2 + 25).all()


def test_what_belongs_to_a_task() -> None:
    poses = [(1.0, 1.0, 0.0), (3.0, 1.0, 0.0), (3.0, 1.4, 0.0)]
    x, y, heading = np.array(poses).T
    assert nearest(Poses(x, y, heading)) == [1, 2, 1]
    assert nearest(Poses(x[:1], y[:1], heading[:1])) == []
    assert links(Poses(x, y, heading)) == [(1, 2)]
    centre = pixels(drawn(posed(poses, task="aggregation")), MARK).mean(0)
    assert centre == pytest.approx((7 / 3 * 99 + 2, SIZE - 2 - 3.4 / 3 * 99), abs=2)
    assert len(pixels(drawn(posed(poses, task="patrolling")), FRESH)) > 2 * 39 * 39
    fresh = pixels(drawn(posed([(2.0, 2.0, 0.0)], task="border-patrolling")), FRESH)
    assert len(fresh) == 0  # the middle is no border


def test_a_frame_explains_the_faults_that_occur_and_no_others() -> None:
    only = ",".join(["PMIN"] * 5 + ["NONE"] * 5)
    stage = ReplayStage(watch(recovery(faults=only), seconds=2.0), 300)
    signs = [sign for row in stage.legend.rows for sign, _ in row]
    assert signs == ["robot", "PMIN", "task"]
    everything = ReplayStage(watch(recovery(), seconds=2.0), 300)
    assert sum(map(len, everything.legend.rows)) == 9


@pytest.mark.parametrize("size", [200, 320, 481])
@pytest.mark.parametrize("task", ["border-patrolling", "dispersion"])
def test_all_words_fit_the_frame(size: int, task: str) -> None:
    shown = watch(recovery(task), seconds=400.0, algorithm="spirit")
    stage = ReplayStage(shown, size, speed=20.0)
    frame = stage.draw(400.0)
    assert frame.size == (stage.width, stage.height)
    assert (stage.width % 2, stage.height % 2) == (0, 0)
    edge = np.concatenate([np.asarray(frame)[:, -4:], np.asarray(frame)[:, :4]], 1)
    assert (edge == edge[0, 0]).all()
    bottom = np.asarray(frame)[-3:]
    assert (bottom == bottom[0, 0]).all()


def test_the_score_runs_and_frames_repeat() -> None:
    shown = watch(recovery(), seconds=20.0)
    stage = ReplayStage(shown, 240)
    first, last = stage.draw(0.0), stage.draw(20.0)
    top = stage.score_top(stage.places[0].top)
    strip = (0, top, stage.width, top + stage.score_height)
    assert first.crop(strip).tobytes() != last.crop(strip).tobytes()
    assert stage.draw(20.0).tobytes() == last.tobytes()
    assert ReplayStage(shown, 240).draw(7.3).tobytes() == stage.draw(7.3).tobytes()
    assert stage.draw(99.0).tobytes() == last.tobytes()


def test_the_swarm_of_a_frame_is_that_of_its_time() -> None:
    """0.6 s are three cycles, although 0.6 / 0.2 is a little less than 3."""
    shown = watch(recovery(), seconds=2.0)
    stage = ReplayStage(shown, 240)
    assert 0.6 / 0.2 < 3
    place = stage.places[1]
    pane = stage.draw(0.6).crop((place.left, place.top, place.left + 240, place.top + 240))
    assert pane.tobytes() == place.arena.draw(3).tobytes()


def test_percent() -> None:
    assert [percent(v) for v in (-0.254, 0.02, -0.001, 0.0)] == ["−25 %", "+2 %", "0 %", "0 %"]
    assert percent(math.nan) == "unknown"


def test_faults_by_name_or_seed() -> None:
    assert faults_from("7") == qed.Faults.sample(10, seed=7)
    assert faults_from(FAULTS) == qed.Faults(FAULTS)
    with pytest.raises(InputError, match="each of the 10 robots, got 2"):
        faults_from("PMIN,NONE")
    with pytest.raises(InputError, match="did you mean 'PMIN'"):
        faults_from("PMINN,NONE")
    with pytest.raises(InputError, match="-1"):
        faults_from("-1")


def test_a_film_lasts_about_twenty_seconds_by_default() -> None:
    speeds = [film_of(".mp4", [seconds]).speed for seconds in (10.0, 100.0, 400.0)]
    assert speeds == [1.0, 5.0, 20.0]
    assert film_of(".mp4", [100.0], 3).speed == 3.0
    for speed in (0, -1, math.nan, "fast"):
        with pytest.raises(InputError, match="speed"):
            film_of(".mp4", [100.0], speed)  # type: ignore[arg-type]


def test_what_is_no_recovery_is_refused() -> None:
    with pytest.raises(InputError, match=r"found must be a result of qed\.recover, got str"):
        watch("runs/patrolling")  # type: ignore[arg-type]
