"""Django's settings from ours, and Django started with them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.core.management import call_command

from sfumato.core.errors import InputError
from sfumato.server.config import DATABASE_FILE, ServerConfig, check_config, database_settings
from sfumato.server.discretion import header_settings
from sfumato.server.page_language import LANGUAGE_SETTINGS, load_catalogs
from sfumato.server.vault import LOG_BEGAN, Keys, load_keys

_HERE = Path(__file__).parent
Settings = dict[str, object]


def django_settings(config: ServerConfig, keys: Keys) -> Settings:
    """All settings by name.

    Pages load nothing from elsewhere and run no script but the one file; nothing is cached;
    cookies are for this site's own requests, and behind TLS for TLS only.
    """
    return {
        **_addresses(config),
        **_parts(),
        **_pages(),
        **_accounts(),
        **_sessions(config, keys),
        **header_settings(tls=config.behind_tls),
        **_uploads(config),
        "DATABASES": {"default": database_settings(config)},
        "DEFAULT_AUTO_FIELD": "django.db.models.BigAutoField",
        "USE_TZ": True,
        "TIME_ZONE": "UTC",
        **LANGUAGE_SETTINGS,
        # Django's own logging writes addresses and messages; ours leaves values out.
        "LOGGING_CONFIG": None,
        "DEBUG": False,
        "SFUMATO": config,
        "SFUMATO_KEYS": keys,
    }


def _addresses(config: ServerConfig) -> Settings:
    host = urlsplit(config.address).hostname or config.host
    return {
        # A request for another host's name is refused: its links would lead there.
        "ALLOWED_HOSTS": sorted({host, config.host, "127.0.0.1", "localhost", "[::1]"}),
        "CSRF_TRUSTED_ORIGINS": [config.address],
        "ROOT_URLCONF": "sfumato.server.urls",
        "APPEND_SLASH": False,
    }


def _parts() -> Settings:
    """The applications, and what each request goes through."""
    return {
        "INSTALLED_APPS": [
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "django.contrib.messages",
            "django.contrib.staticfiles",
            "sfumato.server.store.apps.StoreConfig",
        ],
        "MIDDLEWARE": [
            # First, so that answers of all the others have its headers, errors included.
            "sfumato.server.discretion.AnswersMiddleware",
            "django.middleware.security.SecurityMiddleware",
            # Before sessions: files need neither a database nor somebody who has logged in.
            "whitenoise.middleware.WhiteNoiseMiddleware",
            "csp.middleware.CSPMiddleware",
            "django.middleware.locale.LocaleMiddleware",
            "sfumato.server.page_language.speaks_as_asked",
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "sfumato.server.middleware.SessionRulesMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
        ],
    }


def _pages() -> Settings:
    return {
        "TEMPLATES": [
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [_HERE / "pages" / "templates"],
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.contrib.messages.context_processors.messages",
                        "sfumato.server.middleware.common",
                        "sfumato.server.page_language.spoken_here",
                    ]
                },
            }
        ],
        # In the session: in a cookie messages would lie in the browser.
        "MESSAGE_STORAGE": "django.contrib.messages.storage.session.SessionStorage",
        "STATIC_URL": "/static/",
        "STATICFILES_DIRS": [_HERE / "pages" / "static"],
        # Files come from the package: none have to be collected into a folder at an installation.
        "WHITENOISE_USE_FINDERS": True,
        "WHITENOISE_AUTOREFRESH": False,
    }


def _accounts() -> Settings:
    return {
        "AUTH_USER_MODEL": "store.Account",
        "AUTHENTICATION_BACKENDS": ["sfumato.server.accounts.backend.AccountBackend"],
        # Argon2 needs memory: guessing with many processors at once is no cheaper.
        "PASSWORD_HASHERS": ["django.contrib.auth.hashers.Argon2PasswordHasher"],
        "AUTH_PASSWORD_VALIDATORS": [
            {
                "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
                "OPTIONS": {"min_length": 12},
            },
            {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
        ],
        "LOGIN_URL": "/login",
        "LOGIN_REDIRECT_URL": "/",
    }


def _sessions(config: ServerConfig, keys: Keys) -> Settings:
    """Sessions and their forms: cookies for this site's own requests, behind TLS for TLS only."""
    return {
        "SECRET_KEY": keys.session.hex(),
        "SESSION_ENGINE": "sfumato.server.accounts.sessions",
        "SESSION_COOKIE_AGE": config.idle_minutes * 60,
        "SESSION_EXPIRE_AT_BROWSER_CLOSE": True,
        "SESSION_COOKIE_HTTPONLY": True,
        # Strict: no request that begins at another site is in somebody's session.
        "SESSION_COOKIE_SAMESITE": "Strict",
        "SESSION_COOKIE_SECURE": config.behind_tls,
        # A cookie, so that who only looks at the login writes no session.
        "CSRF_USE_SESSIONS": False,
        "CSRF_COOKIE_AGE": None,
        "CSRF_COOKIE_SECURE": config.behind_tls,
        "CSRF_COOKIE_HTTPONLY": True,
        "CSRF_COOKIE_SAMESITE": "Strict",
        "CSRF_FAILURE_VIEW": "sfumato.server.error_pages.csrf_failure",
    }


def _uploads(config: ServerConfig) -> Settings:
    return {
        # One MiB without files; those of an upload have their own limit (`uploads.MOST_BYTES`).
        "DATA_UPLOAD_MAX_MEMORY_SIZE": 1 << 20,
        "FILE_UPLOAD_MAX_MEMORY_SIZE": 1 << 20,
        "FILE_UPLOAD_TEMP_DIR": str(config.data / "uploads"),
        "FILE_UPLOAD_PERMISSIONS": 0o600,
    }


def boot(config: ServerConfig) -> Keys:
    """Make folders and keys, configure Django, run migrations.

    A process can be one server only.
    """
    check_config(config)
    if settings.configured:
        raise InputError("the process", "can be one server only")
    _make_folder(config.data)
    _make_folder(config.data / "uploads")
    keys = load_keys(config.keys)
    settings.configure(**django_settings(config, keys))
    django.setup()
    load_catalogs()
    if not config.database:
        # Made before SQLite makes it: what it writes ahead beside it takes over its mode.
        (config.data / DATABASE_FILE).touch(mode=0o600)
        (config.data / DATABASE_FILE).chmod(0o600)
    call_command("migrate", interactive=False, verbosity=0)
    # A key folder may be read-only; then who has the log forget is named by the check alone.
    with suppress(OSError):
        (config.keys / LOG_BEGAN).touch(mode=0o600)
    return keys


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Again, as a folder that was there keeps the mode that it had.
        folder.chmod(0o700)
    except OSError:
        raise InputError("option --data", "must be a folder that exists or can be made") from None
