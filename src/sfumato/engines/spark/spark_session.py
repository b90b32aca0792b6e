"""The Spark session: the one that is there or one on this machine, its frames, tasks, failures.

Errors and what ran are said without a value of the data, the name or the address of a machine.
"""

from __future__ import annotations

import atexit
import os
import re
import secrets
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import pyarrow as pa

from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import InputError, SfumatoError
from sfumato.core.number_text import counted
from sfumato.core.optional_packages import needed, silenced, spark_errors
from sfumato.core.workspace import Workspace
from sfumato.schema import Schema
from sfumato.table.door import check_type
from sfumato.table.sources import ACCEPTED, check_names, plain_column, positions

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


PERSON = "sfumato_person"
TIE = "sfumato_tie"
HOUSEHOLD = "sfumato_household"
NODE = "sfumato_node"
CLASS = "sfumato_class"
WEIGHT = "sfumato_weight"

OWN = "sfumato_"
"""How the names of all these columns begin."""


def quasi_identifier(place: int) -> str:
    """The column of codes of a quasi-identifier, by its place in the schema."""
    return f"{OWN}q{place}"


def sensitive(place: int) -> str:
    """The column of codes of a sensitive attribute, by its place in the schema."""
    return f"{OWN}s{place}"


def code_columns(schema: Schema) -> list[str]:
    """All columns of codes, in the schema's order."""
    return [
        *map(quasi_identifier, range(len(schema.quasi_identifiers))),
        *map(sensitive, range(len(schema.sensitive))),
    ]


@dataclass(frozen=True)
class Ran:
    """What a result was computed on.

    Attributes
    ----------
    master
        The kind of its cluster: ``local[2]``, ``local-cluster``, ``spark``, ``yarn``, ``k8s``,
        ``connect``, or ``other``.
    executors
        Number of executors when the work began, the driver itself on one machine.
    """

    engine: Literal["spark"]
    version: str
    master: str
    executors: int
    cores: int
    partitions: int

    def to_json(self) -> dict[str, Any]:
        """The fields by their names."""
        return asdict(self)

    def __str__(self) -> str:
        parts = ("executors", "cores", "partitions")
        of = ", ".join(counted(getattr(self, part), part.removesuffix("s")) for part in parts)
        return f"Spark {self.version} ({self.master}), {of}"


_EXTRA = "spark"
_BY = "engine spark"
_SET_UP_BY = ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME")
"""Variables of people who say themselves how Spark runs."""
_SHARE_OF_MEMORY = 0.5
_PARTITIONS = "spark.sql.shuffle.partitions"
# Spark's own 200 partitions cost more in tasks than small files do in work.
_FEWEST_PARTITIONS = 8
_PARTITIONS_PER_TASK = 4
"""Partitions of a shuffle, per task that runs at once on this machine."""
_THIS_MACHINE = "127.0.0.1"
"""Spark's own choice is an address that other machines reach."""
_STANDARD_ERROR = 2
_NO_SFUMATO = "No module named 'sfumato'"
_CONDITION = re.compile(r"[A-Z0-9_]+(\.[A-Z0-9_]+)*")


def active_session() -> SparkSession | None:
    """The Spark session that is active here, or in another thread; ``None`` without one."""
    sessions: Any = needed("pyspark.sql", extra=_EXTRA, by=_BY).SparkSession
    errors = needed("pyspark.errors", extra=_EXTRA, by=_BY)
    try:
        session: SparkSession = sessions.active()
    except errors.PySparkException:
        return None
    return session


