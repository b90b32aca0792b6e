"""The measures of an assessment, checked against presets of thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sfumato.core.errors import InputError, typed
from sfumato.core.measure import Measure
from sfumato.risk import risk_thresholds
from sfumato.risk.disclosure_risk import Risk

_LACKING: dict[risk_thresholds.Part, tuple[str, tuple[str, ...]]] = {
    risk_thresholds.Part.SENSITIVE: ("sensitive attributes", ("name them in the schema",)),
    risk_thresholds.Part.HOUSEHOLD: ("households", ("name the household column in the schema",)),
    risk_thresholds.Part.PRESENCE: (
        "a population register",
        ("give one", "register=...", "--register FILE"),
    ),
    risk_thresholds.Part.POPULATION: (
        "a population",
        ("say what is known of it", "population=...", "--population N"),
    ),
}


@dataclass(frozen=True, slots=True)
class _Found:
    """A number, with its interval where it is an estimate."""

    value: float
    attribute: str = ""
    low: float | None = None
    high: float | None = None
    estimator: str | None = None


def hold(risk: Risk, *presets: str | risk_thresholds.Preset) -> Risk:
    """The same assessment with its measures held against presets.

    Where something is known of the population, a limit on the highest risk (``prosecutor``) is
    one on ``journalist`` too, and ``average_risk`` and ``records_at_risk`` bring their
    counterparts in the population.

    Parameters
    ----------
    risk
        An assessment.
    presets
        Names of built-in presets, or presets.

    Raises
    ------
    InputError
        If there is no such preset, it states no number, or the file lacks what it speaks about.
    """
    chosen = risk_thresholds.thresholds(*presets) if presets else ()
    check_numbers(chosen)
    return replace(risk, held=tuple(line for each in chosen for line in held_by(risk, each)))


def check_numbers(presets: Sequence[risk_thresholds.Preset]) -> None:
    """Refuse presets whose source states no number."""
    for preset in presets:
        if not preset.thresholds:
            raise InputError(
                f"preset {preset.name}",
                "must state a number to be held against",
                found="none in its source",
            )


def held_by(risk: Risk, preset: risk_thresholds.Preset) -> Iterator[risk_thresholds.Held]:
    """The lines of one preset."""
    for threshold in preset.thresholds:
        for measure in _measures(risk, threshold):
            kind = risk_thresholds.KINDS[measure]
            above = threshold.above
            # A limit without a risk of its own means the one by which the assessment counted.
            if measure.endswith(risk_thresholds.AT_RISK) and above is None:
                above = risk.threshold
            for found in _found(risk, measure, above):
                yield risk_thresholds.Held(
                    preset.name,
                    preset.source,
                    preset.evidence,
                    measure,
                    found.attribute,
                    kind.bound.value,
                    kind.scale.value,
                    threshold.limit,
                    above,
                    found.value,
                    found.low,
                    found.high,
                    found.estimator,
                )


def _measures(risk: Risk, threshold: risk_thresholds.Threshold) -> tuple[str, ...]:
    """The measure, and its counterpart in the population where there is one."""
    counterpart = risk_thresholds.POPULATION_COUNTERPARTS.get(threshold.measure)
    if risk.population is None or counterpart is None:
        return (threshold.measure,)
    # The population's share was estimated at the
    # assessment's risk alone: at another one there is none.
    if threshold.above not in (None, risk.threshold):
        return (threshold.measure,)
    return threshold.measure, counterpart


def _found(risk: Risk, measure: str, above: float | None) -> list[_Found]:
    part = risk_thresholds.KINDS[measure].part
    # From the sizes of classes it is exact at any risk, not only at the one that was assessed.
    if measure == risk_thresholds.AT_RISK and above is not None:
        return [_Found(risk.shape.share_above(above))]
    if part is risk_thresholds.Part.SENSITIVE:
        return _of_attributes(risk, measure)
    holder: Any = {
        risk_thresholds.Part.FILE: risk,
        risk_thresholds.Part.HOUSEHOLD: risk.household,
        risk_thresholds.Part.PRESENCE: risk.presence,
        risk_thresholds.Part.POPULATION: risk.population,
    }[part]
    if holder is None:
        raise _lacking(measure, part)
    return [_number(getattr(holder, measure))]


def _of_attributes(risk: Risk, measure: str) -> list[_Found]:
    values = {name: getattr(attribute, measure) for name, attribute in risk.sensitive.items()}
    several = [_number(value, name) for name, value in values.items() if value is not None]
    if values and not several:
        raise InputError(
            f"a threshold of {measure}",
            "needs that distance to be measured",
            found="nothing measured",
            advice="name the columns "
            f"({typed('ordered_distance=...', '--ordered-distance COLUMN')})",
        )
    if not several:
        raise _lacking(measure, risk_thresholds.Part.SENSITIVE)
    return several


def _lacking(measure: str, part: risk_thresholds.Part) -> InputError:
    what, (advice, *given) = _LACKING[part]
    if given:
        advice = f"{advice} ({typed(*given)})"
    return InputError(f"a threshold of {measure}", f"needs {what}", found="none", advice=advice)


def _number(value: Measure | float, attribute: str = "") -> _Found:
    if isinstance(value, Measure):
        return _Found(value.value, attribute, value.low, value.high, value.estimator)
    return _Found(float(value), attribute)
