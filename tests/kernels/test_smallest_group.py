"""Smallest groups and tallies, of the loops and of their oracles, agree with counting in Python."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import smallest_group, value_tallies

from sfumato.kernels import record_pairs


@st.composite
def sets(draw):
    """Values with their characters, records with missing values, members, items, weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values, records, columns = (draw(st.integers(1, top)) for top in (6, 30, 3))
    lengths = rng.integers(0, 4, values)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    characters = rng.integers(1, 3, start[-1]).astype(draw(st.sampled_from([np.uint8, np.uint16])))
    codes = rng.integers(-1, values, (records, columns)).astype(np.int32)
    members = np.flatnonzero(rng.random(records) < 0.8).astype(np.uint32)
    if not len(members):
        members = np.zeros(1, np.uint32)
    items = draw(st.integers(0, 4))
    weights = rng.integers(1, 5, len(members)) if draw(st.booleans()) else np.empty(0, np.int64)
    return (
        members,
        codes,
        start,
        characters,
        rng.integers(0, columns, items),
        rng.integers(-1, 4, items),
        weights,
    )


def counted(members, codes, start, characters, columns, places, weights):
    """Size of the smallest group, by a dictionary."""

    def item(record, column, place):
        value = codes[record, column]
        if place < 0:
            return value
        text = characters[start[value] : start[value + 1]].tolist() if value >= 0 else []
        return text[place] if place < len(text) else None

    groups = Counter()
    for at, record in enumerate(members.tolist()):
        key = tuple(item(record, *each) for each in zip(columns, places, strict=True))
        groups[key] += int(weights[at]) if len(weights) else 1
    return min(groups.values())


@given(sets())
@settings(deadline=None)
def test_smallest_group_is_that_of_a_dictionary(made):
    expected = counted(*made)
    for kernel in (record_pairs, smallest_group):
        assert kernel.smallest_group(*made) == expected


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 8), st.integers(1, 9))
@settings(deadline=None)
def test_tallies_are_those_of_a_dictionary(seed, records, values, best):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, values, records)
    flags = (rng.random(records) < 0.6).astype(np.uint8)
    postings = np.argsort(codes, kind="stable").astype(np.uint32)
    edges = np.searchsorted(np.sort(codes), np.arange(values + 1)).astype(np.int64)
    order = rng.permutation(values)
    count = Counter(codes[flags == 1].tolist())
    for kernel in (record_pairs, value_tallies):
        found = kernel.tallies(postings, edges, flags)
        assert found.tolist() == [count[value] for value in range(values)]
        least = kernel.smallest_tally(postings, edges, flags, order, best)
        assert least == min([best, *count.values()])
