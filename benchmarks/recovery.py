"""How much a broken swarm recovers: within ten trials, with teams, in all tasks and elsewhere.

    python benchmarks/recovery.py [--parts search tasks conditions teams]
                                  [--faults 8] [--team-faults 8] [--seed 2030]
                                  [--cache FOLDER] [--backend cuda] [--name recovery]

search      all strategies of a kit on the patrolling example
tasks       the other four tasks
conditions  kits where they were not made for: wheel faults only, 8 robots, 4 obstacles; all tasks
teams       normal best, one for all, team by fault, playbook and a search over teams

Archives and kits are those that come with QED.  All faults took no part in making a kit: half of
them are uniform, as the paper's, half one-sided (1 to all robots have faults of one kind).  Regret
is the fitness of the exhaustive winner less that of a search's answer, both on fresh trials; the
present controller's one trial in which the fault was noticed comes before and is free.  All numbers
are written to benchmarks/results/NAME.json as they come.  Exhaustive winners, the costly part, are
kept in the cache for the next run.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it, numpy 2.5 has it no more
    setattr(np, "row_stack", np.vstack)  # noqa: B010

import qed
from qed import speed
from qed.chance import fold
from qed.recovery.kit.play import NOTICED, Step
from qed.recovery.recover import trials_of
from qed.recovery.search.strategies import LEARNED, STRATEGIES
from qed.recovery.trials import Trials, race
from qed.streams import stream
from qed.study import beyond
from qed.swarm.backend import chosen, described

HERE = Path(__file__).parent
EXAMPLE = "patrolling"
OTHERS = ("aggregation", "dispersion", "flocking", "border-patrolling")
BUDGETS = (1, 3, 5, 10, 30)
HARM = 0.005  # by which a search may leave a swarm worse than if it kept its controller
WRONG = (0.0, 0.1, 0.3)  # how often a robot is wrong about its own fault
KINDS = (
    "PMIN PMAX PRAND", "LW-H RW-H BW-H", "ROFS", "PMIN", "PMAX", "PRAND", "LW-H", "RW-H", "BW-H",
)  # fmt: skip


def uniform(robots: int, seed: int, k: int) -> qed.Faults:
    """Draw a fault as the paper does."""
    return qed.Faults.sample(robots, seed=stream("benchmark: uniform", seed, k))


def wheels(robots: int, seed: int, k: int) -> qed.Faults:
    """Draw faults of wheels only; a quarter of the robots stay healthy."""
    among = ["NONE", "LW-H", "RW-H", "BW-H"]
    return qed.Faults.sample(robots, seed=stream("benchmark: wheels", seed, k), among=among)


def one_sided(robots: int, seed: int, k: int) -> qed.Faults:
    """Draw a fault that hits 1 to all robots with one kind only."""
    key = stream("benchmark: one-sided", seed, k)
    broken, kind, *which = fold(key, np.arange(robots + 2)).astype(np.uint64).tolist()
    hit = np.argsort(fold(key, 1, np.arange(robots)))[: 1 + (broken * robots >> 32)]
    group = KINDS[kind * len(KINDS) >> 32].split()
    names = ["NONE"] * robots
    for robot in hit.tolist():
        names[robot] = group[which[robot] * len(group) >> 32]
    return qed.Faults(names)


@dataclass(frozen=True)
class Bench:
    """An archive with its kit, and where its controllers are tried."""

    name: str
    task: str
    archive: qed.Archive
    kit: qed.Kit
    how: Trials
    options: argparse.Namespace

    @property
    def cache(self) -> Path:
        """Folder of what is kept."""
        return Path(self.options.cache)

    def faults(self, draws: Sequence[Any], count: int) -> dict[str, qed.Faults]:
        """Return so many faults of each kind by their names."""
        robots, seed = self.how.environment.robots, self.options.seed
        return {
            f"{draw.__name__.replace('_', '-')} {k}": draw(robots, seed, k)
            for k in range(count)
            for draw in draws
        }

    def winners(self, faults: dict[str, qed.Faults]) -> dict[str, Any]:
        """Return the cell of the best controller in each fault; found ones are kept in a file."""
        path = self.cache / f"winners-{self.name}-{self.options.seed}.json"
        known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        for name, fault in faults.items():
            key = [",".join(fault), len(self.archive)]
            if known.get(name, {}).get("of") == key:
                continue

            def attempt(rows: np.ndarray, met: int, fault: qed.Faults = fault) -> np.ndarray:
                swarms = [([row], fault) for row in rows.tolist()]
                return self.how.fitness(swarms, met, self.how.streams.broken).mean(1)

            best = race(len(self.archive), self.how.trials, attempt).winner
            known[name] = {"of": key, "cell": int(self.archive.occupied[best])}
            path.write_text(json.dumps(known, indent=1))
        return known

    def searched(
        self, draws: Sequence[Any], count: int, strategies: Sequence[str]
    ) -> dict[str, Any]:
        """Play strategies on faults of some kinds; return every number."""
        faults = self.faults(draws, count)
        best, rows = self.winners(faults), {}
        learned: list[list[Step]] = []
        for strategy in strategies:
            # One after the other, as if each were alone: so their trials are the same.
            how = self.kit, [strategy], list(faults.values()), self.how, self.options.seed
            played = beyond.played(*how, BUDGETS[-1])[strategy]
            rows[strategy] = [answers(steps) for steps in played]
            learned = played if strategy == LEARNED else learned
        cases = []
        for k, (name, fault) in enumerate(faults.items()):
            mine = sorted(
                {self.kit.present, *(r for one in rows.values() for r in one[k].values())}
            )
            winner = self.archive.controller(best[name]["cell"])
            fresh = beyond.fresh(
                [*(self.kit.controllers[row] for row in mine), winner], fault, self.how
            )
            value = dict(zip([*mine, "winner"], fresh.mean(1).tolist(), strict=True))
            found = {
                strategy: {key: value[row] for key, row in one[k].items()}
                for strategy, one in rows.items()
            }
            kept, ended = (
                fresh[mine.index(row)] for row in (self.kit.present, rows[LEARNED][k]["end in 10"])
            )
            cases.append(
                {
                    "name": name,
                    "faults": ",".join(fault),
                    "kept": value[self.kit.present],
                    "winner": value["winner"],
                    "found": found,
                    "believed": believed(learned[k]),
                    "gain": float((ended - kept).mean()),
                    "gain_error": float((ended - kept).std(ddof=1)) / np.sqrt(self.how.fresh),
                }
            )
        return {
            "task": self.task,
            "environment": str(self.how.environment),
            "healthy": self.kit.findings["healthy"],
            "decision_ms": 1e3 * self.decision(learned),
            "cases": cases,
        }

    def decision(self, played: list[list[Step]]) -> float:
        """Return how long (s) a decision takes, by the median: to be told, and to ask."""
        walls = []
        for steps in played:
            search = self.kit.search()
            for step in steps[: NOTICED + 10]:
                begin = time.perf_counter()
                search.tell(step.fitness, self.kit.controllers[step.row])
                search.ask()
                walls.append(time.perf_counter() - begin)
        return float(np.median(walls))

    def teams(self, count: int) -> dict[str, Any]:
        """Find teams in uniform faults; return the fitness of what a swarm may run."""
        faults = list(self.faults([uniform], count).values())
        found = qed.recover(
            self.archive, self.task, faults, by="fault", trials=10, seconds=400.0,
            seed=self.options.seed, fresh=self.how.fresh, threads=self.how.threads,
            backend=self.how.backend,
        )  # fmt: skip
        how = {"fresh": self.how.fresh, "threads": self.how.threads, "backend": self.how.backend}
        cases = [
            {
                "faults": ",".join(one.faults),
                "normal": one.normal,
                "kept": one.broken,
                "one for all": one.one_for_all,
                "team": one.performance,
            }
            for one in found
        ]
        playbook = [self.kit.playbook.team(fault, anyway=True) for fault in faults]
        fresh = beyond.fresh(playbook, faults, self.how).mean(1)
        for case, value in zip(cases, fresh.tolist(), strict=True):
            case["playbook"] = value
        seed = self.options.seed
        for case, one in zip(cases, self.kit.recover(faults=faults, seed=seed, **how), strict=True):
            case["search"] = one.performance
        for wrong in WRONG:
            given = self.kit.recover(
                faults=faults, by="fault", misdiagnosis_rate=wrong, seed=seed, **how
            )
            for case, one in zip(cases, given, strict=True):
                case[f"search by fault, {wrong:.0%} wrong"] = one.performance
        return {"task": self.task, "trusted": self.kit.playbook.trusted, "cases": cases}


def answers(steps: list[Step]) -> dict[str, int]:
    """Return what a search would use after some trials, and where it ends within ten or thirty."""
    found = {str(n): beyond.answer(steps, n) for n in BUDGETS}
    own = steps[NOTICED - 1 :]
    end = next((k for k, step in enumerate(own) if step.done), len(own) - 1)
    return found | {"end in 10": own[min(end, 10)].best, "end": own[end].best}


def believed(steps: list[Step]) -> dict[str, list[float]]:
    """Return the ends of the interval of 90 % of what a search would use after some trials."""
    last = {n: steps[min(NOTICED + n, len(steps)) - 1].believed for n in BUDGETS}
    return {str(n): [belief.low, belief.high] for n, belief in last.items()}


def held(cases: list[dict[str, Any]], budget: str) -> float:
    """Return how often the interval of what a search would use holds its mean on fresh trials."""
    inside = [
        case["believed"][budget][0] <= case["found"][LEARNED][budget] <= case["believed"][budget][1]
        for case in cases
    ]
    return float(np.mean(inside))


def regrets(result: dict[str, Any]) -> list[str]:
    """Return regret x 1000 on fresh trials, mean over faults of each kind, a line each."""
    lines = []
    for kind in dict.fromkeys(case["name"].rsplit(" ", 1)[0] for case in result["cases"]):
        cases = [case for case in result["cases"] if case["name"].startswith(kind)]
        keys = list(cases[0]["found"][LEARNED])
        rows = {"keep": [[case["winner"] - case["kept"]] * len(keys) for case in cases]}
        for strategy in cases[0]["found"]:
            rows[strategy] = [
                [case["winner"] - case["found"][strategy][key] for key in keys] for case in cases
            ]
        lines.append(f"{kind} ({len(cases)})".ljust(20) + "".join(f"{key:>10}" for key in keys))
        for name, values in rows.items():
            means = 1000.0 * np.mean(values, axis=0)
            lines.append(f"  {name:18}" + "".join(f"{value:10.1f}" for value in means))
        at_ten = [case["winner"] - case["found"][LEARNED]["10"] for case in cases]
        error = np.std(at_ten, ddof=1) / np.sqrt(len(at_ten))
        healthy = result["healthy"]
        lines.append(
            f"  at 10 trials {np.mean(at_ten) / healthy:.2%} +- {error / healthy:.2%} of the "
            f"normal best's {healthy:.3f}"
        )
    gains = np.array([[case["gain"], case["gain_error"]] for case in result["cases"]])
    lost = gains[:, 0] < -HARM
    clearly = lost & (gains[:, 0] < -HARM - 2.0 * gains[:, 1])
    lines.append(
        f"  end within 10 trials: gain {gains[:, 0].mean():+.4f}; worse than kept by more than "
        f"{HARM} in {lost.sum()} of {len(gains)}, clearly so in {clearly.sum()}"
    )
    lines.append(
        f"  intervals of 90 % hold the answer's fitness in {held(result['cases'], '3'):.0%} after "
        f"3 trials, {held(result['cases'], '10'):.0%} after 10; "
        f"a decision takes {result['decision_ms']:.1f} ms"
    )
    return lines


def resiliences(result: dict[str, Any]) -> list[str]:
    """Return the mean resilience of what a swarm may run, with its gain over one for all."""
    cases, lines = result["cases"], []
    normal, alone = (np.array([case[key] for case in cases]) for key in ("normal", "one for all"))
    for key in [key for key in cases[0] if key not in ("faults", "normal")]:
        values = np.array([case[key] for case in cases])
        apart = (values - alone) / normal
        error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else np.nan
        lines.append(
            f"  {key:28}{(values / normal - 1).mean():+8.3f}   {apart.mean():+.3f} +- {error:.3f}"
        )
    trust = "trusted" if result["trusted"] else "not trusted"
    return [f"resilience of {len(cases)} faults, against one for all; playbook {trust}", *lines]


def opened(options: argparse.Namespace, task: str) -> Bench:
    """Return the archive of a task that comes with QED, with the kit that comes with it."""
    archive = qed.load_example(task)
    how = trials_of(
        archive, task, trials=10, seconds=400.0, seed=options.seed, fresh=options.fresh,
        threads=options.threads, backend=options.backend,
    )  # fmt: skip
    return Bench(task, task, archive, qed.Kit.load(f"example:{task}-kit"), how, options)


def run(options: argparse.Namespace, part: str, path: Path) -> None:
    """Measure a part; print its tables, and write every number, one after the other."""
    both, few = (uniform, one_sided), max(options.faults // 4, 2)
    found: dict[str, Any] = {"seed": options.seed}
    found["on"] = described(chosen(options.backend), speed.cores())

    def keep(name: str, result: dict[str, Any], words: list[str]) -> None:
        found[name] = result
        known = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**known, part: found}, indent=1) + "\n")
        print(f"\n{part}: {name}", *words, sep="\n", flush=True)

    if part == "search":
        result = opened(options, EXAMPLE).searched(both, options.faults, list(STRATEGIES))
        keep(EXAMPLE, result, regrets(result))
    if part == "conditions":
        for task in [EXAMPLE, *OTHERS]:
            bench = opened(options, task)
            for name, draws, change in (
                ("wheel faults only", [wheels], {}),
                ("8 robots", both, {"robots": 8}),
                ("4 obstacles", both, {"obstacles": 4}),
            ):
                where = replace(bench.how, environment=qed.Environment(**change))
                other = replace(bench, how=where, name=f"{bench.name}-{name.replace(' ', '-')}")
                result = other.searched(draws, few, [LEARNED])
                keep(f"{task}, {name}", result, regrets(result))
    if part == "tasks":
        for task in OTHERS:
            result = opened(options, task).searched(both, options.faults, [LEARNED])
            keep(task, result, regrets(result))
    if part == "teams":
        for task in [EXAMPLE, *OTHERS]:
            result = opened(options, task).teams(options.team_faults)
            keep(task, result, resiliences(result))


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = ("search", "conditions", "tasks", "teams")
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--faults", type=int, default=8, help="of each kind")
    parser.add_argument("--team-faults", type=int, default=8)
    parser.add_argument("--seed", type=int, default=2030)
    parser.add_argument("--fresh", type=int, default=50)
    parser.add_argument("--cache", default="recovery-cache", help="folder of winners")
    parser.add_argument("--name", default="recovery")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--backend", default="cpu")
    options = parser.parse_args()
    Path(options.cache).mkdir(parents=True, exist_ok=True)
    path = HERE / "results" / f"{options.name}.json"
    for part in options.parts:
        begun = time.perf_counter()
        run(options, part, path)
        print(f"{part}: {time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
