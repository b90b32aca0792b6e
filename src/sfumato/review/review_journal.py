"""The journal of a review: every opening and answer, and what stands after them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from operator import lt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.core.workspace import HAS_LOCKS, lock_file
from sfumato.review.disclosure_account import Modes, Review
from sfumato.review.review_decisions import Answer, Decisions, Event, EventKind, FlagReason, History
from sfumato.review.review_project import Project
from sfumato.review.review_settings import Settings
from sfumato.review.worker_state import CombinedState, WorkerState
from sfumato.table.sources import texts_of


def records_hash(records: pa.Table) -> str:
    """SHA-256 of all records: names of columns, lengths of values, values."""
    digest = hashlib.sha256()
    for name in records.column_names:
        # With lengths: two columns must not hash like one whose name or values run together.
        digest.update(f"{len(name)}:{name}".encode())
        for chunk in records[name].chunks:
            # −1 for a missing value, which is not an empty one.
            lengths = pc.fill_null(pc.binary_length(chunk), -1)
            digest.update(np.asarray(lengths).astype("<i8").tobytes())
        for chunk in records[name].chunks:
            digest.update(_bytes(chunk))
    return digest.hexdigest()


def _bytes(texts: pa.LargeStringArray) -> memoryview:
    """All texts of an array, one behind the other."""
    filled = pc.fill_null(texts, "")
    ends, data = texts_of(filled)
    return memoryview(data[ends[0] : ends[-1]])  # type: ignore[arg-type]


FORMAT = 1


class Did(StrEnum):
    """What an entry is about that is no event of a decision."""

    SHOWN = "shown"
    """A pair was shown, or more of it; with its modes afterwards."""
    BUDGET = "budget"
    """Another budget holds from here on."""


@dataclass(frozen=True)
class Beginning:
    """The first line of a journal: whose it is, and what holds for all of it.

    Attributes
    ----------
    pairs
        Ids of the pairs of the task, in the order in which they are shown.
    records
        SHA-256 of the records.
    """

    worker: str
    settings: Settings
    pairs: tuple[str, ...]
    records: str


def same_rules(one: Beginning, other: Beginning) -> bool:
    """Whether two journals are of one review: the same records, pairs and rules of disclosure."""
    # Neither changes what an opening is worth, so that units can be added up.
    aside = {"budget": None, "hints": False}
    return (
        one.records == other.records
        and set(one.pairs) == set(other.pairs)
        and one.settings.model_copy(update=aside) == other.settings.model_copy(update=aside)
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """A pair was shown, or more of it."""

    pair: str
    modes: str
    time: datetime


@dataclass(frozen=True, slots=True)
class NewBudget:
    """Another budget holds from here on; what was spent stays spent.

    Attributes
    ----------
    budget
        In KAPR; ``None`` for no limit.
    """

    budget: float | None
    time: datetime


Entry = Shown | NewBudget | Event
"""One thing that happened."""


def beginning_text(beginning: Beginning) -> str:
    """The first line of a journal; no value of the data."""
    return json.dumps(
        {
            "sfumato review": FORMAT,
            "worker": beginning.worker,
            "settings": beginning.settings.model_dump(mode="json"),
            "records": beginning.records,
            "pairs": list(beginning.pairs),
        }
    )


def read_beginning(text: str) -> Beginning:
    """What the first line of a journal says."""
    try:
        fields = json.loads(text)
        if fields["sfumato review"] == FORMAT:
            pairs = tuple(map(str, fields["pairs"]))
            settings = Settings(**fields["settings"])
            return Beginning(str(fields["worker"]), settings, pairs, str(fields["records"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise InputError("the journal of a review", "must begin as one", found="another file")


def entry_text(entry: Entry) -> str:
    """An entry as a line of a journal; no value of the data."""
    fields: dict[str, Any] = {"time": entry.time.isoformat()}
    if isinstance(entry, NewBudget):
        fields |= {"did": Did.BUDGET.value, "budget": entry.budget}
    elif isinstance(entry, Shown):
        fields |= {"did": Did.SHOWN.value, "pair": entry.pair, "modes": entry.modes}
    else:
        fields |= {"did": entry.kind.value, "pair": entry.pair}
        if entry.answer is not None:
            fields["answer"] = int(entry.answer)
        if entry.reason is not None:
            fields["reason"] = entry.reason.value
    return json.dumps(fields)


def read_entry(text: str, worker: str) -> Entry | None:
    """What a line of a journal says; ``None`` where it says nothing that is known."""
    try:
        return _entry(json.loads(text), worker)
    except (InputError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _entry(fields: Mapping[str, Any], worker: str) -> Entry:
    time, did = datetime.fromisoformat(fields["time"]), fields["did"]
    if did == Did.BUDGET.value:
        budget = Settings(budget=fields["budget"]).budget
        return NewBudget(budget, time)
    if did == Did.SHOWN.value:
        return Shown(str(fields["pair"]), str(fields["modes"]), time)
    answer, reason = fields.get("answer"), fields.get("reason")
    return Event(
        str(fields["pair"]),
        worker,
        EventKind(did),
        time,
        None if answer is None else Answer(answer),
        None if reason is None else FlagReason(reason),
    )


LOCK = "review.lock"
"""The file that is locked while somebody reviews in a folder."""
WORKER = "reviewer"
"""The pseudonym of a worker who gives none."""
# A link put in place of the file would have other files written; not every system knows the flag.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True)
class Written:
    """What a journal says.

    Attributes
    ----------
    beginning
        Its first line.
    size
        Bytes up to the last whole line; what follows was never acknowledged.
    """

    beginning: Beginning
    entries: tuple[Entry, ...]
    size: int


def journal_path(folder: Path, worker: str) -> Path:
    """Where the journal of a worker is."""
    plain = worker.replace("-", "").replace("_", "")
    # It becomes a part of a file name, which must not lead out of the folder.
    if not (plain.isascii() and plain.isalnum() and len(worker) <= 40):
        raise InputError(
            "a worker's pseudonym", "must be 1 to 40 letters, digits, hyphens or underscores"
        )
    return folder / ("review.state" if worker == WORKER else f"review.{worker}.state")


def journals_in(folder: Path) -> tuple[Path, ...]:
    """The journals of all workers in a folder, by name."""
    journals = {*folder.glob("review.state"), *folder.glob("review.*.state")}
    return tuple(sorted(journals))


def read_journal(path: Path) -> Written | None:
    """What a journal says, its last line left out where it is torn; ``None`` without one."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _error(path, error) from None
    # A line without its end was cut by a crash, and nobody was told that it was kept.
    whole = data[: data.rfind(b"\n") + 1]
    lines = whole.decode("utf-8", errors="replace").splitlines()
    if not lines:
        return None
    beginning = read_beginning(lines[0])
    entries = []
    for number, line in enumerate(lines[1:], 2):
        entry = read_entry(line, beginning.worker)
        # Within the file a broken line is no crash: something of the review would be missing.
        if entry is None:
            raise InputError(
                f"file {path.name}",
                "must be the journal of a review",
                found=f"something else in line {number}",
            )
        entries.append(entry)
    return Written(beginning, tuple(entries), len(whole))


