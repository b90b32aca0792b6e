"""The workbench speaks the browser's language, as far as it knows it."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from server.workbench.workbenches import Workbench

import sfumato.server.workbench
from sfumato.core.phrases import gettext, speaking

SERVER = Path(sfumato.server.workbench.__file__).parents[1]
PAGES = SERVER / "pages" / "templates"
TEMPLATES = [
    *sorted((SERVER / "workbench" / "templates" / "workbench").glob("*.html")),
    *sorted(each for room in (".", "accounts", "worker") for each in (PAGES / room).glob("*.html")),
]
UNTRANSLATED = {
    "sfumato",
    "UTC",
    "Enter",
    "sfumato verify signature.json --signer KEY.pub",
    "NCP",
    "B",
    *"ufsnp",
}
"""What templates say in every language: names, what is typed, and keys."""
NOTICE = "No native speaker has read this translation."


@pytest.fixture(scope="module")
def cookie(bench: Workbench) -> str:
    return bench.enter()


def asked(bench: Workbench, cookie: str, path: str, language: str) -> str:
    status, headers, body = bench.ask(path, cookie=cookie, accept_language=language)
    assert status == 200
    assert "accept-language" in headers["Vary"].lower()
    return html.unescape(body.decode())


@pytest.mark.slow
@pytest.mark.parametrize("place", ["/start", "/data", "/release", "/sign", "/attack", "/link"])
def test_a_page_is_in_the_language_of_the_browser(
    bench: Workbench, cookie: str, place: str
) -> None:
    english = asked(bench, cookie, place, "en-GB,en;q=0.9")
    assert '<html lang="en">' in english
    assert NOTICE not in english
    for chosen, wanted in (("de-CH,de;q=0.8,en;q=0.3", "de"), ("fr", "fr")):
        said = asked(bench, cookie, place, chosen)
        assert f'<html lang="{wanted}">' in said
        with speaking(wanted):
            assert gettext("Skip to the content") in said
        assert "Skip to the content" not in said
        assert said.count("<form") == english.count("<form")
    # Of languages that it does not know it takes English.
    assert '<html lang="en">' in asked(bench, cookie, place, "fi,sv;q=0.5")


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_templates_say_nothing_outside_of_messages(file: Path) -> None:
    text = re.sub(
        r"(?s){% block (?:body|page) %}.*?endblock %}|{% comment %}.*?endcomment %}"
        r"|{% blocktranslate.*?endblocktranslate %}"
        r"|{[{%#].*?[}%#]}",
        " ",
        file.read_text("utf-8"),
    )
    text = re.sub(r"(?s)<!.*?>|<[^>]*?>", "\n", text)
    said = {line.strip(" ·") for line in html.unescape(text).splitlines()}
    assert {each for each in said if re.search(r"[A-Za-z]", each)} <= UNTRANSLATED
