"""What the columns of a table mean, by their headers and a sample of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.linkage.column_counterparts import Content, Form
from sfumato.linkage.link_sources import as_text
from sfumato.linkage.link_spec import ColumnKind, sql_name
from sfumato.schema import Schema
from sfumato.table.contents import LOOKED_AT, are_numbered
from sfumato.table.header_words import WORDS, identifies, named, says_money, words_of
from sfumato.table.person_candidates import missing_texts_of
from sfumato.table.sources import Source, is_bytes

ROWS = 20_000
"""Records of a table that are looked at, about."""


@dataclass(frozen=True)
class Sample:
    """Some records of a table as text, columns of bytes left out; empty cells are missing."""

    rows: int
    columns: pa.Table


def take_sample(source: Source, columns: Sequence[str], most: int = ROWS) -> Sample:
    """Every k-th record, k a power of two, so that at most the wanted number is kept."""
    if not columns:
        return Sample(0, pa.table({}))
    every, rows = 1, 0
    kept: list[pa.RecordBatch] = []
    for batch in source.batches(columns):
        # Where the next multiple of the step lies in this batch.
        first = -rows % every
        kept.append(batch.take(pa.array(np.arange(first, batch.num_rows, every))))
        rows += batch.num_rows
        while sum(record_batch.num_rows for record_batch in kept) > most:
            # Halved as it grows, as the number of records is not known before the end.
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
_BIRTHPLACE = "birthplace birthcountry birthtown birthcity"
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
    """The kind that a column's name speaks of; ``None`` where it is not about who a person is."""
    words = tuple(word.strip() for word in words_of(header))
    if not words:
        return None
    name = _name(words)
    if name is not None:
        return name
    # A medicare number is of a person, though its word is one of health.
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
    if born and (named(words, "place country city town state") or named(words, _BIRTHPLACE)):
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
FEW_RECORDS = 10
"""Records of a table up to which the values of the others say what a column is."""
FEW_VALUES = 12
"""Different values of a category up to which their frequencies are not worth their time."""
_FEW_DATES = 10
"""Different dates up to which those of 40 records and more are no dates of birth: 40 people born in
80 years have 40."""
TELLING = 0.3
"""Share of different values from which a number can be that of a person."""


def speaks_of_birth(header: str) -> bool:
    """Whether a header is, by one of its words, that of a birth."""
    return named(
        words_of(header), _BIRTH + " birth born naissance geburt- nacimiento nascita fodelse-"
    )


def speaks_of_house(header: str) -> bool:
    """Whether a header is that of the number of a house, or of a flat in it."""
    words = words_of(header)
    return named(words, _HOUSE) and named(words, _NUMBER)


_SEXES = (
    "m f w h v k male female man woman mann frau masculin feminin masculino femenino feminino "
    "homme femme hombre mujer maschio femmina mannlich weiblich vrouw kvinna"
)
"""What columns of the sex hold, in some languages."""
_LIFE = 15
"""Years that dates must reach over to be dates of birth by their values."""
_DISEASE = r"^[A-Za-z]\d\d([.]?\d{1,2})?$"
"""A code of the ICD, which says nothing of who a person is."""


def kind_by_values(content: Content) -> ColumnKind | None:
    """The kind of values that say who a person is; ``None`` of others."""
    few = len(content.values) <= FEW_VALUES
    if content.form is Form.EMAIL:
        return ColumnKind.EMAIL
    if content.form is Form.DATE:
        years = content.years
        # Dates of visits lie within some years, those of birth within a life.
        long = len(years) > 1 and np.quantile(years, 0.95) - np.quantile(years, 0.05) >= _LIFE
        return ColumnKind.DATE if long else None
    if content.form in {Form.EMPTY, Form.MEASURE}:
        return None
    if few:
        sexes = bool(pc.all(pc.is_in(content.values, value_set=pa.array(_SEXES.split()))).as_py())
        return ColumnKind.CATEGORY if sexes else None
    if content.form is Form.LETTERS:
        return _kind_of_letters(content)
    # Diagnoses have letters and digits as postcodes do, and must not be compared.
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
    # What each table numbers on its own is no sign of who a person is.
    if are_numbered(pc.unique(content.filled)[:LOOKED_AT].to_pylist()):
        return None
    if content.share(r"^[\p{L}\d][\p{L}\d -]{3,8}$") > 0.9:
        return ColumnKind.POSTCODE
    return None if content.form is Form.NUMBER else ColumnKind.ADDRESS


