"""A real browser for tests of pages: Chromium, spoken to by the DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",  # which cannot be had by root in a container
    "--disable-dev-shm-usage",  # /dev/shm is small there
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--remote-debugging-pipe",
)
PATIENCE = 60.0  # for one answer (s)


def binary() -> str | None:
    """Return the browser's program; QED_BROWSER names it, if it is set."""
    named = os.environ.get("QED_BROWSER")
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """Chromium with one page, spoken to over two pipes."""

    def __init__(self, program: str, profile: Path) -> None:
        asked, self.out = os.pipe()
        self.into, answered = os.pipe()
        self.process = subprocess.Popen(
            # Chromium reads commands from file 3 and writes what happens to file 4.
            ["bash", "-c", f'exec "$@" 3<&{asked} 4>&{answered}', "bash", program, *FLAGS,
             f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(asked, answered), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(asked)
        os.close(answered)
        self.buffer, self.number, self.session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        page = self.ask("Target.createTarget", url="about:blank")["targetId"]
        joined = self.ask("Target.attachToTarget", targetId=page, flatten=True)
        self.session = joined["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: Any) -> Any:
        """Send a command and return its result."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.out, json.dumps(command).encode() + b"\0")
        while (message := self._next()).get("id") != self.number:
            self.events.append(message)
        assert "error" not in message, message
        return message["result"]

    def open(
        self, page: Path | str, width: int, *, sharpness: float = 1, still: bool = False,
        dark: bool = False, height: int = 800,
    ) -> None:  # fmt: skip
        """Load a page, a file or an address, at a width, as a phone does if it is narrow.

        ``still``: the user asks for reduced motion; ``dark``: for dark pages.
        """
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=sharpness, mobile=width < 600)  # fmt: skip
        self.media(still=still, dark=dark)
        self.events.clear()
        self.ask("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def media(self, *, still: bool = False, dark: bool = False) -> None:
        """Tell the page what the user prefers."""
        motion = {"name": "prefers-reduced-motion", "value": "reduce" if still else ""}
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[motion, scheme])

    def click(self, x: float, y: float) -> None:
        """Move the mouse to a point of the window and click there."""
        at = {"x": x, "y": y, "button": "left", "clickCount": 1}
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, **at)

    def drag(self, x: float, y: float, to: float) -> None:
        """Press the mouse at a point of the window, move it sideways, and let go."""
        at = {"y": y, "button": "left", "buttons": 1, "clickCount": 1}
        self.ask("Input.dispatchMouseEvent", type="mousePressed", x=x, **at)
        for step in range(1, 9):
            self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x + step * (to - x) / 8, **at)
        self.ask("Input.dispatchMouseEvent", type="mouseReleased", x=to, **at)

    def point(self, x: float, y: float) -> None:
        """Move the mouse to a point of the window."""
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def until(self, expression: str, patience: float = PATIENCE) -> None:
        """Wait until a JavaScript expression is true in the page."""
        deadline = time.monotonic() + patience
        while not self.evaluate(expression):
            assert time.monotonic() < deadline, f"never true: {expression}"
            time.sleep(0.05)

    def press(self, key: str, code: str) -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=code, text=key)

    def picture(self, *, whole: bool = True) -> bytes:
        """Return the page as a PNG: the whole of it, or what the window shows."""
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(shot["data"])

    def complaints(self) -> list[dict[str, Any]]:
        """Return errors and warnings that the page has caused since it was opened."""
        return [
            event for event in self.events
            if event["method"] == "Runtime.exceptionThrown"
            or (event["method"] == "Runtime.consoleAPICalled"
                and event["params"]["type"] in ("error", "warning", "assert"))
            or (event["method"] == "Log.entryAdded"
                and event["params"]["entry"]["level"] in ("error", "warning"))
        ]  # fmt: skip

    def close(self) -> None:
        """End the browser."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.into)

    def _next(self) -> dict[str, Any]:
        """Return the next message."""
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], max(deadline - time.monotonic(), 0))
            assert ready, f"the browser said nothing for {PATIENCE:g} s"
            read = os.read(self.into, 1 << 16)
            assert read, f"the browser ended with status {self.process.wait(20)}"
            self.buffer += read
        message, _, self.buffer = self.buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found
