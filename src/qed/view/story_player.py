"""Writes a story as one page that plays in any browser: no server, nothing to load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qed.recovery.search.search import Belief
from qed.swarm.robot import CYCLE
from qed.view.chapters import Chapter
from qed.view.pace import SLOW
from qed.view.player import filled, packed_pane, shared, unit
from qed.view.story import Story
from qed.view.unfinished import whole


def write_page(
    story: Story, out: str | Path, *, trails: bool = False, sensors: bool = False
) -> Path:
    """Write a story as a page; return the file.  What robots sense is in it only if asked for."""
    with whole(out) as unfinished:
        text = page(story, trails=trails, sensors=sensors)
        unfinished.write_text(text, encoding="utf-8", newline="\n")
    return Path(out)


def page(story: Story, *, trails: bool = False, sensors: bool = False) -> str:
    """Return the page."""
    title = f"{story.task.capitalize()}: a swarm breaks, searches and recovers, without reset"
    return filled(title, ("story.js", "controls.js"), _data(story, trails, sensors))


def _data(story: Story, trails: bool, sensors: bool) -> dict[str, Any]:
    low, high = story.believed_range
    return {
        **shared(story, story.healthy.cycles, SLOW if story.speed is None else story.speed),
        "trails": trails,
        "sensors": sensors,
        "sensed": sensors,
        "topScore": story.top_score,
        "believed": [low, high],
        "ending": story.ending,
        "knows": story.knows,
        "struck": round(story.struck / CYCLE),
        "gaits": [
            {"end": gait.end, "speed": gait.speed, "lapse": gait.lapse} for gait in story.pace.gaits
        ],
        "chapters": [_chapter(part) for part in story.chapters],
        "pane": packed_pane(story.broken, unit(story.environment.arena), sensors),
    }


def _chapter(chapter: Chapter) -> dict[str, Any]:
    part = chapter.stretch
    return {
        "moment": part.moment,
        "begin": chapter.begin,
        "end": chapter.end,
        "mark": chapter.mark,
        "title": chapter.title,
        "words": " ".join(chapter.words),
        "letters": chapter.letters,
        "best": _belief(part.believed),
        "kept": _belief(part.kept),
        "same": part.believed == part.kept,
    }


def _belief(belief: Belief) -> list[float]:
    return [round(value, 5) for value in (belief.low, belief.mean, belief.high)]
