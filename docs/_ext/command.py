"""``{command}``: the reference of the command ``qed``, read from the command itself."""

from __future__ import annotations

import re
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from qed.cli import app

NOTE = re.compile(r"\s*\[(?P<note>default: .*|required)\]$")


class Command(SphinxDirective):
    """A section for each verb: what it does, how it is called, its arguments and options."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        group: Any = typer.main.get_command(app)
        return [self.section(name, verb) for name, verb in group.commands.items()]

    def section(self, name: str, verb: Any) -> nodes.section:
        """Return the section of a verb."""
        title = f"qed {name}"
        context = verb.make_context(name, [], resilient_parsing=True)
        section = nodes.section(ids=[nodes.make_id(title)], names=[title])
        section += nodes.title("", "", nodes.literal("", title))
        for text in (verb.help or "").split("\n\n"):
            section += nodes.paragraph("", " ".join(text.split()))
        arguments = [one for one in verb.params if one.param_type_name == "argument"]
        called = " ".join([title, "[OPTIONS]", *map(usage, arguments)])
        section += nodes.literal_block(called, called, language="text")
        options = nodes.definition_list(classes=["command"])
        for one in verb.params:
            if (record := one.get_help_record(context)) is not None:
                name = usage(one) if one in arguments else record[0].replace("list[str]", "str")
                options += item(name, meaning(record[1]))
        section += options
        self.state.document.note_explicit_target(section)
        return section


def usage(argument: Any) -> str:
    """Return how an argument stands in a call."""
    name = (argument.metavar or argument.name.upper()).strip("[].")
    more = " ..." if argument.nargs == -1 else ""
    return f"{name}{more}" if argument.required else f"[{name}{more}]"


def meaning(told: str) -> str:
    """Return what the help says of an option, and its default as a sentence."""
    if not (found := NOTE.search(told)):
        return told
    before = told[: found.start()].rstrip()
    return f"{before}{'' if before.endswith('.') else '.'} {found['note'].capitalize()}."


def item(name: str, text: str) -> nodes.definition_list_item:
    """Return an argument or option with its meaning."""
    term = nodes.term("", "", nodes.literal("", name))
    return nodes.definition_list_item("", term, nodes.definition("", nodes.paragraph("", text)))


def setup(sphinx: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of the directive."""
    sphinx.add_directive("command", Command)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
