"""Films: what is written can be read back, is the same again, and is whole or not there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pytest
from made_recovery import FAULTS, recovery
from PIL import Image
from test_player import data_of

import qed
from qed.cli.replay import replay as verb
from qed.errors import InputError, StoppedError
from qed.view import film
from qed.view.film import HOLD
from qed.view.replay import Entry, replay, watch
from qed.view.stage import ReplayStage
from qed.view.words import origin

SMALL: dict[str, Any] = {"seconds": 6.0, "speed": 4.0, "fps": 10, "size": 200}
FRAMES = 16  # 0, 0.4, ..., 6.0 s


def last_frame() -> np.ndarray:
    """Return the last frame as it was drawn."""
    return np.asarray(ReplayStage(watch(recovery(), seconds=6.0), 200, speed=4.0).draw(6.0))


def difference(one: Any, other: Any) -> float:
    return float(np.abs(np.asarray(one, int) - np.asarray(other, int)).mean())


def test_mp4_plays_in_browsers_and_shows_the_frames(tmp_path: Path) -> None:
    out = replay(recovery(), tmp_path / "film.mp4", **SMALL)
    stage = ReplayStage(watch(recovery(), seconds=6.0), 200)
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(out), "-f", "rawvideo", "-pix_fmt"]
    decoded = subprocess.run([*command, "rgb24", "-"], capture_output=True, check=True)
    said = decoded.stderr.decode()
    assert "Video: h264" in said
    assert "yuv420p(tv, bt709" in said
    assert f"{stage.width}x{stage.height}" in said
    assert "10 fps" in said
    frames = np.frombuffer(decoded.stdout, np.uint8).reshape(-1, stage.height, stage.width, 3)
    assert len(frames) == FRAMES + round(10 * HOLD)
    assert difference(frames[FRAMES - 1], last_frame()) < 3.0
    assert difference(frames[-1], last_frame()) < 3.0
    assert difference(frames[0], last_frame()) > 3.0
    # The index comes first, so that a browser can begin before it has all.
    content = out.read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")


def test_a_full_disk_is_told_in_our_words() -> None:
    whole = film.film_of(".mp4", [6.0], speed=4.0, fps=10, size=200)
    stage = ReplayStage(watch(recovery(), seconds=6.0), 200, speed=4.0)
    with pytest.raises(OSError, match="No space left on device") as caught:
        whole._mp4(stage, Path("/dev/full"), None)
    assert caught.value.strerror == "No space left on device"


def test_gif_shows_the_frames_with_its_pauses(tmp_path: Path) -> None:
    out = replay(recovery(), tmp_path / "film.gif", **SMALL)
    with Image.open(out) as image:
        assert image.n_frames == FRAMES
        assert image.info["loop"] == 0
        assert image.info["duration"] == 100
        first = image.convert("RGB")
        image.seek(FRAMES - 1)
        assert image.info["duration"] == round(1000 * HOLD)
        last = image.convert("RGB")
    assert difference(last, last_frame()) < 0.5
    assert difference(first, last_frame()) > 2.0


def test_a_gif_for_a_readme_is_small(tmp_path: Path) -> None:
    out = replay(recovery(), tmp_path / "film.gif", seconds=100.0, fps=4)
    with Image.open(out) as image:
        assert image.n_frames == 81
        assert image.width <= 1012
    assert out.stat().st_size < 81 / 201 * 3e6  # a whole one of 201 frames: below 3 MB


@pytest.mark.parametrize("ending", ["mp4", "gif", "html"])
def test_the_same_input_gives_the_same_bytes(ending: str, tmp_path: Path) -> None:
    one, other = (replay(recovery(), tmp_path / f"{k}.{ending}", **SMALL) for k in "ab")
    assert one.read_bytes() == other.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a.{ending}", f"b.{ending}"]


def test_trails_and_sensors_are_drawn_on_demand(tmp_path: Path) -> None:
    plain = replay(recovery(), tmp_path / "a.gif", **SMALL)
    more = replay(recovery(), tmp_path / "b.gif", trails=True, sensors=True, **SMALL)
    assert plain.read_bytes() != more.read_bytes()


@pytest.mark.parametrize("seconds", [100.0, 180.0, 400.0])
@pytest.mark.parametrize("ending", [".mp4", ".gif"])
def test_films_last_15_to_30_seconds_by_default(ending: str, seconds: float) -> None:
    form = film.film_of(ending, [seconds])
    assert 15.0 <= len(form.times) / form.fps + HOLD <= 30.0
    assert (form.times[0], form.times[-1]) == (0.0, seconds)


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    replay(recovery(), tmp_path / "a.gif", progress=lambda *p: told.append(p), **SMALL)
    assert told == [(k, FRAMES) for k in range(1, FRAMES + 1)]


def test_what_cannot_be_is_refused() -> None:
    assert film.ending_of("runs/Film.MP4") == ".mp4"
    for name in ("film.avi", "film", ".mp4"):
        with pytest.raises(InputError, match=r"must end in \.mp4, \.gif or \.html"):
            film.ending_of(name)
    for how in ({"fps": 0}, {"fps": 51}, {"fps": 2.5}, {"size": 199}, {"size": 5000}):
        with pytest.raises(InputError, match=next(iter(how))):
            film.film_of(".gif", [100.0], **how)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"4,001 frames, more than 2,000: raise the speed"):
        film.film_of(".gif", [400.0], speed=1.0)
    with pytest.raises(InputError, match="seconds"):
        film.film_of(".gif", [0.0])


@pytest.mark.parametrize("ending", ["mp4", "gif"])
def test_a_film_that_is_stopped_leaves_nothing_and_keeps_the_old_one(
    ending: str, tmp_path: Path
) -> None:
    old = tmp_path / f"film.{ending}"
    old.write_text("old")

    def stop(done: int, _: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replay(recovery(), old, progress=stop, **SMALL)
    assert [path.name for path in tmp_path.iterdir()] == [old.name]
    assert old.read_text() == "old"


def test_an_encoder_that_fails_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\nhead -c 1000 > /dev/null\necho disk full >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", lambda: str(program))
    with pytest.raises(StoppedError, match=r"film\.mp4: ffmpeg ended with status 1: disk full"):
        replay(recovery(), tmp_path / "film.mp4", **SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["ffmpeg"]


def test_no_encoder_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise RuntimeError("No ffmpeg exe could be found")

    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", none)
    with pytest.raises(StoppedError, match="gif and html work"):
        replay(recovery(), tmp_path / "film.mp4", **SMALL)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["mp4", "gif", "html"])
def test_where_nothing_can_be_written(ending: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        replay(recovery(), tmp_path / "nowhere" / f"film.{ending}", **SMALL)
    folder = tmp_path / f"film.{ending}"
    folder.mkdir()
    with pytest.raises(InputError, match="is a folder"):
        replay(recovery(), folder, **SMALL)
    with pytest.raises(StoppedError, match="cannot write"):
        replay(recovery(), tmp_path / f"{'long' * 100}.{ending}", **SMALL)


# ---- the command ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "small"
    qed.evolve("dispersion", evaluations=24, initial=24, trials=2, seconds=8.0, seed=3, out=folder)
    return folder


@pytest.mark.parametrize("ending", ["mp4", "gif", "html"])
def test_the_verb_shows_the_runs_task_and_length_on_trials_of_its_own(
    run: Path, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"film.{ending}"
    verb([run], out=out, size=200, fps=5)
    found = qed_recover(run)
    entry = Entry(found, "QED", origin(qed.Archive.load(run / "archive.npz"), found.cell))
    expected = replay([entry], tmp_path / f"b.{ending}", seconds=8.0, seed=1, size=200, fps=5)
    assert out.read_bytes() == expected.read_bytes()
    words = capsys.readouterr().out
    assert words.startswith(f"{out}: fitness {found.normal:.3f}, with the fault {found.broken:.3f}")


def test_the_verb_shows_a_team_of_an_archive(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def by_fault(archive: Any, *_: Any, **given: Any) -> Any:
        asked.update(given)
        others = archive.controllers[:2]
        team = qed.Team([others[0]] * 4 + [others[1]] * 6)
        cells = (3,) * 4 + (5,) * 6
        return recovery(team=team, cells=cells)

    monkeypatch.setattr("qed.recovery.recover.recover", by_fault)
    out = tmp_path / "film.html"
    verb([run], out=out, by="fault")
    assert asked["by"] == "fault"
    data = data_of(out.read_text())
    assert data["columns"][0]["panes"][2]["signs"][0][2] == list("A" * 4 + "B" * 6)
    assert data["columns"][0]["caption"][1] == "a team of 2 controllers"


def qed_recover(run: Path) -> Any:
    from qed.archive.archive import Archive
    from qed.recovery.recover import recover

    archive = Archive.load(run / "archive.npz")
    faults = qed.Faults.sample(10, seed=1)
    return recover(archive, "dispersion", faults, trials=10, seconds=8.0, seed=1)


def test_the_verb_refuses_before_it_searches(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("it searched")

    monkeypatch.setattr("qed.recovery.recover.recover", never)
    good = tmp_path / "film.gif"
    with pytest.raises(InputError, match="must end in"):
        verb([run], out=tmp_path / "film.mov")
    with pytest.raises(InputError, match="does not exist"):
        verb([tmp_path / "nothing"], out=good)
    with pytest.raises(InputError, match="each of the 10 robots, got 2"):
        verb([run], out=good, faults="PMIN,NONE")
    with pytest.raises(InputError, match="trial must be"):
        verb([run], out=good, trial=-1)
    with pytest.raises(InputError, match="seconds"):
        verb([run], out=good, seconds=-3.0)
    with pytest.raises(InputError, match="there is no folder"):
        verb([run], out=tmp_path / "nowhere" / "film.gif")
    with pytest.raises(StoppedError, match="cannot write"):
        verb([run], out=tmp_path / f"{'long' * 100}.gif")
    with pytest.raises(AssertionError, match="it searched"):
        verb([run], out=good, faults=FAULTS)
    assert list(tmp_path.iterdir()) == []


def test_an_archive_without_controllers_is_refused(run: Path, tmp_path: Path) -> None:
    from qed.archive.archive import Archive

    full = Archive.load(run / "archive.npz")
    empty = Archive(full.space, header={"settings": full.header["settings"]})
    empty.save(tmp_path / "empty.npz")
    with pytest.raises(InputError, match="is empty"):
        verb([tmp_path / "empty.npz"], out=tmp_path / "film.gif")
    full.header.clear()
    full.save(tmp_path / "unknown.npz")
    with pytest.raises(InputError, match="does not name its task"):
        verb([tmp_path / "unknown.npz"], out=tmp_path / "film.gif")


def test_the_verb_ends_with_two_if_used_wrongly(run: Path, tmp_path: Path) -> None:
    program = (
        "import sys, typer; from qed import cli; from qed.cli.replay import replay\n"
        "names = [command.name for command in cli.app.registered_commands]\n"
        "'replay' in names or cli.app.command('replay')(replay)\n"
        "cli.main()"
    )
    command = [sys.executable, "-c", program, "replay", str(run), "--out", "film.avi"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("qed: out: the file must end in .mp4, .gif or .html")
