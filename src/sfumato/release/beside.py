"""The manifest beside a released file: one release to a folder."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError
from sfumato.release.manifest import file_sha256

MANIFEST_FILE = "release.toml"


def check_beside(path: str | os.PathLike[str], manifest: str = "") -> None:
    """Refuse to write over the manifest of another release, which nothing else repeats.

    Manifests may be written over where they speak of the file that is written anew, unchanged
    since, or where they repeat the same release.

    Parameters
    ----------
    path
        Where a release is to be written, in this process.
    manifest
        The manifest that is to stand beside it, as TOML; empty where it is not known yet.

    Raises
    ------
    InputError
        If ``release.toml`` in that folder is another's.
    """
    target = Path(path)
    beside = target.with_name(MANIFEST_FILE)
    if not beside.is_file():
        return
    there = _read(beside)
    if manifest and there is not None and _repeats(there) == _repeats(tomllib.loads(manifest)):
        return
    if target.is_file() and _written(there) == file_sha256(target):
        return
    raise InputError(
        f"output {target.name}",
        f"must not take the place of the {MANIFEST_FILE} of another file",
        found="one in its folder",
        advice="write each release to a folder of its own, or move that file away",
    )


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _repeats(fields: dict[str, Any]) -> dict[str, Any]:
    """What of a manifest makes the release, without what came out and who computed it."""
    kept = {name: value for name, value in fields.items() if name != "versions"}
    return kept | {"release": {**_about(fields), "output_sha256": ""}}


def _written(fields: dict[str, Any] | None) -> Any:
    """The hash of the file that a manifest speaks of."""
    return None if fields is None else _about(fields).get("output_sha256")


def _about(fields: dict[str, Any]) -> dict[str, Any]:
    about = fields.get("release")
    return about if isinstance(about, dict) else {}
