"""Laws of users: what they may read, and whether they can be compiled.

A law is a plain function of numbers: of one robot in one cycle, or of a pair.  It computes in
double precision on both engines, as it does when Python calls it.
"""

import builtins
import dis
import inspect
import math
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from qed.definitions import digest_of
from qed.errors import InputError
from qed.swarm.measures import INPUTS, OTHERS, PAIRED, SPEEDS, USER_DEFINED, Measure

# What a law of a robot may read, and what must be worked out for it first.  Poses are those after
# the motion of the cycle.
ROBOT: dict[str, tuple[str, int]] = {
    "x": ("its place (m)", 0),
    "y": ("its place (m)", 0),
    "heading": ("its heading (rad, -pi to pi)", 0),
    "speed": ("its motion along its heading, as a part of max_speed", SPEEDS),
    "turn": ("its turn rate (rad/s)", 0),
    "arena": ("side of the arena (m)", 0),
    "robots": ("number of robots", 0),
    "max_speed": ("top speed of a wheel (m/s)", 0),
    "nearest": ("distance to the nearest other robot (m)", OTHERS),
    "proximity": ("its largest proximity reading, 0 (nothing) to 1 (touching)", INPUTS),
    "heard": ("cones of range and bearing, of 8, in which it hears a robot", INPUTS),
    "time": ("time since the start (s)", 0),
}
# What a law of a pair may read.
PAIR: dict[str, str] = {
    "distance": "between the two (m)",
    "turn": "from the one's heading to the other's, before the motion (rad, -pi to pi)",
    "speed_i": "motion of the one along its heading, as a part of max_speed",
    "speed_k": "and of the other",
}
_ONLY_PAIR = ("distance", "speed_i", "speed_k")
_NUMBERS = (int, float, bool, np.number, np.bool_)
# Places at which a law must give a number: robots here and there, pairs near and far.
_ROBOTS = [
    (1.3, 2.9, 0.4, 0.8, 0.3, 4.0, 10.0, 0.1, 0.7, 0.0, 2.0, 12.2),
    (0.4, 0.2, -2.6, -0.6, -1.1, 2.0, 5.0, 0.2, 0.3, 0.6, 1.0, 0.2),
    (4.6, 3.1, 1.7, 0.1, 0.0, 5.0, 20.0, 0.05, 1.2, 0.2, 0.0, 399.8),
]
_PAIRS = [(0.3, 0.2, 0.9, 0.7), (1.7, -2.5, -0.4, 0.5), (4.1, 1.4, 0.1, -0.8)]


@dataclass(frozen=True, eq=False)
class Law:
    """A checked law, of robots or of pairs."""

    name: str
    over: str  # "robots" or "pairs"
    reads: tuple[str, ...]  # its arguments, in its order
    function: Callable[..., float] = field(repr=False)
    source: str = field(repr=False)
    digest: str

    @property
    def key(self) -> str:
        """Name among the sums of a simulation; no measure of the paper has a colon."""
        return f"{self.over}:{self.name}:{self.digest}"

    @property
    def stages(self) -> int:
        """What has to be worked out for it, a bit each."""
        if self.over == "pairs":
            return USER_DEFINED | SPEEDS | PAIRED
        bits = USER_DEFINED
        for name in self.reads:
            bits |= ROBOT[name][1]
        return bits

    @property
    def measure(self) -> Measure:
        """What a simulation adds up of it."""
        return Measure(self.key, self.stages, self.over, law=self)

    @property
    def arguments(self) -> tuple[str, ...]:
        """All that a loop offers it."""
        return tuple(ROBOT if self.over == "robots" else PAIR)

    def adapted(self, function: Any) -> Any:
        """Return the law, compiled in some way, as a function of all that a loop offers."""
        text = f"lambda {', '.join(self.arguments)}: law({', '.join(self.reads)})"
        return eval(text, {"law": function})  # the names are those of the tables above

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Law) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def law(function: Any) -> Any:
    """Let a simulation call this function: the decorator ``@qed.law``.

    A law is a function of one robot, or of a pair, in one cycle.  It may read what its arguments
    name, numbers, ``math``, and other laws; ``qed.Task`` lists the arguments that there are.

    Parameters
    ----------
    function : function
        A plain function of numbers that returns a number.

    Returns
    -------
    function
        The same one: it can be called as before.

    Examples
    --------
    >>> import math
    >>> import qed
    >>> @qed.law
    ... def near_centre(x, y, arena):
    ...     return max(0.0, 1.0 - math.hypot(x - arena / 2, y - arena / 2) / arena)
    >>> near_centre(2.0, 2.0, 4.0)
    1.0
    """
    from qed import compile as compiling

    if not isinstance(function, FunctionType):
        raise InputError(f"a law must be a plain function, got {type(function).__name__}")
    if function not in compiling.LAWS:
        compiling.inlined(function)
    return function


