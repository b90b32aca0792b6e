"""What each equivalence class gives away: g-balance, GIDR, GSAR, l-diversity, t-closeness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.core.arrays import Bools, Integers, Ints
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure, Position
from sfumato.engines.embedded.counts import group
from sfumato.risk.classes import ClassSummary, Counts, Floats
from sfumato.table.scalars import number_ranks
from sfumato.table.table import Codes, LabelDomain, Table

if TYPE_CHECKING:
    from sfumato.engines.spark.spark_persons import SparkTable

RECURSIVE_L = (2, 3)
"""The l of recursive (c, l)-diversity that are always measured."""
_EPSILON = 2.0**-52
"""Largest relative error of a logarithm, an exponential, a product or a sum."""
SHARE_BINS = 20
"""Bins of equal width on [0, 1]."""
UNTOLD = 2.0**31
"""The diversity of a class in which nobody has a record of an attribute's table: it is never the
least."""
BIN_ROUNDING = 1e-9
"""A share this little above an edge is taken for the edge."""


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
    the share of its persons who have its most shared value; 0 in a class without a value. Of
    several tables those count who have a record of the attribute's.
    """
    return summary.affiliation[attribute] / np.maximum(summary.sharing(attribute), 1)


def told_of(summary: ClassSummary, attribute: str, values: Any, otherwise: float) -> Any:
    """Values of classes, and another one where nobody has a record of the attribute's table."""
    if attribute not in summary.holders:
        return values
    return np.where(summary.holders[attribute] > 0, values, otherwise)


