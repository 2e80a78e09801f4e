"""Evolution: MAP-Elites with environments or behaviours as cells, for any domain.

domain          Domain: what is evolved; Batch: solutions to evaluate
map_elites      MapElites: a search; search: to its end, in memory
run             Run: a search in a folder that can be resumed; run_side_by_side: evolve runs
folder          the files of a run
progress        watch: evolve runs, with a progress bar
swarms          Swarms: robot swarms as a domain
early_stopping  which children can no longer win
algorithms      what QED, HBD, SDBC and SPIRIT differ in
evolve          evolve(): an archive of controllers for a task
"""

from typing import NoReturn

from qed.evolution.domain import Batch, Domain, SideBySide
from qed.evolution.map_elites import MapElites, search
from qed.evolution.progress import watch
from qed.evolution.run import Run, run_side_by_side

__all__ = [
    "Batch",
    "Domain",
    "MapElites",
    "Run",
    "SideBySide",
    "run_side_by_side",
    "search",
    "watch",
]


def __getattr__(name: str) -> NoReturn:
    """Tell the new name of what was renamed."""
    new = "; it is now run_side_by_side" if name == "drive" else ""
    raise AttributeError(f"module 'qed.evolution' has no attribute {name!r}{new}")
