"""Names of QED in the font of code become links to the Python reference.

``qed.recover`` or ``Kit.search`` in a page or a docstring needs no markup of its own.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import qed

OWNERS = "|".join(qed.__all__)
NAME = re.compile(rf"(qed\.|(?=({OWNERS})\.))(?P<name>[A-Za-z_][\w.]*)(\(.*\))?")


class Linked(SphinxTransform):
    """Turn literals that name a public object into references, which are tried quietly."""

    default_priority = 800

    def apply(self, **_: Any) -> None:
        """Wrap each literal that looks like a name of QED."""
        for literal in list(self.document.findall(nodes.literal)):
            text = literal.astext()
            if isinstance(literal.parent, addnodes.pending_xref | nodes.reference | nodes.title):
                continue
            if not (match := NAME.fullmatch(text)):
                continue
            link = addnodes.pending_xref(
                "",
                refdomain="py",
                reftype="obj",
                reftarget=f"qed.{match['name']}",
                refdoc=self.env.docname,
                attempt=True,
            )
            literal.replace_self(link)
            link += literal


def quiet(_app: Sphinx, _env: Any, node: addnodes.pending_xref, _content: Any) -> Any:
    """Leave what has no page as it is, without a warning."""
    return node.children[0] if node.get("attempt") else None


def setup(sphinx: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of the transform."""
    sphinx.add_transform(Linked)
    sphinx.connect("missing-reference", quiet)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
