"""Deal the pages out to the processes that read them, so that none is left with all that is run.

Sphinx hands them out in parts of the alphabet, and most of what takes long is in the last one.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx
from sphinx.util.parallel import make_chunks

# How long it takes to run a page (s), where that is long, and to read any other.
LONG = {
    "start": 29.0,
    "tutorials/cluster_and_gpu": 14.0,
    "tutorials/trust": 10.0,
    "tutorials/own_task": 10.0,
    "index": 9.0,
    "tutorials/emitters": 9.0,
    "tutorials/recover": 8.0,
    "how/algorithms": 8.0,
    "tutorials/own_domain": 7.0,
    "how/world": 6.0,
    "how/recovery": 4.0,
}
OTHER = 0.2


def deal(sphinx: Sphinx, _: Any, pages: list[str]) -> None:
    """Put the pages in an order in which all parts take about as long."""
    rooms = [len(part) for part in make_chunks(pages, sphinx.parallel)]
    parts: list[list[str]] = [[] for _ in rooms]
    taken = [0.0 for _ in rooms]
    for page in sorted(pages, key=lambda page: -LONG.get(page, OTHER)):
        free = (k for k, room in enumerate(rooms) if len(parts[k]) < room)
        least = min(free, key=lambda k: taken[k])
        parts[least].append(page)
        taken[least] += LONG.get(page, OTHER)
    pages[:] = [page for part in parts for page in part]


def setup(sphinx: Sphinx) -> dict[str, Any]:
    """Tell Sphinx when to do so."""
    sphinx.connect("env-before-read-docs", deal)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
