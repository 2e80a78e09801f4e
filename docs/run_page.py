"""Run what a page tells its reader to type, and compare what comes out with the page.

    python docs/run_page.py docs/start.md                    with the qed of this Python
    python docs/run_page.py docs/start.md --wheel FILE.whl   as a stranger: install the wheel, too

Blocks of ``console`` hold commands after ``$`` and what they print; a block of ``python`` is run as
a script, and a block of ``text`` after it is what it prints.  All of them are run in one shell, in
a new folder.  Numbers may differ by one in the last digit shown, spaces do not count.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(console|python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INSTALLS = re.compile(r"^\$ (python3 -m venv|pip install)", re.MULTILINE)
NUMBER = re.compile(r"[-+−]?\d[\d,]*\.?\d*")


@dataclass
class Step:
    """A line of shell, and what the page says that it prints (None: it does not say)."""

    command: str
    printed: str | None


def steps(page: str, install: bool) -> Iterator[Step]:
    """Yield what a page tells its reader to do; without ``install`` all but that block."""
    scripts = 0
    found = list(FENCE.finditer(page))
    for place, block in enumerate(found):
        kind, text = block[1], block[2]
        if kind == "console" and (install or not INSTALLS.search(text)):
            yield from _console(text)
        elif kind == "python":
            scripts += 1
            after = found[place + 1] if place + 1 < len(found) else None
            printed = after[2] if after is not None and after[1] == "text" else None
            yield Step(f"cat > page-{scripts}.py <<'END'\n{text}END", None)
            yield Step(f"python page-{scripts}.py", printed)


def _console(text: str) -> Iterator[Step]:
    """Yield the commands of a block, each with the lines below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield Step(command, printed if printed.strip() else None)


def differences(wanted: str, printed: str) -> list[str]:
    """Return what a page says and a command did not print, word by word."""
    here, there = wanted.split(), printed.split()
    if len(here) != len(there):
        return [f"the page has {len(here)} words, the command printed {len(there)}"]
    return [f"{a} on the page, {b} printed" for a, b in zip(here, there, strict=True) if a != b
            and not _near(a, b)]  # fmt: skip


def _near(one: str, other: str) -> bool:
    """Tell whether two words differ only in the last digits of their numbers, by one."""
    numbers = [NUMBER.findall(word) for word in (one, other)]
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    return all(_unit(a) == _unit(b) and abs(_value(a) - _value(b)) <= 1.01 * _unit(a)
               for a, b in zip(*numbers, strict=True))  # fmt: skip


def _value(number: str) -> float:
    return float(number.replace("−", "-").replace(",", ""))


def _unit(number: str) -> float:
    """Return one in the last digit of a number that has a point; whole numbers are exact."""
    _, point, digits = number.partition(".")
    return 10.0 ** -len(digits) if point else 0.0


def run(todo: list[Step], folder: Path, path: str) -> list[str]:
    """Run steps in one shell; return what is wrong."""
    lines = ["set -eu"]
    for place, step in enumerate(todo):
        lines += [f"echo {place} > .step", f"{{\n{step.command}\n}} > .out-{place}"]
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)], cwd=folder, env=os.environ | {"PATH": path}, check=False,
        text=True, stderr=subprocess.PIPE,
    )  # fmt: skip
    if done.returncode:
        last = todo[int((folder / ".step").read_text())]
        return [f"{last.command.splitlines()[0]} failed:\n{done.stderr}"]
    wrong = []
    for place, step in enumerate(todo):
        if step.printed is not None:
            printed = (folder / f".out-{place}").read_text("utf-8")
            found = differences(step.printed, printed)
            wrong += [f"{step.command}: {one}" for one in found]
    return wrong


def main() -> None:
    """Run a page; exit with 1 if it does not do what it says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--wheel", type=Path, help="install this, as the page says")
    given = parser.parse_args()
    todo = list(steps(given.page.read_text("utf-8"), install=given.wheel is not None))
    path = os.environ["PATH"]
    with tempfile.TemporaryDirectory() as name:
        if given.wheel is None:
            path = os.pathsep.join([str(Path(sys.executable).parent), path])
        else:
            shutil.copy(given.wheel, name)
        wrong = run(todo, Path(name), path)
    print(f"{given.page}: {len(todo)} steps, {len(wrong)} differences")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
