"""What released cells must hold beside the records that are released."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.table.table import Codes, Table


@dataclass(frozen=True, eq=False)
class Cells:
    """Values that the cells of classes must hold, beside those of the records.

    Attributes
    ----------
    codes, class_of
        Per quasi-identifier, codes in its domain and the class of each.
    whole
        Whether everything between the lowest and the highest value belongs to a cell.
    """

    codes: tuple[Codes, ...]
    class_of: tuple[Codes, ...]
    whole: bool = False

    def joined(self, other: Cells) -> Cells:
        """These values and others."""
        return Cells(
            tuple(np.concatenate(each) for each in zip(self.codes, other.codes, strict=True)),
            tuple(np.concatenate(each) for each in zip(self.class_of, other.class_of, strict=True)),
            self.whole or other.whole,
        )

    def renumbered(self, number: Codes) -> Cells:
        """The same with new numbers of classes; those that become -1 are left out."""
        new = [number[each] for each in self.class_of]
        return Cells(
            tuple(codes[each >= 0] for codes, each in zip(self.codes, new, strict=True)),
            tuple(each[each >= 0] for each in new),
            self.whole,
        )


def cells_of(table: Table, class_of: Codes) -> Cells:
    """The values of a table's records; those of class -1 are left out."""
    kept = class_of >= 0
    columns = table.quasi_identifiers
    return Cells(tuple(each.codes[kept] for each in columns), (class_of[kept],) * len(columns))
