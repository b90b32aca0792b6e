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
from sfumato.engines.embedded.counts import group
from sfumato.release.generalisation import ExtraValues, ReleasedColumn, ReleasedColumns
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
    """

    class_of: Mapping[str, int] = field(repr=False)
    cells: Mapping[str, Texts] = field(repr=False)
    columns: Mapping[str, tuple[str, frozenset[str]]] = field(repr=False)
    records: pa.Table = field(repr=False, default_factory=lambda: pa.table({}))
    files: int = 1
    opened: int = 1
    present: frozenset[str] = field(repr=False, default_factory=frozenset)

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

    @property
    def noted(self) -> dict[str, Any]:
        """What the manifest of every file says of it."""
        return {"file": self.files, "classes_sha256": self.sha256}

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
        names = [name for name in source.names if name not in table.schema.direct_identifiers]
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

    def with_who_left(self, source: Source) -> Source:
        """A file with the last records of everybody who is in it no longer."""
        there = pa.array(sorted(self.present), pa.string())
        left = self.records.filter(pc.invert(pc.is_in(self.records.column(_PERSON), there)))

        def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
            schema = None
            for batch in source.batches(columns):
                schema = batch.schema
                yield batch
            yield from _shaped(left, columns, schema).to_batches()

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
        """A hash of who is in which class and what that shows, which the manifest keeps."""
        said = json.dumps([self._described(), sorted(self.class_of.items())], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()

    def _described(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "opened": self.opened,
            "cells": {name: list(texts) for name, texts in self.cells.items()},
            "columns": {
                name: [kind, sorted(labels)] for name, (kind, labels) in self.columns.items()
            },
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it, whole or not at all, to a file that its owner alone may read."""
        of_record = [self.class_of[name] for name in self.records.column(_PERSON).to_pylist()]
        table = self.records.append_column(_CLASS, pa.array(of_record, pa.int32()))
        described = json.dumps(self._described())
        with atomic_path(path) as part:
            pq.write_table(table.replace_schema_metadata({_ABOUT: described}), part)

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


