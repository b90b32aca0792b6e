"""Classes that last from file to file of a series: everybody is shown in the same cells again.

Where classes are cut anew in each file, a person is among those only who are in the same class in
all of them, and these become few. Here nobody moves: whoever was in an earlier file keeps their
class, also where their values have changed since, and the records of who left stay as they were;
newcomers wait until there are enough of them for classes of their own. So a class has the same
people in every file since it was opened, and who knows when people came knows no more.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core.arrays import Ints
from sfumato.core.atomic import atomic_path
from sfumato.core.errors import InputError
from sfumato.core.secret_keys import Secret
from sfumato.release.generalisation import ReleasedColumns
from sfumato.release.lasting_cells import Texts, kind_of, labels_of
from sfumato.release.partitioning import Draft
from sfumato.release.release_options import Exits, Options
from sfumato.risk.intruders import SeveralFiles
from sfumato.table.sources import NoRecordsError, Source, from_numpy
from sfumato.table.table import Table
from sfumato.table.table_files import content_sha256, open_source

SERIES_FILE = "release.series"
"""The records of everybody in a series and the classes that they are in, beside its manifest."""
_PERSON, _CLASS, _LAST, _ABOUT = "(person)", "(class)", "(last)", b"sfumato"
_OF_A_FILE = re.compile(r"\(\d+\) ")
"""How a column begins that keeps what another one said in a file of the series."""


@dataclass(frozen=True, eq=False)
class LastingClasses:
    """Who is in which class of a series, and what that shows.

    Attributes
    ----------
    cells
        By quasi-identifier, the cell of each class; shape (classes,).
    columns
        By quasi-identifier, its kind and unit, and the labels that its cells were printed beside.
    records
        What the last file said of each of them, as it was read, and whose record each one is.
    files, opened
        Files of the series so far, and the last one of them with new classes.
    present, hidden
        Who is in the file that is made now, by their ids, and whom of them it does not show.
    out
        Keyed digests of the ids of those who are shown no more: who withdrew, or was in a class
        with somebody who did.
    retired, unknown
        How many of them the file that is made now leaves out for the first time, and how many ids
        of people who withdrew are in none.
    """

    class_of: Mapping[str, int] = field(repr=False)
    cells: Mapping[str, Texts] = field(repr=False)
    columns: Mapping[str, tuple[str, frozenset[str]]] = field(repr=False)
    records: pa.Table = field(repr=False, default_factory=lambda: pa.table({}))
    files: int = 1
    opened: int = 1
    present: frozenset[str] = field(repr=False, default_factory=frozenset)
    hidden: frozenset[str] = field(repr=False, default_factory=frozenset)
    seal: str = ""
    name: str = ""
    out: frozenset[str] = field(repr=False, default_factory=frozenset)
    retired: int = 0
    unknown: int = 0

    @classmethod
    def of(cls, draft: Draft, released: ReleasedColumns) -> LastingClasses:
        """Those of a file in which everybody is new."""
        first = np.unique(draft.table.person, return_index=True)[1]
        class_of = draft.class_of[first].tolist()
        return cls(
            dict(zip(ids_of(draft.table), class_of, strict=True)),
            {
                name: tuple(column.texts[text] for text in column.text_of_class)
                for name, (column,) in released.items()
            },
            {
                identifier.name: (kind_of(identifier), labels_of(identifier))
                for identifier in draft.table.quasi_identifiers
            },
        )

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(next(iter(self.cells.values())))

    def opening(self, new: LastingClasses | None) -> LastingClasses:
        """The same in the next file, with the classes of newcomers."""
        number = self.files + 1
        if new is None:
            return replace(self, files=number)
        more = {name: own + self.classes for name, own in new.class_of.items()}
        return replace(
            self,
            class_of={**self.class_of, **more},
            cells={name: (*texts, *new.cells[name]) for name, texts in self.cells.items()},
            columns={
                name: (kind, labels | new.columns[name][1])
                for name, (kind, labels) in self.columns.items()
            },
            files=number,
            opened=number,
        )

    def keeping(self, source: Source, table: Table, before: LastingClasses) -> LastingClasses:
        """The same with the records of a file of who is in a class.

        Before the first file the classes are its own.
        """
        ids = np.array(ids_of(table), dtype=object)
        rows = np.flatnonzero([name in self.class_of for name in ids[table.person]])
        # What has no role goes out in no file, and is not kept either.
        roles = {table.schema.person, *table.schema.quasi_identifiers, *table.schema.sensitive}
        roles |= {*table.schema.insensitive, table.schema.household}
        names = [name for name in source.names if name in roles]
        whole = pa.Table.from_batches(list(source.batches(names)))
        of = table.person[rows]
        records = whole.take(from_numpy(rows)).append_column(_PERSON, pa.array(ids[of].tolist()))
        kept = before.history(ids)
        for name in (*table.schema.sensitive, *table.schema.insensitive):
            kept[f"({self.files}) {name}"] = _said(table, name)
        last = before.left(ids)
        kept[_LAST] = np.where(last > 0, last, self.files)
        for name, values in kept.items():
            records = records.append_column(name, pa.array(values[of]))
        return replace(self, records=records, present=frozenset(), hidden=frozenset())

    def files_of(self, draft: Draft, options: Options) -> SeveralFiles:
        """What all files of the series say of the persons of the next one."""
        table = draft.table
        ids = ids_of(table)
        past = self.history(ids)
        said = {
            name: [
                _said(table, name),
                *(past[f"({number}) {name}"] for number in range(1, self.files + 1)),
            ]
            for name in (*table.schema.sensitive, *table.schema.insensitive)
            if name not in options.withhold
        }
        first = np.unique(table.person, return_index=True)[1]
        exits_known = options.known_months is Exits.EXIT
        return SeveralFiles(draft.class_of[first], said, self.left(ids), exits_known)

    def left(self, ids: Iterable[str]) -> Ints:
        """The file that each of some persons was in last; 0 for who is in the present one."""
        found = self._of_persons(ids, [_LAST]).get(_LAST)
        there = np.array([name in self.present for name in ids])
        return np.zeros(len(there), np.int64) if found is None else np.where(there, 0, found)

    def history(self, ids: Iterable[str]) -> dict[str, Ints]:
        """What columns said of some persons in each file so far; 0 where that was nothing."""
        return self._of_persons(ids, filter(_OF_A_FILE.match, self.records.column_names))

    def _of_persons(self, ids: Iterable[str], names: Iterable[str]) -> dict[str, Ints]:
        if not self.records.num_columns:
            return {}
        people = self.records.column(_PERSON).to_pylist()
        at = {name: place for place, name in enumerate(people)}
        places = np.array([at.get(name, len(people)) for name in ids], dtype=np.int64)
        return {
            name: np.append(self.records.column(name).to_numpy(), 0)[places].astype(np.int64)
            for name in names
        }

    def with_file(self, ids: Iterable[str], secret: Secret) -> LastingClasses:
        """The same beside a file of these people."""
        present = frozenset(ids)
        hidden = {name for name in present if self.out and _digest(name, secret) in self.out}
        return replace(self, present=present, hidden=frozenset(hidden), retired=0, unknown=0)

    def is_new(self, name: str) -> bool:
        """Whether somebody of the file is in no class, and may come into one."""
        return name not in self.class_of and name not in self.hidden

    def without(self, withdrawn: Collection[str], secret: Secret) -> LastingClasses:
        """The same without those who withdraw, and without who is in a class with them.

        Whoever is missing alone would be found by anybody who knows of it: their class goes.
        """
        # Who waited and came to no class is not kept: a later file must not show them either.
        out = {name for name in withdrawn if self.out and _digest(name, secret) in self.out}
        unknown = unknown_of(withdrawn, self.class_of.keys() | self.present | out)
        classes = {self.class_of.get(name) for name in withdrawn} - {None}
        with_them = {name for name, own in self.class_of.items() if own in classes}
        left = with_them.union(self.present.intersection(withdrawn)) - self.hidden
        stays = pc.invert(
            pc.is_in(self.records.column(_PERSON), pa.array(sorted(with_them), pa.string()))
        )
        return replace(
            self,
            class_of={name: own for name, own in self.class_of.items() if name not in with_them},
            records=self.records.filter(stays),
            out=self.out.union(_digest(name, secret) for name in with_them.union(withdrawn)),
            hidden=self.hidden | (left & self.present),
            retired=self.retired + len(left),
            unknown=self.unknown + unknown,
        )

    @property
    def gone(self) -> set[str]:
        """Who is in a class and not in the file that is made now."""
        return self.class_of.keys() - self.present

    def check_people(self, person: str) -> None:
        """Refuse a file that names hardly anybody of the one before.

        So it is where ids are written otherwise.
        """
        if 2 * len(self.gone) > len(self.class_of):
            raise InputError(
                f"column '{person}'",
                "must name at least half of the people of the file which is continued",
                found=f"{len(self.class_of) - len(self.gone):,} of {len(self.class_of):,}",
                advice="write ids as in that file, or open another series",
            )

    def with_who_left(self, source: Source, person: str) -> Source:
        """A file with the last records of everybody who is in it no longer."""
        people = self.records.column(_PERSON)
        left = self.records.filter(pc.is_in(people, pa.array(sorted(self.gone), pa.string())))

        def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
            schema = None
            for batch in source.batches(columns):
                schema = batch.schema
                yield batch
            yield from _shaped(left, columns, schema, person).to_batches()

        rows = None if source.rows is None else source.rows + left.num_rows
        return replace(source, batches=batches, rows=rows, column=None)

    def check_columns(self, table: Table) -> None:
        """Refuse a file whose columns are read otherwise than those of the file before."""
        for identifier in table.quasi_identifiers:
            before, found = self.columns[identifier.name][0], kind_of(identifier)
            if before != found:
                raise InputError(
                    f"column '{identifier.name}'",
                    "must be of the same kind as in the file that is continued",
                    found=found,
                    accepted=before,
                    advice="clean what is no such value, or open another series",
                )

    @property
    def sha256(self) -> str:
        """A hash of all of it, which the manifest keeps."""
        table, said = self._as_table(), json.dumps(self._described(), sort_keys=True)
        past = [name for name in table.column_names if _OF_A_FILE.match(name)]
        rest = table.drop_columns(past)
        said += content_sha256(rest.column_names, rest.to_batches())
        digest = hashlib.sha256(said.encode())
        for name in past:  # as numbers: as text each file more would take as long as all the rest
            digest.update(name.encode())
            digest.update(table.column(name).to_numpy().astype("<i8").data)
        return digest.hexdigest()

    def _described(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "opened": self.opened,
            "seal": self.seal,
            "name": self.name,
            "out": sorted(self.out),
            "cells": {name: list(texts) for name, texts in self.cells.items()},
            "columns": {
                name: [kind, sorted(labels)] for name, (kind, labels) in self.columns.items()
            },
        }

    def _as_table(self) -> pa.Table:
        """The records, each with the class of its person."""
        of_record = [self.class_of[name] for name in self.records.column(_PERSON).to_pylist()]
        return self.records.append_column(_CLASS, pa.array(of_record, pa.int32()))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it, whole or not at all, to a file that its owner alone may read."""
        described = {_ABOUT: json.dumps(self._described())}
        with atomic_path(path) as part:
            pq.write_table(self._as_table().replace_schema_metadata(described), part)

    @classmethod
    def read(cls, path: Path, sha256: str) -> LastingClasses:
        """Read what `write` wrote.

        Raises
        ------
        InputError
            If it cannot be read, or is not what the manifest speaks of.
        """
        found = None
        try:
            table = pq.ParquetFile(path).read()
            said = json.loads(table.schema.metadata[_ABOUT])
            people, classes = (table.column(each).to_pylist() for each in (_PERSON, _CLASS))
            found = cls(
                dict(zip(people, classes, strict=True)),
                {name: tuple(texts) for name, texts in said["cells"].items()},
                {name: (kind, frozenset(own)) for name, (kind, own) in said["columns"].items()},
                table.drop_columns([_CLASS]),
                said["files"],
                said["opened"],
                seal=said["seal"],
                name=said["name"],
                out=frozenset(said.get("out", ())),
            )
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
            pass  # whatever is wrong with it is one mistake to its reader
        if found is None or found.sha256 != sha256:
            raise InputError(
                f"file {path.name}",
                "must be what was kept with the file that is continued",
                found="another content" if path.is_file() else "none",
                advice="bring it back beside its release.toml: without it a file of the same "
                "people is another release",
            )
        return found


