"""The tables: every number by other means, and every form of a table well formed."""

from __future__ import annotations

import io
import math
import re
import statistics as plain
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from made_up import results as made_up
from scipy import stats

from qed.study.blocks import DASH, MINUS, Key, Part, Table, rounded
from qed.study.plan import PRESETS
from qed.study.report import tables
from qed.study.results import PROGRESS, RECOVERIES, RUNS, Results
from qed.study.selection_bias import bias

NAMES = [
    "by-map",
    "qed-by-map",
    "mechanism",
    "recovery-cells",
    "table-s1",
    "table-s2",
    "table-s3a",
    "table-s3b",
    "table-selection-bias",
    "table-s2-claimed",
    "table-s3a-claimed",
    "table-s3b-claimed",
    "maps",
    "slopes",
    "fault-kinds",
    "fault-correlations",
    "table-beyond",
]
nan = math.nan


def run(task, algorithm, replicate, coverage, best, average, projected, diversity):
    return (task, algorithm, replicate, 4096, coverage, 0.5, 0.55, 0.4, best, best + 0.05, average,
            projected, diversity / 4, diversity)  # fmt: skip


def recovery(task, algorithm, fault, kinds, impact, resilience, performance, distance):
    claimed = (1.1, 1 + impact, 1.05 + resilience, impact - 0.1, resilience + 0.02,
               performance + 0.05)  # fmt: skip
    return (task, algorithm, 1, fault, "NONE", *kinds, sum(kinds), 1.0, 1 + impact, 1 + resilience,
            impact, resilience, performance, *claimed, distance, 0, 1)  # fmt: skip


def small(runs, recoveries, tasks=("dispersion",), algorithms=("qed", "hbd")) -> Results:
    return Results(
        {"tasks": list(tasks), "algorithms": list(algorithms)},
        pd.DataFrame(runs, columns=RUNS),
        pd.DataFrame(recoveries, columns=RECOVERIES),
        pd.DataFrame([], columns=PROGRESS),
    )


FAULTS = [(3, 0, 4), (2, 1, 5), (4, 2, 1), (3, 1, 2)]  # proximity, range-and-bearing, wheel
# Impact, resilience, performance and distance for each; two impacts are beyond -0.5.
SCORES = {
    "qed": [(-0.1, -0.05, 0.9, 0.2), (-0.3, -0.09, 0.8, 0.5), (-0.6, -0.2, 0.7, 0.9),
            (-0.5, -0.07, 0.85, 0.6)],
    "hbd": [(-0.2, -0.08, 0.95, 0.3), (-0.4, -0.3, 0.6, 0.4), (-0.1, -0.1, 0.9, 0.1),
            (-0.9, -0.25, 0.5, 0.2)],
}  # fmt: skip
SMALL = small(
    [
        run("dispersion", "qed", 1, 4096, 0.80, 0.6, 40, 0.60),
        run("dispersion", "qed", 2, 4000, 0.90, 0.7, 51, 0.64),
        run("dispersion", "hbd", 1, 1024, 1.00, 0.5, 20, 0.50),
        run("dispersion", "hbd", 2, 1000, 0.97, 0.4, 25, 0.58),
    ],
    [
        recovery("dispersion", name, k, FAULTS[k], *SCORES[name][k])
        for name in SCORES
        for k in range(4)
    ],
)


def table(results: Results, name: str) -> Table:
    return next(table for table in tables(results) if table.name == name)


def only(results: Results, name: str, **where) -> dict:
    """Return the one row of a table, read from its CSV, that has these values; but not limits."""
    frame = pd.read_csv(io.StringIO(table(results, name).csv()), keep_default_na=False)
    frame = frame[[column for column in frame if not is_limit(column)]]
    for column, value in where.items():
        frame = frame[frame[column] == value]
    (row,) = frame.to_dict("records")
    return row


def is_limit(column: str) -> bool:
    return column.endswith(("_low", "_high")) and not column.startswith("paper_")


def column(name: str, k: int) -> list[float]:
    return [scores[k] for scores in SCORES[name]]


def iqr(values: list[float]) -> float:
    low, _, high = plain.quantiles(values, n=4, method="inclusive")
    return high - low


def p_of(x: list[float], y: list[float]) -> float:
    """Wilcoxon's rank sum, its normal approximation written out; ties share their ranks."""
    both = sorted(x + y)
    ranks = {v: plain.mean(k for k, w in enumerate(both, 1) if w == v) for v in both}
    expected = len(x) * (len(both) + 1) / 2
    z = (sum(ranks[v] for v in x) - expected) / math.sqrt(expected * len(y) / 6)
    return math.erfc(abs(z) / math.sqrt(2))