def checked(function: Any, argument: str, over: str | None = None) -> Law:
    """Return a law of robots or of pairs, or raise InputError that says what is wrong with it."""
    law(function)
    name = function.__name__
    reads = _arguments(function)
    if over is None:
        over = "pairs" if any(one in reads for one in _ONLY_PAIR) else "robots"
    allowed: dict[str, Any] = ROBOT if over == "robots" else PAIR
    strange = [one for one in reads if one not in allowed]
    if strange:
        raise InputError(
            f"{argument}: the law {name} reads {', '.join(strange)}, which is unknown; a law of "
            f"{'a robot' if over == 'robots' else 'a pair'} may read {', '.join(allowed)}"
        )
    found = _law(function, over, reads)
    if found.digest not in _fine:
        _compile(found, argument)
        _fine.add(found.digest)
    return found


def of_package(function: Any, over: str) -> Law:
    """Return a law that comes with QED: tests compile and try it, not every process."""
    return _law(law(function), over, _arguments(function))


def _law(function: FunctionType, over: str, reads: tuple[str, ...]) -> Law:
    digest = digest_of(*_parts(function, function.__name__, set()))
    return Law(function.__name__, over, reads, function, _source(function), digest)


@dataclass(frozen=True)
class Plain:
    """A function that only Python calls."""

    source: str
    digest: str


def plain(function: Any, argument: str) -> Plain:
    """Return the text and the digest of a function that is not compiled."""
    if not callable(function):
        raise InputError(f"{argument} must be a function, got {type(function).__name__}")
    if not isinstance(function, FunctionType):
        return Plain(repr(function), digest_of(type(function).__qualname__))
    scope = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    names = sorted(_global_names(function.__code__) | set(function.__code__.co_freevars))
    numbers = [(n, scope[n]) for n in names if isinstance(scope.get(n), _NUMBERS)]
    return Plain(_source(function), digest_of(_text(function), numbers))


_fine: set[str] = set()  # digests of laws that were compiled and tried


def _arguments(function: FunctionType) -> tuple[str, ...]:
    """Return the names of a law's arguments."""
    parameters = inspect.signature(function).parameters.values()
    for one in parameters:
        if one.kind is not one.POSITIONAL_OR_KEYWORD or one.default is not one.empty:
            raise InputError(
                f"the law {function.__name__} must have plain arguments, without defaults and "
                f"stars; got {one}"
            )
    return tuple(one.name for one in parameters)


def _source(function: FunctionType) -> str:
    """Return a function's text, or '' if it is nowhere."""
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return ""


def _text(function: FunctionType) -> tuple[Any, ...]:
    """Return what identifies a function: its text, or its code where that says more."""
    source = _source(function)
    if source and function.__name__ != "<lambda>":
        return (source,)
    return source, _code(function.__code__)  # there may be several lambdas in a line


def _code(code: CodeType) -> tuple[Any, ...]:
    inside = [_code(one) if isinstance(one, CodeType) else one for one in code.co_consts]
    return code.co_code, inside, code.co_names, code.co_varnames, code.co_freevars


