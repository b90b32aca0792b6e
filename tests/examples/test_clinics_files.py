"""The clinics as files: what is read back is what was written."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv

from sfumato.core.errors import InputError
from sfumato.examples import generate_clinics, write_clinics
from sfumato.examples.demographics import DESCRIPTIONS
from sfumato.schema import load_schema

NAMES = ["hospital.csv", "practice.csv", "visits.csv", "schema.toml", "icd9.csv"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("written") / "new" / "clinics"
    paths = write_clinics(generate_clinics(400, rng=3), target)
    assert list(paths) == [target / name for name in NAMES]
    return target


def test_nothing_but_the_files_is_left(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted(NAMES)


def test_the_tables_come_back(folder: Path) -> None:
    clinics = generate_clinics(400, rng=3)
    for name, table in (
        ("hospital", clinics.hospital),
        ("practice", clinics.practice),
        ("visits", clinics.visits),
    ):
        options = arrow_csv.ConvertOptions(
            column_types=table.schema, strings_can_be_null=True, null_values=[""]
        )
        read = arrow_csv.read_csv(folder / f"{name}.csv", convert_options=options)
        assert read.combine_chunks().equals(table.combine_chunks())
        assert pa.types.is_string(read.schema.field("zip").type)


def test_the_csv_is_plain(folder: Path) -> None:
    header, first, *_ = (folder / "hospital.csv").read_text(encoding="utf-8").splitlines()
    assert header == "patient,name,phone,visit_date,age,sex,zip,education,icd9,department,charge"
    assert '"' not in first
    assert ",2015-" in first


def test_the_schema_comes_back_with_its_reasons(folder: Path) -> None:
    text = (folder / "schema.toml").read_text(encoding="utf-8")
    assert load_schema(folder / "schema.toml") == generate_clinics(1).schema
    assert "visit_date: a date of visit singles out a person; release the age instead" in text


def test_codes_are_explained(folder: Path) -> None:
    with (folder / "icd9.csv").open(encoding="utf-8", newline="") as file:
        assert {row["icd9"]: row["description"] for row in csv.DictReader(file)} == DESCRIPTIONS


def test_the_same_seed_gives_the_same_files(folder: Path, tmp_path: Path) -> None:
    for path in write_clinics(generate_clinics(400, rng=3), tmp_path):
        assert path.read_bytes() == (folder / path.name).read_bytes()


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "taken"
    place.write_text("here already", encoding="utf-8")
    with pytest.raises(InputError, match="output folder taken"):
        write_clinics(generate_clinics(2), place)
    assert place.read_text(encoding="utf-8") == "here already"
