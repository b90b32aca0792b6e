"""What attacks and measures are called where people read about them."""

from __future__ import annotations

from sfumato.core.measure import Measure
from sfumato.intruder.referee.outcome import Outcome
from sfumato.reports.numbers import NONE, percent
from sfumato.risk.measure_table import MEANINGS

TITLES = {
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
    "intersection": "Intersection of two releases",
    "intersection_surest": "Intersection, surest guesses",
    "associations": "Refinement by associations",
    "screen": "What a worker’s screen showed",
    "row_order": "Order of the records",
    "identifiers": "Identifiers left in",
    "inference": "Sensitive value",
    "inference_surest": "Sensitive value, surest classes",
    "inference_intersection": "Sensitive value from two releases",
}
"""By the name of the attack, or what stands before its colon."""

_READS = (
    "The intruder reads the released file as anybody would, with a parser that shares no code with "
    "what wrote it. Only the referee, who counts right guesses, knows whose each record is."
)
_KNOWS = (
    "A prediction is about an intruder who knows the quasi-identifiers and nothing else of the "
    "released persons. Columns that are declared sensitive or insensitive are taken as unknown "
    "outside the file; if they are not, they must be declared quasi-identifiers."
)
_EXCEEDS = (
    "97.5 % of such attacks have no more right guesses than is said under “at most” if the "
    "prediction is true; of many attacks some have more by chance. A prediction counts as exceeded "
    "where that does not explain it for all attacks of the run together (Holm’s procedure): if all "
    "predictions are true, one or more are called exceeded in one run in forty, at most."
)
_BELOW = (
    "An attack that stays below a prediction proves nothing about attacks that were not tried, nor "
    "about intruders who hold more than this one did."
)
ASSUMPTIONS = (_READS, _KNOWS, _EXCEEDS, _BELOW)
"""What the numbers rest on, in plain words."""

OWN_WORDS = {
    "avg_gidr": "largest share of a class's records that belongs to one person, mean over classes",
    "max_gsar": "largest share of one class's people with the same sensitive value",
    "avg_count_risk": "chance to find a person whose number of records is known, mean over people",
    "linkage_risk": "chance to find a linked person in the local data, mean over people",
    "screen_risk": "chance to find a record that a screen showed, mean over records",
    "linkage_k": "that chance for anybody, at most",
}
"""Measures whose usual words refer to the line above them."""
BELOW_CLAIM = (
    "The predictions were measured on the released file itself, since it came without any. They "
    "say how large its classes are, not that this is acceptable: hold them against a threshold."
)


def meaning_of(name: str) -> str:
    """What a measure means, without the column that it is about.

    Parameters
    ----------
    name
        Its name, such as ``max_gsar:icd9``.
    """
    kind = name.partition(":")[0]
    return OWN_WORDS.get(kind) or MEANINGS.get(kind, kind)


def title_of(name: str) -> str:
    """The name of an attack as people read it.

    Parameters
    ----------
    name
        Its name, such as ``inference:icd9``.
    """
    kind, colon, column = name.partition(":")
    title = TITLES.get(name) or TITLES.get(kind) or kind.replace("_", " ").capitalize()
    return f"{title}: {column}" if colon else title


def interval(measure: Measure | None) -> str:
    """The interval of a share as text; nothing where it has none."""
    if measure is None or measure.low is None or measure.high is None:
        return ""
    if measure.low == measure.high == measure.value:
        return ""
    return f"{percent(measure.low)} to {percent(measure.high)}"


def share(value: float | None) -> str:
    """A share as text, or a dash."""
    return NONE if value is None else percent(value)


def sentence(text: str) -> str:
    """A note as a sentence.

    Parameters
    ----------
    text
        The note.
    """
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def met(outcome: Outcome) -> bool | None:
    """Whether a prediction held; ``None`` where none was made."""
    return None if outcome.predicted is None or not outcome.attempts else not outcome.broken
