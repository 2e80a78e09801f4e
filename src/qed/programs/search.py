"""The search of a kit in plain Python, and whether it decides as the kit's own does."""

from typing import Any

import numpy as np

from qed.programs.running import SOURCES
from qed.recovery.kit.kit import Kit
from qed.recovery.search import gaussian, strategies
from qed.recovery.search import search as searches

FILE = "search.py"
TRIALS = 11  # the free one of the present controller, and ten


def text_of(kit: Kit) -> str:
    """Return the program: the source with the kit's numbers in the places for them."""
    prior = kit.known.prior
    numbers: dict[str, Any] = {
        "SECONDS": kit.seconds,
        "PRESENT": kit.present,
        "MEAN": prior.mean,
        "LOADINGS": prior.loadings,
        "NOISE": prior.noise,
        "CENTRES": prior.centres,
        "WIDTH": prior.width,
        "NOISIER": prior.noisier,
        "POINTS": strategies.POINTS,
        "WEIGHTS": strategies.WEIGHTS,
        "PECULIAR": gaussian.PECULIAR,
        "CLEAR": searches.CLEAR,
        "CAREFUL, VERIFY": (strategies.CAREFUL, strategies.VERIFY),
        "DOUBT": strategies.DOUBT,
        "BOUND, NEAR_BOUND": (strategies.BOUND, strategies.NEAR_BOUND),
        "CANDIDATES, RIVALS": (strategies.CANDIDATES, strategies.RIVALS),
        "NINETY": searches.NINETY,
        "WORTH_DIGITS": strategies.WORTH_DIGITS,
    }
    filled = []
    for line in (SOURCES / FILE).read_text(encoding="utf-8").splitlines():
        name = line.partition(" = ")[0].partition(":")[0]
        filled.append(f"{name} = {_literal(numbers.pop(name))}" if name in numbers else line)
    assert not numbers, f"no place for {', '.join(numbers)}"
    return "\n".join([*filled, ""])


def _literal(value: Any) -> str:
    """Return numbers as Python reads them, to the bit."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    if value.ndim == 2:
        return "[\n    " + ",\n    ".join(map(_literal, value)) + ",\n]"
    return repr(value.tolist())


def compare(kit: Kit, text: str, faults: int, seed: int) -> dict[str, Any]:
    """Return in how many searches the program asked for the same, and how far beliefs are apart.

    A fault is one that the kit has learned from, or rather what controllers may give in it.
    """
    names: dict[str, Any] = {}
    exec(compile(text, FILE, "exec"), names)
    rng, prior = np.random.default_rng(seed), kit.known.prior
    same, apart = 0, 0.0
    for _ in range(faults):
        z = rng.choice(prior.centres) + np.sqrt(prior.width) * rng.normal(size=len(prior.width))
        given = prior.mean + prior.loadings @ z
        own, theirs = kit.search(), names["Search"]()
        alike = True
        own.tell(given[kit.present], own.present)
        theirs.tell(given[kit.present], theirs.present)
        for _ in range(TRIALS - 1):
            own.ask()
            row = own.state["asked"]
            alike &= row == theirs.ask()
            fitness = float(rng.normal(given[row], prior.noise[row]))
            own.tell(fitness)
            theirs.asked = row  # what it believes is compared anyway
            theirs.tell(fitness)
        same += alike and own.best_row == theirs.best
        apart = max(apart, *np.abs(own.expected - theirs.mean))
        one, other = own.belief(), theirs.belief(own.best_row)
        apart = max(apart, *np.abs(np.subtract((one.mean, one.low, one.high), other)))
    return {"searches": faults, "trials": TRIALS, "same": same, "beliefs apart": float(apart)}
