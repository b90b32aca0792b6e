"""The disclosure report as one HTML page."""

from __future__ import annotations

from importlib.metadata import version

from sfumato.core.measure import Measure
from sfumato.reports.linkage.environment import environment
from sfumato.reports.review.disclosure import Disclosure


def draw_disclosure(disclosure: Disclosure) -> str:
    """The report, self-contained and printable.

    Parameters
    ----------
    disclosure
        Its numbers.
    """
    made = environment()
    made.filters |= {"kapr": _kapr, "measure": _measure}
    return made.get_template("review.html").render(
        d=disclosure,
        version=version("sfumato"),
        refusals=sum(sum(each.refusals.values()) for each in disclosure.people),
        below_k=sum(each.below_k for each in disclosure.people),
        most=max((each.kapr for each in disclosure.people), default=0.0),
    )


def _kapr(value: float | None) -> str:
    return "no limit" if value is None else f"{value:.5f}"


def _measure(measure: Measure | None) -> str:
    if measure is None:
        return "not defined"
    if measure.low is None or measure.high is None:
        return f"{measure.value:.2f}"
    return f"{measure.value:.2f} ({measure.low:.2f} to {measure.high:.2f})"