class Journal:
    """A journal that is written.

    Parameters
    ----------
    path
        The file. It can be read by its owner only.
    beginning
        The first line of a new one.
    """

    def __init__(self, path: Path, beginning: Beginning) -> None:
        self.path = path
        self._file = -1
        written = read_journal(path)
        # Appending: what was written can only be followed, not overwritten.
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | _NO_LINK
        try:
            self._file = os.open(path, flags, 0o600)
            # The mode given on opening holds for a new file only, and less the umask.
            os.fchmod(self._file, 0o600)
            os.ftruncate(self._file, 0 if written is None else written.size)
            self.entries: tuple[Entry, ...] = () if written is None else written.entries
            self.beginning = beginning if written is None else written.beginning
            if written is None:
                self._write(beginning_text(beginning))
                # A new file's name is in its folder, which is on the disk only once that is synced,
                # too.
                _sync_folder(path.parent)
        except OSError as error:
            self.close()
            raise _error(path, error) from None

    def add(self, entry: Entry) -> None:
        """Add an entry; it is on the disk when this returns."""
        try:
            # Deleted or replaced: writing on would succeed, and be lost.
            if not os.fstat(self._file).st_nlink:
                raise InputError(
                    f"file {self.path.name}",
                    "must stay where it is during a review",
                    found="its folder replaced",
                )
            self._write(entry_text(entry))
        except OSError as error:
            raise _error(self.path, error) from None

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write(self, text: str) -> None:
        data = memoryview(f"{text}\n".encode())
        while data:
            data = data[os.write(self._file, data) :]
        # What a worker has seen must be charged even if the power fails the moment after.
        os.fsync(self._file)


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a review's folder; it goes with the process."""
    if not HAS_LOCKS:
        raise InputError("a review at the desk", "needs a system with file locks")
    path = folder / LOCK
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
    except OSError as error:
        raise _error(path, error) from None
    try:
        lock_file(file)
    # Another process holds it, which is no error of the system.
    except BlockingIOError:
        os.close(file)
        raise InputError(
            f"folder {folder.resolve().name}",
            "must be reviewed by one at a time",
            found="a review that is under way",
        ) from None
    except OSError as error:
        os.close(file)
        raise _error(path, error) from None
    try:
        yield
    finally:
        os.close(file)


