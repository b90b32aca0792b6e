"""A classification: a hierarchy of codes, and what the codes are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sfumato.hierarchies.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class CodeList:
    """A hierarchy whose labels are codes, with their names.

    Attributes
    ----------
    hierarchy
        The codes and their groups.
    names
        What codes and groups are called, by code; those that are called as they are written,
        and those in no level, are left out.
    """

    hierarchy: Hierarchy
    names: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = {label for labels in self.hierarchy.labels for label in labels}
        kept = {code: name for code, name in self.names.items() if code in known and name != code}
        object.__setattr__(self, "names", kept)

    def named(self, code: str) -> str:
        """The code with its name: ``7104 Mandarin``."""
        return f"{code} {self.names[code]}" if code in self.names else code
