"""Every address × everybody: what `routes.TABLE` says, and no address that it does not name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from server.clinic import stored
from server.people import changed, person, quick_hashes, visitor
from server.routes import PEOPLE, TABLE

__all__ = ["quick_hashes"]


def _walk(patterns: Any, before: str = "") -> Iterator[str]:
    """Every address of the server, as its pattern."""
    for each in patterns:
        here = before + str(each.pattern)
        if hasattr(each, "url_patterns"):
            yield from _walk(each.url_patterns, here)
        else:
            yield here


def _addresses() -> set[str]:
    from django.urls import get_resolver

    return set(_walk(get_resolver().url_patterns))


def test_every_address_is_in_the_table() -> None:
    assert _addresses() - {pattern for _, pattern in TABLE} == set(), "add them to routes.py"


def test_every_address_of_the_table_is_there() -> None:
    assert {method for method, _ in TABLE} == {"GET", "POST"}
    assert {pattern for _, pattern in TABLE} - _addresses() == set()


class Scene:
    """A project, its people and others of the same roles."""

    def __init__(self) -> None:
        from sfumato.server.store.models import Dealt

        roles = {name: name.removeprefix("other ") for name in PEOPLE[1:]}
        self.people = {name: person(name, role) for name, role in roles.items()}
        own = tuple(self.people[name] for name in ("custodian", "manager", "worker"))
        self.project, _ = stored(people=own)  # type: ignore[arg-type]
        self.token = Dealt.objects.filter(project=self.project).first().token
        self.target = person("somebody", "worker")

    def browser(self, name: str) -> Any:
        import time

        client = visitor()
        if name != "nobody":
            backend = "sfumato.server.accounts.backend.AccountBackend"
            client.force_login(self.people[name], backend=backend)
            session = client.session
            session["fresh"] = session["seen"] = time.time()
            session.save()
        return client

    def address(self, pattern: str) -> str:
        filled = {
            "<uuid:project_id>": str(self.project.pk),
            "<int:number>": "1",
            "<str:pseudonym>": self.target.pseudonym,
            "<str:verb>": "skip",
        }
        token = self.token if "pairs" in pattern else "none"
        for place, value in {**filled, "<str:token>": token}.items():
            pattern = pattern.replace(place, value)
        return f"/{pattern}"


@pytest.mark.parametrize(
    "pattern", dict.fromkeys(pattern for _, pattern in TABLE), ids=lambda text: text or "start"
)
def test_everybody_gets_the_answer_of_the_table(pattern: str) -> None:
    """To look comes first, as it changes nothing."""
    scene = Scene()
    for method in ("GET", "POST"):
        if (method, pattern) in TABLE:
            _answers(scene, method, pattern)


def _answers(scene: Scene, method: str, pattern: str) -> None:
    expected = dict(zip(PEOPLE, TABLE[method, pattern].split(), strict=True))
    address, got = scene.address(pattern), {}
    assert "<" not in address, "say above what stands for the part in brackets"
    for name in PEOPLE:
        answer = scene.browser(name).generic(
            method, address, b"", "application/x-www-form-urlencoded"
        )
        got[name] = str(answer.status_code)
        if name == "nobody" and got[name] == "302":
            assert answer["Location"].startswith("/login"), answer["Location"]
        if got[name] in {"403", "404"}:
            assert str(scene.project.title) not in answer.content.decode()
    assert got == expected, method


@pytest.mark.parametrize("state", ["closed", "purged"])
@pytest.mark.parametrize("pattern", ["grants", "purge", "pairs"])
def test_a_project_that_is_over_shows_no_more_than_its_state(state: str, pattern: str) -> None:
    scene = Scene()
    changed(scene.project, state=state)
    if state == "purged":
        scene.project.members.all().delete()
    expected = {
        ("closed", "grants"): "200",
        ("closed", "purge"): "200",
        ("closed", "pairs"): "403",
        ("purged", "grants"): "403",
        ("purged", "purge"): "403",
        ("purged", "pairs"): "404",
    }
    who = "worker" if pattern == "pairs" else "custodian"
    answer = scene.browser(who).get(f"/projects/{scene.project.pk}/{pattern}")
    assert str(answer.status_code) == expected[state, pattern]


def test_a_custodian_who_manages_a_project_grants_nothing_in_it() -> None:
    both = person("both", "custodian", "manager")
    worker = person("wendy", "worker")
    project, _ = stored(people=(both, person("mona", "manager"), worker))
    changed(project, manager=both)
    scene = Scene.__new__(Scene)
    scene.people = {"both": both}
    answer = scene.browser("both").get(f"/projects/{project.pk}/grants")
    assert answer.status_code == 403
    assert b"project that they manage" in answer.content
