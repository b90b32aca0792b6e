"""From what was uploaded to the columns that can be shown, and to a review's project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.review.review_project import ID, SOURCE, Project
from sfumato.review.review_settings import Attribute, AttributeKind, Settings
from sfumato.review.review_sources import (
    about_a_person,
    from_linkage,
    from_tables,
    proposed_attributes,
    read_text_table,
)
from sfumato.server.manager.memory_files import folder_in_memory
from sfumato.server.manager.uploads import Upload

LINKAGE, TABLES = "linkage", "tables"
NEEDED = (
    "identifying.parquet",
    "review.parquet",
    "pairs.parquet",
    "manifest.toml",
    "link.toml",
)
"""The files of a linkage's folder from which its review is made."""
TO_LINK = (
    "persons.parquet",
    "levels.parquet",
    "analytic.parquet",
    "linked.toml",
    "model.json",
)
"""Those that it takes besides to cluster again and to write the linked file."""
FURTHER = ("answers.parquet", "checks.parquet")
"""Those that are there in some linkages only."""
ONE, TWO, PAIRS, GOLD = "one.csv", "two.csv", "pairs.csv", "gold.csv"
NAME_ONE, NAME_TWO, ID_COLUMN = "name one", "name two", "id column"


@dataclass(frozen=True)
class Proposal:
    """What the files hold, by their headers.

    Attributes
    ----------
    attributes
        Every column that can be shown, with the kind proposed.
    shown
        Names of those that are proposed to be shown.
    records, pairs, gold
        Numbers of records, pairs, and pairs of known truth.
    """

    attributes: tuple[Attribute, ...]
    shown: frozenset[str]
    records: int
    pairs: int
    gold: int


def propose(upload: Upload) -> Proposal:
    """The columns of an upload, with what each seems to be.

    Parameters
    ----------
    upload
        The upload.

    Raises
    ------
    InputError
        If the files do not belong together, or there is no pair.
    """
    with _opened(upload) as folder:
        if upload.kind == LINKAGE:
            project = _linkage(upload, folder, None, None)
            names = frozenset(each.name for each in project.attributes)
            return _proposal(project, project.attributes, names)
        columns = _columns(folder)
        every = [Attribute(name=name, kind=AttributeKind.VARIABLE) for name in columns]
        project = _tables(upload, folder, every, None)
        found = proposed_attributes(project.records, tuple(columns))
        likely = frozenset(name for name in columns if about_a_person(name))
        return _proposal(project, found, likely)


def build(upload: Upload, attributes: Sequence[Attribute], settings: Settings) -> Project:
    """A review's project, in memory.

    Parameters
    ----------
    upload
        The upload.
    attributes
        What a worker may see.
    settings
        The rules.

    Raises
    ------
    InputError
        If the files do not belong together, or there is no pair.
    """
    with _opened(upload) as folder:
        make = _linkage if upload.kind == LINKAGE else _tables
        return make(upload, folder, attributes, settings)


@contextmanager
def _opened(upload: Upload) -> Iterator[Path]:
    """The files as a folder; what Arrow says of odd ones may hold values, and is not repeated."""
    try:
        with folder_in_memory(upload.files) as folder:
            yield folder
    except (pa.ArrowException, UnicodeDecodeError):
        raise InputError(
            "the files", "must be as sfumato link wrote them", found="columns of another type"
        ) from None


def _linkage(
    upload: Upload,
    folder: Path,
    attributes: Sequence[Attribute] | None,
    settings: Settings | None,
) -> Project:
    return from_linkage(
        folder,
        np.random.default_rng(upload.seed),
        settings=settings,
        attributes=attributes,
        gold=folder / GOLD if GOLD in upload.files else None,
    )


def _tables(
    upload: Upload,
    folder: Path,
    attributes: Sequence[Attribute] | None,
    settings: Settings | None,
) -> Project:
    names: Mapping[str, object] = {
        upload.about[NAME_ONE]: folder / ONE,
        upload.about[NAME_TWO]: folder / TWO,
    }
    return from_tables(
        names,
        folder / PAIRS if PAIRS in upload.files else None,
        id_column=upload.about.get(ID_COLUMN) or None,
        settings=settings,
        attributes=attributes,
        gold=folder / GOLD if GOLD in upload.files else None,
    )


def _columns(folder: Path) -> list[str]:
    """Headers that both tables have, as the first one writes them."""
    first, second = (
        _headers(read_text_table(folder / name, what))
        for name, what in ((ONE, "the first table"), (TWO, "the second table"))
    )
    shared = [name for plain, name in first.items() if plain in second]
    found = [name for name in shared if name not in {SOURCE, ID}]
    if not found:
        raise InputError(
            "the two tables", "must have columns in common", found="none of the same header"
        )
    return found


def _headers(table: pa.Table) -> dict[str, str]:
    return {
        "".join(letter for letter in name.casefold() if letter.isalnum()) or name: name
        for name in table.column_names
    }


def _proposal(project: Project, attributes: Sequence[Attribute], shown: frozenset[str]) -> Proposal:
    gold = len(project.gold)
    return Proposal(tuple(attributes), shown, len(project.records), len(project.pairs) - gold, gold)
