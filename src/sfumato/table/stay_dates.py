"""When the rows of several tables were: by stay, a record and what belongs to it.

A stay has one day, that of its uppermost record which has a date. All other dates of its records
are days after it. What else tells when something was is looked for, too: an absolute date beside
moved ones tells by how much they were moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from sfumato.core.arrays import Bools, Codes, Ints
from sfumato.schema import Event, EventKind, Schema
from sfumato.table.domains import encode_event
from sfumato.table.header_words import words_of
from sfumato.table.joined_tables import Joined, in_order
from sfumato.table.numbering import Accumulator
from sfumato.table.sources import as_numpy, is_moment
from sfumato.table.table import MISSING, NO_DATE, NumberDomain, StayDates

DAY = 86_400 * 10**6
"""Microseconds of a day."""
YEAR = 366
SHARE = 0.5
"""Share of the values of a column that say when something was, from which on it counts as one."""
_MONTHS = (
    "jan", "ene", "gen", "feb", "fev", "fév", "mar", "mär", "mae", "apr", "abr",
    "avr", "may", "mai", "mag", "jun", "giu", "jul", "lug", "aug", "ago", "aou",
    "aoû", "sep", "set", "oct", "okt", "ott", "out", "nov", "dec", "dez", "dic",
    "déc",
)  # fmt: skip
_MONTH = f"(?:{'|'.join(_MONTHS)})"
_DATED = (
    rf"(?i)^\s*(?:(?:18|19|20)\d\d(?:[-/. ](?:Q?\d|{_MONTH})|Q\d|(?:0[1-9]|1[0-2])(?:[0-3]\d)?\D*$)"
    rf"|\d{{1,2}}[-/. ](?:\d{{1,2}}|{_MONTH}\pL*)[-/. ]{{1,2}}(?:\d\d)?\d\d\b"
    rf"|{_MONTH}\pL*[-/. ](?:\d\d)?\d\d\b)"
)
_YEAR = r"^\s*(?:18|19|20)\d\d(?:\.0*)?\s*$"
_AGE = {"age", "ages", "agegroup", "alter", "edad", "eta", "idade", "leeftijd", "alder", "yas"}


def stay_dates(
    schema: Schema,
    found: Joined,
    columns: Mapping[str, pa.Table],
    names: Sequence[str],
    parents: Sequence[Codes],
) -> StayDates | None:
    """When the records of some tables were; ``None`` where none has a date.

    Parameters
    ----------
    names
        The tables, whose records are below each other.
    parents
        As `Table.parents` has them.
    """
    sizes = [len(found.rows[name]) for name in names]
    starts = np.cumsum([0, *sizes])
    depth = max(len(schema.tables[name].dates) for name in names)
    if not depth:
        return None
    days = np.full((depth, starts[-1]), NO_DATE, dtype=np.int64)
    first, last = (np.full((depth, len(names)), NO_DATE, dtype=np.int64) for _ in range(2))
    placed = {}
    for part, name in enumerate(names):
        for place, column in enumerate(schema.tables[name].dates):
            placed[f"{name}.{column}"] = part, place
            own = _days(columns[name].column(column), schema)
            days[place, starts[part] : starts[part + 1]] = own
            if (own != NO_DATE).any():
                has = own[own != NO_DATE]
                first[place, part], last[place, part] = has.min(), has.max()
    if (days == NO_DATE).all():
        return None
    order = {name: rank for rank, name in enumerate(in_order(found.layout))}
    rank = np.repeat([order[name] for name in names], sizes)
    anchor = _anchors(days[0], rank, parents)
    day = np.where(anchor >= 0, days[0][anchor], 0)
    dated = (days != NO_DATE) & (anchor >= 0)
    delays = np.where(dated, days - day, NO_DATE)
    known = days[days != NO_DATE]
    born = _within(schema, found, columns, names, (int(known.min()), int(known.max())))
    return StayDates(np.arange(starts[-1]), anchor, day, delays, first, last, placed, born)


def _anchors(days: Ints, rank: Ints, parents: Sequence[Codes]) -> Ints:
    """The uppermost record with a date, the earliest one, of all that belong together."""
    records = np.arange(len(days))
    ones, others = [records], [records]
    for parent in parents:
        # Whatever stands under one record belongs together: to the first that does.
        rows = np.flatnonzero(parent >= 0)
        _, first, of = np.unique(parent[rows], return_index=True, return_inverse=True)
        ones.append(rows)
        others.append(rows[first[of]])
    one, other = np.concatenate(ones), np.concatenate(others)
    links = sparse.coo_array((np.ones(len(one), np.int8), (one, other)), shape=(len(days),) * 2)
    stay = sparse.csgraph.connected_components(links, directed=False)[1]
    dated = np.flatnonzero(days != NO_DATE)
    order = dated[np.lexsort((dated, days[dated], rank[dated], stay[dated]))]
    uppermost = order[np.flatnonzero(np.diff(stay[order], prepend=-1))]
    anchor = np.full(int(stay.max(initial=-1)) + 1, MISSING, dtype=np.int64)
    anchor[stay[uppermost]] = uppermost
    found: Ints = anchor[stay]
    return found


def _days(column: pa.ChunkedArray, schema: Schema) -> Ints:
    """The day of each cell, `NO_DATE` for none."""
    read = Accumulator("date")
    for chunk in column.chunks:
        read.add(chunk)
    raw = read.finish()
    if not len(raw.values):
        return np.full(len(column), NO_DATE, dtype=np.int64)
    date = encode_event(raw, Event(kind=EventKind.DATE), schema.missing, [])
    assert isinstance(date.domain, NumberDomain)
    points = date.domain.points // (1 if date.domain.unit == "date" else DAY)
    return np.where(date.codes != MISSING, points[date.codes], NO_DATE)


def absolute_columns(
    schema: Schema, columns: Mapping[str, pa.Table], shown: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """The columns that go out and tell when something was, beside the dates of events.

    Parameters
    ----------
    shown
        By table, the columns that go out as they are or coarser, dates of events left out.
    """
    return tuple(_absolute(schema, columns, shown))


def _absolute(
    schema: Schema, columns: Mapping[str, pa.Table], shown: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    for name, own in shown.items():
        quasi = schema.tables[name].quasi_identifiers
        for column in own:
            values = pc.unique(columns[name].column(column)).drop_null()
            # Years of birth are known of everybody, and looked at by themselves.
            forms = (_DATED,) if column in quasi else (_DATED, _YEAR)
            if len(values) and (is_moment(values.type) or _share(values, *forms) >= SHARE):
                yield f"{name}.{column}"


def _share(values: pa.Array, *forms: str) -> float:
    texts = values.cast(pa.string())
    return max(
        float(pc.mean(pc.match_substring_regex(texts, form).cast(pa.int8())).as_py() or 0)
        for form in forms
    )


def _within(
    schema: Schema,
    found: Joined,
    columns: Mapping[str, pa.Table],
    names: Sequence[str],
    span: tuple[int, int],
) -> Bools:
    """Which records are of people whose birth may be within the days of the file."""
    people, own = columns[names[0]], schema.tables[names[0]]
    within = np.zeros(people.num_rows, dtype=np.bool_)
    first, last = (np.datetime64(each, "D").astype("datetime64[Y]").astype(int) for each in span)
    for column in own.quasi_identifiers:
        cells = people.column(column).cast(pa.string()).combine_chunks()
        is_age = not _AGE.isdisjoint(words_of(column))
        if not is_age and _share(pc.unique(cells).drop_null(), _YEAR) < SHARE:
            continue
        form = r"(?P<n>\d+)" if is_age else r"^\s*(?P<n>(?:18|19|20)\d\d)(?:\.0*)?\s*$"
        numbers = pc.struct_field(pc.extract_regex(cells, form), "n").cast(pa.float64())
        number = as_numpy(numbers.fill_null(np.nan)).astype(np.float64)
        if is_age:
            young = number * (YEAR - 1) <= span[1] - span[0] + YEAR
            within |= young | (np.isnan(number) & as_numpy(pc.is_valid(cells)))
        else:
            within |= (number >= 1970 + first) & (number <= 1970 + last)
    told: Bools = within[np.concatenate([found.person[name] for name in names])]
    return told
