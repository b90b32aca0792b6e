"""Every action × role × ownership × state of the project, as one table with its reasons."""

from __future__ import annotations

from typing import Any

import pytest
from server.clinic import account, stored
from server.people import changed, said

STATES = ("open", "closed", "purged")

LOG_IN = "Log in first."
NO_CUSTODIAN = "Only a custodian may do this."
OTHER_CUSTODIAN = "Only the custodian of this project may do this."
NO_MANAGER = "Only a manager may do this."
OTHER_MANAGER = "Only the manager of this project may do this."
NO_WORKER = "Only a worker may do this."
NO_PART = "Does not take part in this project."
OWN = "A custodian cannot grant to a project that they manage."
NOT_DEALT = "The pair was not dealt to this worker."
NOT_SELF = "You cannot reset or deactivate your own account here."
CLOSED, PURGED = "The project is closed.", "The project is purged."
ALONE = "No person consents to rules of their own."
STILL_OPEN = "Close the project first."
TWICE = "The project is purged already."
YES = ""

PEOPLE = {
    "nobody": "has not logged in",
    "deactivated": "was the custodian",
    "custodian": "of this project",
    "other custodian": "of another project",
    "manager": "of this project",
    "other manager": "of another project",
    "both": "custodian and manager of this project",
    "worker": "a member with pairs",
    "other worker": "no member",
    "former worker": "a member who is no worker any more",
    "auditor": "no member",
    "without roles": "no member",
}


def _needs(role: str) -> str:
    return f"Needs the role {role}."


def _per_state(open_: str, closed: str, purged: str) -> dict[str, str]:
    return dict(zip(STATES, (open_, closed, purged), strict=True))


def _always(reason: str) -> dict[str, str]:
    return dict.fromkeys(STATES, reason)


def _row(other: str, **cells: str | dict[str, str]) -> dict[str, dict[str, str]]:
    """Reasons of a refusal by person and state, "" where it is allowed."""
    named = {name.replace("_", " "): cell for name, cell in cells.items()}
    row = {"nobody": LOG_IN, "deactivated": LOG_IN, **named}
    full = {name: row.get(name, other) for name in PEOPLE}
    return {name: _always(each) if isinstance(each, str) else each for name, each in full.items()}


WHILE_OPEN = _per_state(YES, CLOSED, PURGED)
ONCE_CLOSED = _per_state(STILL_OPEN, YES, PURGED)
UNTIL_PURGED = _per_state(YES, YES, PURGED)
MANAGING = _row(NO_MANAGER, manager=WHILE_OPEN, both=WHILE_OPEN, other_manager=OTHER_MANAGER)
EXPORTING = _row(NO_MANAGER, manager=ONCE_CLOSED, both=ONCE_CLOSED, other_manager=OTHER_MANAGER)
ON_A_PAIR = _row(NOT_DEALT, worker=WHILE_OPEN)
MEMBER = _per_state(YES, YES, NO_PART)

TABLE: dict[str, dict[str, dict[str, str]]] = {
    "SEE_PROJECT": _row(
        NO_PART, custodian=YES, manager=YES, both=YES, worker=MEMBER, former_worker=MEMBER
    ),
    "CREATE_PROJECT": _row(_needs("manager"), manager=YES, other_manager=YES, both=YES),
    "PROPOSE": {**MANAGING, "both": _per_state(ALONE, CLOSED, PURGED)},
    "CONSENT": _row(NO_CUSTODIAN, custodian=WHILE_OPEN, other_custodian=OTHER_CUSTODIAN, both=OWN),
    "DEAL": MANAGING,
    "SEE_PROGRESS": _row(NO_MANAGER, manager=YES, both=YES, other_manager=OTHER_MANAGER),
    "RESOLVE": MANAGING,
    "CLOSE_PROJECT": MANAGING,
    "EXPORT_DECISIONS": EXPORTING,
    "EXPORT_LINKED": EXPORTING,
    "EXPORT_IDENTITIES": EXPORTING,
    "GRANT": _row(NO_CUSTODIAN, custodian=UNTIL_PURGED, other_custodian=OTHER_CUSTODIAN, both=OWN),
    "PURGE_PROJECT": {
        name: {**cell, "purged": cell["purged"] if cell["purged"] == LOG_IN else TWICE}
        for name, cell in _row(
            NO_CUSTODIAN, custodian=YES, both=YES, other_custodian=OTHER_CUSTODIAN
        ).items()
    },
    "INVITE": MANAGING,
    "MANAGE_ACCOUNTS": _row(_needs("custodian"), custodian=YES, other_custodian=YES, both=YES),
    "RESET_ACCOUNT": _row(_needs("custodian"), custodian=YES, other_custodian=YES, both=YES),
    "WORK": _row(NO_WORKER, worker=WHILE_OPEN, other_worker=NO_PART),
    "SEE_PAIR": ON_A_PAIR,
    "OPEN_CELL": ON_A_PAIR,
    "DECIDE": ON_A_PAIR,
    "READ_AUDIT_LOG": _row(_needs("auditor"), auditor=YES),
    "WATCH": _row(
        _needs("custodian or auditor"), custodian=YES, other_custodian=YES, both=YES, auditor=YES
    ),
}
PAIRS = {"SEE_PAIR", "OPEN_CELL", "DECIDE"}
NO_OBJECT = {"CREATE_PROJECT", "MANAGE_ACCOUNTS", "RESET_ACCOUNT", "READ_AUDIT_LOG", "WATCH"}


