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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato import hierarchies
from sfumato.core.arrays import Bools, Ints
from sfumato.core.atomic import atomic_path
from sfumato.core.errors import ConstraintsNotMetError, InputError, typed
from sfumato.core.secret_keys import FOR_REPEATING, Secret, read_secret
from sfumato.release.generalisation import (
    ExtraValues,
    ReleasedColumn,
    ReleasedColumns,
    is_snapped,
)
from sfumato.release.partitioning import Draft
from sfumato.release.promises.promise import Constraint, ordered_attributes
from sfumato.release.release_manifest import Manifest, load_manifest
from sfumato.release.tree import Partition
from sfumato.risk.class_measures import ranks_of, rows_of_tables
from sfumato.risk.classes import summarize
from sfumato.risk.intruders import SeveralFiles
from sfumato.schema import Kind
from sfumato.table.scalars import natural_order
from sfumato.table.sources import Source, from_numpy
from sfumato.table.table import EPOCH_TIME, MISSING, CodedColumn, Codes, NumberDomain, Table
from sfumato.table.table_files import content_sha256

SERIES_FILE = "release.series"
"""The records of everybody in a series and the classes that they are in, beside its manifest."""
WAITING = -1
"""The class of who is in no class yet."""
_PERSON, _CLASS, _LAST, _ABOUT = "(person)", "(class)", "(last)", b"sfumato"
_OF_A_FILE = re.compile(r"\(\d+\) ")
"""How a column begins that keeps what another one said in a file of the series."""
Texts = tuple[str | None, ...]


