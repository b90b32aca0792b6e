"""Rules that a manager proposes and a custodian accepts: nothing happens without."""

from __future__ import annotations

from typing import Any

import pytest
from server.clinic import Browser, consented, review_project
from server.manager_pages import client_of
from server.people import actions, changed, logged_in, person, quick_hashes, said

__all__ = ["quick_hashes"]


class Scene:
    """A project that was just made, and its people."""

    def __init__(self, **settings: Any) -> None:
        from sfumato.server.live.new_projects import make_project

        self.carol = person("carol", "custodian")
        self.mark = person("mark", "manager")
        self.wanda = person("wanda", "worker")
        rules = {"k": 1, "budget": 0.3, "project_budget": None, **settings}
        self.project = make_project(
            review_project(**rules), title="Clinics", custodian=self.carol, manager=self.mark
        )
        self.path = f"/projects/{self.project.pk}"

    def deal(self) -> None:
        from sfumato.server.manager.dealing import open_queue

        open_queue(self.mark, self.project, [self.wanda], 6, 1, 0.0)

    def propose(self, **changes: Any) -> Any:
        from sfumato.server.custodian.consent import propose

        return propose(self.mark, self.project.pk, **changes)

    def answer(self, proposal: Any, **how: Any) -> Any:
        from sfumato.server.custodian.consent import answer

        return answer(self.carol, self.project.pk, proposal.pk, **how)

    def rules(self) -> dict[str, Any]:
        self.project.refresh_from_db()
        return dict(self.project.settings)

    def verified(self) -> tuple[str, ...]:
        from sfumato.server.audit_log import verify

        verdict = verify()
        return (verdict.fault, *verdict.differences)


def test_nothing_is_dealt_shown_or_charged_before_the_custodian_accepts() -> None:

    from sfumato.server.error_pages import Stop
    from sfumato.server.live.worker_tasks import admit
    from sfumato.server.store.models import Allowance, Dealt

    scene = Scene()
    with pytest.raises(Stop, match="not accepted"):
        scene.deal()
    admit(scene.project, scene.wanda, 2)  # as if a pair had been taken before
    pair = scene.project.pairs.first()
    said(Dealt.objects.create(project=scene.project, worker=scene.wanda, pair=pair, place=0))
    worker = Browser(scene.wanda, scene.project)
    assert worker.get().status_code == 403
    token = Dealt.objects.first().token
    assert (
        worker.client.post(f"{scene.path}/pairs/{token}/open", {"open": "0:2"}).status_code != 200
    )
    assert client_of(scene.mark).get(f"{scene.path}/conflicts").status_code == 403
    assert Allowance.objects.get().units == 0
    assert not Dealt.objects.exclude(shown=None).exists()
    scene.answer(scene.project.proposals.get(), accepts=True)
    assert worker.get().status_code == 200
    assert scene.verified() == ("",)


def test_it_is_proposed_seen_and_accepted_on_the_pages() -> None:
    scene = Scene()
    carol = logged_in("carol")
    assert f"{scene.path}/consent" in carol.get("/projects").content.decode()
    page = carol.get(f"{scene.path}/consent").content.decode()
    assert "clinic" in page
    number = scene.project.proposals.get().pk
    assert carol.post(
        f"{scene.path}/consent", {"do": "accept", "proposal": number}
    ).status_code == (302)
    assert f"{scene.path}/consent" not in carol.get("/projects").content.decode()
    mark = client_of(scene.mark)
    words = {"k": "2", "budget": "0.25", "project_budget": "no limit"}
    assert mark.post(f"{scene.path}/rules", words).status_code == 302
    assert scene.rules()["k"] == 1, "what is proposed holds when it is accepted"
    assert b"<strong>2, refused below</strong>" in carol.get(f"{scene.path}/consent").content
    number = scene.project.proposals.get(state="open").pk
    carol.post(f"{scene.path}/consent", {"do": "accept", "proposal": number})
    assert (scene.rules()["k"], scene.rules()["budget"]) == (2, 0.25)
    assert actions()[-3:] == ["accepted rules", "propose rules", "accepted rules"]
    assert scene.verified() == ("",)


def test_to_decline_needs_a_reason_and_leaves_what_holds() -> None:
    scene = Scene()
    consented(scene.project)
    proposal = scene.propose(k=5)
    carol, where = logged_in("carol"), f"{scene.path}/consent"
    words = {"do": "decline", "proposal": proposal.pk}
    assert carol.post(where, {**words, "reason": " "}).status_code == 400
    proposal.refresh_from_db()
    assert proposal.state == "open"
    assert carol.post(where, {**words, "reason": "too few"}).status_code == 302
    proposal.refresh_from_db()
    assert (proposal.state, proposal.reason) == ("declined", "too few")
    assert scene.rules()["k"] == 1
    scene.deal()
    assert carol.post(where, {"do": "accept", "proposal": proposal.pk}).status_code == 409
    assert b"too few" in client_of(scene.mark).get(f"{scene.path}/rules").content
    from sfumato.server.store.models import AuditEntry

    assert not AuditEntry.objects.filter(detail__contains="too few").exists()


