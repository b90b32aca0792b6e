"""Set Django up for a server, and bring its database up to date."""

from __future__ import annotations

from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command

from sfumato.core.errors import InputError
from sfumato.server.config import ServerConfig, check_config
from sfumato.server.django_settings import django_settings
from sfumato.server.vault.keys import Keys, load_keys


def boot(config: ServerConfig) -> Keys:
    """Make folders and keys, configure Django, run migrations.

    A process can be one server only.

    Parameters
    ----------
    config
        The set-up.

    Raises
    ------
    InputError
        If the set-up cannot work, or the process is another server already.
    """
    check_config(config)
    if settings.configured:
        raise InputError("the process", "can be one server only")
    _make_folder(config.data)
    _make_folder(config.data / "uploads")
    keys = load_keys(config.keys)
    settings.configure(**django_settings(config, keys))
    django.setup()
    call_command("migrate", interactive=False, verbosity=0)
    return keys


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
    except OSError:
        raise InputError("option --data", "must be a folder that exists or can be made") from None
