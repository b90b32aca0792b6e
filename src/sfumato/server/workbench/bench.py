"""The project that is open in this process: its revision, and what was computed for it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.core.atomic import write_text
from sfumato.core.declaration import Place
from sfumato.core.errors import InputError, SfumatoError
from sfumato.core.phrases import Phrase
from sfumato.pipeline.project_folder import ProjectFolder, open_project
from sfumato.pipeline.project_model import InFile
from sfumato.pipeline.project_text import PROJECT_FILE
from sfumato.pipeline.proposal import ProposalRequest, propose, write_project_file
from sfumato.pipeline.release_stages import ledger_file
from sfumato.pipeline.run import State, Status, stages_of, status_of
from sfumato.pipeline.stage import RECORD
from sfumato.review.review_session import OpenReview
from sfumato.server.workbench.jobs import Jobs
from sfumato.server.workbench.project_edits import ProjectEdits, WindowLock

COUNTED, ROUGH = Phrase("counted"), Phrase("rough")
SAMPLE, ESTIMATE = Phrase("sample"), Phrase("estimate")
"""What a figure is: of everything; of everything, by a quick search; of some records; a model's."""
RECENT = 8
"""Projects that the start lists."""
KEPT = 200
"""Figures that are kept in memory."""


@dataclass(frozen=True)
class Figure:
    """A figure with what it rests on.

    Attributes
    ----------
    revision
        The revision that it was computed for.
    """

    value: Any
    kind: str
    revision: str


@dataclass(frozen=True)
class Message:
    """What the message line says.

    Attributes
    ----------
    about
        The field that it is about, by the name of its form; ``""`` for the page.
    """

    text: str
    bad: bool = False
    about: str = ""


@dataclass
class Bench:
    """An open project; one thread computes a figure, others wait for it.

    Attributes
    ----------
    file
        The project file.
    message, shown
        What the next page says, and what the last one said.
    shows_values
        The tables of which values are shown on Data, until that place is left.
    shows_rows
        Whether rows are shown on Release, until that place is left.
    pins
        The releases that are compared, by the people in a class.
    """

    file: Path
    message: Message | None = None
    shown: Message | None = None
    shows_values: set[str] = field(default_factory=set)
    shows_rows: bool = False
    pins: list[int] = field(default_factory=list)
    _tables: str = field(default="", repr=False)
    _figures: OrderedDict[tuple[str, str], Figure] = field(default_factory=OrderedDict, repr=False)
    _locks: dict[str, threading.Lock] = field(default_factory=dict, repr=False)

    @cached_property
    def edits(self) -> ProjectEdits:
        """The edits of the project file."""
        return ProjectEdits(self.file)

    @cached_property
    def window(self) -> WindowLock:
        """Which window edits."""
        return WindowLock(self.edits.folder)

    @cached_property
    def jobs(self) -> Jobs:
        """The long computations."""
        return Jobs(self.file)

    @property
    def place(self) -> ProjectFolder:
        """The project as its file is now.

        Raises
        ------
        InputError
            If the file cannot be read.
        """
        return open_project(self.file)

    @property
    def revision(self) -> str:
        """The hash of the project file, of its inputs, and of the ledger as they are now."""
        place = self.place
        told = f"{self.edits.sha()}{inputs_of(place)}{_standing(ledger_file(place))}"
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    @property
    def inputs(self) -> str:
        """The hash of what the files that the project reads are now."""
        return inputs_of(self.place)

    def tables_changed(self) -> bool:
        """Whether the files of the tables are others than when this was asked last."""
        before, self._tables = self._tables, _hashed(_source_files(self.place))
        return bool(before) and before != self._tables

    def figure(
        self, name: str, make: Callable[[], Any], *, kind: str = COUNTED, of: str = ""
    ) -> Figure:
        """A figure, computed once for a revision.

        Parameters
        ----------
        of
            What it rests on, where that is less than the revision.
        """
        key = (name, of or self.revision)
        with self._locks.setdefault(name, threading.Lock()):
            if key not in self._figures:
                self._figures[key] = Figure(make(), kind, key[1])
                while len(self._figures) > KEPT:
                    self._figures.popitem(last=False)
            self._figures.move_to_end(key)
            return self._figures[key]

    def has(self, name: str, of: str) -> bool:
        """Whether a figure was computed already."""
        return (name, of) in self._figures

    def status(self) -> Status:
        """How far the project is, of this revision."""
        found = self.figure("status", lambda: status_of(self.place), of=self._of_stages())
        return found.value

    def _of_stages(self) -> str:
        place = self.place
        made = [_standing(place.of_stage(name) / RECORD) for name in place.stage_names]
        # An acceptance ends with its day.
        told = f"{self.revision}{made}{datetime.now(UTC).date()}"
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def made(self, stage: str) -> dict[str, Any] | None:
        """What a stage measured of this revision; ``None`` where it is not made, or outdated."""
        status = self.status()
        done = any(each.name == stage and each.state is State.DONE for each in status.stages)
        return status.measured(stage) if done else None

    def saying(self, by_itself: bool) -> Message | None:
        """What the message line says now.

        Parameters
        ----------
        by_itself
            Whether a page asks for a part of itself, which takes no message away.
        """
        return self.message or (self.shown if by_itself else None)

    def tell(self, text: str, *, bad: bool = False, about: str = "") -> None:
        """Say something on the message line of the next page."""
        self.message = Message(text, bad, about)


