"""What must a prior of faults have seen?  Kits without a kind of fault, meeting it; sizes.

    python benchmarks/unseen.py plan                       # what is compared, before anything runs
    python benchmarks/unseen.py run FOLDER [--minutes 9]   # goes on where it was stopped
    python benchmarks/unseen.py gather FOLDER              # then unseen_page.py writes the page

FOLDER is that of baselines.py: QED's archives there, what was measured of them, and the settings
that were tuned.  Kits here are made from one list of library faults: without one kind, or without
all of the sensors or wheels; with kinds that no other library has (``searches.NEW``); and from 10
to 640 of them.  Their 64 controllers are those that together cover the kit's survey, which is a
part of its library; else they are made as ``qed.prepare`` does.  ``measure``, ``search`` and
``judge`` are verbs, too.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import baselines
import comparison
import numpy as np
import replayed
import searches
from baselines import ANSWERS, MEASURED
from comparison import Clock, Comparison, Plan, lacking, save, save_json, side_by_side
from replayed import BUDGETS, InOrder, KitSearch, Mapped
from searches import NEW

from qed.recovery.kit import fitting, library
from qed.recovery.search.strategies import Known
from qed.streams import stream
from qed.swarm.faults import DRAWN, Faults

LIBRARIES, PLAYED, ROWS = "unseen.npz", "unseen-answers.json", "unseen.json"
SEED = baselines.SEED
LEFT_OUT = {
    **{name: [name] for name in searches.kinds()},
    "sensors": ["PMIN", "PMAX", "PRAND"],
    "wheels": ["LW-H", "RW-H", "BW-H"],
}
HIT = {"DEAD": (2, 4, 6)}  # robots of one-sided faults of a new kind; else:
HITS = (2, 5, 8)
BROKEN = (3, 8, 2, 5, 10, 1, 4, 6, 7, 9)  # robots of a new kind in a library; a survey has two
LEAST = 3  # robots of the kind in a mixed fault
STRATEGIES = {
    "keep": "the swarm keeps the normal best",
    "kit": "the kit that has not seen it (sizes: the kit of so many faults)",
    "prior": "its controller with the best mean over its library; no search",
    "portfolio": "its portfolio, one after the other",
    "informed": "a kit that has seen it, of a survey and a library of the same sizes",
    "bo": "the best map-based BO of baselines.py, which has not seen it",
}
CHANGES = [
    "2026-11-19, before any run: all kits but those of sizes have surveys and libraries of the "
    "same sizes, as many of them mixed (before, a kit without a kind lost the part of its survey "
    "of 40 that has it, and the kit with new kinds had more of both); surveys have 20 faults, as "
    "qed.prepare's; a survey of new kinds has them in 3 and 8 robots (before 1 to 4); what is "
    "primary are two means over kinds (before, one number for each kind)",
]
KERNELS = [{}, {"fault": "ROFS"}, {"fault": "LW-H"}, *({"fault": one} for one in NEW.values())]


def drawn(purpose: str, kinds: Sequence[str], count: int, mixed: bool, seen: set[str]) -> str:
    """Draw a combined fault that was not seen: so many robots with a fault of these kinds.

    The others are healthy; in a mixed one they draw from all kinds, and the count is the least.
    """
    ours = [NEW.get(name, name) for name in kinds]
    among = [NEW.get(name, name) for name in dict.fromkeys((*kinds, *DRAWN))]
    for turn in range(10_000):
        seed = stream("unseen", SEED, purpose, turn)
        found = Faults.sample(10, seed, *((among,) if mixed else (ours, count)))
        enough = sum(name in kinds for name in found) >= count
        if enough and ",".join(found) not in seen:
            return ",".join(found)
    raise RuntimeError(f"no fault drawn with {count} robots of {kinds}")


def cases(seen: set[str]) -> list[dict[str, str]]:
    """Return the faults that are met: their group, what is special in them, and the fault."""
    found = []
    for group, each in (("left out", LEFT_OUT), ("new", {name: [name] for name in NEW})):
        for what, kinds in each.items():
            hits = (3, 8) if group == "left out" else HIT.get(what, HITS)
            ways = [(hit, False) for hit in hits] + [(LEAST, True)] * (4 - len(hits))
            for k, (hit, mixed) in enumerate(ways):
                fault = drawn(f"{what} {k}", kinds, hit, mixed, seen)
                found.append({"group": group, "what": what, "faults": fault})
    return found


def plan(size: str = "full") -> dict[str, Any]:
    """Return what is compared."""
    made = baselines.plan(size)
    others = [
        ",".join(Faults.sample(10, stream("unseen", name, k), [n for n in DRAWN if n not in out]))
        for name, out in LEFT_OUT.items()
        if len(out) > 1
        for k in range(40)
    ]
    new = [drawn(f"library {name} {n}", [name], n, False, set()) for n in BROKEN for name in NEW]
    sizes = [{"group": "size", "what": "", "faults": fault} for fault in made["faults"]]
    few = cases({*baselines.simulated(), *others, *new})
    few = [*few[:2], *few[-2:]] if size == "tiny" else few
    return {
        **{
            key: made[key]
            for key in ("size", "keys", "tasks", "seeds", "seconds", "healthy", "fresh", "harm")
        },
        "maps": ["qed"],
        "library": [
            ",".join(one) for one in library.drawn("searches", SEED, baselines.LIBRARY, 10)
        ],
        "others": others,
        "new": new,
        "survey": {"mixed": 7, "one_sided": 13, "new": 8},
        "taught": {"mixed": 40, "one_sided": 80, "new": 40},
        "controllers": 64,
        "each": 3,
        "present": 8,
        "sizes": [10, 20, 40, 80, 160, 320, 640][: 3 if size == "tiny" else None],
        "portfolio": 30,
        "cases": [*few, *sizes],
        "heats": [[None, 1], [400, 8], [160, searches.DEEP]],
        "budgets": BUDGETS,
        "strategies": STRATEGIES,
        "kinds": {name: fault.described() for name, fault in NEW.items()},
        "bo": "that of the tuned ones with the least regret in library faults, relative to "
        "that of all settings, over all of QED's archives, where no kind was left out; kernel and "
        "scale from the survey of the kit that has not seen the kind",
        "primary": "regret after 10 trials of the kit that has not seen a kind, less that of the "
        "informed one: two means over faults of each archive, of all kinds that are left out, and "
        "of all new ones, each with the interval of Student's t over the archives, tasks as strata",
        "secondary": "kinds one by one, sizes, the other searches, harm: intervals are not "
        "adjusted for their number",
        "changes": CHANGES,
        "seed": SEED,
    }


def allowed(fault: str, out: Sequence[str]) -> bool:
    """Return True if none of these kinds is in a fault."""
    return not set(fault.split(",")) & set(out)


def mixture(plan: Plan, sizes: str, out: Sequence[str] = (), new: bool = False) -> list[str]:
    """Return as many mixed and one-sided faults as a survey or a library has, without some kinds.

    With new kinds these take the place of others, from either in proportion.
    """
    count, every = plan[sizes], library.EVERY
    mixed = [one for k, one in enumerate(plan["library"]) if k % every == 0] + plan["others"]
    sided = [one for k, one in enumerate(plan["library"]) if k % every]
    extra = plan["new"][: count["new"]] if new else []
    fewer = round(len(extra) * count["mixed"] / (count["mixed"] + count["one_sided"]))
    return [
        *[one for one in mixed if allowed(one, out)][: count["mixed"] - fewer],
        *[one for one in sided if allowed(one, out)][: count["one_sided"] - len(extra) + fewer],
        *extra,
    ]


def arms(plan: Plan) -> dict[str, tuple[list[str], list[str]]]:
    """Return the kits: the survey that chooses controllers, and the library."""
    wanted = {case["what"] for case in plan["cases"]}
    found = {"all": (mixture(plan, "survey"), mixture(plan, "taught"))}
    for name, out in LEFT_OUT.items():
        if name in wanted:
            found[f"without {name}"] = mixture(plan, "survey", out), mixture(plan, "taught", out)
    found["with new kinds"] = mixture(plan, "survey", new=True), mixture(plan, "taught", new=True)
    for size in plan["sizes"]:
        most = min(size, sum(plan["survey"][kind] for kind in ("mixed", "one_sided")))
        found[f"{size} faults"] = plan["library"][:most], plan["library"][:size]
    return found


def kits_of(case: Mapping[str, str]) -> tuple[str, str]:
    """Return the kit that has not seen what is met, and the one that has."""
    if case["group"] == "left out":
        return f"without {case['what']}", "all"
    return "all", "with new kinds"


def further(plan: Plan, known: baselines.Known) -> list[str]:
    """Return the faults of the kits' surveys that baselines.py has not surveyed."""
    every = dict.fromkeys(one for survey, _ in arms(plan).values() for one in survey)
    return [one for one in every if one not in plan["library"][: len(known.survey)]]


