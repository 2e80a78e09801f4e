"""Emitters: what proposes the children of a search.

emitter     Emitter: ask and tell; Uniform: uniform parents, as in the paper, the default;
            Bandit: parents whose children win cells get more of them
ribs        Ribs: the emitters of pyribs, among them CMA-ME
"""

from typing import Any

from qed.emitters.emitter import Bandit, Emitter, Stream, Uniform
from qed.emitters.ribs import Ribs
from qed.errors import InputError, choice

__all__ = ["Bandit", "Emitter", "Ribs", "Stream", "Uniform"]

NAMED = {"uniform": Uniform, "bandit": Bandit, "cma-me": Ribs}  # with their defaults
VERBS = ("ask", "tell", "state", "restore")


def checked(emitter: Any) -> Emitter:
    """Return an emitter that is given as an object or by its name, or say what is wrong with it."""
    if isinstance(emitter, str):
        made: Emitter = NAMED[choice("emitter", emitter, NAMED)]()
        return made
    missing = [verb for verb in VERBS if not callable(getattr(emitter, verb, None))]
    if missing or isinstance(emitter, type):
        what = "a class: make one of it" if isinstance(emitter, type) else repr(emitter)
        raise InputError(
            f"emitter must be {', '.join(NAMED)}, or an object with the methods "
            f"{', '.join(VERBS)} (qed.emitters.Emitter); got {what}"
            + (f", which has no {' and no '.join(missing)}" if missing else "")
        )
    if not isinstance(getattr(emitter, "full", None), bool):
        raise InputError(
            f"emitter: full of {type(emitter).__name__} must be True (its children are evaluated "
            "fully) or False (those that cannot win may be stopped early)"
        )
    fine: Emitter = emitter
    return fine
