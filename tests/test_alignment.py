"""How much neighbours in a descriptor's space tell of fitness, where the answer is known."""

from __future__ import annotations

import json

import alignment
import numpy as np
import pytest

import qed
from qed.descriptors import HBD, hbd


def test_neighbours_tell_a_smooth_fitness_and_no_random_one() -> None:
    rng = np.random.default_rng(1)
    places = rng.random((800, 3))
    smooth = np.sin(3 * places[:, 0]) + places[:, 1]
    assert alignment.by_neighbours(places, smooth) > 0.95
    # Predicted by five others that know nothing: the error has a fifth more variance.
    alone = alignment.by_neighbours(places, rng.standard_normal(800))
    assert alone == pytest.approx(-1 / alignment.NEIGHBOURS, abs=0.1)
    noisy = smooth + smooth.std() * rng.standard_normal(800)
    assert 0.25 < alignment.by_neighbours(places, noisy) < 0.5  # of the half that there is


def test_ones_own_fitness_takes_no_part() -> None:
    pairs = np.repeat(np.arange(6.0), 10)[:, None] + 0.001 * np.arange(60)[:, None]
    odd = np.zeros(60)
    odd[7] = 1.0
    assert alignment.by_neighbours(pairs, odd) < 0.0


def test_positions_are_described_as_simulations_are() -> None:
    one = qed.Controller.random(8)
    how = {"seconds": 40.0, "seed": 3}
    trace = qed.trace(one, **how)
    found = alignment.of_positions(trace.x, trace.y)
    seen = qed.simulate(one, trials=1, descriptors=["hbd"], **how)
    hbd_there = hbd(seen, [qed.Environment()])[0]
    assert [found[name] for name in HBD] == pytest.approx(hbd_there, abs=1e-5)
    pair = alignment.of_positions(np.array([[1.0, 1.0, 2.0]]), np.array([[1.0, 2.0, 2.0]]))
    assert pair["distance"] == pytest.approx((1 + 1 + 2**0.5) / 3)
    assert pair["nearest"] == pytest.approx(1.0)
    assert pair["coverage"] == pytest.approx(3 / 37**2)
    assert pair["uniformity"] == pytest.approx(2 / 3)


def test_recorded_swarms_are_described_alike() -> None:
    found = json.loads(alignment.NUMBERS.read_text("utf-8"))["recorded"]
    assert len(found) >= 10
    apart = [max(abs(one["ours"][k] - v) for k, v in one["argos"].items()) for one in found]
    assert np.median(apart) < 0.001  # fractions, and metres of an arena of four
    assert np.sort(apart)[-3] < 0.005  # but for two, in which robots press against each other
    assert max(apart) < 0.25


def test_the_page_is_that_of_the_numbers() -> None:
    rows = json.loads(alignment.NUMBERS.read_text("utf-8"))
    page = alignment.PAGE.read_text("utf-8")
    assert page == alignment.page(rows), "run benchmarks/alignment.py --page"
