"""A measure held against a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sfumato.core.measure import is_estimate, verdict
from sfumato.risk import render

TOLERANCE = 1e-9
"""Relative allowance of comparisons: 1/5 meets 0.2."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a measure is beside what it was to be.

    Attributes
    ----------
    preset, source, evidence
        Name of the preset, who states it, and where that is known from.
    measure
        Name of the measure.
    attribute
        The sensitive attribute that it speaks about, or an empty text.
    bound
        ``at most`` or ``at least``.
    scale
        ``share``, ``count`` or ``number``.
    limit
        The threshold.
    above
        For records at risk: the risk above which they are.
    value
        What was measured or estimated.
    low, high
        The interval of an estimate.
    estimator
        Name of the estimator; ``None`` where the value is exact.
    """

    preset: str
    source: str
    evidence: str
    measure: str
    attribute: str
    bound: str
    scale: str
    limit: float
    above: float | None
    value: float
    low: float | None = None
    high: float | None = None
    estimator: str | None = None

    @property
    def met(self) -> bool:
        """Whether the value keeps the threshold."""
        return self._keeps(self.value)

    @property
    def promised(self) -> bool:
        """Whether the value was counted, not estimated."""
        return not is_estimate(self.estimator)

    @property
    def met_over_interval(self) -> bool | None:
        """Whether the worse end of the interval keeps it; ``None`` without an interval."""
        worst = self.low if self.bound == "at least" else self.high
        return None if worst is None else self._keeps(worst)

    @property
    def label(self) -> str:
        """The measure with its attribute, as in a table."""
        return f"{self.measure} [{self.attribute}]" if self.attribute else self.measure

    def _keeps(self, value: float) -> bool:
        allowance = TOLERANCE * abs(self.limit)
        if self.bound == "at least":
            return value >= self.limit - allowance
        return value <= self.limit + allowance

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        attribute = {"attribute": self.attribute} if self.attribute else {}
        above = {} if self.above is None else {"above": self.above}
        return {
            "preset": self.preset,
            "measure": self.measure,
            **attribute,
            "bound": self.bound,
            "limit": self.limit,
            **above,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "estimator": self.estimator,
            "met": self.met,
            "promised": self.promised,
            "met_over_interval": self.met_over_interval,
            "source": self.source,
            "evidence": self.evidence,
        }

    def row(self) -> render.Row:
        """The line of a table."""
        said = verdict(self.met, self.promised)
        if self.met and self.met_over_interval is False:
            said += "; not over the interval"
        ends = ""
        if self.low is not None and self.high is not None and self.low < self.high:
            ends = f" ({self.printed(self.low)} to {self.printed(self.high)})"
        above = "" if self.above is None else f" (risk above {self.printed(self.above)})"
        meaning = (
            f"{self.label}{above} {self.bound} {self.printed(self.limit)}: "
            f"is {self.printed(self.value)}{ends}"
        )
        return render.Row(self.preset, said, meaning)

    def printed(self, value: float) -> str:
        """A value of this measure as people read it."""
        return printed(value, self.scale)


def printed(value: float, scale: str) -> str:
    """A number of a scale as people read it."""
    if scale == "share":
        return f"{100 * value:.4g} %"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"
