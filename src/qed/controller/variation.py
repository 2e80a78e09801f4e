"""Variation: random genomes, and mutation in its seven steps.

Everything random follows from a key for each genome, so a child does not depend on the batch
in which it is made.  There is no crossover.
"""

import math
from typing import Any

import numpy as np
from numpy import float32 as f32
from numpy import uint32 as u32
from numpy import uint64 as u64

from qed.chance import mix
from qed.compile import entry, loop
from qed.controller.genome import Genomes, blank, trimmed
from qed.controller.inputs import FIRST_HIDDEN, LEFT

MOST_HIDDEN = 20  # in a random genome
MOST_LINKS = 40
LIMIT = 2.0  # of weights and biases, either way
# Rates of mutation: of each weight and bias, of each connection in turn until one is hit,
# and of the genome.
CHANGE, REWIRE, ADD_LINK, DROP_LINK, ADD_NEURON, DROP_NEURON = 0.05, 0.15, 0.15, 0.15, 0.10, 0.10
HIDDEN, LINKS = 0, 1  # places in the record of a genome's size
OPERATORS = ("weight", "rewire", "bias", "add_link", "drop_link", "add_neuron", "drop_neuron")


def random_genomes(keys: np.ndarray) -> Genomes:
    """Return a random genome for each key (uint32)."""
    batch = blank(len(keys), MOST_HIDDEN, MOST_LINKS)
    fill_random(np.asarray(keys, np.uint32), batch, *_scratch())
    return batch.pruned()


def vary(parents: Genomes, keys: np.ndarray, events: np.ndarray | None = None) -> Genomes:
    """Return a mutated copy of each parent, by its key (uint32).

    ``events`` (int64, one for each of ``OPERATORS``) counts what happened, if given.
    """
    # A child has at most one hidden neuron and two connections more than its parent.
    children = Genomes(*(column.copy() for column in parents)).fit(
        parents.bias.shape[1] - 2 + 1, parents.source.shape[1] + 2
    )
    counts = np.zeros(len(OPERATORS), np.int64) if events is None else events
    mutate_all(np.asarray(keys, np.uint32), children, counts, *_scratch())
    return trimmed(children)


def _scratch() -> tuple[np.ndarray, np.ndarray]:
    """Return what the compiled code works with: size, stream of chance."""
    return np.zeros(2, np.int64), np.zeros(2, np.uint32)


@entry
def fill_random(keys: Any, batch: Any, size: Any, chance: Any) -> None:
    """Fill all rows with random genomes."""
    for row in range(len(keys)):
        source, target, weight = batch.source[row], batch.target[row], batch.weight[row]
        begin(chance, keys[row])
        size[HIDDEN] = pick(chance, MOST_HIDDEN + 1)
        size[LINKS] = 0
        for k in range(2 + size[HIDDEN]):
            batch.bias[row, k] = anywhere(chance)
        for _ in range(pick(chance, MOST_LINKS + 1)):
            add_link(source, target, weight, size, chance)
        batch.hidden[row] = size[HIDDEN]
        batch.links[row] = size[LINKS]


@entry
def mutate_all(keys: Any, batch: Any, events: Any, size: Any, chance: Any) -> None:
    """Mutate all rows in place."""
    for row in range(len(keys)):
        begin(chance, keys[row])
        size[HIDDEN] = batch.hidden[row]
        size[LINKS] = batch.links[row]
        mutate(batch, row, events, size, chance)
        batch.hidden[row] = size[HIDDEN]
        batch.links[row] = size[LINKS]


@loop
def mutate(batch: Any, row: int, events: Any, size: Any, chance: Any) -> None:
    """Mutate a genome, in the order of the original, and count what happened."""
    source, target, weight = batch.source[row], batch.target[row], batch.weight[row]
    bias = batch.bias[row]
    for e in range(size[LINKS]):
        if hit(chance, CHANGE):
            weight[e] = stepped(weight[e], uniform(chance))
            events[0] += 1
    events[1] += rewire(source, target, weight, size, chance)
    for k in range(2 + size[HIDDEN]):
        if hit(chance, CHANGE):
            bias[k] = stepped(bias[k], uniform(chance))
            events[2] += 1
    if hit(chance, ADD_LINK):
        events[3] += add_link(source, target, weight, size, chance)
    if hit(chance, DROP_LINK) and size[LINKS] > 0:
        drop_link(source, target, weight, size, pick(chance, size[LINKS]))
        events[4] += 1
    if hit(chance, ADD_NEURON) and size[LINKS] > 0:
        split(source, target, weight, bias, size, chance)
        events[5] += 1
    if hit(chance, DROP_NEURON) and size[HIDDEN] > 0:
        drop_neuron(source, target, weight, bias, size, FIRST_HIDDEN + pick(chance, size[HIDDEN]))
        events[6] += 1


@loop
def rewire(source: Any, target: Any, weight: Any, size: Any, chance: Any) -> int:
    """Draw one end of the first connection that is hit anew; it moves to the end of the list.

    Returns the number of connections that were hit, 0 or 1.
    """
    for e in range(size[LINKS]):
        if hit(chance, REWIRE):
            s, t, w = source[e], target[e], weight[e]
            drop_link(source, target, weight, size, e)
            new_source = uniform(chance) < 0.5
            for _ in range((FIRST_HIDDEN + size[HIDDEN]) ** 2):
                other_s = any_source(size, chance) if new_source else s
                other_t = t if new_source else any_target(size, chance)
                if not connected(source, target, size, other_s, other_t):
                    s, t = other_s, other_t
                    break
            append(source, target, weight, size, s, t, w)
            return 1
    return 0


