"""Evolution: MAP-Elites with environments or behaviours as cells, for any domain.

domain      Domain: what is evolved; Batch: what waits for evaluation
map_elites  MapElites: a search; search: to its end, in memory
run         Run: a search in a folder that can be resumed; drive: evolve runs side by side
watch       the same, with a progress bar
folder      the files of a run
record      what makes a run of any domain
swarms      robot swarms as a domain
swarm_run   Settings, SwarmRun: runs of swarms
algorithms  what QED, HBD, SDBC and SPIRIT differ in
evolve      evolve(): an archive of controllers for a task
"""

from qed.evolution.domain import Batch, Domain, SideBySide
from qed.evolution.map_elites import MapElites, search
from qed.evolution.run import Run, drive
from qed.evolution.watch import watch

__all__ = ["Batch", "Domain", "MapElites", "Run", "SideBySide", "drive", "search", "watch"]
