"""The periods of a series: the file of each, what it shows, and who leaves the later ones."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tomlkit

from sfumato.core.declaration import is_database
from sfumato.core.errors import InputError
from sfumato.pipeline import release_stages
from sfumato.pipeline.acceptances import write_edit
from sfumato.pipeline.project_folder import RELEASE, REPORT, ProjectFolder, open_project
from sfumato.pipeline.stage import MEASURED, read_object
from sfumato.release.lasting_classes import (
    SERIES_FILE,
    LastingClasses,
    ids_in,
    unknown_of,
    write_ids,
)
from sfumato.release.series_files import following

_WITHDRAWN = "withdrawn"
"""The folder of who withdraws where the project names none."""


def note_period(place: ProjectFolder, period: str, data: str | None) -> None:
    """Note the file of a period of a series in the project file, where it is new.

    Parameters
    ----------
    data
        Where the file is, as the command line names it; of the first period the project's own
        file without it.

    Raises
    ------
    InputError
        If there is no file for it, it has another one that was released, it is not the next one,
        or the one before was not handed over.
    """
    noted = place.project
    known = noted.periods.get(period)
    if noted.release.series is None:
        raise InputError(
            "option --period",
            "is for a project with a series of releases",
            found="none",
            advice="write kind and known under [release.series]",
        )
    if data is None:
        if known is not None:
            return
        if noted.periods or len(noted.sources) != 1:
            raise InputError("argument DATA", "must name the file of a new period", found="none")
        named = str(next(iter(noted.sources.values())).file)
    else:
        # The URL of a table may hold a password, which nobody wants in a project file.
        if is_database(data) or not Path(data).is_file():
            raise InputError(
                "argument DATA",
                "must be a file that can be read",
                found="a table of a database" if is_database(data) else "no such file",
                advice="check its path; the table of a database is named under [periods]",
            )
        named = os.path.relpath(data, place.folder)
    if str(known) == named:
        return
    released = open_project(place.file, period).of_stage(RELEASE) if known is not None else None
    if released is not None and (released / release_stages.RELEASE_MANIFEST).exists():
        raise InputError(
            "argument DATA",
            "must be the file that was released of the period",
            found="another one",
            advice="leave it out; what is corrected goes into the next period",
        )

    def note(document: tomlkit.TOMLDocument) -> None:
        document.setdefault("periods", tomlkit.table())[period] = named

    write_edit(place, note, release_stages.RELEASE_STAGE.check)


def shown_periods(file: Path) -> list[dict[str, Any]]:
    """What the release of each period of a project shows, and what all until it find."""
    place = open_project(file)
    return [_shown_in(place, period) for period in place.project.periods]


def _shown_in(place: ProjectFolder, period: str) -> dict[str, Any]:
    """What the release of a period shows; its name alone where it is not made."""
    measured = read_object(open_project(place.file, period).of_stage(RELEASE) / MEASURED)
    if measured is None:
        return {"period": period}
    series, together = measured["manifest"]["series"], measured.get("recipient", {})
    changed = series.get("changed", {})
    return {
        "period": period,
        "people": measured["persons"],
        **{name: series.get(name, 0) for name in ("waiting", "left", "withdrawn")},
        "changed": max(changed.values(), default=0),
        **{name: together.get(name) for name in ("found", "fewest")},
        "detail_lost": measured["detail_lost"],
    }


@dataclass(frozen=True)
class Holding:
    """A file of a series that still holds people who withdrew.

    Attributes
    ----------
    people
        How many of them it shows.
    files
        Where they stand, from the project's folder: the released files and what is kept inside.
    to
        Who got it, by the ledger.
    """

    period: str
    people: int
    files: tuple[str, ...]
    to: tuple[str, ...]


@dataclass(frozen=True)
class Withdrawal:
    """What happens to people who withdraw from a series.

    Attributes
    ----------
    period
        The first one that does not show them.
    people, beside
        How many withdraw, and how many are left out with them, as they share a class.
    unknown
        How many of the ids stand in no file of the series.
    holding
        The files that hold them, the first one first.
    """

    period: str
    people: int
    beside: int
    unknown: int
    holding: tuple[Holding, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def withdraw(file: Path, ids: Collection[str] | Path) -> Withdrawal:
    """Note who withdraws, so that the next file of a series leaves them out with their classes.

    Their ids go to a file of that period, which its owner alone may read.

    Parameters
    ----------
    file
        The project file, or its folder.
    ids
        Theirs, or a table that names them.

    Raises
    ------
    InputError
        If most of the ids are in no file of the series, one is somebody's there but for zeros, case
        or spaces, or no file of it was released.
    """
    place = open_project(file)
    period = _open_period(place)
    listed = _listed(place, period)
    person = place.released_schema().person
    assert person is not None  # a series without it is refused
    ids = ids_in(ids, person) if isinstance(ids, Path) else set(ids)
    made = [each for each in _made(place) if each.period != period]
    holding, known, members = list[Holding](), set[str](), dict[str, int]()
    for then in made:
        holding += _holding(then, ids)
        members = dict(_kept(then).class_of)
        known |= members.keys()
    for name in place.project.periods:  # who waits is in a file, and in no class
        data, layout = open_project(place.file, name).data
        if not is_database(data) and Path(data).is_file():
            known |= ids_in(data, person, **layout)
    if not ids:
        raise InputError("who withdraws", "must be named, by an id or more", found="nobody")
    unknown = unknown_of(ids, known)
    known &= ids
    own = {members.get(name) for name in ids} - {None}
    with_them = {name for name, number in members.items() if number in own}
    before = ids_in(listed, person) if listed.is_file() else set()
    listed.parent.mkdir(mode=0o700, exist_ok=True)
    write_ids(before | ids, person, listed)
    if place.project.release.withdrawn is None:
        write_edit(place, _noted_withdrawn)
    return Withdrawal(period, len(known), len(with_them - ids), unknown, tuple(holding))


def _made(place: ProjectFolder) -> list[ProjectFolder]:
    """The project in each period of which there is a release."""
    every = (open_project(place.file, period) for period in place.project.periods)
    return [then for then in every if (then.of_stage(RELEASE) / MEASURED).is_file()]


def _kept(then: ProjectFolder) -> LastingClasses:
    """Who is in which class of a release."""
    folder = then.of_stage(RELEASE)
    measured = read_object(folder / MEASURED)
    assert measured is not None  # it is written with the manifest
    sha256 = measured["manifest"]["series"]["classes_sha256"]
    return LastingClasses.read(folder / SERIES_FILE, sha256)


def _holding(then: ProjectFolder, ids: Collection[str]) -> Iterator[Holding]:
    """What holds some people of one period, if anything does."""
    people = len(_kept(then).class_of.keys() & ids)
    if not people:
        return
    kept = then.of_stage(RELEASE) / SERIES_FILE
    released = (then.of_stage(REPORT) / RELEASE / name for name in release_stages.made_files(then))
    files = [os.path.relpath(file, then.folder) for file in (*released, kept) if file.is_file()]
    with release_stages.ledger_of(then) as memory:
        to = () if memory is None else release_stages.got(memory, then)
    assert then.period is not None
    yield Holding(then.period, people, tuple(files), to)


def _listed(place: ProjectFolder, period: str) -> Path:
    """The file of who withdraws before a period."""
    folder = place.at(place.project.release.withdrawn or Path(_WITHDRAWN))
    if folder.is_file():
        raise InputError(
            "key 'release.withdrawn'",
            "must name a folder, with a file for each period",
            found="a file",
            advice="name a folder, and withdraw the people of the file once more",
        )
    return release_stages.withdrawn_file(folder, period)


def _noted_withdrawn(document: tomlkit.TOMLDocument) -> None:
    document["release"]["withdrawn"] = _WITHDRAWN


def _open_period(place: ProjectFolder) -> str:
    """The first period of which no recipient has the release."""
    if place.period is None:
        raise InputError(
            "the project",
            "must have released a file of a series",
            found="none",
            advice="leave people who withdrew out of its first file",
        )
    released = (place.of_stage(RELEASE) / release_stages.RELEASE_MANIFEST).is_file()
    with release_stages.ledger_of(place) as memory:
        is_gone = released and (memory is None or bool(release_stages.got(memory, place)))
    if not is_gone and place.before is None:
        raise InputError(
            f"period {place.period}",
            "must be handed over before people withdraw from it",
            found="a first file that no recipient has",
            advice="leave people who withdrew out of it",
        )
    return following(place.period) if is_gone else place.period
