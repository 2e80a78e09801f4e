"""Controllers that were evolved here, run in the original simulator (argos-evolved)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import recordings as rec

import qed

# The original was run with two noise seeds; ours is drawn four times with two seeds each.
DRAWS = ((1, 2), (3, 4), (5, 6), (7, 8))
COLUMNS = {task: task.replace("-", "_") for task in rec.TASKS}
SIGNIFICANT = 2.0  # standard errors

# What the recordings' description tells of all that was recorded, with our simulator of then; half
# of the recoveries and a quarter of the controllers are not among the files.
WHOLE = {
    "evolved": {
        "controllers": 120,
        "correlation": 0.9994,
        "mean_absolute_error": 0.0056,
        "bias": 0.0007,
        "bias_error": 0.0010,
        "argos_against_itself": 0.0061,
        "rms_z": dict(zip(rec.TASKS, (0.72, 1.00, 1.44, 1.28, 0.60), strict=True)),
        "argos_rms_z": dict(zip(rec.TASKS, (0.63, 0.90, 0.81, 1.09, 0.65), strict=True)),
    },
    "recoveries": {
        "pairs": 60,
        "another_controller": 58,
        "better_in_argos": 55,
        "significant_in_ours": 47,
        "significant_in_both": 47,
        "impact": {"argos": -0.307, "ours": -0.312},
        "resilience": {"argos": -0.191, "ours": -0.195, "correlation": 0.995},
    },
}

Trials = dict[tuple[int, str], np.ndarray]  # fitness of one controller by (seed, name)


def described(folder: Path, file: str) -> dict[str, dict[str, Any]]:
    """Return what is known of the controllers of a file, by name."""
    return {c["name"]: c for c in json.loads((folder / file).read_text())["controllers"]}


def theirs(table: rec.Table, known: dict[str, dict[str, Any]]) -> Trials:
    """Return the recorded fitness of each controller at its own task."""
    return {
        (int(seed), name): trials[COLUMNS[known[name]["task"]]]
        for seed, part in rec.groups(table, "seed")
        for name, trials in rec.groups(part, "controller")
    }


def ours(
    root: Path, table: rec.Table, known: dict[str, dict[str, Any]], **more: Any
) -> dict[int, dict[str, np.ndarray]]:
    """Simulate the controllers of a table from the recorded poses; by seed, then name."""
    names = list(dict.fromkeys(table["controller"].tolist()))
    trials = np.unique(table["trial"]).astype(int)
    start = rec.starts(rec.read(root / "argos" / "f_normal_init.csv"))
    found = {}
    for seed in (seed for draw in more.pop("draws") for seed in draw):
        outcome = qed.simulate(
            [qed.Controller(known[n]["connections"], known[n]["bias"]) for n in names],
            qed.Environment(),
            tasks=rec.TASKS,
            start=qed.Start(start.poses[trials]),
            seed=seed,
            **more,
        )
        found[seed] = {n: outcome.fitness[known[n]["task"]][k] for k, n in enumerate(names)}
    return found


def error_of_mean(values: np.ndarray) -> float:
    """Return the standard error of a mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def healthy(root: Path, draws: tuple[tuple[int, ...], ...] = DRAWS) -> dict[str, Any]:
    """Compare the fitness of evolved controllers, each at its own task, without faults."""
    folder = root / "argos-evolved"
    known = described(folder, "t1_controllers.json")
    table = rec.read(folder / "t1_fitness.csv.gz")
    original = theirs(table, known)
    again = ours(root, table, known, draws=draws)
    points = []
    for name, about in known.items():
        seeds = [original[seed, name] for seed in (1, 2) if (seed, name) in original]
        pooled = np.concatenate(seeds)
        pools = [np.concatenate([again[seed][name] for seed in draw]) for draw in draws]
        every = np.concatenate(pools)
        singles = [again[seed][name] for draw in draws for seed in draw]
        point = {
            **{key: about[key] for key in ("task", "algorithm", "replicate", "kind")},
            "name": name,
            "argos": pooled.mean(),
            "argos_error": error_of_mean(pooled),
            "ours": every.mean(),
            "ours_error": error_of_mean(every),
            "z": [float(rec.standard_errors(mine, pooled)) for mine in pools],
            "pooled_errors": [mine.mean() - pooled.mean() for mine in pools],
            "seed_errors": [mine.mean() - one.mean() for mine in singles for one in seeds],
        }
        if len(seeds) == 2:
            point["argos_z"] = float(rec.standard_errors(*seeds))
            point["argos_seed_error"] = seeds[0].mean() - seeds[1].mean()
        points.append(point)
    found = {
        "all": agreement(points),
        "tasks": {task: agreement([p for p in points if p["task"] == task]) for task in rec.TASKS},
    }
    for point in points:
        point["z"] = rec.root_mean_square(np.array(point["z"]))
        del point["pooled_errors"], point["seed_errors"]
    return {**found, "whole_recording": WHOLE["evolved"], "controllers": points}


