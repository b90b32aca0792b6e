"""Small releases, with the values beside the codes so that oracles need not decode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st
from oracles.released_cells import contains, parse_released

from sfumato.hierarchies import Hierarchy
from sfumato.release.distributions import Cells, released_cells
from sfumato.release.generalisation import ReleasedColumn, release_column
from sfumato.release.release_options import Form
from sfumato.release.utility_measures import Utility, measure_utility
from sfumato.schema import Kind, Schema
from sfumato.table.table import MISSING, CodedColumn, LabelDomain, NumberDomain, Table

LETTERS = "abcde"
TREE = Hierarchy.from_columns(
    [list(LETTERS), ["a-b", "a-b", "c-e", "c-e", "c-e"], ["*"] * 5], "hierarchy of the tests"
)


@dataclass(frozen=True, eq=False)
class Case:
    """A file and its release."""

    table: Table
    kept: np.ndarray
    class_of: np.ndarray
    classes: int
    form: Form
    released: dict[str, tuple[ReleasedColumn, ...]]

    def measure(self, seed: int = 0) -> Utility:
        return measure_utility(
            self.table,
            self.kept,
            self.class_of,
            self.classes,
            self.released,
            form=self.form,
            rng=np.random.default_rng(seed),
        )

    def persons(self) -> list[int]:
        return self.table.person[self.kept].tolist()

    def kept_columns(self) -> list[CodedColumn]:
        return [
            CodedColumn(c.name, c.codes[self.kept], c.domain, c.kind, c.hierarchy, c.weight)
            for c in self.table.quasi_identifiers
        ]

    def cells(self, column: CodedColumn) -> Cells:
        printed = self.released[column.name][0]
        return released_cells(column, self.class_of, self.classes, self.form, printed)

    def candidates(self, column: CodedColumn, number: int) -> list[int]:
        """Codes that the printed cell of a class may stand for; the class's span for means."""
        printed = self.released[column.name]
        held = [
            c for c, t in zip(column.codes[self.kept], self.class_of, strict=True) if t == number
        ]
        texts = [each.texts[each.text_of_class[number]] for each in printed]
        if texts == [None, None] and max(held) >= 0:  # two open ends
            return list(range(column.domain.size))
        if texts[0] is None:
            return []
        if texts[0] == "*":
            return list(range(column.domain.size))
        if len(printed) == 2 or (self.form is Form.MEAN and column.kind is Kind.NUMERIC):
            return list(range(min(held), max(held) + 1))
        labels = [column.domain.label(code) for code in range(column.domain.size)]
        value = parse_released(texts[0], column.kind, frozenset(labels))
        return [
            code
            for code, label in enumerate(labels)
            if contains(value, label, column.kind, order=labels, hierarchy=column.hierarchy)
        ]


def coded(
    name: str, kind: Kind, values: Sequence[Any], weight: float = 1.0, tree: bool = False
) -> CodedColumn:
    """Encode integers (numeric) or texts; None is missing."""
    distinct = sorted({value for value in values if value is not None})
    codes = np.array([MISSING if v is None else distinct.index(v) for v in values], dtype=np.int32)
    if kind is Kind.NUMERIC:
        return CodedColumn(
            name, codes, NumberDomain(np.array(distinct, np.int64)), kind, None, weight
        )
    hierarchy = TREE.restricted(distinct, "hierarchy of the tests") if tree else None
    return CodedColumn(name, codes, LabelDomain(tuple(distinct)), kind, hierarchy, weight)


def make_case(
    columns: Sequence[CodedColumn],
    person: Sequence[int],
    class_of_person: Sequence[int],
    form: Form = Form.RANGE,
    kept: Sequence[bool] | None = None,
) -> Case:
    """Release columns, given the class of each person."""
    table = Table(
        Schema(quasi_identifiers={each.name: each.kind for each in columns}),
        np.array(person, dtype=np.int32),
        tuple(columns),
        (),
        pa.table({}),
        tuple(each.name for each in columns),
    )
    stay = np.ones(len(person), dtype=bool) if kept is None else np.array(kept)
    classes, class_of = np.unique(
        np.array(class_of_person)[table.person[stay]], return_inverse=True
    )
    class_of = class_of.astype(np.int32)
    case = Case(table, stay, class_of, len(classes), form, {})
    for column in case.kept_columns():
        case.released[column.name] = release_column(column, class_of, len(classes), form)
    return case


@st.composite
def _cases(draw: st.DrawFn, missing: bool = True, single: bool = False) -> Case:
    records = draw(st.integers(1, 14))
    if single:
        person = list(range(records))
    else:
        seen = draw(st.lists(st.integers(0, 5), min_size=records, max_size=records))
        person = [list(dict.fromkeys(seen)).index(each) for each in seen]
    persons = max(person) + 1
    of = draw(st.lists(st.integers(0, 3), min_size=persons, max_size=persons))
    columns = []
    for number in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(Kind))
        numeric = kind is Kind.NUMERIC
        value = st.sampled_from([-3, 0, 1, 2, 7]) if numeric else st.sampled_from(LETTERS)
        cell = st.one_of(value, st.none()) if missing else value
        values = draw(st.lists(cell, min_size=records, max_size=records))
        if all(each is None for each in values):
            values[0] = draw(value)
        weight = draw(st.sampled_from([1.0, 0.5, 3.0]))
        tree = not numeric and draw(st.booleans())
        columns.append(coded(f"q{number}", kind, values, weight, tree))
    kept = draw(st.lists(st.booleans(), min_size=records, max_size=records))
    if not any(kept):
        kept[0] = True
    return make_case(columns, person, of, draw(st.sampled_from(Form)), kept)


@pytest.fixture(scope="session")
def cases() -> Callable[..., st.SearchStrategy[Case]]:
    """Strategy of small releases; ``missing`` and ``single`` records per person may be set."""
    return _cases


@pytest.fixture(scope="session")
def column() -> Callable[..., CodedColumn]:
    return coded


@pytest.fixture(scope="session")
def case() -> Callable[..., Case]:
    return make_case
