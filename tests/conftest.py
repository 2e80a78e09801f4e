"""What several tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser import Browser, binary

SIMULATED = ("simulated_gpu.py", "simulated_laws.py")
under_way: dict[str, subprocess.Popen[str]] = {}


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start what runs in Numba's CUDA simulator: it takes long, and other tests go on meanwhile."""
    if any("simulator" in getattr(item, "fixturenames", ()) for item in session.items):
        for name in SIMULATED:
            under_way[name] = subprocess.Popen(
                [sys.executable, "-W", "ignore", str(Path(__file__).parent / "swarm" / name)],
                env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "CUDA_VISIBLE_DEVICES": "-1"},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )


def pytest_sessionfinish() -> None:
    """Leave nothing running."""
    for process in under_way.values():
        process.kill()


@pytest.fixture(scope="session")
def simulator() -> Callable[[str], str]:
    """What a script printed in Numba's CUDA simulator."""

    def told(name: str) -> str:
        out, err = under_way[name].communicate()
        assert under_way[name].returncode == 0, err
        return out

    return told


@pytest.fixture(scope="session", autouse=True)
def no_true_gpu() -> Iterator[None]:
    """Hide GPUs from tests and from the processes they start: "auto" means the CPU, to the bit."""
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
