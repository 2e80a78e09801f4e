"""How much fitness a search in a broken swarm loses against the best of the whole archive.

    python benchmarks/recovery.py [--archive FILE] [--task patrolling] [--kit FILE]
                                  [--faults 32] [--seed 2026] [--name recovery]

Plays all strategies of a kit on faults that took no part in making it: half of them uniform, as
the paper's, half one-sided (1 to all robots have faults of one kind).  Regret is the fitness of
the exhaustive winner less that of a strategy's answer, both on fresh trials, after 1, 3, 5, 10
and 30 trials; the present controller's one trial in which the fault was noticed comes before and
is free.  Prints a table and writes benchmarks/results/NAME.json.  The exhaustive winners are the
costly part: they are kept in the file of --winners, and a second run uses them again.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import qed
from qed.chance import fold
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.play import Step
from qed.recovery.kit.recovered import NOTICED, simulated
from qed.recovery.protocol import streams
from qed.recovery.race import race
from qed.recovery.search.strategies import STRATEGIES
from qed.recovery.trials import Trials
from qed.streams import stream
from qed.swarm.job import Ready

HERE = Path(__file__).parent
BUDGETS = (1, 3, 5, 10, 30)
KINDS = (
    "PMIN PMAX PRAND",
    "LW-H RW-H BW-H",
    "ROFS",
    "PMIN",
    "PMAX",
    "PRAND",
    "LW-H",
    "RW-H",
    "BW-H",
)


def uniform(robots: int, seed: int, k: int) -> qed.Faults:
    """Draw a fault as the paper does."""
    return qed.Faults.sample(robots, seed=stream("benchmark: uniform", seed, k))


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


def winners(
    options: argparse.Namespace, archive: qed.Archive, faults: dict[str, qed.Faults], how: Trials
) -> dict[str, dict[str, Any]]:
    """Return the cell of the best controller in each fault; found ones are kept in a file."""
    path = Path(options.winners)
    known: dict[str, dict[str, Any]] = json.loads(path.read_text()) if path.exists() else {}
    solutions = [Ready(network) for network in archive.genomes().networks()]
    for name, fault in faults.items():
        if known.get(name, {}).get("faults") == ",".join(fault):
            continue
        begun = time.perf_counter()

        def attempt(rows: np.ndarray, met: int, fault: qed.Faults = fault) -> np.ndarray:
            swarms = [(solutions[row], fault) for row in rows.tolist()]
            return how.fitness(swarms, met, how.streams.broken).mean(1)

        end = race(len(solutions), how.trials, attempt)
        best = end.winner
        known[name] = {
            "faults": ",".join(fault),
            "cell": int(archive.occupied[best]),
            "claimed": float(end.fitness[best]),
        }
        path.write_text(json.dumps(known, indent=1))
        print(
            f"{name}: cell {known[name]['cell']}, {time.perf_counter() - begun:.0f} s", flush=True
        )
    return known


def answers(steps: list[Step], budget: int) -> int:
    """Return the controller that a search would use after so many trials of its own."""
    return steps[min(NOTICED + budget, len(steps)) - 1].best


def ended(steps: list[Step]) -> int:
    """Return after how many trials of its own a search stops by itself."""
    return next(
        (k for k, step in enumerate(steps[NOTICED - 1 :]) if step.done), len(steps) - NOTICED
    )


def measured(
    options: argparse.Namespace, archive: qed.Archive, kit: Kit, how: Trials
) -> dict[str, Any]:
    """Play all strategies on all faults; return every number."""
    robots = how.environment.robots
    draws = {"uniform": uniform, "one-sided": one_sided}
    faults = {
        f"{name} {k}": draw(robots, options.seed, k)
        for k in range(options.faults)
        for name, draw in draws.items()
    }
    best = winners(options, archive, faults, how)
    if options.only_winners:
        return {}
    rows: dict[str, list[dict[str, int]]] = {}
    for strategy in options.strategies:
        begun = time.perf_counter()
        searches = [kit.search(strategy, seed=k) for k in range(len(faults))]
        played = simulated(
            kit, searches, list(faults.values()), how, options.seed, BUDGETS[-1], stop=False
        )
        rows[strategy] = [
            {str(budget): answers(steps, budget) for budget in BUDGETS}
            | {"end": answers(steps, ended(steps)), "ended": ended(steps)}
            for steps in played
        ]
        print(f"{strategy}: {time.perf_counter() - begun:.0f} s", flush=True)
    cases = []
    for k, (name, fault) in enumerate(faults.items()):
        mine = sorted(
            {
                kit.present,
                *(one[k][key] for one in rows.values() for key in one[k] if key != "ended"),
            }
        )
        swarms = [(Ready(kit.controllers[row].network()), fault) for row in mine]
        cell = best[name]["cell"]
        swarms.append((Ready(archive.take([cell]).networks()[0]), fault))
        fresh = how.again(swarms)
        value = dict(zip([*mine, "winner"], fresh.mean(1).tolist(), strict=True))
        found = {
            strategy: {key: value[row] for key, row in one[k].items() if key != "ended"}
            for strategy, one in rows.items()
        }
        cases.append(
            {
                "name": name,
                "faults": ",".join(fault),
                "kept": value[kit.present],
                "winner": value["winner"],
                "found": found,
                "ended": {strategy: one[k]["ended"] for strategy, one in rows.items()},
                "error": float((fresh[-1] - fresh[0]).std(ddof=1)) / np.sqrt(how.fresh),
            }
        )
    return {
        "task": how.task,
        "seed": options.seed,
        "cases": cases,
        "environment": str(how.environment),
    }


def table(result: dict[str, Any]) -> str:
    """Return regret x 1000, mean over faults of each kind."""
    keys = [*map(str, BUDGETS), "end"]
    lines = [f"{result['task']}, regret x 1000 on fresh trials"]
    for kind in ("uniform", "one-sided"):
        cases = [case for case in result["cases"] if case["name"].startswith(kind)]
        if not cases:
            continue
        kept = 1000 * np.mean([case["winner"] - case["kept"] for case in cases])
        lines += [
            "",
            f"{kind} ({len(cases)} faults)",
            f"{'':12}" + "".join(f"{key:>8}" for key in keys) + "  trials",
        ]
        lines.append(f"{'keep':12}" + f"{kept:8.1f}" * len(keys))
        for strategy in cases[0]["found"]:
            regret = [
                1000 * np.mean([case["winner"] - case["found"][strategy][key] for case in cases])
                for key in keys
            ]
            ended = np.mean([case["ended"][strategy] for case in cases])
            lines.append(
                f"{strategy:12}" + "".join(f"{one:8.1f}" for one in regret) + f"{ended:8.1f}"
            )
        worst = max(case["kept"] - case["found"]["learned"]["end"] for case in cases)
        lines.append(f"largest loss of learned against keeping, at its end: {1000 * worst:.1f}")
    return "\n".join(lines)


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--archive", default="", help="file (default: the example)")
    parser.add_argument("--task", default="patrolling")
    parser.add_argument("--kit", default="", help="file (default: prepare one)")
    parser.add_argument("--faults", type=int, default=32, help="of each kind")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--fresh", type=int, default=50)
    parser.add_argument("--robots", type=int, default=10)
    parser.add_argument("--obstacles", type=int, default=0)
    parser.add_argument("--strategies", nargs="+", default=list(STRATEGIES))
    parser.add_argument("--name", default="recovery")
    parser.add_argument("--winners", default="winners.json", help="file that keeps the winners")
    parser.add_argument("--only-winners", action="store_true")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--backend", default="cpu")
    options = parser.parse_args()
    archive = (
        qed.Archive.load(options.archive) if options.archive else qed.load_example(options.task)
    )
    where = qed.Environment(robots=options.robots, obstacles=options.obstacles)
    how = Trials(
        options.task, 10, options.fresh, streams=streams(options.seed), threads=options.threads
    )
    how = replace(how, environment=where, backend=options.backend)
    if options.kit:
        kit = Kit.load(options.kit)
    elif not options.only_winners:
        kit = qed.prepare(archive, options.task, threads=options.threads, backend=options.backend)
    else:
        kit = None
    result = measured(options, archive, kit, how)
    if result:
        print(table(result))
        path = HERE / "results" / f"{options.name}.json"
        path.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
