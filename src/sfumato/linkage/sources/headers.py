"""Which header of a source is which column of a specification."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sfumato.core.errors import InputError
from sfumato.linkage.spec.columns import sql_name


def match_headers(
    headers: Sequence[str], columns: Iterable[str], renamed: Mapping[str, str], subject: str
) -> dict[str, str]:
    """The header of each column that a source has.

    A column's header is the one given for it, else its own name, else the one header that
    differs from it in case, spaces and punctuation only.

    Parameters
    ----------
    headers
        Names of the source's columns.
    columns
        Names of the specification's columns.
    renamed
        Headers that the specification gives, by column.
    subject
        How errors call the source.

    Raises
    ------
    InputError
        If a header that is given is not there, or several could be meant.
    """
    found: dict[str, str] = {}
    for column in columns:
        header = _header(headers, column, renamed.get(column), subject)
        if header is None:
            continue
        if header in found.values():
            raise InputError(
                f"column '{header}' of {subject}",
                "must be one column of the specification",
                found="two that are matched with it",
            )
        found[column] = header
    return found


def _header(headers: Sequence[str], column: str, given: str | None, subject: str) -> str | None:
    if given is not None:
        if given not in headers:
            raise InputError(
                f"column '{given}'",
                f"must be a column of {subject}",
                found="no such name, though the specification gives it for "
                f"'{column}' under 'rename'",
            )
        return given
    if column in headers:
        return column
    alike = [header for header in headers if sql_name(header) == sql_name(column)]
    if len(alike) > 1:
        raise InputError(
            f"column '{column}'",
            f"must be one column of {subject}",
            found="several headers that differ in case, spaces and punctuation only",
            advice="say which under 'rename' in the specification",
        )
    return alike[0] if alike else None
