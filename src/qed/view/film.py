"""Writes a film: mp4 that browsers play, or gif; and how fast it goes."""

import errno
import math
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from PIL import Image

from qed import files, limits
from qed.errors import InputError, StoppedError, integer, number
from qed.view.replay import Progress, Replay

if TYPE_CHECKING:
    from qed.view.story import Story

ENDINGS = (".mp4", ".gif", ".html")
FPS = {".mp4": 25, ".gif": 10, ".html": 25}  # frames per second, by default
SIZE = {".mp4": 480, ".gif": 320, ".html": 480}  # pixels of a pane, by default, at most
SMALLEST = 240  # pixels of a pane, by default, however many archives there are
ACROSS = {".mp4": 1520, ".gif": 960, ".html": 1520}  # pixels of all panes side by side, by default
STORY_SIZE = {".mp4": 600, ".gif": 360, ".html": 600}  # pixels of the arena, by default
WIDEST = 4096  # pixels of a film; players fail beyond
MOST_FPS = {".mp4": 60, ".gif": 50, ".html": 60}  # browsers slow down faster gifs
MOST_FRAMES = {".mp4": 100_000, ".gif": 2_000}  # a gif is made in memory
HOLD = 2.0  # s for which the last frame stays
# A story goes slowly where something begins, and in time-lapse between.
SLOW = 10.0  # times real time, where robots can be followed
# Seconds of film in which the first, the second, any other and the last part go slowly.
FIRST, SECOND, OTHER, LAST = 5.0, 4.0, 1.2, 5.0
LAPSE = 1.8  # s of film for the rest of a part
KEPT_COLOURS, EDGE_COLOURS = 40, 80  # of a gif: those kept exactly, and those between them
UNKNOWN = -1


def ending_of(out: str | Path) -> str:
    """Return the ending of a film's file, which says what it is."""
    ending = Path(out).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"out: the file must end in .mp4, .gif or .html, got {Path(out).name!r}")
    return ending


@dataclass(frozen=True)
class Section:
    """Some time of a film at one speed."""

    begin: float  # simulated time (s)
    end: float
    speed: float  # times real time

    @property
    def lasts(self) -> float:
        """Seconds of film."""
        return (self.end - self.begin) / self.speed

    @property
    def lapse(self) -> bool:
        """Whether it is too fast to follow a robot."""
        return self.speed > 2.0 * SLOW


def section_at(sections: Sequence[Section], seconds: float) -> Section:
    """Return how fast a film goes at a simulated time (s)."""
    return next((one for one in sections if seconds < one.end - 1e-9), sections[-1])


