"""By what a release may keep its promise about known events, and how much each way counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sfumato.core.declaration import Above
from sfumato.core.errors import InputError


class Technique(StrEnum):
    """A way to say less of a person's events."""

    WIDEN = "widen"
    """Wider classes: less of the quasi-identifiers."""
    ROLL_UP = "roll-up"
    """Codes written as a label above them, in the classes where they are rare."""
    SUPPRESS_CELLS = "suppress-cells"
    """Single cells written as ``*``, in the classes where their value is rare."""
    SHIFT_DATES = "shift-dates"
    """All dates of a person moved by one keyed offset, so that intervals stay."""
    COARSEN_DATES = "coarsen-dates"
    """Dates as weeks, months, quarters or years."""
    RELATIVE_DATES = "relative-dates"
    """Dates as days since the person's first, or as their order alone."""
    SPLIT_PSEUDONYMS = "split-pseudonyms"
    """The records of a person under several pseudonyms."""


@dataclass(frozen=True)
class Techniques:
    """The techniques that are allowed, by how much what they lose counts.

    It reads ``widen,roll-up=2``: those that are named, the others not; a weight of 2 makes a loss
    count twice.
    """

    def __str__(self) -> str:
        return ", ".join(Technique) + ", each with =WEIGHT where its loss counts otherwise"

    def check(self, subject: str, value: object) -> str:
        """The words, in the order of the techniques."""
        if not isinstance(value, str):
            raise InputError(
                subject, "must be a text", found=type(value).__name__, accepted=str(self)
            )
        # Read and written again, so that equal choices read alike in every manifest.
        weights = self.read(value, subject)
        return ",".join(
            technique.value
            if weights[technique] == 1
            else f"{technique.value}={weights[technique]:g}"
            for technique in Technique
            if technique in weights
        )

    def read(self, words: str | None, subject: str = "techniques") -> Mapping[Technique, float]:
        """The weight of each technique that is allowed; all with 1 where nothing is said."""
        if words is None:
            return dict.fromkeys(Technique, 1.0)
        found: dict[Technique, float] = {}
        for part in words.split(","):
            name, _, weight = part.strip().partition("=")
            # One that is named twice may have two weights, of which neither is surely meant.
            if name not in list(Technique) or Technique(name) in found:
                raise InputError(
                    subject,
                    "must name techniques, each once",
                    found="an unknown one" if name not in list(Technique) else "one twice",
                    accepted=str(self),
                )
            found[Technique(name)] = _weight(subject, weight)
        return found

    @property
    def bounds(self) -> Mapping[str, float]:
        """None: it is a text."""
        return {}


def _weight(subject: str, words: str) -> float:
    try:
        # Above 0: what loses nothing by its weight would always be taken first.
        return Above(0, "a weight").check(subject, float(words or 1))
    except ValueError:
        raise InputError(subject, "must have numbers as weights", accepted="roll-up=2") from None
