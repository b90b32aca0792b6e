"""Hashes by which a change is seen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError
from sfumato.release.manifest import file_sha256


def input_sha256(name: str, path: Path) -> str:
    """Hash of a file that a stage reads.

    Parameters
    ----------
    name
        What the project file calls it: ``"sources.hospital.file"``.
    path
        The file.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    try:
        return file_sha256(path)
    except OSError as error:
        raise InputError(
            name,
            "must be a file that can be read",
            found=(error.strerror or "an error of the system").lower(),
            advice="paths are named from the project file's folder",
        ) from None


def plain_sha256(values: Mapping[str, Any]) -> str:
    """Hash of plain values.

    Parameters
    ----------
    values
        What JSON knows.
    """
    text = json.dumps(values, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
