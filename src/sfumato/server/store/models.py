"""The tables of the database."""

from __future__ import annotations

import secrets
import uuid
from enum import StrEnum
from typing import Any

from django.contrib.auth import hashers
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models

from sfumato.core.phrases import Typed


def choices_of(words: type[StrEnum]) -> list[tuple[str, str]]:
    """The members of an enumeration as Django's choices."""
    return [(str(word), str(word)) for word in words]


def new_pseudonym() -> str:
    """A random name that says nothing of its owner."""
    return "w" + secrets.token_hex(4)


class TypedText(models.CharField):
    """What a person typed: in templates it turns nothing around it."""

    def from_db_value(self, text: str | None, *_: object) -> Typed | None:
        """It as it comes from the database."""
        return None if text is None else Typed(text)

    def deconstruct(self) -> Any:
        """The column is any other's: no migration."""
        name, _, words, options = super().deconstruct()
        return name, "django.db.models.CharField", words, options


class Accounts(BaseUserManager["Account"]):
    """Makes accounts."""

    def make(self, name: str, password: str | None, roles: list[str], **fields: Any) -> Account:
        """A new account; without a password only a trusted header logs it in."""
        account = Account(name=name, roles=sorted(roles), **fields)
        account.set_password(password)
        account.save()
        return account


class Account(AbstractBaseUser):
    """A person who may log in.

    Attributes
    ----------
    pseudonym
        How decisions, the audit log and exports name it.
    totp
        Encrypted secret of its second factor, empty without one.
    totp_used
        Number of the last time step whose code was used, so that no code is used twice.
    recovery
        Keyed digests of the codes that count in place of one of the app, each once.
    identity
        Keyed digest of who the organisation's login says that it is, empty without one.
    """

    name = models.CharField(max_length=150, unique=True)
    pseudonym = models.CharField(max_length=16, unique=True, default=new_pseudonym)
    roles = models.JSONField(default=list)
    is_active = models.BooleanField(default=True)
    totp = models.BinaryField(default=b"")
    totp_used = models.BigIntegerField(default=0)
    recovery = models.JSONField(default=list)
    identity = models.CharField(max_length=64, default="")
    created = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "name"

    objects = Accounts()

    class Meta:
        """Its table."""

        db_table = "account"
        constraints = [
            models.UniqueConstraint(
                fields=["identity"], condition=~models.Q(identity=""), name="one_identity"
            )
        ]

    def check_password(self, raw_password: str | None) -> bool:
        """Whether it is its password; nothing is written."""
        # Django would hash it anew where hashes became stronger, with no entry that states it.
        return bool(hashers.check_password(raw_password, self.password))

    def has_role(self, role: str) -> bool:
        """Whether it has a role."""
        return role in self.roles


class Link(models.Model):
    """A link that may be used once: the set-up of the server, an invitation, a new password.

    Attributes
    ----------
    token
        SHA-256 of the link's random part, which is stored nowhere.
    account
        Whose password it sets, for a reset.
    """

    token = models.CharField(max_length=64, unique=True)
    purpose = models.CharField(
        max_length=16,
        choices=[("setup", "set-up"), ("invitation", "invitation"), ("reset", "new password")],
    )
    roles = models.JSONField(default=list)
    project = models.ForeignKey("Project", null=True, on_delete=models.CASCADE)
    account = models.ForeignKey(Account, null=True, on_delete=models.CASCADE, related_name="resets")
    # Protected, as everywhere: who made or granted something must stay known.
    made_by = models.ForeignKey(Account, null=True, on_delete=models.PROTECT, related_name="+")
    expires = models.DateTimeField()
    used = models.DateTimeField(null=True)

    class Meta:
        """Its table."""

        db_table = "link"


