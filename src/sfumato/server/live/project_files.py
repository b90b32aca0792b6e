"""A project's encrypted files: its records, its pairs with their truth, its index."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from cryptography.exceptions import InvalidTag
from django.conf import settings

from sfumato.core.errors import InputError
from sfumato.review.anonymity_index import Index
from sfumato.review.review_project import LEFT, RIGHT, Weight
from sfumato.review.review_project import Project as ReviewProject
from sfumato.review.review_settings import Attribute, Settings
from sfumato.server.store.models import Project
from sfumato.server.vault.sealed import new_key, read_sealed, write_sealed

RECORDS, PAIRS, INDEX, SOURCES = "records", "pairs", "index", "sources"
_GOLD = "gold"


def folder_of(project_id: UUID) -> Path:
    """Where the encrypted files of a project are.

    Parameters
    ----------
    project_id
        The project's id.
    """
    return Path(settings.SFUMATO.data) / "projects" / str(project_id)


def key_of(project: Project) -> bytes:
    """The key of a project.

    Parameters
    ----------
    project
        The project.

    Raises
    ------
    InputError
        If the project is purged, or the server's key is another one than when it was made.
    """
    if not project.wrapped_key:
        raise InputError("the project", "must not be purged")
    try:
        return bytes(
            settings.SFUMATO_KEYS.unwrap(bytes(project.wrapped_key), _key_purpose(project.id))
        )
    except InvalidTag:
        raise InputError(
            "the project's key",
            "must have been made with the keys of this server",
            advice="restore the data and the keys from one backup",
        ) from None


def write_project(project_id: UUID, project: ReviewProject, index: Index) -> bytes:
    """Write the encrypted files of a project under a new key, and give the wrapped key.

    Parameters
    ----------
    project_id
        The project's id.
    project
        Its records and pairs.
    index
        The index of its records.
    """
    key = new_key()
    gold = pa.array([project.gold.get(pair) for pair in project.pair_ids], pa.bool_())
    contents = {
        RECORDS: _bytes_of(project.records),
        PAIRS: _bytes_of(project.pairs.append_column(_GOLD, gold)),
        INDEX: index.to_bytes(),
        SOURCES: json.dumps(dict(project.fingerprints)).encode(),
    }
    for name, data in contents.items():
        write_sealed(_path(project_id, name), data, key, _purpose(project_id, name))
    return bytes(settings.SFUMATO_KEYS.wrap(key, _key_purpose(project_id)))


def read_project(project: Project) -> ReviewProject:
    """What a project is about, as its files and its row in the database tell.

    Parameters
    ----------
    project
        The project.

    Raises
    ------
    InputError
        If it is purged, or a file is missing or was changed.
    """
    pairs = _read_table(project, PAIRS)
    ids, truth = pairs["pair"].to_pylist(), pairs[_GOLD].to_pylist()
    weights = project.weights
    return ReviewProject(
        attributes=attributes_of(project),
        settings=settings_of(project),
        records=_read_table(project, RECORDS),
        pairs=pairs.drop_columns([_GOLD]),
        gold={pair: same for pair, same in zip(ids, truth, strict=True) if same is not None},
        weights=tuple(Weight(**each) for each in weights.get("weights", ())),
        prior=weights.get("prior"),
        fingerprints=json.loads(_read(project, SOURCES)),
    )


def read_index(project: Project) -> Index:
    """The index of a project's records.

    Parameters
    ----------
    project
        The project.

    Raises
    ------
    InputError
        If it is purged, or the file is missing or was changed.
    """
    return Index.from_bytes(_read(project, INDEX))


def read_rows(project: Project) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Per pair, the records of row 1 and row 2.

    Parameters
    ----------
    project
        The project.

    Raises
    ------
    InputError
        If it is purged, or the file is missing or was changed.
    """
    pairs = _read_table(project, PAIRS)
    left, right = (np.asarray(pairs[name], dtype=np.int64) for name in (LEFT, RIGHT))
    return left, right


def read_pairs(project: Project) -> pa.Table:
    """The pairs as the linkage knows them: pair, left, right, and their truth in `gold`.

    Parameters
    ----------
    project
        The project.

    Raises
    ------
    InputError
        If it is purged, or the file is missing or was changed.
    """
    return _read_table(project, PAIRS)


def remove_files(project_id: UUID) -> None:
    """Remove the encrypted files of a project; without its key they tell nothing anyway.

    Parameters
    ----------
    project_id
        The project's id.
    """
    shutil.rmtree(folder_of(project_id), ignore_errors=True)


def attributes_of(project: Project) -> tuple[Attribute, ...]:
    """What a worker may see.

    Parameters
    ----------
    project
        The project.
    """
    return tuple(Attribute.model_validate(each) for each in project.attributes)


def settings_of(project: Project) -> Settings:
    """The rules of a project.

    Parameters
    ----------
    project
        The project.
    """
    return Settings.model_validate(project.settings)


def _key_purpose(project_id: UUID) -> bytes:
    return b"key of project " + project_id.bytes


def _purpose(project_id: UUID, name: str) -> bytes:
    return f"{name} of project ".encode() + project_id.bytes


def _path(project_id: UUID, name: str) -> Path:
    return folder_of(project_id) / f"{name}.sealed"


def _read(project: Project, name: str) -> bytes:
    return read_sealed(_path(project.id, name), key_of(project), _purpose(project.id, name))


def _read_table(project: Project, name: str) -> pa.Table:
    return pq.read_table(io.BytesIO(_read(project, name)))


def _bytes_of(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()
