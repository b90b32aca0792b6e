"""The linked records as distinct tuples, beside the local data sets that they are held against."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies import Hierarchy
from sfumato.semantics.linkage_anonymity.keys import Ints, packed_keys, shown_table
from sfumato.semantics.linkage_anonymity.local import Local
from sfumato.semantics.linkage_anonymity.search import Levels, least_levels
from sfumato.table.table import Table


@dataclass(frozen=True, eq=False)
class Linked:
    """What linkage anonymity works on.

    Attributes
    ----------
    table
        The linked file, encoded.
    quasi_identifiers
        All quasi-identifiers of the linked file, in its schema's order.
    hierarchies
        The hierarchy of each, over the values of the linked file and of the local data.
    weights
        The share of each in loss.
    codes
        Distinct leaf tuples, -1 for missing; shape (tuples, QIs).
    tuple_of
        The tuple of each linked record, shape (records,).
    individuals
        Linked individuals of each tuple, shape (tuples,).
    locals_
        The local data sets, each with the k that was asked for.
    """

    table: Table
    quasi_identifiers: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...] = field(repr=False)
    weights: tuple[float, ...]
    codes: Ints = field(repr=False)
    tuple_of: npt.NDArray[np.int64] = field(repr=False)
    individuals: npt.NDArray[np.int64] = field(repr=False)
    locals_: tuple[Local, ...]

    @classmethod
    def of(
        cls,
        table: Table,
        hierarchies: tuple[Hierarchy, ...],
        codes: Ints,
        locals_: tuple[Local, ...],
    ) -> Linked:
        """Gather the records that agree in all quasi-identifiers.

        Parameters
        ----------
        table
            The linked file.
        hierarchies
            The hierarchy of each of its quasi-identifiers.
        codes
            Leaf codes of each record, shape (records, QIs).
        locals_
            The local data sets.
        """
        tables = [shown_table(each) for each in hierarchies]
        (keys,) = packed_keys(tables, [0] * len(tables), codes)
        distinct, first, tuple_of = np.unique(keys, return_index=True, return_inverse=True)
        pairs = np.unique(tuple_of * np.int64(table.persons) + table.person)
        return cls(
            table,
            tuple(column.name for column in table.quasi_identifiers),
            hierarchies,
            tuple(column.weight for column in table.quasi_identifiers),
            np.asfortranarray(codes[first]),
            tuple_of,
            np.bincount(pairs // table.persons, minlength=len(distinct)),
            locals_,
        )

    @property
    def linkage_columns(self) -> list[int]:
        """The columns of the quasi-identifiers that some local data set has."""
        known = {name for local in self.locals_ for name in local.quasi_identifiers}
        return [place for place, name in enumerate(self.quasi_identifiers) if name in known]

    def columns_of(self, local: Local) -> list[int]:
        """The columns of the quasi-identifiers of one local data set, in its order."""
        return [self.quasi_identifiers.index(name) for name in local.quasi_identifiers]

    def least_levels(self) -> Levels:
        """The levels of least loss at which enough local individuals match each tuple.

        Returns
        -------
        numpy.ndarray
            Shape (tuples, QIs); see `sfumato.semantics.linkage_anonymity.least_levels`.
        """
        return least_levels(
            self.codes, self.locals_, self.hierarchies, self.weights, self.quasi_identifiers
        )
