"""A project from its first link to its exports, and what is then changed in its database."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from server.clinic import consented, review_project, values_in
from server.people import PASSWORD, link_in, log_in, quicken

from sfumato.server.boot import boot
from sfumato.server.config import ServerConfig

ROUNDS = 3
"""Pairs that each worker decides."""


def journey() -> Any:
    """A project that went through all that there is, closed; the project."""
    with pytest.MonkeyPatch.context() as patch:
        quicken(patch)
        people = _people()
        project = _worked(people)
        _ended(project, people)
        return project


def _people() -> dict[str, Any]:
    """Accounts by links: a set-up, invitations, one that is taken back, a reset."""
    from sfumato.server.serve import setup_link
    from sfumato.server.store.models import Account, Link

    setup_link(settings_of_server())
    first = setup_link(settings_of_server())
    _use(first, "carol")
    carol = browser("carol")
    for name, roles in (
        ("mark", ["manager"]),
        ("wanda", ["worker"]),
        ("will", ["worker"]),
        ("olga", ["auditor"]),
        ("mallory", ["worker"]),
    ):
        answer = carol.post("/accounts/invite", {"roles": roles, "project": "", "days": 3})
        _use(link_in(answer), name)
    carol.post("/accounts/invite", {"roles": ["worker"], "project": "", "days": 3})
    left = Link.objects.get(used=None, purpose="invitation")
    assert carol.post(f"/accounts/invitations/{left.pk}/take-back").status_code == 302
    people = {each.name: each for each in Account.objects.all()}
    will = f"/accounts/{people['will'].pseudonym}"
    assert carol.post(f"{will}/roles", {"roles": ["auditor", "worker"]}).status_code == 302
    assert carol.post(f"{will}/deactivate").status_code == 302
    assert carol.post(f"{will}/reactivate").status_code == 302
    return {each.name: each for each in Account.objects.all()}


def _worked(people: dict[str, Any]) -> Any:
    """A project that two workers decide and the manager settles."""
    from server.dealt import deal

    from sfumato.server.live import conflict_resolution, worker_actions
    from sfumato.server.live.new_projects import make_project
    from sfumato.server.manager.dealing import open_queue, take_pairs_back
    from sfumato.server.store.models import Dealt, EventKind

    carol, mark = people["carol"], people["mark"]
    rules = review_project(k=1, budget=0.8, project_budget=0.9)
    project = consented(make_project(rules, title="Clinics", custodian=carol, manager=mark))
    workers = [people["wanda"], people["will"]]
    open_queue(mark, project, workers, 6, 2, 0.0)
    for worker in workers:
        deal(project, worker, range(6))
    for sign, worker in zip((1, -1), workers, strict=True):
        mine = Dealt.objects.filter(project=project, worker=worker).order_by("pair__number")
        for token in mine.values_list("token", flat=True)[:ROUNDS]:
            worker_actions.show_pair(worker, project.pk, token)
            answer = worker_actions.open_cells(worker, project.pk, token, [0], 2)
            assert answer.refusal is None, answer.refusal
            worker_actions.decide_pair(worker, project.pk, token, sign)
        worker_actions.mark(worker, project.pk, token, EventKind.FLAGGED)
        worker_actions.mark(worker, project.pk, token, EventKind.WITHDRAWN)
        worker_actions.write_note(worker, project.pk, token, "a note")
    conflict_resolution.show_conflict(mark, project, 0)
    conflict_resolution.open_conflict(mark, project, 0, [0], 2)
    conflict_resolution.resolve(mark, project, 0, 1)
    take_pairs_back(mark, project, workers[0])
    open_queue(mark, project, [people["mallory"]], 6, 2, 0.0)
    return project


def _ended(project: Any, people: dict[str, Any]) -> None:
    """Budgets and k that are granted and taken back, the end, exports."""
    from server.dealt import deal

    from sfumato.server.custodian import consent, project_grants
    from sfumato.server.live.new_projects import make_project
    from sfumato.server.store.models import Allowance

    carol, mark, wanda = people["carol"], people["mark"], people["wanda"]
    before = Allowance.objects.get(project=project, worker=wanda).budget
    raised = project_grants.raise_budget(carol, project.pk, wanda, before + 0.1)
    declined = consent.propose(mark, project.pk, budget=None)
    consent.answer(carol, project.pk, declined.pk, accepts=False, reason="too much")
    consent.propose(mark, project.pk, project_budget=0.95)
    consented(project)
    project_grants.revoke(carol, project.pk, raised.pk)
    other = make_project(review_project(k=3), title="Other", custodian=carol, manager=mark)
    consent.propose(mark, other.pk, k=2)
    consented(other)
    deal(other, wanda, [0, 1])
    project_grants.purge(carol, other.pk)
    manager = browser("mark")
    page = manager.get(f"/projects/{project.pk}/").content.decode()
    said = re.search(r'name="anyway" value="([^"]*)"', page)
    words = {"anyway": html.unescape(said[1]) if said else ""}
    assert manager.post(f"/projects/{project.pk}/close", words).status_code == 302
    project_grants.allow_identity_export(carol, project.pk, 24)
    for what in ("decisions", "identities"):
        answer = manager.post(f"/projects/{project.pk}/export/{what}", {"form": "json"})
        assert answer.status_code == 200, answer.content
    project_grants.allow_identity_export(carol, project.pk, 24)
    _password(wanda)


def _password(account: Any) -> None:
    client = browser(account.name)
    words = {"present": PASSWORD, "new": PASSWORD + "!", "again": PASSWORD + "!"}
    assert client.post("/account/password", words).status_code == 302


def _use(address: str, name: str) -> None:
    """Make an account by a link."""
    from django.test import Client

    words = {"name": name, "new": PASSWORD, "again": PASSWORD}
    path = "/link/" + address.rsplit("/", 1)[-1]
    assert Client(SERVER_NAME="localhost").post(path, words).status_code == 302


def browser(name: str, password: str = PASSWORD) -> Any:
    """A browser in which somebody has logged in."""
    from django.test import Client

    client = Client(SERVER_NAME="localhost")
    answer = client.post("/login", {"name": name, "password": password})
    assert answer.status_code == 302, answer.content
    return client


def settings_of_server() -> Any:
    """How the server of this process is set up."""
    from django.conf import settings

    return settings.SFUMATO


Edit = Callable[[Any], object]


def _role(project: Any) -> None:
    account = _models().Account.objects.get(name="mallory")
    account.roles = ["auditor", "custodian", "manager", "worker"]
    account.save()


def _manager(project: Any) -> None:
    _set("Project", {"pk": project.pk}, manager_id=_key("mallory"))


def _custodian(project: Any) -> None:
    _set("Project", {"pk": project.pk}, custodian_id=_key("mallory"))


def _grant(project: Any) -> None:
    from django.utils import timezone

    _models().Grant.objects.create(
        project=project,
        kind="identity export",
        by_id=_key("carol"),
        to_id=_key("mark"),
        expires=timezone.now() + timedelta(days=9),
    )


def _unused(project: Any) -> None:
    used = {"project": project, "kind": "identity export", "used__isnull": False}
    _set("Grant", used, used=None)


def _password_of_another(project: Any) -> None:
    from django.contrib.auth.hashers import make_password

    _set("Account", {"name": "mark"}, password=make_password(PASSWORD))


def _second_factor(project: Any) -> None:
    _set("Account", {"name": "carol"}, totp=b"another")


def _active(project: Any) -> None:
    _set("Account", {"name": "will"}, is_active=False)


def _budget(project: Any) -> None:
    _set("Allowance", {"project": project, "worker_id": _key("wanda")}, budget=1.0)


def _units(project: Any) -> None:
    _set("Allowance", {"project": project, "worker_id": _key("wanda")}, units=0, spent=0.0)


def _spent(project: Any) -> None:
    _set("Spent", {"fingerprint": project.fingerprint, "score__gt": 0}, score=0.0)


def _rules(project: Any) -> None:
    project.settings = {**project.settings, "k": 7}
    project.save()


def _consent(project: Any) -> None:
    _set("Project", {"pk": project.pk}, consent=None)


def _proposal(project: Any) -> None:
    declined = {"project": project, "state": "declined"}
    _set("Proposal", declined, state="accepted", rules={**project.settings, "k": 1, "budget": None})


def _proposal_added(project: Any) -> None:
    accepted = project.proposals.get(state="accepted")
    accepted.pk, accepted.rules = None, {**accepted.rules, "budget": None}
    accepted.save()
    _set("Project", {"pk": project.pk}, consent=accepted.pk, settings=accepted.rules)


def _reopened(project: Any) -> None:
    _set("Project", {"pk": project.pk}, state="open", closed=None)


def _answer(project: Any) -> None:
    _set("Dealt", {"project": project, "answer__gt": 0}, answer=-2)


def _answer_of_event(project: Any) -> None:
    _set("DecisionEvent", {"kind": "decided"}, answer=3)


def _answer_added(project: Any) -> None:
    dealt = _models().Dealt.objects.filter(project=project, answer=0).first()
    _models().DecisionEvent.objects.create(dealt=dealt, kind="decided", answer=2)


def _answer_removed(project: Any) -> None:
    _models().DecisionEvent.objects.filter(kind="decided").first().delete()


def _resolved(project: Any) -> None:
    _set("Resolution", {"pair__project": project}, answer=-3)


def _modes(project: Any) -> None:
    _set("Dealt", {"project": project, "modes": ""}, modes="22222")


def _assignment(project: Any) -> None:
    dealt = _models().Dealt.objects.filter(project=project)
    has = dealt.filter(worker__name="mallory").values_list("pair_id", flat=True)
    one = dealt.filter(worker__name="wanda").exclude(pair_id__in=list(has))
    _set("Dealt", {"pk": one.first().pk}, worker_id=_key("mallory"), taken_back=None)


def _pairs(project: Any) -> None:
    pair = _models().StoredPair.objects.filter(project=project).last()
    _set("StoredPair", {"pk": pair.pk}, number=99)


def _member(project: Any) -> None:
    _models().Member.objects.create(project=project, account_id=_key("olga"))


def _link(project: Any) -> None:
    from django.utils import timezone

    from sfumato.server.accounts.backend import digest_of_token

    _models().Link.objects.create(
        token=digest_of_token("of mallory"),
        purpose="invitation",
        roles=["custodian", "manager"],
        made_by_id=_key("carol"),
        expires=timezone.now() + timedelta(days=9),
    )


def _entry_changed(project: Any) -> None:
    entry = _entries().get(action="export identities")
    _set("AuditEntry", {"pk": entry.pk}, detail=entry.detail.replace('"bytes":', '"bytes":1'))


def _entry_deleted(project: Any) -> None:
    _entries().get(action="export identities").delete()


def _entry_inserted(project: Any) -> None:
    last = _entries().last()
    last.number += 1
    last.action, last.previous = "grant", last.digest
    last.save(force_insert=True)


def _entries_exchanged(project: Any) -> None:
    first, second = _entries()[5:7]
    first.number, second.number = second.number, first.number
    first.save()
    second.save()


EDITS: dict[str, tuple[Edit, str]] = {
    "a role": (_role, r"account \d+: roles"),
    "the manager": (_manager, r"project [\w-]+: manager_id"),
    "the custodian": (_custodian, r"project [\w-]+: custodian_id"),
    "a grant": (_grant, r"permission_grant \d+ is there"),
    "a grant used again": (_unused, r"permission_grant \d+: used"),
    "a password": (_password_of_another, r"account \d+: password"),
    "a second factor": (_second_factor, r"account \d+: totp"),
    "an account's end": (_active, r"account \d+: is_active"),
    "a budget": (_budget, r"allowance \d+: budget"),
    "a charge": (_units, r"allowance \d+: units"),
    "what is spent": (_spent, r"spent \d+: score"),
    "the rules": (_rules, r"project [\w-]+: settings"),
    "the consent": (_consent, r"project [\w-]+: consent"),
    "what was declined": (_proposal, r"proposal \d+: state"),
    "consent that nobody gave": (_proposal_added, r"proposal \d+ is there"),
    "the state": (_reopened, r"project [\w-]+: state"),
    "an answer": (_answer, r"dealt \d+: answer"),
    "an answer's history": (_answer_of_event, r"decision_event \d+: answer"),
    "an answer more": (_answer_added, r"decision_event \d+ is there"),
    "an answer less": (_answer_removed, r"decision_event \d+ is gone"),
    "a resolution": (_resolved, r"resolution \d+: answer"),
    "what is shown": (_modes, r"dealt \d+: modes"),
    "an assignment": (_assignment, r"dealt \d+: worker_id"),
    "the pairs": (_pairs, r"pair of project [\w-]+ "),
    "a member": (_member, r"member \d+ is there"),
    "a link": (_link, r"link \d+ is there"),
    "an export's entry": (_entry_changed, r"entry \d+ was changed"),
    "an entry less": (_entry_deleted, r"entry \d+ is missing"),
    "an entry more": (_entry_inserted, r"entry \d+ was changed"),
    "entries exchanged": (_entries_exchanged, r"entry \d+ "),
}
"""What is changed, and how the check names it."""


def _join_by_link(project: Any) -> None:
    answer = browser("carol").post("/accounts/invite", {"roles": ["worker"], "days": 3})
    assert link_in(answer)
    assert log_in("mallory")[1].status_code == 409


def _roles_set(project: Any) -> None:
    _join_by_link(project)
    mallory = _models().Account.objects.get(name="mallory").pseudonym
    answer = browser("carol").post(f"/accounts/{mallory}/roles", {"roles": ["worker"]})
    assert answer.status_code == 409


def _taken_back(project: Any) -> None:
    from server.dealt import deal, take_back

    from sfumato.server.error_pages import Stop

    wanda = _models().Account.objects.get(name="wanda")
    for act in (take_back, deal):
        with pytest.raises(Stop):
            act(project, wanda, [0, 1])


def _raised(project: Any) -> None:
    from sfumato.server.custodian.project_grants import raise_budget
    from sfumato.server.error_pages import Stop

    _taken_back(project)
    people = {each.name: each for each in _models().Account.objects.all()}
    with pytest.raises(Stop):
        raise_budget(people["carol"], project.pk, people["wanda"], None)


def _dealt_to_another(project: Any) -> None:
    from server.dealt import deal

    from sfumato.server.error_pages import Stop

    with pytest.raises(Stop):
        deal(project, _models().Account.objects.get(name="olga"), [0])


def _closed(project: Any) -> None:
    page = browser("mark").get(f"/projects/{project.pk}/").content.decode()
    said = re.search(r'name="anyway" value="([^"]*)"', page)
    words = {"anyway": html.unescape(said[1]) if said else ""}
    assert browser("mark").post(f"/projects/{project.pk}/close", words).status_code == 409


def _identities(project: Any) -> None:
    path = f"/projects/{project.pk}/export/identities"
    assert browser("mark").post(path, {"form": "json"}).status_code in (403, 409)


def _by_the_link(project: Any) -> None:
    assert browser("olga").post("/link/of mallory", {"join": "1"}).status_code == 409


HONEST: dict[str, Edit] = {
    "a role": _roles_set,
    "a grant used again": _identities,
    "a budget": _raised,
    "a charge": _taken_back,
    "what is spent": _taken_back,
    "the rules": _dealt_to_another,
    "the state": _closed,
    "an assignment": _taken_back,
    "a link": _by_the_link,
}
"""What is done after an edit by who knows nothing of it, and must not make it the log's."""


