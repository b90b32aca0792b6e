"""The three promises about sensitive values of Tables 13-18: l by frequency, l distinct, and h."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.release.constraints import Constraint, GBalance, HAffiliation, LDiversity
from sfumato.release.persons import PersonTable
from sfumato.studies.kartal_li.encoded import Encoded, Reading
from sfumato.studies.kartal_li.l_by_frequency import LByFrequency
from sfumato.studies.kartal_li.measure import Measured, can_hold, cut, measure

BALANCES = (0.50, 0.67, 0.80)
"""The thresholds g* of Section 8."""


@dataclass(frozen=True)
class Promise:
    """A promise about the sensitive values of each class.

    Attributes
    ----------
    name
        ``l`` (by frequency, as Section 4 has it), ``distinct`` or ``h``.
    said
        What it asks for.
    """

    name: str
    said: str

    def constraint(self, threshold: float) -> Constraint:
        """The constraint of a threshold l or h*."""
        if self.name == "h":
            return HAffiliation(threshold)
        return LByFrequency(threshold) if self.name == "l" else LDiversity(int(threshold))

    def persons(self, reading: Reading) -> PersonTable:
        """The persons as the promise counts their values."""
        return reading.by_record if self.name == "l" else reading.by_person


L = Promise("l", "l-diversity by frequency")
DISTINCT = Promise("distinct", "distinct l-diversity")
H = Promise("h", "h-affiliation")
PROMISES = (L, DISTINCT, H)


def measured(
    encoded: Encoded, reading: Reading, promise: Promise, g: float, threshold: float
) -> Measured | None:
    """Measure the tree's classes with g-balance and a promise; ``None`` where none can keep it.

    Parameters
    ----------
    encoded
        The data set.
    reading
        How its sensitive values read.
    promise
        The promise about them.
    g
        The threshold g*.
    threshold
        The threshold l or h*.
    """
    persons = promise.persons(reading)
    constraints = [GBalance(g), promise.constraint(threshold)]
    if not can_hold(persons, constraints):
        return None
    partition, seconds = cut(persons, constraints)
    return measure(encoded.table, partition, reading, seconds)


def about(encoded: Encoded, reading: Reading) -> str:
    """How a reading counts the sensitive values, and which thresholds nothing can meet."""
    shared = (
        f"{reading.most_shared:.2%} of the {encoded.data.persons} have the most shared value, and "
        f"{reading.most_frequent:.2%} of the records the most frequent one, so that no "
        "partition meets a smaller h\\* (Lemma 1), nor a larger l by frequency than "
        f"{1 / reading.most_frequent:.1f}; such cells are empty."
    )
    if not reading.left_out:
        return f"Every value counts. {shared}"
    common = encoded.data.common or 0
    return (
        f"Values that more than {common:.2%} of the {encoded.data.persons} have "
        f"({reading.left_out} values) are taken as not sensitive. This is this study's reading, "
        "not the paper's: the paper's classes reach a MaxGSAR that low, which by Lemma 1 "
        f"excludes that a more common value counted. Of the others {shared}"
    )