def sections_of(lengths: Sequence[float], speed: float | None = None) -> tuple[Section, ...]:
    """Return how fast a film of some parts (s) goes: at one speed, or slowly where they begin.

    The last part ends slowly instead.
    """
    if speed is not None:
        fixed = number("speed", speed, 0.0, 1e4, above=True)
        return (Section(0.0, sum(lengths), fixed),)
    sections: list[Section] = []
    begin = 0.0
    last = len(lengths) - 1
    for k, length in enumerate(lengths):
        looked = LAST if k == last else {0: FIRST, 1: SECOND}.get(k, OTHER)
        slow = min(SLOW * looked, length)
        fast = length - slow
        parts = [(slow, SLOW), (fast, max(SLOW, float(f"{fast / LAPSE:.2g}")))]
        for part, times in reversed(parts) if k == last else parts:
            if part > 0.0:
                sections.append(Section(begin, begin + part, times))
                begin += part
    return tuple(sections)


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
    sections: tuple[Section, ...]
    fps: int
    size: int  # side of a pane (pixels)
    trails: bool = False
    sensors: bool = False

    @property
    def speed(self) -> float:
        """Times real time, at the beginning."""
        return self.sections[0].speed

    @cached_property
    def times(self) -> list[float]:
        """The simulated time of each frame (s), from the start to the very end."""
        lasts = [section.lasts for section in self.sections]
        shown = np.concatenate([[0.0], np.cumsum(lasts)])
        simulated = [0.0, *(section.end for section in self.sections)]
        frames = 1 + max(1, math.ceil(shown[-1] * self.fps - 1e-9))
        at = np.minimum(np.arange(frames) / self.fps, shown[-1])
        found: list[float] = np.interp(at, shown, simulated).tolist()
        return found

    def shoot(self, scene: Scene, out: str | Path, progress: Progress | None = None) -> Path:
        """Draw a scene into a file; return the file."""
        with files.user_file(out) as unfinished:
            (self._gif if self.ending == ".gif" else self._mp4)(scene, unfinished, progress)
        return Path(out)

    def _frames(self, scene: Scene, progress: Progress | None) -> Iterator[Image.Image]:
        for done, seconds in enumerate(self.times, 1):
            yield scene.draw(seconds)
            if progress is not None:
                progress(done, len(self.times))

    def _mp4(self, scene: Scene, path: Path, progress: Progress | None) -> None:
        encoder = subprocess.Popen(
            _encoding(scene, self.fps, path), stdin=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert encoder.stdin is not None  # for the type checker
        try:
            last = b""
            for frame in self._frames(scene, progress):
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
            raise _why(message.decode(errors="replace"), encoder.returncode)

    def _gif(self, scene: Scene, path: Path, progress: Progress | None) -> None:
        """Write a gif with one palette for all frames, so that what stays costs nothing."""
        seconds = self.times[-1]
        palette = Palette([scene.draw(part * seconds) for part in (0.0, 0.3, 0.6, 1.0)])
        frames = [palette.apply(frame) for frame in self._frames(scene, progress)]
        pause = 10 * max(2, round(100 / self.fps))  # ms; gifs count in hundredths of a second
        frames[0].save(
            path, "GIF", save_all=True, append_images=frames[1:], loop=0, optimize=True,
            duration=[pause] * (len(frames) - 1) + [round(1000 * HOLD)],
        )  # fmt: skip


def film_of(
    ending: str,
    lengths: Sequence[float],
    speed: float | None = None,
    fps: int | None = None,
    size: int | None = None,
    *,
    archives: int = 1,
    trails: bool = False,
    sensors: bool = False,
) -> Film:
    """Return a film of a trial, or of a story of at most these parts (s), that suits its kind.

    By default that of a trial lasts about 20 s, and a story is slow where parts begin.
    """
    lengths = [limits.seconds(length) for length in lengths]
    if len(lengths) > 1:
        smallest, usual = 300, STORY_SIZE[ending]
    else:
        smallest, usual = 200, default_size(ending, archives)
        speed = max(1.0, round(lengths[0] / 20.0, 1)) if speed is None else speed
    side = usual if size is None else integer("size", size, smallest, 1200)
    if ending != ".html" and side * across(archives) > WIDEST:
        raise InputError(
            f"size: {across(archives)} panes of {side} pixels are wider than {WIDEST:,}; "
            f"size can be at most {WIDEST // across(archives)}"
        )
    rate = FPS[ending] if fps is None else integer("fps", fps, 1, MOST_FPS[ending])
    film = Film(ending, sections_of(lengths, speed), rate, side, trails, sensors)
    frames, most = len(film.times), MOST_FRAMES.get(ending)
    if most is not None and frames > most:
        raise InputError(
            f"the film would have {frames:,} frames, more than {most:,}: "
            "raise the speed, or lower fps, seconds or budget"
        )
    return film


def across(archives: int) -> int:
    """Return how many panes stand side by side: of one archive three moments."""
    return 3 if archives == 1 else archives


def default_size(ending: str, archives: int) -> int:
    """Return the side of a pane (pixels): smaller with more archives, but still legible."""
    fitting = ACROSS[ending] // across(archives) // 20 * 20
    return max(SMALLEST, min(SIZE[ending], fitting))


def write(
    shown: "Replay | Story", out: str | Path, film: Film, progress: Progress | None = None
) -> Path:
    """Write a replay or a story as a film or a page; return the file."""
    how = {"trails": film.trails, "sensors": film.sensors}
    if film.ending == ".html":
        from qed.view.player import write_page

        return write_page(shown, out, speed=film.speed, **how)
    scene: Scene
    if isinstance(shown, Replay):
        from qed.view.stage import ReplayStage

        scene = ReplayStage(shown, film.size, speed=film.speed, **how)
    else:
        from qed.view.story_stage import StoryStage

        scene = StoryStage(shown, film.size, **how)
        film = replace(film, sections=shown.sections)  # a search may end before its budget
    return film.shoot(scene, out, progress)


class Palette:
    """The colours of a gif, chosen from some frames.

    Areas keep theirs, smooth edges share the rest.  Pillow's own look-up rounds colours to steps
    of 4 and mixes up neighbouring ones; this one finds the nearest, once for each colour.
    """

    def __init__(self, frames: Sequence[Image.Image]) -> None:
        wide, high = frames[0].size
        sheet = Image.new("RGB", (wide, high * len(frames)))
        for k, frame in enumerate(frames):
            sheet.paste(frame, (0, k * high))
        found, counts = np.unique(_packed(sheet), return_counts=True)
        areas = _unpacked(found[np.argsort(-counts, kind="stable")[:KEPT_COLOURS]])
        shared = sheet.quantize(EDGE_COLOURS, method=Image.Quantize.MEDIANCUT).getpalette() or []
        self.colours = np.concatenate([areas, np.reshape(shared, (-1, 3))]).astype(np.int64)
        self._index = np.full(1 << 24, UNKNOWN, np.int16)

    def apply(self, frame: Image.Image) -> Image.Image:
        """Return a frame in these colours."""
        packed = _packed(frame)
        index = self._index[packed]
        new = np.unique(packed[index == UNKNOWN])
        if len(new):
            apart = _unpacked(new)[:, None] - self.colours
            self._index[new] = (apart * apart).sum(-1).argmin(1)
            index = self._index[packed]
        image = Image.fromarray(index.astype(np.uint8))
        image.putpalette(self.colours.astype(np.uint8).tobytes())
        return image


def _packed(image: Image.Image) -> np.ndarray:
    """Return each pixel as one number."""
    pixels = np.asarray(image).astype(np.int32)
    packed: np.ndarray = pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2]
    return packed


