"""What must a prior of faults have seen?  Kits without a kind of fault, meeting it; sizes.

    python benchmarks/unseen.py plan                       # what is compared, before anything runs
    python benchmarks/unseen.py run FOLDER [--minutes 9]   # goes on where it was stopped
    python benchmarks/unseen.py gather FOLDER              # then unseen_page.py writes the page

FOLDER is that of baselines.py: QED's archives there, what was measured of them, and the settings
that were tuned.  Kits here are made from one list of library faults: without one kind, or without
all of the sensors or wheels; with kinds that no other library has (``searches.NEW``); and from 10
to 640 of them.  Their 64 controllers are those that together cover the kit's part of the survey;
else they are made as ``qed.prepare`` does.  ``measure``, ``search`` and ``judge`` are verbs, too.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import baselines
import numpy as np
import replayed
import searches
import why
from baselines import ANSWERS, MEASURED
from replayed import BUDGETS, InOrder, KitSearch, Mapped
from searches import NEW, Clock

from qed import speed
from qed.recovery.kit import fitting, library
from qed.recovery.search.strategies import Known
from qed.streams import stream
from qed.swarm.backend import chosen, described
from qed.swarm.faults import DRAWN, Faults

PLAN = searches.RESULTS / "unseen-plan.json"
NUMBERS = searches.RESULTS / "unseen.json"
LIBRARIES, PLAYED, ROWS = "unseen.npz", "unseen-answers.json", "unseen.json"
SEED = baselines.SEED
LEFT_OUT = {
    **{name: [name] for name in searches.kinds()},
    "sensors": ["PMIN", "PMAX", "PRAND"],
    "wheels": ["LW-H", "RW-H", "BW-H"],
}
HIT = {"DEAD": (2, 4, 6)}  # robots of one-sided faults of a new kind; else:
HITS = (2, 5, 8)
LEAST = 3  # robots of the kind in a mixed fault
STRATEGIES = {
    "keep": "the swarm keeps the normal best",
    "kit": "the kit that has not seen it (sizes: the kit of so many faults)",
    "prior": "its controller with the best mean over its library; no search",
    "portfolio": "its portfolio, one after the other",
    "informed": "a kit that has seen it, of a library of the same size or larger",
    "bo": "the best map-based BO of baselines.py, which has not seen it",
}
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
    new = [
        drawn(f"library {name} {n}", [name], n, False, set()) for n in range(1, 11) for name in NEW
    ]
    sizes = [{"group": "size", "what": "", "faults": fault} for fault in made["faults"]]
    few = cases({*baselines.simulated(), *others, *new})
    few = [*few[:2], *few[-2:]] if size == "tiny" else few
    return {
        **{key: made[key] for key in ("size", "tasks", "seeds", "seconds", "healthy", "fresh")},
        "maps": ["qed"],
        "library": [
            ",".join(one) for one in library.drawn("searches", SEED, baselines.LIBRARY, 10)
        ],
        "others": others,
        "new": new,
        "surveyed": 40,
        "surveyed_new": 16,
        "controllers": 64,
        "each": 3,
        "present": 8,
        "mixed": 40,
        "one_sided": 80,
        "sizes": [10, 20, 40, 80, 160, 320, 640][: 3 if size == "tiny" else None],
        "portfolio": 30,
        "cases": [*few, *sizes],
        "heats": [[None, 1], [400, 8], [160, searches.DEEP]],
        "budgets": BUDGETS,
        "strategies": STRATEGIES,
        "harm": 0.005,
        "kinds": {name: fault.described() for name, fault in NEW.items()},
        "bo": "that of the tuned ones with the least regret in library faults, relative to "
        "that of all settings, over all of QED's archives; kernel and scale from the "
        "part of the survey that the kit has seen",
        "primary": "regret after 10 trials of the kit that has not seen a kind, less that of the "
        "informed one, mean over the faults of that kind of each archive, with the interval of "
        "Student's t over the archives, tasks as strata",
        "seed": SEED,
    }


def allowed(fault: str, out: Sequence[str]) -> bool:
    """Return True if none of these kinds is in a fault."""
    return not set(fault.split(",")) & set(out)


def mixture(plan: Mapping[str, Any], out: Sequence[str] = ()) -> list[str]:
    """Return a library of so many mixed and one-sided faults without some kinds."""
    every = library.EVERY
    mixed = [one for k, one in enumerate(plan["library"]) if k % every == 0] + plan["others"]
    sided = [one for k, one in enumerate(plan["library"]) if k % every]
    return [
        *[one for one in mixed if allowed(one, out)][: plan["mixed"]],
        *[one for one in sided if allowed(one, out)][: plan["one_sided"]],
    ]


def arms(plan: Mapping[str, Any]) -> dict[str, tuple[list[str], list[str]]]:
    """Return the kits: the survey that chooses controllers, and the library."""
    survey = plan["library"][: plan["surveyed"]]
    wanted = {case["what"] for case in plan["cases"]}
    found = {"all": (survey, mixture(plan))}
    for name, out in LEFT_OUT.items():
        if name in wanted:
            some = [one for one in survey if allowed(one, out)]
            found[f"without {name}"] = some, mixture(plan, out)
    seen = plan["new"][: plan["surveyed_new"]]
    found["with new kinds"] = [*survey, *seen], [*mixture(plan), *plan["new"]]
    for size in plan["sizes"]:
        found[f"{size} faults"] = survey[:size], plan["library"][:size]
    return found


def chosen_rows(place: Path, plan: Mapping[str, Any], new: np.ndarray) -> dict[str, np.ndarray]:
    """Return the controllers of each kit, ascending; ``new`` is the survey of new kinds."""
    known = baselines.Known(place, plan)
    surveyed = dict(zip(plan["library"], known.survey, strict=False))
    surveyed |= dict(zip(plan["new"], new, strict=False))
    found = {}
    for name, (survey, _) in arms(plan).items():
        fitness = fitting.smoothed(np.array([surveyed[one] for one in survey]))
        rows = fitting.cover(fitness, plan["controllers"])
        if known.running not in rows:
            rows[-1] = known.running
        found[name] = np.sort(rows)
    return found


def measure(place: Path, plan: Mapping[str, Any]) -> None:
    """Simulate all that searches of an archive need."""
    _, how = searches.opened(place, plan)
    everyone, running = np.arange(len(how.networks)), baselines.Known(place, plan).running
    seen = plan["new"][: plan["surveyed_new"]]
    new = searches.tried(how, everyone, seen, 1, "survey")[:, :, 0].astype(np.float32)
    rows = chosen_rows(place, plan, new)
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
    again = np.full(len(names), running)
    more = searches.pairs(how, again, names, plan["present"], "present")
    likely = searches.likely(baselines.Known(place, plan).normal, running)
    met = [case["faults"] for case in plan["cases"] if case["group"] != "size"]
    found = {
        "new": new,
        "union": union,
        "learned": learned,
        "more": more.astype(np.float32),
        "tables": searches.tables(how, met, plan["heats"], union, likely),
        **{f"rows {name}": some for name, some in rows.items()},
    }
    searches.save(place / LIBRARIES, found)


class Kits(baselines.Known):
    """The kits of an archive, and the process of the best map-based optimisation."""

    def __init__(self, place: Path, plan: Mapping[str, Any], best: str) -> None:
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

    def process(self, name: str) -> Mapped:  # type: ignore[override]
        """Return the map-based search that has seen what a kit has."""
        part = [k for k, one in enumerate(self.plan["library"][: len(self.survey)])
                if one in self.arms[name][0]]  # fmt: skip
        return Mapped(super().process(self.best, self.given, fitting.smoothed(self.survey[part])))

    def played(self) -> dict[str, Any]:
        """Play all searches in all cases."""
        cases = self.plan["cases"]
        names = [
            *STRATEGIES,
            *(f"{way} {n}" for n in self.plan["sizes"] for way in ("kit", "prior")),
        ]
        found: dict[str, list[list[int]]] = {name: [[] for _ in cases] for name in names}
        again = 0
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
                left_out = case["group"] == "left out"
                ignorant = f"without {case['what']}" if left_out else "all"
                asked = {**self.asked(ignorant), "bo": self.process(ignorant)}
                asked["informed"] = self.asked("all" if left_out else "with new kinds")["kit"]
                fixed["prior"] = self.favourite(ignorant)
            for name, row in fixed.items():
                found[name][k] = [row] * len(BUDGETS)
            for name, search in asked.items():
                found[name][k], twice = replayed.play(search, table, self.running)
                again += twice
        return {"present": self.running, "winner": searches.winners(every), "found": found,
                "again": again, "bo": self.best,
                "library": {name: len(faults) for name, (_, faults) in self.arms.items()},
                "cells": len(self.normal)}  # fmt: skip

    def favourite(self, name: str) -> int:
        """Return the controller with the best mean over a kit's library."""
        rows, known, _ = self.kits[name]
        return int(rows[np.argmax(known.prior.mean)])


