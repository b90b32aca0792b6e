"""A file on Spark has the domains, codes, counts, warnings and errors of the embedded engine."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from sfumato.core.declaration import is_spark_frame
from sfumato.core.errors import InputError, SfumatoError
from sfumato.engines.spark import spark_encoding
from sfumato.engines.spark.spark_encoding import open_on_spark
from sfumato.engines.spark.spark_files import open_on_cluster
from sfumato.engines.spark.spark_persons import SparkTable
from sfumato.engines.spark.spark_session import (
    HOUSEHOLD,
    PERSON,
    TIE,
    cut_lineage,
    quasi_identifier,
    release,
    sensitive,
)
from sfumato.schema import Schema
from sfumato.table.door import open_table
from sfumato.table.scalars import ties_of_values
from sfumato.table.table import LabelDomain, Table

pytestmark = pytest.mark.slow

RECORDS = 24
CANARY = "Canary7"


def of_many_types() -> pa.Table:
    """Columns of all types, each with a trait of its own."""
    place = np.arange(RECORDS)
    day = dt.date(2024, 1, 31)
    moment = dt.datetime(1969, 7, 20, 20, 17, 40, 123456, tzinfo=dt.UTC).replace(tzinfo=None)
    utc = dt.datetime(2024, 3, 31, 1, 30, tzinfo=dt.UTC)

    def some(values: list[Any], kind: pa.DataType | None = None) -> pa.Array:
        return pa.array([values[i % len(values)] for i in place], kind)

    return pa.table(
        {
            "id": some([f"p{i // 2}" for i in range(RECORDS - 1)] + [" p1 "]),
            "home": some(["h1", "", None, "h2", " ", "NA"]),
            "text": some(["b10", "b9", " b9", "", "  ", "NA", None, "é", "B9"]),
            "zip": some(["01234", "00501", "99999", None]),
            "mixed lengths": some(["007", "7", "12", "-9.0", ""]),
            "decimal texts": some(["1.50", "1.5", ".25", "1e3", " 2 "]),
            "dates": some(["2024-01-31", "1582-10-10", None]),
            "moments": some(["2024-01-31T10:30", "2024-01-31 00:00:00"]),
            "ten digits": some([1234567890, 1234567891, None], pa.int64()),
            "long codes": some(["1" * 25, "0" + "1" * 24, "2" * 25]),
            "small": some([1, -2, -9, None], pa.int8()),
            "float": some([0.1, -0.0, 0.0, float("nan"), 1e-7, 2.5, -9.0], pa.float64()),
            "narrow": some([0.1, 0.5, None], pa.float32()),
            "price": some([Decimal("1.50"), Decimal("-9.00"), Decimal(20)], pa.decimal128(9, 2)),
            "day": some([day, None, dt.date(1500, 2, 28)]),
            "naive": some([moment, moment + dt.timedelta(hours=1)], pa.timestamp("us")),
            "utc": some([utc, utc + dt.timedelta(hours=1), None], pa.timestamp("us", "UTC")),
            "flag": some([True, False, None]),
            "mostly": some([*map(str, range(11)), "x"]),
            "none": pa.nulls(RECORDS),
            "disease": some(["flu", "hiv", "flu", "10", "9", None, " flu"]),
            "score": some([3, 1, 2, 2], pa.int32()),
            "row": pa.array(place),
        }
    )


def schema_of(table: pa.Table, **fields: Any) -> Schema:
    named = {"id", "home", "none", "disease", "score", "row"}
    quasi_identifiers = {name: {} for name in table.column_names if name not in named}
    return Schema.model_validate(
        {
            "person": "id",
            "household": "home",
            "quasi_identifiers": quasi_identifiers | {"long codes": {"kind": "categorical"}},
            "sensitive": ["disease", "score"],
            "direct_identifiers": ["none"],
            "missing": ["NA", "-9"],
            **fields,
        }
    )


def without_rows(text: str) -> str:
    """A message as it is where records have no numbers."""
    text = re.sub(r"([\d,]+ records), the first in row [\d,]+", r"\1", text)
    return re.sub(r"\brow [\d,]+", "1 record", text)


def assert_same(here: Table, there: SparkTable, rows: str) -> None:
    """Everything that both engines say is the same; records are matched by a column of both."""
    assert there.schema == here.schema
    assert there.columns == here.columns
    assert sorted(there.warnings) == sorted(map(without_rows, here.warnings))
    assert (there.records, there.persons) == (here.records, here.persons)
    taken = there.frame.toArrow()
    order = np.argsort(np.asarray(taken[rows].to_pylist()), kind="stable")
    taken = taken.take(pa.array(order))
    pairs = [
        *zip(here.quasi_identifiers, there.quasi_identifiers, strict=True),
        *zip(here.sensitive, there.sensitive, strict=True),
    ]
    names = [quasi_identifier(i) for i in range(len(here.quasi_identifiers))]
    names += [sensitive(i) for i in range(len(here.sensitive))]
    for name, (one, other) in zip(names, pairs, strict=True):
        assert (one.name, one.kind, one.weight) == (other.name, other.kind, other.weight)
        assert one.domain.size == other.domain.size
        codes = taken[name].to_numpy()
        assert labels(one.codes, one.domain) == labels(codes, other.domain)
        if name.startswith(quasi_identifier(0)[:-1]):
            assert_array_equal(one.codes, codes)
        known = codes[codes >= 0]
        assert_array_equal(
            there.value_counts[one.name], np.bincount(known, minlength=other.domain.size)
        )
        assert there.missing[one.name] == int((codes < 0).sum())
        assert len(other.codes) == 0
    persons = taken[PERSON].to_pylist()
    first = list(dict.fromkeys(persons))
    assert_array_equal(here.person, [first.index(person) for person in persons])
    for name in here.source.column_names:
        assert taken[name].to_pylist() == here.source[name].to_pylist()


def labels(codes: Any, domain: Any) -> list[str | None]:
    return [None if code < 0 else domain.label(int(code)) for code in codes]


def test_a_parquet_file_of_many_types(spark: Any, tmp_path: Path) -> None:
    table = of_many_types()
    path = tmp_path / "many.parquet"
    pq.write_table(table, path)
    schema, stages = schema_of(table), []
    here = open_table(path, schema)
    there = open_on_spark(
        str(path), schema, keep_source=True, progress=lambda *told: stages.append(told)
    )
    assert_same(here, there, "row")
    assert there.frame.columns[:3] == [PERSON, TIE, HOUSEHOLD]
    taken = there.frame.select(PERSON, TIE, HOUSEHOLD, "row").toArrow()
    assert_array_equal(taken[TIE].to_numpy(), ties_of_values(taken[PERSON]))
    homes = dict(zip(taken["row"].to_pylist(), taken[HOUSEHOLD].to_pylist(), strict=True))
    assert [homes[i] for i in range(6)] == ["h1", None, None, "h2", None, None]
    assert isinstance(there.sensitive[0].domain, LabelDomain)
    assert there.sensitive[0].domain.labels == ("9", "10", " flu", "hiv")
    assert {stage for stage, _ in stages} == {"read"}
    shares = [share for _, share in stages]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert there.ran.master == "local[2]"
    assert (there.ran.executors, there.ran.cores) == (1, 2)


CSV = (
    '\ufeffid;age;"city ""of\nbirth""";disease\r\n'
    'a;040;"x;y";flu\r\na;41; x ;"two\nlines"\r\n\r\nb;;"say ""no""";\r\nc;5;"";flu\r\n'
)


