"""The profile of a file: what each column holds, whose records these are, what tells what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Floats, Ints
from sfumato.core.declaration import LayoutGiven, fields_of
from sfumato.core.notebook_parts import bars, styled_table
from sfumato.core.number_text import counted, percent, share_text
from sfumato.schema.recipe import Cleaning
from sfumato.table import person_candidates
from sfumato.table.cleaning import cleaned
from sfumato.table.common_words import DATE_WORDS, MISSING_WORDS, folded
from sfumato.table.contents import (
    FEW,
    FEW_PEOPLE,
    OF_A_PERSON,
    PERSONAL,
    Content,
    Held,
    held_in,
    is_skewed,
)
from sfumato.table.dependence import (
    LOOKED_AT,
    Dependence,
    coded_rows,
    codes_of,
    dependences,
    exceptions,
    tells,
)
from sfumato.table.header_words import hinted, identifies, named, weighs, words_of
from sfumato.table.numbering import Accumulator, RawColumn
from sfumato.table.scalars import as_floats
from sfumato.table.sources import NoSingleValuesError, Source, as_numpy, check_utf8, matching
from sfumato.table.table_files import open_source
from sfumato.table.value_forms import Form, as_numbered_dates, form_of, habits_of

ROWS = 100_000
"""Records looked at."""
TOGETHER = 3
"""Columns whose values are counted in one pass over a file."""
SAYS_PERSON = 2.0
"""Score of a column whose header says that it is the person."""
MOST_FURTHER = 0.3
"""Share of the further records of a person that may say another sex, name, or birth."""
MOST_GAPS = 2
"""Places for each number up to which numbers are counted up, some of them left out."""
LEAST_UNEVEN, UNEVEN_BY_CHANCE = 0.1, 1.36
"""How far the shares of ids may be from even ones; Kolmogorov and Smirnov's limit at 5 % beside."""
GENERATION = 16
"""Years by which ages within a household differ, and those of a person in a panel hardly do."""
SAID_AGE = 0.9
"""Confidence of an age from which its header says so."""
_TOLD = 0.85
"""Share of a column that another one tells, from which they are about the same."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnProfile(Form):
    """A column as it can be read, and what it holds."""

    name: str
    held: Held

    @property
    def content(self) -> Content:
        """What the values are about."""
        return self.held.content

    @property
    def confidence(self) -> float:
        """How sure that is, from 0 to 1."""
        return self.held.confidence

    @property
    def evidence(self) -> str:
        """Why, without a value."""
        return self.held.evidence

    @property
    def says_only_missing(self) -> bool:
        """Whether all values are words for a missing one, which still tell records apart."""
        told = self.look == "text" and 0 < self.distinct <= len(MISSING_WORDS)
        return told and all(folded(value) in MISSING_WORDS for value in self.values.to_pylist())

    @property
    def summary(self) -> str:
        """What the values look like, in a few words without a value."""
        if self.look == "bytes" and not self.filled:
            return "not read"
        parts = [self.look, f"{self.distinct:,} different"]
        empty = self.records - self.filled
        if empty:
            parts.append(f"missing in {share_text(empty / self.records)}")
        if self.unreadable:
            parts.append(f"{self.unreadable:,} cannot be read")
        if self.spellings:
            parts.append(f"{counted(self.spellings, 'spelling')} by case or blanks alone")
        doubt = [] if self.doubt is None else [self.doubt.question]
        return "; ".join([", ".join(parts), *self.written, *doubt])

    @property
    def written(self) -> tuple[str, ...]:
        """How the values are written, by what reads them; without a value."""
        words = len(self.missing_words)
        said = [f"{words} word{'s mean' if words > 1 else ' means'} missing"] if words else []
        return (*said, *({} if self.cleaning is None else self.cleaning.steps()).values())

    def read_as(self, way: str) -> ColumnProfile:
        """The column read in one of the two ways of its doubt, which is settled then."""
        if self.doubt is None or way == self.doubt.chosen:
            return replace(self, doubt=None)
        other = self.doubt.otherwise
        held = held_in(other, self.name)
        return ColumnProfile(name=self.name, held=held, **vars(replace(other, doubt=None)))

    def to_json(self, *, values: bool = False) -> dict[str, Any]:
        """The column as plain values; with values of the data only where they are asked for."""
        found: dict[str, Any] = {
            "name": self.name,
            "content": str(self.content),
            "confidence": round(self.confidence, 2),
            **fields_of(self, "evidence look records filled distinct unreadable spellings"),
            "written": list(self.written),
        }
        if values:
            line = self.cleaning  # it names values that mean missing, or others
            found["recipe"] = None if line is None else line.model_dump(
                mode="json", by_alias=True, exclude_defaults=True
            )  # fmt: skip
            if self.distinct:
                found |= self._shown()
        return found

    def _shown(self) -> dict[str, Any]:
        """Range and examples: values of the data."""
        order = np.argsort(-self.counts, kind="stable")[:5]
        frequent = [str(self.values[int(place)].as_py()) for place in order]
        if self.look not in ("numbers", "dates"):
            return {"examples": frequent}
        numbers = self.numbers()
        ends = [
            str(self.values[int(place)].as_py()) for place in (numbers.argmin(), numbers.argmax())
        ]
        return {"lowest": ends[0], "highest": ends[1], "examples": frequent}


@dataclass(frozen=True)
class Uniqueness:
    """The share of persons whom a column makes unique with those before it.

    Beside it the share without this column.
    """

    column: str
    up_to: float
    without: float


@dataclass(frozen=True, eq=False)
class FileProfile:
    """What a file holds, by its first records.

    Attributes
    ----------
    subject
        The file.
    columns
        Its columns by name.
    sample
        The records looked at, as they came.
    records
        Records of the whole file; ``None`` where that takes reading it.
    dates_in_parts
        Names of columns of year, month and day that are one date.
    person
        The column that says whose record each is, where one was found.
    keys
        Columns that are different in every record of the whole file, by a count of it.
    keys_with_person
        Likewise, columns that are different in every record of a person; looked for where no
        column is a key by itself.
    """

    subject: str
    columns: Mapping[str, ColumnProfile]
    sample: pa.Table = field(repr=False)
    records: int | None
    dates_in_parts: tuple[tuple[str, str, str], ...] = ()
    person: str | None = None
    keys: tuple[str, ...] = ()
    keys_with_person: tuple[str, ...] = ()

    @property
    def sampled(self) -> int:
        """Records looked at."""
        return int(self.sample.num_rows)

    @cached_property
    def codes(self) -> dict[str, Ints]:
        """The columns as codes of the first records, missing ones -1."""
        return {name: codes_of(self.readable(name)) for name in self.columns}

    def readable(self, name: str) -> pa.ChunkedArray:
        """The first records of a column as they can be read, what cannot be read as missing."""
        form = self.columns[name]
        column = self.sample[name][:LOOKED_AT]
        if form.look in ("bytes", "empty") or not (form.cleaning or form.missing_words):
            return column
        line = form.cleaning or Cleaning(strip=True)
        return pa.chunked_array([cleaned(column.combine_chunks(), line, form.missing_words).values])

    def figures(self, name: str) -> Floats:
        """The first records of a column of numbers, missing ones as not a number."""
        column = self.readable(name).combine_chunks()
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        places = as_numpy(coded.indices.fill_null(-1)).astype(np.int64)
        return np.append(as_floats(coded.dictionary), np.nan)[places]

    @cached_property
    def dependences(self) -> tuple[Dependence, ...]:
        """Which columns tell others; what tells by numbering persons or records is left out."""
        kept = {
            name: codes for name, codes in self.codes.items()
            if not self.columns[name].unique and self.columns[name].distinct
        }  # fmt: skip
        found = (dependence for dependence in dependences(kept) if dependence.by != self.person)
        return tuple(sorted(found, key=lambda each: -each.share))

    @cached_property
    def constant(self) -> tuple[str, ...]:
        """The columns that hardly change about a person: in a tenth of the records at most."""
        return tuple(name for name, share in self._changing.items() if share <= 0.1)

    @cached_property
    def events(self) -> tuple[str, ...]:
        """The columns that change about a person: what happened, when, how much."""
        return tuple(name for name, share in self._changing.items() if share > 0.1)

    @cached_property
    def _changing(self) -> dict[str, float]:
        """By column: the share of a person's records that differ from most of them."""
        if self.person is None:
            return {}
        persons = self.codes[self.person]
        sizes = np.bincount(persons[persons >= 0])
        several = np.append(sizes > 1, False)[persons]
        if not several.any():
            return {}
        found = {}
        for name, codes in self.codes.items():
            of_column = codes[several]
            if name != self.person and of_column.max(initial=-1) > 0:
                found[name] = exceptions(persons[several], of_column) / max(
                    (of_column >= 0).sum(), 1
                )
        return found

    @cached_property
    def changing_people(self) -> dict[str, float]:
        """By column: the share of the people with several records for whom it changes."""
        if self.person is None:
            return {}
        persons = self.codes[self.person]
        found = {}
        for name in self._changing:
            told = (persons >= 0) & (self.codes[name] >= 0)
            pairs = np.unique(np.stack([persons[told], self.codes[name][told]]), axis=1)[0]
            several = np.bincount(persons[told]) > 1
            changing = np.bincount(pairs, minlength=len(several)) > 1
            found[name] = float(changing.sum() / max(several.sum(), 1))
        return found

    @cached_property
    def _persons(self) -> Ints:
        """The first record of each person among those that are held against each other."""
        if self.person is None:
            return np.arange(min(self.sampled, LOOKED_AT))
        return np.unique(self.codes[self.person], return_index=True)[1]

    @property
    def persons(self) -> int:
        """Persons of whom `uniqueness` speaks; of more, fewer are unique."""
        return len(self._persons)

    @property
    def told_apart(self) -> str:
        """How many people `uniqueness` speaks of; records, where no column says whose they are."""
        return counted(self.persons, "record" if self.person is None else "person")

    @cached_property
    def uniqueness(self) -> tuple[Uniqueness, ...]:
        """How the share of unique persons grows with each column that an intruder may know.

        Of a person the first record is taken. Columns that number or name persons are left out;
        those that do not change about a person come first, of them those of few values.
        """
        rows = self._persons
        known = [
            each.name for each in self.columns.values()
            if each.content not in PERSONAL and each.told_apart > 1 and each.name != self.person
            and each.content is not Content.MEASUREMENT and each.distinct
        ]  # fmt: skip
        known.sort(key=lambda name: (name in self.events, self.columns[name].distinct))
        codes = {name: self.codes[name][rows] for name in known}
        found, so_far = [], np.zeros(len(rows), dtype=np.int64)
        for name in known:
            so_far = coded_rows({"": so_far, name: codes[name]}, ["", name])
            others = [each for each in known if each != name]
            rest = _unique_share(coded_rows(codes, others)) if others else 0.0
            found.append(Uniqueness(name, _unique_share(so_far), rest))
        return tuple(found)

    def to_json(self, *, values: bool = False) -> dict[str, Any]:
        """The profile as plain values.

        Parameters
        ----------
        values
            Whether ranges and examples, values of the data, are in it.
        """
        return {
            "file": self.subject,
            **fields_of(self, "records sampled person"),
            "keys": list(self.keys),
            "keys_with_person": list(self.keys_with_person),
            "related": min(self.sampled, LOOKED_AT),
            "persons": self.persons,
            "constant_within_person": [n for n, each in self.changing_people.items() if not each],
            "changing_within_person": [n for n, each in self.changing_people.items() if each],
            "people_for_whom_it_changes": {
                name: round(share, 4) for name, share in self.changing_people.items()
            },
            "dates_in_parts": [list(date) for date in self.dates_in_parts],
            "columns": [each.to_json(values=values) for each in self.columns.values()],
            "dependences": [
                {"by": d.by, "of": d.of, "share": round(d.share, 4), "exceptions": d.exceptions,
                 "copy": d.copy} for d in self.dependences
            ],
            "uniqueness": [
                {"column": u.column, "up_to": round(u.up_to, 4), "without": round(u.without, 4)}
                for u in self.uniqueness
            ],
        }  # fmt: skip

    def _repr_html_(self) -> str:
        """One table, and one picture: how columns single persons out."""
        return styled_table(self.subject, HEADINGS, self.rows(), numbers=(2,)) + self.picture()

    def picture(self) -> str:
        """The share of persons who are unique, column by column, for a notebook."""
        steps = self.uniqueness
        if not steps:
            return ""
        return bars(
            f"Share of {self.told_apart} that are unique on columns",
            [step.column for step in steps],
            {
                f"of {self.told_apart} unique on all but this": [step.without for step in steps],
                "unique on this and those above": [step.up_to for step in steps],
            },
        )

    def rows(self) -> list[tuple[str, ...]]:
        """A line for each column, as `HEADINGS` call its cells; without values."""
        within = {
            name: f"changes for {percent(share)} of people" if share else "constant"
            for name, share in self.changing_people.items()
        }
        if self.person is not None:
            within[self.person] = "the person"
        return [
            (each.name, str(each.content), f"{each.confidence:.2f}", each.summary, each.evidence,
             within.get(each.name, ""))
            for each in self.columns.values()
        ]  # fmt: skip


