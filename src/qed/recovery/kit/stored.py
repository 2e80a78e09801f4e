"""A kit as a file: its controllers one after the other, its prior, and a header; and back.

What is read is data, checked as archives are: no pickles, no compression, sizes that the file
itself bears out, and networks that the simulator may follow.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import qed
from qed import files
from qed.archive.stored import EXAMPLE, kit_file, kits
from qed.controller.network import Controller
from qed.errors import choice, integer, number
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.playbook import Playbook
from qed.recovery.search.gaussian import Prior
from qed.recovery.search.strategies import Known
from qed.swarm.environment import Environment

FORMAT, VERSION = "qed-kit", 2
LEAST_NOISE = 1e-7  # of how far fitness may lie from its mean
MOST_FACTORS, MOST_AXES, MOST_CENTRES, MOST_NOISIER = 64, 64, 65536, 16
# Type and number of axes of what there is for each controller.
COLUMNS = {
    "cell": (np.int64, 1),
    "hidden": (np.uint16, 1),
    "links": (np.uint16, 1),
    "mean": (np.float32, 1),
    "loadings": (np.float32, 2),
    "noise": (np.float32, 1),
    "normal": (np.float32, 1),
    "places": (np.float32, 2),
}
PRIOR = ("mean", "loadings", "noise", "centres", "width", "noisier")
FLAT = {"bias": np.float32, "source": np.uint16, "target": np.uint16, "weight": np.float32}


def arrays_of(kit: Kit) -> dict[str, np.ndarray]:
    """Return a kit's arrays as its file holds them."""
    links = [link for controller in kit.controllers for link in controller.connections]
    known = kit.known
    return {
        "cell": np.asarray(kit.cells, np.int64),
        "hidden": np.array([one.hidden for one in kit.controllers], np.uint16),
        "links": np.array([len(one.connections) for one in kit.controllers], np.uint16),
        "bias": np.array([value for one in kit.controllers for value in one.bias], np.float32),
        "source": np.array([source for source, _, _ in links], np.uint16),
        "target": np.array([target for _, target, _ in links], np.uint16),
        "weight": np.array([weight for _, _, weight in links], np.float32),
        **{name: getattr(known.prior, name).astype(np.float32) for name in PRIOR},
        "normal": known.normal.astype(np.float32),
        "places": known.places.astype(np.float32),
        "portfolio": known.portfolio.astype(np.int32),
    }


