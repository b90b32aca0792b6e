"""The result of a linkage, as `sfumato.link` returns it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.linkage.linkage import Linkage
from sfumato.linkage.summary import as_json, as_text
from sfumato.linkage.write import write_links


@dataclass(frozen=True, eq=False)
class Links(Linkage):
    """A linkage that can be written, printed, and told as plain values."""

    def write(
        self, folder: str | os.PathLike[str], *, also: Callable[[Path], None] | None = None
    ) -> Path:
        """Write the folder of the linkage, whole or not at all.

        Parameters
        ----------
        folder
            Where; made if it does not exist. Other files in it are kept.
        also
            Writes more files, given the folder as it is being made.

        Raises
        ------
        InputError
            If it cannot be written, or holds something else than a linkage.
        """
        return write_links(self, folder, also=also)

    def to_json(self) -> dict[str, Any]:
        """Numbers about the linkage as plain values; no value of the data."""
        return as_json(self)

    def __str__(self) -> str:
        """The linkage in a few lines."""
        return as_text(self)
