"""The one Django app."""

from __future__ import annotations

from django.apps import AppConfig


class StoreConfig(AppConfig):
    """Everything that is stored."""

    name = "sfumato.server.store"
    label = "store"
    default_auto_field = "django.db.models.BigAutoField"
