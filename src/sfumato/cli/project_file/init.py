"""``sfumato init``: write a project file for somebody's tables."""

from __future__ import annotations

import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.link.options.linked import attached
from sfumato.cli.link.options.tables import named_paths
from sfumato.cli.output import progress_bar, say
from sfumato.cli.project_file.told import run_again
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.pipeline.project.linking import Reviewers
    from sfumato.pipeline.propose.wanted import Wanted

PROMISES, REVIEW, WHAT = "What is promised", "Who reviews", "What the tables are"


class ReviewWord(StrEnum):
    """Words of ``--review``; see `sfumato.pipeline.project.linking.Reviewers`."""

    NONE = "none"
    TERMINAL = "terminal"
    SIMULATED = "simulated"
    APPLICATION = "application"


class FormatWord(StrEnum):
    """Words of ``--format``."""

    CSV = "csv"
    PARQUET = "parquet"


def init(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TABLE...",
            help="The tables: FILE, or NAME=FILE. Without any sfumato asks.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The project file.")
    ] = Path("sfumato.toml"),
    name: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What it is called; the folder's name.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", min=0, help="Seed of every random choice; drawn when not given."
        ),
    ] = None,
    attach: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE=FILE",
            help="Further records of a table's persons, such as visits. Repeatable.",
            show_default=False,
            rich_help_panel=WHAT,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="The column that names each record within its table.",
            show_default=False,
            rich_help_panel=WHAT,
        ),
    ] = None,
    dedupe: Annotated[
        bool,
        typer.Option(
            "--dedupe", help="A table may have a person more than once.", rich_help_panel=WHAT
        ),
    ] = False,
    one_per_source: Annotated[
        bool,
        typer.Option(
            "--one-per-source",
            help="Every table has at most one record per person.",
            rich_help_panel=WHAT,
        ),
    ] = False,
    schema: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Take this schema.toml instead of a proposed one.",
            show_default=False,
            rich_help_panel=WHAT,
        ),
    ] = None,
    spec: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Take this link.toml instead of a proposed one.",
            show_default=False,
            rich_help_panel=WHAT,
        ),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="CHARACTER",
            help="The separator of CSV files; found by itself.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    review: Annotated[
        ReviewWord,
        typer.Option(help="Where possible matches are reviewed.", rich_help_panel=REVIEW),
    ] = ReviewWord.NONE,
    review_k: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            min=1,
            help="Records that what is disclosed must fit at least.  [default: 5]",
            show_default=False,
            rich_help_panel=REVIEW,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="KAPR",
            min=0,
            max=1,
            help="What each reviewer may spend.",
            show_default=False,
            rich_help_panel=REVIEW,
        ),
    ] = None,
    g_balance: Annotated[
        float | None,
        typer.Option(
            metavar="G",
            help="g-balance of every class at least G.",
            show_default=False,
            rich_help_panel=PROMISES,
        ),
    ] = None,
    h_affiliation: Annotated[
        float | None,
        typer.Option(
            metavar="H",
            help="h-affiliation of every class at most H.",
            show_default=False,
            rich_help_panel=PROMISES,
        ),
    ] = None,
    pid_k: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="At least K persons in every class.",
            show_default=False,
            rich_help_panel=PROMISES,
        ),
    ] = None,
    preset: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Meet the thresholds of a preset; 'sfumato presets' lists them.",
            show_default=False,
            rich_help_panel=PROMISES,
        ),
    ] = None,
    format_: Annotated[
        list[FormatWord] | None,
        typer.Option(
            "--format",
            help="The release's format; csv. Repeatable.",
            show_default=False,
        ),
    ] = None,
    json_schema: Annotated[
        bool,
        typer.Option(
            "--json-schema", help="Print the JSON Schema of project files, and write nothing."
        ),
    ] = False,
) -> None:
    """Write a project file: what the tables are, how they are linked, what is promised.

    Takes tables, or asks for them. Nothing that exists is overwritten.
    """
    from sfumato.pipeline.project.json_schema import json_schema_text

    if json_schema:
        typer.echo(json_schema_text(), nl=False)
        return
    _check_new(output)
    from sfumato.pipeline.project.linking import Reviewers
    from sfumato.pipeline.propose.wanted import Wanted

    wanted = Wanted(
        sources=named_paths([Path(each) for each in files or ()]),
        folder=output.parent,
        name=name,
        seed=seed,
        attach=attached(attach or []),
        delimiter=delimiter,
        id=id_column,
        schema=schema,
        specification=spec,
        dedupe=dedupe,
        one_per_source=one_per_source,
        reviewers=Reviewers(review.value),
        review_k=review_k,
        budget=budget,
        g_balance=g_balance,
        h_affiliation=h_affiliation,
        pid_k=pid_k,
        presets=tuple(preset or ()),
        formats=tuple(dict.fromkeys(each.value for each in format_ or ())),
    )
    if not wanted.sources:
        wanted = _asked(wanted)
    _write(wanted, output)


def _write(wanted: Wanted, output: Path) -> None:
    from sfumato.pipeline.propose.propose import propose
    from sfumato.pipeline.propose.write import write_project_file

    with progress_bar() as progress:
        progress("reading", 0.0)
        proposed = propose(wanted)
    write_project_file(proposed.text, output)
    say(f"Wrote {output}. Read and edit it: only you know what an intruder may know.")
    say(f"Next: {run_again(output)}")


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


def _asked(wanted: Wanted) -> Wanted:
    """What is wanted, with the tables and what hangs on them asked for."""
    from sfumato.pipeline.project.linking import Reviewers

    try:
        return _answers(wanted, Reviewers)
    except typer.Abort:
        if sys.stdin.isatty():
            raise
        raise InputError(
            "argument TABLE", "must be given where nobody answers questions", found="none"
        ) from None


def _answers(wanted: Wanted, words: type[Reviewers]) -> Wanted:
    said = typer.prompt("The tables, as files with a comma between them", err=True)
    files = [Path(each.strip()).expanduser() for each in said.split(",") if each.strip()]
    sources = named_paths(files)
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
            f"A table with further records of the persons of {name}, such as visits (empty: none)",
            default="",
            show_default=False,
            err=True,
        )
        if path.strip():
            further[name] = Path(path.strip()).expanduser()
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
