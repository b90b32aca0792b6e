"""Sets of labels, ranges of labels, and quotes around labels."""

from __future__ import annotations

import re

_LABEL = r'"(?:[^"]|"")*"'
_QUOTED = re.compile(_LABEL)
_MEMBER = re.compile(rf"\s*({_LABEL}|[^\",{{}}]*)\s*(,|\}})")
_RANGE = re.compile(rf"({_LABEL}|[^\"].*?) to ({_LABEL}|[^\"].*)", re.DOTALL)
_OPEN = re.compile(rf"({_LABEL}|[^\"].*?) or (more|less)", re.DOTALL)


def quoted(text: str) -> str | None:
    """The label that is in double quotes from its first to its last character, else ``None``."""
    return unquoted(text) if _QUOTED.fullmatch(text) else None


def unquoted(text: str) -> str:
    """The label without its quotes, if it has any."""
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def members_of(text: str) -> list[str] | None:
    """The members of ``{a, "b, c"}``; ``None`` for anything else."""
    if not text.startswith("{") or not text.endswith("}"):
        return None
    members, place = [], 1
    while place < len(text):
        found = _MEMBER.match(text, place)
        if found is None or not found[1]:
            return None
        members.append(unquoted(found[1].strip() if found[1][0] != '"' else found[1]))
        place = found.end()
        if found[2] == "}" and place < len(text):
            return None
    return members


def ends_of(text: str) -> tuple[str | None, str | None] | None:
    """The ends of ``a to b``, ``a or more`` or ``b or less``; ``None`` for anything else."""
    found = _RANGE.fullmatch(text)
    if found is not None:
        return unquoted(found[1]), unquoted(found[2])
    found = _OPEN.fullmatch(text)
    if found is None:
        return None
    end = unquoted(found[1])
    return (end, None) if found[2] == "more" else (None, end)
