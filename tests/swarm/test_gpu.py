"""The GPU engine on a real NVIDIA GPU: `pytest -m gpu`; other tests see no GPU.

Some minutes on an H200, most of them for kernels that are compiled.
"""

import json
import subprocess
import sys
from pathlib import Path

import law_parity
import numpy as np
import pytest
from test_cuda import CASES, EQUALS

import qed
from qed.swarm import backend
from qed.swarm.environment import attributes_of
from qed.swarm.robot import ROBOTS

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not backend.likely(), reason="no NVIDIA GPU can be used here"),
    pytest.mark.filterwarnings("ignore"),  # of numba-cuda, about small grids
]
# numba-cuda 0.30 looks for np.row_stack, which numpy 2.5 has no more.
SCRIPT = (
    "import os, runpy, sys; import numpy as np; np.__dict__.setdefault('row_stack', np.vstack); "
    "sys.path.insert(0, os.path.dirname(sys.argv[1])); "
    "runpy.run_path(sys.argv[1], run_name='__main__')"
)
TASKS = ("aggregation", "dispersion", "flocking", "patrolling", "border-patrolling")


def test_a_gpu_is_here():
    assert backend.problem() is None
    assert backend.chosen("auto") == "cuda"


@pytest.fixture(scope="module")
def worlds():
    """How far the engines are apart in tiny worlds, case by case: every kind of kernel."""
    script = Path(__file__).with_name("simulated_gpu.py")
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, str(script)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return dict(line.split(": ") for line in run.stdout.splitlines())


@pytest.mark.parametrize("case", CASES)
def test_every_kind_of_kernel_agrees_with_the_cpu(worlds, case):
    # Products are contracted, so results differ in rounding; a reading on the border of a state
    # may be counted as another one.
    assert float(worlds[case]) < 0.02


@pytest.mark.parametrize("case", EQUALS)
def test_a_team_of_equals_is_one_controller_and_warps_or_parts_change_nothing(worlds, case):
    assert float(worlds[case]) == 0.0


@pytest.mark.parametrize("law", sorted(law_parity.BY_NAME))
def test_laws_and_intrinsics_agree_with_the_cpu(law):
    row = law_parity.measured(law, 4_000, np.random.default_rng(1))
    assert row["within"], law_parity.printed(row)


def swarms(robot=qed.THYMIO):
    return [qed.Controller.random(seed, robot=robot) for seed in range(60)]


def mixed(robot=qed.THYMIO):
    return qed.Environment.sample(60, seed=3, attributes=attributes_of("paper").of(robot))


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=str)
def test_fitness_agrees_in_the_mean(robot):
    given = {"tasks": TASKS, "trials": 12, "seconds": 100.0, "seed": 2}
    here = qed.simulate(swarms(robot), mixed(robot), backend="cuda", **given)
    there = qed.simulate(swarms(robot), mixed(robot), backend="cpu", **given)
    for task in TASKS:
        off = (here.fitness[task] - there.fitness[task]).mean(1)
        error = off.std(ddof=1) / np.sqrt(len(off))
        assert abs(off.mean()) < 4 * error + 1e-6, task


def test_results_do_not_depend_on_what_else_is_simulated():
    given = {"tasks": "patrolling", "trials": 7, "seconds": 60.0, "seed": 2, "backend": "cuda"}
    together = qed.simulate(swarms(), mixed(), **given).fitness["patrolling"]
    order = np.random.default_rng(1).permutation(60)
    some = order[:23]
    alone = qed.simulate([swarms()[k] for k in some], [mixed()[k] for k in some], **given).fitness[
        "patrolling"
    ]
    np.testing.assert_array_equal(alone, together[some])


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=str)
def test_renumbered_robots_do_the_same(robot):
    chance = np.random.default_rng(4)
    poses = chance.uniform(0.3, 1.7, (6, 8, 3))
    order = chance.permutation(8)
    # A pair's numbers are rounded in another order, which grows as time goes by.
    given = {"tasks": "dispersion", "seconds": 5.0, "noise": 0.0, "backend": "cuda"}
    where = qed.Environment(robot=robot, robots=8, arena=2.0)
    one, other = (
        qed.simulate(swarms(robot)[:20], where, start=qed.Start(start), **given).fitness[
            "dispersion"
        ]
        for start in (poses, poses[:, order])
    )
    off = abs(one / other - 1.0)
    assert np.quantile(off, 0.9) < 1e-5
    assert off.max() < 0.02


@pytest.mark.parametrize("algorithm", ["qed", "hbd"])
def test_a_run_resumes_to_the_bit(tmp_path, algorithm):
    given = {
        "evaluations": 800, "initial": 200, "batch": 40, "trials": 5, "seconds": 40.0, "seed": 3,
        "backend": "cuda",
    }  # fmt: skip

    def stop(run):
        if run.search.done >= 480:
            raise KeyboardInterrupt

    whole = qed.evolve("dispersion", algorithm, **given)
    with pytest.raises(KeyboardInterrupt):
        qed.evolve("dispersion", algorithm, out=tmp_path / "run", progress=stop, **given)
    resumed = qed.evolve("dispersion", algorithm, out=tmp_path / "run", resume=True, **given)
    assert resumed.equal(whole)
    engine = (tmp_path / "run" / "config.toml").read_text()
    assert json.dumps("cuda") in engine


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=str)
def test_kernels_are_compiled_ahead_for_each_robot(tmp_path, monkeypatch, robot):
    monkeypatch.setenv("QED_CACHE", str(tmp_path))
    script = (
        "import sys; import numpy as np; np.__dict__.setdefault('row_stack', np.vstack); "
        "from qed import speed; from qed.swarm.robot import ROBOTS; "
        "speed._compile(speed.Kernel('flocking', fault='ROFS', robot=ROBOTS[sys.argv[1]]))"
    )
    made = []
    for _ in range(2):  # the second process finds what the first one made
        run = [sys.executable, "-W", "ignore", "-c", script, robot]
        subprocess.run(run, check=True)
        files = (tmp_path / "compiled-gpu").rglob("*.nbc")
        made.append({file: file.stat().st_mtime_ns for file in files})
    assert made[0]
    assert made[0] == made[1]
    own = {f"robot-{robot.digest}" in file.parts for file in made[0]}
    assert own == {robot.key != qed.THYMIO.key}
