"""Persons in one order per axis, whatever the order of the file: ties by a hash of the person.

The tie of a person is a hash of the id's text, so that it is the same wherever the person
stands in the file; see `sfumato.table.scalars`. Without a person column it is a hash of
the record's content: records with equal ties are alike.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.key_numbering import EMPTY, extended, tie_order
from sfumato.table.scalars import ties_of_codes, ties_of_values
from sfumato.table.table import Table

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


def person_ties(table: Table) -> Ints:
    """The tie of each person; shape (persons,).

    Where the ids are not kept, a hash of the contents of the person's records. O(records).

    Parameters
    ----------
    table
        The encoded records.
    """
    name = table.schema.person
    ties = np.zeros(table.persons, dtype=np.int64)
    if name is not None and name in table.source.column_names:
        ties[table.person] = ties_of_values(table.source.column(name))
        return ties
    contents = content_ties(table) if table.ties is None else table.ties
    if name is None and len(contents) == len(ties):
        ties[table.person] = contents
        return ties
    np.add.at(ties, table.person, contents)
    return extended(np.full(len(ties), EMPTY), ties)


def content_ties(table: Table) -> Ints:
    """A hash of the content of each record; shape (records,). O(records).

    Parameters
    ----------
    table
        The encoded records.
    """
    return ties_of_codes(
        [column.codes for column in table.quasi_identifiers],
        [
            (column.codes, [column.domain.label(code) for code in range(column.domain.size)])
            for column in table.sensitive
        ],
    )


def in_tie_order(ties: Ints | None, persons: int) -> Codes:
    """Persons by tie, those of equal ones in their order; all so where ties are not known."""
    return np.arange(persons, dtype=np.int32) if ties is None else tie_order(ties)


def ascending(position: Codes, records: Ints, by_tie: Codes) -> Codes:
    """Persons by (position, number of records), ties in the order of ``by_tie``: O(N log N).

    One sort of integers that hold all three, where 63 bits are enough.
    """
    widths = [int(position.max()).bit_length(), int(records.max()).bit_length()]
    place = len(position).bit_length()
    if sum(widths) + place > 63:
        order: Codes = by_tie[np.lexsort((records[by_tie], position[by_tie]))]
        return order
    keys = position[by_tie].astype(np.int64)
    keys <<= widths[1]
    keys |= records[by_tie]
    keys <<= place
    keys |= np.arange(len(position))
    keys.sort()
    keys &= (1 << place) - 1
    return by_tie[keys]
