"""The audit log."""

from __future__ import annotations

from django.db import models


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
    action, resource
        What was done, to what.
    detail
        JSON text as it is signed; never a value of the data.
    previous
        `digest` of the entry before.
    digest
        SHA-256 over everything above.
    signature
        Signature of the digest with a key outside the database.
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
