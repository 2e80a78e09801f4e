"""What several tests share."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, binary
from hypothesis import settings

# How long an example takes says how busy the machine is.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

HERE = Path(__file__).parent
# Files that take longest (5 to 40 s on one core), the longest first.
LONG = (
    "swarm/laws/test_law_parity.py",
    "study/test_study.py",
    "evolution/test_run.py",
    "explore/test_explore_ready.py",
    "explore/test_explore_page.py",
    "swarm/test_cuda.py",
    "swarm/test_plain_world.py",
    "docs/test_site.py",
    "emitters/test_emitters.py",
    "test_contract.py",
    "test_cli.py",
    "test_definitions.py",
    "test_fidelity.py",
    "view/test_several.py",
    "view/test_film.py",
    "view/test_maps.py",
    "programs/test_python.py",
    "study/test_beyond.py",
    "study/test_statistics.py",
    "programs/test_fixed.py",
    "test_searches.py",
    "programs/test_exported_search.py",
    "swarm/test_own.py",
    "test_docstrings.py",
    "test_examples.py",
    "view/test_player.py",
    "test_damage.py",
    "recovery/test_by_fault.py",
    "study/test_workload.py",
)
SIMULATED = ("simulated_gpu.py", "simulated_laws.py")
under_way: dict[str, subprocess.Popen[str]] = {}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Compile and make cells before several processes test, or each would do it for itself."""
    # What they start inherits it: threads of libraries that wait for each other help nobody.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    collecting = _collecting()
    if "QED_WARM" not in os.environ:  # `make test` has done so
        subprocess.run([sys.executable, str(HERE / "warm_up.py")], check=True)
    if collecting is not None:
        collecting.wait()


def _collecting() -> subprocess.Popen[bytes] | None:
    """Let Python compile all tests and what they import, or each process would; the first time."""
    if sys.dont_write_bytecode or any(HERE.glob("__pycache__/test_*")):
        return None
    command = [sys.executable, "-m", "pytest", "--collect-only", "-qq", str(HERE)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def pytest_collection(session: pytest.Session) -> None:
    """Look for no garbage while all is imported, most of which stays."""
    if not getattr(session.config.option, "numprocesses", None):  # who hands out collects nothing
        gc.disable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes longest where several processes share the files of tests."""
    if _shared(config):
        rank = {HERE / name: k for k, name in enumerate(LONG)}
        items.sort(key=lambda item: rank.get(item.path, len(rank)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start what runs in Numba's CUDA simulator: it takes long, and other tests go on meanwhile."""
    # To look for garbage among all that is imported took a tenth of the tests' time.
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()
    wanted = any("simulator" in getattr(item, "fixturenames", ()) for item in session.items)
    if wanted and not (_shared(session.config) or session.config.option.collectonly):
        for name in SIMULATED:
            under_way[name] = _simulated(name)


def pytest_sessionfinish() -> None:
    """Leave nothing running."""
    for process in under_way.values():
        process.kill()


def _shared(config: pytest.Config) -> bool:
    """Return whether this process tests, or hands out, a part of the files only."""
    return hasattr(config, "workerinput") or bool(getattr(config.option, "numprocesses", None))


def _simulated(name: str) -> subprocess.Popen[str]:
    """Start a script in Numba's CUDA simulator."""
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", str(HERE / "swarm" / name)],
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "CUDA_VISIBLE_DEVICES": "-1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="session")
def simulator() -> Callable[[str], str]:
    """What a script printed in Numba's CUDA simulator."""

    def told(name: str) -> str:
        process = under_way[name] = under_way.get(name) or _simulated(name)
        out, err = process.communicate()
        assert process.returncode == 0, err
        return out

    return told


@pytest.fixture
def small_disk() -> Callable[[int], AbstractContextManager[None]]:
    """Files of this process can have so many bytes: what is written beyond is an OSError."""

    @contextmanager
    def limited(largest: int) -> Iterator[None]:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


@pytest.fixture(scope="session", autouse=True)
def hidden_gpu(pytestconfig: pytest.Config) -> Iterator[None]:
    """Hide GPUs from tests and from the processes they start: "auto" means the CPU, to the bit."""
    if pytestconfig.option.markexpr == "gpu":  # tests of the GPU itself
        np.__dict__.setdefault("row_stack", np.vstack)  # numba-cuda 0.30 looks for it
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", "-1")
        yield


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = binary()
    if program is None:
        pytest.skip("no Chromium found; install the package chromium")
    found = Browser(program, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()
