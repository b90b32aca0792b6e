"""The ledger: processes that are killed, that write at once, and files that are none."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from few_cases import fast_first
from patience import PATIENCE
from semantics.ledgers import entry, opened

from sfumato.core.errors import InputError

BEGIN = """
import os, signal, sys
import numpy as np
from pathlib import Path
from semantics.ledgers import entry, members, opened
from sfumato.ledger import ledger_store
folder = Path(sys.argv[1])
"""
KILLED_WITHIN = """
ledger_store.PIECE_BYTES = 16
after = int(sys.argv[2])
given = ledger_store.Part.pieces
count = 0
def pieces(part):
    global count
    for piece in given(part):
        count += 1
        if count > after:
            os.kill(os.getpid(), signal.SIGKILL)
        yield piece
ledger_store.Part.pieces = pieces
with opened(folder) as ledger:
    ledger._log.connection.execute("PRAGMA cache_size = 1")
    print("begun", flush=True)
    ledger.append(entry(purpose="killed"), members=members())
    os.kill(os.getpid(), signal.SIGKILL)
"""
ENDLESS = """
with opened(folder) as ledger:
    while True:
        print(ledger.append(entry(), members=members()).number, flush=True)
"""
SEVERAL = """
with opened(folder) as ledger:
    for _ in range(int(sys.argv[2])):
        ledger.append(entry(purpose=sys.argv[3]), members=members())
"""
FULL = """
import resource
from sfumato.core.errors import InputError
from sfumato.semantics.requested_content import Members
with opened(folder) as ledger:
    ledger.append(entry())
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    canaries = [f"canary{n}" for n in range(50_000)]
    try:
        ledger.append(entry(), members=Members(canaries, np.zeros(50_000, dtype=int)))
    except InputError as error:
        print(error)
    print(ledger.head().number, ledger.verify().whole)
