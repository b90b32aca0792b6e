"""Data that a reader may hold: who in it matches a tuple, at which levels enough do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sfumato.core.arrays import Bools, Bytes, Codes, Floats, Integers, Ints, Levels
from sfumato.core.declaration import Count
from sfumato.core.errors import InputError
from sfumato.hierarchies import ROOT, Hierarchy, build_hierarchy
from sfumato.hierarchies.hierarchy import steps_raised
from sfumato.kernels.record_pairs import key_individuals
from sfumato.schema import QuasiIdentifier
from sfumato.table.table import CodedColumn, NumberDomain, Table

# Keys stay below 2^62, so that a caller can double one and add 1 within 63 bits.
_LARGEST = 1 << 62


def shown_table(hierarchy: Hierarchy) -> Codes:
    """What each leaf is shown as at each level, as an index into ``labels[level]``.

    A missing value, in the last column, is a value of its own at every level but the root: a cell
    that shows nothing is matched by a missing value alone, and a missing value matches that cell
    and ``*`` alone. Its index is the length of the labels. Code -1 picks the last column. Shape
    (levels, leaves + 1).
    """
    missing = np.array([len(labels) for labels in hierarchy.labels], dtype=np.int32)
    # At the root a missing value looks like every other one.
    missing[-1] = 0
    return np.column_stack([hierarchy.ancestors, missing])


def packed_keys(tables: Sequence[Codes], vector: Sequence[int], *sides: Codes) -> tuple[Ints, ...]:
    """One integer per tuple: equal where the tuples show the same at these levels.

    Parameters
    ----------
    tables
        What `shown_table` gives for each quasi-identifier.
    sides
        Leaf tuples whose keys are comparable with each other; each of shape (tuples, QIs).

    Returns
    -------
    tuple
        The keys of each side, each of shape (tuples,), not negative.
    """
    keys = [np.zeros(len(codes), dtype=np.int64) for codes in sides]
    reach = 1
    for place, (table, level) in enumerate(zip(tables, vector, strict=True)):
        shown = table[level]
        radix = int(shown.max(initial=0)) + 1
        # All show the same here, as at a root, so nothing is told apart.
        if radix == 1:
            continue
        if reach * radix > _LARGEST:
            # Dense numbers tell the same tuples apart in fewer bits, so there is room to go on.
            keys, reach = _renumbered(keys)
        for side, codes in enumerate(sides):
            keys[side] *= radix
            keys[side] += shown[codes[:, place]]
        reach *= radix
    return tuple(keys)


def _renumbered(keys: Sequence[Ints]) -> tuple[list[Ints], int]:
    # All sides at once: keys of different sides must stay comparable.
    distinct, numbers = np.unique(np.concatenate(keys), return_inverse=True)
    ends = np.cumsum([len(key) for key in keys])[:-1]
    return [part.copy() for part in np.split(numbers.astype(np.int64), ends)], len(distinct)


def distinct_tuples(tables: Sequence[Codes], codes: Codes) -> tuple[Ints, Ints, Ints]:
    """Keys of the distinct tuples, where each stands first, and which of them each tuple is.

    Leaf codes have shape (tuples, hierarchies); the tables are of `shown_table`.
    """
    (keys,) = packed_keys(tables, [0] * len(tables), codes)
    return np.unique(keys, return_index=True, return_inverse=True)


def individuals_of_tuples(tuple_of: Ints, table: Table, tuples: int) -> Ints:
    """Number of persons with each tuple."""
    pairs = np.unique(tuple_of * np.int64(table.persons) + table.person)
    return np.bincount(pairs // table.persons, minlength=tuples)


@dataclass(frozen=True, eq=False)
class Local:
    """The distinct leaf tuples of a local data set, and the individuals who have them.

    Attributes
    ----------
    hierarchies
        The hierarchy of each; codes are indices into its leaves.
    codes
        Distinct leaf tuples, -1 for missing; shape (tuples, QIs).
    alone
        How many individuals have the tuple and no other; shape (tuples,).
    start, persons
        All individuals of each tuple: those of tuple ``t`` are
        ``persons[start[t]:start[t + 1]]``, ascending; shapes (tuples + 1,) and (pairs,).
    k
        How many individuals must match each linked tuple.
    informed
        Whether those alone count who would have been shown like it.
    """

    name: str
    quasi_identifiers: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...] = field(repr=False)
    codes: Codes = field(repr=False)
    alone: Ints = field(repr=False)
    start: Ints = field(repr=False)
    persons: Codes = field(repr=False)
    individuals: int
    k: int
    informed: bool = False

    @classmethod
    def from_codes(
        cls,
        name: str,
        quasi_identifiers: Sequence[str],
        hierarchies: Sequence[Hierarchy],
        codes: Codes,
        person: Integers | None = None,
        k: int = 1,
    ) -> Local:
        """Count the distinct tuples of some records.

        Parameters
        ----------
        codes
            Leaf codes of each record, -1 for missing; shape (records, QIs).
        person
            Number of the individual of each record, shape (records,); without it every record
            is an individual of its own.
        k
            How many individuals must match each linked tuple.
        """
        if len(hierarchies) != len(quasi_identifiers) or codes.shape[1] != len(hierarchies):
            raise InputError(
                f"local data '{name}'", "must have a hierarchy for every quasi-identifier"
            )
        numbers = np.arange(len(codes)) if person is None else person
        names, people = np.unique(numbers, return_inverse=True)
        _check_k(name, k, len(names))
        tables = tuple(shown_table(hierarchy) for hierarchy in hierarchies)
        distinct, first, tuple_of = distinct_tuples(tables, codes)
        # A person with several equal records is one individual of the tuple, hence distinct pairs.
        pairs = np.unique(tuple_of.astype(np.int64) * max(len(names), 1) + people)
        owners = (pairs % max(len(names), 1)).astype(np.int32)
        tuples = pairs // max(len(names), 1)
        several = np.bincount(owners, minlength=len(names)) > 1
        # Who has one tuple is counted by adding up; only the others must be told apart by name.
        alone = np.bincount(tuples[~several[owners]], minlength=len(distinct))
        start = np.searchsorted(tuples, np.arange(len(distinct) + 1))
        kept = np.asfortranarray(codes[first].astype(np.int32, copy=False))
        return cls(
            name,
            tuple(quasi_identifiers),
            tuple(hierarchies),
            kept,
            alone.astype(np.int64, copy=False),
            start.astype(np.int64, copy=False),
            owners,
            len(names),
            k,
        )

    @cached_property
    def tables(self) -> tuple[Codes, ...]:
        """What each leaf is shown as, per quasi-identifier; see `shown_table`."""
        return tuple(shown_table(hierarchy) for hierarchy in self.hierarchies)

    @cached_property
    def shared(self) -> tuple[Codes, Codes]:
        """Tuple and individual of those who have several tuples, ordered by individual."""
        tuples = np.repeat(np.arange(len(self.codes), dtype=np.int32), np.diff(self.start))
        often = np.bincount(self.persons, minlength=self.individuals) > 1
        kept = often[self.persons]
        tuples, persons = tuples[kept], self.persons[kept]
        # A person's tuples stand together, so the count sees at once which of them share a key.
        order = np.argsort(persons, kind="stable")
        return tuples[order], persons[order]


def _check_k(name: str, k: int, individuals: int) -> None:
    Count(1).check("parameter k", k)
    if k > individuals:
        raise InputError(
            "parameter k",
            f"must not be larger than the local data '{name}'",
            found=f"k = {k} and {individuals} people",
            advice="ask for a smaller k, or give the whole local data",
        )


def matches(local: Local, codes: Codes, levels: Integers) -> Ints:
    """Individuals of the local data who match each generalised tuple.

    An individual matches if one of its tuples shows the same as the generalised tuple in every
    quasi-identifier, at the levels of the generalised tuple. Individuals are counted, not
    records. A missing value matches a missing value and ``*`` alone.

    Takes O(V (local tuples) + tuples) for V distinct vectors of levels.

    Parameters
    ----------
    codes
        Leaf codes, one column per quasi-identifier of ``local``, -1 for missing; shape
        (tuples, QIs).
    levels
        Level that each value is shown at; shape (tuples, QIs).

    Returns
    -------
    numpy.ndarray
        Individuals, shape (tuples,).
    """
    found = np.zeros(len(codes), dtype=np.int64)
    if not len(codes):
        return found
    # Local tuples are packed once for each vector, and vectors are mostly fewer than tuples.
    vectors, of_vector = np.unique(levels, axis=0, return_inverse=True)
    order = np.argsort(of_vector.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(of_vector.ravel(), minlength=len(vectors)))
    for vector, rows in zip(vectors, np.split(order, ends[:-1]), strict=True):
        found[rows] = matches_at(local, codes[rows], vector.tolist())
    return found


def matches_at(local: Local, codes: Codes, vector: list[int]) -> Ints:
    """Individuals of the local data who match each tuple, shape (tuples,).

    All are shown at the same levels.
    """
    keys, asked = packed_keys(local.tables, vector, local.codes, codes)
    return key_individuals(keys, local.alone, *local.shared, asked)


def common_values(
    columns: Sequence[CodedColumn], quasi: QuasiIdentifier, *, flat: bool = False
) -> tuple[Hierarchy, list[Codes]]:
    """One hierarchy over the values of several columns, and their codes in it.

    Shape (records,) each. If ``flat``, without a hierarchy in the schema, ``*`` alone stands above
    the values.
    """
    name = columns[0].name
    if quasi.bottom is not None or quasi.top is not None:
        raise InputError(
            f"quasi-identifier '{name}'",
            "must not be top- or bottom-coded beside linkage anonymity",
            advice="code its ends in its hierarchy",
        )
    labels = _labels(columns)
    values = sorted({label for each in labels for label in each})
    if quasi.hierarchy is not None:
        hierarchy = build_hierarchy(quasi.hierarchy, values, name)
    elif flat:
        hierarchy = Hierarchy.from_columns(
            [values, [ROOT] * len(values)], f"the values of column '{name}'"
        )
    else:
        raise InputError(
            f"quasi-identifier '{name}'",
            "must have a hierarchy to be generalised for linkage anonymity",
            found="none in the schema",
            accepted="a file (.csv, .ttl), prefixes of codes, or intervals, under 'hierarchy'",
        )
    codes = []
    for column, own in zip(columns, labels, strict=True):
        # The -1 at the end is what code -1 picks, so missing stays missing.
        place = np.array([hierarchy.positions[label] for label in own] + [-1], dtype=np.int32)
        codes.append(place[column.codes])
    return hierarchy, codes


def _labels(columns: Sequence[CodedColumn]) -> list[list[str]]:
    """The printed values of each column's domain, alike where the values are."""
    numbers = [c.domain for c in columns if isinstance(c.domain, NumberDomain)]
    kinds = {domain.unit for domain in numbers}
    if len(kinds) > 1 or len(numbers) not in (0, len(columns)):
        raise InputError(
            f"quasi-identifier '{columns[0].name}'",
            "must hold values of one kind in all files",
            found=", ".join(sorted(kinds) + ["categories"] * (len(numbers) < len(columns))),
            advice="give it the same 'kind' in every schema",
        )
    if not numbers:
        return [[c.domain.label(code) for code in range(c.domain.size)] for c in columns]
    # Numbers are printed as finely as the finest file has them, so that 5 and 5.0 are one leaf.
    decimals = max(domain.decimals for domain in numbers)
    width = max(domain.width for domain in numbers)
    printer = NumberDomain(numbers[0].points[:0], decimals, numbers[0].unit, width)
    return [
        [
            printer.format(point * 10 ** (decimals - domain.decimals), decimals)
            for point in domain.points.tolist()
        ]
        for domain in numbers
    ]


