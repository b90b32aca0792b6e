"""Whom the numbers of a report speak about: adversaries, attacks, assumptions, limits in words."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.core.measure import REGISTER
from sfumato.core.number_text import count, percent
from sfumato.release.release_manifest import Coarsening
from sfumato.release.release_result import Release
from sfumato.reports.printed_numbers import listed
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.measure_table import MEANINGS


@dataclass(frozen=True, slots=True)
class Point:
    """A short title and what is to be said."""

    title: str
    text: str


_NO_PERSONS = Point(
    "No person column",
    "Every record is taken as a person of its own. If persons have several records, the risks are "
    "higher than reported.",
)
_SEVERAL_PSEUDONYMS = (
    "are random and new: they say nothing about the person and link to no other release. A person "
    "may have several, so that no number of records, or nothing beside a known event, stands out. "
    "Measures of this report count "
    "persons, not pseudonyms; who counts the pseudonyms of the release finds other numbers. Values "
    "that are constant within persons in unchanged columns can link the pseudonyms of a person "
    "again."
)
_KEYED_PSEUDONYMS = (
    "are made with a secret key. They are the same in every release made with that key, so "
    "releases can be linked through them; whoever holds the key can compute a person’s pseudonym. "
    "Records with one pseudonym show how many records a person has."
)
_FRESH_PSEUDONYMS = (
    "are random and new: they say nothing about the person and link to no other release. Records "
    "with one pseudonym show how many records a person has."
)


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
        names = listed([f"“{name}”" for name in release.schema.quasi_identifiers])
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
            f"any sensitive or insensitive value of the target{_but_events(risk)}, nor how many "
            "records the target has (Kartal & Li 2020). Kartal & Li 2016 consider an intruder who "
            "does know the number of records: count_k, exposed_persons, max_count_risk and "
            "avg_count_risk say what such an intruder finds, and shared_counts limits it. Whoever "
            "knows the number can also tell which sensitive values the persons with that number "
            "have; that is not measured.",
        ),
        Point(
            "Wants",
            "to find a record of the target (prosecutor, GIDR), of anybody (journalist), of as "
            "many as possible (marketer), or to learn a sensitive value of the target "
            "(h-affiliation, GSAR). A record counts as found when the person is, whichever of "
            "the person’s records it is.",
        ),
    ]


def _but_events(risk: Risk) -> str:
    if risk.known_events is None:
        return ""
    return " (but where the section on known events says otherwise)"


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
        Point("Population", _population_assumed(release, risk)),
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
    return points if release is None else [*points, *_release_assumptions(release)]


def _divided(release: Release) -> bool:
    kept = release.utility.histories
    return kept is not None and kept.divided > 0


def _release_assumptions(release: Release) -> list[Point]:
    manifest = release.manifest
    points = []
    if release.schema.person is None:
        points.append(_NO_PERSONS)
    elif manifest.options.coarsen_counts is Coarsening.SPLIT or _divided(release):
        points.append(Point("Pseudonyms", _SEVERAL_PSEUDONYMS))
    else:
        words = _KEYED_PSEUDONYMS if manifest.keyed else _FRESH_PSEUDONYMS
        points.append(Point("Pseudonyms", words))
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
            "than the measures of classes say; known_events tells how much more. Of other "
            "knowledge the number of records alone is considered (count_k).",
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
    treated = _treated(release)
    unchanged = [
        f"“{name}”"
        for name in release.columns
        if name not in release.event_treatments
        and (name in release.schema.insensitive or name not in treated)
    ]
    if unchanged:
        points.append(
            Point(
                "Unchanged columns",
                f"{listed(unchanged)} {'is' if len(unchanged) == 1 else 'are'} released as in "
                "the original, and the adversary is taken not to know them, except as known "
                "events.",
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


def _population_assumed(release: Release | None, risk: Risk) -> str:
    """Which population the numbers speak about, in a paragraph.

    Parameters
    ----------
    release
        The release; ``None`` for an assessment.
    """
    own = risk.population
    if own is None and release is not None and release.population is not None:
        return (
            f"The file is a sample of {count(release.population.persons)} persons. The marketer "
            f"risk of the release against them: {release.population.marketer.why}. All other "
            "measures take the file as its own population."
        )
    if own is None:
        return (
            f"The file is taken as its own population: its {count(risk.persons)} persons are all "
            "there are. Where it is a sample and the intruder cannot know who is in it, the "
            "journalist and marketer risks are overstated."
        )
    rest = (
        "prosecutor, average_risk and records_at_risk take the person to be known to be in the "
        "file, as they would be without a population."
    )
    if own.marketer.estimator == REGISTER:
        return (
            f"The file is a sample of the {count(own.population)} persons of a register, and the "
            "intruder is taken to hold it, with the quasi-identifiers written as there. Nothing "
            f"is estimated; {rest}"
        )
    return (
        f"The file is taken as a random sample of {count(own.population)} persons; where chances "
        "differ, the weights say how. The intruder is taken to hold a register of all of them. "
        "If the sample is not random (one hospital’s patients, volunteers), the estimates may "
        f"be off by more than their intervals; {rest}"
    )


_HAS_PERSONS = Point(
    "Persons", "Records belong to one person where the linkage or the person column says so."
)
_ASSUMED = (
    Point(
        "Roles",
        "Only the quasi-identifiers are known outside the file. A column that is sensitive or "
        "insensitive here and known to somebody all the same helps that person more than these "
        "numbers say.",
    ),
    Point(
        "Exact knowledge",
        "The adversary knows each quasi-identifier exactly as the original has it. Real knowledge "
        "is older and has mistakes, so that most would find less.",
    ),
    Point(
        "Missing values",
        "A missing quasi-identifier is a kind of its own: the adversary is taken to know that it "
        "is missing.",
    ),
    Point(
        "Sensitive values",
        "Two values are the same or different; that different ones may mean nearly the same is not "
        "measured.",
    ),
)
_SHUFFLED = Point("Order", "The records are shuffled, so that their order says nothing.")
_IN_ORDER = Point(
    "Order", "The records keep the order of the original: whoever knows it can match them."
)
_LIMITS = (
    Point(
        "Other knowledge",
        "Whoever knows more than the quasi-identifiers, such as a diagnosis or a date, can do more "
        "than these numbers say. Of such knowledge only the number of records is measured.",
    ),
    Point(
        "Other files",
        "Earlier and later releases of the same persons are considered as far as a ledger of "
        "releases says so, and not otherwise.",
    ),
    Point(
        "Attacks not tried",
        "That simulated attacks stay below a prediction proves nothing about attacks that were not "
        "tried, nor about intruders who hold more.",
    ),
    Point(
        "Averages",
        "An average says nothing about the person who is worst off; a limit on the worst class is "
        "not a limit on every person in it.",
    ),
)
_LINKAGE = Point(
    "Linkage",
    "Errors of the linkage pass into the release: joined strangers make persons look larger, "
    "records left apart make one person look like two. Expected rates are the linkage model’s; "
    "only checked ones rest on answers of people.",
)


def project_assumptions(*, has_persons: bool, keeps_order: bool | None) -> list[Point]:
    """What the numbers of a project take for granted.

    Parameters
    ----------
    has_persons
        Whether a column says which records are of one person.
    keeps_order
        Whether the release keeps the order of its records; ``None`` where a policy decided.
    """
    points = [_HAS_PERSONS if has_persons else _NO_PERSONS, *_ASSUMED]
    if keeps_order is not None:
        points.append(_IN_ORDER if keeps_order else _SHUFFLED)
    return points


def project_limits(*, linked: bool) -> list[Point]:
    """What the numbers of a project do not say; more where its records were linked."""
    return [*_LIMITS, _LINKAGE] if linked else [*_LIMITS]


ATTACK_TITLES = {
    "exact_free": "Exact matching, each record on its own",
    "exact_one_to_one": "Exact matching, nobody named twice",
    "exact_surest": "Exact matching, surest guesses",
    "exact_targeted": "Exact matching, easiest targets",
    "exact_counts": "Exact matching with numbers of records",
    "exact_counts_surest": "Numbers of records, surest guesses",
    "probabilistic": "Probabilistic matching, each on its own",
    "probabilistic_one_to_one": "Probabilistic matching, nobody twice",
    "multi_record": "Multi-record linkage",
    "multi_record_surest": "Multi-record linkage, surest classes",
    "multi_record_counts": "Multi-record linkage with numbers",
    "multi_record_counts_surest": "With numbers, surest classes",
    "events_1": "One event known",
    "events_2": "Two events known",
    "events_3": "Three events known",
    "events_scored_2": "Two events known, by a score",
    "events_scored_3": "Three events known, by a score",
    "events_moved_1": "One event known, all dates moved",
    "events_moved_2": "Two events known, all dates moved",
    "events_moved_3": "Three events known, all dates moved",
    "intersection": "Intersection of two releases",
    "intersection_surest": "Intersection, surest guesses",
    "trajectory": "Two releases joined by histories",
    "associations": "Refinement by associations",
    "screen": "What a worker’s screen showed",
    "row_order": "Order of the records",
    "identifiers": "Identifiers left in",
    "column": "Class and one further column",
    "combinations": "All further columns together",
    "singling_out": "Ends of ranges",
    "downcoding": "Parts of cells that cannot be empty",
    "informed": "The same done to the reader’s own file",
    "inference": "Sensitive value",
    "inference_surest": "Sensitive value, surest classes",
    "inference_intersection": "Sensitive value from two releases",
    "inference_model": "Sensitive value by a model",
    "inference_minimality": "Sensitive value, as the class was not cut",
    "household": "Households by their members",
    "household_surest": "Households, surest guesses",
}
"""By the name of the attack, or what stands before its colon."""

_PREDICTED = {
    "found_1": "share of people found when one event of each is known, too",
    "found_2": "the same with two events",
    "found_3": "the same with three events",
    "avg_gidr": "largest share of a class's records that belongs to one person, mean over classes",
    "max_gsar": "largest share of one class's people with the same sensitive value",
    "avg_count_risk": "chance to find a person whose number of records is known, mean over people",
    "linkage_risk": "chance to find a linked person in the local data, mean over people",
    "screen_risk": "chance to find a record that a screen showed, mean over records",
    "linkage_k": "that chance for anybody, at most",
}
"""Measures whose usual words refer to the line above them."""


def predicted_meaning(name: str) -> str:
    """What a measure means, without the column that it is about.

    Parameters
    ----------
    name
        Its name, such as ``max_gsar:icd9``.
    """
    kind = name.partition(":")[0]
    return _PREDICTED.get(kind) or MEANINGS.get(kind, kind)


def attack_title(name: str) -> str:
    """The name of an attack as people read it.

    Parameters
    ----------
    name
        Its name, such as ``inference:icd9``.
    """
    kind, colon, column = name.partition(":")
    title = ATTACK_TITLES.get(name) or ATTACK_TITLES.get(kind)
    title = title or kind.replace("_", " ").capitalize()
    return f"{title}: {column}" if colon else title
