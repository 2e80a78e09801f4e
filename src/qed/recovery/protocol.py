"""On which trials controllers are chosen, and on which the chosen ones are told of.

Whoever did best on some trials was in part lucky there, so a fitness that chose a controller says
too much of it.  Three kinds of trials are kept apart: those that choose the normal best, those
that choose the recovery, and fresh ones, which only the chosen meet.  Within each kind all
controllers meet the same start poses and the same noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from qed import limits
from qed.errors import InputError, choice
from qed.streams import evolution_trials, stream

INDEPENDENT, AUTHORS = "independent", "authors"
PROTOCOLS = {
    INDEPENDENT: "controllers are chosen on trials of their own",
    AUTHORS: "they are chosen on the trials of evolution, as the paper's authors did",
}


class Streams(NamedTuple):
    """Seeds of the three kinds of trials."""

    normal: int  # choose the normal best
    broken: int  # choose the recovery
    fresh: int  # tell of the chosen


def streams(
    seed: int, protocol: str = INDEPENDENT, header: Mapping[str, Any] | None = None
) -> Streams:
    """Return the seeds of trials; the authors' way needs the header of the archive."""
    seed = limits.seed(seed)
    fresh = stream("fresh", seed)
    if choice("protocol", protocol, PROTOCOLS) == INDEPENDENT:
        return Streams(stream("choose: normal", seed), stream("choose: broken", seed), fresh)
    seen = evolution_trials(header or {})
    if seen is None:
        raise InputError(
            "protocol: the archive does not record the trials of its evolution, which "
            "'authors' needs; use 'independent'"
        )
    return Streams(seen, seen, fresh)
