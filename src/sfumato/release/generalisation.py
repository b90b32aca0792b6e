"""The released values of quasi-identifiers, class by class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

import numpy as np
import numpy.typing as npt

from sfumato import hierarchies
from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.engines.embedded.counts import group
from sfumato.release.person_table import content_ties
from sfumato.release.release_options import Form
from sfumato.schema import Kind
from sfumato.table.table import EPOCH, MISSING, CodedColumn, CodedEnds, Codes, NumberDomain, Table

MEAN_DECIMALS = 2
"""Decimal places that a released mean has beyond those of the values."""


@dataclass(frozen=True, eq=False)
class ExtraValues:
    """Values that the cells of classes must hold beside those of the records.

    If ``whole``, they hold everything between the lowest and the highest value; if ``alone``, these
    values and no others, whatever the records have.
    """

    codes: tuple[Codes, ...]
    class_of: tuple[Codes, ...]
    whole: bool = False
    alone: bool = False

    def joined(self, other: ExtraValues) -> ExtraValues:
        """These values and others."""
        return ExtraValues(
            tuple(np.concatenate(each) for each in zip(self.codes, other.codes, strict=True)),
            tuple(np.concatenate(each) for each in zip(self.class_of, other.class_of, strict=True)),
            self.whole or other.whole,
        )

    def renumbered(self, number: Codes) -> ExtraValues:
        """The same with new numbers of classes; those that become -1 are left out."""
        new = [number[each] for each in self.class_of]
        return ExtraValues(
            tuple(codes[each >= 0] for codes, each in zip(self.codes, new, strict=True)),
            tuple(each[each >= 0] for each in new),
            self.whole,
        )


def values_of(table: Table, class_of: Codes) -> ExtraValues:
    """The values of a table's records; those of class -1 are left out."""
    kept = class_of >= 0
    columns = table.quasi_identifiers
    return ExtraValues(
        tuple(column.codes[kept] for column in columns), (class_of[kept],) * len(columns)
    )


def with_coded_ends(table: Table) -> Table:
    """The table with every value beyond a coded end set to that end.

    Without a person column the ties stay those of the original: records that differ beyond an
    end alone keep an order of their own.
    """
    if not any(column.ends for column in table.quasi_identifiers):
        return table
    columns = tuple(_clipped(column) for column in table.quasi_identifiers)
    ties = content_ties(table) if table.schema.person is None else None
    return replace(table, quasi_identifiers=columns, ties=ties)


def with_snapped_ends(table: Table, *, sets: bool) -> Table:
    """The table with its ranges between points of a public grid, and its sets of public blocks.

    The grid of ordered categories is of their places in the declared order, as far as they occur.
    """
    columns = []
    for column in table.quasi_identifiers:
        if isinstance(column.domain, NumberDomain):
            columns.append(replace(column, snapped=True))
        elif sets and column.ends is None and not column.snapped:
            columns.append(_in_blocks(column, table.person))
        else:
            columns.append(replace(column, snapped=column.kind is Kind.ORDERED))
    return replace(table, quasi_identifiers=tuple(columns))


def _in_blocks(column: CodedColumn, person: Codes) -> CodedColumn:
    """The column with blocks of its categories as its hierarchy."""
    size = column.domain.size
    labels = [column.domain.label(code) for code in range(size)]
    pairs = np.unique(person.astype(np.int64) * (size + 1) + column.codes + 1)
    persons = np.bincount(pairs % (size + 1), minlength=size + 1)[1:]
    blocks = hierarchies.public_blocks(labels, column.hierarchy)
    return replace(column, snapped=True, hierarchy=blocks, lone=persons == 1)


MOST_LONE = float(np.exp(-1))
"""Share of a set's members that are people's own, one in the whole file each, which its class may
hold. Who guesses without a release is right with probability n w (1 - w)^(n - 1), at its best (w
= 1 / n) this for many people n (Cohen and Nissim 2020, Section 2)."""


