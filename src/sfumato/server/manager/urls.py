"""The addresses of these pages."""

from __future__ import annotations

from django.urls import URLPattern, path

from sfumato.server.manager.views import (
    close,
    conflict,
    conflict_open,
    conflict_resolve,
    conflicts,
    deal_page,
    export_decisions,
    export_identities,
    export_linked,
    export_report,
    invite_page,
    manage,
    progress_fragment,
    projects,
)
from sfumato.server.manager.views_new import cancel, new, settings_page

_PROJECT = "projects/<uuid:project_id>"

urlpatterns: list[URLPattern] = [
    path("projects", projects, name="projects"),
    path("projects/new", new, name="new"),
    path("projects/new/settings", settings_page, name="new_settings"),
    path("projects/new/cancel", cancel, name="new_cancel"),
    path(f"{_PROJECT}/", manage, name="manage"),
    path(f"{_PROJECT}/progress", progress_fragment, name="progress"),
    path(f"{_PROJECT}/deal", deal_page, name="deal"),
    path(f"{_PROJECT}/invite", invite_page, name="invite_worker"),
    path(f"{_PROJECT}/close", close, name="close"),
    path(f"{_PROJECT}/conflicts", conflicts, name="conflicts"),
    path(f"{_PROJECT}/conflicts/<int:number>", conflict, name="conflict"),
    path(f"{_PROJECT}/conflicts/<int:number>/open", conflict_open, name="conflict_open"),
    path(f"{_PROJECT}/conflicts/<int:number>/resolve", conflict_resolve, name="conflict_resolve"),
    path(f"{_PROJECT}/export/decisions", export_decisions, name="export_decisions"),
    path(f"{_PROJECT}/export/report", export_report, name="export_report"),
    path(f"{_PROJECT}/export/linked", export_linked, name="export_linked"),
    path(f"{_PROJECT}/export/identities", export_identities, name="export_identities"),
]
