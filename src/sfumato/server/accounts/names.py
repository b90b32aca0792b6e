"""The names that people log in with."""

from __future__ import annotations

import unicodedata

LONGEST_NAME, LONGEST_PASSWORD = 150, 200
"""Letters of a name and of a password at most."""


def plain_name(text: str) -> str:
    """A name as it is stored: the same however its letters were typed.

    Parameters
    ----------
    text
        What was entered.
    """
    return " ".join(unicodedata.normalize("NFKC", text).split())
