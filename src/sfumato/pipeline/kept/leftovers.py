"""What a run that was killed has left beside its folders."""

from __future__ import annotations

import re
import shutil
from pathlib import Path


def remove_leftovers(folder: Path) -> None:
    """Remove what was being written to a folder; bring back the folder where it was moved away.

    Nobody else may write it meanwhile. See `sfumato.core.atomic_folder` for the names.

    Parameters
    ----------
    folder
        The folder.
    """
    if not folder.parent.is_dir():
        return
    left = re.compile(rf"\.+{re.escape(folder.name)}(\.[0-9a-f]{{8}}(\.part)?)+")
    found = sorted(each for each in folder.parent.iterdir() if left.fullmatch(each.name))
    for each in found:
        moved = each.name == f".{folder.name}.{each.name[-8:]}"
        if moved and not folder.exists():
            each.rename(folder)
        else:
            shutil.rmtree(each, ignore_errors=True)