def penalty_table(hierarchy: Hierarchy) -> Floats:
    """Normalised certainty penalty of each leaf at each level, in [0, 1].

    Shape (levels, leaves + 1). (Leaves below its ancestor - 1) / (leaves - 1); 0 where there
    is one leaf. A missing value, in the last column, loses nothing below the root and everything
    at it.
    """
    leaves = len(hierarchy.leaves)
    below = np.stack(
        [
            hierarchy.leaf_counts(level)[ancestors]
            for level, ancestors in enumerate(hierarchy.ancestors)
        ]
    )
    table = np.zeros((hierarchy.height + 1, leaves + 1))
    # A single leaf has nothing to lose; the maximum only keeps the division from failing.
    table[:, :leaves] = (below - 1) / max(leaves - 1, 1)
    table[-1, leaves] = 1.0 if leaves > 1 else 0.0
    return table


def certainty_penalties(
    codes: Codes,
    levels: Integers,
    hierarchies: Sequence[Hierarchy],
    weights: Sequence[float] | None = None,
) -> Floats:
    """Weighted mean of the certainty penalties of each tuple (NCP), in [0, 1].

    Parameters
    ----------
    codes
        Leaf codes, -1 for missing; shape (tuples, QIs).
    levels
        Level that each value is shown at; shape (tuples, QIs).
    weights
        The share of each, relative to the others; equal without them.

    Returns
    -------
    numpy.ndarray
        Shape (tuples,).
    """
    shares = normalised_weights(weights, len(hierarchies))
    total = np.zeros(len(codes))
    for place, (hierarchy, share) in enumerate(zip(hierarchies, shares, strict=True)):
        total += share * penalty_table(hierarchy)[levels[:, place], codes[:, place]]
    return total


