"""The result of a linkage of encodings, as `sfumato.link` returns it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError
from sfumato.linkage.encodings.unit.linkage import EncodedLinkage
from sfumato.linkage.encodings.unit.summary import as_json, as_text
from sfumato.linkage.files import MODEL
from sfumato.linkage.write import check_links_folder, write_found, write_linked_schema


@dataclass(frozen=True, eq=False, kw_only=True)
class EncodedLinks(EncodedLinkage):
    """A linkage of encodings that can be written, printed, and told as plain values."""

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
            If it cannot be written, or holds something else than a linkage of encodings.
        """
        check_encodings_folder(folder)

        def fill(place: Path) -> None:
            write_linked_schema(self.linked_schema, place, Path(folder))
            if also is not None:
                also(place)

        return write_found(self, folder, fill)

    def to_json(self) -> dict[str, Any]:
        """Numbers about the linkage as plain values; no value of the data."""
        return as_json(self)

    def __str__(self) -> str:
        """The linkage in a few lines."""
        return as_text(self)


def check_encodings_folder(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder that a linkage of encodings must not be written to.

    Parameters
    ----------
    folder
        The folder.

    Raises
    ------
    InputError
        If it cannot be written, or holds something else than a linkage of encodings.
    """
    check_links_folder(folder)
    if (Path(folder) / MODEL).exists():
        raise InputError(
            f"output {Path(folder).name}",
            "must be a new or empty folder, or that of a linkage of encodings",
            found="a linkage of clear tables",
            advice="choose another one",
        )
