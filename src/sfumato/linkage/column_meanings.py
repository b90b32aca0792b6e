"""What the columns of a table mean, by their headers and a sample of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.linkage.link_sources import as_text
from sfumato.linkage.link_spec import RESERVED, ColumnKind, sql_name
from sfumato.schema import Schema
from sfumato.table.header_words import WORDS, identifies, named, words_of
from sfumato.table.sources import Source, is_bytes

ROWS = 20_000
"""Records of a table that are looked at, about."""


@dataclass(frozen=True)
class Sample:
    """Some records of a table.

    Attributes
    ----------
    rows
        Number of all its records.
    columns
        Its columns as text, bytes left out; empty cells are missing.
    """

    rows: int
    columns: pa.Table


def take_sample(source: Source, columns: Sequence[str], most: int = ROWS) -> Sample:
    """Every k-th record, k a power of two, so that at most the wanted number is kept.

    Parameters
    ----------
    source
        The table.
    columns
        Names of the columns wanted.
    most
        Number of records wanted at most.

    Raises
    ------
    InputError
        If the table cannot be read.
    """
    if not columns:
        return Sample(0, pa.table({}))
    every, rows = 1, 0
    kept: list[pa.RecordBatch] = []
    for batch in source.batches(columns):
        first = -rows % every
        kept.append(batch.take(pa.array(np.arange(first, batch.num_rows, every))))
        rows += batch.num_rows
        while sum(each.num_rows for each in kept) > most:
            every *= 2
            kept = _every_second(kept)
    arrays = {
        name: pa.chunked_array([as_text(batch.column(name), name) for batch in kept])
        for name in columns
        if not any(is_bytes(batch.column(name).type) for batch in kept)
    }
    return Sample(rows, pa.table(arrays))


def _every_second(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """The records at even places of those kept so far."""
    place, kept = 0, []
    for batch in batches:
        kept.append(batch.take(pa.array(np.arange(place % 2, batch.num_rows, 2))))
        place += batch.num_rows
    return kept


_GIVEN = (
    "given forename forenames firstname givenname fname gname christian vorname prenom middle "
    "middlename mname"
)
_SURNAME = "surname surnames lastname familyname lname sname nachname maiden"
_NAME = "name names fullname"
_NOT_A_PERSON = (
    "county city street town state country region district school company hospital drug file user "
    "product facility ward suburb province place clinic site"
)
_BIRTH = "dob birthdate birthday dateofbirth bday geburtsdatum"
_POSTCODE = "postcode postcodes zip zipcode postal postalcode plz pcode"
_EMAIL = "email emails mail"
_PHONE = "phone phones telephone tel mobile cell cellphone landline phonenumber"
_IDENTIFIER = "ssn nhs nhi mrn medicare nino passport nin licence license cpf personnummer soc"
_HOUSE = "house street building unit flat apartment door address stno addr"
_NUMBER = "number no nr num"
_ADDRESS = (
    "address addr street road suburb city town village municipality locality place strasse ort "
    "hometown"
)
_CATEGORY = (
    "sex gender state county region province country district race ethnic- nationality "
    "occupation job profession"
)


def kind_by_header(header: str) -> ColumnKind | None:
    """The kind that a column's name speaks of; ``None`` where it is not about who a person is.

    Parameters
    ----------
    header
        The name.
    """
    words = tuple(word.strip() for word in words_of(header))
    if not words:
        return None
    name = _name(words)
    if name is not None:
        return name
    if named(words, WORDS["sensitive"]) and not named(words, _IDENTIFIER):
        return None
    return _code(words) or _birth(words) or _place(words)


def _name(words: tuple[str, ...]) -> ColumnKind | None:
    if named(words, _NOT_A_PERSON):
        return None
    alone = len(words) == 1 or named(words, _NAME)
    given = named(words, _GIVEN) or ("first" in words and alone)
    surname = named(words, _SURNAME) or (named(words, "last family") and alone)
    if named(words, _BIRTH) or "birth" in words or "date" in words:
        return None
    if (given or "first" in words) and surname:
        return ColumnKind.FULL_NAME
    if surname:
        return ColumnKind.SURNAME
    if given:
        return ColumnKind.GIVEN_NAME
    return ColumnKind.FULL_NAME if named(words, _NAME) else None


def _code(words: tuple[str, ...]) -> ColumnKind | None:
    """Postcode, e-mail, telephone, number of a person."""
    if named(words, _POSTCODE) or {"post", "code"} <= set(words):
        return ColumnKind.POSTCODE
    if named(words, _EMAIL):
        return ColumnKind.EMAIL
    if named(words, _PHONE):
        return ColumnKind.PHONE
    numbered = named(words, "id number no nr security insurance")
    if named(words, _IDENTIFIER) or (named(words, "social national") and numbered):
        return ColumnKind.IDENTIFIER
    return None


def _birth(words: tuple[str, ...]) -> ColumnKind | None:
    """Date, year or place of birth."""
    born = named(words, "birth born") or any(word.startswith("birth") for word in words)
    if named(words, "place country city town state") and born:
        return ColumnKind.ADDRESS
    if named(words, "yob birthyear") or (born and named(words, "year month day yy mm dd")):
        return ColumnKind.NUMBER
    if named(words, "dobyy dobmm dobdd"):
        return ColumnKind.NUMBER
    if named(words, _BIRTH) or born:
        return ColumnKind.DATE
    return None


def _place(words: tuple[str, ...]) -> ColumnKind | None:
    """Parts of an address, and what groups people."""
    if named(words, _HOUSE) and named(words, _NUMBER):
        return ColumnKind.NUMBER
    if named(words, _ADDRESS):
        return ColumnKind.ADDRESS
    return ColumnKind.CATEGORY if named(words, _CATEGORY) else None


FILLED = 0.02
"""Share of records with a value from which a column is compared."""
FEW_VALUES = 12
"""Different values of a category up to which their frequencies are not worth their time."""
TELLING = 0.3
"""Share of different values from which a number can be that of a person."""


@dataclass(frozen=True)
class Found:
    """A column that is worth comparing.

    Attributes
    ----------
    name
        How the specification calls it.
    kind
        What it holds.
    headers
        Its header in each source that has it.
    filled
        Smallest share of records with a value.
    distinct
        Number of different values in the samples.
    why
        What was seen, without a value.
    """

    name: str
    kind: ColumnKind
    headers: Mapping[str, str]
    filled: float
    distinct: int
    why: str


def find_columns(
    samples: Mapping[str, Sample], schema: Schema | None, *, sources_needed: int
) -> list[Found]:
    """The columns to compare, in the order of the first table that has them.

    A column's name says its kind, and its values have to bear it out. Columns of different names
    are one where each table has just one of the kind. What a schema calls sensitive or
    insensitive is left out, and so is a full name beside its parts.

    Parameters
    ----------
    samples
        A sample of each table, by the source's name.
    schema
        What the columns are, where that is known.
    sources_needed
        Number of sources that must have a column.
    """
    kinds: dict[str, dict[str, ColumnKind]] = {}
    for source, sample in samples.items():
        kinds[source] = {}
        for header in sample.columns.column_names:
            values = sample.columns.column(header)
            kind = _kind(header, schema)
            if kind is None and is_direct(header, schema):
                kind = _by_looks(values)
            if kind is not None and _borne_out(values, kind):
                kinds[source][header] = kind
    found = []
    for name, headers in _alike(kinds).items():
        source, header = next(iter(headers.items()))
        if len(headers) >= sources_needed:
            values = [samples[s].columns.column(h) for s, h in headers.items()]
            found.append(_found(name, kinds[source][header], headers, values))
    return _without_repeats(found, samples)


def find_id(samples: Mapping[str, Sample]) -> str | None:
    """The column that numbers the records in every table; ``None`` if there is none.

    Parameters
    ----------
    samples
        A sample of each table.
    """
    first = next(iter(samples.values())).columns.column_names
    for header in first:
        own = sql_name(header)
        same = [
            [h for h in sample.columns.column_names if sql_name(h) == own]
            for sample in samples.values()
        ]
        if not own or not identifies(words_of(header)) or not all(len(h) == 1 for h in same):
            continue
        if kind_by_header(header) in {None, ColumnKind.CATEGORY}:
            columns = [
                sample.columns.column(h[0])
                for sample, h in zip(samples.values(), same, strict=True)
            ]
            if all(_unique(column) for column in columns):
                return own
    return None


def may_be_compared(header: str, schema: Schema | None) -> bool:
    """Whether a column is worth looking at: no other one is read.

    Parameters
    ----------
    header
        Its header.
    schema
        What the columns are, where that is known.
    """
    if is_direct(header, schema) or _kind(header, schema) is not None:
        return True
    return identifies(words_of(header)) and _is_identity(header, schema)


def is_direct(header: str, schema: Schema | None) -> bool:
    """Whether a schema calls a column a direct identifier."""
    names = () if schema is None else schema.direct_identifiers
    return sql_name(header) in {sql_name(name) for name in names}


def _unique(column: pa.ChunkedArray) -> bool:
    return not column.null_count and pc.count_distinct(column).as_py() == len(column)


def _kind(header: str, schema: Schema | None) -> ColumnKind | None:
    if schema is not None:
        wanted = {*schema.direct_identifiers, *schema.quasi_identifiers}
        others = {sql_name(name) for name in schema.columns() if name not in wanted}
        if sql_name(header) in others:
            return None
    return kind_by_header(header)


def _is_identity(header: str, schema: Schema | None) -> bool:
    """Whether a schema lets a column be about who a person is."""
    if schema is None:
        return True
    others = {sql_name(name) for name in (*schema.sensitive, *schema.insensitive)}
    return sql_name(header) not in others


_DATE = r"\d{1,4}[-/. ]\d{1,2}[-/. ]\d{1,4}|^\d{8}$|[A-Za-z]{3}"


def _by_looks(column: pa.ChunkedArray) -> ColumnKind | None:
    """The kind of a direct identifier whose name says nothing, by its values."""
    values = pc.drop_null(column)
    if not len(values):
        return None
    looks = (
        (ColumnKind.EMAIL, r"\S@\S"),
        (ColumnKind.DATE, r"^\d{4}-\d\d-\d\d|^\d{1,2}[/.]\d{1,2}[/.]\d{2,4}$"),
        (ColumnKind.IDENTIFIER, r"\d{4}"),
        (ColumnKind.FULL_NAME, r"^\p{L}+[,.]? +\p{L}"),
        (ColumnKind.SURNAME, r"^\p{L}+$"),
    )
    return next((kind for kind, look in looks if _share(values, look) > 0.8), None)


def _borne_out(column: pa.ChunkedArray, kind: ColumnKind) -> bool:
    """Whether values look as those of a kind do, and tell records apart."""
    filled = len(column) - column.null_count
    if filled < 2 or filled < FILLED * len(column):
        return False
    values = pc.drop_null(column)
    distinct = pc.count_distinct(values).as_py()
    if distinct < 2:
        return False
    if kind is ColumnKind.DATE:
        return _share(values, _DATE) > 0.7
    if kind is ColumnKind.EMAIL:
        return _share(values, "@") > 0.5
    if kind in {ColumnKind.IDENTIFIER, ColumnKind.PHONE}:
        return bool(distinct > TELLING * filled) and _share(values, r"\d") > 0.5
    if kind in {ColumnKind.GIVEN_NAME, ColumnKind.SURNAME, ColumnKind.FULL_NAME}:
        return _share(values, r"^\s*\p{L}") > 0.5 and pc.mean(pc.utf8_length(values)).as_py() < 60
    return True


def _share(values: pa.ChunkedArray, pattern: str) -> float:
    return float(pc.mean(pc.match_substring_regex(values, pattern)).as_py())


def _alike(kinds: Mapping[str, Mapping[str, ColumnKind]]) -> dict[str, dict[str, str]]:
    """By name: the header of each source that holds the same."""
    alike: dict[str, dict[str, str]] = {}
    kind_of: dict[str, ColumnKind] = {}
    for source, headers in kinds.items():
        for header, kind in headers.items():
            name = sql_name(header)
            if not name or name in RESERVED:
                name = f"{kind.value.replace(' ', '_')}_{name}".strip("_")
            if source not in alike.get(name, {}) and kind_of.setdefault(name, kind) is kind:
                alike.setdefault(name, {})[source] = header
    for kind in ColumnKind:
        _join_others(alike, [name for name in alike if kind_of[name] is kind])
    return alike


def _join_others(alike: dict[str, dict[str, str]], names: list[str]) -> None:
    """Take differently named columns of one kind for one, where each source has one of them."""
    partial = [name for name in names if set(alike[name]) != set().union(*map(set, alike.values()))]
    sources = [source for name in partial for source in alike[name]]
    if len(partial) < 2 or len(set(sources)) != len(sources):
        return
    for name in partial[1:]:
        alike[partial[0]] |= alike.pop(name)


def _found(
    name: str, kind: ColumnKind, headers: Mapping[str, str], values: Sequence[pa.ChunkedArray]
) -> Found:
    filled = min(1 - column.null_count / len(column) for column in values)
    distinct = pc.count_distinct(pa.chunked_array([c for v in values for c in v.chunks])).as_py()
    why = f"{distinct:,} different values among those looked at"
    if filled < 1:
        why += f", missing in {100 * (1 - filled):.3g} %"
    return Found(name, kind, dict(headers), filled, distinct, why)


def _without_repeats(found: list[Found], samples: Mapping[str, Sample]) -> list[Found]:
    """Leave out full names beside their parts, and columns that say what another one says."""
    kinds = {each.kind for each in found}
    if {ColumnKind.GIVEN_NAME, ColumnKind.SURNAME} <= kinds:
        found = [each for each in found if each.kind is not ColumnKind.FULL_NAME]
    dates = ColumnKind.DATE in kinds
    kept: list[Found] = []
    for each in found:
        if dates and each.kind is ColumnKind.NUMBER and _of_birth(each.name):
            continue
        if not any(_same(each, other, samples) for other in kept):
            kept.append(each)
    return kept


def _of_birth(name: str) -> bool:
    return any(word.startswith(("birth", "born", "dob", "yob")) for word in name.split("_"))


def _same(one: Found, other: Found, samples: Mapping[str, Sample]) -> bool:
    """Whether two columns have the same value in nearly all records of a source."""
    for source in set(one.headers) & set(other.headers):
        columns = samples[source].columns
        equal = pc.equal(columns.column(one.headers[source]), columns.column(other.headers[source]))
        if (pc.mean(equal).as_py() or 0.0) > 0.95:
            return True
    return False
