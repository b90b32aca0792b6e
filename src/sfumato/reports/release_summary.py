"""What the page of a release or a file says below its verdict, and beside thresholds in use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import Any

from sfumato.core.measure import ESTIMATED
from sfumato.core.number_text import against_threshold, count, counted, number, percent
from sfumato.release.cures import detail_lost
from sfumato.release.release_result import Release
from sfumato.reports.printed_numbers import interval, listed
from sfumato.reports.promise_words import PromiseLine
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.measure_table import IN_POPULATION, MEANINGS
from sfumato.risk.risk_thresholds import Held, thresholds
from sfumato.risk.threshold_checks import held_by
from sfumato.risk.verdict import Verdict
from sfumato.table.dependence import acceptances


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


def practice_lines(risk: Risk) -> list[tuple[str, str, str, str]]:
    """By measure that built-in presets limit: its value, and who keeps what and who breaks it."""
    return practice_table(
        # By the number that was compared, which close limits print with more digits.
        (
            each.measure,
            _on_scale(each, each.value),
            each.source,
            _on_scale(each, each.limit),
            each.met,
        )
        for preset in thresholds()
        for each in held_by(risk, preset)
    )


def practice_table(
    held: Iterable[tuple[str, str, str, str, bool]],
) -> list[tuple[str, str, str, str]]:
    """The same of limits: measure, its value, source, limit, and whether it is met."""
    found: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    for measure, value, source, limit, met in held:
        found.setdefault((measure, value), ([], []))[met].append(f"{source} ({limit})")
    return [
        (measure, shown, "; ".join(broken), "; ".join(kept))
        for (measure, shown), (broken, kept) in found.items()
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
    """

    verdict: Verdict | None
    headline: str
    sentences: tuple[str, ...]


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
            f"{count(after.persons)} of {count(before.persons)} people, in {count(after.classes)} "
            f"classes of at least {counted(after.pid_k, 'person')}."
        ),
        _detail_lost(release),
        _thresholds_sentence(after),
    ]
    elsewhere = f"What attacks add, and whether it may go out, stand in {release.judged_in}."
    headline = f"{release.verdict.most_found} {elsewhere}" if verdict is None else verdict.headline
    headline = f"{release.nothing_left}{headline}"
    return Summary(verdict, headline, tuple(filter(None, sentences)))


def _untold(risk: Risk) -> str:
    """What known events do where nobody has named any; or nothing."""
    warning = "" if risk.known_events is None else risk.known_events.warning()
    return f"{warning[0].upper()}{warning[1:]}." if warning else ""


def assessment_summary(risk: Risk) -> Summary:
    """What the page of a file begins with that was measured only."""
    alone = risk.sample_uniques
    sentences = [
        *(() if risk.verdict is None else risk.verdict.sentences),
        _thresholds_sentence(risk),
        (
            f"The file holds {count(risk.records)} records of {count(risk.persons)} people, in "
            f"{count(risk.classes)} classes of at least {counted(risk.pid_k, 'person')}; "
            f"{count(alone)} class{'es hold' if alone != 1 else ' holds'} one person alone."
        ),
        _matched(risk),
    ]
    headline = (
        f"Measured, not changed: {percent(risk.records_at_risk.value)} of the records are at a "
        f"risk above {percent(risk.threshold)}."
    )
    headline = headline if risk.verdict is None else risk.verdict.headline
    return Summary(risk.verdict, headline, tuple(filter(None, sentences)))


def _thresholds_sentence(risk: Risk) -> str:
    """How many of the limits that were asked for are kept, and which are not; or nothing."""
    if not risk.held:
        return ""
    failed = [each for each in risk.held if not each.met]
    estimated = [each for each in risk.held if each.met and not each.promised]
    unsure = [each for each in risk.held if each.met and each.met_over_interval is False]
    kept = len(risk.held) - len(failed) - len(estimated)
    said = f"{count(kept)} of {count(len(risk.held))} limits that were asked for are kept"
    if failed:
        said += f"; broken: {_named(failed)}"
    if estimated:
        said += f"; {ESTIMATED}: {_named(estimated)}"
    if unsure:
        said += f"; kept, but broken by the end of the interval: {_named(unsure)}"
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


def _detail_lost(release: Release) -> str:
    utility, bound = release.utility, ""
    if utility.least_ncp is not None:
        known = not isnan(utility.least_ncp)
        least = percent(utility.least_ncp) if known else "not known for this form"
        bound = f" (least with such labels: {least})"
    sentences = [
        (
            f"Detail lost: {percent(detail_lost(release))}; in quasi-identifiers alone "
            f"{percent(utility.ncp)}{bound}."
        ),
        f"Left out: {count(utility.suppressed_records)} records.",
    ]
    if utility.counts is not None and utility.counts.ids_added:
        affected = count(utility.counts.persons_affected)
        sentences.append(f"Several pseudonyms hide the number of records of {affected} people.")
    if utility.histories is not None and utility.histories.divided:
        divided = count(utility.histories.divided)
        sentences.append(f"Several pseudonyms hide the known events of {divided} people.")
    return " ".join(sentences)


def _matched(risk: Risk) -> str:
    """What an intruder with a register finds, where something is known of the population."""
    own = risk.population
    if own is None:
        return ""
    ends = interval(own.marketer.low, own.marketer.high)
    return (
        f"An intruder who knows all {count(own.population)} people of the population is "
        f"expected to find {percent(own.marketer.value)}{f' ({ends})' if ends else ''} of the "
        f"file’s {count(risk.persons)}."
    )
