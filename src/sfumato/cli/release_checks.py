"""Where a release may be written, and which release may be repeated."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sfumato.cli.declared_options import check_no_other
from sfumato.cli.output import check_apart
from sfumato.core.declaration import LAYOUT, Place, is_database, is_uri
from sfumato.core.errors import InputError
from sfumato.core.secret_keys import FOR_REPEATING, read_secret

if TYPE_CHECKING:
    from sfumato.release.promises.promise import Budget, Constraint
    from sfumato.release.release_manifest import Manifest
    from sfumato.schema import Schema, TableSchema

MANIFEST = "release.toml"


def opened(data: Place, declared: Schema) -> Any:
    """The tables of a folder where a schema names tables; else the file itself.

    Raises
    ------
    InputError
        If the schema names tables, and there is no folder.
    """
    if not declared.tables:
        return data
    if not Path(data).is_dir():
        raise InputError(
            "DATA", "must be the folder of the tables that the schema names", found="no folder"
        )
    from sfumato.table.stacked_tables import Tables

    return Tables.in_folder(data, declared)


def secret_beside(output: str | Path) -> Path:
    """Where the secret of a release goes: beside its manifest, or here where that is elsewhere.

    Parameters
    ----------
    output
        The path or URI of the release, or the URL of a table.
    """
    elsewhere = is_uri(output) or is_database(output)
    return Path(FOR_REPEATING) if elsewhere else Path(output).with_name(FOR_REPEATING)


def check_output(
    output: Path,
    declared: Schema,
    inputs: tuple[Place | None, ...],
    repeated: Manifest | None = None,
    *,
    secret: bytes | None = None,
    anew: bool = True,
    url: str = "",
) -> None:
    """Refuse places for the release and its manifest that cannot or must not be written.

    Parameters
    ----------
    output
        The release; of one in a database, a file in the folder of its manifest; of several tables
        their folder.
    declared
        What each column of the data is.
    inputs
        The files that the command reads.
    repeated
        The manifest that is repeated, if one is.
    secret
        The secret that was given.
    anew
        Whether the release cannot be the one that is there in another form, for want of its seed
        and secret.
    url
        The table of a database that the release is written to; empty for a file.

    Raises
    ------
    InputError
        If one cannot be written, or is a file that the command reads, or the manifest of another
        file is there.
    """
    from sfumato.release.release_result import check_beside, check_folder_asked
    from sfumato.table.table_files import check_output_path

    check_folder_asked(url, declared.tables)
    if url:
        from sfumato.table.databases import check_new_table

        check_new_table(url)
    elif declared.tables:
        from sfumato.release.written_tables import check_folder

        check_folder(output, declared.tables)
    else:
        check_output_path(output)
    _check_manifest(output, declared, inputs)
    if repeated is not None or anew:
        check_beside(output, "" if repeated is None else repeated.to_toml(), secret)


def check_other_release(
    output: Path,
    data: Place,
    declared: Schema,
    promises: tuple[Constraint | Budget, ...],
    making: dict[str, Any],
    register: Place | None,
    keyed: bool,
) -> None:
    """Refuse to write over the manifest of another release than that of a seed and a secret.

    Before the work.

    Raises
    ------
    InputError
        If one is there.
    """
    if not output.with_name(MANIFEST).is_file():
        return
    from sfumato.release.release_manifest import Manifest
    from sfumato.release.release_options import Options
    from sfumato.release.release_result import check_beside
    from sfumato.schema import schema_sha256
    from sfumato.table.table_files import data_sha256

    sha256 = data_sha256(data) if not declared.tables else opened(data, declared).sha256
    options = [field.name for field in fields(Options)]
    # What the release would say of itself: the manifest that is there must say the same.
    planned = Manifest(
        options=Options(**{name: making[name] for name in options}).with_ends(
            everybody=register is not None or making["population"] is not None
        ),
        constraints=promises,
        seed=making["seed"],
        keyed=keyed,
        schema_sha256=schema_sha256(declared),
        input_sha256=sha256,
        population=making["population"],
        register_sha256=data_sha256(register),
    )
    check_beside(output, planned.to_toml(), making["secret"])


def check_output_on_spark(output: str, declared: Schema, inputs: tuple[Place | None, ...]) -> None:
    """The same of a folder that Spark writes; a URI is looked at when it is written.

    Raises
    ------
    InputError
        If one cannot be written, or is a file that the command reads, or a folder with one.
    """
    from sfumato.release.on_spark.spark_released_file import check_folder

    check_folder(output)
    read = [Path(each) for each in inputs if each is not None and not is_database(each)]
    # Spark replaces a folder with all that is in it.
    check_apart([Path(output)], [*read, *(each.parent for each in read)])
    if not is_uri(output):
        _check_manifest(Path(output), declared, inputs)
    elif secret_beside(output).exists():
        raise InputError(
            f"output {FOR_REPEATING}",
            "must not take the place of the secret of another release",
            found="one in this folder, where that of a release elsewhere is kept",
            advice="move it away, and keep it",
        )


def _check_manifest(output: Path, declared: Schema, inputs: tuple[Place | None, ...]) -> None:
    from sfumato.core.atomic import check_target
    from sfumato.release.lasting_classes import SERIES_FILE

    manifest = output.with_name(MANIFEST)
    secret = secret_beside(output)
    for beside in (manifest, secret, secret.with_name(SERIES_FILE)):
        check_target(beside)
    # Files that the schema names are read by the command as well.
    parts: list[Schema | TableSchema] = [declared, *declared.tables.values()]
    hierarchies = [
        *(quasi.hierarchy for part in parts for quasi in part.quasi_identifiers.values()),
        *(event.hierarchy for part in parts for event in part.events.values()),
    ]
    read = (*inputs, *(h for h in hierarchies if isinstance(h, Path)))
    check_apart((output, manifest, secret), read)


def manifest_beside(output: str) -> str:
    """Where the manifest of a release is, by the path or URI of the release."""
    around, slash, _ = output.rstrip("/").rpartition("/")
    return f"{around}{slash}{MANIFEST}"


def key_of(path: Path | None, inputs: tuple[str | Path | None, ...]) -> bytes | None:
    """The key for pseudonyms that a file holds.

    Parameters
    ----------
    path
        The file; ``None`` without a key.
    inputs
        The other files that the command reads.

    Raises
    ------
    InputError
        If the file cannot be read, or is no key.
    """
    return None if path is None else read_secret(path, "option --pseudonym-key", inputs)


def secret_of(
    path: Path | None,
    manifest: Path | None,
    inputs: tuple[str | Path | None, ...],
    asked_by: str = "option --repeat",
) -> bytes | None:
    """The secret that a file holds; of a release that is repeated, the one beside its manifest.

    Parameters
    ----------
    path
        The file; ``None`` where none was given.
    manifest
        The manifest that is repeated, if one is.
    inputs
        The other files that the command reads.
    asked_by
        What asks for the repetition.

    Returns
    -------
    bytes or None
        ``None`` where the release is to have a fresh one.

    Raises
    ------
    InputError
        If there is none for a release that is repeated, or the file is no secret.
    """
    if path is None and manifest is None:
        return None
    beside = None if manifest is None else manifest.with_name(FOR_REPEATING)
    if path is None and beside is not None and not beside.is_file():
        raise InputError(
            asked_by,
            f"needs the secret of the release beside its {MANIFEST}",
            found=f"no {FOR_REPEATING} there",
            advice="give its file with --secret; a release of an earlier version has none, and its "
            "pseudonyms and order are not made again",
        )
    found = path or beside
    assert found is not None
    return read_secret(found, "option --secret", inputs)


BESIDE_MANIFEST = frozenset(
    (
        *("data", "schema", "output", "repeat", "register", "pseudonym_key", "secret"),
        *("continues", "report", *LAYOUT, "json", "ledger", "keys"),
    )
)
"""Parameters that may stand beside ``--repeat``; all others are in the manifest."""


def manifest_of(
    context: typer.Context, repeat: Path, key: Path | None, continues: Path | None
) -> Manifest:
    """The manifest to repeat, when nothing on the command line contradicts it.

    Parameters
    ----------
    continues
        Of a file that continues a series, the manifest of the one before it.

    Raises
    ------
    InputError
        If the command line says what the manifest says, the file is no manifest, or the key of
        its pseudonyms is missing or too much.
    """
    from sfumato.release.release_manifest import load_manifest

    check_no_other(
        context,
        "option --repeat",
        # Nobody would leave a first file.
        BESIDE_MANIFEST | (set() if continues is None else {"withdrawn"}),
        "takes promises, options and seed from the manifest",
        "leave it out",
    )
    manifest = load_manifest(repeat)
    before = None if continues is None else load_manifest(continues).output_sha256
    if manifest.series.get("continues_sha256") != before:
        raise InputError(
            "option --repeat",
            "needs as --continue the release.toml of the file that the repeated one continues",
            found="none" if before is None else "that of another file, or of a first one",
            advice="leave it out for a first file, and name for a later one that before it",
        )
    if manifest.keyed != (key is not None):
        raise InputError(
            "option --repeat",
            "must make the same kind of pseudonyms",
            found=f"a manifest {'with' if manifest.keyed else 'without'} keyed pseudonyms",
            advice=f"{'give' if manifest.keyed else 'leave out'} --pseudonym-key",
        )
    return manifest


def check_continue(context: typer.Context, output: Path) -> None:
    """Refuse what a file that continues a series takes from the one before, and its place.

    Raises
    ------
    InputError
        If the command line says it, too, or the file would take the place of the one before.
    """
    from sfumato.release.lasting_classes import SERIES_FILE

    if (output.parent / SERIES_FILE).exists():
        raise InputError(
            f"output {output.name}",
            f"must be in a folder without {SERIES_FILE}, which would be lost",
            found="that of a file of a series",
            advice="give each file of a series a folder of its own, or move that one away",
        )
    check_no_other(
        context,
        "option --continue",
        frozenset(("data", "schema", "output", "continues", "repeat", "seed", "report", *LAYOUT))
        | {"period", "withdrawn", "json", "details", "no_cures", "limits", "ledger", "keys"},
        "takes promises, options and secret from the file before",
        "leave it out",
    )


def check_same_series(manifest: Manifest, made: Manifest) -> None:
    """Refuse a later file of a series that did not come out as the one which it repeats.

    Raises
    ------
    InputError
        If other people are in its classes, or what is kept of them differs.
    """
    if manifest.series.get("file", 1) == 1:
        return
    if made.series["classes_sha256"] != manifest.series["classes_sha256"]:
        raise InputError(
            "option --repeat",
            "must make the same file again",
            found="another one",
            advice="give --withdrawn as it was given then, and take the version of sfumato that "
            f"{MANIFEST} names",
        )


def check_same(manifest: Manifest, data: Place, declared: Schema) -> None:
    """Refuse another file or schema, whose release would be another one.

    Raises
    ------
    InputError
        If the file or the schema is not what the manifest was made from.
    """
    from sfumato.schema import schema_sha256
    from sfumato.table.table_files import data_sha256

    file = opened(data, declared).sha256 if declared.tables else data_sha256(data)
    for what, before, now in (
        ("DATA", manifest.input_sha256, file),
        ("option --schema", manifest.schema_sha256, schema_sha256(declared)),
    ):
        if before not in ("", now):
            raise InputError(
                what,
                "must be what the manifest of --repeat was made from",
                found="another content",
                advice="release it anew",
            )


def check_register(manifest: Manifest, register: Place | None) -> None:
    """Refuse another register than the one that a manifest was made with.

    Raises
    ------
    InputError
        If one is missing, too much, or not the same.
    """
    from sfumato.table.table_files import data_sha256

    if bool(manifest.register_sha256) != (register is not None):
        raise InputError(
            "option --repeat",
            "must count the same population",
            found=f"a manifest {'without' if register else 'with'} a register",
            advice=f"{'leave out' if register else 'give'} --register",
        )
    now = data_sha256(register)
    if now and manifest.register_sha256 != now:
        raise InputError(
            "option --register",
            "must be what the manifest of --repeat was made from",
            found="another content",
            advice="release the file anew",
        )