def surveyed(plan: Plan, known: baselines.Known, more: np.ndarray) -> dict[str, np.ndarray]:
    """Return fitness (faults, n) in the survey of each kit; ``more`` is that in further faults."""
    values = dict(zip(plan["library"], known.survey, strict=False))
    values |= dict(zip(further(plan, known), more.astype(np.float64), strict=True))
    return {name: np.array([values[one] for one in some]) for name, (some, _) in arms(plan).items()}


def chosen_rows(plan: Plan, known: baselines.Known, more: np.ndarray) -> dict[str, np.ndarray]:
    """Return the controllers of each kit, ascending."""
    found = {}
    for name, fitness in surveyed(plan, known, more).items():
        rows = fitting.cover(fitting.smoothed(fitness), plan["controllers"])
        if known.running not in rows:
            rows[-1] = known.running
        found[name] = np.sort(rows)
    return found


def measure(place: Path, plan: Plan) -> None:
    """Simulate all that searches of an archive need."""
    _, how = searches.opened(place, plan)
    everyone, known = np.arange(len(how.networks)), baselines.Known(place, plan)
    missing = searches.tried(how, everyone, further(plan, known), 1, "survey")
    survey = missing[:, :, 0].astype(np.float32)
    rows = chosen_rows(plan, known, survey)
    wanted: dict[str, set[int]] = {}
    for name, (_, faults) in arms(plan).items():
        for fault in faults:
            wanted.setdefault(fault, set()).update(rows[name].tolist())
    names = list(wanted)
    flat = np.array([row for fault in names for row in sorted(wanted[fault])])
    each = [fault for fault in names for _ in wanted[fault]]
    union = np.unique(flat)
    learned = np.full((len(names), len(union), plan["each"]), np.nan, np.float16)
    number = {fault: k for k, fault in enumerate(names)}
    at = np.array([number[fault] for fault in each])
    learned[at, np.searchsorted(union, flat)] = searches.pairs(
        how, flat, each, plan["each"], "library"
    )
    again = np.full(len(names), known.running)
    more = searches.pairs(how, again, names, plan["present"], "present")
    likely = searches.likely(known.normal, known.running)
    cases = [case for case in plan["cases"] if case["group"] != "size"]
    met = [case["faults"] for case in cases]
    kits = [np.union1d(*(rows[name] for name in kits_of(case))) for case in cases]
    found = {
        "survey": survey,
        "union": union,
        "learned": learned,
        "more": more.astype(np.float32),
        "tables": searches.tables(how, met, plan["heats"], kits, likely),
        **{f"rows {name}": some for name, some in rows.items()},
    }
    save(place / LIBRARIES, found)


