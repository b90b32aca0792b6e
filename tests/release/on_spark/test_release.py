"""A release on Spark is that of the embedded engine, and its records leave the cluster last."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from oracles.both_engines import check_values

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.release.release_manifest import load_manifest
from sfumato.release.release_result import Release

pytestmark = pytest.mark.slow

KEY = b"a secret of the custodian"
OF_ONE_ENGINE = ("columns", "lost", "manifest", "positions", "ran", "verdict")


def visits(persons: int, *, several: bool) -> pa.Table:
    """Visits of made-up persons with missing values, households and columns that nobody names."""
    rng = np.random.default_rng(8)
    person = np.arange(persons)
    if several:
        person = rng.permutation(np.repeat(person, rng.integers(1, 5, persons)))
    number = len(person)

    def holes(values: np.ndarray, share: float) -> pa.Array:
        return pa.array(values, mask=rng.random(number) < share)

    table = {
        "name": [f"Name {each}" for each in person],
        "age": holes(rng.integers(0, 90, persons)[person] + 0.5 * rng.integers(0, 2, number), 0.02),
        "visits to date": pa.array(rng.integers(0, 9, number)),
        "patient": [f"P{each:03d}" for each in person],
        "grade": holes(np.array(["low", "middle", "high"])[rng.integers(0, 3, persons)][person], 0),
        "home": holes(np.array([f"H{each // 3}" for each in person]), 0.1),
        "job": holes(np.array(list("abcde"))[rng.integers(0, 5, number)], 0.02),
        "icd9": holes(np.array(["cold", "flu", "gout", "mumps"])[rng.integers(0, 4, number)], 0.05),
        "charge": pa.array(rng.integers(0, 10_000, number) / 100),
        "change": holes(np.array([-10, -2.5, 0, 3, 12.25])[rng.integers(0, 5, number)], 0.05),
    }
    return pa.table(table)


def schema_of(tree: Any, *, several: bool, ends: bool = False) -> sf.Schema:
    """What the columns of `visits` are."""
    age = {"bottom": 17, "top": 60} if ends else {}
    grade = {"top": "middle"} if ends else {}
    people = {"person": "patient", "household": "home"} if several else {}
    return sf.Schema(
        **people,
        direct_identifiers=["name"] if several else ["name", "patient", "home"],
        quasi_identifiers={
            "age": {"kind": "numeric", **age},
            "grade": {
                "kind": "ordered",
                "order": ("low", "middle", "high"),
                "weight": 2.0,
                **grade,
            },
            "job": {"kind": "categorical", "hierarchy": tree},
        },
        sensitive=["icd9", "change"],
        insensitive=["charge", "visits to date"],
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The hierarchy of jobs."""
    path = tmp_path_factory.mktemp("tree") / "jobs.csv"
    path.write_text("a;a-b;*\nb;a-b;*\nc;c-e;*\nd;c-e;*\ne;c-e;*\n")
    return path


def shuffled(table: pa.Table) -> pa.Table:
    """The same records in another order."""
    order = np.random.default_rng(1).permutation(table.num_rows)
    return table.take(pa.array(order))


def rows(table: pa.Table) -> list[str]:
    """The records, in no order."""
    return sorted(json.dumps(row, default=str) for row in table.to_pylist())


