"""What a column that is released as it is gives away: quasi-identifiers, or which person it is.

A release hides quasi-identifiers and the person. A column beside them that says the same in other
words takes that back: a year of birth beside an age, a note that names the age, a digest of the
id, a house number. Every release is asked about before it is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.schema import Kind
from sfumato.table.dependence import codes_of, exceptions, narrows, neighbours, tells
from sfumato.table.sources import (
    Floats,
    Ints,
    as_numpy,
    flags,
    from_numpy,
    is_moment,
    is_number,
    is_text,
)
from sfumato.table.table import CodedColumn, Table

LOOKED_AT = 10_000
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
        step = -(-max(table.persons, 1) // LOOKED_AT)
        self.rows = np.flatnonzero(person % step == 0)
        self.person = person[self.rows] // step
        # Persons are numbered by their first record.
        seen = np.maximum.accumulate(self.person) if len(self.person) else self.person
        self.first = np.flatnonzero(np.diff(seen, prepend=-1) > 0)

    @cached_property
    def hidden(self) -> list[tuple[CodedColumn, Ints]]:
        """The quasi-identifiers, with the code of each person."""
        rows = self.rows[self.first]
        return [(each, each.codes[rows].astype(np.int64)) for each in self.table.quasi_identifiers]

    def leaks(self, name: str) -> Iterator[ColumnLeak]:
        """What a column gives away, by each mechanism."""
        whole = self.table.source.column(name).take(from_numpy(self.rows)).combine_chunks()
        if pa.types.is_dictionary(whole.type):
            whole = whole.dictionary_decode()
        column = whole.take(from_numpy(self.first))
        groupings = [codes_of(column)]
        numbers = _numbers(column)
        if numbers is not None:
            groupings.append(neighbours(numbers))
        for quasi_identifier, codes in self.hidden:
            share = max(_told(each, codes, quasi_identifier.kind) for each in groupings)
            if share >= GIVEN_AWAY:
                how = f"tells '{quasi_identifier.name}' ({share:.0%} of what is not known)"
                yield ColumnLeak(name, quasi_identifier.name, how, share)
        if numbers is None and is_text(column.type):
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

    def _persons(self, name: str, whole: pa.Array, codes: Ints) -> Iterator[ColumnLeak]:
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


def _told(by: Ints, of: Ints, kind: Kind) -> float:
    """What one column tells of a quasi-identifier: its value, or where in the order it is."""
    exact = tells(by, of)
    return exact if kind is Kind.CATEGORICAL else max(exact, narrows(by, of))


def _numbers(column: pa.Array) -> Floats | None:
    """Numbers, dates as days or ticks, or texts that are numbers; ``None`` of anything else."""
    known = flags(pc.is_valid(column))
    if is_moment(column.type):
        column = column.cast(pa.int64() if pa.types.is_timestamp(column.type) else pa.int32())
    elif is_text(column.type):
        column = pc.utf8_trim_whitespace(column)
        typed = flags(pc.is_valid(column)) & as_numpy(pc.match_substring_regex(column, _NUMERAL))
        if typed.sum() < (1.0 - MOST_EXCEPTIONS) * known.sum() or not typed.any():
            return None
        known = typed
    elif not is_number(column.type):
        return None
    numbers = np.full(len(column), np.nan)
    numbers[known] = as_numpy(column.filter(from_numpy(known)).cast(pa.float64(), safe=False))
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
