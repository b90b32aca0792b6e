"""Destroy a project: its key, its files, its rows; spent disclosure and the audit log stay."""

from __future__ import annotations

from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from sfumato.server.audit.append import append
from sfumato.server.live.memory import forget_project, lock_of
from sfumato.server.live.project_files import remove_files
from sfumato.server.live.stop import Stop
from sfumato.server.permissions.rules import Action, decide
from sfumato.server.store.models import (
    Account,
    Allowance,
    Grant,
    Link,
    Member,
    Project,
    ProjectState,
    StoredPair,
)


def purge(by: Account | None, project_id: UUID) -> None:
    """Destroy a project.

    Its title, its people, what was spent of its source, and the audit log stay. What a backup
    holds of it cannot be read without the key that is destroyed here, unless the backup has it.

    Parameters
    ----------
    by
        The custodian; ``None`` for whoever runs the server.
    project_id
        The project.

    Raises
    ------
    Stop
        If there is none, or they may not.
    """
    with lock_of(project_id):
        with transaction.atomic():
            project = Project.objects.select_for_update().filter(pk=project_id).first()
            if project is None:
                raise Stop(404, "There is no such project.")
            _check(by, project)
            pairs = StoredPair.objects.filter(project=project).count()
            for model in (StoredPair, Allowance, Grant, Link, Member):
                model.objects.filter(project=project).delete()
            project.state, project.wrapped_key = ProjectState.PURGED, b""
            project.attributes, project.settings, project.weights = [], {}, {}
            project.rows = project.combined_units = 0
            project.closed = project.closed or timezone.now()
            project.save()
            append(by, "purge project", f"project {project_id}", {"pairs": pairs})
        forget_project(project_id)
        remove_files(project_id)
    _empty_journal()


def _check(by: Account | None, project: Project) -> None:
    if project.state == ProjectState.PURGED:
        raise Stop(409, "The project is purged already.")
    if by is not None:
        permission = decide(by, Action.PURGE_PROJECT, project)
        if not permission.allowed:
            raise Stop(403, permission.reason)


def _empty_journal() -> None:
    """Let SQLite's write-ahead journal keep nothing of what was removed."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
