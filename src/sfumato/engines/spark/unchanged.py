"""Whether the records that were encoded hold the values that were counted before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sfumato.core.optional_packages import needed
from sfumato.table.table import MISSING

if TYPE_CHECKING:
    from pyspark.sql import Column

Ints = npt.NDArray[np.int64]
_MODULUS = 1_000_003
"""Weights stay below it, so that their sum over 2**43 records stays below 2**63."""


def weighted_sums(columns: Sequence[str]) -> list[Column]:
    """Sums over records of a weight of each column's code: two counts rarely have the same.

    Parameters
    ----------
    columns
        Columns of codes, -1 for missing.
    """
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    codes = [functions.col(name).cast("bigint") + 2 for name in columns]
    return [functions.sum(code * code % _MODULUS) for code in codes]


def weighted_counts(counts: Mapping[str, Ints], missing: Mapping[str, int]) -> list[int]:
    """What `weighted_sums` should be, by the number of records with each code.

    Parameters
    ----------
    counts
        Number of records with each code, by the name of the column.
    missing
        Number of records without a value.
    """
    found = []
    for name, known in counts.items():
        weights = np.square(np.arange(len(known), dtype=np.int64) + 2) % _MODULUS
        nothing = (MISSING + 2) ** 2 % _MODULUS
        found.append(int(known @ weights) + missing[name] * nothing)
    return found