def _parts(function: FunctionType, law_name: str, seen: set[Any]) -> Iterator[Any]:
    """Yield what makes a law: its text, and the numbers and functions that it reads."""
    if function in seen:
        return
    seen.add(function)
    yield from _text(function)
    for name, value in _read(function, law_name):
        yield name
        if isinstance(value, FunctionType):
            law(value)
            yield from _parts(value, law_name, seen)
        elif isinstance(value, ModuleType | BuiltinFunctionType):
            yield value.__name__
        else:
            yield value


def _read(function: FunctionType, law_name: str) -> Iterator[tuple[str, Any]]:
    """Yield what a function reads beside its arguments, or raise InputError if it may not."""
    inside = inspect.getclosurevars(function).nonlocals
    if "random" in function.__code__.co_names:
        raise InputError(
            f"the law {law_name} draws random numbers, which a law may not: everything random "
            "follows from the seed"
        )
    for name in sorted(_global_names(function.__code__) | set(inside)):
        scope = {**vars(builtins), **function.__globals__, **inside}
        if name not in scope:
            raise InputError(
                f"the law {law_name} reads {name}, which is not defined: define it first"
            )
        value = scope[name]
        if name in vars(builtins) and value is vars(builtins)[name]:
            continue
        fine = isinstance(value, (*_NUMBERS, FunctionType, BuiltinFunctionType)) or (
            isinstance(value, tuple) and all(isinstance(each, _NUMBERS) for each in value)
        )
        fine = fine or value is math or value is np
        # Types such as numpy's float32 convert numbers.
        if not fine and not (isinstance(value, type) and issubclass(value, _NUMBERS)):
            raise InputError(
                f"the law {law_name} reads {name}, a {type(value).__name__}, which a law may not: "
                "it may read its arguments, numbers, math, numpy, and other laws"
            )
        yield name, value


def _global_names(code: CodeType) -> set[str]:
    """Return the global names that a function reads, its inner functions included."""
    named = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
    for const in code.co_consts:
        if isinstance(const, CodeType):
            named |= _global_names(const)
    return named


def _compile(found: Law, argument: str) -> None:
    """Compile a law and try it in a few places, or raise InputError that says what is wrong."""
    from numba import njit, types

    from qed.compile import OPTIONS

    about = f"{argument}: the law {found.name}"
    compiled = njit(**OPTIONS)(found.function)
    try:
        compiled.compile((types.float64,) * len(found.reads))
    except Exception as error:  # Numba's, and those of its parts
        raise InputError(
            f"{about} does not compile: {reason(error)}; a law is a function of numbers: "
            "arithmetic, comparisons, if, for, while, math, and other laws"
        ) from error
    [returned] = {overload.signature.return_type for overload in compiled.overloads.values()}
    if not isinstance(returned, types.Number | types.Boolean) or isinstance(
        returned, types.Complex
    ):
        raise InputError(f"{about} must return a number in every case, not {returned}")
    for values in _ROBOTS if found.over == "robots" else _PAIRS:
        given = dict(zip(found.arguments, values, strict=True))
        mine = [given[name] for name in found.reads]
        result = float(compiled(*mine))
        if not math.isfinite(result):
            at = ", ".join(f"{name}={given[name]:g}" for name in found.reads)
            raise InputError(
                f"{about} returns {result} at {at}; it must return a finite number everywhere"
            )


def reason(error: Exception) -> str:
    """Return the telling line of Numba's long messages."""
    lines = [line.strip() for line in str(error).splitlines()]
    lines = [line for line in lines if line and not line.startswith(("Failed in", "During:", "["))]
    telling = [line for line in lines if any(w in line for w in ("nknown", "No impl", "annot"))]
    if any("NRT required" in line for line in lines):
        return "it makes a list, an array or a text"
    chosen = (telling or lines or [type(error).__name__])[0]
    return chosen.rstrip(".:")[:200]
