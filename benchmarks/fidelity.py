"""Compare the simulator with recordings of the original one (ARGoS), case by case.

    python benchmarks/fidelity.py [FOLDER]

FOLDER holds the recordings (tests/data/argos, a part of them, unless told).  Prints a table of
errors and saves it as JSON under benchmarks/results: fidelity.json, or fidelity-part.json for the
part.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import qed

HERE = Path(__file__).parent
SMALL = HERE.parent / "tests" / "data" / "argos"
TASKS = ("aggregation", "dispersion", "flocking", "patrolling", "border-patrolling")
COLUMNS = ("aggregation", "dispersion_paper", "flocking", "patrolling", "border_patrolling")
# Unstable in the original, or artefacts of its solver, as the data's description says.
LEFT_OUT = ("cross90_late", "headon_offset3cm", "push_into_wall")
ENOUGH = 12.0  # an argument at which tanh is 1

Table = dict[str, np.ndarray]


def read(path: Path) -> Table:
    """Return the columns of a CSV file, numbers as floats."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    header, *lines = csv.reader(text.splitlines())
    table: Table = {}
    for name, column in zip(header, zip(*lines, strict=True), strict=True):
        try:
            table[name] = np.array(column, float)
        except ValueError:
            table[name] = np.array(column)
    return table


def pick(table: Table, mask: np.ndarray) -> Table:
    """Return the rows of a table where a mask holds."""
    return {name: column[mask] for name, column in table.items()}


def groups(table: Table, name: str) -> Iterator[tuple[Any, Table]]:
    """Yield the parts of a table that share a value, in order of appearance."""
    column = table[name]
    for value in dict.fromkeys(column.tolist()):
        yield value, pick(table, column == value)


def stack(table: Table, names: list[str]) -> np.ndarray:
    """Return columns as one array (cycles, robots, names), without the start."""
    robots = int(table["robot"].max()) + 1
    after = table["t"] > 0
    return np.stack([table[name][after] for name in names], -1).reshape(-1, robots, len(names))


PROXIMITY = [f"p{k}" for k in range(7)]
RAB = [f"rab{k}" for k in range(8)]


def controllers(folder: Path) -> dict[str, qed.Controller]:
    """Return the recorded controllers by name."""
    listed = json.loads((folder / "controllers.json").read_text())["controllers"]
    return {c["name"]: qed.Controller(c["connections"], c["bias"]) for c in listed}


def driver(commands: np.ndarray, max_speed: float) -> tuple[qed.Controller, qed.Faults]:
    """Return a controller and faults that give one or two robots these commands (m/s).

    A swarm shares one network; a front sensor that is stuck at 0 in one robot and at 1 in the
    other lets it tell them apart.
    """

    def argument(command: float) -> float:
        output = command / max_speed
        return math.copysign(ENOUGH, output) if abs(output) >= 1 else math.atanh(output)

    first = [argument(c) for c in commands[0]]
    last = [argument(c) for c in commands[-1]]
    bias = [(a + b) / 2 for a, b in zip(first, last, strict=True)]
    links = [(2, 16 + w, (a - b) / 10) for w, (a, b) in enumerate(zip(first, last, strict=True))]
    return qed.Controller(links, bias), qed.Faults(["PMIN", "PMAX"][: len(commands)])


def scripted(folder: Path, name: str) -> dict[str, dict[str, float]]:
    """Replay driven robots; return the largest error of place (m) and heading (rad) by case."""
    errors = {}
    for case, table in groups(read(folder / f"{name}.csv.gz"), "case"):
        truth = stack(table, ["x", "y", "yaw"])
        wheels = stack(table, ["left", "right"])[0] / 100.0
        top = max(0.1, float(np.abs(wheels).max()))
        begin = table["t"] == 0
        poses = np.stack([table[c][begin] for c in ("x", "y", "yaw")], -1)
        centres = cylinders(folder) if "cylinder" in name else None
        controller, faults = driver(wheels, top)
        environment = qed.Environment(
            max_speed=top, robots=len(poses), obstacles=0 if centres is None else len(centres)
        )
        seen = qed.trace(
            controller,
            environment,
            seconds=0.2 * len(truth),
            faults=faults,
            start=qed.Start(poses, centres),
            noise=0.0,
        )
        turn = (seen.heading - truth[..., 2] + math.pi) % (2 * math.pi) - math.pi
        errors[case] = {
            "place": float(np.hypot(seen.x - truth[..., 0], seen.y - truth[..., 1]).max()),
            "heading": float(np.abs(turn).max()),
        }
    return errors


def cylinders(folder: Path) -> np.ndarray:
    """Return the centres of the cylinders of the scripted cases and scans."""
    table = read(folder / "de_cylinder_pos.csv")
    rest = table["kind"] != "robot"
    return np.stack([table["x"][rest], table["y"][rest]], -1)


