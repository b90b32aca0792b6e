"""What only a process of its own shows: signals, pipes, full disks, bugs, the script."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from cli.conftest import PROGRAM, RELEASED, Run, command
from cli.malformed.case import CANARY, NUMBER, data, make_folder, schema
from patience import PATIENCE
from pyarrow import csv
from server.forked import on_small_disk

pytestmark = pytest.mark.slow

Start = Callable[..., "subprocess.Popen[str]"]
ANONYMIZE = ("anonymize", "visits.csv", "--schema", "schema.toml")
INTERRUPTED = "Interrupted; nothing was left half written.\n"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 60 MB that takes a while to write, with few records, and its schema."""
    folder = tmp_path_factory.mktemp("large")
    rng, records = np.random.default_rng(1), 30_000
    limits = {"patient": 10_000, "age": 100, "income": 10**6, "zip": 10**5, "icd9": 900}
    columns = {name: pa.array(rng.integers(0, top, records)) for name, top in limits.items()}
    table = pa.table({**columns, "note": pa.repeat("x" * 2_000, records)})
    csv.write_csv(table, folder / "visits.csv")
    quasi = 'age = "numeric"\nincome = "numeric"\nzip = "numeric"\n'
    roles = 'person = "patient"\nsensitive = ["icd9"]\ninsensitive = ["note"]\n'
    text = f"{roles}[quasi_identifiers]\n{quasi}"
    (folder / "schema.toml").write_text(text, encoding="utf-8")
    return folder


LOADED = f"import sfumato.cli.app; print('loaded', flush=True); {PROGRAM}"


def interrupted(
    large: Path,
    output: Path,
    ready: Callable[[float], bool],
    number: signal.Signals = signal.SIGINT,
) -> int:
    """Start an anonymization, press Ctrl-C when it is time (or send that), and see how it ends."""
    words = ("anonymize", large / "visits.csv", "--schema", large / "schema.toml")
    asked = (*words, "--pid-k", "2000", "--output", output / "release.csv")
    line = [sys.executable, "-c", LOADED, *map(str, asked)]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "loaded\n"
    started = time.monotonic()
    while process.poll() is None and not ready(time.monotonic() - started):
        time.sleep(0.001)
    process.send_signal(number)
    out, err = process.communicate()
    if process.returncode == 128 + number:
        assert (out, err) == ("", INTERRUPTED)
    return process.returncode


LOADING = """
import sys, time
from sfumato.cli.start import main

class Slow:
    def find_spec(self, name, *_):
        if name == "{module}":
            try:
                print("loading", flush=True)
                time.sleep(60)
            except KeyboardInterrupt:
                raise ImportError("{canary}") from None

sys.meta_path.insert(0, Slow())
main()
"""


@pytest.mark.parametrize("module", ["sfumato.cli.app", "typer", "sfumato.schema"])
def test_ctrl_c_while_the_program_loads(module: str) -> None:
    text = LOADING.format(module=module, canary=CANARY)
    line = [sys.executable, "-c", text, "schema", "guess", "no.csv"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loading\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, "")
    assert err in ("", INTERRUPTED)


IGNORING = """
import atexit, signal
from sfumato.cli.start import main
number = signal.{name}
signal.signal(number, signal.SIG_IGN)
atexit.register(lambda: print(signal.getsignal(number).name))
main()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP"])
def test_a_signal_that_is_ignored_stays_ignored(name: str) -> None:
    """As of ``nohup`` and of a shell's jobs in the background."""
    line = [sys.executable, "-c", IGNORING.format(name=name), "--version"]
    run = subprocess.run(line, capture_output=True, text=True, check=True)
    assert run.stdout.endswith("SIG_IGN\n")


