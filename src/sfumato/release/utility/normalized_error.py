"""Average normalised error (ANE): the distance of the values from their class means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.release.utility.alike import Alike
from sfumato.release.utility.class_means import category_shares, class_means, full_range, steps
from sfumato.schema import Kind
from sfumato.table.table import MISSING, CodedColumn, Codes

Floats = npt.NDArray[np.float64]


class ErrorSums(NamedTuple):
    """Errors of records and of persons, summed in steps.

    Attributes
    ----------
    over_records, records
        Sum over the records that have a value, and how many these are.
    over_persons, persons
        The same of persons.
    span
        Steps of the unit scale.
    """

    over_records: float
    records: float
    over_persons: float
    persons: float
    span: float = 1.0

    @property
    def averages(self) -> tuple[float, float]:
        """Mean over the records, and over the persons, that have a value; 0 when none has."""
        if not self.records:
            return 0.0, 0.0
        over_records, over_persons = (
            self.over_records / self.records,
            self.over_persons / self.persons,
        )
        return over_records / self.span, over_persons / self.span


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
    return error_sums(column, class_of, classes, person).averages


def error_sums(
    column: CodedColumn,
    class_of: Codes,
    classes: int,
    person: Codes,
    alike: Alike | None = None,
) -> ErrorSums:
    """The sums behind `normalized_error`; those of several groups of whole classes add up.

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
    alike
        How many each record and person stands for; one each without it.
    """
    known = column.codes != MISSING
    if not known.any():
        return ErrorSums(0.0, 0, 0.0, 0)
    persons = None if alike is None else alike.persons
    times = None if alike is None else alike.times[known]
    weight = None if alike is None else alike.records(person)
    if column.kind is Kind.CATEGORICAL:
        return _of_categories(
            column.codes[known],
            class_of[known],
            (column.domain.size, classes),
            person[known],
            None if persons is None or times is None else Alike(times, persons),
        )
    values = steps(column)
    means = class_means(column, class_of, classes, weight)
    owner, x, mean = person[known], values[column.codes[known]], means[class_of[known]]
    off, span = np.abs(x - mean), full_range(values)
    if times is not None and weight is not None:
        off, x, mean = off * weight[known], x * times, mean * times
    records = np.bincount(owner, weights=times)
    held = records > 0
    apart = np.bincount(owner, weights=x) - np.bincount(owner, weights=mean)
    each = np.abs(apart[held]) / records[held]
    return ErrorSums(
        float(off.sum()),
        len(x) if weight is None else float(weight[known].sum()),
        float(each.sum() if persons is None else each @ persons[: len(held)][held]),
        len(each) if persons is None else float(persons[: len(held)][held].sum()),
        span,
    )


def _of_categories(
    codes: Codes,
    class_of: Codes,
    shape: tuple[int, int],
    person: Codes,
    alike: Alike | None,
) -> ErrorSums:
    """Half the L1 distance is the sum of what the person has more of than the class."""
    size, classes = shape
    weight = None if alike is None else alike.records(person)
    times = None if alike is None else alike.times
    share = category_shares(codes, class_of, size, classes, weight)
    records = np.bincount(person, weights=times)
    pair, pairs = number_by_first_appearance(
        person.astype(np.int64) * size + codes, len(records) * size
    )
    owner, in_class = np.empty(pairs, dtype=np.int64), np.empty(pairs)
    owner[pair], in_class[pair] = person, share
    own = np.bincount(pair, weights=times, minlength=pairs) / records[owner]
    more, off = np.maximum(own - in_class, 0.0), 1 - share
    if alike is None or weight is None:
        persons = int(np.count_nonzero(records))
        return ErrorSums(float(off.sum()), len(codes), float(more.sum()), persons)
    held = alike.persons[: len(records)][records > 0]
    return ErrorSums(
        float(off @ weight),
        float(weight.sum()),
        float(more @ alike.persons[owner]),
        float(held.sum()),
    )
