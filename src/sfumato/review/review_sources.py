"""A project of review made of a linkage or of tables and a list of pairs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Ints
from sfumato.core.cluster_questions import CLUSTERS, ClusterQuestions
from sfumato.core.errors import InputError
from sfumato.review.review_project import (
    ADDED,
    ID,
    IDENTIFYING,
    LEFT,
    LINKAGE_PAIRS,
    PAIR,
    PROJECT,
    RIGHT,
    SOURCE,
    Project,
    check_ids,
    kinds_in,
    load_project,
    named_pairs,
    read_manifest,
    read_parquet,
    weights_in,
)
from sfumato.review.review_settings import Attribute, AttributeKind, DateOrder, NamePart, Settings
from sfumato.table.header_words import CATEGORY_WORDS, WORDS, identifies, named, words_of
from sfumato.table.sources import check_utf8, is_bytes
from sfumato.table.table_files import open_source


def read_text_table(data: object, subject: str) -> pa.Table:
    """All columns of a table as text, missing where nothing but spaces is left.

    Dates come in ISO form, whole numbers without a decimal part.
    """
    source = open_source(data)
    columns: dict[str, list[pa.Array]] = {name: [] for name in source.names}
    for batch in source.batches(source.names):
        for name in source.names:
            columns[name].append(_text(batch.column(name), name, subject))
    return pa.table(
        {name: pa.chunked_array(parts, pa.large_string()) for name, parts in columns.items()}
    )


def _text(values: pa.Array, name: str, subject: str) -> pa.Array:
    if is_bytes(values.type):
        raise InputError(f"column '{name}' of {subject}", "must hold text", found="bytes")
    check_utf8(values, name)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    try:
        if pa.types.is_timestamp(values.type):
            # By microseconds, as nanoseconds of some years cannot be cast; a time of day is no part
            # of a birth date.
            values = values.cast(pa.timestamp("us")).cast(pa.date32(), safe=False)
        # Readers make numbers with gaps floats: 1234.0 would show a decimal part that nobody wrote.
        if pa.types.is_floating(values.type) and _whole(values):
            values = values.cast(pa.int64(), safe=False)
        text = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
    except (pa.ArrowException, ValueError):
        raise InputError(
            f"column '{name}' of {subject}", "must hold single values", found="others"
        ) from None
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, text.type), text)


def _whole(values: pa.Array) -> bool:
    return pc.all(pc.equal(pc.floor(values), values)).as_py() is True


NAMED = ("source_l", "id_l", "source_r", "id_r")
"""The columns that name the two records of a pair."""


def find_pairs(records: pa.Table, pairs: pa.Table, subject: str) -> tuple[Ints, Ints]:
    """Numbers of the left and the right record of each pair.

    Parameters
    ----------
    records
        All records: source, id, and more.
    pairs
        The pairs: source_l, id_l, source_r, id_r.
    """
    for name in NAMED:
        if pairs.column_names.count(name) != 1:
            raise InputError(
                subject,
                f"must have one column '{name}'",
                found="none" if name not in pairs.column_names else "several",
                accepted=", ".join(NAMED),
            )
    keys = _keys(records[SOURCE], records[ID])
    sides = []
    for side in "lr":
        wanted = _keys(pairs[f"source_{side}"], pairs[f"id_{side}"])
        # Missing ids must not find each other.
        number = np.asarray(pc.fill_null(pc.index_in(wanted, keys, skip_nulls=True), -1))
        if np.any(number < 0):
            raise InputError(
                subject,
                "must name records of the tables",
                found=f"an unknown record in row {int(np.argmax(number < 0)) + 1}",
                accepted="a source's name and an id of it",
            )
        sides.append(number.astype(np.int64))
    return sides[0], sides[1]


def _keys(source: pa.ChunkedArray, ids: pa.ChunkedArray) -> pa.Array:
    texts = [each.cast(pa.large_string()) for each in (source, ids)]
    # A zero byte stands in no id, so that source and id cannot run into each other.
    joined = pc.binary_join_element_wise(*texts, pa.scalar("\0", pa.large_string()))
    return joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined


LOOKED_AT = 20_000
"""Records whose values are looked at."""
FEW = 60
"""Different values up to which text looks like a category."""
MOSTLY = 0.8
"""Share of values that must look like a kind."""

_OF_LINKAGE = {
    "given name": AttributeKind.VARIABLE,
    "surname": AttributeKind.VARIABLE,
    "full name": AttributeKind.VARIABLE,
    "date": AttributeKind.DATE,
    "postcode": AttributeKind.FIXED,
    "phone": AttributeKind.FIXED,
    "identifier": AttributeKind.FIXED,
    "email": AttributeKind.VARIABLE,
    "address": AttributeKind.VARIABLE,
    "category": AttributeKind.CATEGORY,
    "number": AttributeKind.FIXED,
}
_GIVEN = "given forename forenames firstname givenname fname christian vorname prenom"
_FAMILY = "surname surnames family lastname familyname lname sname nachname"
_PART_ALONE = {"first": "given name", "last": "surname"}
_ABOUT_A_PERSON = (
    "first last middle dob- birth- born sex gender zip- postcode postal plz city town suburb "
    "village state county country province municipality house unit flat street address social soc"
)
_FREE_TEXT = "note notes comment comments remark remarks narrative freetext letter"
_CODES = "zip- postcode postal plz ssn nhs nhi mrn medicare passport licence license soc phone"
_DATE = r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})|^\s*(19|20)\d{6}\s*$"


def about_a_person(name: str) -> bool:
    """Whether a column is, by its name, about who a person is, and no free text."""
    words = words_of(name)
    # Free text may hold anything of a person, also what is not to be shown.
    if named(words, _FREE_TEXT):
        return False
    if named(words, WORDS["direct"]):
        return True
    return named(words, _ABOUT_A_PERSON) and not named(words, WORDS["sensitive"])


def proposed_attributes(
    records: pa.Table,
    names: tuple[str, ...],
    kinds: Mapping[str, str] | None = None,
    day_first: Mapping[str, bool] | None = None,
) -> tuple[Attribute, ...]:
    """What each column is: by its kind in the linkage, else by its name and its values.

    The first given name and the first surname are the two parts of the name, and show how rare
    they are.

    Parameters
    ----------
    day_first
        By column of dates, whether the day stands before the month, where that is known.
    """
    kinds, day_first = kinds or {}, day_first or {}
    attributes: list[Attribute] = []
    parts: set[NamePart] = set()
    for name in names:
        values = pc.drop_null(records[name].slice(0, LOOKED_AT))
        word = kinds.get(name) or _by_name(name)
        kind = _OF_LINKAGE.get(word) or _by_values(name, values)
        part = {"given name": NamePart.GIVEN, "surname": NamePart.FAMILY}.get(word)
        # A swap of names is looked for between one given and one family name.
        if part in parts:
            part = None
        elif part is not None:
            parts.add(part)
        order = DateOrder.YEAR_MONTH_DAY
        if kind is AttributeKind.DATE:
            order = _date_order(values, day_first.get(name))
        attributes.append(
            Attribute(
                name=name, kind=kind, name_part=part, rarity=part is not None, date_order=order
            )
        )
    return tuple(attributes)


def _by_name(name: str) -> str:
    """The kind of a name's part, in the linkage's words; ``""`` for other columns."""
    words = words_of(name)
    if named(words, "birth- date dob-"):
        return ""
    if named(words, _GIVEN):
        return "" if named(words, _FAMILY) else "given name"
    if named(words, _FAMILY):
        return "surname"
    if len(words) == 1 or named(words, "name names"):
        return next((_PART_ALONE[word] for word in words if word in _PART_ALONE), "")
    return ""


def _by_values(name: str, values: pa.ChunkedArray) -> AttributeKind:
    words = words_of(name)
    if not len(values):
        return AttributeKind.VARIABLE
    if _share(pc.match_substring_regex(values, _DATE)) >= MOSTLY:
        return AttributeKind.DATE
    if named(words, CATEGORY_WORDS):
        return AttributeKind.CATEGORY
    lengths = pc.utf8_length(values)
    alike = pc.mode(lengths)[0]["count"].as_py() / len(values)
    digits = _share(pc.match_substring_regex(values, r"\d"))
    if digits >= MOSTLY and (alike >= MOSTLY or named(words, _CODES)):
        return AttributeKind.FIXED
    distinct = pc.count_distinct(values).as_py()
    # Few of many: in a small table names are few, too.
    if distinct <= FEW and distinct * 10 <= len(values) and not named(words, WORDS["direct"]):
        return AttributeKind.CATEGORY
    return AttributeKind.VARIABLE


def _date_order(values: pa.ChunkedArray, day_first: bool | None) -> DateOrder:
    """The order in which most dates stand; where they do not say, the day comes first."""
    if not len(values) or _share(pc.match_substring_regex(values, r"^\s*\d{4}")) >= MOSTLY / 2:
        return DateOrder.YEAR_MONTH_DAY
    if day_first is None:
        first = _share(pc.match_substring_regex(values, r"^\s*(1[3-9]|[23]\d)[-/.]"))
        second = _share(pc.match_substring_regex(values, r"^\s*\d{1,2}[-/.](1[3-9]|[23]\d)[-/.]"))
        # Of numbers above 12 only a day can be meant; without one the day first is the wider
        # custom.
        day_first = first >= second
    return DateOrder.DAY_MONTH_YEAR if day_first else DateOrder.MONTH_DAY_YEAR


def _share(which: pa.ChunkedArray) -> float:
    return float(pc.mean(which).as_py() or 0.0)


SAME = "same"
"""The column that says whether the two records are one person's."""
_TRUE, _FALSE = {"true", "1", "yes"}, {"false", "0", "no"}


