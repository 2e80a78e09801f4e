"""Compare the simulator with recordings of the original one (ARGoS), part by part.

    python benchmarks/fidelity.py [FOLDER] [--only PART ...]

FOLDER holds the recordings (default: tests/data, a part of them).  Prints what was found and saves
it, each part with the time it took and a digest of the code that was compared, as JSON under
benchmarks/results: fidelity.json, or fidelity-part.json for tests/data.  The parts that are not
named stay as they are.  benchmarks/transfer.py makes a page from it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import epucks
import evolved
import numpy as np
import recordings as rec
import walls
from recordings import COLUMNS, SMALL, TASKS

import qed
from qed import compile as compiling

HERE = Path(__file__).parent
RESULTS = HERE / "results"
# Not counted, as the recordings' description says.
LEFT_OUT = {"headon_offset3cm": "the solver slides flush robots sideways"}
EXACT = 1e-4  # of an input, which goes from -1 to 1


def scripted(folder: Path, name: str) -> dict[str, dict[str, float]]:
    """Replay driven robots; return the largest error of place (m) and heading (rad) by case."""
    errors = {}
    for case, table in rec.groups(rec.read(folder / f"{name}.csv.gz"), "case"):
        truth = rec.stack(table, rec.POSE)
        wheels = rec.stack(table, ["left", "right"])[0] / 100.0
        top = max(0.1, float(np.abs(wheels).max()))
        poses = rec.begin(table)
        places = cylinders(folder) if "cylinder" in name else None
        controller, faults = rec.driver(wheels, top)
        environment = qed.Environment(
            max_speed=top, robots=len(poses), obstacles=0 if places is None else len(places)
        )
        seen = qed.trace(
            controller,
            environment,
            seconds=0.2 * len(truth),
            faults=faults,
            start=qed.Start(poses, places),
            noise=0.0,
        )
        errors[case] = {
            "place": float(np.hypot(seen.x - truth[..., 0], seen.y - truth[..., 1]).max()),
            "heading": float(rec.turned(seen.heading, truth[..., 2]).max()),
        }
    return errors


def cylinders(folder: Path) -> np.ndarray:
    """Return the centres of the cylinders of the scripted cases and scans."""
    return rec.centres(rec.read(folder / "de_cylinder_pos.csv"))


def scan(folder: Path, name: str) -> dict[str, Any]:
    """Sense at the recorded poses; return the errors of all inputs (poses x robots x inputs)."""
    table = rec.read(folder / f"{name}.csv.gz")
    robots = int(table["robot"].max()) + 1
    poses = np.stack([table[c] for c in rec.POSE], -1).reshape(-1, robots, 3)
    places = cylinders(folder) if "_cyl_" in name else None
    reach = name.rsplit("_r", 1)[-1]
    still = qed.Controller([], [0.0, 0.0])
    environment = qed.Environment(
        robots=robots,
        obstacles=0 if places is None else len(places),
        rab_range=float(reach[2:]) if reach.startswith("ab") else 1.0,
        proximity_range=0.11 if reach.startswith("ab") else float(f"0.{reach[1:]}"),
    )
    errors = []
    for k, pose in enumerate(poses):
        here = slice(k * robots, (k + 1) * robots)
        truth = np.stack([table[c][here] for c in rec.PROXIMITY + rec.RAB], -1)
        seen = qed.trace(still, environment, seconds=0.2, start=qed.Start(pose, places), noise=0.0)
        ours = np.concatenate([seen.proximity[0], seen.rab[0]], -1)
        errors.append(np.abs(ours - truth))
    names = table["pose"][::robots]
    return {"tied": np.array([is_tie(name, pose) for pose in names]), "error": np.array(errors)}


def is_tie(name: str, pose: str) -> bool:
    """Tell whether a pose puts a bearing on a cone's border or a ray along an edge."""
    kind, *numbers = pose.split("_")
    values = [float(number) for number in numbers]
    if name.startswith("e_two") and kind == "t":
        return abs(abs(values[0]) % 45.0 - 22.5) < 1e-9
    if name.startswith("e_three") and kind == "occ":
        # The blocker is square to the line of sight, which touches a corner of its body.
        edges = (0.05, 0.053, 0.055, 0.056)
        square = values[2] % 90.0 == 0.0
        return square and min(abs(abs(values[1]) - edge) for edge in edges) < 1e-9
    # A rear sensor looks along the edge of a body that is turned by a right angle.
    return name.startswith("d_robot") and values[1] == 0.17 and values[2] == 90.0


