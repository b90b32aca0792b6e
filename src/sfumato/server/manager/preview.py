"""Masked pairs of a project that is not stored yet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.utils.safestring import SafeString

from sfumato.review.disclosure_account import Review
from sfumato.review.pair_rendering import render_pair
from sfumato.review.review_settings import Mode, Rarity, RenderedAttribute
from sfumato.server.worker.cells import draw_row
from sfumato.server.worker.marks import MEANING, draw_mark, draw_rarity

PAIRS = 5


@dataclass(frozen=True)
class Column:
    """One attribute of a pair of the preview.

    Attributes
    ----------
    name
        The attribute.
    rows, rarity
        Its two rows, and how rare their values are.
    marks
        The marks between them.
    meaning
        What the marks say.
    """

    name: str
    rows: tuple[SafeString, SafeString]
    rarity: tuple[SafeString, SafeString]
    marks: tuple[SafeString, ...]
    meaning: str


def preview(review: Review, rng: np.random.Generator) -> list[tuple[Column, ...]]:
    """Some pairs with every character masked, whatever workers are shown at first.

    Parameters
    ----------
    review
        The review, in memory.
    rng
        Source of randomness: which pairs.
    """
    chosen = np.sort(rng.permutation(review.pairs)[:PAIRS]).tolist()
    masked = (Mode.MASKED,) * len(review.attributes)
    drawn = []
    for facts in map(review.facts, chosen):
        rendered = render_pair(
            review.attributes, facts.comparisons, masked, review.settings.mask_width, facts.rarity
        )
        drawn.append(tuple(_column(each) for each in rendered))
    return drawn


def _column(attribute: RenderedAttribute) -> Column:
    one, two = (draw_row(cells, row) for row, cells in enumerate(attribute.rows))
    rare, other = (_rarity(each) for each in attribute.rarity)
    return Column(
        attribute.name.replace("_", " "),
        (one, two),
        (rare, other),
        tuple(draw_mark(mark) for mark in attribute.marks),
        ", ".join(MEANING[mark] for mark in attribute.marks),
    )


def _rarity(rarity: Rarity | None) -> SafeString:
    return draw_rarity(rarity) if rarity is not None else SafeString()
