"""Programs for Aseba: in its own compiler and virtual machine, and the sizes that decide."""

from __future__ import annotations

from xml.etree import ElementTree

import commands
import numpy as np
import pytest

import qed
from qed.controller.genome import from_controllers
from qed.controller.inputs import FIRST_RAB, SENSED
from qed.errors import InputError
from qed.programs import aseba
from qed.programs.contract import FULL_SCALE
from qed.programs.network import ONE, fixed, networks, step

needs_aseba = pytest.mark.skipif(bool(aseba.lacks()), reason=f"{aseba.lacks()}")
SPEED = 250  # what a Thymio's motors call 0.1 m/s
SMALL = [
    qed.Controller([], [0.0, 0.0]),
    qed.Controller([(0, 16, 0.01), (9, 17, 1.0)], [1.5, -1.5]),
    qed.Controller([(8, 18, 1.0), (18, 18, -0.5), (18, 16, 1.0)], [0.0, 0.0, 0.1]),
]
LARGE = qed.Controller([(k % 15, 16 + k % 2, 0.5) for k in range(250)], [0.0, 0.0])


@needs_aseba
def test_sizes_are_those_of_the_compiler():
    nets = fixed(networks([*SMALL, LARGE, *map(qed.Controller.random, range(30))]))
    told = [aseba.program(net, SPEED, "made up") for net in nets]
    slow, size = aseba.program(nets[0], 100, "made up")
    assert aseba.measured([slow]) == [size]
    large, sizes = len(SMALL), [size for _, size in told]
    fitting = [k for k, size in enumerate(sizes) if size.fits]
    assert large not in fitting
    assert aseba.measured([told[k][0] for k in fitting]) == [sizes[k] for k in fitting]


STOCK = qed.THYMIO_STOCK
HEARS = qed.Controller([(0, 15, 1.0), (9, 16, -2.0), (9, 17, 0.7)], [0.4, 0.6, 0.1], robot=STOCK)


@needs_aseba
def test_sizes_of_a_stock_thymio_are_those_of_the_compiler():
    different = [
        *(qed.Controller([(k, 15, 1.0)], [0.0, 0.0], robot=STOCK) for k in (0, 8)),
        HEARS, qed.Controller([], [0.0, 0.0], robot=STOCK),
    ]  # fmt: skip
    nets = fixed(networks([*different, *(qed.Controller.random(k, STOCK) for k in range(10))]))
    told = [aseba.program(net, SPEED, "made up", STOCK) for net in nets]
    assert aseba.measured([code for code, _ in told]) == [size for _, size in told]


@needs_aseba
def test_a_stock_thymio_hears_messages(tmp_path):
    """The strongest of a cycle, which the next cycle begins without."""
    made = qed.export(HEARS, "aseba", tmp_path, trials=2, seconds=20.0)
    for kind in ("recorded, from the same state", "recorded, free-running", "random, free-running"):
        assert made.parity["aseba"][kind]["within"] >= 0.99
    [net] = fixed(networks([HEARS]))
    code = aseba.program(net, SPEED, "", STOCK)[0]
    assert code.count("call prox.comm.enable(1)") == 1
    assert code.count("call math.max(rab, rab, prox.comm.rx._intensities)") == 1


def test_only_a_thymio_runs_aseba(tmp_path):
    epuck = qed.Controller.random(1, qed.EPUCK)
    with pytest.raises(InputError, match="not on the robot epuck: take python, micropython or c"):
        qed.export(epuck, "aseba", tmp_path / "no", trials=1, seconds=2.0)
    assert not (tmp_path / "no").exists()


