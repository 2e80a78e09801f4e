"""SPIRIT: what robots did in which situation, p(action | sensory state).

A sensory state is one of 64: which of six groups of sensors are active (front-left, front,
front-right and rear proximity; front and rear range-and-bearing).  An action is one of 16: a
quarter of the range of speeds for the left wheel, and one for the right.  The descriptor holds
the part that each action has in each state, over all robots, cycles and trials, at place
16 * state + action; in a state that never came up all actions have 1/16.
"""

import numpy as np

from qed.swarm.simulate import Outcome

STATES = 64
ACTIONS = 16


def describe(outcome: Outcome) -> np.ndarray:
    """Return p(action | state) of each controller, float32 (controllers, 1024)."""
    if outcome.situations is None:
        raise ValueError(
            "the outcome holds no counts for SPIRIT: simulate with descriptors=['spirit']"
        )
    counts = outcome.situations
    totals = counts.sum(axis=2, keepdims=True)
    part = np.where(totals > 0, counts / np.maximum(totals, 1), 1.0 / ACTIONS)
    return part.astype(np.float32).reshape(len(counts), STATES * ACTIONS)


def distance(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return how far behaviours are apart, from 0 (the same) to 1 (never the same action).

    It is the total variation distance 1/2 sum over actions of |p(a|s) - q(a|s)|, averaged over
    the 64 states.  ``p`` and ``q`` are descriptors (..., 1024) that broadcast together.
    """
    apart = np.abs(np.asarray(p, np.float64) - np.asarray(q, np.float64))
    total: np.ndarray = apart.sum(axis=-1) / (2 * STATES)
    return total
