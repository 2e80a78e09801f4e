"""A kit as a file: its controllers one after the other, its prior, and a header; and back.

What is read is data, checked as archives are: no pickles, no compression, sizes that the file
itself bears out, and networks that the simulator may follow.
"""

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

import qed
from qed import files
from qed.archive.stored import EXAMPLE, INPUTS, kit_file, kits
from qed.controller.network import Controller
from qed.errors import choice, integer, number
from qed.files import expect
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.playbook import Playbook
from qed.recovery.search.gaussian import Prior
from qed.recovery.search.strategies import Known
from qed.swarm.environment import Environment
from qed.swarm.made_for import made_for
from qed.swarm.robot import Robot

FORMAT, VERSION = "qed-kit", 2
LEAST_NOISE = 1e-7  # of how far fitness may lie from its mean
# Of an array of the file: its type, what its axes count, and the least and largest number in it.
ARRAYS: dict[str, tuple[type, tuple[str, ...], float, float]] = {
    "cell": (np.int64, ("controllers",), 0, 2**62),
    "hidden": (np.uint16, ("controllers",), 0, 65535),
    "links": (np.uint16, ("controllers",), 0, 65535),
    "bias": (np.float32, ("neurons",), -1e9, 1e9),
    "source": (np.uint16, ("connections",), 0, 65535),
    "target": (np.uint16, ("connections",), 0, 65535),
    "weight": (np.float32, ("connections",), -1e9, 1e9),
    "mean": (np.float32, ("controllers",), -1e9, 1e9),
    "loadings": (np.float32, ("controllers", "factors"), -1e9, 1e9),
    "noise": (np.float32, ("controllers",), 1e-30, 1e9),
    "centres": (np.float32, ("faults", "factors"), -1e6, 1e6),
    "width": (np.float32, ("factors",), 1e-6, 1e6),
    "noisier": (np.float32, ("noises",), 1e-3, 1e3),
    "normal": (np.float32, ("controllers",), -1e9, 1e9),
    "places": (np.float32, ("controllers", "axes"), -1e9, 1e9),
    "portfolio": (np.int32, ("choices",), 0, 65535),
}
# How many there may be of what axes count.
MOST = {
    "controllers": 65536, "neurons": 2**32, "connections": 2**32, "factors": 64, "faults": 65536,
    "noises": 16, "axes": 64, "choices": 65536,
}  # fmt: skip
MAY_BE_NONE = ("connections", "factors", "axes")


def arrays_of(kit: Kit) -> dict[str, np.ndarray]:
    """Return a kit's arrays as its file holds them."""
    links = [link for controller in kit.controllers for link in controller.connections]
    known = kit.known
    columns: dict[str, Any] = {
        "cell": kit.cells,
        "hidden": [one.hidden for one in kit.controllers],
        "links": [len(one.connections) for one in kit.controllers],
        "bias": [value for one in kit.controllers for value in one.bias],
        "source": [source for source, _, _ in links],
        "target": [target for _, target, _ in links],
        "weight": [weight for _, _, weight in links],
        **asdict(known.prior),
        "normal": known.normal,
        "places": known.places,
        "portfolio": known.portfolio,
    }
    return {name: np.asarray(columns[name], kind) for name, (kind, *_) in ARRAYS.items()}


