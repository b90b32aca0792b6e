"""Uploaded files: checked, held in memory, sealed for one hour and one session, forgotten.

The files of an upload are one encrypted file in the data folder's ``uploads``. Its key is random,
stands in the row of the session only, and there encrypted with the server's own key: the data
folder and the database together tell nothing of it. It is removed when the project is made or
given up, and after an hour; at logout the row goes, and with it the key. Where the files are
read, they are in memory only (`folder_in_memory`).
"""

from __future__ import annotations

import io
import json
import os
import secrets
import shutil
import struct
import tempfile
import time
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from cryptography.exceptions import InvalidTag
from django.conf import settings
from django.core.files.uploadedfile import InMemoryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload

from sfumato.core.cluster_questions import CLUSTERS
from sfumato.core.errors import InputError
from sfumato.review import review_settings, review_sources
from sfumato.review.disclosure_account import Review
from sfumato.review.pair_rendering import render_pair
from sfumato.review.review_project import ID, SOURCE
from sfumato.review.review_project import Project as ReviewProject
from sfumato.server.vault import new_key, read_sealed, write_sealed
from sfumato.server.worker.drawn_pages import Column, draw_column
from sfumato.table.file_layout import CANDIDATES

if TYPE_CHECKING:
    pass

MOST_ROWS = 5_000_000
"""Most rows of a file."""
MOST_DECODED = 768 << 20
"""Most bytes that all files of an upload take as columns of text: three times what can be sent, so
that tables with cells of three letters and more fit, and no small file becomes a large one."""
MOST_COLUMNS = 500
MOST_SETTINGS = 4 << 20
"""Most bytes of a text that is no table."""
_CELL = 8
"""Bytes of a cell beside its text: where it begins; a number takes as many."""
_BATCH, _PAGE = 1 << 20, 1 << 10
"""Values of a column that are looked at together; bytes that a page counts for beside what is in
it, so that nobody has the server look at millions of empty ones."""
_PARQUET = b"PAR1"
_TEXT = 1 << 16
"""Bytes of a text that are looked at for what no text has."""


def check_files(files: Mapping[str, bytes]) -> None:
    """Refuse files that are not what their names say, or too large once they are read."""
    room = MOST_DECODED
    for name, data in files.items():
        subject = f"file {name}"
        if not data:
            raise InputError(subject, "must hold something", found="an empty file")
        sizes = _of_parquet(subject, data) if name.endswith(".parquet") else _of_text(name, data)
        for size in sizes:
            room -= size
            if room < 0:
                raise InputError(
                    subject,
                    f"must take at most {MOST_DECODED >> 20} MiB, with the other files, once read",
                    found="more",
                    advice="make the project where the server runs: sfumato review create",
                )


def _of_text(name: str, data: bytes) -> Iterator[int]:
    """Bytes that a text takes."""
    table = name.endswith(".csv")
    # Archives and packed files unfold to any size; no text begins so, or has zero bytes.
    if data[:_TEXT].startswith((_PARQUET, b"PK\x03\x04", b"\x1f\x8b")) or b"\0" in data[:_TEXT]:
        raise InputError(
            f"file {name}",
            "must be text",
            found="a file of another kind",
            accepted="CSV (UTF-8, with headers)" if table else "what sfumato wrote",
        )
    if not table and len(data) > MOST_SETTINGS:
        raise InputError(f"file {name}", "must be as sfumato wrote it", found="a much longer one")
    rows = data.count(b"\n")
    _check_rows(f"file {name}", rows)
    if table:
        # Every sign that may separate is counted: which one does is found only by reading.
        cells = rows + max(data.count(candidate.encode()) for candidate in CANDIDATES)
        yield len(data) + (_CELL - 1) * cells


def _check_rows(subject: str, rows: int) -> None:
    if rows > MOST_ROWS:
        raise InputError(subject, f"must have at most {MOST_ROWS:,} rows", found=f"{rows:,}")