def idr(class_of: Codes, classes: int, person: Codes) -> Floats:
    """Individual-record disclosure risk c_i / N_t of each record's person, shape (records,).

    Paper 003, Section 7 (IDR); paper 000, Table 2. Classes and persons are as in `measure_classes`.
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


def _distinct_persons(group_of: Codes, groups: int, person: Codes, persons: int) -> Ints:
    """Number of distinct persons of each group."""
    pair, pairs = group([group_of, person], [groups, persons])
    first = np.empty(pairs, dtype=np.int64)
    # Any record of a pair will do to say which group it is in: the last one written stays.
    first[pair] = np.arange(len(pair))
    return np.bincount(group_of[first], minlength=groups).astype(np.int64)


def entropy_l(summary: ClassSummary, attribute: str) -> Floats:
    """The l of entropy l-diversity of each class, exp(entropy of its values), shape (classes,).

    At most the number of distinct values, and 0 in a class without a value, as distinct
    l-diversity has it. Where rounding alone may have kept it from a whole number, it is that
    number: seven equally common values give 7, not 6.999999999999998.
    """
    distinct = summary.distinct[attribute].astype(np.float64)
    entropy = summary.entropy[attribute]
    found = np.minimum(np.exp(entropy), distinct)
    whole = np.rint(found)
    close = np.abs(found - whole) <= found * entropy_l_error(entropy, distinct)
    return np.where(close, whole, found)


def entropy_l_error(entropy: Any, distinct: Any) -> Any:
    """How far, relatively, rounding can move exp(entropy).

    H = -Σ p ln p over d values: a rounded p and its logarithm err by (1 + 2 |ln p|) ε each,
    which adds up to (1 + 2 H) ε over the values; d sums of at most H add d H ε; the exponential
    turns the whole into a relative error and adds ε. It holds for columns of Spark as well.
    """
    return _EPSILON * (2 + (distinct + 2) * entropy)


def checked_l(asked: Iterable[object]) -> tuple[int, ...]:
    """The l of recursive (c, l)-diversity that are asked for beside 2 and 3, ascending."""
    found: set[int] = set()
    for each in asked:
        if isinstance(each, bool) or not isinstance(each, int | np.integer) or each < 2:
            raise InputError(
                "parameter recursive_l", "must name whole numbers", accepted="2 or more"
            )
        found.add(int(each))
    return tuple(sorted(found.difference(RECURSIVE_L)))


def recursive_c(summary: ClassSummary, attribute: str, l: int) -> Floats:  # noqa: E741
    """The bound on c of recursive (c, l)-diversity, l = 2 or 3, of each class, shape (classes,).

    With r_1 >= r_2 >= ... the records of the class's values, (c, l)-diversity asks for r_1 < c
    (r_l + r_(l+1) + ...): it holds for every c above the number given here. Infinite where
    fewer than l values occur.
    """
    if l not in RECURSIVE_L:
        raise InputError("parameter l", "must be 2 or 3")
    commonest = summary.commonest[attribute]
    rest = summary.valued[attribute] - commonest[:, : l - 1].sum(axis=1)
    bound: Floats = told_of(summary, attribute, _bound(commonest[:, 0], rest), 0.0)
    return bound


def rows_of_tables(table: Table) -> dict[str, Bools]:
    """For each sensitive attribute of one of several tables, which records are of it."""
    part = table.part_of
    if part is None:
        return {}
    return {
        attribute.name: np.isin(part, part[attribute.codes >= 0]) for attribute in table.sensitive
    }


def recursive_measures(
    class_of: Codes, classes: int, codes: Codes, asked: Iterable[int], told: Bools | None = None
) -> dict[int, Measure]:
    """The bound of `recursive_c` for any l, at its worst class.

    Parameters
    ----------
    class_of
        Class of each record in [0, classes), shape (records,); no class is empty.
    codes
        Codes of a sensitive attribute, from 0, -1 for missing; shape (records,).
    asked
        The l.
    told
        Which classes the attribute tells of; ``None`` for all.
    """
    valued = codes >= 0
    width = int(codes.max()) + 1
    pairs, records = np.unique(
        class_of[valued].astype(np.int64) * width + codes[valued], return_counts=True
    )
    owner = pairs // max(width, 1)
    # Values of each class by falling counts, so that r_1
    # and the sum from r_l on are differences of sums.
    order = np.lexsort((-records, owner))
    starts = np.searchsorted(owner, np.arange(classes + 1))
    first, last = starts[:-1], starts[1:]
    before = np.concatenate([[0], np.cumsum(records[order])])
    commonest = before[np.minimum(first + 1, last)] - before[first]
    measures = {}
    for each in asked:
        # r_l + ... + r_q. With fewer than l values it is 0, and no c is enough.
        rest = before[last] - before[np.minimum(first + each - 1, last)]
        bound = _bound(commonest, rest)
        bound = bound if told is None else np.where(told, bound, 0.0)
        at = int(bound.argmax())
        where = Position(int((class_of == at).argmax()) + 1, at + 1)
        measures[each] = Measure(f"recursive_{each}", float(bound[at]), where=where)
    return measures


def _bound(commonest: Integers, rest: Integers) -> Floats:
    bound = np.full(len(rest), np.inf)
    np.divide(commonest, rest, out=bound, where=rest > 0)
    return bound


def ranks_of(table: Table | SparkTable, names: Iterable[str]) -> Mapping[str, Codes]:
    """Rank of each value of the named sensitive attributes, as numbers."""
    columns = {column.name: column for column in table.sensitive}
    found = {}
    for name in names:
        if name not in columns:
            raise InputError(
                "parameter ordered_distance",
                "must name sensitive attributes of the schema",
                accepted=", ".join(columns) or "none: the schema has no sensitive attribute",
            )
        domain = columns[name].domain
        ranks = number_ranks(domain) if isinstance(domain, LabelDomain) else None
        if ranks is None:
            raise InputError(
                f"column '{name}'",
                "must hold numbers only to be compared by ordered distance",
                found="other values",
                advice="use the equal distance, or name texts that mean a missing value in "
                "the schema's 'missing'",
            )
        found[name] = ranks
    return found


@dataclass(frozen=True, eq=False)
class ClassShape:
    """Numbers of classes by size and by share; no class of its own.

    Attributes
    ----------
    persons
        The class sizes that occur, in persons, ascending; shape (sizes,).
    classes
        Number of classes of each size; shape (sizes,).
    records
        Number of records in the classes of each size; shape (sizes,).
    gidr
        Number of classes by their GIDR, in `SHARE_BINS` bins of equal width on [0, 1], each open
        at its left end but the first; shape (`SHARE_BINS`,).
    balance
        Sum of c_i^2 and number of records N_t of the class with the smallest g-balance.
    """

    persons: Counts
    classes: Counts
    records: Counts
    gidr: Counts
    gsar: Mapping[str, Counts] = field(default_factory=dict)
    balance: tuple[int, int] = (0, 0)

    @property
    def held(self) -> int:
        """Number of persons, each counted once in every class that they are in."""
        return int(self.persons @ self.classes)

    @property
    def alone(self) -> float:
        """Share of the classes that hold one person."""
        return float(self.classes[self.persons == 1].sum()) / int(self.classes.sum())

    def share_above(self, risk: float) -> float:
        """Share of the records in classes with 1 / persons above a risk."""
        at_risk = 1.0 / self.persons > risk
        return float(self.records[at_risk].sum()) / int(self.records.sum())


def shape_of(summary: ClassSummary, balance: tuple[int, int]) -> ClassShape:
    """The distribution of classes that were summarised: O(classes + largest class).

    The balance is that of the class with the smallest g-balance.
    """
    classes = np.bincount(summary.persons)
    sizes = np.flatnonzero(classes)
    return ClassShape(
        persons=sizes.astype(np.int64),
        classes=classes[sizes].astype(np.int64),
        records=np.bincount(summary.persons, summary.records)[sizes].astype(np.int64),
        gidr=share_counts(gidr(summary)),
        gsar={name: share_counts(gsar(summary, name)) for name in summary.affiliation},
        balance=balance,
    )


def share_counts(shares: Floats) -> Counts:
    """Number of values in each of 20 bins on [0, 1], each open at its left end.

    0 is in the first.
    """
    bin_of = np.ceil(shares * SHARE_BINS - BIN_ROUNDING).astype(np.int64) - 1
    counts = np.bincount(np.clip(bin_of, 0, SHARE_BINS - 1), minlength=SHARE_BINS)
    return counts.astype(np.int64)
