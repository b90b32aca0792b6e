"""What the page of a release or a file says below its verdict, and beside thresholds in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import Any

from sfumato.core.measure import ESTIMATED
from sfumato.core.number_text import against_threshold, count, number, percent
from sfumato.release.release_result import Release
from sfumato.release.utility_measures import Utility
from sfumato.reports.printed_numbers import interval, listed
from sfumato.reports.promise_words import PromiseLine
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.measure_table import IN_POPULATION, MEANINGS
from sfumato.risk.risk_thresholds import Held, Preset, thresholds
from sfumato.risk.threshold_checks import held_by
from sfumato.risk.verdict import Verdict
from sfumato.table.dependence import acceptances

_MATCHED = "share of all persons matched rightly (marketer)"


@dataclass(frozen=True, slots=True)
class ThresholdLine:
    """A measure beside a threshold that was asked.

    Attributes
    ----------
    held
        The threshold, and the measure of the last file.
    interval
        Interval of the last one, where it is an estimate.
    """

    held: Held
    preset: int
    meaning: str
    limit: str
    values: tuple[str, ...]
    interval: str


def threshold_lines(risks: Sequence[Risk]) -> list[ThresholdLine]:
    """One line per threshold that was asked, original beside release.

    Parameters
    ----------
    risks
        The original and the release, or the assessed file alone.
    """
    last = risks[-1]
    before = {_key(each): each for risk in risks[:-1] for each in risk.held}
    presets = list(dict.fromkeys(each.preset for each in last.held))
    lines = []
    for each in last.held:
        earlier = [before[_key(each)]] if _key(each) in before else []
        values = tuple(_value(one) for one in [*earlier, each])
        meaning = MEANINGS[each.measure]
        if each.above is not None:
            meaning = f"{meaning} of {percent(each.above)}"
        elif last.population is not None:
            meaning = IN_POPULATION.get(each.measure, meaning)
        lines.append(
            ThresholdLine(
                each,
                presets.index(each.preset),
                meaning,
                f"{each.bound} {_on_scale(each, each.limit)}",
                # The original has no number where it was not held against the threshold.
                ("",) * (len(risks) - len(values)) + values,
                interval(each.low, each.high, partial(_on_scale, each)),
            )
        )
    return lines


def practice_lines(risk: Risk) -> list[tuple[Preset, list[tuple[str, Held]]]]:
    """All built-in presets, each with the measures that it speaks about, as printed."""
    return [
        (preset, [(f"{each.measure} {_value(each)}", each) for each in held_by(risk, preset)])
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


def _key(held: Held) -> tuple[str, str, str]:
    return held.preset, held.measure, held.attribute


def _on_scale(held: Held, value: float) -> str:
    if held.scale == "share":
        return percent(value)
    return count(round(value, 1)) if held.scale == "count" else number(value)


def _value(held: Held) -> str:
    """The value with as many digits as it takes to tell it from the limit."""
    if held.scale == "count":
        return _on_scale(held, held.value)
    return against_threshold(held.value, held.limit, held.scale == "share")


@dataclass(frozen=True, slots=True)
class Summary:
    """What the page begins with.

    Attributes
    ----------
    verdict
        What intruders find; ``None`` where it stands elsewhere, or was not measured.
    figures
        Numbers at a glance: what it is, original, release (or the assessed file's alone).
    """

    verdict: Verdict | None
    headline: str
    sentences: tuple[str, ...]
    figures: tuple[tuple[str, tuple[str, ...]], ...]


def release_summary(release: Release, promises: Sequence[PromiseLine]) -> Summary:
    """What the page of a release begins with."""
    kept = sum(promise.met for promise in promises)
    estimated = sum(promise.met and not promise.promised for promise in promises)
    before, after = release.risk_before, release.risk
    said = f"{kept - estimated} of {len(promises)} promises are kept."
    if estimated:
        said += f" {ESTIMATED.capitalize()}: {estimated}."
    verdict = None if release.judged_in else release.verdict
    sentences = [
        *(() if verdict is None else verdict.sentences),
        *map(str, release.lost),
        *(f"Accepted: {acceptance}." for acceptance in acceptances(after.columns)),
        said,
        _untold(after),
        (
            f"The release holds {count(after.records)} of {count(before.records)} records and "
            f"{count(after.persons)} of {count(before.persons)} persons, in {count(after.classes)} "
            f"classes of at least {_people(after.pid_k)}."
        ),
        _price(release.utility),
        _thresholds_sentence(after),
    ]
    figures = _figures(before, after, own_population=release.population is None)
    headline = f"Whether it may go out stands in {release.judged_in}."
    headline = f"{release.nothing_left}{headline if verdict is None else verdict.headline}"
    return Summary(verdict, headline, tuple(filter(None, sentences)), figures)


def _untold(risk: Risk) -> str:
    """What known events do where nobody has named any; or nothing."""
    told = risk.known_events
    if told is None or told.named:
        return ""
    warning = told.warning()
    return f"{warning[0].upper()}{warning[1:]}."


def assessment_summary(risk: Risk) -> Summary:
    """What the page of a file begins with that was measured only."""
    alone = risk.sample_uniques
    sentences = [
        *(() if risk.verdict is None else risk.verdict.sentences),
        _thresholds_sentence(risk),
        (
            f"The file holds {count(risk.records)} records of {count(risk.persons)} persons, in "
            f"{count(risk.classes)} classes of at least {_people(risk.pid_k)}; "
            f"{count(alone)} class{'es hold' if alone != 1 else ' holds'} one person alone."
        ),
        _matched(risk),
    ]
    headline = (
        f"Measured, not changed: {percent(risk.records_at_risk.value)} of the records are at a "
        f"risk above {percent(risk.threshold)}."
    )
    headline = headline if risk.verdict is None else risk.verdict.headline
    return Summary(risk.verdict, headline, tuple(filter(None, sentences)), _figures(risk))


def _thresholds_sentence(risk: Risk) -> str:
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


def _named(several: Sequence[Held]) -> str:
    """Their measures by preset: ``arx (prosecutor, marketer) and cms (pid_k)``."""
    presets = dict.fromkeys(each.preset for each in several)
    return listed(
        [
            f"{name} ({', '.join(each.label for each in several if each.preset == name)})"
            for name in presets
        ]
    )


def _price(utility: Utility) -> str:
    added = ""
    if utility.counts is not None and utility.counts.ids_added:
        added = (
            f"; {count(utility.counts.persons_affected)} persons have several pseudonyms, so that "
            "their number of records does not stand out"
        )
    if utility.histories is not None and utility.histories.divided:
        added += (
            f"; {count(utility.histories.divided)} persons have several pseudonyms, so that less "
            "is learned by a known event"
        )
    bound = ""
    if utility.least_ncp is not None:
        known = not isnan(utility.least_ncp)
        bound = f" (with such labels no release has less than {percent(utility.least_ncp)})"
        bound = bound if known else " (how little it could be is not known for this form)"
    return (
        f"The price: a released cell may stand for {percent(utility.ncp)} of its column’s values "
        f"on average{bound}, and {count(utility.suppressed_records)} records are left out{added}."
    )


def _matched(risk: Risk) -> str:
    """What an intruder with a register finds, where something is known of the population."""
    own = risk.population
    if own is None:
        return ""
    ends = interval(own.marketer.low, own.marketer.high)
    return (
        f"Whoever matches the file with all {count(own.population)} persons of its population is "
        f"expected to match {percent(own.marketer.value)}{f' ({ends})' if ends else ''} of the "
        "file’s rightly."
    )


def _people(persons: int) -> str:
    return "1 person" if persons == 1 else f"{count(persons)} persons"


def _figures(*risks: Risk, own_population: bool = True) -> tuple[tuple[str, tuple[str, ...]], ...]:
    figures = [
        ("fewest persons in a class (pid_k)", tuple(count(risk.pid_k) for risk in risks)),
        (
            "highest share of a class’s records that is one person’s (GIDR)",
            tuple(percent(risk.max_gidr.value) for risk in risks),
        ),
        (
            "highest chance to find a known person (prosecutor)",
            tuple(percent(risk.prosecutor.value) for risk in risks),
        ),
        (
            _MATCHED if own_population else f"{_MATCHED[:-1]}, the file being its own population)",
            tuple(percent(risk.marketer.value) for risk in risks),
        ),
    ]
    # Of several sensitive attributes the first, so that the table fits the page.
    for name in list(risks[-1].sensitive)[:1]:
        words = f"highest share of a class’s persons with one “{name}” (GSAR)"
        shares = tuple(percent(risk.sensitive[name].h_affiliation.value) for risk in risks)
        figures.append((words, shares))
    return tuple(figures)
