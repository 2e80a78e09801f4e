"""What a preparation found, in plain words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qed.recovery.kit.kit import Kit


def told(kit: Kit) -> list[str]:
    """Return what was found when a kit was prepared, a line each."""
    faults, others = (kit.library.get(name) for name in ("faults", "elsewhere"))
    lines = [
        f"{kit.task}: {len(kit.controllers)} controllers on the short list, "
        f"{len(faults) if isinstance(faults, list) else 'no'} faults simulated."
    ]
    if isinstance(others, list) and others:
        lines.append(f"With fewer robots or more obstacles: {len(others)} more.")
    lines += _readable(_validated, kit.findings) or ["Not validated."]
    lines += _plays(kit)
    lines += _readable(_mixed, kit.findings.get("mixed"))
    lines += _readable(_teams, kit.findings.get("teams"))
    return lines + _verdict(kit)


def _readable(words: Callable[[Any], list[str]], found: Any) -> list[str]:
    """Return words, or none if a file does not hold what they need."""
    try:
        return words(found)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return []


def _validated(found: Any) -> list[str]:
    healthy, kept, best = (float(found[name]) for name in ("healthy", "kept", "best"))
    gain, error = float(found["gain"]), float(found["error"])
    verdict = "is worthwhile" if worthwhile(found) else "is hardly worthwhile"
    return [
        f"Fitness on fresh trials of {int(found['faults'])} faults not used for learning:",
        f"  {healthy:.3f}  with healthy robots",
        f"  {kept:.3f}  broken, if the controller is kept",
        *(
            f"  {float(value):.3f}  after a search of {int(key)} trial{'s' * (int(key) > 1)}"
            for key, value in found["found"].items()
        ),
        f"  {best:.3f}  with the best on the short list, found by {int(found['trials']):,} trials",
        f"Searching {verdict} here: {gain:+z.3f} ± {error:.3f} within ten trials.",
    ]


def worthwhile(found: Any) -> bool:
    """Tell whether a search gains anything on faults that were not used for learning."""
    return float(found["gain"]) > 2.0 * float(found["error"])


def _plays(kit: Kit) -> list[str]:
    plays = [play for play in kit.playbook.plays.values() if play.fault != "NONE"]
    if not plays:
        return []
    better = ", ".join(play.fault for play in plays if play.row != kit.present)
    return [
        "Playbook, where all robots have the same fault: another controller helps for",
        f"  {better or 'none'}.",
    ]


def _mixed(found: Any) -> list[str]:
    kept, best, searched, playbook = (
        float(found[name]) for name in ("kept", "best", "found", "playbook")
    )
    return [
        f"In {int(found['faults'])} of these swarms robots have different faults:",
        f"  {kept:.3f}  if the controller is kept",
        f"  {searched:.3f}  with one controller for all, after a search of ten trials",
        f"  {best:.3f}  with the best controller for all",
        f"  {playbook:.3f}  with the playbook, if each robot knows its fault; no trial",
    ]


def _teams(found: Any) -> list[str]:
    best, team, playbook = (float(found[name]) for name in ("best", "team", "playbook"))
    gain, error = float(found["gain"]), float(found["error"])
    return [
        f"In {int(found['faults'])} of them a team was searched for, one controller per fault:",
        f"  {best:.3f}  with the best controller for all",
        f"  {playbook:.3f}  with the playbook",
        f"  {team:.3f}  with the team, found by {int(found['trials']):,} trials; "
        f"gain {gain:+z.3f} ± {error:.3f}",
    ]


def _verdict(kit: Kit) -> list[str]:
    """Return whether the playbook is to be trusted."""
    if not kit.playbook.plays:
        return []
    if kit.playbook.mixed is None:
        return ["The playbook was not validated where faults differ: do not use it there."]
    gain, error = kit.playbook.mixed
    apart = f"{gain:+z.3f} ± {error:.3f} against the best"
    if kit.playbook.trusted:
        return [f"The playbook can be trusted here: {apart}."]
    return [f"Do not use the playbook where faults differ: {apart}."]
