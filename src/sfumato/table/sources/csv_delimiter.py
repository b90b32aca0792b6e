"""Which character stands between the cells of a CSV file."""

from __future__ import annotations

import csv
import io
import itertools

from sfumato.core.errors import InputError

CANDIDATES = (",", ";", "\t", "|")
RECORDS = 100


def check_delimiter(delimiter: str) -> None:
    """Refuse what cannot stand between cells.

    Raises
    ------
    InputError
        If it is not one ASCII character, or is a quote or a line end.
    """
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InputError(
            "parameter delimiter",
            "must be one ASCII character other than a quote or a line end",
            found=f"{len(delimiter)} characters" if len(delimiter) != 1 else "such a character",
            accepted="for example , ; | or a tab",
        )


def find_delimiter(head: bytes) -> str:
    """The delimiter that gives the most records as many cells as the header has.

    Parameters
    ----------
    head
        The first bytes of the file, in UTF-8; a character cut at the end is left out.

    Returns
    -------
    str
        One of ``,`` ``;`` tab ``|``; a comma when none of them stands in the header.
    """
    text = head.decode("utf-8", errors="ignore")
    best, best_score = CANDIDATES[0], (0.0, 0)
    for candidate in CANDIDATES:
        score = _score(text, candidate)
        if score > best_score:
            best, best_score = candidate, score
    return best


def _score(text: str, delimiter: str) -> tuple[float, int]:
    """Share of records with as many cells as the header, and that number of cells."""
    records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        counts = [len(record) for record in itertools.islice(records, RECORDS) if record]
    except csv.Error:
        return (0.0, 0)
    if not counts or counts[0] == 1:
        return (0.0, 0)
    whole = counts[1:-1] or counts[1:] or counts
    return (sum(count == counts[0] for count in whole) / len(whole), counts[0])
