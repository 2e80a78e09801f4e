"""What a page tells its reader to type, found, run and compared."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from site_scripts import DOCS, script

page = script("run_page")

INSTALL = """
```console
$ python3 -m venv env
$ pip install thing.whl
```
"""
PAGE = """
Text.

```console
$ echo three  0.25
three 0.25
$ cd /
```

```python
print(0.5 + 0.25)
```

```text
0.75
```
"""


def test_steps_are_found_in_order() -> None:
    found = list(page.steps(INSTALL + PAGE, install=True))
    assert [step.command.split("\n")[0] for step in found] == [
        "python3 -m venv env",
        "pip install thing.whl",
        "echo three  0.25",
        "cd /",
        "cat > page-1.py <<'END'",
        "python page-1.py",
    ]
    assert [step.printed for step in found[2:]] == ["three 0.25\n", None, None, "0.75\n"]


def test_installing_can_be_left_out() -> None:
    found = list(page.steps(INSTALL + PAGE, install=False))
    assert found == list(page.steps(PAGE, install=True))


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("a  b\n", "a b"),
        ("fitness 0.25", "fitness 0.26"),
        ("(-1.5 %)", "(-1.6 %)"),
        ("(−35.0 %)", "(−35.1 %)"),
    ],
)
def test_rounding_and_spaces_do_not_count(here: str, there: str) -> None:
    assert page.differences(here, there) == []


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("fitness 0.25", "fitness 0.27"),
        ("cell 12", "cell 13"),
        ("+0.10", "-0.10"),
        ("0.25", "0.250"),
        ("kept", "found"),
        ("one", "one two"),
    ],
)
def test_differences_are_said(here: str, there: str) -> None:
    assert page.differences(here, there)


def ran(text: str, folder: Path) -> list[str]:
    found: list[str] = page.run(list(page.steps(text, install=True)), folder, os.environ["PATH"])
    return found


def test_a_page_is_run_in_one_shell(tmp_path: Path) -> None:
    assert ran("```console\n$ one=1\n$ echo $one\n1\n```", tmp_path) == []


def test_what_a_page_says_otherwise_is_found(tmp_path: Path) -> None:
    assert ran("```console\n$ echo 2\n1\n```", tmp_path) == ["echo 2: 1 on the page, 2 printed"]


def test_a_command_that_fails_is_named(tmp_path: Path) -> None:
    [wrong] = ran("```console\n$ echo fine\n$ ls nowhere\n$ echo unseen\n```", tmp_path)
    assert wrong.startswith("ls nowhere failed:")


def test_the_start_page_says_what_its_commands_print() -> None:
    found = list(page.steps((DOCS / "start.md").read_text("utf-8"), install=True))
    told = {step.command.split()[0]: step.printed for step in found}
    assert {"pip", "qed", "python"} <= told.keys()
    assert all(told[name] for name in ("qed", "python"))