def scan(folder: Path, name: str) -> dict[str, Any]:
    """Sense at the recorded poses; return the errors of all inputs (poses x robots x inputs)."""
    table = read(folder / f"{name}.csv.gz")
    robots = int(table["robot"].max()) + 1
    shape = (-1, robots, 3)
    poses = np.stack([table[c] for c in ("x", "y", "yaw")], -1).reshape(shape)
    centres = cylinders(folder) if "_cyl_" in name else None
    reach = name.rsplit("_r", 1)[-1]
    still = qed.Controller([], [0.0, 0.0])
    environment = qed.Environment(
        robots=robots,
        obstacles=0 if centres is None else len(centres),
        rab_range=float(reach[2:]) if reach.startswith("ab") else 1.0,
        proximity_range=0.11 if reach.startswith("ab") else float(f"0.{reach[1:]}"),
    )
    errors = []
    for k, pose in enumerate(poses):
        here = slice(k * robots, (k + 1) * robots)
        truth = np.stack([table[c][here] for c in PROXIMITY + RAB], -1)
        seen = qed.trace(still, environment, seconds=0.2, start=qed.Start(pose, centres), noise=0.0)
        ours = np.concatenate([seen.proximity[0], seen.rab[0]], -1)
        errors.append(np.abs(ours - truth))
    return {"pose": table["pose"][::robots], "error": np.array(errors)}


def trajectories(folder: Path) -> dict[str, int]:
    """Replay whole swarms without noise; return the cycles that all stay within 1 cm."""
    known = controllers(folder)
    within = {}
    for path in sorted((folder / "traj").glob("*.csv.gz")):
        name = path.name.removesuffix(".csv.gz")
        if name == "mix_init":
            continue
        table = read(path)
        truth = stack(table, ["x", "y"])
        begin = table["t"] == 0
        poses = np.stack([table[c][begin] for c in ("x", "y", "yaw")], -1)
        environment, centres = qed.Environment(), None
        if name.startswith("mix_"):
            start = read(folder / "traj" / "mix_init.csv.gz")
            rest = start["kind"] != "robot"
            centres = np.stack([start["x"][rest], start["y"][rest]], -1)
            environment = qed.Environment(
                max_speed=0.2,
                robots=20,
                arena=3.0,
                obstacles=6,
                rab_range=0.5,
                proximity_range=0.22,
            )
        seen = qed.trace(
            known[name.removeprefix("mix_")],
            environment,
            seconds=0.2 * len(truth),
            start=qed.Start(poses, centres),
            noise=0.0,
        )
        error = np.hypot(seen.x - truth[..., 0], seen.y - truth[..., 1]).max(1)
        within[name] = int(np.argmax(error > 0.01)) if error.max() > 0.01 else len(error)
    return within


def starts(table: Table) -> qed.Start:
    """Return start poses of all trials of a table, and the cylinders, the same in each."""
    body = table["kind"] == "robot"
    poses = [
        np.stack([trial[c] for c in ("x", "y", "yaw")], -1)
        for _, trial in groups(pick(table, body), "trial")
    ]
    centres = np.stack([table[c][~body] for c in ("x", "y")], -1)
    return qed.Start(np.array(poses), centres)


Scores = tuple[np.ndarray, np.ndarray]  # ours and theirs: (cases, trials, tasks)


def compared(
    table: Table, start: qed.Start, environment: qed.Environment, folder: Path, **more: Any
) -> Scores:
    """Simulate the controllers of a table from the same start; return ours and theirs."""
    known = controllers(folder)
    names = list(dict.fromkeys(table["controller"].tolist()))
    outcome = qed.simulate(
        [known[name] for name in names], environment, tasks=TASKS, start=start, **more
    )
    ours = np.stack([outcome.fitness[task] for task in TASKS], -1)
    theirs = np.stack([table[column] for column in COLUMNS], -1)
    return ours, theirs.reshape(ours.shape)


def normal(folder: Path, name: str = "f_normal") -> Scores:
    """Fitness of all controllers in the normal environment."""
    start = starts(read(folder / f"{name}_init.csv"))
    return compared(read(folder / f"{name}.csv.gz"), start, qed.Environment(), folder)


