"""How well one column tells another, and which columns therefore give away what a release hides.

A release hides quasi-identifiers and the person. A column beside them that says the same in other
words takes that back: a year of birth beside an age, a note that names the age, a digest of the
id, a house number. Every release is asked about before it is made.

The measures do not look at what a value is; numbers are looked at by rank alone.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Floats, Ints
from sfumato.core.errors import InputError
from sfumato.core.number_text import percentage
from sfumato.schema import EventKind, Kind
from sfumato.table import foretelling, published_formulas, sources
from sfumato.table.foretelling import Cells, Hidden
from sfumato.table.table import (
    MISSING,
    NO_COLUMNS,
    CodedColumn,
    Codes,
    ColumnFigures,
    Domain,
    EventColumn,
    NumberDomain,
    Table,
)

_Held = TypeVar("_Held")
LOOKED_AT = 20_000
"""Records on which columns are held against each other."""
TELLS = 0.5
"""Share from which a dependence is worth a line."""


@dataclass(frozen=True)
class Dependence:
    """One column that tells another.

    Attributes
    ----------
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


def codes_of(column: pa.ChunkedArray | pa.Array) -> Ints:
    """A column as codes by first appearance, -1 for missing."""
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = values
    if not pa.types.is_dictionary(values.type):
        encoded = values.dictionary_encode()
    codes = sources.as_numpy(encoded.indices).astype(np.int64)
    # Columns of floats from dataframes have NaN where files have no value.
    codes[sources.flags(pc.is_null(values, nan_is_null=True))] = MISSING
    return codes


def tells(by: Ints, of: Ints) -> float:
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
    # A record that is alone in its class is guessed as well as without the class.
    agree = (within_pairs + single * without) / total
    if not len(repeated):
        return 0.0
    return float(max(0.0, (agree - without) / (1.0 - without)))