def start_session(folder: Path, name: str) -> SparkSession:
    """Start Spark on this machine, quiet and without its pages."""
    builder: Any = needed("pyspark.sql", extra=_EXTRA, by=_BY).SparkSession.builder
    errors = needed("pyspark.errors", extra=_EXTRA, by=_BY)
    options = {
        "spark.app.name": name,
        # No limit: what comes to the driver is bounded by sfumato itself.
        "spark.driver.maxResultSize": "0",
        "spark.local.dir": str(folder / "spark"),
        # Spark's log quotes plans and errors, which hold values of the data.
        "spark.log.level": "OFF",
        "spark.sql.warehouse.dir": str(folder / "spark" / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    # Whoever has set Spark up has said its memory and addresses, too.
    if not any(name in os.environ for name in _SET_UP_BY):
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        options["spark.driver.memory"] = f"{max(1024, int(memory * _SHARE_OF_MEMORY) >> 20)}m"
        options |= dict.fromkeys(("spark.driver.bindAddress", "spark.driver.host"), _THIS_MACHINE)
    for option, value in options.items():
        builder = builder.config(option, value)
    # Java inherits standard error as it starts: silenced later it would keep on writing.
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
        # Python lets only the main thread set handlers.
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


@contextmanager
def _without_words_of_java() -> Iterator[None]:
    """Start processes whose standard error leads nowhere: Java names this machine on it."""
    # By the file's number and not sys.stderr, which Java knows nothing of.
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
    """The active session, or one on this machine that ends with Python."""
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
    """A session beside another, whose settings and temporary views are nobody else's.

    A value that cannot be read is missing in it, and a small machine makes few partitions.
    """
    use_this_python(shared)
    session = shared.newSession()
    # With ANSI one cell that cannot be read would stop the job, and its words name the cell.
    session.conf.set("spark.sql.ansi.enabled", "false")
    context = session.sparkContext
    if str(context.master).startswith("local") and not context.getConf().contains(_PARTITIONS):
        parts = max(_FEWEST_PARTITIONS, _PARTITIONS_PER_TASK * int(context.defaultParallelism))
        session.conf.set(_PARTITIONS, str(parts))
    return session


def use_this_python(session: SparkSession) -> None:
    """Let executors on this machine run the Python that runs here, if nobody has named one."""
    context = session.sparkContext
    local = str(context.master).startswith("local")
    if local and "PYSPARK_PYTHON" not in os.environ:
        # A path `python3` may be another version, with
        # which executors cannot read what is pickled here.
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
    # The cause is dropped as well (`from None`): a traceback would print Spark's words.
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
        found="an executor without it in its Python",
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
    # Only what has the form of a condition is printed, as this is text from elsewhere.
    return f"{name} ({condition})" if condition and _CONDITION.fullmatch(condition) else name


_MASTERS = re.compile(r"local\[[^\]]*\]|local-cluster|local|spark|yarn|k8s")


def what_ran(frame: DataFrame) -> Ran:
    """What a DataFrame is computed on."""
    session: SparkSession = frame.sparkSession
    context = session.sparkContext
    master = _MASTERS.match(str(context.master))
    with said_plainly("say what it runs on"):
        executors = len(context.statusTracker().getExecutorInfos() or ())
        return Ran(
            engine="spark",
            version=str(context.version),
            master=master.group() if master else "other",
            # Spark lists the driver among the executors; on one machine it is the only one.
            executors=max(executors - 1, 1),
            cores=int(context.defaultParallelism),
            partitions=frame.rdd.getNumPartitions(),
        )


SUBJECT = "dataframe"


def check_classic(frame: DataFrame) -> None:
    """Refuse a DataFrame of a session without a SparkContext."""
    # Checkpoints, job groups and broadcasts need the context, which Spark Connect does not give.
    classic = needed("pyspark.sql.classic.dataframe", extra="spark", by="engine spark")
    if not isinstance(frame, classic.DataFrame):
        raise InputError(
            SUBJECT,
            "must be of a Spark session that runs here",
            found="one of Spark Connect",
            advice="start sfumato where the driver runs (on Databricks, a cluster with dedicated "
            "access mode)",
        )


def column_names(frame: DataFrame) -> tuple[str, ...]:
    """The checked names of a DataFrame's columns."""
    with said_plainly("find the columns of the dataframe"):
        columns = frame.columns
    names = check_names(columns, SUBJECT)
    # Spark takes names for the same that differ in case, unless it is told otherwise.
    folded = [name.casefold() for name in names]
    same = [i for i, name in enumerate(folded, 1) if folded.count(name) > 1]
    if same:
        raise InputError(
            SUBJECT,
            "must have column names that differ in more than case",
            found=f"the same name among columns {positions(same)}",
        )
    return names


def column_types(
    frame: DataFrame, names: Sequence[str], encoded: Collection[str], people: Collection[str]
) -> dict[str, pa.DataType]:
    """The Arrow types of some columns.

    Parameters
    ----------
    frame
        A DataFrame whose columns have other names, in the order of ``names``.
    encoded
        Names of those that are encoded, not handed on only.
    people
        Names of the columns of persons and households, where bytes are accepted too.
    """
    types = needed("pyspark.sql.pandas.types", extra="spark", by="engine spark")
    errors = needed("pyspark.errors", extra="spark", by="engine spark")
    # Spark's times have no zone of their own: they print in the session's.
    zone = frame.sparkSession.conf.get("spark.sql.session.timeZone")
    found = {}
    for name, field in zip(names, frame.schema.fields, strict=True):
        try:
            kind = types.to_arrow_type(field.dataType, timezone=zone)
        except errors.PySparkException:
            raise InputError(
                f"column '{name}'",
                "must hold single values",
                found="values of another type",
                accepted=ACCEPTED,
            ) from None
        plain_column(pa.nulls(0, kind), name)
        if name in encoded:
            check_type(name, kind, person=name in people)
        found[name] = kind
    return found


def column(name: str) -> Column:
    """A column by its name, whatever letters it has."""
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    found: Column = functions.col(quoted(name))
    return found


def quoted(name: str) -> str:
    """A name as Spark's SQL takes it, whatever letters it has."""
    escaped = name.replace("`", "``")
    return f"`{escaped}`"


Batches = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
Tables = Callable[[pa.Table], pa.Table]


class WithoutValues:
    """A function for `mapInArrow` whose errors name their kind only: Spark logs their words.

    Its own `SfumatoError` are handed on.
    """

    def __init__(self, function: Batches) -> None:
        self._function = function

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Hand on what the function makes of the batches."""
        try:
            yield from self._function(batches)
        except SfumatoError:
            raise
        # Not every exception: an interrupt, or a lack of memory, must end the task as it is.
        except (
            pa.ArrowException,
            ArithmeticError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
        ) as error:
            raise SfumatoError(f"an executor stopped with {type(error).__name__}.") from None


def without_values(function: Tables) -> Tables:
    """The same for `applyInArrow`: a function of the rows of a group.

    Parameters
    ----------
    function
        The function; its own `SfumatoError` are handed on.
    """

    def batches(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from function(pa.Table.from_batches(rows)).to_batches()

    # Spark reads from the annotations whether it hands over
    # tables, which a class with __call__ does not show it.
    def checked(rows: pa.Table) -> pa.Table:
        return pa.Table.from_batches(WithoutValues(batches)(iter(rows.to_batches())))

    return checked


def gathered(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Batches of at least so many rows, but for the last; Spark's are of 10,000."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        if count >= rows:
            yield _one(waiting)
            waiting, count = [], 0
    if count:
        yield _one(waiting)


def _one(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


INTERVAL = 0.25
"""Seconds between two looks."""
_OF_GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


@contextmanager
def watched(
    session: SparkSession,
    progress: Progress,
    stage: str,
    low: float = 0.0,
    high: float = 1.0,
    *,
    jobs: int = 1,
) -> Iterator[None]:
    """Tell how far the jobs of a block are, from ``low`` to ``high``; an interrupt ends them.

    Parameters
    ----------
    progress
        Told the share of tasks that are done, between the two, never less than before; from
        another thread while the block runs.
    low, high
        Shares of the stage at the start and at the end of the block.

    Yields
    ------
    None
        While the block runs.

    Raises
    ------
    KeyboardInterrupt
        If the block is interrupted, once its jobs are cancelled.
    """
    context = session.sparkContext
    group = f"sfumato-{secrets.token_hex(8)}"
    before = [context.getLocalProperty(name) for name in _OF_GROUP]
    context.setJobGroup(group, f"sfumato: {stage}", interruptOnCancel=True)
    over = Event()
    watcher = Thread(
        target=_watch,
        args=(context.statusTracker(), group, jobs, over, _between(progress, stage, low, high)),
        daemon=True,
    )
    # Looking costs a call to Java each time, for nobody.
    if progress is not silent:
        watcher.start()
    try:
        yield
    except KeyboardInterrupt:
        context.cancelJobGroup(group)
        raise
    finally:
        # The watcher ends first, so that it tells no smaller share after the last one.
        over.set()
        if watcher.ident is not None:
            watcher.join()
        for name, value in zip(_OF_GROUP, before, strict=True):
            context.setLocalProperty(name, value)
    progress(stage, high)


def _between(progress: Progress, stage: str, low: float, high: float) -> Any:
    return lambda share: progress(stage, low + (high - low) * share)


def _watch(tracker: Any, group: str, jobs: int, over: Event, tell: Any) -> None:
    told = 0.0
    while not over.wait(INTERVAL):
        try:
            share = _done(tracker, group, jobs)
        except spark_errors():
            return
        # Stages are found as they come, so that a share may fall: a bar must not.
        if share > told:
            told = share
            tell(share)


def _done(tracker: Any, group: str, jobs: int) -> float:
    """Share of the work that is done, each job counting the same."""
    known = tracker.getJobIdsForGroup(group)
    # Adaptive execution makes more jobs than a block asks for: then they are the whole.
    return sum(_of_job(tracker, job) for job in known) / max(jobs, len(known))


def _of_job(tracker: Any, job: int) -> float:
    """Share of the tasks of a job that are done; stages that are skipped have none."""
    info = tracker.getJobInfo(job)
    if info is None:
        return 0.0
    if info.status == "SUCCEEDED":
        return 1.0
    stages = [tracker.getStageInfo(stage) for stage in info.stageIds]
    tasks = sum(stage.numTasks for stage in stages if stage is not None)
    done = sum(stage.numCompletedTasks for stage in stages if stage is not None)
    return float(done / tasks) if tasks else 0.0


_workspaces: list[Workspace] = []
_folders: WeakKeyDictionary[DataFrame, str] = WeakKeyDictionary()
_written: dict[str, SparkSession] = {}
"""The folders that are not removed yet."""


def cut_lineage(frame: DataFrame, known: Mapping[str, SfumatoError] | None = None) -> DataFrame:
    """Compute a DataFrame, keep it in files, and give it back as read from them.

    The files are Parquet, in the session's folder for checkpoints where one is set, else, if
    Spark runs on this machine, in a private folder. So a task that is repeated reads the same
    rows, and an action reads only the columns that it needs.

    Parameters
    ----------
    frame
        The DataFrame; its columns may have any names that differ.
    known
        What to raise for what Spark says, as `said_plainly` takes it.

    Returns
    -------
    DataFrame
        The same rows. `release` removes the files, and so does the end of Python.

    Raises
    ------
    SfumatoError
        If Spark fails.
    """
    folder = f"{_place(frame.sparkSession)}/sfumato-{secrets.token_hex(8)}"
    names = frame.columns
    # Parquet and Hadoop refuse some names, such as those with spaces or commas.
    plain = [f"c{place}" for place in range(len(names))]
    # Noted before the writing, so that an interrupt within leaves nothing.
    _written[folder] = frame.sparkSession
    with ExitStack() as on_error:
        on_error.callback(_remove, folder)
        with said_plainly("compute the records", known):
            own = frame.toDF(*plain)
            own.write.parquet(folder)
            # With the schema stated, Spark need not open the files to find it.
            read = frame.sparkSession.read.schema(own.schema).parquet(folder).toDF(*names)
        on_error.pop_all()
    _folders[read] = folder
    return read


def derived(frame: DataFrame, original: DataFrame) -> DataFrame:
    """The frame, whose `release` removes what `cut_lineage` has written for the original.

    Parameters
    ----------
    frame
        Made from ``original``.
    original
        What `cut_lineage` gave back.
    """
    _folders[frame] = _folders[original]
    return frame


def release(frame: DataFrame) -> None:
    """Remove the files of a DataFrame that `cut_lineage` gave back; others are left alone.

    It takes the very object; neither it nor what is made from it can be computed any more.
    """
    folder = _folders.pop(frame, None)
    if folder is not None:
        _remove(folder)


@contextmanager
def released(*frames: DataFrame) -> Iterator[None]:
    """Release DataFrames at the end of a block.

    Parameters
    ----------
    *frames
        What `cut_lineage` gave back.

    Yields
    ------
    None
        While the block runs.
    """
    try:
        yield
    finally:
        for frame in frames:
            release(frame)


def _place(session: SparkSession) -> str:
    """The folder in which checkpoints are kept."""
    context = session.sparkContext
    with said_plainly("find its folder for checkpoints"):
        set_dir = context.getCheckpointDir() or context.getConf().get("spark.checkpoint.dir")
    if set_dir is not None:
        return str(set_dir)
    if not str(context.master).startswith("local"):
        raise InputError(
            "engine spark",
            "needs a folder for checkpoints that all executors reach",
            found="none",
            advice="call spark.sparkContext.setCheckpointDir(...), or set spark.checkpoint.dir, "
            "to a folder on HDFS, S3 or the like",
        )
    if not _workspaces:
        _workspaces.append(Workspace())
        atexit.register(_remove_all)
    return (Path(_workspaces[0].path) / "checkpoints").as_uri()


def _remove_all() -> None:
    # A copy, as removing changes the dictionary.
    for folder in list(_written):
        _remove(folder)
    for workspace in _workspaces:
        workspace.close()


def _remove(folder: str) -> None:
    """Remove a folder of ours, if its Spark still runs; a private one goes with its workspace."""
    # Out of the list first: a folder that cannot be removed must not be tried again at the end.
    session = _written.pop(folder)
    context: Any = session.sparkContext
    errors: tuple[type[Exception], ...] = (*spark_errors(), AttributeError, OSError)
    with silenced(), suppress(*errors):
        path = context._jvm.org.apache.hadoop.fs.Path(folder)  # noqa: SLF001
        path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, True)  # noqa: SLF001
