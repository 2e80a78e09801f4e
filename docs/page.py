"""What executed pages share: measured results, the look of figures, tables.

``conf.py`` has the rest: a folder of its own for each page, and the command ``qed``.
"""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from cycler import cycler
from IPython.display import HTML

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results"
# Okabe and Ito's colours, which the colour-blind tell apart, and a grey.  In figures they are "C0"
# to "C6": blue, orange, green, pink, sky, red, grey.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c")


def begin() -> None:
    """Make figures of all pages look alike, and let commands print without colours."""
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):  # which Jupyter sets
        os.environ.pop(name, None)
    plt.rcParams.update(
        {
            "figure.dpi": 200,
            "figure.facecolor": "white",
            "savefig.facecolor": "white",
            "font.size": 11,
            "axes.titlesize": 11,
            "axes.prop_cycle": cycler(color=COLOURS),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "legend.frameon": False,
            "figure.constrained_layout.use": True,
        }
    )


def table(frame: pd.DataFrame) -> HTML:
    """Return a table as the site shows its others."""
    text = frame.to_html(index=False, border=0, classes="docutils align-default", justify="left")
    return HTML(text.replace("<table", '<div class="table-wrapper container"><table', 1) + "</div>")
