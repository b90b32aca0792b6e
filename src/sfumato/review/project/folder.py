"""A project as a folder, both ways without loss."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import tomlkit
from pydantic import ValidationError

from sfumato.core.atomic import atomic_folder, check_target_folder, write_text
from sfumato.core.errors import InputError
from sfumato.review.attributes import Attribute
from sfumato.review.project.project import ID, LEFT, PAIR, RIGHT, SOURCE, Project, Weight
from sfumato.review.settings import Settings
from sfumato.table.table_files import write_table

PROJECT, RECORDS, PAIRS = "project.toml", "records.parquet", "pairs.parquet"
"""The rules and attributes, without a value of the data; the records; the pairs."""
_GOLD = "gold"
_HEADER = "What a review shows and allows. It holds no value of the data."


def write_project(project: Project, folder: str | os.PathLike[str]) -> Path:
    """Write a project to a new or empty folder, whole or not at all.

    The files can be read by their owner only.

    Parameters
    ----------
    project
        The project.
    folder
        The folder.

    Raises
    ------
    InputError
        If it holds something, or cannot be written.
    """
    check_target_folder(folder)
    place = Path(folder)
    if place.is_dir() and any(place.iterdir()):
        raise InputError(
            f"output {place.name or place}",
            "must be a new or empty folder",
            found="a folder with files",
            advice="choose another one",
        )
    gold = [project.gold.get(pair) for pair in project.pair_ids]
    with atomic_folder(folder) as making:
        write_table(project.records, making / RECORDS)
        write_table(project.pairs.append_column(_GOLD, pa.array(gold, pa.bool_())), making / PAIRS)
        write_text(making / PROJECT, _text(project))
    return place


def load_project(folder: str | os.PathLike[str]) -> Project:
    """Read a project that `write_project` wrote.

    Parameters
    ----------
    folder
        The folder.

    Raises
    ------
    InputError
        If it is none, or its files do not belong together.
    """
    place = Path(folder)
    subject = f"folder {place.name or place}"
    if not (place / PROJECT).is_file():
        raise InputError(
            subject,
            "must be that of a review's project",
            found=f"no {PROJECT} in it" if place.is_dir() else "no such folder",
        )
    try:
        fields = tomllib.loads((place / PROJECT).read_text(encoding="utf-8"))
        attributes = tuple(Attribute(**each) for each in fields["attributes"])
        settings = Settings(**fields["settings"])
        weights = tuple(Weight(**each) for each in fields.get("weights", ()))
        fingerprints = dict(fields.get("fingerprints", {}))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"file {PROJECT}", "must be that of a review's project", found=_found(error)
        ) from None
    records = _table(place / RECORDS, [SOURCE, ID, *(each.name for each in attributes)])
    pairs = _table(place / PAIRS, [PAIR, LEFT, RIGHT, _GOLD])
    gold = zip(pairs[PAIR].to_pylist(), pairs[_GOLD].to_pylist(), strict=True)
    return Project(
        attributes=attributes,
        settings=settings,
        records=records,
        pairs=pairs.drop_columns([_GOLD]),
        gold={pair: same for pair, same in gold if same is not None},
        weights=weights,
        prior=fields.get("prior"),
        fingerprints=fingerprints,
    )


def _found(error: Exception) -> str:
    """Where a rule is broken; what stands there is not said."""
    if isinstance(error, ValidationError):
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the settings"
        return f"{place}: {first['msg'].lower()}"
    return "another file, or a damaged one"


def _text(project: Project) -> str:
    fields: dict[str, Any] = {}
    if project.prior is not None:
        fields["prior"] = project.prior
    fields["settings"] = project.settings.model_dump(mode="json", exclude_none=True)
    fields["attributes"] = [
        each.model_dump(mode="json", exclude_none=True) for each in project.attributes
    ]
    if project.fingerprints:
        fields["fingerprints"] = dict(project.fingerprints)
    if project.weights:
        fields["weights"] = [
            {name: getattr(each, name) for name in Weight.__slots__} for each in project.weights
        ]
    document = tomlkit.document()
    document.add(tomlkit.comment(_HEADER))
    document.update(fields)
    return tomlkit.dumps(document)


def _table(path: Path, names: list[str]) -> pa.Table:
    try:
        with pq.ParquetFile(path) as file:
            if file.schema_arrow.names == names:
                return file.read()
    except (pa.ArrowException, OSError, ValueError):
        pass
    raise InputError(
        f"file {path.name}",
        "must be there and belong to the project",
        found="none, or another or a cut one",
    )
