"""Which tables are one database: the key of each, what refers to it, and whose table is people's.

A key is a column without an empty or a repeated cell. Another column refers to it where nearly all
of its values are values of the key. Numbers that are counted up include each other by chance, so
that their headers must say it, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.declaration import LayoutGiven
from sfumato.core.errors import InputError
from sfumato.core.number_text import percentage
from sfumato.table.common_words import folded
from sfumato.table.database_presets import Published, published
from sfumato.table.header_words import hinted, identifies, words_of
from sfumato.table.person_candidates import may_number
from sfumato.table.sources import Source, is_text
from sfumato.table.table_files import CSV_SUFFIXES, PARQUET_SUFFIXES, open_source, suffix_of

CONTAINED = 0.98
"""Share of a column's values that are in a key to which it refers; the rest are orphans."""
CALLED, PARTLY = 0.9, 0.3
"""The same where its header says it, too; and from which it is asked about then."""
FEWEST = 20
"""Different values below which a column is in a key by chance."""
DENSE = 0.05
"""Share of the numbers between the least and the largest from which a key is counted up: a column
of 20 numbers at random then lies in it with probability 0.05^20 where it is less."""
TELLING = 2
"""Headers that say who somebody is from which a table has a row for each person."""
LEAST_STEM = 3
"""Letters that two words share at least where one is the other's plural."""
TABLES = {*CSV_SUFFIXES, *PARQUET_SUFFIXES} - {".zip"}
"""Suffixes of the files of a folder that are its tables."""


