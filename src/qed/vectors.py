"""Vectors of 512 bits where a CPU has fast ones.

LLVM prefers 256 bits on all of Intel's CPUs, since the first ones with 512 slowed down their
clock for them.  Later ones do not, and the loops here gain by wide vectors.  Numba has no option
for it, so a function is told when it is lowered to LLVM's language.

Results do not change: without fastmath no vector width reorders a sum.  Nor does the cache need
to know: its keys contain the CPU's name and features, which alone decide.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba import config
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

# An extension that came with the first CPUs whose clock does not slow down.
_SIGN_OF_FAST_VECTORS = "avx512vbmi2"
_PREFERENCE = '"prefer-vector-width"="512"'


def has(feature: str) -> bool:
    """Tell whether the CPU that is compiled for has an extension, by LLVM's name for it."""
    if config.CPU_FEATURES is not None:  # a user's choice of another CPU than this one
        return f"+{feature}" in config.CPU_FEATURES.split(",")
    return bool(binding.get_host_cpu_features().get(feature, False))


def has_fast_wide_vectors() -> bool:
    """Tell whether vectors of 512 bits are worth using."""
    return has(_SIGN_OF_FAST_VECTORS)


class _WideLower(Lower):  # type: ignore[misc]
    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        # Past its own ``add``, which knows only attributes without a value.
        set.add(self.function.attributes, _PREFERENCE)


@register_pass(mutates_CFG=True, analysis_only=False)
class _WideLowering(NativeLowering):  # type: ignore[misc]
    _name = "qed_wide_native_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return _WideLower


class WideCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, but functions prefer vectors of 512 bits."""

    def define_pipelines(self) -> list[Any]:
        """Return Numba's passes with our way of lowering."""
        pipelines: list[Any] = super().define_pipelines()
        for manager in pipelines:
            manager.passes = [
                (_WideLowering if step is NativeLowering else step, about)
                for step, about in manager.passes
            ]
            manager.finalize()
        return pipelines
