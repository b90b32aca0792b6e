"""Who may do what with what: every rule of the application, in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from sfumato.core.phrases import Listed, Phrase
from sfumato.server.config import Role
from sfumato.server.proofs import check_proved, check_whole, is_consented, is_stated_member, proofs
from sfumato.server.store.models import Account, Dealt, Project, ProjectState


class Action(StrEnum):
    """What somebody may want to do."""

    SEE_PROJECT = "see a project"
    CREATE_PROJECT = "create a project"
    PROPOSE = "propose rules"
    CONSENT = "answer a proposal"
    DEAL = "open the queue"
    SEE_PROGRESS = "see progress"
    RESOLVE = "resolve a conflict"
    CLOSE_PROJECT = "close a project"
    EXPORT_DECISIONS = "export decisions"
    EXPORT_LINKED = "export the linked de-identified file"
    EXPORT_IDENTITIES = "export identities"
    GRANT = "grant"
    PURGE_PROJECT = "purge a project"
    INVITE = "invite"
    MANAGE_ACCOUNTS = "manage accounts"
    RESET_ACCOUNT = "reset an account"
    WORK = "work on a project"
    SEE_PAIR = "see a pair"
    OPEN_CELL = "open a cell"
    DECIDE = "decide a pair"
    READ_AUDIT_LOG = "read the audit log"
    WATCH = "watch the server"


EXPORTS = (Action.EXPORT_DECISIONS, Action.EXPORT_LINKED, Action.EXPORT_IDENTITIES)
Resource = Project | Dealt | Account | None
Rule = Callable[[Account, "Resource"], "Permission"]


@dataclass(frozen=True)
class Permission:
    """Whether somebody may, and why.

    Attributes
    ----------
    reason
        Why, in a sentence that may be shown.
    """

    allowed: bool
    reason: str


def decide(actor: Account | None, action: Action, resource: Resource = None) -> Permission:
    """Whether somebody may do something with something.

    Parameters
    ----------
    actor
        Who; ``None`` for somebody who has not logged in.
    resource
        With what: a project, a dealt pair, an account, or nothing where the action has no
        object.
    """
    if actor is None or not actor.is_active:
        return Permission(False, Phrase("Log in first."))
    # A log that is not whole may be looked at; nothing else is built on it.
    if action not in (Action.READ_AUDIT_LOG, Action.WATCH):
        check_whole()
    asked = (resource, resource.project) if isinstance(resource, Dealt) else (resource,)
    for row in (actor, *asked):
        if row is not None:
            check_proved(row)
    # A missing rule is an error and no permission.
    return _RULES[action](actor, resource)


def know_member(project: Project, account: Account, *, is_member: bool) -> None:
    """Tell the rules what was read along with a project, for the request that it was read for."""
    _members_known(project)[account.pk] = is_member


def _custodian_of(actor: Account, project: Project) -> Permission:
    if not actor.has_role(Role.CUSTODIAN):
        return Permission(False, Phrase("Only a custodian may do this."))
    if project.custodian_id != actor.pk:
        return Permission(False, Phrase("Only the custodian of this project may do this."))
    return Permission(True, "Custodian of this project.")


def _manager_of(actor: Account, project: Project) -> Permission:
    if not actor.has_role(Role.MANAGER):
        return Permission(False, Phrase("Only a manager may do this."))
    if project.manager_id != actor.pk:
        return Permission(False, Phrase("Only the manager of this project may do this."))
    return Permission(True, "Manager of this project.")


def _open(project: Project, permission: Permission) -> Permission:
    if permission.allowed and project.state != ProjectState.OPEN:
        if project.state == ProjectState.PURGED:
            return Permission(False, Phrase("The project is purged."))
        return Permission(False, Phrase("The project is closed."))
    return permission


def _consented(project: Project, permission: Permission) -> Permission:
    """While it is open, and under rules that its custodian accepted."""
    permission = _open(project, permission)
    if permission.allowed and not is_consented(project):
        return Permission(False, Phrase("The custodian has not accepted the project's rules."))
    return permission


def _is_member(actor: Account, project: Project) -> bool:
    known = _members_known(project)
    if actor.pk not in known:  # asked several times in a request, which has a project of its own
        known[actor.pk] = project.members.filter(account=actor).exists()
    return known[actor.pk] and is_stated_member(project, actor)


def _members_known(project: Project) -> dict[int, bool]:
    known: dict[int, bool] = project.__dict__.setdefault("members_known", {})
    return known


def _of_project(rule: Callable[[Account, Project], Permission]) -> Rule:
    """A rule about projects, asked about any resource."""

    def asked(actor: Account, resource: Resource) -> Permission:
        if not isinstance(resource, Project):
            return Permission(False, Phrase("There is no such project."))
        return rule(actor, resource)

    return asked


def _managed_while_open(actor: Account, project: Project) -> Permission:
    return _open(project, _manager_of(actor, project))


def _managed_under_rules(actor: Account, project: Project) -> Permission:
    return _consented(project, _manager_of(actor, project))


def _proposed(actor: Account, project: Project) -> Permission:
    permission = _managed_while_open(actor, project)
    if permission.allowed and project.custodian_id == actor.pk:
        return Permission(False, Phrase("No person consents to rules of their own."))
    return permission


def _answered(actor: Account, project: Project) -> Permission:
    return _open(project, _granted(actor, project))


def _managed_once_closed(actor: Account, project: Project) -> Permission:
    permission = _manager_of(actor, project)
    if permission.allowed and project.state == ProjectState.OPEN:
        return Permission(False, Phrase("Close the project first."))
    if permission.allowed and project.state == ProjectState.PURGED:
        return Permission(False, Phrase("The project is purged."))
    return permission


def _granted(actor: Account, project: Project) -> Permission:
    """A custodian's own decision, never about a project that they manage themselves."""
    permission = _custodian_of(actor, project)
    if permission.allowed and project.manager_id == actor.pk:
        return Permission(False, Phrase("A custodian cannot grant to a project that they manage."))
    if permission.allowed and project.state == ProjectState.PURGED:
        return Permission(False, Phrase("The project is purged."))
    return permission


