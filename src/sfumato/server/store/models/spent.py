"""Disclosure that was spent, kept whatever becomes of its project."""

from __future__ import annotations

from django.db import models


class Spent(models.Model):
    """What a worker has been shown of a source, over all its projects.

    Attributes
    ----------
    fingerprint
        Keyed fingerprint of the source.
    worker
        Pseudonym of the worker.
    score
        KAPR that was spent.
    """

    fingerprint = models.CharField(max_length=64)
    worker = models.CharField(max_length=16)
    score = models.FloatField(default=0.0)

    class Meta:
        """Its table."""

        db_table = "spent"
        constraints = [models.UniqueConstraint(fields=["fingerprint", "worker"], name="one_spent")]
