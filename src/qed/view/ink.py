"""Small things to draw with: colours, fonts, badges."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from PIL import Image, ImageColor, ImageDraw, ImageFont

from qed.view.look import INK, sign_of

FINE = 2  # shapes are drawn this many times larger, then averaged down, to be smooth
Colour = tuple[int, ...]


@lru_cache
def colour(name: str, alpha: int = 255) -> Colour:
    """Return a colour like '#e69f00' as numbers; with ``alpha`` below 255 it shines through."""
    red, green, blue = ImageColor.getrgb(name)[:3]
    return (red, green, blue, alpha) if alpha < 255 else (red, green, blue)


@lru_cache
def mixed(one: str, other: str, share: float) -> Colour:
    """Return the colour between two, with so much of the second (0 to 1)."""
    pairs = zip(colour(one), colour(other), strict=True)
    return tuple(round(a + share * (b - a)) for a, b in pairs)


@lru_cache
def font(pixels: int, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Return DejaVu Sans, which comes with matplotlib, so that every machine draws the same."""
    import matplotlib

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name
    # Basic layout does not depend on which shaping library a machine has.
    return ImageFont.truetype(str(path), pixels, layout_engine=ImageFont.Layout.BASIC)


def width(text: str, face: ImageFont.FreeTypeFont) -> int:
    """Return the width of a line of text (pixels)."""
    return round(face.getlength(text))


def wrapped(text: str, face: ImageFont.FreeTypeFont, room: int) -> list[str]:
    """Return a text in lines that fit a width (pixels); a word that is too long is cut."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width(longer, face) <= room:
            lines[-1] = longer
        else:
            lines.append(cut(word, face, room))
    return lines


def cut(text: str, face: ImageFont.FreeTypeFont, room: int) -> str:
    """Return a text that fits a width (pixels): its middle is left out where it is too long."""
    if width(text, face) <= room:
        return text
    for kept in range(len(text) - 1, 0, -1):
        shorter = f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}"
        if width(shorter, face) <= room:
            return shorter
    return "…"


@lru_cache
def badge(fault: str, height: int) -> Image.Image:
    """Return a fault's badge, transparent around, with text so that colour is not all."""
    sign = sign_of(fault)
    face = font(round(0.82 * height), bold=True)
    across = max(width(sign.badge, face) + round(0.36 * height), height)
    fine = 4
    shape = Image.new("RGBA", (fine * across, fine * height))
    ImageDraw.Draw(shape).rounded_rectangle(
        (0, 0, fine * across - 1, fine * height - 1), fine * height // 4,
        fill=sign.colour, outline="white", width=fine,
    )  # fmt: skip
    small = shape.reduce(fine)
    # The middle of capital letters, not of the whole font, is what looks centred.
    capital = -face.getbbox("P", anchor="ls")[1]
    ImageDraw.Draw(small).text(
        (across / 2, (height + capital) / 2), sign.badge, INK, face, anchor="ms"
    )
    return small
