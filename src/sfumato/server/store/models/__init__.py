"""The tables of the database."""

from sfumato.server.store.models.account import Account, Link, LoginAttempt, Role
from sfumato.server.store.models.audit import AuditEntry
from sfumato.server.store.models.decision import DecisionEvent, EventKind, Resolution
from sfumato.server.store.models.project import Grant, GrantKind, Member, Project, ProjectState
from sfumato.server.store.models.spent import Spent
from sfumato.server.store.models.work import Allowance, Dealt, StoredPair

__all__ = [
    "Account",
    "Allowance",
    "AuditEntry",
    "Dealt",
    "DecisionEvent",
    "EventKind",
    "Grant",
    "GrantKind",
    "Link",
    "LoginAttempt",
    "Member",
    "Project",
    "ProjectState",
    "Resolution",
    "Role",
    "Spent",
    "StoredPair",
]
