"""The server's pages speak the browser's language, those of other rooms English alone."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from server.clinic import Browser, staff, stored
from server.manager_pages import client_of
from server.people import logged_in, person, quick_hashes, visitor

__all__ = ["quick_hashes"]
NAMES = {
    "sfumato",
    "paula",
    "carol",
    "mark",
    "wanda",
    "Name",
    "Code",
    "Pseudonym",
    "Clinics",
    "UTC",
}
"""Texts that are the same in English and in another language, or are data."""
CUSTODIANS = ("consent", "grants", "purge")
"""Pages of a project that its custodian has."""


def nodes(page: str) -> set[str]:
    """The texts of a page that have a word."""
    text = re.sub(r"(?s)<(title|script|style)[ >].*?</\1>|<!.*?>|<kbd.*?</kbd>", "\n", page)
    parts = re.sub(r"<[^>]*>", "\n", text).splitlines()
    return {html.unescape(each).strip() for each in parts if re.search(r"[A-Za-z]{3}", each)}


def labels(page: str) -> set[str]:
    """What pages say to screen readers alone."""
    return {html.unescape(each) for each in re.findall(r'aria-(?:label|valuetext)="([^"]+)"', page)}


def asked(client: Any, path: str, language: str) -> str:
    answer = client.get(path, headers={"accept-language": language})
    assert "accept-language" in answer["Vary"].lower()
    return str(answer.content.decode())


@pytest.mark.parametrize("language", ["de", "fr"])
def test_no_english_is_left_on_pages_of_accounts_workers_and_custodians(language: str) -> None:
    project, worker = stored(people=(people := staff()))
    where = f"/projects/{project.id}"
    pile = f"{where}/pairs"
    places = {
        client_of(people[0], fresh=True): [f"{where}/{each}" for each in CUSTODIANS],
        Browser(people[1], project).client: [f"{where}/rules"],
        Browser(worker, project).client: [pile, "/account", "/fresh", "/nowhere"],
        Browser(people[0], project).client: ["/account", f"{pile}?page=99"],
        logged_in(person("paula", "worker").name): ["/account/second-factor", "/account/password"],
        visitor(): ["/login", "/link/none"],
    }
    for client, paths in places.items():
        for path in paths:
            english, said = (asked(client, path, each) for each in ("en", language))
            assert f'<html lang="{language}">' in said, path
            assert nodes(english), path
            words = re.compile(r"[a-z]{4,} ")
            for both in ((nodes(english) & nodes(said)), (labels(english) & labels(said))):
                left = {each for each in both if each not in NAMES and not re.search(r"\d", each)}
                assert not {each for each in left if words.search(each)}, (path, left)
            assert said.count("<form") == english.count("<form"), path


@pytest.mark.parametrize(
    ("language", "same"), [("de", {"Server"}), ("fr", {"Invitations", "Versions"})]
)
@pytest.mark.parametrize("role", ["custodian", "auditor"])
def test_no_english_is_left_on_what_to_watch(role: str, language: str, same: set[str]) -> None:
    client = logged_in(person("paula", role).name)
    english, said = (asked(client, "/watch", each) for each in ("en", language))
    assert f'<html lang="{language}">' in said
    assert len(nodes(said)) > 15
    for find in (nodes, labels):
        left = (find(english) & find(said)) - NAMES - same
        # What is left are names of versions.
        assert not {each for each in left if not re.fullmatch(r"[0-9]\S*", each)}


def test_the_script_of_the_desk_says_the_same_things_in_each_language() -> None:
    project, worker = stored()
    client = Browser(worker, project).client
    told = {
        each: json.loads(
            html.unescape(
                re.findall(
                    r'data-words="([^"]+)"', asked(client, f"/projects/{project.id}/pairs", each)
                )[0]
            )
        )
        for each in ("en", "de", "fr")
    }
    for each in ("de", "fr"):
        assert told[each].keys() == told["en"].keys()
        assert not {name for name in told["en"] if told[each][name] == told["en"][name]}, (
            "a text of the script is English"
        )


def test_pages_without_a_translation_are_english_throughout() -> None:
    project, _ = stored(people=(people := staff()))
    client = Browser(people[1], project).client
    for path in ("/projects", f"/projects/{project.id}/"):
        assert '<html lang="en">' in asked(client, path, "de")
    assert "Log out" in asked(client, "/projects", "de")


def test_an_answer_to_the_script_is_in_its_language_and_the_log_in_english() -> None:
    from sfumato.server.store.models import AuditEntry

    project, worker = stored()
    browser = Browser(worker, project)
    browser.get()
    token = browser.tokens()[0]
    answer = browser.client.post(
        f"/projects/{project.id}/pairs/{token}/decide",
        {"answer": "3"},
        headers={"accept": "application/json", "accept-language": "de"},
    )
    assert answer.json()["said"] == "Dieselbe, hohe Sicherheit"
    refused = browser.client.post(
        f"/projects/{project.id}/pairs/{token}/decide",
        {"answer": "9"},
        headers={"accept": "application/json", "accept-language": "fr"},
    )
    assert refused.status_code == 400
    assert "six réponses" in refused.json()["reason"]
    assert not any("Sicherheit" in str(each.detail) for each in AuditEntry.objects.all())
