"""Values as a reader counts them: two spellings of one thing are one value."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

import pyarrow as pa

from sfumato.table.common_words import LISTS, MISSING_WORDS, folded
from sfumato.table.sources import is_text, matching

LOOK_ALIKES = {each: to for to, several in LISTS["look_alikes"].items() for each in several}
"""The Latin letter that each of other scripts looks like."""
_LATIN = re.compile(
    r"(?P<kind>LATIN|SQUARED|CIRCLED|INDICATOR).* LETTER (?:SMALL CAPITAL )?"
    r"(?P<letter>[A-Z]|DOTLESS [IJ])(?: WITH .*)?$"
)
"""Names of characters that are a Latin letter, whatever is drawn around or through it."""
_MARKS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
"""Accents of Latin, Greek and Cyrillic; the marks of other scripts are letters."""
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(code)
    for ends in ((0x180B, 0x1810), (0xFE00, 0xFE10), (0xE0100, 0xE01F0))
    for code in range(*ends)
}
"""What Unicode lets be ignored beside its category of formats (Default_Ignorable_Code_Point)."""
_SLASHES = frozenset("\u2044\u2215\u29f8")
"""Of a fraction, a division, a set; the first stands in what ½ is written out as."""
_MEANT = frozenset("%#&@|")
"""Punctuation that stands for a word; the line may stand for a letter."""
_PLAIN = r"^-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$"
"""Numbers that are written in the one way in which they are counted."""
_NUMBER = re.compile(r"(-?) ?(\d*)(?:\.(\d*)|,(\d{1,2}|\d{4,}))?")
_CODE = re.compile(r"([a-z]\d[\da-z])[.,\-_ ]?([\da-z]{1,4})")
"""A code such as E11.9, whose point is no decimal one (ICD-10-CM: three signs, up to four)."""
_SWAPS = (
    (re.compile(r"(?<=[^\W\d_])0(?=[^\W\d_])"), "O"),
    (re.compile(r"(?<=[a-z])[1|\u0406](?=[a-z])"), "l"),
    (re.compile(r"\u0406|(?<=[A-Z])[1|](?=[A-Z])"), "I"),
    # A small l in an abbreviation, and in no longer word, whose letters' case says nothing.
    (
        re.compile(
            r"\bl(?=[A-Z]{2,3}\b)|(?<=\b[A-Z])l(?=[A-Z]{1,2}\b)|(?<=\b[A-Z]{2})l(?=[A-Z]?\b)"
        ),
        "I",
    ),
    (re.compile(r"(?<=[A-Za-z]\d)[oO](?![^\W\d_])|(?<=[A-Za-z])[oO](?=\d)"), "0"),
    (re.compile(r"(?<=[A-Za-z]\d)[Il|](?![^\W\d_])|(?<=[A-Za-z])[Il|](?=\d)"), "1"),
)
"""Digits among letters and letters among digits, which look alike (UTS 39: 0 and O, 1, I and l)."""
_SIGNS = re.compile(
    r"(?<![\d\w ])-(?=\d)|^ ?-(?= ?\d)|(?<=[^\W\d_] )-(?=\w)|(?<=[<>=]) ?-(?= ?\d)"
    r"|(?<=\w)-(?=[ ,/:.]*$|[,/:.]| \w)|(?<=\w) -(?=[ ,/:.]*$)"
)
"""A dash that is a sign: before a number, or at the end of a word; between words it is none."""
SIGN = "\u2212"
_LOOSE = re.compile(r"(?<![\d .,:/-])[ .,:/-]++|[ .,:/-]++(?!\d)")
_INNER = re.compile(r" *([.,:/-])[ .,:/-]*")
_ZEROS = re.compile(r"(?<![\d.])(\d+)\.(\d*?)0+(?![\d.])")
_ABBREVIATED = frozenset(word for word in MISSING_WORDS if not word.isalpha())


def readings(values: pa.Array) -> list[str | None] | None:
    """What each distinct value is counted as: the same for two that a reader takes for one.

    By compatibility (NFKC), without what cannot be seen, accents, case, outer blanks and
    punctuation beside letters; letters of other scripts are the Latin ones that they look like;
    numbers count by value. Signs, decimal points, ``<``, ``>`` and ``+`` stay.

    Parameters
    ----------
    values
        Distinct values of one type, without null.

    Returns
    -------
    list or None
        ``None`` for a word that says that a value is missing; no list where every value is
        written in one way only.
    """
    if not is_text(values.type):
        return None
    plain = matching(values, _PLAIN)
    if plain.all():
        return None
    texts: Sequence[str] = values.to_pylist()
    read = [text if same else reading(text) for text, same in zip(texts, plain, strict=True)]
    # Beside a plus, a dash alone is the other sign and no missing value.
    if "+" in read:
        return [
            SIGN if each is None and _seen(text).strip() == "-" else each
            for each, text in zip(read, texts, strict=True)
        ]
    return read


def reading(text: str) -> str | None:
    """What one text is counted as; ``None`` where it says that a value is missing.

    Examples
    --------
    >>> reading(" B20. "), reading("HIV+"), reading("1.50"), reading("N/A")
    ('b20', 'hiv+', '1.5', None)
    """
    seen = _seen(text)
    key = _key(seen)
    if key in ("", SIGN) or key in _missing() or folded(seen) in _ABBREVIATED:
        return None
    return key


@cache
def _missing() -> frozenset[str]:
    """Words for a missing value as they are read; short ones may be codes, such as ND and NC."""
    keys = {_key(_seen(word)) for word in MISSING_WORDS}
    return frozenset(key for key in keys if len(key) > 2 or key == "na")


def _seen(text: str) -> str:
    """The text as it looks: compatible letters, without accents and what cannot be seen."""
    if not text.isascii():
        text = _MARKS.sub("", unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text)))
        text = unicodedata.normalize("NFC", text)
    return " ".join("".join(map(_sign, text)).split())


@cache
def _sign(letter: str) -> str:
    """One character as it is seen: digits as ours, any dash, any blank, nothing for the unseen."""
    kind = unicodedata.category(letter)
    if letter.isspace() or kind in ("Zs", "Zl", "Zp"):
        return " "
    if kind[0] == "C" or letter in _UNSEEN:
        return ""
    if letter in _SLASHES:
        return "/"
    if kind == "Nd":
        return str(unicodedata.decimal(letter))
    if kind == "Pd" or letter == SIGN:
        return "-"
    if letter in "\u2264\u2265":
        return "<=" if letter == "\u2264" else ">="
    if letter not in ".,:/" and letter not in _MEANT and (kind[0] == "P" or kind == "Sk"):
        return " " if letter != "'" else ""
    return letter


def _key(seen: str) -> str:
    number = _NUMBER.fullmatch(seen)
    if number is not None and any(number.groups()[1:]):
        sign, whole, fraction, after = number.groups("")
        whole, fraction = whole.lstrip("0") or "0", (fraction or after).rstrip("0")
        value = f"{whole}.{fraction}" if fraction else whole
        return f"{sign}{value}" if value != "0" else value
    text = _as_latin(seen)
    for pattern, letter in _SWAPS:
        text = pattern.sub(letter, text)
    text = unicodedata.normalize("NFKC", text.casefold())
    code = _CODE.fullmatch(text.strip(" .,:/"))
    if code is not None:
        return code[1] + code[2]
    text = _SIGNS.sub(SIGN, text).replace("|", " ")
    text = _INNER.sub(r"\1", _LOOSE.sub("", text)).replace(f" {SIGN}", SIGN)
    return _ZEROS.sub(lambda found: found[1] + (f".{found[2]}" if found[2] else ""), text)


def _as_latin(text: str) -> str:
    """The text in the Latin letters that it looks like.

    Where none of it is Latin, by its capitals: small letters of Greek look like other ones.
    """
    if text.isascii():
        return text
    mixed = any(letter.isascii() and letter.isalpha() for letter in text)
    return "".join(_latin(letter) if mixed else _latin(_capital(letter)) for letter in text)


def _capital(letter: str) -> str:
    upper = letter.upper()
    # Some small letters have two capitals, such as the German sharp s.
    return upper if len(upper) == 1 else letter


@cache
def _latin(letter: str) -> str:
    """The Latin letter that one looks like; itself where it is none."""
    if letter.isascii():
        return letter
    name = unicodedata.name(letter, "")
    found = LOOK_ALIKES.get(letter)
    if found is None and name.startswith("CYRILLIC"):
        found = LOOK_ALIKES.get(_capital(letter))
    if found is not None:
        # What Unicode takes for a small l is a capital I among capitals.
        return "\u0406" if found == "l" and unicodedata.category(letter) != "Ll" else found
    latin = _LATIN.search(name)
    if latin is None:
        return letter
    plain = latin["letter"][-1]
    return plain.lower() if "SMALL LETTER" in name else plain
