"""What the clustering of SPIRIT's seed points changes: its cells, and how many of them are filled.

    python benchmarks/centroids.py [ARCHIVE.npz ...] [--evaluations 10000] [--quick]

Makes centroids in three ways (mini-batch k-means as it was, without reassignment of small
clusters; as it is, with it; scikit-learn's MiniBatchKMeans), from 100,000 and 1,000,000 seed
points.  For each it tells how far the nearest 5 % of centroids lie from the uniform policy, how
many lie nearer to it than a seed point does (they attract solutions), and how many cells small
SPIRIT runs fill that evolve in them.  Then it counts the cells that behaviours occupy which
evolved elsewhere: those of the runs, of the archive that comes with QED, and of the archives that
are given; and how far apart the occupied centroids are.

Cells in which behaviours evolved are filled more: evolution keeps one for each.  So a set of
centroids is also compared with one of the same recipe that was made with another seed.

Prints a short table and saves all numbers as benchmarks/results/centroids.json.  One thread.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn import __version__ as sklearn_version
from sklearn.cluster import MiniBatchKMeans
from threadpoolctl import threadpool_limits

import qed
from qed import speed
from qed.archive.cvt import SPIRIT_BATCH, Centroids, digest, spirit_seed_points
from qed.archive.k_means import MiniBatchMeans, Nearest
from qed.compile import user_cache
from qed.descriptors import spirit, spirit_distance
from qed.evolution import Run, run_side_by_side
from qed.evolution.swarms import Swarms
from qed.study.work import diversity

HERE = Path(__file__).parent
CLUSTERS = 4096
TASKS = ("dispersion", "patrolling", "border-patrolling")
UNIFORM = np.full(1024, 1 / 16, np.float32)
NEAR = 0.5  # distance from the uniform policy; seed points lie at 0.76, give or take 0.02


class Kind(NamedTuple):
    """A way to make centroids."""

    how: str  # before, now, scikit-learn
    seed_points: int
    seed: int = 1

    def __str__(self) -> str:
        return f"{self.how}, {self.seed_points:,}" + (", other seed" if self.seed > 1 else "")


KINDS = [
    Kind("before", 100_000),
    Kind("before", 1_000_000),
    Kind("now", 100_000),
    Kind("now", 1_000_000),
    Kind("scikit-learn", 100_000),
    Kind("scikit-learn", 1_000_000),
    Kind("now", 100_000, 2),
]


def centroids(kind: Kind) -> dict[str, Any]:
    """Return the points of a kind, and a batch's processor time (s); from the cache if there."""
    path = user_cache() / "benchmarks" / f"{'-'.join(map(str, kind))}.npz"
    if path.exists():
        with np.load(path) as kept:
            return {"points": kept["points"], "seconds": kept["seconds"].tolist()}
    theirs = MiniBatchKMeans(
        CLUSTERS, init="random", n_init=1, batch_size=SPIRIT_BATCH, compute_labels=False,
        random_state=np.random.RandomState(kind.seed),
    )  # fmt: skip
    ours: MiniBatchMeans | None = None
    walls = []
    for batch in range(kind.seed_points // SPIRIT_BATCH):
        chance = np.random.RandomState([kind.seed, batch])
        points = spirit_seed_points(SPIRIT_BATCH, chance)
        begin = time.process_time()
        if kind.how == "scikit-learn":
            theirs.partial_fit(points)
        else:
            ours = ours or MiniBatchMeans(points[:CLUSTERS], reassign=kind.how == "now")
            ours.step(points, chance)
        walls.append(time.process_time() - begin)
    made = theirs.cluster_centers_ if ours is None else ours.centres
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, points=made, seconds=walls)
    return {"points": made, "seconds": walls}


def evolved(points: np.ndarray, task: str, evaluations: int) -> Run:
    """Return a small SPIRIT run that evolved in the cells around these points."""
    swarms = Swarms(task, "spirit", trials=3, seconds=100.0, threads=1)
    run = Run(None, swarms, evaluations=evaluations)
    run.search.archive = qed.Archive(Centroids(points))
    for _ in run_side_by_side([run]):
        pass
    return run


def behaviours(archive: qed.Archive) -> np.ndarray:
    """Return how an archive's solutions behave in the normal environment, ten trials of 100 s."""
    outcome = qed.simulate(
        archive.controllers, descriptors=["spirit"], trials=10, seconds=100.0, seed=7, threads=1
    )
    return spirit(outcome)


def occupied(points: np.ndarray, found: np.ndarray) -> dict[str, Any]:
    """Return how many cells behaviours occupy, and how far their centroids are apart."""
    cells = np.unique(Nearest(points).find(found))
    return {"cells": len(cells), "apart": float(diversity(points[cells]))}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archives", nargs="*", type=Path)
    parser.add_argument("--evaluations", type=int, default=10_000)
    parser.add_argument("--quick", action="store_true", help="100,000 points only; not saved")
    options = parser.parse_args()
    kinds = [kind for kind in KINDS if not options.quick or kind.seed_points == 100_000]
    rows: list[dict[str, Any]] = []
    crowds: dict[str, np.ndarray] = {}
    sets = {}
    with threadpool_limits(1):
        for kind in kinds:
            made = centroids(kind)
            points = sets[kind] = made["points"].astype(np.float32)
            far = np.sort(spirit_distance(points, UNIFORM))
            row = {
                **kind._asdict(),
                "digest": digest(points),
                "seconds_a_batch": float(np.median(made["seconds"])),
                "nearest_5_percent": float(far[len(far) // 20]),
                "attracting": int(np.count_nonzero(far < NEAR)),
                "median_distance": float(np.median(far)),
                "filled": {},
            }
            for task in TASKS:
                run = evolved(points, task, options.evaluations)
                row["filled"][task] = len(run.search.archive)
                name = f"{task}, evolved in: {kind}"
                crowds[name] = behaviours(run.search.archive)
            rows.append(row)
            print(
                f"{kind!s:32s} nearest 5 % {row['nearest_5_percent']:.2f}, attracting "
                f"{row['attracting']:4d}, filled {list(row['filled'].values())}, "
                f"{row['seconds_a_batch']:.1f} s a batch",
                flush=True,
            )
        example = qed.load_example("patrolling")
        crowds["example:patrolling (QED)"] = behaviours(example)
        for path in options.archives:
            crowds[path.stem] = behaviours(qed.Archive.load(path))
        shared = [
            {
                "behaviours": name,
                "count": len(found),
                "occupied": {str(kind): occupied(points, found) for kind, points in sets.items()},
            }
            for name, found in crowds.items()
        ]
    print("\nCells that behaviours occupy which evolved in the cells told:")
    for entry in shared:
        counts = [place["cells"] for place in entry["occupied"].values()]
        print(f"{entry['behaviours']:52s}{entry['count']:5d}: {counts}", flush=True)
    if options.quick:
        return
    found = {
        "machine": speed.machine(),
        "scikit-learn": sklearn_version,
        "runs": {
            "evaluations": options.evaluations, "trials": 3, "seconds": 100.0, "seed": 1,
            "tasks": TASKS,
        },
        "retrials": {"trials": 10, "seconds": 100.0, "seed": 7},
        "kinds": rows,
        "behaviours": shared,
    }  # fmt: skip
    (HERE / "results" / "centroids.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
