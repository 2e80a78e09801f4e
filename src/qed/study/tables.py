"""The tables of a study's report; what stands beside the paper's numbers is in ``qed.paper``."""

from __future__ import annotations

import pandas as pd

from qed.paper import least
from qed.paper import tables as paper_tables
from qed.study import beyond_report, work
from qed.study.blocks import ALGORITHM, ALL, Key, Table, plain, spread
from qed.study.results import Results
from qed.study.selection_bias import bias_table
from qed.study.statistics import by_count, pearson


def tables(results: Results) -> list[Table]:
    """Return the tables that the results suffice for, in the order of the report."""
    made = [
        paper_tables.maps_table(results),
        *paper_tables.recovery_tables(results, paper_tables.FRESH),
        bias_table(results),
        *paper_tables.recovery_tables(results, paper_tables.CLAIMED),
        paper_tables.coverage_table(results),
        paper_tables.slopes_table(results),
        _fault_kinds(results),
        _fault_correlations(results),
        least.table(results),
        beyond_report.table(results),
    ]
    return [table for table in made if table is not None and len(table.frame)]


def _fault_kinds(results: Results) -> Table:
    """Impact against the number of robots with each kind of fault."""
    recoveries = results.recoveries
    rows = [
        {"kind": kind, "robots": robots, "n": n, "impact": median, "impact_iqr": iqr}
        for kind, column in work.KINDS_AND_ANY.items()
        for robots, n, median, iqr in by_count(recoveries[column], recoveries["impact"])
    ]
    return Table(
        "fault-kinds",
        "Impact by number of robots with each kind of fault",
        "Median ± IQR over all tasks and algorithms. The paper finds no direct relation.",
        pd.DataFrame(rows),
        (Key("Fault", "kind", str.capitalize), Key("Robots", "robots")),
        (spread("Impact", "impact", "iqr")._replace(paper=None), plain("n", "n", 0)),
    )


def _fault_correlations(results: Results) -> Table:
    """Correlation of impact with the number of robots with each kind of fault."""
    groups = [*results.by_algorithm(results.recoveries), (ALL, results.recoveries)]
    rows = [
        {"algorithm": algorithm, "n": len(recoveries)}
        | {
            kind: pearson(recoveries[column], recoveries["impact"])
            for kind, column in work.KINDS_AND_ANY.items()
        }
        for algorithm, recoveries in groups
        if len(recoveries)
    ]
    return Table(
        "fault-correlations",
        "Correlation of impact with the number of robots with each kind of fault",
        "Pearson correlation over all tasks. Below 0, more such faults cost more performance.",
        pd.DataFrame(rows),
        (ALGORITHM,),
        (
            *(plain(kind.capitalize(), kind) for kind in work.KINDS_AND_ANY),
            plain("n", "n", 0),
        ),
    )
