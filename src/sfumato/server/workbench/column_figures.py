"""What is counted of the columns of a table: computed once for the files, the recipe, the roles."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.utils.translation import gettext as _

from sfumato.core.arrays import Floats, Ints
from sfumato.core.declaration import layout_of
from sfumato.core.errors import InputError
from sfumato.hierarchies.builders import build_hierarchy
from sfumato.hierarchies.hierarchy import generalised
from sfumato.schema import Cleaning, IntervalHierarchy, Schema
from sfumato.schema.recipe import StepCount
from sfumato.schema.roles import EventKind, HierarchySpec, TableSchema
from sfumato.server.workbench.bench import SAMPLE, Bench, Figure
from sfumato.table.cleaning import cleaned
from sfumato.table.counted_columns import Alone, CountedColumns
from sfumato.table.dependence import codes_of
from sfumato.table.file_profile import FileProfile, profile
from sfumato.table.preparation import prepared_in_part
from sfumato.table.scalars import DAY, are_dates, are_numbers, as_floats, natural_order, printed
from sfumato.table.schema_guess import Guess, guess_schema
from sfumato.table.sources import is_moment, is_number, is_text
from sfumato.table.table_files import open_source
from sfumato.table.table_keys import Reference

BARS = 24
"""Bars of a histogram."""
FEWEST = 5
"""Counts below it are hidden, and estimates of fewer people: the usual rule of tables."""
MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
"""Months of the intervals of dates."""
MONTH = 365.2425 / 12
"""Days of a month on average, in the calendar's 400 years."""
SHOWN = 20
"""Values of a column that are shown at most."""


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram.

    Attributes
    ----------
    count
        Its records; ``None`` where they are hidden.
    low, high
        What it stands for: values of the data, for who may see them.
    """

    count: int | None
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class LevelAlone:
    """What a level of a hierarchy leaves.

    Attributes
    ----------
    groups
        Different values at the level.
    alone
        ``None`` where the table does not say whose its records are.
    """

    level: int
    groups: int
    alone: Alone | None


class TableFigures:
    """What is counted of one table of a project.

    Parameters
    ----------
    name
        The table, by its name in the project file.

    Attributes
    ----------
    said
        What the project file says of its columns.
    """

    def __init__(self, bench: Bench, name: str) -> None:
        self._bench, self.name, self._place = bench, name, bench.place
        given = self._place.given_schema()
        self.is_of_database = given is not None and bool(given.tables)
        self.said: Schema | TableSchema | None = given
        if given is not None and given.tables:
            self.said = given.tables[name]
        self._schema = _of_one_table(given, name)
        self._of_data = _hashed(bench.inputs, name, _recipe_of(self._schema))

    @property
    def section(self) -> tuple[str, ...]:
        """Where its columns stand within the schema of the project file."""
        return ("tables", self.name) if self.is_of_database else ()

    def called(self, column: str) -> str:
        """What a verdict calls a column."""
        return f"{self.name}.{column}" if self.is_of_database else column

    def role(self, column: str) -> str:
        """The role of a column; empty where it has none."""
        roles = {} if self.said is None else self.said.roles()
        return next((role for role, names in roles.items() if column in names), "")

    @property
    def counts_people(self) -> bool:
        """Whether its records say whose they are, or each is a person."""
        return not self.is_of_database or (self._schema is not None and bool(self._schema.person))

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns, as they are read or made by the recipe."""
        figure = self._bench.figure(
            "names", lambda: prepared_in_part(self._source(), self._schema).names, of=self._of_data
        )
        return tuple(figure.value)

    @property
    def profile(self) -> FileProfile:
        """What its first records hold."""
        source = _hashed(self._bench.inputs, self.name)
        figure = self._bench.figure(
            "profile", lambda: profile(self._source()), kind=SAMPLE, of=source
        )
        return figure.value

    @property
    def guess(self) -> Guess:
        """What is proposed of its columns, with what their questions are about."""
        source = _hashed(self._bench.inputs, self.name)
        figure = self._bench.figure(
            "guess", lambda: guess_schema(self._source()), kind=SAMPLE, of=source
        )
        return figure.value

    @property
    def columns(self) -> pa.Table:
        """All records, each column as a dictionary of its values."""
        return self._bench.figure("columns", self._read, of=self._of_data).value

    @property
    def is_read(self) -> bool:
        """Whether all that a page needs was computed already."""
        roles = self._of_roles()
        return self._bench.has("counted", roles) and self._bench.has("effects", self._of_known())

    @property
    def known(self) -> tuple[str, ...]:
        """The quasi-identifiers of the table."""
        named = () if self._schema is None else self._schema.quasi_identifiers
        return tuple(name for name in named if name in self.names)

    @property
    def alone(self) -> Figure:
        """The people who are alone with the quasi-identifiers: an `Alone`."""
        return self._bench.figure(
            "alone", lambda: self._counted(lambda found: found.alone(self.known)),
            of=self._of_known(),
        )  # fmt: skip

    @property
    def effects(self) -> Mapping[str, int]:
        """How many more people are alone with a column than without it, by column."""
        if not self.counts_people:
            return {}
        figure = self._bench.figure(
            "effects", lambda: self._counted(lambda found: found.effects(self.known)),
            of=self._of_known(),
        )  # fmt: skip
        return figure.value

    def histogram(self, column: str) -> tuple[Bar, ...]:
        """The histogram of a column; counts below five are hidden, and what would give one away."""
        figure = self._bench.figure(
            f"histogram {column}", lambda: _histogram(self.columns.column(column)), of=self._of_data
        )
        return figure.value

    def levels(self, column: str, spec: HierarchySpec) -> list[LevelAlone]:
        """What each level of a hierarchy of a column leaves of the people who are alone.

        Raises
        ------
        InputError
            If no hierarchy can be made so.
        """
        labels, of_code = _labels(self.columns.column(column))
        made = build_hierarchy(spec, labels, column)
        places = np.arange(len(labels), dtype=np.int32)
        found = []
        for level in range(made.height + 1):
            _, numbers = np.unique(generalised(made, places, level), return_inverse=True)
            coarser = {column: numbers.astype(np.int64)[of_code]}
            chosen = {*self.known, column}
            alone = (
                self._counted(lambda each, c=coarser, k=chosen: each.alone(k, c))  # type: ignore[misc]
                if self.counts_people
                else None
            )
            found.append(LevelAlone(level, int(numbers.max(initial=-1)) + 1, alone))
        return found

    def ends(self, column: str) -> tuple[float, float] | None:
        """The least and the largest number of a column, of dates their days; ``None`` of others."""
        points = _points(self.columns.column(column).combine_chunks().dictionary)
        numbers = np.empty(0) if points is None else points[0][np.isfinite(points[0])]
        return (float(numbers.min()), float(numbers.max())) if len(numbers) else None

    def bracket(self, column: str, bars: int) -> IntervalHierarchy:
        """Intervals of a round width that is about so many bars of the histogram.

        Raises
        ------
        InputError
            If the column has no numbers and no dates.
        """
        ends = self.ends(column)
        if ends is None or ends[0] == ends[1]:
            raise InputError(
                f"column '{column}'", "must have numbers or dates for a bracket", found="others"
            )
        wanted = min(max(bars, 1), BARS) * (ends[1] - ends[0]) / BARS
        if self.event_kind(column) == EventKind.DATE:
            unit = min(MONTHS, key=lambda each: abs(MONTHS[each] * MONTH - wanted))
            return IntervalHierarchy(widths=(unit,))
        power = 10.0 ** np.floor(np.log10(wanted))
        width = power * min((1, 2, 5, 10), key=lambda step: abs(step * power - wanted))
        return IntervalHierarchy(widths=(width,))

    def brackets(self, column: str, spec: HierarchySpec) -> list[float]:
        """Where the narrowest intervals of a hierarchy begin, as shares of the histogram."""
        ends = self.ends(column)
        if not isinstance(spec, IntervalHierarchy) or ends is None:
            return []
        (low, high), width = ends, spec.widths[0]
        if isinstance(width, str):
            first, last = (np.datetime64(int(end), "D").astype("M8[M]").astype(int) for end in ends)
            months = np.arange(first - first % MONTHS[width], last + 1, MONTHS[width])
            begun = months.astype("M8[M]").astype("M8[D]").astype(np.float64)
            begun = begun[begun >= low]
        else:
            begun = np.arange(low + (spec.start - low) % width, high, width)
        return [float((at - low) / (high - low or 1)) for at in begun][:400]

    def event_kind(self, column: str) -> str:
        """What a column says of an event, by what it holds."""
        points = _points(self.columns.column(column).combine_chunks().dictionary)
        if points is None:
            return EventKind.CODE.value
        return (EventKind.DATE if points[1] else EventKind.AMOUNT).value

    def changes(self, column: str, line: Cleaning) -> tuple[StepCount, ...]:
        """What a line of the recipe would change, step by step, of the column as it is in its file.

        Raises
        ------
        InputError
            If the column cannot be read so.
        """
        source = self._source()
        batches = [batch.column(0) for batch in source.batches([column])]
        values = pa.chunked_array(batches).combine_chunks()
        missing = () if self._schema is None else self._schema.missing
        return tuple(cleaned(values, line, missing, name=column).counts.values())

    def values(self, column: str) -> list[str]:
        """The most frequent values of a column, for who may see them; none of fewer than five.

        Without their counts: what a bar of the histogram holds besides them would follow.
        """
        array = self.columns.column(column).combine_chunks()
        codes, values = codes_of(array), printed(array.dictionary)
        counts = np.bincount(codes[codes >= 0], minlength=len(values))
        order = np.argsort(-counts, kind="stable")[:SHOWN]
        return [values[at] for at in order if counts[at] >= FEWEST]

    def _counted(self, count: Callable[[CountedColumns], Any]) -> Any:
        person = None if self._schema is None else self._schema.person
        person = person if person in self.names else None

        def made() -> tuple[CountedColumns, threading.Lock]:
            return CountedColumns.of_arrow(self.columns, person), threading.Lock()

        columns, lock = self._bench.figure("counted", made, of=self._of_roles()).value
        # It remembers the sums of the columns that were asked for last.
        with lock:
            return count(columns)

    def _of_roles(self) -> str:
        return _hashed(self._of_data, "" if self._schema is None else str(self._schema.person))

    def _of_known(self) -> str:
        named = [] if self._schema is None else sorted(self._schema.quasi_identifiers)
        return _hashed(self._of_roles(), *named)

    def _source(self) -> Any:
        if self.is_of_database:
            return open_source(self._place.tables.frames[self.name])
        source = self._place.project.sources[self.name]
        return open_source(self._place.at(source.file), **layout_of(source))

    def _read(self) -> pa.Table:
        source = prepared_in_part(self._source(), self._schema)
        batches = list(source.batches(source.names))
        whole = pa.Table.from_batches(batches)
        coded = [_dictionary(whole.column(name)) for name in whole.column_names]
        return pa.table(dict(zip(whole.column_names, coded, strict=True)))


