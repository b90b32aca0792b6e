"""Top and bottom coding of quasi-identifiers, before persons are divided."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.core.errors import InputError
from sfumato.release.options import Options, Recoding
from sfumato.release.released import Form
from sfumato.table.columns import MISSING, CodedColumn
from sfumato.table.table import Table


def with_coded_ends(table: Table) -> Table:
    """The table with every value beyond a coded end set to that end.

    Parameters
    ----------
    table
        The encoded original.
    """
    columns = tuple(_clipped(column) for column in table.quasi_identifiers)
    return replace(table, quasi_identifiers=columns)


def check_ends(table: Table, options: Options) -> None:
    """Refuse coded ends where labels of a hierarchy are released, which have ends of their own.

    Parameters
    ----------
    table
        The encoded original.
    options
        How the release is made.

    Raises
    ------
    InputError
        If a column with coded ends would be released by its hierarchy.
    """
    for column in table.quasi_identifiers:
        by_level = options.recoding is Recoding.FULL_DOMAIN
        labelled = options.values is Form.HIERARCHY and column.hierarchy is not None
        if column.ends is not None and (by_level or labelled):
            raise InputError(
                f"column '{column.name}'",
                "must have no 'top' or 'bottom' where labels of its hierarchy are released",
                found="full-domain recoding" if by_level else "values='hierarchy'",
                advice="write the open category into the hierarchy's file, or release ranges",
            )


def _clipped(column: CodedColumn) -> CodedColumn:
    ends = column.ends
    if ends is None:
        return column
    last = column.domain.size - 1
    clipped = np.clip(column.codes, max(ends.bottom, 0), min(ends.top, last))
    codes = np.where(column.codes == MISSING, MISSING, clipped).astype(np.int32)
    return replace(column, codes=codes)
