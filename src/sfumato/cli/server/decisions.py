"""The decisions of a closed project of the web application, as a file."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from sfumato.cli.output import say
from sfumato.cli.server.options import existing
from sfumato.core.atomic import atomic_path, check_target
from sfumato.core.errors import InputError


def project_id(given: Path) -> UUID | None:
    """The id of a project, where an argument is one and no folder.

    Parameters
    ----------
    given
        The argument.
    """
    if given.exists():
        return None
    try:
        return UUID(str(given))
    except ValueError:
        return None


def export_project(
    project: UUID, output: Path, data: Path, keys: Path | None, database: str
) -> None:
    """Write ``decisions.parquet`` of a closed project; it is in the audit log.

    Parameters
    ----------
    project
        Its id.
    output
        The file.
    data, keys, database
        The server.

    Raises
    ------
    InputError
        If there is no such project, it is not closed, or the file cannot be written.
    """
    check_target(output)
    existing(data, keys, database)
    from sfumato.server.audit.append import append
    from sfumato.server.manager.exports import decisions_bytes
    from sfumato.server.store.models import Project, ProjectState

    found = Project.objects.filter(pk=project).first()
    if found is None:
        raise InputError("argument ID", "must be a project", advice="see: sfumato project list")
    if found.state != ProjectState.CLOSED:
        raise InputError("the project", "must be closed first", found=f"it is {found.state}")
    content = decisions_bytes(found)
    with atomic_path(output) as part:
        part.write_bytes(content)
    append(None, "export decisions", f"project {found.pk}", {"bytes": len(content)})
    say(f"Wrote {output}")
