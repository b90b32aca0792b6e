"""Values brought into one form before they are compared, by the kind of their column."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from sfumato.core.errors import InputError, unreadable_file
from sfumato.linkage.link_spec import (
    ColumnKind,
    ComparedColumn,
    LinkSpec,
    given_of,
    quoted,
    sql_name,
    surname_of,
)

if TYPE_CHECKING:
    import duckdb


# Not accents but letters, which `strip_accents` leaves.
_LETTERS = (("ß", "ss"), ("æ", "ae"), ("œ", "oe"))
_FROM, _TO = "øłđðıþ", "olddit"


def plain_sql(column: str) -> str:
    """A text in lower case without accents, as SQL."""
    text = f"strip_accents(lower({column}))"
    for letter, letters in _LETTERS:
        text = f"replace({text}, '{letter}', '{letters}')"
    text = f"translate({text}, '{_FROM}', '{_TO}')"
    # As many bytes as characters: most values, which then skip all replacements.
    ascii_only = f"strlen({column}) = length({column})"
    return f"CASE WHEN {ascii_only} THEN lower({column}) ELSE {text} END"


def spaced_sql(text: str) -> str:
    """A text with single spaces between its words and none around them; empty is missing."""
    single = f"regexp_replace({text}, '\\s+', ' ', 'g')"
    return f"nullif(trim({single}), '')"


def not_repeated_sql(text: str, length: int) -> str:
    """A text, missing where it is one character again and again: 0000000, 9999999."""
    repeated = f"replace({text}, left({text}, 1), '') = ''"
    return f"CASE WHEN length({text}) >= {length} AND {repeated} THEN NULL ELSE {text} END"


SHORT = (
    ("st", "street|saint"),
    ("rd", "road"),
    ("ave", "avenue|av"),
    ("dr", "drive"),
    ("pl", "place"),
    ("cres", "crescent|cr"),
    ("cct", "circuit"),
    ("ct", "court"),
    ("tce", "terrace"),
    ("ln", "lane"),
    ("sq", "square"),
    ("mt", "mount"),
)
"""Short words, and the words that they stand for."""


def address_sql(column: str) -> str:
    """Part of an address in lower case, as SQL: ``12, High Street`` is ``12 high st``."""
    letters = f"regexp_replace({plain_sql(column)}, '''', '', 'g')"
    text = spaced_sql(f"regexp_replace({letters}, '[^\\p{{L}}\\p{{N}}]', ' ', 'g')")
    for short, words in SHORT:
        text = f"regexp_replace({text}, '\\b({words})\\b', '{short}', 'g')"
    return text


_SEX = (("male", "m"), ("man", "m"), ("female", "f"), ("woman", "f"))


def category_sql(column: str) -> str:
    """A category in lower case without punctuation, as SQL; ``Female`` and ``F`` are ``f``."""
    text = spaced_sql(f"regexp_replace({plain_sql(column)}, '[^\\p{{L}}\\p{{N}}+<>]', ' ', 'g')")
    words = " ".join(f"WHEN '{word}' THEN '{letter}'" for word, letter in _SEX)
    return f"CASE {text} {words} ELSE {text} END"


PIVOT = 30
"""Years of two digits from here on are of the twentieth century."""

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_GAP = "[-/. ]"
_YEAR_FIRST = f"^(\\d{{4}}){_GAP}(\\d{{1,2}}){_GAP}(\\d{{1,2}})$"
_COMPACT = "^(1[89]|20)(\\d\\d)(\\d\\d)(\\d\\d)$"
_COMPACT_LAST = "^(\\d\\d)(\\d\\d)((?:1[89]|20)\\d\\d)$"
_YEAR_LAST = f"^(\\d{{1,2}}){_GAP}(\\d{{1,2}}){_GAP}(\\d{{4}})$"
_SHORT_YEAR = f"^(\\d{{1,2}}){_GAP}(\\d{{1,2}}){_GAP}(\\d{{2}})$"
_DAY_MONTH = "^(\\d{1,2})(?:st|nd|rd|th)?[-/., ]*([a-z]{3})[a-z]*[-/., ]*(\\d{4}|\\d{2})$"
_MONTH_DAY = "^([a-z]{3})[a-z]*[-/., ]*(\\d{1,2})(?:st|nd|rd|th)?[-/., ]+(\\d{4})$"
_TIME = "[t ]\\d{1,2}:\\d\\d.*$"


_NO_DAY = (
    "^(1[89]|20)\\d\\d-(0[1-9]|1[0-2])-(0[1-9]|[1-8]\\d|9[0-8])$",
    "^(1[89]|20)\\d\\d-(0[1-9]|[1-8]\\d|9[0-8])-(0[1-9]|[1-8]\\d|9[0-8])$",
)
"""Texts of impossible dates: with a month, and without; 00 and 99 mean that nobody knew it."""


def date_sql(column: str, *, day_first: bool) -> str:
    """A date as ISO text, as SQL; missing where it cannot be read.

    A day that the calendar does not have, such as 31 February, stays as the text that it is
    written as, in the order of ISO: two records with the same mistake agree on it.

    ``1980-03-04``, ``19800304``, ``4/3/1980``, ``04.03.80``, ``4 Mar 1980`` and ``March 4, 1980``
    are read, a time of day behind them left out. Where day and month can only be the other way
    round they are.

    Parameters
    ----------
    day_first
        Whether the day stands before the month where both are numbers before a year.
    """
    text = f"trim(regexp_replace(lower({column}), '{_TIME}', ''))"
    compact = f"regexp_replace({text}, '{_COMPACT}', '\\1\\2-\\3-\\4')"
    # The other order is tried next, and wins where the first gives no day of the calendar.
    orders = ((3, 2, 1), (3, 1, 2)) if day_first else ((3, 1, 2), (3, 2, 1))
    compact_last = [_parts_in_order(text, _COMPACT_LAST, order) for order in orders]
    in_order: tuple[tuple[str, list[str], list[str]], ...] = (
        (_YEAR_FIRST, [_parts_in_order(text, _YEAR_FIRST, (1, 2, 3))], []),
        (_COMPACT, [compact], compact_last),  # 19101920 is no day of 1910, but one of 1920
        (_YEAR_LAST, [_parts_in_order(text, _YEAR_LAST, order) for order in orders], []),
        (_COMPACT_LAST, compact_last, []),
    )
    ways = []
    for pattern, texts, others in in_order:
        # Real dates of any reading before impossible ones, which only the usual reading may keep.
        dates = [f"CAST(try_cast({text} AS DATE) AS VARCHAR)" for text in (*texts, *others)]
        kept = [
            f"CASE WHEN regexp_matches({text}, '{written}') THEN {text} END"
            for written in _NO_DAY
            for text in texts
        ]
        ways.append(
            f"WHEN regexp_matches({text}, '{pattern}') THEN coalesce({', '.join(dates + kept)})"
        )
    ways += [_short_year(text, day_first), _day_month(text), _month_day(text)]
    return f"CASE {' '.join(ways)} END"


def day_first_sql(column: str) -> str:
    """Whether the day or the month stands first in a date of numbers before a year, as SQL.

    1 if only the day can, -1 if only the month can, 0 if both; missing for other dates.
    """
    text = f"trim(regexp_replace(lower({column}), '{_TIME}', ''))"
    text = f"regexp_replace({text}, '{_COMPACT_LAST}', '\\1-\\2-\\3')"
    pattern = f"^(\\d{{1,2}}){_GAP}(\\d{{1,2}}){_GAP}(?:\\d{{4}}|\\d{{2}})$"
    first, second = (
        f"try_cast(regexp_extract({text}, '{pattern}', {n}) AS INTEGER)" for n in (1, 2)
    )
    return f"CASE WHEN {first} > 12 THEN 1 WHEN {second} > 12 THEN -1 WHEN {first} > 0 THEN 0 END"


def _parts_in_order(text: str, pattern: str, order: tuple[int, ...]) -> str:
    """Year, month and day of two digits each, joined by hyphens."""
    year, *rest = (f"regexp_extract({text}, '{pattern}', {group})" for group in order)
    return " || '-' || ".join([year, *(f"lpad({each}, 2, '0')" for each in rest)])


def _year(digits: str) -> str:
    return (
        f"CASE WHEN length({digits}) = 4 THEN {digits} "
        # Texts of two digits compare as numbers do.
        f"WHEN {digits} >= '{PIVOT}' THEN '19' || {digits} ELSE '20' || {digits} END"
    )


def _short_year(text: str, day_first: bool) -> str:
    one, two, year = (f"regexp_extract({text}, '{_SHORT_YEAR}', {n})" for n in (1, 2, 3))
    pairs = ((two, one), (one, two)) if day_first else ((one, two), (two, one))
    either = ", ".join(
        f"try_cast(({_year(year)}) || '-' || {month} || '-' || {day} AS DATE)"
        for month, day in pairs
    )
    dates = f"CAST(coalesce({either}) AS VARCHAR)"
    return f"WHEN regexp_matches({text}, '{_SHORT_YEAR}') THEN {dates}"


def _month(word: str) -> str:
    months = ", ".join(f"'{month}'" for month in _MONTHS.split())
    return f"CAST(list_position([{months}], {word}) AS VARCHAR)"


def _day_month(text: str) -> str:
    day, month, year = (f"regexp_extract({text}, '{_DAY_MONTH}', {n})" for n in (1, 2, 3))
    return (
        f"WHEN regexp_matches({text}, '{_DAY_MONTH}') "
        f"THEN CAST(try_cast(({_year(year)}) || '-' || {_month(month)} || '-' || {day} AS DATE) "
        "AS VARCHAR)"
    )


def _month_day(text: str) -> str:
    month, day, year = (f"regexp_extract({text}, '{_MONTH_DAY}', {n})" for n in (1, 2, 3))
    return (
        f"WHEN regexp_matches({text}, '{_MONTH_DAY}') "
        f"THEN CAST(try_cast({year} || '-' || {_month(month)} || '-' || {day} AS DATE) AS VARCHAR)"
    )


def email_sql(column: str) -> str:
    """An e-mail address in lower case, as SQL; text without an @ is missing."""
    text = f"regexp_replace(lower({column}), '\\s|^mailto:|[<>]', '', 'g')"
    return f"CASE WHEN contains({text}, '@') THEN {text} END"


UNKNOWN_FROM = 5
"""Length from which one character again and again stands for an unknown number."""


def identifier_sql(column: str) -> str:
    """A number of a person without separators and leading zeros, as SQL."""
    # Readers that made floats of numbers with gaps wrote 123.0.
    whole = f"regexp_replace(upper({column}), '[.]0+$', '')"
    text = f"regexp_replace({whole}, '[^\\p{{L}}\\p{{N}}]', '', 'g')"
    # Leading zeros are lost where a table was once read as numbers.
    text = f"nullif(regexp_replace({text}, '^0+(\\d+)$', '\\1'), '')"
    return not_repeated_sql(text, UNKNOWN_FROM)


TITLES = (
    "mr mrs ms miss mx dr doctor prof professor sir dame rev reverend fr father sr sister "
    "herr frau monsieur madame mme mlle senor senora"
)
"""Words before a name that are no part of it."""
SUFFIXES = "jr junior sr senior ii iii iv esq phd md obe mbe"
"""Words behind a name that are no part of it."""

_TITLES = f"^(({'|'.join(TITLES.split())})\\s+)+(\\S)"
_SUFFIXES = f"(\\S)(\\s+({'|'.join(SUFFIXES.split())}))+$"


def _letters_sql(text: str) -> str:
    """Letters and single spaces; a hyphen or full stop parts words, an apostrophe does not."""
    parted = f"regexp_replace({text}, '[-_./,;()0-9]+', ' ', 'g')"
    return spaced_sql(f"regexp_replace({parted}, '[^\\p{{L}}\\p{{M}} ]', '', 'g')")


def _untitled_sql(text: str) -> str:
    return f"regexp_replace({text}, '{_TITLES}', '\\3')"


def given_name_sql(column: str) -> str:
    """Given names in lower case, without titles, as SQL: ``Dr. Anne-Marie`` is ``anne marie``."""
    return _untitled_sql(_letters_sql(plain_sql(column)))


def surname_sql(column: str) -> str:
    """A surname in lower case, as SQL: ``O'Brien, Jr.`` is ``obrien``."""
    untitled = _untitled_sql(_letters_sql(plain_sql(column)))
    return f"regexp_replace({untitled}, '{_SUFFIXES}', '\\1')"


