"""How a project file is proposed for tables: schema, specification and promises, with reasons."""

from __future__ import annotations

import os
import re
import secrets
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ValidationError

from sfumato.core.atomic import all_or_none, write_text
from sfumato.core.declaration import LayoutGiven, Place, is_database
from sfumato.core.errors import InputError
from sfumato.linkage.column_meanings import take_sample
from sfumato.linkage.compared_columns import find_columns
from sfumato.linkage.link import changed
from sfumato.linkage.link_spec import Mode, sql_name
from sfumato.linkage.spec_suggestion import Suggestion, suggest_links
from sfumato.pipeline import project_text
from sfumato.pipeline.linking_stages import check_classified
from sfumato.pipeline.project_folder import ProjectFolder
from sfumato.pipeline.project_model import SEED_BITS, Project, Release, Reviewers
from sfumato.release.anonymize import check_constraints
from sfumato.review.review_settings import PROPOSED
from sfumato.risk.verdict import PUBLIC
from sfumato.schema import Schema, load_schema
from sfumato.schema.recipe import Cleaning
from sfumato.table.database_guess import check_answered, guess_database
from sfumato.table.databases import named_from
from sfumato.table.schema_guess import CERTAIN, Guess, Proposed, guess_schema
from sfumato.table.table_files import open_source
from sfumato.table.table_keys import key_map

_PROMISES = ("g_balance", "h_affiliation", "pid_k")
"""The promises that can be asked for, by the keys of their section."""
KNOWN_RISK = 0.09
"""Chance to be found by two known events that is promised of a database: the limit of a public
release, 1 / 11, rounded down."""
_ROLES = ("direct_identifiers", "sensitive", "quasi_identifiers", "insensitive")
"""Roles, the most careful one first: where tables differ, a column has the first of them."""
NOTES = tomllib.loads(Path(__file__).with_name("notes.toml").read_text(encoding="utf-8"))
"""What project files say beside their entries, and what the one of the demo says."""


@dataclass(frozen=True)
class ProposalRequest:
    """What is asked for a new project; ``None`` leaves it to the proposal.

    Attributes
    ----------
    sources
        The tables by name.
    name, seed
        As in ``[project]``; a seed is drawn when not given.
    schema, specification
        Files with a schema and a specification, in place of proposed ones.
    dedupe, one_per_source
        As in ``[link]``.
    reviewers, review_k, budget
        As in ``[review]``.
    g_balance, h_affiliation, pid_k, presets
        As in ``[release]``.
    formats
        As in ``[outputs]``.
    ledger
        The ``[ledger]`` section; without it nothing is remembered.
    """

    sources: Mapping[str, Place]
    folder: Path
    name: str | None = None
    seed: int | None = None
    attach: Mapping[str, Place] = field(default_factory=dict)
    layout: LayoutGiven = field(default_factory=LayoutGiven)
    id: str | None = None
    schema: Path | None = None
    specification: Path | None = None
    dedupe: bool = False
    one_per_source: bool = False
    reviewers: Reviewers = Reviewers.NONE
    review_k: int | None = None
    budget: float | None = None
    g_balance: float | None = None
    h_affiliation: float | None = None
    pid_k: int | None = None
    presets: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    ledger: Mapping[str, Path | bool] | None = None

    def __post_init__(self) -> None:
        for field_ in ("sources", "attach"):
            named = {_source_name(name): path for name, path in getattr(self, field_).items()}
            if len(named) < len(getattr(self, field_)):
                raise InputError(
                    "the tables",
                    "must have names that differ in their letters and digits",
                    found="two alike",
                    advice="say how each is called: hospital=FILE practice=FILE",
                )
            object.__setattr__(self, field_, named)

    @property
    def is_linked(self) -> bool:
        """Whether records are linked."""
        return len(self.sources) > 1 or self.dedupe


def _source_name(text: str) -> str:
    """A name of a source as a project file takes it, of what somebody says or a file is called."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-_")[:60] or "table"


@dataclass(frozen=True)
class Proposal:
    """A proposed project.

    Attributes
    ----------
    notes
        Comments, as `dump_project` takes them; without values of the data.
    unasked
        Doubtful columns that have the more careful role without a question.
    sensitive
        Columns of which somebody must say whether a person's value could be known.
    """

    project: Project
    notes: dict[str, str]
    unasked: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The project file."""
        return project_text.dump_project(self.project, self.notes)


