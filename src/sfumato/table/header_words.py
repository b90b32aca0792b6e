"""What the header of a column says: words for its role, in English and in other languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Literal

from sfumato.table.common_words import LISTS, folded

Role = Literal["person", "direct", "quasi", "sensitive"]
_Hint = Literal["person", "direct", "named", "quasi", "sensitive", "household", "place"]

# The last capital before a small letter begins the next word: ZIPCode is ZIP and Code.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")

WORDS: dict[Role, str] = LISTS["roles"]
"""Words for a role; one that ends in "-" stands for every word that starts with it."""

_IDENTIFIER_WORDS: str = LISTS["headers"]["identifier"]
_NO_IDENTIFIERS: str = LISTS["headers"]["no_identifier"]
CATEGORY_WORDS: str = LISTS["headers"]["category"]
MONEY_WORDS: str = LISTS["headers"]["money"]
"""Words for sums of money."""
COUNT_WORDS: str = LISTS["headers"]["count"]
"""Words for what is counted: numbers that are no codes, however few they are."""
MEASURE_WORDS: str = LISTS["headers"]["measure"]
"""Words for what is measured, likewise."""
MOMENT_WORDS: str = LISTS["headers"]["moment"]
"""Words for moments in time, beside those for dates."""


def words_of(name: str) -> tuple[str, ...]:
    """The words of a column name in lower case.

    Names in snake_case, kebab-case, camelCase and with digits are taken apart, accents taken off.

    Examples
    --------
    >>> words_of("birthYear"), words_of("ICD9_code"), words_of("ZIPCode")
    (('birth', 'year'), ('icd', '9', 'code'), ('zip', 'code'))
    """
    letters = unicodedata.normalize("NFKD", name)
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return tuple(word.lower() for word in _WORD.findall(plain))


def named(words: Iterable[str], known: str) -> bool:
    """Whether one of the words is among the known ones (``"dob-"``: starts with dob)."""
    entries = known.split()
    whole = {entry for entry in entries if not entry.endswith("-")}
    starts = tuple(entry[:-1] for entry in entries if entry.endswith("-"))
    return any(word in whole or word.startswith(starts) for word in words)


def identifies(words: tuple[str, ...]) -> bool:
    """Whether a name ends as that of a number or key does: rec_id, DUID, file_no."""
    last = words[-1] if words else ""
    if named((last,), _IDENTIFIER_WORDS):
        return True
    # Some words end in "id" by chance, such as paid or covid.
    return last.endswith("id") and not named((last,), _NO_IDENTIFIERS)


def says_money(name: str) -> bool:
    """Whether a header calls a sum of money, which is no code, however many digits it has."""
    return named(map(folded, words_of(name)), MONEY_WORDS)


_HINTS: dict[_Hint, str] = LISTS["hints"]
"""Words of other languages than English, folded; they decide only between what values allow."""


def hinted(name: str, role: _Hint) -> bool:
    """Whether a header has a word of some language for a role."""
    words = tuple(folded(word) for word in words_of(name))
    return named(words, _HINTS[role]) or (role in WORDS and named(words, WORDS[role]))


def names_people(name: str) -> bool:
    """Whether every word of a header says that it names, numbers or reaches somebody.

    Examples
    --------
    >>> names_people("patient_name"), names_people("NationalID"), names_people("hospital_name")
    (True, True, False)
    """
    words = [folded(word) for word in words_of(name)]
    if not words:
        return False
    known = [word for word in words if not named((word,), _FILLERS)]
    persons = {word for word in known if hinted(word, "person")}
    direct = {word for word in known if hinted(word, "direct") or hinted(word, "named")}
    numbers = {word for word in known if identifies((word,))}
    of_registers = {word for word in known if named((word,), _REGISTERS)}
    said = direct or (persons and len(known) <= 2) or (of_registers and numbers)
    return bool(said) and {*known} <= persons | direct | numbers | of_registers


_FILLERS: str = LISTS["headers"]["filler"]
_REGISTERS: str = LISTS["headers"]["register"]


def says_nothing(name: str) -> bool:
    """Whether a header is a letter, a number, or a word for a column alone: v1, col_3, x7.

    Examples
    --------
    >>> says_nothing("v17"), says_nothing("Unnamed: 0"), says_nothing("ward")
    (True, True, False)
    """
    return all(
        len(word) == 1 or word.isdigit() or named((word,), _OF_ANY) for word in words_of(name)
    )


_OF_ANY: str = LISTS["headers"]["of_any_column"]


def weighs(name: str) -> bool:
    """Whether a header says weight, of a body or in a survey; neither is a person."""
    return named(map(folded, words_of(name)), _WEIGHTS) and not hinted(name, "person")


_WEIGHTS: str = LISTS["headers"]["weight"]
