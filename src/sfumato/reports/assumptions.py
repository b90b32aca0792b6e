"""Whom the numbers speak about, and what they do not say, in plain words."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.release.options import Coarsening
from sfumato.release.result import Release
from sfumato.reports.numbers import count, listed, percent
from sfumato.reports.population import population_assumed
from sfumato.risk.disclosure_risk import Risk


@dataclass(frozen=True, slots=True)
class Point:
    """A short title and what is to be said."""

    title: str
    text: str


def adversary(release: Release | None, risk: Risk) -> list[Point]:
    """What the adversary is taken to know.

    Parameters
    ----------
    release
        The release, or ``None`` for an assessment, whose schema is not part of its result.
    risk
        What was measured of the release, or of the file.
    """
    named = ""
    if release is not None:
        names = listed(tuple(f"“{name}”" for name in release.schema.quasi_identifiers))
        named = f" ({names})"
    return [
        Point(
            "Knows",
            f"every quasi-identifier of a target{named}, for each of the target’s records and "
            f"as exactly as the original has it; {_membership(release, risk)}; and how the file "
            "was made.",
        ),
        Point(
            "Does not know",
            "any sensitive or insensitive value of the target, nor how many records the target "
            "has (Kartal & Li 2020). Kartal & Li 2016 consider an intruder who does know the "
            "number of records: count_k, exposed_persons, max_count_risk and avg_count_risk say "
            "what such an intruder finds, and shared_counts limits it. Whoever knows the number "
            "can also tell which sensitive values the persons with that number have; that is "
            "not measured.",
        ),
        Point(
            "Wants",
            "to find a record of the target (prosecutor, GIDR), of anybody (journalist), of as "
            "many as possible (marketer), or to learn a sensitive value of the target "
            "(h-affiliation, GSAR). A record counts as found when the person is, whichever of "
            "the person’s records it is.",
        ),
    ]


def _membership(release: Release | None, risk: Risk) -> str:
    if risk.population is None and (release is None or release.population is None):
        return "that the target is in the file"
    return (
        "that the target is in the file (prosecutor), or everybody of the population but not who "
        "of them is in the file (journalist, marketer)"
    )


def assumptions(release: Release | None, risk: Risk) -> list[Point]:
    """What the numbers take for granted."""
    points = [
        Point("Population", population_assumed(release, risk)),
        Point(
            "Persons",
            "Classes are counted in persons; the figures by records stand beside them. Records "
            "belong to one person when the person column says so.",
        ),
        Point(
            "Missing values",
            "A missing quasi-identifier is a kind of its own: the intruder is taken to know that "
            "it is missing. A missing sensitive value counts as no value: it adds to the persons "
            "of a class but is shared by nobody.",
        ),
        Point(
            "Sensitive values",
            "Two values are the same or different; that different ones may mean nearly the same "
            "(two codes of one disease) is not measured. A person counts once per value, however "
            "many records show it.",
        ),
    ]
    return points if release is None else [*points, *_of_release(release)]


def _of_release(release: Release) -> list[Point]:
    manifest, schema = release.manifest, release.schema
    points = []
    if schema.person is None:
        points.append(
            Point(
                "No person column",
                "Every record is taken as a person of its own. If persons have several records, "
                "the risks are higher than reported.",
            )
        )
    elif manifest.options.coarsen_counts is Coarsening.SPLIT:
        points.append(
            Point(
                "Pseudonyms",
                "are random and new: they say nothing about the person and link to no other "
                "release. A person may have several, so that no number of records stands out. "
                "Measures of this report count persons, not pseudonyms; who counts the "
                "pseudonyms of the release finds other numbers. Values that are constant within "
                "persons in unchanged columns can link the pseudonyms of a person again.",
            )
        )
    elif manifest.keyed:
        points.append(
            Point(
                "Pseudonyms",
                "are made with a secret key. They are the same in every release made with that "
                "key, so releases can be linked through them; whoever holds the key can compute "
                "a person’s pseudonym. Records with one pseudonym show how many records a person "
                "has.",
            )
        )
    else:
        points.append(
            Point(
                "Pseudonyms",
                "are random and new: they say nothing about the person and link to no other "
                "release. Records with one pseudonym show how many records a person has.",
            )
        )
    order = (
        "The records keep the order of the original. Whoever knows that order can match them."
        if manifest.options.keep_order
        else "The records are shuffled, so that their order says nothing."
    )
    return [*points, Point("Order", order), *_recoding(release)]


def _recoding(release: Release) -> list[Point]:
    if release.levels is None:
        return []
    shown = "; ".join(
        f"“{each.name}” level {each.level} of {each.height} ({count(each.labels)} labels)"
        for each in release.levels.columns
    )
    best = (
        "No other choice of levels loses less"
        if release.levels.exact
        else f"No other choice of levels loses less than {percent(release.levels.bound)}"
    )
    return [
        Point(
            "Recoding",
            f"Full-domain: all records show the same level of each hierarchy, 0 being the values "
            f"themselves: {shown}. {best}, measured by ncp; these lose "
            f"{percent(release.levels.loss)}. A person whose values differ from record to "
            "record may be in several classes, and is counted in each of them "
            f"({count(release.levels.split_persons)} of {count(release.risk.persons)} persons).",
        )
    ]


def limits(release: Release | None) -> list[Point]:
    """What the numbers do not say."""
    points = [
        Point(
            "Other knowledge",
            "Whoever knows more than the quasi-identifiers (a diagnosis, a date) can do more "
            "than these numbers say. The number of records alone is considered (count_k).",
        ),
        Point(
            "Other files",
            "Earlier and later releases of the same persons are not considered here.",
        ),
        Point(
            "Membership",
            "The adversary is taken to know that a person is in the file. How surely that can be "
            "learned is measured against a register of the population only (presence_high).",
        ),
    ]
    if release is None:
        return points
    unchanged = tuple(
        f"“{name}”"
        for name in release.columns
        if name in release.schema.insensitive or name not in _treated(release)
    )
    if unchanged:
        points.append(
            Point(
                "Unchanged columns",
                f"{listed(unchanged)} {'is' if len(unchanged) == 1 else 'are'} released as in "
                "the original, and the adversary is taken not to know them.",
            )
        )
    points.append(
        Point(
            "Averages",
            "A limit on the worst class is not a limit on every person: with g-balance, one "
            f"person may still have up to {percent(release.risk.max_gidr.value)} of the records "
            "of a class, as measured.",
        )
    )
    return points


def _treated(release: Release) -> set[str]:
    """Columns of the release that are no insensitive ones."""
    schema = release.schema
    made = {f"{name}{end}" for name in schema.quasi_identifiers for end in ("", "_low", "_high")}
    people = set() if schema.person is None else {schema.person}
    return made | people | set(schema.sensitive)