GRID_STEPS = np.array([each * 10**n for n in range(18) for each in (1, 2, 5)][1:], dtype=np.int64)
"""Steps of public grids, in units of the last decimal place, days or microseconds."""
STEPS = 20
"""Steps of the grid that a range is about wide."""
RARE_STEP = int(np.ceil(1 / MOST_LONE))
"""Least step between places of an order of more than `STEPS` categories, of which few people have
the same: one end in so many is of the class's own, and that is no more than `MOST_LONE`."""
# A geometric middle is as far from the step below it as from the one above.
WIDEST = np.append(STEPS * np.sqrt(GRID_STEPS[:-1].astype(np.float64) * GRID_STEPS[1:]), np.inf)
"""How wide a range is at most whose ends are on the grid of each step."""
_MOST = np.iinfo(np.int64).max
_LAST_DAY = date.max.toordinal() - EPOCH.toordinal()
_LAST = {"date": _LAST_DAY, "datetime": (_LAST_DAY + 1) * 86_400_000_000 - 1}


def is_snapped(column: CodedColumn) -> bool:
    """Whether a column of numbers or dates has ranges that end on a public grid."""
    return column.snapped and isinstance(column.domain, NumberDomain)


def grid_of(column: CodedColumn) -> NumberDomain | None:
    """What a column's ranges end on a public grid of: its numbers, or the places of its order."""
    if not column.snapped or column.lone is not None:
        return None
    domain = column.domain
    return domain if isinstance(domain, NumberDomain) else NumberDomain(np.arange(domain.size))


@dataclass(frozen=True, eq=False)
class SetMembers:
    """The sets of categories that classes are released with.

    Attributes
    ----------
    of_class
        Number of each class's set; shape (classes,).
    owner, codes
        The members of each set, set by set in ascending order; shape (members,).
    """

    of_class: Ints
    owner: Ints
    codes: Ints
    sizes: Ints


def set_members(column: CodedColumn, class_of: Codes, classes: int) -> SetMembers:
    """The set of each class: what occurs in it, or blocks of a public order around that."""
    if column.lone is not None:
        return _members_of_blocks(column, _blocks(column, column.lone, class_of, classes))
    has_value = column.codes != MISSING
    size = max(column.domain.size, 1)
    pairs = np.unique(class_of[has_value].astype(np.int64) * size + column.codes[has_value])
    each, code = pairs // size, pairs % size
    offsets = np.concatenate([[0], np.cumsum(np.bincount(each, minlength=classes))])
    numbers: dict[tuple[int, ...], int] = {}
    of_class = np.empty(classes, dtype=np.int64)
    for number in range(classes):
        members = tuple(code[offsets[number] : offsets[number + 1]].tolist())
        of_class[number] = numbers.setdefault(members, len(numbers))
    sizes = np.array([len(members) for members in numbers], dtype=np.int64)
    codes = np.array([member for members in numbers for member in members], dtype=np.int64)
    return SetMembers(of_class, np.repeat(np.arange(len(sizes)), sizes), codes, sizes)


def _blocks(column: CodedColumn, lone: Bools, class_of: Codes, classes: int) -> Ints:
    """The two blocks that cover each class, or twice the same, as nodes; shape (2, classes).

    They are the least ones within the halves of the least that covers all. Where a class holds
    too many lone members for that, it is the whole, then the next larger one. A node is the first
    of its level and the place in it.
    """
    hierarchy = column.hierarchy
    assert hierarchy is not None
    first = np.cumsum([0, *(len(labels) for labels in hierarchy.labels)])
    counts = np.concatenate([hierarchy.leaf_counts(n) for n in range(hierarchy.height + 1)])
    has_value = column.codes != MISSING
    of, codes = class_of[has_value], column.codes[has_value]
    levels, index = hierarchy.lowest_common_ancestors(of, codes, classes)
    one = np.zeros(classes, dtype=np.int64)
    one[of] = codes
    below = np.maximum(levels - 1, 0)[of]
    # Blocks are halved at each level, so that the half of one member tells both halves apart.
    half = hierarchy.ancestors[below, codes] != hierarchy.ancestors[below, one[of]]
    blocks = replace(hierarchy, floor=1)
    pair = blocks.lowest_common_ancestors(2 * of.astype(np.int64) + half, codes, 2 * classes)
    halves = (first[pair[0]] + pair[1]).reshape(-1, 2).T
    whole = first[levels] + index
    nodes = np.where(levels > 1, np.sort(halves, axis=0), whole)
    held = np.unique(of.astype(np.int64) * len(lone) + codes, return_index=True)[1]
    own = np.bincount(of[held], weights=lone[codes[held]], minlength=classes)
    over = (levels > 0) & (own > MOST_LONE * counts[nodes].sum(axis=0))
    nodes[:, over] = whole[over]
    for level in range(1, hierarchy.height):
        at = np.flatnonzero(over & (levels == level))
        at = at[own[at] > MOST_LONE * counts[whole[at]]]
        levels[at] += 1
        whole[at] = first[level + 1] + hierarchy.ancestors[level + 1, one[at]]
        nodes[:, at] = whole[at]
    return nodes