def environments(folder: Path) -> Scores:
    """Fitness over environments; the trials of all seeds are joined."""
    places = read(folder / "f_env_init.csv.gz")
    ours, theirs = [], []
    for name, table in groups(read(folder / "f_env.csv.gz"), "env"):
        parts = []
        for seed, part in groups(table, "seed"):
            environment = qed.Environment(
                max_speed=part["max_speed"][0] / 100.0,
                robots=int(part["robots"][0]),
                arena=part["side"][0],
                obstacles=int(part["cylinders"][0]),
                rab_range=part["rab"][0],
                proximity_range=part["prox"][0],
            )
            here = pick(places, (places["env"] == name) & (places["seed"] == seed))
            parts.append(compared(part, starts(here), environment, folder, seed=int(seed)))
        ours.append(np.concatenate([mine for mine, _ in parts], 1))
        theirs.append(np.concatenate([other for _, other in parts], 1))
    return np.concatenate(ours), np.concatenate(theirs)


def broken(folder: Path) -> Scores:
    """Fitness over combined faults."""
    start = starts(read(folder / "f_normal_init.csv"))
    listed = json.loads((folder / "faults.json").read_text())
    named = {entry["index"]: qed.Faults(entry["faults"]) for entry in listed}
    parts = [
        compared(table, start, qed.Environment(), folder, faults=named[int(index)])
        for index, table in groups(read(folder / "f_fault.csv.gz"), "fault")
    ]
    return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])


def judge(scores: Scores) -> dict[str, Any]:
    """Return errors of the mean fitness over trials: over all, and for each task."""
    ours, theirs = scores
    error = ours.mean(1) - theirs.mean(1)
    spread = np.sqrt((ours.var(1, ddof=1) + theirs.var(1, ddof=1)) / ours.shape[1])
    z = error[spread > 1e-9] / spread[spread > 1e-9]
    return {
        "mean_absolute_error": float(np.abs(error).mean()),
        "largest_error": float(np.abs(error).max()),
        "rms_z": float(np.sqrt(np.mean(z**2))),
        "bias": dict(zip(TASKS, error.mean(0).round(5).tolist(), strict=True)),
        "correlation": {
            task: float(np.corrcoef(ours.mean(1)[:, k], theirs.mean(1)[:, k])[0, 1].round(4))
            for k, task in enumerate(TASKS)
        },
    }


def report(folder: Path) -> dict[str, Any]:
    """Compare everything that a folder holds, print it, and return it."""
    found: dict[str, Any] = {}

    def there(name: str) -> bool:
        return (folder / name).exists()

    for name in ("a_motion", "b_wall", "b_cylinder", "c_two"):
        if there(f"{name}.csv.gz"):
            found[name] = errors = scripted(folder, name)
            print(f"\n{name}: largest error of place (mm), heading (rad)")
            for case, error in errors.items():
                mark = "  (left out)" if case in LEFT_OUT else ""
                print(f"  {case:26s}{1e3 * error['place']:9.4f}  {error['heading']:9.1e}{mark}")
    scans = sorted(p.name.removesuffix(".csv.gz") for p in folder.glob("[de]_*_r*.csv.gz"))
    if scans:
        print("\nscans: poses, largest error of an input without ties, inputs off by > 1e-4")
    for name in scans:
        result = scan(folder, name)
        error = result["error"]
        off = error > 1e-4
        found[name] = {
            "poses": len(error),
            "largest": float(error[~off].max()),
            "off": int(off.sum()),
            "inputs": int(error.size),
        }
        print(f"  {name:16s}{len(error):6d}  {error[~off].max():8.1e}  {off.sum()} of {error.size}")
    if there("traj"):
        found["trajectories"] = within = trajectories(folder)
        print("\ntrajectories: cycles within 1 cm")
        for name, cycles in within.items():
            print(f"  {name:18s}{cycles:5d}")
        print(f"  {'median':18s}{np.median(list(within.values())):5.0f}")
    sets: dict[str, tuple[str, Callable[[Path], Scores]]] = {
        "normal": ("f_normal.csv.gz", normal),
        "normal, other starts": (
            "f_normal_seed2.csv.gz",
            lambda f: normal(f, "f_normal_seed2"),
        ),
        "environments": ("f_env.csv.gz", environments),
        "faults": ("f_fault.csv.gz", broken),
    }
    for name, (file, compare) in sets.items():
        if there(file):
            found[name] = verdict = judge(compare(folder))
            print(
                f"\nfitness, {name}: mean absolute error "
                f"{verdict['mean_absolute_error']:.4f}, largest {verdict['largest_error']:.3f}, "
                f"RMS z {verdict['rms_z']:.2f}"
            )
            for task in TASKS:
                print(
                    f"  {task:18s} bias {verdict['bias'][task]:+.4f}  "
                    f"correlation {verdict['correlation'][task]:.4f}"
                )
    return found


def main() -> None:
    """Run the comparison from the command line."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SMALL
    found = report(folder)
    part = folder.resolve() == SMALL.resolve()
    target = HERE / "results" / ("fidelity-part.json" if part else "fidelity.json")
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(found, indent=1) + "\n")
    print(f"\nsaved {target}")


if __name__ == "__main__":
    main()