def full_name_sql(column: str) -> str:
    """Given names and surname in this order, as SQL: ``Smith, Dr John`` is ``john smith``."""
    # Before the comma is read: Smith, Jr. is no surname before a given name.
    suffix = f"[,\\s]+({'|'.join(SUFFIXES.split())})[.]?\\s*$"
    without = f"regexp_replace({column}, '{suffix}', '', 'i')"
    return surname_sql(f"regexp_replace({without}, '^([^,]+),(.*[^, ].*)$', '\\2 \\1')")


def given_in_full_sql(name: str) -> str:
    """The given names in a standardised full name: all words but the last; missing if one."""
    return f"nullif(regexp_extract({name}, '^(.*) \\S+$', 1), '')"


def surname_in_full_sql(name: str) -> str:
    """The surname in a standardised full name: its last word."""
    return f"split_part({name}, ' ', -1)"


def read_nicknames(path: Path) -> pa.Table:
    """Read a CSV file of two columns, nickname and name; a header is taken for a pair of names.

    Each nickname stands once, with the first name given for it.
    """
    subject = f"file of nicknames {path.name}"
    names: dict[str, str] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:
            for number, row in enumerate(csv.reader(text), 1):
                if not row:
                    continue
                if len(row) != 2:
                    raise InputError(
                        subject,
                        "must have two columns, nickname and name",
                        found=f"{len(row)} cells in line {number}",
                    )
                # The first name for a nickname: `formal_sql` asks for one value.
                names.setdefault(row[0], row[1])
    except (UnicodeDecodeError, csv.Error):
        raise InputError(subject, "must be a CSV file in UTF-8") from None
    except OSError as error:
        raise unreadable_file(subject, error) from None
    types = pa.schema([("nickname", pa.string()), ("name", pa.string())])
    return pa.table([pa.array(names), pa.array(names.values())], schema=types)


