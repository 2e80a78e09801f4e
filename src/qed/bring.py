"""Definitions from a user's file: ``--with FILE.py`` on the command line.

The file is executed.  What it defines at its top level, tasks, faults and algorithms, can then be
named wherever a name is taken.  Processes that work for this one get the file's text, and execute
it themselves.
"""

from __future__ import annotations

import hashlib
import linecache
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from qed.definitions import Definition, brought
from qed.errors import InputError


class Source(NamedTuple):
    """A file, as it was when it was executed."""

    path: str
    text: str


_origins: dict[Definition, Source] = {}  # what came from which file
_done: dict[Source, list[Definition]] = {}  # files that were executed


def bring(path: str | Path) -> list[Definition]:
    """Execute a file, and return what it defines; its names are known from now on."""
    try:
        source = Source(str(Path(path).resolve()), Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeError) as error:
        raise InputError(f"--with: cannot read {path}: {error}") from None
    found = _executed(source)
    if not found:
        raise InputError(
            f"--with: {path} defines no qed.Task, qed.Fault or qed.Algorithm at its top level"
        )
    return found


def _executed(source: Source) -> list[Definition]:
    """Execute a file, once for a process."""
    if source not in _done:
        module = _module(source)
        named: dict[tuple[str, str], Definition] = {}
        for one in vars(module).values():
            for each in one if isinstance(one, list | tuple) else (one,):
                if isinstance(each, Definition) and each.user_defined:
                    _note(named, each, source)
        for (kind, name), one in named.items():
            brought.setdefault(kind, {})[name] = one
            _origins[one] = source
        _done[source] = list(named.values())
    return _done[source]


def _note(named: dict[tuple[str, str], Definition], one: Definition, source: Source) -> None:
    """Take a definition, unless its name is taken by another one."""
    there = named.get((one.kind, one.name)) or brought.get(one.kind, {}).get(one.name)
    if there is not None and there.key != one.key:
        where = _origins[there].path if there in _origins else source.path
        raise InputError(
            f"--with: {source.path} defines the {one.kind} {one.name!r}, which {where} defines in "
            "another way; give one of them another name"
        )
    named[one.kind, one.name] = one


def _module(source: Source) -> ModuleType:
    """Execute the text of a file as a module of its own."""
    digest = hashlib.sha256(source.text.encode()).hexdigest()[:12]
    module = ModuleType(f"qed_with_{digest}")
    module.__file__ = source.path
    # Python looks for the text of a function there: what is executed is what digests are made of.
    lines = source.text.splitlines(keepends=True)
    linecache.cache[source.path] = (len(source.text), None, lines, source.path)
    sys.modules[module.__name__] = module
    folder = str(Path(source.path).parent)
    if folder not in sys.path:
        sys.path.append(folder)  # a file may import its neighbours
    try:
        exec(compile(source.text, source.path, "exec"), vars(module))  # it is what --with says
    except InputError as error:
        raise InputError(f"--with: {source.path}: {error}") from error
    except Exception as error:
        line = _line(error, source)
        raise InputError(f"--with: {source.path}{line}: {type(error).__name__}: {error}") from error
    return module


def _line(error: BaseException, source: Source) -> str:
    """Return where in a file something went wrong, in words."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == source.path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return "" if line is None else f", line {line}"


def sent(one: Any) -> tuple[Any, ...]:
    """Return how to have a task or an algorithm again in another process (for ``__reduce__``)."""
    if not one.user_defined:
        return _named, (type(one), one.name)
    if one in _origins:
        return _from_file, (_origins[one], one.kind, one.name)
    return _made, (type(one), one.name, one.meaning, one.made)


def _named(kind: type[Definition], name: str) -> Any:
    return kind.built_in[name]


def _from_file(source: Source, kind: str, name: str) -> Definition:
    return next(one for one in _executed(source) if (one.kind, one.name) == (kind, name))


def _made(kind: Any, name: str, meaning: str, made: dict[str, Any]) -> Any:
    if name in kind.built_in:  # over other environments
        return kind.built_in[name].with_attributes(made["cells"])
    return kind(name, meaning, **made)