def with_gold(
    records: pa.Table, pairs: pa.Table, gold: pa.Table, known: pa.Table | None = None
) -> tuple[pa.Table, dict[str, bool]]:
    """The pairs with those of known truth behind them, and the truth by id.

    A gold pair that is one of the pairs keeps its id; the id of another one is that of the
    linkage, where it knows the pair, and else one that it does not have.

    Parameters
    ----------
    pairs
        The pairs: pair, left, right.
    gold
        The gold pairs: source_l, id_l, source_r, id_r, same.
    known
        All pairs of the linkage: pair, left, right.
    """
    subject = "the gold pairs"
    left, right = find_pairs(records, gold, subject)
    truth = _truths(gold, subject)
    ids = _by_records(pairs) if known is None else {**_by_records(known), **_by_records(pairs)}
    dealt = set(pairs[PAIR].to_pylist())
    added: dict[str, tuple[int, int]] = {}
    same: dict[str, bool] = {}
    for row, (one, two) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        # In either order it is the same pair, of which the linkage may know one.
        pair = ids.setdefault((min(one, two), max(one, two)), f"{ADDED}{row + 1}")
        # A pair with two truths would count a worker wrong either way.
        if same.setdefault(pair, truth[row]) is not truth[row]:
            raise InputError(
                subject, "must have one truth each", found=f"another one in row {row + 1}"
            )
        if pair not in dealt:
            added[pair] = (one, two)
    numbers = np.array(list(added.values()), dtype=np.int64).reshape(-1, 2)
    more = pa.table({PAIR: pa.array(added, pa.string()), LEFT: numbers[:, 0], RIGHT: numbers[:, 1]})
    return pa.concat_tables([pairs, more]), same


