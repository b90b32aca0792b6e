"""How well one column tells another: against a naive computation, and by its laws."""

from __future__ import annotations

from collections import Counter
from math import isclose

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sfumato.table.dependence import (
    coded_rows,
    codes_of,
    dependences,
    exceptions,
    narrows,
    neighbours,
    tells,
)

pairs = st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 3)), min_size=2, max_size=30)


def naive_tells(by: list[int], of: list[int]) -> float:
    """Each value is guessed from the other records, those of its class where there are any."""
    records = [(b, o) for b, o in zip(by, of, strict=True) if b >= 0 and o >= 0]
    if len(records) < 2:
        return 0.0
    agree = without = 0.0
    others = len(records) - 1
    for place, (own, value) in enumerate(records):
        rest = records[:place] + records[place + 1 :]
        overall = sum(o == value for _, o in rest) / others
        mates = [o for b, o in rest if b == own]
        without += overall
        agree += sum(o == value for o in mates) / len(mates) if mates else 0.0
    alone = sum(1 for b, _ in records if Counter(r[0] for r in records)[b] == 1)
    if without == len(records):
        return 0.0
    agree += alone * without / len(records)
    return max(0.0, (agree - without) / (len(records) - without))


@given(pairs)
def test_as_a_naive_computation_says(records: list[tuple[int, int]]) -> None:
    by, of = (np.array(each) for each in zip(*records, strict=True))
    assert isclose(tells(by, of), naive_tells(by.tolist(), of.tolist()), abs_tol=1e-9)
    assert 0.0 <= tells(by, of) <= 1.0


@given(pairs)
def test_exceptions_are_what_the_most_frequent_value_leaves(records: list[tuple[int, int]]) -> None:
    by, of = (np.array(each) for each in zip(*records, strict=True))
    known = [(b, o) for b, o in records if b >= 0 and o >= 0]
    right = sum(max(Counter(o for c, o in known if c == b).values()) for b in {b for b, _ in known})
    assert exceptions(by, of) == len(known) - right


def test_the_order_of_the_records_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    by, of = rng.integers(0, 9, 500), rng.integers(0, 4, 500)
    order = rng.permutation(500)
    assert isclose(tells(by, of), tells(by[order], of[order]))


def test_chance_tells_nothing_and_a_function_everything() -> None:
    rng = np.random.default_rng(1)
    by = rng.integers(0, 300, 3000)
    assert tells(by, rng.integers(0, 5, 3000)) < 0.02
    assert isclose(tells(by, by % 7), 1.0, abs_tol=1e-9)
    assert tells(np.arange(3000), rng.integers(0, 5, 3000)) == 0.0


def test_dependences_find_copies_and_functions() -> None:
    rng = np.random.default_rng(2)
    place = rng.integers(0, 40, 2000)
    columns = {
        "place": place,
        "again": 39 - place,
        "region": place // 10,
        "other": rng.integers(0, 3, 2000),
    }
    found = {(each.by, each.of): each for each in dependences(columns)}
    assert found["place", "again"].copy
    assert found["place", "region"].exceptions == 0
    assert not found["place", "region"].copy
    assert not [each for each in found if "other" in each]


def naive_narrows(by: list[int], of: list[int]) -> float:
    """The mean difference of ranks to the others of the class, beside that to all others."""
    records = [(b, o) for b, o in zip(by, of, strict=True) if b >= 0 and o >= 0]
    rank = {
        o: (
            sum(other < o for _, other in records) + sum(other <= o for _, other in records) + 1
        ) / 2
        for _, o in records
    }  # fmt: skip

    def mean(pairs: list[tuple[int, int]]) -> float:
        return sum(abs(rank[a] - rank[b]) for a, b in pairs) / len(pairs)

    places = range(len(records))
    every = [(records[i][1], records[j][1]) for i in places for j in places if i != j]
    if not every or mean(every) == 0.0:
        return 0.0
    within = 0.0
    for place, (own, value) in enumerate(records):
        mates = [o for i, (b, o) in enumerate(records) if b == own and i != place]
        within += mean([(value, o) for o in mates]) if mates else mean(every)
    return max(0.0, 1.0 - within / len(records) / mean(every))


@given(pairs)
def test_nearness_as_a_naive_computation_says(records: list[tuple[int, int]]) -> None:
    by, of = (np.array(each) for each in zip(*records, strict=True))
    assert isclose(narrows(by, of), naive_narrows(by.tolist(), of.tolist()), abs_tol=1e-9)


def test_neighbours_tell_what_a_measurement_follows() -> None:
    rng = np.random.default_rng(3)
    codes = rng.permutation(400)
    assert narrows(neighbours(np.exp(-codes / 50.0)), codes) > 0.98
    assert narrows(neighbours(codes * rng.uniform(0.9, 1.1, 400)), codes) > 0.85
    assert narrows(neighbours(rng.normal(size=400)), codes) < 0.2
    assert narrows(neighbours(np.full(400, 7.0)), codes) == 0.0


def test_neighbours_keep_equal_numbers_together() -> None:
    numbers = np.array([2.0, 1.0, np.nan, 1.0, 1.0, 1.0, 1.0, 3.0, 4.0])
    places = neighbours(numbers)
    assert places[2] == -1
    assert len({int(each) for each in places[[1, 3, 4, 5, 6]]}) == 1
    assert places[0] != places[1]


def test_codes_and_rows() -> None:
    codes = codes_of(pa.chunked_array([["b", None, "a", "b"]]))
    assert codes.tolist() == [0, -1, 1, 0]
    assert codes_of(pa.array([1.0, float("nan"), 1.0])).tolist() == [0, -1, 0]
    rows = coded_rows({"x": codes, "y": np.array([0, 0, 1, 0])}, ["x", "y"])
    assert rows[0] == rows[3]
    assert len(set(rows.tolist())) == 3
