"""Whose each record of a database is: keys are checked, references followed, orphans counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core import number_text
from sfumato.core.arrays import Bools, Ints
from sfumato.core.errors import InputError
from sfumato.table.sources import Source, as_numpy, from_numpy, listed
from sfumato.table.table_keys import KeyMap, as_ids

NOBODY = -1
"""The row to which a reference leads that is empty."""
_ORPHAN = -2


@dataclass(frozen=True)
class Layout:
    """How tables belong together.

    Attributes
    ----------
    keys
        The key of each table that has one.
    of
        By table, to which table each of its columns refers.
    persons
        The table of people.
    dropping
        Tables whose orphans are left out; those of others are refused.
    """

    keys: Mapping[str, str]
    of: Mapping[str, Mapping[str, str]]
    persons: str
    dropping: frozenset[str] = frozenset()

    @classmethod
    def found(cls, keys: KeyMap) -> Layout:
        """As it was found, orphans being counted and left out."""
        of = {name: {e.column: e.to for e in keys.of(name)} for name in keys.tables}
        assert keys.persons is not None
        return cls(keys.keys, of, keys.persons, frozenset(keys.tables))


@dataclass(frozen=True)
class TableCount:
    """How many records of a table belong to people.

    Attributes
    ----------
    orphans
        Those of them that refer to nothing that is there, or to nothing at all.
    without
        Number of people of whom the table has no record.
    unknown
        Number of codes of records that stay of which no lookup table says what they mean.
    """

    table: str
    records: int
    orphans: int
    without: int
    unknown: int = 0


@dataclass(frozen=True, eq=False)
class Joined:
    """Tables whose references were followed.

    Attributes
    ----------
    rows
        By table, the records that stay, in the file's order.
    parents
        By table and column, the place of the record that each refers to among those that stay;
        `NOBODY` for none.
    person
        By table, the person of each record that stays, by its place in the table of people; lookup
        tables have none.
    """

    layout: Layout
    rows: dict[str, Ints] = field(default_factory=dict)
    parents: dict[tuple[str, str], Ints] = field(default_factory=dict)
    person: dict[str, Ints] = field(default_factory=dict)
    counts: tuple[TableCount, ...] = ()

    @property
    def people(self) -> int:
        """Number of people."""
        return len(self.rows[self.layout.persons])

    @property
    def silent(self) -> int:
        """Number of people of whom no other table has a record."""
        others = [own for name, own in self.person.items() if name != self.layout.persons]
        return self.people - len(np.unique(np.concatenate([*others, np.zeros(0, np.int64)])))


def read_columns(source: Source, names: Iterable[str]) -> pa.Table:
    """Some columns of a table, in the table's order."""
    wanted = {*names}
    chosen = [name for name in source.names if name in wanted]
    batches = [batch.replace_schema_metadata(None) for batch in source.batches(chosen)]
    return pa.Table.from_batches(batches)


def joined(columns: Mapping[str, pa.Table], layout: Layout) -> Joined:
    """Follow the references of tables, those to which others refer first.

    Each table has at least its key and what refers to others.
    """
    ids: dict[str, pa.Array] = {}
    made = Joined(layout)
    counts = []
    for name in in_order(layout):
        table, refers = columns[name], layout.of.get(name, {})
        rows = np.arange(table.num_rows)
        parents = {c: _places(table.column(c), ids[to]) for c, to in refers.items()}
        orphan = np.zeros(len(rows), dtype=np.bool_)
        unknown = np.zeros(len(rows), dtype=np.int64)
        for column, to in refers.items():
            leads_nowhere = parents[column] == _ORPHAN
            if to in made.person:
                orphan |= leads_nowhere
            else:  # a code that its table lacks says what happened all the same
                unknown += leads_nowhere
                parents[column][leads_nowhere] = NOBODY
        person, of_nobody = _people_of(made, name, parents, len(rows))
        orphan |= of_nobody
        number = int(orphan.sum())
        if number and name not in layout.dropping:
            raise _orphans(name, refers, number, len(rows))
        kept = np.flatnonzero(~orphan)
        made.rows[name] = kept
        for column, places in parents.items():
            made.parents[name, column] = places[kept]
        without = 0
        if person is not None:
            made.person[name] = np.arange(len(kept)) if name == layout.persons else person[kept]
            _check_agree(made, name)
            without = made.people - len(np.unique(made.person[name]))
        counts.append(TableCount(name, len(rows), number, without, int(unknown[kept].sum())))
        if name in layout.keys:
            own = ids_of(table.column(layout.keys[name]))
            _check_key(name, layout.keys[name], own)
            ids[name] = own.take(from_numpy(kept))
    order = {name: place for place, name in enumerate(columns)}
    return Joined(
        layout, made.rows, made.parents, made.person,
        tuple(sorted(counts, key=lambda each: order[each.table])),
    )  # fmt: skip


def in_order(layout: Layout) -> list[str]:
    """The tables, those to which others refer before these, people before who belongs to them."""
    names = [*layout.of]
    done: list[str] = []
    while len(done) < len(names):
        ready = [n for n in names if n not in done and {*layout.of[n].values()} <= {*done}]
        # People first, as the others ask whose they are.
        done += [n for n in ready if n == layout.persons] or ready[:1]
    return done


