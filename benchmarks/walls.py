"""Robots at walls against recordings of the original simulator (argos-walls)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import recordings as rec

import qed

CYCLES = (6, 21, 80)
KINDS = {"alone": "one", "pairs": "two"}
SEEDS = tuple(range(1, 9))  # of our noise; ARGoS's stream cannot be replayed


def driven(root: Path) -> dict[str, Any]:
    """Return how far driven robots are from the recorded ones, over all cases and robots.

    For robots alone at a wall and in pairs: the distance (m) that 90 % and 99 % stay within
    after some cycles, the part of robots off by more than 1 cm, the largest turn (rad).
    """
    stored = np.load(root / "argos-walls" / "driven.npz")
    recorded = stored["cycles"].tolist() if "cycles" in stored else list(range(81))
    rows = [recorded.index(cycle) for cycle in CYCLES]
    found = {}
    for kind, short in KINDS.items():
        place, turn = [], []
        for bias, pose in zip(stored[f"{short}_bias"], stored[f"{short}_pose"], strict=True):
            pose = pose.astype(float)
            seen = qed.trace(
                qed.Controller([], bias),
                qed.Environment(),
                seconds=0.2 * max(CYCLES),
                start=qed.Start(pose[0]),
                noise=0.0,
            )
            x, y, heading = (
                np.stack([ours[cycle - 1] for cycle in CYCLES])
                for ours in (seen.x, seen.y, seen.heading)
            )
            place.append(np.hypot(x - pose[rows, :, 0], y - pose[rows, :, 1]))
            turn.append(rec.turned(heading, pose[rows, :, 2]))
        error = np.array(place)  # cases, cycles, robots
        found[kind] = {
            "cases": len(error),
            "cycles": list(CYCLES),
            "within_90": np.quantile(error, 0.9, axis=(0, 2)),
            "within_99": np.quantile(error, 0.99, axis=(0, 2)),
            "off_by_1_cm": (error > rec.CENTIMETRE).mean((0, 2)),
            "heading": np.max(turn),
        }
    return found


def turning(root: Path, seeds: tuple[int, ...] = SEEDS) -> dict[str, Any]:
    """Compare controllers that back into walls and turn there, by fitness and by trajectory.

    z is the mean over our noise seeds of the standard errors between 20 trials each.
    """
    folder = root / "argos-walls"
    known = rec.controllers(folder)
    found: dict[str, Any] = {name: {"fitness": {}} for name in known}
    for label, name in (("seed 1", "f_normal"), ("seed 2", "f_normal_seed2")):
        table = rec.read(folder / f"{name}.csv.gz")
        start = rec.starts(rec.read(folder / f"{name}_init.csv"))
        names = list(dict.fromkeys(table["controller"].tolist()))
        runs = [
            qed.simulate(
                [known[n] for n in names],
                qed.Environment(),
                tasks=rec.TASKS,
                start=start,
                seed=seed,
            ).fitness
            for seed in seeds
        ]
        for task, column in zip(rec.TASKS, rec.COLUMNS, strict=True):
            ours = np.stack([run[task] for run in runs])  # seeds, controllers, trials
            theirs = table[column].reshape(ours.shape[1:])
            apart = [rec.standard_errors(mine, theirs) for mine in ours]
            for k, n in enumerate(names):
                found[n]["fitness"].setdefault(task, {})[label] = {
                    "argos": theirs[k].mean(),
                    "ours": ours[:, k].mean(),
                    "z": np.mean(apart, 0)[k],
                }
    for name, controller in known.items():
        path = folder / f"{name}.csv.gz"
        found[name]["cycles_within_1_cm"] = rec.cycles_within(rec.read(path), controller)
    return found
