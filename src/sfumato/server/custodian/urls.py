"""The addresses of these pages."""

from __future__ import annotations

from django.urls import URLPattern, path

from sfumato.server.custodian.views import grants_page, purge_page, revoke_page

_PROJECT = "projects/<uuid:project_id>"

urlpatterns: list[URLPattern] = [
    path(f"{_PROJECT}/grants", grants_page, name="grants"),
    path(f"{_PROJECT}/grants/<int:number>/revoke", revoke_page, name="revoke"),
    path(f"{_PROJECT}/purge", purge_page, name="purge"),
]
