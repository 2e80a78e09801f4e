"""Tasks, faults and algorithms as objects that go wherever their names go.

A definition is a string, its name, with what the name stands for: it keys tables, is written to
files and names folders like any name.  Those that come with QED stand in tables of their own;
those of a user come as objects, or by name from a file (``--with FILE.py``).

The file is executed.  What it defines at its top level can then be named wherever a name is taken.
Processes that work for this one get the file's text, and execute it themselves.
"""

import hashlib
import linecache
import re
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, NoReturn, Self, TypeVar

from qed.errors import InputError, choice

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")
Some = TypeVar("Some", bound="Definition")


class Definition(str):
    """A name, and what it stands for.

    It equals its name, as any string does, so that it goes wherever its name goes.  Whether two of
    one name are the same definition is told by ``key``.
    """

    kind: ClassVar[str]
    built_in: ClassVar[Mapping[str, Any]]  # those that come with QED, by name
    meaning: str  # in a few words
    digest: str  # of how it is defined

    @classmethod
    def _new(cls, name: Any, meaning: str, digest: str, **more: Any) -> Self:
        self = str.__new__(cls, name)
        self.__dict__.update(meaning=meaning or str(name), digest=digest, **more)
        return self

    @classmethod
    def _checked(cls, name: Any) -> str:
        """Return a name that a user may give to a definition."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InputError(
                f"the name of a {cls.kind} must be a letter, then up to 39 letters, digits, "
                f"'-', '_' or '.'; got {name!r}"
            )
        if name in cls.built_in:
            raise InputError(
                f"the {cls.kind} {str(name)!r} comes with QED: give yours another name"
            )
        return str(name)

    @property
    def user_defined(self) -> bool:
        """True unless it comes with QED."""
        there = self.built_in.get(str(self))
        return there is None or there.digest != self.digest

    @property
    def name(self) -> str:
        """The plain name."""
        return str.__str__(self)

    def described(self) -> dict[str, Any]:
        """Return how it is defined, as JSON can hold it: what a file keeps, never executed."""
        return {"name": self.name, "digest": self.digest, "meaning": self.meaning}

    @property
    def key(self) -> tuple[str, str, str]:
        """Kind, name and digest: what tells it from all others."""
        return self.kind, self.name, self.digest

    def __str__(self) -> str:
        return str.__str__(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.meaning}>"

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a {self.kind} cannot be changed; define another one")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


class Source(NamedTuple):
    """A user's file, as it was when it was executed."""

    path: str
    text: str


loaded: dict[str, dict[str, Definition]] = {}  # from users' files, by kind and name
_sources: dict[tuple[str, str, str], Source] = {}  # the files they are from, by their keys
_executed: dict[Source, list[Definition]] = {}


def known(kind: type[Some]) -> dict[str, Some]:
    """Return what can be named: what comes with QED, then what users' files define."""
    return {**kind.built_in, **loaded.get(kind.kind, {})}


def defined(argument: str, value: Any, kind: type[Some]) -> Some:
    """Return a definition, given as an object or by its name."""
    if isinstance(value, kind):
        return value
    if isinstance(value, Definition):
        raise InputError(f"{argument} must be a {kind.kind}, got the {value.kind} {value.name!r}")
    table = known(kind)
    try:
        return table[choice(argument, value, table)]
    except InputError as error:
        if not isinstance(value, str):
            raise
        raise InputError(
            f"{error}; one of your own is given as a qed.{kind.__name__} object, or by name with "
            "--with FILE.py, the file that defines it"
        ) from None


def same_as_stored(header: Mapping[str, Any], given: Definition) -> None:
    """Raise InputError if an archive was made with another definition of the same name."""
    stored = header.get("definitions")
    there = stored.get(given.kind) if isinstance(stored, Mapping) else None
    if not isinstance(there, Mapping) or there.get("name") != given.name:
        return
    if there.get("digest") != given.digest:
        raise InputError(
            f"the archive was made with another definition of the {given.kind} {given.name!r} "
            f"({there.get('digest')}; this one is {given.digest}): give the one it was made with, "
            "whose text qed info shows, or give yours another name"
        )


def one_each(argument: str, given: list[Some]) -> list[Some]:
    """Return definitions without repetitions; InputError if a name has two definitions."""
    found: dict[str, Some] = {}
    for each in given:
        if found.setdefault(each.name, each).key != each.key:
            raise InputError(
                f"{argument}: there are two different definitions of {each.name!r}; give one of "
                "them another name"
            )
    return list(found.values())


def digest_of(*parts: Any) -> str:
    """Return a short digest of what has a telling repr."""
    return hashlib.sha256("\0".join(map(repr, parts)).encode()).hexdigest()[:16]


def load_definitions(path: str | Path) -> list[Definition]:
    """Execute a file, and return what it defines; its names are known from now on."""
    try:
        source = Source(str(Path(path).resolve()), Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeError) as error:
        raise InputError(f"--with: cannot read {path}: {error}") from None
    found = _definitions(source)
    if not found:
        raise InputError(
            f"--with: {path} defines no qed.Task, Fault, Algorithm or Robot at its top level"
        )
    return found


def _definitions(source: Source) -> list[Definition]:
    """Return what a file defines; it is executed once in a process."""
    if source not in _executed:
        named: dict[tuple[str, str], Definition] = {}
        for value in vars(_module(source)).values():
            for one in value if isinstance(value, list | tuple) else (value,):
                if isinstance(one, Definition) and one.user_defined:
                    there = named.get((one.kind, one.name)) or loaded.get(one.kind, {}).get(one)
                    if there is not None and there.key != one.key:
                        where = _sources.get(there.key, source).path
                        raise InputError(
                            f"--with: {source.path} defines the {one.kind} {one.name!r}, which "
                            f"{where} defines in another way; give one of them another name"
                        )
                    named[one.kind, one.name] = one
        for (kind, name), one in named.items():
            loaded.setdefault(kind, {})[name] = one
            _sources[one.key] = source
        _executed[source] = list(named.values())
    return _executed[source]


def _module(source: Source) -> ModuleType:
    """Execute the text of a file as a module of its own."""
    module = ModuleType(f"qed_with_{hashlib.sha256(source.text.encode()).hexdigest()[:12]}")
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
        frames = traceback.extract_tb(error.__traceback__)
        lines_in = [frame.lineno for frame in frames if frame.filename == source.path]
        line = error.lineno if isinstance(error, SyntaxError) else [None, *lines_in][-1]
        where = f"{source.path}, line {line}" if line else source.path
        raise InputError(f"--with: {where}: {type(error).__name__}: {error}") from error
    return module


def reduce_definition(one: Any) -> tuple[Any, ...]:
    """Return how another process makes a task or an algorithm again (for ``__reduce__``)."""
    if not one.user_defined:
        return _built_in, (type(one), one.name)
    if one.key in _sources:
        return _from_file, (_sources[one.key], one.kind, one.name)
    return _made, (type(one), one.name, one.meaning, one.made)


def _built_in(kind: type[Definition], name: str) -> Any:
    return kind.built_in[name]


def _from_file(source: Source, kind: str, name: str) -> Definition:
    return next(one for one in _definitions(source) if (one.kind, one.name) == (kind, name))


def _made(kind: Any, name: str, meaning: str, made: dict[str, Any]) -> Any:
    if name in kind.built_in:  # over other environments
        return kind.built_in[name].with_attributes(made["cells"])
    return kind(name, meaning, **made)
