"""Write the folder of a linkage, whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from sfumato.core.atomic import atomic_folder, check_target_folder, write_text
from sfumato.core.errors import InputError
from sfumato.linkage.answers import answers_table
from sfumato.linkage.files import (
    ANALYTIC,
    ANSWERS,
    CHANGES,
    CHECKS,
    IDENTIFYING,
    LEVELS,
    LINKED,
    LINKED_SCHEMA,
    MANIFEST,
    MODEL,
    PAIRS,
    PERSONS,
    REVIEW,
    SPEC,
)
from sfumato.linkage.found import Found
from sfumato.linkage.linkage import Linkage
from sfumato.linkage.linked.schema import LinkedSchema
from sfumato.linkage.linked.stack import free
from sfumato.linkage.manifest import file_hash
from sfumato.linkage.pairs.identifying import write_identifying
from sfumato.linkage.persons.follow import Followed
from sfumato.linkage.sources.open import RECORD
from sfumato.linkage.spec.toml import dump_link_spec
from sfumato.schema import Schema, dump_schema
from sfumato.table.table_files import write_table

_LINKED_HEADER = """\
# What each column of linked.parquet is. Read and edit it: only you know what an intruder may know.
"""
_SPEC_HEADER = "# What was linked, and how. --spec takes this file.\n"


def check_links_folder(folder: str | os.PathLike[str], *, answered: bool = False) -> None:
    """Refuse a folder that a linkage must not be written to, before any work starts.

    Parameters
    ----------
    folder
        The folder.
    answered
        Whether the linkage to be written holds the answers that the folder may hold.

    Raises
    ------
    InputError
        If it cannot be written, holds something else than a linkage, or one with people's answers.
    """
    check_target_folder(folder)
    path = Path(folder)
    if not path.is_dir() or not any(path.iterdir()):
        return
    subject = f"output {path.name or path}"
    if not (path / MANIFEST).is_file():
        raise InputError(
            subject,
            "must be a new or empty folder, or that of a linkage",
            found="a folder with other files",
            advice="choose another one",
        )
    if (path / ANSWERS).exists() and not answered:
        raise InputError(
            subject,
            "must not hold answers of people",
            found=f"a linkage with {ANSWERS}",
            advice="choose another folder; give this one as the previous linkage if they are to "
            "hold",
        )


def write_links(
    links: Linkage,
    folder: str | os.PathLike[str],
    *,
    also: Callable[[Path], None] | None = None,
) -> Path:
    """Write the folder of a linkage, whole or not at all.

    Parameters
    ----------
    links
        The linkage.
    folder
        Where; made if it does not exist. Other files in it are kept.
    also
        Writes more files, given the folder as it is being made.

    Raises
    ------
    InputError
        If it cannot be written, or holds something else than a linkage.
    """
    check_links_folder(folder, answered=links.decisions is not None)

    def fill(place: Path) -> None:
        _write_tables(links, place)
        _write_texts(links, place, Path(folder))
        if also is not None:
            also(place)

    return write_found(links, folder, fill)


def write_found(found: Found, folder: str | os.PathLike[str], fill: Callable[[Path], None]) -> Path:
    """Write pairs, persons, the linked file and the manifest of any linkage.

    Parameters
    ----------
    found
        The linkage.
    folder
        Where; made if it does not exist. Other files in it are kept.
    fill
        Writes all other files, given the folder as it is being made.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    with atomic_folder(folder) as place:
        for name, table in (
            (PAIRS, found.pairs_table),
            (PERSONS, found.persons),
            (LINKED, found.linked),
        ):
            write_table(table, place / name)
        fill(place)
        written = sorted(each.name for each in place.iterdir() if each.is_file())
        hashes = {name: file_hash(place / name) for name in written}
        replace(found.manifest, files={**found.manifest.files, **hashes}).write(place / MANIFEST)
    return Path(folder)


def write_linked_schema(linked: LinkedSchema, place: Path, folder: Path) -> None:
    """Write what each column of the linked file is.

    Parameters
    ----------
    linked
        The schema.
    place
        The folder as it is being made.
    folder
        Where it will be; files that the schema names are named from there.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    text = dump_schema(_located(linked.schema, folder), linked.notes)
    write_text(place / LINKED_SCHEMA, _LINKED_HEADER + text)


def _write_tables(links: Linkage, place: Path) -> None:
    analytic = links.analytic.columns
    record = free(RECORD, analytic.column_names)
    tables = {
        REVIEW: links.review,
        LEVELS: pa.table({"\0block": links.pairs.block, **links.pairs.levels}),
        ANALYTIC: pa.table(
            {
                record: links.analytic.record,
                **dict(zip(analytic.column_names, analytic.columns, strict=True)),
            }
        ),
    }
    if links.checks is not None:
        tables[CHECKS] = links.checks.table
    if links.decisions is not None:
        tables[ANSWERS] = answers_table(links.decisions, links.records)
    if links.person_ids.followed is not None:
        tables[CHANGES] = _changes(links.person_ids.followed, links.person_ids.names)
    for name, table in tables.items():
        write_table(table, place / name)
    if links.identifying is not None:
        write_identifying(links.identifying, place / IDENTIFYING)


def _write_texts(links: Linkage, place: Path, folder: Path) -> None:
    if links.origin is not None:
        for name in (MODEL, SPEC, LINKED_SCHEMA):
            shutil.copyfile(links.origin / name, place / name)
        return
    links.model.save(place / MODEL)
    spec = links.spec
    if spec.nicknames is not None:
        spec = spec.model_copy(update={"nicknames": _beside(spec.nicknames, folder)})
    write_text(place / SPEC, _SPEC_HEADER + dump_link_spec(spec, links.notes))
    write_linked_schema(links.linked_schema, place, folder)


def _located(schema: Schema, folder: Path) -> Schema:
    """The schema with its hierarchies' files named from the folder."""
    quasi = {
        name: each.model_copy(update={"hierarchy": _beside(each.hierarchy, folder)})
        if isinstance(each.hierarchy, Path)
        else each
        for name, each in schema.quasi_identifiers.items()
    }
    return schema.model_copy(update={"quasi_identifiers": quasi})


def _beside(file: Path, folder: Path) -> Path:
    return Path(os.path.relpath(file, folder))


def _changes(followed: Followed, names: tuple[str, ...]) -> pa.Table:
    """Merges and splits by ids: one row for each old person merged and each new part."""
    rows = [("merge", each.person, other) for each in followed.merges for other in each.of]
    rows += [("split", each.person, other) for each in followed.splits for other in each.into]
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    return pa.table(
        {
            "change": pa.array(columns[0], pa.string()),
            "person": pa.array([names[number] for number in columns[1]], pa.string()),
            "other": pa.array([names[number] for number in columns[2]], pa.string()),
        }
    )
