"""Propose a project file: schema, specification and promises, each with its reason."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sfumato.core.errors import InputError
from sfumato.linkage.asked import changed
from sfumato.linkage.spec.model import Mode
from sfumato.linkage.suggest.suggest import Suggestion, suggest
from sfumato.pipeline.project.dump import dump_project
from sfumato.pipeline.project.linking import Reviewers
from sfumato.pipeline.project.load import PROJECT_FILE, parse_project, problems_in
from sfumato.pipeline.project.model import Project
from sfumato.pipeline.project.releasing import Release
from sfumato.pipeline.project.sources import SEED_BITS
from sfumato.pipeline.propose.columns import (
    guess_all,
    guess_one,
    most_frequent,
    naming_column,
    without,
)
from sfumato.pipeline.propose.said import said_of
from sfumato.pipeline.propose.wanted import Wanted
from sfumato.pipeline.stages.link import check_classified
from sfumato.pipeline.stages.place import Place
from sfumato.release.anonymize import check_constraints
from sfumato.review.settings import PROPOSED
from sfumato.schema import Schema, load_schema
from sfumato.table.schema_guess import Guess
from sfumato.table.table_files import open_source

G_BALANCE, H_AFFILIATION, PERSONS = 0.9, 0.5, 5
"""What is promised where nobody says: of files with several records per person, and with one."""
_MARGIN, _STEP = 0.1, 0.05
"""By how much h must exceed the share of the most frequent value, and its steps."""


@dataclass(frozen=True)
class Proposal:
    """A proposed project.

    Attributes
    ----------
    project
        The project.
    notes
        Comments, as `dump_project` takes them; without values of the data.
    """

    project: Project
    notes: dict[str, str]

    @property
    def text(self) -> str:
        """The project file."""
        return dump_project(self.project, self.notes)


def propose(wanted: Wanted) -> Proposal:
    """Propose a project for tables.

    Parameters
    ----------
    wanted
        The tables, and what is asked of the project.

    Raises
    ------
    InputError
        If a table cannot be read, nothing can be proposed for it, something that is asked
        breaks a rule, or the schema that is given leaves a column open.
    """
    if not wanted.sources:
        raise InputError("the project", "must have at least one table", found="none")
    for name in wanted.attach:
        if name not in wanted.sources:
            raise InputError(
                f"attached table '{name}'", "must be of a source",
                accepted=", ".join(wanted.sources),
            )  # fmt: skip
    _check_of_use(wanted)
    _project(wanted, None, None)
    if wanted.attach and wanted.id is None:
        wanted = replace(wanted, id=_id_of(wanted))
    guess = _guess(wanted)
    made, columns = None, guess.schema
    _check_promises(wanted, columns)
    if wanted.is_linked:
        made = _specification(wanted, columns)
        columns = without(columns, None if made is None else made.spec.id or wanted.id)
    project = _project(wanted, columns, made)
    notes = said_of(project, guess.notes, {} if made is None else made.notes)
    parse_project(dump_project(project, notes))
    if wanted.schema is not None:
        check_classified(Place(project, wanted.folder / PROJECT_FILE))
    return Proposal(project, notes)


def _check_of_use(wanted: Wanted) -> None:
    """Refuse what would be asked for in vain."""
    reviewed = wanted.reviewers is not Reviewers.NONE
    of_linkage = {
        "id": wanted.id is not None,
        "attach": bool(wanted.attach),
        "spec": wanted.specification is not None,
        "one-per-source": wanted.one_per_source,
        "review": reviewed,
    }
    of_review = {"review-k": wanted.review_k is not None, "budget": wanted.budget is not None}
    for name, given in of_linkage.items():
        if given and not wanted.is_linked:
            raise InputError(
                f"option --{name}",
                "is for tables that are linked",
                found="one table",
                advice="name another table, or look for the same persons within it with --dedupe",
            )
    for name, given in of_review.items():
        if given and not reviewed:
            raise InputError(f"option --{name}", "needs reviewers", advice="name them by --review")


def _id_of(wanted: Wanted) -> str:
    """The column by which attached tables belong to their sources."""
    for name, attached in wanted.attach.items():
        found = naming_column(wanted.sources[name], attached, wanted.delimiter)
        if found is not None:
            return found
    raise InputError(
        "an attached table",
        "must have the column that names the records of its source",
        found="none that names each record once",
        advice="say how it is called with --id",
    )


def _guess(wanted: Wanted) -> Guess:
    if wanted.schema is not None:
        return Guess(load_schema(wanted.schema), {})
    if not wanted.is_linked:
        return guess_one(next(iter(wanted.sources.values())), wanted.delimiter)
    tables = {**wanted.sources, **{f"{n} attached": path for n, path in wanted.attach.items()}}
    return guess_all(tables, wanted.delimiter)


def _specification(wanted: Wanted, columns: Schema) -> Suggestion | None:
    """What is compared, proposed; ``None`` where a file says it."""
    if wanted.specification is not None:
        return None
    tables: dict[str, object] = {
        name: path if wanted.delimiter is None else open_source(path, delimiter=wanted.delimiter)
        for name, path in wanted.sources.items()
    }
    mode = None
    if wanted.dedupe:
        mode = Mode.DEDUPE_ONLY if len(tables) == 1 else Mode.LINK_AND_DEDUPE
    made = suggest(tables, columns, mode=mode, id_column=wanted.id)
    if not wanted.one_per_source:
        return made
    spec = changed(made.spec, {"one_per_source": tuple(wanted.sources)})
    return Suggestion(spec, made.notes)


def _check_promises(wanted: Wanted, columns: Schema) -> None:
    """Refuse a promise about sensitive values where no column has any."""
    promises = Release(**_asked_promises(wanted)).promises
    if promises:
        check_constraints(columns, promises)


def _project(wanted: Wanted, columns: Schema | None, made: Suggestion | None) -> Project:
    """The project of what was found and asked; without columns, to see whether it may be one."""
    fields: dict[str, Any] = {
        "project": {
            "name": wanted.name or _name_of(wanted.folder),
            "seed": secrets.randbits(SEED_BITS) if wanted.seed is None else wanted.seed,
        },
        "sources": {each: _source(wanted, each) for each in wanted.sources},
        "schema": columns
        if wanted.schema is None and columns is not None
        else {"file": _from(wanted, wanted.schema or Path("schema.toml"))},
        "release": _promises(wanted, columns),
        "attack": {},
        "outputs": {"folder": "output", "formats": wanted.formats or ("csv",)},
    }
    if wanted.is_linked:
        fields["link"] = _link(wanted, made)
        fields["review"] = _review(wanted)
    try:
        return Project(**fields)
    except ValidationError as error:
        raise InputError(
            "the project",
            "breaks a rule",
            found=problems_in(error),
        ) from None


def _name_of(folder: Path) -> str:
    """The folder's name, as far as it can be a project's."""
    name = folder.resolve().name
    plain = "".join(each if each.isascii() and each.isalnum() else "-" for each in name)
    return plain.strip("-")[:80] or "project"


def _link(wanted: Wanted, made: Suggestion | None) -> dict[str, Any]:
    if made is not None:
        return {"specification": made.spec}
    given: dict[str, Any] = {}
    if wanted.specification is not None:
        given["specification"] = {"file": _from(wanted, wanted.specification)}
    if wanted.dedupe:
        given["dedupe"] = True
    if wanted.one_per_source:
        given["one_per_source"] = True
    return given


def _source(wanted: Wanted, name: str) -> dict[str, Any]:
    given: dict[str, Any] = {"file": _from(wanted, wanted.sources[name])}
    if wanted.delimiter is not None:
        given["delimiter"] = wanted.delimiter
    if wanted.id is not None and wanted.is_linked:
        given["id"] = wanted.id
    if name in wanted.attach:
        given["attach"] = _from(wanted, wanted.attach[name])
    return given


def _review(wanted: Wanted) -> dict[str, Any]:
    given: dict[str, Any] = {"by": wanted.reviewers}
    if wanted.reviewers is not Reviewers.NONE:
        given["k"] = PROPOSED.k if wanted.review_k is None else wanted.review_k
        given["budget"] = PROPOSED.budget if wanted.budget is None else wanted.budget
    return given


def _asked_promises(wanted: Wanted) -> dict[str, Any]:
    """What is asked for."""
    asked: dict[str, Any] = {
        "g_balance": wanted.g_balance,
        "h_affiliation": wanted.h_affiliation,
        "pid_k": wanted.pid_k,
        "presets": wanted.presets or None,
    }
    return {name: value for name, value in asked.items() if value is not None}


def _promises(wanted: Wanted, columns: Schema | None) -> dict[str, Any]:
    """What is asked for, or what a file of this kind can usually keep."""
    asked = _asked_promises(wanted)
    if asked or columns is None:
        return asked or {"pid_k": PERSONS}
    several = wanted.is_linked or columns.person is not None
    promised: dict[str, Any] = {"g_balance": G_BALANCE} if several else {"pid_k": PERSONS}
    share = _usual_share(wanted, columns)
    if share is not None:
        promised["h_affiliation"] = share
    return promised


def _usual_share(wanted: Wanted, columns: Schema) -> float | None:
    """A limit on the share of one sensitive value that the file as a whole keeps."""
    if not columns.sensitive:
        return None
    tables = {**wanted.attach, **wanted.sources}
    largest = max(most_frequent(tables, wanted.delimiter, name) for name in columns.sensitive)
    steps = ceil((largest + _MARGIN) / _STEP - 1e-9)
    share = max(H_AFFILIATION, round(steps * _STEP, 2))
    return share if share < 1 else None


def _from(wanted: Wanted, path: Path) -> Path:
    """A file as it is named from the project's folder."""
    return Path(os.path.relpath(path, wanted.folder))
