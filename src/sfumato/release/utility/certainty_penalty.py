"""Normalised certainty penalty (NCP): how much of its domain a released cell may stand for."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.release.options import Form
from sfumato.release.released import held_of
from sfumato.release.utility.class_means import full_range, steps
from sfumato.schema import Kind
from sfumato.table.table import CodedColumn, Codes

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def certainty_penalty(
    column: CodedColumn, class_of: Codes, classes: int, leaves: Ints, form: Form
) -> Floats:
    """NCP of each class's cell, from 0 for one value to 1 for any (Xu et al. 2006).

    A numeric cell that is not a set and not a hierarchy's label counts (highest - lowest) of
    the class over that of the domain; every other one counts (leaves - 1)/(domain size - 1).
    A missing value costs nothing, as does a constant domain. Its mean over all columns and
    original records, each suppressed one with 1, is the global certainty penalty (GCP) of
    Ghinita et al. 2007.

    Parameters
    ----------
    column
        The quasi-identifier of the kept records; its domain is that of the whole file.
    class_of
        Class of each kept record; shape (records,).
    classes
        Number of classes.
    leaves
        Number of the domain's values that each class's cell may stand for; shape (classes,).
    form
        The form in which the values were released.

    Returns
    -------
    array
        Shape (classes,), in [0, 1].
    """
    size = column.domain.size
    if size <= 1:
        return np.zeros(classes)
    labelled = form is Form.HIERARCHY and column.hierarchy is not None
    if column.kind is not Kind.NUMERIC or form is Form.SET or labelled:
        return np.maximum(leaves - 1, 0) / (size - 1)
    held = held_of(column, class_of, classes)
    values = steps(column)
    width = (values[held.highest] - values[held.lowest]) / full_range(values)
    return np.where(held.mixed, 1.0, np.where(held.present == 0, 0.0, width))