def best_of(folder: Path, plan: Mapping[str, Any]) -> str:
    """Return the tuned map-based optimisation of least regret in library faults."""
    lost = baselines.relative(folder, plan)
    return min(lost, key=lambda name: float(lost[name].min()))


def search(place: Path, plan: Mapping[str, Any], best: str) -> str:
    """Play all searches of an archive, and keep their answers."""
    begin = time.perf_counter()
    answers = Kits(place, plan, best).played()
    (place / PLAYED).write_text(json.dumps(answers) + "\n", "utf-8")
    return f"{place.name} searched in {time.perf_counter() - begin:.0f} s"


def judge(place: Path, plan: Mapping[str, Any]) -> None:
    """Measure answers on fresh trials, and keep the rows of an archive."""
    _, how = searches.opened(place, plan)
    answers = json.loads((place / PLAYED).read_text("utf-8"))
    found, spent = searches.judged(how, answers, [case["faults"] for case in plan["cases"]])
    task, _, seed = place.name.rsplit("-", 2)
    told = {key: answers[key] for key in ("again", "bo", "library", "cells")}
    made = {**speed.machine(), "on": described(chosen("auto"), speed.cores())}
    table = {"task": task, "seed": int(seed), **told, **found, "fresh_trials": spent, "made": made}
    (place / ROWS).write_text(json.dumps(table) + "\n", "utf-8")