def _truths(gold: pa.Table, subject: str) -> list[bool]:
    if SAME not in gold.column_names:
        raise InputError(subject, f"must have one column '{SAME}'", found="none")
    truths = []
    for row, value in enumerate(gold[SAME].to_pylist()):
        word = str(value).strip().lower()
        if word not in _TRUE | _FALSE:
            raise InputError(
                f"column '{SAME}'",
                "must say whether two records are one person's",
                found=f"another value in row {row + 1}",
                accepted="true or false",
            )
        truths.append(word in _TRUE)
    return truths


def _by_records(pairs: pa.Table) -> dict[tuple[int, int], str]:
    left, right = np.asarray(pairs[LEFT]), np.asarray(pairs[RIGHT])
    low, high = np.minimum(left, right).tolist(), np.maximum(left, right).tolist()
    return dict(zip(zip(low, high, strict=True), pairs[PAIR].to_pylist(), strict=True))


# Fixed, so that a folder that is opened again numbers its pairs alike.
ORDER = 0
"""Seed of the order in which pairs are numbered; each worker has an order of his own."""


class Which(StrEnum):
    """Which pairs of a linkage are reviewed."""

    POSSIBLE = "possible matches"
    CHECKS = "pairs drawn for checks"


_FILES = {Which.POSSIBLE: "review.parquet", Which.CHECKS: "checks.parquet"}