def _members_of_blocks(column: CodedColumn, nodes: Ints) -> SetMembers:
    """The members of two blocks each."""
    hierarchy = column.hierarchy
    assert hierarchy is not None
    first = np.cumsum([0, *(len(labels) for labels in hierarchy.labels)])
    distinct, of_class = np.unique(nodes, axis=1, return_inverse=True)
    members = []
    for pair in distinct.T:
        level = np.searchsorted(first, pair, side="right") - 1
        below = hierarchy.ancestors[level] == (pair - first[level])[:, np.newaxis]
        members.append(np.flatnonzero(below.any(axis=0)))
    sizes = np.array([len(member) for member in members], dtype=np.int64)
    codes = np.concatenate([np.empty(0, dtype=np.int64), *members])
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return SetMembers(of_class.reshape(-1).astype(np.int64), owner, codes, sizes)


def snapped_points(domain: NumberDomain, spread: Spread, least: int = 1) -> tuple[Ints, Ints]:
    """The ends of each class's range on a grid whose step fits its width; one value stays itself.

    The grid is of multiples of 1, 2 or 5 times a power of ten of the last decimal place, days or
    microseconds, at least two of them; the step is the one nearest to a twentieth of the width. A
    range begins on a point, and ends one unit before one; on one where the grid needs fewer decimal
    places than the values have.
    """
    low, high = domain.points[spread.lowest], domain.points[spread.highest]
    width = high - low
    step = np.maximum(GRID_STEPS[np.searchsorted(WIDEST, width)], least)
    # An end that is a value tells of the one person who has it. From a step of 5 on, ends lie
    # strictly outside of the values.
    beyond = step >= 5
    first = (low - beyond) // step * step
    if domain.unit == "number" and not (domain.points < 0).any():
        first = np.maximum(first, 0)
    coarse = (step % 10 == 0) & (domain.decimals > 0)
    last = (high + beyond) // step * step + step - np.where(coarse, 0, 1)
    # A range must end with a date that can be printed: 9999-12-31 is the last one of Python.
    last = np.minimum(last, _LAST.get(domain.unit, _MOST))
    last = np.maximum(last, high)
    wide = width > (least == 1)
    return np.where(wide, first, low), np.where(wide, last, high)


def _clipped(column: CodedColumn) -> CodedColumn:
    if column.ends is None:
        return column
    clipped = np.clip(column.codes, *outermost_codes(column))
    codes = np.where(column.codes == MISSING, MISSING, clipped).astype(np.int32)
    return replace(column, codes=codes)


def outermost_codes(column: CodedColumn) -> tuple[int, int]:
    """The lowest and the highest code that is left of a column when its ends are coded."""
    last = column.domain.size - 1
    if column.ends is None:
        return 0, last
    return max(column.ends.bottom, 0), min(column.ends.top, last)


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
    def mixed(self) -> Bools:
        """Classes that hold both values and missing ones; they release ``*``."""
        return (self.present > 0) & (self.missing > 0)


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """One column of the release.

    Attributes
    ----------
    texts
        Distinct cells; ``None`` is the empty one.
    text_of_class
        Index into ``texts`` of each class; shape (classes,).
    leaves
        Number of the domain's values that each class's cell may stand for; a missing value
        counts as none, ``*`` as all.
    is_number
        Whether every cell is one number, so that the column can be typed.
    penalty
        NCP of each class's cell, where that does not follow from the values of its records.
    """

    source: str
    name: str
    texts: tuple[str | None, ...] = field(repr=False)
    text_of_class: Codes
    leaves: Ints
    is_number: bool = False
    penalty: Floats | None = None


