"""Hierarchies of codes by their prefixes and by ranges of codes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sfumato.core.errors import InputError
from sfumato.hierarchies.hierarchy import ROOT, Hierarchy
from sfumato.schema import PrefixHierarchy

_SEPARATORS = ".-/_ "
_CODE = re.compile(r"([A-Za-z]*)([0-9]+)")


@dataclass(frozen=True, slots=True)
class _Group:
    """An inclusive range of codes with the same leading letters."""

    label: str
    letters: str
    low: int
    high: int
    shortest: int
    longest: int

    def overlaps(self, other: _Group) -> bool:
        return (
            self.letters == other.letters
            and self.low <= other.high
            and other.low <= self.high
            and self.shortest <= other.longest
            and other.shortest <= self.longest
        )

    def holds(self, letters: str, digits: str) -> bool:
        """Whether a code lies in the range; a lettered code that is cut short, as a whole."""
        if letters != self.letters:
            return False
        cut = self.shortest - len(digits) if letters else 0
        if cut > 0:
            return self.low <= int(digits + "0" * cut) and int(digits + "9" * cut) <= self.high
        return self.shortest <= len(digits) <= self.longest and self.low <= int(digits) <= self.high


def prefix_hierarchy(spec: PrefixHierarchy, labels: Sequence[str], column: str) -> Hierarchy:
    """Generalise codes to their prefixes, then to the group that the shortest prefix is in.

    ICD-9 ``250.1`` becomes ``250`` with ``lengths=[3]``, then ``240-279`` with that range in
    ``groups``, then ``*``. A separator at the end of a prefix is left out. Codes compare with
    the ends of a group by number, within the same leading letters and the same number of
    digits (``E81``, cut from ``E812``, is in ``E800-E999`` because all its codes are). A code
    in no group stays at its prefix for one level more.

    Parameters
    ----------
    spec
        The lengths and groups.
    labels
        The codes, in the order of the column's domain.
    column
        The column's name, for errors.

    Raises
    ------
    InputError
        If the lengths do not descend, or a group is not a range of codes or overlaps another.
    """
    subject = f"hierarchy of column '{column}'"
    lengths = spec.lengths
    if any(length < 1 for length in lengths) or any(
        above >= below for below, above in pairwise(lengths)
    ):
        raise InputError(
            subject,
            "must have prefix lengths of at least one character, longest first, each once",
            accepted="lengths = [5, 3]",
        )
    groups = _groups(spec.groups, subject)
    columns: list[Sequence[str]] = [labels]
    columns += [[_prefix(label, length) for label in labels] for length in lengths]
    if groups:
        of_prefix = {prefix: _group_of(prefix, groups) for prefix in set(columns[-1])}
        columns.append([of_prefix[prefix] for prefix in columns[-1]])
    columns.append([ROOT] * len(labels))
    return Hierarchy.from_columns(columns, subject)


def _prefix(label: str, length: int) -> str:
    return label[:length].rstrip(_SEPARATORS) or label[:length]


def _group_of(prefix: str, groups: Sequence[_Group]) -> str:
    code = _CODE.fullmatch(prefix)
    if code is None:
        return prefix
    letters, digits = code.groups()
    return next((group.label for group in groups if group.holds(letters, digits)), prefix)


def _groups(texts: Sequence[str], subject: str) -> list[_Group]:
    groups: list[_Group] = []
    for number, text in enumerate(texts, start=1):
        group = _parsed(text)
        if group is None:
            raise InputError(
                subject,
                "must have groups that are ranges of codes",
                found=f"something else in group {number}",
                accepted='"240-279", "V01-V91", "042"',
            )
        for earlier, other in enumerate(groups, start=1):
            if group.overlaps(other):
                raise InputError(
                    subject,
                    "must have groups that do not overlap",
                    found=f"codes that are in group {earlier} and in group {number}",
                )
        groups.append(group)
    return groups


def _parsed(text: str) -> _Group | None:
    low_text, dash, high_text = text.partition("-")
    low, high = _CODE.fullmatch(low_text), _CODE.fullmatch(high_text if dash else low_text)
    if low is None or high is None or high[1] not in ("", low[1]) or int(low[2]) > int(high[2]):
        return None
    if len(low[2]) > len(high[2]):
        return None
    return _Group(text, low[1], int(low[2]), int(high[2]), len(low[2]), len(high[2]))
