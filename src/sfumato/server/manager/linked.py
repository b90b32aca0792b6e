"""The linked file of a project that was made from a linkage, clustered again with its decisions."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Mapping

import pyarrow.parquet as pq

from sfumato.core.errors import InputError
from sfumato.server.live.project_files import folder_of, key_of
from sfumato.server.manager.memory_files import folder_in_memory
from sfumato.server.manager.sources import FURTHER, NEEDED, TO_LINK
from sfumato.server.store.models import Project
from sfumato.server.vault.sealed import read_sealed, write_sealed

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