OPENED = ("", "pairs", "conflicts", "conflicts/0", "grants", "purge")
"""Pages of a project that are asked for."""
EXPORTED = ("identities", "decisions", "report", "linked")


def revoke_left(project: Any) -> None:
    """Take back the grant that is left, with which the manager may export."""
    from sfumato.server.custodian.project_grants import revoke

    left = project.grants.get(kind="identity export", used=None)
    revoke(project.custodian, project.pk, left.pk)


def gained(project: Any) -> tuple[list[str], list[str]]:
    """Values on pages, and exports that are given, to people who may have none."""
    from sfumato.server.store.models import Dealt

    texts, exports = [], []
    for name in ("mallory", "mark", "olga"):
        client, answer = log_in(name)
        texts.append(answer)
        at = f"/projects/{project.pk}"
        texts += [client.get("/projects"), *(client.get(f"{at}/{each}") for each in OPENED)]
        tokens = Dealt.objects.filter(project=project, worker__name=name)
        for token in tokens.values_list("token", flat=True)[:2]:
            texts.append(client.post(f"{at}/pairs/{token}/open", {"open": "0:2"}))
        for what in EXPORTED if name != "mark" else ("identities",):
            answer = client.post(f"{at}/export/{what}", {"form": "json"})
            exports += [what] if answer.status_code == 200 else []
    return values_in("".join(answer.content.decode() for answer in texts)), exports