def normalised_weights(weights: Sequence[float] | None, count: int) -> Floats:
    """Weights that add up to 1."""
    given = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    return given / given.sum() if count else given


def squared_errors(
    codes: Codes, levels: Integers, hierarchies: Sequence[Hierarchy], counts: Integers | None = None
) -> float:
    """SSE / SST of generalised tuples, in [0, 1] (paper 002, Eq. 4).

    The distance of a value is its levels raised / its levels from leaf to root, so that SST,
    where everything is at the root, is individuals x QIs. Levels at which a branch repeats its
    label are none.

    Parameters
    ----------
    codes
        Leaf codes, -1 for missing; shape (tuples, QIs).
    levels
        Level that each value is shown at; shape (tuples, QIs).
    counts
        Linked individuals of each tuple, shape (tuples,); 1 without them.
    """
    if not codes.size:
        return 0.0
    weights = np.ones(len(codes)) if counts is None else counts.astype(np.float64)
    total = 0.0
    for place, hierarchy in enumerate(hierarchies):
        raised = steps_raised(hierarchy)
        missing = (np.arange(len(raised)) == len(raised) - 1).astype(np.float64)
        # d of Eq. 4. A missing value has no steps: it is itself until the root hides it.
        share = np.column_stack([raised / np.maximum(raised[-1], 1), missing])
        total += float(weights @ share[levels[:, place], codes[:, place]] ** 2)
    return total / (float(weights.sum()) * len(hierarchies))


