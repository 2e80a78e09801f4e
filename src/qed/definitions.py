"""Tasks, faults and algorithms as objects that go wherever their names go.

A definition is a string, its name, with what the name stands for: it keys tables, is written to
files and names folders like any name.  Those that come with QED stand in tables of their own;
those of a user come as objects, or by name from a file that was brought (``qed.bring``).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn, Self, TypeVar

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


# What users' files brought, by kind and name.
brought: dict[str, dict[str, Definition]] = {}


def known(kind: type[Some]) -> dict[str, Some]:
    """Return what can be named: what comes with QED, then what files brought."""
    return {**kind.built_in, **brought.get(kind.kind, {})}


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