class LoginAttempt(models.Model):
    """An attempt to prove who one is that failed, for throttling.

    Attributes
    ----------
    subject
        Keyed digest of what it counts for: a name, a browser that its owner used, an account.
    address
        Keyed digest of where it came from, if it counts for that as well.
    """

    subject = models.CharField(max_length=64, db_index=True)
    address = models.CharField(max_length=64, db_index=True)
    time = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Its table."""

        db_table = "login_attempt"


class AuditEntry(models.Model):
    """One entry; entries are only ever added.

    Attributes
    ----------
    number
        From 1, without gaps.
    time
        ISO 8601 in UTC, as it is signed.
    actor
        Pseudonym of who did it; ``""`` for the server itself.
    detail
        JSON text as it is signed; never a value of the data.
    previous
        `digest` of the entry before.
    digest
        SHA-256 over everything above.
    """

    number = models.BigIntegerField(primary_key=True)
    time = models.CharField(max_length=32)
    actor = models.CharField(max_length=16)
    action = models.CharField(max_length=40)
    resource = models.CharField(max_length=80)
    detail = models.TextField()
    previous = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    signature = models.CharField(max_length=128)

    class Meta:
        """Its table."""

        db_table = "audit_entry"


class ProjectState(StrEnum):
    """Where a project stands."""

    OPEN = "open"
    CLOSED = "closed"
    PURGED = "purged"


class Project(models.Model):
    """One clerical review.

    Its records, index and pairs are encrypted files in the data folder, under `id`.

    Attributes
    ----------
    attributes, settings
        What may be shown and by which rules, as `sfumato.review` has them in JSON.
    gold_share
        Share of pairs with known truth among those dealt.
    fingerprint
        Keyed fingerprint of the source, which spent disclosure is kept under.
    wrapped_key
        Its key, encrypted with the server's; empty once it is purged.
    rows
        Rows of the whole project: twice its pairs.
    combined_units
        What all workers together have been shown, in units of KAPR.
    consent
        Key of the proposal that the custodian accepted, ``None`` without one: nothing is served.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    title = TypedText(max_length=200)
    state = models.CharField(
        max_length=8, choices=choices_of(ProjectState), default=ProjectState.OPEN
    )
    custodian = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="owned")
    manager = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="managed")
    attributes = models.JSONField()
    settings = models.JSONField()
    page_size = models.PositiveSmallIntegerField(default=10)
    overlap = models.PositiveSmallIntegerField(default=1)
    gold_share = models.FloatField(default=0.0)
    fingerprint = models.CharField(max_length=64, db_index=True)
    wrapped_key = models.BinaryField()
    rows = models.BigIntegerField(default=0)
    combined_units = models.BigIntegerField(default=0)
    consent = models.BigIntegerField(null=True)
    weights = models.JSONField(default=dict)
    created = models.DateTimeField(auto_now_add=True)
    closed = models.DateTimeField(null=True)

    class Meta:
        """Its table."""

        db_table = "project"


class ProposalState(StrEnum):
    """What became of proposed rules."""

    OPEN = "open"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    """Accepted at first."""
    REPLACED = "replaced"
    """Others took their place."""


class Proposal(models.Model):
    """Rules that the manager proposes, and the custodian accepts or declines.

    Attributes
    ----------
    rules
        As `Project.settings` has them.
    about
        What they are for: ``sources`` (records by name), ``attributes``, ``pairs``.
    reason
        Why they were declined or withdrawn.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="proposals")
    by = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    to = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    rules = models.JSONField()
    about = models.JSONField(default=dict)
    state = models.CharField(
        max_length=9, choices=choices_of(ProposalState), default=ProposalState.OPEN
    )
    reason = models.CharField(max_length=500, default="")
    answered = models.DateTimeField(null=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Its table."""

        db_table = "proposal"


