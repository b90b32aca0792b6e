"""The tree against the algorithm of paper 003 (Section 5, Table 5) written down naively.

The oracle knows records as dictionaries and persons as lists of them; positions, variances and
keys are fractions, so that its comparisons are exact. It shares no code with the product.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sfumato.release.person_table import person_table
from sfumato.release.promises.g_balance import GBalance
from sfumato.release.promises.h_affiliation import HAffiliation
from sfumato.release.promises.k_anonymity import KAnonymity, PidKAnonymity
from sfumato.release.promises.l_diversity import LDiversity
from sfumato.release.promises.shared_counts import SharedCounts
from sfumato.release.promises.t_closeness import TCloseness
from sfumato.release.release_options import Split
from sfumato.release.tree import grow
from sfumato.schema import Kind, Schema
from sfumato.table.table import MISSING, CodedColumn, LabelDomain, NumberDomain, Table

NUMERIC, ORDERED, CATEGORICAL = "numeric", "ordered", "categorical"
NEAR = Fraction(1, 10**12)
"""Keys that are relatively nearer than this may come out in either order in floating point."""

Persons = tuple[int, ...]
Partition = frozenset[Persons]


class Data(NamedTuple):
    """Records by person: ``values[person][record][column]``, None for missing."""

    kinds: tuple[str, ...]
    values: tuple[tuple[tuple[int | None, ...], ...], ...]
    diseases: tuple[tuple[tuple[int | None, ...], ...], ...]


class Cut(NamedTuple):
    key: Fraction
    variance: Fraction
    axis: tuple[int, int]
    column: int
    left: Persons
    right: Persons


# ------------------------------------------------------------------------------ the oracle


class Oracle:
    """The algorithm: which partitions it allows; several only where keys tie."""

    def __init__(self, data: Data, met: Callable[[Persons], bool], split: str) -> None:
        self.data = data
        self.met = met
        self.split = split
        self.domain = [
            sorted({v for rows in data.values for row in rows if (v := row[j]) is not None})
            for j in range(len(data.kinds))
        ]

    def allows(self, partition: Partition, node: Persons) -> bool:
        """Whether the algorithm may divide a node into these classes."""
        cuts = sorted(
            self.cuts(node), key=lambda cut: (cut.key, -cut.variance, cut.axis, cut.column)
        )
        fine = [cut for cut in cuts if self.met(cut.left) and self.met(cut.right)]
        if not fine:
            return node in partition
        bound = fine[0].key + abs(fine[0].key) * NEAR
        tied = {(cut.left, cut.right) for cut in fine if cut.key <= bound}
        return any(
            not any(set(each) & set(left) and set(each) & set(right) for each in partition)
            and self.allows(partition, left)
            and self.allows(partition, right)
            for left, right in tied
        )

    def cuts(self, node: Persons) -> Iterable[Cut]:
        for j, kind in enumerate(self.data.kinds):
            missing = any(self.misses(person, j) for person in range(len(self.data.values)))
            if kind == CATEGORICAL:
                columns: list[int | None] = [*self.domain[j], *([None] if missing else [])]
                held = {value for value in columns if any(self.holds(p, j, value) for p in node)}
                width = Fraction(max(len(held) - 1, 1), max(len(columns) - 1, 1))
                if len(columns) == 2 and not missing:
                    columns, width = columns[1:], Fraction(1)
                for column, value in enumerate(columns):
                    yield from self.indicator(node, j, column, value, width)
                continue
            yield from self.ordered(node, j, strict=kind == ORDERED)
            if missing:
                yield from self.indicator(node, j, 0, None, Fraction(1))

    def misses(self, person: int, j: int) -> bool:
        """Missing in any record: no class of this person can release a range."""
        return any(row[j] is None for row in self.data.values[person])

    def holds(self, person: int, j: int, value: int | None) -> int:
        """Number of the person's records in a 0/1 column; all are in that of being missing."""
        rows = self.data.values[person]
        if value is None:
            return len(rows) if self.misses(person, j) else 0
        return sum(row[j] == value for row in rows)

    def belongs(self, person: int, j: int, value: int | None) -> bool:
        if self.misses(person, j):
            return value is None
        return 2 * self.holds(person, j, value) > self.records([person])

    def rows(self, node: Persons) -> list[tuple[int | None, ...]]:
        return [row for person in node for row in self.data.values[person]]

    def records(self, persons: Iterable[int]) -> int:
        return sum(len(self.data.values[person]) for person in persons)

    def unit(self, value: int, j: int) -> Fraction:
        domain = self.domain[j]
        if self.data.kinds[j] == ORDERED:
            return Fraction(domain.index(value), max(len(domain) - 1, 1))
        return Fraction(value - domain[0], max(domain[-1] - domain[0], 1))

    def position(self, person: int, j: int) -> Fraction | None:
        """The mean, or the most frequent category; None for persons who miss a value."""
        known = [row[j] for row in self.data.values[person] if row[j] is not None]
        if self.misses(person, j):
            return None
        if self.data.kinds[j] == NUMERIC:
            return Fraction(sum(known), len(known))
        counts = Counter(known)
        return Fraction(min(v for v in counts if counts[v] == max(counts.values())))

    def ordered(self, node: Persons, j: int, *, strict: bool) -> Iterable[Cut]:
        units = [self.unit(row[j], j) for row in self.rows(node) if row[j] is not None]
        variance = population_variance(units)
        if variance == 0:
            return
        place = {person: self.position(person, j) for person in node}

        def rank(person: int) -> tuple[bool, Fraction, int, int]:
            where = place[person]
            return where is None, where or Fraction(0), self.records([person]), person

        order = sorted(node, key=rank)
        whole = self.records(node)
        end = 0
        if strict:
            ends = [i for i in range(1, len(order)) if place[order[i]] != place[order[i - 1]]]
            if ends:
                end = min(ends, key=lambda i: (abs(2 * self.records(order[:i]) - whole), i))
        else:
            end = next(i for i in range(1, len(order) + 1) if 2 * self.records(order[:i]) >= whole)
            if place[order[end - 1]] is None:
                end = sum(where is not None for where in place.values())
            elif end == len(order):
                end -= 1
        if 0 < end < len(order):
            width = max(units) - min(units)
            yield self.cut((0, j), 0, variance, width, order[:end], order[end:])

    def indicator(
        self, node: Persons, j: int, column: int, value: int | None, width: Fraction
    ) -> Iterable[Cut]:
        right = [p for p in node if self.belongs(p, j, value)]
        left = [p for p in node if p not in right]
        if left and right:
            held = sum(self.holds(p, j, value) for p in node)
            share = Fraction(held, self.records(node))
            yield self.cut((1, j), column, share * (1 - share), width, left, right)

    def cut(
        self,
        axis: tuple[int, int],
        column: int,
        variance: Fraction,
        width: Fraction,
        left: list[int],
        right: list[int],
    ) -> Cut:
        whole = self.records([*left, *right])
        change = self.g([*left, *right]) - sum(
            Fraction(self.records(side), whole) * self.g(side) for side in (left, right)
        )
        key = {"balance": change / variance, "variance": -variance, "range": -width}[self.split]
        return Cut(key, variance, axis, column, tuple(sorted(left)), tuple(sorted(right)))

    def g(self, persons: Iterable[int]) -> Fraction:
        return g_balance([self.records([person]) for person in persons])