class Scene:
    """Two projects; in the second the custodian is the manager."""

    def __init__(self) -> None:
        from sfumato.server.store.models import Dealt, Member

        people: dict[str, Any] = {"nobody": None}
        for name in tuple(PEOPLE)[1:]:
            roles = [role for role in ("custodian", "manager", "worker", "auditor") if role in name]
            people[name] = account(name, *roles)
        changed(people["both"], roles=["custodian", "manager"])
        changed(people["deactivated"], roles=["custodian"], is_active=False)
        changed(people["former worker"], roles=[])
        self.people = people
        self.project, _ = stored(people=(people["custodian"], people["manager"], people["worker"]))
        self.own, _ = stored(people=(people["both"], people["manager"], people["worker"]))
        changed(self.own, manager=people["both"])
        for project in (self.project, self.own):
            said(Member.objects.create(project=project, account=people["former worker"]))
        self.dealt = Dealt.objects.filter(project=self.project).first()

    def set_state(self, state: str) -> None:
        from sfumato.server.store.models import Dealt, Member

        for project in (self.project, self.own):
            changed(project, state=state)
            # Here the rows stay, which a purge takes with it.
            for model in (Member, Dealt) if state == "purged" else ():
                for row in model.objects.filter(project=project):
                    said(row)
        self.dealt.refresh_from_db()

    def resource(self, action: str, name: str) -> Any:
        if action in NO_OBJECT:
            return None
        if action in PAIRS:
            return self.dealt
        return self.own if name == "both" else self.project


def test_the_table_names_every_action_and_everybody() -> None:
    from sfumato.server.permissions import Action

    assert set(TABLE) == {action.name for action in Action}
    assert all(set(row) == set(PEOPLE) for row in TABLE.values())


def test_everybody_may_what_the_table_says_for_the_reason_that_it_says() -> None:
    from sfumato.server.permissions import Action, decide

    scene, wrong = Scene(), []
    for state in STATES:
        scene.set_state(state)
        for action, row in TABLE.items():
            for name, cells in row.items():
                found = decide(scene.people[name], Action[action], scene.resource(action, name))
                expected = cells[state]
                assert found.reason, "a reason is given for what is allowed as well"
                got = YES if found.allowed else found.reason
                if got != expected:
                    wrong.append((action, name, state, got, expected))
    assert wrong == []


@pytest.mark.parametrize("action", sorted(set(TABLE) - NO_OBJECT))
def test_nothing_is_allowed_with_a_resource_of_another_kind(action: str) -> None:
    from sfumato.server.permissions import Action, decide

    scene = Scene()
    others = [None, scene.people["worker"], scene.project if action in PAIRS else scene.dealt]
    for actor in scene.people.values():
        for resource in others:
            assert not decide(actor, Action[action], resource).allowed


def test_a_pair_that_was_taken_back_is_nobodys() -> None:
    from django.utils import timezone

    from sfumato.server.permissions import Action, decide

    scene = Scene()
    changed(scene.dealt, taken_back=timezone.now())
    for action in PAIRS:
        found = decide(scene.people["worker"], Action[action], scene.dealt)
        assert (found.allowed, found.reason) == (False, "The pair was taken back.")


def test_custodians_manage_all_accounts_but_their_own() -> None:
    from sfumato.server.permissions import Action, decide

    scene = Scene()
    custodian = scene.people["custodian"]
    for name, other in scene.people.items():
        if other is not None:
            found = decide(custodian, Action.MANAGE_ACCOUNTS, other)
            assert (found.allowed, found.reason == NOT_SELF) == (
                name != "custodian",
                name == "custodian",
            )


def test_a_role_without_the_project_gives_nothing() -> None:
    """Ownership alone, without the role that it was had in, is not enough either."""
    from sfumato.server.permissions import Action, decide

    scene = Scene()
    changed(scene.people["manager"], roles=["worker"])
    changed(scene.people["custodian"], roles=["auditor"])
    assert not decide(scene.people["manager"], Action.DEAL, scene.project).allowed
    assert not decide(scene.people["custodian"], Action.GRANT, scene.project).allowed
