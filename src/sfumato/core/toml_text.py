"""Text and TOML that people write: read, with errors that say where and never what."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError, unreadable_file


def read_text(file: Path, subject: str, *, advice: str = "") -> str:
    """The text of a file in UTF-8, without a byte-order mark; advice where it cannot be read."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(subject, "must be text in UTF-8") from None
    except OSError as error:
        raise unreadable_file(subject, error, advice) from None


def parse_toml(text: str, subject: str) -> dict[str, Any]:
    """The tables and values of a TOML text."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # The parser's words quote the text, which may be a value of the data; its place does not.
        place = str(error).rpartition("(")[2].rstrip(")") or "an unknown place"
        raise InputError(subject, "must be TOML", found=f"an error {place}") from None
    # tomllib passes on what Python says to numbers of thousands of digits and to deep brackets.
    except (ValueError, RecursionError):
        raise InputError(
            subject, "must be TOML", found="a number too long or brackets too deep"
        ) from None