def population_variance(values: list[Fraction]) -> Fraction:
    if not values:
        return Fraction(0)
    mean = sum(values, Fraction(0)) / len(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)


def g_balance(counts: list[int]) -> Fraction:
    return 1 - sum((Fraction(c, sum(counts)) ** 2 for c in counts), Fraction(0))


def apart(data: Data, persons: Persons, attribute: int) -> Fraction:
    """Half the sum of the differences of shares of records, persons beside everybody."""

    def shares(chosen: Iterable[int]) -> dict[int, Fraction]:
        held = [row[attribute] for p in chosen for row in data.diseases[p]]
        counts = Counter(value for value in held if value is not None)
        return {value: Fraction(n, counts.total()) for value, n in counts.items()}

    own, file = shares(persons), shares(range(len(data.diseases)))
    if not own:
        return Fraction(0)
    return sum((abs(own.get(v, Fraction(0)) - share) for v, share in file.items()), Fraction(0)) / 2


def promise(data: Data, wanted: dict[str, Fraction | int]) -> Callable[[Persons], bool]:
    """Whether a set of persons keeps every promise."""

    def keeps(persons: Persons) -> bool:
        counts = [len(data.values[person]) for person in persons]
        fine = g_balance(counts) >= wanted.get("g", 0)
        fine &= sum(counts) >= wanted.get("k", 0) and len(persons) >= wanted.get("pid_k", 0)
        fine &= min(Counter(counts).values()) >= wanted.get("shared", 0)
        for attribute in range(len(data.diseases[0][0])):
            held = [{row[attribute] for row in data.diseases[p]} - {None} for p in persons]
            shared = Counter(value for values in held for value in values)
            most = max(shared.values(), default=0)
            fine &= most <= wanted.get("h", 1) * len(persons)
            fine &= len(shared) >= wanted.get("l", 0)
            fine &= apart(data, persons, attribute) <= wanted.get("t", 1) + Fraction(1, 10**9)
        return bool(fine)

    return keeps


