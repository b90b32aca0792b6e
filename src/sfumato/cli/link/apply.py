"""``sfumato link apply``: take what people decided about pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.link.hand_over import hand_over, write_with_report
from sfumato.cli.link.options.linked import key_of
from sfumato.cli.output import progress_bar
from sfumato.cli.parameters import Json


def apply(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="What 'sfumato link' wrote.", show_default=False),
    ],
    decisions: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Answers: a Parquet file with pair, worker, answer, time, withdrawn.",
            show_default=False,
        ),
    ],
    afresh: Annotated[
        bool,
        typer.Option("--afresh", help="Forget the answers that were applied before."),
    ] = False,
    key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The key of the person ids, where the linkage was made with one.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Take people's decisions: outcomes, persons and the linked file again.

    Decisions go before scores; those that contradict each other are listed. Answers applied
    before hold until they are changed or withdrawn. Persons keep their ids where they can.
    """
    from sfumato.core.atomic import check_target_folder
    from sfumato.linkage.apply import apply_decisions

    check_target_folder(folder)
    key = key_of(key_file, (decisions, *(folder.iterdir() if folder.is_dir() else ())))
    with progress_bar() as progress:
        progress("persons", 0.0)
        links = apply_decisions(folder, decisions, afresh=afresh, pseudonym_key=key)
        write_with_report(links, folder)
    hand_over(links, folder, json=json)
