"""Top and bottom coding of quasi-identifiers, before persons are divided."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sfumato.core.errors import InputError
from sfumato.release.options import Form, Options, Recoding
from sfumato.release.tie_order import content_ties
from sfumato.table.table import MISSING, CodedColumn, Table

if TYPE_CHECKING:
    from sfumato.engines.spark.table import SparkTable


def with_coded_ends(table: Table) -> Table:
    """The table with every value beyond a coded end set to that end.

    Without a person column the ties stay those of the original: records that differ beyond an
    end alone keep an order of their own.

    Parameters
    ----------
    table
        The encoded original.
    """
    if not any(column.ends for column in table.quasi_identifiers):
        return table
    columns = tuple(_clipped(column) for column in table.quasi_identifiers)
    ties = content_ties(table) if table.schema.person is None else None
    return replace(table, quasi_identifiers=columns, ties=ties)


def check_ends(table: Table | SparkTable, options: Options) -> None:
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
    if column.ends is None:
        return column
    clipped = np.clip(column.codes, *outermost_codes(column))
    codes = np.where(column.codes == MISSING, MISSING, clipped).astype(np.int32)
    return replace(column, codes=codes)


def outermost_codes(column: CodedColumn) -> tuple[int, int]:
    """The lowest and the highest code that is left of a column when its ends are coded.

    Parameters
    ----------
    column
        The quasi-identifier.
    """
    last = column.domain.size - 1
    if column.ends is None:
        return 0, last
    return max(column.ends.bottom, 0), min(column.ends.top, last)
