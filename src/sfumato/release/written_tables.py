"""The files of a released set of tables: where they may be written, and what they still say.

What is checked again is read from the files alone: nothing of the release need be at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.atomic import leftovers
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted
from sfumato.release.codebook import codebook_name
from sfumato.release.promises.promise import (
    AboutAttribute,
    Budget,
    Constraint,
    Promise,
    kept_by,
    ordered_attributes,
)
from sfumato.release.promises.shared_events import KnownEvents
from sfumato.release.release_manifest import Manifest, file_sha256, load_manifest, tables_sha256
from sfumato.release.release_result import MANIFEST_FILE, written_hash
from sfumato.risk.assessment import assess
from sfumato.risk.disclosure_risk import Risk
from sfumato.schema import Schema, TableSchema
from sfumato.table.joined_tables import ids_of, read_columns
from sfumato.table.sources import listed
from sfumato.table.stacked_tables import Tables
from sfumato.table.table_files import open_source


def shown_names(place: str) -> tuple[str, ...]:
    """The columns that a quasi-identifier may be released as."""
    return place, f"{place}_low", f"{place}_high"


def check_folder(folder: Path, tables: Mapping[str, object]) -> None:
    """Refuse a folder that holds something else than an earlier release of the same tables."""
    if folder.name in ("", ".."):  # nothing can stand beside it
        raise InputError("output", "must be a folder with a name", found="one without")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"output {folder.name}", "must be a folder", found="a file")
    if not folder.exists():
        return
    left = {leftover.name for leftover in leftovers(folder)}
    others = {*foreign_files(folder, tables)} - left
    is_there = any((folder / f"{name}.csv").exists() for name in tables)
    found = folder_sha256(folder, tables)
    unchanged = found != "" and found == written_hash(folder.with_name(MANIFEST_FILE))
    if others or (is_there and not unchanged):
        raise InputError(
            f"output {folder.name}",
            "must be a new folder, or that of a release of the same tables, unchanged since",
            found="other files in it",
            advice="name a folder that is not there yet",
        )


def foreign_files(folder: Path, tables: Iterable[str]) -> list[str]:
    """Names of what stands in a folder of released tables and is not of the release."""
    others = [path for path in folder.iterdir() if path.name not in {f"{t}.csv" for t in tables}]
    there = {each.name for each in others}
    # That of the release has the name that the folder had when it was written.
    books = {
        each.name
        for each in others
        if each.name.endswith(codebook_name("")) and each.is_file() and not each.is_symlink()
    }
    return sorted(there - books if len(books) == 1 else there)


def folder_sha256(folder: Path, tables: Iterable[str]) -> str:
    """The hash of the tables in a folder; empty where one is missing."""
    files = {name: folder / f"{name}.csv" for name in tables}
    return tables_sha256(files) if all(file.is_file() for file in files.values()) else ""


def manifest_of(folder: Path) -> Path:
    """The manifest of a folder of released tables, which stands beside it."""
    within = folder / MANIFEST_FILE  # where earlier versions wrote it
    return within if within.is_file() else folder.resolve().with_name(MANIFEST_FILE)


@dataclass(frozen=True)
class MeasuredPromise:
    """A promise of a manifest, held against the files.

    It is neither kept nor broken where they cannot tell.
    """

    name: str
    states: Mapping[str, Any]
    kept: bool | None
    why: str = ""

    def __str__(self) -> str:
        stated = ", ".join(f"{name} = {value}" for name, value in self.states.items())
        found = {True: "kept", False: "broken", None: f"not measured: {self.why}"}[self.kept]
        return f"{self.name} ({stated}): {found}"


@dataclass(frozen=True)
class WrittenTables:
    """What the files of a set say, beside its manifest.

    Attributes
    ----------
    rows, declared
        By table, the records of the file, and those of the manifest.
    changed
        Tables whose file has another hash than the manifest states.
    twice
        Number of cells of keys that are empty or there again.
    fewest, promised
        People of the smallest class, by what the table of people shows; and at least promised.
    """

    rows: Mapping[str, int]
    declared: Mapping[str, int]
    changed: tuple[str, ...]
    foreign: tuple[str, ...]
    twice: int
    broken: int
    fewest: int
    promised: int
    promises: tuple[MeasuredPromise, ...] = ()

    @property
    def is_kept(self) -> bool:
        """Whether nothing is otherwise than it was declared, of what was measured."""
        return not any(self.faults)

    @property
    def is_measured(self) -> bool:
        """Whether the files tell of each promise."""
        return all(promise.kept is not None for promise in self.promises)

    @property
    def faults(self) -> list[str]:
        """What is wrong, as sentences."""
        said = [f"The file of table {name} was changed." for name in self.changed]
        if self.foreign:
            said.append(
                f"Not of the release, and in its folder: {listed(self.foreign)}. "
                "Take out what must not go out."
            )
        said += [
            f"Table {name} has {counted(rows, 'record')}; release.toml says "
            f"{self.declared[name]:,}."
            for name, rows in self.rows.items()
            if rows != self.declared[name]
        ]
        if self.twice:
            said.append(f"Cells of keys that are empty or repeated: {self.twice:,}.")
        if self.broken:
            said.append(f"References that lead to no record: {self.broken:,}.")
        if self.fewest < self.promised:
            said.append(
                f"The smallest class has {counted(self.fewest, 'person')}; at least "
                f"{self.promised:,} promised."
            )
        return said + [f"Promise {promise}." for promise in self.promises if promise.kept is False]

    @property
    def lines(self) -> list[str]:
        """What was found, what is wrong first."""
        tables, records = len(self.rows), sum(self.rows.values())
        about = (
            f"{counted(records, 'record')} of {counted(tables, 'table')}; the smallest class has "
            f"{counted(self.fewest, 'person')} (at least {self.promised:,} promised)."
        )
        unknown = sum(each.kept is None for each in self.promises)
        first = "Tables unchanged, and measured again as declared; the codebook is not looked at."
        if unknown:
            first = (
                f"Tables unchanged; {unknown} of {len(self.promises)} promises are not measured."
            )
        said = [f"Promise {promise}." for promise in self.promises if promise.kept is not False]
        return [
            *(self.faults or [first]),
            *sorted(said, key=lambda e: "not measured" not in e),
            about,
        ]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            **vars(self),
            "changed": [*self.changed],
            "foreign": [*self.foreign],
            "promises": [vars(each) for each in self.promises],
            "kept": self.is_kept,
            "measured": self.is_measured,
        }


def measured_again(folder: Path, schema: Schema) -> WrittenTables:
    """Read the files of a released set again, and hold them against its manifest."""
    manifest = load_manifest(manifest_of(folder))
    if not schema.tables or {*manifest.tables} != {*schema.tables}:
        raise InputError(
            f"folder {folder.name}",
            f"must have the {MANIFEST_FILE} of the tables of the schema",
            found=f"that of {len(manifest.tables)} tables",
        )
    files = {name: folder / f"{name}.csv" for name in schema.tables}
    tables = {}
    for name, file in files.items():
        source = open_source(file)  # refuses one that is not there
        tables[name] = read_columns(source, source.names)
    # Earlier versions state one hash of all files alone.
    stated = {name: table.get("sha256") for name, table in manifest.tables.items()}
    is_whole = tables_sha256(files) == manifest.output_sha256
    changed = tuple(n for n, f in files.items() if not is_whole and stated[n] != file_sha256(f))
    twice = sum(_repeated(tables[n], table.key) for n, table in schema.tables.items() if table.key)
    broken = sum(_leading_nowhere(schema, tables))
    risk = None if twice or broken else _risk(schema, tables, manifest)
    return WrittenTables(
        {name: table.num_rows for name, table in tables.items()},
        {name: int(own["rows_after"]) for name, own in manifest.tables.items()},
        changed,
        tuple(foreign_files(folder, files)),
        twice,
        broken,
        _fewest(schema, tables),
        _promised(manifest),
        tuple(_held(constraint, manifest, schema, risk) for constraint in manifest.constraints),
    )


def _risk(schema: Schema, tables: Mapping[str, pa.Table], manifest: Manifest) -> Risk | None:
    """What the files give away as they are; ``None`` where they no longer fit together."""
    shown = Schema(
        tables={name: _as_shown(own, tables[name]) for name, own in schema.tables.items()},
        missing=schema.missing,
    )
    try:
        return assess(
            Tables(tables, shown),
            ordered_distance=ordered_attributes(manifest.constraints, shown.further),
        )
    except InputError:
        return None


def _as_shown(own: TableSchema, table: pa.Table) -> dict[str, Any]:
    """What a released table is: its cells as they are, each a value of its own."""
    there = {*table.column_names}
    quasi = [c for q in own.quasi_identifiers for c in shown_names(q) if c in there]
    return {
        "key": own.key,
        "persons": own.persons,
        "lookup": own.lookup,
        "of": own.of,
        "quasi_identifiers": dict.fromkeys(quasi, "categorical"),
        "sensitive": [name for name in own.sensitive if name in there],
        "insensitive": [name for name in own.insensitive if name in there],
        "events": [name for name in own.events if name in there and name not in own.dates],
    }


def _held(
    promise: Constraint | Budget, manifest: Manifest, schema: Schema, risk: Risk | None
) -> MeasuredPromise:
    """A promise of the manifest, held against what the files give away."""
    states = promise.parameters()
    kept, why = None, "the tables do not fit together"
    if isinstance(promise, KnownEvents):
        why = "what intruders know is in the original; sfumato attack measures it"
    elif isinstance(promise, AboutAttribute) and (coarser := _coarser(promise, manifest, schema)):
        why = f"the files show less of {', '.join(coarser)} than was promised about"
    elif risk is not None:
        kept, why = kept_by(promise, replace(risk, known_events=None), None), ""
        why = "the files do not tell" if kept is None else ""
    return MeasuredPromise(promise.name, states, kept, why)


def _coarser(promise: AboutAttribute, manifest: Manifest, schema: Schema) -> list[str]:
    """The columns that a promise is about and that one about events made coarser."""
    if not any(isinstance(constraint, KnownEvents) for constraint in manifest.constraints):
        return []
    codes = {
        f"{name}.{column}"
        for name, table in schema.tables.items()
        for column in (*table.events, *table.of)
        if column not in table.dates
    }
    told = promise.spoken_of(dict.fromkeys(schema.further))
    return [name for name in told if name in codes]


def _promised(manifest: Manifest) -> int:
    """People that every class has at least, by the promises of a release."""
    own = [
        constraint.fewest_persons
        for constraint in manifest.constraints
        if isinstance(constraint, Promise)
    ]
    return max(own, default=1)


def _repeated(table: pa.Table, key: str) -> int:
    """Number of cells of a key that are empty or there again."""
    cells = ids_of(table.column(key))
    return len(cells) - len(pc.unique(cells.drop_null()))


def _leading_nowhere(schema: Schema, tables: Mapping[str, pa.Table]) -> Iterator[int]:
    """By reference, the number of cells that lead to no record."""
    for name, own in schema.tables.items():
        for column, to in own.of.items():
            cells = ids_of(tables[name].column(column)).drop_null()
            keys = ids_of(tables[to].column(schema.tables[to].key))
            yield len(cells) - int(pc.sum(pc.is_in(cells, value_set=keys)).as_py() or 0)


def _fewest(schema: Schema, tables: Mapping[str, pa.Table]) -> int:
    """People of the smallest class, by what the table of people shows of quasi-identifiers."""
    name, own = next((n, each) for n, each in schema.tables.items() if each.persons)
    people = tables[name]
    shown = [c for q in own.quasi_identifiers for c in shown_names(q) if c in people.column_names]
    cells = pa.table({column: ids_of(people.column(column)) for column in shown})
    sizes = cells.group_by(shown).aggregate([([], "count_all")]).column("count_all")
    return int(pc.min(sizes).as_py() or 0)
