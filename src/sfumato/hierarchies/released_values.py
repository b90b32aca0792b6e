"""Released values, and how they are printed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection
from dataclasses import dataclass

from sfumato.core.errors import InputError
from sfumato.schema import Kind

ANYTHING = "*"
_TO = " to "
_OR_MORE, _OR_LESS = " or more", " or less"
_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_QUOTED = re.compile(r'"(?:[^"]|"")*"', re.DOTALL)
_RANGE = re.compile(rf'({_QUOTED.pattern}|[^"].*?) to ({_QUOTED.pattern}|[^"].*)', re.DOTALL)
_UNQUOTABLE = frozenset('",{}\r\n')


@dataclass(frozen=True, slots=True)
class Exact:
    """One label: a value of the data, or a label of the hierarchy above it."""

    label: str


@dataclass(frozen=True, slots=True)
class Range:
    """Everything from ``low`` to ``high``, both inside."""

    low: str
    high: str


@dataclass(frozen=True, slots=True)
class AtLeast:
    """Everything from ``low`` on: a top-coded value, or a range up to one."""

    low: str


@dataclass(frozen=True, slots=True)
class AtMost:
    """Everything up to ``high``: a bottom-coded value, or a range from one on."""

    high: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some labels."""

    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Anything:
    """Any value, a missing one included; printed ``*``."""


@dataclass(frozen=True, slots=True)
class Missing:
    """No value; an empty cell."""


Released = Exact | Range | AtLeast | AtMost | OneOf | Anything | Missing


def format_released(
    value: Released, kind: Kind, labels: Collection[str] | None = None
) -> str | None:
    """Print a released value so that whoever knows the column's kind can read it back.

    A range of two plain numbers (digits with an optional decimal part) prints as ``84-86``,
    any other as ``a to b``, open ones as ``90 or more`` and ``17 or less``, and a range whose
    ends are equal as the one value (and reads back as that one). Sets print as ``{a, b}`` with
    members quoted as in CSV where they need it. Labels that would be read as something else
    are put in double quotes.

    Parameters
    ----------
    kind
        The kind of the quasi-identifier; a categorical one has no ranges.
    labels
        The labels that may occur. With them an ordered label such as ``10-19`` prints without
        quotes, unless ``10`` and ``19`` are both labels too.

    Returns
    -------
    str or None
        The cell; ``None`` for an empty one.
    """
    match value:
        case Missing():
            return None
        case Anything():
            return ANYTHING
        case OneOf(members):
            return "{" + ", ".join(map(_print_member, members)) + "}"
        case Exact(label):
            return _print_label(label, kind, labels)
        case AtLeast() | AtMost():
            return _print_open_range(value, kind, labels)
        case Range(low, high):
            if kind is Kind.CATEGORICAL:
                raise InputError("a range", "is for numeric and ordered quasi-identifiers only")
            # As `84-84` it would read as a range, and as the value once it is read back.
            if low == high:
                return _print_label(low, kind, labels)
            plain = f"{low}-{high}"
            # `10-19` of a hierarchy and the range of 10 to 19 must not look the same.
            if _plain_ends(plain) == (low, high) and not _is_label(plain, labels):
                return plain
            return f"{_print_end(low)}{_TO}{_print_end(high)}"


def parse_released(text: str | None, kind: Kind, labels: Collection[str] | None = None) -> Released:
    """Read back what `format_released` printed of the same kind with the same labels."""
    if text is None:
        return Missing()
    if text == ANYTHING:
        return Anything()
    if text.startswith("{"):
        inner = io.StringIO(text[1:-1], newline="")
        return OneOf(tuple(next(csv.reader(inner, skipinitialspace=True))))
    if _QUOTED.fullmatch(text) or kind is Kind.CATEGORICAL:
        return Exact(_unquoted(text))
    ranged = _plain_ends(text) is not None or (_is_open_range(text) and text[0] != '"')
    return Exact(text) if ranged and _is_label(text, labels) else _range_of(text)


def _range_of(text: str) -> Released:
    if (ends := _plain_ends(text)) is not None:
        return Range(*ends)
    if (found := _RANGE.fullmatch(text)) is not None:
        return Range(_unquoted(found[1]), _unquoted(found[2]))
    for words, open_range in ((_OR_MORE, AtLeast), (_OR_LESS, AtMost)):
        if text.endswith(words):
            return open_range(_unquoted(text.removesuffix(words)))
    return Exact(text)


def _unquoted(label: str) -> str:
    return label[1:-1].replace('""', '"') if _QUOTED.fullmatch(label) else label


def _print_label(label: str, kind: Kind, labels: Collection[str] | None) -> str:
    # Bare, these would read back as nothing, as anything, as a set, or as quoted text.
    if label in ("", ANYTHING) or label[0] in '{"':
        return _quoted(label)
    if kind is Kind.CATEGORICAL:
        return label
    if _plain_ends(label) is not None:
        return label if _is_label(label, labels) else _quoted(label)
    if _is_open_range(label) and labels is not None and label in labels:
        return label
    return _print_end(label)


def _print_open_range(value: AtLeast | AtMost, kind: Kind, labels: Collection[str] | None) -> str:
    """``90 or more``; the number in quotes where that is itself a label."""
    if kind is Kind.CATEGORICAL:
        raise InputError("a range", "is for numeric and ordered quasi-identifiers only")
    end, words = (value.low, _OR_MORE) if isinstance(value, AtLeast) else (value.high, _OR_LESS)
    text = f"{_print_end(end)}{words}"
    return f"{_quoted(end)}{words}" if labels is not None and text in labels else text


def _is_open_range(text: str) -> bool:
    return text.endswith((_OR_MORE, _OR_LESS))


def _print_end(label: str) -> str:
    """One label beside ``to``, quoted where the cell could be read otherwise."""
    bare = label and label != ANYTHING and label[0] not in '{"' and _TO not in f" {label} "
    return label if bare and not _is_open_range(label) else _quoted(label)


def _print_member(label: str) -> str:
    bare = label and label == label.strip() and _UNQUOTABLE.isdisjoint(label)
    return label if bare else _quoted(label)


def _quoted(label: str) -> str:
    return '"' + label.replace('"', '""') + '"'


def _plain_ends(text: str) -> tuple[str, str] | None:
    """The two ends of ``84-86``; ``None`` for anything else."""
    low, dash, high = text.partition("-")
    if dash and _PLAIN.fullmatch(low) and _PLAIN.fullmatch(high):
        return low, high
    return None


def _is_label(text: str, labels: Collection[str] | None) -> bool:
    """Whether ``10-19`` is itself a label and cannot be a range of two labels."""
    if labels is None or text not in labels:
        return False
    low, _, high = text.partition("-")
    return low not in labels or high not in labels
