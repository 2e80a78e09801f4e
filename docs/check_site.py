"""Find dead links in a built site, and what its pages would load from the network.

    python docs/check_site.py docs/_build/html

Links to other sites are not followed: they are for readers to click.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads by itself, and by which attribute.
LOADED = {
    ("script", "src"), ("img", "src"), ("img", "srcset"), ("iframe", "src"), ("source", "src"),
    ("source", "srcset"), ("video", "src"), ("video", "poster"), ("audio", "src"),
    ("embed", "src"), ("object", "data"), ("input", "src"), ("use", "href"), ("image", "href"),
}  # fmt: skip
# Of <link>: what is loaded at once; others, such as "next", are for navigation.
LOADED_LINKS = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "manifest"}
STYLE = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")
NETWORK = ("http://", "https://", "//")


@dataclass
class Page(HTMLParser):
    """What a page refers to, loads, and can be referred to by."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    inside: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element refers to."""
        self.inside = tag
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        for name, value in given.items():
            if (tag, name) in LOADED:
                parts = value.split(",") if name == "srcset" else [value]
                self.loads += [part.split()[0] for part in parts if part.split()]
        if tag == "link" and LOADED_LINKS & set(given.get("rel", "").split()):
            self.loads.append(given.get("href", ""))
        if tag in ("a", "area") and "href" in given:
            self.links.append(given["href"])
        if "style" in given:
            self.loads += in_style(given["style"])
        if "srcdoc" in given:  # a page inside the page
            inner = Page()
            inner.feed(given["srcdoc"])
            self.loads += inner.loads

    def handle_data(self, data: str) -> None:
        """Note what a style sheet inside the page loads."""
        if self.inside == "style":
            self.loads += in_style(data)

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        self.inside = ""


def in_style(text: str) -> list[str]:
    """Return what a style sheet loads."""
    return [one or other for one, other in STYLE.findall(text)]


def read(path: Path) -> Page:
    """Return a page."""
    page = Page()
    page.feed(path.read_text("utf-8"))
    return page


def check(root: Path) -> list[str]:
    """Return what is wrong with a site."""
    pages = {path.resolve(): read(path) for path in sorted(root.rglob("*.html"))}
    wrong = [] if pages else [f"{root} holds no page"]
    for path, page in pages.items():
        about = path.relative_to(root.resolve())
        for load in page.loads:
            if load.startswith(NETWORK):
                wrong.append(f"{about}: loads {load} from the network")
            elif not load.startswith(("data:", "#")):
                wrong += [f"{about}: {one}" for one in _dead(load, path, pages)]
        for link in page.links:
            if not urlsplit(link).scheme and not link.startswith("//"):
                wrong += [f"{about}: {one}" for one in _dead(link, path, pages)]
    for sheet in sorted(root.rglob("*.css")):
        loads = in_style(sheet.read_text("utf-8"))
        wrong += [f"{sheet.relative_to(root)}: loads {load} from the network" for load in loads
                  if load.startswith(NETWORK)]  # fmt: skip
    return list(dict.fromkeys(wrong))


def _dead(link: str, path: Path, pages: dict[Path, Page]) -> list[str]:
    """Return what is wrong with a link of a page, if anything."""
    parts = urlsplit(link)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return [f"dead link {link}"]
    wanted = unquote(parts.fragment)
    if wanted and target in pages and wanted not in pages[target].ids:
        return [f"{link} leads to no place of that page"]
    return []


def main() -> None:
    """Check a site; exit with 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path)
    site = parser.parse_args().site
    wrong = check(site)
    print(f"{site}: {len(list(site.rglob('*.html')))} pages, {len(wrong)} errors")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
