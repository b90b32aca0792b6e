"""The sampling weights of a file's records."""

from __future__ import annotations

from collections.abc import Sequence

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
    check_weight_column(column, source.names, source.subject)
    batches = source.batches([column])
    parts = [weights_of(batch.column(0), column, source.subject) for batch in batches]
    return np.concatenate(parts) if parts else np.empty(0)


def check_weight_column(column: str, names: Sequence[str], subject: str) -> None:
    """Refuse the name of a column of weights that is not there.

    Parameters
    ----------
    column
        The name.
    names
        The columns of the file.
    subject
        How errors call the file.

    Raises
    ------
    InputError
        If it is none of them.
    """
    if column not in names:
        raise InputError(f"column '{column}' of {subject}", "must be there", found="no such column")


def weights_of(values: pa.Array, column: str, subject: str) -> Floats:
    """Sampling weights as numbers; shape (records,).

    Parameters
    ----------
    values
        What the column of weights holds.
    column, subject
        How errors call the column and the file.

    Raises
    ------
    InputError
        If they are anything but positive numbers.
    """
    if pa.types.is_boolean(values.type):
        raise no_weights(column, subject)
    try:
        numbers = pc.cast(values, pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise no_weights(column, subject) from None
    weights: Floats = numbers.to_numpy(zero_copy_only=False)
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise no_weights(column, subject)
    return weights


def no_weights(column: str, subject: str) -> InputError:
    """The error for a column of weights that holds something else.

    Parameters
    ----------
    column, subject
        How errors call the column and the file.
    """
    return InputError(
        f"column '{column}' of {subject}",
        "must hold the sampling weight of every record",
        found="something else in some of them",
        accepted="numbers above 0",
    )
