"""Measures of a review as plain values."""

from __future__ import annotations

from typing import Any

from sfumato.core.measure import Measure
from sfumato.review.decisions.gold import Accuracy
from sfumato.review.settings import Settings


def plain(measure: Measure | None) -> Any:
    """A measure as plain values; ``None`` where it is not defined.

    Parameters
    ----------
    measure
        The measure.
    """
    return None if measure is None else measure.to_json()


def plain_accuracy(each: Accuracy) -> dict[str, Any]:
    """How often a worker is right, as plain values.

    Parameters
    ----------
    each
        How often.
    """
    return {
        "answered": each.answered,
        "right": each.right,
        "false_same": each.false_same,
        "false_different": each.false_different,
        "share": plain(each.share),
    }


def plain_settings(settings: Settings, *, without: set[str]) -> dict[str, Any]:
    """Rules as plain values, in the words of the command line.

    Parameters
    ----------
    settings
        The rules.
    without
        Names of those to leave out.
    """
    plain_ = settings.model_dump(mode="json", exclude=without)
    return plain_ | {"start": settings.start.name.lower()}
