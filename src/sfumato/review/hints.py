"""Which cell to open next: belief in a match, and what each opening would tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sfumato.core.arrays import Floats, Ints
from sfumato.review import review_settings
from sfumato.review.disclosure_account import holder_of
from sfumato.review.review_project import Project, Weight
from sfumato.review.worker_state import Opening, WorkerState


class Agreement(StrEnum):
    """How two values agree, as a rendering shows it."""

    SAME = "same"
    NEAR = "near"
    OTHER = "other"
    UNKNOWN = "unknown"
    """One of them is missing."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a rendering says of the two values of an attribute.

    Attributes
    ----------
    similarity
        Share of the characters that the rows have in common, in [0, 1]; ``None`` where neither
        lengths nor places of edits show.
    value
        The value of both rows where they are the same and disclosed in full.
    rarity
        How rare the value of both rows is, where that shows and they are the same.
    """

    agreement: Agreement
    similarity: float | None = None
    value: str | None = None
    rarity: review_settings.Rarity | None = None


def read(rendered: review_settings.RenderedAttribute) -> Reading:
    """What a rendering says of the two values of an attribute."""
    marks = set(rendered.marks)
    if review_settings.Mark.MISSING in marks:
        return Reading(Agreement.UNKNOWN)
    if review_settings.Mark.IDENTICAL in marks:
        full = rendered.mode is review_settings.Mode.FULL
        value = "".join(cell.text for cell in rendered.rows[0]) if full else None
        return Reading(Agreement.SAME, 1.0, value, rendered.rarity[0])
    if review_settings.Mark.DIFFERENT in marks:
        return Reading(Agreement.OTHER, 0.0)
    # All characters are there, in the other column.
    if review_settings.Mark.NAME_SWAP in marks:
        return Reading(Agreement.NEAR, 1.0)
    return Reading(Agreement.NEAR, _similarity(rendered.rows))


def _similarity(
    rows: tuple[tuple[review_settings.Cell, ...], tuple[review_settings.Cell, ...]],
) -> float | None:
    separator, differing = review_settings.CellKind.SEPARATOR, review_settings.CellKind.DIFFERING
    characters = [[cell for cell in row if cell.kind is not separator] for row in rows]
    edited = [
        sum(cell.edit is not None or cell.kind is differing for cell in row) for row in characters
    ]
    longest = max(len(row) for row in characters)
    # No edit shows in a mask of fixed width: that is unknown, not equal.
    return 1 - max(edited) / longest if longest and any(edited) else None


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
        # From 1 down to ½, as values with more edits than that are marked entirely different.
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
    """
    # A review of plain tables has no model, and guesses of one would steer workers.
    if not project.weights or project.prior is None:
        return None
    attributes = tuple(_of_attribute(project, each) for each in project.attributes)
    return Evidence(project.prior, attributes)


def _of_attribute(
    project: Project, attribute: review_settings.Attribute
) -> AttributeEvidence | None:
    comparisons = [_of_levels(levels) for levels in project.weights_of(attribute).values()]
    # Not their sum: what shows of the attribute is one reading, and not one of each part.
    return max(comparisons, key=lambda each: each.same.log_odds, default=None)


def _of_levels(weights: Sequence[Weight]) -> AttributeEvidence:
    ordered = [Level(each.m, each.u) for each in sorted(weights, key=lambda each: -each.level)]
    return AttributeEvidence(ordered[0], tuple(ordered[1:-1]), ordered[-1])


def belief(rendered: review_settings.RenderedPair, evidence: Evidence) -> float:
    """Probability that a pair is one person's, from its rendering and the model's weights alone.

    It is not the linkage's score: frequencies of values that do not show are not in it.

    Parameters
    ----------
    evidence
        What agreement on each attribute says.
    """
    # log p / (1 − p) = log prior odds + Σ log m/u, over what shows.
    odds = math.log(evidence.prior / (1 - evidence.prior))
    for each, attribute in zip(evidence.attributes, rendered, strict=True):
        if each is not None:
            odds += each.log_odds(read(attribute))
    return probability(odds)


def probability(log_odds: float) -> float:
    """The probability of some log-odds (natural logarithm)."""
    # exp of a large positive number overflows: each side takes the one that does not.
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    power = math.exp(log_odds)
    return power / (1 + power)


