"""Dead links, and what would be loaded from the network."""

from __future__ import annotations

from pathlib import Path

import pytest
from site_scripts import script

check = script("check_site").check


def site(folder: Path, body: str, other: str = '<p id="here">there</p>') -> list[str]:
    (folder / "index.html").write_text(f"<html><body>{body}</body></html>")
    (folder / "other.html").write_text(other)
    return check(folder)


@pytest.mark.parametrize(
    "body",
    [
        '<a href="other.html">',
        '<a href="other.html#here">',
        '<a href="#me"></a><p id="me">',
        '<a href="https://example.org/nowhere">',
        '<img src="data:image/png;base64,AAAA">',
        '<iframe srcdoc="&lt;p&gt;hello&lt;/p&gt;">',
        '<link rel="next" href="other.html">',
    ],
)
def test_good_pages_pass(tmp_path: Path, body: str) -> None:
    assert site(tmp_path, body) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="nowhere.html">', "dead link nowhere.html"),
        ('<a href="other.html#nowhere">', "leads to no place"),
        ('<a href="#nowhere">', "leads to no place"),
        ('<img src="missing.png">', "dead link missing.png"),
        ('<script src="https://example.org/a.js"></script>', "from the network"),
        ('<img srcset="//example.org/a.png 2x">', "from the network"),
        ('<link rel="stylesheet" href="https://example.org/a.css">', "from the network"),
        ('<p style="background: url(https://example.org/a.png)">', "from the network"),
        ("<style>@import 'https://example.org/a.css';</style>", "from the network"),
        ('<iframe srcdoc="&lt;img src=https://example.org/a.png&gt;">', "from the network"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, body: str, said: str) -> None:
    [wrong] = site(tmp_path, body)
    assert wrong.startswith("index.html: ")
    assert said in wrong


def test_style_sheets_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("@font-face { src: url(https://example.org/font.woff2) }")
    [wrong] = site(tmp_path, "")
    assert wrong == "a.css: loads https://example.org/font.woff2 from the network"


def test_a_site_has_pages(tmp_path: Path) -> None:
    assert check(tmp_path) == [f"{tmp_path} holds no page"]
