"""What the columns of a table mean, by their headers and a sample of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.linkage.column_counterparts import (
    Column,
    Content,
    Form,
    counterparts,
    date_parts,
    split_name,
)
from sfumato.linkage.link_sources import as_text, joined
from sfumato.linkage.link_spec import RESERVED, ColumnKind, sql_name
from sfumato.schema import Schema
from sfumato.table.schema_guess import WORDS, identifies, named, words_of
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
        Its header in each source that has it, or the headers that it is joined from.
    texts
        Its values in the sample of each of them.
    filled
        Smallest share of records with a value.
    distinct
        Number of different values in the samples.
    why
        What was seen, without a value.
    """

    name: str
    kind: ColumnKind
    headers: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, pa.ChunkedArray]
    filled: float
    distinct: int
    why: str


@dataclass(frozen=True)
class Meanings:
    """What was found in the columns of some tables.

    Attributes
    ----------
    found
        The columns to compare, in the order of the first table that has them.
    questions
        What somebody should look at: columns without a counterpart, and pairs that nothing but a
        person can decide on. Without values.
    """

    found: list[Found]
    questions: tuple[str, ...]


def find_columns(
    samples: Mapping[str, Sample], schema: Schema | None, *, sources_needed: int
) -> Meanings:
    """The columns to compare, and what nobody but a person can decide.

    Columns are one if they have the same name and kind, or hold the same by their values
    (`sfumato.linkage.column_counterparts`). Year, month and day in three columns are one date;
    names in two columns are one full name where another table has that. What a schema calls
    sensitive or insensitive is left out, and so is a full name beside its parts.

    Parameters
    ----------
    samples
        A sample of each table, by the source's name.
    schema
        What the columns are, where that is known.
    sources_needed
        Number of sources that must have a column.
    """
    groups: list[_Group] = []
    questions: list[str] = []
    for source, sample in samples.items():
        _add_table(groups, source, _columns_of(sample, schema), questions)
    found: list[Found] = []
    taken = {sql_name(each) for s in samples.values() for each in s.columns.column_names}
    for group in groups:
        kind = _kind_of_group(group)
        if len(group) < sources_needed:
            questions += _without_counterpart(group, kind, list(samples))
        elif kind is not None:
            name = _name_of(group, kind, samples, {each.name for each in found}, taken)
            found.append(_found(name, kind, group))
        elif len(group) > 1:
            questions.append(
                f"{_places(group)} hold the same, but not what says who a person is, as far as "
                "one sees. If it does, add it to 'columns', with its headers under 'rename'."
            )
    return Meanings(_without_repeats(found), tuple(questions))


_Group = dict[str, Column]
"""The columns that are one: by the source."""


def _columns_of(sample: Sample, schema: Schema | None) -> list[Column]:
    """The columns of a table that may say who a person is; parts of a date as one."""
    contents = {
        header: Content(sample.columns.column(header)) for header in sample.columns.column_names
    }
    headers = list(contents)
    columns: dict[int, Column] = {}
    parts = {
        places: tuple(headers[place] for place in places)
        for places in date_parts(list(contents.values()))
    }
    for places, named_parts in parts.items():
        texts = [contents[each].texts.combine_chunks() for each in named_parts]
        dates = Content(pa.chunked_array([joined(texts, ColumnKind.DATE)]))
        born = any(_speaks_of_birth(words_of(each)) for each in named_parts)
        kind = ColumnKind.DATE if born else None
        columns[min(places)] = Column(named_parts, kind, dates)
    used = {each for named_parts in parts.values() for each in named_parts}
    for place, (header, content) in enumerate(contents.items()):
        kind = _kind(header, schema)
        if kind is None and is_direct(header, schema):
            kind = _by_looks(content.texts)
        if header in used or not _borne_out(content.texts, kind):
            continue
        if kind is None and content.numbers_records(sample.rows):
            continue
        columns[place] = Column((header,), kind, content)
    return [columns[place] for place in sorted(columns)]


