"""The report on an attack as plain values."""

from __future__ import annotations

from datetime import date
from importlib.metadata import version
from typing import Any

from sfumato.intruder.result import Attack

TITLE = "A {} under attack"
AUDIENCE = "internal: it says how well the {} can be attacked; do not publish"


def attack_content(attack: Attack, title: str | None, made: date) -> dict[str, Any]:
    """The report as plain values.

    Parameters
    ----------
    attack
        The attack.
    title
        Its title.
    made
        The day that it bears.
    """
    about = {
        "title": title or TITLE.format(attack.about),
        "date": made.isoformat(),
        "about": "attack",
        "audience": AUDIENCE.format(attack.about),
        "sfumato": version("sfumato"),
    }
    return {"report": about, **attack.to_json()}
