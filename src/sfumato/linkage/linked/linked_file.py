"""The linked file: a person's id on every row, rows in an order that says nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.linkage.linked.stack import PERSON, SOURCE, Analytic, free


def linked_table(analytic: Analytic, ids: pa.Array, rng: np.random.Generator) -> pa.Table:
    """The linked file.

    Parameters
    ----------
    analytic
        What is analysed, with the number of each row's record.
    ids
        Id of the person of each record.
    rng
        Source of the order.
    """
    order = pa.array(rng.permutation(len(analytic.record)))
    names = linked_names(analytic.columns.column_names)
    person = ids.take(pa.array(analytic.record))
    columns = [pa.chunked_array([person]), *analytic.columns.columns]
    return pa.Table.from_arrays(columns, names=names).take(order)


def linked_names(columns: list[str]) -> list[str]:
    """Names of the linked file's columns: the person, the source, and the rest as it is.

    Parameters
    ----------
    columns
        Names of the analytic columns, the source first.
    """
    rest = columns[1:]
    return [free(PERSON, rest), free(SOURCE, rest), *rest]
