"""Files that are damaged, or made to do harm: readers must refuse them, or read sense."""

from __future__ import annotations

import io
import json
import random
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

from qed.cli import app
from qed.errors import InputError, StoppedError
from qed.text import toml

ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**31, 2**63, 10**30, 1e308, -1e308, 5e-324, 0.5, "", "x", "\x1b[2J\r\n",
    "[bold]x[/bold]", "é" * 5000, "../../etc/passwd", [], {}, [[]], [None], {"a": {"b": []}},
    [1] * 1000, "NaN", {"task": 3},
)  # fmt: skip


def bytes_of(content: bytes, draw: random.Random) -> bytes:
    """Cut a file, change bytes of it, or put others in or at its ends."""
    place, more = draw.randrange(len(content) + 1), draw.randbytes(draw.randrange(1, 40))
    return draw.choice([
        content[:place],
        content[place:],
        content[:place] + more + content[place + len(more) :],
        content[:place] + more + content[place:],
        content[: place // 2] + content[place:],
        bytes(len(content)),
        more,
    ])  # fmt: skip


def table_of(table: Any, draw: random.Random) -> Any:
    """Put something odd in the place of a part of a table, however deep, or leave the part out."""
    if not isinstance(table, dict | list) or not table or draw.random() < 0.15:
        return draw.choice(ODD)
    key = draw.choice(list(table) if isinstance(table, dict) else range(len(table)))
    changed: Any = dict(table) if isinstance(table, dict) else list(table)
    if draw.random() < 0.2:
        del changed[key]
    else:
        changed[key] = table_of(table[key], draw)
    return changed


def array_of(array: np.ndarray, draw: random.Random) -> np.ndarray:
    """Return an array with other numbers, of another type, or of another shape."""
    flat = array.copy().reshape(-1)
    if flat.size and draw.random() < 0.5:
        limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else np.finfo(np.float32)
        odd = [0, 1, -1, limits.max, limits.min, 16, 17, 18, 1000]
        odd += [np.nan, np.inf, -np.inf] if array.dtype.kind == "f" else []
        with np.errstate(all="ignore"):
            flat[draw.randrange(flat.size)] = np.array(draw.choice(odd)).astype(array.dtype)
        return flat.reshape(array.shape)
    return draw.choice([
        array[: len(array) // 2],
        array[:0],
        np.concatenate([array, array]),
        array.reshape(-1),
        array[None],
        array.astype(draw.choice([np.float64, np.int8, np.uint64, np.bool_, np.int32])),
        np.zeros((), array.dtype),
    ])  # fmt: skip


def members_of(content: bytes, draw: random.Random) -> bytes:
    """Change the header or an array of a file of arrays; checksums are right."""
    with zipfile.ZipFile(io.BytesIO(content)) as pack:
        members = {name: pack.read(name) for name in pack.namelist()}
    name = draw.choice(["header.json"] * 3 + list(members))
    if name == "header.json":
        members[name] = json.dumps(table_of(json.loads(members[name]), draw)).encode()
    elif draw.random() < 0.1:
        del members[name]
    else:
        out = io.BytesIO()
        np.save(out, array_of(np.load(io.BytesIO(members[name])), draw))
        members[name] = out.getvalue()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as pack:
        for each, text in members.items():
            pack.writestr(each, text)
    return made.getvalue()


HOW: tuple[Callable[[bytes, random.Random], bytes], ...] = (bytes_of, members_of, members_of)


def damaged(content: bytes, seed: int) -> bytes:
    """Return a file of arrays, damaged in a way that a seed draws."""
    draw = random.Random(seed)
    return draw.choice(HOW)(content, draw)


def text_of(content: bytes, draw: random.Random) -> bytes:
    """Damage a file of settings, or change what it says."""
    if draw.random() < 0.3:
        return bytes_of(content, draw)
    try:
        return toml(table_of(tomllib.loads(content.decode()), draw)).encode()
    except (AttributeError, TypeError):  # TOML cannot say that
        return bytes_of(content, draw)


def told(*words: str | Path) -> tuple[bool, str]:
    """Return whether a command took what it was given, and what it said, which must be harmless."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception and not isinstance(done.exception, InputError | StoppedError | SystemExit):
        raise done.exception
    said = str(done.exception) if done.exception else done.output
    assert said.replace("\n", "").isprintable(), said
    assert done.exception is None or len(said) < 600, said
    return done.exception is None, said