def _of_parquet(subject: str, data: bytes) -> Iterator[int]:
    """Bytes that a Parquet file takes, counted little by little.

    What its own summary says counts for nothing: a value that is there once may stand in every
    row, and the size of what is unpacked may be any number.
    """
    if not (data.startswith(_PARQUET) and data.endswith(_PARQUET)):
        raise InputError(subject, "must be Parquet", found="a file of another kind, or a cut one")
    try:
        about = pq.ParquetFile(io.BytesIO(data)).metadata
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
        rows = sum(abs(group.num_rows) for group in groups)
        _check_rows(subject, rows)
        columns = [about.schema.column(number) for number in range(about.num_columns)]
        if len(columns) > MOST_COLUMNS:
            raise InputError(subject, f"must have at most {MOST_COLUMNS} columns", found="more")
        if any(
            column.max_repetition_level or column.max_definition_level > 1 for column in columns
        ):
            raise InputError(subject, "must have columns of single values", found="nested ones")
        # Where each cell begins takes room even where all of them are empty.
        yield rows * sum(max(_CELL, column.length or 0) for column in columns)
        for group in groups:
            for number in range(len(columns)):
                yield from _pages(data, group.column(number))
        texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
        yield from _values(subject, data, texts)
    except (pa.ArrowException, OSError, ValueError, LookupError):
        raise InputError(
            subject, "must be Parquet as sfumato wrote it", found="a damaged file, or another's"
        ) from None


def _values(subject: str, data: bytes, columns: list[str]) -> Iterator[int]:
    """Bytes of the values of columns of texts, each in memory once however often it is there."""
    file = pq.ParquetFile(io.BytesIO(data), read_dictionary=columns)
    for name in columns:
        if not pa.types.is_dictionary(file.schema_arrow.field(name).type):
            raise InputError(subject, "must have columns of texts and numbers", found="others")
        # One thread: what is taken is counted before more is unpacked.
        for batch in file.iter_batches(_BATCH, columns=[name], use_threads=False):
            values = batch.column(name)
            lengths = pc.binary_length(values.dictionary).cast(pa.int64())
            yield pc.sum(lengths.take(values.indices)).as_py() or 0


def _pages(data: bytes, column: pq.ColumnChunkMetaData) -> Iterator[int]:
    """Bytes that each page of a column is unpacked to, as its reader will take them."""
    at = min(filter(None, (column.dictionary_page_offset, column.data_page_offset)))
    end = at + column.total_compressed_size
    while at < end:
        unpacked, packed, at = _page(data, at)
        # A negative size would make room for what comes next.
        if min(unpacked, packed) < 0:
            raise ValueError
        at += packed
        yield unpacked + _PAGE


def _page(data: bytes, at: int) -> tuple[int, int, int]:
    """A page's bytes, unpacked and as they stand, and where they begin.

    Its header is a structure in Thrift's compact protocol, of which the numbers 2 and 3 are wanted
    (https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift).
    """
    sizes: dict[int, int] = {}
    numbers = [0]
    while numbers:
        step, kind = divmod(data[at], 16)
        at += 1
        if not kind:
            numbers.pop()
            continue
        if step:
            numbers[-1] += step
        else:
            numbers[-1], at = _integer(data, at)
        if kind == _STRUCTURE:
            numbers.append(0)
        elif kind in _INTEGERS:
            value, at = _integer(data, at)
            if len(numbers) == 1:
                sizes[numbers[0]] = (value >> 1) ^ -(value & 1)
        elif kind == _BYTES:
            length, at = _integer(data, at)
            at += length
        else:
            at += _FIXED[kind]
    return sizes[2], sizes[3], at


_STRUCTURE, _BYTES, _INTEGERS = 12, 8, (4, 5, 6)
_FIXED = {1: 0, 2: 0, 3: 1, 7: 8}
"""Bytes of the other kinds: truths, which stand in the kind itself, a byte, a fraction."""


def _integer(data: bytes, at: int) -> tuple[int, int]:
    """An integer of any length, as it stands, and where it ends."""
    value = 0
    # At most ten bytes: longer ones are no integer of 64 bits, and could go on for ever.
    for shift in range(0, 70, 7):
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
    raise ValueError


