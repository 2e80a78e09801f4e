"""Which engine simulates: what is chosen, what is refused, and that the choice gets through."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pretend_gpu
import pytest
from pretend_gpu import Call
from typer.testing import CliRunner

import qed
from qed.cli import app, main
from qed.errors import InputError, StoppedError
from qed.study.study import Study
from qed.swarm import backend
from qed.swarm.backend import MOST_OBSTACLES, MOST_ROBOTS, MOST_TRIALS, chosen, described

PROBLEM = "the driver is on holiday"
SIZE = ["--evaluations=40", "--initial=20", "--trials=1", "--seconds=4"]
HOW: dict[str, Any] = {"trials": 1, "seconds": 4.0}


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """Let there be a GPU; its calls are listed."""
    return pretend_gpu.install(monkeypatch)


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    return pretend_gpu.install(monkeypatch, PROBLEM)


@pytest.fixture(scope="module")
def archive() -> qed.Archive:
    return qed.evolve("patrolling", "hbd", evaluations=40, initial=20, backend="cpu", **HOW)


def test_auto_takes_a_gpu_where_there_is_one(gpu: list[Call]) -> None:
    assert [chosen(name) for name in ("auto", "cpu", "cuda")] == ["cuda", "cpu", "cuda"]
    assert described("cuda", 2) == pretend_gpu.NAME


def test_auto_takes_the_cpu_where_there_is_no_gpu(no_gpu: list[Call]) -> None:
    assert [chosen(name) for name in ("auto", "cpu")] == ["cpu", "cpu"]
    assert described("cpu", 1) == "the CPU, 1 thread"
    assert described("cpu", 2) == "the CPU, 2 threads"


def test_tests_never_meet_a_true_gpu() -> None:
    ask = "from qed.swarm.backend import chosen; print(chosen('auto'))"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
    assert (chosen("auto"), done.stdout) == ("cpu", "cpu\n"), done.stderr


def test_auto_does_not_even_look_without_package_and_driver(
    no_gpu: list[Call], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "likely", lambda: False)
    monkeypatch.setattr(backend, "problem", lambda: pytest.fail("looked"))
    assert chosen("auto") == "cpu"


def test_a_driver_is_likely_only_if_it_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "find_spec", lambda name: object())
    monkeypatch.setattr(backend, "DRIVERS", (str(tmp_path / "libcuda.so.1"),))
    monkeypatch.delenv("NUMBA_CUDA_DRIVER", raising=False)
    assert not backend.likely()
    import _ctypes

    monkeypatch.setenv("NUMBA_CUDA_DRIVER", _ctypes.__file__)  # any library
    assert backend.likely()
    monkeypatch.setattr(backend, "find_spec", lambda name: None)
    assert not backend.likely()


def test_cuda_without_a_gpu_stops_with_the_reason(no_gpu: list[Call]) -> None:
    with pytest.raises(StoppedError, match=f"can be used here: {PROBLEM}; use --backend cpu"):
        chosen("cuda")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match=r"backend must be one of .* did you mean 'cuda'"):
        chosen("cud")


def test_the_answer_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    true_problem = backend.problem
    pretend_gpu.install(monkeypatch)
    monkeypatch.setattr(backend, "problem", true_problem)
    monkeypatch.setattr(backend, "find_spec", looks.append)
    true_problem.cache_clear()
    try:
        assert [chosen("auto"), chosen("auto")] == ["cpu", "cpu"]
        assert looks == ["numba_cuda"]
    finally:
        true_problem.cache_clear()


def test_large_swarms_stay_on_the_cpu(gpu: list[Call], archive: qed.Archive) -> None:
    many = qed.Environment(robots=MOST_ROBOTS + 1)
    mixed = [qed.Environment(), many]
    swarms = [qed.Controller.random(k) for k in range(2)]
    qed.simulate(swarms, mixed, tasks="patrolling", **HOW)
    faults = qed.Faults.none(many.robots)
    qed.recover(archive, "patrolling", faults, environment=many, **HOW)
    assert not gpu
    with pytest.raises(InputError, match=r"at most 32 robots, .* got 33, 0 and"):
        qed.simulate(swarms, mixed, tasks="patrolling", backend="cuda", **HOW)
    with pytest.raises(InputError, match=r"at most 32 robots, .* got 33, 0 and"):
        qed.recover(archive, "patrolling", faults, environment=many, backend="cuda", **HOW)
    full = qed.Environment(robots=2, arena=5.0, obstacles=MOST_OBSTACLES + 1)
    assert (chosen("auto", [full]), chosen("auto", [qed.Environment()])) == ("cpu", "cuda")
    with pytest.raises(InputError, match="got 2, 32 and 1;"):
        chosen("cuda", [full])
    assert chosen("auto", [qed.Environment()], MOST_TRIALS + 1) == "cpu"
    most = qed.Environment(robots=MOST_ROBOTS)
    qed.simulate(swarms, most, tasks="patrolling", backend="cuda", **HOW)
    assert gpu == [Call(2, ("patrol",))]


def test_simulate_gets_through(gpu: list[Call]) -> None:
    swarm = qed.Controller.random(1)
    wanted: dict[str, Any] = {"tasks": ["flocking"], "descriptors": ["sdbc"], **HOW}
    found = {name: qed.simulate(swarm, backend=name, **wanted) for name in ("cpu", "cuda", "auto")}
    assert gpu == [Call(1, ("flock", "sdbc"))] * 2
    for name in ("cuda", "auto"):
        assert np.array_equal(found[name].fitness["flocking"], found["cpu"].fitness["flocking"])


@pytest.mark.parametrize(("name", "calls"), [("auto", 2), ("cuda", 2), ("cpu", 0)])
def test_evolve_gets_through(gpu: list[Call], name: str, calls: int) -> None:
    qed.evolve("patrolling", evaluations=40, initial=20, batch=20, backend=name, **HOW)
    assert gpu == [Call(20, ("patrol",))] * calls


# Healthy and broken, and the chosen of both on fresh trials.
@pytest.mark.parametrize(("name", "calls"), [("auto", 4), ("cuda", 4), ("cpu", 0)])
def test_recover_gets_through(gpu: list[Call], archive: qed.Archive, name: str, calls: int) -> None:
    qed.recover(archive, "patrolling", qed.Faults.sample(10), backend=name, **HOW)
    assert len(gpu) == calls


def test_public_functions_refuse_what_is_not_there(
    no_gpu: list[Call], archive: qed.Archive, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    for wrong, error in (("gpu", InputError), ("cuda", StoppedError)):
        with pytest.raises(error, match="backend"):
            qed.simulate(qed.Controller.random(1), tasks="patrolling", backend=wrong)
        with pytest.raises(error, match="backend"):
            qed.evolve("patrolling", backend=wrong, out=out)
        with pytest.raises(error, match="backend"):
            qed.recover(archive, "patrolling", qed.Faults.none(), backend=wrong)
    assert not out.exists()


@pytest.fixture
def run(tmp_path: Path, archive: qed.Archive) -> Path:
    """An archive's file, for verbs that need one."""
    path = tmp_path / "archive.npz"
    archive.save(path)
    return path


