"""A kit without any simulation: controllers of one factor, for tests of searches and files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from beliefs import plain

import qed
from qed.errors import InputError
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.playbook import Play, Playbook
from qed.recovery.search.strategies import Known


def made(controllers: int = 40, seed: int = 1) -> Kit:
    """Return a kit of random networks with a made-up prior; the first is the present one."""
    rng = np.random.default_rng(seed)
    networks = tuple(_rounded(qed.Controller.random(k)) for k in range(controllers))

    def real(values: np.ndarray) -> np.ndarray:
        return values.astype(np.float32).astype(np.float64)

    mean = rng.uniform(0.3, 0.6, controllers)
    prior = plain(
        real(mean),
        real(rng.normal(0, 0.1, (controllers, 3))),
        real(np.full(controllers, 0.02)),
    )
    prior = replace(prior, noisier=np.array([0.5, 1.0, 2.0]))
    normal = real(rng.uniform(0.2, 0.7, controllers))
    normal[0] = 0.75
    places = real(rng.uniform(size=(controllers, 6)))
    order = rng.permutation(controllers)[: min(10, controllers)]
    known = Known(prior, normal, places, order.astype(np.int64))
    plays = {
        "NONE": Play("NONE", 0, 0.7, 0.7, 0.0),
        "PMIN": Play("PMIN", 1, 0.5, 0.3, 0.01),
    }
    return Kit(
        task="patrolling",
        environment=qed.Environment(),
        seconds=400.0,
        controllers=networks,
        cells=np.arange(controllers) * 3,
        present=0,
        known=known,
        playbook=Playbook(plays, networks),
        library={"faults": ["PMIN"], "trials": 2},
        findings={},
    )


def _rounded(controller: qed.Controller) -> qed.Controller:
    """Return a controller whose numbers are single precision, as those of genomes."""
    links = [(s, t, float(np.float32(w))) for s, t, w in controller.connections]
    return qed.Controller(links, [float(np.float32(value)) for value in controller.bias]).pruned()


def refuses_wrong_fitness(search: Any) -> None:
    """Tell a search what is no fitness, then one, then one too many: only the one is kept."""
    before = search.state
    for wrong in (
        float("nan"), float("inf"), float("-inf"), np.float32("nan"), "much", "0.5", b"1", None,
        True, np.True_, [0.5], np.array([0.5]), 0.5j,
    ):  # fmt: skip
        with pytest.raises(InputError, match="fitness must be"):
            search.tell(wrong)
    assert search.state == before
    search.tell(0.5)
    with pytest.raises(InputError, match="waiting for a fitness"):
        search.tell(0.5)