def correlation(x: list[float], y: list[float]) -> float:
    return plain.correlation(x, y)


def test_maps_in_the_normal_environment():
    assert only(SMALL, "table-s1", algorithm="qed") == pytest.approx(
        {
            "task": "dispersion",
            "algorithm": "qed",
            "n": 2,
            "best_relative_performance": 0.85,
            "best_relative_performance_sd": plain.stdev([0.8, 0.9]),
            "paper_best_relative_performance": 0.84,
            "paper_best_relative_performance_sd": 0.02,
            "average_relative_performance": 0.65,
            "average_relative_performance_sd": plain.stdev([0.6, 0.7]),
            "paper_average_relative_performance": 0.60,
            "paper_average_relative_performance_sd": 0.04,
            "coverage": (1 + 4000 / 4096) / 2,
            "coverage_sd": plain.stdev([1, 4000 / 4096]),
            "paper_coverage": 1.0,
            "paper_coverage_sd": 0.0,
        }
    )
    assert only(SMALL, "table-s1", algorithm="hbd")["best_relative_performance"] == pytest.approx(
        0.985
    )


def test_recovery():
    row = only(SMALL, "table-s2", algorithm="hbd")
    paper = {
        "impact": (-0.25, 0.33),
        "resilience": (-0.12, 0.11),
        "relative_performance": (0.87, 0.11),
    }
    expected = {"algorithm": "hbd", "n": 4}
    for stem, k in (("impact", 0), ("resilience", 1), ("relative_performance", 2)):
        values = column("hbd", k)
        expected |= {stem: plain.median(values), f"{stem}_iqr": iqr(values)}
        expected |= {f"paper_{stem}": paper[stem][0], f"paper_{stem}_iqr": paper[stem][1]}
    assert row == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "stem", "k", "delta", "word", "paper"),
    [
        # Of 16 pairs QED is above in 13 and below in 3; above in 8, below in 7.
        ("table-s3a", "resilience", 1, 10 / 16, "large", (-0.08, 0.0, -0.11, 0.0, 0.55)),
        (
            "table-s3b",
            "relative_performance",
            2,
            1 / 16,
            "negligible",
            (0.77, 0.0, 0.87, 0.0, -0.98),
        ),
    ],
)
def test_qed_against_another(name, stem, k, delta, word, paper):
    ours, theirs = column("qed", k), column("hbd", k)
    assert only(SMALL, name) == pytest.approx(
        {
            "task": "dispersion",
            "baseline": "hbd",
            "n_qed": 4,
            "n": 4,
            f"qed_{stem}": plain.median(ours),
            f"qed_{stem}_iqr": iqr(ours),
            f"paper_qed_{stem}": paper[0],
            f"paper_qed_{stem}_iqr": paper[1],
            stem: plain.median(theirs),
            f"{stem}_iqr": iqr(theirs),
            f"paper_{stem}": paper[2],
            f"paper_{stem}_iqr": paper[3],
            "p": p_of(ours, theirs),
            "stars": "",
            "paper_p_at_most": 0.001,
            "paper_stars": "**",
            "delta": delta,
            "effect": word,
            "paper_delta": paper[4],
            "paper_effect": "large",
        }
    )


def test_what_the_paper_finds_neither_significant_nor_large():
    whole = STUDIES["all tasks"]
    row = only(whole, "table-s3a", task="aggregation", baseline="hbd")
    assert (row["paper_p_at_most"], row["paper_stars"]) == (0.396, "")
    row = only(whole, "table-s3a", task="aggregation", baseline="sdbc")
    assert (row["paper_delta"], row["paper_effect"]) == (0.43, "not large")
    assert '<span class="paper">paper 0.43</span>' in table(whole, "table-s3a").html()
    assert '<span class="paper">paper p=0.396</span>' in table(whole, "table-s3a").html()