def formal_sql(name: str) -> str:
    """The name that the first of some given names stands for, as SQL.

    The database has a table ``nicknames``, standardised, with each nickname once. Its columns
    have names that no column of a specification has.
    """
    first = f"split_part({name}, ' ', 1)"
    return f"coalesce((SELECT formal__ FROM nicknames WHERE nickname__ = {first}), {first})"


def number_sql(column: str) -> str:
    """A number without leading zeros or a decimal part of zeros, as SQL: ``007.0`` is ``7``."""
    text = f"regexp_replace(lower({column}), '\\s', '', 'g')"
    text = f"regexp_replace({text}, '[.]0+$', '')"
    return f"nullif(regexp_replace({text}, '^0+(\\d)', '\\1'), '')"


DIGITS = 9
"""Digits that are kept: what stands before them is the country's code or a trunk prefix."""
FEWEST = 5
"""A number of fewer digits is missing."""


def phone_sql(column: str) -> str:
    """The last nine digits of a telephone number, as SQL.

    ``+44 20 7946 0018`` and ``020 7946 0018`` are ``079460018``.
    """
    whole = f"regexp_replace({column}, '[.]0+$|(?i:\\s*(ext|x)[. ]*\\d+$)', '')"
    digits = f"right(regexp_replace({whole}, '[^0-9]', '', 'g'), {DIGITS})"
    return not_repeated_sql(f"CASE WHEN length({digits}) >= {FEWEST} THEN {digits} END", FEWEST)


