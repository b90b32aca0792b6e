"""Persons with records, and some nodes of a level of the tree, for tests of its kernels."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


@st.composite
def levels(draw):
    """Persons with records and positions, and some nodes of a level."""
    persons = draw(st.integers(1, 24))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    records = rng.integers(1, 6, persons)
    position = rng.integers(0, draw(st.integers(1, 6)), persons).astype(np.int32)
    missing = int(position.max()) + draw(st.integers(0, 1))
    edges = np.sort(rng.choice(np.arange(persons + 1), min(persons + 1, 4), replace=False))
    low, high = edges[:-1:2], edges[1::2]
    low, high = low[: len(high)].astype(np.int64), high.astype(np.int64)
    order = rng.permutation(persons).astype(np.int32)
    for start, stop in zip(low, high, strict=True):
        part = order[start:stop]
        order[start:stop] = part[np.lexsort((records[part], position[part]))]
    return rng, records, position, missing, order, low, high


def compressed(rng, persons, size):
    """For each person some distinct values, with counts."""
    rows = [np.sort(rng.permutation(size)[: rng.integers(0, size + 1)]) for _ in range(persons)]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    values = np.concatenate([*rows, []]).astype(np.int32)
    return rows, offsets, values, rng.integers(1, 4, len(values)).astype(np.int32)
