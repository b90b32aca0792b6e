"""How well one column tells another, and which columns therefore give away what a release hides.

A release hides quasi-identifiers and the person. A column beside them that says the same in other
words takes that back: a year of birth beside an age, a note that names the age, a digest of the
id, a house number. Every release is asked about before it is made.

The measures look neither at where a record stands, nor at what a value is; numbers are looked at by
rank alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.schema import Kind
from sfumato.table import sources
from sfumato.table.table import MISSING, CodedColumn, Table

LOOKED_AT = 20_000
"""Records on which columns are held against each other."""
TELLS = 0.5
"""Share from which a dependence is worth a line."""


@dataclass(frozen=True)
class Dependence:
    """One column that tells another.

    Attributes
    ----------
    by, of
        The column that tells, and the one that is told.
    share
        Of what is not known about ``of``, the share that ``by`` tells; 1 is everything.
    exceptions
        Records whose value is not the most frequent one of their value of ``by``.
    copy
        Whether each column tells the other one without exception.
    """

    by: str
    of: str
    share: float
    exceptions: int
    copy: bool


def codes_of(column: pa.ChunkedArray | pa.Array) -> sources.Ints:
    """A column as codes by first appearance, -1 for missing."""
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = values
    if not pa.types.is_dictionary(values.type):
        encoded = values.dictionary_encode()
    codes = sources.as_numpy(encoded.indices).astype(np.int64)
    codes[sources.flags(pc.is_null(values, nan_is_null=True))] = MISSING
    return codes


def tells(by: sources.Ints, of: sources.Ints) -> float:
    """How much better a value is guessed from that of another column than without it.

    Goodman and Kruskal's tau (J Am Stat Assoc 1954;49:732, section 5.4), of records that have both
    values, with each record's own value left out of what is known about its class: a column that is
    different in every record tells nothing by that. 0 where there is nothing to tell.

    Parameters
    ----------
    by, of
        Codes, -1 for missing; shape (records,).

    Returns
    -------
    float
        0, as good as chance, to 1: no exception. A class of one record tells nothing.
    """
    known = (by >= 0) & (of >= 0)
    by, of = by[known], of[known]
    if len(of) < 2:
        return 0.0
    total = len(of)
    overall = np.bincount(of).astype(np.float64)
    # Chance that another record has the same value: without, then within the classes.
    without = float((overall * (overall - 1)).sum()) / (total * (total - 1.0))
    if without >= 1.0:
        return 0.0
    pairs = np.unique(by * (of.max() + 1) + of, return_counts=True)[1].astype(np.float64)
    sizes = np.bincount(by).astype(np.float64)
    sizes = sizes[sizes > 0]
    repeated = sizes[sizes > 1]
    # Each record as much as any other: within its class, the share of the others that agree.
    within_pairs = _agreeing(by, of, pairs)
    single = float((sizes == 1).sum())
    agree = (within_pairs + single * without) / total
    if not len(repeated):
        return 0.0
    return float(max(0.0, (agree - without) / (1.0 - without)))


def _agreeing(by: sources.Ints, of: sources.Ints, counts: sources.Floats) -> float:
    """Sum over the records of classes of several of the share of the others that agree."""
    keys = np.unique(by * (of.max() + 1) + of)
    sizes = np.bincount(by).astype(np.float64)[keys // (of.max() + 1)]
    several = sizes > 1
    return float((counts[several] * (counts[several] - 1) / (sizes[several] - 1)).sum())


def exceptions(by: sources.Ints, of: sources.Ints) -> int:
    """Records whose value is not the most frequent one of their class; 0: ``by`` determines it.

    Parameters
    ----------
    by, of
        Codes, -1 for missing, which are left out; shape (records,).
    """
    known = (by >= 0) & (of >= 0)
    by, of = by[known], of[known]
    if not len(by):
        return 0
    width = int(of.max()) + 1
    pairs, counts = np.unique(by * width + of, return_counts=True)
    starts = np.flatnonzero(np.diff(pairs // width, prepend=-1))
    return len(by) - int(np.maximum.reduceat(counts, starts).sum())


def narrows(by: sources.Ints, of: sources.Ints) -> float:
    """How much nearer to each other the values of a column are where another column agrees.

    One minus the mean difference of ranks of two records of one class, over that of any two
    (Gini's mean difference within classes and overall). As `tells`, a class of one record tells
    nothing.

    Parameters
    ----------
    by
        Codes of the classes, -1 for missing; shape (records,).
    of
        Codes in the order of the values, -1 for missing; shape (records,).

    Returns
    -------
    float
        0, no nearer than any two records, to 1: equal.
    """
    known = (by >= 0) & (of >= 0)
    by, of = by[known], of[known]
    if len(of) < 2:
        return 0.0
    ranks = _mean_ranks(of)
    overall = _mean_difference(np.zeros(len(of), dtype=np.int64), ranks)[0]
    if overall == 0.0:
        return 0.0
    places = np.unique(by, return_inverse=True)[1]
    sizes = np.bincount(places)
    within = _mean_difference(places, ranks)
    within[sizes == 1] = overall
    return float(max(0.0, 1.0 - (within * sizes).sum() / len(of) / overall))


def _mean_difference(places: sources.Ints, ranks: sources.Floats) -> sources.Floats:
    """Mean absolute difference of the ranks of two records, for each class; 0 of one record."""
    order = np.lexsort((ranks, places))
    sizes = np.bincount(places)
    starts = np.cumsum(sizes) - sizes
    in_order = places[order]
    # The i-th smallest of m is above i others and below m - 1 - i.
    weights = 2.0 * (np.arange(len(order)) - starts[in_order]) - sizes[in_order] + 1.0
    sums = np.bincount(in_order, weights * ranks[order], minlength=len(sizes))
    pairs = np.maximum(sizes * (sizes - 1) / 2.0, 1.0)
    found: sources.Floats = sums / pairs
    return found


def neighbours(numbers: sources.Floats, least: int = 4) -> sources.Ints:
    """Codes of classes of at least ``least`` neighbouring numbers, equal ones together; NaN is -1.

    With them, what a measurement tells of another column is seen although all its values differ.
    """
    places = np.full(len(numbers), -1, dtype=np.int64)
    known = np.flatnonzero(~np.isnan(numbers))
    order = known[np.argsort(numbers[known], kind="stable")]
    in_order = numbers[order]
    firsts = np.searchsorted(in_order, in_order, side="left")
    places[order] = firsts // least
    return places


def _mean_ranks(codes: sources.Ints) -> sources.Floats:
    counts = np.bincount(codes)
    ends = np.cumsum(counts)
    means: sources.Floats = (ends - (counts - 1) / 2.0)[codes]
    return means


def dependences(columns: Mapping[str, sources.Ints], least: float = TELLS) -> Iterator[Dependence]:
    """The columns that tell another one, each pair both ways; O(columns² records log records).

    Parameters
    ----------
    columns
        Codes by name, -1 for missing, equally long; the first `LOOKED_AT` records are looked at.
    least
        Share from which a dependence is named.
    """
    looked_at = {name: codes[:LOOKED_AT] for name, codes in columns.items()}
    varying = {name: each for name, each in looked_at.items() if each.max(initial=-1) > 0}
    for by, first in varying.items():
        for of, second in varying.items():
            if by == of:
                continue
            share = tells(first, second)
            if share >= least:
                left = exceptions(first, second)
                copy = left == 0 and exceptions(second, first) == 0
                yield Dependence(by, of, share, left, copy)


def coded_rows(columns: Mapping[str, sources.Ints], names: list[str]) -> sources.Ints:
    """A number for each combination of values of some columns, a missing value as one of them."""
    rows = np.zeros(len(next(iter(columns.values()))), dtype=np.int64)
    for name in names:
        codes = columns[name] + 1
        rows = np.unique(rows * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
    return rows


PERSONS_LOOKED_AT = 10_000
"""Persons whose records are looked at, evenly spaced in the file."""
TEXTS_LOOKED_AT = 2_000
LEAST_PERSONS = 50
"""Of fewer, nothing can be said."""
GIVEN_AWAY = 0.8
"""Share of what is not known about a quasi-identifier from which it is given away."""
LARGE_CLASS = 20
"""Persons of a class in which whoever is public data is taken to be hidden (PRACTICE: 20)."""
ALONE, ALONE_UNREPEATED = 0.5, 0.9
"""Share of such a class from which its people are alone with their value: an attribute that is seen
to stay the same in a person's records, and what may be an attribute where nobody has several."""
MOST_EXCEPTIONS = 0.05
"""Largest share of the records in which an attribute of persons differs within one: who moved."""
NUMBERS_OF_TEXT = 3
"""So many numbers are read from each text, in their order."""
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NUMERAL = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"


@dataclass(frozen=True)
class ColumnLeak:
    """A column that gives away what a release is to hide.

    Attributes
    ----------
    column
        The column that is released as it is.
    of
        The quasi-identifier that it tells; ``None`` where it tells the person.
    how
        The mechanism, as the end of a sentence that begins with "it".
    share
        How much is given away, in [0, 1].
    """

    column: str
    of: str | None
    how: str
    share: float


def check_leaks(table: Table) -> Table:
    """The file, with a warning for each leak that somebody accepted.

    Raises
    ------
    InputError
        If a column that is released as it is gives away a quasi-identifier or the person, and
        nobody accepted that under ``[accepted]``.
    """
    found = {each.column: each for each in column_leaks(table)}
    accepted = table.schema.accepted
    open_ = [each for each in found.values() if each.column not in accepted]
    if open_:
        first, *others = open_
        also = "".join(f"; column '{each.column}': it {each.how}" for each in others)
        raise InputError(
            f"column '{first.column}'",
            "must not give away what the release hides",
            found=f"that it {first.how}{also}",
            accepted="columns that tell neither a quasi-identifier nor the person",
            advice="make it a quasi-identifier, coarsen it under [recipe], leave it out as a "
            "direct identifier, or say under [accepted] why it may go out: "
            f'{first.column} = "the reason"',
        )
    told = tuple(
        f"column '{name}' is released as it is, although it {each.how}; accepted: {accepted[name]}"
        for name, each in found.items()
    )
    return replace(table, warnings=(*told, *table.warnings)) if told else table


def column_leaks(table: Table) -> list[ColumnLeak]:
    """The columns that give away a quasi-identifier or the person, each by what it gives most.

    Looks at the first record of up to 10,000 persons, so that a value is not foretold from another
    record of its person. A quasi-identifier is given away where a column's values, their
    neighbours, or numbers and words within its texts tell at least 80 % of what is not known. An
    insensitive column tells the person where it is the same in all of a person's records, and most
    people of a class of 20 would be alone with their value. O(columns x quasi-identifiers x
    persons log persons) for those looked at.
    """
    sample = _Sample(table)
    if len(sample.first) < LEAST_PERSONS:
        return []
    found = []
    for name in (*table.schema.sensitive, *table.schema.insensitive):
        leaks = sorted(sample.leaks(name), key=lambda each: -each.share)
        found += leaks[:1]
    return found


class _Sample:
    """The records of some persons, and what a release hides about them."""

    def __init__(self, table: Table) -> None:
        self.table = table
        person = table.person
        step = -(-max(table.persons, 1) // PERSONS_LOOKED_AT)
        self.rows = np.flatnonzero(person % step == 0)
        self.person = person[self.rows] // step
        # Persons are numbered by their first record.
        seen = np.maximum.accumulate(self.person) if len(self.person) else self.person
        self.first = np.flatnonzero(np.diff(seen, prepend=-1) > 0)

    @cached_property
    def hidden(self) -> list[tuple[CodedColumn, sources.Ints]]:
        """The quasi-identifiers, with the code of each person."""
        rows = self.rows[self.first]
        return [(each, each.codes[rows].astype(np.int64)) for each in self.table.quasi_identifiers]

    def leaks(self, name: str) -> Iterator[ColumnLeak]:
        """What a column gives away, by each mechanism."""
        whole = self.table.source.column(name).take(sources.from_numpy(self.rows)).combine_chunks()
        if pa.types.is_dictionary(whole.type):
            whole = whole.dictionary_decode()
        column = whole.take(sources.from_numpy(self.first))
        groupings = [codes_of(column)]
        numbers = _numbers(column)
        if numbers is not None:
            groupings.append(neighbours(numbers))
        for quasi_identifier, codes in self.hidden:
            share = max(_told(each, codes, quasi_identifier.kind) for each in groupings)
            if share >= GIVEN_AWAY:
                how = f"tells '{quasi_identifier.name}' ({share:.0%} of what is not known)"
                yield ColumnLeak(name, quasi_identifier.name, how, share)
        if numbers is None and sources.is_text(column.type):
            yield from self._within_texts(name, column)
        if name in self.table.schema.insensitive:
            yield from self._persons(name, whole, groupings[0])

    def _within_texts(self, name: str, column: pa.Array) -> Iterator[ColumnLeak]:
        """What numbers and words in the texts tell."""
        step = -(-len(column) // TEXTS_LOOKED_AT)
        texts = [each or "" for each in column[::step].to_pylist()]
        found = [_NUMBER.findall(each) for each in texts]
        words = [_words(each) for each in texts]
        for quasi_identifier, every in self.hidden:
            codes = every[::step]
            labels = [
                _words(quasi_identifier.domain.label(code)) if code >= 0 else None for code in codes
            ]
            share = _held(words, labels)
            for place in range(NUMBERS_OF_TEXT):
                each = [float(one[place]) if len(one) > place else np.nan for one in found]
                grouping = neighbours(np.array(each))
                share = max(share, _told(grouping, codes, quasi_identifier.kind))
            if share >= GIVEN_AWAY:
                of = quasi_identifier.name
                how = f"holds '{of}' in its texts ({share:.0%} of what is not known)"
                yield ColumnLeak(name, of, how, share)

    def _persons(self, name: str, whole: pa.Array, codes: sources.Ints) -> Iterator[ColumnLeak]:
        """Whether an attribute of persons leaves most of them alone with their value."""
        sizes = np.bincount(self.person)
        several = sizes[self.person] > 1
        repeated = bool(several.any())
        if repeated:
            changes = exceptions(self.person[several].astype(np.int64), codes_of(whole)[several])
            if changes > MOST_EXCEPTIONS * several.sum():
                return
        elif _is_amount(whole):
            return
        counts = np.bincount(codes[codes >= 0]).astype(np.float64)
        known = counts.sum()
        if known < LEAST_PERSONS:
            return
        same = float((counts * (counts - 1.0)).sum() / (known * (known - 1.0)))
        alone = (1.0 - same) ** (LARGE_CLASS - 1) * known / len(self.first)
        if alone < (ALONE if repeated else ALONE_UNREPEATED):
            return
        how = f"leaves {alone:.0%} of the people of a class of {LARGE_CLASS} alone with their value"
        if np.count_nonzero(counts) >= (1.0 - MOST_EXCEPTIONS) * known:
            how = "is different for each person, as another id would be"
        within = "is the same in all records of a person, and " if repeated else ""
        yield ColumnLeak(name, None, within + how, alone)


def _told(by: sources.Ints, of: sources.Ints, kind: Kind) -> float:
    """What one column tells of a quasi-identifier: its value, or where in the order it is."""
    exact = tells(by, of)
    return exact if kind is Kind.CATEGORICAL else max(exact, narrows(by, of))


def _numbers(column: pa.Array) -> sources.Floats | None:
    """Numbers, dates as days or ticks, or texts that are numbers; ``None`` of anything else."""
    known = sources.flags(pc.is_valid(column))
    if sources.is_moment(column.type):
        column = column.cast(pa.int64() if pa.types.is_timestamp(column.type) else pa.int32())
    elif sources.is_text(column.type):
        column = pc.utf8_trim_whitespace(column)
        typed = sources.flags(pc.is_valid(column)) & sources.as_numpy(
            pc.match_substring_regex(column, _NUMERAL)
        )
        if typed.sum() < (1.0 - MOST_EXCEPTIONS) * known.sum() or not typed.any():
            return None
        known = typed
    elif not sources.is_number(column.type):
        return None
    numbers = np.full(len(column), np.nan)
    numbers[known] = sources.as_numpy(
        column.filter(sources.from_numpy(known)).cast(pa.float64(), safe=False)
    )
    return numbers


def _is_amount(column: pa.Array) -> bool:
    """Whether values are measured rather than given: most of them numbers that are not whole."""
    numbers = _numbers(column)
    return numbers is not None and bool(np.mean(numbers % 1.0 > 0.0) > ALONE)


def _words(text: str) -> frozenset[str]:
    """The words and numbers of a text, without their case and leading zeros."""
    return frozenset(each.casefold().lstrip("0") or "0" for each in _WORD.findall(text))


def _held(words: list[frozenset[str]], labels: list[frozenset[str] | None]) -> float:
    """How much more often texts hold the label of their own person than that of another one."""
    pairs = [(text, label) for text, label in zip(words, labels, strict=True) if label]
    if len(pairs) < LEAST_PERSONS:
        return 0.0
    own = sum(label <= text for text, label in pairs) / len(pairs)
    turn = len(pairs) // 2
    chance = np.mean(
        [a[1] <= b[0] for a, b in zip(pairs, pairs[turn:] + pairs[:turn], strict=True)]
    )
    return float((own - chance) / (1.0 - chance)) if chance < 1.0 else 0.0
