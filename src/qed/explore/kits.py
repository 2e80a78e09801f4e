"""A small kit for an archive that has none: a minute instead of several."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, replace
from hashlib import sha256

from qed.compile import user_cache
from qed.explore.jobs import Stream
from qed.explore.sources import Shown
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.prepare import Effort, digest_of, prepare

SMALL = Effort(
    surveyed=3, candidates=128, screened=16, controllers=32, faults=32, elsewhere=0, trials=3,
    validation=2, portfolio=20,
)  # fmt: skip


def prepared(one: Shown, stream: Stream) -> Shown:
    """Return an archive with a kit: from the user's cache, or learned now."""
    if one.kit is not None:
        return one
    settings = digest_of(one.archive), str(one.task), one.seconds, asdict(SMALL)
    name = sha256(repr(settings).encode()).hexdigest()[:16]
    path = user_cache() / "kits" / f"{name}.npz"
    with suppress(ValueError, OSError):
        return replace(one, kit=Kit.load(path), kit_source=str(path))
    stream.tell({"kind": "phase", "words": "Learning a small kit from simulated faults."})

    def progress(done: int, total: int) -> None:
        stream.tell({"kind": "tried", "cells": [], "fitness": [], "done": done, "total": total})
        stream.give_way()

    with stream.turn():
        kit = prepare(one.archive, one.task, seconds=one.seconds, effort=SMALL, progress=progress)
    with suppress(OSError):  # without a cache it is learned again next time
        path.parent.mkdir(parents=True, exist_ok=True)
        kit.save(path)
    return replace(one, kit=kit, kit_source=str(path))
