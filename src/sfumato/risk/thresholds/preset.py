"""A threshold, and the named set of thresholds that a source states."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from sfumato.core.errors import InputError
from sfumato.risk.held import printed
from sfumato.risk.thresholds.kinds import KINDS, Kind, Scale

AT_RISK = "records_at_risk"
OWN = "the custodian"
"""Source and evidence of thresholds that do not state theirs."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit on one measure.

    Parameters
    ----------
    measure
        Name of the measure, as in the JSON of ``assess``.
    limit
        What it may be at most, or has to be at least (``pid_k``, ``l_distinct``, ...).
    above
        For ``records_at_risk``: risk above which a record is at risk; that of the assessment
        where it is not given.

    Raises
    ------
    InputError
        If there is no such measure, or a number is out of its range.
    """

    measure: str
    limit: float
    above: float | None = None

    def __post_init__(self) -> None:
        if self.measure not in KINDS:
            raise InputError(
                "a threshold's measure", "must be the name of a measure", accepted=", ".join(KINDS)
            )
        _check_number(f"the limit of {self.measure}", self.limit, self.kind.scale)
        if self.above is None:
            return
        if self.measure != AT_RISK:
            raise InputError(
                f"a threshold of {self.measure}",
                "must not have 'above'",
                accepted=f"'above' beside {AT_RISK}",
            )
        _check_number(f"'above' of {AT_RISK}", self.above, Scale.SHARE)

    @property
    def kind(self) -> Kind:
        """How the measure is held against it."""
        return KINDS[self.measure]

    def words(self) -> str:
        """The limit as people read it: ``pid_k at least 11``."""
        above = "" if self.above is None else f" (risk above {printed(self.above, Scale.SHARE)})"
        limit = printed(self.limit, self.kind.scale)
        return f"{self.measure}{above} {self.kind.bound} {limit}"


@dataclass(frozen=True, slots=True)
class Preset:
    """What one source states, by a name.

    Parameters
    ----------
    name
        Its name on the command line.
    thresholds
        Its limits; none where the source states no number.
    source
        Who states them.
    evidence
        Where that is known from: ``primary``, ``secondary sources``, a paper, ...
    says
        What the source says, in words.
    """

    name: str
    thresholds: tuple[Threshold, ...] = ()
    source: str = OWN
    evidence: str = OWN
    says: str = ""


def _check_number(subject: str, value: object, scale: Scale) -> None:
    """Refuse what is no number in the range of a scale."""
    most = 1.0 if scale is Scale.SHARE else float("inf")
    rule = "must be a share" if scale is Scale.SHARE else "must be a number"
    accepted = "a number in [0, 1]" if scale is Scale.SHARE else "a number of 0 or more"
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 <= float(value) <= most or float(value) == float("inf"):  # type: ignore[arg-type]
        raise InputError(subject, rule, accepted=accepted)
