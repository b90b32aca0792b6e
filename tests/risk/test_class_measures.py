"""How classes are distributed, against naive counting over the classes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.risk.class_measures import SHARE_BINS, gidr, gsar, share_counts

ROWS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 9), st.sampled_from(["a", "b", None])),
    min_size=1,
    max_size=60,
)


@given(ROWS)
def test_counts_are_those_of_the_classes(measure, rows):
    risk = measure(*zip(*((group, person) for group, person, _ in rows), strict=True),
                   illness=["a", *(illness for _, _, illness in rows[1:])])  # fmt: skip
    members, records = {}, Counter(group for group, _, _ in rows)
    for group, person, _ in rows:
        members.setdefault(group, set()).add(person)
    sizes = {group: len(persons) for group, persons in members.items()}
    shape = risk.shape
    classes = Counter(sizes.values())
    assert dict(zip(shape.persons.tolist(), shape.classes.tolist(), strict=True)) == classes
    assert shape.persons.tolist() == sorted(classes)
    of_size = {size: sum(records[group] for group in sizes if sizes[group] == size)
               for size in classes}  # fmt: skip
    assert dict(zip(shape.persons.tolist(), shape.records.tolist(), strict=True)) == of_size
    assert shape.held == sum(sizes.values())
    assert shape.alone == pytest.approx(classes[1] / len(sizes))
    for risky in (0.2, 0.5, 0.9):
        above = sum(records[group] for group, size in sizes.items() if 1 / size > risky)
        assert shape.share_above(risky) == pytest.approx(above / len(rows))
    for bins, shares in ((shape.gidr, gidr(risk.own_classes())),
                         (shape.gsar["illness"], gsar(risk.own_classes(), "illness"))):  # fmt: skip
        assert bins.sum() == len(sizes)
        assert len(bins) == SHARE_BINS
        assert bins[-1] == sum(share > 0.95 + 1e-9 for share in shares.tolist())
        assert bins[0] == sum(share <= 0.05 + 1e-9 for share in shares.tolist())
    assert shape.balance == risk.g_balance_counts


def test_twenty_bins_and_what_is_hardly_above_an_edge() -> None:
    """An edge is reached by rounding, 1e-9 of a bin above it at most."""
    counts = share_counts(np.array([0.0, 0.05, 0.05 + 4e-11, 0.05 + 6e-11, 1.0]))
    assert counts.tolist() == [3, 1, *[0] * 17, 1]
