"""What a preparation found, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qed.recovery.kit.kit import Kit


def told(kit: Kit) -> list[str]:
    """Return what was found when a kit was prepared, a line each."""
    found = kit.findings
    lines = [
        f"{kit.task}: {len(kit.controllers)} controllers on the short list, learned from "
        f"{_number(len(kit.library.get('faults', ())))} simulated faults."
    ]
    try:
        lines += _validated(found)
    except (KeyError, TypeError, ValueError):
        lines.append("Nobody validated it.")
    return lines + _plays(kit)


def _validated(found: Any) -> list[str]:
    healthy, kept, best = (float(found[name]) for name in ("healthy", "kept", "best"))
    gain, error = float(found["gain"]), float(found["error"])
    after = ", ".join(
        f"{float(value):.3f} after {int(key)}" for key, value in found["found"].items()
    )
    lines = [
        f"Fitness with healthy robots: {healthy:.3f}. On fresh trials of {int(found['faults'])} "
        "faults that took no part:",
        f"  keeping the controller {kept:.3f}; the best on the list {best:.3f};",
        f"  searching, in trials: {after}.",
    ]
    if worthwhile(found):
        lines.append(
            f"Searching is worthwhile here: it gains {gain:.3f} +- {error:.3f} of fitness within "
            "ten trials."
        )
    else:
        lines.append(
            f"Searching is hardly worthwhile here: it gains {gain:.3f} +- {error:.3f} of fitness "
            "within ten trials."
        )
    return lines


def worthwhile(found: Any) -> bool:
    """Tell whether a search gains anything on faults that took no part."""
    return float(found["gain"]) > 2.0 * float(found["error"])


def _plays(kit: Kit) -> list[str]:
    plays = [play for play in kit.playbook.plays.values() if play.fault != "NONE"]
    if not plays:
        return []
    better = [play for play in plays if play.gain > 2.0 * play.error]
    lines = [
        f"Playbook: where all robots have the same fault, it helps in {len(better)} of "
        f"{len(plays)} faults"
        + (f" ({', '.join(play.fault for play in better)})." if better else ".")
    ]
    if kit.playbook.mixed is None:
        lines.append(
            "The playbook was not validated in swarms of different faults: do not trust it there."
        )
    else:
        gain, error = kit.playbook.mixed
        verdict = "it helps" if kit.playbook.trusted else "it does not help, leave it"
        lines.append(
            f"In swarms of different faults it gains {gain:+.3f} +- {error:.3f}: {verdict}."
        )
    return lines


def _number(value: int) -> str:
    return f"{value:,}"