def class_spread(codes: Codes, class_of: Codes, classes: int) -> Spread:
    """Lowest and highest code and the missing of each class; O(records)."""
    top = np.iinfo(np.int32).max
    has_value = codes != MISSING
    lowest = np.full(classes, top, dtype=np.int32)
    highest = np.full(classes, MISSING, dtype=np.int32)
    np.minimum.at(lowest, class_of, np.where(has_value, codes, top))
    np.maximum.at(highest, class_of, codes)
    records = np.bincount(class_of, minlength=classes)
    present = np.bincount(class_of[has_value], minlength=classes)
    return Spread(np.minimum(lowest, highest), highest, present, records - present)


def shown_spread(column: CodedColumn, class_of: Codes, classes: int) -> Spread:
    """What each class is shown to hold of a quasi-identifier.

    Its spread, or all values up to the ends of a public grid. A class that reaches a coded end
    holds all values beyond it; where all records show the root of the hierarchy, a missing value is
    one of the values that it stands for.
    """
    spread = class_spread(column.codes, class_of, classes)
    if (grid := grid_of(column)) is not None:
        many = grid is not column.domain and grid.size > STEPS
        low, high = snapped_points(grid, spread, RARE_STEP if many else 1)
        lowest = np.searchsorted(grid.points, low).astype(np.int32)
        highest = np.searchsorted(grid.points, high, side="right").astype(np.int32) - 1
        has_value = spread.present > 0
        spread = replace(
            spread,
            lowest=np.where(has_value, lowest, MISSING).astype(np.int32),
            highest=np.where(has_value, highest, MISSING).astype(np.int32),
        )
    if column.ends is not None:
        return _to_the_ends(spread, column.ends, column.domain.size)
    hierarchy = column.hierarchy
    if hierarchy is None or not hierarchy.floor or hierarchy.floor < hierarchy.height:
        return spread
    if not spread.missing.any():
        return spread
    return replace(
        spread, present=np.maximum(spread.present, 1), missing=np.maximum(spread.missing, 1)
    )


def _to_the_ends(spread: Spread, ends: CodedEnds, size: int) -> Spread:
    low = (spread.present > 0) & (spread.lowest <= ends.bottom)
    high = (spread.present > 0) & (spread.highest >= ends.top)
    lowest = np.where(high, np.minimum(spread.lowest, ends.top), spread.lowest)
    highest = np.where(low, np.maximum(spread.highest, ends.bottom), spread.highest)
    return replace(
        spread,
        lowest=np.where(low, 0, lowest).astype(np.int32),
        highest=np.where(high, size - 1, highest).astype(np.int32),
    )


def release_column(
    column: CodedColumn, class_of: Codes, classes: int, form: Form
) -> tuple[ReleasedColumn, ...]:
    """Release one quasi-identifier.

    Parameters
    ----------
    class_of
        Class of each record; shape (records,).
    form
        The form asked for; where a kind has no such form, the range or ancestor is taken.
    """
    spread = shown_spread(column, class_of, classes)
    points = None
    if column.snapped and isinstance(column.domain, NumberDomain):
        points = snapped_points(column.domain, class_spread(column.codes, class_of, classes))
    if column.ends is not None and form is not Form.BOUNDS:
        return (_ranges(column, spread, points),)
    categorical = column.kind is Kind.CATEGORICAL
    if form is Form.SET and not is_snapped(column):
        return (_sets(column, class_of, spread),)
    if column.hierarchy is not None and (categorical or form is Form.HIERARCHY):
        return (_ancestors(column, class_of, spread),)
    if categorical:
        return (_one_or_anything(column, spread),)
    if form is Form.BOUNDS:
        return _bounds(column, spread, points)
    if form is Form.MEAN and isinstance(column.domain, NumberDomain):
        return (_means(column, column.domain, class_of, spread),)
    return (_ranges(column, spread, points),)


_ANYTHING = hierarchies.Anything()


def _printer(column: CodedColumn) -> Callable[[hierarchies.Released], str | None]:
    labels: set[str] = set()
    if column.kind is not Kind.NUMERIC:
        labels.update(column.domain.label(code) for code in range(column.domain.size))
    if column.hierarchy is not None and column.lone is None:
        labels.update(*column.hierarchy.labels[1:])
    return lambda value: hierarchies.format_released(value, column.kind, labels)