def postcode_sql(column: str) -> str:
    """A postcode without spaces, as SQL: ``sw1a 1aa`` is ``SW1A1AA``.

    The four digits behind an American one are left out, and so are leading zeros, which a
    column that was once read as numbers has lost.
    """
    whole = f"regexp_replace(upper(trim({column})), '[.]0+$', '')"
    whole = f"regexp_replace({whole}, '^(\\d{{5}})-?\\d{{4}}$', '\\1')"
    text = f"regexp_replace({whole}, '[^A-Z0-9]', '', 'g')"
    return f"nullif(regexp_replace({text}, '^0+(\\d+)$', '\\1'), '')"


_BY_KIND: dict[ColumnKind, Callable[[str], str]] = {
    ColumnKind.GIVEN_NAME: given_name_sql,
    ColumnKind.SURNAME: surname_sql,
    ColumnKind.FULL_NAME: full_name_sql,
    ColumnKind.POSTCODE: postcode_sql,
    ColumnKind.PHONE: phone_sql,
    ColumnKind.IDENTIFIER: identifier_sql,
    ColumnKind.EMAIL: email_sql,
    ColumnKind.ADDRESS: address_sql,
    ColumnKind.CATEGORY: category_sql,
    ColumnKind.NUMBER: number_sql,
}


