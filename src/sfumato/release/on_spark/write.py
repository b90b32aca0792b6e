"""Write a DataFrame as a folder of files, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.core.atomic import not_whole, take_place, write_text, written_at
from sfumato.core.errors import InputError
from sfumato.core.optional_packages import silenced, spark_errors
from sfumato.engines.spark.session import said_plainly

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SUFFIXES = (".csv", ".tsv", ".parquet")
CHUNK = 1 << 20
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_OURS = re.compile(r"_SUCCESS|_(started|committed)_\d+|part-\d{5}.*|\..*\.crc")
"""What a folder holds that Spark wrote; Databricks marks what was started and committed."""
_TIME = "yyyy-MM-dd'T'HH:mm:ss[.SSSSSS]"
"""How a time is written to a CSV file: to the microsecond, as Spark holds it."""


def is_uri(path: str | os.PathLike[str]) -> bool:
    """Whether a path names a file system, as ``hdfs://`` and ``s3a://`` do.

    Parameters
    ----------
    path
        A path.
    """
    return _URI.match(os.fspath(path)) is not None


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a path that no folder of files can be written to, before work starts.

    Parameters
    ----------
    path
        Where the folder is to be.

    Raises
    ------
    InputError
        If the suffix is none of ``.csv``, ``.tsv``, ``.parquet``; or on this machine, if
        something is there that Spark did not write, or the folder around it cannot be written.
    """
    name = Path(path).name
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"output {name}",
            "must have a suffix that says its format",
            found=f"the suffix {suffix}" if suffix else "no suffix",
            accepted=", ".join(SUFFIXES),
        )
    if is_uri(path):
        return
    target = Path(path)
    if target.exists() and not (target.is_dir() and _all_ours(target)):
        raise InputError(
            f"output {name}",
            "must be a new folder, or one that Spark wrote",
            found="other files of that name",
            advice="choose another name",
        )
    if not target.parent.is_dir() or not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(
            f"output {name}",
            "must be in a folder that exists and can be written",
            advice="create the folder, or choose another one",
        )


def _all_ours(folder: Path) -> bool:
    return all(_OURS.fullmatch(each.name) for each in folder.iterdir())


def write_frame(frame: DataFrame, path: str | os.PathLike[str]) -> str:
    """Write a DataFrame by the suffix of the path, a file per partition, whole or not at all.

    The files are written beside the path and take their place together, by a rename: of this
    machine for a path, else of Hadoop's file systems (an object store copies them instead).

    Parameters
    ----------
    frame
        The DataFrame.
    path
        A folder with the suffix ``.csv``, ``.tsv`` or ``.parquet``, or its URI.

    Returns
    -------
    str
        On this machine the SHA-256 of the files, one behind the other in the order of their
        names; elsewhere nothing, as that would read them all again.

    Raises
    ------
    InputError
        If the path cannot be written.
    SfumatoError
        If Spark fails.
    """
    check_folder(path)
    session, suffix = frame.sparkSession, Path(path).suffix.lower()
    if not is_uri(path):
        _check_here(session, path)
        with _folder(Path(path)) as making, said_plainly("write the release"):
            _written(frame, making.as_uri(), suffix)
        return folder_sha256(written_at(Path(path).resolve()))
    with (
        _on_hadoop(session, os.fspath(path), folder=True) as making_there,
        said_plainly("write the release"),
    ):
        _written(frame, making_there, suffix)
    return ""


def _check_here(session: SparkSession, path: str | os.PathLike[str]) -> None:
    """Refuse a path of this machine where executors run on others."""
    if not str(session.sparkContext.master).startswith("local"):
        raise InputError(
            f"output {Path(path).name}",
            "must be a URI, which says where all executors write",
            found="a path of this machine",
            advice="name the storage, for example hdfs://, s3a:// or abfss://, or file:// for a "
            "folder that all machines share",
        )


def _written(frame: DataFrame, to: str, suffix: str) -> None:
    if suffix == ".parquet":
        frame.write.parquet(to)
        return
    nothing = "" if len(frame.columns) > 1 else '""'  # a line without a letter is left out
    frame.write.option("timestampNTZFormat", _TIME).csv(
        to,
        sep="\t" if suffix == ".tsv" else ",",
        header=True,
        escape='"',
        nullValue=nothing,
        emptyValue=nothing,
        timestampFormat=f"{_TIME}[XXX]",
        ignoreLeadingWhiteSpace=False,
        ignoreTrailingWhiteSpace=False,
    )


