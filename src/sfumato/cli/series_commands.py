"""``sfumato series``: what settings of a series cost, before its first file is released."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.declared_options import Given, with_declared
from sfumato.cli.output import columns, print_found, progress_bar
from sfumato.cli.own_process import keep_memory
from sfumato.cli.parameters import Json, SchemaFile, argument, option
from sfumato.core.number_text import share_text
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

app = typer.Typer(no_args_is_help=True)


@app.callback()
def series() -> None:
    """What a series of releases finds and loses, before its first file."""


@app.command()
@with_declared(Circumstances, only=("seed",))
@with_declared(Options, only=("effort", "unclassified"), panel="Making")
@with_declared(*PROMISES.values(), AddedPromises, panel="Promises", optional=True)
def plan(
    files: Files,
    schema: SchemaFile,
    try_k: OtherK = None,
    try_admit_every: Every = None,
    json: Json = False,
    *,
    given: Given,
) -> None:
    """Release past files as a series under several settings; nothing is written.

    Each row is a setting. It shows the people found by an intruder who knows when they came, that
    they left, or a value in each of two files. Then: smallest class, newcomers shown, detail lost.
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
            progress,
            **{name: given[name] for name in ("seed", "effort", "unclassified")},
        )
    head = "k", "every", "files", "came", "left", "value", "fewest", "soon", "lost first", "last"
    rows: list[tuple[str, ...]] = [head]
    said = []
    for each in found:
        shares = [each.found.get(name) for name in ("stranger", "acquaintance", "insider")]
        *shown, soon, first, last = (
            "-" if share is None else share_text(share)
            for share in (*shares, each.soon, *(each.lost or (None, None)))
        )
        counts = (f"{each.k}", f"{each.admit_every}", f"{each.files} of {len(files)}")
        fewest = "-" if each.fewest is None else f"{each.fewest}"
        rows.append((*counts, *shown, fewest, soon, first, last))
        where = f"k {each.k}, every {each.admit_every}, file {each.files + 1}"
        said += [f"Refused ({where}): {why}" for why in each.refused]
    lines = [*columns(rows, range(len(head))), *([""] if said else []), *said]
    print_found([each.to_json() for each in found], lines, json=json)
