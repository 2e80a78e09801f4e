"""Publish a finished study in the repository: a page, its figures, and its tables as CSV.

    python benchmarks/publish_study.py STUDY [docs/results] [--name study]

Writes NAME.md and the folder NAME/ into the target; all numbers come from STUDY/tables.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from qed.study import report

DOCS = Path(__file__).parent.parent / "docs" / "results"


def main() -> None:
    """Publish the study that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("study", type=Path, help="folder of a finished study")
    parser.add_argument("target", type=Path, nargs="?", default=DOCS, help="default: docs/results")
    parser.add_argument("--name", default=report.STUDY, help="of the page (default: study)")
    given = parser.parse_args()
    page = report.publish(given.study, given.target, name=given.name)
    beside = sorted(page.with_suffix("").iterdir())
    size = sum(path.stat().st_size for path in beside)
    print(f"{page}, and {len(beside)} files of {size / 1e6:.1f} MB beside it")


if __name__ == "__main__":
    main()
