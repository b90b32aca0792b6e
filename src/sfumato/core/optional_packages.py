"""The packages of extras: imported when needed, and kept from printing values of the data."""

from __future__ import annotations

import importlib
import logging
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from sfumato.core.errors import InputError, SfumatoError

_LOGGERS = ("splink", "sqlglot", "py4j", "SQLQueryContextLogger", "DataFrameQueryContextLogger")


def needed(module: str, *, extra: str = "link", by: str = "linkage") -> Any:
    """A module of an extra."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)
            return importlib.import_module(module)
    except ImportError:
        raise InputError(
            by,
            f"needs the package {module.partition('.')[0]}",
            found="no such package",
            advice=f"install it with: {install_command(extra)}",
        ) from None


def check_installed(by: str, packages: Mapping[str, str], *, extra: str) -> None:
    """Refuse to begin without the packages of an extra."""
    for module, package in packages.items():
        if find_spec(module) is None:
            raise InputError(
                by,
                f"needs the package {package}",
                found="no such package",
                advice=f"install it with: {install_command(extra)}",
            )


def install_command(extra: str) -> str:
    """The command that adds an extra to this installation, by what pip wrote down of its origin.

    Never by its name alone: an index that lacks it may have what strangers published.
    """
    # Only who lacks a package waits for these.
    import json
    from importlib import metadata
    from urllib.parse import unquote

    try:
        noted = metadata.distribution("sfumato").read_text("direct_url.json")
        origin = json.loads(noted or "{}")
    except metadata.PackageNotFoundError:
        origin = {"dir_info": {}}  # run from its source
    if "dir_info" in origin:
        option = "--editable " if origin["dir_info"].get("editable") else ""
        return f'pip install {option}".[{extra}]" (in the folder of its source)'
    if "archive_info" in origin:
        wheel = unquote(origin["url"].rpartition("/")[2])
        return f'pip install "{wheel}[{extra}]" (in the folder of that file)'
    if "vcs_info" in origin:
        return f'pip install "sfumato[{extra}] @ git+ADDRESS" (the address that it came from)'
    # Nothing is published: what an index has under this name is a stranger's.
    folder = "--no-index --find-links FOLDER"
    return f'pip install {folder} "sfumato[{extra}]" (the folder of its bundle)'


@contextmanager
def quiet(what: str) -> Iterator[None]:
    """Silence what Splink logs and warns of, and say its errors without its words.

    Parameters
    ----------
    what
        What is being done, for an error: ``"estimate the model"``.

    Yields
    ------
    None
        While the block runs.

    Raises
    ------
    SfumatoError
        If Splink or the database fails. The message says what was being done and the kind of
        the error.
    """
    needed("splink")
    import duckdb
    import sqlglot
    from splink.internals.exceptions import SplinkException

    try:
        with silenced(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except SfumatoError:
        raise
    # Splink and its databases fail in many ways, whose words
    # may hold values of the data: only the kind is said.
    except (
        *spark_errors(),
        SplinkException,
        duckdb.Error,
        sqlglot.errors.SqlglotError,
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        raise SfumatoError(_said(what, error)) from None


@contextmanager
def silenced() -> Iterator[None]:
    """Silence the loggers of Splink and Spark while the block runs."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [(logger, logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        # Above every level, as even errors of these packages print values of the data.
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level, propagate in before:
            logger.setLevel(level)
            logger.propagate = propagate


def spark_errors() -> tuple[type[Exception], ...]:
    """The errors of Spark and its bridge, where they are in use."""
    # Where Spark was not imported nothing of it can be raised.
    errors, bridge = sys.modules.get("pyspark.errors"), sys.modules.get("py4j.protocol")
    return (
        *(() if errors is None else (errors.PySparkException,)),
        *(() if bridge is None else (bridge.Py4JError,)),
    )


def _said(what: str, error: Exception) -> str:
    import duckdb

    kinds = []
    cause: BaseException | None = error
    while cause is not None:
        kinds.append(type(cause).__name__)
        # The one failure that a reader can do something about.
        if isinstance(cause, duckdb.OutOfMemoryException):
            return f"Splink could not {what}: there is not enough memory or room on the disk."
        cause = cause.__cause__
    return f"Splink could not {what}: it stopped with {' from '.join(kinds)}."
