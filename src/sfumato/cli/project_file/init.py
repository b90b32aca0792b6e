"""``sfumato init``: write a project file for somebody's tables."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sfumato.cli.link.options.linked import attached
from sfumato.cli.link.options.tables import named_paths
from sfumato.cli.output import progress_bar, say
from sfumato.cli.project_file.options import (
    Attach,
    Budget,
    Dedupe,
    Delimiter,
    Formats,
    GBalance,
    HAffiliation,
    IdColumn,
    JsonSchema,
    Name,
    OnePerSource,
    Output,
    PidK,
    Preset,
    Review,
    ReviewK,
    ReviewWord,
    SchemaFile,
    Seed,
    SpecFile,
    Tables,
)
from sfumato.cli.project_file.told import run_again
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.pipeline.project.linking import Reviewers
    from sfumato.pipeline.proposal import ProposalRequest


def init(
    files: Tables = None,
    output: Output = Path("sfumato.toml"),
    name: Name = None,
    seed: Seed = None,
    attach: Attach = None,
    id_column: IdColumn = None,
    dedupe: Dedupe = False,
    one_per_source: OnePerSource = False,
    schema: SchemaFile = None,
    spec: SpecFile = None,
    delimiter: Delimiter = None,
    review: Review = ReviewWord.NONE,
    review_k: ReviewK = None,
    budget: Budget = None,
    g_balance: GBalance = None,
    h_affiliation: HAffiliation = None,
    pid_k: PidK = None,
    preset: Preset = None,
    format_: Formats = None,
    json_schema: JsonSchema = False,
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
    from sfumato.pipeline.proposal import ProposalRequest

    wanted = ProposalRequest(
        sources=named_paths([Path(each) for each in files or ()]),
        folder=output.parent,
        name=name,
        seed=seed,
        attach={name: Path(path) for name, path in attached(attach or []).items()},
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


def _write(wanted: ProposalRequest, output: Path) -> None:
    from sfumato.pipeline.proposal import propose, write_project_file

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


def _asked(wanted: ProposalRequest) -> ProposalRequest:
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


def _answers(wanted: ProposalRequest, words: type[Reviewers]) -> ProposalRequest:
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
