"""The released values of a quasi-identifier, one per class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies import (
    Anything,
    AtLeast,
    AtMost,
    Exact,
    Missing,
    OneOf,
    Range,
    Released,
    format_released,
)
from sfumato.release.options import Form
from sfumato.schema import Kind
from sfumato.table.table import MISSING, CodedColumn, CodedEnds, Codes, NumberDomain

Ints = npt.NDArray[np.int64]
MEAN_DECIMALS = 2
"""Decimal places that a released mean has beyond those of the values."""


@dataclass(frozen=True, eq=False)
class Spread:
    """What each class holds of a quasi-identifier; every array has shape (classes,).

    Attributes
    ----------
    lowest, highest
        Lowest and highest code; `MISSING` in classes without any value.
    present, missing
        Number of records with and without a value.
    """

    lowest: Codes
    highest: Codes
    present: Ints
    missing: Ints

    @property
    def mixed(self) -> npt.NDArray[np.bool_]:
        """Classes that hold both values and missing ones; they release ``*``."""
        return (self.present > 0) & (self.missing > 0)


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """One column of the release.

    Attributes
    ----------
    source
        Name of the quasi-identifier that it stands for.
    name
        Name of the column.
    texts
        Distinct cells; ``None`` is the empty one.
    text_of_class
        Index into ``texts`` of each class; shape (classes,).
    leaves
        Number of the domain's values that each class's cell may stand for; a missing value
        counts as none, ``*`` as all.
    is_number
        Whether every cell is one number, so that the column can be typed.
    """

    source: str
    name: str
    texts: tuple[str | None, ...] = field(repr=False)
    text_of_class: Codes
    leaves: Ints
    is_number: bool = False


def spread(codes: Codes, class_of: Codes, classes: int) -> Spread:
    """Lowest and highest code and the missing of each class; O(records)."""
    top = np.iinfo(np.int32).max
    known = codes != MISSING
    lowest = np.full(classes, top, dtype=np.int32)
    highest = np.full(classes, MISSING, dtype=np.int32)
    np.minimum.at(lowest, class_of, np.where(known, codes, top))
    np.maximum.at(highest, class_of, codes)
    records = np.bincount(class_of, minlength=classes)
    present = np.bincount(class_of[known], minlength=classes)
    return Spread(np.minimum(lowest, highest), highest, present, records - present)


def held_of(column: CodedColumn, class_of: Codes, classes: int) -> Spread:
    """What each class is shown to hold of a quasi-identifier.

    Its spread. A class that reaches a coded end holds all values beyond it; where all records
    show the root of the hierarchy, a missing value is one of the values that it stands for.
    """
    held = spread(column.codes, class_of, classes)
    if column.ends is not None:
        return _to_the_ends(held, column.ends, column.domain.size)
    hierarchy = column.hierarchy
    if hierarchy is None or not hierarchy.floor or hierarchy.floor < hierarchy.height:
        return held
    if not held.missing.any():
        return held
    return replace(held, present=np.maximum(held.present, 1), missing=np.maximum(held.missing, 1))


def _to_the_ends(held: Spread, ends: CodedEnds, size: int) -> Spread:
    low = (held.present > 0) & (held.lowest <= ends.bottom)
    high = (held.present > 0) & (held.highest >= ends.top)
    lowest = np.where(high, np.minimum(held.lowest, ends.top), held.lowest)
    highest = np.where(low, np.maximum(held.highest, ends.bottom), held.highest)
    return replace(
        held,
        lowest=np.where(low, 0, lowest).astype(np.int32),
        highest=np.where(high, size - 1, highest).astype(np.int32),
    )


def release_column(
    column: CodedColumn, class_of: Codes, classes: int, form: Form
) -> tuple[ReleasedColumn, ...]:
    """Release one quasi-identifier.

    Parameters
    ----------
    column
        The quasi-identifier.
    class_of
        Class of each record; shape (records,).
    classes
        Number of classes.
    form
        The form asked for; where a kind has no such form, the range or ancestor is taken.

    Returns
    -------
    tuple of ReleasedColumn
        One column, or the two bounds.
    """
    held = held_of(column, class_of, classes)
    if column.ends is not None and form is not Form.BOUNDS:
        return (_ranges(column, held),)
    categorical = column.kind is Kind.CATEGORICAL
    if form is Form.SET:
        return (_sets(column, class_of, held),)
    if column.hierarchy is not None and (categorical or form is Form.HIERARCHY):
        return (_ancestors(column, class_of, held),)
    if categorical:
        return (_one_or_anything(column, held),)
    if form is Form.BOUNDS:
        return _bounds(column, held)
    if form is Form.MEAN and isinstance(column.domain, NumberDomain):
        return (_means(column, column.domain, class_of, held),)
    return (_ranges(column, held),)


def _printer(column: CodedColumn) -> Callable[[Released], str | None]:
    labels: set[str] = set()
    if column.kind is not Kind.NUMERIC:
        labels.update(column.domain.label(code) for code in range(column.domain.size))
    if column.hierarchy is not None:
        labels.update(*column.hierarchy.labels[1:])
    return lambda value: format_released(value, column.kind, labels)


def _printed(
    column: CodedColumn,
    held: Spread,
    key: Ints,
    value_of: Callable[[int], Released],
    leaves: Ints,
    text_of: Callable[[int], str] | None = None,
) -> ReleasedColumn:
    """Print each distinct key once; classes with the same cell have the same text.

    ``text_of`` prints the value of a key, where that is known to be simple.
    """
    key = np.where(held.mixed, -1, np.where(held.present == 0, -2, key))
    distinct, key_of_class = np.unique(key, return_inverse=True)
    special: dict[int, Released] = {-1: Anything(), -2: Missing()}
    show = _printer(column)
    printed = [
        text_of(each)
        if text_of and each >= 0
        else show(special[each] if each < 0 else value_of(each))
        for each in distinct.tolist()
    ]
    texts = tuple(dict.fromkeys(printed))
    number = {text: place for place, text in enumerate(texts)}
    text_of_key = np.array([number[text] for text in printed], dtype=np.int32)
    leaves = np.where(held.mixed, column.domain.size, np.where(held.present == 0, 0, leaves))
    return ReleasedColumn(
        column.name, column.name, texts, text_of_key[key_of_class], leaves.astype(np.int64)
    )


def _ranges(column: CodedColumn, held: Spread) -> ReleasedColumn:
    size = column.domain.size

    def value(key: int) -> Released:
        low, high = divmod(key, size)
        return _between(column, low, high)

    key = held.lowest.astype(np.int64) * size + held.highest
    leaves = held.highest - held.lowest + 1
    return _printed(column, held, key, value, leaves, _text_of_whole_numbers(column))


def _text_of_whole_numbers(column: CodedColumn) -> Callable[[int], str] | None:
    """Print a range of a column of whole numbers that nothing makes ambiguous: there are many."""
    domain = column.domain
    if not isinstance(domain, NumberDomain) or domain.unit != "number" or column.ends is not None:
        return None
    if domain.decimals or domain.width or column.hierarchy is not None or (domain.points < 0).any():
        return None
    points = domain.points.tolist()

    def text(key: int) -> str:
        low, high = divmod(key, len(points))
        return f"{points[low]}-{points[high]}" if low < high else str(points[low])

    return text


def _between(column: CodedColumn, low: int, high: int) -> Released:
    """A range of codes; open where it reaches a coded end."""
    label, ends = column.domain.label, column.ends
    below = ends is not None and low <= ends.bottom
    above = ends is not None and high >= ends.top
    if ends is None or not (below or above):
        return Range(label(low), label(high))
    if below and above:
        return Anything()
    if above:
        return AtLeast(ends.top_label if low >= ends.top else label(low))
    return AtMost(ends.bottom_label if high <= ends.bottom else label(high))


def _bounds(column: CodedColumn, held: Spread) -> tuple[ReleasedColumn, ...]:
    def value(key: int) -> Released:
        one = _between(column, key, key)
        return Exact(one.low) if isinstance(one, Range) else one

    leaves = held.highest - held.lowest + 1
    plain = isinstance(column.domain, NumberDomain) and column.domain.width == 0
    plain = plain and column.ends is None
    return tuple(
        ReleasedColumn(
            column.name,
            f"{column.name}_{end}",
            printed.texts,
            printed.text_of_class,
            printed.leaves,
            is_number=_is_number(column) and plain and not held.mixed.any(),
        )
        for end, codes in (("low", held.lowest), ("high", held.highest))
        for printed in [_printed(column, held, codes.astype(np.int64), value, leaves)]
    )


def _is_number(column: CodedColumn) -> bool:
    return isinstance(column.domain, NumberDomain) and column.domain.unit == "number"


def _means(
    column: CodedColumn, domain: NumberDomain, class_of: Codes, held: Spread
) -> ReleasedColumn:
    known = column.codes != MISSING
    classes = len(held.present)
    shifted = np.zeros(classes)
    np.add.at(
        shifted,
        class_of[known],
        (domain.points[column.codes[known]] - domain.points[0]).astype(np.float64),
    )
    extra = MEAN_DECIMALS if domain.unit == "number" else 0
    mean = shifted / np.maximum(held.present, 1)
    key = np.rint(mean * 10**extra).astype(np.int64)

    def value(each: int) -> Released:
        point = each + int(domain.points[0]) * 10**extra
        text = domain.format(point, domain.decimals + extra)
        return Exact(text.rstrip("0").rstrip(".") if extra else text)

    printed = _printed(column, held, key, value, held.highest - held.lowest + 1)
    typed = _is_number(column) and not held.mixed.any()
    return ReleasedColumn(
        column.name,
        column.name,
        printed.texts,
        printed.text_of_class,
        printed.leaves,
        is_number=typed,
    )


def _one_or_anything(column: CodedColumn, held: Spread) -> ReleasedColumn:
    size = column.domain.size
    single = held.lowest == held.highest

    def value(key: int) -> Released:
        return Anything() if key == size else Exact(column.domain.label(key))

    key = np.where(single, held.lowest, size).astype(np.int64)
    return _printed(column, held, key, value, np.where(single, 1, size))


def _ancestors(column: CodedColumn, class_of: Codes, held: Spread) -> ReleasedColumn:
    hierarchy = column.hierarchy
    if hierarchy is None:
        return _ranges(column, held)
    levels, indices = hierarchy.lowest_common_ancestors(class_of, column.codes, len(held.present))
    widest = max(len(labels) for labels in hierarchy.labels)

    def value(key: int) -> Released:
        level, index = divmod(key, widest)
        label = hierarchy.label(level, index)
        return Anything() if label == "*" else Exact(label)

    leaves = np.zeros(len(levels), dtype=np.int64)
    for level in range(hierarchy.height + 1):
        here = levels == level
        leaves[here] = hierarchy.leaf_counts(level)[indices[here]]
    return _printed(column, held, levels.astype(np.int64) * widest + indices, value, leaves)


def _sets(column: CodedColumn, class_of: Codes, held: Spread) -> ReleasedColumn:
    known = column.codes != MISSING
    size = max(column.domain.size, 1)
    pairs = np.unique(class_of[known].astype(np.int64) * size + column.codes[known])
    classes = len(held.present)
    owner, code = pairs // size, pairs % size
    distinct = np.bincount(owner, minlength=classes).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(distinct)])
    numbers: dict[tuple[int, ...], int] = {}
    key = np.empty(classes, dtype=np.int64)
    for each in range(classes):
        members = tuple(code[offsets[each] : offsets[each + 1]].tolist())
        key[each] = numbers.setdefault(members, len(numbers))
    members_of = list(numbers)

    def value(number: int) -> Released:
        labels = tuple(column.domain.label(member) for member in members_of[number])
        return Exact(labels[0]) if len(labels) == 1 else OneOf(labels)

    return _printed(column, held, key, value, distinct)
