"""Measures for several records per person: g-balance, IDR, GIDR, h-affiliation, SAR, GSAR."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.engines.embedded.counts import group
from sfumato.risk.classes import ClassSummary, Floats

Codes = npt.NDArray[np.int32]


def g_balance(summary: ClassSummary) -> Floats:
    """The g-balance 1 - sum of (c_i / N_t)^2 over persons of each class, shape (classes,).

    Paper 003, Definition 1 (Eq. 1); c_i counts the person's records inside the class. The
    exact fraction is ``summary.squares / summary.records**2``.
    """
    return 1.0 - summary.squares / summary.records**2


def gidr(summary: ClassSummary) -> Floats:
    """Individual-record disclosure risk of each class, max c_i / N_t, shape (classes,).

    Paper 003, Section 7 (GIDR): the chance that a record drawn from the class belongs to the
    person who has most records in it.
    """
    return summary.largest / summary.records


def gsar(summary: ClassSummary, attribute: str) -> Floats:
    """Sensitive-attribute disclosure risk of each class, max n_j / n_t, shape (classes,).

    Paper 003, Section 8 (GSAR), which is the h-affiliation of the class (Definition 3, Eq. 5):
    the share of its persons who have its most shared value; 0 in a class without a value.

    Parameters
    ----------
    summary
        The classes.
    attribute
        Name of the sensitive attribute.
    """
    return summary.affiliation[attribute] / summary.persons


def idr(class_of: Codes, classes: int, person: Codes) -> Floats:
    """Individual-record disclosure risk c_i / N_t of each record's person, shape (records,).

    Paper 003, Section 7 (IDR); paper 000, Table 2.

    Parameters
    ----------
    class_of
        Class of each record in [0, classes), shape (records,).
    classes
        Number of classes.
    person
        Index of each record's person, from 0, shape (records,).
    """
    pair, pairs = group([class_of, person], [classes, int(person.max()) + 1])
    own = np.bincount(pair, minlength=pairs)[pair]
    whole = np.bincount(class_of, minlength=classes)[class_of]
    return np.asarray(own / whole, dtype=np.float64)


def sar(class_of: Codes, classes: int, person: Codes, codes: Codes) -> Floats:
    """Sensitive-attribute disclosure risk n_j / n_t of each record's value, shape (records,).

    Paper 003, Section 8 (SAR): the share of the persons of the record's class who have the
    record's value; 0 for a missing value.

    Parameters
    ----------
    class_of
        Class of each record in [0, classes), shape (records,).
    classes
        Number of classes.
    person
        Index of each record's person, from 0, shape (records,).
    codes
        Sensitive value of each record, from 0, -1 for missing, shape (records,).
    """
    persons, values = int(person.max()) + 1, int(codes.max()) + 1
    value_of, class_values = group([class_of, codes], [classes, values])
    sharing = _distinct_persons(value_of, class_values, person, persons)[value_of]
    present = _distinct_persons(class_of, classes, person, persons)[class_of]
    return np.where(codes < 0, 0.0, sharing / present)


def _distinct_persons(
    group_of: Codes, groups: int, person: Codes, persons: int
) -> npt.NDArray[np.int64]:
    """Number of distinct persons of each group."""
    pair, pairs = group([group_of, person], [groups, persons])
    first = np.empty(pairs, dtype=np.int64)
    first[pair] = np.arange(len(pair))
    return np.bincount(group_of[first], minlength=groups).astype(np.int64)
