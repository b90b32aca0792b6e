"""The tables of 001 (Section 3.2 and 4.3), as they are drawn and counted."""

from __future__ import annotations

from fractions import Fraction

import pytest
from review.display_pairs import (
    CATEGORY,
    DATE,
    DAY_FIRST,
    MONTH_FIRST,
    NUMBER,
    STRING,
    compared,
    drawn,
    rendered,
)

from sfumato.review.pair_rendering import disclosed, more, share
from sfumato.review.review_settings import Mark, Mode, Status

TABLE_1 = [
    (
        NUMBER,
        "1742682819",
        "1742668281",
        ("*********@", "*****&****"),
        ("*********9", "*****6****"),
    ),
    (STRING, "SANCHEZ JR", "SANCHEZ", ("*******@@@", "*******"), ("******* JR", "*******")),
    (CATEGORY, "White", "Asian", ("@", "&"), ("@", "&")),
]


@pytest.mark.parametrize(("attribute", "left", "right", "masked", "partial"), TABLE_1)
def test_table_1(attribute, left, right, masked, partial):
    assert drawn(attribute, left, right) == masked
    assert drawn(attribute, left, right, Mode.PARTIAL) == partial
    assert drawn(attribute, left, right, Mode.FULL) == (left, right)


def test_a_category_has_no_partial_state():
    found = compared(CATEGORY, "White", "Asian")
    assert more(found, Mode.MASKED) == (Mode.FULL,)
    assert rendered(CATEGORY, found, Mode.PARTIAL).mode is Mode.MASKED


RECORDS = {
    1: ("Mary", "08/09/1964", "Hispanic"),
    2: ("Mark", "08/09/1964", "Hispanic"),
    3: ("Mary", "09/08/1964", "Black"),
    4: ("Mary", "09/08/1964", "Black"),
}
PAIRS = [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]
TABLE_3 = [
    *(("***@", "**/**/****"), ("***&", "**/**/****")),
    *(("****", "*@/*&/****"), ("****", "*&/*@/****")),
    *(("****", "*@/*&/****"), ("****", "*&/*@/****")),
    *(("***@", "*@/*&/****"), ("***&", "*&/*@/****")),
    *(("***@", "*@/*&/****"), ("***&", "*&/*@/****")),
    *(("****", "**/**/****"), ("****", "**/**/****")),
]
TABLE_4 = [
    *(("***y", "**/**/****"), ("***k", "**/**/****")),
    *(("****", "*8/*9/****"), ("****", "*9/*8/****")),
    *(("****", "*8/*9/****"), ("****", "*9/*8/****")),
    *(("***k", "*8/*9/****"), ("***y", "*9/*8/****")),
    *(("***k", "*8/*9/****"), ("***y", "*9/*8/****")),
    *(("****", "**/**/****"), ("****", "**/**/****")),
]
SHARES = [
    *([(Fraction(1, 4), 0, 0)] * 2),
    *([(0, Fraction(2, 8), 0)] * 4),
    *([(Fraction(1, 4), Fraction(2, 8), 0)] * 4),
    *([(0, 0, 0)] * 2),
]


@pytest.mark.parametrize("date", [DAY_FIRST, MONTH_FIRST])
@pytest.mark.parametrize("pair", range(6))
@pytest.mark.parametrize(
    ("mode", "table"),
    [
        (Mode.MASKED, TABLE_3),
        (Mode.PARTIAL, TABLE_4),
        (Mode.FULL, [RECORDS[record][:2] for pair in PAIRS for record in pair]),
    ],
)
def test_tables_3_to_5(date, pair, mode, table):
    left, right = (RECORDS[record] for record in PAIRS[pair])
    found = [drawn(a, left[i], right[i], mode) for i, a in enumerate((STRING, date))]
    assert list(zip(*found, strict=True)) == table[2 * pair : 2 * pair + 2]


@pytest.mark.parametrize("pair", range(6))
def test_disclosed_shares_of_table_4(pair):
    left, right = (RECORDS[record] for record in PAIRS[pair])
    found = [compared(a, left[i], right[i]) for i, a in enumerate((STRING, DAY_FIRST, CATEGORY))]
    for row in (0, 1):
        values = [(each.left, each.right)[row] for each in found]
        places = [disclosed(each, Mode.PARTIAL)[row] for each in found]
        assert tuple(map(share, values, places)) == SHARES[2 * pair + row]


@pytest.mark.parametrize("pair", range(6))
def test_every_share_of_table_5_is_1(pair):
    left, right = (RECORDS[record] for record in PAIRS[pair])
    for i, attribute in enumerate((STRING, DAY_FIRST, CATEGORY)):
        found = compared(attribute, left[i], right[i])
        places = disclosed(found, Mode.FULL)
        assert [share(found.left, places[0]), share(found.right, places[1])] == [1, 1]


def test_races_are_one_unit():
    assert drawn(CATEGORY, "Hispanic", "Black") == ("@", "&")
    assert drawn(CATEGORY, "Black", "Black") == ("*", "*")
    assert drawn(CATEGORY, "Hispanic", "Black", Mode.FULL) == ("Hispanic", "Black")


def test_a_swap_stands_where_the_order_puts_day_and_month():
    assert drawn(DATE, "1964-08-09", "1964-09-08") == ("****-*@-*&", "****-*&-*@")
    found = compared(DATE, "1964-08-09", "1964-09-08")
    assert found.status is Status.SIMILAR
    assert found.marks == (Mark.DAY_MONTH_SWAP,)