class Kits(baselines.Known):
    """The kits of an archive, and the process of the best map-based optimisation."""

    def __init__(self, place: Path, plan: Plan, best: str) -> None:
        super().__init__(place, plan)
        with np.load(place / LIBRARIES) as arrays:
            self.ours = dict(arrays)
        self.best = best
        self.given = json.loads((place / ANSWERS).read_text("utf-8"))["tuned"][best]
        self.arms = arms(plan)
        every = list(dict.fromkeys(one for _, faults in self.arms.values() for one in faults))
        self.number = {fault: k for k, fault in enumerate(every)}
        self.kits = {name: self._learned(name) for name in self.arms}

    def _learned(self, name: str) -> tuple[np.ndarray, Known, int]:
        """Return a kit: its controllers, what it knows, and the present one's number."""
        rows = self.ours[f"rows {name}"]
        faults = [self.number[one] for one in self.arms[name][1]]
        at = np.searchsorted(self.ours["union"], rows)
        tried = self.ours["learned"][np.ix_(faults, at)].astype(np.float64)
        present = int(np.searchsorted(rows, self.running))
        healthy, places = self.arrays["healthy"][rows], fitting.places_in(self.arrays["own"][rows])
        more = self.ours["more"][faults].astype(np.float64)
        given = tried, more, healthy, present, places, self.plan["portfolio"]
        return rows, fitting.taught(*given)[0], present

    def asked(self, name: str) -> dict[str, replayed.Asked]:
        """Return the searches of a kit."""
        rows, known, present = self.kits[name]
        return {
            "kit": KitSearch(rows, known, present),
            "portfolio": InOrder(rows[known.portfolio].tolist()),
        }

    def mapped(self, name: str) -> Mapped:
        """Return the map-based search that has seen what a kit has."""
        survey = surveyed(self.plan, self, self.ours["survey"])[name]
        return Mapped(self.process(self.best, self.given, fitting.smoothed(survey)))

    def played(self) -> dict[str, Any]:
        """Play all searches in all cases."""
        cases = self.plan["cases"]
        names = [
            *STRATEGIES,
            *(f"{way} {n}" for n in self.plan["sizes"] for way in ("kit", "prior")),
        ]
        found: dict[str, list[list[int]]] = {name: [[] for _ in cases] for name in names}
        again = dict.fromkeys(names, 0)
        every = [*self.ours["tables"], *self.arrays["tables"]]
        for k, (case, table) in enumerate(zip(cases, every, strict=True)):
            table = table.astype(np.float64)
            fixed = {"keep": self.running}
            asked: dict[str, replayed.Asked] = {}
            if case["group"] == "size":
                for size in self.plan["sizes"]:
                    asked[f"kit {size}"] = self.asked(f"{size} faults")["kit"]
                    fixed[f"prior {size}"] = self.favourite(f"{size} faults")
            else:
                ignorant, informed = kits_of(case)
                asked = {**self.asked(ignorant), "bo": self.mapped(ignorant)}
                asked["informed"] = self.asked(informed)["kit"]
                fixed["prior"] = self.favourite(ignorant)
            for name, row in fixed.items():
                found[name][k] = [row] * len(BUDGETS)
            for name, search in asked.items():
                found[name][k], twice = replayed.play(search, table, self.running)
                again[name] += twice
        return {"present": self.running, "winner": searches.winners(every), "found": found,
                "again": again, "bo": self.best,
                "library": {name: len(faults) for name, (_, faults) in self.arms.items()},
                "cells": len(self.normal)}  # fmt: skip

    def favourite(self, name: str) -> int:
        """Return the controller with the best mean over a kit's library."""
        rows, known, _ = self.kits[name]
        return int(rows[np.argmax(known.prior.mean)])