def _purged(actor: Account, project: Project) -> Permission:
    if project.state == ProjectState.PURGED:
        return Permission(False, Phrase("The project is purged already."))
    return _custodian_of(actor, project)


def _seen(actor: Account, project: Project) -> Permission:
    for role, own in ((Role.MANAGER, project.manager_id), (Role.CUSTODIAN, project.custodian_id)):
        if actor.has_role(role) and own == actor.pk:
            # A role that was taken away ends what it allowed, whoever is named in the project.
            return Permission(True, f"The {role} of this project.")
    if _is_member(actor, project) and project.state != ProjectState.PURGED:
        return Permission(True, "Takes part in this project.")
    return Permission(False, Phrase("Does not take part in this project."))


def _worked(actor: Account, project: Project) -> Permission:
    if not actor.has_role(Role.WORKER):
        return Permission(False, Phrase("Only a worker may do this."))
    if not _is_member(actor, project):
        return Permission(False, Phrase("Does not take part in this project."))
    return _consented(project, Permission(True, "Worker of this project."))


def _dealt_to(actor: Account, resource: Resource) -> Permission:
    if not isinstance(resource, Dealt) or resource.worker_id != actor.pk:
        return Permission(False, Phrase("The pair was not dealt to this worker."))
    if resource.taken_back is not None:
        return Permission(False, Phrase("The pair was taken back."))
    return _worked(actor, resource.project)


def _with_role(*roles: Role) -> Rule:
    def rule(actor: Account, _resource: Resource) -> Permission:
        for role in roles:
            if actor.has_role(role):
                return Permission(True, f"Has the role {role}.")
        return Permission(False, "Needs the role " + " or ".join(roles) + ".")

    return rule


def _accounts(actor: Account, resource: Resource) -> Permission:
    permission = _with_role(Role.CUSTODIAN)(actor, resource)
    if permission.allowed and isinstance(resource, Account) and resource.pk == actor.pk:
        return Permission(False, Phrase("You cannot reset or deactivate your own account here."))
    return permission


_AT_THE_SERVER = Phrase("Reset the account at the server: sfumato account reset NAME.")


def _reset(actor: Account, resource: Resource) -> Permission:
    """Whoever resets an account can become its owner, and so must be no less already."""
    permission = _accounts(actor, resource)
    if not permission.allowed or not isinstance(resource, Account):
        return permission
    # What a worker may do, a custodian of the same projects may allow.
    more = set(resource.roles) - {*actor.roles, Role.WORKER}
    if more:
        roles = ", ".join(sorted(more))
        why = Phrase("This person has roles that you have not: {roles}.", roles=roles)
        return Permission(False, Listed((why, _AT_THE_SERVER), " "))
    # As the log states them: a row of the database could be removed.
    projects = proofs().replay.rows.get("project", {})
    going_on = {key: row for key, row in list(projects.items()) if row.get("state") != "purged"}
    if any(resource.pk in (row["custodian_id"], row["manager_id"]) for row in going_on.values()):
        why = Phrase("This person has projects of their own.")
        return Permission(False, Listed((why, _AT_THE_SERVER), " "))
    for key, account in proofs().members():
        if account == resource.pk and going_on.get(key, {}).get("custodian_id", actor.pk) != (
            actor.pk
        ):
            why = Phrase("This person takes part in a project of another custodian.")
            return Permission(False, Listed((why, _AT_THE_SERVER), " "))
    return permission


_RULES: Mapping[Action, Rule] = {
    Action.SEE_PROJECT: _of_project(_seen),
    Action.CREATE_PROJECT: _with_role(Role.MANAGER),
    Action.PROPOSE: _of_project(_proposed),
    Action.CONSENT: _of_project(_answered),
    Action.DEAL: _of_project(_managed_under_rules),
    Action.SEE_PROGRESS: _of_project(_manager_of),
    Action.RESOLVE: _of_project(_managed_under_rules),
    # What is closed is exported: nothing is under rules that nobody accepts.
    Action.CLOSE_PROJECT: _of_project(_managed_under_rules),
    Action.EXPORT_DECISIONS: _of_project(_managed_once_closed),
    Action.EXPORT_LINKED: _of_project(_managed_once_closed),
    Action.EXPORT_IDENTITIES: _of_project(_managed_once_closed),
    Action.GRANT: _of_project(_granted),
    Action.PURGE_PROJECT: _of_project(_purged),
    Action.INVITE: _of_project(_managed_while_open),
    Action.MANAGE_ACCOUNTS: _accounts,
    Action.RESET_ACCOUNT: _reset,
    Action.WORK: _of_project(_worked),
    Action.SEE_PAIR: _dealt_to,
    Action.OPEN_CELL: _dealt_to,
    Action.DECIDE: _dealt_to,
    Action.READ_AUDIT_LOG: _with_role(Role.AUDITOR),
    # Custodians manage the accounts: they are who runs it.
    Action.WATCH: _with_role(Role.CUSTODIAN, Role.AUDITOR),
}
