"""Pairs about which workers do not agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.review.decisions.answers import Answer
from sfumato.review.decisions.decisions import Decisions


@dataclass(frozen=True, slots=True)
class Conflict:
    """A pair that one worker calls the same person and another one different persons.

    Attributes
    ----------
    pair
        The pair's id.
    answers
        By worker, the answer that stands.
    resolution
        The manager's answer, where there is one.
    """

    pair: str
    answers: Mapping[str, Answer]
    resolution: Answer | None

    @property
    def distance(self) -> int:
        """How far the answers are apart, in steps of the six points: 1 to 5."""
        points = [_POINT[answer] for answer in self.answers.values()]
        return max(points) - min(points)


_POINT = {answer: number for number, answer in enumerate(Answer)}


def find_conflicts(decisions: Decisions) -> tuple[Conflict, ...]:
    """Pairs with answers of both sides, those without resolution first, the widest apart first.

    Answers of one side are no conflict, however far apart their confidences are.

    Parameters
    ----------
    decisions
        All that happened.
    """
    resolved = decisions.resolutions
    found = [
        Conflict(pair, answers, resolved[pair][1] if pair in resolved else None)
        for pair, answers in decisions.answers.items()
        if len({answer.same for answer in answers.values()}) > 1
    ]
    return tuple(sorted(found, key=lambda each: (each.resolution is not None, -each.distance)))