# ----------------------------------------------------------------------------- the product


def encoded(data: Data) -> Table:
    person = np.repeat(np.arange(len(data.values)), [len(rows) for rows in data.values])
    rows = [row for rows in data.values for row in rows]
    columns = []
    for j, kind in enumerate(data.kinds):
        values = [row[j] for row in rows]
        domain = sorted({value for value in values if value is not None})
        codes = [MISSING if value is None else domain.index(value) for value in values]
        columns.append(
            CodedColumn(
                f"q{j}",
                np.array(codes, dtype=np.int32),
                NumberDomain(np.array(domain, dtype=np.int64))
                if kind == NUMERIC
                else LabelDomain(tuple(map(str, domain))),
                Kind(kind),
            )
        )
    diseases = [row for rows in data.diseases for row in rows]
    sensitive = [
        CodedColumn(
            f"s{i}",
            np.array([MISSING if row[i] is None else row[i] for row in diseases], np.int32),
            LabelDomain(tuple("abcd")),
        )
        for i in range(len(diseases[0]))
    ]
    return Table(
        schema=Schema(person="person", quasi_identifiers=[column.name for column in columns]),
        person=person.astype(np.int32),
        quasi_identifiers=tuple(columns),
        sensitive=tuple(sensitive),
        source=pa.table({}),
        columns=(),
        ties=np.zeros(len(rows), dtype=np.int64),  # persons keep their order in the file
    )


def grown(data: Data, wanted: dict[str, Fraction | int], split: str) -> Partition:
    made = {
        "g": lambda v: GBalance(float(v)),
        "h": lambda v: HAffiliation(float(v)),
        "k": KAnonymity,
        "pid_k": PidKAnonymity,
        "l": LDiversity,
        "shared": SharedCounts,
        "t": lambda v: TCloseness(float(v)),
    }
    constraints = [made[name](value) for name, value in wanted.items()]
    partition = grow(person_table(encoded(data)), constraints, split=Split(split))
    classes = partition.class_of_person
    assert sorted(set(classes.tolist())) == list(range(partition.classes))
    return frozenset(
        tuple(np.flatnonzero(classes == each).tolist()) for each in range(partition.classes)
    )


def allowed(
    partition: Partition, data: Data, wanted: dict[str, Fraction | int], split: str
) -> bool:
    everybody = tuple(range(len(data.values)))
    return Oracle(data, promise(data, wanted), split).allows(partition, everybody)


# ---------------------------------------------------------------------------- what is drawn


