"""The patient data of Section 6: INFORMS Data Mining Contest 2008, as far as it is at hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.schema import Schema
from sfumato.studies.kartal_li.data.data_set import DataSet, Numbers, Size
from sfumato.studies.kartal_li.published.value_risks import TABLE_13
from sfumato.table.table_files import open_source

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


def patient_records(folder: Path) -> pa.Table:
    """The patients' conditions with their demographics, as Section 6 joins them.

    Joined on the patient; records without a valid ICD-9 code or with unknown education (codes
    below 0 mean missing) are dropped. The order is that of the conditions.

    Parameters
    ----------
    folder
        The folder that holds ``conditions_2005.parquet`` and ``demographics_2005.parquet``.

    Raises
    ------
    InputError
        If a file is missing or damaged, lacks a column, or does not hold what it should.
    """
    conditions = _read(folder, CONDITIONS, (PATIENT, CODE))
    demographics = _read(folder, DEMOGRAPHICS, (PATIENT, *SCHEMA.quasi_identifiers))
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


def _read(folder: Path, name: str, columns: Sequence[str]) -> pa.Table:
    batches = open_source(folder / name).batches(columns)
    return pa.Table.from_batches(list(batches))


PATIENT_DATA = DataSet(
    key="patient",
    source="INFORMS Data Mining Contest 2008, year 2005",
    files=(CONDITIONS, DEMOGRAPHICS),
    folders=("informs", "."),
    read=patient_records,
    schema=SCHEMA,
    persons="patients",
    selection=(
        "Conditions with their patients' demographics, with a valid ICD-9 code and known "
        "education; year of birth, education and income are numeric, poverty is ordered, the "
        "ICD-9 code is sensitive."
    ),
    remark=(
        "The paper does not describe its selection fully, so that its numbers are near, not equal. "
        "In four other orders of persons' ties MaxGIDR moved by up to 16 points for k, 10 for K "
        "and 1 for g, AvgGIDR by up to 0.4."
    ),
    numbers=Numbers(7, 10, 13, 16),
    published=Size(117_307, 29_531),
    common=TABLE_13["h"][0.5, 0.05].max_gsar / 100,
    targets=(50, 40, 30, 25),
)
"""What the study knows of it. No value can be more common than MaxGSAR (Lemma 1)."""
