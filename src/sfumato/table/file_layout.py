"""How a table lies in its file: where it begins, what parts its cells, which line names them."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.core.declaration import Layout
from sfumato.core.errors import InputError, typed
from sfumato.table import sources

CANDIDATES = (",", ";", "\t", "|")
RECORDS = 100
ROWS_COMPARED = 300
"""Lines that the first one is compared with."""
ASKED_FROM = 0.5
"""Share of the columns of a known form in which a first line that has it too may be a record."""
MOST_SHAPES = 10
"""Shapes of the cells of a column up to which it has a form, as codes and dates have."""
KNOWN_FORM = 0.9
"""Share of the cells of a column that must have a form."""
YEARS = range(1800, 2101)
_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d*)([.,]\d+)?(?:[eE][+-]?\d+)?|[+-]?([.,]\d+)")
_SEPARATOR = re.compile(rb'"?sep=(.)"?[ ,;\t]*\r?\n?')


@dataclass(frozen=True)
class Beginning:
    """Where a table begins in a file of text, and the character between its cells."""

    delimiter: str
    lines: int


def beginning_of(head: bytes, delimiter: str | None = None, lines: int | None = None) -> Beginning:
    """Where a table begins: behind a line that names the separator, comments and titles.

    A character cut at the end of the first bytes, in UTF-8, is left out.
    """
    rows = head.splitlines(keepends=True)
    if lines is not None:
        rest = b"".join(rows[lines:])
        return Beginning(delimiter or find_delimiter(rest), lines)
    found = 0
    if rows and (said := _SEPARATOR.fullmatch(rows[0])):
        delimiter, found = delimiter or said[1].decode("utf-8", errors="replace"), 1
    comments = found
    while comments < len(rows) and rows[comments].startswith(b"#"):
        comments += 1
    if comments > found and _is_header(rows[comments - 1 : comments + 2], delimiter):
        comments -= 1
    rest = b"".join(rows[comments:])
    delimiter = delimiter or find_delimiter(rest)
    return Beginning(delimiter, comments + _titles(_text(rest), delimiter))


def _is_header(rows: Sequence[bytes], delimiter: str | None) -> bool:
    """Whether a line that begins as comments do has as many cells as those that follow."""
    text = _text(b"".join(rows))
    counts = _counts(text, delimiter or find_delimiter(b"".join(rows)))
    return len(counts) > 1 and counts[0] > 1 and len(set(counts)) == 1


def find_delimiter(head: bytes) -> str:
    """The delimiter that gives the most records as many cells as the header has.

    One of ``,`` ``;`` tab ``|``; a comma when none of them stands in the header. A character cut at
    the end of the first bytes, in UTF-8, is left out.
    """
    text = _text(head)
    best, best_score = CANDIDATES[0], (0.0, 0)
    for titles in (False, True):  # a title without it says nothing of the delimiter
        for candidate in CANDIDATES:
            score = _score(text, candidate, titles=titles)
            if score > best_score:
                best, best_score = candidate, score
        if best_score[0]:
            break
    return best


def _text(head: bytes) -> str:
    return head.decode("utf-8", errors="ignore")


def _counts(text: str, delimiter: str) -> list[int]:
    return [len(record) for record in first_records(text, delimiter)]


def first_records(text: str, delimiter: str, most: int = RECORDS) -> list[list[str]]:
    """The first records of a text as cells, the header among them; none where it is no CSV."""
    records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [record for record in itertools.islice(records, most) if record]
    except csv.Error:
        return []


def _score(text: str, delimiter: str, *, titles: bool) -> tuple[float, int]:
    """Share of records with as many cells as the header, and that number of cells."""
    counts = _counts(text, delimiter)
    if titles:
        counts = list(itertools.dropwhile(lambda count: count == 1, counts))
        if len(counts) < 3:  # a header and two records that bear it out
            return (0.0, 0)
    if not counts or counts[0] == 1:
        return (0.0, 0)
    # The last record may be cut off where the head of the file ends.
    whole = counts[1:-1] or counts[1:] or counts
    share = sum(count == counts[0] for count in whole) / len(whole)
    return (share if not titles or share >= KNOWN_FORM else 0.0, counts[0])


def _titles(text: str, delimiter: str) -> int:
    """Lines before the first record of several cells, where nearly all that follow are like it."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    lines, counts = [0], []
    try:
        for record in itertools.islice(reader, RECORDS):
            cells = len(record) if len(record) < 3 or sum(map(bool, record)) > 1 else 1
            counts.append(cells)
            lines.append(reader.line_num)
    except csv.Error:
        return 0
    titles = len(list(itertools.takewhile(lambda count: count < 2, counts)))
    rest = [count for count in counts[titles:] if count]
    if not any(counts[:titles]) or len(rest) < 2:
        return 0
    alike = sum(count == rest[0] for count in rest[:-1]) >= KNOWN_FORM * (len(rest) - 1)
    return lines[titles] if alike else 0


