"""Projects made of uploaded files, looked at before they are made."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from django.utils.safestring import SafeString

from sfumato.core.errors import InputError
from sfumato.review.disclosure_account import Review
from sfumato.review.pair_rendering import render_pair
from sfumato.review.review_project import ID, SOURCE
from sfumato.review.review_project import Project as ReviewProject
from sfumato.review.review_settings import (
    Attribute,
    AttributeKind,
    Mode,
    Rarity,
    RenderedAttribute,
    Settings,
)
from sfumato.review.review_sources import (
    about_a_person,
    from_linkage,
    from_tables,
    proposed_attributes,
    read_text_table,
)
from sfumato.server.live.live_projects import folder_of, key_of
from sfumato.server.manager.uploads import Upload, folder_in_memory
from sfumato.server.store.models import Project
from sfumato.server.vault import read_sealed, write_sealed
from sfumato.server.worker.drawn_pages import MEANING, draw_mark, draw_rarity, draw_row

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


def build(upload: Upload, attributes: Sequence[Attribute], settings: Settings) -> ReviewProject:
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
) -> ReviewProject:
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
) -> ReviewProject:
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


def _proposal(
    project: ReviewProject, attributes: Sequence[Attribute], shown: frozenset[str]
) -> Proposal:
    gold = len(project.gold)
    return Proposal(tuple(attributes), shown, len(project.records), len(project.pairs) - gold, gold)


_NAME = "linkage"
_DECISIONS = "decisions.parquet"


def keep_linkage(project: Project, files: Mapping[str, bytes]) -> bool:
    """Keep the files of a linkage, encrypted with the project's key, and tell whether they suffice.

    Parameters
    ----------
    project
        The project that was made of them.
    files
        By name, what each holds.
    """
    if any(name not in files for name in (*NEEDED, *TO_LINK)):
        return False
    wanted = {name: files[name] for name in (*NEEDED, *TO_LINK, *FURTHER) if name in files}
    head = json.dumps({name: len(data) for name, data in wanted.items()}).encode()
    data = b"".join([struct.pack(">I", len(head)), head, *wanted.values()])
    write_sealed(
        folder_of(project.pk) / f"{_NAME}.sealed", data, key_of(project), _purpose(project)
    )
    return True


def has_linkage(project: Project) -> bool:
    """Whether the linked file can be written here.

    Parameters
    ----------
    project
        The project.
    """
    return (folder_of(project.pk) / f"{_NAME}.sealed").is_file()


def linked_file(project: Project, decisions: bytes) -> bytes:
    """The linked de-identified file as Parquet, its persons settled with the decisions.

    It is what ``sfumato link apply`` writes as ``linked.parquet``.

    Parameters
    ----------
    project
        The project.
    decisions
        ``decisions.parquet``.

    Raises
    ------
    InputError
        If the files of the linkage are not there, or its ids were made with a key, which stays
        with whoever linked.
    """
    try:
        from sfumato.linkage.earlier_linkage import apply_decisions
    except ImportError:
        raise InputError(
            "the server",
            'must have the extra "link"',
            advice='pip install "sfumato[link]", or apply the decisions where the linkage is',
        ) from None
    path = folder_of(project.pk) / f"{_NAME}.sealed"
    if not path.is_file():
        raise InputError(
            "the project",
            "must have been made with all files of its linkage",
            advice="apply the decisions where the linkage is: sfumato link apply",
        )
    files = _unpacked(read_sealed(path, key_of(project), _purpose(project)))
    with folder_in_memory({**files, _DECISIONS: decisions}) as folder:
        links = apply_decisions(folder, folder / _DECISIONS)
        stream = io.BytesIO()
        pq.write_table(links.linked, stream)
    return stream.getvalue()


def _purpose(project: Project) -> bytes:
    return f"{_NAME} of project ".encode() + project.pk.bytes


def _unpacked(data: bytes) -> dict[str, bytes]:
    (size,) = struct.unpack_from(">I", data)
    at, files = 4 + size, {}
    for name, length in json.loads(data[4:at]).items():
        files[name] = data[at : at + length]
        at += length
    return files


PREVIEWED_PAIRS = 5


@dataclass(frozen=True)
class Column:
    """One attribute of a pair of the preview.

    Attributes
    ----------
    name
        The attribute.
    rows, rarity
        Its two rows, and how rare their values are.
    marks
        The marks between them.
    meaning
        What the marks say.
    """

    name: str
    rows: tuple[SafeString, SafeString]
    rarity: tuple[SafeString, SafeString]
    marks: tuple[SafeString, ...]
    meaning: str


def preview(review: Review, rng: np.random.Generator) -> list[tuple[Column, ...]]:
    """Some pairs with every character masked, whatever workers are shown at first.

    Parameters
    ----------
    review
        The review, in memory.
    rng
        Source of randomness: which pairs.
    """
    chosen = np.sort(rng.permutation(review.pairs)[:PREVIEWED_PAIRS]).tolist()
    masked = (Mode.MASKED,) * len(review.attributes)
    drawn = []
    for facts in map(review.facts, chosen):
        rendered = render_pair(
            review.attributes, facts.comparisons, masked, review.settings.mask_width, facts.rarity
        )
        drawn.append(tuple(_column(each) for each in rendered))
    return drawn


def _column(attribute: RenderedAttribute) -> Column:
    one, two = (draw_row(cells, row) for row, cells in enumerate(attribute.rows))
    rare, other = (_rarity(each) for each in attribute.rarity)
    return Column(
        attribute.name.replace("_", " "),
        (one, two),
        (rare, other),
        tuple(draw_mark(mark) for mark in attribute.marks),
        ", ".join(MEANING[mark] for mark in attribute.marks),
    )


def _rarity(rarity: Rarity | None) -> SafeString:
    return draw_rarity(rarity) if rarity is not None else SafeString()
