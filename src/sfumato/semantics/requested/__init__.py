"""Releases on request: a policy's rules decide, and the ledger remembers."""

from sfumato.semantics.requested.ask import Asked, ask
from sfumato.semantics.requested.by_association import AssociationChange
from sfumato.semantics.requested.known import Known
from sfumato.semantics.requested.mined import Mining
from sfumato.semantics.requested.release import anonymize_requested, make_release
from sfumato.semantics.requested.result import RequestedRelease

__all__ = [
    "Asked",
    "AssociationChange",
    "Known",
    "Mining",
    "RequestedRelease",
    "anonymize_requested",
    "ask",
    "make_release",
]