HEADINGS = ("column", "holds", "sure", "values", "because", "within a person")


def _unique_share(rows: Ints) -> float:
    counts = np.unique(rows, return_counts=True)[1]
    return float((counts == 1).sum() / max(len(rows), 1))


def profile(data: object, **layout: Unpack[LayoutGiven]) -> FileProfile:
    """What a file or dataframe holds, by its first 100,000 records; keys by all of them.

    Parameters
    ----------
    data
        As in `open_table`.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    source = data if isinstance(data, Source) else open_source(data, **layout)
    found = first_look(source)
    person = person_of(found, source)
    found = replace(
        found, person=None if person is None else person.name, keys=_keys(found, source)
    )
    if found.person is None or found.keys:
        return found
    return replace(found, keys_with_person=_keys_with(found.person, found, source))


def first_look(source: Source) -> FileProfile:
    """The columns of a source by its first records, before anything is asked of their persons."""
    sample, unread = first_records(source)
    rows = sample.num_rows if sample.num_rows < ROWS else source.rows
    columns = columns_of(sample)
    for name in unread:
        held = Held(Content.BYTES, 1.0, "lists, nested records or durations cannot be judged")
        columns[name] = replace(columns[name], held=held, look="bytes")
    return FileProfile(source.subject, columns, sample, rows, _dates_in_parts(columns))


def first_records(source: Source) -> tuple[pa.Table, tuple[str, ...]]:
    """The first 100,000 records of a source, and the columns without single values, left empty.

    Raises
    ------
    NoSingleValuesError
        If no column has them.
    """
    names, unread = list(source.names), set[str]()
    while True:
        try:
            sample = _first_records(source, [name for name in names if name not in unread])
        except NoSingleValuesError as error:
            if len(unread) + 1 == len(names):
                raise
            unread.add(error.column)
        else:
            break
    empty = pa.nulls(sample.num_rows, pa.binary())
    columns = [empty if name in unread else sample[name] for name in names]
    return pa.table(columns, names=names), tuple(unread)


def _first_records(source: Source, names: Sequence[str]) -> pa.Table:
    batches, rows = [], 0
    for batch in source.batches(names):
        batches.append(batch.slice(0, ROWS - rows))
        for name in names:
            check_utf8(batches[-1].column(name), name)
        rows += batches[-1].num_rows
        if rows >= ROWS:
            break
    return pa.Table.from_batches(batches)


def columns_of(sample: pa.Table) -> dict[str, ColumnProfile]:
    """What the columns of a table hold: each by itself, then by what the others tell of it."""
    forms = {name: form_of(sample[name]) for name in sample.column_names}
    habits = habits_of(forms.values())
    for name, form in forms.items():
        # What can be read in two ways is read as columns are written that leave no choice.
        if not form.certain:
            forms[name] = form_of(sample[name], habits)
    columns = {}
    for name, form in forms.items():
        words = tuple(map(folded, words_of(name)))
        says_date = named(words, DATE_WORDS) and not identifies(words)
        dates = as_numbered_dates(form, called_date=says_date)
        held = held_in(dates or form, name)
        if dates is not None:
            held = replace(held, evidence=f"{held.evidence}; numbers of days as Excel stores them")
        if held.content is Content.AGE and held.confidence < SAID_AGE and _rise(form, sample[name]):
            held = Held(Content.IDENTIFIER, 0.5, "numbers that rise from record to record")
        columns[name] = ColumnProfile(name=name, held=held, **vars(dates or form))
    return _by_each_other(columns, sample)


def _rise(form: Form, column: pa.ChunkedArray) -> bool:
    """Whether numbers never fall from record to record, as those of people do not."""
    return bool((np.diff(form.numbers()) > 0).all()) and bool(
        (np.diff(codes_of(column[:LOOKED_AT])) >= 0).all()
    )


def _by_each_other(columns: dict[str, ColumnProfile], sample: pa.Table) -> dict[str, ColumnProfile]:
    """What columns hold that others tell of: given names go with a sex, places with a postcode."""
    of = {content: [n for n, each in columns.items() if each.content is content]
          for content in (Content.SEX, Content.POSTCODE)}  # fmt: skip
    two = [n for n, column in columns.items() if column.distinct == 2 and n not in of[Content.SEX]]
    born = [n for n, e in columns.items() if e.content in _BORN_WITH | {Content.AGE}]

    def numbers_persons(name: str, told: Sequence[str]) -> bool:
        own = codes_of(sample[name][:LOOKED_AT])
        return any(tells(own, codes_of(sample[n][:LOOKED_AT])) > _TOLD / 2 for n in told)

    of_persons = {code for code in of[Content.POSTCODE] if numbers_persons(code, born)}
    births = [n for n in born if columns[n].content is not Content.SEX]
    for name, each in list(columns.items()):
        if each.distinct < 3 or not are_words(each):
            continue
        open_ = each.content in (Content.TEXT, Content.CATEGORY) or (
            each.content in (Content.GIVEN_NAME, Content.SURNAME) and each.confidence < 0.9
        )
        if not open_:
            continue
        own = codes_of(sample[name][:LOOKED_AT])
        for code in of[Content.POSTCODE]:
            # A postcode that fewer than three records share may number households.
            if 3 * columns[code].distinct > columns[code].filled or code in of_persons:
                continue
            if tells(codes_of(sample[code][:LOOKED_AT]), own) > _TOLD:
                columns[name] = _held(
                    each, Content.PLACE, 0.9, f"told by the postcodes of '{code}'"
                )
                if columns[code].confidence < 0.85:
                    columns[code] = _held(
                        columns[code],
                        Content.POSTCODE,
                        0.85,
                        f"codes that tell the places of '{name}'",
                    )
        # Fewer than twelve words may be categories that go with any column of two values.
        several = columns[name] is each and 12 <= each.distinct <= 0.4 * each.filled
        if several and not numbers_persons(name, births):
            for sex in (*of[Content.SEX], *two):
                if tells(own, codes_of(sample[sex][:LOOKED_AT])) > _TOLD:
                    columns[name] = _held(
                        each, Content.GIVEN_NAME, 0.85, f"words that tell the two values of '{sex}'"
                    )
    return _with_coordinates(_with_copies_of_names(columns, sample))


def _with_copies_of_names(
    columns: dict[str, ColumnProfile], sample: pa.Table
) -> dict[str, ColumnProfile]:
    """The columns, few words or codes that go one to one with what names somebody among them."""
    few = {
        name: codes_of(sample[name][:LOOKED_AT]) for name, column in columns.items()
        if 1 < column.distinct < FEW_PEOPLE
    }  # fmt: skip
    naming = [name for name in few if columns[name].content in PERSONAL]
    for name, codes in few.items():
        each = columns[name]
        if each.content not in (Content.CATEGORY, Content.TEXT) or each.look != "text":
            continue
        if any(hinted(name, role) for role in ("quasi", "sensitive", "place")):
            continue
        for other in naming:
            same = columns[other].distinct == each.distinct
            if same and not exceptions(codes, few[other]) and not exceptions(few[other], codes):
                words = are_words(each)
                columns[name] = _held(
                    each, Content.FULL_NAME if words else Content.IDENTIFIER, 0.8,
                    f"goes one to one with '{other}', which names or numbers a person",
                )  # fmt: skip
    return columns


def _with_coordinates(columns: dict[str, ColumnProfile]) -> dict[str, ColumnProfile]:
    """The columns, a pair that can be latitude and longitude among them."""
    exact = [n for n, column in columns.items() if _is_exact(column)]
    for name in exact:
        if len(exact) == 2 or re.search(r"lat|lon|lng|coord", name.casefold()):
            columns[name] = _held(
                columns[name], Content.COORDINATE, 0.7, "degrees of a place, to four places or more"
            )
    return columns


def _is_exact(column: ColumnProfile) -> bool:
    """Whether numbers can be latitudes or longitudes: four to seven decimals, up to 180."""
    if column.look != "numbers" or column.whole or column.distinct <= FEW:
        return False
    numbers = column.numbers()[:500]
    # A choice: files of one country hardly span more than 30 degrees.
    if np.abs(numbers).max() > 180 or float(np.ptp(numbers)) > 30:
        return False
    decimals = np.array([len(f"{number:.9f}".rstrip("0").partition(".")[2]) for number in numbers])
    # The fourth decimal of a degree is eleven metres, the seventh a centimetre.
    return bool((decimals >= 4).mean() > 0.7 and (decimals <= 7).all())


def _held(column: ColumnProfile, content: Content, sure: float, why: str) -> ColumnProfile:
    return replace(column, held=Held(content, sure, why))


def are_words(column: ColumnProfile) -> bool:
    """Whether most of the different values are written in letters."""
    texts = column.values[:1000]
    return (
        column.look == "text"
        and float(np.mean(matching(texts, r"^[\p{L}\p{M} .,'’()/\-]+$"))) > 0.9
    )


def _dates_in_parts(columns: Mapping[str, ColumnProfile]) -> tuple[tuple[str, str, str], ...]:
    """Columns of year, month and day that go together: by their names, else by their places."""
    names = list(columns)
    years, months, days = (
        [n for n in names if columns[n].content in kinds]
        for kinds in ((Content.YEAR, Content.YEAR_OF_BIRTH), (Content.MONTH,), (Content.DAY,))
    )
    found = []
    for month in months:
        parts = [month]

        def apart(name: str, month: str = month) -> tuple[int, int]:
            return -_shared(name, month), abs(names.index(name) - names.index(month))

        parts += [min(others, key=apart) for others in (days, years) if others]
        if len(parts) == 3:
            _, day, year = parts
            days.remove(day)
            years.remove(year)
            found.append((year, month, day))
    return tuple(found)


def _shared(first: str, second: str) -> int:
    """Letters that two names share at both ends."""
    prefix = len(_beginning([first, second]))
    return prefix + len(_beginning([first[prefix:][::-1], second[prefix:][::-1]]))


def _beginning(texts: Sequence[str]) -> str:
    """The letters with which all texts begin."""
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False))
    return "".join(letters[0] for letters in alike)


def name_of_parts(parts: Sequence[str], taken: Iterable[str]) -> str:
    """The name of the date that some columns are parts of."""
    known = set(taken)
    prefix = _beginning(parts)
    suffix = _beginning([part[::-1] for part in parts])[::-1]
    best = max((prefix, suffix), key=len)
    words = [part for part in re.split(r"[^\w]|_", best) if len(part) > 1]
    name = "_".join(words) or "date"
    while name in known:
        name += "_date"
    return name


@dataclass(frozen=True)
class PersonFound:
    """The column that says whose record each is.

    Attributes
    ----------
    confidence
        How sure that is, from 0 to 1.
    reason
        Why, without a value.
    rivals
        Other columns that may be it, likeliest first, each with its reason.
    """

    name: str
    confidence: float
    reason: str
    rivals: Mapping[str, str] = field(default_factory=dict)


_MAY_NUMBER = frozenset({
    Content.IDENTIFIER, Content.NUMBER, Content.TEXT, Content.NATIONAL_NUMBER, Content.CATEGORY,
    Content.POSTCODE, Content.PHONE, Content.CONCEPT, Content.DISEASE, Content.DRUG,
    Content.PROCEDURE,
})  # fmt: skip
"""What the numbers of persons may look like."""
_BORN_WITH = frozenset({Content.SEX, Content.DATE_OF_BIRTH, Content.YEAR_OF_BIRTH})
_OF_PLACES = frozenset({Content.PLACE, Content.COUNTRY, Content.POSTCODE, Content.STREET})


def person_of(found: FileProfile, source: Source) -> PersonFound | None:
    """The column that most likely says which person a record belongs to.

    What a header says of the person comes first, then what the values say, then a header that
    says of a number only that it is one.
    """
    columns = found.columns
    if len(columns) < 2:
        return None
    scores = {name: _person_score(each) for name, each in columns.items()}
    best = max(scores, key=lambda name: scores[name])
    # A header may err: a column within whose values sex and birth vary is no person.
    while (
        scores[best] > 0
        and not (
            scores[best] >= SAYS_PERSON and columns[best].distinct >= person_candidates.LEAST_VALUES
        )
        and not any(_varies_little(found, best, _BORN_WITH) or [True])
    ):
        scores[best] = 0.0
        best = max(scores, key=lambda name: scores[name])
    if scores[best] >= SAYS_PERSON:
        return PersonFound(best, 0.9, _said_by_header(columns[best]))
    among = [
        name for name, each in columns.items()
        if each.content in _MAY_NUMBER and not each.unique
        and each.distinct >= person_candidates.LEAST_VALUES
        and not (each.content is Content.CATEGORY and are_words(each))
        and not hinted(name, "household") and not weighs(name)
    ]  # fmt: skip
    candidates = person_candidates.person_candidates(found.sample, among)
    # A file in the order of its years holds each person once among its first records.
    unseen = [name for name, each in columns.items()
              if each.distinct > 0.5 * each.filled and each.content in _MAY_NUMBER
              and not weighs(name)]  # fmt: skip
    if found.sampled == ROWS and unseen:
        readable = tuple(name for name in source.names if columns[name].look != "bytes")
        # Columns without single values would end the reading with an error.
        whole = replace(source, names=readable)
        candidates = person_candidates.person_candidates_of(whole, unseen) + candidates
    # What a place or a household shares is constant as well: something must be about persons.
    kept = [candidate for candidate in candidates if _is_about_persons(candidate, found)]
    # The door refuses a record without a person, so that a column with gaps cannot be it.
    kept = [each for each in kept if columns[each.name].filled == columns[each.name].records]
    kept = [each for each in kept if not _is_of_several(each, kept, found)]
    if kept:
        order = list(columns)
        # So near in number, the columns are told apart by header and form instead.
        alike = [each for each in kept if abs(each.values - kept[0].values) <= 0.05 * each.values]
        best_one = min(alike, key=lambda each: (*_rank(columns[each.name]), order.index(each.name)))
        rivals = {each.name: each.reason for each in kept if each is not best_one}
        # Below `schema_guess.CERTAIN`: somebody is asked.
        sure = 0.55 if _is_doubtful(best_one, columns[best_one.name]) else 0.9
        return PersonFound(best_one.name, sure, best_one.reason, rivals)
    if scores[best] > 0:
        return PersonFound(best, 0.7, _said_by_header(columns[best]))
    numbering = [
        name for name in among
        if columns[name].content in (Content.IDENTIFIER, Content.NATIONAL_NUMBER)
        and not hinted(name, "direct") and _has_constants(found, name)
        and not _of_generations(found, name)
        and 1.15 < columns[name].filled / columns[name].distinct <= FEW
        and columns[name].filled == columns[name].records
    ]  # fmt: skip
    if not numbering:
        return _of_few_people(found)
    numbering.sort(key=lambda name: -columns[name].confidence)
    name = numbering[0]
    each = columns[name]
    reason = f"codes of one shape that repeat: {each.distinct:,} different, {each.filled / each.distinct:.1f} records each"  # noqa: E501
    return PersonFound(name, 0.55, reason, dict.fromkeys(numbering[1:], "codes that repeat, too"))


def _is_doubtful(candidate: person_candidates.PersonCandidate, column: ColumnProfile) -> bool:
    """Whether numbers may be weights: of places, or without the form or order of an id.

    Ids have one length, or few gaps, or come in their order, or lie evenly between their ends.
    """
    if column.look != "numbers" or hinted(column.name, "person"):
        return False
    if candidate.paired:
        return True
    numbers = column.numbers()
    places = np.argsort(np.argsort(numbers))
    span = float(np.ptp(numbers))
    even = np.sort(numbers - numbers.min()) / span - np.linspace(0, 1, len(numbers))
    in_order = abs(float(np.corrcoef(places, np.arange(len(places)))[0, 1]))
    return not (
        column.width
        or span < MOST_GAPS * len(numbers)
        or in_order > person_candidates.MOST_ORDERED
        or float(np.abs(even).max()) < LEAST_UNEVEN + UNEVEN_BY_CHANCE / np.sqrt(len(numbers))
    )


def _of_few_people(found: FileProfile) -> PersonFound | None:
    """The column that numbers so few persons that no count tells; asked about without births."""
    ranked: list[tuple[bool, bool, bool, int, str]] = []
    for place, (name, each) in enumerate(found.columns.items()):
        if (
            each.content in (Content.NATIONAL_NUMBER, Content.IDENTIFIER, Content.PHONE)
            and 1 < each.distinct < person_candidates.LEAST_VALUES
            and 1.15 * each.distinct < each.filled == each.records
        ):
            born = _varies_little(found, name, _BORN_WITH)
            if all(born):
                numbers = identifies(words_of(name))
                ranked.append((not hinted(name, "person"), not numbers, not born, place, name))
    if not ranked:
        return None
    *_, unborn, _, name = min(ranked)
    each = found.columns[name]
    reason = (
        f"it numbers a person, and its values repeat: {each.distinct:,} different, "
        f"{each.filled / each.distinct:.1f} records each"
    )
    return PersonFound(name, 0.55 if unborn else 0.8, reason)


_LIKELIEST = (
    Content.IDENTIFIER, Content.TEXT, Content.CATEGORY, Content.POSTCODE, Content.CONCEPT,
    Content.NUMBER, Content.NATIONAL_NUMBER, Content.PHONE,
)  # fmt: skip
"""What the numbers of persons look like; what tells more than whose record it is comes last."""


def _has_constants(found: FileProfile, name: str) -> bool:
    """Whether what does not change about a person is constant within a column's values."""
    return all(_varies_little(found, name))