def trajectories(folder: Path) -> dict[str, int]:
    """Replay whole swarms without noise; return the cycles that all stay within 1 cm."""
    known = rec.controllers(folder)
    within = {}
    for path in sorted((folder / "traj").glob("*.csv.gz")):
        name = path.name.removesuffix(".csv.gz")
        if name == "mix_init":
            continue
        environment, places = qed.Environment(), None
        if name.startswith("mix_"):
            places = rec.centres(rec.read(folder / "traj" / "mix_init.csv.gz"))
            environment = qed.Environment(
                max_speed=0.2,
                robots=20,
                arena=3.0,
                obstacles=6,
                rab_range=0.5,
                proximity_range=0.22,
            )
        controller = known[name.removeprefix("mix_")]
        within[name] = rec.cycles_within(rec.read(path), controller, environment, places)
    return within


Scores = tuple[np.ndarray, np.ndarray]  # ours and theirs: (cases, trials, tasks)


def compared(
    table: rec.Table, start: qed.Start, environment: qed.Environment, folder: Path, **more: Any
) -> Scores:
    """Simulate the controllers of a table from the same start; return ours and theirs."""
    known = rec.controllers(folder)
    names = list(dict.fromkeys(table["controller"].tolist()))
    outcome = qed.simulate(
        [known[name] for name in names], environment, tasks=TASKS, start=start, **more
    )
    ours = np.stack([outcome.fitness[task] for task in TASKS], -1)
    theirs = np.stack([table[column] for column in COLUMNS], -1)
    return ours, theirs.reshape(ours.shape)


def normal(folder: Path, name: str = "f_normal") -> Scores:
    """Fitness of all controllers in the normal environment."""
    start = rec.starts(rec.read(folder / f"{name}_init.csv"))
    return compared(rec.read(folder / f"{name}.csv.gz"), start, qed.Environment(), folder)


def other_starts(folder: Path) -> Scores:
    """Fitness in the normal environment, from other start poses."""
    return normal(folder, "f_normal_seed2")


def environments(folder: Path) -> Scores:
    """Fitness over environments; the trials of all seeds are joined."""
    places = rec.read(folder / "f_env_init.csv.gz")
    ours, theirs = [], []
    for name, table in rec.groups(rec.read(folder / "f_env.csv.gz"), "env"):
        parts = []
        for seed, part in rec.groups(table, "seed"):
            environment = qed.Environment(
                max_speed=part["max_speed"][0] / 100.0,
                robots=int(part["robots"][0]),
                arena=part["side"][0],
                obstacles=int(part["cylinders"][0]),
                rab_range=part["rab"][0],
                proximity_range=part["prox"][0],
            )
            here = rec.pick(places, (places["env"] == name) & (places["seed"] == seed))
            parts.append(compared(part, rec.starts(here), environment, folder, seed=int(seed)))
        ours.append(np.concatenate([mine for mine, _ in parts], 1))
        theirs.append(np.concatenate([other for _, other in parts], 1))
    return np.concatenate(ours), np.concatenate(theirs)


def broken(folder: Path) -> Scores:
    """Fitness over combined faults."""
    start = rec.starts(rec.read(folder / "f_normal_init.csv"))
    listed = json.loads((folder / "faults.json").read_text())
    named = {entry["index"]: qed.Faults(entry["faults"]) for entry in listed}
    parts = [
        compared(table, start, qed.Environment(), folder, faults=named[int(index)])
        for index, table in rec.groups(rec.read(folder / "f_fault.csv.gz"), "fault")
    ]
    return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])


def itself(folder: Path) -> Scores:
    """Fitness in the original against the original, from other start poses, with other noise."""
    one, other = (rec.read(folder / f"{name}.csv.gz") for name in ("f_normal", "f_normal_seed2"))
    if one["controller"].tolist() != other["controller"].tolist():
        raise SystemExit(f"{folder}: f_normal and f_normal_seed2 list other controllers")
    trials = len(set(one["trial"].tolist()))
    first, second = (
        np.stack([table[column] for column in COLUMNS], -1).reshape(-1, trials, len(TASKS))
        for table in (one, other)
    )
    return first, second


