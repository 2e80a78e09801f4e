"""Random streams: whatever is drawn for a purpose of its own has numbers of its own.

A stream is named by words, and its seed is their hash, so two streams with different names share
no number, however alike their names are.  A run's streams are named by its task, its algorithm
and its seed together: runs of two tasks with the same seed are as independent as runs of two
seeds.
"""

from collections.abc import Mapping
from hashlib import blake2b
from operator import index
from typing import Any

STREAMS = 1  # how a run's numbers follow from its settings; archives and run folders tell it
_DOMAIN = b"qed-streams"


def stream(*words: str | int) -> int:
    """Return the seed of the stream with this name, a number in [0, 2**63).

    >>> stream("trials", "flocking", "qed", 1) == stream("trials", "flocking", "qed", 1)
    True
    >>> stream("a", "bc") == stream("ab", "c") or stream(1) == stream("1")
    False
    """
    hashed = blake2b(digest_size=8, person=_DOMAIN)
    for word in words:
        kind, text = ("text", word) if isinstance(word, str) else ("number", str(index(word)))
        content = text.encode()
        # Told with its kind and length, no word can be taken for another, nor for two.
        hashed.update(f"{kind} {len(content)}:".encode() + content)
    return int.from_bytes(hashed.digest()) >> 1


def search_stream(task: str, algorithm: str, seed: int) -> int:
    """Return the seed of a run's search: genomes, parents, variation, environments."""
    return stream("search", task, algorithm, seed)


def trials_stream(task: str, algorithm: str, seed: int) -> int:
    """Return the seed of the trials that a run's evolution judges by: start poses, noise."""
    return stream("trials", task, algorithm, seed)


def evolution_trials(header: Mapping[str, Any]) -> int | None:
    """Return the seed of the trials that evolved an archive; None if its header does not tell.

    Archives of versions without streams were evolved on the trials of the plain seed.
    """
    try:
        made = header["settings"]
        known = str(made["task"]), str(made["algorithm"]), index(made["seed"])
    except (KeyError, TypeError):
        return None
    return trials_stream(*known) if "streams" in header else known[2]