def played(place: Path, plan: Plan, best: str) -> str:
    """Play all searches of an archive, and keep their answers."""
    begin = time.perf_counter()
    save_json(place / PLAYED, Kits(place, plan, best).played())
    return f"{place.name} searched in {time.perf_counter() - begin:.0f} s"


def search(folder: Path, plan: Plan, clock: Clock) -> None:
    """Play all searches, as soon as all of QED's archives are tuned and searched."""
    [algorithm] = plan["maps"]
    each = baselines.tunings(folder, plan, algorithm)
    if each is None:
        return
    lost = baselines.relative(each)
    best = min(lost, key=lambda name: float(lost[name].min()))
    places = lacking(folder, plan, PLAYED, LIBRARIES)
    ready = [place for place in places if (place / ANSWERS).exists()]
    for told in side_by_side(played, ready, plan, best):
        clock.tell(told)


def judge(place: Path, plan: Plan) -> None:
    """Measure answers on fresh trials."""
    searches.judge(place, plan, [case["faults"] for case in plan["cases"]], PLAYED, ROWS)


COMPARISON = Comparison(
    "unseen",
    plan,
    {
        "measure": comparison.in_turn(measure, LIBRARIES, MEASURED),
        "search": search,
        "judge": comparison.in_turn(judge, ROWS, PLAYED),
    },
    ROWS,
    KERNELS,
    tuple(searches.SMALL),
)


if __name__ == "__main__":
    COMPARISON.main(__doc__)