@dataclass(frozen=True, eq=False)
class IdColumn:
    """A column that may number something.

    Attributes
    ----------
    rows
        Number of its cells that are not empty.
    empty
        Number of its empty cells.
    of_people
        Whether other columns of its table say who somebody is.
    """

    table: str
    name: str
    values: pa.Array
    rows: int
    empty: int
    of_people: bool = False

    @property
    def is_unique(self) -> bool:
        """Whether it names each record of its table once."""
        return not self.empty and self.rows == len(self.values)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of its header that say what it numbers, folded."""
        words = [folded(word) for word in words_of(self.name)]
        return frozenset(w for w in words if not (identifies((w,)) or w.isdigit()))

    @cached_property
    def is_counted(self) -> bool:
        """Whether its values are counted up, behind letters that all of them begin with."""
        first, last = pc.min_max(self.values).values()
        one, other = str(first), str(last)
        shared = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
        # The letters that all begin with may end in zeros of the numbers.
        start = len(one[:shared].rstrip("0123456789"))
        texts = pc.utf8_slice_codeunits(self.values, start)
        if not pc.all(pc.match_substring_regex(texts, r"^-?\d{1,18}$")).as_py():
            return False
        numbers = pc.cast(texts, pa.int64())
        ends = pc.min_max(numbers)
        width = int(ends["max"].as_py()) - int(ends["min"].as_py()) + 1
        return len(numbers) > DENSE * width


@dataclass(frozen=True)
class Reference:
    """A column that refers to the key of a table.

    It is sure where several records refer to one, or where its header says what its values do not
    have by chance.
    """

    table: str
    column: str
    to: str
    orphans: int
    empty: int
    sure: bool


@dataclass(frozen=True)
class KeyMap:
    """The keys of some tables, and what refers to them.

    Attributes
    ----------
    keys
        The key of each table that has one.
    references
        What refers to keys of other tables.
    persons
        The table of people; ``None`` where none is.
    lookups
        Tables from which no person is reached, and to which others refer.
    apart
        Tables that neither refer to others nor are referred to.
    questions
        What nobody can tell but a person, each with the lines that answer it.
    left_out
        Tables of a published database of which nothing is proposed.
    published
        The published database that it is; ``None`` where its keys were looked for.
    """

    tables: tuple[str, ...]
    keys: Mapping[str, str]
    references: tuple[Reference, ...]
    persons: str | None = None
    lookups: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    records: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    published: Published | None = None

    @property
    def is_database(self) -> bool:
        """Whether some table says more of the people of another one."""
        return any(reference.sure for reference in self.references)

    def of(self, table: str) -> tuple[Reference, ...]:
        """What a table refers to."""
        return tuple(reference for reference in self.references if reference.table == table)


def key_map(tables: Mapping[str, object], layout: LayoutGiven | None = None) -> KeyMap:
    """Find the keys of tables, what refers to them, and which table is that of people."""
    sources = open_tables(tables, layout)
    known = published({name: source.names for name, source in sources.items()})
    if known is not None:
        return _published_map(known, sources)
    columns = {name: id_columns(name, source) for name, source in sources.items()}
    records = {
        name: max((e.rows + e.empty for e in column), default=0) for name, column in columns.items()
    }
    found, doubts = _references(columns)
    keys = {each.to: _key_of(each, columns) for each in found}
    for name, own in columns.items():
        if name not in keys and (key := _own_key(name, own, found)):
            keys[name] = key
    named = KeyMap(tuple(tables), keys, tuple(found), records=records)
    return _with_people(named, sources, doubts)


def open_tables(tables: Mapping[str, object], layout: LayoutGiven | None) -> dict[str, Source]:
    """Open each table of a database."""
    opened = {}
    for name, data in tables.items():
        try:
            opened[name] = open_source(data, **(layout or {}))
        except InputError as error:
            raise error.about(f"table {name}: {error.subject}") from None
    return opened


def _published_map(known: Published, sources: Mapping[str, Source]) -> KeyMap:
    """The same of a published database, whose keys are known."""
    headers = {name: source.names for name, source in sources.items()}
    kept = [name for name in sources if name == known.persons or name in known.tables]
    keys = {name: table.key for name, table in known.tables.items() if name in kept and table.key}
    keys[known.persons] = known.key
    ids = {name: ids_in(sources[name], key) for name, key in keys.items()}
    records = {name: len(own) for name, own in ids.items()}
    found = []
    for name in kept:
        for column, to in known.references(name, headers):
            own = ids_in(sources[name], column)
            there = pc.sum(pc.is_in(own.drop_null(), value_set=ids[to])).as_py() or 0
            orphans = len(own) - own.null_count - int(there)
            found.append(Reference(name, column, to, orphans, own.null_count, sure=True))
            records[name] = len(own)
    left_out = tuple(name for name in sources if name not in kept)
    return KeyMap(
        tuple(kept), keys, tuple(found), known.persons,
        records=records, left_out=left_out, published=known,
    )  # fmt: skip


def tables_in(folder: Path) -> dict[str, Path]:
    """The tables of a folder by their names, those of other files left out."""
    tables: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and suffix_of(path) in TABLES and not path.name.startswith("."):
            name = path.name[: len(path.name) - len(suffix_of(path))]
            if name in tables:
                raise InputError(
                    f"folder {folder.name}", "must have one file of each name", found="two of one"
                )
            tables[name] = path
    if not tables:
        raise InputError(
            f"folder {folder.name}",
            "must have tables",
            found="none",
            accepted=", ".join(sorted(TABLES)),
        )
    return tables


def id_columns(table: str, source: Source) -> list[IdColumn]:
    """The columns of a table that may number something."""
    said = sum(hinted(name, "quasi") or hinted(name, "direct") for name in source.names)
    read: dict[str, list[pa.Array]] = {name: [] for name in source.names}
    for batch in source.batches(source.names):
        for name in source.names:
            read[name].append(as_ids(batch.column(name)))
    columns = []
    for name, parts in read.items():
        column = pa.chunked_array(parts, pa.string())
        values = pc.unique(column).drop_null()
        if len(values) > 1 and may_number(values):
            empty = column.null_count
            columns.append(
                IdColumn(table, name, values, len(column) - empty, empty, said >= TELLING)
            )
    return columns


def ids_in(source: Source, name: str) -> pa.Array:
    """A column of a table as ids, in one piece."""
    parts = [as_ids(batch.column(0)) for batch in source.batches([name])]
    return pa.chunked_array(parts, pa.string()).combine_chunks()


def as_ids(cells: pa.Array) -> pa.Array:
    """Cells as texts that keys are compared by, empty ones as null: 7, 7.0 and " 7 " are one."""
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if pa.types.is_floating(cells.type):
        whole = pc.all(pc.equal(pc.floor(cells), cells)).as_py() is not False
        cells = pc.cast(cells, pa.int64()) if whole else cells
    if pa.types.is_nested(cells.type) or pa.types.is_binary(cells.type):
        return pa.nulls(len(cells), pa.string())
    texts = pc.cast(cells, pa.string())
    if is_text(cells.type):
        texts = pc.utf8_trim_whitespace(texts)
        texts = pc.replace_substring_regex(texts, r"^(-?\d+)\.0+$", r"\1")
    return pc.if_else(pc.equal(texts, ""), None, texts)


def _references(columns: Mapping[str, Sequence[IdColumn]]) -> tuple[list[Reference], list[str]]:
    """What refers to what, the likeliest key of each column, and the questions that are left."""
    every = [each for column in columns.values() for each in column]
    keys = [each for each in every if each.is_unique]
    found: list[Reference] = []
    doubts: list[str] = []
    for column in every:
        fitting = [
            (key, in_it)
            for key in keys
            if key.table != column.table and (in_it := _contained(column, key)) is not None
        ]
        if not fitting:
            doubts += filter(None, [_half_contained(column, keys)])
            continue
        ranked = sorted(fitting, key=lambda pair: _rank(column, pair[0]), reverse=True)
        best = ranked[0][0]
        alike = [each for each, _ in ranked if _rank(column, each)[:2] == _rank(column, best)[:2]]
        # What numbers some of the same people again is no other table to belong to.
        rivals = [e for e in alike if e.table != best.table and _contained(e, best) is None]
        if rivals:
            several = " or ".join(f'"{each.table}"' for each in alike)
            doubts.append(
                f"to which table does column '{column.name}' of {column.table} refer? Write under "
                f"[tables.{column.table}]: of = {{ {column.name} = {several} }}"
            )
            continue
        inside = ranked[0][1]
        found.append(
            Reference(
                column.table,
                column.name,
                best.table,
                inside,
                column.empty,
                column.rows > len(column.values)
                or bool(_says(column, best) and not best.is_counted),
            )
        )
    return _one_way(found, columns), doubts


def _contained(column: IdColumn, key: IdColumn) -> int | None:
    """How many values of a column are not in a key; ``None`` where it does not refer to it."""
    if (
        column.is_unique
        and _is_of(column.words, column.table)
        and not _is_of(column.words, key.table)
    ):
        return None
    says = _says(column, key)
    # Two registers each count their people up: they have numbers in common, and may have nobody.
    if column.is_unique and key.is_counted and column.of_people and key.of_people:
        return None
    if not says and (key.is_counted or len(column.values) < FEWEST):
        return None
    missing = _missing(column, key)
    # Of few values one may be an orphan, whatever share that is.
    most = (1 - (CALLED if says else CONTAINED)) * len(column.values)
    return missing if missing <= max(most, bool(says)) else None


def _missing(column: IdColumn, key: IdColumn) -> int:
    """How many values of a column are not in a key."""
    inside = pc.sum(pc.is_in(column.values, value_set=key.values)).as_py()
    return len(column.values) - int(inside or 0)


def _half_contained(column: IdColumn, keys: Sequence[IdColumn]) -> str:
    """The question about a column some of whose values are in the key that it is called by."""
    for key in keys:
        if key.table == column.table or column.is_unique or _says(column, key) < 3:
            continue
        share = 1 - _missing(column, key) / len(column.values)
        if share >= PARTLY:
            return (
                f"does column '{column.name}' of {column.table} refer to {key.table}, where "
                f"{percentage(share)} of its values are? Write under [tables.{column.table}]: "
                f'of = {{ {column.name} = "{key.table}" }} and orphans = "drop"'
            )
    return ""


def _says(column: IdColumn, key: IdColumn) -> int:
    """How much the header of a column says that it refers to a key: 3 for its very name."""
    own, words = column.words, key.words | _words_of_table(key.table)
    if column.name.casefold() == key.name.casefold() and own:
        return 3
    if not own:
        # An "id" alone numbers its own table; two tables of one file each may share it.
        return int(column.name.casefold() == key.name.casefold() and not column.is_unique)
    if all(any(_same_stem(one, word) for word in words) for one in own):
        return 3 if _is_of(own, key.table) or key.words & own else 2
    if key.words and all(any(_same_stem(word, other) for other in own) for word in key.words):
        return 1
    return 0


def _words_of_table(name: str) -> frozenset[str]:
    return frozenset(folded(word) for word in words_of(name))


def _is_of(words: frozenset[str], table: str) -> bool:
    """Whether a header names a table, in the singular or the plural."""
    names = _words_of_table(table)
    return bool(words) and all(any(_same_stem(w, n) for n in names) for w in words)


def _same_stem(one: str, other: str) -> bool:
    """Whether two words are one but for their endings."""
    shorter, longer = sorted((one, other), key=len)
    if one == other:
        return True
    least = max(LEAST_STEM, len(shorter) - 2)
    return len(longer) - len(shorter) <= 3 and longer[:least] == shorter[:least]


def _rank(column: IdColumn, key: IdColumn) -> tuple[int, bool, bool, int]:
    """How likely a column refers to a key, the more the larger."""
    return (
        _says(column, key),
        _is_of(column.words, key.table),
        _is_of(key.words, key.table),
        len(key.values),
    )


def _one_way(
    found: Sequence[Reference], columns: Mapping[str, Sequence[IdColumn]]
) -> list[Reference]:
    """The same without references back: of two tables that refer to each other one is first."""
    kept = list(found)
    for each in found:
        back = [o for o in kept if (o.table, o.to) == (each.to, each.table)]
        if (
            each in kept
            and back
            and _weight(each, found, columns) < _weight(back[0], found, columns)
        ):
            kept.remove(each)
        elif each in kept and back:
            kept.remove(back[0])
    return kept


def _weight(
    reference: Reference, found: Sequence[Reference], columns: Mapping[str, Sequence[IdColumn]]
) -> tuple[bool, int, int]:
    """How much speaks for a reference rather than for the one back."""
    key = next(each for each in columns[reference.to] if each.is_unique)
    others = sum(each.to == reference.to for each in found)
    return reference.sure, others, int(_is_of(key.words, reference.to))


def _key_of(reference: Reference, columns: Mapping[str, Sequence[IdColumn]]) -> str:
    """The column to which a reference leads."""
    column = next(e for e in columns[reference.table] if e.name == reference.column)
    keys = [each for each in columns[reference.to] if each.is_unique]
    return max(keys, key=lambda each: _rank(column, each)).name


def _own_key(table: str, columns: Sequence[IdColumn], found: Sequence[Reference]) -> str | None:
    """The key of a table to which nothing refers; ``None`` where no header says one."""
    referring = {reference.column for reference in found if reference.table == table}
    for id_column in columns:
        number = identifies(tuple(folded(word) for word in words_of(id_column.name)))
        if (
            id_column.is_unique
            and id_column.name not in referring
            and (number or _is_of(id_column.words, table))
        ):
            return id_column.name
    return None


def _with_people(named: KeyMap, sources: Mapping[str, Source], doubts: list[str]) -> KeyMap:
    """The same with the table of people, the lookup tables, and what is left to ask."""
    targets: dict[str, set[str]] = defaultdict(set)
    for each in named.references:
        targets[each.table].add(each.to)
    reached = {name: _reached(name, targets) for name in named.tables}
    if any(name in reached[name] for name in named.tables):
        circle = next(name for name in named.tables if name in reached[name])
        doubts.append(
            f"the references of {circle} lead back to it. Write under [tables.{circle}] an 'of' "
            "that leaves one of them out"
        )
        return KeyMap(**{**vars(named), "questions": tuple(doubts)})
    referred = [name for name in named.tables if any(name in each for each in reached.values())]
    people = {name: _people_words(name, named.keys.get(name), sources[name]) for name in referred}
    counted = {name: sum(name in each for each in reached.values()) for name in referred}
    order = sorted(
        referred, key=lambda n: (people[n] > 0, people[n] // 10, counted[n]), reverse=True
    )
    persons = order[0] if order else None
    if persons is not None and not people[persons] and len(order) > 1:
        lines = " or ".join(f"[tables.{name}]" for name in order)
        doubts.append(f"which table has a row for each person? Write persons = true under {lines}")
        persons = None
    lookups, apart = [], []
    for name in named.tables:
        if persons is None or name == persons or persons in reached[name]:
            continue
        if any(name in each for each in reached.values()):
            lookups.append(name)
        else:
            apart.append(name)
    if persons is not None:
        doubts += [
            f"how does {name} belong to {persons}? Write under [tables.{name}]: of = {{ COLUMN = "
            f'"{persons}" }}, or lookup = true; or leave the file out'
            for name in apart
        ]
        doubts += _bridges(named, persons)
    return KeyMap(
        **{
            **vars(named),
            "persons": persons,
            "lookups": tuple(lookups),
            "apart": tuple(apart),
            "questions": tuple(doubts),
        }
    )


def _reached(table: str, targets: Mapping[str, set[str]]) -> set[str]:
    """The tables that a table reaches by its references and by theirs."""
    found: set[str] = set()
    waiting = [*targets.get(table, ())]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += targets.get(name, ())
    return found


def _people_words(table: str, key: str | None, source: Source) -> int:
    """How much names say that a table has a row for each person."""
    says = 10 * (hinted(table, "person") + (key is not None and hinted(key, "person")))
    known = [name for name in source.names if name != key]
    return says + sum(hinted(name, "quasi") or hinted(name, "direct") for name in known)


def _bridges(named: KeyMap, persons: str) -> Iterator[str]:
    """Questions about tables of which two columns name a person each."""
    for name in named.tables:
        direct = [each.column for each in named.of(name) if each.to == persons]
        for one, other in pairwise(direct):
            yield (
                f"whose row is one of {name}: that of '{one}' or of '{other}'? Write under "
                f'[tables.{name}]: of = {{ {one} = "{persons}" }}, and leave the other out'
            )