def from_linkage(
    folder: str | os.PathLike[str],
    rng: np.random.Generator,
    *,
    settings: Settings | None = None,
    attributes: Sequence[Attribute] | None = None,
    which: Which = Which.POSSIBLE,
    gold: object = None,
) -> Project:
    """A project of a linkage's doubtful pairs, over all records that were linked.

    The pairs come in a random order, as that of the linkage tells of their scores; those that
    decide a cluster stand together.

    Parameters
    ----------
    settings
        The rules; the defaults where not given.
    attributes
        What a worker may see; proposed from the linkage's specification where not given.
    gold
        Pairs of known truth, a file or a dataframe: source_l, id_l, source_r, id_r, same.
    """
    place = Path(folder)
    manifest = read_manifest(place)
    records = _records(place)
    if attributes is None:
        names = tuple(records.column_names[2:])
        attributes = proposed_attributes(records, names, *kinds_in(place, names))
    pairs = _pairs(place, records, which)
    same: dict[str, bool] = {}
    if gold is not None:
        table = read_text_table(gold, "the gold pairs")
        pairs, same = with_gold(records, pairs, table, _near(place, records, table))
    for attribute in attributes:
        if attribute.name not in records.column_names:
            raise InputError(
                f"attribute '{attribute.name}'",
                "must be among the linkage's",
                found="none of that name",
            )
    clusters = ClusterQuestions.read(place / CLUSTERS)
    ids = pairs[PAIR].to_pylist()
    # The order of the scores would tell which pairs are likely matches.
    order = clusters.together([ids[number] for number in rng.permutation(len(ids)).tolist()])
    return Project(
        attributes=tuple(attributes),
        settings=settings or Settings(),
        # What no worker may see is not even held.
        records=records.select([SOURCE, ID, *(attribute.name for attribute in attributes)]),
        pairs=pairs.take(pc.index_in(pa.array(order, pa.string()), pairs[PAIR].combine_chunks())),
        gold=same,
        weights=weights_in(manifest),
        prior=_prior(manifest["model"].get("prior")),
        fingerprints={
            str(name): str(each.get("sha256", ""))
            for name, each in manifest.get("sources", {}).items()
            if isinstance(each, dict)
        },
        clusters=clusters,
    )


def _records(place: Path) -> pa.Table:
    path = place / IDENTIFYING
    if not path.is_file():
        raise InputError(
            f"folder {place.name or place}",
            f"must hold {IDENTIFYING}",
            found="none",
            advice="link again with this version of sfumato",
        )
    table = read_parquet(path)
    if table.column_names[:2] != [SOURCE, ID]:
        raise InputError(f"file {IDENTIFYING}", "must be one that sfumato link wrote")
    return table.cast(pa.schema([(name, pa.large_string()) for name in table.column_names]))


