"""Thresholds of measures: presets with their sources, a custodian's own, and what keeps them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from numbers import Real
from pathlib import Path
from typing import Any

from sfumato.core.declaration import fields_of
from sfumato.core.errors import InputError, typed
from sfumato.core.measure import is_estimate, verdict
from sfumato.core.number_text import percentage, share_text
from sfumato.core.toml_text import parse_toml, read_text
from sfumato.risk import measure_table

_SHARES = (
    "prosecutor",
    "journalist",
    "marketer",
    "average_risk",
    "records_at_risk",
    "max_gidr",
    "avg_gidr",
    "exposed_persons",
    "max_count_risk",
    "avg_count_risk",
)
_HOUSEHOLD = (
    "max_household_risk",
    "avg_household_risk",
    "households_at_risk",
    "max_composition_risk",
    "avg_composition_risk",
)
_COUNTS = ("k", "pid_k", "count_k")
POPULATION_COUNTERPARTS = {
    "prosecutor": "journalist",
    "average_risk": "population_average_risk",
    "records_at_risk": "population_records_at_risk",
}
"""The same question where the file is a sample: both are held where a population is known."""
TOLERANCE = 1e-9
"""Relative allowance of comparisons: 1/5 meets 0.2."""
AT_RISK = "records_at_risk"
OWN = "the custodian"
"""Source and evidence of thresholds that do not state theirs."""
_FIELDS = {"name", "source", "says", "evidence", "thresholds"}
_LIMITS = {"measure", "limit", "above"}


class Bound(StrEnum):
    """The side of a threshold on which a measure has to lie."""

    AT_MOST = "at most"
    AT_LEAST = "at least"


class Scale(StrEnum):
    """What a measure counts in."""

    SHARE = "share"
    COUNT = "count"
    NUMBER = "number"


class Part(StrEnum):
    """The part of an assessment that holds a measure."""

    FILE = "file"
    SENSITIVE = "sensitive"
    HOUSEHOLD = "household"
    PRESENCE = "presence"
    POPULATION = "population"


@dataclass(frozen=True, slots=True)
class Kind:
    """How a measure, which is at some part of a file, is held against a threshold."""

    bound: Bound
    scale: Scale
    part: Part = Part.FILE


KINDS: dict[str, Kind] = {
    **dict.fromkeys(_SHARES, Kind(Bound.AT_MOST, Scale.SHARE)),
    **dict.fromkeys(_COUNTS, Kind(Bound.AT_LEAST, Scale.COUNT)),
    "g_balance": Kind(Bound.AT_LEAST, Scale.NUMBER),
    "sample_uniques": Kind(Bound.AT_MOST, Scale.COUNT),
    "h_affiliation": Kind(Bound.AT_MOST, Scale.SHARE, Part.SENSITIVE),
    "max_gsar": Kind(Bound.AT_MOST, Scale.SHARE, Part.SENSITIVE),
    "avg_gsar": Kind(Bound.AT_MOST, Scale.SHARE, Part.SENSITIVE),
    "l_distinct": Kind(Bound.AT_LEAST, Scale.COUNT, Part.SENSITIVE),
    "l_entropy": Kind(Bound.AT_LEAST, Scale.NUMBER, Part.SENSITIVE),
    "t_closeness": Kind(Bound.AT_MOST, Scale.NUMBER, Part.SENSITIVE),
    "t_closeness_ordered": Kind(Bound.AT_MOST, Scale.NUMBER, Part.SENSITIVE),
    **dict.fromkeys(_HOUSEHOLD, Kind(Bound.AT_MOST, Scale.SHARE, Part.HOUSEHOLD)),
    "household_k": Kind(Bound.AT_LEAST, Scale.COUNT, Part.HOUSEHOLD),
    "presence_high": Kind(Bound.AT_MOST, Scale.SHARE, Part.PRESENCE),
    "population_average_risk": Kind(Bound.AT_MOST, Scale.SHARE, Part.POPULATION),
    "population_records_at_risk": Kind(Bound.AT_MOST, Scale.SHARE, Part.POPULATION),
    "population_uniques": Kind(Bound.AT_MOST, Scale.SHARE, Part.POPULATION),
    "expected_uniques": Kind(Bound.AT_MOST, Scale.COUNT, Part.POPULATION),
    "k_map": Kind(Bound.AT_LEAST, Scale.COUNT, Part.POPULATION),
    "expected_matches": Kind(Bound.AT_MOST, Scale.COUNT, Part.POPULATION),
}
"""By the names of the code, the docs, the command line and the report."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a measure is beside what it was to be.

    Attributes
    ----------
    preset, source, evidence
        Name of the preset, who states it, and where that is known from.
    attribute
        The sensitive attribute that it speaks about, or an empty text.
    bound
        ``at most`` or ``at least``.
    scale
        ``share``, ``count`` or ``number``.
    above
        For records at risk: the risk above which they are.
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
        # The end that is against the custodian: a limit at least is broken at the low one.
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
        measured = "value low high estimator met promised met_over_interval source evidence"
        return {
            **fields_of(self, "preset measure"),
            **attribute,
            **fields_of(self, "bound limit"),
            **above,
            **fields_of(self, measured),
        }

    def row(self) -> measure_table.Row:
        """The line of a table."""
        said = verdict(self.met, self.promised)
        if self.met and self.met_over_interval is False:
            said += "; not over the interval"
        ends = ""
        if self.low is not None and self.high is not None and self.low < self.high:
            ends = f" ({self._said(self.low)} to {self._said(self.high)})"
        above = "" if self.above is None else f" (risk above {self.printed(self.above)})"
        limit = f"{self.bound} {self.printed(self.limit)}"
        meaning = f"{self.label}{above}: {self._said(self.value)}{ends}, {limit}"
        return measure_table.Row(self.preset, said, meaning)

    def _said(self, value: float) -> str:
        """A value with as many digits as show its side of the limit."""
        return share_text(value, self.limit) if self.scale == "share" else self.printed(value)

    def printed(self, value: float) -> str:
        """A value of this measure as people read it."""
        return printed(value, self.scale)