# A choice: each vector costs up to one pass over the local tuples.
MOST_VECTORS = 1_000_000
"""Vectors of levels that a search goes through at most."""
# Sums of weighted losses differ in the last bits by the order of adding; ties must survive that.
EQUAL = 1e-9
"""Losses that differ by less count as equal."""


def least_levels(
    codes: Codes,
    locals_: Sequence[Local],
    hierarchies: Sequence[Hierarchy],
    weights: Sequence[float] | None = None,
    quasi_identifiers: Sequence[str] | None = None,
) -> Levels:
    """Generalise each tuple as little as enough matching individuals allow.

    Of all vectors of levels at which every local data set has, on its own quasi-identifiers, at
    least ``k`` individuals who match the tuple (paper 002, Section 1), the one of least weighted
    NCP over the quasi-identifiers of the local data sets; of equal losses the one that leaves the
    first quasi-identifier at its lowest level, then the second, and so on. Quasi-identifiers in
    no local data set stay at level 0.

    The vectors are visited in ascending order of their mean loss, all tuples together: of the L
    vectors, one is skipped where it would not improve any tuple, and costs otherwise one count
    of the distinct local tuples. O(L (linked + local)) expected time for distinct tuples, and
    O(L + linked + local) memory; with several local data sets one bit more per distinct linked
    tuple, local data set and vector of its levels.

    Parameters
    ----------
    codes
        Leaf codes of the linked tuples, -1 for missing; shape (tuples, QIs).
    locals_
        The local data sets, each with its k.
    weights
        The share of each in loss, relative to the others; equal without them.
    quasi_identifiers
        The name of each column; without it those of the one local data set.

    Returns
    -------
    numpy.ndarray
        The level of each value, shape (tuples, QIs).
    """
    places = [_places(local, quasi_identifiers, hierarchies) for local in locals_]
    used = sorted({place for own in places for place in own})
    shown = [hierarchies[place] for place in used]
    levels = np.zeros(codes.shape, dtype=np.int8)
    if not used or not len(codes):
        return levels
    shape = tuple(hierarchy.height + 1 for hierarchy in shown)
    # As a floating number, since the product of integers may overflow and pass.
    if np.prod(shape, dtype=np.float64) > MOST_VECTORS:
        raise InputError(
            "the hierarchies of the linkage quasi-identifiers",
            f"must have at most {MOST_VECTORS:,} combinations of levels",
            found=f"{float(np.prod(shape, dtype=np.float64)):,.0f}",
            advice="use hierarchies with fewer levels, or fewer quasi-identifiers",
        )
    tables = [shown_table(hierarchy) for hierarchy in shown]
    _, first, tuple_of = distinct_tuples(tables, codes[:, used])
    tuples = np.asfortranarray(codes[first][:, used])
    given = np.ones(len(hierarchies)) if weights is None else np.asarray(weights)
    shares = normalised_weights(given[used].tolist(), len(used))
    losses = [share * penalty_table(each) for share, each in zip(shares, shown, strict=True)]
    checks = [
        _Check.of(local, tuples, [used.index(place) for place in own], len(locals_) > 1)
        for local, own in zip(locals_, places, strict=True)
    ]
    found = _search(tuples, losses, shape, checks)
    levels[:, used] = np.column_stack(np.unravel_index(found, shape))[tuple_of]
    return levels