def write_beside(session: SparkSession, path: str | os.PathLike[str], name: str, text: str) -> None:
    """Write a text to the folder around a path, whole or not at all, readable by its owner only.

    An object store has no such permissions: there the rules of its bucket hold.

    Parameters
    ----------
    session
        What reaches the file system of a URI.
    path
        A folder, or its URI.
    name
        Name of the file beside it.
    text
        What it holds.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    if not is_uri(path):
        write_text(Path(path).with_name(name), text)
        return
    target = f"{os.fspath(path).rstrip('/').rpartition('/')[0]}/{name}"
    with (
        _on_hadoop(session, target, folder=False) as making,
        said_plainly("write the manifest"),
    ):
        system, place = _hadoop(session, making)
        stream = system.create(place, True)
        system.setPermission(place, _owner_only(session))
        stream.write(bytearray(text.encode("utf-8")))
        stream.close()


def folder_sha256(path: str | os.PathLike[str]) -> str:
    """Hash of the files that Spark wrote to a folder, one behind the other by their names.

    Parameters
    ----------
    path
        The folder.
    """
    digest = hashlib.sha256()
    for part in sorted(Path(path).glob("part-*")):
        with part.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def _folder(path: Path) -> Iterator[Path]:
    """A path in a private folder that takes the place of a path when the block succeeds.

    What was written can be entered by its owner only, while it is written and after.
    """
    whole = path.resolve()
    mark = f".{whole.name}.{secrets.token_hex(4)}"
    private, part = whole.with_name(f"{mark}.private"), whole.with_name(f"{mark}.part")
    making = private / whole.name
    try:
        private.mkdir(mode=0o700)
        yield making
        making.chmod(0o700)
        making.rename(part)
        take_place(part, whole)
    except OSError as error:
        raise not_whole(path, error) from None
    finally:
        shutil.rmtree(private, ignore_errors=True)
        if written_at(whole) != part:
            shutil.rmtree(part, ignore_errors=True)


@contextmanager
def _on_hadoop(session: SparkSession, target: str, *, folder: bool) -> Iterator[str]:
    """A path beside a target that takes its place when the block succeeds, else is removed."""
    around, _, name = target.rstrip("/").rpartition("/")
    mark = f"{around}/.{name}.{secrets.token_hex(4)}"
    making, old = f"{mark}.part", mark
    with said_plainly("reach the place of the release"):
        system, whole = _hadoop(session, target)
        replaced = _replaceable(system, whole, name, folder=folder)
    try:
        yield making
        with said_plainly("put the release into its place"):
            if replaced:
                system.rename(whole, _hadoop(session, old)[1])
            if not system.rename(_hadoop(session, making)[1], whole):
                raise InputError(f"output {name}", "must be written whole", found="no rename")
    finally:
        with suppress(*spark_errors()), silenced():
            before, new = _hadoop(session, old)[1], _hadoop(session, making)[1]
            if replaced and system.exists(before) and not system.exists(whole):
                system.rename(before, whole)
            system.delete(new, True)
            system.delete(before, True)


def _replaceable(system: Any, whole: Any, name: str, *, folder: bool) -> bool:
    """Whether there is something to replace.

    Raises
    ------
    InputError
        If it is no file, or no folder that Spark wrote.
    """
    if not system.exists(whole):
        return False
    is_folder = system.getFileStatus(whole).isDirectory()
    found = [each.getPath().getName() for each in system.listStatus(whole)] if is_folder else []
    if is_folder != folder or not all(_OURS.fullmatch(each) for each in found):
        raise InputError(
            f"output {name}",
            "must be a new folder, or one that Spark wrote" if folder else "must be a file",
            found="other files of that name" if folder else "a folder of that name",
            advice="choose another name",
        )
    return True


def _hadoop(session: SparkSession, path: str) -> tuple[Any, Any]:
    """The file system of a path, and the path as it takes it."""
    context: Any = session.sparkContext
    place = context._jvm.org.apache.hadoop.fs.Path(path)  # noqa: SLF001
    return place.getFileSystem(context._jsc.hadoopConfiguration()), place  # noqa: SLF001


def _owner_only(session: SparkSession) -> Any:
    """The permission to read and write for the owner of a file alone."""
    context: Any = session.sparkContext
    return context._jvm.org.apache.hadoop.fs.permission.FsPermission("600")  # noqa: SLF001
