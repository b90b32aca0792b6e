"""Enumerations as columns of the database."""

from __future__ import annotations

from enum import StrEnum


def choices_of(words: type[StrEnum]) -> list[tuple[str, str]]:
    """The members of an enumeration as Django's choices.

    Parameters
    ----------
    words
        The enumeration.
    """
    return [(str(word), str(word)) for word in words]
