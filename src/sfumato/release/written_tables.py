"""The files of a released set of tables: where they may be written, and what they still say.

What is checked again is read from the files alone: nothing of the release need be at hand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.core.secret_keys import FOR_REPEATING
from sfumato.release.promises.promise import Promise
from sfumato.release.release_manifest import Manifest, file_sha256, load_manifest
from sfumato.release.release_result import MANIFEST_FILE, written_hash
from sfumato.schema import Schema
from sfumato.table.joined_tables import ids_of, read_columns
from sfumato.table.table_files import open_source


def folder_sha256(files: Mapping[str, Path]) -> str:
    """Hash of the files of a database, in the order of their names."""
    lines = [f"{name} {file_sha256(files[name])}" for name in sorted(files)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def shown_names(place: str) -> tuple[str, ...]:
    """The columns that a quasi-identifier may be released as."""
    return place, f"{place}_low", f"{place}_high"


def check_folder(folder: Path, tables: Mapping[str, object]) -> None:
    """Refuse a folder that holds something else than an earlier release of the same tables.

    Raises
    ------
    InputError
        If it does, or is no folder.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"output {folder.name}", "must be a folder", found="a file")
    if not folder.exists():
        return
    files = {name: folder / f"{name}.csv" for name in tables}
    there = {path.name for path in folder.iterdir() if ".codebook." not in path.name}
    others = there - {file.name for file in files.values()} - {MANIFEST_FILE, FOR_REPEATING}
    unchanged = all(file.is_file() for file in files.values()) and folder_sha256(
        files
    ) == written_hash(folder / MANIFEST_FILE)
    if others or (there and not unchanged):
        raise InputError(
            f"output {folder.name}",
            "must be a new folder, or that of a release of the same tables, unchanged since",
            found="other files in it",
            advice="name a folder that is not there yet",
        )


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
    broken
        Number of references that lead to no record.
    fewest, promised
        People of the smallest class, by what the table of people shows; and at least promised.
    """

    rows: Mapping[str, int]
    declared: Mapping[str, int]
    changed: tuple[str, ...]
    twice: int
    broken: int
    fewest: int
    promised: int

    @property
    def is_kept(self) -> bool:
        """Whether everything is as it was declared."""
        return not any(self.faults)

    @property
    def faults(self) -> list[str]:
        """What is wrong, as sentences."""
        said = [f"The file of table {name} was changed." for name in self.changed]
        said += [
            f"Table {name} has {rows:,} records; release.toml says {self.declared[name]:,}."
            for name, rows in self.rows.items()
            if rows != self.declared[name]
        ]
        if self.twice:
            said.append(f"{self.twice:,} cells of keys are empty or repeated.")
        if self.broken:
            said.append(f"{self.broken:,} references lead to no record.")
        if self.fewest < self.promised:
            said.append(
                f"The smallest class has {self.fewest:,} people; at least {self.promised:,} "
                "are promised."
            )
        return said

    @property
    def lines(self) -> list[str]:
        """What was found, what is wrong first."""
        tables, records = len(self.rows), sum(self.rows.values())
        about = (
            f"{records:,} records of {tables} tables; the smallest class has {self.fewest:,} "
            f"people (at least {self.promised:,} promised)."
        )
        return [*(self.faults or ["Unchanged, and measured again as declared."]), about]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**vars(self), "changed": [*self.changed], "kept": self.is_kept}


def measured_again(folder: Path, schema: Schema) -> WrittenTables:
    """Read the files of a released set again, and hold them against its manifest.

    Parameters
    ----------
    schema
        That of the original.

    Raises
    ------
    InputError
        If the folder has no manifest of these tables, or lacks a file.
    """
    manifest = load_manifest(folder / MANIFEST_FILE)
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
    stated = {name: own.get("sha256") for name, own in manifest.tables.items()}
    is_whole = folder_sha256(files) == manifest.output_sha256
    changed = tuple(n for n, f in files.items() if not is_whole and stated[n] != file_sha256(f))
    return WrittenTables(
        {name: table.num_rows for name, table in tables.items()},
        {name: int(own["rows_after"]) for name, own in manifest.tables.items()},
        changed,
        sum(_repeated(tables[n], own.key) for n, own in schema.tables.items() if own.key),
        sum(_leading_nowhere(schema, tables)),
        _fewest(schema, tables),
        _promised(manifest),
    )


def _promised(manifest: Manifest) -> int:
    """People that every class has at least, by the promises of a release."""
    own = [each.fewest_persons for each in manifest.constraints if isinstance(each, Promise)]
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