def shown_alike(local: Local, levels: Integers) -> Ints:
    """Individuals of whom some tuple is shown like each tuple, all at levels of their own.

    Levels have shape (tuples, QIs), the answer (tuples,).
    """
    rows = np.arange(len(levels))
    # Levels are part of the key below: a label may stand at several levels.
    cells = [table[levels[:, q], local.codes[:, q]] for q, table in enumerate(local.tables)]
    shown = np.column_stack([*cells, *levels.T])
    _, number = np.unique(shown, axis=0, return_inverse=True)
    return _individuals(local, number.reshape(-1), rows)


def _individuals(local: Local, number: Ints, rows: Ints) -> Ints:
    """Individuals of some tuples who have a tuple of the same number; shape (rows,)."""
    of_tuple = np.full(len(local.codes), -1, dtype=np.int64)
    of_tuple[rows] = number
    numbers = np.repeat(of_tuple, np.diff(local.start))
    pairs = np.column_stack([numbers, local.persons])[numbers >= 0]
    return np.bincount(np.unique(pairs, axis=0)[:, 0])[number].astype(np.int64)


def alike_levels(local: Local, weights: Sequence[float] | None = None) -> Levels:
    """Levels at which at least k individuals are shown like each tuple of a local data set.

    They hang on the local data alone, so that a reader who finds them for everybody leaves out
    nobody who is shown like a tuple. Who has k others at the least levels (`least_levels`) stays
    there. The vectors of levels are gone through by their mean loss; at each of them those who are
    left and, with who is there already, are k or more, take it. Where fewer than k are left for
    the root, those who lose most are raised to it, too. O(vectors x tuples log tuples).

    Parameters
    ----------
    local
        The local data set, with its k.
    weights
        The share of each quasi-identifier in loss.

    Returns
    -------
    numpy.ndarray
        Shape (tuples, QIs).
    """
    levels = least_levels(local.codes, [local], local.hierarchies, weights)
    settled = shown_alike(local, levels) >= local.k
    shape = tuple(hierarchy.height + 1 for hierarchy in local.hierarchies)
    shares = normalised_weights(weights, len(shape))
    losses = [
        w * penalty_table(hierarchy) for w, hierarchy in zip(shares, local.hierarchies, strict=True)
    ]
    means = _sums([loss[:, local.codes[:, q]].mean(axis=1) for q, loss in enumerate(losses)])
    root = len(means) - 1
    rank = np.ravel_multi_index(tuple(levels.T.astype(np.int64)), shape)
    # Who is not settled is put at the root, so as to count at no vector before joining it.
    rank[~settled] = root
    for place in np.argsort(means, kind="stable").tolist():
        left = ~settled
        if place == root or not left.any():
            continue
        # Those who are at this vector already count towards the k of those who join.
        rows = np.flatnonzero(left | (rank == place))
        vector = [int(level) for level in np.unravel_index(place, shape)]
        (keys,) = packed_keys(local.tables, vector, local.codes[rows])
        number = np.unique(keys, return_inverse=True)[1].reshape(-1)
        joined = rows[left[rows] & (_individuals(local, number, rows) >= local.k)]
        rank[joined], settled[joined] = place, True
    _raise_to_root(local, rank, root, np.argsort(means, kind="stable")[::-1])
    return np.column_stack(np.unravel_index(rank, shape)).astype(np.int8)


