"""The answers that the journals of a folder hold."""

from __future__ import annotations

from pathlib import Path

from sfumato.review.decisions.decisions import Decisions
from sfumato.review.decisions.history import History
from sfumato.review.project.project import Project
from sfumato.review.terminal.fingerprint import records_hash
from sfumato.review.terminal.journal import journals_in, read_journal
from sfumato.review.terminal.standing import check_same, histories


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
    found: list[History] = []
    records = records_hash(project.records)
    for path in journals_in(folder):
        written = read_journal(path)
        if written is None:
            continue
        check_same(written.beginning, project.pair_ids, records, path.name)
        found += histories(written.beginning.worker, written.entries).values()
    return Decisions.of(found)
