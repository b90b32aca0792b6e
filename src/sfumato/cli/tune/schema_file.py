"""The schema of the chosen point as a file of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.cli.output import check_apart
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.schema import Schema


def check_schema_file(target: Path | None, inputs: tuple[Path | None, ...]) -> None:
    """Refuse a place that cannot or must not be written, before work starts.

    Raises
    ------
    InputError
        If it is no ``.toml`` file, cannot be written, or is a file that is read.
    """
    if target is None:
        return
    from sfumato.core.atomic import check_target

    if target.suffix.lower() != ".toml":
        raise InputError("option --write-schema", "must name a file that ends in .toml")
    check_target(target)
    check_apart((target,), inputs)


def write_schema(schema: Schema, target: Path) -> None:
    """Write a schema, files of hierarchies named from its folder.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    from sfumato.core.atomic import write_text
    from sfumato.schema import dump_schema

    fields = {}
    for name, quasi in schema.quasi_identifiers.items():
        if isinstance(quasi.hierarchy, Path):
            found = Path(os.path.relpath(quasi.hierarchy, target.parent))
            fields[name] = quasi.model_copy(update={"hierarchy": found})
        else:
            fields[name] = quasi
    write_text(target, dump_schema(schema.model_copy(update={"quasi_identifiers": fields})))