def test_stars_depend_on_the_comparisons_made():
    # Every QED above every other: z is the same for each comparison.
    def study(tasks, n):
        recoveries = [
            recovery(task, name, k, (1, 1, 1), -0.1, high + k / 100, 0.5, 0.5)
            for task in tasks
            for name, high in (("qed", -0.2), ("hbd", -0.8), ("sdbc", -0.8))
            for k in range(n)
        ]
        runs = [
            run(task, name, 1, 9, 1, 1, 9, 1) for task in tasks for name in ("qed", "hbd", "sdbc")
        ]
        return small(runs, recoveries, tasks, ("qed", "hbd", "sdbc"))

    p = p_of([1, 2, 3, 4, 5], [-1, -2, -3, -4, -5])
    assert 0.05 / 6 < p < 0.05 / 4
    two, three = (study(tasks, 5) for tasks in (["dispersion", "flocking"], ["a", "b", "c"]))
    assert list(table(two, "table-s3a").frame["stars"]) == ["*"] * 4
    assert list(table(three, "table-s3a").frame["stars"]) == [""] * 6
    assert "0.05/4" in table(two, "table-s3a").note
    assert "0.001/6" in table(three, "table-s3b").note
    many = table(study(["dispersion"], 20), "table-s3a")
    assert list(many.frame["stars"]) == ["**"] * 2
    assert "p<0.001&ast;&ast; (paper p<0.001&ast;&ast;)" in many.markdown()
    assert "p&lt;0.001<sup>**</sup>" in many.html()
    assert "**1.00** large (paper **0.55**)" in many.markdown()
    assert '<strong class="large">1.00</strong> large' in many.html()


def test_what_the_maps_hold():
    assert only(SMALL, "maps", algorithm="qed") == pytest.approx(
        {
            "algorithm": "qed",
            "n": 2,
            "filled": 4048,
            "filled_sd": plain.stdev([4096, 4000]),
            "paper_filled": 4094,
            "paper_filled_sd": 2,
            "projected_filled": 45.5,
            "projected_filled_sd": plain.stdev([40, 51]),
            "paper_projected_filled": 49,
            "paper_projected_filled_sd": 20,
            "diversity": 0.155,
            "diversity_sd": plain.stdev([0.15, 0.16]),
            "solution_diversity": 0.62,
            "solution_diversity_sd": plain.stdev([0.60, 0.64]),
            "paper_solution_diversity_low": 0.60,
            "paper_solution_diversity_high": 0.62,
        }
    )
    assert f'<span class="paper">paper 0.60{DASH}0.62</span>' in table(SMALL, "maps").html()


@pytest.mark.parametrize(
    ("name", "of", "k", "slope"),
    [
        ("qed", "resilience on impact", 1, 0.17),
        ("qed", "diversity on impact", 3, -0.98),
        ("hbd", "resilience on impact", 1, 0.19),
        ("hbd", "diversity on impact", 3, -0.66),
    ],
)
def test_slopes_leave_out_what_is_beyond_a_half(name, of, k, slope):
    kept = [scores for scores in SCORES[name] if scores[0] >= -0.5]
    assert len(kept) == 3
    x, y = [scores[0] for scores in kept], [scores[k] for scores in kept]
    line = plain.linear_regression(x, y)
    assert only(SMALL, "slopes", algorithm=name, of=of) == pytest.approx(
        {
            "of": of,
            "algorithm": name,
            "n": 3,
            "left_out": 1,
            "slope": line.slope,
            "paper_slope": slope,
            "intercept": line.intercept,
            "r": correlation(x, y),
        }
    )


def test_impact_by_kind_of_fault():
    frame = table(SMALL, "fault-kinds").frame
    expected = []
    counts = [(*fault, sum(fault)) for fault in FAULTS]
    for k, kind in enumerate(["proximity", "range-and-bearing", "wheel", "any"]):
        for robots in sorted({fault[k] for fault in counts}):
            values = [
                SCORES[name][fault][0]
                for name in SCORES
                for fault in range(4)
                if counts[fault][k] == robots
            ]
            expected.append((kind, robots, len(values), plain.median(values), iqr(values)))
    got = [tuple(row) for row in frame.itertuples(index=False)]
    assert [row[:3] for row in got] == [row[:3] for row in expected]
    for row, other in zip(got, expected, strict=True):
        assert row[3:5] == pytest.approx(other[3:])


def test_correlation_of_impact_with_faults():
    counts = [fault[2] for fault in FAULTS]
    row = only(SMALL, "fault-correlations", algorithm="qed")
    assert row["wheel"] == pytest.approx(correlation(counts, column("qed", 0)))
    row = only(SMALL, "fault-correlations", algorithm="all")
    both = column("qed", 0) + column("hbd", 0)
    assert row["wheel"] == pytest.approx(correlation(counts * 2, both))
    counts = [fault[0] for fault in FAULTS]
    assert row["proximity"] == pytest.approx(correlation(counts * 2, both))
    counts = [fault[1] for fault in FAULTS]
    assert row["range-and-bearing"] == pytest.approx(correlation(counts * 2, both))
    counts = [sum(fault) for fault in FAULTS]
    assert row["any"] == pytest.approx(correlation(counts * 2, both))
    assert row["n"] == 8


