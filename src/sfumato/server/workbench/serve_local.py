"""The process of the workbench: a free port of this machine, a browser, an end after idle hours."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from waitress.server import create_server

from sfumato.core.errors import InputError
from sfumato.core.workspace import Workspace
from sfumato.server.discretion import header_settings, log_without_values
from sfumato.server.page_language import LANGUAGE_SETTINGS, load_catalogs
from sfumato.server.workbench.local_guard import ENTER, Entrance, Guard, LocalAddress

IDLE_HOURS = 8
"""Hours without a click after which the workbench ends: a forgotten one stays open to nobody."""
HERE = "127.0.0.1"
_THREADS = 6
_PAGE = """<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<title>sfumato</title><meta http-equiv="refresh" content="0;url={link}">
<p><a href="{link}">Open the workbench</a></p>
"""


@dataclass
class LocalServer:
    """A workbench that listens.

    Attributes
    ----------
    port
        Where it listens; 0 for any free one.
    tell
        Told the lines that the person at the terminal reads.
    """

    port: int = 0
    tell: Callable[[str], None] = print
    entrance: Entrance = field(default_factory=Entrance, repr=False)
    _last: float = field(default_factory=time.monotonic, repr=False)

    def serve(self, *, browser: bool = True) -> None:
        """Answer requests until Ctrl-C, SIGTERM, or hours in which nobody asks."""
        log_without_values()
        listening = _listening(self.port)
        address = LocalAddress(listening.getsockname()[1])
        boot_local(address)
        guard = Guard(get_wsgi_application(), address, self.entrance, self._seen)
        server = create_server(
            guard, sockets=[listening], threads=_THREADS, ident=None,
            clear_untrusted_proxy_headers=True, max_request_body_size=1 << 20,
            inbuf_overflow=1 << 40, outbuf_overflow=1 << 40, asyncore_use_poll=True,
        )  # fmt: skip
        _leave_by_signal()
        threading.Thread(target=self._watch, daemon=True).start()
        with Workspace() as workspace:
            try:
                self._open(address, workspace.path, browser=browser)
                server.run()
            except SystemExit:
                pass
            finally:
                server.close()

    def link(self, address: LocalAddress) -> str:
        """A link that opens the workbench once, within a minute."""
        # Behind the #, so that the token is in no request's address.
        return f"{address.origin}{ENTER}#{self.entrance.token()}"

    def _open(self, address: LocalAddress, folder: Path, *, browser: bool) -> None:
        opened = browser and self._opened(address, folder)
        if not opened:
            self.tell(f"Open within a minute: {self.link(address)}")
            self.tell(f"From another machine first: ssh -L {address.port}:{HERE}:{address.port} …")
        self.tell("Enter for a new link, Ctrl-C to end.")
        if sys.stdin is not None and sys.stdin.isatty():
            threading.Thread(target=self._links, args=(address,), daemon=True).start()

    def _opened(self, address: LocalAddress, folder: Path) -> bool:
        """Open the browser by a file that only its owner reads: others see command lines."""
        page = folder / "open.html"
        page.touch(mode=0o600)
        page.write_text(_PAGE.format(link=self.link(address)), encoding="utf-8")
        return webbrowser.open(page.as_uri())

    def _links(self, address: LocalAddress) -> None:
        for _ in sys.stdin:
            self.tell(f"Open within a minute: {self.link(address)}")

    def _seen(self) -> None:
        self._last = time.monotonic()

    def _watch(self) -> None:
        while time.monotonic() - self._last < IDLE_HOURS * 3600:
            time.sleep(30)
        os.kill(os.getpid(), signal.SIGTERM)


def _listening(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HERE, port))
    except (OSError, OverflowError):
        listening.close()
        raise InputError(
            "option --port",
            "must be a port that nothing listens at",
            accepted="1024 to 65535, or leave it out",
        ) from None
    return listening


def _leave_by_signal() -> None:
    def leave(_number: int, _frame: FrameType | None) -> None:
        raise SystemExit(0)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)


def has_browser() -> bool:
    """Whether this machine has a screen on which a browser can open."""
    if os.name == "posix" and sys.platform != "darwin":
        screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        return bool(screen) and shutil.which("xdg-open") is not None
    return True


_FOLDER = Path(__file__).parent
_PAGES = _FOLDER.parent / "pages"
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
            "django.middleware.locale.LocaleMiddleware",
            "sfumato.server.page_language.speaks_as_asked",
            "sfumato.server.workbench.frame.shows_its_place",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
        ],
        "TEMPLATES": [
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [_FOLDER / "templates", _PAGES / "templates"],
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "sfumato.server.page_language.spoken_here",
                    ]
                },
            }
        ],
        "STATIC_URL": "/static/",
        "STATICFILES_DIRS": [_FOLDER / "static", _PAGES / "static"],
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
        **LANGUAGE_SETTINGS,
        "LOGGING_CONFIG": None,
        "DEBUG": False,
    }


def boot_local(address: LocalAddress) -> None:
    """Configure Django; a process can be one server only."""
    if settings.configured:
        raise InputError("the process", "can be one server only")
    settings.configure(**local_settings(address))
    django.setup()
    load_catalogs()
