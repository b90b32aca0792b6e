"""``sfumato link key``: a new key for owners who encode."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import say


def key(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A new file for the key.", show_default=False),
    ],
) -> None:
    """Make the key that owners share to encode their tables: 32 random bytes, for you alone.

    Give it to the other owners by a way that you trust, and to nobody else: whoever has the key
    can find out whose the encodings are. Make a new one for every linkage.
    """
    from sfumato.linkage.encodings.owner.key_file import write_new_key

    write_new_key(file)
    say(
        f"Wrote {file} (mode 0600). Give it to the other owners only, never to whoever links the "
        "encodings."
    )
