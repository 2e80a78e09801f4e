"""Several archives side by side: what stands where, how they are named, and real files of them."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pytest
from browser import Browser
from made_recovery import FAULTS, NAMES, ORIGIN, four, recovery
from PIL import Image

import qed
from qed.archive.cvt import Centroids
from qed.archive.grid import Categories, Grid
from qed.cli.replay import replay as verb
from qed.errors import InputError
from qed.view import look
from qed.view.film import ENDINGS, WIDEST, across, default_size, film_of
from qed.view.look import DARK, LIGHT, SCORES
from qed.view.pane import Signs
from qed.view.player import write_page
from qed.view.replay import MOST, Entry, Replay, replay, watch
from qed.view.stage import ReplayStage
from qed.view.words import in_words, names, origin

SMALL: dict[str, Any] = {"seconds": 6.0, "speed": 4.0, "fps": 5, "size": 200}


@pytest.fixture(scope="module")
def shown() -> Replay:
    return watch(four(), seconds=20.0, seed=5)


# ---- what is shown -------------------------------------------------------------------------


def test_all_swarms_start_at_the_same_poses_with_the_same_fault(shown: Replay) -> None:
    assert [column.name for column in shown.columns] == list(NAMES)
    panes = [*shown.panes, *(column.before for column in shown.columns)]
    starts = [pane.trace.start for pane in panes]
    assert all((start == starts[0]).all() for start in starts)
    for column in shown.columns:
        after, recovered = column.views
        assert (after.moment, recovered.moment) == (1, 2)
        assert after.pane.signs == recovered.pane.signs == [Signs(0, qed.Faults(FAULTS))]
        assert (after.notes[1], recovered.notes[1]) == ("impact −38 %", "resilience −13 %")


def test_captions_tell_distance_and_origin_and_a_controller_that_stays(shown: Replay) -> None:
    assert [column.caption for column in shown.columns] == [
        ("behavioural distance 0.25",),
        ("behavioural distance 0.25",),
        ("behavioural distance 0.00: the normal controller stays",),
        ("behavioural distance 0.25", ORIGIN),
    ]


def test_what_cannot_stand_side_by_side_is_refused() -> None:
    entry = Entry(recovery())
    for wrong in ([], [entry] * (MOST + 1)):
        with pytest.raises(InputError, match=f"1 to 8 recoveries, got {len(wrong)}"):
            watch(wrong)
    other = Entry(recovery(faults=",".join(["PMIN"] * 10)))
    for second in (other, Entry(recovery("flocking"))):
        with pytest.raises(InputError, match="one task from one combined fault"):
            watch([entry, second])
    with pytest.raises(InputError, match=r"of qed\.recover, got str"):
        watch([entry, "runs/hbd"])  # type: ignore[list-item]


# ---- words ---------------------------------------------------------------------------------


def archive_of(algorithm: str, space: Any, measures: Any, settings: Any = None) -> qed.Archive:
    """Return an archive with one elite."""
    made = {"algorithm": algorithm, "task": "patrolling"} if settings is None else settings
    archive = qed.Archive(space, header={"settings": made})
    archive.add({"weights": np.zeros((1, 3))}, [0.5], [measures])
    return archive


def test_an_environment_in_words() -> None:
    assert in_words(qed.Environment()) == (
        "10 robots, 4 m arena, no obstacles, 10 cm/s, hears 1 m, sees 11 cm"
    )
    assert in_words(qed.Environment(robots=1, obstacles=1, rab_range=0.25)) == (
        "1 robot, 4 m arena, 1 obstacle, 10 cm/s, hears 0.25 m, sees 11 cm"
    )


def test_where_a_controller_comes_from_by_the_kind_of_its_cell() -> None:
    space = Categories((4,) * 6)
    busy = archive_of("qed", space, (3, 0, 0, 2, 1, 0))
    assert origin(busy, int(busy.occupied[0])) == ORIGIN
    roaming = archive_of("hbd", Grid((16, 16, 16)), (0.5, 0.75, 0.25))
    assert origin(roaming, int(roaming.occupied[0])) == (
        "in evolution it visited 25 % of the arena, 2.1 m from the centre on average, "
        "uniformity 0.50"
    )
    for algorithm in ("sdbc", "spirit"):
        silent = archive_of(algorithm, Centroids(np.eye(3, dtype=np.float32)), (1.0, 0.0, 0.0))
        assert origin(silent, 0) == ""
    # A grid of someone's own is not HBD's.
    assert origin(archive_of("mine", Grid((4, 4, 4)), (0.5, 0.5, 0.5)), 42) == ""


def test_archives_are_named_by_algorithm_or_by_file_too() -> None:
    grid = Grid((4, 4))
    made = [archive_of(name, grid, (0.1, 0.1)) for name in ("qed", "hbd", "qed", "qed")]
    files = [
        Path(name)
        for name in ("runs/first/archive.npz", "hbd.npz", "second.npz", "runs/first/archive.npz")
    ]
    assert names(made, files) == ["QED first (1)", "HBD", "QED second", "QED first (2)"]
    assert names([archive_of("", grid, (0.1, 0.1), {})], [Path("found.npz")]) == ["found"]
    assert names(made[:1], [Path("archive.npz")]) == ["QED"]


def test_words_wrap_and_long_ones_are_cut() -> None:
    face = look.font(12)
    lines = look.wrapped(ORIGIN, face, 200)
    assert " ".join(lines) == ORIGIN
    assert len(lines) > 1
    assert all(look.width(line, face) <= 200 for line in lines)
    cut = look.cut("a" * 40 + "end", face, 100)
    assert look.width(cut, face) <= 100
    assert (cut[0], "…" in cut, cut[-3:]) == ("a", True, "end")
    assert look.cut("short", face, 100) == "short"
    assert look.wrapped("", face, 100) == []


# ---- frames --------------------------------------------------------------------------------


def test_a_column_for_each_archive_with_the_fault_above_recovery(shown: Replay) -> None:
    stage = ReplayStage(shown, 240)
    lefts = [place.left for place in stage.places[::2]]
    assert lefts == sorted(set(lefts))
    assert lefts == [place.left for place in stage.places[1::2]]
    upper, lower = ({place.top for place in stage.places[k::2]} for k in (0, 1))
    assert len(upper) == len(lower) == 1
    assert upper.pop() + 240 + stage.score_height < lower.pop()
    frame = stage.draw(13.0)
    for place in stage.places:
        box = (place.left, place.top, place.left + 240, place.top + 240)
        assert frame.crop(box).tobytes() == place.arena.draw(65).tobytes()
        score = frame.crop((place.left, box[3], place.left + 240, box[3] + stage.score_height))
        own = np.array(look.colour(SCORES[place.view.moment]))
        assert (np.asarray(score) == own).all(-1).sum() > 30


def test_the_legend_explains_healthy_robots_only_where_there_are_some(shown: Replay) -> None:
    assert ReplayStage(shown, 240).legend.rows[0][0][0] == "robot"
    ill = Entry(recovery(faults=",".join(["PMIN"] * 10)))
    for entries, first in (([ill], "robot"), ([ill, ill], "PMIN")):
        stage = ReplayStage(watch(entries, seconds=2.0), 240)
        assert stage.legend.rows[0][0][0] == first


@pytest.mark.parametrize("count", [2, 4, 8])
@pytest.mark.parametrize("size", [200, 380])
def test_all_words_stay_in_their_places(count: int, size: int) -> None:
    replayed = watch(four(count=count), seconds=2.0)
    stage = ReplayStage(replayed, size, speed=20.0)
    frame = np.asarray(stage.draw(2.0))
    assert frame.shape == (stage.height, stage.width, 3)
    assert (stage.width % 2, stage.height % 2) == (0, 0)
    paper = frame[0, 0]
    assert (frame[:, -4:] == paper).all()
    assert (frame[:, :4] == paper).all()
    assert (frame[-3:] == paper).all()
    # Between columns there is nothing but paper, from the names down to the captions.
    bottom = stage.legend_top - 2
    for place in stage.places[2::2]:
        gap = frame[:bottom, place.left - stage.margin // 2 : place.left - 1]
        assert (gap == paper).all()


def test_panes_become_smaller_with_more_archives_and_stay_legible() -> None:
    for ending in ENDINGS:
        sizes = [default_size(ending, archives) for archives in range(1, MOST + 1)]
        assert sizes[1:] == sorted(sizes[1:], reverse=True)
        assert min(sizes) >= 240
        assert max(size * across(k) for k, size in enumerate(sizes, 1)) <= 1920
    assert default_size(".mp4", 4) * 4 <= 1600
    with pytest.raises(InputError, match=f"size can be at most {WIDEST // 8}"):
        film_of(".mp4", [100.0], size=600, archives=8)
    assert film_of(".html", [100.0], size=600, archives=8).size == 600


@pytest.mark.parametrize("ending", ["mp4", "gif", "html"])
def test_the_same_input_gives_the_same_bytes(ending: str, tmp_path: Path) -> None:
    one, other = (replay(four(), tmp_path / f"{k}.{ending}", **SMALL) for k in "ab")
    assert one.read_bytes() == other.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a.{ending}", f"b.{ending}"]


def test_progress_of_what_is_simulated_is_told() -> None:
    told: list[tuple[int, int]] = []
    watch(four(count=2), seconds=2.0, progress=lambda *p: told.append(p))
    assert told == [(k, 6) for k in range(1, 7)]


# ---- the command ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Archives of the four algorithms; the two of centroids have few of them, made up."""
    folder = tmp_path_factory.mktemp("archives")
    how: dict[str, Any] = {"evaluations": 40, "initial": 40, "trials": 2, "seconds": 20.0}
    evolved = {
        name: qed.evolve("border-patrolling", algorithm=name, seed=k, **how)
        for k, name in enumerate(("hbd", "qed"))
    }
    evolved["hbd"].save(folder / "hbd.npz")
    evolved["qed"].save(folder / "qed.npz")
    genomes, settings = evolved["hbd"].genomes(), evolved["hbd"].header["settings"]
    for name, dimensions in (("sdbc", 10), ("spirit", 1024)):
        points = np.random.default_rng(1).random((64, dimensions), np.float32)
        made = qed.Archive(Centroids(points), header={"settings": settings | {"algorithm": name}})
        rows = len(genomes.hidden)
        made.add(genomes, np.linspace(0.1, 0.5, rows), points[:rows])
        made.save(folder / f"{name}.npz")
    return [folder / f"{name}.npz" for name in ("hbd", "sdbc", "spirit", "qed")]


