"""The command ``qed``: a file for each verb; ``map`` is in that of ``info``."""

import os
import sys
from collections.abc import Callable

import typer

from qed import __version__
from qed.cli.bench import bench
from qed.cli.evolve import evolve
from qed.cli.explore import explore
from qed.cli.export import export
from qed.cli.info import info, map_
from qed.cli.prepare import prepare
from qed.cli.recover import recover
from qed.cli.replay import replay
from qed.cli.study import study
from qed.errors import InputError, StoppedError

app = typer.Typer(
    name="qed",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain help and errors, without any escape codes, for those who ask for no colours.
    rich_markup_mode=None if os.environ.get("NO_COLOR") else "rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"qed {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Evolve controllers for robot swarms, break robots, recover, and show how well that works."""


VERBS: dict[str, Callable[..., None]] = {
    "study": study,
    "evolve": evolve,
    "recover": recover,
    "prepare": prepare,
    "replay": replay,
    "explore": explore,
    "export": export,
    "info": info,
    "map": map_,
    "bench": bench,
}
for name, verb in VERBS.items():
    app.command(name)(verb)


def main() -> None:
    """Run the command line; exit with 2 if it was used wrongly, 1 if something failed."""
    try:
        app()
    except InputError as error:
        typer.echo(f"qed: {error}", err=True)
        sys.exit(2)
    except StoppedError as error:
        typer.echo(f"qed: {error}", err=True)
        sys.exit(1)