def _raise_to_root(local: Local, rank: Ints, root: int, order: Ints) -> None:
    """Raise the tuples of one vector after another until k individuals or nobody are at the root.

    All of a vector's tuples are raised, so that none of its groups is left with fewer than k.
    """
    for each in order.tolist():
        there = np.flatnonzero(rank == root)
        if not len(there) or _individuals(local, 0 * there, there)[0] >= local.k:
            return
        rank[rank == each] = root


def _places(
    local: Local, names: Sequence[str] | None, hierarchies: Sequence[Hierarchy]
) -> list[int]:
    """The column of each quasi-identifier of a local data set."""
    columns = list(local.quasi_identifiers if names is None else names)
    for name, hierarchy in zip(local.quasi_identifiers, local.hierarchies, strict=True):
        if name not in columns or len(columns) != len(hierarchies):
            raise InputError(
                f"quasi-identifier '{name}' of local data '{local.name}'",
                "must be a column of the linked data",
            )
        other = hierarchies[columns.index(name)]
        # Codes are places among the leaves, so other leaves would match other values.
        if other is not hierarchy and other.leaves != hierarchy.leaves:
            raise InputError(
                f"quasi-identifier '{name}' of local data '{local.name}'",
                "must have the same hierarchy as in the linked data",
            )
    return [columns.index(name) for name in local.quasi_identifiers]


@dataclass
class _Check:
    """Whether enough individuals of one local data set match."""

    local: Local
    columns: list[int]
    tuples: Codes
    number: Ints
    remember: bool
    known: dict[tuple[int, ...], Bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, local: Local, tuples: Codes, columns: list[int], remember: bool) -> _Check:
        """With ``remember`` it decides once for all tuples that differ in its own columns."""
        # With one local file each vector is asked once, so remembering would only take memory.
        own = np.asfortranarray(tuples[:, columns])
        number = np.arange(len(tuples))
        if remember:
            _, first, number = distinct_tuples(local.tables, own)
            own = np.asfortranarray(own[first])
        return cls(local, columns, own, number, remember)

    def met(self, vector: Sequence[int], rows: Ints) -> Bools:
        """Whether at least k individuals match each of some tuples, shown at these levels."""
        own = tuple(vector[column] for column in self.columns)
        if not self.remember:
            counts = matches_at(self.local, self.tuples[rows], list(own))
            return counts >= self.local.k
        if own not in self.known:
            counts = matches_at(self.local, self.tuples, list(own))
            # Eight answers to the byte: there is one for each tuple at each vector.
            self.known[own] = np.packbits(counts >= self.local.k)
        enough = np.unpackbits(self.known[own], count=len(self.tuples)).astype(np.bool_)
        return enough[self.number[rows]]


def _search(
    tuples: Codes, losses: Sequence[Floats], shape: tuple[int, ...], checks: Sequence[_Check]
) -> Ints:
    """The flat index of the best vector of levels of each tuple, shape (tuples,).

    A vector comes behind all vectors below it, so that what lies above a vector that holds for a
    tuple costs as much or more and is not counted for it again.
    """
    columns = range(len(losses))
    means = _sums([loss[:, tuples[:, q]].mean(axis=1) for q, loss in enumerate(losses)])
    root = len(means) - 1
    best = np.full(len(tuples), root)
    cost = np.sum([loss[-1, tuples[:, q]] for q, loss in enumerate(losses)], axis=0)
    for rank in np.argsort(means, kind="stable").tolist():
        if rank == root:
            continue
        vector = [int(level) for level in np.unravel_index(rank, shape)]
        # This makes a copy, so that adding in place below leaves the table of losses as it is.
        here = losses[0][vector[0]][tuples[:, 0]]
        for q in columns[1:]:
            here += losses[q][vector[q]][tuples[:, q]]
        # The flat index goes by the first attribute's level, then the second's: so are ties broken.
        better = (here < cost - EQUAL) | ((here <= cost + EQUAL) & (rank < best))
        rows = np.flatnonzero(better)
        # Cheapest test first: a vector that improves nothing is never counted in the local data.
        for check in checks:
            if not len(rows):
                break
            rows = rows[check.met(vector, rows)]
        best[rows] = rank
        cost[rows] = here[rows]
    return best


def _sums(parts: Sequence[Floats]) -> Floats:
    """The sum of one entry of each part, for all combinations, the last part fastest."""
    total = np.zeros(1)
    for part in parts:
        total = (total[:, np.newaxis] + part).ravel()
    return total


