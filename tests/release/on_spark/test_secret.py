"""Pseudonyms and the order of records follow from a secret and the file, not from partitions."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.core.secret_keys import Secret, Secrets, keyed_pseudonyms
from sfumato.engines.spark.spark_persons import SparkTable
from sfumato.engines.spark.spark_session import PERSON, Ran
from sfumato.release.assembly import person_pseudonyms, pseudonyms_of
from sfumato.release.on_spark.spark_released_file import (
    NUMBER,
    PSEUDONYM,
    SparkKeys,
    keys_of,
    with_secrets,
)
from sfumato.schema import Schema
from sfumato.table.door import open_table

pytestmark = pytest.mark.slow

SCHEMA = Schema(person="id", quasi_identifiers={"age": "numeric"})
IDS = [3, 1, 3, 2, 1, 4]


@pytest.fixture(scope="module")
def table(spark: Any) -> SparkTable:
    """A file of six records of four persons."""
    frame = spark.createDataFrame(pa.table({PERSON: IDS, "charge": [1.5, 2.0, 0.0, 7.0, 2.0, 1.0]}))
    schema = Schema(person="patient", quasi_identifiers={"age": "numeric"})
    ran = Ran("spark", "", "local", 1, 1, 1)
    return SparkTable(schema, frame, (), (), {}, {}, (), (), len(IDS), 4, ran)


def test_keys_take_the_secret_the_manifest_and_every_record(table: SparkTable) -> None:
    secrets = Secrets(Secret(b"s" * 32))
    keys = keys_of(table, b"1", secrets)
    elsewhere = replace(table, frame=table.frame.orderBy("charge").repartition(3))
    assert keys_of(elsewhere, b"1", secrets) == keys
    assert keys.persons != keys.order
    assert type(keys.persons) is type(keys.order) is bytes  # a Secret would not be sent
    fewer = replace(table, frame=table.frame.where("charge < 7"))
    others = [
        keys_of(table, b"2", secrets),
        keys_of(fewer, b"1", secrets),
        keys_of(table, b"1", Secrets(Secret(b"o" * 32))),
    ]
    assert len({each.persons for each in (keys, *others)}) == 4
    assert len({each.order for each in (keys, *others)}) == 4
    own = Secrets(secrets.own, Secret(b"k" * 16))
    assert keys_of(table, b"1", own) == SparkKeys(b"k" * 16, keys.order)


def test_the_keys_are_not_printed() -> None:
    assert "k" * 16 not in repr(SparkKeys(b"k" * 16, b"o" * 32))


def test_ids_of_any_type_have_the_pseudonyms_of_the_embedded_engine(spark: Any) -> None:
    of_types = [
        pa.array([Decimal("7.00"), Decimal("7.50")]),
        pa.array([b"\xff", b"a"]),
        pa.array([1e15, 0.5]),
    ]
    names = ["`a`.b", "`b`", "c.d"]
    frame = spark.createDataFrame(pa.table(dict(zip(names, of_types, strict=True))))
    for name, ids in zip(names, of_types, strict=True):
        made = with_secrets(frame, SparkKeys(b"k" * 16, b"o" * 32), name)
        assert made.columns == [*(each for each in names if each != name), NUMBER, PSEUDONYM]
        table = open_table(pa.table({"id": ids, "age": [1, 2]}), SCHEMA)
        expected = person_pseudonyms(table, Secrets.of(None, b"k" * 16))
        assert sorted(row[PSEUDONYM] for row in made.collect()) == sorted(expected.to_pylist())


def test_negative_zero_is_zero() -> None:
    assert len(set(pseudonyms_of(pa.array([0.0, -0.0]), b"k" * 16).to_pylist())) == 1


def test_pseudonyms_are_those_of_the_embedded_engine(table: SparkTable) -> None:
    keys = SparkKeys(b"k" * 16, b"o" * 32)
    made = with_secrets(table.frame, keys, PERSON)
    assert made.columns == ["charge", NUMBER, PSEUDONYM]
    made = made.collect()
    expected = keyed_pseudonyms([str(each) for each in IDS], b"k" * 16)
    assert sorted(row[PSEUDONYM] for row in made) == sorted(expected)
    numbers = np.array([row[NUMBER] for row in made])
    assert len(np.unique(numbers)) == len(IDS)
    assert (np.diff(np.sort(numbers).astype(float)) > 1e6).all()
    assert PSEUDONYM not in with_secrets(table.frame.drop(PERSON), keys, None).columns
