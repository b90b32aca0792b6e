"""Which known persons a released record can be: sets of candidates, found by blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree

from sfumato.core.arrays import Bools, Codes, Floats, Integers, Ints, Words
from sfumato.core.errors import InputError
from sfumato.intruder.knowledge import Knowledge, KnownColumn, measure_of, number_of
from sfumato.intruder.reading import ReadColumn, ReleasedFile, combined
from sfumato.intruder.released_syntax import Anything, Cell, Exact, Interval, Members, Missing


@dataclass(frozen=True, eq=False)
class Identification:
    """Guesses that a released person is a certain register person.

    Attributes
    ----------
    unit
        The released unit (person, or record where the file has no person column), shape
        (guesses,); -1 where a register person was looked for and none was named.
    person
        The register person, shape (guesses,); -1 where none was named.
    chance
        The intruder's own probability that the guess is right, shape (guesses,).
    """

    unit: Ints
    person: Ints
    chance: Floats


@dataclass(frozen=True, eq=False)
class Inference:
    """Guesses of a sensitive value of register persons.

    Attributes
    ----------
    person
        The register person, shape (guesses,).
    value
        The code of the value in the released column's texts, shape (guesses,); -1 for none.
    chance
        The intruder's own probability that the guess is right, shape (guesses,).
    """

    attribute: str
    person: Ints
    value: Ints
    chance: Floats


@dataclass(frozen=True, eq=False)
class Candidates:
    """Which register persons fit which released class, by groups of persons who look alike.

    Attributes
    ----------
    group
        Group of each register person, shape (persons,): persons of whom the intruder knows the
        same.
    fits
        Whether the persons of a group fit a class, shape (classes, groups), sparse, indices
        sorted.
    sizes
        Persons of each group, shape (groups,).
    of_class
        Register persons who fit each class, shape (classes,).
    kind
        Kind of each released unit, shape (units,): units that show the same classes. It is the
        class itself where every unit shows one.
    fits_kind
        Whether the persons of a group fit all classes that units of a kind show, shape
        (kinds, groups), sparse; ``fits`` itself where every unit shows one class.
    """

    group: Ints
    groups: int
    fits: sparse.csr_array
    sizes: Ints
    of_class: Ints
    kind: Ints
    fits_kind: sparse.csr_array

    def persons_of(self, number: int) -> Ints:
        """The register persons who fit the class of this number, ascending."""
        start, stop = self.fits.indptr[number], self.fits.indptr[number + 1]
        chosen = np.zeros(self.groups, dtype=np.bool_)
        chosen[self.fits.indices[start:stop]] = True
        return np.flatnonzero(chosen[self.group])

    def fit(self, number: Ints, group: Ints) -> Bools:
        """Whether each group fits the class beside it, by binary search; shape (pairs,)."""
        rows = np.repeat(np.arange(self.fits.shape[0]), np.diff(self.fits.indptr))
        # Rows ascend and their indices are sorted: so are the keys, and can be searched.
        keys = rows * self.groups + self.fits.indices
        wanted = number * self.groups + group
        at = np.searchsorted(keys, wanted)
        # Behind the last key stands -1, which no pair is.
        found = np.append(keys, -1)[at] == wanted
        return np.asarray(found, dtype=np.bool_)

    def of_unit(self) -> Ints:
        """Register persons who fit each released unit, shape (units,)."""
        of_kind: Ints = np.asarray(self.fits_kind.astype(np.int64) @ self.sizes)
        return of_kind[self.kind]


def distinct_sets(
    owner: Ints, element: Ints, owners: int, elements: int
) -> tuple[Ints, sparse.csr_array]:
    """Number the distinct sets of elements that owners have.

    Gives the number of each owner's set, shape (owners,), in order of their first owners, and what
    each set holds, shape (sets, elements).
    """
    pairs = np.unique(owner.astype(np.int64) * elements + element)
    who, what = pairs // max(elements, 1), pairs % max(elements, 1)
    # Of owners with one element each, as is usual, no list needs to be made.
    if np.array_equal(who, np.arange(owners)):
        used, first, inverse = np.unique(what, return_index=True, return_inverse=True)
        order = np.argsort(first)
        number = np.empty(len(used), dtype=np.int64)
        number[order] = np.arange(len(used))
        return number[inverse.reshape(-1)], _of_lists(used[order], np.ones(len(used)), elements)
    starts = np.searchsorted(who, np.arange(owners + 1))
    places: dict[bytes, int] = {}
    lists: list[Ints] = []
    set_of = np.empty(owners, dtype=np.int64)
    for index in range(owners):
        held = what[starts[index] : starts[index + 1]]
        place = places.setdefault(held.tobytes(), len(places))
        if place == len(lists):
            lists.append(held)
        set_of[index] = place
    lengths = np.array([len(held) for held in lists])
    return set_of, _of_lists(np.concatenate(lists), lengths, elements)


def where_all(fits: sparse.csr_array, members: sparse.csr_array) -> sparse.csr_array:
    """Whether a row of ``fits`` is true for all elements of a set.

    Parameters
    ----------
    fits
        Shape (rows, elements).
    members
        What each set holds, shape (sets, elements).

    Returns
    -------
    scipy.sparse.csr_array
        Shape (rows, sets).
    """
    sizes = np.diff(members.indptr)
    # Sets of one element are columns that are there already: no product is needed.
    if (sizes == 1).all():
        return _columns(fits, members.indices)
    # Integers, as products of booleans say only whether any fits.
    counts = sparse.csr_array(fits.astype(np.int32) @ members.T.astype(np.int32))
    counts.data = (counts.data == sizes[counts.indices]).astype(np.int32)
    counts.eliminate_zeros()
    counts.sort_indices()
    return counts.astype(np.bool_)


def where_any(fits: sparse.csr_array, members: sparse.csr_array) -> sparse.csr_array:
    """Whether a row of ``fits`` is true for an element of a set.

    Parameters
    ----------
    fits
        Shape (rows, elements).
    members
        What each set holds, shape (sets, elements).

    Returns
    -------
    scipy.sparse.csr_array
        Shape (rows, sets).
    """
    if (np.diff(members.indptr) == 1).all():
        return _columns(fits, members.indices)
    some = sparse.csr_array(fits.astype(np.int32) @ members.T.astype(np.int32))
    some.sort_indices()
    return some.astype(np.bool_)


def _columns(fits: sparse.csr_array, chosen: Integers) -> sparse.csr_array:
    """The chosen columns, in that order."""
    if len(chosen) == fits.shape[1] and (chosen == np.arange(len(chosen))).all():
        return fits
    columns = sparse.csr_array(fits[:, chosen])
    columns.sort_indices()
    return columns


def _of_lists(elements: Integers, lengths: npt.NDArray[np.generic], width: int) -> sparse.csr_array:
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ones = np.ones(len(elements), dtype=np.bool_)
    return sparse.csr_array((ones, elements, starts), shape=(len(starts) - 1, width))


ROUNDED = 6e-15
"""Share of the largest number by which an end may be off where numbers have decimals.