def save(kit: Kit, path: str | Path) -> None:
    """Write a kit to a file."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "qed": qed.__version__,
        "task": str(kit.task),
        "environment": asdict(kit.environment),
        "seconds": kit.seconds,
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
    try:
        return _rebuilt(header, arrays)
    except (ValueError, TypeError, KeyError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path} is not a usable {FORMAT} file: {what}") from error


def is_kit(path: str | Path) -> bool:
    """Tell whether a file says that it is a kit; whether it is a usable one, ``load`` tells."""
    try:
        with open(kit_file(path), "rb") as handle:
            # The header is the first member, and its format the first thing in it.
            return f'"format": "{FORMAT}"'.encode() in handle.read(1024)
    except OSError:
        return False


def _rebuilt(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Kit:
    task, environment = header["task"], header["environment"]
    _expect(isinstance(task, str) and task.isprintable(), "its task is not a name")
    _expect(isinstance(environment, dict), "its environment is not a table")
    tables = {name: header[name] for name in ("library", "findings")}
    for name, table in tables.items():
        _expect(isinstance(table, dict), f"its {name} are not a table")
    if header["version"] < 2:  # when trials were believed to be as noisy in all faults
        arrays["noisier"] = np.ones(1, np.float32)
    _check_columns(arrays)
    controllers = _controllers(arrays)
    real = {name: array.astype(np.float64) for name, array in arrays.items()}
    known = Known(
        Prior(**{name: real[name] for name in PRIOR}),
        real["normal"],
        real["places"],
        arrays["portfolio"].astype(np.int64),
    )
    present = integer("its present", header["present"], 0, len(controllers) - 1)
    return Kit(
        task=task,
        environment=Environment(**environment),
        seconds=number("its seconds", header["seconds"], 0.0, 1e6, above=True),
        controllers=controllers,
        cells=arrays["cell"],
        present=present,
        known=known,
        playbook=Playbook.from_described(header["playbook"], controllers, present),
        **tables,
    )


def _check_columns(arrays: dict[str, np.ndarray]) -> None:
    """Raise ValueError unless the arrays are those of as many controllers."""
    count = len(arrays["cell"]) if arrays["cell"].ndim else 0
    _expect(0 < count <= 65536, "it must hold 1 to 65536 controllers")
    for name, (dtype, axes) in COLUMNS.items():
        array = arrays[name]
        fits = array.dtype == dtype and array.ndim == axes and len(array) == count
        _expect(fits, f"its {name} must be {np.dtype(dtype)} of {count} controllers")
        _expect(bool(np.isfinite(array).all()), f"a number in its {name} is not finite")
    for name, most in (("loadings", MOST_FACTORS), ("places", MOST_AXES)):
        _expect(arrays[name].shape[1] <= most, f"its {name} have more than {most} columns")
    factors, centres, width = arrays["loadings"].shape[1], arrays["centres"], arrays["width"]
    fits = centres.dtype == width.dtype == np.float32 and centres.ndim == 2
    fits = fits and centres.shape[1:] == width.shape == (factors,)
    _expect(fits and 0 < len(centres) <= MOST_CENTRES, "its centres do not fit its loadings")
    fits = bool((np.abs(centres) <= 1e6).all() and ((width >= 1e-6) & (width <= 1e6)).all())
    _expect(fits, "its centres or its width are no possible numbers")
    large = max(float(np.abs(arrays[name]).max(initial=0.0)) for name in ("mean", "loadings"))
    _expect(large <= 1e9, "a number in its prior is too large")
    noise = arrays["noise"]
    _expect(bool(((noise > 0.0) & (noise <= 1e9)).all()), "its noise must be above 0")
    noisier = arrays["noisier"]
    fits = noisier.dtype == np.float32 and noisier.ndim == 1 and 0 < len(noisier) <= MOST_NOISIER
    fits = fits and bool(((noisier >= 1e-3) & (noisier <= 1e3)).all())
    _expect(fits, f"its noisier must be 1 to {MOST_NOISIER} factors from 0.001 to 1000")
    # Less noise than double precision can tell from none would make the posterior singular.
    spread = np.abs(arrays["loadings"]) * np.sqrt(width)
    least = float(noise.min()) * float(noisier.min())
    enough = least >= LEAST_NOISE * float(spread.max(initial=0.0))
    _expect(enough, "its noise is too small for its loadings")
    portfolio = arrays["portfolio"]
    fits = portfolio.dtype == np.int32 and portfolio.ndim == 1 and len(portfolio) > 0
    fits = fits and bool(((portfolio >= 0) & (portfolio < count)).all())
    _expect(fits, "its portfolio does not name its controllers")


def _controllers(arrays: dict[str, np.ndarray]) -> tuple[Controller, ...]:
    """Return the controllers; each checks that its connections are possible."""
    hidden, links = (arrays[name].astype(np.int64) for name in ("hidden", "links"))
    lengths = {
        "bias": int((hidden + 2).sum()),
        **dict.fromkeys(FLAT.keys() - {"bias"}, int(links.sum())),
    }
    for name, dtype in FLAT.items():
        array = arrays[name]
        fits = array.dtype == dtype and array.shape == (lengths[name],)
        _expect(fits, f"its {name} must be {np.dtype(dtype)} of {lengths[name]} numbers")
    bias, source, target, weight = (arrays[name].tolist() for name in FLAT)
    ends, biases = np.cumsum(links).tolist(), np.cumsum(hidden + 2).tolist()
    found, first, first_bias = [], 0, 0
    for end, last in zip(ends, biases, strict=True):
        rows = slice(first, end)
        connections = zip(source[rows], target[rows], weight[rows], strict=True)
        found.append(Controller(connections, bias[first_bias:last]))
        first, first_bias = end, last
    return tuple(found)


def _expect(fine: bool, otherwise: str) -> None:
    if not fine:
        raise ValueError(otherwise)
