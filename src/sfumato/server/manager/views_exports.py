"""Downloads of a closed project: decisions, the report, the linked file, identities."""

from __future__ import annotations

import hashlib
import json

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from sfumato.reports.disclosure_report import draw_disclosure
from sfumato.server.audit.append import append
from sfumato.server.custodian.grants import use_identity_grant
from sfumato.server.live.stop import Stop
from sfumato.server.manager.access import of_project_fresh
from sfumato.server.manager.disclosure import disclosure_of
from sfumato.server.manager.exports import decisions_bytes, identities_bytes
from sfumato.server.manager.linked import linked_file
from sfumato.server.permissions.rules import Action
from sfumato.server.store.models import Project

PARQUET = "application/vnd.apache.parquet"


@require_POST
@of_project_fresh(Action.EXPORT_DECISIONS)
def export_decisions(request: HttpRequest, project: Project) -> HttpResponse:
    """``decisions.parquet``, which ``sfumato link apply`` takes.

    Parameters
    ----------
    request
        The request.
    project
        The project.
    """
    data = decisions_bytes(project)
    return _exported(request, project, "export decisions", data, "decisions.parquet", PARQUET)


@require_POST
@of_project_fresh(Action.EXPORT_DECISIONS)
def export_report(request: HttpRequest, project: Project) -> HttpResponse:
    """The disclosure report, as a page or as JSON.

    Parameters
    ----------
    request
        The request.
    project
        The project.

    Raises
    ------
    Stop
        If nothing can draw it here.
    """
    disclosure = disclosure_of(project)
    if request.POST.get("form") == "json":
        text, name, kind = json.dumps(disclosure.to_json(), indent=2), "json", "application/json"
    else:
        try:
            text, name, kind = draw_disclosure(disclosure), "html", "text/html; charset=utf-8"
        except ImportError:
            raise Stop(409, 'The report needs the extra "report" on the server.') from None
    name = f"disclosure.{name}"
    return _exported(request, project, "export report", text.encode(), name, kind)


@require_POST
@of_project_fresh(Action.EXPORT_LINKED)
def export_linked(request: HttpRequest, project: Project) -> HttpResponse:
    """The linked de-identified file, its persons settled with the decisions.

    Parameters
    ----------
    request
        The request.
    project
        The project.
    """
    data = linked_file(project, decisions_bytes(project))
    return _exported(request, project, "export linked", data, "linked.parquet", PARQUET)


@require_POST
@of_project_fresh(Action.EXPORT_IDENTITIES)
def export_identities(request: HttpRequest, project: Project) -> HttpResponse:
    """The decisions with both records of each pair; it uses the custodian's grant up.

    Parameters
    ----------
    request
        The request.
    project
        The project.
    """
    with transaction.atomic():
        use_identity_grant(project)
        data = identities_bytes(project)
        return _exported(request, project, "export identities", data, "identities.parquet", PARQUET)


def _exported(
    request: HttpRequest, project: Project, action: str, data: bytes, name: str, kind: str
) -> HttpResponse:
    digest = hashlib.sha256(data).hexdigest()
    append(request.user, action, f"project {project.pk}", {"bytes": len(data), "sha256": digest})
    answer = HttpResponse(data, content_type=kind)
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