def entropy(probability: Floats | float) -> Floats:
    """Uncertainty of yes or no, in bits: -p·log2(p) - (1-p)·log2(1-p)."""
    p = np.asarray(probability, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = p * np.log2(p) + (1 - p) * np.log2(1 - p)
    # p log p → 0 as p → 0, where the computer has 0 · −∞.
    return np.where((p <= 0) | (p >= 1), 0.0, -terms)


def information(match: Floats, other: Floats, belief: float) -> float:
    """Expected fall of the uncertainty whether a pair is one person's, in bits.

    The mutual information of the answer and the outcome, never negative:
    H(q) - Σ_o P(o)·H(P(match | o)), P(o) = q·P(o | match) + (1 - q)·P(o | non-match).

    Parameters
    ----------
    match, other
        Probability of each outcome for a pair of one person, and of two; shape (outcomes,), each
        of sum 1.
    belief
        q, the probability that the pair is one person's, before.
    """
    both = belief * match + (1 - belief) * other
    # An outcome that cannot be has no posterior.
    seen = both > 0
    after = belief * match[seen] / both[seen]
    # Mutual information is never negative, but its rounding may be.
    return max(0.0, float(entropy(belief) - np.sum(both[seen] * entropy(after))))


def gain_of_value(counts: Ints, belief: float) -> float:
    """What the value of two equal cells is expected to tell, in bits: a rare one tells more.

    A value that a share f of the consistent records has is agreed on with probability f by one
    person's records, and in proportion to f² by those of two persons.

    Parameters
    ----------
    counts
        Number of consistent records per value; shape (values,).
    belief
        Probability that the pair is one person's, before.
    """
    counts = counts[counts > 0]
    if len(counts) < 2:
        return 0.0
    share = counts / counts.sum()
    # One person agrees on a value with probability f, two with f²: each made to add up to 1.
    square = share**2
    return information(share, square / square.sum(), belief)


def gain_of_levels(levels: Sequence[Level], belief: float) -> float:
    """What two different cells are expected to tell, in bits: which of the levels they are in."""
    if len(levels) < 2:
        return 0.0
    match = np.array([each.m for each in levels])
    other = np.array([each.u for each in levels])
    if not match.sum() or not other.sum():
        return 0.0
    return information(match / match.sum(), other / other.sum(), belief)


FREE = 1e-12
"""What an opening without cost is taken to cost, in KAPR."""
NOTHING = 1e-9
"""Bits below which an opening is taken to tell nothing."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What an opening is expected to tell.

    Attributes
    ----------
    opening
        The opening: one attribute.
    gain
        Expected fall of the uncertainty whether the pair is one person's, in bits.
    cost
        Its cost in KAPR, as the worker is told it.
    """

    opening: Opening
    gain: float
    cost: float

    @property
    def worth(self) -> float:
        """Gain per unit of cost."""
        return self.gain / max(self.cost, FREE)


def hints(worker: WorkerState, pair: int, evidence: Evidence) -> tuple[Hint, ...]:
    """The single cells of a pair that may be opened and tell something, the worthiest first.

    Everything is an expectation over the values that are consistent with what the worker sees:
    over the anonymity set, not of the value behind the mask.
    """
    rendered = worker.render(pair)
    now = belief(rendered, evidence)
    worthwhile = []
    for cost in worker.costs(pair):
        # Single cells only: their gains are not independent, so that those of groups do not add up.
        if len(cost.opening.attributes) > 1 or cost.refusal is not None:
            continue
        place = cost.opening.attributes[0]
        of = evidence.attributes[place]
        if of is not None:
            gain = _gain(worker, pair, place, rendered[place], of, now)
            if gain > NOTHING:
                worthwhile.append(Hint(cost.opening, gain, cost.cost))
    return tuple(sorted(worthwhile, key=lambda hint: -hint.worth))


def _gain(
    worker: WorkerState,
    pair: int,
    place: int,
    rendered: review_settings.RenderedAttribute,
    evidence: AttributeEvidence,
    now: float,
) -> float:
    agreement = read(rendered).agreement
    if agreement is Agreement.NEAR and rendered.mode is review_settings.Mode.MASKED:
        return gain_of_levels(evidence.between(), now)
    if agreement is not Agreement.SAME:
        return 0.0
    review = worker.review
    # Values that show as equal are the same in both rows, so that row 1 says it for both.
    members = worker.account.members(holder_of(review, pair, 0))
    records = np.frombuffer(members.to_array(), dtype=np.uint32)
    codes = review.index.database.codes[records, place]
    return gain_of_value(np.unique(codes[codes >= 0], return_counts=True)[1], now)