def _varies_little(
    found: FileProfile, name: str, among: frozenset[Content] = OF_A_PERSON
) -> list[bool]:
    """Of what does not change about a person: whether few of a value's further records differ."""
    own, column = found.codes[name], found.columns[name]
    further = column.filled - column.distinct
    little = []
    for each in found.columns.values():
        if each.content in among and each.name != name:
            of = found.codes[each.name]
            differ = exceptions(own, of)
            by_chance = exceptions(own, np.random.default_rng(0).permutation(of))
            # A column with nearly one value has few exceptions by chance, too.
            half = by_chance < person_candidates.LEAST_EXPECTED or 2 * differ <= by_chance
            little.append(differ <= MOST_FURTHER * further and half)
    return little


def _rank(column: ColumnProfile) -> tuple[bool, int, bool]:
    """A header that says person, then what numbers persons and says nothing else of them."""
    amounts = column.content is Content.NUMBER and is_skewed(column.numbers())
    words = column.look == "text" and bool(matching(column.values, r"\S\s+\S").all())
    told = column.content in _LIKELIEST and not (amounts or words)
    place = _LIKELIEST.index(column.content) if told else len(_LIKELIEST)
    return not hinted(column.name, "person"), place, not identifies(words_of(column.name))


def _is_about_persons(candidate: person_candidates.PersonCandidate, found: FileProfile) -> bool:
    """Whether what is constant within its values is about persons, not about a place they share."""
    columns = found.columns
    own = columns[candidate.name].content
    about = {columns[name].content for name in candidate.constant if name in columns}
    if _of_generations(found, candidate.name):
        return False
    born_with = _varies_little(found, candidate.name, _BORN_WITH)
    if born_with:
        return any(born_with)
    if about & OF_A_PERSON:
        return True
    little = _varies_little(found, candidate.name)
    if little and not any(little):
        return False
    return own not in (Content.POSTCODE, Content.DISEASE, Content.CONCEPT) and bool(
        about - _OF_PLACES
    )