def test_what_is_claimed_stands_in_tables_of_its_own():
    fresh, claimed = (only(SMALL, f"table-s2{end}", algorithm="qed") for end in ("", "-claimed"))
    for stem, k, more in (
        ("impact", 0, -0.1),
        ("resilience", 1, 0.02),
        ("relative_performance", 2, 0.05),
    ):
        values = [value + more for value in column("qed", k)]
        assert claimed[stem] == pytest.approx(plain.median(values))
        assert claimed[f"{stem}_iqr"] == pytest.approx(iqr(values))
        assert claimed[f"paper_{stem}"] == fresh[f"paper_{stem}"]
    for name, stem, more in (("s3a", "resilience", 0.02), ("s3b", "relative_performance", 0.05)):
        fresh, claimed = (only(SMALL, f"table-{name}{end}") for end in ("", "-claimed"))
        for side in (stem, f"qed_{stem}"):
            assert claimed[side] == pytest.approx(fresh[side] + more)
        assert claimed["delta"] == fresh["delta"]
    assert "not used to select" in table(SMALL, "table-s3a").note
    assert "on the selection trials, as in the paper" in table(SMALL, "table-s2-claimed").note
    titles = [each.title for each in tables(SMALL)]
    assert len(set(titles)) == len(titles)


def test_selection_bias_is_what_fresh_trials_do_not_show():
    # Of what QED claims, 0.05 a recovery is bias; the unit is the best fresh fitness, 0.5.
    gains = [resilience - impact for impact, resilience, _, _ in SCORES["qed"]]
    claimed = [gain + 0.05 for gain in gains]
    expected = {
        "algorithm": "qed",
        "n": 4,
        "claimed_gain": plain.median(claimed) / 0.5,
        "gain": plain.median(gains) / 0.5,
        "selection_bias": 4 * 0.05 / sum(claimed),
    }
    for task in ("all", "dispersion"):
        row = only(SMALL, "table-selection-bias", algorithm="qed", task=task)
        assert row == pytest.approx({"task": task, **expected})
    frame = bias(SMALL)
    assert frame["task"].tolist() == ["all"] * 2 + ["dispersion"] * 2
    assert "All tasks" in table(SMALL, "table-selection-bias").html()


def test_tasks_are_pooled_in_parts_of_their_best():
    def study(scale):
        fitness = ["normal", "broken", "recovered"]
        fitness += [f"claimed_{name}" for name in fitness]
        other = SMALL.recoveries.assign(task="flocking")
        other[fitness] *= scale
        runs = SMALL.runs.assign(task="flocking")
        runs["best"] *= scale
        return replace(
            SMALL,
            settings={**SMALL.settings, "tasks": ["dispersion", "flocking"]},
            runs=pd.concat([SMALL.runs, runs]),
            recoveries=pd.concat([SMALL.recoveries, other]),
        )

    # A task whose fitness is a tenth weighs the same.
    one, other = bias(study(1.0)), bias(study(0.1))
    pd.testing.assert_frame_equal(one, other)
    assert one["n"].tolist() == [8, 8, 4, 4, 4, 4]


def test_where_nothing_is_claimed_bias_is_unknown():
    same = SMALL.recoveries.assign(
        claimed_recovered=SMALL.recoveries["claimed_broken"],
        recovered=SMALL.recoveries["broken"],
    )
    made = replace(SMALL, recoveries=same)
    assert bias(made)["selection_bias"].isna().all()
    assert (bias(made)["gain"] == 0).all()
    assert table(made, "table-selection-bias").html().count(f"<td>{DASH}</td>") == 4


def test_numbers_are_shown_as_in_the_paper():
    html = table(SMALL, "table-s2").html()
    assert f"{MINUS}0.40 ± 0.28 (paper {MINUS}0.23 ± 0.26)" in table(SMALL, "table-s2").markdown()
    assert (
        f"<td>{MINUS}0.40 ± 0.28<br>"
        f'<span class="paper">paper {MINUS}0.23 ± 0.26</span></td>' in html
    )
    assert table(SMALL, "table-s1").markdown().count("Dispersion") == 1
    # The paper prints the spreads of S3 with one decimal; a second would be made up.
    assert f"paper {MINUS}0.11 ± 0.0</span>" in table(SMALL, "table-s3a").html()
    assert "4048 ± 68 [3438, 4658] (paper 4094 ± 2)" in table(SMALL, "maps").markdown()


