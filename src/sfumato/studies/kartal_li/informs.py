"""The patient data of Section 6: INFORMS Data Mining Contest 2008, as far as it is at hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.schema import Schema
from sfumato.table.sources.open_source import open_source

FOLDER = "informs"
CONDITIONS, DEMOGRAPHICS = "conditions_2005.parquet", "demographics_2005.parquet"
PATIENT, CODE, EDUCATION = "DUPERSID", "ICD9CODX", "EDUCYEAR"
SCHEMA = Schema(
    person=PATIENT,
    quasi_identifiers={
        "DOBYY": "numeric",
        EDUCATION: "numeric",
        "income": "numeric",
        "poverty": "ordered",
    },
    sensitive=CODE,
)
"""Year of birth, years of education, income, poverty level; the ICD-9 code is sensitive."""
_PLACE = "place"


def patient_records(data: Path) -> pa.Table:
    """The patients' conditions with their demographics, as Section 6 joins them.

    Joined on the patient; records without a valid ICD-9 code or with unknown education (codes
    below 0 mean missing) are dropped. The order is that of the conditions.

    Parameters
    ----------
    data
        The folder that holds ``informs/conditions_2005.parquet`` and
        ``informs/demographics_2005.parquet``.

    Raises
    ------
    InputError
        If a file is missing or damaged, lacks a column, or does not hold what it should.
    """
    conditions = _read(data, CONDITIONS, (PATIENT, CODE))
    demographics = _read(data, DEMOGRAPHICS, (PATIENT, *SCHEMA.quasi_identifiers))
    patients = demographics.column(PATIENT)
    if pc.count_distinct(patients, mode="all").as_py() < demographics.num_rows:
        raise InputError(
            f"column '{PATIENT}' of file {DEMOGRAPHICS}",
            "must name each patient once",
            found="a patient in several rows",
        )
    numbered = conditions.append_column(_PLACE, pa.array(range(conditions.num_rows)))
    try:
        joined = numbered.join(demographics, PATIENT, join_type="inner").sort_by(_PLACE)
        valid = pc.and_(
            pc.invert(pc.starts_with(pc.utf8_ltrim_whitespace(joined.column(CODE)), "-")),
            pc.greater_equal(joined.column(EDUCATION), 0),
        )
    except pa.ArrowException:
        raise InputError(
            f"files {CONDITIONS} and {DEMOGRAPHICS}",
            f"must hold '{PATIENT}' of one type, '{CODE}' as text and '{EDUCATION}' as numbers",
        ) from None
    return joined.filter(valid).drop_columns([_PLACE])


def _read(data: Path, name: str, columns: Sequence[str]) -> pa.Table:
    path = data / FOLDER / name
    if not path.is_file():
        raise InputError(
            f"file {FOLDER}/{name}",
            "must be in the data folder",
            found="no such file",
            advice=f"give the folder that holds {FOLDER}/{CONDITIONS} and {FOLDER}/{DEMOGRAPHICS}",
        )
    return pa.Table.from_batches(list(open_source(path).batches(columns)))