@dataclass(frozen=True, eq=False)
class LastingClasses:
    """Who is in which class of a series, and what that shows.

    Attributes
    ----------
    class_of
        By the id of each person who was released, the class.
    cells
        By quasi-identifier, the cell of each class; shape (classes,).
    columns
        By quasi-identifier, its kind and unit, and the labels that its cells were printed beside.
    records
        What the last file said of each of them, as it was read, and whose record each one is.
    files, opened
        Files of the series so far, and the last one of them with new classes.
    present
        Who is in the file that is made now, by their ids.
    seal
        What tells the series' secret and promises from others.
    name
        What its pseudonyms are keyed for beside the secret.
    """

    class_of: Mapping[str, int] = field(repr=False)
    cells: Mapping[str, Texts] = field(repr=False)
    columns: Mapping[str, tuple[str, frozenset[str]]] = field(repr=False)
    records: pa.Table = field(repr=False, default_factory=lambda: pa.table({}))
    files: int = 1
    opened: int = 1
    present: frozenset[str] = field(repr=False, default_factory=frozenset)
    seal: str = ""
    name: str = ""

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
                each.name: (_kind_of(each), _labels_of(each))
                for each in draft.table.quasi_identifiers
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
        """The same with the records of a file, which was read as a table, of who is in a class.

        Parameters
        ----------
        before
            The classes before the file; itself of the first one.
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
        return replace(self, records=records, present=frozenset())

    def files_of(self, draft: Draft, withheld: Sequence[str]) -> SeveralFiles:
        """What all files of the series say of the persons of the next one.

        Parameters
        ----------
        withheld
            Columns that do not go out.
        """
        table = draft.table
        ids = ids_of(table)
        past = self.history(ids)
        said = {
            name: [
                _said(table, name),
                *(past[f"({number}) {name}"] for number in range(1, self.files + 1)),
            ]
            for name in (*table.schema.sensitive, *table.schema.insensitive)
            if name not in withheld
        }
        first = np.unique(table.person, return_index=True)[1]
        return SeveralFiles(draft.class_of[first], said, self.left(ids))

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

    def with_who_left(self, source: Source, person: str) -> Source:
        """A file with the last records of everybody who is in it no longer.

        Parameters
        ----------
        person
            The column that names them.

        Raises
        ------
        InputError
            If hardly anybody of the file before is in it, as where ids are written otherwise.
        """
        people = self.records.column(_PERSON)
        gone = pc.invert(pc.is_in(people, pa.array(sorted(self.present), pa.string())))
        left = self.records.filter(gone)
        if 2 * left.num_rows > self.records.num_rows:
            raise InputError(
                f"column '{person}'",
                "must name at least half of the people of the file which is continued",
                found=f"{self.records.num_rows - left.num_rows:,} of {self.records.num_rows:,}",
                advice="write ids as in that file, or open another series",
            )

        def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
            schema = None
            for batch in source.batches(columns):
                schema = batch.schema
                yield batch
            yield from _shaped(left, columns, schema, person).to_batches()

        rows = None if source.rows is None else source.rows + left.num_rows
        return replace(source, batches=batches, rows=rows, column=None)

    def check_columns(self, table: Table) -> None:
        """Refuse a file whose columns are read otherwise than those of the file before.

        Raises
        ------
        InputError
            If one is of another kind, or its values of another unit.
        """
        for each in table.quasi_identifiers:
            before, found = self.columns[each.name][0], _kind_of(each)
            if before != found:
                raise InputError(
                    f"column '{each.name}'",
                    "must be of the same kind as in the file that is continued",
                    found=found,
                    accepted=before,
                    advice="clean what is no such value, or open another series",
                )

    @property
    def sha256(self) -> str:
        """A hash of all of it, which the manifest keeps."""
        table = self._as_table()
        said = json.dumps(self._described(), sort_keys=True)
        said += content_sha256(table.column_names, table.to_batches())
        return hashlib.sha256(said.encode()).hexdigest()

    def _described(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "opened": self.opened,
            "seal": self.seal,
            "name": self.name,
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

        Parameters
        ----------
        sha256
            The hash that the manifest has of it.

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


@dataclass(frozen=True, eq=False)
class Earlier:
    """The file of a series that is continued.

    Attributes
    ----------
    secret
        That of the whole series.
    """

    manifest: Manifest
    secret: Secret
    lasting: LastingClasses

    @classmethod
    def of(cls, continues: Any) -> Earlier:
        """It as a release that is at hand, or by the path of its manifest.

        Raises
        ------
        InputError
            If it is of no series, or what was kept beside its manifest is gone.
        """
        if not isinstance(continues, (str, os.PathLike)):
            if continues.secret is None or continues.lasting is None:
                raise _no_series("a release of no series, or one that was pickled")
            return cls(continues.manifest, continues.secret, continues.lasting)
        path = Path(continues)
        manifest = load_manifest(path)
        if "classes_sha256" not in manifest.series:
            raise _no_series("one of no series")
        secret = read_secret(path.with_name(FOR_REPEATING), "parameter continues")
        classes = manifest.series["classes_sha256"]
        lasting = LastingClasses.read(path.with_name(SERIES_FILE), classes)
        if lasting.seal != sealed(manifest, Secret(secret)):
            raise InputError(
                "parameter continues",
                "must have the secret, promises and options that the series was opened with",
                found=f"another {FOR_REPEATING}, or a {path.name} that was changed",
                advice="bring back the files as they were written",
            )
        return cls(manifest, Secret(secret), lasting)

    def check_next(self, schema_sha256: str, input_sha256: str) -> None:
        """Refuse a file that cannot be the next one.

        Raises
        ------
        InputError
            If it is the same file again, or of another schema.
        """
        if schema_sha256 != self.manifest.schema_sha256:
            raise InputError(
                "parameter schema",
                "must be that of the file which is continued",
                found="another content",
                advice="open another series, or take the schema of its first file",
            )
        if input_sha256 and input_sha256 == self.manifest.input_sha256:
            raise InputError(
                "the data",
                "must be a later file than the one which is continued",
                found="the same file again",
            )


def sealed(manifest: Manifest, secret: Secret) -> str:
    """What only the secret of a series makes of its promises and options."""
    plain = manifest.to_dict()
    said = json.dumps([plain["options"], plain["constraints"]], sort_keys=True, default=str)
    return secret.bound(b"series file", said.encode()).hex()


def _no_series(found: str) -> InputError:
    return InputError(
        "parameter continues",
        "must name the release.toml of the last file of a series",
        found=found,
        advice="open one with its first file: " + typed("series='snapshot'", "--series snapshot"),
    )


@dataclass(frozen=True, eq=False)
class Continued:
    """A file in the classes of its series.

    Attributes
    ----------
    waiting
        People who wait for classes of their own.
    changed
        By quasi-identifier, people whose value is no longer in the cell that they keep.
    """

    draft: Draft
    released: ReleasedColumns
    lasting: LastingClasses
    waiting: int
    changed: Mapping[str, int]

    @classmethod
    def of(
        cls, table: Table, lasting: LastingClasses, constraints: Sequence[Constraint]
    ) -> Continued:
        """The records of a file in the classes of their persons, with the cells that these have.

        Classes that look the same stay apart: who knows when people came tells them.

        Parameters
        ----------
        lasting
            The classes, those of newcomers included.

        Raises
        ------
        ConstraintsNotMetError
            If a class no longer keeps a promise.
        """
        own = np.array([lasting.class_of.get(name, WAITING) for name in ids_of(table)], np.int32)
        columns = [
            _Cells(
                each,
                lasting.cells[each.name],
                lasting.columns[each.name][1],
                table.schema.quasi_identifiers[each.name].order,
            )
            for each in table.quasi_identifiers
        ]
        admitted = np.flatnonzero(own[table.person] != WAITING)
        there = table.take(admitted)
        used, number = np.unique(own[table.person[admitted]], return_inverse=True)
        class_of = number.astype(np.int32)
        _check_kept(there, class_of, constraints)
        values = [each.values(used) for each in columns]
        extra = ExtraValues(
            tuple(codes for codes, _ in values), tuple(of for _, of in values), alone=True
        )
        of_person = class_of[np.unique(there.person, return_index=True)[1]]
        tree = Partition(of_person, len(used), 0).measured(np.bincount(there.person))
        draft = Draft(admitted, there, class_of, tree, len(used), extra=extra)
        released: ReleasedColumns = {each.column.name: (each.shown(used),) for each in columns}
        changed = {each.column.name: each.outside(table.person, own) for each in columns}
        return cls(draft, released, lasting, table.persons - there.persons, changed)

    def noted(self, before: str) -> dict[str, Any]:
        """What a manifest says of it.

        Parameters
        ----------
        before
            The hash of the released file that it continues.
        """
        return {
            "file": self.lasting.files,
            "continues_sha256": before,
            "waiting": self.waiting,
            "changed": {name: people for name, people in self.changed.items() if people},
        }

    def sentences(self) -> Iterator[str]:
        """What the reader of a release should know."""
        if self.waiting:
            yield f"{self.waiting:,} newcomers wait for classes of their own, and are left out"
        for name, people in self.changed.items():
            if people:
                yield (
                    f"column '{name}' shows of {people:,} people what their class showed before; "
                    "their value has changed since"
                )


def _check_kept(table: Table, class_of: Codes, constraints: Sequence[Constraint]) -> None:
    """Refuse a file in which a class no longer keeps a promise.

    Nobody is held back instead: a class that is gone for a month tells what it broke.
    """
    count = int(class_of.max(initial=-1)) + 1
    summary = summarize(
        class_of,
        count,
        table.person,
        {column.name: column.codes for column in table.sensitive},
        ranks=ranks_of(table, ordered_attributes(constraints, table.schema.sensitive)),
        rows=rows_of_tables(table),
    )
    broken = {each.name: ~each.met(summary) for each in constraints}
    failures = [
        f"{name} is no longer kept by {int(which.sum())} of {count} classes, of "
        f"{int(summary.persons[which].sum())} people."
        for name, which in broken.items()
        if which.any()
    ]
    if failures:
        raise ConstraintsNotMetError(
            tuple(failures),
            ("open another series; a reader of both finds more",),
            "This file cannot continue the series.",
        )


def _kind_of(column: CodedColumn) -> str:
    unit = f" {column.domain.unit}" if isinstance(column.domain, NumberDomain) else ""
    return f"{column.kind.value}{unit}"


def _labels_of(column: CodedColumn) -> frozenset[str]:
    """The labels that a cell may be, where it is no range of numbers."""
    numbers = column.kind is Kind.NUMERIC
    own = () if numbers else map(column.domain.label, range(column.domain.size))
    hierarchy = None if column.lone is not None else column.hierarchy
    return frozenset(own).union(*(() if hierarchy is None else hierarchy.labels[1:]))


class _Cells:
    """The cells of the classes in one column, held against the values of a file.

    A cell covers a run of values and may cover a missing one; where cells are sets, or labels of a
    hierarchy, it covers any of them.
    """

    def __init__(
        self,
        column: CodedColumn,
        texts: Texts,
        labels: frozenset[str],
        order: Sequence[str] | None,
    ) -> None:
        self.column, self.order = column, order
        self.distinct = tuple(dict.fromkeys(texts))
        number = {text: place for place, text in enumerate(self.distinct)}
        self.text_of_class = np.array([number[text] for text in texts], dtype=np.int32)
        # Of this file's labels, too: a hierarchy may have got new ones since.
        known = labels | _labels_of(column)
        self.said = [hierarchies.parse_released(text, column.kind, known) for text in self.distinct]
        domain = column.domain
        numbers = isinstance(domain, NumberDomain)
        own = () if numbers else map(domain.label, range(domain.size))
        self.code_of = {label: code for code, label in enumerate(own)}
        several = any(isinstance(each, hierarchies.OneOf) for each in self.said)
        hierarchy = None if column.lone is not None else column.hierarchy
        self.levels = [
            ({label: index for index, label in enumerate(names)}, above)
            for names, above in (
                () if hierarchy is None else zip(hierarchy.labels, hierarchy.ancestors, strict=True)
            )
        ]
        self.run = np.array([self._run(each) for each in self.said], dtype=np.int64).reshape(-1, 2)
        anything = (hierarchies.Anything, hierarchies.Missing)
        self.missing: Bools = np.array([isinstance(each, anything) for each in self.said], np.bool_)
        self.inside: Bools | None = None
        if several or self.levels:
            self.inside = np.array([self._inside(at) for at in range(len(self.said))], np.bool_)
            self.inside = self.inside.reshape(len(self.said), domain.size)

    def outside(self, person: Codes, class_of: Codes) -> int:
        """People of whom a record has a value that their cell does not cover."""
        own, codes = class_of[person], self.column.codes
        text, value = self.text_of_class[own], np.maximum(codes, 0)
        if self.inside is None:
            covered = (self.run[text, 0] <= value) & (value <= self.run[text, 1])
        else:
            covered = self.inside[text, value]
        covered = np.where(codes == MISSING, self.missing[text], covered) | (own == WAITING)
        return len(np.unique(person[~covered]))

    def values(self, classes: Codes) -> tuple[Codes, Codes]:
        """The values that tell the cells of some classes, and the place of the class of each."""
        text = self.text_of_class[classes]
        if self.inside is None:
            has = np.flatnonzero(self.run[text, 0] <= self.run[text, 1])
            place, code = np.repeat(has, 2), self.run[text[has]].ravel()
        else:
            place, code = np.nonzero(self.inside[text])
        missing = np.flatnonzero(self.missing[text])
        code = np.append(code, np.full(len(missing), MISSING))
        return code.astype(np.int32), np.append(place, missing).astype(np.int32)

    def shown(self, classes: Codes) -> ReleasedColumn:
        """The cells of some classes as a column of a release."""
        used, text = np.unique(self.text_of_class[classes], return_inverse=True)
        leaves = np.maximum(self.run[used, 1] - self.run[used, 0] + 1, 0)
        if self.inside is not None:
            leaves = self.inside[used].sum(axis=1)
        penalty = None
        if is_snapped(self.column) and self.column.ends is None:
            # Its printed ends are points of a grid, which follow from no value.
            penalty = np.array([self._width(self.said[at]) for at in used])[text]
        name, texts = self.column.name, tuple(self.distinct[each] for each in used)
        return ReleasedColumn(
            name, name, texts, text.astype(np.int32), leaves[text], penalty=penalty
        )

    def _width(self, cell: hierarchies.Released) -> float:
        """How much of the domain lies between the printed ends of a range."""
        domain = self.column.domain
        assert isinstance(domain, NumberDomain)
        if isinstance(cell, hierarchies.Anything):
            return 1.0
        if domain.size < 2 or not isinstance(cell, hierarchies.Range):
            return 0.0
        width = _point(cell.high, domain) - _point(cell.low, domain)
        return min(float(width) / float(np.ptp(domain.points)), 1.0)

    def _run(self, cell: hierarchies.Released) -> tuple[int, int]:
        """The first and the last value that a cell covers, the last before the first for none."""
        match cell:
            case hierarchies.Anything():
                return 0, self.column.domain.size - 1
            case hierarchies.Range(low, high):
                return self._between(low, high)
            case hierarchies.AtLeast(low):
                return self._between(low, None)
            case hierarchies.AtMost(high):
                return self._between(None, high)
            case hierarchies.Exact(label) if isinstance(self.column.domain, NumberDomain):
                return self._between(label, label) if _is_point(label) else (1, 0)
            case hierarchies.Exact(label) if label in self.code_of:
                return self.code_of[label], self.code_of[label]
        return 1, 0

    def _inside(self, at: int) -> Bools:
        """Whether a cell covers each value of the domain."""
        cell, size = self.said[at], self.column.domain.size
        low, high = self.run[at]
        found: Bools = (np.arange(size) >= low) & (np.arange(size) <= high)
        members = cell.members if isinstance(cell, hierarchies.OneOf) else ()
        for label in (cell.label,) if isinstance(cell, hierarchies.Exact) else members:
            first, last = self._run(hierarchies.Exact(label))
            found[first : last + 1] = True
            for index_of, above in self.levels:
                if label in index_of:
                    found |= above == index_of[label]
        return found

    def _between(self, low: str | None, high: str | None) -> tuple[int, int]:
        """The first and the last value between two ends, both inside; ``None`` is no end."""
        domain = self.column.domain
        if isinstance(domain, NumberDomain):
            places: Any = domain.points
            first = None if low is None else ceil(_point(low, domain))
            last = None if high is None else floor(_point(high, domain))
        else:
            # An end need not occur in this file.
            ends = {end for end in (low, high) if end is not None}
            occurring = list(self.code_of)
            strange = not ends <= self.code_of.keys()
            order = self.order or (natural_order(ends.union(occurring)) if strange else occurring)
            place = {label: number for number, label in enumerate(order)}
            places = [place[label] for label in occurring]
            first, last = (None if end is None else place[end] for end in (low, high))
        begin = 0 if first is None else int(np.searchsorted(places, first))
        end = domain.size if last is None else int(np.searchsorted(places, last, side="right"))
        return begin, end - 1


def _is_point(label: str) -> bool:
    """Whether a label is a number or a date, and not one above them."""
    try:
        Decimal(label)
    except InvalidOperation:
        try:
            datetime.fromisoformat(label)
        except ValueError:
            return False
    return True


def _point(text: str, domain: NumberDomain) -> Decimal:
    """A printed number or date on the integer scale of a domain's points."""
    if domain.unit == "number":
        return Decimal(text).scaleb(domain.decimals)
    since = datetime.fromisoformat(text).replace(tzinfo=UTC) - EPOCH_TIME
    if domain.unit == "date":
        return Decimal(since.days)
    return Decimal((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds)