def _models() -> Any:
    from sfumato.server.store import models

    return models


def _entries() -> Any:
    return _models().AuditEntry.objects.order_by("number")


def _key(name: str) -> int:
    return int(_models().Account.objects.get(name=name).pk)


def _set(model: str, which: dict[str, Any], **values: Any) -> None:
    found = getattr(_models(), model).objects.filter(**which)
    assert found.update(**values), "the edit must change something"


def _nothing(project: Any) -> None:
    """Do nothing."""


def main(job: dict[str, Any]) -> dict[str, tuple[tuple[list[str], list[str]], tuple[str, ...]]]:
    """What is gained after each edit of a journey, and what the check finds; "" is no edit."""
    boot(ServerConfig(Path(job["data"]), Path(job["keys"]), job["database"]))
    from django.db import transaction

    from sfumato.server.audit_log import verify

    project = journey()
    revoke_left(project)

    def after(name: str, edit: Edit) -> tuple[Any, tuple[str, ...]]:
        block = transaction.atomic()
        block._from_testcase = True  # a click's own transaction may be in this one
        with block:
            edit(project)
            got = gained(project)
            HONEST.get(name, _nothing)(project)
            verdict = verify()
            transaction.set_rollback(True)
        project.refresh_from_db()
        return got, (verdict.fault, *verdict.differences)

    return {name: after(name, edit) for name, (edit, _) in ({"": (_nothing, "")} | EDITS).items()}
