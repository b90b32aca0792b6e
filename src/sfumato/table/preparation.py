"""A source whose columns the schema's recipe has cleaned, and those that it makes of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Bools, Ints
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted
from sfumato.schema import Cleaning, Schema
from sfumato.schema.recipe import StepCount, Unreadable, in_order
from sfumato.table import sources
from sfumato.table.cleaning import Cleaned, cleaned
from sfumato.table.scalars import DAY, are_dates, date_points, mean_missing, printed
from sfumato.table.table import EPOCH

MOST_KINDS = 4
"""Kinds of what cannot be read that an error names."""


@dataclass
class Tally:
    """What the steps did to the records so far, and the first row of what cannot be read.

    Without rows where records have no order.
    """

    counts: dict[tuple[str, str], StepCount] = field(default_factory=dict)
    unreadable: dict[str, dict[str, int]] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, found: Cleaned, row: int) -> None:
        """Count a batch of a column that begins at that row."""
        for step, count in found.counts.items():
            known = self.counts.get((name, step))
            self.counts[name, step] = count if known is None else known.plus(count)
        kinds = self.unreadable.setdefault(name, {})
        for kind, cells in found.unreadable.items():
            kinds[kind] = kinds.get(kind, 0) + cells
        if found.first >= 0:
            self.first.setdefault(name, row + found.first)


class Preparation:
    """What a recipe did to the columns of a source that were read to their end."""

    def __init__(self, schema: Schema, subject: str, names: Sequence[str]) -> None:
        self.recipe, self._missing, self._subject = schema.recipe, schema.missing, subject
        self._order = schema.derived()
        self._tally = Tally()
        self._check(names)

    def _check(self, names: Sequence[str]) -> None:
        known, derived = set(names), set(self._order)
        there = [name for name in self._order if name in known]
        if there:
            raise InputError(
                f"the recipe's column '{there[0]}'",
                "must have a name of its own, as it is made of others",
                found=f"a column of {self._subject} with that name",
                advice="call it otherwise",
            )
        for name, line in self.recipe.items():
            for needed in line.sources if line.derives else (name,):
                if needed not in known | derived:
                    raise InputError(
                        self._subject,
                        f"must have the column '{needed}', of which the recipe makes '{name}'"
                        if line.derives
                        else f"must have the column '{needed}', which the recipe cleans",
                        found="no such column",
                        advice="correct the name in [recipe], or check that the file's first line "
                        "is its header",
                    )

    @property
    def derived(self) -> tuple[str, ...]:
        """The columns that are made of others."""
        return self._order

    @property
    def counts(self) -> tuple[StepCount, ...]:
        """What each step did, in the order of the recipe."""
        place = {name: at for at, name in enumerate(self.recipe)}
        return tuple(sorted(self._tally.counts.values(), key=lambda each: place[each.column]))

    def needed(self, columns: Sequence[str]) -> list[str]:
        """The columns of the source that some columns need."""
        found: dict[str, None] = {}
        waiting = list(columns)
        while waiting:
            name = waiting.pop(0)
            line = self.recipe.get(name)
            if line is not None and line.derives:
                waiting += line.sources
            else:
                found[name] = None
        return list(found)

    def of_batch(
        self, batch: pa.RecordBatch, columns: Sequence[str], tally: Tally, row: int = 0
    ) -> pa.RecordBatch:
        """Some columns of a batch, cleaned or made of others."""
        done: dict[str, pa.Array] = {}

        # A column may be made of one that is made itself: each is made once.
        def column(name: str) -> pa.Array:
            if name not in done:
                done[name] = self._column(name, batch, column, tally, row)
            return done[name]

        arrays = [column(name) for name in columns]
        schema = pa.schema([pa.field(n, a.type) for n, a in zip(columns, arrays, strict=True)])
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _column(
        self,
        name: str,
        batch: pa.RecordBatch,
        column: Callable[[str], pa.Array],
        tally: Tally,
        row: int,
    ) -> pa.Array:
        line = self.recipe.get(name)
        if line is None or not line.derives:
            # Cleaning looks into texts: other bytes than UTF-8 would show in the error they end in.
            given = batch.column(name)
            sources.check_utf8(given, name)
            if sources.is_bytes(given.type):
                raise InputError(
                    f"column '{name}'", "must hold single values to be cleaned", found="bytes"
                )
        if line is None:
            return given
        if not line.derives:
            found = cleaned(given, line, self._missing, name=name)
        elif line.parts:
            found = _date_of_parts([column(part) for part in line.parts], line, name, self._missing)
        else:
            found = self._time_between(name, line, column)
        tally.add(name, found, row)
        return found.values

    def _time_between(
        self, name: str, line: Cleaning, column: Callable[[str], pa.Array]
    ) -> Cleaned:
        since = _days(column(line.sources[0]), self._missing)
        day = line.at_day
        until = (
            _days(column(line.sources[1]), self._missing)
            if day is None
            else _Days.of(day, len(since.days))
        )
        known = since.known & until.known
        elapsed = _completed(since.days, until.days, line.age_unit)
        backwards = known & (since.days > until.days)
        strange = since.strange | until.strange
        unreadable = {"other than a date": strange, "a date after 'at'": backwards}
        marked = strange | backwards
        made = known & ~backwards
        what = line.steps()["from"]
        counts = {"from": StepCount(name, "from", what, int(made.sum()), int(marked.sum()))}
        kinds = {kind: int(each.sum()) for kind, each in unreadable.items() if each.any()}
        first = int(np.argmax(marked)) if marked.any() else -1
        return Cleaned(sources.from_numpy(elapsed, ~made), counts, kinds, first)

    def finish(self, tally: Tally) -> None:
        """Take over what was counted in a whole pass over some columns."""
        for name, kinds in tally.unreadable.items():
            line = self.recipe[name]
            if kinds and line.unreadable is Unreadable.REFUSE:
                raise self._unreadable(name, line, kinds, tally.first.get(name))
        # Put in the place of those before, not added: a column that is read twice counts once.
        self._tally.counts |= tally.counts

    def _unreadable(
        self, name: str, line: Cleaning, kinds: Mapping[str, int], row: int | None
    ) -> InputError:
        ordered = sorted(kinds.items(), key=lambda each: (-each[1], each[0]))
        found = [f"{kind} in {counted(cells, 'record')}" for kind, cells in ordered[:MOST_KINDS]]
        at = "" if row is None else f" (the first in row {row + 1:,})"
        said = ", ".join(found) + at
        said += f", and {len(ordered) - MOST_KINDS} kinds more" if ordered[MOST_KINDS:] else ""
        advice = 'correct its line in [recipe], or add unreadable = "missing"'
        if line.reads("date") and "numbers" in kinds:
            advice += '; numbers that Excel made of dates are "days since 1899-12-30"'
        return InputError(
            f"column '{name}' of {self._subject}",
            f"must be readable as [recipe] says: {'; '.join(line.steps().values())}",
            found=said,
            advice=advice,
        )


def prepared(source: sources.Source, schema: Schema) -> sources.Source:
    """The source with its columns cleaned as the schema's recipe says, and those made of others.

    Work is done when the columns are read; a source that is prepared already stays as it is.
    """
    if not schema.recipe or source.counted is not None:
        return source
    preparation = Preparation(schema, source.subject, source.names)

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        tally, row = Tally(), 0
        for batch in source.batches(preparation.needed(columns)):
            yield preparation.of_batch(batch, columns, tally, row)
            row += batch.num_rows
        # Only a pass to the end counts every record.
        preparation.finish(tally)

    def column(name: str) -> Iterator[pa.Array]:
        if name in schema.recipe or source.column is None:
            return (batch.column(0) for batch in batches([name]))
        return source.column(name)

    return replace(
        source,
        names=(*source.names, *preparation.derived),
        batches=batches,
        # What a recipe makes may be numbers and dates.
        text=False,
        column=None if source.column is None else column,
        counted=lambda: preparation.counts,
    )


def fitting(schema: Schema, names: Sequence[str]) -> Schema:
    """The schema with those lines of its recipe that a table of these columns can follow.

    For tables beside the file, such as a register or one of several that are linked: they lack
    columns of the file, or have one already that the recipe makes there.
    """
    there, kept = set(names), {}
    # A column that is made may be needed by the next line.
    for name in in_order(schema.recipe):
        line = schema.recipe[name]
        if (name not in names and set(line.sources) <= there) if line.derives else name in names:
            kept[name] = line
            there.add(name)
    return schema.model_copy(update={"recipe": kept})


def prepared_in_part(source: sources.Source, schema: Schema | None) -> sources.Source:
    """As `prepared`, of a table beside the file, by the lines that are `fitting`."""
    if schema is None or not schema.recipe:
        return source
    return prepared(source, fitting(schema, source.names))


def _date_of_parts(
    parts: Sequence[pa.Array], line: Cleaning, name: str, missing: Sequence[str]
) -> Cleaned:
    """The date of year, month and day; missing where all of them are."""
    texts = [_as_texts(part, missing) for part in parts]
    joined = pc.binary_join_element_wise(*texts, sources.from_texts(["-"])[0])
    day = "-%d" if len(parts) == len(("year", "month", "day")) else ""
    # Two digits mean a year only where a pivot says of which century.
    years = ("%Y",) if line.pivot is None else ("%Y", "%y")
    formats = tuple(f"{year}-{month}{day}" for year in years for month in ("%m", "%b"))
    found = cleaned(joined, Cleaning(date=formats, pivot=line.pivot), name=name)
    made = len(joined) - found.values.null_count
    some = ~sources.flags(pc.is_valid(joined)) & np.logical_or.reduce(
        [sources.flags(pc.is_valid(text)) for text in texts]
    )
    unreadable = dict(found.unreadable)
    first = found.first
    if some.any():
        unreadable["some of its parts missing"] = int(some.sum())
        first = min(place for place in (first, int(np.argmax(some))) if place >= 0)
    count = StepCount(name, "parts", line.steps()["parts"], made, sum(unreadable.values()))
    return Cleaned(found.values, {"parts": count}, unreadable, first)


def _as_texts(values: pa.Array, missing: Sequence[str]) -> pa.Array:
    """Values as the texts that they print as, null where there is none."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    coded = values.dictionary_encode()
    known = coded.dictionary
    if not len(known):
        return pa.nulls(len(values), pa.large_string())
    texts = (
        known.cast(pa.large_string())
        if sources.is_text(known.type)
        else sources.from_texts(printed(known))
    )
    none = sources.from_numpy(mean_missing(known, missing))
    return pc.if_else(none, pa.scalar(None, texts.type), texts).take(coded.indices)


