"""Compile the simulator before pages are run, so that none of them tells that it is compiled."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

import qed


def warm(_: Sphinx) -> None:
    """Use what is compiled once, in the smallest way."""
    qed.trace(qed.Controller.random(seed=1), seconds=1.0)
    qed.evolve("patrolling", "qed", evaluations=4, initial=2, batch=2, trials=1, seconds=1.0)


def setup(sphinx: Sphinx) -> dict[str, Any]:
    """Tell Sphinx when to do so."""
    sphinx.connect("builder-inited", warm)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
