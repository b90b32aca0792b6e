"""The result in one paragraph of plain words, a number beside every claim."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.core.measure import ESTIMATED, verdict
from sfumato.release.result import Release
from sfumato.release.utility import Utility
from sfumato.reports.asked import Asked, asked_of
from sfumato.reports.held import held_sentence
from sfumato.reports.numbers import count, percent
from sfumato.risk.disclosure_risk import Risk


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the first page says.

    Attributes
    ----------
    met
        Whether everything that was asked is met; ``None`` where nothing was asked.
    promised
        Whether nothing of it is met by an estimate only.
    headline
        The result in a sentence.
    sentences
        The paragraph.
    figures
        Numbers at a glance: what it is, original, release (or the assessed file's alone).
    """

    met: bool | None
    promised: bool
    headline: str
    sentences: tuple[str, ...]
    figures: tuple[tuple[str, tuple[str, ...]], ...]


def release_verdict(release: Release) -> Verdict:
    """The verdict on a release."""
    asked = asked_of(release)
    kept = sum(each.met for each in asked)
    estimated = sum(each.met and not each.promised for each in asked)
    before, after = release.risk_before, release.risk
    met = kept == len(asked)
    of = f"of {len(asked)} constraints"
    if not met:
        headline = f"What was asked is not met: {kept - estimated} {of} are."
    elif estimated:
        headline = f"Not everything that was asked is promised: {kept - estimated} {of} are met."
    else:
        headline = f"What was asked is met: {kept} {of}."
    if estimated:
        headline += f" {ESTIMATED.capitalize()}: {estimated}."
    utility = release.utility
    sentences = [
        (
            f"The release holds {count(after.records)} of {count(before.records)} records and "
            f"{count(after.persons)} of {count(before.persons)} persons, in {count(after.classes)} "
            f"classes of at least {_people(after.pid_k)}."
        ),
        *(_kept(each, after.classes) for each in asked),
        (
            "A record picked from a person’s class is that person’s with a chance of at most "
            f"{percent(after.max_gidr.value)} "
            f"({percent(after.avg_gidr.value)} on average over classes); in the original "
            f"{percent(before.max_gidr.value)} ({percent(before.avg_gidr.value)})."
        ),
        (
            f"A person who is known to be in the file is found with a chance of at most "
            f"{percent(after.prosecutor.value)}; in the original "
            f"{percent(before.prosecutor.value)}."
        ),
        _price(utility),
        held_sentence(after),
    ]
    figures = _figures(before, after, own_population=release.population is None)
    return Verdict(met, not estimated, headline, tuple(filter(None, sentences)), figures)


def _price(utility: Utility) -> str:
    added = ""
    if utility.counts is not None and utility.counts.ids_added:
        added = (
            f"; {count(utility.counts.persons_affected)} persons have several pseudonyms, so that "
            "their number of records does not stand out"
        )
    return (
        f"The price: a released cell may stand for {percent(utility.ncp)} of its column’s values "
        f"on average, and {count(utility.suppressed_records)} records are left out{added}."
    )


def assessment_verdict(risk: Risk) -> Verdict:
    """The verdict on a file that was measured only."""
    alone = risk.sample_uniques
    sentences = [
        (
            f"The file holds {count(risk.records)} records of {count(risk.persons)} persons, in "
            f"{count(risk.classes)} classes of at least {_people(risk.pid_k)}; "
            f"{count(alone)} class{'es hold' if alone != 1 else ' holds'} one person alone."
        ),
        (
            "A record picked from a person’s class is that person’s with a chance of up to "
            f"{percent(risk.max_gidr.value)} "
            f"({percent(risk.avg_gidr.value)} on average over classes)."
        ),
        (
            f"A person who is known to be in the file is found with a chance of up to "
            f"{percent(risk.prosecutor.value)}; {percent(risk.records_at_risk.value)} of the "
            f"records are at a risk above {percent(risk.threshold)}."
        ),
        _matched(risk),
        held_sentence(risk),
        *(
            f"Up to {percent(own.h_affiliation.value)} of the persons of a class have the same "
            f"value of “{name}”."
            for name, own in risk.sensitive.items()
        ),
    ]
    headline = (
        f"Measured, not changed: {percent(risk.records_at_risk.value)} of the records are at a "
        f"risk above {percent(risk.threshold)}."
    )
    met, estimated = None, 0
    if risk.held:
        met = all(each.met for each in risk.held)
        estimated = sum(each.met and not each.promised for each in risk.held)
        kept = sum(each.met for each in risk.held) - estimated
        which = "all" if kept == len(risk.held) else f"{count(kept)} of {count(len(risk.held))}"
        headline = f"Held against thresholds: {which} are met."
        if estimated:
            headline += f" {ESTIMATED.capitalize()}: {count(estimated)}."
    return Verdict(met, not estimated, headline, tuple(filter(None, sentences)), _figures(risk))


def _matched(risk: Risk) -> str:
    """What an intruder with a register finds, where something is known of the population."""
    own = risk.population
    if own is None:
        return ""
    low, high = own.marketer.low, own.marketer.high
    ends = ""
    if low is not None and high is not None and low < high:
        ends = f" ({percent(low)} to {percent(high)})"
    return (
        f"Whoever matches the file with all {count(own.population)} persons of its population is "
        f"expected to match {percent(own.marketer.value)}{ends} of the file’s rightly."
    )


def _kept(asked: Asked, classes: int) -> str:
    name = f"{asked.name} of “{asked.attribute}”" if asked.attribute else asked.name
    if not asked.bound:
        return f"{name} ({asked.threshold}) is {verdict(asked.met, asked.promised)}."
    values = f"{asked.bound} {asked.threshold} was asked, {asked.reached} is reached"
    if asked.classes_met is None:
        who = "The release as a whole keeps" if asked.met else "The release does not keep"
        if asked.met and not asked.promised:
            name = f"{name}, {ESTIMATED}"
    elif asked.met:
        who = f"Every class ({count(asked.classes_met)} of {count(classes)}) keeps"
    elif asked.classes_met == 0:
        who = f"No class (0 of {count(classes)}) keeps"
    else:
        who = f"Only {count(asked.classes_met)} of {count(classes)} classes keep"
    worst = "" if asked.classes_met is None else " by the worst"
    before = f"; the original has {asked.before}" if asked.before else ""
    return f"{who} {name}: {values}{worst}{before}."


def _people(persons: int) -> str:
    return "1 person" if persons == 1 else f"{count(persons)} persons"


_MATCHED = "share of all persons matched rightly (marketer)"


def _figures(*risks: Risk, own_population: bool = True) -> tuple[tuple[str, tuple[str, ...]], ...]:
    last = risks[-1]
    shared = next(iter(last.sensitive), None)
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
    if shared is not None:
        words = f"highest share of a class’s persons with one “{shared}” (GSAR)"
        shares = tuple(percent(risk.sensitive[shared].h_affiliation.value) for risk in risks)
        figures.append((words, shares))
    return tuple(figures)