def _printed(
    column: CodedColumn,
    spread: Spread,
    key: Ints,
    value_of: Callable[[int], hierarchies.Released],
    leaves: Ints,
    text_of: Callable[[int], str] | None = None,
    anything: hierarchies.Released = _ANYTHING,
) -> ReleasedColumn:
    """Print each distinct key once; classes with the same cell have the same text.

    ``text_of`` prints the value of a key, where that is known to be simple; ``anything`` stands for
    classes of values and missing ones.
    """
    # Keys of values are never negative, so that two negative numbers are free for the special
    # cells.
    key = np.where(spread.mixed, -1, np.where(spread.present == 0, -2, key))
    distinct, key_of_class = np.unique(key, return_inverse=True)
    special: dict[int, hierarchies.Released] = {-1: anything, -2: hierarchies.Missing()}
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
    leaves = np.where(spread.mixed, column.domain.size, np.where(spread.present == 0, 0, leaves))
    return ReleasedColumn(
        column.name, column.name, texts, text_of_key[key_of_class], leaves.astype(np.int64)
    )


def _ranges(
    column: CodedColumn, spread: Spread, points: tuple[Ints, Ints] | None = None
) -> ReleasedColumn:
    domain, leaves = column.domain, spread.highest - spread.lowest + 1
    ends = np.stack([spread.lowest, spread.highest] if points is None else points).astype(np.int64)
    _, first, key = np.unique(ends, axis=1, return_index=True, return_inverse=True)

    def value(key: int) -> hierarchies.Released:
        one = first[key]
        labels = None if points is None else [_label(column, point[one]) for point in points]
        return _between(column, int(spread.lowest[one]), int(spread.highest[one]), labels)

    key = key.reshape(-1).astype(np.int64)
    # A minus sign would be read as the dash of the range, so that such ends are printed with care.
    if not _has_plain_numbers(column) or (points is not None and (ends < 0).any()):
        return _printed(column, spread, key, value, leaves)
    assert isinstance(domain, NumberDomain)
    low, high = (domain.points[ends] if points is None else ends)[:, first].tolist()

    def text(key: int) -> str:
        return f"{low[key]}-{high[key]}" if low[key] < high[key] else str(low[key])

    return _printed(column, spread, key, value, leaves, text)


def _has_plain_numbers(column: CodedColumn) -> bool:
    """Whether it is of whole numbers that nothing makes ambiguous: there are many ranges."""
    domain = column.domain
    if not isinstance(domain, NumberDomain) or domain.unit != "number" or column.ends is not None:
        return False
    plain = not (domain.decimals or domain.width) and column.hierarchy is None
    return plain and not (domain.points < 0).any()


def _label(column: CodedColumn, point: np.int64) -> str:
    """How an end is printed that need not be a value of the data, without zeros behind it."""
    assert isinstance(column.domain, NumberDomain)
    place, decimals = int(point), column.domain.decimals
    while decimals and place % 10 == 0:
        place, decimals = place // 10, decimals - 1
    return column.domain.format(place, decimals)


def _between(
    column: CodedColumn, low: int, high: int, labels: Sequence[str] | None = None
) -> hierarchies.Released:
    """A range of codes, or of labels around them; open where it reaches a coded end."""
    first, last = labels or (column.domain.label(low), column.domain.label(high))
    ends = column.ends
    below = ends is not None and low <= ends.bottom
    above = ends is not None and high >= ends.top
    if ends is None or not (below or above):
        return hierarchies.Range(first, last)
    if below and above:
        return hierarchies.Anything()
    if above:
        return hierarchies.AtLeast(ends.top_label if low >= ends.top else first)
    return hierarchies.AtMost(ends.bottom_label if high <= ends.bottom else last)