def agreement(points: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the errors of some controllers, and of the original against itself."""
    argos, mine = (np.array([p[side] for p in points]) for side in ("argos", "ours"))
    itself = [p for p in points if "argos_z" in p]
    return {
        "controllers": len(points),
        "argos": argos.mean(),
        "ours": mine.mean(),
        "correlation": np.corrcoef(argos, mine)[0, 1],
        "bias": (mine - argos).mean(),
        "bias_error": error_of_mean(mine - argos),
        "mean_absolute_error": np.mean([np.abs(p["pooled_errors"]) for p in points]),
        "rms_z": rec.root_mean_square(np.array([p["z"] for p in points])),
        "one_seed": {
            "mean_absolute_error": np.mean([np.abs(p["seed_errors"]).mean() for p in points]),
            "argos_against_itself": np.mean([abs(p["argos_seed_error"]) for p in itself]),
            "argos_rms_z": rec.root_mean_square(np.array([p["argos_z"] for p in itself])),
            "controllers": len(itself),
        },
    }


def recoveries(root: Path, draws: tuple[tuple[int, ...], ...] = DRAWS) -> dict[str, Any]:
    """Compare what faults cost and what the recovery that was chosen here gives back."""
    folder = root / "argos-evolved"
    known = described(folder, "t2_controllers.json")
    table = rec.read(folder / "t2_fitness.csv.gz")
    listed = json.loads((folder / "t2_faults.json").read_text())
    faults = {str(entry["index"]): qed.Faults(entry["faults"]) for entry in listed}
    fitness: dict[str, dict[tuple[str, str], np.ndarray]] = {"argos": {}, "ours": {}}
    for fault, part in rec.groups(table, "fault"):
        broken = {"faults": faults[fault]} if fault in faults else {}
        original = theirs(part, known)
        again = ours(root, part, known, draws=draws, **broken)
        for name in dict.fromkeys(part["controller"].tolist()):
            seeds = [trials for (_, other), trials in original.items() if other == name]
            fitness["argos"][fault, name] = np.concatenate(seeds)
            fitness["ours"][fault, name] = np.concatenate([again[s][name] for s in again])
    pairs = []
    for row in rows(rec.read(folder / "t2_pairs.csv")):
        best, recovery, fault = row["normal_best"], row["recovery"], str(int(row["fault"]))
        pair = {
            **{key: row[key] for key in ("task", "algorithm", "normal_best", "recovery")},
            "fault": int(fault),
            "another_controller": best != recovery,
            "claimed": row["selection_fitness"],
        }
        for side, trials in fitness.items():
            pair[side] = outcome_of(
                trials["none", best], trials[fault, best], trials[fault, recovery]
            )
        pairs.append(pair)
    return {
        "all": verdict(pairs),
        "tasks": {t: verdict([p for p in pairs if p["task"] == t]) for t in rec.TASKS},
        "whole_recording": WHOLE["recoveries"],
        "pairs": pairs,
    }


def rows(table: rec.Table) -> Iterable[dict[str, Any]]:
    """Yield the rows of a table."""
    for values in zip(*(column.tolist() for column in table.values()), strict=True):
        yield dict(zip(table, values, strict=True))


def outcome_of(whole: np.ndarray, broken: np.ndarray, recovered: np.ndarray) -> dict[str, float]:
    """Return fitness of the normal best, whole and broken, of the recovery, and what follows."""
    normal = whole.mean()
    return {
        "healthy": normal,
        "broken": broken.mean(),
        "recovered": recovered.mean(),
        "impact": (broken.mean() - normal) / normal,
        "resilience": (recovered.mean() - normal) / normal,
        "gain": (recovered.mean() - broken.mean()) / normal,
        "gain_error": np.hypot(error_of_mean(recovered), error_of_mean(broken)) / normal,
        "gain_z": float(rec.standard_errors(recovered, broken)),
    }


def verdict(pairs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return whether recoveries hold in the original, and both simulators' means."""

    def of(side: str, key: str, among: list[dict[str, Any]] = pairs) -> np.ndarray:
        return np.array([pair[side][key] for pair in among])

    another = [pair for pair in pairs if pair["another_controller"]]
    gain = {side: of(side, "gain_z", another) for side in ("argos", "ours")}
    clear = gain["ours"] > SIGNIFICANT
    # A clear gain in one that is a loss in the other.
    apart = np.minimum(gain["argos"], gain["ours"])
    apart = apart[np.maximum(gain["argos"], gain["ours"]) > SIGNIFICANT]
    found: dict[str, Any] = {
        "pairs": len(pairs),
        "another_controller": len(another),
        "better_in_argos": int((gain["argos"] > 0).sum()),
        "better_in_ours": int((gain["ours"] > 0).sum()),
        "significant_in_ours": int(clear.sum()),
        "significant_in_both": int((clear & (gain["argos"] > SIGNIFICANT)).sum()),
        "contradicted": int((apart < 0).sum()),
        "significant_in_argos": int((gain["argos"] > SIGNIFICANT).sum()),
        "claimed": np.mean([pair["claimed"] for pair in pairs]),
    }
    for key in ("healthy", "broken", "recovered", "impact", "resilience", "gain"):
        sides = of("argos", key), of("ours", key)
        found[key] = dict(zip(("argos", "ours"), (side.mean() for side in sides), strict=True))
        if key in ("impact", "resilience", "gain"):
            found[key]["correlation"] = np.corrcoef(*sides)[0, 1]
            found[key]["mean_absolute_error"] = np.abs(sides[1] - sides[0]).mean()
    return found


def speed(root: Path) -> dict[str, Any]:
    """Return the recorded speed of both on one core, in turns: medians, robot-steps/s."""
    table = rec.read(root / "argos-evolved" / "t3_speed.csv")
    found: dict[str, Any] = {}
    for build, part in rec.groups(table, "build"):
        for case, repeats in rec.groups(part, "case"):
            argos, mine = (float(np.median(repeats[f"{who}_rate"])) for who in ("argos", "qed"))
            found.setdefault(build, {})[case] = {
                "repeats": len(repeats["repeat"]),
                "argos": argos,
                "argos_range": [repeats["argos_rate"].min(), repeats["argos_rate"].max()],
                "ours": mine,
                "times_as_fast": mine / argos,
            }
    return found
