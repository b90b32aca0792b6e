"""``sfumato init``: write a project file for somebody's tables."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.declared_options import Given, with_declared
from sfumato.cli.link_commands import named_places
from sfumato.cli.output import progress_bar, say, tell_careful
from sfumato.cli.parameters import argument, file_option, option
from sfumato.cli.project_commands import command_of
from sfumato.cli.schema_commands import tables_of
from sfumato.core.declaration import LAYOUT, Layout, Place, Seeded, layout_of, place_of
from sfumato.core.errors import InputError
from sfumato.ledger.ledger_options import (
    LedgerOptions,
    default_ledger,
    default_ledger_keys,
    movable,
)
from sfumato.linkage.link_options import Comparing, Deduping, LinkedFile
from sfumato.release.promises import PROMISES
from sfumato.review.review_settings import Settings
from sfumato.risk.assess_options import HeldAgainst

if TYPE_CHECKING:
    from sfumato.pipeline.project_folder import ProjectFolder
    from sfumato.pipeline.project_model import Project, Reviewers
    from sfumato.pipeline.proposal import Proposal, ProposalRequest

PROMISES_MADE, REVIEW, WHAT = "What is promised", "Who reviews", "What the tables are"


class ReviewWord(StrEnum):
    """Words of ``--review``; see `sfumato.pipeline.project_model.Reviewers`."""

    NONE = "none"
    DESK = "desk"
    SIMULATED = "simulated"
    APPLICATION = "application"


class FormatWord(StrEnum):
    """Words of ``--format``."""

    CSV = "csv"
    PARQUET = "parquet"


Tables = Annotated[
    list[str] | None,
    argument(
        metavar="TABLE...",
        help="The tables: FILE, or NAME=FILE, or the URL of a table in a database. Without any "
        "sfumato asks.",
    ),
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The project file.")]
Name = Annotated[
    str | None, typer.Option(metavar="TEXT", help="What it is called; the folder's name.")
]
SchemaFile = Annotated[
    Path | None,
    file_option(help="Take this schema.toml instead of a proposed one.", rich_help_panel=WHAT),
]
SpecFile = Annotated[
    Path | None,
    file_option(help="Take this link.toml instead of a proposed one.", rich_help_panel=WHAT),
]
Review = Annotated[
    ReviewWord, typer.Option(help="Where possible matches are reviewed.", rich_help_panel=REVIEW)
]
ReviewK = Annotated[
    int | None,
    option(
        metavar="NUMBER",
        min=1,
        help="Records that what is disclosed must fit at least; 1 when not given.",
        rich_help_panel=REVIEW,
    ),
]
Formats = Annotated[
    list[FormatWord] | None, option("--format", help="The release's format; csv. Repeatable.")
]
JsonSchema = Annotated[
    bool,
    typer.Option(
        "--json-schema", help="Print the JSON Schema of project files, and write nothing."
    ),
]


Remember = Annotated[
    bool,
    typer.Option(
        help="Note each release in the ledger, so that later ones are compared with it; otherwise "
        "[ledger] says 'remember = false'."
    ),
]


@with_declared(Seeded)
@with_declared(Layout, panel=WHAT)
@with_declared(
    Comparing,
    Deduping,
    LinkedFile,
    only=("attach", "id_column", "dedupe", "one_per_source"),
    panel=WHAT,
)
@with_declared(Settings, only=("budget",), panel=REVIEW, optional=True)
@with_declared(HeldAgainst, only=("presets",), panel=PROMISES_MADE)
@with_declared(LedgerOptions)
@with_declared(
    *PROMISES.values(),
    only=("g_balance", "h_affiliation", "pid_k"),
    panel=PROMISES_MADE,
    optional=True,
)
def init(
    files: Tables = None,
    output: Output = Path("sfumato.toml"),
    name: Name = None,
    schema: SchemaFile = None,
    spec: SpecFile = None,
    review: Review = ReviewWord.NONE,
    review_k: ReviewK = None,
    format_: Formats = None,
    json_schema: JsonSchema = False,
    remember: Remember = True,
    *,
    given: Given,
) -> None:
    """Write a project file: what the tables are, how they are linked, what is promised.

    Takes tables, or asks for them. Nothing that exists is overwritten.
    """
    from sfumato.pipeline.project_text import json_schema_text

    if json_schema:
        typer.echo(json_schema_text(), nl=False)
        return
    _check_new(output)
    from sfumato.pipeline.project_model import Reviewers
    from sfumato.pipeline.proposal import ProposalRequest

    wanted = ProposalRequest(
        sources=tables_of(files) if files else {},
        folder=output.parent,
        name=name,
        id=given["id_column"],
        schema=schema,
        specification=spec,
        reviewers=Reviewers(review.value),
        review_k=review_k,
        **{
            each: value
            for each, value in given.items()
            if each not in {"id_column", "ledger", "keys", *LAYOUT}
        },
        layout=layout_of(given),
        formats=tuple(dict.fromkeys(each.value for each in format_ or ())),
    )
    asks = not wanted.sources
    if asks:
        wanted = _asked(wanted)
    ledger = _section(wanted.folder, given["ledger"], given["keys"], remember)
    # Where nobody sits at a terminal nothing is asked, and so nothing accepted.
    _write(replace(wanted, ledger=ledger), output, asks=asks or sys.stdin.isatty())


def _section(
    folder: Path, ledger: Path | None, keys: Path | None, remember: bool
) -> dict[str, Path | bool]:
    """The section ``[ledger]``: paths so named that the project may move.

    Raises
    ------
    InputError
        If a ledger is named in which nothing is to be noted.
    """
    named = {name: path for name, path in (("file", ledger), ("keys", keys)) if path}
    if remember:
        return {name: movable(path, folder) for name, path in named.items()}
    if named:
        raise InputError(
            "option --no-remember",
            "needs no ledger beside it",
            found="--ledger or --keys, or their environment variables",
            advice="leave one of them out",
        )
    return {"remember": False}


def _write(wanted: ProposalRequest, output: Path, *, asks: bool) -> None:
    from sfumato.pipeline.project_folder import ProjectFolder
    from sfumato.pipeline.proposal import propose, write_project_file

    with progress_bar() as progress:
        progress("reading", 0.0)
        proposed = propose(wanted)
    if asks:
        proposed = replace(proposed, project=_with_answers(proposed))
    # Before the file: no project may be left whose ledger cannot be used.
    _remembering(ProjectFolder(proposed.project, output))
    write_project_file(proposed.text, output)
    say(f"Wrote {output}. Read and edit it: only you know what an intruder may know.")
    questions = getattr(proposed.project.columns, "undecided", {})
    if questions:
        first = f"answer what stands under [schema.undecided] ({', '.join(questions)}), then "
    else:
        first = ""
    tell_careful(proposed.unasked, output)
    say(f"Next: {first}{command_of('run', output)}")


def _remembering(place: ProjectFolder) -> None:
    """Look whether a project's ledger can be used, make it where it is not there, say where it is.

    Raises
    ------
    InputError
        If it cannot be opened or made.
    """
    from sfumato.ledger.release_ledger import ReleaseLedger

    section = place.project.ledger
    if section is None or not section.remember:
        say("Releases of this project are not remembered: [ledger] says 'remember = false'.")
        return
    ledger = default_ledger() if section.file is None else place.at(section.file)
    keys = default_ledger_keys() if section.keys is None else place.at(section.keys)
    # Before it is opened, which makes it.
    is_new = not ledger.exists()
    with ReleaseLedger.open(ledger, keys, make=True, first=section.file is None) as found:
        head = found.head()
    made = f"Made the ledger, head {head} (keep it elsewhere). " if is_new else ""
    say(
        f"{made}Releases of this project are remembered in {ledger}; its keys are in {keys}. "
        "For a project that has to stand alone: --no-remember, or --ledger FILE --keys FOLDER."
    )


def _check_new(output: Path) -> None:
    from sfumato.core.atomic import check_target

    check_target(output)
    if output.exists():
        raise InputError(
            f"output {output.name}",
            "must not be there yet",
            found="a file of that name",
            advice="edit it, or choose another name with --output",
        )


def _asked(wanted: ProposalRequest) -> ProposalRequest:
    """What is wanted, with the tables and what hangs on them asked for."""
    from sfumato.pipeline.project_model import Reviewers

    try:
        return _answers(wanted, Reviewers)
    except typer.Abort:
        # Without a terminal a question ends at once, which is nobody's wish to stop.
        if sys.stdin.isatty():
            raise
        raise InputError(
            "argument TABLE", "must be given where no person answers questions", found="none"
        ) from None


def _with_answers(proposed: Proposal) -> Project:
    """The project with what cannot be known about its people; what nobody answers can be.

    Each "no" needs its reason. How much it covers is noted by the run that measures it first.
    """
    from sfumato.pipeline.project_model import Accept, Accepted

    no: dict[tuple[str, ...], str] = {}
    try:
        known = "Could an intruder know that a given person is in this file"
        no |= _reason_why_not(("",), f"{known} (yes, if you do not know)?")
        for alike in _alike(proposed.sensitive):
            named = ", ".join(alike)
            no |= _reason_why_not(alike, f"Could an intruder know a person's value in {named}?")
        if not no:
            return proposed.project
        by = typer.prompt("Who answers for that: role (name)", err=True)
        until = _a_year_on(
            typer.prompt("Until when: YYYY-MM-DD", default=f"{_a_year_on():%F}", err=True)
        )
    except typer.Abort:
        if sys.stdin.isatty():
            raise
        return proposed.project
    said = {
        name: Accepted(by=by, because=why, until=until)
        for names, why in no.items()
        for name in names
    }
    given = {"acquaintance": said.pop("", None), "insider": said}
    accept = Accept.model_validate({name: each for name, each in given.items() if each})
    return proposed.project.model_copy(update={"accept": accept})


def _reason_why_not(names: tuple[str, ...], question: str) -> dict[tuple[str, ...], str]:
    """Why it cannot be known, if so; without a reason it can."""
    if typer.confirm(question, default=True, err=True):
        return {}
    why = typer.prompt("Why not (empty: yes, after all)", default="", show_default=False, err=True)
    return {names: why.strip()} if why.strip() else {}


def _alike(columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Columns of one name but for numbers, such as those of a form: one answer is for all."""
    found: dict[str, list[str]] = {}
    for name in columns:
        found.setdefault(re.sub(r"[\W\d_]+", " ", name).strip().casefold(), []).append(name)
    return [tuple(names) for names in found.values()]


