"""The sampling weights of a file's records."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.table.sources.open_source import Source

Floats = npt.NDArray[np.float64]


def read_weights(source: Source, column: str) -> Floats:
    """Read a column of sampling weights; shape (records,).

    Parameters
    ----------
    source
        The file or dataframe.
    column
        Its column that says how many persons of the population each record stands for.

    Raises
    ------
    InputError
        If there is no such column, or it holds anything but positive numbers.
    """
    if column not in source.names:
        raise InputError(
            f"column '{column}' of {source.subject}", "must be there", found="no such column"
        )
    parts = []
    for batch in source.batches([column]):
        values = batch.column(0)
        if pa.types.is_boolean(values.type):
            raise _no_weights(column, source.subject)
        try:
            numbers = pc.cast(values, pa.float64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise _no_weights(column, source.subject) from None
        parts.append(numbers.to_numpy(zero_copy_only=False))
    weights: Floats = np.concatenate(parts) if parts else np.empty(0)
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise _no_weights(column, source.subject)
    return weights


def _no_weights(column: str, subject: str) -> InputError:
    return InputError(
        f"column '{column}' of {subject}",
        "must hold the sampling weight of every record",
        found="something else in some of them",
        accepted="numbers above 0",
    )