def told(archives: list[Path], out: Path, capsys: pytest.CaptureFixture[str]) -> str:
    verb(archives, out=out, trials=2, fps=5, size=200, faults="2", threads=1)
    return capsys.readouterr().out


def test_the_verb_makes_a_film_of_four(
    archives: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "film.mp4"
    words = told(archives, out, capsys)
    assert max(map(len, words.removesuffix(f"{out}\n").splitlines())) <= 80
    rows = [line.split() for line in words.splitlines()]
    assert [row[0] for row in rows if row and row[0] in NAMES] == list(NAMES)
    assert re.search(r"QED: evolved with \d+ robots, .* m arena", words)
    assert words.endswith(f"{out}\n")
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(out), "-f", "rawvideo", "-pix_fmt"]
    decoded = subprocess.run([*command, "rgb24", "-"], capture_output=True, check=True)
    size = re.search(r"h264.* (\d+)x(\d+)", decoded.stderr.decode())
    assert size is not None
    wide, high = map(int, size.groups())
    assert 4 * 200 < wide < 4 * 240
    frames = np.frombuffer(decoded.stdout, np.uint8).reshape(-1, high, wide, 3)
    assert len(frames) == 101 + 10
    assert (frames[0] != frames[100]).any()
    found = [
        qed.recover(
            qed.Archive.load(path), "border-patrolling", qed.Faults.sample(10, seed=2),
            trials=2, seconds=20.0, seed=1,
        )
        for path in archives
    ]  # fmt: skip
    numbers = [row[-1] for row in rows if row and row[0] in NAMES]
    assert numbers == [f"{one.distance:.2f}" for one in found]


