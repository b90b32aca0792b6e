"""What agreement on an attribute says of a pair, by the linkage's model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.review.attributes import Attribute
from sfumato.review.hints.reading import Agreement, Reading
from sfumato.review.project.project import Project, Weight

LEAST = 1e-9
"""The least probability of a level."""


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a comparison.

    Attributes
    ----------
    m, u
        Its probability among pairs of one person, and of different persons.
    """

    m: float
    u: float

    @property
    def log_odds(self) -> float:
        """What it adds to the log-odds (natural logarithm) that they are one person."""
        return math.log(max(self.m, LEAST) / max(self.u, LEAST))


@dataclass(frozen=True, slots=True)
class AttributeEvidence:
    """What agreement on one attribute says.

    Attributes
    ----------
    same
        The level of equal values.
    near
        The levels between, the nearest to equal first.
    other
        The level of entirely different values.
    """

    same: Level
    near: tuple[Level, ...]
    other: Level

    def between(self) -> tuple[Level, ...]:
        """The levels that values which differ in some characters may be in."""
        return self.near or (self.other,)

    def log_odds(self, reading: Reading) -> float:
        """What a rendering of it adds to the log-odds (natural logarithm).

        Values that differ in some characters are taken for the level that the share of common
        characters is nearest to, the levels spread evenly from 1 down to a half; for all levels
        between together where that share does not show.

        Parameters
        ----------
        reading
            What the rendering says.
        """
        if reading.agreement is Agreement.UNKNOWN:
            return 0.0
        if reading.agreement is Agreement.SAME:
            return self.same.log_odds
        if reading.agreement is Agreement.OTHER:
            return self.other.log_odds
        levels = self.between()
        if reading.similarity is None:
            return Level(sum(each.m for each in levels), sum(each.u for each in levels)).log_odds
        place = int(min(max(1 - reading.similarity, 0.0) * 2, 0.999) * len(levels))
        return levels[place].log_odds


@dataclass(frozen=True, slots=True)
class Evidence:
    """What agreement on each attribute says.

    Attributes
    ----------
    prior
        Probability that two records are one person's before anything is compared.
    attributes
        Per attribute; ``None`` where the model compares nothing of it.
    """

    prior: float
    attributes: tuple[AttributeEvidence | None, ...]


def evidence_of(project: Project) -> Evidence | None:
    """What the model of a project's linkage says; ``None`` where there is none.

    Of an attribute that several comparisons are about, the one counts that says most.

    Parameters
    ----------
    project
        The project.
    """
    if not project.weights or project.prior is None:
        return None
    found = tuple(_of_attribute(project, each) for each in project.attributes)
    return Evidence(project.prior, found)


def _of_attribute(project: Project, attribute: Attribute) -> AttributeEvidence | None:
    comparisons = [_of_levels(levels) for levels in project.weights_of(attribute).values()]
    return max(comparisons, key=lambda each: each.same.log_odds, default=None)


def _of_levels(weights: Sequence[Weight]) -> AttributeEvidence:
    ordered = [Level(each.m, each.u) for each in sorted(weights, key=lambda each: -each.level)]
    return AttributeEvidence(ordered[0], tuple(ordered[1:-1]), ordered[-1])