def _speaks_of_birth(words: tuple[str, ...]) -> bool:
    return named(words, _BIRTH + " birth born naissance geburt- nacimiento nascita fodelse-")


def _add_table(
    groups: list[_Group], source: str, columns: list[Column], questions: list[str]
) -> None:
    """Put the columns of a further table to those of the tables before."""
    known = [next(iter(group.values())) for group in groups]
    pairs: dict[int, int] = {}
    split = split_name(known, columns)
    if split is not None:
        joined_at = _join_names(columns, split.parts)
        pairs[split.full] = joined_at
    turned = None if split is not None else split_name(columns, known)
    if turned is not None and all(len(groups[place]) == 1 for place in turned.parts):
        holder = next(iter(groups[turned.parts[0]]))
        joined_at = _join_names(known, turned.parts)
        del groups[max(turned.parts)]
        groups[joined_at] = {holder: known[joined_at]}
        pairs[joined_at] = turned.full
    pairs |= _by_header(known, columns, pairs)
    left = [i for i in range(len(known)) if i not in pairs]
    right = [j for j in range(len(columns)) if j not in pairs.values()]
    matched = counterparts([known[i] for i in left], [columns[j] for j in right])
    pairs |= {left[i]: right[j] for i, j in matched.pairs}
    for i, j in matched.doubtful:
        both = {**groups[left[i]], source: columns[right[j]]}
        questions.append(
            f"{_places(both)} may hold the same, but other columns are as much alike. If they do, "
            "add the column to 'columns', with its headers under 'rename'."
        )
    pairs |= _by_kind(known, columns, pairs)
    for i, j in pairs.items():
        groups[i][source] = columns[j]
    groups += [{source: each} for j, each in enumerate(columns) if j not in pairs.values()]


def _join_names(columns: list[Column], places: tuple[int, int]) -> int:
    """Put one column in the place of two that hold the names of a full one; gives its place."""
    whole = _joined_name([columns[place] for place in places])
    first, last = sorted(places)
    columns[first] = whole
    del columns[last]
    return first


def _joined_name(parts: Sequence[Column]) -> Column:
    kind = ColumnKind.FULL_NAME
    texts = joined([each.content.texts.combine_chunks() for each in parts], kind)
    headers = tuple(header for each in parts for header in each.headers)
    return Column(headers, kind, Content(pa.chunked_array([texts])))


def _by_header(
    known: Sequence[Column], columns: Sequence[Column], pairs: Mapping[int, int]
) -> dict[int, int]:
    """Columns of one name and kind, unless all their few values are other ones."""
    found: dict[int, int] = {}
    for i, one in enumerate(known):
        for j, other in enumerate(columns):
            alike = one.own and one.own == other.own and one.kind is other.kind is not None
            free = i not in pairs and j not in {*pairs.values(), *found.values()}
            if alike and free and not _written_otherwise(one, other):
                found[i] = j
                break
    return found


def _written_otherwise(one: Column, other: Column) -> bool:
    values = [one.content.values, other.content.values]
    few = all(len(each) <= FEW_VALUES for each in values)
    return few and not pc.any(pc.is_in(values[0], value_set=values[1])).as_py()


def _by_kind(
    known: Sequence[Column], columns: Sequence[Column], pairs: Mapping[int, int]
) -> dict[int, int]:
    """Columns of one kind by their headers, where each table has one of it left, in one form."""
    found: dict[int, int] = {}
    for kind in ColumnKind:
        left = [i for i, each in enumerate(known) if each.kind is kind and i not in pairs]
        right = [
            j for j, each in enumerate(columns) if each.kind is kind and j not in pairs.values()
        ]
        if len(left) != 1 or len(right) != 1:
            continue
        one, other = known[left[0]], columns[right[0]]
        if one.content.form is other.content.form and not _written_otherwise(one, other):
            found[left[0]] = right[0]
    return found


