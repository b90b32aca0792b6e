"""What every test may use: the shared data, a browser, profiles of Hypothesis."""

from __future__ import annotations

import gc
import math
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, settings
from longest_files import SECONDS

from sfumato.cli.own_process import settle

ROOT = Path(__file__).resolve().parent
settle()  # before NumPy is imported: threads of OpenBLAS spin, and take the processors from others
os.environ.setdefault("OMP_NUM_THREADS", "1")  # so do those of scikit-learn; workers run beside
# A job in the background of a script is born deaf to Ctrl-C, and under nohup to a terminal that
# closes; so would be the programs that tests start and then interrupt.
for _number, _usual_handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual_handler)
_HOME = tempfile.TemporaryDirectory()
for _folder in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
    os.environ[_folder] = str(Path(_HOME.name) / _folder)  # ledgers and keys that `init` makes
REQUIRED = os.environ.get("SFUMATO_REQUIRE") == "1"
"""Whether what is missing fails a test instead of skipping it."""

_slow = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
_usual = settings(deadline=None, max_examples=12, suppress_health_check=_slow)
settings.register_profile("local", _usual)
settings.register_profile("ci", _usual, max_examples=50, derandomize=True, print_blob=True)
settings.load_profile("ci" if REQUIRED or "CI" in os.environ else "local")


def missing(message: str) -> NoReturn:
    """Skip the test that asks, or fail it where SFUMATO_REQUIRE=1."""
    if REQUIRED:
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session", autouse=True)
def _one_secret() -> Iterator[Callable[[], bytes]]:
    """Secrets that nobody gives are one: what a test finds would else be luck, now and then.

    Other files, promises and options have other pseudonyms and orders all the same.
    """
    from sfumato.core import secret_keys

    fresh = secret_keys._fresh
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secret_keys, "_fresh", lambda: b"one secret for all releases of the tests")
        yield fresh


@pytest.fixture
def fresh_secrets(monkeypatch: pytest.MonkeyPatch, _one_secret: Callable[[], bytes]) -> None:
    """Secrets as they are outside of tests."""
    monkeypatch.setattr("sfumato.core.secret_keys._fresh", _one_secret)


@pytest.fixture(autouse=True)
def _few_seeds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attacks that a test is not about try few seeds: a million take a processor a second."""
    module = sys.modules.get("sfumato.intruder.guesses.pseudonym_attack")
    if module is not None and request.path.name != "test_pseudonym_attack.py":
        monkeypatch.setattr(module, "SEEDS", 10_000)


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The folder of pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the public data sets: SFUMATO_DATA, else ``../shared/data``."""
    folder = Path(os.environ.get("SFUMATO_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        missing("no shared data; set SFUMATO_DATA to the folder that holds adult and informs")
    return folder


@pytest.fixture(scope="session")
def chromium() -> Path:
    """A Chromium browser: SFUMATO_CHROMIUM, else the first one on PATH."""
    names = (os.environ.get("SFUMATO_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    for name in names:
        found = shutil.which(name) if name else None
        if found:
            return Path(found)
    missing("no Chromium; install Debian's chromium or set SFUMATO_CHROMIUM to its path")


SPARK = {
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
    ),
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""A Spark that starts fast and compiles little: the tests' tables are small.

What is compiled stays: the 48 MB that Java takes for so little compiling are full after some tests,
and then it throws code away to compile it again.
"""


@pytest.fixture(scope="module")
def few_random_pairs() -> Iterator[None]:
    """Linkages of small tables learn from a tenth of the random pairs, in a third of the time.

    For tests that are not about how well a model of real data is estimated.
    """
    pytest.importorskip("splink")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sfumato.linkage.model_fit.RANDOM_PAIRS", 100_000)
        patched.setattr("sfumato.linkage.chance_agreement._SAMPLED", 10_000)
        yield


USE_RELEASES = {
    *("cli", "intruder", "ledger", "pipeline", "release", "reports", "risk", "semantics", "table")
}
"""Rooms that use releases: how good the search for their classes is, those of `release` look at."""
FEW_PASSES = (3, 4)
"""Of the search for classes: of large files, and at most."""
FEW_SUBSAMPLES = 2
"""On which an estimator is checked, but for slow tests: five take twice as long as the estimate."""
FEW_FITS = {"STARTED": 4, "FEW_CELLS": 0}
"""Of the models of cells, but for slow tests and those of the models: one start and part."""
OF_PICTURES = {"reports", "server", "review"}
"""Rooms whose fast tests draw the plots of a report, which take most of its time."""
PLOTS = ("sfumato.reports.loss_plots.loss_figures", "sfumato.reports.risk_plots.risk_figures")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Make small what a fast test is not about: passes of searches, fits, plots of reports.

    Not of slow tests, some of which show what users see.
    """
    room = item.path.relative_to(ROOT).parts[1]
    with pytest.MonkeyPatch.context() as patched:
        if item.get_closest_marker("slow") is None:
            estimates = "sfumato.risk.population.population_estimates"
            patched.setattr(f"{estimates}.SUBSAMPLES", FEW_SUBSAMPLES)
            if item.path.name != "test_cell_model.py":
                for name, few in FEW_FITS.items():
                    patched.setattr(f"sfumato.risk.population.cell_model.{name}", few)
            if room not in OF_PICTURES and find_spec("altair") is not None:
                for plots in PLOTS:
                    patched.setattr(plots, lambda *_: [])
            if room in USE_RELEASES:
                patched.setattr("sfumato.release.release_options.USUAL_EFFORT", FEW_PASSES)
        return (yield)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Spark session on this machine, one for all tests of a worker."""
    if shutil.which("java") is None:
        missing("no Java; install Debian's default-jre-headless")
    sql = pytest.importorskip("pyspark.sql")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master("local[2]").appName("sfumato")
    warehouse = tmp_path_factory.mktemp("spark") / "warehouse"
    for name, value in {**SPARK, "spark.sql.warehouse.dir": str(warehouse)}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


# What is imported and collected stays to the end: the collector need not look through it again and
# again.
gc.disable()


def pytest_collection_finish() -> None:
    """Collect what tests leave from now on, and nothing that was there before them."""
    gc.freeze()
    gc.set_threshold(20_000)  # 700 takes a tenth of the time of tests that make many small objects
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with Spark come first, as one worker has them all; then the longest files."""
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> float:
    if "spark" in getattr(item, "fixturenames", ()):
        return -math.inf
    return -SECONDS.get(item.path.relative_to(ROOT).as_posix().removeprefix("tests/"), 0)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share the tests out by file, so that what a file's tests share is made once.

    Tests with Spark go together, as one worker starts it; so do those with PostgreSQL or servers
    that are forked from a process that has imported everything.
    """
    from xdist.scheduler import LoadFileScheduling

    class WholeFiles(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            name = nodeid.partition("[")[0]
            file: str = super()._split_scope(nodeid)
            if "spark" in name and LOST not in file:
                return "spark"
            return "servers" if file in SERVERS else file

    return WholeFiles(config, log)


LOST = "test_lost_executor"
"""Starts a Spark of its own."""
SERVERS = {
    "tests/cli/test_anonymize_policy.py",
    "tests/server/test_bodies.py",
    "tests/server/test_same_bytes.py",
    "tests/server/test_serve.py",
    "tests/server/test_sessions.py",
    "tests/table/test_databases.py",
}
"""Start processes by `server.forked`, or PostgreSQL."""
