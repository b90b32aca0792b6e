"""The option that repeats the release of a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.declared_options import check_beside
from sfumato.cli.options.panels import MAKING
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.release.release_manifest import Manifest
    from sfumato.schema import Schema

BESIDE_MANIFEST = frozenset(
    {
        "data",
        "schema",
        "output",
        "repeat",
        "register",
        "pseudonym_key",
        "report",
        "delimiter",
        "json",
    }
)
"""Parameters that may stand beside ``--repeat``; all others are in the manifest."""

Repeat = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Repeat the release of this release.toml: its promises, options and seed.",
        rich_help_panel=MAKING,
        show_default=False,
    ),
]


def manifest_of(context: typer.Context, repeat: Path, key: Path | None) -> Manifest:
    """The manifest to repeat, when nothing on the command line contradicts it.

    Raises
    ------
    InputError
        If the command line says what the manifest says, the file is no manifest, or the key of
        its pseudonyms is missing or too much.
    """
    from sfumato.release.release_manifest import load_manifest

    check_beside(
        context,
        "option --repeat",
        BESIDE_MANIFEST,
        "takes promises, options and seed from the manifest",
        "leave it out",
    )
    manifest = load_manifest(repeat)
    if manifest.keyed != (key is not None):
        raise InputError(
            "option --repeat",
            "must make the same kind of pseudonyms",
            found=f"a manifest {'with' if manifest.keyed else 'without'} keyed pseudonyms",
            advice=f"{'give' if manifest.keyed else 'leave out'} --pseudonym-key",
        )
    return manifest


def check_same(manifest: Manifest, data: Path, declared: Schema) -> None:
    """Refuse another file or schema: the seed would give its persons the same pseudonyms.

    Raises
    ------
    InputError
        If the file or the schema is not what the manifest was made from.
    """
    from sfumato.release.release_manifest import file_sha256, schema_sha256

    file = file_sha256(data) if data.is_file() else ""
    for what, before, now in (
        ("DATA", manifest.input_sha256, file),
        ("option --schema", manifest.schema_sha256, schema_sha256(declared)),
    ):
        if before not in ("", now):
            raise InputError(
                what,
                "must be what the manifest of --repeat was made from",
                found="another content",
                advice="release it anew: the same seed would link the persons of two files",
            )
