"""Attack by associations that are mined from several releases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
from scipy import sparse

from sfumato.core.arrays import Bools, Floats
from sfumato.core.errors import InputError
from sfumato.intruder.candidates import Candidates, Identification, ValuesOf, find_candidates
from sfumato.intruder.guesses.identity_attacks import exact_free
from sfumato.intruder.knowledge import Knowledge, KnownColumn
from sfumato.intruder.reading import ReadColumn, ReleasedFile
from sfumato.intruder.released_syntax import Anything, Cell, Members


@dataclass(frozen=True, eq=False)
class Meaning:
    """A quasi-identifier of an earlier and of the attacked release.

    Attributes
    ----------
    texts
        The register's distinct values, ``None`` left out.
    earlier, now
        Which of them each cell of the earlier and of the attacked release holds, shapes
        (cells, values). An empty set says nothing that the register could tell.
    """

    name: str
    texts: tuple[str, ...]
    earlier: Bools = field(repr=False)
    now: Bools = field(repr=False)


def meaning_of(known: KnownColumn, earlier: ReadColumn | None, now: ReadColumn | None) -> Meaning:
    """The cells of a quasi-identifier as sets of values of the register.

    One of both columns may be missing. Takes O(cells x values).
    """
    told = np.array([text is not None for text in known.texts], dtype=np.bool_)
    values = ValuesOf(known)
    return Meaning(
        name=known.name,
        texts=tuple(text for text in known.texts if text is not None),
        earlier=_sets(values, () if earlier is None else earlier.cells, told),
        now=_sets(values, () if now is None else now.cells, told),
    )


def within(narrow: Bools, wide: Bools) -> Bools:
    """Whether each set lies in each other one, and is not empty; shape (narrow, wide).

    Both have shape (sets, values).
    """
    # Counts are exact in 32-bit floats up to 2^24, and products of these are fastest.
    common = narrow.astype(np.float32) @ wide.T.astype(np.float32)
    sizes = narrow.sum(axis=1).astype(np.float32)[:, np.newaxis]
    # The empty set would lie in every other one.
    inside: Bools = (common == sizes) & (sizes > 0)
    return inside


def _sets(values: ValuesOf, cells: Sequence[Cell], told: Bools) -> Bools:
    sets = np.zeros((len(cells), int(told.sum())), dtype=np.bool_)
    for number, cell in enumerate(cells):
        sets[number] = values.allowed(cell)[told]
    return sets


Item = tuple[int, int]
"""Number of a column, and of a cell of it in the earlier release."""

LONGEST = 2
"""Cells in an antecedent, at most, where nothing else is asked for."""


@dataclass(frozen=True, slots=True)
class Association:
    """Who shows the cells of X mostly shows the cell Y.

    Attributes
    ----------
    antecedent
        X: cells of different columns, by column.
    consequent
        Y: a cell of another column.
    support
        Share of the released units that show X.
    confidence
        Share of these that show Y too.
    """

    antecedent: tuple[Item, ...]
    consequent: Item
    support: float
    confidence: float


@dataclass(frozen=True, eq=False)
class _Sets:
    """Frequent combinations of cells, and which classes show them."""

    items: list[tuple[Item, ...]]
    shown: sparse.csc_array


def mine(
    file: ReleasedFile,
    meanings: Sequence[Meaning],
    *,
    support: float,
    confidence: float,
    longest: int = LONGEST,
) -> tuple[Association, ...]:
    """The associations X -> Y of a release with enough support and confidence, surest first.

    A class shows a cell if its own is the same or lies in it, so that each level that the release
    shows counts. Cells that hold all values of the register say nothing and are left out. With c
    cells of a column on average, the combinations of n columns take O(classes) for each that is
    frequent, and O(frequent x c) products for the associations.

    Parameters
    ----------
    meanings
        What its cells hold, by column; cells are numbered as there.
    support
        Least share of units that show X, in [0, 1].
    confidence
        Least share of these that show Y, in [0, 1].
    longest
        Cells in X, at most.
    """
    for name, share in (("support", support), ("confidence", confidence)):
        if not 0 <= share <= 1:
            raise InputError(f"parameter {name}", "must be a share", accepted="0 to 1")
    units = _units_of_classes(file)
    single = _single(file, meanings, units, support)
    found: list[Association] = []
    now = _merged(single.values())
    for length in range(1, longest + 1):
        for column, sets in single.items():
            found.extend(_between(now, column, sets, units, confidence))
        if length < longest:
            now = _longer(now, single, units, support)
    # Ties go by the cells: the order must not depend on how they were found.
    return tuple(sorted(found, key=lambda one: (-one.confidence, -one.support, one.antecedent)))


def _units_of_classes(file: ReleasedFile) -> Floats:
    """Units that show each class; one that shows several counts for each."""
    pairs = np.unique(np.column_stack([file.class_of, file.unit]), axis=0)
    return np.bincount(pairs[:, 0], minlength=file.classes).astype(np.float64)


def _single(
    file: ReleasedFile, meanings: Sequence[Meaning], units: Floats, support: float
) -> dict[int, _Sets]:
    """The cells of each column that enough units show and that say something."""
    by_name = {column.name: column for column in file.quasi_identifiers}
    found = {}
    for number, meaning in enumerate(meanings):
        if meaning.name not in by_name:
            continue
        code = by_name[meaning.name].codes[file.first_row]
        shows = within(meaning.earlier, meaning.earlier)[code]
        says = (meaning.earlier.sum(axis=1) < len(meaning.texts)) & meaning.earlier.any(axis=1)
        kept = np.flatnonzero(_often(units @ shows, units, support) & says)
        found[number] = _Sets(
            [((number, int(cell)),) for cell in kept], sparse.csc_array(shows[:, kept])
        )
    return found


def _between(
    left: _Sets, column: int, right: _Sets, units: Floats, confidence: float
) -> Iterator[Association]:
    """The associations from combinations to the cells of a column that they do not have."""
    free = [
        place for place, items in enumerate(left.items) if all(item[0] != column for item in items)
    ]
    if not free or not right.items:
        return
    weighted = sparse.csr_array(left.shown[:, free].T.astype(np.float64) * units)
    shown = np.asarray(weighted.sum(axis=1)).reshape(-1)
    both = (weighted @ right.shown.astype(np.float64)).tocoo()
    # Confidence that is met exactly must not fail by rounding.
    sure = both.data >= confidence * shown[both.coords[0]] * (1 - 1e-12)
    for row, place, count in zip(
        both.coords[0][sure].tolist(),
        both.coords[1][sure].tolist(),
        both.data[sure].tolist(),
        strict=True,
    ):
        yield Association(
            antecedent=left.items[free[row]],
            consequent=right.items[place][0],
            support=float(shown[row] / units.sum()),
            confidence=float(count / shown[row]),
        )


def _longer(left: _Sets, single: dict[int, _Sets], units: Floats, support: float) -> _Sets:
    """The frequent combinations with one more cell, of a later column."""
    found = []
    for column, right in single.items():
        # Only later columns are added: each combination is made once.
        before = [place for place, items in enumerate(left.items) if items[-1][0] < column]
        if not before or not right.items:
            continue
        one = left.shown[:, before].astype(np.float64)
        both = ((one.T * units) @ right.shown.astype(np.float64)).tocoo()
        often = _often(both.data, units, support)
        rows, places = both.coords[0][often], both.coords[1][often]
        shown = one[:, rows].multiply(right.shown[:, places].astype(np.float64))
        items = [
            left.items[before[row]] + right.items[place]
            for row, place in zip(rows.tolist(), places.tolist(), strict=True)
        ]
        found.append(_Sets(items, sparse.csc_array(shown).astype(np.bool_)))
    return _merged(found)


def _often(counts: Floats, units: Floats, support: float) -> Bools:
    often: Bools = (counts > 0) & (counts >= support * units.sum() * (1 - 1e-12))
    return often


def _merged(parts: Iterable[_Sets]) -> _Sets:
    some = [part for part in parts if part.items]
    if not some:
        return _Sets([], sparse.csc_array((0, 0), dtype=np.bool_))
    shown = sparse.csc_array(sparse.hstack([each.shown for each in some], format="csc"))
    return _Sets(list(chain.from_iterable(each.items for each in some)), shown)


def refined_sets(
    file: ReleasedFile, meanings: Sequence[Meaning], associations: Sequence[Association]
) -> list[Bools]:
    """What the cells of each class hold once every association is applied, per column.

    An association refines Y of a class that shows X, all its cells lying in X's, to what Y's cell
    and the associated one have in common; not where that is nothing. The surest come first, and
    what one refines may let another one do so, until nothing changes. A round takes
    O(associations x classes), and each refined cell O(cells x values).

    Parameters
    ----------
    associations
        The associations, surest first.

    Returns
    -------
    list
        For each column, which values each class holds, shape (classes, values).
    """
    by_name = {column.name: column for column in file.quasi_identifiers}
    held = [
        meaning.now[by_name[meaning.name].codes[file.first_row]]
        if meaning.name in by_name
        # A column that only the earlier release has may hold anything here.
        else np.ones((file.classes, len(meaning.texts)), dtype=np.bool_)
        for meaning in meanings
    ]
    inside = [within(sets, meaning.earlier) for sets, meaning in zip(held, meanings, strict=True)]
    # It ends: sets only shrink.
    changed = True
    while changed:
        changed = False
        for association in associations:
            shows = np.ones(file.classes, dtype=np.bool_)
            for column, cell in association.antecedent:
                shows &= inside[column][:, cell]
            column, cell = association.consequent
            those = np.flatnonzero(shows & ~inside[column][:, cell])
            left = held[column][those] & meanings[column].earlier[cell]
            some = left.any(axis=1)
            if some.any():
                held[column][those[some]] = left[some]
                inside[column][those[some]] = within(left[some], meanings[column].earlier)
                changed = True
    return held


def with_sets(
    file: ReleasedFile, meanings: Sequence[Meaning], held: Sequence[Bools], classes: Bools
) -> ReleasedFile:
    """The release with narrower cells in some classes; the other cells as they are.

    A column that only the earlier release had is added where associations tell something of it.
    """
    columns = {column.name: column for column in file.quasi_identifiers}
    unsaid = np.zeros(file.records, dtype=np.int64)
    for meaning, sets in zip(meanings, held, strict=True):
        own = columns.get(meaning.name)
        if own is not None:
            columns[meaning.name] = _narrowed(file, own, meaning, sets, classes, meaning.now)
        elif not sets.all():
            everything = np.ones((1, len(meaning.texts)), dtype=np.bool_)
            own = ReadColumn(meaning.name, (Anything(),), unsaid)
            columns[meaning.name] = _narrowed(file, own, meaning, sets, classes, everything)
    return replace(file, quasi_identifiers=tuple(columns.values()))


def _narrowed(
    file: ReleasedFile,
    column: ReadColumn,
    meaning: Meaning,
    held: Bools,
    classes: Bools,
    before: Bools,
) -> ReadColumn:
    code = column.codes[file.first_row]
    narrowed = classes & (held != before[code]).any(axis=1)
    cells: list[Cell] = list(column.cells)
    numbers: dict[bytes, int] = {}
    codes = code.copy()
    for number in np.flatnonzero(narrowed).tolist():
        # Classes that are narrowed to the same values share a cell, as those of one class do.
        key = held[number].tobytes()
        if key not in numbers:
            numbers[key] = len(cells)
            texts = np.flatnonzero(held[number]).tolist()
            cells.append(Members(frozenset(meaning.texts[text] for text in texts)))
        codes[number] = numbers[key]
    return ReadColumn(column.name, tuple(cells), codes[file.class_of])


@dataclass(frozen=True, eq=False)
class Refined:
    """What the attack by associations ends with.

    A class that the refinement leaves nobody counts unrefined. Associations are given surest first;
    their cells are those of the earlier release.
    """

    guesses: Identification
    candidates: Candidates
    file: ReleasedFile
    associations: tuple[Association, ...]
    columns: tuple[str, ...]
    refined: int


def by_associations(
    file: ReleasedFile,
    earlier: ReleasedFile,
    knowledge: Knowledge,
    rng: np.random.Generator,
    *,
    support: float = 0.02,
    confidence: float = 0.8,
    longest: int = LONGEST,
) -> Refined:
    """Mine an earlier release, refine the cells of this one, and match again (002, Section 2).

    The reader takes associations for certain, as paper 002 has it: a person for whom one does not
    hold is lost to the intruder, and a class that nobody fits any more is guessed as it was. The
    chance of a guess is 1 / |class| of Eq. 2; the mean of those of the persons who are not lost
    is Eq. 3.

    Parameters
    ----------
    support
        S of Eq. 1: least share of the earlier release's units that show X, in [0, 1].
    confidence
        C of Eq. 1: least share of these that show Y too, in [0, 1].
    longest
        Cells in X, at most.
    """
    old = {column.name: column for column in earlier.quasi_identifiers}
    new = {column.name: column for column in file.quasi_identifiers}
    meanings = [
        meaning_of(identifier, old.get(identifier.name), new.get(identifier.name))
        for identifier in knowledge.quasi_identifiers
        if identifier.name in old or identifier.name in new
    ]
    # An association needs a column for X and another one for Y.
    if sum(meaning.name in old for meaning in meanings) < 2:
        raise InputError(
            "the earlier release", "must show two quasi-identifiers of the register", found="fewer"
        )
    found = mine(earlier, meanings, support=support, confidence=confidence, longest=longest)
    sets = refined_sets(file, meanings, found)
    everywhere = np.ones(file.classes, dtype=np.bool_)
    narrowed = with_sets(file, meanings, sets, everywhere)
    nobody = find_candidates(narrowed, knowledge).of_class == 0
    if nobody.any():
        narrowed = with_sets(file, meanings, sets, ~nobody)
    candidates = find_candidates(narrowed, knowledge)
    changed = [
        column.codes[file.first_row] != new[column.name].codes[file.first_row]
        if column.name in new
        # The first cell of an added column is anything: every other one is narrower.
        else column.codes[file.first_row] > 0
        for column in narrowed.quasi_identifiers
    ]
    return Refined(
        guesses=exact_free(narrowed, knowledge, candidates, rng),
        candidates=candidates,
        file=narrowed,
        associations=found,
        columns=tuple(meaning.name for meaning in meanings),
        refined=int(np.any(changed, axis=0).sum()),
    )
