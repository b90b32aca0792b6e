"""The addresses of these pages."""

from __future__ import annotations

from django.urls import URLPattern, path

from sfumato.server.auditor.views import audit, check, download

urlpatterns: list[URLPattern] = [
    path("audit", audit, name="audit"),
    path("audit/check", check, name="audit_check"),
    path("audit/download", download, name="audit_download"),
]