def ids_of(table: Table) -> list[str]:
    """The id of each person as text."""
    assert table.schema.person is not None
    first = np.unique(table.person, return_index=True)[1]
    ids = table.source.column(table.schema.person).take(from_numpy(first))
    texts: list[str] = pc.cast(ids, pa.string()).to_pylist()
    return texts


def ids_in(data: Any, person: str, **layout: Any) -> set[str]:
    """The ids that a table names, as text; none where it has the column and no record."""
    try:
        source = open_source(data, **layout)
    except NoRecordsError as error:
        if person in error.names:
            return set()
        raise
    columns = (pc.cast(batch.column(0), pa.string()) for batch in source.batches([person]))
    return {name for column in columns for name in column.to_pylist() if name is not None}


def unknown_of(withdrawn: Collection[str], known: Collection[str]) -> int:
    """How many of those who withdraw are in no file of a series.

    Refused where they are most, and where somebody has the same id but for what spreadsheets
    change: they would stay.
    """
    unknown = set(withdrawn).difference(known)
    names = {_bare(name) for name in known} if unknown else set()
    otherwise = sum(_bare(name) in names for name in unknown)
    if otherwise or 2 * len(unknown) > len(withdrawn):
        raise InputError(
            "who withdraws",
            "must be people of the files of this series, by their ids",
            found=f"{len(unknown):,} of {len(withdrawn):,} that none of them names, "
            f"{otherwise:,} by its zeros, case or spaces alone",
            advice="write ids as in these files; leave people who are in none out of the next file",
        )
    return len(unknown)


