"""Count lines of code by package: `python tools/count_lines.py [ROOT]`.

Code is a line that is not blank, not a comment alone and not part of a docstring.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def counted(path: Path) -> tuple[int, int, int, int]:
    """Return the lines of a file: code, docstrings, comments, and of the code imports."""
    text = path.read_text()
    tree = ast.parse(text)
    documented: set[int] = set()
    imported: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            documented.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported.update(range(node.lineno, node.end_lineno + 1))
    code = comments = 0
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if number in documented or not stripped:
            continue
        if stripped.startswith("#"):
            comments += 1
        else:
            code += 1
    return code, len(documented), comments, len(imported)


def main(root: Path) -> None:
    """Print a table of packages."""
    table: dict[str, list[int]] = defaultdict(lambda: [0] * 5)
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parts
        package = "/".join(parts[:-1]) or "(top)"
        for name in (package, "all"):
            row = table[name]
            for column, value in enumerate((1, *counted(path))):
                row[column] += value
    print(f"{'package':24}{'files':>7}{'code':>8}{'docs':>8}{'comment':>9}{'import':>8}")
    for name in sorted(table, key=lambda name: (name == "all", name)):
        print("{:24}{:7}{:8}{:8}{:9}{:8}".format(name, *table[name]))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "src/qed")
