"""The intruder's own idea of how a value would be displayed."""

from __future__ import annotations

import re
import unicodedata
from datetime import date

_DATE = re.compile(r"(\d{1,4})[-/. ](\d{1,2})[-/. ](\d{1,4})(?:[T ]\d{1,2}:\d{2}.*)?")
_YEAR_DIGITS = 4
_INVISIBLE = ("Cc", "Cf")
_JOINERS = "\u200c\u200d"


def characters_of(text: str | None, kind: str) -> tuple[str, ...] | None:
    """The characters of a value in the order of display; ``None`` for no value.

    A category is one character. A date is its digits in the order of the kind, as far as the
    text is one; of other texts each letter counts with the marks upon it.

    Parameters
    ----------
    text
        The value as it is stored.
    kind
        How the attribute is displayed.
    """
    plain = _cleaned(text or "")
    if not plain:
        return None
    if kind == "category":
        return (plain,)
    if kind != "text":
        return tuple(_digits(plain, kind) or plain)
    found: list[str] = []
    for each in plain:
        if found and (unicodedata.combining(each) or each in _JOINERS):
            found[-1] += each
        else:
            found.append(each)
    return tuple(found)


def folded(characters: tuple[str, ...], *, case: bool, accents: bool) -> tuple[str, ...]:
    """The characters as they are compared.

    Parameters
    ----------
    characters
        The characters.
    case, accents
        Whether they count; where they do not they are left out.
    """
    return tuple(_folded(each, case=case, accents=accents) for each in characters)


def _folded(character: str, *, case: bool, accents: bool) -> str:
    if not case:
        character = character.casefold()
    if accents:
        return unicodedata.normalize("NFC", character)
    parts = unicodedata.normalize("NFD", character)
    return "".join(each for each in parts if not unicodedata.combining(each)) or character


def _cleaned(text: str) -> str:
    seen = "".join(
        each
        for each in unicodedata.normalize("NFC", text)
        if each in _JOINERS or each.isspace() or unicodedata.category(each) not in _INVISIBLE
    )
    return " ".join(seen.split())


def _digits(text: str, order: str) -> str | None:
    """Day, month and year of a date in an order; ``None`` for what is none."""
    if re.fullmatch(r"\d{8}", text):
        text = f"{text[:4]}-{text[4:6]}-{text[6:]}"
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    one, two, three = match.groups()
    if len(one) == _YEAR_DIGITS:
        year, month, day = one, two, three
    elif len(three) == _YEAR_DIGITS:
        first, second = (one, two) if order != "month/day/year" else (two, one)
        year, month, day = three, second, first
        if not _exists(year, month, day) and _exists(year, first, second):
            month, day = first, second
    else:
        return None
    parts = {"year": year, "month": month.zfill(2), "day": day.zfill(2)}
    return "".join(parts[part] for part in re.split("[-/]", order))


def _exists(year: str, month: str, day: str) -> bool:
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True
