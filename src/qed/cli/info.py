"""``qed info`` and ``qed map``: what a run or an archive is, in numbers and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qed import text
from qed.cli import options, recoveries
from qed.errors import InputError

if TYPE_CHECKING:
    from qed.archive.archive import Archive


def info(path: options.ArchiveOrKit, files: options.With = None) -> None:
    """Show the settings and the numbers of a run, an archive or a kit."""
    from qed.archive.stored import open_archive
    from qed.evolution.algorithms import ALGORITHMS
    from qed.recovery.kit.kit import Kit
    from qed.recovery.kit.stored import is_kit

    if is_kit(path):
        recoveries.print_kit(Kit.load(path), path)
        return
    archive, state, source = open_archive(path)
    settings = archive.header.get("settings", {})
    screen = text.console()
    screen.print(str(source), style="bold", markup=False)
    made = text.table("made by", right=("",))
    for name, value in {**settings, **_read(archive.header, "domain", dict)}.items():
        made.add_row(*map(text.words, (name, value)))
    own = _read(archive.header, "definitions", dict)
    algorithm = str(settings.get("algorithm"))
    if algorithm in ALGORITHMS and "algorithm" not in own:
        made.add_row("cells", ALGORITHMS[algorithm].meaning)
    elif "domain" in settings or "algorithm" in own:
        made.add_row("cells", text.words(_cells(archive)))
    screen.print(made)
    for kind, how in own.items():
        if isinstance(how, dict):
            _print_definition(kind, how)
    numbers = text.table("numbers", right=("",))
    for name, value in _numbers(archive, state, settings):
        numbers.add_row(*map(text.words, (name, value)))
    screen.print(numbers)


def _print_definition(kind: str, how: dict[str, Any]) -> None:
    """Print how a task or an algorithm of a user's own was defined, as the file tells it."""
    screen = text.console()
    words = f"{kind} {how.get('name')}, defined as {how.get('digest')}: {how.get('meaning')}"
    screen.print(text.printable(words), style="bold", markup=False)
    laws = how.get("features")
    for law in laws if isinstance(laws, list) else [how]:
        source = law.get("source") if isinstance(law, dict) else None
        for line in str(source or "").splitlines():
            screen.print(f"  {text.printable(line)}", markup=False)
    screen.print()


def _read(header: dict[str, Any], name: str, kind: type) -> Any:
    """Return an entry of a header, or something empty if it is not of this kind."""
    value = header.get(name)
    return value if isinstance(value, kind) else kind()


def _cells(archive: Archive) -> str:
    """Return what a cell of a domain's archive is, as words."""
    space = archive.space.describe()
    if "options" in space:
        return f"an environment each: {', '.join(space['options'])}"
    features = ", ".join(map(text.words, _read(archive.header, "features", list)))
    over = f" over {features}" if features else ""
    if space["kind"] == "centroids":
        return f"around centroids{over}"
    sizes = " x ".join(map(str, space["shape"]))
    return f"{'a grid' if space['kind'] == 'grid' else 'categories'} of {sizes}{over}"


def _numbers(
    archive: Archive, state: dict[str, Any], settings: dict[str, Any]
) -> list[tuple[str, str]]:
    """Return what is worth knowing about an archive, as words."""
    done = state.get("done", settings.get("evaluations"))
    rows = [("coverage", f"{len(archive):,} of {archive.cells:,} cells")]
    if isinstance(done, int):
        rows.insert(0, ("evaluations done", f"{done:,}"))
    if len(archive) == 0:
        return rows
    best = archive.best
    rows += [
        ("best fitness", f"{best.fitness:.4f} (cell {best.cell})"),
        *_environment(archive, settings, best.measures),
        ("mean fitness", f"{archive.mean:.4f}"),
        ("QD score", f"{archive.qd_score:.1f}"),
    ]
    if best.controller is not None:
        sizes = [(c.hidden, len(c.connections)) for c in archive.controllers]
        hidden = sum(h for h, _ in sizes) / len(sizes)
        links = sum(n for _, n in sizes) / len(sizes)
        rows.append(("mean size", f"{hidden:.1f} hidden neurons, {links:.1f} connections"))
        rows.append(("without range and bearing", _without(archive)))
    return rows


def _without(archive: Archive) -> str:
    """Return what controllers can do without range and bearing, as words."""
    try:
        some = archive.without("rab")
    except InputError:
        return "no controller"
    return recoveries.share_of(len(some), len(archive), some.best.fitness, some.best.cell)


def _environment(
    archive: Archive, settings: dict[str, Any], measures: Any
) -> list[tuple[str, str]]:
    """Return the environment of an elite, as words, if cells are environments."""
    from qed.archive.grid import Environments
    from qed.swarm.environment import Environment

    if isinstance(archive.space, Environments):
        named = archive.space.named(measures.astype(int).tolist())
        return [(f"  {name}", str(option)) for name, option in named.items()]
    if settings.get("algorithm") != "qed":
        return []

    env = Environment.from_options(measures.astype(int).tolist())
    return [
        ("  in", f"{env.robots} robots, {env.max_speed:g} m/s, arena {env.arena:g} m"),
        ("", f"{env.obstacles} obstacles, ranges {env.rab_range:g} and {env.proximity_range:g} m"),
    ]


def map_(
    path: options.Archive,
    out: Annotated[
        Path | None,
        typer.Option(help="Image file, png, pdf or svg (default: map.png beside the archive)."),
    ] = None,
    files: options.With = None,
) -> None:
    """Draw the filled cells of an archive and their fitness."""
    from qed.archive.stored import open_archive
    from qed.view.maps import draw_map

    archive, _, source = open_archive(path)
    target = out or source.with_name("map.png")
    if target.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise InputError(f"out: the file must end in .png, .pdf or .svg, got {target.name!r}")
    if len(archive) == 0:
        raise InputError(f"{source} is empty: there is nothing to draw yet")
    typer.echo(draw_map(archive, target))