def _pairs(place: Path, records: pa.Table, which: Which) -> pa.Table:
    path = place / _FILES[which]
    if which is Which.CHECKS and not path.is_file():
        raise InputError(
            f"folder {place.name or place}",
            "must hold pairs that were drawn for checks",
            found="none",
            advice="link with --check-half-width",
        )
    named = named_pairs(place, read_parquet(path, [PAIR])[PAIR])
    left, right = find_pairs(records, named, f"file {LINKAGE_PAIRS}")
    return pa.table({PAIR: named[PAIR].cast(pa.string()), LEFT: left, RIGHT: right})


def _near(place: Path, records: pa.Table, gold: pa.Table) -> pa.Table | None:
    """Those of the linkage's pairs that can be among the gold ones."""
    if not set(NAMED) <= set(gold.column_names):
        return None
    table = read_parquet(place / LINKAGE_PAIRS, [PAIR, *NAMED])
    ids = pa.concat_arrays(
        [gold[name].cast(pa.large_string()).combine_chunks() for name in ("id_l", "id_r")]
    )
    here = [pc.is_in(table[name].cast(pa.large_string()), ids) for name in ("id_l", "id_r")]
    table = table.filter(pc.and_(*here))
    left, right = find_pairs(records, table, f"file {LINKAGE_PAIRS}")
    return pa.table({PAIR: table[PAIR].cast(pa.string()), LEFT: left, RIGHT: right})


def _prior(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def from_tables(
    tables: Mapping[str, object],
    pairs: object = None,
    *,
    id_column: str | None = None,
    settings: Settings | None = None,
    attributes: Sequence[Attribute] | None = None,
    gold: object = None,
) -> Project:
    """A project of some tables' pairs, over all their records.

    Headers that differ in case, spaces and punctuation only are one column. Without attributes,
    columns that are in every table and whose name is about who a person is are proposed.

    Parameters
    ----------
    tables
        By source, its table: a path or a dataframe.
    pairs
        The pairs, a path or a dataframe: source_l, id_l, source_r, id_r and, where they have
        ids, pair; they come in the order given. Without it there must be two tables, and the
        records of one row are a pair.
    id_column
        The column that names each record within its table. Without it, a column is taken whose
        name says so and whose values differ, and else the number of the row, from 1.
    gold
        Pairs of known truth: source_l, id_l, source_r, id_r, same.
    """
    read = {name: _with_plain_names(data, f"source {name}") for name, data in tables.items()}
    if not read:
        raise InputError("a project", "must have a table", found="none")
    key = _key(read, id_column)
    found = attributes
    if found is None:
        names = _shared(read, key)
        found = proposed_attributes(_stacked(read, key, names), tuple(names))
    records = _stacked(read, key, [each.name for each in found])
    check_ids(records)
    table = _given(records, pairs) if pairs is not None else _by_rows(read)
    same: dict[str, bool] = {}
    if gold is not None:
        table, same = with_gold(records, table, read_text_table(gold, "the gold pairs"))
    return Project(
        attributes=tuple(found),
        settings=settings or Settings(),
        records=records,
        pairs=table,
        gold=same,
        fingerprints={name: _fingerprint(data) for name, data in tables.items()},
    )


def _with_plain_names(data: object, subject: str) -> pa.Table:
    table = read_text_table(data, subject)
    plain = [_plain(name) for name in table.column_names]
    if len(set(plain)) < len(plain):
        raise InputError(subject, "must have headers that differ in letters", found="two alike")
    return table


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum()) or name


def _column(table: pa.Table, name: str) -> pa.ChunkedArray | None:
    by_plain = dict(zip(map(_plain, table.column_names), table.columns, strict=True))
    return by_plain.get(_plain(name))


