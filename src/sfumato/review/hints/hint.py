"""The openings of a pair by what they are expected to tell per unit of cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.review.hints.belief import belief
from sfumato.review.hints.evidence import AttributeEvidence, Evidence
from sfumato.review.hints.gain import gain_of_levels, gain_of_value
from sfumato.review.hints.reading import Agreement, read
from sfumato.review.modes import Mode
from sfumato.review.state.opening import Cost, Opening
from sfumato.review.state.step import holder_of
from sfumato.review.state.worker import WorkerState
from sfumato.review.values import RenderedAttribute

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

    Parameters
    ----------
    worker
        What the worker has been shown.
    pair
        The pair, which is shown.
    evidence
        What agreement on each attribute says.

    Raises
    ------
    InputError
        If the pair is not one of this worker's, or not shown.
    """
    rendered = worker.render(pair)
    now = belief(rendered, evidence)
    found = []
    for cost in _single(worker.costs(pair)):
        place = cost.opening.attributes[0]
        of = evidence.attributes[place]
        if of is not None:
            gain = _gain(worker, pair, place, rendered[place], of, now)
            if gain > NOTHING:
                found.append(Hint(cost.opening, gain, cost.cost))
    return tuple(sorted(found, key=lambda hint: -hint.worth))


def _single(costs: tuple[Cost, ...]) -> list[Cost]:
    return [each for each in costs if len(each.opening.attributes) == 1 and each.refusal is None]


def _gain(
    worker: WorkerState,
    pair: int,
    place: int,
    rendered: RenderedAttribute,
    evidence: AttributeEvidence,
    now: float,
) -> float:
    agreement = read(rendered).agreement
    if agreement is Agreement.NEAR and rendered.mode is Mode.MASKED:
        return gain_of_levels(evidence.between(), now)
    if agreement is not Agreement.SAME:
        return 0.0
    review = worker.review
    members = worker.account.members(holder_of(review, pair, 0))
    records = np.frombuffer(members.to_array(), dtype=np.uint32)
    codes = review.index.database.codes[records, place]
    return gain_of_value(np.unique(codes[codes >= 0], return_counts=True)[1], now)
