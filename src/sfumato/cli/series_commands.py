"""``sfumato series``: what settings of a series cost, how it stands, and who leaves it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.declared_options import Given, with_declared
from sfumato.cli.output import columns, print_found, progress_bar
from sfumato.cli.own_process import keep_memory
from sfumato.cli.parameters import Json, SchemaFile, argument, asked_ids, option
from sfumato.cli.project_commands import ProjectFile
from sfumato.core.number_text import counted, share_text
from sfumato.release.promises import PROMISES, AddedPromises, all_asked
from sfumato.release.release_options import Circumstances, Options

Files = Annotated[
    list[str], argument(metavar="FILE...", help="The files of past months, the first one first.")
]
OtherK = Annotated[
    list[int] | None,
    option("--try-k", metavar="K", help="Another K than that of --pid-k. Repeatable."),
]
Every = Annotated[
    list[int] | None,
    option(
        "--try-admit-every",
        metavar="N",
        help="In every which file newcomers get classes; 1, 2 and 3 without it. Repeatable.",
    ),
]
Fewer = Annotated[
    list[int] | None,
    option(
        "--try-newcomers-k",
        metavar="K",
        help="Fewer people in classes of newcomers, beside as many as in all. Repeatable.",
    ),
]

app = typer.Typer(no_args_is_help=True)


@app.callback()
def series() -> None:
    """What a series of releases finds and loses, how it stands, and who withdraws from it."""


@app.command()
@with_declared(Circumstances, only=("seed",))
@with_declared(Options, only=("effort", "leavers", "unclassified"), panel="Making")
@with_declared(*PROMISES.values(), AddedPromises, panel="Promises", optional=True)
def plan(
    files: Files,
    schema: SchemaFile,
    try_k: OtherK = None,
    try_admit_every: Every = None,
    try_newcomers_k: Fewer = None,
    json: Json = False,
    *,
    given: Given,
) -> None:
    """Release past files as a series under several settings; nothing is written.

    Each row is a setting. It shows the people found by an intruder who knows when they came, that
    they left, or a value in each of two files. Then: smallest class, people of the last file
    shown, newcomers shown in their next file, detail lost.
    """
    keep_memory()
    from sfumato.release.series_plan import plan_series
    from sfumato.schema import load_schema

    with progress_bar() as progress:
        found = plan_series(
            files,
            load_schema(schema),
            all_asked(given),
            try_k or (),
            try_admit_every or (),
            try_newcomers_k or (),
            progress,
            **{name: given[name] for name in ("seed", "effort", "leavers", "unclassified")},
        )
    measured = "came", "left", "value", "fewest", "shown", "soon", "lost first", "last"
    rows: list[tuple[str, ...]] = [("k", "newcomers", "every", "files", *measured)]
    said = []
    for each in found:
        found_by = (each.found.get(name) for name in ("stranger", "acquaintance", "insider"))
        *shares, shown, soon, first, last = (
            "-" if share is None else share_text(share)
            for share in (*found_by, each.shown, each.soon, *(each.lost or (None, None)))
        )
        setting = [f"{each.k}", f"{each.newcomers_k or each.k}", f"{each.admit_every}"]
        fewest = "-" if each.fewest is None else f"{each.fewest}"
        made = f"{each.files} of {len(files)}"
        rows.append((*setting, made, *shares, fewest, shown, soon, first, last))
        named = zip(rows[0], [*setting, f"{each.files + 1}"], strict=False)
        where = ", ".join(f"{name} {number}" for name, number in named)
        said += [f"Refused ({where}): {why}" for why in each.refused]
    lines = [*columns(rows, range(len(rows[0]))), *([""] if said else []), *said]
    print_found([each.to_json() for each in found], lines, json=json)


@app.command()
def status(file: ProjectFile = Path("sfumato.toml"), json: Json = False) -> None:
    """Say of each period of a project whom its release shows, and what all until it find."""
    from sfumato.pipeline.periods import shown_periods

    periods = shown_periods(file)
    counts = ("people", "waiting", "left", "changed", "withdrawn", "fewest")
    rows = [("period", *counts, "found", "detail lost")]
    for each in periods:
        numbers = (each.get(name) for name in counts)
        shares = (each.get(name) for name in ("found", "detail_lost"))
        rows.append(
            (
                each["period"],
                *("-" if number is None else f"{number:,}" for number in numbers),
                *("-" if share is None else share_text(share) for share in shares),
            )
        )
    print_found(periods, columns(rows, range(1, len(rows[0]))), json=json)


@app.command()
def withdraw(
    file: ProjectFile = Path("sfumato.toml"),
    ids: Annotated[
        Path | None,
        option(metavar="FILE", help="A table with the ids of several people; asked without it."),
    ] = None,
    json: Json = False,
) -> None:
    """Leave people who withdraw out of all later files, and name the files that still hold them.

    Their classes leave with them: a person who is missing alone would be found. An id is asked,
    or read from standard input, a line each; it is no argument, which others could read.
    """
    from sfumato.pipeline.periods import withdraw as withdrawn_from

    found = withdrawn_from(file, ids or asked_ids("Id of the person who withdraws"))
    beside = f"{counted(found.beside, 'person')} of their classes"
    lines = [f"Left out from {found.period} on: {counted(found.people, 'person')}, and {beside}."]
    if found.unknown:
        unknown = counted(found.unknown, "id")
        lines.append(f"In no file of the series: {unknown}; no person leaves for it. Is it right?")
    for each in found.holding:
        got = f"; {', '.join(each.to)} got it" if each.to else ""
        said = f"Still held in {each.period}: {counted(each.people, 'person')}{got}"
        lines += [said, *(f"  {path}" for path in each.files)]
    lines.append(
        f"Next: sfumato run --period {found.period} DATA. sfumato ledger forget erases a person "
        "from the ledger."
    )
    print_found(found.to_json(), lines, json=json)
