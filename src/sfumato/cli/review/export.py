"""``sfumato review export``: the answers as the file that the linkage applies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import check_apart, say
from sfumato.cli.review.extra import needs_review
from sfumato.cli.server.decisions import export_project, project_id
from sfumato.cli.server.options import DATA, Data, Database, KeyFolder
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.review.decisions.decisions import Decisions
    from sfumato.review.decisions.history import History
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
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where the answers go: Parquet with pair, worker, answer, time, withdrawn.",
            show_default=False,
        ),
    ],
    data: Data = DATA,
    keys: KeyFolder = None,
    database: Database = "",
) -> None:
    """Write the answers of all workers who have reviewed in a folder, or in a project.

    --data, --keys and --database are for a project of the web application.
    """
    needs_review()
    number = project_id(folder)
    if number is not None:
        export_project(number, output, data, keys, database)
        return
    from sfumato.cli.review.opened import open_folder
    from sfumato.review.terminal.journal import journals_in

    journals = journals_in(folder)
    if not journals:
        raise InputError(
            f"folder {folder.name or folder}",
            "must hold a review",
            found="no review.state",
            advice="begin with: sfumato review play FOLDER",
        )
    check_apart([output], [*journals, *folder.glob("*.parquet")] if _foreign(output) else journals)
    project = open_folder(folder).project
    answers = answers_in(folder, project)
    write_answers(answers, project, output)
    say(f"{len(answers.answers):,} of {len(project.pair_ids):,} pairs have an answer: {output}")


def _foreign(output: Path) -> bool:
    return output.name != "decisions.parquet"


def answers_in(folder: Path, project: Project) -> Decisions:
    """The answers of all journals in a folder.

    Parameters
    ----------
    folder
        The folder.
    project
        Its records and pairs.

    Raises
    ------
    InputError
        If a journal is damaged, or of other records.
    """
    from sfumato.review.decisions.decisions import Decisions
    from sfumato.review.terminal.fingerprint import records_hash
    from sfumato.review.terminal.journal import journals_in, read_journal
    from sfumato.review.terminal.standing import check_same, histories

    found: list[History] = []
    records = records_hash(project.records)
    for path in journals_in(folder):
        written = read_journal(path)
        if written is None:
            continue
        check_same(written.beginning, project.pair_ids, records, path.name)
        found += histories(written.beginning.worker, written.entries).values()
    return Decisions.of(found)


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
