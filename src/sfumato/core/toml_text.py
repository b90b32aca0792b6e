"""TOML that people write: parsed, with errors that say where and never what."""

from __future__ import annotations

import tomllib
from typing import Any

from sfumato.core.errors import InputError


def parse_toml(text: str, subject: str) -> dict[str, Any]:
    """The tables and values of a TOML text.

    Parameters
    ----------
    text
        It.
    subject
        What it is, for what is said.

    Raises
    ------
    InputError
        If it is not TOML.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = str(error).rpartition("(")[2].rstrip(")") or "an unknown place"
        raise InputError(subject, "must be TOML", found=f"an error {place}") from None
    except (ValueError, RecursionError):
        raise InputError(
            subject, "must be TOML", found="a number too long or brackets too deep"
        ) from None
