"""Pages in other languages: all that a release's page says, but for what is listed here."""

from __future__ import annotations

import html
import json
import re
from datetime import date
from gettext import NullTranslations
from importlib.metadata import version
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.core import phrases
from sfumato.examples import generate_clinics, write_clinics
from sfumato.risk.risk_thresholds import thresholds
from sfumato.risk.verdict import PRESETS

MADE = date(2026, 5, 4)
UNTRANSLATED = {*PRESETS, *(each.source for each in thresholds())}
"""What a page of a release says in English in every language, beside its warnings, what is drawn
in pictures, the manifest, and names of columns and measures: whose limits there are."""


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("languages")
    write_clinics(generate_clinics(120, rng=1), folder)
    return folder / "visits.csv"


@pytest.fixture(scope="module")
def release(visits: Path) -> sf.Release:
    schema = sf.load_schema(visits.with_name("schema.toml"))
    return sf.anonymize(visits, schema, sf.PidKAnonymity(3), seed=1)


def page(result: object, folder: Path, language: str | None = None) -> str:
    sf.report(result, folder / "page.html", made=MADE, language=language)  # type: ignore[arg-type]
    return (folder / "page.html").read_text("utf-8")


def english_left(text: str, names: set[str]) -> list[str]:
    """Texts of a page outside of brackets, in which a language that is none puts each message."""
    text = re.sub(r"(?s)<(style|svg|code).*?</\1>|<table class=\"manifest\">.*?</table>", " ", text)
    text = re.sub(r"(?s)<ul>\n<li>.*?</ul>", " ", text)  # warnings
    left, depth, found = "", 0, []
    for sign in html.unescape(re.sub(r"</?(?:small|dfn|strong|em)[^>]*>", " ", text)):
        depth += (sign == "⟦") - (sign == "⟧")
        left += "\n" if sign in "⟦⟧" or depth else sign
    for line in re.sub(r"<[^>]*>", "\n", left).split("\n"):
        words = re.sub(r"[\d.,;:·()%“”*/–<>-]", " ", line).strip()
        if re.search(r"[A-Za-z]{2}", words) and not {*words.split()} <= names:
            found.append(line.strip())
    return found


def test_all_of_a_release_is_translated_but_what_is_listed(
    release: sf.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    class Brackets(NullTranslations):
        def gettext(self, message: str) -> str:
            # What is filled in stays outside, so that English in it is seen.
            return "".join(
                part if place % 2 else f"⟦{part}⟧"
                for place, part in enumerate(re.split(r"(\{\w+\}|%\(\w+\)s)", message))
            )

        def ngettext(self, one: str, several: str, number: int) -> str:
            return self.gettext(one if number == 1 else several)

    monkeypatch.setattr(phrases, "catalog", lambda chosen: Brackets())
    text = page(release, tmp_path, "de")
    assert text.count("⟦") > 300
    names = {*release.schema.roles()["quasi-identifier"], *release.columns, "NCP", "ANE", "SSE"}
    names |= {"SST", "name", "phone", "visit_date", "icd", "patient", "sfumato", version("sfumato")}
    left = {*english_left(text, names)} - UNTRANSLATED - {"May", f"· sfumato {version('sfumato')}"}
    assert not left


@pytest.mark.parametrize("language", ["de", "fr"])
def test_a_page_in_another_language(release: sf.Release, tmp_path: Path, language: str) -> None:
    english, plain = page(release, tmp_path), (tmp_path / "page.json").read_text("utf-8")
    said = page(release, tmp_path, language)
    assert (tmp_path / "page.json").read_text("utf-8") == plain
    assert [f'<html lang="{each}">' in said for each in ("en", language)] == [False, True]
    headline = json.loads(plain)["verdict"]["headline"]
    assert headline in html.unescape(english)
    assert headline not in html.unescape(said)
    notice = "No native speaker has read this translation."
    with phrases.speaking(language):
        (told,) = (
            phrases.gettext(each)
            for each in phrases.entries(_text(language))
            if each.startswith(notice)
        )
    assert told in html.unescape(said)
    assert notice not in english
    assert said.count("<tr>") == english.count("<tr>")


def _text(language: str) -> str:
    return (
        Path(phrases.__file__).with_name("languages").joinpath(f"{language}.po").read_text("utf-8")
    )


def test_pages_that_are_not_translated_are_english_throughout(
    release: sf.Release, visits: Path, tmp_path: Path
) -> None:
    found = sf.attack(release, original=visits, attacks=["row_order"], seed=1)
    assert page(found, tmp_path, "de") == page(found, tmp_path)


def test_an_unknown_language_is_refused(release: sf.Release, tmp_path: Path) -> None:
    with pytest.raises(sf.InputError, match="language"):
        sf.report(release, tmp_path / "page.html", language="tlh")
    assert not list(tmp_path.iterdir())
