"""What the folder of a linkage says: its files are read, and nothing else of the linkage."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core.errors import InputError
from sfumato.review.project.project import Weight

MANIFEST = "manifest.toml"
SPEC = "link.toml"
PAIRS = "pairs.parquet"
IDENTIFYING = "identifying.parquet"


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a linkage of clear tables.

    Parameters
    ----------
    folder
        The linkage's folder.

    Raises
    ------
    InputError
        If there is none, or it is one of something else.
    """
    subject = f"folder {folder.name or folder}"
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(
            subject,
            "must be one that sfumato link wrote",
            found=f"no {MANIFEST} in it" if folder.is_dir() else "no such folder",
        )
    manifest = _toml(path)
    model = manifest.get("model")
    if not isinstance(manifest.get("linkage"), dict) or not isinstance(model, dict):
        raise InputError(subject, "must be one that sfumato link wrote", found="another manifest")
    if "encodings" in model:
        raise InputError(
            subject,
            "must hold a linkage of clear tables",
            found="one of encodings, which nobody can review",
        )
    return manifest


def weights_in(manifest: dict[str, Any]) -> tuple[Weight, ...]:
    """What each level of a comparison says.

    Parameters
    ----------
    manifest
        The manifest.

    Raises
    ------
    InputError
        If the weights are none.
    """
    try:
        return tuple(
            Weight(
                str(each["comparison"]),
                int(each["level"]),
                str(each["label"]),
                float(each["m"]),
                float(each["u"]),
            )
            for each in manifest["model"]["weights"]
        )
    except (KeyError, TypeError, ValueError):
        raise InputError(
            f"manifest {MANIFEST}", "must be one that sfumato link wrote", found="other weights"
        ) from None


def kinds_in(folder: Path, names: Sequence[str]) -> tuple[dict[str, str], dict[str, bool]]:
    """Of the compared columns, the kind of each and, of dates, whether the day stands first.

    Parameters
    ----------
    folder
        The linkage's folder.
    names
        Names of the identifying attributes.

    Raises
    ------
    InputError
        If the specification is missing or none.
    """
    columns = _toml(folder / SPEC).get("columns", {})
    given_columns = columns.items() if isinstance(columns, dict) else ()
    by_name = {_plain(name): each for name, each in given_columns}
    kinds: dict[str, str] = {}
    day_first: dict[str, bool] = {}
    for name in names:
        given = by_name.get(_plain(name))
        fields = {"kind": given} if isinstance(given, str) else given
        if isinstance(fields, dict) and isinstance(fields.get("kind"), str):
            kinds[name] = fields["kind"]
            if isinstance(fields.get("day_first"), bool):
                day_first[name] = fields["day_first"]
    return kinds, day_first


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """A file of a linkage.

    Parameters
    ----------
    path
        The file.
    columns
        The columns wanted; all where not given.

    Raises
    ------
    InputError
        If it is missing or not whole, or a column is missing.
    """
    try:
        with pq.ParquetFile(path) as file:
            if set(columns or ()) <= set(file.schema_arrow.names):
                return file.read(columns=columns)
    except (pa.ArrowException, OSError, ValueError):
        pass
    raise InputError(
        f"file {path.name}",
        "must be there and whole",
        found="none, or another or a cut one",
        advice="the files of a linkage belong together; link again",
    )


def named_pairs(folder: Path, ids: pa.ChunkedArray) -> pa.Table:
    """Some pairs of the linkage with the names of their records.

    Parameters
    ----------
    folder
        The linkage's folder.
    ids
        The pairs' ids.

    Raises
    ------
    InputError
        If a pair is not among those of the linkage.
    """
    table = read_parquet(folder / PAIRS, ["pair", "source_l", "id_l", "source_r", "id_r"])
    place = pc.index_in(ids.cast(table["pair"].type), table["pair"].combine_chunks())
    if place.null_count:
        raise InputError(
            "the pairs to review",
            f"must be among those in {PAIRS}",
            found="an unknown pair",
            advice="the files of a linkage belong together; link again",
        )
    return table.take(place)


def _plain(name: str) -> str:
    """A name as the linkage calls it: lower-case ASCII letters, digits and underscores."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        raise InputError(
            f"file {path.name}", "must be one that sfumato link wrote", found="none, or another"
        ) from None
