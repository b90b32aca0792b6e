"""Spark by one option, or by DataFrames of its own: the pairs, scores and persons of DuckDB."""

import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from linkage.linked_tables import households, two_clinics
from numpy.testing import assert_allclose, assert_array_equal

from sfumato.core.errors import InputError, SfumatoError
from sfumato.core.optional_packages import quiet
from sfumato.linkage.comparison_levels import settings_from
from sfumato.linkage.link import link
from sfumato.linkage.link_spec import LinkSpec, spec_of_settings
from sfumato.linkage.spark_linkage import (
    OnSpark,
    as_functions,
    levels_of,
    spark_settings,
    spark_sql,
    streamed,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_random_pairs")]

SPEC = LinkSpec(
    id="id",
    columns={"given_name": "given name", "surname": "surname", "dob": "date"},
    blocking=["surname:sound", "dob"],
)


def linked(**options):
    tables = dict(zip("ab", two_clinics(200, 150), strict=True))
    return link(tables, SPEC, seed=1, secret=b"s" * 32, **options)


@pytest.fixture
def session(spark):
    pytest.importorskip("splink")
    yield spark
    for table in spark.catalog.listTables():
        spark.catalog.dropTempView(table.name)


def same(here, there):
    """Whether two linkages have the same pairs, levels, scores and persons."""
    one, other = here.pairs, there.pairs
    assert [rule.pairs for rule in here.model.rules] == [rule.pairs for rule in there.model.rules]
    assert_array_equal(one.left, other.left)
    assert_array_equal(one.right, other.right)
    assert_array_equal(one.block, other.block)
    for name, level in one.levels.items():
        assert_array_equal(level, other.levels[name])
    assert_allclose(one.score, other.score, rtol=0, atol=1e-9)
    assert_array_equal(here.settled.persons.person, there.settled.persons.person)
    assert here.linked.equals(there.linked)
    assert there.model.settings == here.model.settings
    assert (here.manifest.model["engine"], there.manifest.model["engine"]) == ("duckdb", "spark")


def test_dataframes_and_folders_of_spark_are_linked_as_by_duckdb(session, tmp_path, capfd):
    session.range(3).createOrReplaceTempView("own")
    partitions = session.conf.get("spark.sql.shuffle.partitions")
    tables = dict(zip("ab", two_clinics(200, 150), strict=True))
    for name, table in tables.items():
        (tmp_path / name).mkdir()
        pq.write_table(table, tmp_path / name / "part-0.parquet")
    on_spark = {"a": session.read.parquet(str(tmp_path / "a")), "b": tmp_path / "b"}
    here, there = link(tables, SPEC, seed=1), link(on_spark, SPEC, seed=1)
    same(here, there)
    assert there.model.notes == here.model.notes
    assert [table.name for table in session.catalog.listTables()] == ["own"]
    assert session.conf.get("spark.sql.shuffle.partitions") == partitions
    assert "Anna" not in str(capfd.readouterr())


def test_households_taken_for_persons_are_refused_as_by_duckdb(session):
    columns = {"given_name": "given name", "street": "address", "phone": "phone"}
    spec, said = LinkSpec(columns=columns, blocking=["phone"]), {}
    for engine in ("duckdb", "spark"):
        with pytest.raises(InputError, match="'given_name' is different in 7") as error:
            link(households(100)[0], spec, seed=1, engine=engine)
        said[engine] = str(error.value)
    assert said["spark"] == said["duckdb"]


def test_without_sfumato_on_the_executors_splink_compares(session, monkeypatch):
    monkeypatch.setattr("sfumato.linkage.spark_linkage.runs_sfumato", lambda session: False)
    splink = OnSpark(session, None)
    assert "Splink's functions" in splink.notes[0]
    settings = settings_from(SPEC)
    assert splink.settings(settings) == spark_settings(settings)
    assert "JARO_WINKLER" in str(splink.settings(settings)["comparisons"])


NAMES = pa.table(
    {
        "number": range(5),
        "name_l": ["dixon", "garradc ourt", "mary", None, "\u043c\u0430\u0440\u0438\u044f"],
        "name_r": ["dicksonx", "garratt street", "mary", "mary", "\u043c\u0430\u0440\u044c\u044f"],
    }
)
"""Among them two that Splink's functions for Spark find less similar than DuckDB's."""
CONDITIONS = [
    '"name_l" IS NULL OR "name_r" IS NULL',
    '"name_l" = "name_r"',
    'jaro_winkler_similarity("name_l", "name_r") >= 0.9',
    'jaro_winkler_similarity("name_l", "name_r") >= 0.8',
    "ELSE",
]


@pytest.mark.parametrize("lacking", ["nothing", "arrow_udf"])
def test_executors_find_the_levels_of_duckdb(session, monkeypatch, tmp_path, lacking):
    """By functions of Arrow's columns or, as in Spark 4.0, of pandas'."""
    monkeypatch.delattr(f"pyspark.sql.functions.{lacking}", raising=False)
    comparison = {"comparison_levels": [{"sql_condition": each} for each in CONDITIONS]}
    made, (levels,) = as_functions({"comparisons": [comparison]})
    conditions = [each["sql_condition"] for each in made["comparisons"][0]["comparison_levels"]]
    assert conditions[:2] == CONDITIONS[:2]
    assert conditions[2] == 'sfumato_levels_0("name_l", "name_r") = 2'
    wanted = levels_of(NAMES, levels.query)
    assert wanted.to_pylist()[1:4] == [3, 1, 0]
    pq.write_table(NAMES, tmp_path / "names.parquet")
    session.read.parquet(str(tmp_path)).createOrReplaceTempView("names")
    with quiet("bring the comparisons to Spark"):
        levels.register(session)
        query = "SELECT sfumato_levels_0(name_l, name_r) AS level FROM names ORDER BY number"
        found = session.sql(query).collect()
    assert [row.level for row in found] == wanted.to_pylist()


def test_an_executor_names_no_value_that_duckdb_cannot_read():
    query = "SELECT CAST(name_l AS INTEGER) AS level FROM pairs"
    with pytest.raises(SfumatoError, match="stopped with ConversionException") as caught:
        levels_of(pa.table({"name_l": ["Canary7"]}), query)
    assert caught.value.__suppress_context__
    assert "Canary" not in str(caught.value)


@pytest.mark.parametrize("runs", [True, False])
def test_records_are_streamed_from_spark(session, monkeypatch, tmp_path, runs):
    """By the executors' Python, or where they have none, by Spark itself; some columns of them."""
    monkeypatch.setattr("sfumato.linkage.spark_linkage.runs_sfumato", lambda session: runs)
    table = two_clinics(200, 150)[0].append_column("no`. te", pa.array([None, 1.5] * 100))
    for number in range(2):
        pq.write_table(table.slice(100 * number, 100), tmp_path / f"part-{number}.parquet")
    source = streamed({"a": session.read.parquet(str(tmp_path))}, spark=False)["a"]
    wanted = ["surname", "no`. te", "id"]
    for _ in range(2):
        found = pa.Table.from_batches(list(source.batches(wanted)))
        assert found.select(wanted).sort_by("id").to_pylist() == (
            table.select(wanted).sort_by("id").to_pylist()
        )
    assert source.names == tuple(table.column_names)


def test_a_csv_folder_with_a_ragged_row_is_refused(session, tmp_path):
    (tmp_path / "clinic.csv").mkdir()
    (tmp_path / "clinic.csv" / "part-0.csv").write_text("id,name\n1,Anna\n2,Berta,Smith\n")
    source = streamed({"a": tmp_path / "clinic.csv"}, spark=True)["a"]
    with pytest.raises(InputError, match="number of cells in 1 record") as caught:
        list(source.batches(["id"]))
    assert "Berta" not in str(caught.value)


def test_what_only_spark_reads(tmp_path):
    for path in (tmp_path, "s3a://bucket/patients.parquet"):
        with pytest.raises(InputError, match=r"engine=.spark."):
            link({"a": path, "b": two_clinics(20, 10)[1]}, SPEC)


def test_an_error_of_spark_names_no_value(session, capfd):
    session.range(1).createOrReplaceTempView("own")
    settings = {
        "link_type": "dedupe_only",
        "unique_id_column_name": "id",
        "comparisons": [
            {
                "output_column_name": "surname",
                "comparison_levels": [
                    {"sql_condition": "no_such_function(surname_l)", "label_for_charts": "x"},
                    {"sql_condition": "ELSE", "label_for_charts": "y"},
                ],
            }
        ],
        "blocking_rules_to_generate_predictions": ["l.surname = r.surname"],
    }
    with pytest.raises(SfumatoError, match="it stopped with") as caught:
        link({"a": two_clinics(20, 10)[0]}, spec_of_settings(settings), engine="spark")
    assert "Smith" not in str(caught.value) + str(capfd.readouterr())


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ('jaro_winkler_similarity("a_l", "a_r") >= 0.8', "JARO_WINKLER(`a_l`, `a_r`) >= 0.8"),
        ('damerau_levenshtein("a_l", "a_r") <= 1', "DAMERAU_LEVENSHTEIN(`a_l`, `a_r`) <= 1"),
        ("ELSE", "ELSE"),
        (
            "regexp_replace(l.\"a\", '[x \\d]', '', 'g') = r.\"a\"",
            "REGEXP_REPLACE(l.`a`, '[x \\\\d]', '') = r.`a`",
        ),
    ],
)
def test_sql(ours, theirs):
    pytest.importorskip("splink")
    assert spark_sql(ours) == theirs


def test_settings_are_left_as_they_are():
    pytest.importorskip("splink")
    settings = {
        "sql_dialect": "duckdb",
        "comparisons": [{"comparison_levels": [{"sql_condition": '"a_l" = "a_r"'}]}],
        "blocking_rules_to_generate_predictions": [
            {"blocking_rule": 'l."a" = r."a"', "sql_dialect": "duckdb"},
            'l."b" = r."b"',
        ],
    }
    made = spark_settings(settings)
    assert "duckdb" not in str(made)
    assert made["comparisons"][0]["comparison_levels"][0]["sql_condition"] == "`a_l` = `a_r`"
    assert made["blocking_rules_to_generate_predictions"][1] == "l.`b` = r.`b`"
    assert settings["comparisons"][0]["comparison_levels"][0]["sql_condition"] == '"a_l" = "a_r"'


def test_engines_that_are_not_there(monkeypatch):
    with pytest.raises(InputError, match="duckdb, spark"):
        linked(engine="fire")
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(InputError, match="\\[spark\\]"):
        linked(engine="spark")
