"""What came of one attack, beside what was claimed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sfumato.core.measure import Measure


@dataclass(frozen=True)
class Outcome:
    """What came of one attack.

    Attributes
    ----------
    attack
        Its name: ``exact_free``, ``multi_record``, ``inference:<column>``, ...
    what
        One sentence: what the intruder held and did.
    attempts, right
        Number of guesses, and of right ones.
    success
        ``right / attempts`` with an interval of the chance behind it that fits the attack; the
        estimator names the interval.
    baseline
        Success of random guessing with the same number of attempts.
    control
        Of guesses of persons, the share that names somebody outside the release; of guesses of
        values, how often the same guess is right for those outside. ``None`` where there are none
        or the targets are known to be in it.
    predicted
        What was claimed, under the name of the measure; ``None`` where nothing was.
    allowed
        Largest success in keeping with the prediction: the 97.5 % end of the distribution of
        this attack's hits, divided by the attempts, if the prediction were true.
    broken
        Whether the prediction counts as broken: judged alone where success is above ``allowed``,
        as one of the attacks of a run by `judge_run`.
    p_value
        The probability of so many right guesses or more if the prediction were true; ``None``
        where there is none.
    exposed
        Right guesses of which the intruder was surer than the threshold.
    notes
        What the reader should know; publishable.
    """

    attack: str
    what: str
    attempts: int
    right: int
    success: Measure
    baseline: Measure
    control: Measure | None = None
    predicted: Measure | None = None
    allowed: float | None = None
    broken: bool = False
    p_value: float | None = None
    exposed: int = 0
    notes: tuple[str, ...] = ()

    @property
    def above(self) -> bool:
        """Whether success is above ``allowed``; of many attacks one may be by chance."""
        return self.allowed is not None and self.success.value > self.allowed

    def to_json(self) -> dict[str, Any]:
        """Plain values; a measure is a number where it is exact."""
        return {
            "attack": self.attack,
            "what": self.what,
            "attempts": self.attempts,
            "right": self.right,
            "success": self.success.to_json(),
            "baseline": self.baseline.to_json(),
            "control": None if self.control is None else self.control.to_json(),
            "predicted": None if self.predicted is None else _named(self.predicted),
            "allowed": self.allowed,
            "broken": self.broken,
            "p_value": self.p_value,
            "exposed": self.exposed,
            "notes": list(self.notes),
        }


def _named(measure: Measure) -> dict[str, Any]:
    return {
        "measure": measure.name,
        "value": measure.value,
        "low": measure.low,
        "high": measure.high,
        "estimator": measure.estimator,
    }
