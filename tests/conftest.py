"""What several tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser import Browser, binary


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = binary()
    if program is None:
        pytest.skip("no Chromium found; install the package chromium")
    found = Browser(program, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()
