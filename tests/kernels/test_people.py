"""The loops over each person's records agree with their oracles, and with plain Python."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from oracles import people

from sfumato.kernels import _classes, class_counts

KERNELS = [class_counts, people]


@st.composite
def files(draw):
    """A file of some persons in any order, with a column of codes, some missing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    persons, size = draw(st.integers(1, 12)), draw(st.integers(1, 9))
    most = draw(st.sampled_from([3, 90]))
    person = np.repeat(np.arange(persons, dtype=np.int32), rng.integers(1, most, persons))
    if draw(st.booleans()):
        person = rng.permutation(person)
    codes = rng.integers(-draw(st.integers(0, 1)), size, len(person)).astype(np.int32)
    return rng, person, persons, codes, size


def owned(person, persons, codes):
    return [[code for code in codes[person == p].tolist() if code >= 0] for p in range(persons)]


@given(files())
def test_rows_of_each_person(file):
    _, person, persons, _, _ = file
    for kernel in KERNELS:
        rows, starts = kernel.group_rows(person, persons)
        for p in range(persons):
            assert_array_equal(rows[starts[p] : starts[p + 1]], np.flatnonzero(person == p))


@given(files())
def test_sums(file):
    rng, person, persons, codes, size = file
    values = rng.random(size)
    found = [kernel.sums(*people.group_rows(person, persons), codes, values) for kernel in KERNELS]
    for one, other in zip(*found, strict=True):
        assert_array_equal(one, other)
    for p, own in enumerate(owned(person, persons, codes)):
        total, square, present, lowest, highest = (each[p] for each in found[0])
        assert total == sum(values[code] for code in sorted(own))
        assert square == sum(values[code] * values[code] for code in sorted(own))
        assert present == len(own)
        assert (lowest, highest) == ((min(own), max(own)) if own else (2**31 - 1, -1))


@given(files())
def test_sums_do_not_depend_on_the_order_of_the_records(file):
    rng, person, persons, codes, size = file
    values = rng.random(size)
    for kernel in KERNELS:
        found = []
        for order in (np.arange(len(person)), rng.permutation(len(person))):
            rows, starts = people.group_rows(person[order], persons)
            found.append(kernel.sums(rows, starts, codes[order], values))
        for one, other in zip(*found, strict=True):
            assert_array_equal(one, other)


@given(files(), st.sampled_from([3, 10**6, 2**53]))
def test_ranks_of_means(file, spread):
    rng, person, persons, codes, size = file
    points = np.sort(rng.choice(spread, size, replace=spread < size)) - spread // 2
    rows, starts = people.group_rows(person, persons)
    means = [
        Fraction(sum(int(points[code]) for code in own), len(own)) if own else Fraction(points[0])
        for own in owned(person, persons, codes)
    ]
    expected = [sorted(set(means)).index(mean) for mean in means]
    rank, ranks = class_counts.mean_ranks(rows, starts, codes, points)
    assert (rank.tolist(), ranks) == (expected, len(set(means)))
    if spread < 2**40:
        keys = _classes.mean_keys(rows, starts, codes, points, int(np.diff(starts).max()))
        ranks = _classes.rank(keys, np.argsort(keys), rank)
        assert (rank.tolist(), ranks) == (expected, len(set(means)))


@given(files())
def test_modes_and_distinct_codes(file):
    rng, person, persons, codes, size = file
    rows, starts = people.group_rows(person, persons)
    counts = [Counter(own) for own in owned(person, persons, codes)]
    chosen = rng.permutation(persons)[: rng.integers(0, persons + 1)].astype(np.int32)
    for kernel in KERNELS:
        modes = kernel.modes(rows, starts, codes, size)
        held = kernel.distinct(rows, starts, codes)
        for p, count in enumerate(counts):
            most = max(count.values(), default=0)
            assert modes[p] == min((c for c in count if count[c] == most), default=size)
        assert compressed(*held) == [sorted(count.items()) for count in counts]
        taken = compressed(*kernel.take_rows(*held, chosen))
        assert taken == [sorted(counts[p].items()) for p in chosen]


def compressed(offsets, values, counts):
    pairs = list(zip(values.tolist(), counts.tolist(), strict=True))
    return [pairs[a:b] for a, b in itertools.pairwise(offsets)]
