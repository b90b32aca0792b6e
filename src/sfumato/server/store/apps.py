"""The one Django app."""

from pathlib import Path

from django.apps import AppConfig


class StoreConfig(AppConfig):
    """Everything that is stored."""

    name = "sfumato.server.store"
    label = "store"
    # An editable installation has no folder that Django could find by itself.
    path = str(Path(__file__).resolve().parent)
    default_auto_field = "django.db.models.BigAutoField"