def _of_generations(found: FileProfile, name: str) -> bool:
    """Whether ages differ within a column's values as in households, by a generation."""
    own = found.codes[name]
    for ages in (n for n, each in found.columns.items() if each.content is Content.AGE):
        years = found.figures(ages)
        known = (own >= 0) & np.isfinite(years)
        groups, sizes = np.unique(own[known], return_inverse=True, return_counts=True)[1:]
        least, most = np.full(len(sizes), np.inf), np.full(len(sizes), -np.inf)
        np.minimum.at(least, groups, years[known])
        np.maximum.at(most, groups, years[known])
        apart = (most - least)[sizes > 1] >= GENERATION
        if ages != name and len(apart) and apart.mean() > MOST_FURTHER:
            return True
    return False


def _is_of_several(
    candidate: person_candidates.PersonCandidate,
    others: Sequence[person_candidates.PersonCandidate],
    found: FileProfile,
) -> bool:
    """Whether a candidate numbers households, whose persons another candidate numbers.

    Nothing that is constant in it is of a person, and another one that it is constant in has more
    than twice as many constants.
    """
    if any(found.columns[name].content in OF_A_PERSON for name in candidate.constant):
        return False
    return any(
        candidate.name in each.constant and each.values > candidate.values
        and len(each.constant) > 2 * len(candidate.constant)
        for each in others
    )  # fmt: skip