Tools write 15 significant digits of the largest number: half a unit of the last is up to 5e-15.
"""


class ValuesOf:
    """The distinct values of a column that an intruder knows, ready to be held against cells."""

    def __init__(self, column: KnownColumn) -> None:
        numbers = column.numbers
        self._place = {text: place for place, text in enumerate(column.texts)}
        self._unknown = np.array([text is None for text in column.texts], dtype=np.bool_)
        measured = ~np.isnan(numbers)
        self._sorted, rank = np.unique(numbers[measured], return_inverse=True)
        self._rank = np.full(len(numbers), -1, dtype=np.int64)
        self._rank[measured] = rank.reshape(-1)
        self._by_rank = np.argsort(self._rank, kind="stable")
        self._starts = np.searchsorted(self._rank[self._by_rank], np.arange(len(self._sorted) + 1))
        finite = self._sorted[np.isfinite(self._sorted)]
        # Whole numbers are exact in floating point: only decimals may be off.
        decimals = bool((finite % 1 != 0).any())
        self._slack = ROUNDED * float(np.abs(finite).max(initial=0.0)) if decimals else 0.0

    def allowed(self, cell: Cell, places: Ints | None = None) -> Bools:
        """Whether values lie in the cell; a value that is not known always does.

        A missing cell allows nothing else. Texts are equal as they are written or, where the column
        holds numbers or dates, by value. Without places, all of the column's texts in their order.
        """
        if isinstance(cell, Interval):
            rank = self._rank if places is None else self._rank[places]
            low, high = self._span(cell)
            inside: Bools = (rank >= low) & (rank < high)
            return inside | (self._unknown if places is None else self._unknown[places])
        found = np.ones(len(self._unknown), np.bool_)
        if not isinstance(cell, Anything):
            found = self._unknown.copy()
            for text in _texts(cell):
                self._mark(text, found)
        return found if places is None else found[places]

    def _span(self, cell: Interval) -> tuple[int, int]:
        """The first rank inside, and the first one above it; numbers that are none have -1."""
        low = cell.low - self._slack if cell.low_in else cell.low
        high = cell.high + self._slack if cell.high_in else cell.high
        first = np.searchsorted(self._sorted, low, side="left" if cell.low_in else "right")
        last = np.searchsorted(self._sorted, high, side="right" if cell.high_in else "left")
        return int(first), int(last)

    def _mark(self, text: str, found: Bools) -> None:
        place = self._place.get(text)
        if place is not None:
            found[place] = True
        number = measure_of(text)
        if number is not None:
            low, high = self._span(Interval(number, number))
            found[self._by_rank[self._starts[low] : self._starts[high]]] = True


def _texts(cell: Cell) -> tuple[str, ...] | frozenset[str]:
    if isinstance(cell, Exact):
        return (cell.text,)
    return cell.texts if isinstance(cell, Members) else ()


def shows_means(shown: ReadColumn, known: KnownColumn) -> bool:
    """Whether a column shows single numbers with more decimals than any value that is known.

    Means of dates are rounded to dates and cannot be told from dates.
    """
    if not np.isfinite(known.numbers).any():
        return False
    if not all(isinstance(cell, (Exact, Anything, Missing)) for cell in shown.cells):
        return False
    texts = [cell.text for cell in shown.cells if isinstance(cell, Exact)]
    return _decimals(texts) > _decimals([text for text in known.texts if text is not None])


def _decimals(texts: Sequence[str]) -> int:
    """The most decimal places of the numbers among texts, without zeros at their end."""
    numbers = (text for text in texts if "." in text and number_of(text) is not None)
    return max((len(text.partition(".")[2].rstrip("0")) for text in numbers), default=0)


def positions(
    pairs: Sequence[tuple[ReadColumn, KnownColumn]], class_rows: Ints, tuple_rows: Ints
) -> tuple[Floats, Floats]:
    """Where classes and combinations of known values lie, in standard deviations.

    By columns that show means, shapes (classes, columns) and (combinations, columns). What one side
    does not say is taken to be the average.
    """
    classes, tuples = [], []
    for column, values in pairs:
        numbers = values.numbers[values.codes[tuple_rows]]
        # Where all have the same number any unit will do: they are at distance 0.
        middle, spread = float(np.nanmean(numbers)), float(np.nanstd(numbers)) or 1.0
        means = [measure_of(c.text) if isinstance(c, Exact) else None for c in column.cells]
        shift = np.array([middle if mean is None else mean for mean in means])
        classes.append((shift[column.codes[class_rows]] - middle) / spread)
        tuples.append(np.nan_to_num(numbers - middle) / spread)
    return np.stack(classes, axis=1), np.stack(tuples, axis=1)


def nearest(
    block: Ints, fits_block: sparse.csr_array, classes: Floats, groups: Floats, units: Ints
) -> sparse.csr_array:
    """Which classes and groups of persons are near each other, shape (classes, groups).

    A group fits the class that is nearest to it, and a class the groups that are nearest to it,
    as many as it has units; both among those that the other columns allow. O(blocks x groups x
    log classes).

    Parameters
    ----------
    block
        The combination of cells in the other columns of each class, shape (classes,).
    fits_block
        Which groups these combinations allow, shape (blocks, groups).
    units
        Released units of each class, shape (classes,).
    """
    best = np.full(len(groups), np.inf)
    winner = np.full(len(groups), -1, dtype=np.int64)
    rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    by_block = np.split(np.argsort(block, kind="stable"), np.cumsum(np.bincount(block))[:-1])
    for number, members in enumerate(by_block):
        start, stop = fits_block.indptr[number], fits_block.indptr[number + 1]
        allowed = fits_block.indices[start:stop].astype(np.int64)
        if not len(allowed):
            continue
        distance, place = cKDTree(classes[members]).query(groups[allowed])
        # Several blocks may allow a group: the nearest class of all of them wins.
        closer = distance < best[allowed]
        best[allowed[closer]] = distance[closer]
        winner[allowed[closer]] = members[place[closer]]
        tree = cKDTree(groups[allowed])
        # A query takes one number of neighbours for all its points: classes go by their units.
        for count in np.unique(units[members]).tolist():
            these = members[units[members] == count]
            # A sequence of ranks keeps the answer in two dimensions, even for one neighbour.
            ranks = range(1, 1 + min(count, len(allowed)))
            near = np.asarray(tree.query(classes[these], k=ranks)[1])
            rows.append(np.repeat(these, near.shape[1]))
            columns.append(allowed[near.reshape(-1)])
    some = np.flatnonzero(winner >= 0)
    places = (np.concatenate([*rows, winner[some]]), np.concatenate([*columns, some]))
    shape = (len(classes), len(groups))
    found = sparse.csr_array((np.ones(len(places[0]), np.int32), places), shape=shape)
    # Pairs that are near both ways stand there twice.
    found.sum_duplicates()
    found.sort_indices()
    return found.astype(np.bool_)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Units of one kind fit persons of one group, all of them or none.

    Attributes
    ----------
    kind
        Kind of each released unit, shape (units,).
    group
        Group of each register person, shape (persons,).
    fits
        Which kinds fit which groups, shape (kinds, groups), sparse, indices sorted.
    """

    kind: Ints
    group: Ints
    fits: sparse.csr_array

    @property
    def units(self) -> Ints:
        """Units of each kind, shape (kinds,)."""
        return np.bincount(self.kind, minlength=self.fits.shape[0]).astype(np.int64)

    @property
    def sizes(self) -> Ints:
        """Persons of each group, shape (groups,)."""
        return np.bincount(self.group, minlength=self.fits.shape[1]).astype(np.int64)

    def turned(self) -> Blocks:
        """The same seen from the register: persons in the place of units."""
        fits = sparse.csr_array(self.fits.T)
        fits.sort_indices()
        return Blocks(self.group, self.kind, fits)