@dataclass(frozen=True, slots=True)
class Compared:
    """One comparison: a column, or one of the two names in a column of full names.

    Attributes
    ----------
    name
        How it is called: the column's SQL name, with ``_given`` or ``_surname`` for parts of a
        full name.
    term_frequency
        Whether agreement on a rare value counts more; ``None`` leaves it to the kind.
    """

    name: str
    kind: ColumnKind
    term_frequency: bool | None
    column: str


def comparisons_of(name: str, column: ComparedColumn) -> tuple[Compared, ...]:
    """The comparisons of a column: one, two of a full name, none where it is not compared."""
    own = sql_name(name)
    if not column.compare:
        return ()
    if column.kind is ColumnKind.FULL_NAME:
        parts = ((given_of(own), ColumnKind.GIVEN_NAME), (surname_of(own), ColumnKind.SURNAME))
        return tuple(Compared(part, kind, column.term_frequency, name) for part, kind in parts)
    return (Compared(own, column.kind, column.term_frequency, name),)


def standardised_sql(kind: ColumnKind, column: str) -> str:
    """A standardised value, as SQL; dates have a file of their own."""
    return _BY_KIND[kind](column)


def parts_sql(name: str) -> dict[str, str]:
    """The two names in a standardised full name: name of the part, and SQL."""
    own = quoted(name)
    return {given_of(name): given_in_full_sql(own), surname_of(name): surname_in_full_sql(own)}


UNIQUE_ID = "unique_id"
"""The column of the standardised tables that holds the number of the record."""
FORMAL = "_formal"
"""Ends the name of the column with the names that nicknames stand for."""


@dataclass(frozen=True)
class Standardised:
    """The standardised tables in the database.

    Attributes
    ----------
    tables
        Name of each source's table.
    impossible
        By column of dates: number of values that are no date in any spelling; they are missing.
    defaults
        By column of dates: number of values that stand for an unknown one, as too many people of
        other names have them; they are missing, too.
    formal
        Whether given names have a second column, with the names that nicknames stand for.
    """

    tables: tuple[str, ...]
    impossible: Mapping[str, int]
    formal: bool
    defaults: Mapping[str, int] = field(default_factory=dict)


def standardise(
    connection: duckdb.DuckDBPyConnection, halves: Sequence[Path], spec: LinkSpec
) -> Standardised:
    """Make a table of standardised values per source, columns that it lacks missing throughout."""
    if spec.nicknames is not None:
        _add_nicknames(connection, spec.nicknames)
    impossible = dict.fromkeys((n for n, c in spec.columns.items() if _is_date(c)), 0)
    tables = []
    for number, half in enumerate(halves):
        relation = connection.read_parquet(str(half))
        having = set(relation.columns)
        columns = {n: c for n, c in spec.columns.items() if sql_name(n) in having}
        first = _day_first(relation, columns)
        select = [f"record AS {UNIQUE_ID}"]
        for name, column in spec.columns.items():
            own = sql_name(name)
            sql = _column_sql(own, column, first) if name in columns else "CAST(NULL AS VARCHAR)"
            select.append(f"{sql} AS {quoted(own)}")
        table = table_name(number)
        parts = ", ".join(_parts(spec))
        connection.execute(
            f"CREATE TABLE {table} AS SELECT *{', ' + parts if parts else ''} FROM "
            f"(SELECT {', '.join(select)} FROM read_parquet($1))",
            [str(half)],
        )
        tables.append(table)
        for name in impossible:
            if name in columns:
                impossible[name] += _lost(connection, table, half, sql_name(name))
    defaults = {n: _without_defaults(connection, tables, spec, sql_name(n)) for n in impossible}
    return Standardised(tuple(tables), impossible, spec.nicknames is not None, defaults)


_NAMES = (ColumnKind.SURNAME, ColumnKind.FULL_NAME, ColumnKind.GIVEN_NAME)
_OF_MANY, _TIMES, _NAMED = 0.01, 20, 20
"""Share of all dates from which one is a default where it is 20 times as frequent as the others are
on average, and how many different names its records have: a choice. Where years alone are known, or
people were born within a fortnight, all days are about as frequent, and stay."""


