"""Pairs, who they are dealt to, and what each worker has been shown."""

from __future__ import annotations

import secrets

from django.db import models

from sfumato.server.store.models.account import Account
from sfumato.server.store.models.project import Project


def new_token() -> str:
    """A random id of a pair on one worker's page."""
    return secrets.token_urlsafe(9)


class StoredPair(models.Model):
    """A pair of a project; its records are numbers in the encrypted files.

    Attributes
    ----------
    number
        Its place among the project's pairs.
    """

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
    place
        Its place in the worker's pile.
    taken_back
        When it was taken back; what was shown of it stays charged.
    shown
        When it was first shown; its starting state was charged then.
    modes
        How much is shown per attribute: one digit each, as in `Mode`.
    answer
        The present decision, 0 where there is none.
    flagged
        Whether the worker asks somebody to look.
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
    rows
        The task's fixed number of rows.
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