_SEXES = pa.array(
    "m f w h v k male female man woman mann frau masculin feminin masculino femenino feminino "
    "homme femme hombre mujer maschio femmina mannlich weiblich vrouw kvinna".split()
)
"""What columns of the sex hold, in some languages."""
_LIFE = 15
"""Years that dates must reach over to be dates of birth by their values."""
_DISEASE = r"^[A-Za-z]\d\d([.]?\d{1,2})?$"
"""A code of the ICD, which says nothing of who a person is."""


def _kind_of_group(group: _Group) -> ColumnKind | None:
    """What the columns hold: by a header, or by the values where no header says so."""
    by_header = [each.kind for each in group.values() if each.kind is not None]
    if len(set(by_header)) == 1 or (by_header and len(group) == 1):
        return by_header[0]
    kinds = [kind_by_values(each.content) for each in group.values()]
    by_value = next((kind for kind in kinds if kind is not None), None)
    if by_header:
        return by_value if by_value in by_header else by_header[0]
    return by_value if None not in kinds else None


def kind_by_values(content: Content) -> ColumnKind | None:
    """The kind of values that say who a person is; ``None`` of others.

    Parameters
    ----------
    content
        What the column holds.
    """
    few = len(content.values) <= FEW_VALUES
    if content.form is Form.EMAIL:
        return ColumnKind.EMAIL
    if content.form is Form.DATE:
        years = content.years
        long = len(years) > 1 and np.quantile(years, 0.95) - np.quantile(years, 0.05) >= _LIFE
        return ColumnKind.DATE if long else None
    if content.form in {Form.EMPTY, Form.MEASURE}:
        return None
    if few:
        sexes = bool(pc.all(pc.is_in(content.values, value_set=_SEXES)).as_py())
        return ColumnKind.CATEGORY if sexes else None
    if content.form is Form.LETTERS:
        return _kind_of_letters(content)
    if content.share(_DISEASE) > TELLING:
        return None
    return _kind_of_digits(content)


def _kind_of_letters(content: Content) -> ColumnKind:
    if content.share(r"\S[,\s]+\S") < 0.5:
        return ColumnKind.SURNAME
    return ColumnKind.FULL_NAME if content.telling > 0.7 else ColumnKind.ADDRESS


def _kind_of_digits(content: Content) -> ColumnKind | None:
    """The kind of values with digits."""
    if content.form is Form.MIXED and content.share(r"\p{L}{2}.*\s|\s.*\p{L}{2}") > 0.5:
        return ColumnKind.ADDRESS
    if content.share(r"^(\+|00?[1-9])[\d\s()/.-]{7,}$") > 0.5:
        return ColumnKind.PHONE
    long = content.share(r"^.{6,}$") > 0.5
    if content.telling > TELLING and long:
        return ColumnKind.IDENTIFIER
    if content.share(r"^[\p{L}\d][\p{L}\d -]{3,8}$") > 0.9:
        return ColumnKind.POSTCODE
    return ColumnKind.NUMBER if content.form is Form.NUMBER else ColumnKind.ADDRESS


def _places(group: _Group) -> str:
    """The headers of a group, with their sources."""
    return " and ".join(
        f"{', '.join(repr(header) for header in each.headers)} of {source}"
        for source, each in group.items()
    )


def _without_counterpart(
    group: _Group, kind: ColumnKind | None, sources: Sequence[str]
) -> list[str]:
    """A line for a column that others lack, where it says who a person is by its header."""
    if kind is None or all(each.kind is None for each in group.values()):
        return []
    lacking = [source for source in sources if source not in group]
    headers = next(iter(group.values())).headers
    name = sql_name(headers[0]) or "name"
    cures = ", ".join(f'[rename.{source}] {name} = "its header there"' for source in lacking)
    written = " with values written as they are here"
    return [
        f"{_places(group)} ({kind.value}) has no counterpart in {', '.join(lacking)}{written}. "
        f"If there is one, say so: [columns.{name}] and {cures}. If its values are written "
        "otherwise, [recipe] of the schema renames them."
    ]


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
    if schema is not None and sql_name(header) in {sql_name(name) for name in schema.columns()}:
        return _is_identity(header, schema)
    words = words_of(header)
    return not named(words, WORDS["sensitive"]) or kind_by_header(header) is not None


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