def _without_defaults(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[str], spec: LinkSpec, own: str
) -> int:
    """Take out the dates that stand for unknown ones; gives how many values that were."""
    kinds = {sql_name(n): c.kind for n, c in spec.columns.items()}
    name = next((n for kind in _NAMES for n, k in kinds.items() if k is kind), None)
    # Without names a date of many records may be that of one person's many records.
    if name is None:
        return 0
    union = " UNION ALL ".join(f"SELECT {quoted(own)}, {quoted(name)} FROM {t}" for t in tables)
    found = connection.execute(
        f"WITH dates AS (SELECT {quoted(own)} AS day, count(*) AS n, "
        f"count(DISTINCT {quoted(name)}) AS names FROM ({union}) "
        "WHERE day IS NOT NULL GROUP BY 1), "
        "every AS (SELECT *, sum(n) OVER () AS total, count(*) OVER () AS days FROM dates) "
        f"SELECT day, CAST(n AS BIGINT) FROM every WHERE n >= {_NAMED} "
        f"AND names >= {_NAMED} AND n >= {_OF_MANY} * total "
        f"AND n * (days - 1) >= {_TIMES} * (total - n)"
    ).fetchall()
    for day, _ in found:
        for table in tables:
            connection.execute(
                f"UPDATE {table} SET {quoted(own)} = NULL WHERE {quoted(own)} = $1", [day]
            )
    return sum(n for _, n in found)


def table_name(number: int) -> str:
    """Name of a source's table; the names are in the order of the sources."""
    return f"source_{number:03}"


def _is_date(column: ComparedColumn) -> bool:
    return column.kind is ColumnKind.DATE


def _column_sql(own: str, column: ComparedColumn, day_first: Mapping[str, bool]) -> str:
    if _is_date(column):
        return date_sql(quoted(own), day_first=day_first[own])
    return standardised_sql(column.kind, quoted(own))


def _parts(spec: LinkSpec) -> list[str]:
    """What is taken of standardised columns: the parts of full names, and formal names."""
    parts = []
    for name, column in spec.columns.items():
        given = quoted(sql_name(name))
        if column.kind is ColumnKind.FULL_NAME:
            named = parts_sql(sql_name(name))
            parts += [f"{sql} AS {quoted(part)}" for part, sql in named.items()]
            given = next(iter(named.values()))
        if spec.nicknames is not None and column.kind in {
            ColumnKind.GIVEN_NAME,
            ColumnKind.FULL_NAME,
        }:
            own = sql_name(name) + ("_given" if column.kind is ColumnKind.FULL_NAME else "")
            parts.append(f"{formal_sql(given)} AS {quoted(own + FORMAL)}")
    return parts


def _add_nicknames(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    table = read_nicknames(path)
    connection.register("nicknames_as_given", table)
    nickname, name = given_name_sql("nickname"), given_name_sql("name")
    connection.execute(
        "CREATE TABLE nicknames AS SELECT nickname AS nickname__, min(name) AS formal__ FROM "
        f"(SELECT {nickname} AS nickname, {name} AS name FROM nicknames_as_given) "
        "WHERE nickname IS NOT NULL AND name IS NOT NULL GROUP BY nickname"
    )
    connection.unregister("nicknames_as_given")


def _day_first(
    relation: duckdb.DuckDBPyRelation, columns: Mapping[str, ComparedColumn]
) -> dict[str, bool]:
    """Per column of dates: as the specification says, else as most of its dates say."""
    said = {sql_name(n): c.day_first for n, c in columns.items() if _is_date(c)}
    asked = [name for name, order in said.items() if order is None]
    votes: dict[str, int] = {}
    if asked:
        sums = ", ".join(f"coalesce(sum({day_first_sql(quoted(name))}), 0)" for name in asked)
        votes = dict(zip(asked, relation.aggregate(sums).fetchall()[0], strict=True))
    return {n: votes.get(n, 0) >= 0 if order is None else order for n, order in said.items()}


def _lost(connection: duckdb.DuckDBPyConnection, table: str, half: Path, own: str) -> int:
    count = f"count({quoted(own)})"
    rows = connection.execute(
        f"SELECT (SELECT {count} FROM read_parquet($1)) - (SELECT {count} FROM {table})",
        [str(half)],
    ).fetchall()
    return int(rows[0][0])
