"""The table of what was compared with the original simulator, from fidelity.json."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from statistics import median
from typing import Any

FAR = 0.01  # m: cases at an obstacle that are told by name


def at_most(value: float, digits: int = 2) -> str:
    """Return a bound in some significant digits, rounded up: what is said to hold holds."""
    # What the file holds in six digits stands for itself.
    exact = Decimal(f"{value:.6g}")
    if not exact:
        return "0"
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return f"{exact.quantize(step, ROUND_CEILING):f}"


def mm(value: float, digits: int = 2) -> str:
    """Return a length (m) in mm, at least this many significant digits, rounded up."""
    return at_most(1e3 * value, digits + (value >= 0.1) + (value >= 0.01))


def small(value: float, digits: int = 4, sign: bool = False) -> str:
    """Return a number without the zero before its point."""
    return f"{value:{'+' if sign else ''}z.{digits}f}".replace("0.", ".", 1)


def joined(parts: list[str]) -> str:
    """Return parts as one enumeration."""
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


def grid(header: list[str], rows: list[list[Any]]) -> list[str]:
    """Return the lines of a table."""
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]


def fidelity_table(found: dict[str, Any]) -> list[str]:
    """Return the table of what was compared with the original."""
    free = found["motion"].values()
    contacts = found["contacts"]
    left = contacts["left_out"]
    pairs = {case: error["place"] for case, error in contacts["c_two"].items()}
    wall = [error["place"] for error in contacts["b_wall"].values()]
    cylinder = {case: error["place"] for case, error in contacts["b_cylinder"].items()}
    far = sorted((case for case in cylinder if cylinder[case] > FAR), key=cylinder.__getitem__)
    scans = found["scans"].values()
    cycles = found["trajectories"].values()
    fitness = {name: small(f["mean_absolute_error"]) for name, f in found["fitness"].items()}
    off = sum(scan["inputs_off_at_ties"] for scan in scans)
    rows = [
        [
            f"free motion, {len(free)} cases",
            f"within {mm(max(e['place'] for e in free))} mm and "
            f"{at_most(max(e['heading'] for e in free))} rad after 10 s",
        ],
        [
            f"sensor scans, {sum(s['poses'] for s in scans):,} poses",
            f"inputs (-1 to 1) within {at_most(max(s['largest'] for s in scans))}, but for {off} "
            f"of {sum(s['inputs'] for s in scans):,}, where "
            "rounding decides",
        ],
        [f"one robot at walls and corners, {len(wall)} cases", f"within {mm(max(wall))} mm"],
        [
            f"one robot at an obstacle, {len(cylinder)} cases",
            f"within {mm(max(p for c, p in cylinder.items() if c not in far))} mm"
            + (", but for " if far else "")
            + joined([f"`{case}` ({mm(cylinder[case])} mm)" for case in far]),
        ],
        [
            f"two robots in contact, {len(pairs) - len(left)} cases",
            f"within {mm(max(p for c, p in pairs.items() if c not in left))} mm; not counted are "
            f"{len(left)} more, unstable or artefacts of the original's solver: "
            + joined([f"`{case}` ({mm(pairs[case])} mm)" for case in left]),
        ],
        *driven_rows(found["driven"]),
        [
            f"whole swarms without noise, {len(cycles)} cases",
            f"median {median(cycles):g} cycles until one robot is off by 1 cm",
        ],
        turning_row(found["turning"]),
        [
            "fitness of controllers written by hand and of random ones, mean absolute error over "
            "tasks and controllers",
            f"{fitness['normal']} in the normal environment, {fitness['environments']} over "
            f"environments, {fitness['faults']} over faults; ARGoS against itself, from other "
            f"start poses: {fitness['ARGoS against itself']}",
        ],
        evolved_row(found["evolved"]),
    ]
    return grid(["compared", "result"], rows)


def driven_rows(driven: dict[str, Any]) -> list[list[str]]:
    """Return the rows on robots driven at walls."""
    names = {"alone": "robots driven at walls, alone", "pairs": "the same in pairs"}
    return [
        [
            f"{names[kind]}, {part['cases']} cases of 10 robots",
            f"after 16 s 90 % within {mm(part['within_90'][-1])} mm, 99 % within "
            f"{mm(part['within_99'][-1])} mm; {100 * part['off_by_1_cm'][-1]:.1f} % off by more "
            "than 1 cm",
        ]
        for kind, part in driven.items()
    ]


def turning_row(turning: dict[str, Any]) -> list[str]:
    """Return the row on controllers that turn at walls."""
    told = [
        f"`{name}` {part['cycles_within_1_cm']} cycles, {worst_z(part):.1f} standard errors"
        for name, part in turning.items()
    ]
    return [
        "two controllers that turn at walls: cycles until one robot is off by 1 cm; error of "
        "fitness at the worst task",
        "; ".join(told),
    ]


def worst_z(part: dict[str, Any]) -> float:
    """Return how many standard errors a controller's fitness is off, at the worst task."""
    return max(abs(seed["z"]) for seeds in part["fitness"].values() for seed in seeds.values())


def evolved_row(evolved: dict[str, Any]) -> list[str]:
    """Return the row on evolved controllers."""
    every, one = evolved["all"], evolved["all"]["one_seed"]
    return [
        f"fitness of {every['controllers']} controllers evolved here",
        f"correlation {small(every['correlation'])}, mean absolute error "
        f"{small(one['mean_absolute_error'])} on 20 trials; ARGoS against itself with another "
        f"noise seed: {small(one['argos_against_itself'])}",
    ]