@st.composite
def tables(draw: st.DrawFn, missing: bool) -> Data:
    kinds = draw(st.lists(st.sampled_from([NUMERIC, ORDERED, CATEGORICAL]), min_size=1, max_size=4))
    cells = []
    for kind in kinds:
        low, high = (-3, 12) if kind == NUMERIC else (0, draw(st.integers(1, 3)))
        value = st.integers(low, high)
        cells.append(st.none() | value if missing and draw(st.booleans()) else value)
    sick = st.none() | st.integers(0, 3) if missing else st.integers(0, 3)
    attributes = draw(st.integers(1, 2))
    values, diseases = [], []
    for _ in range(draw(st.integers(1, 14))):
        steady = draw(st.booleans())  # the same values in all records of the person
        count = draw(st.integers(1, 4))
        one = draw(st.tuples(*cells))
        rows = [one if steady else draw(st.tuples(*cells)) for _ in range(count)]
        values.append(tuple(rows))
        diseases.append(tuple(draw(st.tuples(*[sick] * attributes)) for _ in range(count)))
    for j in range(len(kinds)):  # the door refuses columns without any value
        if all(row[j] is None for rows in values for row in rows):
            values[0] = tuple((*row[:j], 0, *row[j + 1 :]) for row in values[0])
    return Data(tuple(kinds), tuple(values), tuple(diseases))


def one_of(*values: Fraction | int) -> st.SearchStrategy[Fraction | int]:
    return st.sampled_from(values)


promises = st.fixed_dictionaries(
    {},
    optional={
        "g": one_of(Fraction(1, 4), Fraction(1, 2), Fraction(2, 3), Fraction(3, 4)),
        "h": one_of(Fraction(1), Fraction(3, 4), Fraction(2, 3), Fraction(1, 2)),
        "k": one_of(1, 2, 3, 5),
        "pid_k": one_of(1, 2, 3),
        "l": one_of(1, 2, 3),
        "shared": one_of(1, 2, 2),
        "t": one_of(Fraction(1, 4), Fraction(1, 2), Fraction(2, 3)),
    },
)
splits = st.sampled_from(["balance", "variance", "range"])


# ------------------------------------------------------------------------------- the tests


@given(data=tables(missing=False), wanted=promises, split=splits)
def test_the_tree_is_the_papers(data: Data, wanted: dict[str, int], split: str) -> None:
    assert allowed(grown(data, wanted, split), data, wanted, split)


@given(data=tables(missing=True), wanted=promises, split=splits)
def test_missing_values_are_cut_as_stated(data: Data, wanted: dict[str, int], split: str) -> None:
    assert allowed(grown(data, wanted, split), data, wanted, split)


def one_record_each(*columns: tuple[str, str]) -> Data:
    """Persons with one record; a column is its kind and a digit per person."""
    kinds, texts = zip(*columns, strict=True)
    persons = zip(*[map(int, text) for text in texts], strict=True)
    values = tuple((row,) for row in persons)
    return Data(kinds, values, tuple(((0,),) for _ in values))


# Variances and keys of these tables are exact in floating point.


def test_the_first_of_tied_attributes_is_cut() -> None:
    data = one_record_each((NUMERIC, "0011"), (NUMERIC, "0101"))
    for split in ("balance", "variance", "range"):
        assert grown(data, {"pid_k": 2}, split) == {(0, 1), (2, 3)}


def test_of_tied_attributes_those_with_an_order_come_first() -> None:
    data = one_record_each((CATEGORICAL, "0011"), (ORDERED, "0101"))
    for split in ("balance", "variance", "range"):
        assert grown(data, {"pid_k": 2}, split) == {(0, 2), (1, 3)}


def test_the_first_of_tied_categories_is_cut() -> None:
    data = one_record_each((CATEGORICAL, "11002"))
    for split in ("balance", "variance", "range"):
        assert grown(data, {"pid_k": 2}, split) == {(0, 1, 4), (2, 3)}


def test_the_larger_variance_decides_between_tied_keys() -> None:
    data = one_record_each((NUMERIC, "0112"), (NUMERIC, "0101"))
    assert grown(data, {"pid_k": 2}, "range") == {(0, 2), (1, 3)}