def blocks_of(file: ReleasedFile, knowledge: Knowledge, candidates: Candidates) -> Blocks:
    """The blocks by class and, where the intruder knows it, by number of records."""
    if len(candidates.group) != knowledge.persons or len(candidates.kind) != file.persons:
        raise InputError("the candidates", "must be those of the same file and register")
    if knowledge.counts is None:
        return Blocks(candidates.kind, candidates.group, candidates.fits_kind)
    records = np.bincount(file.unit, minlength=file.persons).astype(np.int64)
    width = int(max(records.max(initial=0), knowledge.counts.max(initial=0))) + 1
    kinds, kind = np.unique(candidates.kind * width + records, return_inverse=True)
    groups, group = np.unique(candidates.group * width + knowledge.counts, return_inverse=True)
    fits = _split(candidates.fits_kind, kinds, groups, width)
    return Blocks(kind.reshape(-1), group.reshape(-1), fits)


def _split(fits: sparse.csr_array, kinds: Ints, groups: Ints, width: int) -> sparse.csr_array:
    """The pairs that fit, each with every number of records that both sides have."""
    shape = (len(kinds), len(groups))
    rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    kind_count, group_count = kinds % width, groups % width
    for count in np.intersect1d(kind_count, group_count).tolist():
        these, those = np.flatnonzero(kind_count == count), np.flatnonzero(group_count == count)
        part = fits[kinds[these] // width][:, groups[those] // width].tocoo()
        rows.append(these[part.coords[0]])
        columns.append(those[part.coords[1]])
    places = (np.concatenate(rows), np.concatenate(columns))
    split = sparse.csr_array((np.ones(len(places[0]), np.bool_), places), shape=shape)
    split.sort_indices()
    return split


WORD = 64
MOST_WORDS = 1 << 24
"""Words of bit sets that are kept for a column, 128 MB."""
MOST_PAIRS = 50_000_000
"""Pairs of a class and a combination that fit, at most: the attacks take some 100 bytes of each."""
SHARED = 4
"""Classes that share a cell, on average, in a column that is held against all combinations."""


def cross(
    pairs: Sequence[tuple[ReadColumn, KnownColumn]], class_rows: Ints, tuple_rows: Ints
) -> sparse.csr_array:
    """Which combinations of known values fit which class, shape (classes, combinations).

    Every cell has the set of the combinations that it allows, as bits; the classes are gone
    through in the order of their cells, so that classes that share cells share the
    intersections. Columns in which hardly any class shares its cell with another come last and
    are looked up for what is left. O(classes x combinations / 64) beside O(shared cells x
    combinations) for the sets, and the pairs that are left.

    Parameters
    ----------
    pairs
        The quasi-identifiers of the release, each with the same one of the register.
    """
    often, rarely = _by_sharing(pairs, tuple_rows, len(class_rows))
    cells = np.zeros((len(often) + len(rarely), len(class_rows)), dtype=np.int64)
    for place, column in enumerate(often + rarely):
        cells[place] = column.codes[class_rows]
    # The last key sorts first: columns with few cells change least often and share most.
    sequence = np.lexsort(cells[: len(often)][::-1]) if often else np.arange(len(class_rows))
    stack: list[Words] = [_packed(np.ones(len(tuple_rows), dtype=np.bool_))]
    before: list[int] = []
    found: list[Codes] = [np.empty(0, np.int32)] * len(class_rows)
    fitting = 0
    for number, codes in zip(sequence.tolist(), cells.T[sequence].tolist(), strict=True):
        shared = _in_common(before, codes[: len(often)])
        del stack[shared + 1 :]
        for place in range(shared, len(often)):
            stack.append(stack[-1] & often[place].bits(codes[place]))
        before = codes[: len(often)]
        left = _places(stack[-1])
        for column, cell in zip(rarely, codes[len(often) :], strict=True):
            left = left[column.allows(cell, left)]
        found[number] = left
        fitting += len(left)
        # As they grow: pairs must be refused before they fill the memory.
        if fitting > MOST_PAIRS:
            raise _too_many()
    lengths = np.array([len(each) for each in found], dtype=np.int64)
    places = np.concatenate([*found, np.empty(0, np.int32)])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    shape = (len(class_rows), len(tuple_rows))
    return sparse.csr_array((np.ones(len(places), np.bool_), places, starts), shape=shape)


def _too_many() -> InputError:
    return InputError(
        "what the intruder knows",
        "must tell people apart",
        found=f"more than {MOST_PAIRS:,} pairs of a class and a person who fits it",
        advice="let more be known (knows, missing), or run only the attack probabilistic",
    )


def _in_common(one: list[int], other: list[int]) -> int:
    """How many codes two classes share from the first on."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


class _Column:
    """A quasi-identifier on both sides.

    ``bits`` and ``allows`` say which combinations a cell allows: all of them as bits that are
    kept for the next class, or those at some places.
    """

    def __init__(self, shown: ReadColumn, known: KnownColumn, tuple_rows: Ints) -> None:
        self.cells = shown.cells
        self.codes = shown.codes
        self._values = ValuesOf(known)
        self._known = known.codes[tuple_rows]
        self._kept: dict[int, Words] = {}
        self._most = max(1, MOST_WORDS // (len(tuple_rows) // WORD + 1))

    def bits(self, cell: int) -> Words:
        words = self._kept.get(cell)
        if words is None:
            words = _packed(self._values.allowed(self.cells[cell])[self._known])
            # The oldest goes: classes come in the order of their cells, so that it is hardly
            # needed again.
            if len(self._kept) >= self._most:
                self._kept.pop(next(iter(self._kept)))
            self._kept[cell] = words
        return words

    def allows(self, cell: int, places: Codes) -> Bools:
        return self._values.allowed(self.cells[cell], self._known[places])


def _by_sharing(
    pairs: Sequence[tuple[ReadColumn, KnownColumn]], tuple_rows: Ints, classes: int
) -> tuple[list[_Column], list[_Column]]:
    """The columns whose cells many classes share, and the others; fewest cells first."""
    columns = [_Column(*pair, tuple_rows) for pair in pairs]
    columns.sort(key=lambda column: len(column.cells))
    often = [column for column in columns if len(column.cells) * SHARED <= classes]
    return often, columns[len(often) :]


def _packed(flags: Bools) -> Words:
    # Bits behind the last combination must be unset: they would be places of nobody.
    padded = np.zeros(-(-len(flags) // WORD) * WORD, dtype=np.bool_)
    padded[: len(flags)] = flags
    # The bytes in one order on every machine: `_places` reads them back as bytes.
    return np.packbits(padded, bitorder="little").view(np.dtype("<u8"))


def _places(words: Words) -> Codes:
    """The places of the bits that are set, ascending."""
    used = np.flatnonzero(words)
    bits = np.unpackbits(words[used].view(np.uint8), bitorder="little")
    at = np.flatnonzero(bits)
    return (used[at // WORD] * WORD + at % WORD).astype(np.int32)


Rows = Literal["all", "any"]
Pair = tuple[ReadColumn, KnownColumn]


def find_candidates(
    file: ReleasedFile,
    knowledge: Knowledge,
    *,
    rows: Rows | None = None,
    means: Collection[str] | None = None,
) -> Candidates:
    """Find the register persons who fit each released class.

    Released classes are held against distinct combinations of known values, and persons of
    whom the same is known are one group; see `cross` for the cost.

    Parameters
    ----------
    knowledge
        What the intruder knows. A value that is not known fits every cell; a missing cell fits
        nothing else. Quasi-identifiers that only one side has say nothing.
    rows
        Whether a register person fits a class if ``"all"`` rows of the person do or if ``"any"``
        does. Without it the file decides: all, where it has pseudonyms with several records and
        each of them shows one combination of cells, so that persons were released as a whole;
        else any.
    means
        The quasi-identifiers of which the release shows means: a person then fits where they
        are nearest (see `nearest`), which nobody can be sure of. Without it those with more
        decimals than the known values; of dates, none.
    """
    if rows not in (None, "all", "any"):
        raise InputError("parameter rows", "must be one of its words", accepted="all, any")
    pairs = _shared(file, knowledge)
    tuple_of, tuple_rows = combined([known.codes for _, known in pairs], len(knowledge.person))
    group, members = distinct_sets(knowledge.person, tuple_of, knowledge.persons, len(tuple_rows))
    whole = rows == "all" if rows is not None else persons_are_whole(file)
    together = where_all if whole else where_any
    far = [pair for pair in pairs if _is_mean(*pair, means)]
    exact = [pair for pair in pairs if pair not in far]
    if far:
        fits = _by_distance(file, exact, far, tuple_rows, members, together)
    else:
        fits = together(cross(exact, file.first_row, tuple_rows), members)
    kind, fits_kind = _kinds(file, fits)
    sizes = np.bincount(group, minlength=members.shape[0]).astype(np.int64)
    return Candidates(
        group=group,
        groups=len(sizes),
        fits=fits,
        sizes=sizes,
        of_class=np.asarray(fits.astype(np.int64) @ sizes),
        kind=kind,
        fits_kind=fits_kind,
    )


def _shared(file: ReleasedFile, knowledge: Knowledge) -> list[Pair]:
    """The quasi-identifiers that the release shows and the intruder knows."""
    known = {column.name: column for column in knowledge.quasi_identifiers}
    pairs = [
        (identifier, known[identifier.name])
        for identifier in file.quasi_identifiers
        if identifier.name in known
    ]
    if not pairs:
        raise InputError(
            "the intruder",
            "must know a quasi-identifier that the release shows",
            found="none that both have",
            accepted=", ".join(column.name for column in file.quasi_identifiers),
        )
    return pairs


def _is_mean(shown: ReadColumn, known: KnownColumn, means: Collection[str] | None) -> bool:
    if means is None:
        return shows_means(shown, known)
    return shown.name in means and bool(np.isfinite(known.numbers).any())


def _by_distance(
    file: ReleasedFile,
    exact: list[Pair],
    far: list[Pair],
    tuple_rows: Ints,
    members: sparse.csr_array,
    together: Callable[[sparse.csr_array, sparse.csr_array], sparse.csr_array],
) -> sparse.csr_array:
    """Which classes and groups are near each other where the other columns fit."""
    codes = [shown.codes[file.first_row] for shown, _ in exact]
    block, first = combined(codes, file.classes)
    fits_block = together(cross(exact, file.first_row[first], tuple_rows), members)
    classes, tuples = positions(far, file.first_row, tuple_rows)
    # Who has several rows lies at the mean of the distinct ones: groups know no more of them.
    middles = (members.astype(np.float64) @ tuples) / np.diff(members.indptr)[:, None]
    units = np.bincount(np.unique(file.unit * file.classes + file.class_of) % file.classes)
    return nearest(block, fits_block, classes, middles, units)


def _kinds(file: ReleasedFile, fits: sparse.csr_array) -> tuple[Ints, sparse.csr_array]:
    """The kind of each unit, and which groups fit all classes of a kind."""
    kind, classes = distinct_sets(file.unit, file.class_of, file.persons, file.classes)
    if (np.diff(classes.indptr) == 1).all():
        kind[file.unit] = file.class_of
        return kind, fits
    fits_kind = sparse.csr_array(where_all(sparse.csr_array(fits.T), classes).T)
    fits_kind.sort_indices()
    return kind, fits_kind


def persons_are_whole(file: ReleasedFile) -> bool:
    """Whether the file shows that a person's records were released as a whole.

    That is so where it has pseudonyms with several records, and each shows one combination of
    cells.
    """
    if file.person is None or file.persons == file.records:
        return False
    # Who has two classes differs in some record from the one that was written last.
    shown = np.full(file.persons, -1, dtype=np.int64)
    shown[file.person] = file.class_of
    return bool((shown[file.person] == file.class_of).all())