def _of_one_table(given: Schema | None, name: str) -> Schema | None:
    """What is said of one table; of a database's as of a file that names people."""
    if given is None or not given.tables:
        return given
    own, people = given.tables[name], people_table(given)
    person = own.key if own.persons else next((c for c, to in own.of.items() if to == people), None)
    # Not checked again: a table of events has no quasi-identifier.
    return Schema.model_construct(
        person=person, quasi_identifiers=own.quasi_identifiers, sensitive=own.sensitive,
        insensitive=own.insensitive, undecided=own.undecided, recipe=own.recipe,
        missing=given.missing,
    )  # fmt: skip


def people_table(schema: Schema) -> str:
    """The table of a database that has a record for each person."""
    return next(name for name, table in schema.tables.items() if table.persons)


def _dictionary(column: pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks()
    return array if pa.types.is_dictionary(array.type) else array.dictionary_encode()


def _hashed(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8")).hexdigest()[:16]


def _recipe_of(schema: Schema | None) -> str:
    if schema is None:
        return ""
    recipe = {name: line.model_dump(mode="json") for name, line in schema.recipe.items()}
    return json.dumps([recipe, list(schema.missing)], sort_keys=True)


def _labels(column: pa.ChunkedArray) -> tuple[list[str], Ints]:
    """The different values as text in their natural order, and the place of each code's."""
    texts = printed(column.combine_chunks().dictionary)
    labels = natural_order(set(texts))
    place = {text: at for at, text in enumerate(labels)}
    return list(labels), np.array([place[text] for text in texts], dtype=np.int64)


def _histogram(column: pa.ChunkedArray) -> tuple[Bar, ...]:
    array = column.combine_chunks()
    codes, values = codes_of(array), array.dictionary
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    if not len(values):
        return ()
    points = _points(values)
    if points is not None:
        return _bars_of_numbers(points[0], counts, dates=points[1])
    order = np.argsort(-counts, kind="stable")
    texts = printed(values)
    first = [(int(counts[at]), texts[at], "") for at in order[: BARS - 1]]
    rest = int(counts[order[BARS - 1 :]].sum())
    return _hidden([*first, (rest, "", "")] if rest else first)


def _points(values: pa.Array) -> tuple[Floats, bool] | None:
    """Numbers, of dates their days since 1970, and whether they are dates; ``None`` of others."""
    written = is_text(values.type)
    if written and are_dates(values).all():
        values = pc.utf8_slice_codeunits(values, 0, 10).cast(pa.date32())
    if is_moment(values.type):
        return as_floats(values.cast(pa.timestamp("us")).cast(pa.int64())) / DAY, True
    are = is_number(values.type) or (written and bool(are_numbers(values).all()))
    return (as_floats(values), False) if are else None


def _bars_of_numbers(numbers: Floats, counts: Ints, *, dates: bool = False) -> tuple[Bar, ...]:
    """Bars of one width between the least and the largest number."""
    there = np.isfinite(numbers)
    if not there.any():
        return ()
    numbers, counts = numbers[there], counts[there]
    low, high = float(numbers.min()), float(numbers.max())
    width = (high - low) / BARS or 1.0
    place = np.clip(((numbers - low) / width).astype(np.int64), 0, BARS - 1)
    sums = np.bincount(place, counts, BARS).astype(np.int64)
    ends = [low + at * width for at in range(BARS + 1)]
    said = [str(np.datetime64(int(np.floor(end)), "D")) if dates else f"{end:.6g}" for end in ends]
    return _hidden([(int(sums[at]), said[at], said[at + 1]) for at in range(BARS)])


def hidden(counts: Sequence[int]) -> set[int]:
    """Which counts are not shown: the small ones, and all of the least size that is not small.

    Their total is known, and this rule. It does not ask where a count stands: the hidden ones in
    any other order would be hidden alike, so that each could be a small one or the larger one.
    """
    if not any(0 < count < FEWEST for count in counts):
        return set()
    least = min((count for count in counts if count >= FEWEST), default=0)
    return {at for at, count in enumerate(counts) if 0 < count <= max(least, FEWEST - 1)}


def _hidden(bars: Sequence[tuple[int, str, str]]) -> tuple[Bar, ...]:
    """Bars without small counts."""
    gone = hidden([count for count, _, _ in bars])
    return tuple(
        Bar(None if at in gone else count, low, high) for at, (count, low, high) in enumerate(bars)
    )


def tables_of(bench: Bench) -> list[TableFigures]:
    """The tables of a project as its file names them; that of people first."""
    given = bench.place.given_schema()
    names = list(bench.place.project.sources)
    if given is not None and given.tables:
        names = sorted(given.tables, key=lambda name: not given.tables[name].persons)
    return [TableFigures(bench, name) for name in names]


def references_of(bench: Bench, tables: Sequence[TableFigures]) -> list[Reference]:
    """What refers to the keys of other tables, and how many records to nothing that is there."""
    table_of = {table.name: table for table in tables}
    found = []
    for table in tables:
        named = table.said.of if isinstance(table.said, TableSchema) else {}
        for column, to in named.items():
            other = table_of[to]
            key = other.said.key if isinstance(other.said, TableSchema) else None
            counted = partial(_orphans, table.columns.column(column), other.columns.column(key))
            name = f"reference {table.name} {column} {to}"
            figure = bench.figure(name, counted, of=bench.inputs)
            orphans, empty = figure.value
            found.append(Reference(table.name, column, to, orphans, empty, sure=True))
    return found


def found_there(reference: Reference, records: int) -> str:
    """How many records refer to one that is there; small counts, of others too, are hidden."""
    others = reference.orphans + reference.empty
    if 0 < others < FEWEST:
        return _("all but fewer than %s") % FEWEST
    if 0 < records - others < FEWEST:
        return _("fewer than %s") % FEWEST
    return f"{records - others:,}"


def _orphans(column: pa.ChunkedArray, keys: pa.ChunkedArray) -> tuple[int, int]:
    """Records that refer to nothing that is there, and to nothing at all."""
    array, known = column.combine_chunks(), keys.combine_chunks()
    there = set(printed(known.dictionary))
    lost = np.array([text not in there for text in printed(array.dictionary)], dtype=np.bool_)
    codes = codes_of(array)
    return int(lost[codes[codes >= 0]].sum()), int((codes < 0).sum())
