"""Films of teams: which robots run which controller."""

from __future__ import annotations

from pathlib import Path

import behaviours
import numpy as np
import pytest
from browser import Browser
from made_recovery import FAULTS, recovery
from test_player import STATE, data_of

import qed
from qed.recovery.recovery import Recovery
from qed.view.arena import Arena
from qed.view.pane import Pane
from qed.view.player import page
from qed.view.replay import Replay, replay, watch
from qed.view.stage import ReplayStage

OTHERS = [behaviours.STRAIGHT, behaviours.AVOIDER, behaviours.STRAIGHT]
TEAM = qed.Team(OTHERS + [behaviours.AVOIDER] * 7)


def by_team(team: qed.Team | None) -> Recovery:
    return recovery(team=team)


@pytest.fixture(scope="module")
def shown() -> Replay:
    return watch(by_team(TEAM), seconds=20.0)


def test_the_team_drives_the_recovered_swarm(shown: Replay) -> None:
    before, after, recovered = shown.panes
    own = qed.trace(TEAM, seconds=20.0, seed=1, faults=qed.Faults(FAULTS))
    np.testing.assert_array_equal(recovered.trace.x, own.x)
    assert own.parts == TEAM.parts == (0, 1, 0) + (1,) * 7
    assert before.signs[0].letters == after.signs[0].letters == ()
    assert recovered.signs[0].letters == tuple("ABA" + 7 * "B")


def test_letters_are_explained_and_drawn_on_their_robots(shown: Replay) -> None:
    signs = [sign for row in ReplayStage(shown, 300).legend.rows for sign, _ in row]
    assert signs[-2:] == ["letter", "task"]
    pane = shown.panes[2]
    arena = Arena(pane, 600)
    with_letters = np.asarray(arena.draw(100.0)).astype(int)
    bare = Pane(pane.trace, signs=[pane.signs[0]._replace(letters=())])
    without = np.asarray(Arena(bare, 600).draw(100.0)).astype(int)
    where = np.argwhere(np.abs(with_letters - without).sum(-1) > 0)[:, ::-1]
    x, y = arena.place(*pane.poses(100.0)[:2])
    apart = np.hypot(where[:, :1] - x, where[:, 1:] - y)
    assert apart.min(1).max() < 0.1 * arena.scale  # on bodies only
    assert set(apart.argmin(1).tolist()) >= set(range(8))  # badges may hide some


@pytest.mark.parametrize("team", [None, qed.Team([behaviours.AVOIDER] * 10)])
def test_one_controller_for_all_has_no_letters(team: qed.Team | None) -> None:
    shown = watch(by_team(team), seconds=2.0)
    assert "letter" not in [sign for sign, _ in shown.legend]
    assert ReplayStage(shown, 300).draw(2.0) == ReplayStage(
        watch(recovery(), seconds=2.0), 300
    ).draw(2.0)


def test_a_page_of_a_team(browser: Browser, shown: Replay, tmp_path: Path) -> None:
    data = data_of(page(shown))
    assert [one["signs"][0][2] for one in data["columns"][0]["panes"]] == [
        [],
        [],
        list("ABABBBBBBB"),
    ]
    file = replay(by_team(TEAM), tmp_path / "team.html", seconds=2.0)
    browser.open(file, 1200, still=True)
    browser.until(f"{STATE} === 'paused'")
    legend = browser.evaluate("document.getElementById('legend').textContent")
    assert "same letter: same controller" in legend
    assert browser.complaints() == []
