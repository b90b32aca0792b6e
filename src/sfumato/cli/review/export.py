"""``sfumato review export``: the answers for the linkage, and what screens showed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import check_apart, progress_bar, say
from sfumato.cli.server.decisions import export_project, project_id
from sfumato.cli.server.options import DATA, Data, Database, KeyFolder
from sfumato.core.atomic import all_or_none
from sfumato.core.errors import InputError
from sfumato.review.extra import needs_review

if TYPE_CHECKING:
    from sfumato.review.decisions.decisions import Decisions
    from sfumato.review.project.project import Project


def export(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="What 'sfumato link' wrote, or a review's project; or the ID of a closed "
            "project of the web application.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where the answers go: Parquet with pair, worker, answer, time, withdrawn.",
            show_default=False,
        ),
    ] = None,
    shown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where all cells go that screens showed: Parquet, for an attack. It holds "
            "identifying text.",
            show_default=False,
        ),
    ] = None,
    shown_truth: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --shown: whose record each of its rows is; for whoever scores the attack.",
            show_default=False,
        ),
    ] = None,
    data: Data = DATA,
    keys: KeyFolder = None,
    database: Database = "",
) -> None:
    """Write the answers of all workers who have reviewed in a folder, or in a project.

    --shown is for a folder: a custodian gives it to whoever attacks, and keeps --shown-truth.

    --data, --keys and --database are for a project of the web application.
    """
    needs_review()
    _check_asked(output, shown, shown_truth)
    number = project_id(folder)
    if number is not None:
        if output is None or shown is not None:
            raise InputError(
                "option --shown",
                "must be about a folder",
                found="a project of the web application",
            )
        export_project(number, output, data, keys, database)
        return
    from sfumato.review.terminal.answers import answers_in
    from sfumato.review.terminal.journal import journals_in
    from sfumato.review.terminal.opened import open_folder
    from sfumato.review.terminal.shown_file import check_shown_path
    from sfumato.table.table_files import check_output_path

    journals = journals_in(folder)
    if not journals:
        raise InputError(
            f"folder {folder.name or folder}",
            "must hold a review",
            found="no review.state",
            advice="begin with: sfumato review play FOLDER",
        )
    for target in (each for each in (output, shown, shown_truth) if each is not None):
        others = folder.glob("*.parquet") if target is not output or _foreign(target) else ()
        check_apart([target], [*journals, *others])
        (check_output_path if target is output else check_shown_path)(target)
    said = []
    with all_or_none():
        if output is not None:
            project = open_folder(folder).project
            answers = answers_in(folder, project)
            write_answers(answers, project, output)
            pairs = f"{len(answers.answers):,} of {len(project.pair_ids):,} pairs"
            said.append(f"{pairs} have an answer: {output}")
        if shown is not None:
            said.append(_write_shown(folder, shown, shown_truth))
    for each in said:
        say(each)


def _foreign(output: Path) -> bool:
    return output.name != "decisions.parquet"


def _check_asked(output: Path | None, shown: Path | None, truth: Path | None) -> None:
    if output is None and shown is None:
        raise InputError("option --output", "must say where the answers go", found="none")
    if truth is not None and shown is None:
        raise InputError("option --shown-truth", "goes with --shown", found="none")
    targets = [each.absolute() for each in (output, shown, truth) if each is not None]
    if len(set(targets)) < len(targets):
        raise InputError("options --output, --shown and --shown-truth", "must name several files")


def _write_shown(folder: Path, target: Path, truth: Path | None) -> str:
    """Write what screens showed; what there is to say of it."""
    import numpy as np

    from sfumato.review.terminal.shown_file import shown_in, write_shown

    with progress_bar() as progress:
        shown = shown_in(folder, np.random.default_rng(), progress)
    write_shown(shown, target, truth)
    return f"{sum(len(each.truth) for each in shown):,} rows showed: {target}"


def write_answers(answers: Decisions, project: Project, target: Path) -> None:
    """Write the answers about the pairs that the linkage knows.

    Parameters
    ----------
    answers
        All that happened.
    project
        The records and pairs.
    target
        The file.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    from sfumato.review.decisions.export import write_decisions

    write_decisions(answers, project.of_linkage, target)
