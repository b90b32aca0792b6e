"""What each column of a file is: declared in Python or TOML, without touching data."""

from sfumato.schema.recipe import Cleaning
from sfumato.schema.roles import (
    Event,
    EventKind,
    IntervalHierarchy,
    Kind,
    Orphans,
    PrefixHierarchy,
    QuasiIdentifier,
    Schema,
    TableSchema,
    check_schema,
    dump_schema,
    load_schema,
    schema_sha256,
    schema_to_dict,
)

__all__ = [
    "Cleaning",
    "Event",
    "EventKind",
    "IntervalHierarchy",
    "Kind",
    "Orphans",
    "PrefixHierarchy",
    "QuasiIdentifier",
    "Schema",
    "TableSchema",
    "check_schema",
    "dump_schema",
    "load_schema",
    "schema_sha256",
    "schema_to_dict",
]
