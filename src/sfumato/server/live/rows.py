"""The rows of a worker's request, read together and written together."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from sfumato.server.permissions.rules import know_member
from sfumato.server.store.models import Account, Allowance, Dealt, Project, Spent, StoredPair
from sfumato.server.store.statements import (
    Row,
    Statement,
    ask,
    columns,
    instance,
    locks_rows,
    value,
)

_PROJECT = (
    *("id", "title", "state", "custodian_id", "manager_id", "settings", "page_size"),
    *("fingerprint", "rows", "combined_units"),
)
_ALLOWANCE = ("id", "project_id", "worker_id", "rows", "units", "spent", "budget", "version")
_SPENT = ("id", "fingerprint", "worker", "score")
_DEALT = (
    *("id", "project_id", "worker_id", "pair_id", "token", "place", "taken_back", "shown"),
    *("modes", "answer", "skipped", "flagged", "note", "seconds"),
)
_PAIR = ("id", "project_id", "number")
_TASK = f"""
SELECT EXISTS (SELECT 1 FROM member m WHERE m.project_id = p.id AND m.account_id = %s),
    (SELECT SUM(v.version) FROM allowance v WHERE v.project_id = p.id),
    {columns(_PROJECT, "p")}, {columns(_ALLOWANCE, "a")},
    {columns(_SPENT, "s")}
FROM project p
LEFT JOIN allowance a ON a.project_id = p.id AND a.worker_id = %s
LEFT JOIN spent s ON s.fingerprint = p.fingerprint AND s.worker = %s
WHERE p.id = %s"""  # noqa: S608 - made of names of columns
_PAIR_OF = f"""
SELECT {columns(_DEALT, "d")}, {columns(_PAIR, "q")}
FROM dealt d JOIN pair q ON q.id = d.pair_id
WHERE d.project_id = %s AND d.worker_id = %s AND d.token = %s"""  # noqa: S608 - as above
_LOCK_PROJECT = "SELECT 1 FROM project WHERE id = %s FOR NO KEY UPDATE"
_LOCK_SPENT = """
SELECT 1 FROM spent s JOIN project p ON p.fingerprint = s.fingerprint
WHERE p.id = %s AND s.worker = %s FOR UPDATE OF s"""
_STANDING = """
SELECT COUNT(*), COUNT(*) FILTER (WHERE answer <> 0), COUNT(*) FILTER (WHERE skipped),
    COUNT(*) FILTER (WHERE flagged), COUNT(*) FILTER (WHERE place < %s)
FROM dealt WHERE project_id = %s AND worker_id = %s AND taken_back IS NULL"""


@dataclass(frozen=True)
class Rows:
    """The rows of a worker's request.

    Attributes
    ----------
    project
        The project; it knows whether the worker is a member.
    versions
        The sum of the versions of all its allowances.
    allowance, spent
        The worker's, ``None`` before the first request.
    dealt
        The pair that is asked for, ``None`` where there is none.
    """

    project: Project
    versions: int
    allowance: Allowance | None
    spent: Spent | None
    dealt: Dealt | None


def read_rows(account: Account, project_id: UUID, token: str = "") -> Rows | None:
    """The rows of a worker's request, locked; ``None`` where there is no such project.

    Whoever writes an allowance or a dealt pair has the lock of their project; what was spent of
    a source may be written from another project, and is locked itself.

    Parameters
    ----------
    account
        The worker.
    project_id
        The project.
    token
        The pair's id on the worker's page, ``""`` for none.
    """
    project, person = value(Project.id, project_id), account.pk
    statements: list[Statement] = []
    if locks_rows():
        statements += [
            (_LOCK_PROJECT, [project]),
            (_LOCK_SPENT, [project, account.pseudonym]),
        ]
    statements += [
        (_TASK, [person, person, account.pseudonym, project]),
        (_PAIR_OF, [project, person, token]),
    ]
    *_, tasks, pairs = ask(*statements)
    return _rows(account, tasks[0], pairs) if tasks else None


def write_charge(project: Project | None, allowance: Allowance, spent: Spent) -> list[Statement]:
    """Statements that write a charge.

    Parameters
    ----------
    project
        The project, ``None`` where its combined state is what it was.
    allowance, spent
        The worker's.
    """
    found: list[Statement] = [
        (
            "UPDATE allowance SET units = %s, spent = %s, version = %s WHERE id = %s",
            [allowance.units, allowance.spent, allowance.version, allowance.pk],
        ),
        ("UPDATE spent SET score = %s WHERE id = %s", [spent.score, spent.pk]),
    ]
    if project is not None:
        found.append(
            (
                "UPDATE project SET combined_units = %s WHERE id = %s",
                [project.combined_units, value(Project.id, project.pk)],
            )
        )
    return found


def write_shown(dealt: Dealt) -> Statement:
    """The statement that writes how much of a pair is shown, and since when.

    Parameters
    ----------
    dealt
        The pair.
    """
    shown = value(Dealt.shown, dealt.shown)
    text = "UPDATE dealt SET modes = %s, shown = %s WHERE id = %s"
    return text, [dealt.modes, shown, dealt.pk]


def count_pile(project: Project, worker: Account, place: int) -> tuple[int, ...]:
    """Numbers of a worker's pairs, of the decided, skipped and flagged ones, and of those before.

    Parameters
    ----------
    project
        The project.
    worker
        The worker.
    place
        Place, as it was dealt, before which pairs are counted.
    """
    ((row,),) = ask((_STANDING, [place, value(Project.id, project.pk), worker.pk]))
    return row


def _rows(account: Account, row: Row, pairs: list[Row]) -> Rows:
    is_member, versions, *values = row
    project = instance(Project, _PROJECT, tuple(values[: len(_PROJECT)]))
    know_member(project, account, is_member=bool(is_member))
    rest = values[len(_PROJECT) :]
    allowance = spent = dealt = None
    if rest[0] is not None:
        allowance = instance(Allowance, _ALLOWANCE, tuple(rest[: len(_ALLOWANCE)]))
    if rest[len(_ALLOWANCE)] is not None:
        spent = instance(Spent, _SPENT, tuple(rest[len(_ALLOWANCE) :]))
    if pairs:
        dealt = instance(Dealt, _DEALT, pairs[0][: len(_DEALT)])
        dealt.pair = instance(StoredPair, _PAIR, pairs[0][len(_DEALT) :])
        dealt.project, dealt.worker = project, account
    return Rows(project, int(versions or 0), allowance, spent, dealt)
