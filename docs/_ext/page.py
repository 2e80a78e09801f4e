"""What tutorials show on their page: films."""

from __future__ import annotations

import html
from pathlib import Path

from IPython.display import HTML


def film(path: str | Path, title: str, height: int = 640) -> HTML:
    """Return a player page (``qed replay --out film.html``) to stand inside this page.

    The film is a part of the page, so that it plays without network and without other files.
    """
    inner = html.escape(Path(path).read_text("utf-8"))
    named = html.escape(title)
    return HTML(
        f'<iframe class="film" title="{named}" style="height:{height}px" loading="lazy" '
        f'srcdoc="{inner}"></iframe>'
    )