def _bounds(
    column: CodedColumn, spread: Spread, points: tuple[Ints, Ints] | None
) -> tuple[ReleasedColumn, ...]:
    """The ends in two columns; of numbers and dates an open end is empty, so that none is text."""
    domain = column.domain
    measured = isinstance(domain, NumberDomain)

    def printed(
        codes: Codes, ends: Ints | None, open_: type[hierarchies.AtMost | hierarchies.AtLeast]
    ) -> ReleasedColumn:
        shown = codes if ends is None else ends
        _, first, place = np.unique(shown, return_index=True, return_inverse=True)

        def value(key: int) -> hierarchies.Released:
            one = int(first[key])
            labels = None if ends is None else [_label(column, ends[one])] * 2
            found = _between(column, int(codes[one]), int(codes[one]), labels)
            if measured and isinstance(found, (hierarchies.Anything, open_)):
                return hierarchies.Missing()
            if isinstance(found, hierarchies.AtLeast | hierarchies.Range):
                return hierarchies.Exact(found.low)
            return hierarchies.Exact(found.high) if isinstance(found, hierarchies.AtMost) else found

        nothing = hierarchies.Missing() if measured else hierarchies.Anything()
        return _printed(column, spread, place.reshape(-1), value, leaves, anything=nothing)

    leaves = spread.highest - spread.lowest + 1
    is_number = isinstance(domain, NumberDomain) and domain.unit == "number" and domain.width == 0
    low, high = (None, None) if points is None else points
    return tuple(
        replace(printed(codes, ends, open_), name=f"{column.name}_{end}", is_number=is_number)
        for end, codes, ends, open_ in (
            ("low", spread.lowest, low, hierarchies.AtMost),
            ("high", spread.highest, high, hierarchies.AtLeast),
        )
    )


def _means(
    column: CodedColumn, domain: NumberDomain, class_of: Codes, spread: Spread
) -> ReleasedColumn:
    has_value = column.codes != MISSING
    classes = len(spread.present)
    shifted = np.zeros(classes)
    np.add.at(
        shifted,
        class_of[has_value],
        # Taken from the lowest value, since sums of microseconds since 1970 would lose digits in a
        # double.
        (domain.points[column.codes[has_value]] - domain.points[0]).astype(np.float64),
    )
    extra = MEAN_DECIMALS if domain.unit == "number" else 0
    mean = shifted / np.maximum(spread.present, 1)
    key = np.rint(mean * 10**extra).astype(np.int64)

    def value(each: int) -> hierarchies.Released:
        point = each + int(domain.points[0]) * 10**extra
        text = domain.format(point, domain.decimals + extra)
        return hierarchies.Exact(text.rstrip("0").rstrip(".") if extra else text)

    printed = _printed(column, spread, key, value, spread.highest - spread.lowest + 1)
    # One cell that says * makes a column of text.
    return replace(printed, is_number=domain.unit == "number" and not spread.mixed.any())


def _one_or_anything(column: CodedColumn, spread: Spread) -> ReleasedColumn:
    size = column.domain.size
    single = spread.lowest == spread.highest

    def value(key: int) -> hierarchies.Released:
        return (
            hierarchies.Anything() if key == size else hierarchies.Exact(column.domain.label(key))
        )

    key = np.where(single, spread.lowest, size).astype(np.int64)
    return _printed(column, spread, key, value, np.where(single, 1, size))


def _ancestors(column: CodedColumn, class_of: Codes, spread: Spread) -> ReleasedColumn:
    hierarchy = column.hierarchy
    if hierarchy is None:
        return _ranges(column, spread)
    levels, indices = hierarchy.lowest_common_ancestors(class_of, column.codes, len(spread.present))
    widest = max(len(labels) for labels in hierarchy.labels)

    def value(key: int) -> hierarchies.Released:
        level, index = divmod(key, widest)
        label = hierarchy.label(level, index)
        return hierarchies.Anything() if label == "*" else hierarchies.Exact(label)

    leaves = np.zeros(len(levels), dtype=np.int64)
    for level in range(hierarchy.height + 1):
        here = levels == level
        leaves[here] = hierarchy.leaf_counts(level)[indices[here]]
    return _printed(column, spread, levels.astype(np.int64) * widest + indices, value, leaves)


def _sets(column: CodedColumn, class_of: Codes, spread: Spread) -> ReleasedColumn:
    sets = set_members(column, class_of, len(spread.present))
    ends = np.cumsum(sets.sizes)

    def value(number: int) -> hierarchies.Released:
        size = int(sets.sizes[number])
        members = sets.codes[ends[number] - size : ends[number]].tolist()
        if column.lone is not None and size == column.domain.size > 1:
            return hierarchies.Anything()
        labels = tuple(column.domain.label(member) for member in members)
        return hierarchies.Exact(labels[0]) if len(labels) == 1 else hierarchies.OneOf(labels)

    return _printed(column, spread, sets.of_class, value, sets.sizes[sets.of_class])


