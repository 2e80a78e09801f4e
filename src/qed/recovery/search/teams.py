"""Search over teams: each robot says what is broken in it, and may be wrong.

The fitness of a team is taken for the mean over its robots of what their controllers give in
swarms whose robots all have the diagnosed fault, which the library has simulated; on top of that
comes what no diagnosis says: the few numbers z of the learned prior, shared by all robots, a
shift of all teams of several controllers, and what is peculiar to a team.  So trials of teams and
of one controller for all teach about each other, and the posterior is that of any other search.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from qed.controller.network import Controller, Team
from qed.recovery.search.gaussian import Prior
from qed.recovery.search.search import Search
from qed.recovery.search.strategies import LEARNED, Known

ALTERNATIVES = 8  # controllers that may replace a team's for one kind of fault
SURE, UNSURE = 0.4, 1.0  # how far z may lie from what the diagnoses say: right ones, and wrong ones
APART = 1.0  # of a trial's noise: how far teams of several controllers may all be shifted


def expected(alike: Mapping[str, np.ndarray], diagnoses: Sequence[str], wrong: float) -> np.ndarray:
    """Return what each controller is expected to give in each robot, (robots, n).

    ``alike`` is the fitness of the controllers where all robots have the same fault.  With
    probability ``wrong`` a diagnosis stands for any of the other faults.
    """
    found = []
    for name in diagnoses:
        rest = [alike[other] for other in alike if other != name] or [alike[name]]
        others = np.mean(rest, axis=0)
        found.append((1.0 - wrong) * alike[name] + wrong * others)
    return np.array(found)


def arms(
    known: Known,
    alike: Mapping[str, np.ndarray],
    diagnoses: Sequence[str],
    wrong: float,
    plays: Sequence[int],
) -> tuple[np.ndarray, Known]:
    """Return the teams to search, (n, robots) numbers of controllers, and what is known of them.

    The first are the kit's controllers, each in all robots; ``plays`` is the playbook's team,
    empty if it is not trusted.  Where robots with different faults are not to be trusted with
    different controllers, diagnoses say little either, and the search is that for one controller,
    whose prior knows mixed swarms.
    """
    prior, robots = known.prior, len(diagnoses)
    rows = np.repeat(np.arange(len(prior.mean))[:, None], robots, axis=1)
    if not len(plays):
        return rows, known
    given = expected(alike, diagnoses, wrong)
    rows = np.vstack([rows, _teams(given, diagnoses, np.array(plays))])
    mean = given[np.arange(robots), rows].mean(1)
    several = (rows != rows[:, :1]).any(1)
    shift = APART * prior.scale * several.astype(np.float64)
    loadings = np.hstack([prior.loadings[rows].mean(1), shift[:, None]])
    noise = np.sqrt((prior.noise[rows] ** 2).mean(1))
    near = SURE**2 + wrong * (UNSURE**2 - SURE**2)
    width = np.array([near] * (loadings.shape[1] - 2) + [1.0, 1.0])
    believed = Prior(mean, loadings, noise, np.zeros((1, len(width))), width, prior.noisier)
    normal = known.normal[rows].mean(1)
    return rows, Known(believed, normal, np.zeros((len(rows), 1)), np.arange(len(rows)))


def _teams(given: np.ndarray, faults: Sequence[str], plays: np.ndarray) -> np.ndarray:
    """Return the playbook's team, the best by expectation, and both with one kind replaced."""
    best_alone = np.full(len(faults), int(np.argmax(given.mean(0))))
    bases = [plays, given.argmax(1), best_alone]
    found = [plays, bases[1]]
    for name in dict.fromkeys(faults):
        hit = np.array([one == name for one in faults])
        order = np.argsort(-given[int(np.argmax(hit))], kind="stable")[:ALTERNATIVES].tolist()
        for base in bases:
            for row in dict.fromkeys([int(plays[hit][0]), *order]):
                found.append(np.where(hit, row, base))
    different = [team for team in found if len(set(team.tolist())) > 1]
    # Equal teams once, in the order in which they came.
    unique = list({tuple(team.tolist()): None for team in different})
    return np.array(unique, np.int64).reshape(-1, len(faults))


class TeamSearch(Search[Team]):
    """A search for the team that works best; ``ask`` returns teams.

    ``Kit.search(diagnoses=...)`` makes one.

    Examples
    --------
    >>> import qed
    >>> kit = qed.Kit.load("example:patrolling-kit")
    >>> search = kit.search(diagnoses=["PMIN"] * 5 + ["NONE"] * 5, misdiagnosis_rate=0.1)
    >>> team = search.ask()
    >>> search.tell(0.6)
    >>> len(search.best), search.trials
    (10, 1)
    """

    def __init__(
        self,
        controllers: Sequence[Controller],
        known: Known,
        present: int,
        digest: str,
        alike: Mapping[str, np.ndarray],
        diagnoses: Sequence[str],
        misdiagnosis_rate: float,
        plays: Sequence[int],
    ) -> None:
        self.diagnoses, self.misdiagnosis_rate = list(diagnoses), misdiagnosis_rate
        self.rows, known = arms(known, alike, diagnoses, misdiagnosis_rate, plays)
        teams = [Team([controllers[row] for row in team]) for team in self.rows.tolist()]
        super().__init__(teams, known, present, digest, LEARNED)

    def members(self, row: int) -> list[int]:
        """Return the controllers of an arm, robot by robot, by their numbers in the kit."""
        found: list[int] = self.rows[row].tolist()
        return found

    @property
    def state(self) -> dict[str, Any]:
        """All that is needed to go on later, as JSON can hold it; see ``Kit.search``."""
        return super().state | {"diagnoses": self.diagnoses, "wrong": self.misdiagnosis_rate}