def propose(request: ProposalRequest) -> Proposal:
    """Propose a project for tables."""
    if not request.sources:
        raise InputError("the project", "must have at least one table", found="none")
    for name in request.attach:
        if name not in request.sources:
            raise InputError(
                f"attached table '{name}'", "must be of a source",
                accepted=", ".join(request.sources),
            )  # fmt: skip
    _check_of_use(request)
    # Once without columns: a wrong name or promise is refused before any table is read.
    promised = _asked_promises(request) or {"promise_limits": True}
    _project(request, None, None, promised)
    if _is_database(request):
        return _of_database(request)
    if request.attach and request.id is None:
        request = replace(request, id=_id_of(request))
    guess = _guess(request)
    made, columns = None, guess.schema
    _check_promises(request, columns)
    if request.is_linked:
        made = _specification(request, columns)
        columns = _without(columns, None if made is None else made.spec.id or request.id)
    if columns.household is not None and not _asked_promises(request):
        # No plan is tried with households, so that the limits cannot be promised of them.
        promised = {"pid_k": ceil(1 / PUBLIC.person - 1e-9)}
    project = _project(request, columns, made, promised)
    notes = _notes_of(project, guess.notes, {} if made is None else made.notes)
    # What is written must be read again: a proposal that breaks a rule ends here.
    project_text.parse_project(project_text.dump_project(project, notes))
    # A schema that was given may leave columns out, which the run would refuse.
    if request.schema is not None:
        check_classified(ProjectFolder(project, request.folder / project_text.PROJECT_FILE))
    return Proposal(project, notes, guess.unasked, columns.sensitive)


def _check_of_use(request: ProposalRequest) -> None:
    """Refuse what would be asked for in vain."""
    reviewed = request.reviewers is not Reviewers.NONE
    of_linkage = {
        "id": request.id is not None,
        "attach": bool(request.attach),
        "spec": request.specification is not None,
        "one-per-source": request.one_per_source,
        "review": reviewed,
    }
    of_review = {"review-k": request.review_k is not None, "budget": request.budget is not None}
    for name, given in of_linkage.items():
        if given and not request.is_linked:
            raise InputError(
                f"option --{name}",
                "is for tables that are linked",
                found="one table",
                advice="name another table, or look for the same people within it with --dedupe",
            )
    for name, given in of_review.items():
        if given and not reviewed:
            raise InputError(f"option --{name}", "needs reviewers", advice="name them by --review")


def _is_database(request: ProposalRequest) -> bool:
    """Whether the tables are one database, whose people are no strangers to be linked.

    Whoever says how they are linked has thought about it.

    Raises
    ------
    InputError
        If nobody but a person can say how they belong together.
    """
    said = request.specification or request.attach or request.dedupe or request.one_per_source
    if said or request.schema is not None or len(request.sources) < 2:
        return False
    found = key_map(request.sources, request.layout)
    if not (found.is_database or found.questions):
        return False
    check_answered(found)
    return True


def _of_database(request: ProposalRequest) -> Proposal:
    """The project of the tables of one database."""
    guess = guess_database(request.sources, request.layout)
    tables = {
        name: table.model_copy(update={"file": str(_from(request, request.sources[name]))})
        for name, table in guess.schema.tables.items()
    }
    columns = guess.schema.model_copy(update={"tables": tables})
    usual = {"pid_k": ceil(1 / PUBLIC.person - 1e-9), "known_events": f"2:{KNOWN_RISK}"}
    project = _project(
        replace(request, sources={}), columns, None, _asked_promises(request) or usual
    )
    notes = _notes_of(project, guess.notes, {})
    project_text.parse_project(project_text.dump_project(project, notes))
    return Proposal(project, notes)


def _id_of(request: ProposalRequest) -> str:
    """The column by which attached tables belong to their sources."""
    for name, attached in request.attach.items():
        found = _naming_column(request.sources[name], attached, request.layout)
        if found is not None:
            return found
    raise InputError(
        "an attached table",
        "must have the column that names the records of its source",
        found="none that names each record once",
        advice="say how it is called with --id",
    )


def _guess(request: ProposalRequest) -> Guess:
    if request.schema is not None:
        return Guess(load_schema(request.schema), {})
    if not request.is_linked:
        return _guess_one(next(iter(request.sources.values())), request.layout)
    tables = {**request.sources, **{f"{n} attached": path for n, path in request.attach.items()}}
    return _guess_all(tables, request.layout)


def _specification(request: ProposalRequest, columns: Schema) -> Suggestion | None:
    """What is compared, proposed; ``None`` where a file says it."""
    if request.specification is not None:
        return None
    tables: dict[str, object] = {
        name: path if not request.layout else open_source(path, **request.layout)
        for name, path in request.sources.items()
    }
    mode = None
    if request.dedupe:
        mode = Mode.DEDUPE_ONLY if len(tables) == 1 else Mode.LINK_AND_DEDUPE
    made = suggest_links(tables, columns, mode=mode, id_column=request.id)
    if not request.one_per_source:
        return made
    spec = changed(made.spec, {"one_per_source": tuple(request.sources)})
    return Suggestion(spec, made.notes)


