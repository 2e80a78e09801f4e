"""Writes a story as a film (mp4 or gif) or as a page for the browser (html)."""

from __future__ import annotations

from pathlib import Path

from qed.errors import InputError, whole
from qed.view.film import FPS, MOST_FPS, MOST_FRAMES, Film
from qed.view.pace import SLOW, film_pace
from qed.view.replay import Progress
from qed.view.story import Story
from qed.view.story_stage import StoryStage

SIZE = {".mp4": 600, ".gif": 360, ".html": 600}  # pixels of the arena, by default


def planned(
    ending: str,
    stretches: list[float],
    speed: float | None = None,
    fps: int | None = None,
    size: int | None = None,
    *,
    trails: bool = False,
    sensors: bool = False,
) -> Film:
    """Return a film of at most these stretches (s), or raise an error that says what is wrong."""
    pace = film_pace(stretches, speed)
    film = Film(
        ending,
        SLOW if speed is None else speed,
        FPS[ending] if fps is None else whole("fps", fps, 1, MOST_FPS[ending]),
        SIZE[ending] if size is None else whole("size", size, 300, 1200),
        trails,
        sensors,
    )
    frames, most = pace.lasts * film.fps, MOST_FRAMES.get(ending)
    if most is not None and frames > most:
        raise InputError(
            f"the film would have {frames:,.0f} frames, more than {most:,}: "
            "raise the speed, or lower fps, seconds or budget"
        )
    return film


def tell(story: Story, out: str | Path, film: Film, progress: Progress | None = None) -> Path:
    """Write a story as a film or a page; return the file."""
    if film.ending == ".html":
        from qed.view.story_player import write_page

        return write_page(story, out, trails=film.trails, sensors=film.sensors)
    stage = StoryStage(story, film.size, trails=film.trails, sensors=film.sensors)
    return film.shoot(stage, story.pace.times(film.fps), out, progress)
