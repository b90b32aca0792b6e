"""Sampling weights and registers on Spark, against the embedded engine on the same tables."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from oracles.both_engines import check_same

from sfumato.core.errors import InputError
from sfumato.engines.spark.spark_encoding import open_on_spark
from sfumato.reports import report
from sfumato.risk.assessment import assess
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.on_spark.spark_measures import classes_on_spark, keyed, risk_of_classes
from sfumato.risk.on_spark.spark_population import (
    BY_NUMBERS,
    assess_on_spark,
    opened_register,
    population_on_spark,
)
from sfumato.risk.population.population_size import Given
from sfumato.schema import Schema

pytestmark = pytest.mark.slow

SCHEMA = Schema(
    person="patient", quasi_identifiers={"age": "numeric", "sex": "categorical"}, sensitive=["icd9"]
)
WEIGHTED = Given(weights="weight")


def visits(seed: int, records: int = 900, persons: int = 400) -> pa.Table:
    """Visits with a weight of their own each; its level goes with age. Some ages are missing."""
    rng = np.random.default_rng(seed)
    person = rng.integers(0, persons, records)
    age = rng.integers(20, 24 + seed, persons)[person]
    weight = np.where(age > 30, 9.5, 4.25) * rng.choice([0.5, 1.0, 1.25, 1.7], records)
    return pa.table(
        {
            "patient": [f"p{one}" for one in person],
            "age": pa.array(age, mask=rng.random(records) < 0.05),
            "sex": rng.choice(["f", "m"], persons)[person],
            "icd9": rng.choice(["250", "401"], records),
            "weight": weight,
        }
    )


def people(seed: int, persons: int = 900) -> pa.Table:
    """A register whose ages are texts with decimals, some not those of the file, some missing."""
    rng = np.random.default_rng(seed)
    of = np.append(np.arange(persons), rng.integers(0, persons, 60))
    ages = [None if one < 20 else f"{one}.0" for one in rng.integers(18, 44, persons)[of]]
    sexes = rng.choice(["f", "m", "x"], persons)[of]
    return pa.table({"patient": [f"r{one}" for one in of], "age": ages, "sex": sexes})


@pytest.fixture(scope="module")
def table(spark: Any) -> Any:
    """The visits with their weights, encoded on Spark."""
    frame = spark.createDataFrame(visits(15)).repartition(3)
    return open_on_spark(frame, SCHEMA, weights="weight")


def in_register(table: Any, register: Any) -> Risk:
    """The file measured against a register."""
    with opened_register(register, table) as opened:
        return assess_on_spark(table, register=opened)


@pytest.mark.parametrize("estimator", ["auto", "accumulation"])
def test_weights_give_what_the_embedded_engine_has(
    table: Any, estimator: str, tmp_path: Path
) -> None:
    """Persons have records of different weights; part of the variance lies between classes."""
    here = assess(visits(15), SCHEMA, population="weight", estimator=estimator, seed=5)
    there = assess_on_spark(table, population=WEIGHTED, estimator=estimator, seed=5)
    check_same(here, there)
    check_report(there, tmp_path)
    assert here.population is not None
    assert there.population is not None
    assert here.population.path == there.population.path
    assert estimator != "auto" or "variance lies between classes" in here.population.path[0]
    np.testing.assert_allclose(
        np.sort(there.population.inverse_sizes), np.sort(here.population.inverse_sizes), rtol=1e-12
    )


def test_without_persons_and_with_keys_that_pass_64_bits(spark: Any, tmp_path: Path) -> None:
    """Weights of records, and a register of another session, by its path."""
    rng = np.random.default_rng(3)
    names = [f"q{place}" for place in range(13)]
    of_class = rng.integers(0, 60, (50, 13))
    data = pa.table(dict(zip(names, of_class[rng.integers(0, 50, 150)].T, strict=True)))
    data = data.append_column("weight", pa.array(rng.choice([2.0, 2.5, 7.0], 150)))
    others = dict(zip(names, of_class[rng.integers(10, 50, 400)].T, strict=True))
    others["q3"] = np.where(rng.random(400) < 0.2, 77, others["q3"])
    pa.parquet.write_table(pa.table(others), tmp_path / "people.parquet")
    schema = Schema(quasi_identifiers=dict.fromkeys(names, "numeric"))
    frame = spark.createDataFrame(data).repartition(4)
    encoded = open_on_spark(frame, schema, weights="weight")
    assert keyed(encoded)[1][0] == "sfumato_q0"
    there = assess_on_spark(encoded, population=WEIGHTED, seed=2)
    check_same(assess(data, schema, population="weight", seed=2), there)
    path = tmp_path / "people.parquet"
    check_same(assess(data, schema, register=path), in_register(encoded, path))


def test_many_classes_are_taken_together_by_size_and_weight(table: Any) -> None:
    frame, keys = keyed(table)
    classes = classes_on_spark(frame, keys, "sfumato_person", {}, {}).persist()
    risk = risk_of_classes(
        classes, (), threshold=0.2, persons=table.persons, warnings=(), ran=table.ran
    )

    def measured(estimator: str, most: int) -> Risk:
        return population_on_spark(risk, table, classes, WEIGHTED, estimator, 3, most_classes=most)

    few, many = measured("auto", 1 << 22), measured("auto", 10)
    assert few.population is not None
    assert many.population is not None
    assert many.population.population == few.population.population
    assert many.population.path[0] == BY_NUMBERS
    assert many.population.class_records.sum() == risk.records
    assert many.population.path[1] == few.population.path[0]  # the share between classes
    assert many.marketer.value == pytest.approx(few.marketer.value, rel=0.3)
    classes.unpersist()


@pytest.mark.parametrize(
    "weights",
    [
        pa.array([1.0, 0.0, 2.0]),
        pa.array([1.0, None, float("nan")]),
        pa.array([True, True, True]),
        None,
    ],
    ids=["zero", "missing", "boolean", "no column"],
)
def test_other_weights_are_refused_alike(spark: Any, weights: pa.Array | None) -> None:
    schema = Schema(quasi_identifiers={"age": "numeric"})
    data = pa.table({"age": [30, 30, 41]})
    if weights is not None:
        data = data.append_column("weight", weights)
    said = []
    for each in (data, spark.createDataFrame(data)):
        with pytest.raises(InputError) as error:
            assess(each, schema, population=WEIGHTED)
        said.append(str(error.value))
    assert said[0] == said[1]
    assert "column 'weight' of dataframe" in said[0]


def test_a_register_gives_what_the_embedded_engine_has(
    spark: Any, table: Any, tmp_path: Path
) -> None:
    """Values that only one of both has, missing ones, and persons without a counterpart."""
    here = assess(visits(15), SCHEMA, register=people(4))
    assert here.presence is not None
    assert here.presence.strangers > 0
    assert any("counterpart" in each for each in here.warnings)
    there = in_register(table, spark.createDataFrame(people(4)).repartition(3))
    check_same(here, there)
    check_report(there, tmp_path)
    assert "presence_low" in str(there)
    assert here.population is not None
    assert there.population is not None
    found = there.population
    assert len(found.inverse_sizes) < there.classes
    risks = np.repeat(found.inverse_sizes, found.class_records)
    expected = np.repeat(here.population.inverse_sizes, here.population.class_records)
    np.testing.assert_allclose(np.sort(risks), np.sort(expected), rtol=1e-12)


def test_a_register_of_the_whole_file_in_this_process(table: Any) -> None:
    """Everybody is present: the share is 1 everywhere, and nobody is a stranger."""
    there = in_register(table, visits(15))
    check_same(assess(visits(15), SCHEMA, register=visits(15)), there)
    assert there.presence is not None
    assert (there.presence.presence_low.value, there.presence.strangers) == (1, 0)


def check_report(risk: Risk, folder: Path) -> None:
    """There are no positions, which only this process has."""
    report(risk, folder / "report.html", made=date(2026, 1, 1))
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "None" not in page
    assert "class 1, row" not in page
    content = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert content["ran"]["engine"] == "spark"
    assert "positions" not in content
    assert risk.population is not None
    with pytest.raises(InputError, match="the risk of each record"):
        _ = risk.population.record_risks
