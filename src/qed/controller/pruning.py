"""Genomes and controllers to pruned networks, compiled, many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import float32 as f32

from qed.compile import entry
from qed.controller.genome import Genomes, from_controllers
from qed.controller.network import CONSTANT, FIRST_HIDDEN, GAIN, INPUTS, LEFT, RIGHT, Controller
from qed.controller.networks import Networks

NOWHERE = -1
FEW = 16  # controllers whose networks are made faster one by one than by loading compiled code
MOST_SORTED = 1000  # connections that are worth sorting by insertion


def table_of(controllers: Sequence[Controller]) -> Networks | None:
    """Return the networks of controllers as one table, made all at once, and kept for next time.

    None if they are few or very large: then one by one is faster.
    """
    places = [one.place for one in controllers]
    table = places[0][0] if places[0] is not None else None
    if isinstance(table, Networks) and all(at is not None and at[0] is table for at in places):
        rows = np.array([at[1] for at in places if at is not None])
        return table if np.array_equal(rows, np.arange(len(table))) else table.take(rows)
    each = {id(one): one for one in controllers}
    if len(each) <= FEW or max(len(one.connections) for one in each.values()) > MOST_SORTED:
        return None
    made = flatten(from_controllers(list(each.values())))
    for row, one in enumerate(each.values()):
        one.place = made, row
    if len(each) == len(controllers):
        return made
    number = {key: row for row, key in enumerate(each)}
    return made.take(np.array([number[id(one)] for one in controllers]))


def flatten(batch: Genomes) -> Networks:
    """Return each genome as a network without dead neurons, its links sorted by target.

    The same as ``Controller.network``, genome by genome.
    """
    count, width = batch.bias.shape
    biases = np.zeros((count, width), np.float32)
    first = np.zeros((count, width + 1), np.int32)
    sources = np.zeros_like(batch.source)
    weights = np.zeros_like(batch.weight)
    neurons = np.zeros(count, np.int32)
    place = np.zeros(FIRST_HIDDEN + width, np.int32)
    order = np.zeros(max(batch.source.shape[1], 1), np.int32)
    flatten_all(batch, biases, first, sources, weights, neurons, place, order)
    used = np.arange(width) < neurons[:, None]
    kept = np.arange(sources.shape[1]) < first[np.arange(count), neurons][:, None]
    links = np.diff(first, axis=1)[used].astype(np.int64)
    return Networks(neurons.astype(np.int64), biases[used], links, sources[kept], weights[kept])


@entry
def flatten_all(
    batch: Any,
    biases: Any,
    first: Any,
    sources: Any,
    weights: Any,
    neurons: Any,
    place: Any,
    order: Any,
) -> None:
    """Fill one row of each table for each genome; ``place`` and ``order`` are scratch."""
    for row in range(len(batch.hidden)):
        links = batch.links[row]
        nodes = FIRST_HIDDEN + batch.hidden[row]
        source, target, weight = batch.source[row], batch.target[row], batch.weight[row]
        for node in range(nodes):
            place[node] = node if node < INPUTS or node == LEFT or node == RIGHT else NOWHERE
        found = True
        while found:
            found = False
            for e in range(links):
                if place[target[e]] != NOWHERE and place[source[e]] == NOWHERE:
                    place[source[e]] = source[e]
                    found = True
        used = 0
        for node in range(LEFT, nodes):
            if place[node] != NOWHERE:
                place[node] = LEFT + used
                biases[row, used] = batch.bias[row, node - LEFT]
                used += 1
        kept = 0
        for e in range(links):  # insertion sort by target, source and weight
            if place[target[e]] == NOWHERE or place[source[e]] == NOWHERE:
                continue
            if source[e] == CONSTANT:
                biases[row, place[target[e]] - LEFT] += f32(GAIN) * weight[e]
                continue
            at = kept
            while at > 0 and (
                place[target[order[at - 1]]] > place[target[e]]
                or (
                    place[target[order[at - 1]]] == place[target[e]]
                    and (
                        place[source[order[at - 1]]] > place[source[e]]
                        or (
                            place[source[order[at - 1]]] == place[source[e]]
                            and weight[order[at - 1]] > weight[e]
                        )
                    )
                )
            ):
                order[at] = order[at - 1]
                at -= 1
            order[at] = e
            kept += 1
        for k in range(kept):
            sources[row, k] = place[source[order[k]]]
            weights[row, k] = weight[order[k]]
            first[row, place[target[order[k]]] - LEFT + 1] += 1
        for u in range(used):
            first[row, u + 1] += first[row, u]
        neurons[row] = used
