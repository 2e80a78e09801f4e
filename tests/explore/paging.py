"""The explorer's page in a browser: opened, clicked, read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from browser import Browser

READY = "['playing', 'paused'].includes(document.body.dataset.state) && window.explorer.stage.swarm"


def opened(browser: Browser, address: str, width: int = 1440, **how: Any) -> None:
    """Open the page anew, and wait until a swarm is there."""
    browser.open("about:blank", width)
    browser.open(address, width, **how)
    browser.until(READY, 180.0)  # the simulator may have to be compiled first


def value(browser: Browser, name: str) -> str:
    """Return the text of an element."""
    return str(browser.evaluate(f"document.getElementById('{name}').textContent"))


def middle(browser: Browser, selector: str) -> tuple[float, float]:
    """Return where the middle of an element is in the window."""
    x, y = json.loads(
        browser.evaluate(
            f"(() => {{ const e = document.querySelector('{selector}'), "
            "b = e.getBoundingClientRect(); "
            "return JSON.stringify([b.x + b.width / 2, b.y + b.height / 2]); })()"
        )
    )
    return x, y


def click(browser: Browser, selector: str) -> None:
    """Click in the middle of an element, as a mouse does."""
    browser.evaluate(f"document.querySelector('{selector}').scrollIntoView({{block: 'center'}})")
    browser.click(*middle(browser, selector))


def cell_at(browser: Browser, cell: int) -> tuple[float, float]:
    """Return where a cell of the map is in the window."""
    x, y = json.loads(
        browser.evaluate(
            "(() => { const m = explorer.map; m.canvas.scrollIntoView({block: 'center'}); "
            f"const [x, y, s] = m.place(m.rows.get({cell})); const b = "
            "m.canvas.getBoundingClientRect(); "
            "return JSON.stringify([b.x + x + s / 2, b.y + y + s / 2]); })()"
        )
    )
    return x, y


def draws(browser: Browser, faults: Sequence[str]) -> None:
    """Let the page draw these faults whenever it draws some."""
    kinds = "explorer.config.faults"
    browser.evaluate(
        f"crypto.getRandomValues = () => {json.dumps(list(faults))}"
        f".map((name) => {kinds}.indexOf(name))"
    )