def save(kit: Kit, path: str | Path) -> None:
    """Write a kit to a file."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "qed": qed.__version__,
        "task": str(kit.task),
        "environment": kit.environment.described(),
        "seconds": kit.seconds,
        "inputs": made_for(kit.environment.robot, INPUTS).INPUTS,
        "present": kit.present,
        "playbook": kit.playbook.described(),
        "library": dict(kit.library),
        "findings": dict(kit.findings),
    }
    files.write_arrays(path, header, arrays_of(kit))


def load(path: str | Path) -> Kit:
    """Return the kit of a file, or raise ValueError that says what is wrong with it."""
    if str(path).startswith(EXAMPLE):
        choice("name", str(path).removeprefix(EXAMPLE), kits())
    header, arrays = files.read_arrays(kit_file(path), FORMAT, VERSION)
    with files.contents_of(path, FORMAT):
        return _rebuilt(header, arrays)


def is_kit(path: str | Path) -> bool:
    """Tell whether a file says that it is a kit; whether it is a usable one, ``load`` tells."""
    file = kit_file(path)
    if not file.is_file():  # a pipe would never end
        return False
    try:
        with file.open("rb") as handle:
            # The header is the first member, and its format the first thing in it.
            return f'"format": "{FORMAT}"'.encode() in handle.read(1024)
    except OSError:
        return False


def _rebuilt(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Kit:
    task, environment = header["task"], header["environment"]
    expect(isinstance(task, str) and task.isprintable(), "its task is not a name")
    expect(isinstance(environment, dict), "its environment is not a table")
    tables = {name: header[name] for name in ("library", "findings")}
    for name, table in tables.items():
        expect(isinstance(table, dict), f"its {name} are not a table")
    if header["version"] < 2:  # when trials were believed to be as noisy in all faults
        arrays["noisier"] = np.ones(1, np.float32)
    _check(arrays)
    where = Environment.from_described(environment)
    for name in ("source", "target"):
        renumbered = made_for(where.robot, INPUTS).renumbered
        arrays[name] = renumbered(arrays[name], header.get("inputs"))
    controllers = _controllers(arrays, where.robot)
    real = {name: array.astype(np.float64) for name, array in arrays.items()}
    known = Known(
        Prior(**{field.name: real[field.name] for field in fields(Prior)}),
        real["normal"],
        real["places"],
        arrays["portfolio"].astype(np.int64),
    )
    present = integer("its present", header["present"], 0, len(controllers) - 1)
    return Kit(
        task=task,
        environment=where,
        seconds=number("its seconds", header["seconds"], 0.0, 1e6, above=True),
        controllers=controllers,
        cells=arrays["cell"],
        present=present,
        known=known,
        playbook=Playbook.from_described(header["playbook"], controllers, present),
        **tables,
    )


def _check(arrays: dict[str, np.ndarray]) -> None:
    """Raise ValueError unless the arrays fit each other and hold possible numbers."""
    sizes: dict[str, int] = {}
    for name, (kind, axes, least, largest) in ARRAYS.items():
        array = arrays[name]
        fits = array.dtype == kind and array.ndim == len(axes)
        expect(fits, f"its {name} must be {np.dtype(kind)} with {len(axes)} axes")
        for axis, size in zip(axes, array.shape, strict=True):
            many = f"its {name} must be of {int(axis not in MAY_BE_NONE)} to {MOST[axis]} {axis}"
            expect((size > 0 or axis in MAY_BE_NONE) and size <= MOST[axis], many)
            known = sizes.setdefault(axis, size)
            expect(size == known, f"its {name} must be of {known} {axis}, got {size}")
        possible = bool(((array >= least) & (array <= largest)).all())
        expect(possible, f"its {name} must be numbers from {least:g} to {largest:g}")
        if name == "links":
            counts = {"neurons": arrays["hidden"].astype(int) + 2, "connections": array.astype(int)}
            sizes |= {axis: int(count.sum()) for axis, count in counts.items()}
    named = bool((arrays["portfolio"] < sizes["controllers"]).all())
    expect(named, "its portfolio does not name its controllers")
    # Less noise than double precision can tell from none would make the posterior singular.
    spread = np.abs(arrays["loadings"]) * np.sqrt(arrays["width"])
    least = float(arrays["noise"].min()) * float(arrays["noisier"].min())
    enough = least >= LEAST_NOISE * float(spread.max(initial=0.0))
    expect(enough, "its noise is too small for its loadings")


def _controllers(arrays: dict[str, np.ndarray], robot: Robot) -> tuple[Controller, ...]:
    """Return the controllers; each checks that its connections are possible."""
    links = np.cumsum(arrays["links"].astype(int))
    biases = np.cumsum(arrays["hidden"].astype(int) + 2)
    flat = zip(*(arrays[name].tolist() for name in ("source", "target", "weight")), strict=True)
    connections, bias = list(flat), arrays["bias"].tolist()
    found, first, first_bias = [], 0, 0
    for end, last in zip(links.tolist(), biases.tolist(), strict=True):
        found.append(Controller(connections[first:end], bias[first_bias:last], robot))
        first, first_bias = end, last
    return tuple(found)
