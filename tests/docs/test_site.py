"""The site builds without a warning, links to nothing that is not there, and fits any screen.

``QED_SITE`` may say where ``make docs`` has built it, with its pages run.  Otherwise it is
built here, where its pages are not run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from browser import Browser
from site_scripts import DOCS, script

import qed
import qed.evolution
from qed.cli import VERBS

PAGES = ("index.html", "start.html", "reference/command.html", "reference/names/qed.recover.html",
         "results/transfer.html", "architecture.html")  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if built := os.environ.get("QED_SITE"):
        return Path(built).resolve()
    folder = tmp_path_factory.mktemp("site")
    # ``make docs`` may build from the same folder meanwhile, and pages of names are made in it.
    shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns("_build", "names"))
    for name in ("CHANGELOG.md", "CONTRIBUTING.md", "benchmarks", "src"):
        (folder / name).symlink_to(DOCS.parent / name)
    # A page that is not run does not know that its cells are IPython's, with "!" and "%".
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--nitpicky",
         "--quiet", "-D", "nb_execution_mode=off",
         "-D", "suppress_warnings=misc.highlighting_failure",
         "-d", str(folder / "doctrees"), str(folder / "docs"), str(folder / "html")],
        capture_output=True, text=True, check=False, env=os.environ | {"NO_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_no_dead_link_and_nothing_from_the_network(site: Path) -> None:
    assert script("check_site").check(site) == []


def test_every_public_name_has_a_page(site: Path) -> None:
    pages = {path.stem.removesuffix("-class") for path in (site / "reference/names").glob("*.html")}
    public = {f"qed.{name}" for name in qed.__all__}
    public |= {f"qed.evolution.{name}" for name in qed.evolution.__all__}
    assert public <= pages


def test_every_verb_and_option_is_told(site: Path) -> None:
    told = (site / "reference/command.html").read_text("utf-8")
    assert {f'id="qed-{verb}"' for verb in VERBS} <= set(re.findall(r'id="qed-\w+"', told))
    assert "--no-reset" in told


def test_names_of_qed_are_links(site: Path) -> None:
    told = (site / "tutorials/recover.html").read_text("utf-8")
    assert "../reference/names/qed.trace.html#qed.trace" in told


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 1440])
def test_pages_fit_the_screen(site: Path, browser: Browser, width: int, dark: bool) -> None:
    for page in PAGES:
        browser.open(site / page, width, dark=dark)
        # A phone widens its window for what is too wide, so the text is asked as well.
        for element in ("document.documentElement", "document.querySelector('article')"):
            assert browser.evaluate(f"{element}.scrollWidth") <= width, page
        assert browser.complaints() == []


def test_search_works_without_a_server(site: Path, browser: Browser) -> None:
    browser.open(f"{(site / 'search.html').as_uri()}?q=playbook", 1440)
    browser.until("document.querySelectorAll('ul.search li').length > 0")
