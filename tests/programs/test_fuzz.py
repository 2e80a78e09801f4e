"""Names and texts from files stay words in whatever is written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import qed
from qed.programs.contract import contract_of, readme, text_of
from qed.programs.export import LANGUAGES
from qed.programs.network import networks

NASTY = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(['"""', "'", "\\", "\n", "\r", "*/", "/*", "]]>", "</node>", "#", "{x}",
                         "`", "$(", "|", "\u2028", "import os", "${0}", "\x00", "onevent timer0"])
    ).map("".join),
)  # fmt: skip
CONTROLLER = qed.Controller([(0, 16, 1.0), (9, 18, 1.0), (18, 17, 1.0)], [0.1, 0.2, 0.3])
NETS = networks([CONTROLLER])


def written(to: str, name: str) -> tuple[dict[str, str], str, str]:
    """Return a language's files, the contract and the page for people."""
    contract = contract_of(to, NETS, (0,), qed.Environment(robots=1), [name])
    language = LANGUAGES[to]
    page = readme(contract, language.how_to, language.program)
    return language.files(NETS, contract), text_of(contract), page


@pytest.mark.parametrize("to", LANGUAGES)
@given(name=NASTY)
def test_a_name_changes_nothing_but_words(to, name):
    files, contract, page = written(to, name)
    plain_files, _, plain_page = written(to, "x")
    assert files.keys() == plain_files.keys()
    for file, text in files.items():
        lines, plain_lines = text.split("\n"), plain_files[file].split("\n")
        changed = [one for one, other in zip(lines, plain_lines, strict=True) if one != other]
        assert text.isascii()
        if to == "aseba":  # a comment names the controller
            changed = [line for line in changed if "# " not in line]
        assert not changed
    assert json.loads(contract)["controllers"]["names"][0].isprintable()
    assert page.split("\n")[1:] == plain_page.split("\n")[1:]
    assert page.split("\n")[0].isascii()
