"""Projects, who takes part in them, and what the custodian grants."""

from __future__ import annotations

import uuid
from enum import StrEnum

from django.db import models

from sfumato.server.store.choices import choices_of
from sfumato.server.store.models.account import Account


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
    title
        How its manager calls it.
    custodian, manager
        Who owns the data, and who deals the work.
    attributes, settings
        What may be shown and by which rules, as `sfumato.review` has them in JSON.
    page_size
        Pairs on a page.
    overlap
        Workers who decide each pair.
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
    weights
        The linkage model's weights, for hints.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    title = models.CharField(max_length=200)
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
    weights = models.JSONField(default=dict)
    created = models.DateTimeField(auto_now_add=True)
    closed = models.DateTimeField(null=True)

    class Meta:
        """Its table."""

        db_table = "project"


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