@pytest.mark.parametrize("seconds", [0.1, 0.3, 0.6])
def test_ctrl_c_in_the_middle(seconds: float, large: Path, tmp_path: Path) -> None:
    code = interrupted(large, tmp_path, lambda passed: passed > seconds)
    assert code in (130, -signal.SIGINT)  # by the signal itself while Python starts
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_writing(number: signal.Signals, large: Path, tmp_path: Path) -> None:
    for _ in range(3):
        code = interrupted(large, tmp_path, lambda _: any(tmp_path.iterdir()), number)
        left = sorted(path.name for path in tmp_path.iterdir())
        assert left in ([], ["release.csv", "release.toml"])
        if code == 128 + number and not left:
            return
        for name in left:
            (tmp_path / name).unlink()
    pytest.fail("the release was written before the signal was noticed, three times")


CLEANING = """
import signal, sys, time
from sfumato.cli.own_process import interrupted, remember_interrupts

with remember_interrupts():
    try:
        signal.raise_signal(signal.{first})
    except KeyboardInterrupt:
        signal.raise_signal(signal.{second})
        print("cleaned up", interrupted())
"""


@pytest.mark.parametrize("first", ["SIGHUP", "SIGTERM"])
@pytest.mark.parametrize("second", ["SIGHUP", "SIGTERM"])
def test_a_second_signal_does_not_stop_the_cleaning_up(first: str, second: str) -> None:
    """As a terminal that closes sends them."""
    line = [sys.executable, "-c", CLEANING.format(first=first, second=second)]
    run = subprocess.run(line, capture_output=True, text=True, check=True)
    assert run.stdout == f"cleaned up {128 + getattr(signal, first)}\n"


UNRAISABLE = """
import signal, sys
from sfumato.cli.own_process import interrupted, remember_interrupts

class Pressed:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

class Broken:
    def __del__(self):
        raise ValueError("{canary}")

with remember_interrupts():
    del [Pressed()][0]
    assert interrupted()
    del [Broken()][0]
"""


def test_what_a_callback_cannot_raise_prints_no_message() -> None:
    line = [sys.executable, "-c", UNRAISABLE.format(canary=CANARY)]
    run = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "")
    assert run.stderr == "Ignored builtins.ValueError (message withheld)\n"


BUG = """
import sys
import sfumato.schema
def load_schema(path):
    raise RuntimeError("{canary} in a message")
sfumato.schema.load_schema = load_schema
{program}
"""


def test_a_bug_prints_no_message(tmp_path: Path) -> None:
    code = BUG.format(canary=CANARY, program=PROGRAM)
    line = [sys.executable, "-c", code, "assess", "x.csv", "--schema", "x.toml"]
    run = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (run.returncode, run.stdout) == (70, "")
    assert "This is a bug of sfumato" in run.stderr
    assert "builtins.RuntimeError" in run.stderr
    assert "load_schema" in run.stderr
    assert CANARY not in run.stderr


@pytest.mark.parametrize("name", ["release.csv", "release.parquet"])
def test_a_full_disk(name: str, tmp_path: Path) -> None:
    make_folder(tmp_path, {})
    before = sorted(tmp_path.iterdir())
    run = on_small_disk(200, *ANONYMIZE, "--k", "2", "--output", name, cwd=tmp_path)
    assert (run.returncode, run.stdout) == (1, "")
    assert re.search(f"output {name} must .*file too large", run.stderr)
    assert sorted(tmp_path.iterdir()) == before


