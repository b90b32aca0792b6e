"""Repeat a release from its manifest, so that the referee knows whose each record is."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.cli.options.output import MANIFEST, key_of
from sfumato.core.errors import InputError
from sfumato.core.workspace import Workspace

if TYPE_CHECKING:
    from sfumato.core.shared_options import Progress
    from sfumato.release.release_manifest import Manifest
    from sfumato.release.release_result import Release
    from sfumato.schema import Schema

ADVICE = "say whose the records are with --truth or --same-order"


def repeated_release(
    released: Path,
    original: Path,
    declared: Schema,
    *,
    register: Path | None,
    key: Path | None,
    progress: Progress,
) -> Release:
    """The release that the manifest beside a released file describes, made again.

    Parameters
    ----------
    released
        The released file.
    original
        The file that was released.
    declared
        What each of its columns is.
    register
        The register that it was released with, if any.
    key
        The file with the key of its pseudonyms, if any.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If there is no manifest, it was made from other files, or what comes out is not the
        released file.
    """
    from sfumato.release.assembly import make_release
    from sfumato.release.release_manifest import file_sha256
    from sfumato.risk.register_presence import open_register
    from sfumato.table.door import open_table

    manifest = _manifest_beside(released)
    _check_same(manifest, released, original, declared)
    _check_beside(manifest, register, key)
    secret = key_of(key, (released, original, register))
    table = open_table(original, declared, progress=progress)
    counted = register if manifest.register_sha256 else None
    everybody = None if counted is None else open_register(counted, table.schema)
    release = make_release(table, manifest, secret, progress, everybody)
    with Workspace() as workspace:
        again = release.write(workspace.path / f"again{released.suffix}")
    if again.manifest.output_sha256 != file_sha256(released):
        raise InputError(
            f"file {released.name}",
            "must be what its manifest gives when it is repeated",
            found="another content, as other versions of libraries may give",
            advice=ADVICE,
        )
    return release


def _manifest_beside(released: Path) -> Manifest:
    from sfumato.engines.engine_choice import Engine
    from sfumato.release.release_manifest import load_manifest

    path = released.with_name(MANIFEST)
    if not path.is_file():
        raise InputError(
            f"file {released.name}",
            f"must have its {MANIFEST} beside it, to be repeated",
            found="none",
            advice=ADVICE,
        )
    if _is_on_request(path):
        raise InputError(
            f"file {released.name}",
            "must be made by sfumato anonymize, to be repeated from its original",
            found="a release on request",
            advice="attack what sf.anonymize_requested returns, in Python, or " + ADVICE,
        )
    manifest = load_manifest(path)
    if manifest.engine is not Engine.EMBEDDED:
        raise InputError(
            f"file {released.name}",
            "must be made in one process, to be repeated from its original",
            found=f"a release made on the engine {manifest.engine.value}",
            advice=ADVICE,
        )
    return manifest


def _is_on_request(manifest: Path) -> bool:
    try:
        return "request" in tomllib.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False


def _check_same(manifest: Manifest, released: Path, original: Path, declared: Schema) -> None:
    from sfumato.release.release_manifest import file_sha256, schema_sha256

    for what, before, now in (
        ("RELEASE", manifest.output_sha256, file_sha256(released)),
        ("option --original", manifest.input_sha256, file_sha256(original)),
        ("option --schema", manifest.schema_sha256, schema_sha256(declared)),
    ):
        if before != now:
            raise InputError(
                what,
                f"must be what the {MANIFEST} beside RELEASE speaks of",
                found="another content",
                advice=f"give the right file, or {ADVICE}",
            )


def _check_beside(manifest: Manifest, register: Path | None, key: Path | None) -> None:
    from sfumato.release.release_manifest import file_sha256

    if manifest.keyed != (key is not None):
        raise InputError(
            "option --pseudonym-key",
            f"must {'be' if manifest.keyed else 'not be'} given for this release",
            found=f"a manifest {'with' if manifest.keyed else 'without'} keyed pseudonyms",
        )
    if not manifest.register_sha256:
        return
    if register is None or file_sha256(register) != manifest.register_sha256:
        raise InputError(
            "option --register",
            "must be the register that the release was made with",
            found="none" if register is None else "another content",
            advice=f"give that register, or {ADVICE}",
        )