def _key(read: Mapping[str, pa.Table], id_column: str | None) -> str | None:
    """The header of the records' ids; ``None`` where rows are counted."""
    if id_column is not None:
        for source, table in read.items():
            if _column(table, id_column) is None:
                raise InputError(f"column '{id_column}'", f"must be a column of source {source}")
        return id_column
    for name in next(iter(read.values())).column_names:
        # Ids must name the records of every table.
        columns = [_column(table, name) for table in read.values()]
        if identifies(words_of(name)) and all(
            column is not None
            and not column.null_count
            and pc.count_distinct(column).as_py() == len(column)
            for column in columns
        ):
            return str(name)
    return None


def _shared(read: Mapping[str, pa.Table], key: str | None) -> list[str]:
    """The columns of all tables that are about who a person is."""
    names = [
        name
        for name in next(iter(read.values())).column_names
        if (key is None or _plain(name) != _plain(key))
        and about_a_person(name)
        and name not in {SOURCE, ID}
        and all(_column(table, name) is not None for table in read.values())
    ]
    if not names:
        raise InputError(
            "the tables",
            "must have columns in common that tell who a person is",
            found="none by their names",
            advice="say what the attributes are, or give both tables the same headers",
        )
    return names


def _stacked(read: Mapping[str, pa.Table], key: str | None, names: Sequence[str]) -> pa.Table:
    parts = []
    for source, table in read.items():
        count = len(table)
        ids = pa.array(np.arange(1, count + 1)).cast(pa.large_string())
        columns = {SOURCE: pa.array([source] * count, pa.large_string())}
        columns[ID] = ids if key is None else _column(table, key)
        for name in names:
            column = _column(table, name)
            if column is None:
                raise InputError(
                    f"attribute '{name}'", f"must be a column of source {source}", found="none"
                )
            columns[name] = column
        parts.append(pa.table(columns))
    return pa.concat_tables(parts)


def _given(records: pa.Table, pairs: object) -> pa.Table:
    subject = "the pairs"
    table = read_text_table(pairs, subject)
    left, right = find_pairs(records, table, subject)
    if PAIR not in table.column_names:
        return _numbered(left, right)
    ids = table[PAIR].cast(pa.string())
    wrong = pc.or_kleene(pc.is_null(ids), pc.starts_with(ids, ADDED))
    if pc.any(wrong).as_py():
        raise InputError(
            f"column '{PAIR}'",
            "must hold an id for each pair",
            found=f"none, or one with a {ADDED} first, in row {pc.index(wrong, True).as_py() + 1}",
        )
    return pa.table({PAIR: ids, LEFT: left, RIGHT: right})


def _by_rows(read: Mapping[str, pa.Table]) -> pa.Table:
    counts = [len(table) for table in read.values()]
    if len(counts) != 2 or counts[0] != counts[1]:
        raise InputError(
            "a project",
            "must have pairs to review",
            found="no pairs, and not two tables of the same number of rows",
            advice="give the pairs, or link the tables first and review the linkage",
        )
    left = np.arange(counts[0], dtype=np.int64)
    return _numbered(left, left + counts[0])


def _numbered(left: np.ndarray, right: np.ndarray) -> pa.Table:
    ids = pa.array([f"p{number}" for number in range(1, len(left) + 1)], pa.string())
    return pa.table({PAIR: ids, LEFT: left, RIGHT: right})


def _fingerprint(data: object) -> str:
    """SHA-256 of a file; ``""`` of another table."""
    if not isinstance(data, (str, os.PathLike)):
        return ""
    with Path(os.fsdecode(data)).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True)
class OpenedFolder:
    """The folder of a review.

    Attributes
    ----------
    rules
        The rules of a project; ``None`` for a linkage.
    """

    project: Project
    rules: Settings | None


def open_folder(folder: Path) -> OpenedFolder:
    """The records and pairs of a folder.

    Parameters
    ----------
    folder
        What ``sfumato link`` wrote, or a project.
    """
    if (folder / PROJECT).is_file():
        project = load_project(folder)
        return OpenedFolder(project, project.settings)
    return OpenedFolder(from_linkage(folder, np.random.default_rng(ORDER)), None)
