"""What a GPU's kernel is compiled to, without a GPU: registers, spills, instructions by file.

    python tools/kernel_code.py [--robot thymio] [--sums patrol] [--obstacles] [--faults] [--teams]

Needs numba-cuda and ptxas (packages `numba-cuda[cu12]` and `nvidia-cuda-nvcc-cu12`, in an
environment with numpy < 2.5); counts instructions by file if nvdisasm is on the path or given by
NVDISASM.  It says how large code is and what a thread holds, not how fast it runs; two versions
whose instructions have the same digest run alike.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numba.cuda
from numba import float32, float64, int32, types, uint32
from numba.cuda import dispatcher

PROCESSOR = (9, 0)  # H100, H200


def array(kind: Any, axes: int) -> Any:
    """Return the type of an array of a kernel's arguments."""
    return types.Array(kind, axes, "C")


# The arguments of ``run`` in swarm/cuda/kernel.py.
TABLES = types.Tuple((array(float32, 1), *[array(int32, 1)] * 3))
ARGUMENTS = (
    array(int32, 2), array(float32, 2), array(float32, 2), array(uint32, 1), array(float32, 2),
    array(float32, 2), array(int32, 2), TABLES, array(float32, 1), array(float32, 1),
    array(float64, 2), *[array(int32, 1)] * 3, array(float64, 1), array(int32, 1), *[int32] * 7,
)  # fmt: skip


class Processor:
    """Stands for the GPU that is not here."""

    compute_capability = PROCESSOR


def python_of_kernel(robot: Any, sums: str, *kinds: bool, lines: bool) -> Callable[..., Any]:
    """Return the kernel's Python, its device functions with line numbers if asked for."""
    plain = numba.cuda.jit

    def with_lines(*args: Any, **options: Any) -> Any:
        return plain(*args, **options | {"lineinfo": lines and bool(options.get("device"))})

    numba.cuda.jit = with_lines
    dispatcher.get_current_device = Processor
    from qed.swarm.made_for import made_for
    from qed.swarm.measures import wanted

    kernel = made_for(robot, "qed.swarm.cuda.kernel")
    found: list[Callable[..., Any]] = []
    kernel.launchable = lambda function, kind, **options: found.append(function)
    kernel.kernel(wanted(sums.split(",")).stages, *kinds)
    return found[0]


def compiler() -> str:
    """Return where ptxas is."""
    if found := shutil.which("ptxas"):
        return found
    import nvidia.cuda_nvcc

    return str(Path(next(iter(nvidia.cuda_nvcc.__path__))) / "bin/ptxas")


def instructions(cubin: Path) -> tuple[Counter[str], str]:
    """Return the number of instructions of each file, and a digest of all, if they can be read."""
    program = os.environ.get("NVDISASM") or shutil.which("nvdisasm")
    found: Counter[str] = Counter()
    if program is None:
        return found, "-"
    hashed = blake2b(digest_size=8)
    text = subprocess.run([program, "-g", "-c", str(cubin)], capture_output=True, text=True).stdout
    file = "?"
    for row in text.splitlines():
        if named := re.match(r'\s*//## File "([^"]+)"', row):
            file = "/".join(named[1].split("/")[-2:])
        elif re.match(r"\s*/\*[0-9a-f]{4,5}\*/\s", row):
            found[file] += 1
            # Without names of symbols, whose length also decides how far rows are indented.
            hashed.update("".join(re.sub(r"`\([^)]*\)", "", row).split()).encode())
    return found, hashed.hexdigest()


def main() -> None:
    """Compile, and print."""
    from qed.swarm.cuda.device import ROUGHLY
    from qed.swarm.robot import ROBOTS

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robot", default="thymio", choices=ROBOTS)
    parser.add_argument("--sums", default="patrol")
    parser.add_argument("--obstacles", action="store_true")
    parser.add_argument("--faults", action="store_true", help="of sensors that look ahead")
    parser.add_argument("--mishearing", action="store_true")
    parser.add_argument("--general-faults", action="store_true")
    parser.add_argument("--teams", action="store_true")
    parser.add_argument(
        "--no-lines",
        dest="lines",
        action="store_false",
        help="compile as QED does; with line numbers NVVM refuses a name of its own in few kernels",
    )
    parser.add_argument("--registers", type=int, default=128)
    given = parser.parse_args()
    run = python_of_kernel(
        ROBOTS[given.robot], given.sums, given.obstacles, given.faults, given.mishearing,
        given.general_faults, given.teams, lines=given.lines,
    )  # fmt: skip
    ptx, _ = numba.cuda.compile_ptx(
        run, types.void(*ARGUMENTS), cc=PROCESSOR, fastmath=ROUGHLY, lineinfo=given.lines
    )
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        options = ["-v", "-lineinfo", "-arch=sm_90", f"-maxrregcount={given.registers}"]
        told = subprocess.run(
            [compiler(), *options, str(source), "-o", str(cubin)], capture_output=True, text=True
        )
        print(*re.findall(r"\d+ bytes (?:stack frame|spill \w+)|Used \d+ registers", told.stderr))
        counted, digest = instructions(cubin)
    print(f"{sum(counted.values())} instructions, digest {digest}")
    for file, count in counted.most_common():
        print(f"{count:6d}  {file}")


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # Numba orders some code by hashes of names
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"PYTHONHASHSEED": "0"})
    main()