def _person_score(column: ColumnProfile) -> float:
    """How far the header says that it is the person; 0 where it does not."""
    words = words_of(column.name)
    whole = column.look == "text" or (column.look == "numbers" and column.whole)
    tells_apart = column.filled == column.records and column.distinct > 1
    if not (whole and tells_apart) or column.content not in _MAY_NUMBER:
        return 0.0
    repeats = column.filled / column.distinct
    if (
        {"name", "names"} & set(words)
        or repeats > person_candidates.MOST_RECORDS
        or hinted(column.name, "place")
        or hinted(column.name, "household")
    ):
        return 0.0
    numbers = identifies(words)
    many = column.distinct > FEW or column.distinct > 0.1 * column.filled
    if hinted(column.name, "person") and (numbers or many or len(words) == 1):
        # Likeliest where persons have a few records each.
        return SAYS_PERSON + numbers + (0.5 if column.unique else 1.0 if repeats <= FEW else 0.2)
    if not column.unique and many and (numbers or named(words, "ssn nhs mrn")):
        return 1.0 + column.distinct / column.filled
    return 0.0


def _said_by_header(column: ColumnProfile) -> str:
    if column.unique:
        return "its name says person; every record has a person of its own"
    return (
        f"looks like the number of a person: {column.distinct:,} different values, "
        f"{column.filled / column.distinct:.1f} records each"
    )