def inputs_of(place: ProjectFolder) -> str:
    """The hash of what the files that a project reads are now: size and time of each."""
    return _hashed(input_files(place))


def _hashed(files: Mapping[str, Place]) -> str:
    hashed = hashlib.sha256()
    for name, path in files.items():
        if isinstance(path, Path):
            hashed.update(f"{name}\0{_standing(path)}\0".encode())
    return hashed.hexdigest()[:16]


def input_files(place: ProjectFolder) -> dict[str, Path]:
    """The files that the stages of a project read, by what the project file calls them."""
    read = _source_files(place)
    if isinstance(place.project.columns, InFile):
        read["schema.file"] = place.project.columns.file
    for stage in stages_of(place):
        # What a stage reads may be known only once those before it are made.
        with contextlib.suppress(SfumatoError):
            read |= stage.files(place)
    return {name: place.at(path) for name, path in read.items() if isinstance(path, Path)}


def _source_files(place: ProjectFolder) -> dict[str, Place]:
    """The tables that a project begins with, whatever else can be read of it."""
    if place.project.is_database:
        frames = place.tables.frames
        return {f"schema.tables.{name}.file": frame for name, frame in frames.items()}
    return {
        f"sources.{name}.{key}": place.at(table.file)
        for name, source in place.project.sources.items()
        for key, table in (("file", source), ("attach", source.attach))
        if table is not None
    }


def _standing(path: Path) -> str:
    """Size, time and place of a file as they are now; nothing where it is gone."""
    try:
        status = path.stat()
    except OSError:
        return "gone"
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ino}"


@dataclass
class Desk:
    """What this process shows: one project at a time, or the start.

    Attributes
    ----------
    folders
        The folders from which files can be chosen.
    alone
        A folder that is reviewed without a project: a linkage, or a batch of its pairs.
    review
        The review that is open at the desk.
    """

    bench: Bench | None = None
    folders: tuple[Path, ...] = ()
    here: Path = field(default_factory=Path.cwd)
    alone: Path | None = None
    review: OpenReview | None = None

    @property
    def can_go_up(self) -> bool:
        """Whether the folder above may be looked at: below the home and the given folders only."""
        allowed = (*self.folders, Path.home())
        return any(self.here.parent.is_relative_to(each) for each in allowed)

    def open(self, file: Path) -> Bench:
        """Show a project.

        Raises
        ------
        InputError
            If its file cannot be read.
        """
        place = open_project(file)
        self.leave_review()
        self.bench = Bench(place.file.resolve())
        with_history(self.bench)
        _remember(self.bench.file)
        return self.bench

    def leave_review(self) -> None:
        """Give the folder of the open review back."""
        review, self.review = self.review, None
        if review is not None:
            review.leave()

    def open_any(self, files: Sequence[Path]) -> Bench:
        """Show a project, or one that is made of tables beside the first of them.

        Raises
        ------
        InputError
            If there is no such file, or another project is in the folder.
        """
        if len(files) == 1 and (files[0].is_dir() or files[0].suffix == ".toml"):
            return self.open(files[0])
        file = files[0].parent / PROJECT_FILE
        if not file.exists():
            sources = {path.stem: path for path in files}
            text = propose(ProposalRequest(sources, file.parent)).text
            write_project_file(text, file)
        bench = self.open(file)
        made_of = [path for path in _source_files(bench.place).values() if isinstance(path, Path)]
        if any(not any(_is_same(path, each) for each in made_of) for path in files):
            self.bench = None
            raise InputError(
                f"folder {file.parent.resolve().name}",
                "must not hold another project",
                found=f"a {PROJECT_FILE} of other tables",
                advice=f"open it with: sfumato open {PROJECT_FILE}; or put the tables elsewhere",
            )
        return bench


def recent_projects() -> list[Path]:
    """The projects that were open last and are still there, the newest first."""
    try:
        lines = _recent_file().read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    return [Path(line) for line in lines if Path(line).is_file()][:RECENT]


def _recent_file() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "sfumato" / "projects"


def _remember(file: Path) -> None:
    """Note a project among the recent ones; where that cannot be written, it is not."""
    others = [path for path in recent_projects() if path != file]
    with contextlib.suppress(OSError, SfumatoError):
        _recent_file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = "".join(f"{path}\n" for path in [file, *others][:RECENT])
        write_text(_recent_file(), text)


def _is_same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def with_history(bench: Bench) -> None:
    """Keep the first text of a project that has no history yet."""
    try:
        bench.edits.notice()
    except SfumatoError as error:
        bench.tell(str(error), bad=True)


DESK = Desk()
"""The one of this process."""
