"""``sfumato profile`` and ``sfumato schema``: what a file holds, and what each column of it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.declared_options import Given, with_declared
from sfumato.cli.output import (
    check_text,
    columns,
    print_found,
    printable,
    say,
    tell_careful,
    write_or_print,
)
from sfumato.cli.parameters import DataOrUri, Json, TextOutput, argument, check_report, file_option
from sfumato.core.declaration import Layout, layout_of

if TYPE_CHECKING:
    from sfumato.table.file_profile import FileProfile
    from sfumato.table.schema_guess import Guess

app = typer.Typer(no_args_is_help=True)


@app.callback()
def schema() -> None:
    """What each column of a file is."""


@with_declared(Layout)
def profile(
    data: Annotated[list[str], argument(metavar="FILE...", help="The files, as for 'assess'.")],
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Show ranges and examples: values of the data.")
    ] = False,
    report: Annotated[
        Path | None, file_option(help="Write a page (.html, with its .json) or .json.")
    ] = None,
    json: Json = False,
    *,
    given: Given,
) -> None:
    """Say what files hold: their columns, persons, keys, events. No value unless asked."""
    from sfumato.table.file_profile import profile as profile_of

    check_report(report, data)
    found = [profile_of(each, **layout_of(given)) for each in data]
    plain = [each.to_json(values=show_values) for each in found]
    if report is not None:
        from sfumato.reports.report_files import write_profiles

        write_profiles(plain, report)
    lines = (line for each in found for line in _lines(each, show_values=show_values))
    # A script that asks about one file finds it at the top of the JSON.
    print_found(plain[0] if len(plain) == 1 else plain, lines, json=json)
    if report is not None:
        say(f"Report: {report}")


def _lines(found: FileProfile, *, show_values: bool) -> list[str]:
    """A profile as the terminal shows it."""
    from sfumato.table.file_profile import HEADINGS

    heads, rows = list(HEADINGS), [list(row) for row in found.rows()]
    if show_values:
        heads.append("values of the data")
        for row, column in zip(rows, found.columns.values(), strict=True):
            shown = column.to_json(values=True)
            ends = [f"{shown['lowest']} to {shown['highest']}"] if "lowest" in shown else []
            row.append("; ".join([*ends, ", ".join(shown.get("examples", []))]))
    lines = [f"{found.subject}: {found.sampled:,} records looked at", ""]
    lines += [*columns([heads, *rows]), ""]
    lines.append(f"Different in every record: {', '.join(found.keys) or 'no column'}.")
    if found.keys_with_person:
        named = ", ".join(found.keys_with_person)
        lines.append(f"Different in every record of one {found.person}: {named}.")
    for parts in found.dates_in_parts:
        lines.append(f"One date: {', '.join(parts)}.")
    if found.uniqueness:
        steps = [[f"of {found.persons:,} persons unique on", "up to here", "all but this"]]
        steps += [[u.column, f"{u.up_to:.1%}", f"{u.without:.1%}"] for u in found.uniqueness]
        lines += ["", *columns(steps, (1, 2))]
    told = [[d.by, d.of, f"{d.share:.1%}", f"{d.exceptions:,}"] for d in found.dependences[:20]]
    if told:
        lines += ["", *columns([["column", "tells", "share", "exceptions"], *told], (2, 3))]
    return [*lines, ""]


@app.command()
@with_declared(Layout)
def guess(
    data: DataOrUri,
    output: TextOutput = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask the open questions here, at the terminal.")
    ] = False,
    *,
    given: Given,
) -> None:
    """Propose a schema for a file: kinds, likely roles and why. Read and edit it."""
    from sfumato.schema import dump_schema
    from sfumato.table.schema_guess import guess_schema

    check_text(output, (data,))
    proposed = guess_schema(data, **layout_of(given))
    made = proposed.answered(_answers(proposed)) if ask else proposed.schema
    advice = " Read and edit it: only you know what an intruder may know."
    if write_or_print(dump_schema(made, proposed.notes), output, advice) and made.undecided:
        number = len(made.undecided)
        say(
            f"{number} question{'s' if number > 1 else ''} under [undecided] must be answered "
            "before a release: edit the file, or let --ask ask them."
        )
    tell_careful(proposed.unasked)


def _answers(proposed: Guess) -> dict[str, str]:
    """What somebody at the terminal says to the questions; what is proposed where only Enter is."""
    from sfumato.table.schema_guess import ROLES

    answers = {}
    for name, question in proposed.questions.items():
        choices = proposed.choices(name)
        likely = proposed.roles[name].role if choices == ROLES else choices[0]
        say(f"\nColumn '{printable(name)}': {question}")
        for number, choice in enumerate(choices, 1):
            say(f"  {number}  {choice}{' (proposed)' if choice == likely else ''}")
        number = typer.prompt("Your answer", default=choices.index(likely) + 1, err=True, type=int)
        answers[name] = choices[min(max(number, 1), len(choices)) - 1]
    return answers
