"""How laws and loops are compiled: one place for the options, and a cache that notices edits.

A *law* is a plain Python function of scalars.  ``@inlined`` leaves it as it is, so that calling it
from Python runs Python, and lets compiled code call it, inlined.  A *loop* is compiled code
over arrays.  ``@entry`` marks the loops that Python calls; their machine code is kept on disk.

No fastmath anywhere: contraction and reordering would change bits from build to build.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding
from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.extending import register_jitable

# Vectors of 512 bits where a CPU has fast ones.  LLVM prefers 256 bits on all of Intel's CPUs,
# since the first ones with 512 slowed down their clock for them.  The loops here gain nevertheless:
# most wait for long chains of results, and a wider vector waits as often for twice as much.  Numba
# has no option for it, so a function gets the preference when it is lowered to LLVM's language.
# Results do not change: without fastmath no vector width reorders a sum.  Nor does the cache need
# to know: its keys contain the CPU's name and features, which alone decide.

# An extension that came with the oldest CPUs on which the gain was measured (1.3 times).
_SIGN_OF_FAST_VECTORS = "avx512vnni"
_PREFERENCE = '"prefer-vector-width"="512"'


def has(feature: str) -> bool:
    """Return whether the CPU that is compiled for has an extension, by LLVM's name for it."""
    features = numba.config.CPU_FEATURES
    if features is not None:  # a user's choice of another CPU than this one
        return f"+{feature}" in features.split(",")
    return bool(binding.get_host_cpu_features().get(feature, False))


def has_fast_wide_vectors() -> bool:
    """Return whether vectors of 512 bits are worth using."""
    return has(_SIGN_OF_FAST_VECTORS)


class _WideLower(Lower):  # type: ignore[misc]
    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        # Past its own ``add``, which knows only attributes without a value.
        set.add(self.function.attributes, _PREFERENCE)


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """Code that only other compiled code contains: not optimised alone, and not machine code.

    Numba would optimise each function again in all that contain it, and make machine code of each,
    which took more than a quarter of the time of compiling.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    @property
    def codegen(self) -> "_Part":
        return self

    def set_env(self, *_: Any) -> None:
        """Do without what Python would need to call it."""


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):  # type: ignore[misc]
    _name = "qed_native_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return _WideLower if has_fast_wide_vectors() else Lower

    def run_pass(self, state: Any) -> bool:
        if state.library is None and state.flags.no_cpython_wrapper:
            state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        return bool(super().run_pass(state))


class LoopCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler with our way of lowering."""

    def define_pipelines(self) -> list[Any]:
        """Return Numba's passes with our way of lowering."""
        pipelines: list[Any] = super().define_pipelines()
        for manager in pipelines:
            manager.passes = [
                (_Lowering if step is NativeLowering else step, about)
                for step, about in manager.passes
            ]
            manager.finalize()
        return pipelines


LAWS: list[Callable[..., Any]] = []

# No reference counts: nothing is allocated in compiled code, and counting the thirty arrays of
# a block at every call took longer than the simulation itself.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": False, "_nrt": False}
# What only compiled code calls needs no way in from Python: making one took a quarter of the time.
INNER = {**OPTIONS, "forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_LOOP = {"nogil": True, "pipeline_class": LoopCompiler}
_COMPILED = ("chance.py", "compile.py", "controller", "descriptors.py", "swarm")
_KEPT_VERSIONS = 4


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let compiled loops call this scalar function, and return it unchanged."""
    LAWS.append(function)
    register_jitable(**INNER, pipeline_class=LoopCompiler)(function)
    return function


def loop(function: Callable[..., Any]) -> Any:
    """Compile a loop over arrays that other loops call, inlined: a block is a large argument."""
    return njit(**_LOOP, **INNER)(function)


def entry(function: Callable[..., Any]) -> Any:
    """Compile a loop that Python calls, and keep its machine code in the user's cache."""
    with kept_in(code_cache(), numba.config) as can:
        return njit(cache=can, **_LOOP, **OPTIONS)(function)


_robot: ContextVar[str] = ContextVar("robot", default="")


@contextmanager
def code_for(robot: str) -> Iterator[None]:
    """Keep what is compiled meanwhile apart, for the robot of this digest."""
    token = _robot.set(f"robot-{robot}")
    try:
        yield
    finally:
        _robot.reset(token)


@contextmanager
def kept_in(folder: Path, config: Any) -> Iterator[bool]:
    """Let Numba keep in a folder what is compiled meanwhile; yield whether it can be written."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if not (folder.is_dir() and os.access(folder, os.W_OK)):  # compile anew in each process
        yield False
        return
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        yield True
    finally:
        config.CACHE_DIR = before


def user_cache() -> Path:
    """Return the folder for things that can be made again (``QED_CACHE`` moves it)."""
    chosen = os.environ.get("QED_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "qed"


def robot_folder() -> str:
    """Return the folder of the robot that is compiled for, in that for the present text."""
    return _robot.get()


def code_cache(gpu: bool = False) -> Path:
    """Return the cache folder for the present text of what is compiled, for a CPU or a GPU.

    Numba's own cache looks only at the file of the function it keeps, so an edit in a law
    that the function calls would go unnoticed.  Here the folder's name is a digest of all
    sources with compiled code: any edit leads to another folder.
    """
    sources = (Path(__file__).parent / name for name in _COMPILED)
    versions = user_cache() / ("compiled-gpu" if gpu else "compiled")
    folder = versions / digest(*sources, without="" if gpu else "cuda")
    if not folder.exists():
        _forget_old(versions)
    return folder / robot_folder()


def digest(*roots: Path, without: str = "") -> str:
    """Return a short digest of some Python files, or all below some folders, names included.

    Folders of the name ``without`` are left out.
    """
    text = hashlib.sha256()
    for root in roots:
        for source in [root] if root.is_file() else sorted(root.rglob("*.py")):
            name = source.relative_to(root)
            if without not in name.parts:
                text.update(name.as_posix().encode() + b"\0")
                text.update(source.read_bytes())
    return text.hexdigest()[:16]


def _forget_old(versions: Path) -> None:
    """Keep the machine code of the last few versions only."""
    if versions.is_dir():
        by_age = sorted(versions.iterdir(), key=lambda folder: folder.stat().st_mtime)
        for folder in by_age[: -_KEPT_VERSIONS + 1]:
            shutil.rmtree(folder, ignore_errors=True)
