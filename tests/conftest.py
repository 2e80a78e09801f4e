"""What several tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser import Browser, binary


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