def given_names(given: Layout, columns: int, subject: str) -> tuple[str, ...] | None:
    """What the columns of a file without header are called; ``None`` for one with a header."""
    if given.header is not False and not given.names:
        return None
    names = given.names or tuple(f"column_{place}" for place in range(1, columns + 1))
    if columns and len(names) != columns:
        raise InputError(
            "parameter names",
            f"must name every column of {subject}",
            found=f"{len(names)} names",
            accepted=f"{columns} names",
        )
    return sources.check_names(names, subject)


def check_header(
    names: Sequence[str | None], rows: Sequence[Sequence[str | None]], subject: str
) -> None:
    """Refuse a first line that may be a record, which would name the columns by what it says."""
    rows = [row for row in rows if list(row) != list(names)]  # a header that is there again
    columns = list(itertools.zip_longest(*rows))
    found = [
        _has_form((name or "").strip(), [cell.strip() for cell in column if cell])
        for name, column in zip(names, columns, strict=False)
    ]
    coded = _are_codes([name or "" for name in names])
    for place, name in enumerate(names[: len(found)]):
        if coded and found[place] and _NUMBER.fullmatch((name or "").strip()):
            found[place] = None
    known = [each for each in found if each is not None]
    if not known or sum(known) < ASKED_FROM * len(known):
        return
    raise InputError(
        subject,
        "must name its columns in the first line",
        found=f"what looks like a record, in {sum(known)} of {len(known)} columns of a known form",
        advice=typed(
            "if it is one, say header=False and names=[...]; if it names the columns, header=True",
            "if it is one, say --no-header --names NAME,... (in a project header = false, names = "
            "[...]); if it names the columns, --header (header = true)",
        ),
    )


def _are_codes(names: Sequence[str]) -> bool:
    """Whether the numbers of a line are years or other codes in their order, as headers have."""
    numbers = [int(each) for each in (name.strip() for name in names)
               if each.isascii() and each.isdigit() and not each.startswith("00")]  # fmt: skip
    if len(numbers) < 2:
        return False
    steps = {after - before for before, after in itertools.pairwise(numbers)}
    if min(steps) <= 0 <= max(steps):
        return False
    if all(number in YEARS for number in numbers):
        return True
    if len(steps) == 1:
        return len(numbers) > 2 or (steps == {1} and numbers[0] in (0, 1))
    # Of four numbers of one length one order in twelve rises or falls, of five one in sixty.
    return len(numbers) > 4 and len({len(str(number)) for number in numbers}) == 1


def _has_form(name: str, cells: Sequence[str]) -> bool | None:
    """Whether a cell has the form of those below it; ``None`` where these have none, or none is."""
    if not cells or not name:
        return None
    least = KNOWN_FORM * len(cells)
    numbers = [cell for cell in cells if _NUMBER.fullmatch(cell)]
    if len(numbers) >= least:
        return bool(_NUMBER.fullmatch(name)) and _is_such_a_number(name, numbers)
    counts = Counter(cells)
    if name in counts:
        return True
    shapes = Counter(map(_shape, cells))
    likely = shapes.most_common(MOST_SHAPES)
    if sum(count for _, count in likely) >= least and any("9" in shape for shape, _ in likely):
        return "9" in _shape(name) and _shape(name) in shapes
    return False if 2 * len(counts) <= len(cells) else None


def _shape(text: str) -> str:
    """What stands where in a text: 9 for each digit, a and A for letters; names of one kind."""
    if re.fullmatch(r"[^@\s]+@[^@\s]+\.\w+", text):
        return "9@"
    shape = re.sub(r"[^\W\d_]", lambda m: "A" if m[0].isupper() else "a", re.sub(r"\d", "9", text))
    dated = re.sub(r"\b99?([-/. ])99?\1(99)?99\b", r"9\g<1>9\g<1>9999", shape)
    return re.sub(r"[Aa]{3,}", "a", dated)


def _is_such_a_number(name: str, numbers: Sequence[str]) -> bool:
    """Whether a number is one as those below it: of their range, with decimals where they are."""
    decimals = sum("." in number or "," in number for number in numbers)
    if ("." in name or "," in name) != (decimals > 0.5 * len(numbers)) and decimals in (
        0, len(numbers),
    ):  # fmt: skip
        return False
    value, *others = (float(number.replace(",", ".")) for number in (name, *numbers))
    years = sum(other in YEARS for other in others) >= KNOWN_FORM * len(others)
    if value in YEARS and not years and len(name) == 4:
        return False
    low, high = min(others), max(others)
    # A record is the lowest or the highest of n by chance 2 in n, and by order where ids count up.
    beyond = (high - low) * max(0.1, 2 / len(others)) + (1 if len(others) > 4 else abs(high))
    return low - beyond <= value <= high + beyond