def _a_year_on(text: str = "") -> date:
    """The day that an answer says; a year from now without one."""
    if not text:
        return datetime.now(UTC).date() + timedelta(days=365)
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise InputError("the answer", "must be a date", accepted="YYYY-MM-DD") from None


def _at_home(text: str) -> Place:
    place = place_of(text)
    # Answers go through no shell, which would put the home in the place of the tilde.
    return place.expanduser() if isinstance(place, Path) else place


def _answers(wanted: ProposalRequest, words: type[Reviewers]) -> ProposalRequest:
    said = typer.prompt("The tables, as files with a comma between them", err=True)
    files = [each.strip() for each in said.split(",") if each.strip()]
    sources = named_places([str(_at_home(file)) for file in files])
    wanted = replace(wanted, sources=sources)
    question = "May one table have a person more than once, under several numbers?"
    if typer.confirm(question, default=False, err=True):
        wanted = replace(wanted, dedupe=True)
    if not wanted.is_linked:
        return wanted
    named = typer.prompt(
        "The column that names each record (empty: sfumato looks for it)",
        default="",
        show_default=False,
        err=True,
    )
    further = {}
    for name in sources:
        path = typer.prompt(
            f"A table with further records of the people of {name}, such as visits (empty: none)",
            default="",
            show_default=False,
            err=True,
        )
        if path.strip():
            further[name] = _at_home(path.strip())
    by = typer.prompt(
        f"Who reviews possible matches ({', '.join(words)})", default="none", err=True
    )
    if by not in set(words):
        raise InputError("the answer", "must be one of the words", accepted=", ".join(words))
    return replace(
        wanted,
        id=named.strip() or wanted.id,
        attach={**wanted.attach, **further},
        reviewers=words(by),
    )
