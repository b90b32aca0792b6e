"""Spark by one option: the pairs of DuckDB, and nearly its scores."""

import sys

import numpy as np
import pytest
from linkage.linked_tables import two_clinics
from numpy.testing import assert_allclose, assert_array_equal

from sfumato.core.errors import InputError, SfumatoError
from sfumato.linkage.link import link
from sfumato.linkage.model.spark_sql import spark_settings, spark_sql
from sfumato.linkage.spec.model import LinkSpec, spec_of_settings

SPEC = LinkSpec(
    id="id",
    columns={"given_name": "given name", "surname": "surname", "dob": "date"},
    blocking=["surname:sound", "dob"],
)


def linked(**options):
    tables = dict(zip("ab", two_clinics(200, 150), strict=True))
    return link(tables, SPEC, seed=1, **options)


@pytest.fixture
def session(spark):
    pytest.importorskip("splink")
    yield spark
    for table in spark.catalog.listTables():
        spark.catalog.dropTempView(table.name)


def test_pairs_and_scores_are_those_of_duckdb(session, capfd):
    session.range(3).createOrReplaceTempView("own")
    partitions = session.conf.get("spark.sql.shuffle.partitions")
    here, there = linked(), linked(engine="spark")
    one, other = here.pairs, there.pairs
    assert [rule.pairs for rule in here.model.rules] == [rule.pairs for rule in there.model.rules]
    kept, also = (set(zip(p.left.tolist(), p.right.tolist(), strict=True)) for p in (one, other))
    assert len(kept & also) >= 0.99 * len(kept | also)
    assert_array_equal(np.lexsort((other.right, other.left)), np.arange(len(other)))
    in_one = np.array([pair in also for pair in zip(one.left, one.right, strict=True)])
    in_other = np.array([pair in kept for pair in zip(other.left, other.right, strict=True)])
    for name, level in one.levels.items():
        assert_array_equal(level[in_one], other.levels[name][in_other])
    assert_array_equal(one.block[in_one], other.block[in_other])
    assert_allclose(one.score[in_one], other.score[in_other], atol=0.05)
    assert_array_equal(here.settled.persons.person, there.settled.persons.person)
    assert (here.manifest.model["engine"], there.manifest.model["engine"]) == ("duckdb", "spark")
    assert without_estimates(there.model.settings) == without_estimates(here.model.settings)
    assert [table.name for table in session.catalog.listTables()] == ["own"]
    assert session.conf.get("spark.sql.shuffle.partitions") == partitions
    assert "Anna" not in str(capfd.readouterr())
    known, again = (linked(engine=each, model=here.model) for each in ("duckdb", "spark"))
    assert_array_equal(again.pairs.left, known.pairs.left)
    assert_allclose(again.pairs.score, known.pairs.score, atol=1e-6)


def without_estimates(settings):
    if isinstance(settings, dict):
        return {
            key: without_estimates(value)
            for key, value in settings.items()
            if "probability" not in key
        }
    if isinstance(settings, list):
        return [without_estimates(each) for each in settings]
    return settings


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
    with pytest.raises(InputError, match="sfumato\\[spark\\]"):
        linked(engine="spark")
