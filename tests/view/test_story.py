"""A swarm that goes on, as a film and as a page."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import behaviours
import kits
import numpy as np
import pytest
from browser import Browser
from test_player import NOW, STATE, data_of, scrub
from test_replay import pixels

import qed
from qed.cli.replay import replay as verb
from qed.errors import InputError
from qed.recovery.kit.play import AFTER, NORMAL, STRUCK, TRIAL, Step, new_world
from qed.recovery.search.search import Belief
from qed.view import look
from qed.view.film import SLOW, film_of, section_at, sections_of, write
from qed.view.look import HEALTHY_COLOUR, ORANGE
from qed.view.player import page
from qed.view.story import Story, story
from qed.view.story_stage import BEST, KEPT, StoryStage

FAULTS = ",".join(["PMAX"] * 6 + ["NONE"] * 4)
SECONDS = 6.0
SHORT: dict[str, Any] = {"seconds": SECONDS, "fresh": 2, "threads": 1}
TEAM = qed.Team([behaviours.STRAIGHT, behaviours.AVOIDER] * 5)


@pytest.fixture(scope="module")
def kit() -> qed.Kit:
    return kits.made(12)


def life(kit: qed.Kit) -> tuple[Step, ...]:
    """Return a life of three trials, the last of a team, with beliefs by hand."""
    world = new_world(kit.task, kit.environment, 1)
    parts = []
    moments = (NORMAL, STRUCK, TRIAL, TRIAL, TRIAL, AFTER)
    for k, (moment, row) in enumerate(zip(moments, (0, 0, 1, 2, 3, 1), strict=True)):
        if moment == STRUCK:
            world.faults = qed.Faults(FAULTS)
        controller: Any = kit.controllers[row] if row != 3 else TEAM
        fitness = world.run(controller, SECONDS)
        kept, better = Belief.of(0.4, 0.05 / (k + 1)), Belief.of(0.7, 0.2 / (k + 1))
        changed = k > 1
        best, believed = (1, better) if changed else (0, kept)
        cell = 3 * row if row != 3 else -1
        parts.append(
            Step(
                moment, row, cell, controller, fitness, best, 3 * best, believed, kept, kept,
                changed, False, (),
            )
        )  # fmt: skip
    return tuple(parts)


@pytest.fixture(scope="module")
def shown(kit: qed.Kit) -> Story:
    found = kit.recover(faults=qed.Faults(FAULTS), reset=False, budget=1, **SHORT)
    return story(kit, replace(found, session=life(kit)), seconds=SECONDS)


@pytest.fixture(scope="module")
def stage(shown: Story) -> StoryStage:
    return StoryStage(shown, 400)


def test_one_world_from_the_first_stretch_to_the_last(shown: Story) -> None:
    count = len(shown.chapters)
    assert [part.mark for part in shown.chapters] == ["normal", "fault", "1", "2", "3", "after"]
    assert shown.seconds == pytest.approx(SECONDS * count)
    assert shown.pane.cycles == 30 * count
    steps = np.hypot(np.diff(shown.pane.x, axis=0), np.diff(shown.pane.y, axis=0))
    assert steps.max() < 0.05  # nobody is put anywhere: at most 0.2 s at 0.1 m/s, and pushes
    for part in shown.chapters:
        assert shown.score(part.end) == part.period.fitness
        assert shown.chapter(part.begin) is part
    assert shown.chapter(shown.seconds) is shown.chapters[-1]
    assert "6 of 10 robots" in shown.chapters[1].title


def test_a_controller_keeps_its_letter_through_the_story(shown: Story, stage: StoryStage) -> None:
    # The normal best, two others, a team of two that are in no kit, and one of the others again.
    expected = ["A" * 10, "A" * 10, "B" * 10, "C" * 10, "DE" * 5, "B" * 10]
    assert ["".join(part.letters) for part in shown.chapters] == expected
    assert "It tries a team of 2 controllers (D: " in shown.chapters[4].words[0]
    assert "letter" in [sign for row in stage.legend.rows for sign, _ in row]
    for part, letters in zip(shown.chapters, expected, strict=True):
        assert shown.pane.signs_at(5 * part.begin + 1).letters == tuple(letters)


def test_one_controller_for_all_has_no_letters(kit: qed.Kit) -> None:
    found = kit.recover(faults=qed.Faults(FAULTS), reset=False, budget=2, **SHORT)
    told = story(kit, found, seconds=SECONDS)
    assert "letter" not in [sign for sign, _ in told.legend]
    assert {part.letters for part in told.chapters} == {()}
    assert "letter" not in [s for row in StoryStage(told, 300).legend.rows for s, _ in row]


def test_a_story_needs_a_life(kit: qed.Kit) -> None:
    found = kit.recover(faults=qed.Faults(FAULTS), budget=1, seconds=1.0, fresh=1)
    with pytest.raises(InputError, match="reset=False"):
        story(kit, found)


# ---- by fault ------------------------------------------------------------------------------

DIAGNOSED = qed.Faults(["PMIN"] * 3 + ["LW-H"] * 3 + ["NONE"] * 4)


def by_fault(trusted: bool, wrong: float) -> tuple[qed.Kit, Any]:
    """Return a kit, and what its search over teams found."""
    kit = qed.Kit.load("example:patrolling-kit")
    mixed = (0.02, 0.01) if trusted else (-0.2, 0.01)
    kit = replace(kit, playbook=replace(kit.playbook, mixed=mixed))
    how: dict[str, Any] = SHORT | {"budget": 4, "reset": False, "misdiagnosis_rate": wrong}
    return kit, kit.recover(faults=DIAGNOSED, by="fault", **how)


@pytest.fixture(scope="module", params=[0.0, 0.5])
def teams(request: pytest.FixtureRequest) -> tuple[Any, Story]:
    kit, found = by_fault(True, request.param)
    return found, story(kit, found, seconds=SECONDS)


def test_letters_tell_which_diagnosis_runs_what(teams: tuple[Any, Story]) -> None:
    found, shown = teams
    assert "letter" in [sign for sign, _ in shown.legend]
    wrong = [said != true for said, true in zip(found.diagnoses, DIAGNOSED, strict=True)]
    assert any(wrong) == (found.misdiagnosis_rate > 0.0)
    for part, chapter in zip(found.session, shown.chapters, strict=True):
        driver = part.controller
        robots = list(driver) if isinstance(driver, qed.Team) else [driver] * 10
        bare = [letter.removesuffix("!") for letter in chapter.letters]
        # Two robots have the same letter if, and only if, they run the same controller.
        assert len(set(zip(bare, robots, strict=True))) == len(set(bare)) == len(set(robots))
        marked = [letter.endswith("!") for letter in chapter.letters]
        assert marked == (wrong if part.moment != NORMAL else [False] * 10)
        words = chapter.words[0]
        if len(set(robots)) > 1:
            runs = dict(entry.split(": ") for entry in words.split("(")[1][:-2].split("; "))
            assert runs.pop("!", None) == ("wrong diagnosis" if any(wrong) else None)
            assert runs.keys() == set(bare)
            for letter, said in zip(bare, found.diagnoses, strict=True):
                assert ("healthy" if said == "NONE" else said) in runs[letter].split(", ")
        elif part.moment != STRUCK:
            assert f" ({bare[0]})" in words
    assert any(len(set(chapter.letters)) > 1 for chapter in shown.chapters)


def test_the_story_says_what_the_search_knows(teams: tuple[Any, Story], shown: Story) -> None:
    found, by_team = teams
    mistaken = sum(said != true for said, true in zip(found.diagnoses, DIAGNOSED, strict=True))
    words = " ".join(by_team.chapters[1].words)
    assert "what each robot says is broken in it" in words
    assert (f"{mistaken} of 10 are wrong (!)" in words) == (mistaken > 0)
    assert "trusts no teams" not in words
    assert "each robot says" in data_of(page(by_team))["knows"]
    assert "does not know the fault" in data_of(page(shown))["knows"]
    assert "does not know the fault" in " ".join(shown.chapters[1].words)


@pytest.mark.parametrize("size", [300, 600])
def test_words_of_teams_fit(teams: tuple[Any, Story], size: int) -> None:
    _, shown = teams
    stage = StoryStage(shown, size)
    for part in shown.chapters:
        lines = stage.sentences(part)
        told = " ".join([*part.words, *([shown.ending] if part is shown.chapters[-1] else [])])
        assert " ".join(lines) == told
        assert stage.words_top + len(lines) * stage.line < stage.charts_top


def test_where_teams_are_not_trusted_the_story_says_so() -> None:
    kit, found = by_fault(False, 0.5)
    told = story(kit, found, seconds=SECONDS)
    words = " ".join(told.chapters[1].words)
    assert "are wrong. The kit trusts no teams in this task" in words
    assert "letter" not in [sign for sign, _ in told.legend]


# ---- speed ---------------------------------------------------------------------------------


@pytest.mark.parametrize("trials", [5, 10])
def test_a_long_life_is_a_short_film(trials: int) -> None:
    film = film_of(".mp4", [400.0] * (trials + 3))
    times = film.times
    assert 30.0 <= len(times) / 25 <= 60.0
    assert (times[0], times[-1]) == (0.0, pytest.approx(400.0 * (trials + 3)))
    assert (np.diff(times) > 0).all()

    def speed(seconds: float) -> float:
        return section_at(film.sections, seconds).speed

    # What begins can be followed, and so can the end.
    for begin in range(trials + 2):
        assert speed(400.0 * begin) == SLOW
    assert speed(times[-1]) == SLOW
    assert section_at(film.sections, 1000.0).lapse
    for now, then in pairwise(times[:-1]):
        speeds = {speed(now), speed(then)}
        assert min(speeds) - 1e-6 <= 25 * (then - now) <= max(speeds) + 1e-6


def test_short_stretches_are_not_slowed_down_further() -> None:
    assert {section.speed for section in sections_of([3.0, 3.0, 3.0])} == {SLOW}
    [fixed] = sections_of([100.0, 100.0], 50.0)
    assert fixed.lasts == 4.0
    with pytest.raises(InputError, match="speed must be above 0"):
        sections_of([100.0], 0.0)


# ---- frames --------------------------------------------------------------------------------


def test_robots_break_when_the_fault_strikes(stage: StoryStage, shown: Story) -> None:
    arena = (stage.margin, stage.top, stage.margin + stage.size, stage.top + stage.size)
    before = stage.draw(shown.struck - 0.2).crop(arena)
    after = stage.draw(shown.struck + 0.2).crop(arena)
    assert len(pixels(before, ORANGE)) == 0
    assert len(pixels(after, ORANGE)) > 6 * 20
    assert len(pixels(before, HEALTHY_COLOUR)) > len(pixels(after, HEALTHY_COLOUR)) > 4 * 20


def test_beliefs_appear_once_the_search_was_told(stage: StoryStage, shown: Story) -> None:
    charts = stage.charts
    box = charts.beliefs.box
    told = shown.chapters[1].end

    def drawn(seconds: float) -> Any:
        return charts.draw(seconds).crop((box[0] + 2, box[1] + 2, box[2] - 2, box[3] - 2))

    struck = round(charts.beliefs.x(shown.struck)) - box[0] - 2
    early = pixels(drawn(told), KEPT)
    assert set(early[:, 0].tolist()) <= {struck - 1, struck, struck + 1}  # the line of the fault
    late = drawn(shown.seconds)
    assert len(pixels(late, KEPT)) > 50
    assert len(pixels(late, BEST)) > 50
    assert len(pixels(drawn(told), BEST)) == 0


def test_scores_end_where_stretches_end(stage: StoryStage, shown: Story) -> None:
    charts = stage.charts
    image = np.asarray(charts.draw(shown.seconds))
    for part in shown.chapters[:-1]:
        x, y = round(charts.scores.x(part.end)), round(charts.scores.y(part.period.fitness))
        near = image[y - 3 : y + 4, x - 3 : x + 4].reshape(-1, 3).astype(int)
        assert (near.sum(1) < 500).sum() > 15  # a dot


@pytest.mark.parametrize("size", [300, 360, 601])
def test_all_words_fit(shown: Story, size: int) -> None:
    stage = StoryStage(shown, size)
    speed = look.width("220× real time: time-lapse", stage.strong)
    for part in shown.chapters:
        title = look.width(part.title, stage.title)
        assert title + speed + 2 * stage.margin <= stage.width
        words = stage.sentences(part)
        told = " ".join([*part.words, *([shown.ending] if part is shown.chapters[-1] else [])])
        assert " ".join(words) == told  # nothing is left out
        assert max(look.width(line, stage.text) for line in words) <= stage.size
    assert stage.charts_top >= stage.words_top + len(words) * stage.line
    frame = stage.draw(1.0)
    assert frame.size == (stage.width, stage.height)
    assert frame.width % 2 == frame.height % 2 == 0


def test_ticks_are_few_and_round(stage: StoryStage) -> None:
    for axes in (stage.charts.scores, stage.charts.beliefs):
        ticks = axes.ticks()
        assert 2 <= len(ticks) <= 6
        assert axes.low <= ticks[0] < ticks[-1] <= axes.high


# ---- files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".mp4", ".gif", ".html"])
def test_the_same_story_gives_the_same_bytes(shown: Story, ending: str, tmp_path: Path) -> None:
    film = film_of(ending, [SECONDS] * 6, fps=2, size=300)
    told: list[tuple[int, int]] = []
    one = write(shown, tmp_path / f"a{ending}", film, lambda *at: told.append(at))
    other = write(shown, tmp_path / f"b{ending}", film)
    assert one.read_bytes() == other.read_bytes()
    assert len(one.read_bytes()) > 5000
    if ending != ".html":
        frames = len(film.times)
        assert told[-1] == (frames, frames)


def test_too_long_a_gif_is_refused() -> None:
    with pytest.raises(InputError, match="more than 2,000: raise the speed"):
        film_of(".gif", [400.0] * 13, speed=10.0)


def test_the_data_of_a_page(shown: Story) -> None:
    data = data_of(page(shown))
    assert data["cycles"] == shown.pane.cycles
    assert [begin for begin, _, _ in data["pane"]["signs"]] == [30 * k for k in range(6)]
    assert data["sections"][-1]["end"] == pytest.approx(shown.seconds)
    assert [one["mark"] for one in data["chapters"]] == [part.mark for part in shown.chapters]
    assert data["pane"]["signs"][1][1] == FAULTS.split(",")
    assert len(page(shown, sensors=True)) > len(page(shown)) + 1_000


def test_the_page_tells_the_story(browser: Browser, shown: Story, tmp_path: Path) -> None:
    file = write(shown, tmp_path / "story.html", film_of(".html", [SECONDS] * 6))
    for width in (1300, 400):
        browser.open(file, width, still=True)
        browser.until(f"{STATE} === 'paused'")
        heading = "document.querySelector('#columns .chapter h2').textContent"
        for part in shown.chapters:
            scrub(browser, part.begin + 1.0)
            assert browser.evaluate(heading) == part.title
            number = browser.evaluate(
                "document.querySelector('#columns .chapter strong').textContent"
            )
            assert number == f"{shown.score(part.begin + 1.0):.3f}"
        words = browser.evaluate("document.querySelector('#columns .chapter .words').textContent")
        assert words.endswith(shown.ending)
        wide = "document.documentElement.scrollWidth <= innerWidth"
        assert browser.evaluate(wide)
        hidden = "document.getElementById('sensors').closest('label').offsetParent === null"
        assert browser.evaluate(hidden)
        assert browser.complaints() == []
    browser.open(file, 1300)
    browser.until(f"{STATE} === 'playing' && {NOW} > 5")
    assert "10× real time" in browser.evaluate("document.querySelector('.speed').textContent")
    browser.evaluate("document.getElementById('play').click()")
    assert browser.complaints() == []


# ---- the verb ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(kit: qed.Kit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kits") / "kit.npz"
    kit.save(path)
    return path


def test_the_verb_makes_a_page_of_a_kit(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "life.html"
    verb([file], out=out, faults=FAULTS, budget=2, seconds=SECONDS, threads=1)
    assert len(data_of(out.read_text())["chapters"]) <= 5
    words = capsys.readouterr().out
    assert words.startswith(f"{out}: fitness ")
    assert " the swarm " in words


def test_the_verb_makes_a_page_of_a_search_by_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kit, found = by_fault(True, 0.4)
    kit.save(tmp_path / "kit.npz")
    out = tmp_path / "life.html"
    given: dict[str, Any] = {
        "by": "fault",
        "misdiagnosis_rate": 0.4,
        "budget": 4,
        "seconds": SECONDS,
    }
    verb([tmp_path / "kit.npz"], out=out, faults=",".join(DIAGNOSED), threads=1, **given)
    told = [letters for _, _, letters in data_of(out.read_text())["pane"]["signs"]]
    assert told == [list(one.letters) for one in story(kit, found, seconds=SECONDS).chapters]
    words = capsys.readouterr().out
    assert "Diagnoses of the robots" in words
    cells = len(set(found.cells))
    assert cells > 1
    assert f"the swarm went on with a team of {cells} controllers" in words


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"by": "robot"}, "by must be one of fault"),
        ({"misdiagnosis_rate": 0.1}, "misdiagnosis_rate needs a search over teams"),
        ({"by": "fault", "misdiagnosis_rate": 1.5}, "misdiagnosis_rate must be"),
        ({"by": "fault", "faults": ",".join(["ROFS"] * 10)}, "does not know 'ROFS'"),
    ],
)
def test_bad_input_by_fault(file: Path, tmp_path: Path, given: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        verb([file], out=tmp_path / "film.gif", **given)
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_go_with_a_kit_is_refused_before_the_search(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("it searched")

    monkeypatch.setattr("qed.recovery.recover.recover", never)
    monkeypatch.setattr("qed.recovery.kit.play.recover", never)
    good = tmp_path / "film.gif"
    for given, words in (
        ({"trials": 5}, "trials is for archives"),
        ({"trial": 0}, "trial is for archives"),
        ({"budget": 0}, "budget must be"),
        ({"task": "flocking"}, "the kit is for patrolling, not for flocking"),
        ({"faults": "PMIN,NONE"}, "each of the 10 robots, got 2"),
        ({"seconds": -3.0}, "seconds must be"),
        ({"size": 10}, "size must be"),
        ({"speed": 0.0}, "speed must be"),
        ({"out": tmp_path / "film.mov"}, "must end in"),
    ):
        with pytest.raises(InputError, match=words):
            verb([file], **({"out": good} | given))
    with pytest.raises(InputError, match="a kit is shown alone"):
        verb([file, file], out=good)
    for given, words in (
        ({"budget": 3}, "--budget needs a kit"),
        ({"misdiagnosis_rate": 0.1}, "--misdiagnosis-rate needs a kit"),
    ):
        with pytest.raises(InputError, match=words):
            verb([Path("example:patrolling")], out=good, **given)
    with pytest.raises(InputError, match="by must be one of fault"):
        verb([Path("example:patrolling")], out=good, by="robot")
    assert list(tmp_path.iterdir()) == []
