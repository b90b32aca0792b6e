"""The Spark session that is there, or one on this machine; what Spark fails with, said plainly."""

from __future__ import annotations

import atexit
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.core.errors import InputError, SfumatoError
from sfumato.core.optional_packages import needed, silenced, spark_errors
from sfumato.core.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EXTRA = "spark"
_BY = "engine spark"
_SET_UP_BY = ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME")
"""Variables of people who say themselves how Spark runs."""
_SHARE_OF_MEMORY = 0.5
_PARTITIONS = "spark.sql.shuffle.partitions"
_FEWEST_PARTITIONS = 8
_PARTITIONS_PER_TASK = 4
"""Partitions of a shuffle, per task that runs at once on this machine."""
_THIS_MACHINE = "127.0.0.1"
"""Spark's own choice is an address that other machines reach."""
_STANDARD_ERROR = 2
_NO_SFUMATO = "No module named 'sfumato'"
_CONDITION = re.compile(r"[A-Z0-9_]+(\.[A-Z0-9_]+)*")


def active_session() -> SparkSession | None:
    """The Spark session that is active here, or in another thread; ``None`` without one.

    Raises
    ------
    InputError
        If PySpark is not installed.
    """
    sessions: Any = needed("pyspark.sql", extra=_EXTRA, by=_BY).SparkSession
    errors = needed("pyspark.errors", extra=_EXTRA, by=_BY)
    try:
        session: SparkSession = sessions.active()
    except errors.PySparkException:
        return None
    return session


def start_session(folder: Path, name: str) -> SparkSession:
    """Start Spark on this machine, quiet and without its pages.

    Parameters
    ----------
    folder
        A private folder, for what Spark puts aside.
    name
        What Spark calls the run.

    Raises
    ------
    InputError
        If PySpark or Java is missing.
    """
    builder: Any = needed("pyspark.sql", extra=_EXTRA, by=_BY).SparkSession.builder
    errors = needed("pyspark.errors", extra=_EXTRA, by=_BY)
    options = {
        "spark.app.name": name,
        "spark.driver.maxResultSize": "0",
        "spark.local.dir": str(folder / "spark"),
        "spark.log.level": "OFF",
        "spark.sql.warehouse.dir": str(folder / "spark" / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if not any(name in os.environ for name in _SET_UP_BY):
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        options["spark.driver.memory"] = f"{max(1024, int(memory * _SHARE_OF_MEMORY) >> 20)}m"
        options |= dict.fromkeys(("spark.driver.bindAddress", "spark.driver.host"), _THIS_MACHINE)
    for option, value in options.items():
        builder = builder.config(option, value)
    with _own_interrupts(), _without_words_of_java():
        try:
            session: SparkSession = builder.getOrCreate()
        except (errors.PySparkException, OSError):
            raise InputError(
                _BY,
                "needs a Spark that starts",
                found="none",
                advice="install Java 17 or newer, or start a SparkSession before",
            ) from None
    return session


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Leave Ctrl-C to whom it belonged: PySpark takes it, and fails where it asks Java to stop."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


@contextmanager
def _without_words_of_java() -> Iterator[None]:
    """Start processes whose standard error leads nowhere: Java names this machine on it."""
    kept = os.dup(_STANDARD_ERROR)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, _STANDARD_ERROR)
    try:
        yield
    finally:
        os.dup2(kept, _STANDARD_ERROR)
        os.close(kept)
        os.close(nowhere)


def session_to_the_end() -> SparkSession:
    """The active session, or one on this machine that ends with Python.

    Raises
    ------
    InputError
        If PySpark or Java is missing.
    """
    active = active_session()
    if active is not None:
        return active
    workspace = Workspace()
    try:
        session = start_session(workspace.path, "sfumato")
    except InputError:
        workspace.close()
        raise

    def end() -> None:
        with silenced():
            session.stop()
        workspace.close()

    atexit.register(end)
    return session


def own_session(shared: SparkSession) -> SparkSession:
    """A session beside another one, with settings and temporary views that are nobody else's.

    A value that cannot be read is missing in it, and a small machine makes few partitions.

    Parameters
    ----------
    shared
        The session whose Spark is used; it stays as it is.
    """
    use_this_python(shared)
    session = shared.newSession()
    session.conf.set("spark.sql.ansi.enabled", "false")
    context = session.sparkContext
    if str(context.master).startswith("local") and not context.getConf().contains(_PARTITIONS):
        parts = max(_FEWEST_PARTITIONS, _PARTITIONS_PER_TASK * int(context.defaultParallelism))
        session.conf.set(_PARTITIONS, str(parts))
    return session


def use_this_python(session: SparkSession) -> None:
    """Let executors on this machine run the Python that runs here, if nobody has named one.

    Parameters
    ----------
    session
        Any session.
    """
    context = session.sparkContext
    local = str(context.master).startswith("local")
    if local and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable


@contextmanager
def said_plainly(what: str, known: Mapping[str, SfumatoError] | None = None) -> Iterator[None]:
    """Say what Spark fails with, without its words: they hold values of the data.

    Parameters
    ----------
    what
        What is being done, for an error: ``"read the file"``.
    known
        What to raise instead, by a text that Spark's words then hold; `told` makes it of errors
        that sfumato's own code on the executors may raise.

    Yields
    ------
    None
        While the block runs.

    Raises
    ------
    SfumatoError
        If Spark fails: one of ``known``, or an error that says what was being done, and the
        kind of Spark's error.
    """
    needed("pyspark.errors", extra=_EXTRA, by=_BY)
    needed("py4j.protocol", extra=_EXTRA, by=_BY)
    try:
        with silenced(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)
            yield
    except spark_errors() as error:
        words = str(error)
        for text, each in {**(known or {}), _NO_SFUMATO: _not_installed()}.items():
            if text in words:
                raise each from None
        raise SfumatoError(f"Spark could not {what}: it stopped with {_kind(error)}.") from None


def _not_installed() -> InputError:
    return InputError(
        _BY,
        "needs sfumato on every executor",
        found="an executor whose Python does not have it",
        advice="install sfumato on all machines of the cluster, or set PYSPARK_PYTHON to a Python "
        "that has it",
    )


def told(*errors: SfumatoError) -> dict[str, SfumatoError]:
    """Errors by their own words, in which Spark hands on what was raised on an executor."""
    return {str(error): error for error in errors}


def _kind(error: Exception) -> str:
    """The class of an error, and Spark's name for the condition; neither holds a value."""
    name = type(error).__name__
    errors = needed("pyspark.errors", extra=_EXTRA, by=_BY)
    if not isinstance(error, errors.PySparkException):
        return name
    condition = error.getCondition()
    return f"{name} ({condition})" if condition and _CONDITION.fullmatch(condition) else name