@pytest.fixture
def handlers() -> Iterator[None]:
    """Put back what verbs do with a request to stop."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def verbs(run: Path) -> dict[str, list[str]]:
    """Return a small use of each verb that simulates."""
    out = run.parent
    study = [
        "study", "--tasks=patrolling", "--algorithms=hbd", "--replicates=1", *SIZE,
        "--faults=1", "--retrials=1",
    ]  # fmt: skip
    return {
        "evolve": ["evolve", "patrolling", *SIZE, "--out", str(out / "run")],
        "recover": ["recover", str(run), "--faults", "1", "--trials", "1"],
        "replay": ["replay", str(run), "--out", str(out / "film.html")],
        "study": [*study, "--out", str(out / "study")],
        "study of e-pucks": [*study, "--robot=epuck", "--out", str(out / "e-pucks")],
    }


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize("verb", ["evolve", "recover", "replay", "study", "study of e-pucks"])
def test_every_verb_gets_through(
    gpu: list[Call], run: Path, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Study, "report", lambda study: study.folder)
    done = CliRunner().invoke(app, [*verbs(run)[verb], "--backend", "cuda"])
    assert done.exit_code == 0, done.output
    assert {call.robot for call in gpu} == {"epuck" if "e-pucks" in verb else "thymio"}
    if verb == "evolve":
        assert f"qed: simulating on {pretend_gpu.NAME}" in done.stderr


@pytest.mark.usefixtures("handlers")
def test_evolve_says_that_it_uses_the_cpu(gpu: list[Call], run: Path) -> None:
    command = [*verbs(run)["evolve"], "--backend", "cpu", "--threads", "2"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert not gpu
    assert "qed: simulating on the CPU, 2 threads" in done.stderr


@pytest.mark.usefixtures("no_gpu", "handlers")
@pytest.mark.parametrize("verb", ["evolve", "recover", "replay", "study"])
@pytest.mark.parametrize(
    ("name", "code", "words"), [("gpu", 2, "backend must be one of"), ("cuda", 1, PROBLEM)]
)
def test_every_verb_refuses_at_once(
    run: Path,
    verb: str,
    name: str,
    code: int,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["qed", *verbs(run)[verb], "--backend", name])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == code
    assert words in capsys.readouterr().err
    assert [file.name for file in run.parent.iterdir()] == [run.name]


QUICK = """
import sys, time
from qed.swarm.backend import chosen, likely
begin = time.process_time()
assert chosen("cpu") == "cpu"
if not likely():
    assert chosen("auto") == "cpu"
    assert time.process_time() - begin < 0.1
assert "numba" not in sys.modules
import qed
qed.simulate(qed.Controller.random(1), tasks="patrolling", trials=1, seconds=1.0, backend="cpu")
assert "numba" in sys.modules
print(sorted({"numba.cuda", "numba_cuda", "qed.swarm.cuda"} & set(sys.modules)))
"""


def test_choosing_is_quick_and_the_cpu_loads_nothing_of_the_gpu() -> None:
    done = subprocess.run([sys.executable, "-c", QUICK], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
