"""Malformed input is refused at the door, with the fault named and no value said."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato.core.errors import InputError
from sfumato.schema import Schema
from sfumato.table.door import open_table
from sfumato.table.sources import Source

CANARY = "cAnArY"
T = f"{CANARY} text"
NAN = float("nan")
FULL: list[Any] = ["1", "2", "3", "4"]
DAYS = ["2024-01-31", "2024-02-29", "2024-01-31"]
LISTS = pa.array([[T], [T], [T], [T]])
FAR_DAYS = pa.array([0, 1, 2, 4_000_000], pa.int32()).cast(pa.date32())
FAR_TIME = pa.array([0, 1, 2, 2**61]).cast(pa.timestamp("s"))
IN_4 = "in row 4"
SINGLE = "column '.' must hold single values; found "
EMPTY = "must hold values, as a (quasi-identifier|sensitive attribute); found missing values only"
LARGE = "numbers below 2\\*\\*53.*in row 4"

NAMES: dict[str, tuple[dict[str, Any], str, str]] = {
    # what: (schema, the file's column, the message must match)
    "quasi-identifier": ({}, "b", "must have the column 'a'.*as quasi-identifier"),
    "person": ({"person": "p"}, "a", "must have the column 'p'.*as person"),
    "sensitive": ({"sensitive": "s"}, "a", "must have the column 's'.*as sensitive"),
    "direct identifier": ({"direct_identifiers": "n"}, "a", "the column 'n'.*as direct"),
    "insensitive": ({"insensitive": "n"}, "a", "the column 'n'.*as insensitive"),
    "another case": ({"quasi_identifiers": ["Age"]}, "age ", "did you mean 'age '"),
    "misspelt": ({"quasi_identifiers": ["birth_yaer"]}, "birth_year", "did you mean 'birth_year'"),
    "a header that is data": ({"quasi_identifiers": ["age"]}, T, "first line is its header"),
}

NUMERIC: dict[str, tuple[Any, str]] = {
    "text among numbers": (["1", T, "3", T], "found text in 2 records, the first in row 2"),
    "text alone": ([T] * 4, "found text in 4 records"),
    "text in a dictionary": (pa.array(["1", T, "3"]).dictionary_encode(), "text in row 2"),
    "a decimal comma": (["1", "2", "3", "4,5"], "with a decimal comma.*in row 4"),
    "thousands": (["1", "2", "3", "1 000 000"], "separators of thousands in row 4"),
    "a currency": (["1", "2", "3", "€ 12.50"], "numbers with a unit or sign in row 4"),
    "a unit": (["1", "2", "3", f"12 {CANARY}"], "numbers with a unit or sign in row 4"),
    "below a limit": (["1", "2", "3", "<5"], "numbers with a unit or sign in row 4"),
    "other dates": (["31/12/2023"] * 4, "dates in another form in 4 records"),
    "no leap year": ([*DAYS, "2023-02-29"], "dates in another form in row 4"),
    "the text NaN": (["1", "2", "3", "NaN"], "found text in row 4.*'missing'"),
    "digits of another script": (["1", "2", "3", "\uff14"], "found text in row 4"),
    "a line break": (["1", "2", "3", f"4\n{CANARY}"], IN_4),
    "a zero byte": (["1", "2", "3", f"4\0{CANARY}"], IN_4),
    "infinite texts": (["1", "inf", "-Infinity"], "an infinite number in 2 records"),
    "infinite floats": ([1.0, float("inf")], "an infinite number in row 2"),
    "a date among numbers": (["1", "2", DAYS[0]], "found both \\(dates in row 3\\)"),
    "a number among dates": ([*DAYS, "4"], "found both \\(numbers in row 4\\)"),
    "booleans": ([True, False], "found true and false"),
    "times": (pa.array([1, 2], pa.time32("s")), "found times of day"),
    "a large integer": ([1, 2, 3, 2**53], LARGE),
    "a large negative integer": ([1, 2, 3, -(2**63)], LARGE),
    "a large unsigned integer": (pa.array([1, 2, 3, 2**64 - 1], pa.uint64()), LARGE),
    "a long text of digits": (["1", "2", "3", "9" * 30], LARGE),
    "a large exponent": (["1", "2", "3", "1e99999"], LARGE),
    "a large float": ([1.0, 2.0, 3.0, 1e300], LARGE),
    "a large decimal": ([Decimal(1), Decimal(2), Decimal(3), Decimal(10) ** 30], LARGE),
    "days beyond the calendar": (FAR_DAYS, "year 1 to 9999.*in row 4"),
    "times beyond the calendar": (FAR_TIME, "year 1 to 9999.*in row 4"),
    "a sentinel beside times": ([f"{DAYS[0]}T10:00"] * 3 + ["9999-12-31"], "row 4.*1685 to 2254"),
}

ANY_KIND: dict[str, tuple[Any, str]] = {
    "infinite floats": ([1.0, float("inf")], "an infinite number in row 2"),
    "an unknown zone": (pa.array([0], pa.timestamp("s", "No/Where")), "time zone that this"),
    "lists": (LISTS, SINGLE + "lists or structures"),
    "structures": (pa.array([{"k": T}]), SINGLE + "lists or structures"),
    "mappings": (pa.array([[(T, T)]], pa.map_(pa.string(), pa.string())), SINGLE + "lists"),
    "unions": (
        pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([T])]),
        SINGLE + "lists or structures",
    ),
    "durations": (pa.array([1], pa.duration("s")), SINGLE + "durations"),
    "intervals": (pa.array([(1, 2, 3)], pa.month_day_nano_interval()), SINGLE + "durations"),
    "bytes": ([T.encode()], SINGLE + "bytes"),
    "nulls": (pa.nulls(4), EMPTY),
    "empty texts": (["", " ", "", "\t"], EMPTY),
    "NaN": ([NAN, NAN], EMPTY),
    "texts that mean missing": ([T, T], EMPTY),
    "numbers that mean missing": (["-9.0", "-9"], EMPTY),
    "no records": (pa.array([], pa.string()), "must have records"),
}

SENSITIVE: dict[str, tuple[Any, str]] = {
    "lists": (LISTS, SINGLE + "lists"),
    "bytes": ([T.encode()] * 4, SINGLE + "bytes"),
    "durations": (pa.array([1] * 4, pa.duration("s")), SINGLE + "durations"),
    "nulls": (pa.nulls(4), EMPTY),
    "NaN": ([NAN] * 4, EMPTY),
    "blanks": (["", "  ", "", ""], EMPTY),
}

PERSON: dict[str, tuple[Any, str]] = {
    "null": (["1", None, "3", None], "no person id in 2 records, the first in row 2"),
    "empty": ([CANARY, CANARY, "3", ""], "no person id in row 4"),
    "blank": (["  ", CANARY, "3", "\t"], "no person id in 2 records, the first in row 1"),
    "NaN": ([1.0, NAN, 2.0, 3.0], "no person id in row 2"),
    "a text that means missing": (["1", "2", T, "3"], "no person id in row 3"),
    "a number that means missing": ([1, 2, -9, 3], "no person id in row 3"),
    "nobody": (pa.nulls(4), "no person id in 4 records, the first in row 1"),
    "lists": (LISTS, SINGLE + "lists"),
}

ORDERS: dict[str, tuple[dict[str, Any], str]] = {
    "a category too many": ({"order": ["low"]}, "others in 2 records, the first in row 2"),
    "another case": ({"order": ["Low", T]}, "others in 2 records, the first in row 1"),
    "no hierarchy file": ({"hierarchy": Path("none.csv")}, "none.csv"),
    "intervals of text": ({"hierarchy": {"widths": [10]}}, "column 'a'"),
}


def source(**columns: Any) -> Source:
    table = pa.table(columns)

    def batches(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from table.select(list(names)).to_batches(max_chunksize=3)

    return Source("data", tuple(table.column_names), batches, table.num_rows, False)


def check_refused(data: Source, message: str, **fields: Any) -> None:
    """The message matches, and a traceback would print nothing of the data."""
    schema = Schema(**{"quasi_identifiers": ["a"], "missing": [T, "-9"], **fields})
    with pytest.raises(InputError, match=f"(?s){message}") as caught:
        open_table(data, schema)
    printed = "".join(traceback.format_exception(caught.value, limit=0))
    assert CANARY not in printed
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize("what", NAMES)
def test_columns_that_the_file_lacks(what: str) -> None:
    fields, column, message = NAMES[what]
    check_refused(source(**{column: FULL}), message, **fields)


@pytest.mark.parametrize("what", NUMERIC)
def test_what_is_no_number(what: str) -> None:
    values, message = NUMERIC[what]
    check_refused(source(a=values), message, quasi_identifiers={"a": "numeric"}, missing=())


@pytest.mark.parametrize("what", ANY_KIND)
def test_what_no_quasi_identifier_can_hold(what: str) -> None:
    values, message = ANY_KIND[what]
    check_refused(source(a=values), message)


@pytest.mark.parametrize("what", SENSITIVE)
def test_what_no_sensitive_attribute_can_hold(what: str) -> None:
    values, message = SENSITIVE[what]
    check_refused(source(a=FULL, s=values), message, sensitive="s")


@pytest.mark.parametrize("what", PERSON)
def test_records_without_a_person(what: str) -> None:
    values, message = PERSON[what]
    check_refused(source(a=FULL, p=values), message, person="p")


@pytest.mark.parametrize("what", ORDERS)
def test_orders_and_hierarchies_that_do_not_fit(what: str) -> None:
    fields, message = ORDERS[what]
    quasi = {"a": {"kind": "ordered", **fields}}
    values = ["low", T, "low", T]
    check_refused(source(a=values), message, quasi_identifiers=quasi, missing=())


def test_a_hierarchy_that_misses_a_leaf(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("x;*\ny;*\n", encoding="utf-8")
    for kind in ("ordered", "categorical"):
        quasi = {"a": {"kind": kind, "hierarchy": file}}
        check_refused(source(a=["x", T, "y"]), "leaf", quasi_identifiers=quasi, missing=())


@pytest.mark.parametrize("schema", ["schema.toml", Path("schema.toml"), {"person": "p"}, None])
def test_what_is_no_schema(schema: Any) -> None:
    with pytest.raises(InputError, match=r"schema must be a Schema; found .*load_schema"):
        open_table(source(a=FULL), schema)


def test_types_that_change_on_the_way() -> None:
    for changed, values in (("a", [T, T]), ("b", [T, T]), ("a", [[T], [T]])):
        parts = [{"a": [1, 2], "b": [1, 2]}, {"a": [1, 2], "b": [1, 2], changed: values}]

        def batches(names: Sequence[str], parts: Any = parts) -> Iterator[pa.RecordBatch]:
            for part in parts:
                yield pa.record_batch({name: pa.array(part[name]) for name in names})

        data = Source("data", ("a", "b"), batches, None, False)
        check_refused(data, "one type|single values", insensitive="b")
