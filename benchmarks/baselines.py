"""Compare searches that could win: map-based Bayesian optimisation of whole archives, and kits.

    python benchmarks/baselines.py plan                    # what is compared, before anything runs
    python benchmarks/baselines.py run FOLDER [--minutes 9]     # goes on where it was stopped
    python benchmarks/baselines.py gather FOLDER           # then baselines_page.py writes the page

``run`` does what each archive still lacks: ``evolve`` (all side by side), ``measure`` (a survey of
library faults, the kit, a table of trials in each test fault), ``tune`` (hyper-parameters, in
library faults), ``search`` (all searches are played against the tables) and ``judge`` (answers on
fresh trials).  They are verbs, too; ``tune`` and ``search`` need no simulator.  ``--size tiny``
tries everything on a CPU.  ``plan`` writes benchmarks/results/baselines-plan.json, ``gather``
baselines.json.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from itertools import islice, product
from pathlib import Path
from typing import Any

import comparison
import numpy as np
import replayed
import searches
from comparison import Clock, Comparison, Plan, folders_of, lacking, save, save_json, side_by_side
from recovery import one_sided, uniform
from replayed import BUDGETS, InOrder, KitSearch, Mapped

from qed.evolution.folder import ARCHIVE
from qed.recovery.kit import fitting, library
from qed.recovery.kit.cached_trials import CachedTrials, TrialCache
from qed.recovery.kit.prepare import Effort, learn
from qed.recovery.search.strategies import MapBased
from qed.streams import stream

MEASURED, TUNING, ANSWERS, ROWS = "measured.npz", "tuning.json", "answers.json", "rows.json"
SEED = 2040
TASKS = ["patrolling", "aggregation", "dispersion", "flocking", "border-patrolling"]
LIBRARY = 640  # faults that are drawn for the survey and for unseen.py
STRATEGIES = {
    "keep": "the swarm keeps the normal best",
    "random": "controllers of the whole archive at random, each once",
    "portfolio": "the kit's controllers that together cover the library, one after the other",
    "prior": "the kit's controller with the best mean over the library; no search",
    "it&e": "map-based BO on the map's own descriptor, settings of Cully et al. (2015)",
    "smbo": "SMBO on the map's own descriptor, settings of Bossens and Tarapore (2021)",
    "bo, own": "map-based BO, Matern 5/2 on the map's own descriptor, tuned",
    "bo, spirit": "map-based BO, Matern 5/2 on SPIRIT's descriptor, tuned",
    "bo, library": "map-based BO, kernel: covariance over library faults, tuned",
    "bo, library mean": "the same, and its mean is that over library faults; tuned",
    "kit": "the search of a kit (qed.prepare's defaults)",
}
TUNED = [name for name in STRATEGIES if name.startswith("bo")]
GRID = {
    # In root mean squares of what they are relative to: the distance of two controllers, and the
    # deviation of fitness in a library fault from the mean of the process.
    "matern": {"length": [0.1, 0.3, 1.0, 3.0], "scale": [0.3, 1.0, 3.0, 10.0],
               "shift": [0.0, 0.5], "bound": [0.05, 0.5, 1.5, 3.0]},
    "library": {"rank": [4, 8, 16], "scale": [0.3, 1.0, 3.0, 10.0], "bound": [0.05, 0.5, 1.5, 3.0]},
}  # fmt: skip
PUBLISHED = {
    "it&e": {"length": 0.4, "variance": 1.0, "noise": 0.001, "bound": 0.05, "again": True},
    "smbo": {"length": 0.12, "variance": 1.0, "noise": 0.0, "bound": 0.93, "again": False},
}
CHANGES = [
    "2026-11-19, before any run: scale 10 joins the grid; which sequence of trials a controller "
    "meets is a hash of its row, not its row modulo 16, which in QED's archives is a range of two "
    "sensors; what is primary, and what is secondary",
]
KERNELS = [*comparison.KERNELS, *searches.KIT_KERNELS, {"sums": ("spread",)}, {"sums": ("spirit",)}]


def simulated() -> set[str]:
    """Return all faults that a survey or a library holds; searches are not tried in these."""
    found = library.drawn("searches", SEED, LIBRARY, 10)
    for task in TASKS:
        seed = stream("searches", "kit", task)
        found += [
            one for name in ("survey", "library") for one in library.drawn(name, seed, 160, 10)
        ]
    return {",".join(one) for one in [*found, *library.alike(10)]}


def plan(size: str = "full") -> dict[str, Any]:
    """Return what is compared."""
    seen = simulated()
    draws: list[str] = []
    for draw in (uniform, one_sided):
        each = (",".join(draw(10, SEED, k)) for k in range(100))
        draws += list(islice((one for one in each if one not in seen), 8))
    surveyed = library.drawn("searches", SEED, 40, 10)
    return {
        "size": size,
        "keys": ["task", "map", "seed"],
        "tasks": TASKS,
        "maps": ["qed", "hbd", "spirit"],
        "seeds": [1, 2],
        "evaluations": 20_000,
        "initial": 2_000,
        "batch": 80,
        "trials": 20,
        "seconds": 400.0,
        "healthy": 10,
        "survey": [",".join(one) for one in surveyed],
        "faults": draws,
        "heats": [[None, 2], [600, 10], [160, searches.DEEP]],
        "fresh": 50,
        "harm": 0.005,
        "budgets": BUDGETS,
        "strategies": STRATEGIES,
        "grid": GRID,
        "published": PUBLISHED,
        "tuning": "Library kernels are made from the even faults of the survey, and searches "
        "replayed in ten of the odd ones against fitness smoothed by its first directions, with "
        "noise of the normal environment; least mean regret after 1, 3, 5 and 10 trials, relative "
        "to its mean over all settings, over all archives of a map; then the library kernel is "
        "made again from all of the survey",
        "prior mean": "fitness in the normal environment, mean of as many trials as `healthy` says",
        "answers": "best posterior mean (random, portfolio: best mean) of the controllers tried, "
        "the present one included, whose trial in the fault is told first and is free; the kit: "
        "its own rule",
        "regret": "fitness of the best of the last heat less that of the answer, both on fresh "
        "trials",
        "primary": "fitness on fresh trials after 10 trials, mean over the faults of each archive "
        "of QED: the kit's less that of `bo, spirit`, paired by archive, with the interval of "
        "Student's t over the ten archives, tasks as strata",
        "secondary": "all else: its intervals are not adjusted for their number.  The strongest of "
        "the others is the one with the least regret after 10 trials, whichever that is",
        "changes": CHANGES,
        "seed": SEED,
        **(searches.SMALL.get(size) or {}),
        **({"initial": 100, "faults": [draws[k] for k in (0, 1, 8, 9)], "seeds": [1],
            "maps": ["qed", "spirit"], "effort": searches.LITTLE} if size == "tiny" else {}),
    }  # fmt: skip


def measure(place: Path, plan: Plan) -> None:
    """Simulate all that searches of an archive need: nothing depends on what they will do."""
    archive, how = searches.opened(place, plan)
    everyone = np.arange(len(archive))
    task = str(how.task)
    parts: list[np.ndarray] = []
    _, behaviours = how.normal(lambda _, fitness: parts.append(fitness))
    survey = searches.tried(how, everyone, plan["survey"], 1, "survey")[:, :, 0]
    kit = CachedTrials(how, stream("searches", "kit", task), TrialCache(None, {}))
    effort = Effort(**plan["effort"]) if "effort" in plan else Effort()
    lesson = learn(archive, kit, effort)
    found = {
        "healthy": np.concatenate(parts),
        "spirit": replayed.principal(behaviours).astype(np.float32),
        "own": fitting.places_in(archive.measures[archive.occupied]).astype(np.float32),
        "survey": survey.astype(np.float32),
        "rows": lesson.rows,
        "present": np.array(lesson.present),
        "kit trials": np.array(kit.done),
        **replayed.as_arrays(lesson.known, "kit"),
    }
    present = int(lesson.rows[lesson.present])
    likely = searches.likely(found["healthy"].mean(1), present)
    kits = [lesson.rows] * len(plan["faults"])
    found["tables"] = searches.tables(how, plan["faults"], plan["heats"], kits, likely)
    save(place / MEASURED, found)


class Known:
    """What was measured of an archive, and the processes that follow from it."""

    def __init__(self, place: Path, plan: Plan) -> None:
        with np.load(place / MEASURED) as arrays:
            self.arrays = dict(arrays)
        self.plan = plan
        self.normal = self.arrays["healthy"].mean(1).astype(np.float64)
        self.survey = self.arrays["survey"].astype(np.float64)
        own = self.arrays["healthy"].var(1, ddof=1)
        self.noise = np.sqrt(0.5 * own + 0.5 * own.mean() + 1e-12)
        self.rows, self.present = self.arrays["rows"], int(self.arrays["present"])
        self.kit = replayed.from_arrays(self.arrays, "kit")

    @property
    def running(self) -> int:
        """The row of the controller that the swarm runs."""
        return int(self.rows[self.present])

    def settings(self, name: str) -> list[dict[str, float]]:
        """Return the grid of a strategy."""
        if name in PUBLISHED:
            return [PUBLISHED[name]]
        axes = GRID["library" if "library" in name else "matern"]
        return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]

    def process(self, name: str, given: Mapping[str, float], survey: np.ndarray) -> MapBased:
        """Return the process of a strategy with these settings, and this part of the survey."""
        mean = survey.mean(0) if name == "bo, library mean" else self.normal
        noise = self.noise
        if "rank" in given:
            kernel = replayed.on_library(survey - mean, int(given["rank"]), given["scale"])
        else:
            places = self.arrays["spirit" if name == "bo, spirit" else "own"].astype(np.float64)
            length, variance, shift, nugget = given["length"], given.get("variance"), 0.0, 0.0
            if variance is None:
                length *= float(np.sqrt(2.0 * places.var(0).sum())) + 1e-9
                variance = given["scale"] * float(np.mean((survey - mean) ** 2))
                shift, nugget = given["shift"], replayed.NUGGET
            else:
                noise = np.full(len(mean), np.sqrt(given["noise"] + 1e-8))
            kernel = replayed.on_places(places, length, variance, shift, nugget)
        return MapBased(mean, *kernel, noise, given["bound"], bool(given.get("again", True)))

    def tuning(self, name: str) -> list[float]:
        """Return the regret of each of a strategy's settings in library faults."""
        learned = fitting.smoothed(self.survey[::2])
        truth = fitting.smoothed(self.survey)[1::2][:10]
        budgets = [budget for budget in BUDGETS if budget <= 10]
        chance = np.random.default_rng(stream("searches", "tuning"))
        luck = chance.standard_normal((len(self.normal), budgets[-1] + 1))
        found = []
        for given in self.settings(name):
            process = self.process(name, given, learned)
            lost = []
            for fitness in truth:
                trials = fitness[:, None] + self.noise[:, None] * luck
                answers, _ = replayed.play(Mapped(process), trials, self.running, budgets)
                lost.append(fitness.max() - fitness[answers])
            found.append(float(np.mean(lost)))
        return found

    def answers(self, best: Mapping[str, int]) -> dict[str, Any]:
        """Play all searches, with the settings of these numbers."""
        seed = stream("searches", "random")
        order = np.random.default_rng(seed).permutation(len(self.normal)).tolist()
        found: dict[str, list[list[int]]] = {name: [] for name in STRATEGIES}
        again = dict.fromkeys(STRATEGIES, 0)
        survey = fitting.smoothed(self.survey)
        tuned = {name: self.settings(name)[best[name]] for name in TUNED}
        processes = {
            name: self.process(name, given, survey)
            for name, given in {**PUBLISHED, **tuned}.items()
        }
        begin = time.perf_counter()
        for k, table in enumerate(self.arrays["tables"].astype(np.float64)):
            fixed = {"keep": self.running, "prior": int(self.rows[self.kit.prior.mean.argmax()])}
            for name, row in fixed.items():
                found[name].append([row] * len(BUDGETS))
            played: dict[str, replayed.Asked] = {
                "random": InOrder(np.roll(order, k * len(order) // 16).tolist()),
                "portfolio": InOrder(self.rows[self.kit.portfolio].tolist()),
                "kit": KitSearch(self.rows, self.kit, self.present),
                **{name: Mapped(process) for name, process in processes.items()},
            }
            for name, search in played.items():
                answers, twice = replayed.play(search, table, self.running)
                found[name].append(answers)
                again[name] += twice
        return {
            "present": self.running,
            "winner": searches.winners(self.arrays["tables"]),
            "found": found,
            "again": again,
            "tuned": tuned,
            "prepared": self.prepared(),
            "cells": len(self.normal),
            "played_s": time.perf_counter() - begin,
        }  # fmt: skip

    def prepared(self) -> dict[str, int]:
        """Return how many trials each strategy needed beforehand, those of evolution apart."""
        healthy, survey = self.arrays["healthy"].size, self.survey.size
        kit = int(self.arrays["kit trials"])
        given = {"keep": 0, "random": 0, **dict.fromkeys(PUBLISHED, healthy)}
        given |= dict.fromkeys(TUNED, healthy + survey)
        return given | dict.fromkeys(("portfolio", "prior", "kit"), kit)


def tuned(place: Path, plan: Plan) -> str:
    """Try all settings of an archive's searches in library faults."""
    begin = time.perf_counter()
    known = Known(place, plan)
    save_json(place / TUNING, {name: known.tuning(name) for name in TUNED})
    return f"{place.name} tuned in {time.perf_counter() - begin:.0f} s"


def relative(each: Mapping[str, Mapping[str, list[float]]]) -> dict[str, np.ndarray]:
    """Return the mean regret over archives of each setting of each strategy.

    Regrets of an archive are relative to their mean over all settings of all strategies.
    """
    found: dict[str, list[np.ndarray]] = {}
    for strategies in each.values():
        mean = float(np.mean(np.concatenate(list(strategies.values()))))
        for name, regrets in strategies.items():
            found.setdefault(name, []).append(np.array(regrets) / max(mean, 1e-12))
    return {name: np.mean(regrets, axis=0) for name, regrets in found.items()}


def tunings(folder: Path, plan: Plan, algorithm: str) -> dict[str, Any] | None:
    """Return the regrets of all settings in each archive of a map, or None while one lacks them."""
    places = [one / TUNING for one in folders_of(folder, {**plan, "maps": [algorithm]})]
    if not all(path.exists() for path in places):
        return None
    return {path.parent.name: json.loads(path.read_text("utf-8")) for path in places}


def played(place: Path, plan: Plan) -> str:
    """Play all searches of an archive, and keep their answers."""
    begin = time.perf_counter()
    each = tunings(place.parent, plan, place.name.rsplit("-", 2)[1])
    best = {name: int(np.argmin(lost)) for name, lost in relative(each or {}).items()}
    save_json(place / ANSWERS, Known(place, plan).answers(best))
    return f"{place.name} searched in {time.perf_counter() - begin:.0f} s"


def judge(place: Path, plan: Plan) -> None:
    """Measure answers on fresh trials."""
    searches.judge(place, plan, plan["faults"], ANSWERS, ROWS)


def evolve(folder: Path, plan: Plan, clock: Clock) -> None:
    """Evolve all archives side by side."""
    comparison.evolved(searches.runs(folder, plan), clock)


def tune(folder: Path, plan: Plan, clock: Clock) -> None:
    """Try all settings of all searches."""
    for told in side_by_side(tuned, lacking(folder, plan, TUNING, MEASURED), plan):
        clock.tell(told)


def search(folder: Path, plan: Plan, clock: Clock) -> None:
    """Play all searches; settings are those of all archives of a map, so it waits for them."""
    ready = [one for one in plan["maps"] if tunings(folder, plan, one)]
    places = lacking(folder, {**plan, "maps": ready}, ANSWERS, TUNING)
    for told in side_by_side(played, places, plan):
        clock.tell(told)


COMPARISON = Comparison(
    "baselines",
    plan,
    {
        "evolve": evolve,
        "measure": comparison.in_turn(measure, MEASURED, ARCHIVE),
        "tune": tune,
        "search": search,
        "judge": comparison.in_turn(judge, ROWS, ANSWERS),
    },
    ROWS,
    KERNELS,
    tuple(searches.SMALL),
)


if __name__ == "__main__":
    COMPARISON.main(__doc__)