def ids_of(column: pa.ChunkedArray) -> pa.Array:
    """A column as ids, in one piece."""
    return pa.chunked_array(
        [as_ids(chunk) for chunk in column.chunks], pa.string()
    ).combine_chunks()


def _places(column: pa.ChunkedArray, keys: pa.Array) -> Ints:
    """The place in a key that each cell refers to; `NOBODY` of an empty one."""
    cells = ids_of(column)
    places = as_numpy(pc.fill_null(pc.index_in(cells, value_set=keys), _ORPHAN)).astype(np.int64)
    places[as_numpy(cells.is_null())] = NOBODY
    return places


def _people_of(
    made: Joined, name: str, parents: Mapping[str, Ints], records: int
) -> tuple[Ints | None, Bools]:
    """The person of each record, and which records have none; ``None`` for a lookup table."""
    layout = made.layout
    nobody = np.zeros(records, dtype=np.bool_)
    if name == layout.persons:
        return np.arange(records), nobody
    paths = [(c, to) for c, to in layout.of.get(name, {}).items() if to in made.person]
    if not paths:
        return None, nobody
    person = np.full(records, NOBODY, dtype=np.int64)
    for column, to in paths:
        places = parents[column]
        through = np.append(made.person[to], NOBODY)[np.maximum(places, NOBODY)]
        person = np.where(person == NOBODY, np.where(places >= 0, through, NOBODY), person)
    return person, person == NOBODY


def _check_agree(made: Joined, name: str) -> None:
    """Refuse records of which two references lead to two people."""
    paths = [(c, to) for c, to in made.layout.of.get(name, {}).items() if to in made.person]
    differing = np.zeros(len(made.rows[name]), dtype=np.bool_)
    for column, to in paths:
        places = made.parents[name, column]
        through = np.append(made.person[to], NOBODY)[places]
        differing |= (places >= 0) & (through != made.person[name])
    if differing.any():
        raise InputError(
            f"table {name}",
            f"must lead to one person by {listed(column for column, _ in paths)}",
            found=f"two people in {int(differing.sum()):,} of "
            f"{number_text.counted(len(differing), 'record')}",
            advice="correct them, or leave all but one of these columns out of 'of'",
        )


def _check_key(name: str, key: str, ids: pa.Array) -> None:
    empty = ids.null_count
    twice = len(ids) - empty - len(pc.unique(ids.drop_null()))
    if empty or twice:
        raise InputError(
            f"column '{key}' of table {name}",
            "must name each record once, as a key does",
            found=f"{number_text.counted(empty, 'empty cell')}, "
            f"{number_text.counted(twice, 'value')} again, "
            f"of {number_text.counted(len(ids), 'record')}",
            advice="correct the file, or name another key",
        )


def _orphans(name: str, refers: Iterable[str], number: int, records: int) -> InputError:
    return InputError(
        f"table {name}",
        f"must refer by {listed(refers)} to records that are there",
        found=f"{number:,} of {number_text.counted(records, 'record')} with no such record",
        advice=f'write orphans = "drop" under [tables.{name}] to leave them out',
    )


def counted(sources: Mapping[str, Source], keys: KeyMap) -> Joined:
    """What `profile` says of a database: orphans, and people without events."""
    layout = Layout.found(keys)
    columns = {
        name: read_columns(
            sources[name],
            {*layout.of[name], *filter(None, [keys.keys.get(name)])} or sources[name].names[:1],
        )
        for name in keys.tables
    }
    return joined(columns, layout)


def words_of_map(keys: KeyMap, made: Joined | None) -> list[list[str]]:
    """The map of keys as rows of a table, with its heads."""
    rows = [["table", "key", "refers to", "records", "orphans", "unknown codes", "people without"]]
    counts = {} if made is None else {count.table: count for count in made.counts}
    for name in keys.tables:
        refers = ", ".join(f"{each.to} by {each.column}" for each in keys.of(name))
        what = "a row for each person" if name == keys.persons else refers
        if name in keys.lookups:
            what = "nothing; it says what a code means"
        own = counts.get(name)
        numbers = [""] * 4 if own is None else [
            f"{own.records:,}", f"{own.orphans:,}", f"{own.unknown:,}",
            "" if name == keys.persons or name in keys.lookups else f"{own.without:,}",
        ]  # fmt: skip
        rows.append([name, keys.keys.get(name, ""), what, *numbers])
    return [*rows, *([name, "", "nothing; it is left out", *[""] * 4] for name in keys.left_out)]


def map_to_json(keys: KeyMap, made: Joined | None) -> dict[str, Any]:
    """The map of keys as plain values."""
    return {
        "persons": keys.persons,
        "keys": dict(keys.keys),
        "references": [
            {"table": reference.table, "column": reference.column, "to": reference.to}
            for reference in keys.references
        ],
        "lookups": list(keys.lookups),
        "left_out": list(keys.left_out),
        "questions": list(keys.questions),
        "counts": [] if made is None else [vars(count) for count in made.counts],
        "without_events": None if made is None else made.silent,
    }
