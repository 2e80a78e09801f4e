"""What the explorer and the readers of files bear: idle connections, noise, damaged files.

    python benchmarks/hostile.py [--seconds 60] [--connections 500] [--count 2000]

It starts the command, holds connections that ask for nothing or one letter a second, opens them
again when they are closed, and asks for the page and a map as a user's page does; then it sends
malformed requests, and gives damaged archives and kits to ``qed info``.  Prints what happened
and saves JSON under benchmarks/results.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import selectors
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from qed import speed

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE.parent / "tests" / "explore")]
import damage  # noqa: E402
from made_shown import saved  # noqa: E402
from serving import Served  # noqa: E402
from test_explore_server import noise  # noqa: E402

BETWEEN = 0.2  # s between requests of the page
PATIENCE = 10.0  # s


class Crowd(threading.Thread):
    """Connections that are idle, or that send a letter of a request each second."""

    def __init__(self, port: int, count: int) -> None:
        super().__init__(daemon=True)
        self.port, self.count = port, count
        self.ended = threading.Event()
        self.opened = 0

    def run(self) -> None:
        """Open as many as there should be, and those that were closed again."""
        lines: dict[socket.socket, bool] = {}
        watch = selectors.DefaultSelector()
        while not self.ended.is_set():
            while len(lines) < self.count:
                line = socket.create_connection(("127.0.0.1", self.port))
                lines[line] = bool(self.opened % 2)
                watch.register(line, selectors.EVENT_READ)
                self.opened += 1
            for key, _ in watch.select(0):
                self._closed(key.fileobj, lines, watch)
            for line, slow in list(lines.items()):
                try:
                    if slow:
                        line.sendall(b"G")
                except OSError:
                    self._closed(line, lines, watch)
            self.ended.wait(1.0)
        for line in lines:
            line.close()

    @staticmethod
    def _closed(line: Any, lines: dict[socket.socket, bool], watch: Any) -> None:
        if lines.pop(line, None) is not None:
            watch.unregister(line)
            line.close()


def answered(served: Served, path: str) -> tuple[int, float]:
    """Return the status of a request, 0 if there was no answer, and how long it took (ms)."""
    began = time.perf_counter()
    line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    try:
        line.request("GET", path)
        answer = line.getresponse()
        answer.read()
        status = answer.status
    except OSError:
        status = 0
    finally:
        line.close()
    return status, 1000.0 * (time.perf_counter() - began)


def asking(served: Served, seconds: float) -> dict[str, Any]:
    """Ask for the page and its map for some time; return how that went."""
    home = "/" + served.address.split("/", 3)[3]
    found = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found += [answered(served, home), answered(served, f"{home}api/map/0")]
        time.sleep(BETWEEN)
    took = np.array([ms for _, ms in found])
    return {
        "requests": len(found),
        "unanswered": sum(status != 200 for status, _ in found),
        "median_ms": float(np.median(took)),
        "most_ms": float(took.max()),
    }


def malformed(served: Served, count: int) -> dict[str, int]:
    """Send what is no request; return how many were refused, cut off, and taken."""
    told = {"refused": 0, "cut_off": 0, "taken": 0}
    for text in noise(count):
        with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as line:
            try:
                line.sendall(text)
                line.shutdown(socket.SHUT_WR)
                answer = line.recv(100)
            except ConnectionError:
                answer = b""
        kind = "refused" if re.match(rb"HTTP/1.1 4\d\d ", answer) else "taken"
        told[kind if answer else "cut_off"] += 1
    return told


def damaged(folder: Path, count: int) -> dict[str, int]:
    """Give damaged files to the command; an error that is none of ours ends the script."""
    goods = [path.read_bytes() for path in saved(folder)]
    bad = folder / "bad.npz"
    taken = 0
    for seed in range(count):
        bad.write_bytes(damage.damaged(goods[seed % len(goods)], seed))
        taken += damage.told("info", bad)[0]
    return {"files": count, "refused": count - taken, "still_sense": taken}


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--count", type=int, default=2000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        served = Served(*saved(folder))
        try:
            alone = asking(served, min(10.0, given.seconds))
            crowd = Crowd(served.port, given.connections)
            crowd.start()
            among = asking(served, given.seconds)
            crowd.ended.set()
            crowd.join()
            sent = malformed(served, given.count)
            status, said = served.interrupted()
        finally:
            served.close()
        files = damaged(folder, given.count)
    found = {
        "machine": speed.machine(),
        "connections": given.connections,
        "seconds": given.seconds,
        "opened_in_all": crowd.opened,
        "page_alone": alone,
        "page_among_them": among,
        "malformed_requests": sent,
        "exit_status": status,
        "printed": said.strip(),
        "damaged_files": files,
    }
    text = json.dumps(found, indent=1)
    print(text)
    (HERE / "results" / "hostile.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
