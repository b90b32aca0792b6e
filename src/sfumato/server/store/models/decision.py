"""What workers answered, with its history, and how conflicts were resolved."""

from __future__ import annotations

from enum import StrEnum

from django.db import models

from sfumato.server.store.choices import choices_of
from sfumato.server.store.models.account import Account
from sfumato.server.store.models.work import Dealt, StoredPair


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
