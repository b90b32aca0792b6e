"""Copies of files that only their owner may read."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def copy_private(one: Path, other: Path) -> None:
    """Copy a file so that only its owner may read the copy.

    Parameters
    ----------
    one
        The file.
    other
        Where the copy goes.
    """
    number = os.open(other, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(number, "wb") as target, one.open("rb") as source:
        shutil.copyfileobj(source, target)
