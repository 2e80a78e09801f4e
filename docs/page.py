"""What the executed pages share: a folder of their own, the command, and the look of figures."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import HTML

ROOT = Path(__file__).resolve().parents[1]  # of the repository
RESULTS = ROOT / "benchmarks" / "results"

# Okabe and Ito's colours, which the colour-blind tell apart.
BLUE, ORANGE, GREEN, PINK, SKY, RED, GREY = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c",
)  # fmt: skip


def begin() -> None:
    """Work in a new folder, find ``qed`` where this Python is, and draw alike on all pages."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    os.environ.update(NO_COLOR="1", COLUMNS="80")
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):  # which Jupyter sets for commands
        os.environ.pop(name, None)
    os.chdir(tempfile.mkdtemp(prefix="qed-page-"))
    plt.rcParams.update(
        {
            "figure.dpi": 200,
            "figure.facecolor": "white",
            "savefig.facecolor": "white",
            "font.size": 11,
            "axes.titlesize": 11,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "legend.frameon": False,
            "figure.constrained_layout.use": True,
        }
    )


def table(frame: pd.DataFrame) -> HTML:
    """Return a table as the site shows its others."""
    text = frame.to_html(index=False, border=0, classes="docutils align-default", justify="left")
    return HTML(text.replace("<table", '<div class="table-wrapper"><table', 1) + "</div>")