@loop
def add_link(source: Any, target: Any, weight: Any, size: Any, chance: Any) -> int:
    """Add a connection that is not there yet; return 0 if many draws find none."""
    for _ in range((FIRST_HIDDEN + size[HIDDEN]) ** 2):
        s = any_source(size, chance)
        t = any_target(size, chance)
        if not connected(source, target, size, s, t):
            append(source, target, weight, size, s, t, anywhere(chance))
            return 1
    return 0


@loop
def split(source: Any, target: Any, weight: Any, bias: Any, size: Any, chance: Any) -> None:
    """Put a new neuron in the middle of a connection; both halves keep its weight."""
    e = pick(chance, size[LINKS])
    s, t, w = source[e], target[e], weight[e]
    drop_link(source, target, weight, size, e)
    middle = FIRST_HIDDEN + size[HIDDEN]
    bias[2 + size[HIDDEN]] = anywhere(chance)
    size[HIDDEN] += 1
    append(source, target, weight, size, s, middle, w)
    append(source, target, weight, size, middle, t, w)


@loop
def drop_neuron(source: Any, target: Any, weight: Any, bias: Any, size: Any, node: int) -> None:
    """Take away a hidden neuron with all its connections; later ones move up."""
    kept = 0
    for e in range(size[LINKS]):
        if source[e] != node and target[e] != node:
            source[kept] = source[e] - 1 if source[e] > node else source[e]
            target[kept] = target[e] - 1 if target[e] > node else target[e]
            weight[kept] = weight[e]
            kept += 1
    clear(source, target, weight, kept, size[LINKS])
    size[LINKS] = kept
    for k in range(node - LEFT, 1 + size[HIDDEN]):
        bias[k] = bias[k + 1]
    bias[1 + size[HIDDEN]] = f32(0.0)
    size[HIDDEN] -= 1


@loop
def append(source: Any, target: Any, weight: Any, size: Any, s: int, t: int, w: Any) -> None:
    """Put a connection at the end of the list."""
    source[size[LINKS]] = s
    target[size[LINKS]] = t
    weight[size[LINKS]] = w
    size[LINKS] += 1


@loop
def drop_link(source: Any, target: Any, weight: Any, size: Any, gone: int) -> None:
    """Take a connection out of the list; later ones move up."""
    for e in range(gone, size[LINKS] - 1):
        source[e] = source[e + 1]
        target[e] = target[e + 1]
        weight[e] = weight[e + 1]
    clear(source, target, weight, size[LINKS] - 1, size[LINKS])
    size[LINKS] -= 1


@loop
def clear(source: Any, target: Any, weight: Any, begin_: int, end: int) -> None:
    """Set unused places to zero, so that equal genomes are equal arrays."""
    for e in range(begin_, end):
        source[e] = 0
        target[e] = 0
        weight[e] = f32(0.0)


@loop
def connected(source: Any, target: Any, size: Any, s: int, t: int) -> Any:
    """Return whether a connection is there."""
    for e in range(size[LINKS]):
        if source[e] == s and target[e] == t:
            return True
    return False


@loop
def any_source(size: Any, chance: Any) -> Any:
    """Draw an input or a hidden neuron."""
    node = pick(chance, LEFT + size[HIDDEN])
    return node if node < LEFT else node + (FIRST_HIDDEN - LEFT)


@loop
def any_target(size: Any, chance: Any) -> Any:
    """Draw a wheel or a hidden neuron."""
    return LEFT + pick(chance, 2 + size[HIDDEN])


@loop
def stepped(value: Any, r: float) -> Any:
    """Return a weight or bias after polynomial mutation with index 15, from r in (0, 1)."""
    if r < 0.5:
        delta = sixteenth_root(2.0 * r) - 1.0
    else:
        delta = 1.0 - sixteenth_root(2.0 * (1.0 - r))
    return f32(min(max(value + 2.0 * LIMIT * delta, -LIMIT), LIMIT))


@loop
def sixteenth_root(x: float) -> float:
    """Return x^(1/16), by square roots, which are the same on every machine."""
    return math.sqrt(math.sqrt(math.sqrt(math.sqrt(x))))


@loop
def begin(chance: Any, key: Any) -> None:
    """Start a genome's stream of random numbers."""
    chance[0] = key
    chance[1] = 0


@loop
def bits(chance: Any) -> Any:
    """Return the next 32 random bits."""
    chance[1] += 1
    return mix(u32(chance[0] ^ mix(chance[1])))


@loop
def uniform(chance: Any) -> Any:
    """Return the next random number in (0, 1)."""
    return (bits(chance) + 0.5) / 4294967296.0


@loop
def hit(chance: Any, rate: float) -> Any:
    """Return whether an event of this probability happens."""
    return uniform(chance) < rate


@loop
def pick(chance: Any, count: int) -> Any:
    """Return a random whole number from 0 to count - 1."""
    return np.int64((u64(bits(chance)) * u64(count)) >> u64(32))


@loop
def anywhere(chance: Any) -> Any:
    """Return a uniform weight or bias."""
    return f32(LIMIT * (2.0 * uniform(chance) - 1.0))