@pytest.mark.parametrize("ending", ["gif", "html"])
def test_the_verb_makes_a_gif_and_a_page_of_four(
    archives: list[Path], ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"film.{ending}"
    told(archives, out, capsys)
    if ending == "gif":
        with Image.open(out) as film:
            assert film.n_frames == 101
            assert 4 * 200 < film.width < 4 * 240
    else:
        assert "Border-patrolling: 4 archives recover" in out.read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def test_archives_of_two_tasks_need_a_task(
    archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def search(archive: qed.Archive, task: str, *_: Any, **__: Any) -> None:
        asked.append(task)
        raise KeyboardInterrupt

    other = qed.Archive.load(archives[0])
    other.header["settings"]["task"] = "flocking"
    other.save(tmp_path / "other.npz")
    monkeypatch.setattr("qed.recovery.recover.recover", search)
    both, out = [archives[3], tmp_path / "other.npz"], tmp_path / "film.gif"
    with pytest.raises(InputError, match=r"other\.npz was evolved for flocking, .*qed\.npz for "):
        verb(both, out=out)
    with pytest.raises(KeyboardInterrupt):
        verb(both, out=out, task="dispersion")
    assert asked == ["dispersion"]
    with pytest.raises(InputError, match="did you mean 'dispersion'"):
        verb(both, out=out, task="dispersal")
    with pytest.raises(InputError, match="1 to 8 archives, got 9"):
        verb([archives[0]] * 9, out=out)
    with pytest.raises(InputError, match="wider than"):
        verb(archives, out=out, size=1200)
    assert asked == ["dispersion"]
    assert [path.name for path in tmp_path.iterdir()] == ["other.npz"]


def test_ctrl_c_leaves_nothing_half_written(archives: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "film.mp4"
    out.write_text("old")
    paths = [str(path) for path in archives[:2]]
    command = [sys.executable, "-m", "qed", "replay", *paths, "--out", str(out), "--trials", "1"]
    running = subprocess.Popen(
        [*command, "--speed", "0.1", "--threads", "1"], stderr=subprocess.PIPE, text=True,
        env=os.environ | {"NO_COLOR": "1"},
        # What a shell starts in the background ignores Ctrl-C, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    deadline = time.monotonic() + 120
    try:
        while len(list(tmp_path.iterdir())) < 2:  # the unfinished film
            assert running.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) != 0
    finally:
        running.kill()
    assert running.stderr is not None
    assert "Traceback" not in running.stderr.read()
    running.stderr.close()
    assert [path.name for path in tmp_path.iterdir()] == ["film.mp4"]
    assert out.read_text() == "old"


# ---- in a browser --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(shown: Replay, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(shown, tmp_path_factory.mktemp("page") / "replay.html", speed=5.0)


STATE = "document.body.dataset.state"
NOW = "Number(document.getElementById('time').value)"


def colours(browser: Browser, scheme: str) -> None:
    """Ask for a light or dark page that stands still."""
    features = [("prefers-color-scheme", scheme), ("prefers-reduced-motion", "reduce")]
    browser.ask(
        "Emulation.setEmulatedMedia", features=[{"name": n, "value": v} for n, v in features]
    )


@pytest.mark.parametrize(("width", "columns"), [(360, 1), (768, 2), (1440, 4)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_columns_fit_the_page_in_light_and_dark(
    browser: Browser, file: Path, width: int, columns: int, scheme: str
) -> None:
    browser.open(file, width, still=True)
    colours(browser, scheme)
    browser.until(f"{STATE} === 'paused'")
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    lefts = "[...document.querySelectorAll('.arena')].map(c => c.getBoundingClientRect().left)"
    assert len(set(browser.evaluate(lefts))) == columns
    assert browser.evaluate("document.querySelectorAll('.arena').length") == 8
    browser.evaluate("document.getElementById('badges').click()")
    with Image.open(io.BytesIO(browser.picture())) as image:
        seen = np.asarray(image.convert("RGB")).reshape(-1, 3)
    theme, other = (LIGHT, DARK) if scheme == "light" else (DARK, LIGHT)
    for name, least in (("floor", 100_000), ("healthy", 100)):
        assert (seen == np.array(look.colour(theme[name]))).all(1).sum() > least
    # Some words may be white; no arena is.
    assert (seen == np.array(look.colour(other["floor"]))).all(1).sum() < 1000
    assert browser.complaints() == []


def test_the_page_tells_what_the_film_tells(browser: Browser, file: Path) -> None:
    browser.open(file, 1440, still=True)
    browser.until(f"{STATE} === 'paused'")
    headings = browser.evaluate("[...document.querySelectorAll('h2')].map(h => h.textContent)")
    assert headings == list(NAMES)
    words = browser.evaluate("document.getElementById('columns').innerText")
    for part in (
        "impact −38 %",
        "resilience −13 %",
        "fresh trials 0.700",
        "before the fault 0.800",
    ):
        assert words.count(part) == 4
    assert words.count("the normal controller stays") == 1
    assert words.count(ORIGIN) == 1
    label = browser.evaluate("document.querySelectorAll('.arena')[7].getAttribute('aria-label')")
    assert label == "QED after recovery: 10 robots seen from above, 8 of them with a fault"


def test_keys_move_time(browser: Browser, file: Path) -> None:
    browser.open(file, 1440, still=True)
    browser.until(f"{STATE} === 'paused'")
    for key, now in (("ArrowRight", 5), ("ArrowRight", 10), ("ArrowLeft", 5)):
        for kind in ("rawKeyDown", "keyUp"):
            browser.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key)
        assert browser.evaluate(NOW) == now
    browser.press(" ", "Space")
    assert browser.evaluate(STATE) == "playing"
    browser.press(" ", "Space")
    assert browser.evaluate(STATE) == "paused"
    assert browser.complaints() == []