# What is well formed, whatever the study.

QUICK = PRESETS["quick"]
STUDIES = {
    "quick": made_up(),
    "small": SMALL,
    "one replicate": made_up(QUICK.changed(replicates=1, faults=1)),
    "one of each": made_up(QUICK.changed(tasks=["flocking"], algorithms=["qed"], replicates=1)),
    "without qed": made_up(QUICK.changed(algorithms=["spirit", "sdbc"])),
    "all tasks": made_up(PRESETS["laptop"]),
}
studies = pytest.mark.parametrize("study", list(STUDIES))


class Reader(HTMLParser):
    """Checks that tags close in order, and counts cells, a rowspan in each row that it spans."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[int] = []
        self.scopes: list[str | None] = []
        self.hanging = [0, 0]  # rows still to come under a spanning cell, and such cells
        self.captions = 0

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "br":
            return
        self.open.append(tag)
        if tag == "tr":
            spanned = self.hanging[0] > 0
            self.hanging[0] -= spanned
            self.rows.append(int(spanned))
        if tag in ("td", "th"):
            self.rows[-1] += 1
            if "rowspan" in given:
                self.hanging[0] = int(given["rowspan"]) - 1
        if tag == "th":
            self.scopes.append(given.get("scope"))
        self.captions += tag == "caption"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@studies
def test_html_is_well_formed(study):
    for table in tables(STUDIES[study]):
        reader = Reader()
        reader.feed(table.html())
        reader.close()
        assert reader.open == []
        assert reader.captions == 1
        width = len(table.keys) + len(table.columns)
        assert reader.rows == [width] * (1 + len(table.frame)), table.name
        assert reader.hanging[0] == 0
        assert set(reader.scopes) <= {"col", "row", "rowgroup"}
        assert table.html().startswith(f'<div id="{table.name}">\n<div class="scroll"')
        assert "nan" not in table.html()


@studies
def test_markdown_is_well_formed(study):
    for table in tables(STUDIES[study]):
        text = table.markdown()
        assert text.startswith(f"### {table.title}\n\n")
        rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line[:1] == "|"]
        assert {len(row) for row in rows} == {len(table.keys) + len(table.columns)}
        assert len(rows) == 2 + len(table.frame)
        assert "nan" not in text


@studies
def test_csv_gives_the_frame_back(study):
    for table in tables(STUDIES[study]):
        back = pd.read_csv(io.StringIO(table.csv()))
        assert list(back.columns) == list(table.frame.columns)
        assert len(back) == len(table.frame)
        words = {"task", "algorithm", "baseline", "stars", "paper_stars", "effect", "paper_effect",
                 "of", "kind", "against", "measure"}  # fmt: skip
        for name in set(back.columns) - words:
            assert back[name].to_list() == pytest.approx(table.frame[name].to_list(), nan_ok=True)


@pytest.mark.parametrize("study", ["quick", "small", "all tasks"])
def test_which_tables_there_are(study):
    there = NAMES[:-1] if study == "small" else NAMES  # nothing goes beyond the paper there
    assert [table.name for table in tables(STUDIES[study])] == there


def test_without_qed_nothing_is_compared_with_it():
    made = tables(STUDIES["without qed"])
    assert [table.name for table in made] == [
        n for n in NAMES if not n.startswith(("table-s3", "qed-by-map", "recovery-cells"))
    ]
    assert list(made[3].frame["algorithm"]) == ["spirit", "sdbc"]


def test_limits_are_those_of_the_number_of_each_replicate():
    results = STUDIES["all tasks"]
    data = results.recoveries[results.recoveries["algorithm"] == "hbd"]
    each = data.groupby("replicate")
    for name, algorithm, stem, numbers in (
        ("table-s2", "hbd", "impact", each["impact"].median()),
        ("table-s2-claimed", "hbd", "resilience", each["claimed_resilience"].median()),
        ("fault-correlations", "hbd", "wheel",
         [plain.correlation(own["wheel_faults"], own["impact"]) for _, own in each]),
    ):  # fmt: skip
        frame = table(results, name).frame.set_index("algorithm")
        limits = stats.t(len(numbers) - 1, np.mean(numbers), stats.sem(numbers)).interval(0.95)
        found = frame.loc[algorithm, [f"{stem}_low", f"{stem}_high"]].tolist()
        assert found == pytest.approx(limits)
    words = table(results, "table-s2").markdown()
    assert re.search(r"0\.\d\d ± 0\.\d\d \[.0\.\d\d, .0\.\d\d\] \(paper", words)


def test_of_one_replicate_the_deviation_is_a_dash():
    made = STUDIES["one of each"]
    row = only(made, "table-s1")
    assert row["best_relative_performance_sd"] == ""
    best = f"{made.runs['best_relative_performance'][0]:.2f}"
    assert f"<td>{best} ± {DASH}<br>" in table(made, "table-s1").html()
    assert f"{best} ± {DASH} (paper 0.60 ± 0.22)" in table(made, "table-s1").markdown()
    assert "1 replicate " in table(made, "table-s1").note


def test_runs_that_failed_are_missing():
    whole = made_up()
    runs, recoveries = (
        frame[~((frame["task"] == "patrolling") & frame["algorithm"].isin(lost))]
        for frame, lost in ((whole.runs, ["hbd"]), (whole.recoveries, ["qed", "hbd"]))
    )
    runs = runs[~((runs["algorithm"] == "sdbc") & (runs["replicate"] == 2))]
    made = replace(whole, runs=runs, recoveries=recoveries)
    s1 = table(made, "table-s1")
    assert len(s1.frame) == 3 * 4 - 1
    assert "1 to 2 replicates" in s1.note
    s3 = table(made, "table-s3a")
    assert set(s3.frame["task"]) == {"dispersion", "border-patrolling"}
    assert "0.05/6" in s3.note


def test_without_recoveries_only_maps_are_told_of():
    whole = made_up()
    made = tables(replace(whole, recoveries=whole.recoveries[:0]))
    assert [table.name for table in made] == ["table-s1", "maps", "table-beyond"]
    nothing = {name: getattr(whole, name)[:0] for name in ("runs", "recoveries", "beyond")}
    assert tables(replace(whole, **nothing)) == []


def test_undefined_scores_are_dashes():
    # A map whose normal best has fitness 0 has neither impact nor resilience.
    whole = made_up(QUICK.changed(tasks=["flocking"]))
    recoveries = whole.recoveries.assign(impact=nan, resilience=nan)
    made = replace(whole, recoveries=recoveries)
    assert "fault-kinds" not in [table.name for table in tables(made)]
    s3 = table(made, "table-s3a")
    assert list(s3.frame["stars"]) == [""] * 3
    assert s3.html().count(f"<td>{DASH}<br>") == 3 * len(s3.columns)
    for any_table in tables(made):
        assert "nan" not in any_table.html() + any_table.markdown()


def test_a_comparison_that_could_not_be_made_does_not_count():
    whole = made_up()
    lost = (whole.recoveries["task"] == "patrolling") & (whole.recoveries["algorithm"] == "hbd")
    recoveries = whole.recoveries.assign(resilience=whole.recoveries["resilience"].mask(lost))
    made = table(replace(whole, recoveries=recoveries), "table-s3a")
    assert len(made.frame) == 9
    assert "0.05/8" in made.note


def test_what_the_paper_lacks_is_left_empty():
    foraging = small([run("foraging", "qed", 1, 9, 0.5, 0.5, 3, 0.5)], [], ["foraging"], ["qed"])
    row = only(foraging, "table-s1")
    assert row["paper_best_relative_performance"] == row["paper_coverage_sd"] == ""
    assert "paper" not in table(foraging, "table-s1").html().partition("<tbody>")[2]


def test_text_is_escaped():
    odd = Table(
        "odd",
        "a < b & 50%",
        "<u> is under_lined",
        pd.DataFrame({"who": ["<b>&_"]}),
        (Key("50% & <i>", "who"),),
    )
    assert "&lt;u&gt; is under_lined" in odd.html()
    assert "<b>" not in odd.html()
    assert "&lt;b&gt;&amp;_" in odd.html()
    assert 'aria-label="a &lt; b &amp; 50%"' in odd.html()


def test_small_negatives_do_not_round_to_minus_nought():
    assert rounded(-0.001, 2) == "0.00"
    assert rounded(-0.006, 2) == "-0.01"
    assert rounded(nan, 2) == DASH


def test_part_of_a_cell():
    assert Part("1", word="<&").html() == "1 &lt;&amp;"
    part = Part("-0.55", "*", "large", large=True)
    assert part.markdown() == f"**{MINUS}0.55**&ast; large"
    assert part.html() == f'<strong class="large">{MINUS}0.55</strong><sup>*</sup> large'