def test_consent_that_is_withdrawn_stops_the_work() -> None:
    scene = Scene()
    consented(scene.project)
    scene.deal()
    worker = Browser(scene.wanda, scene.project)
    assert worker.get().status_code == 200
    scene.answer(scene.project.proposals.get(), accepts=False, reason="wrong people")
    assert worker.get().status_code == 403
    # Nor is it exported, which needs a closed project.
    assert client_of(scene.mark).post(f"{scene.path}/close", {"lost": "on"}).status_code == 403
    scene.rules()
    assert scene.project.state == "open"
    scene.propose()
    consented(scene.project)
    assert worker.get().status_code == 200
    assert [each.state for each in scene.project.proposals.order_by("pk")] == [
        "withdrawn",
        "accepted",
    ]
    assert scene.verified() == ("",)


def test_what_was_replaced_cannot_be_accepted() -> None:
    from sfumato.server.error_pages import Stop

    scene = Scene()
    first = scene.project.proposals.get()
    scene.propose(budget=None)
    with pytest.raises(Stop, match="took its place"):
        scene.answer(first, accepts=True)
    assert scene.project.proposals.get(state="open").rules["budget"] is None


def test_the_budget_of_workers_follows_the_rules_but_not_where_it_was_raised() -> None:
    from server.dealt import deal

    from sfumato.server.custodian.project_grants import raise_budget, revoke
    from sfumato.server.store.models import Allowance

    scene = Scene()
    consented(scene.project)
    will = person("will", "worker")
    for worker in (scene.wanda, will):
        deal(scene.project, worker, [0, 1])
    raise_budget(scene.carol, scene.project.pk, will, 0.5)
    scene.propose(budget=0.1)
    consented(scene.project)
    budgets = Allowance.objects.order_by("pk").values_list("budget", flat=True)
    assert list(budgets) == [0.1, 0.5]
    first = raise_budget(scene.carol, scene.project.pk, will, 0.6)
    revoke(scene.carol, scene.project.pk, first.pk)
    assert Allowance.objects.get(worker=will).budget == 0.5
    # The rules that were accepted hold again, not those before the raise.
    revoke(scene.carol, scene.project.pk, scene.project.grants.first().pk)
    assert Allowance.objects.get(worker=will).budget == 0.1
    assert scene.verified() == ("",)


@pytest.mark.parametrize("k", [1, 4])
def test_what_was_shown_stays_charged_under_another_k(k: int) -> None:
    from sfumato.server.store.models import Spent

    scene = Scene(k=2, k_floor="report")
    consented(scene.project)
    scene.deal()
    browser = Browser(scene.wanda, scene.project)
    browser.get()
    browser.open(browser.tokens()[0], [0], 2)
    spent = Spent.objects.get().score
    assert spent > 0
    scene.propose(k=k)
    consented(scene.project)
    assert browser.get().status_code == 200
    assert Spent.objects.get().score >= spent
    assert scene.verified() == ("",)


def test_nobody_consents_to_rules_of_their_own() -> None:
    from sfumato.core.errors import InputError
    from sfumato.server.error_pages import Stop
    from sfumato.server.live.new_projects import make_project
    from sfumato.server.manager.forms import RulesForm

    scene = Scene()
    changed(scene.mark, roles=["custodian", "manager"])
    with pytest.raises(InputError, match="custodian"):
        make_project(review_project(), title="T", custodian=scene.mark, manager=scene.mark)
    assert list(RulesForm(scene.mark).fields["custodian"].queryset) == [scene.carol]
    proposal = scene.project.proposals.get()
    changed(scene.project, custodian=scene.mark)
    from sfumato.server.custodian.consent import answer

    with pytest.raises(Stop, match="manage"):
        answer(scene.mark, scene.project.pk, proposal.pk, accepts=True)
    with pytest.raises(Stop, match="of their own"):
        scene.propose()


@pytest.mark.parametrize("column", ["consent", "settings", "custodian_id"])
def test_a_row_that_nobody_accepted_serves_nothing(column: str) -> None:
    """Whoever writes the database gives no consent: the entries count."""
    from sfumato.server.store.models import Project, Proposal

    scene = Scene()
    proposal = scene.project.proposals.get()
    Proposal.objects.update(state="accepted")
    values = {"consent": proposal.pk}
    if column == "settings":
        values["settings"] = {**scene.project.settings, "budget": None}
    if column == "custodian_id":
        values["custodian_id"] = person("mallory", "custodian").pk
    Project.objects.filter(pk=scene.project.pk).update(**values)
    from sfumato.server.error_pages import Stop

    with pytest.raises(Stop, match="not what the audit log states"):
        scene.deal()


def test_rules_that_were_changed_without_consent_serve_nothing() -> None:
    """Even where an entry states the change: what holds is what was accepted."""
    from sfumato.server.error_pages import Stop

    scene = Scene()
    consented(scene.project)
    changed(scene.project, settings={**scene.project.settings, "budget": None})
    with pytest.raises(Stop, match="not accepted"):
        scene.deal()
