"""Compare every law on the GPU with the same law on the CPU.

    python benchmarks/law_parity.py [--samples N] [--seed S]

Prints a line a law: the largest differences, the share of samples beyond the steps allowed, how
many of them nothing explains, and the tolerance.  Ends with 1 if a law is beyond it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it, numpy 2.5 has it no more
    setattr(np, "row_stack", np.vstack)  # noqa: B010

from law_cases import BY_NAME, CASES, Columns, draw, parts
from numba import cuda, njit

from qed import compile as compiling
from qed.swarm.backend import problem
from qed.swarm.cuda import outline
from qed.swarm.cuda.device import ROUGHLY, SIMULATED, device, stage

STEP = 2.0**-23  # between single-precision numbers, relative to them
LARGEST = float(np.finfo(np.float32).max)
THREADS = 128

Compile = Callable[[Callable[..., Any]], Any]


class Tolerance(NamedTuple):
    """How far the engines may be apart, in single-precision steps.

    A step is one of the number, or of 1 if that is larger, since what laws add and subtract on
    the way is of that size (m, m/s, rad).  Results may differ by ``steps``.  A law that jumps, or
    has a pole, may also give on the GPU what it gives on the CPU for arguments that are up to
    ``nudge`` steps away: a jump must be met by one of them, while next to a pole it is enough to
    lie between what they give.
    """

    steps: float = 8.0
    nudge: float = 0.0
    pole: bool = False


# Only selections, whole numbers, and sums and products that a GPU rounds as a CPU does.
EXACT = Tolerance(0.0)
# A GPU adds products in one step, and divides and takes roots to two steps.
ROUNDED = Tolerance()
# So rays miss a corner they met, and ties are broken in another way.
JUMPING = Tolerance(nudge=8.0)
# A direction is lost as a point comes close, and so is where a ray meets a line beside it.
POLE = Tolerance(nudge=8.0, pole=True)
# Impulses turn a robot by hundreds of rad/s a metre of lever, and so do their roundings.
TURNING = Tolerance(64.0)
NUDGES = 400  # of the arguments of each sample that differs

TOLERANCES = {
    "bits.index": EXACT,
    "bits.span": EXACT,
    "chance.draw": EXACT,
    "chance.high_noise": EXACT,
    "chance.low_noise": EXACT,
    "chance.mix": EXACT,
    "contact.fixed": EXACT,
    "contact.solve_contact": TURNING,
    "contact.nearer_wall": EXACT,
    "contact.solve_point": TURNING,
    "contact.remembered": EXACT,
    "contact.angular_impulse": TURNING,
    "scoring.action": EXACT,
    "scoring.wheel_bin": EXACT,
    "bodies.ahead": JUMPING,
    # A point close to the body is told from it by few steps, and which edge next to a corner is
    # nearer only by squares: to the root of a step.
    "bodies.body_point": Tolerance(steps=512.0, nudge=512.0, pole=True),
    # Corners that are almost as far as each other are clipped along a steep line.
    "bodies.between_ends": Tolerance(steps=128.0, nudge=8.0),
    "bodies.beyond": JUMPING,
    "rays.clip_face": POLE,
    "rays.entry": EXACT,
    "bodies.faces": JUMPING,
    "bodies.farther": EXACT,
    "bodies.farther_face": JUMPING,
    "bodies.two_faces": JUMPING,
    "bodies.from_point": POLE,
    "bodies.nearer": JUMPING,
    "bodies.nearer_edge": JUMPING,
    "rays.ray_body": JUMPING,
    "rays.ray_disc": JUMPING,
    "bodies.separation": JUMPING,
    "bodies.touching_points": Tolerance(steps=32.0, nudge=8.0),
    "geometry.two_farthest_corners": JUMPING,
    "geometry.unit": EXACT,
    "geometry.wrap": EXACT,
    "motion.target": EXACT,
    "motion.turn_rate": EXACT,
    "motion.within": EXACT,
    "scoring.faded": EXACT,
    "scoring.on_border": EXACT,
    "sensing.cone": JUMPING,
}
# The laws of any outline jump where those of the Thymio's do.
TOLERANCES |= {
    name.replace(package, "polygon"): tolerance
    for name, tolerance in TOLERANCES.items()
    for package in ("bodies", "geometry", "rays")
    if name.replace(package, "polygon") in BY_NAME
}


@stage
def beyond(dx, dy, c, s, other_c, other_s):  # type: ignore[no-untyped-def]
    """Look at all faces at once; the engine's lanes share them."""
    return outline.beyond(dx, dy, c, s, other_c, other_s, 0, outline.FACE_COUNT)


