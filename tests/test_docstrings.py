"""Every public name tells what it takes and gives, and shows it in an example that runs."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import pytest

import qed

# What these modules list is public, and so is what those names return.
MODULES = ("qed", "qed.archive", "qed.emitters", "qed.evolution")
RETURNED = {
    "qed.controller.dense": ("Dense",),
    "qed.errors": ("InputError",),
    "qed.programs.export": ("Export",),
    "qed.recovery.kit.play": ("Step",),
    "qed.recovery.kit.playbook": ("Play", "Playbook"),
    "qed.recovery.kit.prepare": ("Effort",),
    "qed.recovery.search.search": ("Belief", "Search"),
    "qed.recovery.search.teams": ("TeamSearch",),
    "qed.swarm.world": ("Readings",),
}
# Made by other functions of the package: their constructors are not for users.
MADE = {"Export", "InputError", "Readings", "Search", "TeamSearch"}
# For the package itself, though their names have no underscore: a summary is enough.
EMITTER = {"ask", "begin", "describe", "restore", "state", "tell"}  # Emitter describes them
INNER = {
    "Algorithm": {"described", "for_robot", "of_package", "over"},
    "Archive": {"fill_cells", "set_container"},
    "Attributes": {"condition", "described", "of"},
    "Bandit": EMITTER,
    "Categories": {"describe"},
    "Dense": {"genomes", "random", "vary", "vectors"},
    "Centroids": {"arrays", "describe", "holds"},
    "Controller": {"network"},
    "Definition": {"described"},
    "Environment": {"described", "from_described"},
    "Environments": {"describe"},
    "Fault": {"described", "hit", "needs_general_path"},
    "Grid": {"describe"},
    "Kit": {"check", "search_teams"},
    "MapElites": {"resume_with", "statistics"},
    "Outcome": {"part"},
    "Playbook": {"described", "from_described"},
    "Ribs": {*EMITTER, "full"},
    "Robot": {"described", "from_described"},
    "Run": {"checkpoint", "finish", "tell"},
    "Search": {"members", "resume", "row"},
    "SideBySide": {"begin", "together"},
    "Space": {"arrays", "describe", "find", "holds"},
    "Start": {"check"},
    "Task": {"alike", "described", "fitness", "of_measure"},
    "Team": {"networks"},
    "TeamSearch": {"members"},
    "Uniform": EMITTER,
    "_Box": {"arrays", "find", "holds"},
}
SECTION = re.compile(r"^(\w[\w ]*)\n(-+)\n", re.MULTILINE)
CALLED = (FunctionType, property, cached_property, classmethod, staticmethod)
NOTHING = {"None", None, type(None), "NoReturn"}


class Name(NamedTuple):
    """A public name: what it is, and the class that it belongs to."""

    full: str
    thing: Any
    owner: type | None = None

    @property
    def inner(self) -> bool:
        method = self.full.rpartition(".")[2]
        return self.owner is not None and method in INNER.get(self.owner.__name__, ())

    @property
    def text(self) -> str:
        return inspect.getdoc(self.thing) or "" if self.owner is None else own_text(self.thing)


def own_text(member: Any) -> str:
    """Return the docstring of a method or a property itself, not of what it overrides."""
    return inspect.cleandoc(getattr(unwrapped(member), "__doc__", None) or "")


def unwrapped(member: Any) -> Any:
    """Return the function behind a member of a class."""
    for name in ("__func__", "fget", "func"):
        member = getattr(member, name, None) or member
    return member


def public_names() -> Iterator[Name]:
    """Yield all public names, and then the public members of their classes, each once."""
    listed = {module: tuple(import_module(module).__all__) for module in MODULES}
    seen: set[Any] = set()
    for module, names in {**listed, **RETURNED}.items():
        for name in names:
            thing = getattr(import_module(module), name)
            if thing in seen or not callable(thing):  # robots are data
                continue
            seen.add(thing)
            yield Name(f"{module}.{name}", thing)
            if isinstance(thing, type):
                yield from members(thing, seen)


def members(kind: type, seen: set[Any]) -> Iterator[Name]:
    """Yield the public methods and properties of a class, those of its bases in QED included."""
    for owner in kind.__mro__:
        if not owner.__module__.startswith("qed."):
            continue
        for name, member in vars(owner).items():
            if name.startswith("_") or not isinstance(member, CALLED):
                continue
            if (owner, name) not in seen:
                seen.add((owner, name))
                yield Name(f"{owner.__module__}.{owner.__name__}.{name}", member, owner)


def sections(text: str) -> dict[str, str]:
    """Return the sections of a docstring."""
    found = list(SECTION.finditer(text))
    ends = [*(one.start() for one in found[1:]), len(text)]
    return {one[1]: text[one.end() : end] for one, end in zip(found, ends, strict=False)}


def described(section: str) -> set[str]:
    """Return the names that a section has a type and a description of."""
    entries = re.findall(r"^(\S[^:\n]*) : \S.*\n    +\S", section, re.MULTILINE)
    return {name.strip().lstrip("\\*") for entry in entries for name in entry.split(",")}


def faults_of(name: Name) -> list[str]:
    """Return what is missing in a docstring."""
    thing, parts = unwrapped(name.thing), sections(name.text)
    summary = name.text.partition("\n\n")[0]
    found = [] if re.fullmatch(r"\S[^\n]*[.:]", summary) else ["no summary in one line"]
    lines = [one.groups() for one in SECTION.finditer(name.text)]
    found += [f"underline of {title}" for title, line in lines if len(title) != len(line)]
    if isinstance(name.thing, property | cached_property) or name.inner:
        return found
    known = described(parts.get("Parameters", ""))
    if isinstance(thing, type):
        for one in thing.__mro__:  # what a base describes need not be told again
            told = sections(inspect.cleandoc(one.__doc__ or ""))
            known |= described(told.get("Parameters", "")) | described(told.get("Attributes", ""))
    wanted = [] if getattr(thing, "__name__", "") in MADE else arguments(thing)
    found += [f"{one} is not described" for one in wanted if one not in known]
    if not isinstance(thing, type):
        found += [f"{one} is no argument" for one in sorted(known - set(wanted))]
        returns = inspect.signature(thing).return_annotation not in NOTHING
        if returns != ("Returns" in parts or "Yields" in parts):
            found.append("no Returns" if returns else "Returns, but there is nothing")
    if ">>>" not in parts.get("Examples", "") and not shown(name):
        found.append("no Examples")
    return found


def arguments(thing: Any) -> list[str]:
    """Return the names of the arguments that a user gives."""
    if getattr(thing, "_is_protocol", False):
        return []
    return [one for one in inspect.signature(thing).parameters if one not in ("self", "cls")]


def shown(name: Name) -> bool:
    """Return whether a method is called, or written, in an example of its class."""
    if name.owner is None:
        return False
    method = name.full.rpartition(".")[2]
    texts = [inspect.getdoc(name.owner) or "", *map(own_text, vars(name.owner).values())]
    examples = "".join(sections(text).get("Examples", "") for text in texts)
    return f".{method}(" in examples or f"def {method}(" in examples


NAMES = list(public_names())


def test_nothing_is_missing_in_the_docstring_of_a_public_name() -> None:
    found = {name.full: faults for name in NAMES if (faults := faults_of(name))}
    assert not found, "\n".join(f"{name}: {'; '.join(told)}" for name, told in found.items())


def test_the_package_lists_its_names() -> None:
    listed = set(re.findall(r"\w+", qed.__doc__ or ""))
    assert set(qed.__all__) <= listed


@pytest.mark.parametrize(
    "name", [name for name in NAMES if ">>>" in name.text], ids=lambda name: name.full
)
def test_examples_of_a_docstring_run(
    name: Name, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # for files that examples write
    examples = doctest.DocTestParser().get_doctest(name.text, {}, name.full, name.full, 0)
    told: list[str] = []
    doctest.DocTestRunner(verbose=False).run(examples, out=told.append)
    assert not told, "".join(told)


def test_other_examples_run() -> None:
    """Those of functions that are not public."""
    folder = Path(qed.__file__).parent
    texts = {name.text for name in NAMES}
    runner = doctest.DocTestRunner(verbose=False)
    for file in sorted(folder.rglob("*.py")):
        if ">>> " in file.read_text("utf-8"):
            parts = file.relative_to(folder.parent).with_suffix("").parts
            for one in doctest.DocTestFinder().find(import_module(".".join(parts))):
                if inspect.cleandoc(one.docstring or "") not in texts:
                    runner.run(one)
    assert runner.tries > 5
    assert runner.failures == 0


def bare(length: float) -> float:
    """Return something"""
    return length


def full(length: float) -> float:
    """Return something.

    Parameters
    ----------
    length : float
        How long (m).

    Returns
    -------
    float
        The same.

    Examples
    --------
    >>> 1 + 1
    2
    """
    return length


def test_what_is_missing_is_found() -> None:
    assert len(faults_of(Name("bare", bare))) == 4
    assert faults_of(Name("full", full)) == []


def test_public_names_are_found_with_their_methods() -> None:
    found = {name.full for name in NAMES}
    assert {"qed.simulate", "qed.archive.archive.Archive.add", "qed.archive.Elite"} <= found
    assert "qed.recovery.recovery.Recovery.impact" in found
    assert len(found) == len(NAMES) > 150
