"""Ties of ids of any type, and of records' contents."""

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from sfumato.table.encoding.ties import MISSING_TIE, ties_of_codes, ties_of_values

TEXTS = pa.array(["7", "-12", "7"])


def test_ids_of_any_type_have_the_tie_of_their_text():
    expected = ties_of_values(TEXTS)
    assert expected[0] == expected[2] == -3510274804107466857
    numbers = pa.array([7, -12, 7])
    same = [
        TEXTS.cast(pa.large_string()),
        TEXTS.cast(pa.string_view()),
        TEXTS.cast(pa.binary()),
        TEXTS.dictionary_encode(),
        pa.array(["?", "7", "-12", "7", "?"]).slice(1, 3),
        pa.chunked_array([TEXTS.slice(0, 1), TEXTS.slice(1)]),
        numbers,
        numbers.cast(pa.int8()),
        numbers.cast(pa.float64()),
        pa.array([Decimal("7.00"), Decimal("-12.00"), Decimal("7.00")]),
    ]
    for values in same:
        assert_array_equal(ties_of_values(values), expected)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([1.5, 1e16, -0.0]), ["1.5", "10000000000000000", "0"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([date(2024, 1, 31)]), ["2024-01-31"]),
        (
            pa.array([datetime(2024, 1, 31), datetime(2024, 1, 31, 12)]),  # noqa: DTZ001
            ["2024-01-31", "2024-01-31T12:00:00"],
        ),
    ],
)
def test_other_types_print(values, texts):
    assert_array_equal(ties_of_values(values), ties_of_values(pa.array(texts)))


def test_missing_ids():
    for kind in (pa.string(), pa.int64(), pa.float64()):
        values = pa.array([7, None], pa.int64()).cast(kind)
        for each in (values, values.dictionary_encode()):
            assert ties_of_values(each).tolist() == [-3510274804107466857, MISSING_TIE]
    assert ties_of_values(pa.array([], pa.string())).tolist() == []
    assert ties_of_values(pa.nulls(1)).tolist() == [MISSING_TIE]


def test_contents_have_the_same_tie_whatever_the_order_of_labels():
    rng = np.random.default_rng(1)
    quasi = [rng.integers(-1, 3, 200).astype(np.int32) for _ in range(2)]
    codes = rng.integers(-1, 3, 200).astype(np.int32)
    labels = ("flu", "cold", "none")
    turned = np.array([2, 0, 1, -1], dtype=np.int32)
    one = ties_of_codes(quasi, [(codes, labels)])
    assert_array_equal(one, ties_of_codes(quasi, [(turned[codes], ("cold", "none", "flu"))]))
    contents = list(zip(*(each.tolist() for each in (*quasi, codes)), strict=True))
    pairs = set(zip(contents, one.tolist(), strict=True))
    assert len(set(one.tolist())) == len(set(contents)) == len(pairs)
    swapped = ties_of_codes(quasi[::-1], [(codes, labels)])
    assert (swapped == one).mean() < 0.5
