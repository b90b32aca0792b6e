"""The addresses of all pages."""

from __future__ import annotations

from django.urls import include, path

from sfumato.server.health import health

urlpatterns = [
    path("health", health),
    path("", include("sfumato.server.accounts.urls")),
    path("", include("sfumato.server.worker.urls")),
    path("", include("sfumato.server.manager.urls")),
    path("", include("sfumato.server.custodian.urls")),
    path("", include("sfumato.server.auditor.urls")),
]

handler400 = "sfumato.server.errors.bad_request"
handler403 = "sfumato.server.errors.forbidden"
handler404 = "sfumato.server.errors.not_found"
handler500 = "sfumato.server.errors.server_error"