def test_csv_and_records_that_are_persons(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(CSV.encode())
    schema = Schema.model_validate(
        {
            "quasi_identifiers": {"age": {}, 'city "of\nbirth"': {}},
            "sensitive": ["disease"],
        }
    )
    there = open_on_spark(path, schema, keep_source=True)
    rows = there.frame.toArrow().sort_by(PERSON)
    here = open_table(path, schema)
    assert there.warnings == tuple(map(without_rows, here.warnings))
    for place, column in enumerate(here.quasi_identifiers):
        assert_array_equal(rows[quasi_identifier(place)].to_numpy(), column.codes)
    assert rows["id"].to_pylist() == ["a", "a", "b", "c"]
    assert rows["disease"].to_pylist() == ["flu", "two\nlines", None, "flu"]
    assert there.persons == len(set(rows[PERSON].to_pylist())) == 4
    assert rows.schema.field(PERSON).type == pa.int64()
    file = Path(there.frame.inputFiles()[0].removeprefix("file://"))
    assert file.is_file()
    release(there.frame)
    assert not file.parent.exists()


@pytest.mark.usefixtures("spark")
def test_lines_of_tabs_alone_are_records(tmp_path: Path) -> None:
    path = tmp_path / "visits.tsv"
    path.write_text("age\tdisease\n40\tflu\n\t\n\n41\t \n\t\n")
    rows = open_on_cluster(path).frame.collect()
    assert [tuple(row) for row in rows] == [
        ("40", "flu", False),
        (None, None, False),
        ("41", " ", False),
        (None, None, False),
    ]


@pytest.mark.usefixtures("spark")
def test_files_of_a_folder_have_one_header(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "visits.csv"
    folder.mkdir()
    (folder / "1.csv").write_text("\nage,disease\n40,flu\n")
    (folder / "2.csv").write_text(f"{CANARY},flu\n")
    with pytest.raises(InputError, match="found 2 different first lines") as caught:
        open_on_cluster(folder)
    printed = capfd.readouterr()
    assert CANARY not in f"{caught.value}{printed.out}{printed.err}"
    (folder / "2.csv").write_text("age,disease\n41,flu\n42,hiv\n")
    (folder / "3.csv").write_text("")
    assert open_on_cluster(folder).frame.count() == 3


def refused(spark: Any, columns: dict[str, Any], **fields: Any) -> str:
    """What both engines say of a table, which is the same."""
    table = pa.table(columns)
    schema = Schema.model_validate({"quasi_identifiers": {"x": {}}, **fields})
    with pytest.raises(InputError) as here:
        open_table(table, schema)
    with pytest.raises(InputError) as there:
        open_on_spark(spark.createDataFrame(table), schema)
    assert str(there.value) == without_rows(str(here.value))
    return str(there.value)


def test_what_is_refused(spark: Any) -> None:
    numeric = {"quasi_identifiers": {"x": {"kind": "numeric"}}}
    said = refused(spark, {"x": ["1", "2", CANARY, CANARY]}, **numeric)
    assert "text in 2 records" in said
    assert CANARY not in said
    assert "no person id in 1 record" in refused(
        spark, {"id": ["NA", "b"], "x": [1, 2]}, person="id", missing=["NA"]
    )
    assert "lists" in refused(spark, {"x": [[1], [2]]})
    assert "durations" in refused(spark, {"x": pa.array([1, 2], pa.duration("us"))})
    assert "bytes" in refused(spark, {"x": [b"a", b"b"]})
    assert "'y'" in refused(spark, {"x": [1]}, sensitive=["y"])
    assert "no records" in refused(spark, {"x": pa.array([], pa.int64())})


def test_too_many_values_and_values_that_change(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = Schema.model_validate({"quasi_identifiers": {"x": {}}})
    frame = spark.range(9).selectExpr("java_method('java.util.UUID', 'randomUUID') as x")
    with pytest.raises(InputError, match="same whenever Spark computes it"):
        open_on_spark(frame, schema)
    letter = "java_method('java.util.UUID', 'randomUUID')"
    frame = spark.range(500).selectExpr(*(f"ascii({letter}) % 2 as x{i}" for i in range(6)))
    with pytest.raises(InputError, match="same whenever Spark computes it"):
        open_on_spark(frame, Schema(quasi_identifiers=frame.columns))
    monkeypatch.setattr(spark_encoding, "AT_ONE_TIME", 0)
    frame = spark.range(100).selectExpr("id % 7 as x", "uuid() as other")
    there = open_on_spark(frame, schema, keep_source=True)
    assert there.value_counts["x"].tolist() == [15, 15, 14, 14, 14, 14, 14]
    again = [there.frame.select(PERSON, "other").toArrow().to_pylist() for _ in range(2)]
    assert again[0] == again[1]
    with pytest.raises(InputError, match=r"column 'x' must have at most 6 different values"):
        spark_encoding.distinct_values(there.frame, {"x": quasi_identifier(0)}, most=6)


def test_errors_of_spark_name_no_value(
    spark: Any, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    schema = Schema.model_validate({"quasi_identifiers": {"x": {}}})
    frame = spark.createDataFrame(pa.table({"y": [CANARY]})).selectExpr(
        "if(y = 'a', 1, raise_error(y)) as x"
    )
    with pytest.raises(SfumatoError, match="Spark could not count the values") as caught:
        open_on_spark(frame, schema)
    assert caught.value.__suppress_context__
    printed = capfd.readouterr()
    assert CANARY not in f"{caught.value}{printed.out}{printed.err}{caplog.text}"
    with pytest.raises(InputError, match="must be a Spark DataFrame"):
        open_on_spark(pa.table({"x": [1]}), schema)
    twice = spark.createDataFrame(pa.table({"x": [1]})).selectExpr("x", "x as X")
    with pytest.raises(InputError, match="differ in more than case"):
        open_on_spark(twice, schema)
    assert is_spark_frame(twice)
    assert not is_spark_frame(schema)


def test_a_session_stays_as_it_was(spark: Any) -> None:
    before = dict(spark.sparkContext.getConf().getAll())
    zone = spark.conf.get("spark.sql.session.timeZone")
    frame = cut_lineage(spark.range(3).selectExpr("id as `odd. name``,;`"))
    assert frame.columns == ["odd. name`,;"]
    assert frame.count() == 3
    release(frame)
    release(frame)
    assert dict(spark.sparkContext.getConf().getAll()) == before
    assert spark.conf.get("spark.sql.session.timeZone") == zone
    assert spark.sparkContext.getLocalProperty("spark.jobGroup.id") is None


def test_spellings_of_one_value_are_one_on_spark(spark: Any) -> None:
    texts = ["HIV", "hiv", "H\u200bIV", "\u041dIV", "flu", "unknown", "n/a", "1.0", "1", None]
    people = [f"p{each}" for each in range(len(texts))]
    data = pa.table({"id": people, "age": [30] * len(texts), "ill": texts})
    schema = Schema(person="id", quasi_identifiers=["age"], sensitive=["ill"])
    own, table = open_table(data, schema), open_on_spark(spark.createDataFrame(data), schema)
    assert sorted(table.value_counts["ill"].tolist()) == [1, 2, 4]
    assert table.missing["ill"] == 3
    assert set(table.sensitive[0].domain.labels) == set(own.sensitive[0].domain.labels)
    said = [each for each in own.warnings if "spellings" in each]
    assert said
    assert set(said) <= set(table.warnings)
