"""What tutorials show on their page: films that are a part of it, and what commands print.

A film inside the page plays without network and without other files.
"""

from __future__ import annotations

import base64
import html
import os
import subprocess
from pathlib import Path

from IPython.display import HTML

# A film begins by itself, but not for those who ask for less motion.
PLAY = (
    "<script>matchMedia('(prefers-reduced-motion: reduce)').matches || "
    "document.currentScript.previousElementSibling.play().catch(() => {})</script>"
)


def film(path: str | Path, title: str) -> HTML:
    """Return a film by ``qed replay --out``, an mp4 or a page of its own, to be shown here."""
    file, named = Path(path), html.escape(title)
    if file.suffix == ".mp4":
        data = base64.b64encode(file.read_bytes()).decode()
        return HTML(
            f'<video class="film" title="{named}" controls muted loop playsinline '
            f'src="data:video/mp4;base64,{data}"></video>{PLAY}'
        )
    inner = html.escape(file.read_text("utf-8"))
    return HTML(f'<div class="film"><iframe title="{named}" srcdoc="{inner}"></iframe></div>')


def typed(command: str) -> None:
    """Run a command, and print it with what it prints, as a terminal would."""
    plain = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    done = subprocess.run(
        ["bash", "-c", command], env=plain, text=True, check=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    print(f"$ {command}\n{done.stdout.rstrip()}")
