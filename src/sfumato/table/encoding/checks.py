"""What is refused, and what is said, about the columns of a file."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

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
    """Check that the file has every column of the schema; say which others it has.

    Raises
    ------
    InputError
        If the file lacks a column that the schema names.
    """
    named = schema.columns()
    unnamed = [name for name in names if name not in set(named)]
    for role, columns in schema.roles().items():
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
    if not unnamed:
        return []
    several = "columns" if len(unnamed) > 1 else "column"
    text = (
        f"{several} {_listed(unnamed)} of the file: the schema does not say what they are, so they "
        "are insensitive and released unchanged; name them in 'insensitive' or "
        "'direct_identifiers'."
    )
    return [text]


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


def spaces_warning(raw: RawColumn) -> list[str]:
    """Say how many records hold a text with spaces around it."""
    if not is_text(raw.values.type):
        return []
    inner = trimmed(raw.values)
    spaced = flags(pc.and_(pc.not_equal(inner, raw.values), pc.invert(are_equal(inner, ""))))
    if not spaced.any():
        return []
    count = int(np.count_nonzero(raw.occurrences(spaced)))
    text = (
        f"column '{raw.name}': values with spaces at the start or end in {count:,} of "
        f"{len(raw.codes):,} records; they differ from the same values without."
    )
    return [text]


def missing_warning(columns: Sequence[CodedColumn]) -> list[str]:
    """Say how many records have no value, by column."""
    counts: Mapping[str, int] = {
        column.name: int(np.count_nonzero(column.codes == MISSING)) for column in columns
    }
    parts = [f"'{name}' in {count:,}" for name, count in counts.items() if count]
    if not parts:
        return []
    records = len(columns[0].codes)
    return [
        f"missing values, kept as a kind of their own: {', '.join(parts)} of {records:,} records."
    ]


def quasi_identifier_warnings(column: CodedColumn) -> list[str]:
    """Say when a quasi-identifier tells nobody apart."""
    if column.domain.size > 1 or column.has_missing:
        return []
    return [f"quasi-identifier '{column.name}' is constant: it has one value in all records."]


def sensitive_warnings(column: CodedColumn) -> list[str]:
    """Say when a sensitive attribute has another value in every record."""
    known = int(np.count_nonzero(column.codes != MISSING))
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


def person_warnings(person: npt.NDArray[np.int32], named: bool) -> list[str]:
    """Say when all records belong to one person, or no column tells whom they belong to."""
    said = [] if named else [NO_PERSON]
    if not person.any():
        said.append(f"all records ({len(person):,}) belong to one person.")
    return said


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
