"""Django for one person on one machine: no accounts, no sessions, no database."""

from __future__ import annotations

import secrets
from pathlib import Path

import django
from django.conf import settings

from sfumato.core.errors import InputError
from sfumato.server.discretion import header_settings
from sfumato.server.workbench.local_guard import LocalAddress

_HERE = Path(__file__).parent
_PAGES = _HERE.parent / "pages"
Settings = dict[str, object]


def local_settings(address: LocalAddress) -> Settings:
    """All settings by name; who may ask at all is decided before Django (`local_guard`)."""
    return {
        **header_settings(tls=False),
        "ALLOWED_HOSTS": [address.host.partition(":")[0]],
        "ROOT_URLCONF": "sfumato.server.workbench.urls",
        "APPEND_SLASH": False,
        # Of this process alone: nothing signed by another start counts.
        "SECRET_KEY": secrets.token_urlsafe(48),
        "INSTALLED_APPS": ["django.contrib.staticfiles", "django_htmx"],
        "MIDDLEWARE": [
            "sfumato.server.discretion.AnswersMiddleware",
            "django.middleware.security.SecurityMiddleware",
            "whitenoise.middleware.WhiteNoiseMiddleware",
            "csp.middleware.CSPMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
        ],
        "TEMPLATES": [
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [_HERE / "templates", _PAGES / "templates"],
                "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
            }
        ],
        "STATIC_URL": "/static/",
        "STATICFILES_DIRS": [_HERE / "static", _PAGES / "static"],
        "WHITENOISE_USE_FINDERS": True,
        "WHITENOISE_AUTOREFRESH": False,
        "DATA_UPLOAD_MAX_MEMORY_SIZE": 1 << 20,
        # One field per column of a wide table, and more.
        "DATA_UPLOAD_MAX_NUMBER_FIELDS": 10_000,
        # There is no upload: the files are here already.
        "FILE_UPLOAD_HANDLERS": [],
        "DEFAULT_AUTO_FIELD": "django.db.models.BigAutoField",
        "USE_TZ": True,
        "TIME_ZONE": "UTC",
        "LANGUAGE_CODE": "en",
        "USE_I18N": True,
        "LOGGING_CONFIG": None,
        "DEBUG": False,
    }


def boot_local(address: LocalAddress) -> None:
    """Configure Django; a process can be one server only."""
    if settings.configured:
        raise InputError("the process", "can be one server only")
    settings.configure(**local_settings(address))
    django.setup()
