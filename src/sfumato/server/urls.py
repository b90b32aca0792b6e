"""The addresses of all pages."""

from __future__ import annotations

from django.urls import include, path

from sfumato.server.error_pages import health

urlpatterns = [
    path("health", health),
    path("", include("sfumato.server.accounts.urls")),
    path("", include("sfumato.server.worker.urls")),
    path("", include("sfumato.server.manager.urls")),
    path("", include("sfumato.server.custodian.urls")),
    path("", include("sfumato.server.auditor.urls")),
]

handler400 = "sfumato.server.error_pages.bad_request"
handler403 = "sfumato.server.error_pages.forbidden"
handler404 = "sfumato.server.error_pages.not_found"
handler500 = "sfumato.server.error_pages.server_error"
