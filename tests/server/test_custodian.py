"""What a custodian grants, and how a project is destroyed."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from server.clinic import Browser, review_project, stored
from server.people import actions, changed, logged_in, person, quick_hashes

__all__ = ["quick_hashes"]


class Scene:
    """A project with limits, its custodian logged in."""

    def __init__(self, **settings: Any) -> None:
        self.carol = person("carol", "custodian")
        self.mark = person("mark", "manager")
        self.wanda = person("wanda", "worker")
        rules = {"k": 3, "budget": 0.1, "project_budget": 0.2, **settings}
        self.project, _ = stored(
            review_project(**rules), people=(self.carol, self.mark, self.wanda)
        )
        self.client = logged_in("carol")
        self.path = f"/projects/{self.project.pk}/grants"

    def grant(self, kind: str, **data: Any) -> Any:
        return self.client.post(self.path, {"grant": kind, **data})

    def raise_to(self, budget: str) -> Any:
        return self.grant(
            "worker", **{"worker-worker": self.wanda.pseudonym, "worker-budget": budget}
        )

    def budget(self) -> float | None:
        from sfumato.server.store.models import Allowance

        value: float | None = Allowance.objects.get(project=self.project).budget
        return value

    def revoke(self, number: int = -1) -> Any:
        grants = list(self.project.grants.order_by("pk"))
        return self.client.post(f"{self.path}/{grants[number].pk}/revoke")


def test_the_budget_of_a_worker_is_raised_and_revoked() -> None:
    scene = Scene()
    assert scene.raise_to("0.3").status_code == 302
    assert scene.budget() == 0.3
    assert b"budget of wanda from 0.1 to 0.3" in scene.client.get(scene.path).content
    assert scene.revoke().status_code == 302
    assert scene.budget() == 0.1
    assert scene.revoke().status_code == 409
    assert actions()[-2:] == ["grant", "revoke"]


def test_no_limit_is_a_raise_too() -> None:
    scene = Scene()
    assert scene.raise_to(" No limit ").status_code == 302
    assert scene.budget() is None


@pytest.mark.parametrize(
    ("budget", "status"),
    [
        ("0.1", 409),
        ("0.05", 409),
        ("1.5", 200),
        ("-1", 200),
        ("nan", 200),
        ("x", 200),
        ("", 200),
        (" ", 200),
    ],
)
def test_a_budget_is_raised_only(budget: str, status: int) -> None:
    scene = Scene()
    assert scene.raise_to(budget).status_code == status
    assert scene.budget() == 0.1
    assert not scene.project.grants.exists()


def test_grants_are_revoked_in_their_order() -> None:
    scene = Scene()
    scene.raise_to("0.3")
    scene.raise_to("0.5")
    assert scene.revoke(0).status_code == 409
    assert scene.revoke(1).status_code == 302
    assert scene.revoke(0).status_code == 302
    assert scene.budget() == 0.1


def test_what_was_spent_stays_when_a_grant_is_revoked() -> None:
    from sfumato.server.store.models import Allowance, Spent

    scene = Scene(k=1)
    scene.raise_to("1")
    browser = Browser(scene.wanda, scene.project)
    browser.get()
    browser.open(browser.tokens()[0], [0], 2)
    spent = Spent.objects.get().score
    assert spent > 0
    scene.revoke()
    assert Spent.objects.get().score == spent
    assert Allowance.objects.get().spent == spent


def test_identities_may_be_exported_once_until_some_time() -> None:
    from django.utils import timezone

    from sfumato.server.custodian.project_grants import identity_grant, use_identity_grant
    from sfumato.server.error_pages import Stop
    from sfumato.server.store.models import Grant

    scene = Scene()
    assert identity_grant(scene.project) is None
    scene.grant("export", **{"export-hours": "24"})
    grant = identity_grant(scene.project)
    assert grant is not None
    assert use_identity_grant(scene.project) == grant
    assert identity_grant(scene.project) is None
    with pytest.raises(Stop):
        use_identity_grant(scene.project)
    scene.grant("export", **{"export-hours": "24"})
    changed(Grant.objects.get(used=None), expires=timezone.now() - timedelta(seconds=1))
    assert identity_grant(scene.project) is None
    scene.grant("export", **{"export-hours": "24"})
    scene.revoke()
    assert identity_grant(scene.project) is None


def test_a_grant_of_export_is_to_the_manager_of_its_time() -> None:
    from sfumato.server.custodian.project_grants import identity_grant

    scene = Scene()
    scene.grant("export", **{"export-hours": "24"})
    changed(scene.project, manager=person("mara", "manager"))
    assert identity_grant(scene.project) is None


def test_a_closed_project_has_exports_only() -> None:
    scene = Scene()
    changed(scene.project, state="closed")
    assert scene.raise_to("0.3").status_code == 409
    assert scene.grant("export", **{"export-hours": "1"}).status_code == 302


def test_a_grant_needs_a_fresh_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene()
    scene.raise_to("0.3")
    now = time.time()
    monkeypatch.setattr("sfumato.server.accounts.views.time.time", lambda: now + 301)
    assert scene.raise_to("0.5")["Location"].startswith("/fresh?next=%2Fprojects")
    answer = scene.revoke()
    assert answer["Location"].endswith("%2Fgrants"), "back to the page with the form"
    assert scene.budget() == 0.3


def test_the_custodian_who_manages_grants_nothing_by_any_way() -> None:
    from sfumato.server.custodian.project_grants import raise_budget
    from sfumato.server.error_pages import Stop

    scene = Scene()
    changed(scene.project, manager=scene.carol)
    assert scene.raise_to("0.3").status_code == 403
    with pytest.raises(Stop, match="manage"):
        raise_budget(scene.carol, scene.project.pk, scene.wanda, 0.3)
    assert scene.budget() == 0.1


def test_a_worker_of_another_project_is_none_of_this() -> None:
    scene = Scene()
    other = person("will", "worker")
    scene.grant("worker", **{"worker-worker": other.pseudonym, "worker-budget": "0.5"})
    assert scene.budget() == 0.1
    assert not scene.project.grants.exists()


def _purge(scene: Scene, typed: str) -> Any:
    return scene.client.post(f"/projects/{scene.project.pk}/purge", {"typed": typed})


def test_a_purge_needs_the_title() -> None:
    scene = Scene()
    assert b"not the project" in _purge(scene, "clinics?").content
    scene.project.refresh_from_db()
    assert scene.project.state == "open"


def test_a_purge_destroys_the_key_the_files_and_the_rows_and_keeps_what_was_spent() -> None:
    from django.conf import settings

    from sfumato.server.live.live_projects import folder_of, review_of
    from sfumato.server.store import models

    scene = Scene(k=1, budget=None)
    browser = Browser(scene.wanda, scene.project)
    browser.get()
    browser.open(browser.tokens()[0], [0], 2)
    spent = models.Spent.objects.get()
    wrapped = bytes(scene.project.wrapped_key)
    sealed = [path.read_bytes() for path in folder_of(scene.project.pk).iterdir()]
    assert len(sealed) >= 3
    before = len(actions())
    assert _purge(scene, " Clinics ")["Location"] == "/projects"
    scene.project.refresh_from_db()
    assert (scene.project.state, bytes(scene.project.wrapped_key)) == ("purged", b"")
    assert not folder_of(scene.project.pk).exists()
    for name in ("StoredPair", "Dealt", "DecisionEvent", "Allowance", "Member", "Resolution"):
        assert not getattr(models, name).objects.exists(), name
    assert (models.Spent.objects.get().pk, models.Spent.objects.get().score) == (
        spent.pk,
        spent.score,
    )
    assert actions()[before:] == ["purge project"]
    for path in settings.SFUMATO.data.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert wrapped not in data, f"the key is still in {path.name}"
            assert not any(part in data for part in sealed)
    from sfumato.core.errors import InputError

    with pytest.raises(InputError, match="purged"):
        review_of(scene.project)
    assert browser.get().status_code == 404
    assert _purge(scene, "Clinics").status_code == 403


def test_a_purge_is_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.server.custodian import project_grants as module
    from sfumato.server.live.live_projects import folder_of

    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    scene = Scene()
    monkeypatch.setattr(module, "append", fails)
    with pytest.raises(ZeroDivisionError):
        module.purge(scene.carol, scene.project.pk)
    scene.project.refresh_from_db()
    assert scene.project.state == "open"
    assert folder_of(scene.project.pk).exists()
    assert Browser(scene.wanda, scene.project).get().status_code == 200