"""


def start(program: str, *arguments: str | Path) -> subprocess.Popen[str]:
    tests = Path(__file__).resolve().parent.parent
    path = os.pathsep.join([str(tests), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", BEGIN + program, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("after", fast_first(1, [7, 0, 1, 15]))
def test_an_entry_of_a_process_killed_within_it_is_not_there(tmp_path: Path, after: int) -> None:
    with opened(tmp_path) as ledger:
        ledger.append(entry())
        head = ledger.head()
    process = start(KILLED_WITHIN, tmp_path, after)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (-signal.SIGKILL, "begun\n", "")
    with opened(tmp_path, make=False) as ledger:
        assert ledger.head() == head
        assert ledger.verify(head).whole
        ledger.append(entry())
        assert ledger.verify(head).entries == 3


@pytest.mark.slow
def test_an_entry_that_was_added_outlives_the_process(tmp_path: Path) -> None:
    process = start(KILLED_WITHIN, tmp_path, 10_000)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    with opened(tmp_path, make=False) as ledger:
        assert [each.purpose for each in ledger.releases()] == ["killed"]
        assert ledger.verify().whole


@pytest.mark.slow
def test_a_process_killed_at_any_time_leaves_a_whole_ledger(tmp_path: Path) -> None:
    for delay in (0.0, 0.013, 0.031, 0.057):
        process = start(ENDLESS, tmp_path)
        assert process.stdout is not None
        told = int(process.stdout.readline())
        time.sleep(delay)
        process.kill()
        told = max([told, *map(int, process.stdout.read().splitlines())])
        process.communicate(timeout=PATIENCE)
        with opened(tmp_path, make=False) as ledger:
            verdict = ledger.verify()
            assert verdict.whole, verdict.fault
            assert told <= verdict.entries <= told + 1, "what was told is there"


@pytest.mark.slow
def test_processes_that_make_a_ledger_and_write_at_once_form_one_chain(tmp_path: Path) -> None:
    processes = [start(SEVERAL, tmp_path, "15", name) for name in "abc"]
    for process in processes:
        _, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (0, "")
    with opened(tmp_path, make=False) as ledger:
        assert ledger.verify().whole
        purposes = [each.purpose for each in ledger.releases()]
        assert sorted(purposes) == ["a"] * 15 + ["b"] * 15 + ["c"] * 15
    names = {path.name for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".head"}
    assert names <= {"ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm", "signing.key",
                     "persons.key"}  # fmt: skip


def test_one_waits_for_another_and_not_for_ever(tmp_path: Path) -> None:
    with opened(tmp_path) as holder, opened(tmp_path, wait=0.2) as other:
        holder._log.connection.execute("BEGIN IMMEDIATE")
        assert other.verify().whole, "reading goes on"
        with pytest.raises(InputError, match="must not be in use by another process"):
            other.append(entry())
        holder._log.connection.execute("ROLLBACK")
        assert other.append(entry()).number == 2


@pytest.mark.skipif(os.name != "posix", reason="limits the size of files")
def test_a_full_disk_leaves_the_ledger_as_it_was(tmp_path: Path) -> None:
    process = start(FULL, tmp_path)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    said, state = out.splitlines()
    assert "nothing was written" in said
    assert "room" in said
    assert "canary" not in said
    assert state == "2 True"


def test_pages_that_run_out_are_said(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        size = ledger._log.connection.execute("PRAGMA page_count").fetchone()[0]
        ledger._log.connection.execute(f"PRAGMA max_page_count = {size}")
        with pytest.raises(InputError, match="must have room on its disk; found a full disk"):
            ledger.append(entry(purpose="long " * 10_000))
        assert ledger.verify().whole


def _other_database(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE canary (a)")
    connection.close()


def _no_database(file: Path) -> None:
    file.write_bytes(b"canary " * 1000)


def _empty(file: Path) -> None:
    file.touch()


def _folder(file: Path) -> None:
    file.mkdir()


def _newer(file: Path) -> None:
    with opened(file.parent.parent):
        pass
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 2")
    connection.close()


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (_other_database, "found another file"),
        (_no_database, "found a file of another kind"),
        (_empty, "found another file"),
        (_folder, "found a folder"),
        (_newer, "found version 2 of it where this program knows 1"),
    ],
)
def test_what_is_no_ledger_is_refused(tmp_path: Path, made: object, found: str) -> None:
    (tmp_path / "keys").mkdir(mode=0o700)
    (tmp_path / "keys" / "signing.key").write_bytes(bytes(32))
    (tmp_path / "keys" / "signing.key").chmod(0o600)
    (tmp_path / "book").mkdir()
    file = tmp_path / "book" / "ledger.sqlite"
    assert callable(made)
    made(file)
    file.chmod(0o700 if file.is_dir() else 0o600)
    with pytest.raises(InputError, match=found) as refused:
        opened(tmp_path)
    assert "canary" not in str(refused.value)


def test_a_damaged_file_is_said(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        for _ in range(30):
            ledger.append(entry())
    file = tmp_path / "book" / "ledger.sqlite"
    content = bytearray(file.read_bytes())
    content[8192:-4096] = b"\xff" * (len(content) - 12288)
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"must be whole|must begin") as refused:
        opened(tmp_path).verify()
    assert "xff" not in str(refused.value)


def test_a_missing_ledger_is_not_made_where_it_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found no such file"):
        opened(tmp_path, make=False)
    with opened(tmp_path):
        pass
    (tmp_path / "book" / "ledger.sqlite").unlink()
    with pytest.raises(InputError, match="found no such file"):
        opened(tmp_path, make=False)
    assert list((tmp_path / "book").iterdir()) == []


def test_a_ledger_without_its_key_gets_no_new_one(tmp_path: Path) -> None:
    with opened(tmp_path):
        pass
    (tmp_path / "keys" / "signing.key").unlink()
    with pytest.raises(InputError, match=r"must hold the ledger's signing\.key"):
        opened(tmp_path)
    assert list((tmp_path / "keys").glob("*.key")) == []


def test_another_key_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path):
        pass
    (tmp_path / "keys" / "signing.key").write_bytes(bytes(32))
    with pytest.raises(InputError, match="one that this key did not sign"):
        opened(tmp_path)
    (tmp_path / "keys" / "signing.key").write_bytes(bytes(31))
    with pytest.raises(InputError, match="must have 32 bytes"):
        opened(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
@pytest.mark.parametrize("name", ["book/ledger.sqlite", "keys/signing.key"])
def test_files_that_others_may_read_are_refused(tmp_path: Path, name: str) -> None:
    with opened(tmp_path):
        pass
    (tmp_path / name).chmod(0o640)
    with pytest.raises(InputError, match="must be readable by its owner only"):
        opened(tmp_path)
