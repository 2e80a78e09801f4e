"""What the commands of tests find done: libraries imported, the simulator's machine code loaded.

Imported by the server that ``commands`` forks processes from.
"""

import gc

import typer
from typer.testing import CliRunner

import qed.archive
import qed.evolution.evolve
import qed.recovery.kit.prepare
import qed.study.report
import qed.study.study
import qed.view.maps
import qed.view.replay
import qed.view.story_stage  # noqa: F401
from qed import speed

# Not qed.cli, which looks at NO_COLOR when it is imported: any command makes Typer ready.
some = typer.Typer()
some.command()(lambda: None)
CliRunner().invoke(some, [])
speed.warm_up()
gc.freeze()  # what all processes share is no garbage of any of them
