"""Where a project lies, and what its stages read: its folders, its data, its schema."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, overload

from sfumato.core.declaration import LayoutGiven, Place, is_database, layout_of
from sfumato.core.errors import InputError
from sfumato.core.phrases import ENGLISH
from sfumato.core.secret_keys import read_secret
from sfumato.linkage.link_spec import sql_name
from sfumato.linkage.linkage_files import LINKED as LINKED_FILE
from sfumato.linkage.linkage_files import LINKED_SCHEMA
from sfumato.pipeline.project_model import InFile, Project, ReportForm
from sfumato.pipeline.project_text import PROJECT_FILE, load_project
from sfumato.reports.report_targets import NEEDED
from sfumato.schema import QuasiIdentifier, Schema, load_schema
from sfumato.schema.roles import schema_to_dict
from sfumato.table.databases import located
from sfumato.table.stacked_tables import Tables

LINK, REVIEW, LINKED = "link", "review", "linked"
ASSESS, RELEASE, ATTACK, REPORT = "assess", "release", "attack", "report"
"""The stages, each of which is made in a folder of its name; but that of the last one is the
folder of the outputs."""


@dataclass(frozen=True)
class ProjectFolder:
    """A project where it lies.

    Attributes
    ----------
    made
        What a stage of this run made and a later one reads again, by the key of what it was made
        of; in memory alone, as it holds whose each record is.
    period
        Of a series, whose file, stages and outputs these are.
    """

    project: Project
    file: Path
    period: str | None = None
    made: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def folder(self) -> Path:
        """The folder that paths of the project file are named from."""
        return self.file.parent

    @property
    def before(self) -> ProjectFolder | None:
        """The project in the period before; ``None`` in the first one and without a series."""
        number = list(self.project.periods).index(self.period) if self.period else 0
        return open_project(self.file, list(self.project.periods)[number - 1]) if number else None

    @property
    def stages(self) -> Path:
        """The folder of what the stages made."""
        return self.at(self.project.outputs.stages)

    @property
    def stage_names(self) -> tuple[str, ...]:
        """The stages that the project has, each after those that it rests on."""
        has = {
            LINK: self.project.is_linked,
            REVIEW: self.project.is_reviewed,
            LINKED: self.project.is_linked,
            ASSESS: True,
            RELEASE: True,
            ATTACK: self.project.attack is not None,
            REPORT: True,
        }
        return tuple(name for name, there in has.items() if there)

    @property
    def report_form(self) -> ReportForm:
        """The form in which reports are written here: pages only where they can be drawn."""
        if any(find_spec(name) is None for name in NEEDED):
            return ReportForm.JSON
        return self.project.outputs.report

    @property
    def spoken_settings(self) -> dict[str, str]:
        """What the settings of a stage say of the language of its pages; of English nothing."""
        spoken = self.project.outputs.language
        return {} if spoken == ENGLISH else {"language": spoken}

    @property
    def report_settings(self) -> dict[str, str]:
        """What the settings of a stage say of its report."""
        return {"report": self.report_form.value, **self.spoken_settings}

    @overload
    def at(self, path: Path) -> Path: ...

    @overload
    def at(self, path: Place) -> Place: ...

    def at(self, path: Place) -> Place:
        """Where a path leads that is written in the project file, or the file of a database.

        From the project's folder, or from the home of whoever runs it (``~/``).
        """
        if is_database(path):
            return self.located(path)
        if isinstance(path, Path) and path.parts[:1] == ("~",):
            return path.expanduser()
        return self.folder / path

    def located(self, url: str) -> str:
        """The URL of a table, its file named from the project's folder."""
        return located(url, self.folder)

    def named(self, section: str, **paths: Place | None) -> dict[str, Place]:
        """Where the paths of a section lead that are given, by what the project file calls them."""
        return {
            f"{section}.{key}": self.at(path) for key, path in paths.items() if path is not None
        }

    def of_stage(self, name: str) -> Path:
        """The folder of a stage."""
        if name == REPORT:
            return self.at(self.project.outputs.folder)
        return self.stages / name

    def key(self, path: Path | None, name: str) -> bytes | None:
        """The key that a file holds; ``None`` without one."""
        if path is None:
            return None
        # Data is no secret: a table that is named as a key by mistake is refused.
        tables = (
            table.file
            for source in self.project.sources.values()
            for table in (source, source.attach)
            if table is not None
        )
        several = self.tables.frames.values() if self.project.is_database else ()
        return read_secret(self.at(path), name, (self.file, *map(self.at, tables), *several))

    def given_schema(self) -> Schema | None:
        """The schema that the project file gives or names, its files located."""
        given = self.project.columns
        if given is None:
            return None
        if isinstance(given, InFile):
            return load_schema(self.at(given.file))
        return given.with_files(self.at)

    def schema_to_link(self) -> Schema | None:
        """The roles of the columns, which are all that concerns the linkage."""
        given = self.given_schema()
        if given is None:
            return None
        roles = {name: QuasiIdentifier() for name in given.quasi_identifiers}
        return given.model_copy(update={"quasi_identifiers": roles})

    def released_schema(self) -> Schema:
        """The schema of what is measured and released.

        Of linked sources the columns and their roles are those of the linked file, and what the
        project says of a quasi-identifier holds.
        """
        given = self.given_schema()
        if not self.project.is_linked:
            if given is None:
                raise InputError("section [schema]", "must be given where nothing is linked")
            return given
        found = load_schema(self.of_stage(LINKED) / LINKED_SCHEMA)
        if given is None:
            return found
        own = {sql_name(name): identifier for name, identifier in given.quasi_identifiers.items()}
        quasi = dict(found.quasi_identifiers)
        for name, each in quasi.items():
            if sql_name(name) in own:
                # The kind was found in the linked data: the project need not repeat it.
                stated = own[sql_name(name)]
                quasi[name] = (
                    stated if stated.kind else stated.model_copy(update={"kind": each.kind})
                )
        return found.model_copy(update={"quasi_identifiers": quasi})

    def plain_schema(self, schema: Schema | None) -> dict[str, Any]:
        """A schema as plain values, its files named from the project's folder."""
        if schema is None:
            return {}

        def named(path: Path) -> Path:
            # A path outside would tell of the machine, and moving the project would change it.
            inside = path.is_relative_to(self.folder)
            return path.relative_to(self.folder) if inside else Path(path.name)

        plain = schema_to_dict(schema.with_files(named))
        for part in (plain, *plain.get("tables", {}).values()):
            if "recipe" in part:  # it names values of the data
                text = json.dumps(part["recipe"], sort_keys=True)
                part["recipe"] = hashlib.sha256(text.encode("utf-8")).hexdigest()
        return plain

    @property
    def tables(self) -> Tables:
        """The tables of the database that the project starts from.

        Raises
        ------
        InputError
            If the schema names none.
        """
        schema = self.given_schema()
        if schema is None or not schema.tables:
            raise InputError(
                "section [sources]", "must name a table, or the schema several", found="neither"
            )
        files = {name: table.file or f"{name}.csv" for name, table in schema.tables.items()}
        return Tables({name: self.at(Path(file)) for name, file in files.items()}, schema)

    @property
    def data(self) -> tuple[Any, LayoutGiven]:
        """What is measured and released, and its layout as far as it is given."""
        if self.project.is_database:
            return self.tables, {}
        if self.project.is_linked:
            return self.of_stage(LINKED) / LINKED_FILE, {}
        source = next(iter(self.project.sources.values()))
        return self.at(source.file), layout_of(source)

    def data_stages(self) -> dict[str, tuple[str, ...]]:
        """The files of earlier stages that hold what is measured and released, and its schema."""
        return {LINKED: (LINKED_FILE, LINKED_SCHEMA)} if self.project.is_linked else {}

    def data_files(self) -> dict[str, Place]:
        """The files beside those, by what the project file calls them: data and hierarchies."""
        schema = self.released_schema()
        parts = {"schema": schema} | {f"schema.tables.{n}": t for n, t in schema.tables.items()}
        files: dict[str, Place] = {
            f"{place}.quasi_identifiers.{name}.hierarchy": identifier.hierarchy
            for place, part in parts.items()
            for name, identifier in part.quasi_identifiers.items()
            if isinstance(identifier.hierarchy, Path)
        }
        if self.project.is_database:
            files |= {f"schema.tables.{n}.file": frame for n, frame in self.tables.frames.items()}
        elif not self.project.is_linked:
            files[f"sources.{next(iter(self.project.sources))}.file"] = self.data[0]
        return files