def arrow(release: Release) -> pa.Table:
    """The released records, brought here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)
        return release.data.toArrow()


def check_numbers(here: Release, there: Release) -> None:
    """All measures agree to 12 digits."""
    left, right = here.to_json(), there.to_json()
    for name in OF_ONE_ENGINE:
        for both in (left, right, left["before"], right["before"]):
            both.pop(name, None)
    told = here.risk.known_events
    if told is not None and told.warning():  # which Spark does not measure
        left["warnings"].remove(told.warning())
    check_values(left, right)


@pytest.fixture(scope="module")
def both(spark: Any, tree: Any) -> tuple[Release, Release]:
    """A release of several records per person by both engines, the second in eight partitions."""
    table, schema = visits(150, several=True), schema_of(tree, several=True)
    asked = {"values": "bounds", "ends": "tight", "effort": 0, "seed": 4, "pseudonym_key": KEY}
    far = sf.TCloseness(0.3, attribute="change", distance="ordered")
    promises = (sf.PidKAnonymity(4), sf.HAffiliation(0.8, attribute="icd9"), far)
    here = sf.anonymize(table, schema, *promises, **asked)
    frame = spark.createDataFrame(shuffled(table)).repartition(8)
    return here, sf.anonymize(frame, schema, *promises, **asked)


def test_both_engines_release_the_same(both: tuple[Release, Release]) -> None:
    here, there = both
    found = arrow(there)
    assert found.column_names == here.table.column_names == list(there.columns)
    assert rows(found) == rows(here.table)
    assert here.risk.classes > 10
    for risk in (there.risk, there.risk_before):
        assert risk.sensitive["icd9"].t_closeness_ordered is None
        assert risk.sensitive["change"].t_closeness_ordered is not None
    check_numbers(here, there)
    numbers = [name for name in found.column_names if name.startswith("age_")]
    for name in numbers:
        assert pa.types.is_floating(here.table[name].type) == pa.types.is_floating(found[name].type)


def test_a_release_stays_on_the_cluster(both: tuple[Release, Release]) -> None:
    _, there = both
    with pytest.raises(InputError, match="no table in this process"):
        assert there.table
    assert there.source_rows is None
    assert "positions" not in there.to_json()
    assert there.to_json()["ran"]["engine"] == "spark"


def test_the_order_is_that_of_neither_persons_nor_classes(both: tuple[Release, Release]) -> None:
    """No more neighbours of one person, or of one class, than chance gives."""
    _, there = both
    table = arrow(there).to_pandas().astype(str).fillna("")  # an end that is open
    for names in (["patient"], ["age_low", "age_high", "grade_low", "grade_high", "job"]):
        values = table[names].agg("|".join, axis=1)
        sizes = values.value_counts().to_numpy()
        chance = (sizes * (sizes - 1)).sum() / len(values)
        together = int((values.to_numpy()[1:] == values.to_numpy()[:-1]).sum())
        assert together <= chance + 5 * np.sqrt(chance) + 1


def test_it_is_written_with_its_manifest_and_reported(
    both: tuple[Release, Release], tmp_path: Any
) -> None:
    here, there = both
    written = there.write(tmp_path / "release.parquet")
    manifest = load_manifest(tmp_path / "release.toml")
    assert manifest == written.manifest
    assert manifest.engine == "spark"
    assert len(manifest.output_sha256) == 64
    assert "engine" not in here.manifest.to_dict()["release"]
    assert rows(pq.read_table(tmp_path / "release.parquet")) == rows(here.table)
    there.write(tmp_path / "release.csv")
    parts = list((tmp_path / "release.csv").glob("part-*.csv"))
    options = pa_csv.ConvertOptions(strings_can_be_null=True)
    read = pa.concat_tables(pa_csv.read_csv(part, convert_options=options) for part in parts)
    assert read.num_rows == here.table.num_rows
    assert read.column_names == here.table.column_names
    assert {path.name for path in tmp_path.iterdir()} == {
        "release.parquet",
        "release.csv",
        "release.codebook.md",
        "release.toml",
    }
    page = sf.report(there, tmp_path / "report.html").read_text()
    assert "Spark" in page
    assert "row 1" not in page
    own = sf.report(here, tmp_path / "here.html").read_text().count("<svg")
    assert own == page.count("<svg") + 1  # known events, which Spark does not measure


def test_records_without_persons_labels_of_a_hierarchy_and_coded_ends(
    spark: Any, tree: Any
) -> None:
    """Records that differ beyond an end alone are still told apart where they are cut."""
    table, schema = visits(300, several=False), schema_of(tree, several=False, ends=True)
    asked = {"values": "hierarchy", "effort": 0, "seed": 2**62}
    far = sf.TCloseness(0.7, attribute="icd9")
    here = sf.anonymize(table, schema, sf.KAnonymity(6), far, **asked)
    frame = spark.createDataFrame(shuffled(table)).coalesce(1)
    there = sf.anonymize(frame, schema, sf.KAnonymity(6), far, **asked)
    assert {"60.0 or more", "17.0 or less"} <= set(here.table.column("age").to_pylist())
    assert rows(arrow(there)) == rows(here.table)
    check_numbers(here, there)


def test_the_embedded_engine_reads_a_frame_into_this_process(spark: Any, tree: Any) -> None:
    table, schema = visits(30, several=True), schema_of(tree, several=True)
    asked = {"seed": 1, "cut": "median", "engine": "embedded"}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)
        made = sf.anonymize(spark.createDataFrame(table), schema, sf.KAnonymity(3), **asked)
        assert made.data.count() == made.table.num_rows == table.num_rows
    assert made.manifest.engine == "embedded"
    assert made.to_json()["positions"]


SCHEMA = sf.Schema(person="patient", quasi_identifiers={"age": "numeric"}, sensitive=["icd9"])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"keep_order": True}, "parameter keep_order must be left out on Spark"),
        ({"suppress": 0.1}, "parameter suppress must be left out on Spark"),
        ({"cap_records": 2}, "parameter cap_records must be left out on Spark"),
        ({"recoding": "full-domain"}, "parameter recoding must be local on Spark"),
        ({"register": "register.csv"}, "parameter register"),
        ({"engine": "dask"}, "parameter engine must be the name of an engine"),
    ],
)
def test_what_spark_cannot_do_is_said_before_work(asked: dict[str, Any], said: str) -> None:
    promise = sf.MarketerRisk(0.1) if "register" in asked else sf.KAnonymity(2)
    with pytest.raises(InputError, match=said):
        sf.anonymize("nowhere.csv", SCHEMA, promise, **{"engine": "spark", **asked})


def test_promises_that_spark_cannot_keep_or_measure() -> None:
    with pytest.raises(InputError, match="a promise about every class on Spark"):
        sf.anonymize("nowhere.csv", SCHEMA, sf.MarketerRisk(0.1), engine="spark")


def test_what_the_file_does_not_allow_is_refused_once_it_is_read(spark: Any, tmp_path: Any) -> None:
    (tmp_path / "ages.csv").write_text("1;*\n2;*\n")
    frame = spark.createDataFrame(pa.table({"age": [1, 2], "icd9": ["cold", "flu"]}))
    age = {"kind": "numeric", "top": 2, "hierarchy": tmp_path / "ages.csv"}
    schema = sf.Schema(quasi_identifiers={"age": age}, sensitive=["icd9"])
    with pytest.raises(InputError, match="where labels of its hierarchy are released"):
        sf.anonymize(frame, schema, sf.KAnonymity(2), values="hierarchy")
    with pytest.raises(InputError, match="column 'icd9' must hold numbers only"):
        sf.anonymize(frame, schema, sf.TCloseness(0.2, distance="ordered"))


def test_a_column_that_gives_away_another_is_refused(spark: Any) -> None:
    ages = np.random.default_rng(3).integers(20, 80, 200)
    frame = spark.createDataFrame(pa.table({"age": ages, "born": 2026 - ages}))
    schema = sf.Schema(quasi_identifiers={"age": "numeric"}, insensitive=["born"])
    with pytest.raises(InputError, match=r"column 'born' must not give away.*tells 'age'"):
        sf.anonymize(frame, schema, sf.KAnonymity(5))


def test_a_manifest_says_the_engine_only_where_it_is_spark(both: tuple[Release, Release]) -> None:
    here, there = both
    assert 'engine = "spark"' in there.manifest.to_toml()
    plain = replace(there.manifest, engine=here.manifest.engine)
    assert "engine" not in plain.to_toml()


def test_a_manifest_of_another_engine_is_refused(
    both: tuple[Release, Release], tmp_path: Any
) -> None:
    text = both[1].manifest.to_toml().replace('"spark"', '"dask"')
    (tmp_path / "release.toml").write_text(text)
    with pytest.raises(InputError, match="that sfumato wrote"):
        load_manifest(tmp_path / "release.toml")