def _check_promises(request: ProposalRequest, columns: Schema) -> None:
    """Refuse a promise about sensitive values where no column has any."""
    promises = Release(**_asked_promises(request)).promises
    if promises:
        check_constraints(columns, promises)


def _project(
    request: ProposalRequest,
    columns: Schema | None,
    made: Suggestion | None,
    promised: Mapping[str, Any],
) -> Project:
    """The project of what was found and asked; without columns, to see whether it may be one."""
    fields: dict[str, Any] = {
        "project": {
            "name": request.name or _name_of(request.folder),
            "seed": secrets.randbits(SEED_BITS) if request.seed is None else request.seed,
        },
        "sources": {source: _source(request, source) for source in request.sources},
        "schema": columns
        if request.schema is None and columns is not None
        else {"file": _from(request, request.schema or Path("schema.toml"))},
        "release": promised,
        "ledger": request.ledger,
        "attack": {},
        "outputs": {"folder": "output", "formats": request.formats or ("csv",)},
    }
    if request.is_linked:
        fields["link"] = _link(request, made)
        fields["review"] = _review(request)
    try:
        return Project(**fields)
    except ValidationError as error:
        raise InputError(
            "the project", "breaks a rule", found=project_text.problems_in(error)
        ) from None


def _name_of(folder: Path) -> str:
    """The folder's name, as far as it can be a project's."""
    name = folder.resolve().name
    plain = "".join(each if each.isascii() and each.isalnum() else "-" for each in name)
    return plain.strip("-")[:80] or "project"


def _given(**values: Any) -> dict[str, Any]:
    """The keys of a section that say something."""
    return {
        name: value for name, value in values.items() if value is not None and value is not False
    }


def _link(request: ProposalRequest, made: Suggestion | None) -> dict[str, Any]:
    if made is not None:
        return {"specification": made.spec}
    file = request.specification
    return _given(
        specification=None if file is None else {"file": _from(request, file)},
        dedupe=request.dedupe,
        one_per_source=request.one_per_source,
    )


def _source(request: ProposalRequest, name: str) -> dict[str, Any]:
    attached = request.attach.get(name)
    return _given(
        file=_from(request, request.sources[name]),
        **request.layout,
        id=request.id if request.is_linked else None,
        attach=None if attached is None else _from(request, attached),
    )


def _review(request: ProposalRequest) -> dict[str, Any]:
    if request.reviewers is Reviewers.NONE:
        return {"by": request.reviewers}
    return {
        "by": request.reviewers,
        "k": PROPOSED.k if request.review_k is None else request.review_k,
        "budget": PROPOSED.budget if request.budget is None else request.budget,
    }


def _asked_promises(request: ProposalRequest) -> dict[str, Any]:
    """What is asked of the release."""
    named = {name: getattr(request, name) for name in _PROMISES}
    return _given(**named, presets=request.presets or None)


def _from(request: ProposalRequest, place: Place) -> Place:
    """A file as it is named from the project's folder; the URL of a table without its password."""
    if is_database(place):
        return named_from(place, request.folder)
    return Path(os.path.relpath(place, request.folder))


def _notes_of(
    project: Project, columns: Mapping[str, str], compared: Mapping[str, str]
) -> dict[str, str]:
    """Comments on a project: its own, why columns have their roles, why they are compared."""
    said: dict[str, str] = NOTES["proposal"]
    notes = {place: said[place] for place in ("", "link") if project.is_linked or not place}
    for place, text in said.items():
        section, _, key = place.partition(".")
        part = {"project": project.about, "schema": project.columns}.get(
            section, getattr(project, section, None)
        )
        if part is None or (section in {"link", "review"} and not project.is_linked):
            continue
        if not key or key in getattr(part, "model_fields_set", ()):
            notes[place] = text
    notes |= {f"schema.{name}": text for name, text in columns.items() if text}
    notes |= {f"link.specification.{name}": text for name, text in compared.items() if name}
    if "" in compared:
        notes["link.specification"] += f"\n{compared['']}"
    spec = None if project.link is None else project.link.specification
    if getattr(spec, "id", None) is not None and not project.columns_are_in_file:
        notes["schema"] += "\nThe column that numbers a table's records is not named here."
    return notes


def _guess_one(path: Place, layout: LayoutGiven) -> Guess:
    return guess_schema(open_source(path, **layout))


