"""Measures held against thresholds: those that were asked, and those in use elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.core.measure import ESTIMATED
from sfumato.reports.numbers import beside, count, listed, number, percent
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.measure_table import IN_POPULATION, MEANINGS
from sfumato.risk.risk_thresholds import Held, thresholds
from sfumato.risk.threshold_checks import held_by


@dataclass(frozen=True, slots=True)
class Line:
    """A measure beside a threshold.

    Attributes
    ----------
    preset, source, evidence
        Who states it, and where that is known from.
    order
        Number of the preset among those asked.
    measure, meaning
        Name of the measure, with its attribute, and what it means.
    limit
        What it was to be.
    values
        What it is, of each file.
    interval
        Interval of the last one, where it is an estimate.
    met
        Whether the last one keeps it.
    surely
        Whether its interval does; ``None`` without an interval.
    promised
        Whether it was counted, not estimated.
    """

    preset: str
    source: str
    evidence: str
    order: int
    measure: str
    meaning: str
    limit: str
    values: tuple[str, ...]
    interval: str
    met: bool
    surely: bool | None
    promised: bool


@dataclass(frozen=True, slots=True)
class Practice:
    """What a source asks elsewhere, and how the file stands.

    Attributes
    ----------
    name, source, says, evidence
        As in the preset.
    here
        Each of its measures with its value, whether that lies on the good side, and whether it
        was counted, not estimated.
    """

    name: str
    source: str
    says: str
    evidence: str
    here: tuple[tuple[str, bool, bool], ...]


def held_lines(risks: Sequence[Risk]) -> list[Line]:
    """One line per threshold that was asked, original beside release.

    Parameters
    ----------
    risks
        The original and the release, or the assessed file alone.
    """
    last = risks[-1].held
    before = {_key(each): each for risk in risks[:-1] for each in risk.held}
    lines: list[Line] = []
    order: dict[str, int] = {}
    for each in last:
        earlier = [before[_key(each)]] if _key(each) in before else []
        values = tuple(_shown(one, one.value) for one in [*earlier, each])
        meaning = MEANINGS[each.measure]
        if each.above is not None:
            meaning = f"{meaning} of {percent(each.above)}"
        elif risks[-1].population is not None:
            meaning = IN_POPULATION.get(each.measure, meaning)
        lines.append(
            Line(
                each.preset,
                each.source,
                each.evidence,
                order.setdefault(each.preset, len(order)),
                each.label,
                meaning,
                f"{each.bound} {_plain(each, each.limit)}",
                ("",) * (len(risks) - len(values)) + values,
                _interval(each),
                each.met,
                each.met_over_interval,
                each.promised,
            )
        )
    return lines


def practice_lines(risk: Risk) -> list[Practice]:
    """All built-in presets, each with how the file stands.

    Parameters
    ----------
    risk
        What was measured.
    """
    return [
        Practice(
            preset.name,
            preset.source,
            preset.says,
            preset.evidence,
            tuple(
                (f"{h.measure} {_shown(h, h.value)}", h.met, h.promised)
                for h in held_by(risk, preset)
            ),
        )
        for preset in thresholds()
    ]


def practice_json(risk: Risk) -> list[dict[str, Any]]:
    """The same as plain values."""
    return [
        {
            "preset": preset.name,
            "source": preset.source,
            "says": preset.says,
            "evidence": preset.evidence,
            "held": [each.to_json() for each in held_by(risk, preset)],
        }
        for preset in thresholds()
    ]


def held_sentence(risk: Risk) -> str:
    """How many of the thresholds that were asked are met, and which are not; or nothing."""
    if not risk.held:
        return ""
    failed = [each for each in risk.held if not each.met]
    estimated = [each for each in risk.held if each.met and not each.promised]
    unsure = [each for each in risk.held if each.met and each.met_over_interval is False]
    said = (
        f"Of {count(len(risk.held))} thresholds that it was held against, "
        f"{count(len(risk.held) - len(failed) - len(estimated))} are met"
    )
    if estimated:
        said += f"; {ESTIMATED}: {_named(estimated)}"
    if failed:
        said += f"; not met: {_named(failed)}"
    if unsure:
        said += f"; kept by the estimate but not over its interval: {_named(unsure)}"
    return f"{said}."


def _named(several: list[Held]) -> str:
    """Their measures by preset: ``arx (prosecutor, marketer) and cms (pid_k)``."""
    presets = dict.fromkeys(each.preset for each in several)
    parts = [
        f"{name} ({', '.join(each.label for each in several if each.preset == name)})"
        for name in presets
    ]
    return listed(tuple(parts))


def _key(held: Held) -> tuple[str, str, str]:
    return held.preset, held.measure, held.attribute


def _plain(held: Held, value: float) -> str:
    if held.scale == "share":
        return percent(value)
    return count(round(value, 1)) if held.scale == "count" else number(value)


def _shown(held: Held, value: float) -> str:
    """A value with as many digits as it takes to tell it from the limit."""
    if held.scale == "count":
        return _plain(held, value)
    return beside(value, held.limit, held.scale == "share")


def _interval(held: Held) -> str:
    if held.low is None or held.high is None or held.low >= held.high:
        return ""
    return f"{_plain(held, held.low)} to {_plain(held, held.high)}"