# For laws about all faces of a body the GPU engine has loops of its own.
LOOPS = {
    "bodies.beyond": beyond,
    "bodies.body_point": outline.body_point,
    "rays.ray_body": outline.meets_body,
}


@cache
def row_of(arity: int, part: Compile) -> Any:
    """Return code that makes a tuple of row i of so many columns."""
    last = arity - 1
    if last == 0:
        return part(lambda columns, i: (columns[0][i],))
    first = row_of(last, part)
    return part(lambda columns, i: (*first(columns, i), columns[last][i]))


def step_of(law: Any, arity: int, width: int, part: Compile) -> Any:
    """Return code that applies a law to row i of the columns and writes what it returns.

    That is a tuple of so many parts, or one number if the width is 0.
    """
    row = row_of(arity, part)

    def one(columns, found, i):
        found[i, 0] = law(*row(columns, i))

    def several(columns, found, i):
        results = law(*row(columns, i))
        for k in range(width):
            found[i, k] = results[k]

    return part(several if width else one)


@cache
def loop(law: Any, arity: int, width: int) -> Any:
    """Return the CPU's loop over all rows, compiled as the CPU engine is."""
    step = step_of(law, arity, width, compiling.loop)

    def run(columns, found):
        for i in range(len(found)):
            step(columns, found, i)

    return njit(nogil=True, **compiling.OPTIONS)(run)


def kernel(name: str, arity: int, width: int) -> Any:
    """Return the GPU's kernel, a thread a row, compiled as the GPU engine is."""
    step = step_of(LOOPS.get(name) or device(BY_NAME[name]), arity, width, stage)

    def run(columns, found):
        i = cuda.grid(1)
        if i < len(found):
            step(columns, found, i)

    return cuda.jit(run) if SIMULATED else cuda.jit(fastmath=ROUGHLY)(run)


def on_cpu(law: Any, columns: Columns, width: int) -> np.ndarray:
    """Return what a law makes of every row on the CPU."""
    found = np.zeros((len(columns[0]), max(width, 1)))
    loop(law, len(columns), width)(columns, found)
    return found