class Member(models.Model):
    """A worker or auditor who takes part in a project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="members")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="memberships")

    class Meta:
        """Its table."""

        db_table = "member"
        constraints = [models.UniqueConstraint(fields=["project", "account"], name="one_member")]


class GrantKind(StrEnum):
    """What only the custodian may allow."""

    IDENTITY_EXPORT = "identity export"
    BUDGET = "budget"
    K = "k"
    RESET = "after a reset"


class Grant(models.Model):
    """What the custodian has allowed, and until when.

    Attributes
    ----------
    detail
        For a budget or k: the new value, and whose.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="grants")
    kind = models.CharField(max_length=16, choices=choices_of(GrantKind))
    by = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    to = models.ForeignKey(Account, null=True, on_delete=models.PROTECT, related_name="+")
    detail = models.JSONField(default=dict)
    expires = models.DateTimeField(null=True)
    used = models.DateTimeField(null=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Its table."""

        db_table = "permission_grant"


def new_token() -> str:
    """A random id of a pair on one worker's page."""
    # 72 random bits: nobody finds another worker's pairs by trying ids.
    return secrets.token_urlsafe(9)


class StoredPair(models.Model):
    """A pair of a project; its records are numbers in the encrypted files."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="pairs")
    number = models.PositiveIntegerField()
    gold = models.BooleanField(default=False)

    class Meta:
        """Its table."""

        db_table = "pair"
        constraints = [models.UniqueConstraint(fields=["project", "number"], name="one_pair")]


class Dealt(models.Model):
    """A pair that was dealt to a worker.

    Attributes
    ----------
    token
        Its id on the worker's page: random, another one for each worker.
    taken_back
        When it was taken back; what was shown of it stays charged.
    shown
        When it was first shown; its starting state was charged then.
    modes
        How much is shown per attribute: one digit each, as in `Mode`.
    answer
        The present decision, 0 where there is none.
    seconds
        How long it was looked at before it was first decided.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="dealt")
    worker = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="dealt")
    pair = models.ForeignKey(StoredPair, on_delete=models.CASCADE, related_name="dealt")
    token = models.CharField(max_length=16, unique=True, default=new_token)
    place = models.PositiveIntegerField()
    taken_back = models.DateTimeField(null=True)
    shown = models.DateTimeField(null=True)
    modes = models.CharField(max_length=64, default="")
    answer = models.SmallIntegerField(default=0)
    skipped = models.BooleanField(default=False)
    flagged = models.BooleanField(default=False)
    note = models.BinaryField(default=b"")
    seconds = models.FloatField(null=True)

    class Meta:
        """Its table."""

        db_table = "dealt"
        constraints = [models.UniqueConstraint(fields=["worker", "pair"], name="dealt_once")]
        indexes = [models.Index(fields=["project", "worker", "place"])]


class Allowance(models.Model):
    """What a worker may be shown of a project, and has been shown.

    Attributes
    ----------
    units
        Units of KAPR that were charged.
    spent
        KAPR that it added to what the worker spent of the source; never falls.
    budget
        KAPR that may be spent of the source, ``None`` for no limit.
    version
        Grows with every charge; what is held in memory is of one version.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="allowances")
    worker = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="allowances")
    rows = models.BigIntegerField(default=0)
    units = models.BigIntegerField(default=0)
    spent = models.FloatField(default=0.0)
    budget = models.FloatField(null=True)
    version = models.BigIntegerField(default=0)

    class Meta:
        """Its table."""

        db_table = "allowance"
        constraints = [models.UniqueConstraint(fields=["project", "worker"], name="one_allowance")]


class EventKind(StrEnum):
    """What happened to a decision."""

    DECIDED = "decided"
    WITHDRAWN = "withdrawn"
    SKIPPED = "skipped"
    FLAGGED = "flagged"
    UNFLAGGED = "unflagged"


class DecisionEvent(models.Model):
    """One step in the history of a worker's decision on a pair; never changed."""

    dealt = models.ForeignKey(Dealt, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=12, choices=choices_of(EventKind))
    answer = models.SmallIntegerField(default=0)
    time = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Its table."""

        db_table = "decision_event"


class Resolution(models.Model):
    """A manager's decision on a pair about which workers disagree.

    Attributes
    ----------
    modes
        How much the manager was shown: never more than the workers together.
    answer
        The decision, 0 until there is one.
    """

    pair = models.OneToOneField(StoredPair, on_delete=models.CASCADE, related_name="resolution")
    by = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    modes = models.CharField(max_length=64, default="")
    answer = models.SmallIntegerField(default=0)
    time = models.DateTimeField(auto_now=True)

    class Meta:
        """Its table."""

        db_table = "resolution"


class SourceSketch(models.Model):
    """By which people of a source are known again in other files.

    Attributes
    ----------
    sketch
        Keyed digests, as `sfumato.ledger.record_sketches` has them in bytes.
    """

    # No key of a project: what was spent of its people outlives it.
    fingerprint = models.CharField(max_length=64)
    sketch = models.BinaryField()

    class Meta:
        """Its table."""

        db_table = "source_sketch"


class Spent(models.Model):
    """What a worker has been shown of a source, over all its projects.

    Attributes
    ----------
    score
        KAPR that was spent.
    """

    # No keys of other tables: what was spent outlives every project of the source.
    fingerprint = models.CharField(max_length=64)
    worker = models.CharField(max_length=16)
    score = models.FloatField(default=0.0)

    class Meta:
        """Its table."""

        db_table = "spent"
        constraints = [models.UniqueConstraint(fields=["fingerprint", "worker"], name="one_spent")]
