"""From a file or a dataframe to its measures."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet
import pytest

from sfumato.core.errors import InputError
from sfumato.risk.assessment import assess
from sfumato.schema import Schema

SCHEMA = Schema(
    person="patient",
    quasi_identifiers={"age": "numeric", "sex": "categorical"},
    sensitive=["icd9"],
    direct_identifiers=["name"],
)
DATA = pa.table(
    {
        "patient": ["p1", "p1", "p2", "p3", "p3", "p4"],
        "name": ["Ann", "Ann", "Bea", "Cid", "Cid", "Dov"],
        "age": [30, 30, 30, 41, 41, None],
        "sex": ["f", "f", "f", "m", "m", "m"],
        "icd9": ["250", "401", "250", "401", None, "401"],
    }
)


def test_every_number_of_a_small_file():
    risk = assess(DATA, SCHEMA)
    assert (risk.records, risk.persons, risk.classes) == (6, 4, 3)
    assert (risk.k, risk.pid_k) == (1, 1)
    assert risk.k_where.row == 6
    assert risk.max_gidr.where.row == 4
    assert risk.avg_gidr.value == pytest.approx((2 / 3 + 1 + 1) / 3)
    assert risk.sample_uniques == 2
    assert risk.sample_unique_records == 1
    assert risk.sensitive["icd9"].avg_gsar.value == 1


def test_a_csv_file_gives_the_same(tmp_path):
    path = tmp_path / "visits.csv"
    pyarrow.csv.write_csv(DATA, path)
    assert assess(path, SCHEMA).to_json() == assess(DATA, SCHEMA).to_json()


def test_without_a_person_column_every_record_is_a_person():
    schema = Schema(quasi_identifiers=["age", "sex"], direct_identifiers=["name", "patient"])
    risk = assess(DATA, schema)
    assert (risk.persons, risk.pid_k, risk.k) == (6, 1, 1)
    assert risk.marketer.value == risk.by_records.marketer.value == 0.5
    assert any("no person column" in warning for warning in risk.warnings)


def test_progress_reads_then_measures():
    told = []
    assess(DATA, SCHEMA, progress=lambda stage, share: told.append((stage, share)))
    assert told[-1] == ("measure", 1.0)
    assert told == sorted(told, key=lambda call: (call[0] != "read", call[1]))


def test_a_bad_threshold_is_refused_before_the_file_is_opened():
    with pytest.raises(InputError, match="parameter threshold"):
        assess("no such file.csv", SCHEMA, threshold=20)


@pytest.mark.parametrize("asked", [(1,), (2.5,), (True,), ("4",)])
def test_recursive_diversity_is_for_whole_numbers_from_two(asked):
    with pytest.raises(InputError, match="parameter recursive_l"):
        assess(DATA, SCHEMA, recursive_l=asked)


def test_adult(shared_data):
    """Paper 004: 3,152 classes by age, education, race and sex, average risk 0.1045."""
    quasi = {"age": "numeric", "education": "categorical", "race": "categorical"}
    schema = Schema(quasi_identifiers=quasi | {"sex": "categorical"}, sensitive="occupation")
    risk = assess(shared_data / "adult" / "adult.csv", schema)
    assert (risk.records, risk.classes, risk.sample_uniques) == (30_162, 3_152, 1_206)
    assert round(risk.average_risk.value, 4) == 0.1045


def test_informs_has_several_records_per_person(shared_data):
    """INFORMS 2005: 95,140 records of 23,968 persons (NOTES, section 1)."""
    folder = shared_data / "informs"
    conditions = pa.parquet.read_table(folder / "conditions_2005.parquet")
    people = pa.parquet.read_table(folder / "demographics_2005.parquet")
    joined = conditions.join(people, "DUPERSID", join_type="inner", right_suffix="_right")
    coded = pa.compute.invert(pa.compute.starts_with(joined["ICD9CODX"], "-"))
    kept = joined.filter(pa.compute.and_(coded, pa.compute.greater_equal(joined["EDUCYEAR"], 0)))
    kept = kept.select(["DUPERSID", "DOBYY", "EDUCYEAR", "income", "poverty", "ICD9CODX"])
    quasi = dict.fromkeys(("DOBYY", "EDUCYEAR", "income", "poverty"), "numeric")
    schema = Schema(person="DUPERSID", quasi_identifiers=quasi, sensitive="ICD9CODX")
    risk = assess(kept, schema)
    assert (risk.records, risk.persons) == (95_140, 23_968)
    assert risk.max_gidr.value == 1
    assert risk.by_records.marketer.value < risk.marketer.value
