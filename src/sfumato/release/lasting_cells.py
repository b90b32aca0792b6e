"""The cells that lasting classes show of a column, held against the values of another file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from math import ceil, floor
from typing import Any

import numpy as np

from sfumato import hierarchies
from sfumato.core.arrays import Bools
from sfumato.release.generalisation import ReleasedColumn, is_snapped
from sfumato.schema import Kind
from sfumato.table.scalars import natural_order
from sfumato.table.table import EPOCH_TIME, MISSING, CodedColumn, Codes, NumberDomain

WAITING = -1
"""The class of who is in no class yet."""
Texts = tuple[str | None, ...]


def kind_of(column: CodedColumn) -> str:
    """The kind of a column with the unit of its numbers, which differ from file to file."""
    unit = f" {column.domain.unit}" if isinstance(column.domain, NumberDomain) else ""
    return f"{column.kind.value}{unit}"


def labels_of(column: CodedColumn) -> frozenset[str]:
    """The labels that a cell may be, where it is no range of numbers."""
    numbers = column.kind is Kind.NUMERIC
    own = () if numbers else map(column.domain.label, range(column.domain.size))
    hierarchy = None if column.lone is not None else column.hierarchy
    return frozenset(own).union(*(() if hierarchy is None else hierarchy.labels[1:]))


class Cells:
    """The cells of the classes in one column, held against the values of a file.

    A cell covers a run of values and may cover a missing one; where cells are sets, or labels of a
    hierarchy, it covers any of them.
    """

    def __init__(
        self,
        column: CodedColumn,
        texts: Texts,
        labels: frozenset[str],
        order: Sequence[str] | None,
    ) -> None:
        self.column, self.order = column, order
        self.distinct = tuple(dict.fromkeys(texts))
        number = {text: place for place, text in enumerate(self.distinct)}
        self.text_of_class = np.array([number[text] for text in texts], dtype=np.int32)
        # Of this file's labels, too: a hierarchy may have got new ones since.
        known = labels | labels_of(column)
        self.said = [hierarchies.parse_released(text, column.kind, known) for text in self.distinct]
        domain = column.domain
        numbers = isinstance(domain, NumberDomain)
        own = () if numbers else map(domain.label, range(domain.size))
        self.code_of = {label: code for code, label in enumerate(own)}
        several = any(isinstance(each, hierarchies.OneOf) for each in self.said)
        hierarchy = None if column.lone is not None else column.hierarchy
        self.levels = [
            ({label: index for index, label in enumerate(names)}, above)
            for names, above in (
                () if hierarchy is None else zip(hierarchy.labels, hierarchy.ancestors, strict=True)
            )
        ]
        self.run = np.array([self._run(each) for each in self.said], dtype=np.int64).reshape(-1, 2)
        anything = (hierarchies.Anything, hierarchies.Missing)
        self.missing: Bools = np.array([isinstance(each, anything) for each in self.said], np.bool_)
        self.inside: Bools | None = None
        if several or self.levels:
            self.inside = np.array([self._inside(at) for at in range(len(self.said))], np.bool_)
            self.inside = self.inside.reshape(len(self.said), domain.size)

    def outside(self, person: Codes, class_of: Codes) -> int:
        """People of whom a record has a value that their cell does not cover."""
        own, codes = class_of[person], self.column.codes
        text, value = self.text_of_class[own], np.maximum(codes, 0)
        if self.inside is None:
            covered = (self.run[text, 0] <= value) & (value <= self.run[text, 1])
        else:
            covered = self.inside[text, value]
        covered = np.where(codes == MISSING, self.missing[text], covered) | (own == WAITING)
        return len(np.unique(person[~covered]))

    def values(self, classes: Codes) -> tuple[Codes, Codes]:
        """The values that tell the cells of some classes, and the place of the class of each."""
        text = self.text_of_class[classes]
        if self.inside is None:
            has = np.flatnonzero(self.run[text, 0] <= self.run[text, 1])
            place, code = np.repeat(has, 2), self.run[text[has]].ravel()
        else:
            place, code = np.nonzero(self.inside[text])
        missing = np.flatnonzero(self.missing[text])
        code = np.append(code, np.full(len(missing), MISSING))
        return code.astype(np.int32), np.append(place, missing).astype(np.int32)

    def shown(self, classes: Codes) -> ReleasedColumn:
        """The cells of some classes as a column of a release."""
        used, text = np.unique(self.text_of_class[classes], return_inverse=True)
        leaves = np.maximum(self.run[used, 1] - self.run[used, 0] + 1, 0)
        if self.inside is not None:
            leaves = self.inside[used].sum(axis=1)
        penalty = None
        if is_snapped(self.column) and self.column.ends is None:
            # Its printed ends are points of a grid, which follow from no value.
            penalty = np.array([self._width(self.said[at]) for at in used])[text]
        name, texts = self.column.name, tuple(self.distinct[each] for each in used)
        return ReleasedColumn(
            name, name, texts, text.astype(np.int32), leaves[text], penalty=penalty
        )

    def _width(self, cell: hierarchies.Released) -> float:
        """How much of the domain lies between the printed ends of a range."""
        domain = self.column.domain
        assert isinstance(domain, NumberDomain)
        if isinstance(cell, hierarchies.Anything):
            return 1.0
        if domain.size < 2 or not isinstance(cell, hierarchies.Range):
            return 0.0
        width = _point(cell.high, domain) - _point(cell.low, domain)
        return min(float(width) / float(np.ptp(domain.points)), 1.0)

    def _run(self, cell: hierarchies.Released) -> tuple[int, int]:
        """The first and the last value that a cell covers, the last before the first for none."""
        match cell:
            case hierarchies.Anything():
                return 0, self.column.domain.size - 1
            case hierarchies.Range(low, high):
                return self._between(low, high)
            case hierarchies.AtLeast(low):
                return self._between(low, None)
            case hierarchies.AtMost(high):
                return self._between(None, high)
            case hierarchies.Exact(label) if isinstance(self.column.domain, NumberDomain):
                return self._between(label, label) if _is_point(label) else (1, 0)
            case hierarchies.Exact(label) if label in self.code_of:
                return self.code_of[label], self.code_of[label]
        return 1, 0

    def _inside(self, at: int) -> Bools:
        """Whether a cell covers each value of the domain."""
        cell, size = self.said[at], self.column.domain.size
        low, high = self.run[at]
        found: Bools = (np.arange(size) >= low) & (np.arange(size) <= high)
        members = cell.members if isinstance(cell, hierarchies.OneOf) else ()
        for label in (cell.label,) if isinstance(cell, hierarchies.Exact) else members:
            first, last = self._run(hierarchies.Exact(label))
            found[first : last + 1] = True
            for index_of, above in self.levels:
                if label in index_of:
                    found |= above == index_of[label]
        return found

    def _between(self, low: str | None, high: str | None) -> tuple[int, int]:
        """The first and the last value between two ends, both inside; ``None`` is no end."""
        domain = self.column.domain
        if isinstance(domain, NumberDomain):
            places: Any = domain.points
            first = None if low is None else ceil(_point(low, domain))
            last = None if high is None else floor(_point(high, domain))
        else:
            # An end need not occur in this file.
            ends = {end for end in (low, high) if end is not None}
            occurring = list(self.code_of)
            strange = not ends <= self.code_of.keys()
            order = self.order or (natural_order(ends.union(occurring)) if strange else occurring)
            place = {label: number for number, label in enumerate(order)}
            places = [place[label] for label in occurring]
            first, last = (None if end is None else place[end] for end in (low, high))
        begin = 0 if first is None else int(np.searchsorted(places, first))
        end = domain.size if last is None else int(np.searchsorted(places, last, side="right"))
        return begin, end - 1


def _is_point(label: str) -> bool:
    """Whether a label is a number or a date, and not one above them."""
    try:
        Decimal(label)
    except InvalidOperation:
        try:
            datetime.fromisoformat(label)
        except ValueError:
            return False
    return True


def _point(text: str, domain: NumberDomain) -> Decimal:
    """A printed number or date on the integer scale of a domain's points."""
    if domain.unit == "number":
        return Decimal(text).scaleb(domain.decimals)
    since = datetime.fromisoformat(text).replace(tzinfo=UTC) - EPOCH_TIME
    if domain.unit == "date":
        return Decimal(since.days)
    return Decimal((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds)