@needs_aseba
def test_the_machine_computes_what_is_proven(tmp_path):
    controllers = [*SMALL, *map(qed.Controller.random, range(37))]
    nets, count = fixed(networks(controllers)), len(controllers)
    where = qed.Environment(robots=count)
    qed.export(qed.Team(controllers), "aseba", tmp_path, environment=where, trials=1, seconds=1)
    rng = np.random.default_rng(5)
    raw = rng.integers(0, FULL_SCALE + 1, (20, count, FIRST_RAB))
    far = rng.integers(0, ONE + 1, (20, count, len(SENSED) - FIRST_RAB))
    raw[:10] = FULL_SCALE * rng.integers(0, 2, raw[:10].shape)  # the ends of what can be read
    far[:10] = ONE * rng.integers(0, 2, far[:10].shape)
    inputs = np.concatenate([1.0 - 2.0 * raw / FULL_SCALE, 2.0 * far / ONE - 1.0], axis=2)
    whole = np.concatenate([ONE - raw * 2 * ONE // FULL_SCALE, 2 * far - ONE], axis=2)
    hidden = [[0] * (len(net) - 2) for net in nets]
    rest = np.zeros((count, 2), int)
    with aseba.run(tmp_path, 0, range(count)) as program:
        for row, numbers in zip(inputs, whole.tolist(), strict=True):
            wheels = program.step(row) * SPEED
            for k, net in enumerate(nets):
                values = step(net, numbers[k], hidden[k])
                hidden[k] = values[2:]
                steps = (np.array(values[:2]) + ONE) * 16 * SPEED // ONE + rest[k]
                rest[k] = steps % 16  # what a whole target drops goes into the next one
                assert wheels[k].round(6).tolist() == (steps // 16 - SPEED).tolist()


@needs_aseba
@pytest.mark.parametrize("task", ["aggregation", "dispersion"])
def test_aseba_drives_a_swarm(tmp_path, task):
    best = qed.load_example(task).best.controller
    made = qed.export(best, "aseba", tmp_path, task=task, trials=3, seconds=20.0)
    report = made.parity["aseba"]
    for kind in ("recorded, from the same state", "recorded, free-running", "random, free-running"):
        assert report[kind]["within"] >= 0.99
    assert report["closed loop"]["alike"]


def test_what_does_not_fit_is_told_with_numbers(tmp_path):
    with pytest.raises(InputError, match="250 links, takes 1,661 of 1,534 words") as error:
        qed.export(LARGE, "aseba", tmp_path / "large", trials=1, seconds=2.0)
    assert "512 variables" in str(error.value)
    fewer = int(str(error.value).split()[-3])
    smaller = qed.Controller(LARGE.connections[fewer:], LARGE.bias)
    [net] = fixed(networks([smaller]))
    assert aseba.program(net, SPEED, "")[1].fits
    assert not (tmp_path / "large").exists()


def test_another_cell_that_fits_is_named(tmp_path):
    """From an archive the best controller that fits, which is not the best one."""
    medium, small = SMALL[1], SMALL[2]
    heavy = qed.Controller([(0, 16, 3e4)], [0.0, 0.0])
    cells = {0: (LARGE, 0.9), 3: (heavy, 0.8), 12: (small, 0.5), 15: (medium, 0.6)}

    def done(*some):
        archive = qed.Archive(qed.Grid((4, 4)), {"settings": {"task": "patrolling"}})
        genomes = from_controllers([cells[k][0] for k in some])
        measures = np.array(np.unravel_index(some, (4, 4))).T / 3.0
        archive.add(genomes, [cells[k][1] for k in some], measures)
        archive.save(tmp_path / "few.npz")
        words = ("export", "few.npz", "--best", "--to", "aseba", "--out", "robot")
        return commands.run(*words, cwd=tmp_path)

    told = done(*cells)
    assert told.returncode == 2
    assert "links less, or --cell 15, the best that fits (fitness 0.6000)" in told.stderr
    assert "no other controller of the archive fits" in done(0, 3).stderr
    assert not (tmp_path / "robot").exists()


def test_a_thymio_is_not_faster_than_it_is(tmp_path):
    fast = qed.Environment(max_speed=0.3)
    with pytest.raises(InputError, match=r"drives at most 0.2 m/s, its max_speed is 0.3"):
        qed.export(SMALL[0], "aseba", tmp_path, environment=fast)


def test_names_do_not_break_out(tmp_path):
    name = "x\nmotor.left.target = 500 ]]></node> &amp; # <"
    qed.export(SMALL[1], "aseba", tmp_path, name=name, trials=1, seconds=2.0)
    text = (tmp_path / "controller.aesl").read_text("utf-8")
    root = ElementTree.fromstring(text)
    assert [child.tag for child in root] == ["event", "keywords", "node"]
    code = root.findtext("node")
    assert code.splitlines()[0] == "# x?motor.left.target ? 500 ?node? ?amp? ? ?"
    assert "= 500" not in code


def test_what_is_not_installed_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("QED_ASEBA", str(tmp_path))
    done = commands.run(
        "export", "example:flocking", "--best", "--to", "aseba", "--out", "robot", "--trials", "1",
        "--seconds", "2", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "not compared here: it needs" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
