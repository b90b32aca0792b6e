"""The same people are known again through changes; other people are not taken for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from same_people import Rows, a_tenth_other, any_letter, of_the_name, other_order, people

from sfumato.ledger.record_sketches import KEPT, RecordSketch, sketch_records

KEY = b"k" * 32


def sketch(rows: Rows) -> RecordSketch:
    columns = [pa.chunked_array([pa.array(each, pa.string())]) for each in zip(*rows, strict=True)]
    return sketch_records(columns, KEY)


def other_columns(rows: Rows) -> Rows:
    return [[row[5], row[2], row[1]] for row in rows]


def capitals(rows: Rows) -> Rows:
    return [[(value or "").upper() for value in row] for row in rows]


def a_part(rows: Rows) -> Rows:
    return rows[: len(rows) // 4]


def each_twice(rows: Rows) -> Rows:
    return [*rows, *any_letter(rows)]


@pytest.mark.parametrize(
    "change",
    [any_letter, of_the_name, other_order, a_tenth_other, capitals, a_part, each_twice],
)
@pytest.mark.parametrize("count", [60, 4_000])
def test_the_same_people_are_known_again(change: Callable[[Rows], Rows], count: int) -> None:
    rows = people(count, 1)
    changed = change(rows)
    assert changed != rows
    assert sketch(rows).has_people_of(sketch(changed))
    assert sketch(changed).has_people_of(sketch(rows))


def test_the_same_people_are_known_by_three_columns() -> None:
    rows = people(2_000, 1)
    assert sketch(rows).has_people_of(sketch(other_columns(rows)))


@pytest.mark.parametrize("count", [8, 60, 1_000, 12_000])
def test_other_people_of_one_population_are_others(count: int) -> None:
    files = [sketch(people(count, seed)) for seed in range(1, 5)]
    for number, one in enumerate(files):
        for other in files[:number]:
            assert not one.has_people_of(other)


def test_a_twentieth_in_common_is_too_few_and_a_third_is_enough() -> None:
    rows, others = people(3_000, 1), people(3_000, 2)
    first = sketch(rows)
    assert not first.has_people_of(sketch([*rows[:100], *others[100:]]))
    assert first.has_people_of(sketch([*rows[:1_000], *others[1_000:]]))


def test_few_people_of_a_large_file_are_found_in_it() -> None:
    rows = people(30_000, 1)
    assert sketch(rows[:300]).has_people_of(sketch(rows))
    assert not sketch(people(300, 2)).has_people_of(sketch(rows))


def test_a_sketch_is_small_is_written_and_read_and_tells_nothing_without_the_key() -> None:
    made = sketch(people(4_000, 1))
    assert 0.8 * KEPT < len(made.digests) < 1.2 * KEPT
    data = made.to_bytes()
    assert len(data) < 100_000
    read = RecordSketch.from_bytes(data)
    assert (read.limit, read.digests.tolist()) == (made.limit, made.digests.tolist())
    assert read.has_people_of(made)
    rows = people(4_000, 1)
    columns = [pa.chunked_array([pa.array(each, pa.string())]) for each in zip(*rows, strict=True)]
    assert not made.has_people_of(sketch_records(columns, b"another" * 5))
    assert str(len(made.digests)) in repr(made)


def test_missing_values_are_nothing_in_common() -> None:
    rows = [[row[0], None, row[2], None, None, row[5]] for row in people(500, 1)]
    others = [[row[0], None, row[2], None, None, row[5]] for row in people(500, 2)]
    assert sketch(rows).has_people_of(sketch(rows))
    assert not sketch(rows).has_people_of(sketch(others))


def test_combinations_are_those_that_one_stranger_in_a_hundred_may_share() -> None:
    # 1,000 records: 1,000 / 19 ** 4 is .008 of them, with a column of two values .073.
    rng = np.random.default_rng(3)
    codes = [*rng.integers(0, 19, (4, 1_000)), rng.integers(0, 2, 1_000)]
    rows = [[f"{chr(97 + code)}" for code in record] for record in zip(*codes, strict=True)]
    assert len(np.unique(sketch(rows).kinds)) == 1
    fewer = [codes[0] % 9, *codes[1:]]  # 1,000 / (9 * 19 ** 3) is .016
    rows = [[f"{chr(97 + code)}" for code in record] for record in zip(*fewer, strict=True)]
    assert len(np.unique(sketch(rows).kinds)) == 5


def test_a_piece_is_of_four_letters() -> None:
    rng = np.random.default_rng(4)
    rows = [["".join(rng.choice(list("abcdefgh"), 10)) for _ in range(4)] for _ in range(300)]
    for place, same in ((3, False), (4, True), (5, True), (6, False)):
        changed = [[f"{value[:place]}z{value[place + 1 :]}" for value in row] for row in rows]
        assert (sketch(changed).digests.tolist() == sketch(rows).digests.tolist()) == same
