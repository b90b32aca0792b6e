"""The values below each label of a hierarchy, from its file or from its declaration."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.schema import PrefixHierarchy

_CLASSIFICATION = ["code", "label", "narrow_group", "narrow_label", "broad_group", "broad_label"]
_CODE = re.compile(r"([A-Za-z]*)([0-9]+)")

Above = dict[str, frozenset[str]]


def above_from_file(path: Path, column: str) -> tuple[tuple[str, ...], Above]:
    """The values of a published hierarchy in the file's order, and those below each label.

    Parameters
    ----------
    path
        A CSV with one row per value, the value first and then its ancestors, without a header;
        or a classification with the header ``code,label,narrow_group,...``.
    column
        The quasi-identifier, for errors.

    Raises
    ------
    InputError
        If it cannot be read, or its rows have different lengths.
    """
    subject = f"hierarchy of column '{column}' (file {path.name})"
    rows = _rows(_text(path, subject))
    if not rows or len({len(row) for row in rows}) != 1:
        raise InputError(
            subject,
            "must be a CSV with one row per value and its ancestors behind it",
            found="rows of different lengths" if rows else "no row",
            advice="give it under 'hierarchies' in that form",
        )
    if rows[0][: len(_CLASSIFICATION)] == _CLASSIFICATION:
        rows = [[row[0], row[2] or row[0], row[4] or row[2] or row[0]] for row in rows[1:]]
    values = tuple(dict.fromkeys(row[0] for row in rows))
    return values, _collected((row[0], row[1:]) for row in rows)


def above_from_prefixes(spec: PrefixHierarchy, values: Collection[str]) -> Above:
    """The values below each prefix, and below each group of the shortest prefixes.

    Parameters
    ----------
    spec
        Lengths of the prefixes, and groups such as ``240-279``, both ends inside.
    values
        The values that are known.
    """
    return _collected((value, _ancestors(value, spec)) for value in values)


def _collected(pairs: Iterable[tuple[str, Sequence[str]]]) -> Above:
    below: dict[str, set[str]] = {}
    for value, labels in pairs:
        for label in labels:
            below.setdefault(label, set()).add(value)
    return {label: frozenset(values) for label, values in below.items()}


def _ancestors(value: str, spec: PrefixHierarchy) -> list[str]:
    labels = []
    for length in spec.lengths:
        start = value[:length]
        labels.append(start.rstrip(".-/_ ") or start)
    shortest = labels[-1] if labels else value
    labels += [group for group in spec.groups if _within(shortest, group)]
    return labels


def _within(prefix: str, group: str) -> bool:
    """Whether a code lies in a range of codes with the same letters and number of digits.

    A code with letters that was cut shorter than the ends lies in it if all its codes do.
    """
    low_text, _, high_text = group.partition("-")
    low, high = _CODE.fullmatch(low_text), _CODE.fullmatch(high_text or low_text)
    code = _CODE.fullmatch(prefix)
    if low is None or high is None or code is None or code[1] != low[1]:
        return False
    cut = len(low[2]) - len(code[2]) if code[1] else 0
    if cut > 0:
        first, last = code[2] + "0" * cut, code[2] + "9" * cut
        return int(low[2]) <= int(first) and int(last) <= int(high[2])
    if not len(low[2]) <= len(code[2]) <= len(high[2]):
        return False
    return int(low[2]) <= int(code[2]) <= int(high[2])


def _text(path: Path, subject: str) -> str:
    if path.suffix.lower() in (".ttl", ".turtle"):
        raise InputError(
            subject,
            "must be a CSV where a release is attacked",
            found="SKOS in Turtle",
            advice="give it under 'hierarchies', one row per value and its ancestors behind it",
        )
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError):
        raise InputError(
            subject,
            "must be a file in UTF-8 that can be read",
            found="none, or another content",
            advice="name it under 'hierarchies', or leave it out of the schema",
        ) from None


def _rows(text: str) -> list[list[str]]:
    """The rows by the first delimiter that gives several cells in each and as many in all."""
    first: list[list[str]] = []
    for delimiter in (";", "\t", ","):
        try:
            rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        except csv.Error:
            continue
        rows = [row for row in rows if row]
        lengths = {len(row) for row in rows}
        if len(lengths) == 1 and lengths != {1}:
            return rows
        if not first or max(lengths, default=0) > 1:
            first = rows
    return first
