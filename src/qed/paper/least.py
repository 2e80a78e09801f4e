"""Who loses least after recovery: over all tasks and in each, and how sure that is."""

import pandas as pd

from qed import paper
from qed.paper import QED, measures
from qed.study.blocks import ALL, TASK, Column, Part, Row, Table, listed, rounded
from qed.study.results import Results


def least(results: Results) -> pd.DataFrame:
    """Return QED's median resilience beside the best of the others', by task ("all" first).

    ``better_than`` and ``worse_than`` name the others from which QED differs significantly
    (rank-sum test; Bonferroni's correction over the comparisons of all tasks, or over the others
    where the tasks are together).  Empty without QED or without others.
    """
    made = [measures.comparisons(results, "resilience", together) for together in (True, False)]
    table = pd.concat(made)
    if table.empty or not paper.about(results.tasks):
        return pd.DataFrame()
    rows: list[Row] = []
    for task, found in table.dropna(subset=["qed", "other"]).groupby("task", sort=False):
        best, sure = found.loc[found["other"].idxmax()], found[found["stars"] != ""]
        rows.append(
            {
                "task": task,
                "qed": best["qed"],
                "others": len(found),
                "best_other": best["baseline"],
                "other": best["other"],
                "qed_least": bool(best["qed"] >= best["other"]),
                "better_than": ",".join(sure.loc[sure["delta"] > 0, "baseline"]),
                "worse_than": ",".join(sure.loc[sure["delta"] < 0, "baseline"]),
                "paper_qed_least": _in_paper(str(task), [QED, *found["baseline"]]),
            }
        )
    return pd.DataFrame(rows)


def _in_paper(task: str, names: list[str]) -> bool:
    found = {name: paper.value("resilience", task, name) for name in names}
    values = {name: pair[0] for name, pair in found.items() if pair}
    return QED in values and values[QED] >= max(values.values())


def table(results: Results) -> Table | None:
    """Return the table, if there is anything to compare."""
    frame = least(results)
    if frame.empty:
        return None
    return Table(
        "least-lost",
        "Smallest loss after recovery",
        "Median resilience of QED and of the best other algorithm, on fresh trials, and the "
        "algorithms from which QED differs significantly (rank-sum test, p below 0.05 with "
        "Bonferroni's correction). In the paper QED loses least over all tasks and in each task.",
        frame,
        (TASK,),
        (
            Column("QED", lambda row: Part(rounded(row["qed"], 3))),
            Column("Best other", _other),
            Column("QED loses least", lambda row: Part("yes" if row["qed_least"] else "no")),
            Column("Significantly less than", lambda row: Part(_names(row["better_than"]))),
            Column("Significantly more than", lambda row: Part(_names(row["worse_than"]))),
        ),
    )


def _other(row: Row) -> Part:
    return Part(rounded(row["other"], 3), word=row["best_other"].upper())


def _names(joined: str) -> str:
    return ", ".join(name.upper() for name in joined.split(",")) if joined else "none"


def sentences(results: Results) -> list[str]:
    """Tell where QED loses least, as in the paper, and where it does not."""
    frame = least(results)
    if frame.empty:
        return []
    rows = frame.to_dict("records")
    told = [_together(row) for row in rows if row["task"] == ALL]
    return [*told, _apart([row for row in rows if row["task"] != ALL])]


def _together(row: Row) -> str:
    if row["qed_least"]:
        sure = f"significantly less than {listed(_upper(row['better_than']))}"
        how = sure if row["better_than"] else "but not significantly less than any other"
        return (
            "Over all tasks QED loses least after recovery, as in the paper: median resilience "
            f"{row['qed']:.3f}, next {row['best_other'].upper()} with {row['other']:.3f}; {how}."
        )
    return (
        f"Over all tasks {row['best_other'].upper()} loses least after recovery: median resilience "
        f"{row['other']:.3f}, QED {row['qed']:.3f}. In the paper QED loses least."
    )


def _apart(rows: list[Row]) -> str:
    yes = [row for row in rows if row["qed_least"]]
    sure = [
        row["task"]
        for row in yes
        if row["better_than"] and len(row["better_than"].split(",")) == row["others"]
    ]
    no = [row for row in rows if not row["qed_least"]]
    told = f"By task, QED loses least in {len(yes)} of {len(rows)}"
    told += f" ({listed(row['task'] for row in yes)}" if yes else ""
    if yes:
        told += f"; significantly less than all others in {listed(sure)})" if sure else (
            "; in none significantly less than all others)"
        )  # fmt: skip
    if no:
        parts = [
            f"{row['best_other'].upper()} in {row['task']}"
            + (" (significantly)" if row["best_other"] in row["worse_than"].split(",") else "")
            for row in no
        ]
        told += f". {listed(parts)} {'loses' if len(no) == 1 else 'lose'} less than QED"
    return f"{told}. In the paper QED loses least in all five tasks."


def _upper(joined: str) -> list[str]:
    return [name.upper() for name in joined.split(",")]
