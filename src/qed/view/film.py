"""Writes a replay as a film: mp4 that browsers play, or gif."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from PIL import Image

from qed.errors import InputError, StoppedError, whole
from qed.view.palette import Palette
from qed.view.replay import Progress, Replay, checked_speed
from qed.view.stage import Stage
from qed.view.unfinished import whole as whole_file

ENDINGS = (".mp4", ".gif", ".html")
FPS = {".mp4": 25, ".gif": 10, ".html": 25}  # frames per second, by default
SIZE = {".mp4": 480, ".gif": 320, ".html": 480}  # pixels of a pane, by default, at most
SMALLEST = 240  # pixels of a pane, by default, however many archives there are
ACROSS = {".mp4": 1520, ".gif": 960, ".html": 1520}  # pixels of all panes side by side, by default
WIDEST = 4096  # pixels of a film; players fail beyond
MOST_FPS = {".mp4": 60, ".gif": 50, ".html": 60}  # browsers slow down faster gifs
MOST_FRAMES = {".mp4": 100_000, ".gif": 2_000}  # a gif is made in memory
HOLD = 2.0  # s for which the last frame stays


def kind(out: str | Path) -> str:
    """Return the ending of a replay's file, which tells what it is."""
    ending = Path(out).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"out: the file must end in .mp4, .gif or .html, got {Path(out).name!r}")
    return ending


def across(archives: int) -> int:
    """Return how many panes stand side by side: of one archive three moments."""
    return 3 if archives == 1 else archives


def default_size(ending: str, archives: int) -> int:
    """Return the side of a pane (pixels): smaller with more archives, but still legible."""
    fitting = ACROSS[ending] // across(archives) // 20 * 20
    return max(SMALLEST, min(SIZE[ending], fitting))


class Scene(Protocol):
    """What draws the frames of a film."""

    width: int  # pixels
    height: int

    def draw(self, seconds: float) -> Image.Image:
        """Return the frame at a time (s)."""


@dataclass(frozen=True)
class Film:
    """What a film is like, besides what it shows."""

    ending: str
    speed: float  # times real time
    fps: int
    size: int  # side of a pane (pixels)
    trails: bool = False
    sensors: bool = False

    @classmethod
    def planned(
        cls,
        ending: str,
        seconds: float,
        speed: float | None = None,
        fps: int | None = None,
        size: int | None = None,
        *,
        trails: bool = False,
        sensors: bool = False,
        archives: int = 1,
    ) -> Film:
        """Return a film of a trial of so many seconds, with defaults that suit its kind."""
        film = cls(
            ending,
            checked_speed(seconds, speed),
            FPS[ending] if fps is None else whole("fps", fps, 1, MOST_FPS[ending]),
            default_size(ending, archives) if size is None else whole("size", size, 200, 1200),
            trails,
            sensors,
        )
        if ending != ".html" and film.size * across(archives) > WIDEST:
            raise InputError(
                f"size: {across(archives)} panes of {film.size} pixels are wider than {WIDEST:,}; "
                f"size can be at most {WIDEST // across(archives)}"
            )
        frames, most = film.count(seconds), MOST_FRAMES.get(ending)
        if most is not None and frames > most:
            raise InputError(
                f"the film would have {frames:,} frames, more than {most:,}: "
                "raise the speed, or lower fps or seconds"
            )
        return film

    def count(self, seconds: float) -> int:
        """Return the number of frames of a trial, besides those that hold the last one."""
        return 1 + max(1, math.ceil(seconds * self.fps / self.speed - 1e-9))

    def times(self, seconds: float) -> list[float]:
        """Return the simulated time of each frame (s), from the start to the very end."""
        step = self.speed / self.fps
        return [min(k * step, seconds) for k in range(self.count(seconds))]

    def write(self, replay: Replay, out: str | Path, progress: Progress | None = None) -> Path:
        """Draw a replay into a file; return the file."""
        stage = Stage(replay, self.size, speed=self.speed, trails=self.trails, sensors=self.sensors)
        return self.shoot(stage, self.times(replay.seconds), out, progress)

    def shoot(
        self, stage: Scene, times: Sequence[float], out: str | Path, progress: Progress | None
    ) -> Path:
        """Draw what a stage shows at some times (s) into a file; return the file."""
        with whole_file(out) as unfinished:
            if self.ending == ".gif":
                self._gif(stage, times, unfinished, progress)
            else:
                self._mp4(stage, times, unfinished, progress)
        return Path(out)

    def _frames(
        self, stage: Scene, times: Sequence[float], progress: Progress | None
    ) -> Iterator[Image.Image]:
        """Draw the frames one after another."""
        for done, seconds in enumerate(times, 1):
            yield stage.draw(seconds)
            if progress is not None:
                progress(done, len(times))

    def _mp4(
        self, stage: Scene, times: Sequence[float], path: Path, progress: Progress | None
    ) -> None:
        encoder = subprocess.Popen(
            _encoding(stage, self.fps, path), stdin=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert encoder.stdin is not None  # for the type checker
        try:
            last = b""
            for frame in self._frames(stage, times, progress):
                last = frame.tobytes()
                encoder.stdin.write(last)
            for _ in range(round(HOLD * self.fps)):
                encoder.stdin.write(last)
        except BrokenPipeError:
            pass  # its exit status and its message tell why
        except BaseException:
            encoder.kill()
            encoder.communicate()
            raise
        _, message = encoder.communicate()
        if encoder.returncode != 0:
            lines = message.decode(errors="replace").strip().splitlines()
            raise OSError(lines[-1] if lines else f"ffmpeg exit {encoder.returncode}")

    def _gif(
        self, stage: Scene, times: Sequence[float], path: Path, progress: Progress | None
    ) -> None:
        """Write a gif with one palette for all frames, so that what stays costs nothing."""
        seconds = times[-1]
        palette = Palette([stage.draw(part * seconds) for part in (0.0, 0.3, 0.6, 1.0)])
        frames = [palette.apply(frame) for frame in self._frames(stage, times, progress)]
        pause = 10 * max(2, round(100 / self.fps))  # ms; gifs count in hundredths of a second
        frames[0].save(
            path, "GIF", save_all=True, append_images=frames[1:], loop=0, optimize=True,
            duration=[pause] * (len(frames) - 1) + [round(1000 * HOLD)],
        )  # fmt: skip


def _encoding(stage: Scene, fps: int, path: Path) -> list[str]:
    """Return the command that makes H.264 of raw frames, the same bytes from the same frames."""
    import imageio_ffmpeg

    try:
        program = imageio_ffmpeg.get_ffmpeg_exe()
    except RuntimeError as error:
        raise StoppedError(f"no ffmpeg to write mp4 with ({error}); gif and html work") from error
    options = f"""
        -y -loglevel error -f rawvideo -pix_fmt rgb24 -s {stage.width}x{stage.height} -r {fps} -i -
        -an -vf scale=out_color_matrix=bt709:out_range=tv -c:v libx264 -preset veryfast -crf 23
        -pix_fmt yuv420p -colorspace bt709 -color_primaries bt709 -color_trc bt709 -threads 2
        -movflags +faststart -map_metadata -1 -fflags +bitexact -flags:v +bitexact -f mp4
    """
    return [program, *options.split(), str(path.absolute())]