def _agreeing(by: Ints, of: Ints, counts: Floats) -> float:
    """Sum over the records of classes of several of the share of the others that agree."""
    keys = np.unique(by * (of.max() + 1) + of)
    sizes = np.bincount(by).astype(np.float64)[keys // (of.max() + 1)]
    several = sizes > 1
    return float((counts[several] * (counts[several] - 1) / (sizes[several] - 1)).sum())


def exceptions(by: Ints, of: Ints) -> int:
    """Records whose value is not the most frequent one of their class; 0: ``by`` determines it.

    Codes have shape (records,); those of -1, missing, are left out.
    """
    known = (by >= 0) & (of >= 0)
    by, of = by[known], of[known]
    if not len(by):
        return 0
    width = int(of.max()) + 1
    pairs, counts = np.unique(by * width + of, return_counts=True)
    starts = np.flatnonzero(np.diff(pairs // width, prepend=-1))
    return len(by) - int(np.maximum.reduceat(counts, starts).sum())


def narrows(by: Ints, of: Ints) -> float:
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
    # A record that is alone in its class counts as if there were no class.
    within[sizes == 1] = overall
    return float(max(0.0, 1.0 - (within * sizes).sum() / len(of) / overall))


def _mean_difference(places: Ints, ranks: Floats) -> Floats:
    """Mean absolute difference of the ranks of two records, for each class; 0 of one record."""
    order = np.lexsort((ranks, places))
    sizes = np.bincount(places)
    starts = np.cumsum(sizes) - sizes
    in_order = places[order]
    # The i-th smallest of m is above i others and below m - 1 - i.
    weights = 2.0 * (np.arange(len(order)) - starts[in_order]) - sizes[in_order] + 1.0
    sums = np.bincount(in_order, weights * ranks[order], minlength=len(sizes))
    pairs = np.maximum(sizes * (sizes - 1) / 2.0, 1.0)
    found: Floats = sums / pairs
    return found


def neighbours(numbers: Floats, least: int = 4) -> Ints:
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


def _mean_ranks(codes: Ints) -> Floats:
    counts = np.bincount(codes)
    ends = np.cumsum(counts)
    means: Floats = (ends - (counts - 1) / 2.0)[codes]
    return means


def dependences(columns: Mapping[str, Ints], least: float = TELLS) -> Iterator[Dependence]:
    """The columns that tell another one, each pair both ways; O(columns² records log records).

    Codes are equally long, -1 for missing; the first `LOOKED_AT` records are looked at. Shares
    below ``least`` are not named.
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


def coded_rows(columns: Mapping[str, Ints], names: list[str]) -> Ints:
    """A number for each combination of values of some columns, a missing value as one of them."""
    rows = np.zeros(len(next(iter(columns.values()))), dtype=np.int64)
    for name in names:
        codes = columns[name] + 1
        # Numbered anew after each column: the product of all sizes may exceed 64 bits.
        rows = np.unique(rows * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
    return rows


PERSONS_LOOKED_AT = 10_000
"""Persons whose records are looked at, evenly spaced in the file."""
TEXTS_LOOKED_AT = 2_000
"""Texts in which labels are looked for."""
TEXTS_READ = 200
"""Of whatever they may be read as fewer: of these a share of 80 % is seen to within 6 %."""
FEW_TEXTS = 25
"""Texts that are read first: a share below 60 % of them is none of 80 % in 98 of 100."""
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
DECIMALS, LEAST_DIGITS, ROUNDING = 9, 3, 1e-13
"""Decimal places that are looked at, digits from which a number is looked for in others, and the
share of a number that computing it adds."""
CENSORED = 0.6
"""Share of the texts of a column that are no numbers where the others are read as numbers: more
than half of healthy people have an eGFR of "more than 90"."""
MEASURED_AGAIN = 4_000
"""Persons on whom what was screened on few is measured again."""
REFERENCES = ("2005-07-01", "2010-07-01", "2015-07-01", "2020-07-01", "2025-07-01")
"""Days on which an age may have been counted where no column says: at most 3 years off, which is
less than `published_formulas.EXACT` of a filtration."""
DAYS = 365.25
"""Days of a year, by which an age is counted."""
PARTS_OF_DATES = {"weekday": "M8[W]", "day of the month": "M8[M]", "day of the year": "M8[Y]"}
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_DATE = r"^\d{4}-\d\d-\d\d$"
_MOMENT = r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?$"
_NUMERAL = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"


@dataclass(frozen=True)
class ColumnLeak:
    """What a column gives away of one thing that a release is to hide.

    Attributes
    ----------
    of
        The quasi-identifier that it tells; ``None`` where it tells the person, empty where it
        follows from quasi-identifiers.
    share
        How much is given away, in [0, 1].
    """

    column: str
    of: str | None
    how: str
    share: float
    stops: bool


def acceptances(figures: Sequence[ColumnFigures]) -> tuple[str, ...]:
    """What somebody accepted, a sentence each."""
    return tuple(figure.sentence() for figure in figures if figure.accepted)


def check_leaks(table: Table) -> Table:
    """The file, with what each of its columns gives away."""
    figures = column_figures(table)
    _refuse_leaks(
        {figure.column: figure.leak for figure in figures if figure.leak and not figure.accepted},
        "columns that do not tell a quasi-identifier or the person",
        "make it a quasi-identifier, coarsen it under [recipe]",
    )
    # Nothing behind this check needs direct identifiers, so that they are let go.
    return replace(table, column_figures=figures, identifiers=NO_COLUMNS)


def check_event_leaks(table: Table, withheld: Collection[str] = ()) -> None:
    """Refuse columns that tell what a promise about known events has written otherwise.

    A date of discharge gives away the date of admission that it lies a few days behind, the name
    of a diagnosis its code: columns that are no events go out as they are, if they go out.
    """
    schema = table.schema
    sample = _Sample(table, [event for event in table.events if event.domain is not None])
    if len(sample.first) < LEAST_PERSONS:
        return
    told = {}
    for name in (*schema.sensitive, *schema.insensitive):
        if name not in {*schema.events, *schema.accepted, *withheld}:
            leaks = [leak for leak in sample.told_by(name) if leak.stops]
            if leaks:
                told[name] = max(leaks, key=lambda each: each.share).how
    _refuse_leaks(
        told, "columns that tell no event of which a promise is made", "name it under [events]"
    )


def untested_events(table: Table) -> tuple[str, ...]:
    """That columns were not held against events, where there are too few persons."""
    said = "Whether other columns give away the events is untested: it takes"
    return () if table.persons >= LEAST_PERSONS else (f"{said} {LEAST_PERSONS} people to say so.",)


def _refuse_leaks(leaks: Mapping[str, str], accepted: str, advice: str) -> None:
    if not leaks:
        return
    (first, leak), *others = leaks.items()
    also = "".join(f"; column '{name}': it {how}" for name, how in others)
    raise InputError(
        f"column '{first}'",
        "must not give away what the release hides",
        found=f"that it {leak}{also}",
        accepted=accepted,
        advice=f"{advice}, leave it out as a direct identifier, or say under [accepted] why it may "
        f'go out: {first} = "the reason"',
    )


def column_figures(table: Table) -> tuple[ColumnFigures, ...]:
    """What each sensitive and insensitive column gives away, and by what it gives most.

    Looks at the first record of up to 10,000 persons, so that a value is not foretold from another
    record of its person. A quasi-identifier is given away where a column's values, their
    neighbours, or numbers and words within its texts tell at least 80 % of what is not known. An
    insensitive column tells the person where it is the same in all of a person's records, and most
    people of a class of 20 would be alone with their value. O(columns x (quasi-identifiers +
    sensitive columns) x persons log persons) for those looked at.
    """
    sample, schema = _Sample(table, table.quasi_identifiers), table.schema
    few = len(sample.first) < LEAST_PERSONS
    found = []
    for role, names in (("sensitive", schema.sensitive), ("insensitive", schema.insensitive)):
        for name in names:
            accepted = schema.accepted.get(name, "")
            if few:
                found.append(ColumnFigures(name, role, {}, {}, None, accepted=accepted))
                continue
            leaks, others = sample.leaks(name)
            tells = {of.name: 0.0 for of, _ in sample.hidden}
            for each in leaks:
                if each.of in tells:
                    tells[each.of] = max(tells[each.of], each.share)
            stopping = [leak for leak in leaks if leak.stops]
            how = max(stopping, key=lambda each: each.share).how if stopping else ""
            person = next((leak.share for leak in leaks if leak.of is None), 0.0)
            found.append(ColumnFigures(name, role, tells, others, person, how, accepted))
    if few:
        return tuple(found)
    plain = [each.column for each in found if not (each.leak or each.accepted)]
    # The last of equal keys stays in a dict: sorted, it is the leak of the largest share.
    more = {
        each.column: each for each in sorted(sample.foretold(plain), key=lambda each: each.share)
    }
    figures = [
        replace(each, leak=more[each.column].how) if each.column in more else each for each in found
    ]
    if schema.person in more:
        leak, accepted = more[schema.person], schema.accepted.get(schema.person, "")
        tells = {leak.of or "": leak.share}
        figures.append(ColumnFigures(schema.person, PERSON, tells, {}, None, leak.how, accepted))
    return tuple(figures)


def leaks_by_making(table: Table) -> list[ColumnLeak]:
    """What tells by what is made of it, of each insensitive column: a leak each, the largest."""
    sample, names = _Sample(table, table.quasi_identifiers), table.schema.insensitive
    if len(sample.first) < LEAST_PERSONS:
        return []
    found = [column_leak for name in names for column_leak in sample.held_in_texts(name)]
    held = {each.column for each in found}
    found += sample.foretold([name for name in names if name not in held])
    return [*{each.column: each for each in sorted(found, key=lambda each: each.share)}.values()]


PERSON = "person"
"""The role of the person column among the figures of the columns, where its counts give away."""
COUNTED = 50_000
"""Records of the classes in which is counted who is found."""


def found_with(
    figures: Sequence[ColumnFigures],
    columns: Mapping[str, pa.ChunkedArray | pa.Array],
    class_of: Codes,
    person: Codes,
) -> tuple[ColumnFigures, ...]:
    """The figures with who is found in the classes of a file, without and with each column.

    A person is taken to be known by one record of the class. Of large files every n-th class is
    counted in, so that there are about 50,000 records. O(columns x records log records) of those.
    """
    step = max(1, len(class_of) // COUNTED)
    # Whole classes: in a part of one, more people would seem to be alone with their value.
    rows = np.flatnonzero(class_of % step == 0)
    classes, persons = class_of[rows].astype(np.int64), person[rows].astype(np.int64)
    width = int(persons.max(initial=0)) + 1
    first = np.unique(classes * width + persons, return_index=True)[1]
    sizes = np.bincount(classes[first])[classes[first]]
    without = float(np.mean(1.0 / sizes))
    counted = []
    for figure in figures:
        if figure.role == PERSON:
            counted.append(figure)
            continue
        codes = codes_of(columns[figure.column].take(sources.from_numpy(rows)))
        groups = np.unique(classes * (codes.max() + 2) + codes + 1, return_inverse=True)[1]
        members = np.unique(groups * width + persons) // width
        alike = np.bincount(members)[groups[first]]
        # Who has no value is known by the class alone.
        alike = np.where(codes[first] == MISSING, sizes, alike)
        found, alone = float(np.mean(1.0 / alike)), float(np.mean(alike == 1))
        counted.append(replace(figure, without=without, found=found, alone=alone))
    return tuple(counted)


def order_tells(columns: Mapping[str, Codes], class_of: Codes) -> dict[str, float]:
    """How surely, of two records of a class, the later one has the larger value, or the smaller.

    Each record of the first half of a class beside the one half a class later; the share of such
    pairs in the order less that against it, of those that differ, all classes together (Goodman
    and Kruskal's gamma). 0 where fewer than 50 pairs differ.

    Parameters
    ----------
    columns
        Codes in the order of the values, -1 for missing, by name; shape (records,).
    class_of
        Class of each record, shape (records,).
    """
    order = np.argsort(class_of, kind="stable")
    sizes = np.bincount(class_of)
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # All pairs would take the square of the time. Half a class apart, a trend shows most.
    half = np.repeat((sizes + 1) // 2, sizes)
    earlier = np.flatnonzero(place + half < np.repeat(sizes, sizes))
    later = earlier + half[earlier]
    told = {}
    for name, codes in columns.items():
        one, other = codes[order[earlier]].astype(np.int64), codes[order[later]].astype(np.int64)
        signs = np.sign(other - one)[(one >= 0) & (other >= 0)]
        pairs = int(np.count_nonzero(signs))
        told[name] = float(abs(signs.sum()) / pairs) if pairs >= LEAST_PERSONS else 0.0
    return told


ORDER = "order"
"""The role of the order of the rows among the figures of the columns."""


def order_figures(table: Table, class_of: Codes) -> tuple[ColumnFigures, ...]:
    """What the order of the rows of a file gives away within classes; nothing where too little."""
    columns = {identifier.name: identifier.codes for identifier in table.quasi_identifiers}
    told = order_tells(columns, class_of)
    most = max(told, key=told.__getitem__, default="")
    if not most or told[most] < TELLS:
        return ()
    leak = f"tells '{most}' within classes ({percentage(told[most])} of its order)"
    return (ColumnFigures("order of the rows", ORDER, told, {}, None, leak),)


class _Sample:
    """The first records of some persons, and the columns that a release hides about them."""

    def __init__(self, table: Table, columns: Sequence[CodedColumn | EventColumn]) -> None:
        self.table, self.columns = table, columns
        self._counted: set[str] = set()
        self._read: dict[tuple[str, int], Cells | None] = {}
        whole = (table.source, table.identifiers)
        self._files = {name: each.column(name) for each in whole for name in each.column_names}
        person = table.person
        step = -(-max(table.persons, 1) // PERSONS_LOOKED_AT)
        self.rows = np.flatnonzero(person % step == 0)
        self.person = person[self.rows] // step
        # Persons are numbered by their first record.
        seen = np.maximum.accumulate(self.person) if len(self.person) else self.person
        self.first = np.flatnonzero(np.diff(seen, prepend=-1) > 0)

    @cached_property
    def hidden(self) -> list[tuple[CodedColumn | EventColumn, Ints]]:
        """The columns that are hidden, with the code of each person."""
        rows = self.rows[self.first]
        return [(column, column.codes[rows].astype(np.int64)) for column in self.columns]

    @cached_property
    def sensitive(self) -> list[tuple[CodedColumn, Kind, Ints]]:
        """The sensitive columns, numbers in their order, with the code of each person."""
        rows, found = self.rows[self.first], []
        for attribute in self.table.sensitive:
            codes = attribute.codes[rows].astype(np.int64)
            numbers = _numbers(self._column(attribute.name).take(sources.from_numpy(self.first)))
            if numbers is None:
                found.append((attribute, Kind.CATEGORICAL, codes))
                continue
            found.append((attribute, Kind.NUMERIC, _ranked(numbers)))
        return found

    @cached_property
    def _labels(self) -> list[list[frozenset[str] | None]]:
        return self._labels_of(TEXTS_LOOKED_AT)

    def _labels_of(self, most: int) -> list[list[frozenset[str] | None]]:
        """The words in each value of each column that is hidden; ``None`` where it is missing."""
        people, labels = self._people(most), []
        for of, codes in self.hidden:
            some, domain = codes[people].tolist(), _domain(of)
            words = {code: _words(domain.label(code)) for code in set(some) - {MISSING}}
            labels.append([words.get(code) for code in some])
        return labels

    @cached_property
    def _alike(self) -> list[tuple[str, Ints, Ints]]:
        """In what people are alike, or near, of what a release hides, and pairs of such people."""
        found = []
        for of, codes in self.hidden:
            name, domain = f"'{of.name}'", _domain(of)
            found += [(name, *_next_alike(codes)), (name, *_next_alike(codes, near=True))]
            if isinstance(domain, NumberDomain) and domain.unit != "number":
                for part, own in _parts_of_dates(domain, codes).items():
                    found.append((f"the {part} of {name}", *_next_alike(own)))
        for (one, left), (other, right) in combinations(self.hidden, 2):
            both = left * (int(right.max(initial=0)) + 1) + right
            both[(left < 0) | (right < 0)] = MISSING
            found.append((f"'{one.name}' and '{other.name}'", *_next_alike(both)))
        return found

    @cached_property
    def _terms(self) -> Floats:
        """What a formula may be made of: numbers, their logarithms, categories of few values."""
        found = [np.ones(len(self.first))]
        for of, codes in self.hidden:
            known, domain = codes >= 0, _domain(of)
            if isinstance(domain, NumberDomain):
                found.append(np.where(known, domain.points[codes], np.nan))
                if domain.points[0] > 0:
                    found.append(np.log(found[-1]))
            elif domain.size <= LARGE_CLASS:
                found += [
                    np.where(known, codes == place, np.nan) for place in range(1, domain.size)
                ]
        return np.column_stack(found)

    def _followed(self, name: str, column: pa.Array) -> Iterator[ColumnLeak]:
        """Whether the hidden columns tell this one: who knows them knows it, and has it besides.

        A region follows from a town, the sign of the zodiac from a date, a body mass index from
        height and weight.
        """
        numbers = _numbers(column)
        codes = codes_of(column) if numbers is None else _ranked(numbers)
        ranks = _mean_ranks(np.maximum(codes, 0))
        for words, left, right in self._alike:
            known = (codes[left] >= 0) & (codes[right] >= 0)
            one, other = left[known], right[known]
            counts = np.bincount(codes[one], minlength=1) / max(len(one), 1)
            differ = 1.0 - float(counts @ counts)
            # Of fewer, chance might do as much.
            if differ * len(one) < LEAST_PERSONS:
                continue
            # What alike people tell: 1 - P(differ | alike) / P(differ).
            share = 1.0 - float(np.mean(codes[one] != codes[other])) / differ
            if numbers is not None:
                apart = float(_mean_difference(np.zeros(len(one), dtype=np.int64), ranks[one])[0])
                share = max(share, 1.0 - float(np.mean(np.abs(ranks[one] - ranks[other]))) / apart)
            if share >= 1.0 - MOST_EXCEPTIONS:
                yield ColumnLeak(name, "", f"follows from {words}", share, True)
                return
        share = 0.0 if numbers is None else _fitted(self._terms, numbers)
        if share >= 1.0 - MOST_EXCEPTIONS:
            yield ColumnLeak(name, "", "follows from quasi-identifiers by a formula", share, True)

    def _column(self, name: str) -> pa.Array:
        """The cells of a column in the records that are looked at."""
        whole = self._files[name].take(sources.from_numpy(self.rows)).combine_chunks()
        return _dated(whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole)

    def leaks(self, name: str) -> tuple[list[ColumnLeak], dict[str, float]]:
        """What a column gives away, by each mechanism, and what it tells of sensitive ones."""
        whole = self._column(name)
        groupings = _groupings(whole.take(sources.from_numpy(self.first)))
        others = {
            of.name: max(_told(grouping, codes, kind) for grouping in groupings)
            for of, kind, codes in self.sensitive
            if of.name != name
        }
        column = whole.take(sources.from_numpy(self.first))
        found = [*self.told_by(name), *self._persons(name, whole, groupings[0])]
        found += self.held_in_texts(name)
        if not any(each.stops for each in found):
            found += self._followed(name, column)
        return found, others

    def told_by(self, name: str) -> Iterator[ColumnLeak]:
        """What a column tells of each one that is hidden, as a whole and within its texts."""
        column = self._column(name).take(sources.from_numpy(self.first))
        groupings = _groupings(column)
        for of, codes in self.hidden:
            share = max(_told(grouping, codes, _kind(of)) for grouping in groupings)
            how = f"tells '{of.name}' {of_unknown(share)}"
            yield ColumnLeak(name, of.name, how, share, share >= GIVEN_AWAY)
        if len(groupings) == 1 and sources.is_text(column.type):
            yield from self._within_texts(name, column)
        for way, codes_by in _ways_of_writing(column):
            for of, codes in self.hidden:
                share = _told(codes_by, codes, _kind(of))
                if share >= GIVEN_AWAY:
                    how = f"tells '{of.name}' by {way} {of_unknown(share)}"
                    yield ColumnLeak(name, of.name, how, share, True)

    def _within_texts(self, name: str, column: pa.Array) -> Iterator[ColumnLeak]:
        """What numbers and words in the texts tell."""
        step = -(-len(column) // TEXTS_LOOKED_AT)
        texts = [each or "" for each in column[::step].to_pylist()]
        found = [_NUMBER.findall(text) for text in texts]
        numbers = [
            neighbours(np.array([float(one[at]) if len(one) > at else np.nan for one in found]))
            for at in range(min(max(map(len, found)), NUMBERS_OF_TEXT))
        ]
        words = [_words(text) for text in texts]
        for (of, codes), labels in zip(self.hidden, self._labels, strict=True):
            share = _held(words, labels, frozenset.issubset)
            told = (_told(number, codes[::step], _kind(of)) for number in numbers)
            share = max(share, *told, 0.0)
            how = f"holds '{of.name}' in its texts {of_unknown(share)}"
            yield ColumnLeak(name, of.name, how, share, share >= GIVEN_AWAY)

    def held_in_texts(self, name: str) -> Iterator[ColumnLeak]:
        """Whether what cells are read as holds a direct identifier, or a label that is hidden."""
        cells = self._cells(name, self._people(TEXTS_READ))
        if cells is None:
            return
        for way, texts in cells.readings:
            # Labels in texts as they are: `told_by`.
            wanted = [each for each in self._wanted if way or each[1] is None]
            for step in (len(texts) // FEW_TEXTS or 1, 1):
                shown = {
                    form: [read(text or "") for text in texts[::step]]
                    for form, (read, _) in HELD.items()
                    if any(each[2] == form for each in wanted)
                }
                wanted = [
                    (of, hidden, form, labels)
                    for of, hidden, form, labels in wanted
                    if _own(shown[form], labels[::step], HELD[form][1]) >= foretelling.PROMISING
                ]
            for of, hidden, form, labels in wanted:
                share = _held(shown[form], labels, HELD[form][1])
                if share >= GIVEN_AWAY:
                    how = f"holds {form} '{of}'{', ' if way else ''}{way}"
                    yield ColumnLeak(name, hidden, how, share, True)
        for of, texts in self._identifiers.items():
            share = foretelling.hashed(cells.firsts, texts)
            if share >= GIVEN_AWAY:
                yield ColumnLeak(name, None, f"holds a hash of '{of}'", share, True)

    @cached_property
    def _identifiers(self) -> dict[str, list[str]]:
        """Person, household and direct identifiers by which people would be alone in a class."""
        schema, people = self.table.schema, self._people(TEXTS_READ)
        identifiers = {}
        for of in dict.fromkeys((*schema.direct_identifiers, schema.person, schema.household)):
            if of in self._files and (cells := self._cells(of or "", people)):
                codes = foretelling.numbered(cells.texts).astype(np.int64)
                first = codes[cells.starts]
                sizes = np.diff(cells.starts, append=len(codes))
                differ = float(np.mean(codes != np.repeat(first, sizes)))
                # Numbers of records, as those of visits, are no person's.
                if differ <= MOST_EXCEPTIONS and _alone(first[first >= 0]) >= ALONE:
                    identifiers[of or ""] = [each or "" for each in cells.firsts]
        return identifiers

    @cached_property
    def _wanted(self) -> list[tuple[str, str | None, str, list[Any]]]:
        """What texts may hold: name, what is hidden, the form, and the label of each person."""
        found: list[tuple[str, str | None, str, list[Any]]] = [
            (of.name, of.name, WORDS, labels)
            for (of, _), labels in zip(self.hidden, self._labels_of(TEXTS_READ), strict=True)
        ]
        for of, texts in self._identifiers.items():
            found += [
                (of, None, form, [read(each) for each in texts]) for form, (read, _) in HELD.items()
            ]
        return found

    def foretold(self, names: Sequence[str]) -> Iterator[ColumnLeak]:
        """What is foretold by something made of columns that tell nothing as they are.

        Of one column and of the number of records first, then of two, then of several: what tells
        by itself is no part of what is told together.
        """
        if not self.targets:
            return
        told: set[str] = set()
        for stage in (self._by_counts, self._by_one, self._by_two, self._by_several):
            for leak in stage([name for name in names if name not in told]):
                told.add(leak.column)
                yield leak
            if stage == self._by_one and self._counted:
                # What is made of all records follows their number, which is said already.
                return

    @cached_property
    def targets(self) -> list[Hidden]:
        """What is foretold: the hidden columns, parts of hidden dates, numbers that identify."""
        found = []
        for of, codes in self.hidden:
            found.append(Hidden(of.name, f"'{of.name}'", codes, _kind(of) is not Kind.CATEGORICAL))
            domain = _domain(of)
            if isinstance(domain, NumberDomain) and domain.unit != "number":
                found += [
                    Hidden(of.name, f"the {part} of '{of.name}'", own, ordered=False)
                    for part, own in _parts_of_dates(domain, codes).items()
                ]
        everybody = self._people(len(self.first))
        for name in self._identifiers:
            cells = self._cells(name, everybody)
            digits = [_digits(each or "") for each in cells.firsts] if cells else []
            numbers = np.array([float(digit[: sys.float_info.dig] or "nan") for digit in digits])
            # Smaller ones might be the places of people in some order.
            if (numbers > MEASURED_AGAIN).mean() > ALONE:
                found.append(
                    Hidden(None, f"'{name}'", _ranked(numbers), ordered=True, numbers=numbers)
                )
        return found

    @cached_property
    def _screen(self) -> foretelling.Screen:
        return foretelling.Screen(self.targets)

    def _people(self, most: int) -> Ints:
        """Some of the persons, evenly spaced."""
        return np.arange(0, len(self.first), -(-len(self.first) // most))

    def _cells(self, name: str, people: Ints) -> Cells | None:
        """All cells of a column of some persons; ``None`` of what is no text, number or date."""
        key = name, len(people)
        if key not in self._read:
            self._read[key] = self._cells_of(name, people)
        return self._read[key]

    def _cells_of(self, name: str, people: Ints) -> Cells | None:
        at = np.full(len(self.first), -1)
        at[people] = np.arange(len(people))
        place = at[self.person]
        rows = np.flatnonzero(place >= 0)
        rows = rows[np.argsort(place[rows], kind="stable")]
        column = self._column(name).take(sources.from_numpy(rows))
        kind, dates = column.type, sources.is_moment(column.type)
        known = (sources.is_text(kind), sources.is_number(kind), dates, pa.types.is_boolean(kind))
        if not any(known):
            return None
        starts = np.flatnonzero(np.diff(place[rows], prepend=-1))
        numbers = _numbers(column.cast(pa.timestamp("us")) if dates else column, CENSORED)
        if dates and numbers is not None:
            numbers = numbers / 86_400e6
        if numbers is not None:
            numbers[~np.isfinite(numbers)] = np.nan
        return Cells(numbers, column.cast(pa.string()).to_pylist(), starts, dates)

    def _again(self, target: Hidden, people: Ints, values: Floats) -> float:
        """What a number of each of some persons tells of what is hidden."""
        if target.numbers is not None:
            return float(np.mean(np.isclose(values, target.numbers[people])))
        kind = Kind.NUMERIC if target.ordered else Kind.CATEGORICAL
        codes = target.codes[people]
        return max(_told(each, codes, kind) for each in (_ranked(values), neighbours(values)))

    def _by_one(self, names: Sequence[str]) -> Iterator[ColumnLeak]:
        """What is told by something made of one column, or of the number of records."""
        screen, more = self._screen, self._people(MEASURED_AGAIN)
        few = screen.people
        for name in names:
            cells = self._cells(name, few)
            if cells is None:
                continue
            for made, where in (("of_records", ""), ("of_people", " in a person's records")):
                for target, way, _ in screen.promising(getattr(cells, made)):
                    # Sums over a person's records grow with their number, which is named already.
                    if where and target.words in self._counted:
                        continue
                    again = getattr(self._cells(name, more), made)[way]
                    share = self._again(self._of(target), more, again)
                    if share >= GIVEN_AWAY:
                        said = f"tells {target.words} by its {way}{where}"
                        how = f"{said} {of_unknown(share)}"
                        yield ColumnLeak(name, target.of, how, share, True)

    def _by_counts(self, names: Sequence[str]) -> Iterator[ColumnLeak]:
        """What the number of records tells, with which every column goes: said of the person."""
        person, screen, more = self.table.schema.person, self._screen, self._people(MEASURED_AGAIN)
        if person is None or not names:
            return
        counts = np.bincount(self.person).astype(np.float64)
        for target, way, _ in screen.promising(foretelling.of_counts(counts[screen.people])):
            share = self._again(self._of(target), more, foretelling.of_counts(counts[more])[way])
            if share >= GIVEN_AWAY:
                self._counted.add(target.words)
                how = f"tells {target.words} by the {way} {of_unknown(share)}"
                yield ColumnLeak(person, target.of, how, share, True)

    def _of(self, some: Hidden) -> Hidden:
        """The target of all persons that some are of."""
        return next(target for target in self.targets if target.words == some.words)

    def _by_two(self, names: Sequence[str]) -> Iterator[ColumnLeak]:
        """What two columns of numbers tell by their sum, difference, exclusive or and the like."""
        screen, more = self._screen, self._people(MEASURED_AGAIN)
        few = screen.people
        read = {name: self._cells(name, few) for name in names}
        numbers = {name: each for name, each in read.items() if each and each.numbers is not None}
        for (one, left), (other, right) in combinations(
            list(numbers.items())[: foretelling.COLUMNS], 2
        ):
            for target, way, _ in screen.promising(foretelling.of_pair(left, right)):
                again = [self._cells(each, more) for each in (one, other)]
                made = foretelling.of_pair(*[each for each in again if each is not None])
                share = self._again(self._of(target), more, made[way])
                if share >= GIVEN_AWAY:
                    yield from _told_together(target, (one, other), f"their {way}", share)

    def _by_several(self, names: Sequence[str]) -> Iterator[ColumnLeak]:
        """What several columns tell: signs and values that are joined, formulas, fitted sums."""
        screen, more = self._screen, self._people(MEASURED_AGAIN)
        few = screen.people
        read = {name: each for name in names if (each := self._cells(name, few)) is not None}
        for target, ways in screen.joined(foretelling.joinable(read)):
            columns = tuple(name for name in read if any(name == way[0] for way in ways))
            again = {name: each for name in columns if (each := self._cells(name, more))}
            codes = foretelling.joined_codes(foretelling.joinable(again), ways)
            share = self._again(self._of(target), more, codes.astype(np.float64))
            if share >= GIVEN_AWAY:
                words = "joined parts of its cells" if len(columns) == 1 else "parts of their cells"
                yield from _told_together(target, columns, words, share)
        yield from self._by_formula(names)

    def _by_formula(self, names: Sequence[str]) -> Iterator[ColumnLeak]:
        people = self._people(published_formulas.FITTED)
        shown = {name: each for name in names if (each := self._cells(name, people)) is not None}
        hidden = self._quantities(people, shown)
        seen = []
        for name, cells in shown.items():
            numbers = None if cells.numbers is None or cells.dates else cells.numbers[cells.starts]
            if numbers is None:
                numbers = _two_values(foretelling.numbered(cells.firsts).astype(np.int64))
            seen.append(published_formulas.Quantity(name, numbers))
        if not shown:
            return
        for target, columns, formula, values in published_formulas.by_published(seen, hidden):
            share = self._again(self._of(target), people, values)
            if share >= GIVEN_AWAY:
                yield from _told_together(target, columns, f"the formula of {formula}", share)
        beside = [
            codes[people] for of, codes in self.hidden
            if not isinstance(_domain(of), NumberDomain) and _domain(of).size <= LARGE_CLASS
        ]  # fmt: skip
        wanted = [
            (target.some(people), _points(of, codes[people]))
            for of, codes in self.hidden
            for target in self.targets
            if target.words == f"'{of.name}'"
        ]
        found = published_formulas.by_fit(
            shown, beside, wanted,
            lambda values, target: self._again(self._of(target), people, values), GIVEN_AWAY,
        )  # fmt: skip
        for target, columns, share in found:
            yield from _told_together(target, columns, "a sum of terms", share)

    def _quantities(
        self, people: Ints, shown: Mapping[str, Cells]
    ) -> list[published_formulas.Quantity]:
        """The hidden columns as they may stand in a formula; births as ages."""
        quantities = []
        dated = [cells for cells in shown.values() if cells.dates]
        days = [each.numbers[each.starts] for each in dated if each.numbers is not None]
        days += [
            np.full(len(people), np.datetime64(reference, "D").astype(float))
            for reference in REFERENCES
        ]
        for of, every in self.hidden:
            codes, domain = every[people], _domain(of)
            target = self._of(Hidden(of.name, f"'{of.name}'", codes, ordered=False)).some(people)
            numbers = _points(of, codes)
            if numbers is None:
                numbers = _two_values(codes)
                quantities.append(published_formulas.Quantity(of.name, numbers, target))
                continue
            births = []
            if isinstance(domain, NumberDomain) and domain.unit != "number":
                births = [numbers / (86_400e6 if domain.unit == "datetime" else 1.0)]
            else:
                quantities.append(published_formulas.Quantity(of.name, numbers, target))
                if 1900 <= np.nanmedian(numbers) <= 2030:
                    # These are years of birth, of which the middle is half a year off at most.
                    births = [(numbers - 1970) * DAYS + DAYS / 2]
            for born in births:
                quantities += [
                    published_formulas.Quantity(of.name, (day - born) / DAYS, target)
                    for day in days
                ]
        return quantities

    def _persons(self, name: str, whole: pa.Array, codes: Ints) -> Iterator[ColumnLeak]:
        """Whether people are alone with their value, and it belongs to them."""
        known = codes[codes >= 0]
        if len(known) < LEAST_PERSONS:
            return
        alone = _alone(known) * len(known) / len(self.first)
        several = np.bincount(self.person)[self.person] > 1
        repeated = bool(several.any())
        if repeated:
            changes = exceptions(self.person[several].astype(np.int64), codes_of(whole)[several])
            own = changes <= MOST_EXCEPTIONS * several.sum()
        else:
            # Of one record each nobody sees whether a value stays: amounts are taken to change,
            # unless something small was added to them.
            own = not _is_amount(whole) or _has_further_digits(whole)
        how = (
            f"leaves {percentage(alone)} of the people of a class of {LARGE_CLASS} alone with "
            "their value"
        )
        if len(np.unique(known)) >= (1.0 - MOST_EXCEPTIONS) * len(known):
            how = "is different for each person, as another id would be"
        within = "is the same in all records of a person, and " if repeated else ""
        insensitive = name in self.table.schema.insensitive
        stops = insensitive and own and alone >= (ALONE if repeated else ALONE_UNREPEATED)
        yield ColumnLeak(name, None, within + how, alone, stops)


def _alone(codes: Ints) -> float:
    """Share of people who would be alone with their value in a large class."""
    counts = np.bincount(codes, minlength=1).astype(np.float64)
    same = float((counts * (counts - 1.0)).sum()) / max(len(codes) * (len(codes) - 1.0), 1.0)
    # Nobody else has the value: each of the 19 others differs with the chance of any two people.
    return (1.0 - same) ** (LARGE_CLASS - 1) if len(codes) > 1 else 0.0


def _groupings(column: pa.Array) -> list[Ints]:
    """Records that agree in a column; of numbers, those that are near each other as well."""
    numbers = _numbers(column)
    return [codes_of(column), *([] if numbers is None else [neighbours(numbers)])]


def _ways_of_writing(column: pa.Array) -> Iterator[tuple[str, Ints]]:
    """Records that agree in how, not what, is written: letters' case, blanks, decimals, gaps."""
    missing = sources.flags(pc.is_null(column, nan_is_null=True)).astype(np.int64)
    if missing.any() and not missing.all():
        yield "where it has no value", missing
    numbers = _numbers(column)
    if numbers is not None and (np.nan_to_num(numbers) % 1.0 != 0.0).any():
        yield "what follows the decimal point", neighbours(np.round(numbers % 1.0, DECIMALS))
    if sources.is_text(column.type) or sources.is_number(column.type):
        shape = column.cast(pa.string())
        for pattern, letter in ((r"\p{Lu}", "A"), (r"\p{Ll}", "a"), (r"\d", "9")):
            shape = pc.replace_substring_regex(shape, pattern, letter)
        yield "the way its values are written", codes_of(shape)


def _told_together(
    target: Hidden, columns: Sequence[str], how: str, share: float
) -> Iterator[ColumnLeak]:
    """A leak of each column that takes part."""
    for name in columns:
        others = [f"'{column}'" for column in columns if column != name]
        beside = f" together with {', '.join(others)}," if others else ""
        yield ColumnLeak(name, target.of, f"tells {target.words}{beside} by {how}", share, True)


def _two_values(codes: Ints) -> Floats:
    """0 and 1 of two values, the two commonest where others are rare; NaN of all else."""
    counts = np.bincount(codes[codes >= 0], minlength=2)
    common = np.sort(np.argsort(-counts, kind="stable")[:2])
    if counts[common].sum() < (1.0 - MOST_EXCEPTIONS) * counts.sum():
        return np.full(len(codes), np.nan)
    return np.where(codes == common[0], 0.0, np.where(codes == common[1], 1.0, np.nan))


def _points(column: CodedColumn | EventColumn, codes: Ints) -> Floats | None:
    """The number of each code, its place where there is only an order; ``None`` of categories."""
    if _kind(column) is Kind.CATEGORICAL:
        return None
    domain = _domain(column)
    if isinstance(domain, NumberDomain):
        points = domain.points / 10.0**domain.decimals if domain.unit == "number" else domain.points
        return np.where(codes >= 0, points[codes], np.nan)
    return np.where(codes >= 0, codes, np.nan).astype(np.float64)


def _parts_of_dates(domain: NumberDomain, codes: Ints) -> dict[str, Ints]:
    """Parts of dates, -1 for missing."""
    ticks = np.datetime64(0, "D" if domain.unit == "date" else "us")
    days = (ticks + domain.points).astype("M8[D]")
    months = days.astype("M8[M]")
    places = {part: days - days.astype(unit) for part, unit in PARTS_OF_DATES.items()}
    places |= {"year": days.astype("M8[Y]")}
    places |= {"month": months - months.astype("M8[Y]").astype("M8[M]")}
    return {
        part: np.where(codes >= 0, np.unique(place, return_inverse=True)[1][codes], MISSING)
        for part, place in places.items()
    }


def _domain(column: CodedColumn | EventColumn) -> Domain:
    assert column.domain is not None
    return column.domain


def _kind(column: CodedColumn | EventColumn) -> Kind:
    """How a column's values are compared: dates and amounts by their order."""
    if isinstance(column, CodedColumn):
        return column.kind
    ordered = column.event.kind in (EventKind.DATE, EventKind.AMOUNT)
    return Kind.NUMERIC if ordered else Kind.CATEGORICAL


def _told(by: Ints, of: Ints, kind: Kind) -> float:
    """What one column tells of another one: its value, or where in the order it is."""
    exact = tells(by, of)
    return exact if kind is Kind.CATEGORICAL else max(exact, narrows(by, of))


def _next_alike(codes: Ints, *, near: bool = False) -> tuple[Ints, Ints]:
    """Persons, and for each another one with the same code, or with the next one where near.

    Which of several is drawn: a file may be in the order of what is looked at.
    """
    order = np.random.default_rng(len(codes)).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    order = order[codes[order] >= 0]
    one, other = order[:-1], order[1:]
    same = near | (codes[one] == codes[other])
    return one[same], other[same]


def _ranked(numbers: Floats) -> Ints:
    """Codes in the order of the numbers, -1 for NaN."""
    codes = np.unique(numbers, return_inverse=True)[1]
    codes[np.isnan(numbers)] = MISSING
    return codes


def _fitted(terms: Floats, numbers: Floats) -> float:
    """How much less numbers, or their logarithms, scatter about a sum of terms than alone."""
    share = 0.0
    logarithms = np.log(numbers, where=numbers > 0, out=np.full(len(numbers), np.nan))
    for wanted in (numbers, logarithms):
        known = np.isfinite(wanted) & np.isfinite(terms).all(axis=1)
        own, by = wanted[known], terms[known]
        if len(own) < max(LEAST_PERSONS, NUMBERS_OF_TEXT * by.shape[1]) or np.ptp(own) == 0.0:
            continue
        # Least squares drops what is tiny beside the largest term, so that all terms get one size.
        by = by / np.maximum(np.abs(by).max(axis=0), 1.0)
        rest = own - by @ np.linalg.lstsq(by, own)[0]
        share = max(share, 1.0 - float(np.sqrt(rest @ rest / (len(own) - by.shape[1])) / own.std()))
    return share


def _dated(column: pa.Array) -> pa.Array:
    """Texts that are all dates, or moments, as such: those of a file are as those of a frame."""
    if sources.is_text(column.type) and len(column.drop_null()):
        for form, kind in ((_DATE, pa.date32()), (_MOMENT, pa.timestamp("us"))):
            if pc.all(pc.match_substring_regex(column, form)).as_py():
                with contextlib.suppress(pa.ArrowInvalid):
                    return column.cast(pa.timestamp("us")).cast(kind)
    return column


def _numbers(column: pa.Array, others: float = MOST_EXCEPTIONS) -> Floats | None:
    """Numbers, dates as days or ticks, or texts that are numbers; ``None`` of anything else.

    A share of the texts, ``others``, may be none, as ``>90`` is, and is NaN.
    """
    known = sources.flags(pc.is_valid(column))
    if sources.is_moment(column.type):
        column = column.cast(pa.int64() if pa.types.is_timestamp(column.type) else pa.int32())
    elif sources.is_text(column.type):
        column = pc.utf8_trim_whitespace(column)
        typed = sources.flags(pc.is_valid(column)) & sources.as_numpy(
            pc.match_substring_regex(column, _NUMERAL)
        )
        if typed.sum() < (1.0 - others) * known.sum() or not typed.any():
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


def _has_further_digits(column: pa.Array) -> bool:
    """Whether numbers are rounded, and something small is added to most of them."""
    numbers = _numbers(column)
    assert numbers is not None
    numbers = numbers[~np.isnan(numbers)]
    for decimals in range(5):
        rest = np.abs(numbers - np.round(numbers, decimals))
        added = rest > ROUNDING * np.maximum(np.abs(numbers), 1.0)
        small = rest < 10.0 ** -(decimals + 2)
        if added.mean() > ALONE and small.mean() > 1.0 - MOST_EXCEPTIONS:
            return True
    return False


def _words(text: str) -> frozenset[str]:
    """The words and numbers of a text, without their case and leading zeros."""
    return frozenset(each.casefold().lstrip("0") or "0" for each in _WORD.findall(text))


def _signs(text: str) -> str:
    """The letters and digits of a text."""
    return "".join(filter(str.isalnum, text.casefold()))


def _letters(text: str) -> str:
    """The same of a text that has letters."""
    signs = _signs(text)
    return "" if signs.isdecimal() else signs


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _holds_digits(wanted: str, digits: str) -> bool:
    short = wanted.lstrip("0")
    return wanted in digits or (len(short) >= LEAST_DIGITS and short in digits)


def _own(
    texts: Sequence[_Held], labels: Sequence[_Held | None], held: Callable[[_Held, _Held], bool]
) -> float:
    """How many texts hold the label of their person, of those that have one."""
    pairs = [(text, label) for text, label in zip(texts, labels, strict=True) if label]
    return sum(held(label, text) for text, label in pairs) / max(len(pairs), 1)


def _held(
    texts: Sequence[_Held], labels: Sequence[_Held | None], held: Callable[[_Held, _Held], bool]
) -> float:
    """How much more often texts hold the label of their own person than that of another one."""
    known = [place for place, label in enumerate(labels) if label]
    if len(known) < LEAST_PERSONS:
        return 0.0
    shown, own = [texts[each] for each in known], [labels[each] for each in known]
    turn = len(known) // 2
    # Not the next person's label: neighbours in a file may be of one family or of one day.
    chance = _own(shown, own[turn:] + own[:turn], held)
    return (_own(shown, own, held) - chance) / (1.0 - chance) if chance < 1.0 else 0.0


WORDS = "the words of"
HELD: dict[str, tuple[Callable[[str], Any], Callable[[Any, Any], bool]]] = {
    WORDS: (_words, frozenset.issubset),
    "the digits of": (_digits, _holds_digits),
    "the letters of": (_letters, lambda wanted, text: wanted in text),
}
"""How a text holds another one: what is read of both, and when one is in the other."""


def of_unknown(share: float) -> str:
    """How much is told; all of it only where it is all of it."""
    return f"({percentage(share)} of what is not known)"
