"""What goes beyond the paper: searches of few trials, playbooks and teams in a study."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import made_up
import numpy as np
import pandas as pd
import pytest

import qed
from qed.recovery.kit.prepare import Effort
from qed.recovery.search.strategies import STRATEGIES
from qed.recovery.trials import streams
from qed.study import beyond, beyond_report, paths, report, workload
from qed.study.beyond import BEST, BUDGETS, KEEP, PLAYBOOK, TEAM
from qed.study.figures import FIGURES
from qed.study.plan import PRESETS, Name
from qed.study.results import BEYOND, Results, collect
from qed.study.study import Study, plan_of

TINY = PRESETS["quick"].changed(
    tasks="patrolling", algorithms="qed", replicates=1, evaluations=40, initial=20, trials=1,
    seconds=6.0, faults=3, retrials=1, fresh=2, beyond=2,
)  # fmt: skip
NAME = Name("patrolling", "qed", 1)
FILE = "beyond-2.csv"


@pytest.fixture(scope="module", autouse=True)
def small_kits():
    """Make kits small: how good they are does not matter here."""
    with pytest.MonkeyPatch.context() as patch:
        few = Effort(
            surveyed=2, candidates=12, screened=3, controllers=8, faults=4, elsewhere=0,
            trials=2, validation=2, portfolio=3,
        )  # fmt: skip
        patch.setattr(beyond, "EFFORT", few)
        yield


@pytest.fixture(scope="module")
def studied(tmp_path_factory) -> Study:
    study = Study(tmp_path_factory.mktemp("study") / "here", TINY)
    study.claim()
    told: list[tuple[float, str]] = []
    study.work(watch=lambda done, doing: told.append((done, doing)))
    assert study.failures == []
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (pytest.approx(1.0), "searching patrolling qed")
    collect(study.folder, TINY)
    return study


def rows_of(studied: Study) -> pd.DataFrame:
    return Results.load(studied.folder).beyond


def test_every_way_is_told_in_the_first_faults(studied: Study) -> None:
    found = rows_of(studied)
    assert tuple(found.columns) == BEYOND
    assert sorted(set(found["fault"])) == [0, 1]
    ways = {(KEEP, 0), (BEST, 0), (PLAYBOOK, 0)}
    ways |= {(strategy, budget) for strategy in STRATEGIES for budget in BUDGETS}
    ways |= {(TEAM, 0)}
    for _, rows in found.groupby("fault"):
        assert set(zip(rows["way"], rows["trials"], strict=True)) == ways
        assert len(rows) == len(ways)


def test_numbers_follow_from_the_public_functions(studied: Study) -> None:
    found, results = rows_of(studied), Results.load(studied.folder)
    kit = qed.Kit.load(paths.run(studied.folder, NAME) / paths.KIT)
    faults = TINY.faults_of(1)[1]
    recovered = results.recoveries.set_index("fault").loc[1]
    mine = found[found["fault"] == 1].set_index(["way", "trials"])

    def fresh(controller: Any) -> float:
        outcome = qed.simulate(
            controller, tasks="patrolling", trials=2, seconds=6.0, faults=faults,
            seed=streams(TINY.recovery_seed(NAME)).fresh,
        )  # fmt: skip
        return float(outcome.fitness["patrolling"].mean())

    assert mine.loc[(KEEP, 0), "fitness"] == pytest.approx(fresh(kit.normal_best))
    assert mine.loc[(PLAYBOOK, 0), "fitness"] == pytest.approx(fresh(kit.playbook.team(faults)))
    assert mine.loc[(BEST, 0), "fitness"] == recovered["recovered"]
    assert mine.loc[(BEST, 0), "resilience"] == pytest.approx(recovered["resilience"])
    lost = (mine["fitness"] - recovered["normal"]) / recovered["normal"]
    np.testing.assert_allclose(mine["resilience"], lost)
    np.testing.assert_allclose(mine["regret"], recovered["resilience"] - lost, atol=1e-12)


@pytest.mark.parametrize("kept", ["kit.npz", ""])
def test_what_is_lost_is_done_again_to_the_same_bytes(studied: Study, kept: str) -> None:
    here = paths.run(studied.folder, NAME)
    before = (here / FILE).read_bytes()
    (here / FILE).unlink()
    if not kept:
        (here / paths.KIT).unlink()
    again = Study(studied.folder, TINY)
    again.claim()
    again.work()
    assert (here / FILE).read_bytes() == before
    assert (here / paths.KIT).exists()
    assert not (here / paths.NOTES).exists()


def test_it_is_added_to_a_study_that_is_there(studied: Study, tmp_path) -> None:
    plain = TINY.changed(beyond=0)
    study = Study(tmp_path / "study", plain)
    study.claim()
    study.work()
    collect(study.folder, plain)
    assert not (study.folder / "tables/beyond.csv").exists()
    assert len(Results.load(study.folder).beyond) == 0
    # A study of before does not know of it.
    settings = study.folder / paths.SETTINGS
    settings.write_text(settings.read_text().replace("beyond = 0\n", ""))
    assert plan_of(study.folder) == plain
    more = Study(study.folder, TINY)
    more.claim()
    assert plan_of(study.folder) == TINY
    more.work()
    collect(more.folder, TINY)
    pd.testing.assert_frame_equal(rows_of(more), rows_of(studied))


def test_a_run_without_it_is_still_reported(tmp_path, monkeypatch) -> None:
    def fails(*_: Any) -> None:
        raise ValueError("no kit today")

    monkeypatch.setattr(beyond, "search", fails)
    study = Study(tmp_path / "study", TINY)
    study.claim()
    study.work()
    assert study.failures == ["patrolling-qed-1: beyond: ValueError: no kit today"]
    assert study.workload is not None
    assert study.workload.fraction == pytest.approx(1.0)
    assert collect(study.folder, TINY) == [NAME]


def test_it_waits_for_all_recoveries_and_comes_once(tmp_path) -> None:
    plan = TINY.changed(faults=12)
    study = Study(tmp_path, plan)
    parts = [workload.Part(workload.BREAK, (NAME,), k) for k in range(2)]
    here = paths.run(tmp_path, NAME)
    here.mkdir(parents=True)
    for file in ("archive.npz", paths.NORMAL, paths.recovery(0)):
        (here / file).touch()
    assert study._after(parts[0], None) == []
    (here / paths.recovery(1)).touch()
    assert study._after(parts[1], None) == [workload.Part(workload.BEYOND, (NAME,))]
    assert study._after(parts[0], None) == []


def test_it_is_forecast() -> None:
    plan = PRESETS["laptop"]
    with_it, without = (
        workload.Workload(each).forecast(1e7, 1e7, 1e7) for each in (plan, plan.changed(beyond=0))
    )
    for algorithm in plan.algorithms:
        assert with_it[algorithm][0] == without[algorithm][0]
        assert with_it[algorithm][1] > 1.02 * without[algorithm][1]
    assert PRESETS["quick"].beyond == 0


# ---- report --------------------------------------------------------------------------------


@pytest.mark.parametrize("teams", [True, False])
def test_a_table_and_words(teams: bool) -> None:
    results = replace(made_up.results(), beyond=made_up.beyond(made_up.SMALL, teams))
    table = beyond_report.table(results)
    assert table is not None
    first = table.frame.iloc[0]
    assert (first["task"], first["algorithm"]) == ("all", "qed")
    assert first["n"] == 2 * 3 * 2
    assert first["kept"] == pytest.approx(-0.3)
    assert first["trials_10"] == pytest.approx(-0.1 - 0.1 / 10**0.5)
    assert ("team" in table.frame) == teams
    assert ("Team" in table.html()) == teams
    words = beyond_report.sentences(results)
    assert words[1].startswith("QED: mean regret 0.200 if the controller is kept, 0.100 after")
    assert ("-0.040 with a team" in words[1]) == teams
    figure = beyond_report.figure(results)
    assert len(figure.axes) == 4 * 3
    lines = figure.axes[0].get_lines()
    drawn = {tuple(np.round(line.get_ydata(), 6)) for line in lines}
    assert tuple(np.round([0.1 / budget**0.5 for budget in BUDGETS], 6)) in drawn
    assert ((-0.04, -0.04) in drawn) == teams


def test_a_part_of_the_maps() -> None:
    whole = replace(made_up.results(), beyond=made_up.beyond(made_up.SMALL, True))
    assert not any("maps" in line for line in beyond_report.sentences(whole))
    own = whole.beyond[(whole.beyond["algorithm"] == "qed") & (whole.beyond["replicate"] == 1)]
    part = replace(whole, beyond=own)
    maps = own["task"].nunique()
    words = f"This was done for {maps} of the study's {len(whole.runs)} maps."
    assert words in beyond_report.sentences(part)
    figure = beyond_report.figure(part)
    assert len(figure.axes) == maps
    assert all(axes.get_lines() for axes in figure.axes)


def test_the_report_has_a_section_only_if_there_is_something_to_tell(tmp_path, monkeypatch) -> None:
    assert FIGURES[-1].name == "beyond"
    monkeypatch.setattr("qed.study.figures.FIGURES", FIGURES[-1:])
    monkeypatch.setattr(report, "judged", lambda _: [])  # the paper says nothing of it
    for with_it in (True, False):
        results = made_up.results()
        if not with_it:
            results = replace(results, beyond=results.beyond.iloc[:0])
        page = report.write(tmp_path, results).read_text()
        assert ('id="section-beyond"' in page) == with_it
        assert ('id="figure-beyond"' in page) == with_it
        assert ("tables/beyond.csv" in page) == with_it
