"""Where things lie in a study's folder: every name of a file or a folder of it stands here.

study.toml      what makes the study, and the versions that began it
runs/           one folder a run, TASK-ALGORITHM-REPLICATE
    archive.npz        the map (and the other files of a run)
    normal.npz         fitness of each solution in the normal environment
    recovery-0.csv     one row a combined fault; so many faults a file
    kit.npz            the map's kit, and beyond-4.csv what it does in four faults, where asked for
tables/         tidy tables with one row a measurement, and the tables of the report
figures/        the figures of the report
report.html     all of it on one page
failures.txt    runs that failed, and why, if any did
"""

from pathlib import Path

from qed.study.plan import Name

SETTINGS = "study.toml"
REPORT = "report.html"
FAILURES = "failures.txt"
FIGURES = "figures"
NORMAL = "normal.npz"
KIT = "kit.npz"
NOTES = "kit-notes.npz"  # what was simulated for a kit that is not finished


def run(study: Path, name: Name) -> Path:
    """Return the folder of a run."""
    return study / "runs" / str(name)


def recovery(batch: int) -> str:
    """Return the name of a run's file with a batch of faults."""
    return f"recovery-{batch}.csv"


def beyond(faults: int) -> str:
    """Return the name of a run's file with what goes beyond the paper, in so many faults."""
    return f"beyond-{faults}.csv"


def tables(study: Path) -> Path:
    """Return the folder of tables."""
    return study / "tables"


def table(study: Path, name: str, ending: str = "csv") -> Path:
    """Return the file of a table."""
    return tables(study) / f"{name}.{ending}"