def listed_alone(
    column: CodedColumn, person: Codes, class_of: Codes, shown: ReleasedColumn
) -> tuple[int, int]:
    """Of the members that its sets list, those that one person of the class has; and all of them.

    A member that a class lists without a record of it, as those of a register, is nobody's.
    """
    listing = np.array([(text or "").startswith("{") for text in shown.texts])
    of_class = listing[shown.text_of_class] & (shown.leaves > 1)
    of = of_class[class_of] & (column.codes != MISSING)
    held = np.stack([class_of[of], column.codes[of], person[of]])
    people = np.unique(np.unique(held, axis=1)[:2], axis=1, return_counts=True)[1]
    return int((people == 1).sum()), int(shown.leaves[of_class].sum())


ReleasedColumns = dict[str, tuple[ReleasedColumn, ...]]


def generalised(
    table: Table, class_of: Codes, classes: int, form: Form, extra: ExtraValues | None = None
) -> tuple[ReleasedColumns, Codes, int]:
    """Release every quasi-identifier; classes that look the same become one.

    Two classes of the tree may be given the same cells; a reader of the release sees one
    equivalence class. Its g, h, k and l are no worse than the worse of the two.

    With a population, the cells of a class hold what its persons of the register have too, or
    all values up to the cuts, so that an intruder who has the register finds them all there;
    categories are released as sets (unless labels of hierarchies are asked for), so that nobody
    else is found there.

    Parameters
    ----------
    extra
        What cells must hold in addition to the records, where there is a population.

    Returns
    -------
    tuple
        The released columns by quasi-identifier, and for each class the class and the number
        of classes after merging.
    """
    released: ReleasedColumns = {}
    for index, column in enumerate(table.quasi_identifiers):
        own, of, printed = with_extra_values(column, class_of, index, form, extra)
        released[column.name] = release_column(own, of, classes, printed)
    released, merged, count = _merged(released)
    blocks = [identifier for identifier in table.quasi_identifiers if identifier.lone is not None]
    before = classes
    # Classes that have become one hold the lone members of both.
    while blocks and count < before:
        before, of = count, merged[class_of]
        for column in blocks:
            released[column.name] = release_column(column, of, count, form)
        released, again, count = _merged(released)
        merged = again[merged]
    return released, merged, count


def _merged(released: ReleasedColumns) -> tuple[ReleasedColumns, Codes, int]:
    """The cells of classes that look different, the new number of each class, and how many."""
    cells = [column for columns in released.values() for column in columns]
    merged, count = group(
        [column.text_of_class for column in cells], [len(column.texts) for column in cells]
    )
    _, first = np.unique(merged, return_index=True)
    return _of_classes(released, first), merged, count


def with_extra_values(
    column: CodedColumn, class_of: Codes, index: int, form: Form, extra: ExtraValues | None
) -> tuple[CodedColumn, Codes, Form]:
    """What the cells of a quasi-identifier hold, the class of each, and their form.

    With a population they hold extra values in addition to the records'.
    """
    if extra is None:
        return column, class_of, form
    if extra.alone:
        fixed = replace(column, codes=extra.codes[index], snapped=False, lone=None)
        return fixed, extra.class_of[index], _exact(column, form, whole=False)
    own = replace(column, codes=np.concatenate([column.codes, extra.codes[index]]))
    of = np.concatenate([class_of, extra.class_of[index]])
    return own, of, _exact(column, form, whole=extra.whole)


def _exact(column: CodedColumn, form: Form, *, whole: bool) -> Form:
    """The form that says which values a class holds; a whole cell has values without a code."""
    if column.kind is not Kind.CATEGORICAL:
        # A set lists values that have a code. What lies between two of them would not be in it.
        return Form.RANGE if whole and form is Form.SET else form
    labelled = column.hierarchy is not None and form is Form.HIERARCHY
    return form if labelled else Form.SET


def _of_classes(
    released: Mapping[str, tuple[ReleasedColumn, ...]], classes: npt.NDArray[np.intp]
) -> ReleasedColumns:
    return {
        name: tuple(
            replace(
                column,
                text_of_class=column.text_of_class[classes],
                leaves=column.leaves[classes],
            )
            for column in columns
        )
        for name, columns in released.items()
    }
