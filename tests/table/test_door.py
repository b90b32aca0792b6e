"""The door: any source in, codes out, and nothing of the data in what it says."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.schema import Event, Kind, PrefixHierarchy, QuasiIdentifier, Schema
from sfumato.table.door import open_table
from sfumato.table.sources import Source
from sfumato.table.table import CodedColumn, Table

CANARY = "cAnArY"

VISITS: dict[str, list[Any]] = {
    "name": ["Ann", "Bob", "Ann", "Cyd", "Bob"],
    "patient": ["p1", "p2", "p1", "p3", "p2"],
    "age": [34, 51, 35, None, 51],
    "income": [1200.5, 900.25, 1200.5, 700.0, None],
    "sex": ["f", "m", "f", None, "m"],
    "zip": ["02138", "02139", "10001", "02138", "02139"],
    "visited": ["2024-01-31", "2024-02-29", "2023-12-01", "2024-01-31", "2024-03-01"],
    "icd9": ["250.1", "401.9", "250.1", "250.1", None],
    "note": ["a", "b", "c", "d", "e"],
}
SCHEMA = Schema(
    person="patient",
    quasi_identifiers={"age": {}, "income": {}, "sex": {}, "zip": {}, "visited": {}},
    sensitive="icd9",
    direct_identifiers="name",
    insensitive="note",
)


def source_of(table: pa.Table, rows: int = 2, text: bool = False) -> Source:
    """A source of one Arrow table, in batches of a few rows."""

    def batches(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from table.select(list(names)).to_batches(max_chunksize=rows)

    return Source("data", tuple(table.column_names), batches, table.num_rows, text)


def source(**columns: Any) -> Source:
    return source_of(pa.table(columns))


def cells(column: CodedColumn) -> list[str | None]:
    return [None if code < 0 else column.domain.label(code) for code in column.codes]


def typed() -> pa.Table:
    table = pa.table(VISITS)
    days = table["visited"].cast(pa.date32())
    return table.set_column(table.column_names.index("visited"), "visited", days)


def as_csv(folder: Path) -> Path:
    path = folder / "visits.csv"
    pd.DataFrame(VISITS).to_csv(path, index=False)
    return path


def as_parquet(folder: Path) -> Path:
    path = folder / "visits.parquet"
    pyarrow.parquet.write_table(typed(), path)
    return path


def as_pandas(folder: Path) -> pd.DataFrame:
    frame = pd.DataFrame(VISITS)
    frame["visited"] = pd.to_datetime(frame["visited"])
    frame["sex"] = frame["sex"].astype("category")
    return frame


def as_polars(folder: Path) -> pl.DataFrame:
    return pl.DataFrame(VISITS).with_columns(
        pl.col("visited").str.to_date(), pl.col("icd9").cast(pl.Categorical)
    )


def as_lazy_polars(folder: Path) -> pl.LazyFrame:
    return as_polars(folder).lazy()


def as_duckdb(folder: Path) -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    connection.register("visits", typed())
    return connection.sql(
        "select * replace (visited::timestamp as visited, income::decimal(9, 3) as income,"
        " age::utinyint as age) from visits"
    )


def as_arrow(folder: Path) -> pa.Table:
    return typed()


def as_dictionaries(folder: Path) -> Source:
    table = typed()
    arrays = [column.dictionary_encode() for column in table.columns]
    return source_of(pa.table(arrays, names=table.column_names))


MAKERS: list[Callable[[Path], object]] = [
    as_csv, as_parquet, as_pandas, as_polars, as_lazy_polars, as_duckdb, as_arrow,
    as_dictionaries,
]  # fmt: skip


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_every_kind_of_data_gives_the_same_codes(
    make: Callable[[Path], object], tmp_path: Path
) -> None:
    table = open_table(make(tmp_path), SCHEMA)
    assert table.person.tolist() == [0, 1, 0, 2, 1]
    assert (table.records, table.persons) == (5, 3)
    assert [column.kind for column in table.quasi_identifiers] == [
        Kind.NUMERIC, Kind.NUMERIC, Kind.CATEGORICAL, Kind.NUMERIC, Kind.NUMERIC,
    ]  # fmt: skip
    found = {c.name: c for c in (*table.quasi_identifiers, *table.sensitive)}
    assert cells(found.pop("visited")) == VISITS["visited"]
    zips = found.pop("zip")
    assert cells(zips) == VISITS["zip"]
    assert zips.codes.tolist() == [0, 1, 2, 0, 1]
    assert {name: cells(column) for name, column in found.items()} == {
        "age": ["34", "51", "35", None, "51"],
        "income": ["1200.50", "900.25", "1200.50", "700.00", None],
        "sex": ["f", "m", "f", None, "m"],
        "icd9": ["250.1", "401.9", "250.1", "250.1", None],
    }
    assert found["age"].codes.tolist() == [0, 2, 1, -1, 2]
    assert found["income"].codes.tolist() == [2, 1, 2, 0, -1]
    assert found["income"].domain.points.tolist() == [70000, 90025, 120050]  # type: ignore[union-attr]
    assert table.columns == tuple(VISITS)
    assert table.source.column_names == ["patient", "icd9", "note"]
    assert table.source.schema.metadata is None
    assert table.source["note"].to_pylist() == VISITS["note"]
    (warning,) = table.warnings
    assert warning == (
        "missing values, kept as a kind of their own: 'age' in 1, 'income' in 1, 'sex' in 1, "
        "'icd9' in 1 of 5 records."
    )


def test_the_schema_of_the_table_has_all_kinds_settled() -> None:
    table = open_table(source_of(typed()), SCHEMA)
    assert all(quasi.kind for quasi in table.schema.quasi_identifiers.values())
    assert table.schema.quasi_identifiers["age"] == QuasiIdentifier(kind=Kind.NUMERIC)
    assert table.schema.person == "patient"


def test_a_table_is_given_back_when_its_schema_is_the_same() -> None:
    table = open_table(source_of(typed()), SCHEMA)
    assert open_table(table, SCHEMA) is table
    assert open_table(table, table.schema) is table
    for other in (
        Schema(quasi_identifiers=["age"]),
        SCHEMA.model_copy(update={"missing": ("x",)}),
        SCHEMA.model_copy(update={"quasi_identifiers": {"age": QuasiIdentifier()}}),
    ):
        with pytest.raises(InputError, match="a table of another schema"):
            open_table(table, other)
    lean = open_table(source_of(typed()), SCHEMA, keep_source=False)
    assert open_table(lean, SCHEMA, keep_source=False) is lean
    with pytest.raises(InputError, match="keep_source=False"):
        open_table(lean, SCHEMA)


def test_without_a_person_column_every_record_is_a_person() -> None:
    table = open_table(source(age=[1, 2, 2]), Schema(quasi_identifiers=["age"]))
    assert table.person.tolist() == [0, 1, 2]
    assert table.person.dtype == np.int32


@pytest.mark.parametrize("ids", [[7, 3, 7], [7.0, 3.0, 7.0], ["b", "a", "b"], [b"b", b"a", b"b"]])
def test_person_ids_compare_as_they_are(ids: list[Any]) -> None:
    table = open_table(source(p=ids, age=[1, 2, 3]), Schema(person="p", quasi_identifiers=["age"]))
    assert table.person.tolist() == [0, 1, 0]


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("as_dictionary", [False, True])
def test_ids_of_zero_are_one_whatever_their_sign(kind: pa.DataType, as_dictionary: bool) -> None:
    ids = pa.array([0.0, -0.0, 1.5, -0.0], kind)
    if as_dictionary:
        ids = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 1], pa.int8()), ids[:3])
    schema = Schema(person="p", household="h", quasi_identifiers=["age"])
    table = open_table(source(p=ids, h=ids, age=[1, 2, 3, 4]), schema)
    assert table.person.tolist() == table.household.tolist() == [0, 0, 1, 0]


records = st.lists(
    st.tuples(
        st.sampled_from(["p", "q", "r"]),
        st.one_of(st.none(), st.integers(0, 12).map(str)),
        st.sampled_from(["x", "y 2", "y 10"]),
    ),
    min_size=1,
    max_size=25,
).filter(lambda rows: any(row[1] for row in rows))


@given(records, st.integers(1, 7), st.randoms())
def test_shuffled_rows_give_shuffled_codes(
    rows: list[tuple[str, str | None, str]], size: int, randoms: random.Random
) -> None:
    schema = Schema(person="p", quasi_identifiers=["a"], sensitive="s")

    def opened(order: Sequence[int]) -> Table:
        columns = {
            name: pa.array([rows[i][place] for i in order], pa.string())
            for place, name in enumerate("pas")
        }
        return open_table(source_of(pa.table(columns), rows=size), schema)

    order = list(range(len(rows)))
    plain = opened(order)
    randoms.shuffle(order)
    mixed = opened(order)
    one, other = plain.quasi_identifiers[0], mixed.quasi_identifiers[0]
    assert other.codes.tolist() == one.codes[order].tolist()
    assert cells(mixed.sensitive[0]) == [rows[i][2] for i in order]
    first = dict.fromkeys(rows[i][0] for i in order)
    assert mixed.person.tolist() == [list(first).index(rows[i][0]) for i in order]


# ---------------------------------------------------------------------------- streaming


def test_batches_are_read_once_one_at_a_time_and_only_the_columns_needed() -> None:
    table = typed()
    asked: list[tuple[str, ...]] = []
    alive: list[weakref.ref[pa.RecordBatch]] = []
    most = 0

    def batches(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        nonlocal most
        asked.append(tuple(names))
        for start in range(table.num_rows):
            (batch,) = table.select(list(names)).slice(start, 1).to_batches()
            alive.append(weakref.ref(batch))
            most = max(most, sum(ref() is not None for ref in alive))
            yield batch
            del batch

    counting = Source("data", tuple(table.column_names), batches, None, False)
    schema = SCHEMA.model_copy(update={"events": {"icd9": Event()}})
    open_table(counting, schema, keep_source=False)
    assert asked == [("patient", "age", "income", "sex", "zip", "visited", "icd9")]
    assert (len(alive), most) == (5, 1)
    open_table(counting, SCHEMA)
    # Columns are held against what identifies.
    assert set(asked[1]) == {*asked[0], "note", "name"}


def test_a_list_among_the_direct_identifiers_is_no_matter() -> None:
    table = typed().append_column("tags", pa.array([[1, 2]] * typed().num_rows))
    schema = SCHEMA.model_copy(update={"direct_identifiers": (*SCHEMA.direct_identifiers, "tags")})
    assert open_table(table, schema).identifiers.column_names == ["name"]


def test_codes_alone_are_kept_without_the_source() -> None:
    rows = 200_000
    schema = Schema(person="p", quasi_identifiers={"a": "numeric"}, sensitive="s")

    def batches(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for start in range(0, rows, 10_000):
            ids = pa.array(np.arange(start, start + 10_000) // 3)
            padded = pa.compute.utf8_lpad(ids.cast(pa.string()), 200, "0")
            columns = {"p": padded, "a": ids, "s": pa.array(["v"] * 10_000)}
            yield pa.record_batch({name: columns[name] for name in names})

    gc.collect()
    before = pa.total_allocated_bytes()
    lean = open_table(
        Source("data", ("p", "a", "s"), batches, rows, False), schema, keep_source=False
    )
    gc.collect()
    assert lean.source.num_columns == 0
    assert pa.total_allocated_bytes() - before <= rows
    full = open_table(Source("data", ("p", "a", "s"), batches, rows, False), schema)
    assert full.source["p"].nbytes > rows * 200


def test_progress_is_told() -> None:
    told: list[tuple[str, float]] = []
    open_table(
        source_of(typed()), SCHEMA, progress=lambda stage, share: told.append((stage, share))
    )
    assert told == [("read", 0.4), ("read", 0.8), ("read", 1.0)]


# ----------------------------------------------------------------------------- warnings


def warnings_of(schema: Schema, **columns: Any) -> str:
    return "\n".join(open_table(source(**columns), schema).warnings)


@pytest.mark.parametrize(
    ("schema", "columns", "said"),
    [
        (
            Schema(quasi_identifiers=["a"]),
            {"a": [1, 2], "b": [1, 2], "c": [3, 4]},
            "columns 'b', 'c' of the file: the schema does not say what they are",
        ),
        (
            Schema(quasi_identifiers=["a", "b"], sensitive="s"),
            {"a": [1, None, 3], "b": ["x", "", " "], "s": ["u", "u", None]},
            "'a' in 1, 'b' in 2, 's' in 1 of 3 records",
        ),
        (
            Schema(quasi_identifiers={"a": "categorical"}),
            {"a": ["x", " x", "x ", "y", " "]},
            "column 'a': values with spaces at the start or end in 2 of 5 records",
        ),
        (
            Schema(quasi_identifiers=["a"], person="p"),
            {"a": [1, 2], "p": ["p", "p "]},
            "column 'p': values with spaces at the start or end in 1 of 2 records",
        ),
        (Schema(quasi_identifiers=["a"]), {"a": [1, 1]}, "quasi-identifier 'a' is constant"),
        (
            Schema(quasi_identifiers=["a"], person="p"),
            {"a": [1, 2], "p": [5, 5]},
            "all records (2) belong to one person",
        ),
        (
            Schema(quasi_identifiers=["a"], sensitive="s"),
            {"a": [1, 2, 2], "s": ["x", "y", None]},
            "sensitive attribute 's' has as many values as records (2)",
        ),
        (
            Schema(quasi_identifiers=["a"]),
            {"a": ["2024", "2024-01-31"]},
            "it holds numbers and dates (dates in row 2)",
        ),
    ],
)  # fmt: skip
def test_warnings(schema: Schema, columns: dict[str, Any], said: str) -> None:
    assert said in warnings_of(schema, **columns)


def test_numbers_with_spaces_are_numbers_without_a_warning() -> None:
    said = warnings_of(Schema(quasi_identifiers=["a"]), a=[" 1", "1 ", "2"])
    assert "space" not in said


T = f"{CANARY} text"


def test_no_warning_holds_a_value() -> None:
    table = open_table(
        source(
            p=[f" {T}"] * 30,
            a=[f"{T} "] * 30,
            b=["1"] * 29 + [T],
            c=["2024"] * 29 + ["2024-01-01"],
            s=[f"{T} {n}" for n in range(30)],
            other=[T] * 30,
        ),
        Schema(person="p", quasi_identifiers=["a", "b", "c"], sensitive="s"),
    )
    assert len(table.warnings) >= 7
    assert CANARY not in " ".join(table.warnings)


def test_prefixes_are_built_over_the_labels_of_the_domain() -> None:
    schema = Schema(
        quasi_identifiers={"zip": QuasiIdentifier(hierarchy=PrefixHierarchy(lengths=(3,)))}
    )
    column = open_table(source(zip=["02138", "02139", "10001"]), schema).quasi_identifiers[0]
    assert column.hierarchy is not None
    assert column.hierarchy.leaves == ("02138", "02139", "10001")
    assert column.hierarchy.labels[1] == ("021", "100")


def test_adult_is_read_whole(shared_data: Path) -> None:
    names = ["age", "education", "race", "sex"]
    opened = open_table(
        shared_data / "adult" / "adult.csv",
        Schema(quasi_identifiers=names, sensitive="salary-class"),
    )
    assert opened.records == 30_162
    assert [column.domain.size for column in opened.quasi_identifiers] == [72, 16, 5, 2]
    key = np.zeros(opened.records, dtype=np.int64)
    for column in opened.quasi_identifiers:
        key = key * column.domain.size + column.codes
    assert len(np.unique(key)) == 3_152


RECORDS = 40


@pytest.fixture
def side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.table.door.WORTH_THREADS", RECORDS // 4)


def test_they_say_the_same_in_the_same_order(request: pytest.FixtureRequest) -> None:
    data = pa.table(
        {
            "p": ["P1", "P2", " P2", "P1"] * 10,
            "a": ["2024", "2024-01-31", "x ", None] * 10,
            "b": ["1"] * 39 + [" x"],
            "c": [7] * RECORDS,
            "s": ["u", "u", "v ", None] * 10,
        }
    )
    schema = Schema(person="p", quasi_identifiers=["a", "b", "c"], sensitive="s")
    alone = open_table(data, schema)
    request.getfixturevalue("side_by_side")
    beside = open_table(data, schema)
    assert beside.warnings == alone.warnings
    spaces = [said[: said.index(":")] for said in alone.warnings if "with spaces" in said]
    assert spaces == [f"column '{name}'" for name in "pabs"]
    assert beside.schema == alone.schema
    for one, other in zip(
        [*alone.quasi_identifiers, *alone.sensitive],
        [*beside.quasi_identifiers, *beside.sensitive],
        strict=True,
    ):
        assert one.name == other.name
        assert one.codes.tolist() == other.codes.tolist()
        assert list(map(one.domain.label, range(one.domain.size))) == list(
            map(other.domain.label, range(other.domain.size))
        )


@pytest.mark.usefixtures("side_by_side")
def test_the_first_of_the_schema_is_refused_first() -> None:
    wrong = ["x", "1", "2", "3"] * 10
    data = pa.table({"s": pa.nulls(RECORDS), "b": wrong, "a": wrong, "c": range(RECORDS)})
    schema = Schema(quasi_identifiers=dict.fromkeys("cab", "numeric"), sensitive="s")
    for _ in range(5):
        with pytest.raises(InputError, match="column 'a'"):
            open_table(data, schema)


def test_ids_that_differ_by_case_or_spaces_are_asked_about() -> None:
    schema = Schema(person="id", quasi_identifiers={"age": "numeric"})
    data = pa.table({"id": ["a1", "A1", " a1", "b2", "b2"], "age": [1, 1, 1, 2, 2]})
    told = open_table(data, schema).warnings
    assert any("same people" in each and "2 of 4 ids" in each for each in told)
    data = pa.table({"id": ["a1", "b2", "b2"], "age": [1, 2, 2]})
    assert not any("same people" in each for each in open_table(data, schema).warnings)


@pytest.mark.parametrize(
    ("number", "asked"),
    [
        (["7"] * 4, True),
        (["7", "7", "8", "7"], False),
        (["7", None] * 2, False),
        (["NA"] * 4, False),
    ],
)
def test_records_that_may_be_of_one_person_are_asked_about(
    tmp_path: Path, number: list[str | None], asked: bool
) -> None:
    table = pa.table({"number": pa.array(number, pa.string()), "age": [1, 2, 3, 4]})
    pyarrow.csv.write_csv(table, tmp_path / "f.csv")
    schema = Schema(direct_identifiers=["number"], quasi_identifiers={"age": {}}, missing=["NA"])
    for data in (table, tmp_path / "f.csv"):
        found = [each for each in open_table(data, schema).warnings if "'number'" in each]
        assert len(found) == asked
    table = table.append_column("person", pa.array([1, 2, 3, 4]))
    named = schema.model_copy(update={"person": "person"})
    assert not any("'number'" in each for each in open_table(table, named).warnings)