def find_id(samples: Mapping[str, Sample]) -> str | None:
    """The column that numbers the records in every table, by samples; ``None`` if there is none."""
    first = next(iter(samples.values())).columns.column_names
    for header in first:
        own = sql_name(header)
        same = [
            [h for h in sample.columns.column_names if sql_name(h) == own]
            for sample in samples.values()
        ]
        if not own or not identifies(words_of(header)) or not all(len(h) == 1 for h in same):
            continue
        # A number of a person, as of insurance, is to be compared and names no row.
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

    A sum of money says of nobody who it is, though its digits may look like those of a postcode.
    """
    # Sums are read as numbers, and agree by chance as postcodes do.
    if says_money(header) and kind_by_header(header) is None:
        return False
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


def known_kind(header: str, schema: Schema | None) -> ColumnKind | None:
    """The kind that a column's name speaks of, unless a schema calls it something else."""
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
    # A date that is made of parts says what they say together; an age, less than its date of birth.
    parts = {part for line in schema.recipe.values() for part in line.parts}
    made = {name for name, line in schema.recipe.items() if line.from_ is not None}
    named = {*schema.direct_identifiers, *schema.quasi_identifiers}
    open_ = schema.undecided
    others = {*schema.sensitive, *schema.insensitive, *open_, *(parts - named), *made}
    return sql_name(header) not in {sql_name(name) for name in others}


_DATE = r"\d{1,4}[-/. ]\d{1,2}[-/. ]\d{1,4}|^\d{8}$|[A-Za-z]{3}"


def kind_by_looks(column: pa.ChunkedArray) -> ColumnKind | None:
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


def is_borne_out(column: pa.ChunkedArray, kind: ColumnKind | None) -> bool:
    """Whether values look as those of a kind do, and tell records apart."""
    filled = len(column) - column.null_count
    if not filled or filled < FILLED * len(column):
        return False
    values = pc.drop_null(column)
    distinct = pc.count_distinct(values).as_py()
    # One value for all tells nobody apart; of one record, or a few, there is nothing to see.
    if distinct < 2 and (kind is None or len(column) > FEW_RECORDS):
        return False
    if kind is ColumnKind.DATE:
        # People are born on many days: what has a few stands for unknown ones.
        many = distinct > min(_FEW_DATES, filled / 4)
        return many and _share(values, _DATE) > 0.7
    if kind is ColumnKind.EMAIL:
        return _share(values, "@") > 0.5
    if kind in {ColumnKind.IDENTIFIER, ColumnKind.PHONE}:
        return bool(distinct > TELLING * filled) and _share(values, r"\d") > 0.5
    if kind in {ColumnKind.GIVEN_NAME, ColumnKind.SURNAME, ColumnKind.FULL_NAME}:
        return _share(values, r"^\s*\p{L}") > 0.5 and pc.mean(pc.utf8_length(values)).as_py() < 60
    return True


_UNKNOWN = ("unknown", "unk", "not known", "not stated", "none", "missing", "unbekannt", "inconnu")
"""Words for a missing value, in any case."""


def missing_words(column: pa.ChunkedArray) -> tuple[str, ...]:
    """Texts of a column that seem to mean a missing value, as they are written."""
    texts = pc.utf8_trim_whitespace(column)
    words = pc.is_in(pc.utf8_lower(texts), value_set=pa.array(_UNKNOWN, texts.type))
    return (*missing_texts_of(column), *pc.unique(texts.filter(words)).to_pylist())


def without_missing(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column with nothing where its texts mean that."""
    words = missing_words(column)
    if not words:
        return column
    marks = pc.is_in(pc.utf8_trim_whitespace(column), value_set=pa.array(words, column.type))
    return pc.if_else(marks, pa.scalar(None, column.type), column)


def _share(values: pa.ChunkedArray, pattern: str) -> float:
    return float(pc.mean(pc.match_substring_regex(values, pattern)).as_py())