@dataclass(frozen=True, eq=False)
class _Days:
    """Days since 1970, which cells have one, and which hold something else."""

    days: Ints
    known: Bools
    strange: Bools

    @classmethod
    def of(cls, day: date, cells: int) -> _Days:
        """The same day in all cells."""
        days = np.full(cells, (day - EPOCH).days, dtype=np.int64)
        return cls(days, np.ones(cells, dtype=np.bool_), np.zeros(cells, dtype=np.bool_))


def _days(values: pa.Array, missing: Sequence[str]) -> _Days:
    """The day of each cell of a column of dates, typed or as texts."""
    if not sources.is_moment(values.type):
        texts = _as_texts(values, missing)
        known = sources.flags(pc.is_valid(texts))
        # Points take no missing value: any date does in its place, as `known` leaves it out.
        filled = pc.fill_null(texts, "1970-01-01")
        right = are_dates(filled)
        dates = pc.if_else(sources.from_numpy(right), filled, "1970-01-01")
        return _Days(_as_days(dates), known & right, known & ~right)
    known = sources.flags(values.is_valid())
    days = _as_days(pc.fill_null(values, pa.scalar(EPOCH).cast(values.type)))
    return _Days(days, known, np.zeros(len(values), dtype=np.bool_))


def _as_days(values: pa.Array) -> Ints:
    points = date_points(values)
    return points.points // DAY if points.unit == "datetime" else points.points


def _completed(since: Ints, until: Ints, unit: str) -> Ints:
    """Completed years, months or days between two days, each of shape (records,).

    A year is completed on the day of the month that it began on; what began on 29 February is a
    year older on 1 March where there is no 29 February. Months likewise.
    """
    if unit == "days":
        return until - since
    months, days = zip(*(_months_and_days(each) for each in (since, until)), strict=True)
    completed: Ints = months[1] - months[0] - (days[1] < days[0])
    return completed // 12 if unit == "years" else completed


def _months_and_days(days: Ints) -> tuple[Ints, Ints]:
    """Months since 1970, and the day within them."""
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    return months.astype(np.int64), (dates - months.astype("datetime64[D]")).astype(np.int64)
