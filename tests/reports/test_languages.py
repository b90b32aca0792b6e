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
from reports.project_results import CONTEXT, SECRETS, results
from reports.test_linkage_report import SPEC

import sfumato as sf
from sfumato.core import phrases
from sfumato.examples import generate_clinics, generate_registrations, write_clinics
from sfumato.linkage.link import link
from sfumato.reports.audience import Audience
from sfumato.reports.project_results import STATED
from sfumato.risk.risk_thresholds import thresholds
from sfumato.risk.verdict import PRESETS, WHO, Cure

MADE = date(2026, 5, 4)
UNTRANSLATED = {*PRESETS, *(each.source for each in thresholds())}
"""What pages say in English in every language, beside warnings, the manifest, and names of columns
and measures: whose limits there are."""


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("languages")
    write_clinics(generate_clinics(120, rng=1), folder)
    return folder / "visits.csv"


@pytest.fixture(scope="module")
def release(visits: Path) -> sf.Release:
    schema = sf.load_schema(visits.with_name("schema.toml"))
    return sf.anonymize(visits, schema, sf.PidKAnonymity(3), seed=1)


@pytest.fixture(scope="module")
def attack(release: sf.Release, visits: Path) -> sf.Attack:
    return sf.attack(release, original=visits, seed=1)


def page(result: object, folder: Path, language: str | None = None) -> str:
    sf.report(result, folder / "page.html", made=MADE, language=language)  # type: ignore[arg-type]
    return (folder / "page.html").read_text("utf-8")


_WORD = re.compile(r"[A-Za-z_]\w+")


def english_left(text: str, names: set[str]) -> list[str]:
    """Texts of a page outside of brackets, in which a language that is none puts each message."""
    text = re.sub(r"(?s)<(style|code).*?</\1>|<table class=\"manifest\">.*?</table>", " ", text)
    text = re.sub(r"(?s)<ul class=\"warnings\">.*?</ul>", " ", text)
    left, depth, found = "", 0, []
    for sign in html.unescape(re.sub(r"</?(?:small|dfn|strong|em)[^>]*>", " ", text)):
        depth += (sign == "⟦") - (sign == "⟧")
        left += "\n" if sign in "⟦⟧" or depth else sign
    known = {*_WORD.findall(" ".join(names).lower())}
    lines = re.sub(r"<[^>]*>", "\n", left).split("\n")
    found += [line.strip() for line in lines if not {*_WORD.findall(line.lower())} <= known]
    return found


class Brackets(NullTranslations):
    """A language in which each message stands in brackets."""

    def gettext(self, message: str) -> str:
        # What is filled in stays outside, so that English in it is seen.
        return "".join(
            part if place % 2 else f"⟦{part}⟧"
            for place, part in enumerate(re.split(r"(\{\w+\}|%\(\w+\)s)", message))
        )

    def ngettext(self, one: str, several: str, number: int) -> str:
        return self.gettext(one if number == 1 else several)


def _values(release: sf.Release) -> set[str]:
    """What the pictures of a release show of the data."""
    labels = (label for each in release.utility.distributions for label in each.labels)
    return {word for label in labels for word in label.split()}


@pytest.fixture(scope="module")
def linkage() -> sf.Links:
    made = generate_registrations(generate_clinics(60, rng=11))
    return link({"hospital": made.hospital, "practice": made.practice}, SPEC, seed=4)


@pytest.fixture(scope="module")
def project(release: sf.Release) -> sf.ProjectResults:
    return results(release)


@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize("recipient", [None, "the diabetes group"])
def test_all_of_a_project_is_translated_but_its_own_words(
    project: sf.ProjectResults, recipient: str | None, audience: Audience,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(phrases, "catalog", lambda chosen: Brackets())
    named = {"audience": audience, "recipient": recipient, "language": "de", "made": MADE}
    sf.report(project, tmp_path / "page.html", **named)  # type: ignore[arg-type]
    text = (tmp_path / "page.html").read_text("utf-8")
    schema = project.schema
    names = {
        *SECRETS,
        *CONTEXT,
        *CONTEXT.values(),
        *STATED,
        *project.reasons.values(),
        *UNTRANSLATED,
        project.name,
    }
    names |= {*schema["quasi_identifiers"], *schema["sensitive"], *schema["insensitive"]}
    names |= {*schema["direct_identifiers"], str(schema["person"]), version("sfumato"), "sfumato"}
    names |= {"project", "dossier", "recipient", "KAPR", "CP", "checks", "pid_k", "May", "practice"}
    names |= {"context", "public"}
    names |= {limits[3] for limits in PRESETS.values()}
    left = english_left(text, names)
    assert not left, "\n".join(sorted(left))


@pytest.mark.parametrize("about", ["release", "attack", "linkage"])
def test_all_of_a_page_is_translated_but_what_is_listed(
    about: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = request.getfixturevalue("release")
    monkeypatch.setattr(phrases, "catalog", lambda chosen: Brackets())
    text = page(request.getfixturevalue(about), tmp_path, "de")
    assert text.count("⟦") > 100
    names = {*release.schema.roles()["quasi-identifier"], *release.columns, "NCP", "ANE", "SSE"}
    names |= {
        "SST",
        "pid_k",
        "name",
        "phone",
        "visit_date",
        "icd",
        "patient",
        "sfumato",
        version("sfumato"),
    }
    names |= _values(release)
    if about == "linkage":
        links = request.getfixturevalue(about)
        names |= {*(each.label for each in links.model.weights), *SPEC.columns}
        names |= {*links.records.sources, links.to_json()["persons"]["precision"]["why"]}
        names |= {"given date of birth surname", "link-only"}
    left = {*english_left(text, names)} - UNTRANSLATED - {"May"}
    assert not left, "\n".join(sorted(left))


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


def test_an_unknown_language_is_refused(release: sf.Release, tmp_path: Path) -> None:
    with pytest.raises(sf.InputError, match="language"):
        sf.report(release, tmp_path / "page.html", language="tlh")
    assert not list(tmp_path.iterdir())


def test_what_lowers_a_row_names_its_intruder_in_the_language_spoken() -> None:
    cure = Cure("acquaintance", "", "", (0.2, 0.1), (0.1, 0.2), enough=True)
    with phrases.speaking("de"):
        said = phrases.spoken(cure.said(""))
        assert phrases.spoken(WHO["acquaintance"]) in said
    assert "acquaintance" not in said
