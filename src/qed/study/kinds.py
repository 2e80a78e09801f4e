"""The kinds of faults that a study counts, and the columns of its tables that have the counts."""

from __future__ import annotations

from qed.swarm.faults import Faults, kinds

KINDS = {
    "proximity": "proximity_faults",
    "range-and-bearing": "rab_faults",
    "wheel": "wheel_faults",
}
ANY = "any"
COLUMNS = {**KINDS, ANY: "any_faults"}  # of the recoveries: robots with such a fault


def counts(faults: Faults) -> tuple[int, ...]:
    """Return how many robots have a fault of each kind, and any, in the order of ``COLUMNS``."""
    return *kinds(faults), len(faults) - faults.names.count("NONE")