def _shaped(records: pa.Table, columns: Sequence[str], schema: pa.Schema | None) -> pa.Table:
    """Some columns of records in the types of another file; what was not kept is missing."""
    made = {}
    for name in columns:
        kept = name in records.column_names
        column = records.column(name) if kept else pa.nulls(records.num_rows)
        try:
            made[name] = column if schema is None else pc.cast(column, schema.field(name).type)
        except pa.ArrowException:
            raise InputError(
                f"column '{name}'",
                "must be of the type that it has in the file which is continued",
                found=str(schema.field(name).type) if schema is not None else "",
                accepted=str(column.type),
            ) from None
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
    waiting, held_back
        People who wait for classes of their own, and of classes that no longer keep a promise.
    changed
        By quasi-identifier, people whose value is no longer in the cell that they keep.
    """

    draft: Draft
    released: ReleasedColumns
    lasting: LastingClasses
    waiting: int
    held_back: int
    changed: Mapping[str, int]

    @classmethod
    def of(
        cls,
        table: Table,
        lasting: LastingClasses,
        constraints: Sequence[Constraint],
        suppress: float,
    ) -> Continued:
        """The records of a file in the classes of their persons, with the cells that these have.

        Parameters
        ----------
        lasting
            The classes, those of newcomers included.
        suppress
            Largest share of persons who may be held back.

        Raises
        ------
        ConstraintsNotMetError
            If more would have to be held back for the promises.
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
        waiting = table.persons - there.persons
        in_class = own[table.person[admitted]]
        # Classes that look the same are one to a reader.
        number, _ = group(
            [each.text_of_class[in_class] for each in columns],
            [len(each.distinct) for each in columns],
        )
        kept = _keeping(there, number, constraints, suppress)
        held = there.persons - len(np.unique(there.person[kept]))
        some = there.take(kept)
        _, first, seen = np.unique(number[kept], return_index=True, return_inverse=True)
        of_classes, classes = in_class[kept][first], seen.astype(np.int32)
        values = [each.values(of_classes) for each in columns]
        extra = ExtraValues(
            tuple(codes for codes, _ in values), tuple(of for _, of in values), alone=True
        )
        of_person = classes[np.unique(some.person, return_index=True)[1]]
        tree = Partition(of_person, len(first), 0).measured(np.bincount(some.person))
        draft = Draft(admitted[kept], some, classes, tree, len(first), extra=extra)
        released: ReleasedColumns = {
            each.column.name: (each.shown(of_classes),) for each in columns
        }
        changed = {each.column.name: each.outside(table.person, own) for each in columns}
        return cls(draft, released, lasting, waiting, held, changed)

    def noted(self, before: str) -> dict[str, Any]:
        """What a manifest says of it.

        Parameters
        ----------
        before
            The hash of the released file that it continues.
        """
        return {
            **self.lasting.noted,
            "continues_sha256": before,
            "waiting": self.waiting,
            "held_back": self.held_back,
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


def _keeping(
    table: Table, class_of: Codes, constraints: Sequence[Constraint], suppress: float
) -> Ints:
    """The records of classes that keep all promises; the others are held back."""
    count = int(class_of.max(initial=-1)) + 1
    ordered = ordered_attributes(constraints, table.schema.sensitive)
    summary = summarize(
        class_of,
        count,
        table.person,
        {column.name: column.codes for column in table.sensitive},
        ranks=ranks_of(table, ordered),
        rows=rows_of_tables(table),
    )
    broken = {each.name: ~each.met(summary) for each in constraints}
    breaking = np.logical_or.reduce([np.zeros(count, np.bool_), *broken.values()])
    lost = int(summary.persons[breaking].sum())
    if lost > suppress * table.persons:
        share = np.ceil(lost / table.persons * 1e4) / 1e4
        failures = [
            f"{name} is no longer kept by {int(which.sum())} of {count} classes, of "
            f"{int(summary.persons[which].sum())} people."
            for name, which in broken.items()
            if which.any()
        ]
        held = f"hold {lost} of {table.persons} people back, whose classes break it "
        held += f"({typed(f'suppress={share:g}', f'--suppress {share:g}')} of the first file)"
        raise ConstraintsNotMetError(
            tuple(failures),
            (held, "open another series; who holds both finds more"),
            "This file cannot continue the series.",
        )
    return np.flatnonzero(~breaking[class_of])


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
    """The cells of the classes in one column, held against the values of a file."""

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
        inside = [self._inside(each) for each in self.said]
        self.inside: Bools = np.array(inside).reshape(len(inside), column.domain.size + 1)
        """Whether each cell covers each value, missing ones last; shape (texts, values + 1)."""

    def outside(self, person: Codes, class_of: Codes) -> int:
        """People of whom a record has a value that their cell does not cover."""
        own = class_of[person]
        covered = self.inside[self.text_of_class[own], self.column.codes] | (own == WAITING)
        return len(np.unique(person[~covered]))

    def values(self, classes: Codes) -> tuple[Codes, Codes]:
        """The values that the cells of some classes cover, and the place of the class of each."""
        place, code = np.nonzero(self.inside[self.text_of_class[classes]])
        code = np.where(code == self.column.domain.size, MISSING, code)
        return code.astype(np.int32), place.astype(np.int32)

    def shown(self, classes: Codes) -> ReleasedColumn:
        """The cells of some classes as a column of a release."""
        used, text = np.unique(self.text_of_class[classes], return_inverse=True)
        leaves = self.inside[used, :-1].sum(axis=1)
        penalty = np.array([*map(self._penalty, map(self.said.__getitem__, used), leaves)])
        name, texts = self.column.name, tuple(self.distinct[each] for each in used)
        return ReleasedColumn(
            name, name, texts, text.astype(np.int32), leaves[text], penalty=penalty[text]
        )

    def _penalty(self, cell: hierarchies.Released, leaves: int) -> float:
        """NCP of a cell, by its printed ends where it has some."""
        domain = self.column.domain
        if domain.size < 2 or isinstance(cell, hierarchies.Missing):
            return 0.0
        if isinstance(cell, hierarchies.Range) and isinstance(domain, NumberDomain):
            width = _point(cell.high, domain) - _point(cell.low, domain)
            return min(float(width) / float(np.ptp(domain.points)), 1.0)
        return max(leaves - 1, 0) / (domain.size - 1)

    def _inside(self, cell: hierarchies.Released) -> Bools:
        """Whether a cell covers each value of the domain, a missing one last."""
        size = self.column.domain.size
        match cell:
            case hierarchies.Anything():
                return np.ones(size + 1, np.bool_)
            case hierarchies.Missing():
                return np.append(np.zeros(size, np.bool_), True)
            case hierarchies.Exact(label):
                found = self._below(label)
            case hierarchies.OneOf(members):
                found = np.logical_or.reduce([self._below(member) for member in members])
            case hierarchies.Range(low, high):
                found = self._between(low, high)
            case hierarchies.AtLeast(low):
                found = self._between(low, None)
            case hierarchies.AtMost(high):
                found = self._between(None, high)
        covered: Bools = np.append(found, False)
        return covered

    def _below(self, label: str) -> Bools:
        """The values that a label is, or stands above."""
        domain, hierarchy = self.column.domain, self.column.hierarchy
        found: Bools
        if isinstance(domain, NumberDomain) and _is_point(label):
            found = self._between(label, label)
        else:
            found = np.array([domain.label(code) == label for code in range(domain.size)], bool)
        if hierarchy is not None and self.column.lone is None:
            for names, above in zip(hierarchy.labels, hierarchy.ancestors, strict=True):
                if label in names:
                    found |= above == names.index(label)
        return found

    def _between(self, low: str | None, high: str | None) -> Bools:
        """The values between two ends, both inside; ``None`` is no end."""
        domain = self.column.domain
        ends = [end for end in (low, high) if end is not None]
        if isinstance(domain, NumberDomain):
            places, limits = domain.points, {end: _point(end, domain) for end in ends}
        else:
            own = [domain.label(code) for code in range(domain.size)]
            # An end need not occur in this file.
            order = self.order or (own if {*ends} <= {*own} else natural_order({*own, *ends}))
            place = {label: Decimal(number) for number, label in enumerate(order)}
            places, limits = np.array([int(place[label]) for label in own]), place
        found: Bools = np.ones(domain.size, np.bool_)
        if low is not None:
            found &= places >= ceil(limits[low])
        if high is not None:
            found &= places <= floor(limits[high])
        return found


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