def _unpacked(colours: np.ndarray) -> np.ndarray:
    """Return red, green and blue of such numbers (n, 3)."""
    return np.stack([colours >> 16 & 255, colours >> 8 & 255, colours & 255], -1).astype(np.int64)


def _why(message: str, status: int) -> OSError:
    """Return why ffmpeg could not write a file, as the system says it."""
    for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS, errno.EIO):
        if os.strerror(code) in message:
            return OSError(code, os.strerror(code))
    lines = message.strip().splitlines()
    return OSError(f"ffmpeg ended with status {status}{': ' if lines else ''}{''.join(lines[:1])}")


def _encoding(scene: Scene, fps: int, path: Path) -> list[str]:
    """Return the command that makes H.264 of raw frames, the same bytes from the same frames."""
    import imageio_ffmpeg

    try:
        program = imageio_ffmpeg.get_ffmpeg_exe()
    except RuntimeError as error:
        raise StoppedError(f"no ffmpeg to write mp4 with ({error}); gif and html work") from error
    options = f"""
        -y -loglevel error -f rawvideo -pix_fmt rgb24 -s {scene.width}x{scene.height} -r {fps} -i -
        -an -vf scale=out_color_matrix=bt709:out_range=tv -c:v libx264 -preset veryfast -crf 23
        -pix_fmt yuv420p -colorspace bt709 -color_primaries bt709 -color_trc bt709 -threads 2
        -movflags +faststart -map_metadata -1 -fflags +bitexact -flags:v +bitexact -f mp4
    """
    return [program, *options.split(), str(path.absolute())]