def _guess_all(tables: Mapping[str, Place], layout: LayoutGiven) -> Guess:
    """One schema for tables that are linked: a column has the same role wherever it stands.

    Persons and households are not named: the linkage finds the persons, and the numbers that each
    table has for them are direct identifiers.
    """
    guesses = _in_agreement(
        {name: _guess_one(path, layout) for name, path in tables.items()}, tables, layout
    )
    fields: dict[str, Any] = {role: {} for role in _ROLES}
    notes: dict[str, str] = {}
    missing: dict[str, None] = {}
    taken: set[str] = set()
    for role in _ROLES:
        for guess in guesses:
            schema = guess.schema
            numbers = (schema.person, schema.household) if role == _ROLES[0] else ()
            for name in (*getattr(schema, role), *filter(None, numbers)):
                if sql_name(name) in taken:
                    continue
                taken.add(sql_name(name))
                plain = name.strip()  # a header of the linked file
                fields[role][plain] = guess.schema.quasi_identifiers.get(name)
                notes[plain] = guess.notes.get(name, "")
    recipe: dict[str, Cleaning] = {}
    undecided: dict[str, str] = {}
    for guess in guesses:
        missing |= dict.fromkeys(guess.schema.missing)
        recipe = {**guess.schema.recipe, **recipe}
        open_ = {n.strip(): said for n, said in guess.schema.undecided.items()}
        undecided |= {n: said for n, said in open_.items() if sql_name(n) not in taken}
    if not fields["quasi_identifiers"]:
        return guesses[0]
    quasi = fields.pop("quasi_identifiers")
    lists = {role: tuple(names) for role, names in fields.items()}
    merged = Schema(
        quasi_identifiers=quasi, missing=tuple(missing), recipe=recipe, undecided=undecided, **lists
    )
    # Backwards, so that the first table wins, as above.
    roles = {n.strip(): each for guess in reversed(guesses) for n, each in guess.roles.items()}
    return Guess(
        merged, notes, {n: each for n, each in roles.items() if n in undecided},
        unasked=tuple(dict.fromkeys(n.strip() for guess in guesses for n in guess.unasked)),
    )  # fmt: skip


def _in_agreement(
    guesses: Mapping[str, Guess], tables: Mapping[str, Place], layout: LayoutGiven
) -> list[Guess]:
    """Proposals in which nothing that says who a person is, in two tables, is sensitive in one.

    That a number is sensitive because nothing else is known of it gives way to the surest role
    that its counterpart has, or to that of a quasi-identifier.
    """
    sources = {name: open_source(path, **layout) for name, path in tables.items()}
    samples = {name: take_sample(each, each.names) for name, each in sources.items()}
    revised: dict[str, dict[str, Proposed]] = {name: {} for name in guesses}
    for found in find_columns(samples, None, sources_needed=2).found:
        at = {(s, header[0]): guesses[s].roles[header[0]] for s, header in found.headers.items()
              if len(header) == 1 and header[0] in guesses[s].roles}  # fmt: skip
        weak = {place for place, each in at.items()
                if each.role == "sensitive" and each.confidence <= CERTAIN}  # fmt: skip
        others = [each for place, each in at.items() if place not in weak]
        role = max(others, key=lambda each: each.confidence).role if others else "quasi-identifier"
        if role in {"quasi-identifier", "direct identifier"}:
            why = f"a {found.kind.value} by its values, and by those of another table"
            for source, name in weak:
                revised[source][name] = Proposed(role, CERTAIN, why)
    return [guess.revised(revised[name]) for name, guess in guesses.items()]


def _naming_column(source: Place, attached: Place, layout: LayoutGiven) -> str | None:
    """The column by which further records belong to those of a table; ``None`` without one."""
    table = open_source(source, **layout)
    both = set(table.names) & set(open_source(attached).names)
    for name in (each for each in table.names if each in both):
        values = pa.chunked_array([batch.column(0) for batch in table.batches([name])])
        # Further records belong to one each: it must name every record, and only once.
        if not values.null_count and pc.count_distinct(values).as_py() == len(values):
            return name
    return None


def _without(schema: Schema, column: str | None) -> Schema:
    """A schema that does not name a column, such as the one that numbers records."""
    if column is None:
        return schema
    own = sql_name(column)
    kept: dict[str, Any] = {
        role: tuple(name for name in getattr(schema, role) if sql_name(name) != own)
        for role in ("direct_identifiers", "sensitive", "insensitive")
    }
    quasi = {
        n: identifier for n, identifier in schema.quasi_identifiers.items() if sql_name(n) != own
    }
    # A schema has one quasi-identifier at least.
    return schema.model_copy(update=kept | {"quasi_identifiers": quasi or schema.quasi_identifiers})


def write_project_file(text: str, path: Path) -> None:
    """Write a project file; a JSON Schema that is there already stays."""
    schema = path.with_name(project_text.SCHEMA_FILE)
    with all_or_none():
        if not schema.exists():
            write_text(schema, project_text.json_schema_text())
        write_text(path, text)
