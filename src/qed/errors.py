"""Checks of what users give: each names the argument, the value, and what is allowed."""

import math
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from numbers import Real
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


class InputError(ValueError):
    """An argument or a file is not valid; the message names it and says what is allowed.

    Examples
    --------
    >>> import qed
    >>> try:
    ...     qed.Environment(robots=0)
    ... except ValueError as error:
    ...     print(error)
    robots must be a whole number from 1 to 64, got 0
    """


class StoppedError(Exception):
    """Something cannot go on, through no fault of the user; the message says what is left."""


def former(**instead: str) -> Callable[[Function], Function]:
    """Let a function refuse arguments that it had once, and tell what there is instead."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def checked(*given: Any, **named: Any) -> Any:
            for name in named.keys() & instead.keys():
                raise InputError(f"{name} {instead[name]}")
            return function(*given, **named)

        return cast(Function, checked)

    return decorate


def number(name: str, value: Any, low: float, high: float, *, above: bool = False) -> float:
    """Return a finite number within [low, high] (or (low, high] if ``above``)."""
    try:
        got = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a number, got {value!r}") from None
    except OverflowError:  # a whole number with hundreds of digits
        got = math.inf
    if not math.isfinite(got) or got > high or (got <= low if above else got < low):
        raise InputError(
            f"{name} must be {'above' if above else 'at least'} {low:g} and at most {high:g}, "
            f"got {value!r}"
        )
    return got


def real(name: str, value: Any, low: float, high: float) -> float:
    """Return a finite number within [low, high] that is given as one: no text, no truth value."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InputError(f"{name} must be a number, got {value!r}")
    return number(name, value, low, high)


def integer(name: str, value: Any, low: int, high: int) -> int:
    """Return a whole number within [low, high]."""
    try:
        got = int(value)
        fits = got == value and not isinstance(value, bool)
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits or not low <= got <= high:
        raise InputError(f"{name} must be a whole number from {low} to {high}, got {value!r}")
    return got


def instance(name: str, value: Any, *kinds: type) -> None:
    """Raise InputError unless a value is of one of these public types."""
    if not isinstance(value, kinds):
        *most, last = (f"a qed.{kind.__name__}" for kind in kinds)
        words = f"{', '.join(most)} or {last}" if most else last
        raise InputError(f"{name} must be {words}, got {type(value).__name__}")


def choice(name: str, value: Any, allowed: Iterable[str]) -> str:
    """Return one of the allowed names; otherwise suggest the nearest."""
    names = list(allowed)
    if value in names:
        return str(value)
    close = get_close_matches(str(value), names, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise InputError(f"{name} must be one of {', '.join(names)}; got {value!r}{hint}")