def _borne_out(column: pa.ChunkedArray, kind: ColumnKind | None) -> bool:
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


def _name_of(
    group: _Group,
    kind: ColumnKind,
    samples: Mapping[str, Sample],
    taken: set[str],
    headers: set[str],
) -> str:
    """How the specification calls a column: as the first table that has it, if it can.

    A table without the column must have no other one of that name.
    """
    first = next(iter(group.values()))
    name = first.own or _stem([sql_name(header) for header in first.headers])
    of_kind = kind.value.replace(" ", "_")
    if not name or name in RESERVED or (not first.own and name in headers):
        name = f"{of_kind}_{name}".strip("_")
    without = [source for source in samples if source not in group]
    elsewhere = {sql_name(each) for s in without for each in samples[s].columns.column_names}
    number, unique = 1, name
    while unique in taken | elsewhere:
        number += 1
        unique = f"{name}_{number}"
    return unique


def _stem(names: Sequence[str]) -> str:
    """What some names begin with, to the end of a word."""
    words = [name.split("_") for name in names]
    common: list[str] = []
    for each in zip(*words, strict=False):
        if len(set(each)) > 1:
            break
        common.append(each[0])
    return "_".join(common)


def _found(name: str, kind: ColumnKind, group: _Group) -> Found:
    texts = {source: each.content.texts for source, each in group.items()}
    filled = min(1 - column.null_count / len(column) for column in texts.values())
    both = pa.chunked_array([chunk for column in texts.values() for chunk in column.chunks])
    distinct = pc.count_distinct(both).as_py()
    why = f"{distinct:,} different values among those looked at"
    if filled < 1:
        why += f", missing in {100 * (1 - filled):.3g} %"
    if len({each.own for each in group.values()}) > 1:
        why += "; one column by what it holds, as the headers differ"
    headers = {source: each.headers for source, each in group.items()}
    return Found(name, kind, headers, texts, filled, distinct, why)


def _without_repeats(found: list[Found]) -> list[Found]:
    """Leave out full names beside their parts, and columns that say what another one says."""
    kinds = {each.kind for each in found}
    if {ColumnKind.GIVEN_NAME, ColumnKind.SURNAME} <= kinds:
        found = [each for each in found if each.kind is not ColumnKind.FULL_NAME]
    dates = ColumnKind.DATE in kinds
    kept: list[Found] = []
    for each in found:
        if dates and each.kind is ColumnKind.NUMBER and _of_birth(each.name):
            continue
        if not any(_same(each, other) for other in kept):
            kept = [other for other in kept if not _same(other, each)]
            kept.append(each)
    return kept


def _of_birth(name: str) -> bool:
    return any(word.startswith(("birth", "born", "dob", "yob")) for word in name.split("_"))


def _same(one: Found, other: Found) -> bool:
    """Whether a column says nothing that another one does not, in nearly all records of a source.

    It has the same value, or is of an address and its words are words of the other one.
    """
    parts = {ColumnKind.ADDRESS, ColumnKind.NUMBER}
    of_address = {one.kind, other.kind} <= parts and ColumnKind.ADDRESS in {one.kind, other.kind}
    for source in set(one.texts) & set(other.texts):
        texts = [each.texts[source].combine_chunks() for each in (one, other)]
        if of_address:
            mine, whole = ([f" {text} " for text in _words(each)] for each in texts)
            within = np.mean([a in b for a, b in zip(mine, whole, strict=True)])
        else:
            within = pc.mean(pc.equal(*texts)).as_py() or 0.0
        if within > 0.95:
            return True
    return False


def _words(texts: pa.Array) -> list[str]:
    """The words of each text in lower case, with single blanks; none where it is missing."""
    plain = pc.replace_substring_regex(pc.utf8_lower(texts), r"[^\p{L}\p{N}]+", " ")
    return pc.fill_null(pc.utf8_trim_whitespace(plain), "-").to_pylist()