def _keys(found: FileProfile, source: Source) -> tuple[str, ...]:
    """Columns that are different in every record; those of a longer file are read whole."""
    unique = [n for n, each in found.columns.items() if each.unique and each.distinct > FEW
              and each.filled == each.records
              and each.content is not Content.MEASUREMENT]  # fmt: skip
    if found.sampled < ROWS:
        return tuple(unique)
    # A value that is unique among the first records may come again behind them.
    keys: list[str] = []
    for first in range(0, len(unique), TOGETHER):
        read = _numbered(source, unique[first : first + TOGETHER])
        keys += [name for name, raw in read.items() if len(raw.values) == len(raw.codes)]
    return tuple(keys)


def _keys_with(person: str, found: FileProfile, source: Source) -> tuple[str, ...]:
    """Columns that are different in every record of a person, events' dates first."""
    first = found.codes[person]
    records, columns = len(first), found.columns
    if found.columns[person].filled < found.columns[person].records:
        return ()
    likely = [
        name for name, each in columns.items()
        if name != person and each.distinct > 1 and each.filled == each.records
        and each.content not in PERSONAL and each.content is not Content.MEASUREMENT
        and len(np.unique(coded_rows({"": first, name: found.codes[name]}, ["", name]))) == records
    ]  # fmt: skip
    likely.sort(key=lambda name: (columns[name].look != "dates", -columns[name].distinct))
    # Counting in the whole file takes a pass over it, so that only the likeliest are counted.
    likely = likely[:TOGETHER]
    if (found.sampled <= records and found.sampled < ROWS) or not likely:
        return tuple(likely)
    read = _numbered(source, [person, *likely])
    persons = read[person].codes.astype(np.int64)

    def tells_apart(codes: Ints) -> bool:
        together = np.sort(persons * (int(codes.max()) + 1) + codes)  # np.unique takes ten times it
        return int(codes.min()) >= 0 and bool((together[1:] != together[:-1]).all())

    whole = int(persons.min()) >= 0
    return tuple(
        name for name in likely if whole and tells_apart(read[name].codes.astype(np.int64))
    )


def _numbered(source: Source, names: Sequence[str]) -> dict[str, RawColumn]:
    """Columns of the whole file as codes, in one pass."""
    accumulators = {name: Accumulator(name, source.rows) for name in names}
    for batch in source.batches(names):
        for name, each in accumulators.items():
            each.add(batch.column(name))
    return {name: accumulator.finish() for name, accumulator in accumulators.items()}
