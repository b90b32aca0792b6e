"""The order of values that are all numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.table.columns import Codes
from sfumato.table.encoding.arrow_types import from_texts
from sfumato.table.encoding.numbers import are_numbers, are_too_large, number_points


def number_ranks(labels: Sequence[str]) -> Codes | None:
    """Rank of each label as a number, equal numbers alike, from 0 without a gap.

    Parameters
    ----------
    labels
        Values as they are printed.

    Returns
    -------
    array or None
        ``None`` where a label is no number below 2**53.
    """
    texts = from_texts(labels)
    if not are_numbers(texts).all() or are_too_large(texts).any():
        return None
    points = number_points(texts).points
    return np.unique(points, return_inverse=True)[1].astype(np.int32)