def judge(scores: Scores) -> dict[str, Any]:
    """Return errors of the mean fitness over trials: over all, and for each task."""
    ours, theirs = scores
    error = ours.mean(1) - theirs.mean(1)
    z = rec.standard_errors(ours, theirs, 1)
    return {
        "mean_absolute_error": float(np.abs(error).mean()),
        "largest_error": float(np.abs(error).max()),
        "rms_z": rec.root_mean_square(z[np.isfinite(z) & (z != 0.0)]),
        "bias": dict(zip(TASKS, error.mean(0).tolist(), strict=True)),
        "correlation": {
            task: float(np.corrcoef(ours.mean(1)[:, k], theirs.mean(1)[:, k])[0, 1])
            for k, task in enumerate(TASKS)
        },
    }


def motion(root: Path) -> dict[str, Any]:
    """Robots alone in the open."""
    return scripted(root / "argos", "a_motion")


def contacts(root: Path) -> dict[str, Any]:
    """Robots driven at walls, at an obstacle and at each other."""
    names = ("b_wall", "b_cylinder", "c_two")
    return {name: scripted(root / "argos", name) for name in names} | {"left_out": LEFT_OUT}


def scans(root: Path) -> dict[str, Any]:
    """Sensors at fixed poses; errors of inputs, poses with a tie of floats apart."""
    found = {}
    for path in sorted((root / "argos").glob("[de]_*_r*.csv.gz")):
        name = path.name.removesuffix(".csv.gz")
        result = scan(root / "argos", name)
        error, tied = result["error"], result["tied"]
        found[name] = {
            "poses": len(error),
            "inputs": error.size,
            "largest": error[~tied].max(),
            "poses_with_ties": int(tied.sum()),
            "inputs_off_at_ties": int((error[tied] > EXACT).sum()),
        }
    return found


def fitness(root: Path) -> dict[str, Any]:
    """Fitness of controllers written by hand and random ones, and of the original itself."""
    folder = root / "argos"
    sets = {"normal": normal, "environments": environments, "faults": broken}
    if (folder / "f_normal_seed2.csv.gz").exists():
        sets |= {"normal, other starts": other_starts, "ARGoS against itself": itself}
    return {name: judge(compare(folder)) for name, compare in sets.items()}


PARTS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "motion": motion,
    "contacts": contacts,
    "scans": scans,
    "trajectories": lambda root: trajectories(root / "argos"),
    "fitness": fitness,
    "driven": walls.driven,
    "turning": walls.turning,
    "evolved": evolved.healthy,
    "recoveries": evolved.recoveries,
    "speed": evolved.speed,
    "e-pucks": epucks.compared,
}


def main() -> None:
    """Run the comparison from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SMALL)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    options = parser.parse_args()
    small = options.folder.resolve() == SMALL.resolve()
    target = RESULTS / ("fidelity-part.json" if small else "fidelity.json")
    code = compiling.digest(Path(qed.__file__).parent / "swarm", without="cuda")
    for part in options.only:
        clock = time.perf_counter()
        found = rec.rounded(PARTS[part](options.folder))
        seconds = round(time.perf_counter() - clock, 1)
        known = json.loads(target.read_text()) if target.exists() else {}
        known[part] = {"seconds": seconds, "code": code, "found": found}
        target.write_text(
            json.dumps({name: known[name] for name in PARTS if name in known}, indent=1) + "\n"
        )
        print(f"\n{part} ({seconds} s)")
        show(found)
    print(f"\nsaved {target}")


def show(found: dict[str, Any], indent: int = 2) -> None:
    """Print results as lines of at most 80 columns where they hold numbers only."""
    for name, value in found.items():
        if not isinstance(value, dict):
            many = isinstance(value, list) and value and isinstance(value[0], dict)
            print(f"{'':{indent}}{name:<26s}{f'{len(value)}, in the file' if many else value}")
            continue
        plain = not any(isinstance(entry, dict | list) for entry in value.values())
        line = f"{'':{indent}}{name:<26s}" + "  ".join(
            f"{key} {entry:.4g}" if isinstance(entry, float) else f"{key} {entry}"
            for key, entry in value.items()
        )
        if plain and len(line) <= 80:
            print(line)
        else:
            print(f"{'':{indent}}{name}")
            show(value, indent + 2)


if __name__ == "__main__":
    main()