def run(folder: Path, plan: Mapping[str, Any], verbs: Sequence[str], clock: Clock) -> None:
    """Do what archives still lack."""
    if "measure" in verbs:
        why.compile_all(KERNELS)
    if "measure" in verbs:
        searches.in_turn(measure, searches.places(folder, plan, LIBRARIES, MEASURED), plan, clock)
    if "search" in verbs and not clock.up:
        each = searches.places(folder, plan, PLAYED, LIBRARIES)
        each = [place for place in each if (place / ANSWERS).exists()]
        best = best_of(folder, plan) if each else ""
        for told in searches.side_by_side(search, each, plan, best):
            clock.tell(told)
    if "judge" in verbs:
        searches.in_turn(judge, searches.places(folder, plan, ROWS, PLAYED), plan, clock)


def main() -> None:
    """Run from the command line."""
    steps = ("measure", "search", "judge")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("verb", choices=("plan", "run", *steps, "gather"))
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--size", default="full", choices=("full", *searches.SMALL))
    parser.add_argument("--out", type=Path, default=NUMBERS)
    options = parser.parse_args()
    made = plan(options.size)
    if options.verb == "plan":
        PLAN.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    elif options.verb == "gather":
        archives = searches.gathered(options.folders, ROWS, ("task", "seed"))
        options.out.write_text(json.dumps({**made, "archives": archives}) + "\n", "utf-8")
        print(f"{len(archives)} archives in {options.out.name}")
    else:
        verbs = steps if options.verb == "run" else (options.verb,)
        run(options.folders[0], made, verbs, Clock(options.minutes))


if __name__ == "__main__":
    main()