def open_project(path: str | os.PathLike[str], period: str | None = None) -> ProjectFolder:
    """A project by its file, or by the folder that holds a sfumato.toml.

    Parameters
    ----------
    period
        Of a series, the one that is meant; the last one when not given.
    """
    file = Path(path)
    if file.is_dir():
        file /= PROJECT_FILE
    place = ProjectFolder(load_project(file), file)
    _check_folders(place)
    return in_period(place, period)


def in_period(place: ProjectFolder, period: str | None = None) -> ProjectFolder:
    """A project in one period of its series, the last one when not given; itself without any."""
    periods = place.project.periods
    if period is not None and period not in periods:
        raise InputError(
            "parameter period",
            "must be one of [periods]",
            found="another one",
            accepted=", ".join(periods) or "none is there",
        )
    period = period or next(reversed(periods), None)
    if period is None:
        return place
    return replace(place, project=place.project.of_period(period), period=period)


def _check_folders(place: ProjectFolder) -> None:
    outputs, review = place.project.outputs, place.project.review
    named = {
        "outputs.folder": outputs.folder,
        "outputs.stages": outputs.stages,
        "review.folder": review.folder,
    }
    own = {name: _resolved(name, place.at(path)) for name, path in named.items()}
    for name, folder in own.items():
        # A folder of results is replaced as a whole: the project file must not be in it.
        if folder in (place.folder.resolve(), *place.folder.resolve().parents):
            raise InputError(name, "must be a folder of its own", found="the project's folder")
        # A folder that is replaced must not hold another one.
        for other, around in own.items():
            if name != other and around in (folder, *folder.parents):
                raise InputError(name, f"must not be in the folder of {other}")


def _resolved(name: str, path: Path) -> Path:
    try:
        # From Python 3.13 on, neither `exists` nor `resolve` says so.
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()
        return path.resolve()
    except OSError:
        raise InputError(
            name, "must be a path that can lead to a folder", found="a name too long, or a circle"
        ) from None


def shell_path(path: Path) -> str:
    """A path as a person in the present folder types it."""
    full, here = path.resolve(), Path.cwd()
    return shlex.quote(str(full.relative_to(here)) if full.is_relative_to(here) else str(full))


def copy_private(one: Path, other: Path) -> None:
    """Copy a file so that only its owner may read the copy."""
    # Opened with its mode: if it were protected later, others could read it meanwhile.
    number = os.open(other, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(number, "wb") as target, one.open("rb") as source:
        shutil.copyfileobj(source, target)