def _bare(name: str) -> str:
    """An id without what spreadsheets and editors add or take."""
    return name.strip("\ufeff \t").casefold().removesuffix(".0").lstrip("0")


def write_ids(ids: Iterable[str], person: str, path: Path) -> None:
    """Write a table that names people, as `ids_in` reads it, for its owner alone."""
    with atomic_path(path) as part:
        pq.write_table(pa.table({person: sorted(ids)}), part)


def _digest(name: str, secret: Secret) -> str:
    """What stands for the id of somebody whose records are kept no longer."""
    return secret.bound(b"withdrawn", name.encode()).hex()


def _said(table: Table, name: str) -> Ints:
    """A number for all that a column says of each person, in any order; shape (persons,)."""
    encoded = pc.dictionary_encode(pc.cast(table.source.column(name), pa.string()))
    values = encoded.combine_chunks()
    texts = values.dictionary.to_pylist()
    digests = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts]
    number = np.frombuffer(b"".join(digests), dtype=np.int64)
    said = np.zeros(table.persons, dtype=np.int64)
    has_value = np.asarray(values.is_valid())
    codes = values.indices.fill_null(0).to_numpy()[has_value]
    # Sums wrap around, and are the same in any order of the records.
    np.add.at(said, table.person[has_value], number[codes])
    return said


def _shaped(
    records: pa.Table, columns: Sequence[str], schema: pa.Schema | None, person: str
) -> pa.Table:
    """Some columns of records in the types of another file; what was not kept is missing."""
    made = {}
    for name in columns:
        kept = name in records.column_names
        column = records.column(name) if kept else pa.nulls(records.num_rows)
        if schema is None:
            made[name] = column
            continue
        kind = schema.field(name).type
        try:
            made[name] = pc.cast(column, kind)
            # An id that is written otherwise would be another person, or somebody else's.
            same = name != person or made[name].cast(pa.string()) == column.cast(pa.string())
        except pa.ArrowException:
            same = False
        if not same:
            raise InputError(
                f"column '{name}'",
                "must be of the type that it has in the file which is continued",
                found=str(kind),
                accepted=str(column.type),
            )
    return pa.table(made, schema=schema)