REPORTED = (*ANONYMIZE, "--k", "2", "--seed", "1", "--output", "out/release.csv")
REPORTED = (*REPORTED, "--report", "out/report.html")


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release and its report, written where there is room."""
    folder = tmp_path_factory.mktemp("reported")
    few = {"direct_identifiers": '["name", "note", "zip", "edu"]', "insensitive": None}
    declared = schema(roles=few, edu=None, zip=None)
    make_folder(folder, {"schema.toml": declared})
    (folder / "out").mkdir()
    made = subprocess.run(command(*REPORTED), cwd=folder, check=False, capture_output=True)
    assert made.returncode in RELEASED
    return folder


@pytest.mark.parametrize("there", [False, True], ids=["new", "again"])
@pytest.mark.parametrize("full", ["out/release.toml", "out/report.json", "out/report.html"])
def test_a_disk_that_is_full_behind_the_release(
    full: str, there: bool, reported: Path, tmp_path: Path
) -> None:
    """The release fits, a file that belongs to it does not: neither is there."""
    shutil.copytree(reported, tmp_path, dirs_exist_ok=True)
    sizes = {path: path.stat().st_size for path in (tmp_path / "out").iterdir()}
    smaller = [size for size in sizes.values() if size < sizes[tmp_path / full]]
    assert sizes[tmp_path / "out" / "release.csv"] in smaller
    for path in sizes:
        if there:
            path.write_text(path.read_text() + " ")
        else:
            path.unlink()
    if there:
        (tmp_path / "out" / "release.toml").unlink()
    before = {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    # With its secret the release is the same again, byte for byte, and so are the sizes.
    asked = (*REPORTED, "--secret", reported / "out" / "release.secret")
    run = on_small_disk(sizes[tmp_path / full] - 1, *asked, cwd=tmp_path)
    assert (run.returncode, run.stdout) == (1, "")
    assert "file too large" in run.stderr
    assert {path: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_a_pipe_that_closes(start: Start, tmp_path: Path) -> None:
    make_folder(tmp_path, {})
    process = start("assess", "visits.csv", "--schema", "schema.toml", "--json")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    said = process.stderr.read()
    process.wait(timeout=PATIENCE)
    process.stderr.close()
    assert "Traceback" not in said
    assert "bug of sfumato" not in said


@pytest.mark.parametrize("encoding", ["cp437", "ascii"])
def test_a_terminal_that_lacks_characters(encoding: str, run_process: Run, tmp_path: Path) -> None:
    visits = data(icd9=None, болезнь=[str(row % 3) for row in range(12)])
    declared = schema(roles={"sensitive": '["болезнь", "note"]', "insensitive": None})
    make_folder(tmp_path, {"visits.csv": visits, "schema.toml": declared})
    words = ("assess", "visits.csv", "--schema", "schema.toml")
    shown = run_process(*words, PYTHONIOENCODING=encoding)
    assert shown.code == 0
    assert "t-closeness" in shown.out
    printed = json.loads(run_process(*words, "--json", PYTHONIOENCODING=encoding).out)
    assert set(printed["h_affiliation"]) == {"болезнь", "note"}


PROCESSES = {
    "no file": (("assess", "none.csv", "--schema", "schema.toml"), 1),
    "text as number": (("assess", "text.csv", "--schema", "schema.toml"), 1),
    "a ragged row": (("assess", "ragged.csv", "--schema", "schema.toml"), 1),
    "binary": ((*ANONYMIZE, "--k", "2", "--pseudonym-key", "none", "--output", "r.csv"), 1),
    "not met": ((*ANONYMIZE, "--k", "99", "--output", "r.csv"), 5),
    "no command": (("asses",), 1),
}
"""Some of each kind; test_malformed has all of them, in this process."""


@pytest.mark.parametrize("what", PROCESSES)
def test_malformed_in_a_process(what: str, run_process: Run, tmp_path: Path) -> None:
    make_folder(tmp_path, {"text.csv": data(age=[CANARY] * 12), "ragged.csv": data() + CANARY})
    before = sorted(tmp_path.iterdir())
    words, code = PROCESSES[what]
    result = run_process(*words)
    assert (result.code, result.out) == (code, "")
    assert len(result.err) > 20
    for text in ("Traceback", "bug of sfumato", CANARY, str(NUMBER)):
        assert text not in result.err
    assert sorted(tmp_path.iterdir()) == before


def test_the_script_is_installed() -> None:
    script = Path(sys.executable).with_name("sfumato")
    run = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout[:8]) == (0, "sfumato ")