@contextmanager
def folder_in_memory(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A folder in which each file is a link to memory of this process.

    Nothing of what the files hold is written to a disk; the folder has their names only. Where
    the system has no such memory (other systems than Linux), they are files that only the
    server may read, until the block is left.
    """
    uploads = Path(settings.SFUMATO.data) / "uploads"
    folder = Path(tempfile.mkdtemp(prefix="open-", dir=uploads))
    opened: list[int] = []
    try:
        for name, data in files.items():
            _place(folder / name, data, opened)
        yield folder
    finally:
        for handle in opened:
            os.close(handle)
        shutil.rmtree(folder, ignore_errors=True)


def _place(path: Path, data: bytes, opened: list[int]) -> None:
    if not hasattr(os, "memfd_create"):
        path.write_bytes(data)
        path.chmod(0o600)
        return
    handle = os.memfd_create(path.name)
    opened.append(handle)
    # A copy of the handle: closing the stream must not close what the link leads to.
    with os.fdopen(os.dup(handle), "wb") as stream:
        stream.write(data)
    path.symlink_to(f"/proc/{os.getpid()}/fd/{handle}")


MOST_BYTES = 256 << 20
"""Most bytes of all files of an upload together."""


class InMemory(FileUploadHandler):
    """Keeps each file in memory, and stops where all are larger than allowed."""

    too_large = False

    def handle_raw_input(
        self, input_data: Any, meta: Any, content_length: int, boundary: Any, encoding: Any = None
    ) -> None:
        """Stop before the first byte where the request says that it is too large."""
        self._bytes = 0
        # One MiB more for what stands between the files and for the other fields.
        self.too_large = content_length > MOST_BYTES + (1 << 20)

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Begin a file."""
        super().new_file(*args, **kwargs)
        if self.too_large:
            # The rest is read and thrown away: a connection that is cut shows no reason in a
            # browser.
            raise StopUpload(connection_reset=False)
        self._file = BytesIO()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Take some bytes.

        Parameters
        ----------
        start
            Where they stand in the file.
        """
        self._bytes += len(raw_data)
        if self._bytes > MOST_BYTES:
            self.too_large = True
            raise StopUpload(connection_reset=False)
        self._file.write(raw_data)

    def file_complete(self, file_size: int) -> InMemoryUploadedFile:
        """The file, in memory."""
        self._file.seek(0)
        return InMemoryUploadedFile(
            self._file,
            self.field_name,
            self.file_name,
            self.content_type,
            file_size,
            self.charset,
            self.content_type_extra,
        )


HOUR = 3600
_SESSION = "upload"

Session = MutableMapping[str, Any]


@dataclass(frozen=True)
class Upload:
    """Files from which a project is to be made.

    Attributes
    ----------
    kind
        ``"linkage"`` or ``"tables"``.
    files
        By the name that they have for the server, what they hold.
    about
        More that was entered with them: how the tables are called, the column of ids.
    seed
        Of the order of the pairs and of the preview, so that it shows the same five again.
    """

    kind: str
    files: Mapping[str, bytes] = field(repr=False)
    about: Mapping[str, str] = field(default_factory=dict)
    seed: int = field(default_factory=lambda: secrets.randbits(64), repr=False)


def keep_upload(session: Session, upload: Upload) -> None:
    """Seal an upload, in place of the one that the session had."""
    # A session has one upload: more of them would fill the disk for an hour.
    drop_upload(session)
    token, key = secrets.token_hex(16), new_key()
    write_sealed(_path(token), _packed(upload), key, _purpose(token))
    wrapped = settings.SFUMATO_KEYS.wrap(key, _purpose(token)).hex()
    session[_SESSION] = {"token": token, "key": wrapped, "time": time.time()}


def kept_upload(session: Session) -> Upload | None:
    """The upload of a session; ``None`` where there is none, or it is over an hour old."""
    about = session.get(_SESSION)
    if about is None:
        return None
    token = about["token"]
    try:
        key = settings.SFUMATO_KEYS.unwrap(bytes.fromhex(about["key"]), _purpose(token))
        # A clock that was set back must not make an upload last.
        if 0 <= time.time() - about["time"] <= HOUR:
            return _unpacked(read_sealed(_path(token), key, _purpose(token)))
    except (InputError, InvalidTag):
        pass
    drop_upload(session)
    return None


def drop_upload(session: Session) -> None:
    """Remove the upload of a session, and what others left over an hour ago."""
    about = session.pop(_SESSION, None)
    if about is not None:
        _path(about["token"]).unlink(missing_ok=True)
    sweep()


def sweep() -> None:
    """Remove the uploads that are over an hour old."""
    for path in _folder().iterdir():
        try:
            old = time.time() - path.stat().st_mtime > HOUR
        except FileNotFoundError:
            continue
        # Folders are left over only if the process was killed: their files were links to memory.
        if old and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif old:
            path.unlink(missing_ok=True)


def _folder() -> Path:
    return Path(settings.SFUMATO.data) / "uploads"


def _path(token: str) -> Path:
    return _folder() / f"{token}.sealed"


def _purpose(token: str) -> bytes:
    return b"upload " + token.encode()


def _packed(upload: Upload) -> bytes:
    sizes = {name: len(data) for name, data in upload.files.items()}
    fields = {"kind": upload.kind, "about": dict(upload.about), "seed": upload.seed}
    return joined({**fields, "sizes": sizes}, upload.files)


def _unpacked(data: bytes) -> Upload:
    head, after = head_of(data)
    return Upload(head["kind"], taken_apart(after, head["sizes"]), head["about"], head["seed"])


def joined(head: dict[str, Any], files: Mapping[str, bytes]) -> bytes:
    """Files one after the other, behind what is said of them."""
    text = json.dumps(head).encode()
    return b"".join([struct.pack(">I", len(text)), text, *files.values()])


def head_of(data: bytes) -> tuple[dict[str, Any], bytes]:
    """What stands before joined files, and they."""
    (size,) = struct.unpack_from(">I", data)
    return json.loads(data[4 : 4 + size]), data[4 + size :]


def taken_apart(data: bytes, sizes: Mapping[str, int]) -> dict[str, bytes]:
    """Joined files by their sizes in bytes."""
    ends = [0, *accumulate(sizes.values())]
    return {name: data[at:end] for name, (at, end) in zip(sizes, pairwise(ends), strict=True)}


LINKAGE, TABLES = "linkage", "tables"
NEEDED = ("identifying.parquet", "review.parquet", "pairs.parquet", "manifest.toml", "link.toml")
"""The files of a linkage's folder from which its review is made."""
TO_LINK = ("persons.parquet", "levels.parquet", "analytic.parquet", "linked.toml", "model.json")
"""Those that it takes besides to cluster again and to write the linked file."""
FURTHER = ("answers.parquet", "checks.parquet", CLUSTERS)
"""Those that are there in some linkages only."""
ONE, TWO, PAIRS, GOLD = "one.csv", "two.csv", "pairs.csv", "gold.csv"
NAME_ONE, NAME_TWO, ID_COLUMN = "name one", "name two", "id column"


@dataclass(frozen=True)
class Proposal:
    """What the files hold, by their headers."""

    attributes: tuple[review_settings.Attribute, ...]
    shown: frozenset[str]
    records: int
    pairs: int
    gold: int


def propose(upload: Upload) -> Proposal:
    """The columns of an upload, with what each seems to be."""
    with _opened(upload) as folder:
        if upload.kind == LINKAGE:
            project = _linkage(upload, folder, None, None)
            names = frozenset(attribute.name for attribute in project.attributes)
            return _proposal(project, project.attributes, names)
        columns = _columns(folder)
        every = [
            review_settings.Attribute(name=name, kind=review_settings.AttributeKind.VARIABLE)
            for name in columns
        ]
        # Every column first: which ones are about a person is seen only beside their values.
        project = _tables(upload, folder, every, None)
        found = review_sources.proposed_attributes(project.records, tuple(columns))
        likely = frozenset(name for name in columns if review_sources.about_a_person(name))
        return _proposal(project, found, likely)


def build(
    upload: Upload,
    attributes: Sequence[review_settings.Attribute],
    settings: review_settings.Settings,
) -> ReviewProject:
    """A review's project, in memory."""
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
    attributes: Sequence[review_settings.Attribute] | None,
    settings: review_settings.Settings | None,
) -> ReviewProject:
    return review_sources.from_linkage(
        folder,
        np.random.default_rng(upload.seed),
        settings=settings,
        attributes=attributes,
        gold=folder / GOLD if GOLD in upload.files else None,
    )