def on_gpu(name: str, columns: Columns, width: int) -> np.ndarray:
    """Return what a law makes of every row on the GPU."""
    samples = len(columns[0])
    found = cuda.to_device(np.zeros((samples, max(width, 1))))
    there = tuple(cuda.to_device(column) for column in columns)
    kernel(name, len(columns), width)[-(-samples // THREADS), THREADS](there, found)
    return found.copy_to_host()


def apart(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Return how far numbers are apart; infinity is the largest number, NaN is only like NaN."""
    one, two = (np.clip(numbers, -LARGEST, LARGEST) for numbers in (one, two))
    off = np.nan_to_num(np.abs(one - two), nan=LARGEST)
    return np.where(np.isnan(one) & np.isnan(two), 0.0, off)


def allowed(numbers: np.ndarray, real: np.ndarray, steps: float) -> np.ndarray:
    """Return how far others may be from these results; whole numbers must be the same."""
    return np.where(real, steps * STEP * np.maximum(np.abs(numbers), 1.0), 0.0)


def explained(
    law: Any, columns: Columns, gpu: np.ndarray, width: int, real: np.ndarray, tolerance: Tolerance
) -> np.ndarray:
    """Tell for each row whether nudged arguments give on the CPU what the GPU gave."""
    chance = np.random.default_rng(1)
    met = np.zeros(len(gpu), bool)
    low, high = np.full_like(gpu, np.inf), np.full_like(gpu, -np.inf)
    for _ in range(NUDGES):
        nudged = tuple(_nudged(column, tolerance.nudge, chance) for column in columns)
        cpu = on_cpu(law, nudged, width)
        met |= (apart(cpu, gpu) <= allowed(cpu, real, tolerance.steps)).all(axis=1)
        low, high = np.fmin(low, cpu), np.fmax(high, cpu)
    if tolerance.pole:
        room = allowed(gpu, real, tolerance.steps)
        met |= ((low - room <= gpu) & (gpu <= high + room)).all(axis=1)
    return met


def _nudged(column: np.ndarray, steps: float, chance: np.random.Generator) -> np.ndarray:
    """Return numbers that are up to so many steps away; whole numbers stay as they are."""
    if column.dtype != np.float32:
        return column
    size = np.maximum(np.abs(column), 1.0) * STEP * steps
    return np.float32(column + size * chance.uniform(-1.0, 1.0, len(column)))


def measured(name: str, samples: int, chance: np.random.Generator) -> dict[str, Any]:
    """Return how far a law's results on the two engines are apart."""
    law = BY_NAME[name]
    columns = draw(CASES[name], chance, samples)
    with np.errstate(all="ignore"):
        example = law(*(column[0] for column in columns))
    width = len(example) if isinstance(example, tuple) else 0
    cpu, gpu = on_cpu(law, columns, width), on_gpu(name, columns, width)
    tolerance = TOLERANCES.get(name, ROUNDED)
    real = np.array([isinstance(part, np.floating) for part in parts(example)])
    off = apart(cpu, gpu)
    flipped = (off > allowed(cpu, real, tolerance.steps)).any(axis=1)
    strange = flipped.copy()
    if tolerance.nudge and flipped.any():
        some = tuple(column[flipped] for column in columns)
        strange[flipped] = ~explained(law, some, gpu[flipped], width, real, tolerance)
    off = off[~flipped]
    size = np.maximum(np.abs(cpu), np.abs(gpu))[~flipped]
    relative = np.divide(off, size, out=np.zeros_like(off), where=size > 0.0)
    return {
        "law": name,
        "absolute": float(off.max(initial=0.0)),
        "relative": float(relative.max(initial=0.0)),
        "flipped": float(flipped.mean()),
        "unexplained": int(strange.sum()),
        "tolerance": tolerance._asdict(),
        "within": not strange.any(),
    }


def compare(samples: int = 100_000, seed: int = 1) -> list[dict[str, Any]]:
    """Return, law by law, how far the engines are apart and whether that is within tolerance.

    ``flipped`` is the share of samples that differ by more steps than they may; those of a law
    that jumps or has a pole are ``unexplained`` if no nudged arguments explain them, others
    always.  ``absolute`` and ``relative`` are the largest differences of the rest.
    """
    chance = np.random.default_rng(seed)
    return [measured(name, samples, chance) for name in sorted(BY_NAME)]


def printed(row: dict[str, Any]) -> str:
    """Return a line about one law."""
    steps, nudge, pole = row["tolerance"].values()
    may = f"{steps:g}" if steps else "exact"
    if nudge:
        may += f", {'pole' if pole else 'jump'} {nudge:g}"
    numbers = "".join(f"{row[key]:9.1e}" for key in ("absolute", "relative", "flipped"))
    return f"{row['law']:30s}{numbers}{row['unexplained']:5d}  {may}{'' if row['within'] else ' !'}"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=100_000, help="of each law")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not SIMULATED and (why := problem()):
        raise SystemExit(f"no GPU can be used here: {why}")
    rows = compare(options.samples, options.seed)
    print(f"{'law':30s}{'absolute':>9s}{'relative':>9s}{'flipped':>9s}{'odd':>5s}  steps")
    print(*map(printed, rows), sep="\n")
    raise SystemExit(0 if all(row["within"] for row in rows) else 1)


if __name__ == "__main__":
    main()
