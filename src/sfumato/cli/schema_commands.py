"""``sfumato profile`` and ``sfumato schema``: what a file holds, and what each column of it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.declared_options import Given, with_declared
from sfumato.cli.output import (
    SCREEN,
    SHOWN,
    check_text,
    columns,
    cut,
    print_found,
    printable,
    say,
    tell_careful,
    write_or_print,
)
from sfumato.cli.parameters import Details, Json, TextOutput, argument, check_report, file_option
from sfumato.core.declaration import Layout, LayoutGiven, Place, layout_of
from sfumato.core.number_text import count, counted, percentage

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
    details: Details = False,
    *,
    given: Given,
) -> None:
    """Say what files hold: their columns, people, keys, events. No value unless asked.

    Of a folder of tables, and of several files, also how they belong together.
    """
    from sfumato.table.file_profile import profile as profile_of

    check_report(report, data)
    folder = any(Path(each).is_dir() for each in data)
    tables = tables_of(data)
    found = [profile_of(table, **layout_of(given)) for table in tables.values()]
    plain = [each.to_json(values=show_values) for each in found]
    if report is not None:
        from sfumato.reports.report_files import write_profiles

        write_profiles(plain, report)
    said, map_ = _together(tables, layout_of(given)) if len(tables) > 1 else ([], {})
    # Of several files a screen has room for a line each; values stand at the ends of lines.
    if len(found) > 1 and not (details or show_values):
        lines = [*_of_files(found), *said]
    else:
        room = None if details or show_values else 4 * SHOWN
        lines = [line for each in found for line in _lines(each, room, show_values=show_values)]
        lines += said
    if folder and json:
        print_found({"tables": dict(zip(tables, plain, strict=True)), "map": map_}, (), json=json)
        return
    # A script that asks about one file finds it at the top of the JSON.
    print_found(plain[0] if len(plain) == 1 else plain, lines, json=json)
    if report is not None:
        say(f"Report: {report}")


def tables_of(places: Sequence[str]) -> dict[str, Place]:
    """The tables that are named, those of a folder for the folder; by their names."""
    from sfumato.cli.link_commands import named_places

    if len(places) > 1 or not Path(places[0]).is_dir():
        return named_places(places)
    from sfumato.table.table_keys import tables_in

    return {**tables_in(Path(places[0]))}


def _together(tables: Mapping[str, Place], layout: LayoutGiven) -> tuple[list[str], dict[str, Any]]:
    """How tables belong together, as lines and as plain values; nothing of strangers."""
    from sfumato.table.joined_tables import counted, map_to_json, words_of_map
    from sfumato.table.table_files import open_source
    from sfumato.table.table_keys import key_map

    sources = {name: open_source(place, **layout) for name, place in tables.items()}
    keys = key_map(sources)
    made = counted(sources, keys) if keys.persons is not None and not keys.questions else None
    # What a table refers to stands last, where it can go on in a further line.
    map_ = words_of_map(keys, made)
    rows = [[table, key, *counts, refers] for table, key, refers, *counts in map_]
    lines = cut(columns(rows, (2, 3, 4, 5)), SCREEN, "table") if keys.references else []
    lines += [""] if lines else []
    if made is not None:
        lines += [f"People: {made.people:,}; {made.silent:,} have no other record.", ""]
    lines += [f"To answer: {question}" for question in keys.questions]
    return lines, map_to_json(keys, made)


def _of_files(found: Sequence[FileProfile]) -> list[str]:
    """Several files as a table, a line each."""
    heads = ("file", "records", "columns", "different in every record")
    rows = [
        (each.subject, count(each.sampled), count(len(each.columns)), ", ".join(each.keys) or "-")
        for each in found
    ]
    table = cut(columns([heads, *rows], (1, 2)), 3 * SHOWN, "file")
    return [*table, "Of each column: --details, or name one file.", ""]


def _lines(found: FileProfile, room: int | None, *, show_values: bool) -> list[str]:
    """A profile as the terminal shows it.

    Parameters
    ----------
    room
        Most columns that are listed, and half as many lines of what they tell; ``None`` for all.
    """
    from sfumato.table.contents import FEW
    from sfumato.table.file_profile import HEADINGS

    heads, rows = list(HEADINGS), [list(row) for row in found.rows()]
    if room is not None:
        # What is long stands last, where it can go on in a further line.
        within = slice(5, 6 if found.changing_people else 5)
        rows = [[*row[:3], *row[within], f"{row[4]}; {row[3]}"] for row in rows]
        heads = [*heads[:3], *heads[within], "because"]
    if show_values:
        heads.append("values of the data")
        for row, column in zip(rows, found.columns.values(), strict=True):
            shown = column.to_json(values=True)
            ends = [f"{shown['lowest']} to {shown['highest']}"] if "lowest" in shown else []
            row.append("; ".join([*ends, ", ".join(shown.get("examples", []))]))
    half = None if room is None else SHOWN
    lines = [f"{found.subject}: {counted(found.sampled, 'record')} looked at", ""]
    lines += [*cut(columns([heads, *rows]), room, "column"), ""]
    none = f"no column of more than {FEW} values"
    lines.append(f"Different in every record: {', '.join(found.keys) or none}.")
    if found.keys_with_person:
        named = ", ".join(found.keys_with_person)
        lines.append(f"Different in every record of one {found.person}: {named}.")
    for parts in found.dates_in_parts:
        lines.append(f"One date: {', '.join(parts)}.")
    if found.uniqueness:
        steps = [[f"of {found.told_apart} unique by", "this and above", "without this"]]
        steps += [[u.column, *map(percentage, (u.up_to, u.without))] for u in found.uniqueness]
        lines += ["", *cut(columns(steps, (1, 2)), half, "column")]
    told = [[d.by, d.of, percentage(d.share), f"{d.exceptions:,}"] for d in found.dependences]
    if told:
        table = columns([["column", "tells", "share", "exceptions"], *told], (2, 3))
        lines += ["", *cut(table, half, "line")]
    return [*lines, ""]


@app.command()
@with_declared(Layout)
def guess(
    data: Annotated[
        list[str],
        argument(
            metavar="DATA...",
            help="The file, as for 'assess'; the files of a database, or their folder.",
        ),
    ],
    output: TextOutput = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask the open questions here, at the terminal.")
    ] = False,
    details: Details = False,
    *,
    given: Given,
) -> None:
    """Propose a schema for a file: kinds, likely roles and why. Read and edit it.

    Of several files, or of a folder: keys, and which table is that of people.
    """
    from sfumato.schema import dump_schema
    from sfumato.table.schema_guess import guess_schema

    check_text(output, data)
    if len(data) > 1 or Path(data[0]).is_dir():
        _guess_database(tables_of(data), output, layout_of(given), details=details)
        return
    proposed = guess_schema(data[0], **layout_of(given))
    made = proposed.answered(_answers(proposed)) if ask else proposed.schema
    advice = " Read and edit it: only you know what an intruder may know."
    text = dump_schema(made, proposed.notes)
    if write_or_print(text, output, advice, details=details) and made.undecided:
        number = len(made.undecided)
        say(
            f"{counted(number, 'question')} under [undecided] must be answered "
            "before a release: edit the file, or let --ask ask them."
        )
    tell_careful(proposed.unasked, output)


def _guess_database(
    tables: Mapping[str, Place], output: Path | None, layout: LayoutGiven, *, details: bool
) -> None:
    """Propose the schema of a database."""
    from sfumato.schema import dump_schema
    from sfumato.table.database_guess import guess_database

    proposed = guess_database(tables, layout)
    files = _files_of(tables, output)
    made = {
        name: table if files[name] is None else table.model_copy(update={"file": files[name]})
        for name, table in proposed.schema.tables.items()
    }
    schema = proposed.schema.model_copy(update={"tables": made})
    advice = " Read and edit it: only you know what an intruder may know."
    write_or_print(dump_schema(schema, proposed.notes), output, advice, details=details)
    open_ = [f"{name}.{column}" for name, each in made.items() for column in each.undecided]
    if open_:
        say(f"To be answered before a release, under 'undecided': {', '.join(open_)}.")


def _files_of(tables: Mapping[str, Place], output: Path | None) -> dict[str, str | None]:
    """The file of each table as a schema names it; ``None`` of one that is called as its table."""
    import os

    folder = Path() if output is None else output.parent
    return {
        name: None if Path(place).stem == name else os.path.relpath(place, folder)
        for name, place in tables.items()
    }


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
