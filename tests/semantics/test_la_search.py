"""The levels of least loss, against brute force over all vectors of levels."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from few_cases import fast_first

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.linkage_anonymity import informed_matches
from sfumato.semantics.local_data import Local, least_levels, matches

Cells = npt.NDArray[np.int32]


def random_hierarchy(rng: np.random.Generator, leaves: int, height: int) -> Hierarchy:
    """A ragged hierarchy: a group of one value keeps its label for some levels."""
    columns = [[f"v{leaf}" for leaf in range(leaves)]]
    for level in range(1, height):
        labels = sorted(set(columns[-1]))
        group = {label: int(rng.integers(0, max(1, len(labels) - 1))) for label in labels}
        sizes = np.bincount(list(group.values()))
        columns.append(
            [
                below if sizes[group[below]] == 1 else f"L{level}.{group[below]}"
                for below in columns[-1]
            ]
        )
    columns.append(["*"] * leaves)
    return Hierarchy.from_columns(columns, "test")


def shown(hierarchy: Hierarchy, code: int, level: int) -> object:
    """What a cell shows."""
    if level == hierarchy.height:
        return "*"
    return None if code < 0 else (int(hierarchy.ancestors[level, code]),)


def penalty(hierarchy: Hierarchy, code: int, level: int) -> Fraction:
    """(Leaves that a cell allows - 1) / (leaves - 1)."""
    leaves = range(len(hierarchy.leaves))
    if len(leaves) == 1 or (code < 0 and level < hierarchy.height):
        return Fraction(0)
    alike = sum(shown(hierarchy, o, level) == shown(hierarchy, code, level) for o in leaves)
    return Fraction(alike - 1, len(leaves) - 1)


class Case:
    """A random small case: one or two local data sets over some of the columns."""

    def __init__(self, rng: np.random.Generator) -> None:
        columns = int(rng.integers(1, 4))
        self.names = [f"q{i}" for i in range(columns)]
        self.hierarchies = [
            random_hierarchy(rng, int(rng.integers(1, 6)), int(rng.integers(1, 4)))
            for _ in self.names
        ]
        self.weights = [float(rng.integers(1, 4)) for _ in self.names]
        sizes = [len(each.leaves) for each in self.hierarchies]
        self.linked = rng.integers(-1 if rng.random() < 0.3 else 0, sizes, (4, columns))
        self.linked = self.linked.astype(np.int32)
        self.records, self.owners, self.own, self.locals = [], [], [], []
        for name in "AB"[: int(rng.integers(1, 3))]:
            own = sorted(rng.permutation(columns)[: int(rng.integers(1, columns + 1))].tolist())
            count = int(rng.integers(2, 16))
            records = rng.integers(0, [sizes[q] for q in own], (count, len(own))).astype(np.int32)
            person = rng.integers(0, count, count)
            k = int(rng.integers(1, min(4, len(np.unique(person))) + 1))
            self.records.append(records)
            self.owners.append(person)
            self.own.append(own)
            hierarchies = [self.hierarchies[q] for q in own]
            names = [self.names[q] for q in own]
            self.locals.append(Local.from_codes(name, names, hierarchies, records, person, k))

    def holds(self, row: Cells, vector: tuple[int, ...]) -> bool:
        """Whether every local data set has k individuals who match, record by record."""
        for local, records, owners, own in zip(
            self.locals, self.records, self.owners, self.own, strict=True
        ):
            asked = [shown(self.hierarchies[q], row[q], vector[q]) for q in own]
            who = {
                int(person)
                for record, person in zip(records, owners, strict=True)
                if [shown(self.hierarchies[q], record[i], vector[q]) for i, q in enumerate(own)]
                == asked
            }
            if len(who) < local.k:
                return False
        return True

    def brute_force(self, row: Cells) -> tuple[int, ...]:
        """The best vector of all, ties by attribute order."""
        used = {q for own in self.own for q in own}
        options = [
            range(h.height + 1) if q in used else (0,) for q, h in enumerate(self.hierarchies)
        ]

        def loss(vector: tuple[int, ...]) -> Fraction:
            parts = (
                Fraction(self.weights[q]) * penalty(self.hierarchies[q], row[q], vector[q])
                for q in used
            )
            return sum(parts, Fraction(0))

        held = [vector for vector in product(*options) if self.holds(row, vector)]
        return min(held, key=lambda vector: (loss(vector), vector))


@pytest.mark.parametrize("block", fast_first(2, range(10)))
def test_a_thousand_random_cases_agree_with_brute_force(block: int) -> None:
    rng = np.random.default_rng(block)
    raised = 0
    for _ in range(100):
        case = Case(rng)
        levels = least_levels(case.linked, case.locals, case.hierarchies, case.weights, case.names)
        raised += int(levels.any())
        for row, found in zip(case.linked, levels, strict=True):
            assert tuple(found.tolist()) == case.brute_force(row)
    assert raised > 30


def test_what_lies_in_no_local_data_stays_as_it_is() -> None:
    pair = Hierarchy.from_columns([["a", "b"], ["*", "*"]], "test")
    local = Local.from_codes("A", ["x"], [pair], np.array([[0], [0], [1]], dtype=np.int32), None, 2)
    linked = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
    levels = least_levels(linked, [local], [pair, pair], None, ["y", "x"])
    np.testing.assert_array_equal(levels, [[0, 0], [0, 1], [0, 1]])
    assert (matches(local, linked[:, 1:], levels[:, 1:]) >= 2).all()


def test_individuals_count_and_not_records() -> None:
    pair = Hierarchy.from_columns([["a", "b"], ["*", "*"]], "test")
    codes = np.array([[0], [0], [0], [1]], dtype=np.int32)
    person = np.array([7, 7, 7, 9])
    local = Local.from_codes("A", ["x"], [pair], codes, person, 2)
    np.testing.assert_array_equal(least_levels(codes, [local], [pair]), [[1]] * 4)


def test_columns_and_hierarchies_must_fit() -> None:
    pair = Hierarchy.from_columns([["a", "b"], ["*", "*"]], "test")
    other = Hierarchy.from_columns([["a", "c"], ["*", "*"]], "test")
    codes = np.zeros((2, 1), dtype=np.int32)
    local = Local.from_codes("A", ["x"], [pair], codes)
    with pytest.raises(InputError, match="must be a column of the linked data"):
        least_levels(codes, [local], [pair], None, ["y"])
    with pytest.raises(InputError, match="same hierarchy"):
        least_levels(codes, [local], [other], None, ["x"])


def test_too_many_combinations_of_levels_are_refused() -> None:
    deep = Hierarchy.from_columns(
        [[f"{i}"[:n] for i in range(10, 20)] for n in (2, 2, 2, 2, 2, 2, 2, 2, 2, 1)], "test"
    )
    codes = np.zeros((1, 7), dtype=np.int32)
    local = Local.from_codes("A", [f"q{i}" for i in range(7)], [deep] * 7, codes)
    with pytest.raises(InputError, match="combinations of levels"):
        least_levels(codes, [local], [deep] * 7)


@pytest.mark.parametrize("seed", range(20))
def test_a_reader_who_knows_the_method_counts_those_shown_alike(seed: int) -> None:
    rng = np.random.default_rng(seed)
    trees = [random_hierarchy(rng, 5, 3) for _ in range(2)]
    records = rng.integers(0, 5, (30, 2)).astype(np.int32)
    person = rng.integers(0, 20, 30)
    local = Local.from_codes("A", ["x", "y"], trees, records, person, 3)
    levels = least_levels(records, [local], trees)
    found = informed_matches(local, records, levels)

    def cell(row: int) -> list[object]:
        return [
            (int(level), shown(tree, code, level))
            for tree, code, level in zip(trees, records[row], levels[row], strict=True)
        ]

    for row in range(30):
        alike = {int(person[other]) for other in range(30) if cell(other) == cell(row)}
        assert found[row] == len(alike)
    assert (found <= matches(local, records, levels)).all()
