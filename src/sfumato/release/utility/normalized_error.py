"""Average normalised error (ANE): the distance of the values from their class means."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.grouping import number_by_first_appearance
from sfumato.release.utility.class_means import category_shares, class_means, full_range, steps
from sfumato.schema import Kind
from sfumato.table.columns import MISSING, CodedColumn, Codes

Floats = npt.NDArray[np.float64]


def normalized_error(
    column: CodedColumn, class_of: Codes, classes: int, person: Codes
) -> tuple[float, float]:
    """ANE of one quasi-identifier, averaged over records and averaged over persons.

    Paper 003, Section 7: the mean of |x - x*|, with x normalised to [0, 1] once over the whole
    file and x* the mean of x over the records of the class, whatever form is released. The
    tables of the paper print ANE on another scale, which it does not give: only the order of
    two releases can be compared with them.

    A numeric x is the normalised value, an ordered one the normalised rank. A categorical
    attribute is one 0/1 column per category (as in LeFevre et al. 2006). With p_c the share of
    category c in the class, a record of category a differs from the class mean by 1 - p_a in
    column a and by p_c in every other column c, which add up to 2(1 - p_a). Half of that sum is
    the error of the attribute: 1 - p_a lies in [0, 1], and for two categories it is the error
    of their single 0/1 column.

    For a person, x is the mean over the person's records; of a categorical attribute the error
    is half the L1 distance between the shares of the categories in the person's records and in
    the class. With one record per person both averages are equal.

    Parameters
    ----------
    column
        The quasi-identifier of the kept records.
    class_of
        Class of each kept record; shape (records,).
    classes
        Number of classes.
    person
        Person of each kept record; shape (records,). A person is in one class.

    Returns
    -------
    tuple
        Mean over the records, and over the persons, that have a value; 0 when none has.
    """
    known = column.codes != MISSING
    if not known.any():
        return 0.0, 0.0
    if column.kind is Kind.CATEGORICAL:
        size = column.domain.size
        return _of_categories(column.codes[known], class_of[known], size, classes, person[known])
    values = steps(column)
    means = class_means(column, class_of, classes)
    x, mean = values[column.codes[known]], means[class_of[known]]
    over_records = float(np.abs(x - mean).mean())
    records = np.bincount(person[known])
    held = records > 0
    apart = np.bincount(person[known], weights=x) - np.bincount(person[known], weights=mean)
    over_persons = float((np.abs(apart[held]) / records[held]).mean())
    span = full_range(values)
    return over_records / span, over_persons / span


def _of_categories(
    codes: Codes, class_of: Codes, size: int, classes: int, person: Codes
) -> tuple[float, float]:
    """Half the L1 distance is the sum of what the person has more of than the class."""
    share = category_shares(codes, class_of, size, classes)
    records = np.bincount(person)
    pair, pairs = number_by_first_appearance(
        person.astype(np.int64) * size + codes, len(records) * size
    )
    owner, in_class = np.empty(pairs, dtype=np.int64), np.empty(pairs)
    owner[pair], in_class[pair] = person, share
    more = np.maximum(np.bincount(pair, minlength=pairs) / records[owner] - in_class, 0.0)
    return float((1 - share).mean()), float(more.sum() / np.count_nonzero(records))
