"""Every text that a translated page says has its translations, and they fit it."""

from __future__ import annotations

import re
from string import Formatter

import messages
import pytest

from sfumato.core.phrases import entries
from sfumato.reports.printed_numbers import TRANSLATED

LANGUAGES = [*messages.CATALOGS]
ENGLISH_ONLY = {
    "reports/profile", "reports/requested", "reports/review", "server/pages/fragments",
    "server/pages/templates",
}  # fmt: skip
"""Pages, and folders of pages, that no one has translated: they are in English throughout."""
PLACE = re.compile(r"%\(\w+\)s|%%|</?\w+>")


def places(text: str) -> set[str]:
    """Named places and markup of a text."""
    found = {*PLACE.findall(text)} - {"%%"}
    if not found and "%%" not in text:
        found |= {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_message_is_missing_and_none_left_over(language: str) -> None:
    assert len(messages.messages()) > 300
    assert messages.differing(language) == ([], [])


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_have_the_places_of_their_message(language: str) -> None:
    told = entries(messages.CATALOGS[language].read_text("utf-8"))
    for key, said in told.items():
        if not key:
            continue
        # One thing may be named without its number.
        wanted = {frozenset(places(each)) for each in key.split("\0")}
        *_, last = said.split("\0")
        assert {frozenset(places(each)) for each in said.split("\0")} <= wanted, key
        assert places(last) == places(key.split("\0")[-1]), key
        assert ("%%" in said) == ("%%" in key), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_english_text_that_changes_loses_its_translation(
    language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = messages.messages()
    changed = (f"{first[0]}, too", *first[1:])
    monkeypatch.setattr(messages, "messages", lambda: [changed, *others])
    assert messages.differing(language) == ([changed], [first[0]])
    text = messages.written(language)
    assert f'msgid "{changed[0]}"\nmsgstr ""' in text
    kept = entries(text)
    assert all(kept["\0".join(each)] for each in others)


def test_each_page_is_translated_or_listed_as_english() -> None:
    parts = {"reports/page", "reports/project_page", "reports/macros", "server/workbench/templates"}
    found = set()
    for path in messages.PACKAGE.rglob("*.html"):
        room, *folders, name = path.relative_to(messages.PACKAGE).with_suffix("").parts
        found.add(f"{room}/{name}" if room == "reports" else "/".join((room, *folders[:2])))
    translated = {f"reports/{name.removesuffix('.html')}" for name in TRANSLATED}
    assert found == ENGLISH_ONLY | parts | translated
    assert not ENGLISH_ONLY & translated


def test_what_is_found_in_code_and_templates() -> None:
    code = """
Phrase("a {b}", b=1); x.Sentence("c"); Plural("d", "e", n); _(name); counted(n, "possible match")
counted("words", "of another function")
"""
    assert [*messages.of_code(code)] == [
        ("a {b}",),
        ("c",),
        ("d", "e"),
        ("{n} possible match", "{n} possible matches"),
    ]
    page = '{{ _("f") }}{% trans n=1 %}5 % of {{ n }}{% pluralize %}of {{ n }}{% endtrans %} no'
    assert [*messages.of_template(page)] == [("f",), ("5 %% of %(n)s", "of %(n)s")]
