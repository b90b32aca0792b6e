"""Linked data released under linkage k-anonymity, with what was measured."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.semantics.linkage_anonymity.linked import Linked
from sfumato.semantics.linkage_anonymity.measured import Measured
from sfumato.semantics.linkage_anonymity.released import shown_labels
from sfumato.semantics.linkage_anonymity.search import Levels
from sfumato.table.dataframes import to_frame_like as like


@dataclass(frozen=True, eq=False, repr=False)
class LinkageRelease:
    """A released linked file.

    Attributes
    ----------
    table
        The released file as Arrow.
    linked
        The linked tuples and the local data sets; not to be released.
    levels
        Level of each value of each distinct tuple, shape (tuples, QIs).
    measured
        Matches, risk (paper 002, Eq. 2-3), SSE / SST (Eq. 4) and NCP.
    seed
        Seed of the order and the pseudonyms.
    original
        The linked data as passed in.
    """

    table: pa.Table
    linked: Linked
    levels: Levels
    measured: Measured
    seed: int
    original: Any = None

    @property
    def data(self) -> Any:
        """The released file as the kind of dataframe that was passed in; Arrow for a path."""
        path = isinstance(self.original, (str, os.PathLike))
        return like(self.table, None if path else self.original)

    @property
    def k(self) -> int:
        """How many individuals of each local data set match every record, at least."""
        return max(local.k for local in self.linked.locals_)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The linkage quasi-identifiers: those that some local data set has."""
        return tuple(self.linked.quasi_identifiers[q] for q in self.linked.linkage_columns)

    @property
    def labels(self) -> dict[str, npt.NDArray[np.object_]]:
        """The label that each distinct tuple shows, by quasi-identifier; ``None`` for missing."""
        return shown_labels(self.linked, self.levels)

    def to_json(self) -> dict[str, Any]:
        """Plain values: what was asked and what was measured, no value of the data."""
        return {
            "k": self.k,
            "quasi_identifiers": list(self.quasi_identifiers),
            "records": self.table.num_rows,
            "individuals": self.linked.table.persons,
            "distinct_tuples": len(self.linked.codes),
            "local": {local.name: local.individuals for local in self.linked.locals_},
            **self.measured.to_json(),
            "seed": self.seed,
        }

    def __repr__(self) -> str:
        return (
            f"LinkageRelease({self.table.num_rows} records, k={self.k}, "
            f"linkage_risk={float(self.measured.risk):.4g}, "
            f"sse_sst={self.measured.squared_error:.4g})"
        )
