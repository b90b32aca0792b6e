"""From a DataFrame or a path to every measure on Spark, as the embedded engine has it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from oracles.both_engines import check_same

from sfumato.core.errors import InputError
from sfumato.engines.spark.spark_encoding import open_on_spark
from sfumato.reports import report
from sfumato.risk.assessment import assess
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.on_spark.spark_measures import classes_on_spark, keyed, risk_of_classes
from sfumato.risk.on_spark.spark_population import BY_NUMBERS, assess_on_spark, population_on_spark
from sfumato.risk.population.population_size import Given
from sfumato.risk.risk_thresholds import thresholds
from sfumato.schema import Schema
from sfumato.table.table import LabelDomain

pytestmark = pytest.mark.slow

SCHEMA = Schema(
    person="patient",
    household="home",
    quasi_identifiers={"age": "numeric", "sex": "categorical", "zip": "categorical"},
    sensitive=["icd9", "change"],
    direct_identifiers=["name"],
)


def visits() -> pa.Table:
    """1,200 visits of 500 patients in 220 homes; some without a home, an age or an illness."""
    rng = np.random.default_rng(11)
    person = rng.integers(0, 500, 1200)
    of_person = {
        "age": rng.integers(20, 60, 500),
        "sex": rng.choice(["f", "m"], 500),
        "zip": rng.choice(["1010", "1020", "A"], 500),
        "home": np.char.add("h", (np.arange(500) // 3 + rng.integers(0, 2, 500)).astype(str)),
    }
    columns: dict[str, Any] = {name: list(each[person]) for name, each in of_person.items()}
    for name, share in (("age", 0.02), ("home", 0.2)):
        gone = rng.random(500)[person] < share
        columns[name] = [None if lacks else each for each, lacks in zip(columns[name], gone,
                         strict=True)]  # fmt: skip
    columns["icd9"] = [None if one < 1 else f"{250 + one}" for one in rng.geometric(0.3, 1200) - 1]
    columns["zip"] = [each if rng.random() < 0.95 else "1030" for each in columns["zip"]]
    columns["patient"] = [f"p{one}" for one in person]
    columns["name"] = ["Ann"] * 1200
    change = rng.choice(["-10", "-2.5", "0", "0.0", "3", "12.25", ""], 1200)
    columns["change"] = [each or None for each in change.tolist()]
    return pa.table({name: pa.array([None if each is None else each for each in values])
                     for name, values in columns.items()})  # fmt: skip


@pytest.fixture(scope="module")
def table(spark: Any) -> Any:
    """The visits, encoded on Spark."""
    return open_on_spark(spark.createDataFrame(visits()).repartition(3), SCHEMA)


OPTIONS: dict[str, Any] = {
    "estimator": "auto", "seed": 5, "threshold": 0.1, "ordered_distance": ["change"],
    "recursive_l": (4, 6),
}  # fmt: skip


@pytest.fixture(scope="module")
def assessed(table: Any) -> Risk:
    """The visits, assessed with all that Spark can tell of them; nothing stays in its memory."""
    told: list[tuple[str, float]] = []
    kept_by_others = set(table.frame.sparkSession.sparkContext._jsc.getPersistentRDDs())
    risk = assess_on_spark(
        table,
        population=Given(size=20_000),
        presets=thresholds("cms", "arx"),
        progress=lambda stage, share: told.append((stage, share)),
        **OPTIONS,
    )
    assert told[-1] == ("measure", 1.0)
    kept = set(table.frame.sparkSession.sparkContext._jsc.getPersistentRDDs())
    assert kept <= kept_by_others
    return risk


def test_a_dataframe_gives_what_the_embedded_engine_does(assessed: Risk) -> None:
    """Households, a population with the same seed, and presets among it."""
    here = assess(visits(), SCHEMA, population=20_000, presets=["cms", "arx"], **OPTIONS)
    there = assessed
    check_same(here, there)
    assert there.sensitive["change"].t_closeness_ordered is not None
    assert there.household is not None
    assert here.population is not None
    assert there.population is not None
    order = np.argsort(here.population.inverse_sizes)
    np.testing.assert_allclose(
        np.sort(there.population.inverse_sizes), here.population.inverse_sizes[order], rtol=1e-12
    )
    with pytest.raises(InputError, match="the risk of each record"):
        _ = there.population.record_risks


def test_many_classes_are_estimated_from_their_sizes(table: Any) -> None:
    """What needs no values of the classes stays as it is; what does, says so."""
    frame, keys = keyed(table)
    codes = {"icd9": "sfumato_s0"}
    classes = classes_on_spark(frame, keys, "sfumato_person", codes, table.value_counts).persist()
    risk = risk_of_classes(
        classes, ("icd9",), threshold=0.2, persons=table.persons, warnings=(), ran=table.ran
    )

    def measured(estimator: str, most: int) -> Risk:
        given = Given(fraction=0.1)
        return population_on_spark(risk, table, classes, given, estimator, 3, most_classes=most)

    few, many = measured("auto", 1 << 22), measured("auto", 10)
    assert many.marketer.value == pytest.approx(few.marketer.value, rel=0.3)
    assert few.population is not None
    assert many.population is not None
    assert many.population.path[0] == BY_NUMBERS
    assert len(many.population.inverse_sizes) == len(risk.shape.persons) < risk.classes
    assert many.population.class_records.sum() == risk.records
    classes.unpersist()


def test_a_report_says_what_ran_where(assessed: Risk, tmp_path: Path) -> None:
    risk = assessed
    report(risk, tmp_path / "report.html", made=date(2026, 1, 1))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f" · {risk.ran}</p>" in page
    assert "None" not in page
    assert "class 1, row" not in page
    content = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert content["ran"]["engine"] == "spark"
    assert "positions" not in content
    assert f"\n\nDisclosure risk, on {risk.ran}\n" in str(risk)
    with pytest.raises(InputError, match="numbers of its classes on the cluster"):
        risk.own_classes()


def test_a_spark_dataframe_may_be_read_into_this_process(spark: Any) -> None:
    risk = assess(spark.createDataFrame(visits().slice(0, 50)), SCHEMA, engine="embedded")
    assert risk.ran is None
    assert risk.k_where is not None


@pytest.mark.parametrize(
    ("parameter", "options"),
    [
        ("parameter special_uniques", {"special_uniques": True}),
        ("parameter threshold", {"threshold": 2}),
    ],
)
def test_what_spark_cannot_do_is_refused_before_work_starts(
    parameter: str, options: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match=parameter):
        assess("no such file.csv", SCHEMA, engine="spark", **options)


def test_an_ordered_distance_is_of_numbers(table: Any) -> None:
    with pytest.raises(InputError, match="must name sensitive attributes of the schema"):
        assess_on_spark(table, ordered_distance=["age"])
    icd9, change = table.sensitive
    texts = replace(change, domain=LabelDomain((*change.domain.labels[:-1], "much")))
    with pytest.raises(InputError, match="column 'change' must hold numbers only") as error:
        assess_on_spark(replace(table, sensitive=(icd9, texts)), ordered_distance=["change"])
    assert "much" not in str(error.value)


def test_an_engine_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="parameter engine") as error:
        assess("no such file.csv", SCHEMA, engine="hadoop")
    assert "embedded, spark" in str(error.value)
    assert "hadoop" not in str(error.value)
