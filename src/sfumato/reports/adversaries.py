"""Attacks, and what the report of a project takes for granted, in words."""

from __future__ import annotations

from dataclasses import dataclass

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
    "singling_out": "Ends of ranges",
    "inference": "Sensitive value",
    "inference_surest": "Sensitive value, surest classes",
    "inference_intersection": "Sensitive value from two releases",
    "inference_model": "Sensitive value by a model",
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
