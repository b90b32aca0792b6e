"""The addresses of these pages."""

from __future__ import annotations

from django.urls import URLPattern, path

from sfumato.server.worker.views import change, pair, work

urlpatterns: list[URLPattern] = [
    path("projects/<uuid:project_id>/pairs", work, name="work"),
    path("projects/<uuid:project_id>/pairs/<str:token>", pair, name="work_pair"),
    path("projects/<uuid:project_id>/pairs/<str:token>/<str:verb>", change, name="work_change"),
]
