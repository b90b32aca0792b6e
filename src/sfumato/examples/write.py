"""The two clinics' visits as files."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from sfumato.core.atomic import all_or_none, atomic_path, write_text
from sfumato.core.errors import InputError
from sfumato.examples.clinics import Clinics
from sfumato.examples.diagnoses import DESCRIPTIONS
from sfumato.examples.registrations import Registrations
from sfumato.schema import dump_schema

_HEADER = """\
# Visits of made-up patients to two clinics, as sfumato.examples.generate_clinics draws them.
# Each column of visits.csv has one role; hospital.csv and practice.csv lack the column clinic.
"""

_REGISTRATIONS_HEADER = """\
# Patients and visits of two made-up clinics, as sfumato.examples.generate_registrations draws them.
# Each column has one role, but for the clinics' own numbers, the column patient.
"""

_NOTES = {
    "patient": "the person; the same key in both clinics, as linkage would give it",
    "name": "names the person",
    "given_name": "names the person",
    "surname": "names the person",
    "date_of_birth": "singles out a person; release the age instead",
    "phone": "reaches the person",
    "visit_date": "a date of visit singles out a person; release the age instead",
    "age": "completed years at the visit; it grows between visits",
    "sex": "Female or Male",
    "zip": "five digits, neighbouring numbers are mostly neighbouring places",
    "education": "highest level so far; a few records miss it",
    "icd9": "diagnosis, ICD-9-CM; icd9.csv says what the codes mean",
    "clinic": "hospital or practice",
    "department": "does not depend on the person",
    "charge": "dollars; think again where bills are known outside",
}


def write_clinics(clinics: Clinics, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write the tables, the schema and the meaning of the codes into a folder.

    The files are ``hospital.csv``, ``practice.csv``, ``visits.csv``, ``schema.toml`` (with
    comments) and ``icd9.csv`` (code, description). All are written whole or none is; a file
    of the same name is replaced. Missing values are empty cells.

    Parameters
    ----------
    clinics
        What to write.
    folder
        Where; made if it does not exist.

    Returns
    -------
    tuple of Path
        The files written, in the order above.

    Raises
    ------
    InputError
        If the folder cannot be made or cannot be written.
    """
    place = _folder(folder)
    hospital, practice, visits, schema, codes = (
        place / name
        for name in ("hospital.csv", "practice.csv", "visits.csv", "schema.toml", "icd9.csv")
    )
    with all_or_none():
        _write_csv(clinics.hospital, hospital, quoting="none")
        _write_csv(clinics.practice, practice, quoting="none")
        _write_csv(clinics.visits, visits, quoting="none")
        write_text(schema, f"{_HEADER}\n{dump_schema(clinics.schema, _NOTES)}")
        _write_codes(codes)
    return hospital, practice, visits, schema, codes


def write_registrations(
    registrations: Registrations, folder: str | os.PathLike[str]
) -> tuple[Path, ...]:
    """Write the patients and visits of both clinics, the truth, and the schema into a folder.

    The files are ``patients_hospital.csv``, ``patients_practice.csv``, ``visits_hospital.csv``,
    ``visits_practice.csv``, ``truth.csv``, ``schema.toml`` (with comments) and ``icd9.csv`` (code,
    description). All are written whole or none is; a file of the same name is replaced.
    Missing values are empty cells.

    Parameters
    ----------
    registrations
        What to write.
    folder
        Where; made if it does not exist.

    Returns
    -------
    tuple of Path
        The files written, in the order above.

    Raises
    ------
    InputError
        If the folder cannot be made or cannot be written.
    """
    place = _folder(folder)
    tables = {
        "patients_hospital.csv": registrations.hospital,
        "patients_practice.csv": registrations.practice,
        "visits_hospital.csv": registrations.hospital_visits,
        "visits_practice.csv": registrations.practice_visits,
        "truth.csv": registrations.truth,
    }
    text = f"{_REGISTRATIONS_HEADER}\n{dump_schema(registrations.schema, _NOTES)}"
    with all_or_none():
        for name, table in tables.items():
            _write_csv(table, place / name, quoting="none")
        write_text(place / "schema.toml", text)
        _write_codes(place / "icd9.csv")
    return tuple(place / name for name in (*tables, "schema.toml", "icd9.csv"))


def _write_codes(path: Path) -> None:
    """What the codes of diagnoses mean."""
    meanings = {"icd9": list(DESCRIPTIONS), "description": list(DESCRIPTIONS.values())}
    _write_csv(pa.table(meanings), path, quoting="needed")


def _folder(folder: str | os.PathLike[str]) -> Path:
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InputError(
            f"output folder {place.name}",
            "must be a folder that exists or can be made",
            advice="choose another one",
        ) from None
    return place


def _write_csv(table: pa.Table, path: Path, *, quoting: str) -> None:
    options = csv.WriteOptions(quoting_style=quoting, quoting_header="none", batch_size=65_536)
    with atomic_path(path) as temporary:
        csv.write_csv(table, temporary, write_options=options)