def printed(value: float, scale: str) -> str:
    """A number of a scale as people read it."""
    if scale == "share":
        return percentage(value, 2)
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


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
    # True counts as 1 to Python.
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 <= float(value) <= most or float(value) == float("inf"):  # type: ignore[arg-type]
        raise InputError(subject, rule, accepted=accepted)


BUILT_IN = Path(__file__).with_name("presets.toml")


def thresholds(
    *names: str | Preset, file: str | os.PathLike[str] | None = None
) -> tuple[Preset, ...]:
    """Presets of thresholds, each with its source and evidence.

    Parameters
    ----------
    names
        Names of built-in presets, or presets of one's own; without names and file, all that are
        built in.
    file
        A TOML file with the custodian's own; all of it is taken.

    Raises
    ------
    InputError
        If there is no preset of a name, or the file breaks a rule.

    Examples
    --------
    >>> [preset] = thresholds("cms")
    >>> preset.thresholds
    (Threshold(measure='pid_k', limit=11, above=None),)
    """
    known = _built_in()
    if not names and file is None:
        return tuple(known.values())
    found = {each.name: each for each in _named(names, known)}
    own = [] if file is None else _read(Path(file))
    for each in own:
        # A file cannot redefine what a published source says under its name.
        if each.name in known or each.name in found:
            raise InputError(
                f"preset '{each.name}' of {Path(file or '').name}",
                "must have a name of its own",
                found="the name of another preset",
            )
        found[each.name] = each
    return tuple(found.values())


def _named(names: Iterable[str | Preset], known: dict[str, Preset]) -> Iterable[Preset]:
    for name in names:
        if isinstance(name, Preset):
            yield name
        elif name in known:
            yield known[name]
        else:
            meant = [each for each in known if str(name) in each]
            meant = meant or get_close_matches(str(name), known)
            raise InputError(
                "the name of a preset",
                f"must be one of the {len(known)} that are built in",
                accepted=", ".join(meant) or "for example ons",
                advice=typed("sfumato.thresholds() lists them", "'sfumato presets' lists them"),
            )


@cache
def _built_in() -> dict[str, Preset]:
    return {each.name: each for each in _read(BUILT_IN)}


def _read(file: Path) -> list[Preset]:
    subject = f"thresholds file {file.name}"
    fields = parse_toml(read_text(file, subject), subject)
    entries = fields.get("preset")
    if not isinstance(entries, list) or not entries or set(fields) != {"preset"}:
        raise InputError(subject, "must hold presets and nothing else", accepted="[[preset]]")
    presets = [_preset(f"preset {at} of {file.name}", entry) for at, entry in enumerate(entries, 1)]
    if len({preset.name for preset in presets}) < len(presets):
        raise InputError(subject, "must give every preset a name of its own")
    return presets


def _preset(subject: str, fields: Any) -> Preset:
    if not isinstance(fields, dict) or not set(fields) <= _FIELDS:
        raise InputError(subject, "must have known fields", accepted=", ".join(sorted(_FIELDS)))
    given = {name: value for name, value in fields.items() if name != "thresholds"}
    if not all(isinstance(value, str) and value.strip() for value in given.values()):
        raise InputError(subject, "must have text in its fields", accepted='name = "..."')
    if "name" not in given:
        raise InputError(subject, "must have a name")
    limits = fields.get("thresholds", [])
    if not isinstance(limits, list):
        raise InputError(subject, "must have a list of thresholds")
    return Preset(**given, thresholds=tuple(_threshold(subject, limit) for limit in limits))


def _threshold(subject: str, fields: Any) -> Threshold:
    if not isinstance(fields, dict) or not {"measure", "limit"} <= set(fields) <= _LIMITS:
        raise InputError(
            subject,
            "must have thresholds with a measure and a limit",
            accepted='{ measure = "pid_k", limit = 11 }',
        )
    try:
        return Threshold(**fields)
    except InputError as error:
        raise InputError(
            f"{subject}: {error.subject}", error.rule, accepted=error.accepted
        ) from None
    except TypeError:
        raise InputError(subject, "must name its measures by text") from None
