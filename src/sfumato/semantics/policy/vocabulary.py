"""The vocabulary of a policy in RDF: one word each, most of them the paper's."""

from __future__ import annotations

NAMESPACE = "urn:sfumato:policy#"
"""Where the words live."""

CLASSES = ("Policy", "Database", "Linkage", "Request", "Role", "Purpose")
PROPERTIES = (
    "allowsPurpose",
    "authenticate",
    "databases",
    "groups",
    "hasAnoReq",
    "hasAnonymity",
    "hasPurpose",
    "hasQI",
    "hasResource",
    "hasRole",
    "hierarchy",
    "lengths",
    "linkFrom",
    "linkages",
    "measure",
    "purposes",
    "requester",
    "requests",
    "roles",
    "rules",
    "start",
    "weight",
    "widths",
)
WORDS = frozenset(CLASSES) | frozenset(PROPERTIES)
"""Every word; a file that uses another one of this namespace is refused."""
