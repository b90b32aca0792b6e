"""What the page of a release or a file says below its verdict, and beside thresholds in use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import Any

from sfumato.core.number_text import against_threshold, count, counted, number, percent
from sfumato.core.phrases import Listed, Phrase, Plural, Sentence, listed
from sfumato.release.cures import detail_lost
from sfumato.release.release_result import Release
from sfumato.reports.printed_numbers import interval
from sfumato.reports.promise_words import PromiseLine, bounded
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
            meaning = Phrase("{meaning} of {limit}", meaning=meaning, limit=percent(each.above))
        elif last.population is not None:
            meaning = IN_POPULATION.get(each.measure, meaning)
        lines.append(
            ThresholdLine(
                each,
                presets.index(each.preset),
                meaning,
                bounded(each.bound, _on_scale(each, each.limit)),
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
        found.setdefault((measure, value), ([], []))[met].append(
            Phrase("{source} ({limit})", source=source, limit=limit)
        )
    return [
        (measure, shown, Listed(broken, "; "), Listed(kept, "; "))
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
    said: Phrase = Plural(
        "{kept} of {all} promise is kept.",
        "{kept} of {all} promises are kept.",
        len(promises),
        kept=kept - estimated,
        all=len(promises),
    )
    if estimated:
        beside = Phrase("Estimated, not promised: {n}.", n=estimated)
        said = Phrase("{first} {then}", first=said, then=beside)
    verdict = None if release.judged_in else release.verdict
    sentences = [
        *(() if verdict is None else verdict.sentences),
        *map(str, release.lost),
        *(Phrase("Accepted: {what}.", what=each) for each in acceptances(after.columns)),
        said,
        _untold(after),
        Phrase(
            "The release holds {records} of {all_records} records and {people} of {all_people} "
            "people, in {classes} classes of at least {least}.",
            records=count(after.records),
            all_records=count(before.records),
            people=count(after.persons),
            all_people=count(before.persons),
            classes=count(after.classes),
            least=counted(after.pid_k, "person"),
        ),
        _detail_lost(release),
        _thresholds_sentence(after),
        # In a project attacks stand beside it.
        "" if verdict is None else _unmeasured(release),
    ]
    if verdict is None:
        elsewhere = f"What attacks add, and whether it may go out, stand in {release.judged_in}."
        headline = f"{release.verdict.most_found} {elsewhere}"
    else:
        headline = verdict.headline
    if release.nothing_left:
        headline = f"{release.nothing_left}{headline}"
    return Summary(verdict, headline, tuple(filter(None, sentences)))


def _unmeasured(release: Release) -> str:
    """What a release by itself does not say."""
    blank = [Phrase("what a simulated attack finds (sfumato attack)")]
    if release.population is None and release.risk.population is None:
        blank.append(Phrase("what a stranger finds in the population behind the file"))
    return Phrase("Not measured here: {what}.", what=listed(blank))


def _untold(risk: Risk) -> str:
    """What known events do where nobody has named any; or nothing."""
    warning = "" if risk.known_events is None else risk.known_events.warning()
    return Sentence("{begin}.", begin=warning) if warning else ""


def assessment_summary(risk: Risk) -> Summary:
    """What the page of a file begins with that was measured only."""
    alone = risk.sample_uniques
    sentences = [
        *(() if risk.verdict is None else risk.verdict.sentences),
        _thresholds_sentence(risk),
        Plural(
            "The file holds {records} records of {people} people, in {classes} classes of at least "
            "{least}; {alone} class holds one person alone.",
            "The file holds {records} records of {people} people, in {classes} classes of at least "
            "{least}; {alone} classes hold one person alone.",
            alone,
            records=count(risk.records),
            people=count(risk.persons),
            classes=count(risk.classes),
            least=counted(risk.pid_k, "person"),
            alone=count(alone),
        ),
        _matched(risk),
    ]
    headline: str = Phrase(
        "Measured, not changed: {share} of the records are at a risk above {limit}.",
        share=percent(risk.records_at_risk.value),
        limit=percent(risk.threshold),
    )
    if risk.verdict is not None:
        headline = risk.verdict.headline
    return Summary(risk.verdict, headline, tuple(filter(None, sentences)))


def _thresholds_sentence(risk: Risk) -> str:
    """How many of the limits that were asked for are kept, and which are not; or nothing."""
    if not risk.held:
        return ""
    failed = [each for each in risk.held if not each.met]
    estimated = [each for each in risk.held if each.met and not each.promised]
    unsure = [each for each in risk.held if each.met and each.met_over_interval is False]
    kept = len(risk.held) - len(failed) - len(estimated)
    said: list[Phrase] = [
        Plural(
            "{kept} of {all} limit that was asked for is kept",
            "{kept} of {all} limits that were asked for are kept",
            len(risk.held),
            kept=count(kept),
            all=count(len(risk.held)),
        )
    ]
    if failed:
        said.append(Phrase("broken: {limits}", limits=_named(failed)))
    if estimated:
        said.append(Phrase("estimated, not promised: {limits}", limits=_named(estimated)))
    if unsure:
        held = _named(unsure)
        said.append(Phrase("kept, but broken by the end of the interval: {limits}", limits=held))
    return Sentence("{begin}.", begin=Listed(said, "; "))


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
    utility = release.utility
    bound: str = ""
    if utility.least_ncp is not None:
        known = not isnan(utility.least_ncp)
        least = percent(utility.least_ncp) if known else Phrase("not known for this form")
        bound = Phrase(" (least with such labels: {share})", share=least)
    sentences = [
        Phrase(
            "Detail lost: {lost}; in quasi-identifiers alone {ncp}{bound}.",
            lost=percent(detail_lost(release)),
            ncp=percent(utility.ncp),
            bound=bound,
        ),
        Phrase("Left out: {n} records.", n=count(utility.suppressed_records)),
    ]
    if utility.counts is not None and utility.counts.ids_added:
        affected = count(utility.counts.persons_affected)
        sentences.append(
            Phrase("Several pseudonyms hide the number of records of {n} people.", n=affected)
        )
    if utility.histories is not None and utility.histories.divided:
        divided = count(utility.histories.divided)
        sentences.append(
            Phrase("Several pseudonyms hide the known events of {n} people.", n=divided)
        )
    return Listed(sentences, " ")


def _matched(risk: Risk) -> str:
    """What an intruder with a register finds, where something is known of the population."""
    own = risk.population
    if own is None:
        return ""
    found = percent(own.marketer.value)
    if ends := interval(own.marketer.low, own.marketer.high):
        found = Phrase("{share} ({interval})", share=found, interval=ends)
    return Phrase(
        "An intruder who knows all {all} people of the population is expected to find {share} of "
        "the file’s {people}.",
        all=count(own.population),
        share=found,
        people=count(risk.persons),
    )