def _sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _error(path: Path, error: OSError) -> InputError:
    return InputError(
        f"file {path.name}",
        "must be a file that can be read and written",
        found=os.strerror(error.errno).lower() if error.errno else "an error of the system",
    )


_SUBJECT = "the journal of a review"


def modes_text(modes: Modes) -> str:
    """The modes of a pair as digits."""
    return "".join(str(int(mode)) for mode in modes)


def budget_of(beginning: Beginning, entries: Sequence[Entry]) -> float | None:
    """The budget that holds at the end of a journal."""
    changed = [entry.budget for entry in entries if isinstance(entry, NewBudget)]
    return changed[-1] if changed else beginning.settings.budget


def restored(
    review: Review,
    number_of: Mapping[str, int],
    beginning: Beginning,
    entries: Sequence[Entry],
    combined: CombinedState | None = None,
) -> tuple[WorkerState, dict[str, History]]:
    """A worker's state and the histories of the pairs, from a journal.

    Parameters
    ----------
    beginning
        The first line of the journal.
    combined
        What all workers have been shown; this one's is added.
    """
    task = {pair: number_of.get(pair) for pair in beginning.pairs}
    if None in task.values() or any(
        entry.pair not in task for entry in entries if not isinstance(entry, NewBudget)
    ):
        raise InputError(_SUBJECT, "must be of its pairs", found="another one")
    state = {
        "pairs": list(task.values()),
        "rows": 2 * len(task),
        "modes": {str(task[pair]): modes for pair, modes in _shown(entries).items()},
    }
    worker = WorkerState.restored(review, state, combined)
    return worker, histories(beginning.worker, entries)


def _shown(entries: Sequence[Entry]) -> dict[str, str]:
    shown: dict[str, str] = {}
    for entry in entries:
        if isinstance(entry, Shown):
            before = shown.get(entry.pair, entry.modes)
            # Disclosure only grows; a line that takes some back would refund its cost.
            if len(before) != len(entry.modes) or any(map(lt, entry.modes, before)):
                raise InputError(_SUBJECT, "must never show less of a pair than before")
            shown[entry.pair] = entry.modes
    return shown


def histories(worker: str, entries: Sequence[Entry]) -> dict[str, History]:
    """What happened to each pair.

    Parameters
    ----------
    entries
        The lines of the worker's journal behind the first.
    """
    events: dict[str, list[Event]] = {}
    for entry in entries:
        if isinstance(entry, Event):
            events.setdefault(entry.pair, []).append(entry)
    return {pair: History(pair, worker, tuple(own)) for pair, own in events.items()}


def check_same(beginning: Beginning, ids: Sequence[str], records: str, name: str) -> None:
    """Refuse a journal of other records or pairs.

    Parameters
    ----------
    records
        SHA-256 of the records.
    """
    if beginning.records != records or set(beginning.pairs) != set(ids):
        raise InputError(
            f"file {name}",
            "must be of the folder's records and pairs",
            found="a review of others",
            advice="review a linkage that was made again in a folder of its own",
        )


def checked_journals(folder: Path, project: Project) -> list[Written]:
    """What stands in the journals of a folder."""
    found, records = [], records_hash(project.records)
    for path in journals_in(folder):
        written = read_journal(path)
        if written is not None:
            check_same(written.beginning, project.pair_ids, records, path.name)
            found.append(written)
    return found


def answers_in(folder: Path, project: Project) -> Decisions:
    """The answers of all journals in a folder."""
    return Decisions.of(
        history
        for journal in checked_journals(folder, project)
        for history in histories(journal.beginning.worker, journal.entries).values()
    )
