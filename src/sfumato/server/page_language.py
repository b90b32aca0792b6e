"""Pages in the language that the browser prefers, as far as it is one of ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language, override
from django.utils.translation.trans_real import translation

from sfumato.core.phrases import ENGLISH, LANGUAGES, UNREAD, catalog, language, speaking

LANGUAGE_SETTINGS: dict[str, object] = {
    # Where the browser asks for none of these.
    "LANGUAGE_CODE": ENGLISH,
    "LANGUAGES": [(each, each) for each in LANGUAGES],
    "USE_I18N": True,
}


def load_catalogs() -> None:
    """Have Django say what our catalogs say; its own texts it knows."""
    for chosen in LANGUAGES[1:]:
        translation(chosen).merge(catalog(chosen))


_ENGLISH = re.compile(r"/(projects(?!/[^/]+/(pairs|rules|consent|grants|purge))|audit)")
"""Addresses of pages that speak English alone."""


def speaks_as_asked(answer: Callable[[HttpRequest], HttpResponse]) -> Callable[..., HttpResponse]:
    """A middleware behind Django's own, which reads what the browser prefers: ours speaks it."""

    def speaking_so(request: HttpRequest) -> HttpResponse:
        chosen = ENGLISH if _ENGLISH.match(request.path) else get_language() or ENGLISH
        with override(chosen), speaking(chosen):
            return answer(request)

    return speaking_so


def spoken_here(request: HttpRequest) -> dict[str, Any]:
    """What every template is told of its language."""
    del request
    return {"spoken": language(), "unread": language() in UNREAD}
