"""Read the text of a hierarchy's file."""

from __future__ import annotations

from pathlib import Path

from sfumato.core.errors import InputError


def read_text(path: Path, subject: str, kind: str = "CSV") -> str:
    """The whole text, without a byte-order mark.

    Parameters
    ----------
    path
        The file.
    subject
        What an error is about.
    kind
        What the file is, for advice.

    Raises
    ------
    InputError
        If it cannot be read, or is not UTF-8.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        folder = isinstance(error, IsADirectoryError)
        kind = "a folder" if folder else (error.strerror or type(error).__name__).lower()
        raise InputError(subject, "must be a file that can be read", found=kind) from None
    except ValueError:
        raise InputError(
            subject, "must be a file that can be read", found="a path that no file can have"
        ) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            subject,
            "must be text in UTF-8",
            found=f"other bytes in line {line}",
            advice=f"save it as {kind} UTF-8",
        ) from None
