"""A project file edited click by click: checked first, written whole, each text kept, taken back.

Nothing but the keys that change is touched: comments and order stay. Every text that the file had
lies in ``stages/history``, so that each edit can be undone, and an edit from elsewhere is noticed.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from difflib import unified_diff
from enum import StrEnum
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import ParseError

from sfumato.core.atomic import write_text
from sfumato.core.errors import InputError, SfumatoError
from sfumato.core.toml_text import parse_toml, read_text
from sfumato.core.workspace import lock_soon
from sfumato.pipeline.project_folder import open_project
from sfumato.pipeline.project_text import parse_project

Change = Callable[[tomlkit.TOMLDocument], None]
"""Changes the keys of a project file in place, by `tomlkit`."""
HISTORY, JOURNAL, WINDOW, SHOWN = "history", "journal.jsonl", "window.json", "shown.jsonl"
FORGOTTEN = 60.0
"""Seconds after which a window that sends no sign of life edits no more."""


class Of(StrEnum):
    """Where a text of the project file came from."""

    START = "start"
    EDIT = "edit"
    UNDO = "undo"
    REDO = "redo"
    OUTSIDE = "outside"
    SIGNED = "signed"
    """What was signed: nothing before it is undone."""


@dataclass(frozen=True)
class Past:
    """A text that the project file had.

    Attributes
    ----------
    number
        The number of the file in the history that holds the text.
    sha
        SHA-256 of the text.
    words
        What was done, without a value of the data.
    """

    number: int
    sha: str
    of: Of
    words: str


class ChangedOutsideError(SfumatoError):
    """The project file was changed by another program since the page was made.

    Attributes
    ----------
    theirs, mine
        Lines that the other program changed, and that this edit would change, as ``diff`` has them.
    """

    def __init__(self, theirs: tuple[str, ...], mine: tuple[str, ...]) -> None:
        super().__init__("The project file was changed outside of the workbench.")
        self.theirs, self.mine = theirs, mine


@dataclass
class ProjectEdits:
    """The edits of one project file.

    Attributes
    ----------
    file
        The project file.
    """

    file: Path
    _seen: list[Past] = field(default_factory=list, repr=False)

    @property
    def folder(self) -> Path:
        """The history; its owner alone may enter it."""
        return self.file.parent / _stages_of(self.file) / HISTORY

    def text(self) -> str:
        """The project file as it is now."""
        return read_text(self.file, f"project file {self.file.name}")

    def sha(self) -> str:
        """The hash of the project file as it is now; pages hand it back with each edit."""
        return text_sha(self.text())

    def edit(self, change: Change, *, expected: str, words: str, force: bool = False) -> str:
        """Change the project file, and give its new hash.

        Parameters
        ----------
        expected
            The hash that the page was made of.
        words
            What is done, for the history: without a value of the data.
        force
            Whether the change is made in a file that was changed outside, too.

        Raises
        ------
        ChangedOutsideError
            If another program has changed the file since.
        InputError
            If the file would break a rule, or cannot be written; it is as it was then.
        """
        with self._lock():
            now = self.text()
            self._notice(now)
            if not force:
                self._check_expected(change, now, expected)
            made = _changed(now, change)
            parse_project(made, f"project file {self.file.name}")
            return self._write(made, Of.EDIT, words) if made != now else text_sha(now)

    def notice(self) -> bool:
        """Whether another program has changed the file since it was last looked at; it is kept."""
        with self._lock():
            return self._notice(self.text())

    def undo(self) -> str:
        """Take back the last edit that is not taken back; what it was, or ``""``."""
        return self._step(Of.UNDO)

    def redo(self) -> str:
        """Make again what was taken back last; what it was, or ``""``."""
        return self._step(Of.REDO)

    def sign(self, words: str) -> None:
        """Note that the file was signed as it is: nothing before is undone any more."""
        with self._lock():
            text = self.text()
            self._notice(text)
            self._keep(text, Of.SIGNED, words)

    def note_shown(self, table: str) -> None:
        """Note that values of a table were shown, and when."""
        with self._lock():
            file = self.folder / SHOWN
            before = file.read_text(encoding="utf-8") if file.exists() else ""
            line = {"table": table, "shown": datetime.now(UTC).isoformat(timespec="seconds")}
            write_text(file, f"{before}{json.dumps(line)}\n")

    def take_back(self, number: int, words: str) -> None:
        """Write a text of the history again, whatever the file holds now."""
        with self._lock():
            self._write(self._text_of(number), Of.EDIT, words)

    @property
    def undone_next(self) -> str:
        """What `undo` would take back; ``""`` for nothing."""
        done, _ = _stacks(self._pasts())
        return done[-1].words if len(done) > 1 else ""

    @property
    def redone_next(self) -> str:
        """What `redo` would make again; ``""`` for nothing."""
        _, undone = _stacks(self._pasts())
        return undone[-1].words if undone else ""

    def pasts(self) -> tuple[Past, ...]:
        """All texts that the file had, the first one first."""
        return tuple(self._pasts())

    def lines_changed(self, before: str, after: str) -> tuple[str, ...]:
        """The lines in which two texts differ, those taken away with ``-``, new ones with ``+``."""
        lines = unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
        return tuple(line for line in lines if not line.startswith(("---", "+++", "@@")))

    def _step(self, of: Of) -> str:
        with self._lock():
            self._notice(self.text())
            done, undone = _stacks(self._pasts())
            if of is Of.UNDO:
                if len(done) < 2:
                    return ""
                words, target = done[-1].words, done[-2]
            else:
                if not undone:
                    return ""
                words, target = undone[-1].words, undone[-1]
            self._write(self._text_of(target.number), of, words)
            return words

    def _check_expected(self, change: Change, now: str, expected: str) -> None:
        pasts = self._pasts()
        places = [at for at, past in enumerate(pasts) if past.sha == expected]
        since = pasts[places[-1] + 1 :] if places else pasts
        if places and not any(past.of is Of.OUTSIDE for past in since):
            return
        before = self._text_of(pasts[places[-1]].number) if places else now
        try:
            mine = self.lines_changed(before, _changed(before, change))
        except SfumatoError:
            mine = ()
        raise ChangedOutsideError(self.lines_changed(before, now), mine)

    def _notice(self, now: str) -> bool:
        """Keep a text that nobody here wrote."""
        pasts = self._pasts()
        if pasts and pasts[-1].sha == text_sha(now):
            return False
        self._keep(now, Of.OUTSIDE if pasts else Of.START, "changed outside" if pasts else "")
        return bool(pasts)

    def _write(self, text: str, of: Of, words: str) -> str:
        # The history first: an edit that cannot be kept cannot be taken back.
        past = self._keep(text, of, words)
        try:
            write_text(self.file, text)
        except InputError:
            self._forget(past)
            raise
        return past.sha

    def _keep(self, text: str, of: Of, words: str) -> Past:
        pasts = self._pasts()
        past = Past(pasts[-1].number + 1 if pasts else 1, text_sha(text), of, words)
        write_text(self._place(past.number), text)
        self._write_journal([*pasts, past])
        return past

    def _forget(self, past: Past) -> None:
        self._write_journal([each for each in self._pasts() if each != past])
        self._place(past.number).unlink(missing_ok=True)

    def _write_journal(self, pasts: list[Past]) -> None:
        text = "".join(json.dumps(asdict(past)) + "\n" for past in pasts)
        write_text(self.folder / JOURNAL, text)
        self._seen = pasts

    def _pasts(self) -> list[Past]:
        if not self._seen and (self.folder / JOURNAL).is_file():
            lines = read_text(self.folder / JOURNAL, "the history").splitlines()
            self._seen = [
                Past(**{**fields, "of": Of(fields["of"])}) for fields in map(json.loads, lines)
            ]
        return self._seen

    def _place(self, number: int) -> Path:
        return self.folder / f"{number:04d}.toml"

    def _text_of(self, number: int) -> str:
        return read_text(self._place(number), "the history")

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """One edit at a time, of all processes that have this project open."""
        with edit_lock(self.folder):
            self._seen = []
            yield


@contextmanager
def edit_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a history for the moment of an edit; the folder is made if need be."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InputError(
            "the history of edits",
            "must be written before the project file is",
            found=os.strerror(error.errno).lower() if error.errno else "an error of the system",
            advice="make room, or let the project's folder be written; nothing was changed",
        ) from None
    try:
        _wait_for(file)
        yield
    finally:
        os.close(file)


def _wait_for(lock: int) -> None:
    try:
        lock_soon(lock)  # an edit takes milliseconds
    except BlockingIOError:
        raise InputError(
            "the history of edits",
            "must be written by one program at a time",
            found="another that does not end",
            advice="end it, or try again; nothing was changed",
        ) from None


@dataclass
class WindowLock:
    """Which window edits a project; all others read, until they take over.

    It is a file, so that it holds between processes as well as between the windows of one.
    """

    folder: Path

    def holder(self) -> str:
        """The window that edits; ``""`` where none has shown signs of life of late."""
        try:
            held = json.loads((self.folder / WINDOW).read_text(encoding="utf-8"))
            fresh = time.time() - float(held["seen"]) < FORGOTTEN
            there = held["machine"] != platform.node() or _runs(int(held["process"]))
            return str(held["window"]) if fresh and there else ""
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def claim(self, window: str, *, take_over: bool = False) -> bool:
        """Whether a window edits from now on: if no other does, or it takes over."""
        with edit_lock(self.folder):
            if not take_over and self.holder() not in ("", window):
                return False
            held = {
                "window": window, "seen": time.time(),
                "process": os.getpid(), "machine": platform.node(),
            }  # fmt: skip
            write_text(self.folder / WINDOW, json.dumps(held))
            return True

    def leave(self, window: str) -> None:
        """Let another window edit, if this one does."""
        with edit_lock(self.folder):
            if self.holder() == window:
                (self.folder / WINDOW).unlink(missing_ok=True)


def _runs(process: int) -> bool:
    """Whether a process is there; a workbench that was killed edits no more."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def text_sha(text: str) -> str:
    """The hash of a text of the project file."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _changed(text: str, change: Change) -> str:
    try:
        document = tomlkit.parse(text)
    except ParseError:
        parse_toml(text, "project file")  # says where, and never what
        raise InputError("project file", "must be TOML") from None
    change(document)
    return _with_comments(text, tomlkit.dumps(document))


def _with_comments(before: str, after: str) -> str:
    """The new text with the lines of comments that went with a table which was taken out.

    What stands above a table's head belongs to the table before it, as TOML is parsed.
    """
    old, new = before.splitlines(), after.splitlines()
    lost = Counter(line for line in old if line.startswith("#"))
    lost.subtract(line for line in new if line.startswith("#"))
    anchor = ""
    for line in reversed(old):
        if not line.startswith("#"):
            anchor = line or anchor
        elif lost[line] > 0:
            lost[line] -= 1
            new.insert(new.index(anchor) if anchor in new else len(new), line)
            anchor = line
    made = "\n".join(new) + "\n"
    # A line that looks like a comment may stand within a text.
    return made if tomlkit.parse(made).unwrap() == tomlkit.parse(after).unwrap() else after


def _stacks(pasts: list[Past]) -> tuple[list[Past], list[Past]]:
    """What can be undone, the first text included, and what can be made again, the next last."""
    done: list[Past] = []
    undone: list[Past] = []
    for past in pasts:
        if past.of is Of.UNDO:
            undone.append(done.pop())
        elif past.of is Of.REDO:
            done.append(undone.pop())
        elif past.of is Of.SIGNED:
            done, undone = [past], []
        else:
            done.append(past)
            undone = []
    return done, undone


def _stages_of(file: Path) -> Path:
    """The folder of the stages; the usual one while the project file cannot be read."""
    try:
        return open_project(file).project.outputs.stages
    except SfumatoError:
        return Path("stages")


def table_at(document: Any, *names: str) -> Any:
    """The table at a place of a document, made where it is missing."""
    table = document
    for name in names:
        if name not in table:
            table[name] = tomlkit.table()
        table = table[name]
    return table
