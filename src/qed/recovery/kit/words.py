"""What a preparation found, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qed.recovery.kit.kit import Kit


def told(kit: Kit) -> list[str]:
    """Return what was found when a kit was prepared, a line each."""
    faults = kit.library.get("faults")
    lines = [
        f"{kit.task}: {len(kit.controllers)} controllers on the short list, "
        f"{len(faults) if isinstance(faults, list) else 'no'} faults simulated."
    ]
    try:
        lines += _validated(kit.findings)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        lines.append("Nobody validated it.")
    return lines + _plays(kit)


def _validated(found: Any) -> list[str]:
    healthy, kept, best = (float(found[name]) for name in ("healthy", "kept", "best"))
    gain, error = float(found["gain"]), float(found["error"])
    verdict = "is worthwhile" if worthwhile(found) else "is hardly worthwhile"
    return [
        f"Fitness on fresh trials of {int(found['faults'])} faults that took no part:",
        f"  {healthy:.3f}  with healthy robots",
        f"  {kept:.3f}  broken, if the controller is kept",
        *(
            f"  {float(value):.3f}  after a search of {int(key)} trial{'s' * (int(key) > 1)}"
            for key, value in found["found"].items()
        ),
        f"  {best:.3f}  with the best on the list, found by {int(found['trials']):,} trials",
        f"Searching {verdict} here: it gains {gain:+.3f} ± {error:.3f} within ten trials.",
    ]


def worthwhile(found: Any) -> bool:
    """Tell whether a search gains anything on faults that took no part."""
    return float(found["gain"]) > 2.0 * float(found["error"])


def _plays(kit: Kit) -> list[str]:
    plays = [play for play in kit.playbook.plays.values() if play.fault != "NONE"]
    if not plays:
        return []
    better = ", ".join(play.fault for play in plays if play.row != kit.present)
    lines = [
        "Playbook, where all robots have the same fault: another controller helps for",
        f"  {better or 'none'}.",
    ]
    if kit.playbook.mixed is None:
        return [
            *lines,
            "It was not validated in swarms of different faults: do not trust it there.",
        ]
    gain, error = kit.playbook.mixed
    verdict = "it helps" if kit.playbook.trusted else "leave it"
    return [*lines, f"In swarms of different faults it gains {gain:+.3f} ± {error:.3f}: {verdict}."]