def _tables(
    upload: Upload,
    folder: Path,
    attributes: Sequence[review_settings.Attribute] | None,
    settings: review_settings.Settings | None,
) -> ReviewProject:
    names: Mapping[str, object] = {
        upload.about[NAME_ONE]: folder / ONE,
        upload.about[NAME_TWO]: folder / TWO,
    }
    return review_sources.from_tables(
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
        _headers(review_sources.read_text_table(folder / name, what))
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
    project: ReviewProject, attributes: Sequence[review_settings.Attribute], shown: frozenset[str]
) -> Proposal:
    gold = len(project.gold)
    return Proposal(tuple(attributes), shown, len(project.records), len(project.pairs) - gold, gold)


PREVIEWED_PAIRS = 5


def preview(review: Review, rng: np.random.Generator) -> list[tuple[Column, ...]]:
    """Some pairs with every character masked, whatever workers are shown at first."""
    # In the order of the file: a preview in drawn order would look like a ranking.
    chosen = np.sort(rng.permutation(review.pairs)[:PREVIEWED_PAIRS]).tolist()
    masked = (review_settings.Mode.MASKED,) * len(review.attributes)
    drawn = []
    for facts in map(review.facts, chosen):
        rendered = render_pair(
            review.attributes, facts.comparisons, masked, review.settings.mask_width, facts.rarity
        )
        drawn.append(tuple(draw_column(each, place) for place, each in enumerate(rendered)))
    return drawn
