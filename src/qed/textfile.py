"""What text files of runs and studies say: settings as TOML, and who made them."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from qed import __version__


def toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Return tables of strings, numbers and lists of them as TOML."""
    blocks = []
    for name, table in tables.items():
        lines = [f"{_key(key)} = {_value(value)}" for key, value in table.items()]
        blocks.append("\n".join([f"[{_key(name)}]", *lines]))
    return "\n\n".join(blocks) + "\n"


def _key(name: str) -> str:
    """Return a key as it is, or in quotes where TOML wants them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    """Return a string, a number, or a list of them as TOML.

    What JSON writes for them is TOML as well, but for its escapes beyond 16 bits.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text.replace("\x7f", "\\u007f")


def made_by() -> dict[str, str]:
    """Return the versions of what makes results here."""
    return {
        "qed": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "system": f"{platform.system()} {platform.machine()}",
    }
