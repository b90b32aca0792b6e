"""Values that can be told from everything else, planted in every cell."""

from __future__ import annotations

import base64
import random
import re
import string
from collections.abc import Iterable, Sequence
from typing import Any

LETTERS = 12
WINDOW = 8
"""So many letters of a planted value in a row are as good as the value."""
TEXT = 4
_WORD = re.compile(rb"[A-Za-z0-9+/=_-]{%d,}" % WINDOW)
ATTRIBUTES: list[dict[str, Any]] = [
    *({"name": f"text {place}", "kind": "variable-length string"} for place in range(TEXT)),
    {"name": "kind", "kind": "categorical"},
]


def canary(rng: random.Random) -> str:
    """A value of 12 random letters."""
    return "".join(rng.choices(string.ascii_lowercase, k=LETTERS))


def planted(rng: random.Random, pairs: int) -> list[tuple[str, ...]]:
    """Two rows for each pair: per attribute identical, nearly so, or entirely different."""
    rows = []
    for _ in range(pairs):
        one = tuple(canary(rng) for _ in ATTRIBUTES)
        rows += [one, tuple(_partner(rng, value) for value in one)]
    return rows


def _partner(rng: random.Random, value: str) -> str:
    how = rng.random()
    if how < 0.35:
        return value
    if how < 0.7:
        place = rng.randrange(3, LETTERS - 1)
        return value[:place] + rng.choice(string.digits) + value[place + 1 :]
    return canary(rng)


def found(values: Iterable[str], received: bytes | Sequence[bytes]) -> list[str]:
    """Which values are in bytes: a large part of them, in capitals, as hex or in base 64."""
    text = received if isinstance(received, bytes) else b"\n".join(received)
    words = b" ".join(set(_WORD.findall(text)))
    lower = words.lower()
    return [value for value in sorted(set(values)) if _is_in(value, words, lower)]


def _is_in(value: str, words: bytes, lower: bytes) -> bool:
    parts = (value[start : start + WINDOW] for start in range(LETTERS - WINDOW + 1))
    data = value.encode()
    return (
        any(part.lower().encode() in lower for part in parts)
        or data.hex().encode() in lower
        or any(base64.b64encode(data[start : start + 9]) in words for start in range(3))
    )
