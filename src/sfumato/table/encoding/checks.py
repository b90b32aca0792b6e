"""What is refused, and what is said, about the columns of a file."""

from __future__ import annotations

import difflib
from collections.abc import Container, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.schema import Kind, Schema
from sfumato.table.columns import MISSING, CodedColumn
from sfumato.table.encoding.accumulate import RawColumn
from sfumato.table.encoding.arrow_types import are_equal, flags, is_bytes, is_text, trimmed


def check_columns(subject: str, names: Sequence[str], schema: Schema) -> list[str]:
    """Check that the file has every column of the schema; say of which nobody said what they are.

    Raises
    ------
    InputError
        If the file lacks a column that the schema names.
    """
    named = schema.columns()
    unnamed = [name for name in names if name not in set(named)]
    for role, columns in (*schema.roles().items(), ("accepted", tuple(schema.accepted))):
        for name in columns:
            if name not in names:
                raise InputError(
                    subject,
                    f"must have the column '{name}', which the schema names as {role}",
                    found="one column, of another name"
                    if len(names) == 1
                    else f"{len(names)} columns, none of this name",
                    advice=_suggestion(name, unnamed, alone=len(names) == 1),
                )
    said = []
    for open_, why in (
        (unnamed, "the schema does not say what they are"),
        (tuple(schema.undecided), "[undecided] of the schema asks what they are"),
    ):
        if open_:
            several = "columns" if len(open_) > 1 else "column"
            said.append(
                f"{several} {_listed(open_)} of the file: {why}, so they are not measured, and no "
                "release lets them out."
            )
    return said


def _suggestion(name: str, unnamed: Sequence[str], *, alone: bool) -> str:
    folded = {column.casefold().strip(): column for column in unnamed}
    close = difflib.get_close_matches(name.casefold().strip(), folded, n=1, cutoff=0.7)
    if close:
        return f"did you mean '{folded[close[0]]}'?"
    if alone:
        return (
            "name the file's delimiter (--delimiter), correct the name in the schema, or check "
            "that the file's first line is its header"
        )
    return "correct the name in the schema, or check that the file's first line is its header"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def check_type(name: str, kind: pa.DataType, *, person: bool) -> None:
    """Check that a column's type holds single values that have a text.

    Parameters
    ----------
    name
        The column's name.
    kind
        Its type as it arrives.
    person
        Whether it is the person column, where bytes are accepted too.

    Raises
    ------
    InputError
        If it holds lists, structures, bytes or durations, or its time zone is unknown here.
    """
    subject = f"column '{name}'"
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    found = ""
    if pa.types.is_nested(kind):
        found = "lists or structures"
    elif pa.types.is_duration(kind) or pa.types.is_interval(kind):
        found = "durations"
    elif not person and is_bytes(kind):
        found = "bytes"
    if found:
        raise InputError(
            subject,
            "must hold single values",
            found=found,
            accepted="text, numbers, booleans, dates and times",
        )
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        try:
            pc.local_timestamp(pa.array([0], kind))
        except pa.ArrowInvalid:
            raise InputError(
                subject,
                "must have a time zone that this machine knows",
                advice="convert the column to UTC, or take its time zone away",
            ) from None


def have_spaces(values: pa.Array) -> npt.NDArray[np.bool_]:
    """Which values, without null, are texts with spaces around them, not spaces alone."""
    if not is_text(values.type):
        return np.zeros(len(values), dtype=np.bool_)
    inner = trimmed(values)
    if inner is values:
        return np.zeros(len(values), dtype=np.bool_)
    return flags(pc.and_(pc.not_equal(inner, values), pc.invert(are_equal(inner, ""))))


def spaces_warning(raw: RawColumn) -> list[str]:
    """Say how many records hold a text with spaces around it."""
    spaced = have_spaces(raw.values)
    if not spaced.any():
        return []
    return [spaces_said(raw.name, raw.count(spaced), raw.records)]


def spaces_said(name: str, count: int, records: int) -> str:
    """The warning of a column some records of which hold a text with spaces around it."""
    return (
        f"column '{name}': values with spaces at the start or end in {count:,} of "
        f"{records:,} records; they differ from the same values without."
    )


def column_warnings(
    quasi_identifiers: Sequence[CodedColumn],
    sensitive: Sequence[CodedColumn],
    missing: Mapping[str, int],
    records: int,
    accepted: Container[str],
) -> list[str]:
    """Say what is missing, which columns are constant, and which look like identifiers.

    Parameters
    ----------
    quasi_identifiers, sensitive
        The encoded columns; their codes are not looked at.
    missing
        Number of records without a value, by the name of the column.
    records
        Number of records.
    accepted
        Columns that look like something else, and are what the schema says all the same.
    """
    said = _missing_warning(missing, records)
    for column in quasi_identifiers:
        said += _quasi_identifier_warnings(column, missing[column.name])
    for column in sensitive:
        if column.name not in accepted:
            said += _sensitive_warnings(column, records - missing[column.name])
    return said


def count_missing(column: CodedColumn) -> int:
    """Number of records without a value in a column."""
    return int(np.count_nonzero(column.codes == MISSING))


def _missing_warning(missing: Mapping[str, int], records: int) -> list[str]:
    """Say how many records have no value, by column."""
    parts = [f"'{name}' in {count:,}" for name, count in missing.items() if count]
    if not parts:
        return []
    return [
        f"missing values, kept as a kind of their own: {', '.join(parts)} of {records:,} records."
    ]


def _quasi_identifier_warnings(column: CodedColumn, missing: int) -> list[str]:
    """Say when a quasi-identifier tells nobody apart."""
    if column.domain.size > 1 or missing:
        return []
    return [f"quasi-identifier '{column.name}' is constant: it has one value in all records."]


def _sensitive_warnings(column: CodedColumn, known: int) -> list[str]:
    """Say when a sensitive attribute has another value in every record."""
    if column.domain.size < known or known < 2:
        return []
    text = (
        f"sensitive attribute '{column.name}' has as many values as records ({known:,}): "
        "is it an identifier rather than an attribute?"
    )
    return [text]


NO_PERSON = (
    "no person column is named, so every record counts as a person of its own; where people "
    "have several records, these numbers understate the risk."
)


def person_warnings(persons: int, records: int, *, named: bool) -> list[str]:
    """Say when all records belong to one person, or no column tells whom they belong to."""
    said = [] if named else [NO_PERSON]
    if persons <= 1:
        said.append(f"all records ({records:,}) belong to one person.")
    return said


def check_persons(name: str, subject: str, nobody: str) -> None:
    """Refuse records without a person.

    Parameters
    ----------
    name, subject
        The person column, and how errors call the input.
    nobody
        Which records have no person id; empty for none.

    Raises
    ------
    InputError
        If there are such.
    """
    if nobody:
        raise InputError(
            f"column '{name}' of {subject}",
            "must name the person of every record",
            found=f"no person id in {nobody}",
            advice="give these records an id, or remove them before sfumato reads the file",
        )


def settled(schema: Schema, columns: Sequence[CodedColumn]) -> Schema:
    """The schema with the kind of every quasi-identifier that its data gave it."""
    kinds: dict[str, Kind] = {column.name: column.kind for column in columns}
    return schema.model_copy(
        update={
            "quasi_identifiers": {
                name: quasi.model_copy(update={"kind": kinds[name]})
                for name, quasi in schema.quasi_identifiers.items()
            }
        }
    )