@dataclass(frozen=True, eq=False)
class Linked:
    """What linkage anonymity works on.

    Attributes
    ----------
    hierarchies
        The hierarchy of each, over the values of the linked file and of the local data.
    weights
        The share of each in loss.
    codes
        Distinct leaf tuples, -1 for missing; shape (tuples, QIs).
    tuple_of
        The tuple of each linked record, shape (records,).
    individuals
        Linked individuals of each tuple, shape (tuples,).
    locals_
        The local data sets, each with the k that was asked for.
    """

    table: Table
    quasi_identifiers: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...] = field(repr=False)
    weights: tuple[float, ...]
    codes: Codes = field(repr=False)
    tuple_of: Ints = field(repr=False)
    individuals: Ints = field(repr=False)
    locals_: tuple[Local, ...]

    @classmethod
    def of(
        cls,
        table: Table,
        hierarchies: tuple[Hierarchy, ...],
        codes: Codes,
        locals_: tuple[Local, ...],
    ) -> Linked:
        """Gather the records, of leaf codes (records, QIs), that agree in all quasi-identifiers."""
        tables = [shown_table(hierarchy) for hierarchy in hierarchies]
        distinct, first, tuple_of = distinct_tuples(tables, codes)
        return cls(
            table,
            tuple(column.name for column in table.quasi_identifiers),
            hierarchies,
            tuple(column.weight for column in table.quasi_identifiers),
            np.asfortranarray(codes[first]),
            tuple_of,
            individuals_of_tuples(tuple_of, table, len(distinct)),
            locals_,
        )

    @property
    def linkage_columns(self) -> list[int]:
        """The columns of the quasi-identifiers that some local data set has."""
        names = {name for local in self.locals_ for name in local.quasi_identifiers}
        return [place for place, name in enumerate(self.quasi_identifiers) if name in names]

    @cached_property
    def hierarchy_of(self) -> dict[str, Hierarchy]:
        """The hierarchy of each quasi-identifier by its name."""
        return dict(zip(self.quasi_identifiers, self.hierarchies, strict=True))

    def losses(self, levels: Integers, columns: Sequence[int]) -> tuple[float, float]:
        """SSE/SST and mean weighted NCP over the individuals, of some quasi-identifiers.

        The levels of the tuples' values have shape (tuples, QIs).
        """
        codes, shown = self.codes[:, columns], levels[:, columns]
        hierarchies = [self.hierarchies[place] for place in columns]
        weights = [self.weights[place] for place in columns]
        loss = certainty_penalties(codes, shown, hierarchies, weights)
        return (
            squared_errors(codes, shown, hierarchies, self.individuals),
            float(np.average(loss, weights=self.individuals)) if len(loss) else 0.0,
        )

    def columns_of(self, local: Local) -> list[int]:
        """The columns of the quasi-identifiers of one local data set, in its order."""
        return [self.quasi_identifiers.index(name) for name in local.quasi_identifiers]

    def least_levels(self) -> Levels:
        """The levels of least loss at which enough local individuals match each tuple.

        Where the reader is informed, those at which enough are shown like it (`alike_levels`).
        Shape (tuples, QIs).
        """
        if not any(local.informed for local in self.locals_):
            return least_levels(
                self.codes, self.locals_, self.hierarchies, self.weights, self.quasi_identifiers
            )
        if len(self.locals_) > 1:
            raise InputError(
                "parameter informed",
                "must be left out beside several local data sets",
                found=f"{len(self.locals_)}",
                advice="release to the reader of one of them",
            )
        (local,) = self.locals_
        columns = self.columns_of(local)
        # Numbered together, so that a linked tuple takes the levels of the equal local one.
        both = np.concatenate([local.codes, self.codes[:, columns]])
        number = distinct_tuples(local.tables, both)[2]
        place = np.full(int(number.max(initial=0)) + 1, -1, dtype=np.int64)
        place[number[: len(local.codes)]] = np.arange(len(local.codes))
        found = place[number[len(local.codes) :]]
        if (found < 0).any():
            raise InputError(
                f"local data '{local.name}'",
                "must hold the values of every linked record where the reader is informed",
                found=f"combinations that it lacks: {int((found < 0).sum()):,}",
            )
        levels = np.zeros(self.codes.shape, dtype=np.int8)
        levels[:, columns] = alike_levels(local, [self.weights[q] for q in columns])[found]
        return levels
